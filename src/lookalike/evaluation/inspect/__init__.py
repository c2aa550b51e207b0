"""What `lookalike inspect` shows: columns, suggested roles, and how identifying a table is now."""

from lookalike.evaluation.inspect.survey import ColumnProfile, Inspection, Leverage, inspect, suggest_schema

__all__ = ["ColumnProfile", "Inspection", "Leverage", "inspect", "suggest_schema"]
