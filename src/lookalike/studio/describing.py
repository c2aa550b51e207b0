"""The columns of a table as the studio shows them: what they hold, likely are, and are taken for."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.inspection import Inspection, inspect
from lookalike.inspection.kinds import taxonomy_hint
from lookalike.microdata import Column, guess_kind, texts_of
from lookalike.schema import NUMBER_LIKE, Role
from lookalike.studio.workspace import Project

N_BARS = 16
MOST_SHOWN_VALUES = 12
N_PREVIEW = 8


def describe_project(project: Project) -> dict[str, Any]:
    """What a page or a script needs to know of a project at any step."""
    return {
        "id": project.id,
        "name": project.name,
        "rows": project.table.n_rows,
        "columns": [attribute.name for attribute in project.schema.attributes],
        "quasi": [attribute.name for attribute in project.schema.quasi],
        "sensitive": [attribute.name for attribute in project.schema.sensitive],
        "carried": [attribute.name for attribute in project.schema.carried],
        "models": list(project.models),
        "adversary": project.adversary,
        "algorithm": project.algorithm,
        "title": project.title,
        "recipient": project.recipient,
        "notes": list(project.table.notes),
    }


def describe_columns(project: Project) -> dict[str, Any]:
    """Every column with its suggestion and a small histogram, and how identifying the table is."""
    found = inspection_of(project)
    roles = {attribute.name: attribute for attribute in project.schema.attributes}
    columns = []
    for profile in found.columns:
        attribute = roles.get(profile.name)
        column = project.table[profile.name]
        columns.append(
            {
                "name": profile.name,
                "type": str(profile.type),
                "distinct": profile.n_distinct,
                "missing": profile.n_missing,
                "role": None if attribute is None else str(attribute.role),
                "kind": None if attribute is None or attribute.kind is None else str(attribute.kind),
                "suggested_role": str(profile.suggested_role),
                "role_reason": profile.role_reason,
                "suggested_kind": str(guess_kind(column)[0]),
                "kind_reason": profile.kind_reason,
                "weight": 1.0 if attribute is None else attribute.weight,
                "taxonomy": None if attribute is None or attribute.taxonomy is None else dict(attribute.taxonomy),
                "taxonomy_hint": taxonomy_hint(column),
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
        "notes": list(found.notes),
    }


def inspection_of(project: Project) -> Inspection:
    return inspect(project.table, project.schema)


def histogram(column: Column) -> dict[str, Any]:
    """Counts in equal parts of the range for numbers and dates, of the most frequent values otherwise."""
    known = column.codes[column.codes < len(column.values)]
    counts = np.bincount(known, minlength=len(column.values))
    if column.type in NUMBER_LIKE and len(column.values) > MOST_SHOWN_VALUES:
        values = column.values.astype(np.float64)
        parts = np.histogram(values, bins=N_BARS, weights=counts)[0]
        ends = texts_of(column.values[[0, -1]], column.type)
        return {"bars": [int(count) for count in parts], "labels": [ends[0], ends[-1]], "ordered": True}
    order = np.argsort(-counts, kind="stable")[:MOST_SHOWN_VALUES]
    if column.type in NUMBER_LIKE:
        order = np.sort(order)
    labels = texts_of(column.values[order], column.type)
    rest = len(column.values) - len(order)
    return {
        "bars": [int(count) for count in counts[order]],
        "labels": list(labels),
        "ordered": column.type in NUMBER_LIKE,
        "others": rest,
    }


def preview(project: Project, n_rows: int = N_PREVIEW) -> dict[str, Any]:
    """The first rows of the original, as text; for the user's own eyes."""
    rows = []
    columns = [column for column in project.table.columns if _is_shown(project, column.name)]
    for place in range(min(n_rows, project.table.n_rows)):
        cells = []
        for column in columns:
            code = int(column.codes[place])
            missing = code >= len(column.values)
            cells.append("" if missing else texts_of(column.values[code : code + 1], column.type)[0])
        rows.append(cells)
    return {"columns": [column.name for column in columns], "rows": rows}


def _is_shown(project: Project, name: str) -> bool:
    return any(
        attribute.name == name and attribute.role is not Role.IDENTIFIER for attribute in project.schema.attributes
    )
