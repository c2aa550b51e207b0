"""The columns of a table: what they hold, likely are and are taken for, and settings of them put into a schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np
import yaml
from numpy.typing import NDArray

from lookalike.apps.studio.openapi import ColumnSettings
from lookalike.apps.studio.persons import describe_persons, name_unit
from lookalike.apps.studio.promises import forget_broken
from lookalike.apps.studio.workspace import Project
from lookalike.data.coarsening import parse_rules, print_coarsening
from lookalike.data.microdata import Column, texts_of
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import NUMBER_LIKE, Attribute, Kind, Role, Schema
from lookalike.errors import RecipeError, SchemaError, quoted, unknown_name
from lookalike.files.identifiers.values import examine_column, is_shown

N_BARS = 16
_MOST_SHOWN_VALUES = 12
_N_PREVIEW = 8
_Choice = TypeVar("_Choice", bound=StrEnum)


def describe_project(project: Project) -> dict[str, Any]:
    """What a page or a script needs to know of a project at any step."""
    schema = project.schema
    by_role = {"columns": schema.attributes, "quasi": schema.quasi, "sensitive": schema.sensitive}
    by_role["carried"] = schema.carried
    settings = ("adversary", "algorithm", "title", "recipient", "publish_scores")
    return {
        "id": project.id,
        "name": project.name,
        "rows": project.table.n_rows,
        **{role: [attribute.name for attribute in attributes] for role, attributes in by_role.items()},
        "models": list(project.models),
        **name_unit(project),
        **{name: getattr(project, name) for name in settings},
        "notes": list(project.table.notes),
    }


def describe_columns(project: Project) -> dict[str, Any]:
    """Every column with its suggestion and a small histogram, and how identifying the table is."""
    found = project.inspection()
    named = {attribute.name: attribute for attribute in project.schema.attributes}
    about_persons = {one.sentence for one in found.persons}
    columns = []
    for profile, column in zip(found.columns, project.table.columns, strict=True):
        declared = next((one for one in found.persons if one.declared and one.column == profile.name), None)
        # A column that the schema does not name has the usual settings, and no role.
        attribute = named.get(profile.name, Attribute(name=profile.name, role=Role.IDENTIFIER))
        columns.append(
            {
                "name": profile.name,
                "type": str(profile.type),
                "distinct": profile.n_distinct,
                "missing": profile.n_missing,
                "role": str(attribute.role) if profile.name in named else None,
                "kind": attribute.kind and str(attribute.kind),
                "suggested_role": str(profile.suggested_role if declared is None else declared.role),
                "role_reason": profile.role_reason if declared is None else "promises are counted by it",
                "suggested_kind": str(profile.suggested_kind),
                "kind_reason": profile.kind_reason,
                "weight": attribute.weight,
                "taxonomy": None if attribute.taxonomy is None else dict(attribute.taxonomy),
                "taxonomy_hint": profile.taxonomy_hint,
                "order": None if attribute.order is None else list(attribute.order),
                "longest_set": attribute.longest_set,
                "keep_identifiers": attribute.keep_identifiers,
                "carry_anyway": attribute.carry_anyway,
                "identifiers": _describe_identifiers(column, attribute),
                "coarsen": "" if attribute.prepare is None else print_coarsening(attribute.prepare),
                "histogram": histogram(column),
            }
        )
    return {
        "columns": columns,
        "unique": found.n_unique,
        "unique_share": found.unique_share,
        "smallest_group": found.smallest_group,
        "leverage": [
            {"name": worst.name, "with": worst.unique_with, "without": worst.unique_without}
            for worst in found.worst_columns
        ],
        "persons": describe_persons(project),
        # What the card of rows and persons says anyway.
        "notes": [note for note in found.notes if note not in about_persons],
    }


def _describe_identifiers(column: Column, attribute: Attribute) -> str | None:
    """How many values of a column that is published hold which identifiers; None: none, or nobody sees them."""
    if attribute.role in (Role.IDENTIFIER, Role.PERSON, Role.HOUSEHOLD) or not is_shown(attribute, column.type):
        return None
    found = examine_column(attribute, column.type, column.values, shown=True)
    return None if found is None else found.what


def histogram(column: Column) -> dict[str, Any]:
    """Counts in equal parts of the range for numbers and dates, of the most frequent values otherwise."""
    known = column.codes[column.codes < len(column.values)]
    counts = np.bincount(known, minlength=len(column.values))
    if column.type in NUMBER_LIKE and len(column.values) > _MOST_SHOWN_VALUES:
        return _histogram_of_range(column, counts)
    order = np.argsort(-counts, kind="stable")[:_MOST_SHOWN_VALUES]
    most = [
        f"{clip_text(text, 40)} ({100 * count / len(column.codes):.3g} %)"
        for text, count in zip(texts_of(column.values[order[:3]], column.type), counts[order[:3]], strict=True)
    ]
    if column.type in NUMBER_LIKE:
        order = np.sort(order)
    if not len(order):
        said = "It has no values."
    elif len(column.values) > _MOST_SHOWN_VALUES and counts.max() == 1:
        said = "Every value is different."
    else:
        others = len(column.values) - len(most)
        said = f"Most frequent: {', '.join(most)}{f', and {others:,} more' if others else ''}."
    return {
        "bars": [int(count) for count in counts[order]],
        "labels": [clip_text(text) for text in texts_of(column.values[order], column.type)],
        "ordered": column.type in NUMBER_LIKE,
        "others": len(column.values) - len(order),
        "sentence": said,
    }


def _histogram_of_range(column: Column, counts: NDArray[np.int64]) -> dict[str, Any]:
    # A quarter: so that the range of the widest column is still a number.
    places = column.values.astype(np.float64) / 4
    span = places[-1] - places[0]
    parts = np.zeros(len(places), dtype=np.int64)
    if span > 0:
        parts = np.minimum((places - places[0]) / span * N_BARS, N_BARS - 1).astype(np.int64)
    bars = np.bincount(parts, weights=counts, minlength=N_BARS).astype(np.int64)
    highest = np.flatnonzero(parts == bars.argmax())
    low, high, first, last = texts_of(column.values[[0, -1, highest[0], highest[-1]]], column.type)
    return {
        "bars": [int(count) for count in bars],
        "labels": [low, high],
        "ordered": True,
        "others": 0,
        "sentence": f"From {low} to {high}; most rows lie between {first} and {last}.",
    }


def clip_text(text: str, most: int = 200) -> str:
    """A long text as far as a page shows it."""
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def preview(project: Project) -> dict[str, Any]:
    """The first rows of the original, as text; for the user's own eyes."""
    shown = {attribute.name for attribute in project.schema.published}
    columns = [column for column in project.table.columns if column.name in shown]
    rows = [[_cell(column, place) for column in columns] for place in range(min(_N_PREVIEW, project.table.n_rows))]
    return {"columns": [column.name for column in columns], "rows": rows}


def _cell(column: Column, place: int) -> str:
    code = int(column.codes[place])
    return clip_text(texts_of(column.values[code : code + 1], column.type)[0]) if code < len(column.values) else ""


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
    before = project.schema, project.persons
    project.schema = schema
    try:
        project.persons.check(person=schema.unit is not None)
    except RecipeError:
        # What was said of persons means nothing under these roles.
        project.persons = PersonSettings()
    try:
        if schema.quasi:
            project.microdata()
        described = describe_columns(project)
        json.dumps(described, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):
        project.schema, project.persons = before
        raise SchemaError("The schema holds a value that is neither text nor a number. Write it out.") from None
    except BaseException:
        project.schema, project.persons = before
        raise
    forget_broken(project)
    return described


def _change_column(before: Attribute, column: ColumnSettings) -> Attribute:
    kind = None if column.kind is None else _member(Kind, column.kind, column.name, "kind")
    if column.taxonomy != before.taxonomy or kind is not before.kind:
        # A domain and an order belong to the kind they were declared for.
        before = replace(before, kind=None, taxonomy=None, order=None, low=None, high=None, values=None, size=None)
        before = replace(before, prepare=None)
    order = before.order if column.order is None else tuple(column.order) or None
    role = _member(Role, column.role, column.name, "role")
    longest = before.longest_set if column.longest_set is None else column.longest_set
    keeps = before.keep_identifiers if column.keep_identifiers is None else column.keep_identifiers
    anyway = before.carry_anyway if column.carry_anyway is None else column.carry_anyway
    prepare = before.prepare if column.coarsen is None else parse_rules(column.coarsen)
    if column.coarsen is None and role not in (Role.SENSITIVE, Role.CARRIED):
        prepare = None
    return replace(
        before,
        role=role,
        kind=kind,
        weight=column.weight,
        taxonomy=column.taxonomy,
        order=order,
        prepare=prepare,
        longest_set=longest,
        keep_identifiers=keeps,
        carry_anyway=anyway and role is Role.CARRIED,
    )


def _member(choices: type[_Choice], text: str, column: str, what: str) -> _Choice:
    if text not in list(choices):
        raise SchemaError(f"Column {quoted(column)}: {unknown_name(what, text, list(choices))}")
    return choices(text)
