"""Tables about nobody, to try things on: a hospital and a census, of any size.

A small hospital table comes with the package. It is exactly what `hospital()` draws by default.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from lookalike.apps.samples.census import census, census_schema
from lookalike.apps.samples.drawing import to_csv
from lookalike.apps.samples.hospital import hospital, hospital_schema

__all__ = ["census", "census_schema", "hospital", "hospital_schema", "sample_schema", "sample_table", "to_csv"]


def sample_table() -> Path:
    """Where the hospital table lies that comes with the package (CSV)."""
    return Path(str(resources.files("lookalike.apps.samples") / "hospital.csv"))


def sample_schema() -> Path:
    """Where the schema of that table lies (YAML)."""
    return Path(str(resources.files("lookalike.apps.samples") / "hospital-schema.yaml"))
