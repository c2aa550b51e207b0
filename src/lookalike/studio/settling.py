"""Settings of columns, as pages and scripts send them, put into a schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from lookalike.errors import SchemaError, quoted, unknown_name
from lookalike.schema import Attribute, Kind, Role, Schema
from lookalike.studio.inputs import ColumnSettings

_Choice = TypeVar("_Choice", bound=StrEnum)


def with_columns(schema: Schema, names: Sequence[str], columns: Sequence[ColumnSettings]) -> Schema:
    """The schema with those columns changed, the others as they are; columns of the table that it lacks are added."""
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    known = frozenset(names)
    for column in columns:
        if column.name not in known:
            raise SchemaError(unknown_name("column", column.name, names))
        before = attributes.get(column.name, Attribute(name=column.name, role=Role.IDENTIFIER))
        attributes[column.name] = _changed(before, column)
    return Schema(tuple(attributes.values()))


def _changed(before: Attribute, column: ColumnSettings) -> Attribute:
    kind = None if column.kind is None else _member(Kind, column.kind, column.name, "kind")
    if column.taxonomy != before.taxonomy or kind is not before.kind:
        # A domain and an order belong to the kind they were declared for.
        before = replace(before, kind=None, taxonomy=None, order=None, low=None, high=None, values=None, size=None)
    order = before.order if column.order is None else tuple(column.order) or None
    role = _member(Role, column.role, column.name, "role")
    return replace(before, role=role, kind=kind, weight=column.weight, taxonomy=column.taxonomy, order=order)


def _member(choices: type[_Choice], text: str, column: str, what: str) -> _Choice:
    if text not in list(choices):
        raise SchemaError(f"Column {quoted(column)}: {unknown_name(what, text, list(choices))}")
    return choices(text)
