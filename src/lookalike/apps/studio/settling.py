"""Settings of columns, as pages and scripts send them, put into a schema; and a schema put into force."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

import yaml

from lookalike.apps.studio.describing import describe_columns
from lookalike.apps.studio.inputs import ColumnSettings
from lookalike.apps.studio.workspace import Project
from lookalike.data.schema import Attribute, Kind, Role, Schema
from lookalike.errors import LookalikeError, SchemaError, quoted, unknown_name
from lookalike.models import parse_promise
from lookalike.pipeline.recipe import require, settle

_Choice = TypeVar("_Choice", bound=StrEnum)


def with_columns(schema: Schema, names: Sequence[str], columns: Sequence[ColumnSettings]) -> Schema:
    """The schema with those columns changed, the others as they are; columns of the table that it lacks are added."""
    attributes = {attribute.name: attribute for attribute in schema.attributes}
    known = frozenset(names)
    for column in columns:
        if column.name not in known:
            raise SchemaError(unknown_name("column", column.name, names))
        before = attributes.get(column.name, Attribute(name=column.name, role=Role.IDENTIFIER))
        attributes[column.name] = _change_column(before, column)
    return Schema(tuple(attributes.values()))


def check_aliases(text: str) -> None:
    """A few lines of YAML that point at each other can stand for a tree without an end."""
    try:
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise SchemaError("The schema refers to parts of itself (*name). Write them out.")
    except yaml.YAMLError:
        return  # the schema's own reader says where


def take_schema(project: Project, schema: Schema) -> dict[str, Any]:
    """Another schema, if the table can be read and described under it; what was promised before may no longer fit."""
    for attribute in schema.attributes:
        if attribute.taxonomy is not None and "file" in attribute.taxonomy:
            raise SchemaError("A taxonomy in a file cannot be used here. Write its tree into the schema.")
    before = project.schema
    project.schema = schema
    try:
        if schema.quasi:
            project.microdata()
        described = describe_columns(project)
        json.dumps(described, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):
        project.schema = before
        raise SchemaError("The schema holds a value that is neither text nor a number. Write it out.") from None
    except BaseException:
        project.schema = before
        raise
    try:
        if project.models:
            check_models(project, project.models)
    except LookalikeError:
        project.models = ()
    return described


def check_models(project: Project, models: Sequence[str]) -> None:
    data = project.microdata()
    require(settle([parse_promise(text) for text in models], data), data)


def _change_column(before: Attribute, column: ColumnSettings) -> Attribute:
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
