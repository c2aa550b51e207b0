"""The columns of a table as the studio shows them: what they hold, likely are, and are taken for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.apps.studio.workspace import Project
from lookalike.data.microdata import Column, texts_of
from lookalike.data.schema import NUMBER_LIKE, Role

N_BARS = 16
_MOST_SHOWN_VALUES = 12
_N_PREVIEW = 8


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
        "publish_scores": project.publish_scores,
        "notes": list(project.table.notes),
    }


def describe_columns(project: Project) -> dict[str, Any]:
    """Every column with its suggestion and a small histogram, and how identifying the table is."""
    found = project.inspection()
    roles = {attribute.name: attribute for attribute in project.schema.attributes}
    columns = []
    for profile, column in zip(found.columns, project.table.columns, strict=True):
        attribute = roles.get(profile.name)
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
                "suggested_kind": str(profile.suggested_kind),
                "kind_reason": profile.kind_reason,
                "weight": 1.0 if attribute is None else attribute.weight,
                "taxonomy": None if attribute is None or attribute.taxonomy is None else dict(attribute.taxonomy),
                "taxonomy_hint": profile.taxonomy_hint,
                "order": None if attribute is None or attribute.order is None else list(attribute.order),
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


def preview(project: Project, n_rows: int = _N_PREVIEW) -> dict[str, Any]:
    """The first rows of the original, as text; for the user's own eyes."""
    hidden = {attribute.name for attribute in project.schema.attributes if attribute.role is Role.IDENTIFIER}
    named = {attribute.name for attribute in project.schema.attributes}
    columns = [column for column in project.table.columns if column.name in named and column.name not in hidden]
    rows = []
    for place in range(min(n_rows, project.table.n_rows)):
        cells = []
        for column in columns:
            code = int(column.codes[place])
            missing = code >= len(column.values)
            cells.append("" if missing else clip_text(texts_of(column.values[code : code + 1], column.type)[0]))
        rows.append(cells)
    return {"columns": [column.name for column in columns], "rows": rows}
