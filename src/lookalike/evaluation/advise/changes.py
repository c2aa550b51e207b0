"""What could be changed about a quasi-identifier: leave it out, weigh it less, or another taxonomy, or none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lookalike.data.microdata import Column, Domain
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, Role, Schema
from lookalike.evaluation.inspect.kinds import taxonomy_hint

_LIGHTER = 4
_BY_LEVELS = ("intervals", "prefixes", "dates")


@dataclass(frozen=True)
class Change:
    """One column, described otherwise."""

    attribute: Attribute
    what: str
    """In words that follow the column's name."""

    @property
    def leaves_out(self) -> bool:
        return self.attribute.role is Role.IDENTIFIER

    @property
    def snippet(self) -> str:
        """The column as a schema file writes it."""
        return Schema((self.attribute,)).to_yaml()


def possible_changes(attribute: Attribute, column: Column) -> list[Change]:
    """Every change that the schema format can say and the values allow; leaving it out is the first."""
    left_out = Attribute(name=attribute.name, role=Role.IDENTIFIER, type=attribute.type)
    changes = [Change(left_out, "left out")]
    if attribute.weight > 0:
        lighter = replace(attribute, weight=attribute.weight / _LIGHTER)
        changes.append(Change(lighter, f"with a weight of {lighter.weight:g}"))
    written = attribute.taxonomy
    if written is None and attribute.order is None and attribute.values is None:
        codes = attribute.kind is Kind.CATEGORICAL and column.type in NUMBER_LIKE
        written = None if codes else taxonomy_hint(column)
        changes += [] if written is None else [_with(attribute, written)]
    elif written is not None:
        changes.append(Change(replace(attribute, taxonomy=None, kind=None), "without its taxonomy"))
    coarsest = _coarsest(written or {})
    return changes if coarsest is None else [*changes, _with(attribute, coarsest)]


def column_of(domain: Domain) -> Column:
    """A domain's values as a column that has each of them, for what looks at values alone."""
    return Column(domain.name, domain.type, domain.values[:0].astype("int32"), domain.values)


def _with(attribute: Attribute, taxonomy: Mapping[str, Any]) -> Change:
    form, levels = next((form, taxonomy[form]) for form in _BY_LEVELS if form in taxonomy)
    listed = ", ".join(str(level) for level in levels)
    words = {"intervals": "in intervals of", "prefixes": "by its first characters:", "dates": "by"}[form]
    # A taxonomy brings its own domain: bounds that were declared for intervals do not belong to it.
    changed = replace(attribute, taxonomy=dict(taxonomy), kind=None, low=None, high=None, size=None)
    return Change(changed, f"{words} {listed}")


def _coarsest(taxonomy: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The taxonomy with its last level only."""
    form = next((form for form in _BY_LEVELS if form in taxonomy), None)
    if form is None or not isinstance(taxonomy[form], list | tuple) or len(taxonomy[form]) < 2:
        return None
    return {**taxonomy, form: [taxonomy[form][-1]]}
