"""Taxonomies as people type them: text in a field becomes what a schema writes, and is shown level by level.

intervals   10, 50            lengths, or `10, 50 from 18` if they begin elsewhere than at 0
prefixes    3, 2              how many characters are kept
dates       month, year
frequent    20                the least number of persons of a value that keeps its name; the others become (other)
tree        YAML, or an outline that is indented: the root, below it groups, below them values
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import yaml

from lookalike.data.microdata import Codes, Column, Domain, Microdata, Table, texts_of
from lookalike.data.schema import Attribute, Kind, Role, Schema
from lookalike.errors import DataError, SchemaError, counted, unknown_name

FORMS = {
    "intervals": "by intervals",
    "prefixes": "by first characters",
    "dates": "by date",
    "frequent": "by frequency",
    "tree": "by a tree of groups",
}
MOST_OUTLINED = 2000
MOST_LEVELS = 50
_TOO_DEEP = f"The tree has more than {MOST_LEVELS} levels. Leave some out."
_N_EXAMPLES = 4

_Outline = dict[str, Any]
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Labels as they are written (1.10, no, 2024-01-01); in C where it can be, for trees may be long."""


def read_taxonomy(form: str, text: str) -> dict[str, Any]:
    """What a schema writes for the text; whether it suits a column is seen when it is built."""
    if form not in FORMS:
        raise SchemaError(unknown_name("taxonomy form", form, FORMS))
    if form == "tree":
        tree = _tree(text)
        if max((depth for depth, _ in _labels(tree)), default=0) >= MOST_LEVELS:
            raise SchemaError(_TOO_DEEP)
        return {"tree": tree}
    listed, _, origin = text.partition(" from ") if form == "intervals" else (text, "", "")
    parts = listed.replace(",", " ").replace(";", " ").split()
    if not parts:
        raise SchemaError(f"Say how to group {FORMS[form]}: {_EXAMPLES[form]}.")
    if form == "dates":
        return {form: [part.casefold() for part in parts]}
    if form == "frequent":
        return {form: _number(parts[0], form) if len(parts) == 1 else [_number(part, form) for part in parts]}
    spec: dict[str, Any] = {form: [_number(part, form) for part in parts]}
    if origin.strip():
        spec["origin"] = _number(origin.strip(), form)
    return spec


def write_taxonomy(spec: Mapping[str, Any] | None) -> tuple[str, str]:
    """The form and the text that `read_taxonomy` turns into this; two empty texts for none."""
    form = next((form for form in FORMS if form in (spec or {})), None)
    if spec is None or form is None:
        return "", ""
    if form == "tree":
        return form, _write_outline(spec["tree"])
    levels = spec[form] if isinstance(spec[form], list | tuple) else [spec[form]]
    origin = f" from {spec['origin']}" if "origin" in spec else ""
    return form, ", ".join(str(level) for level in levels) + origin


def first_outline(column: Column) -> str:
    """All values under one root: a tree to begin with."""
    if len(column.values) > MOST_OUTLINED:
        raise DataError(
            f"The column has {counted(len(column.values), 'value')}, too many to list here. Group it by intervals, "
            "first characters or dates, or write a schema with a tree."
        )
    return _write_outline({f"any {column.name}": texts_of(column.values, column.type)})


def levels_of(column: Column, spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The levels above the values, finest first: how many groups, and the largest with their records."""
    attribute = Attribute(name=column.name, role=Role.QUASI, kind=Kind.CATEGORICAL, type=column.type, taxonomy=spec)
    data = Microdata.encode(Table((column,)), Schema((attribute,)))
    (domain,) = data.domains.quasi
    tree = domain.taxonomy
    if tree is None:
        return [_count_frequent(domain, data.quasi[:, 0])]
    up_to = np.concatenate([[0], np.cumsum(np.bincount(data.quasi[:, 0], minlength=tree.n_leaves))])
    records = up_to[tree.lasts + 1] - up_to[tree.firsts]
    levels = []
    for height in range(1, int(tree.heights[0]) + 1):
        nodes = np.flatnonzero(tree.heights == height)
        largest = nodes[np.argsort(-records[nodes], kind="stable")][:_N_EXAMPLES]
        examples = [{"label": tree.labels[node], "records": int(records[node])} for node in largest]
        levels.append({"groups": len(nodes), "examples": examples})
    return levels


def _count_frequent(domain: Domain, codes: Codes) -> dict[str, Any]:
    """The values that keep their names, and "(other)", as a level."""
    counts = np.bincount(codes, minlength=domain.n_codes)
    groups = np.flatnonzero(counts[: len(domain.values)])
    largest = groups[np.argsort(-counts[groups], kind="stable")][:_N_EXAMPLES]
    examples = [{"label": domain.texts[code], "records": int(counts[code])} for code in largest.tolist()]
    return {"groups": len(groups), "examples": examples}


_EXAMPLES = {
    "intervals": "lengths from short to long, as in 10, 50",
    "prefixes": "how many characters to keep, as in 3, 2",
    "dates": "steps from fine to coarse, as in month, year",
    "frequent": "the least number of persons of a value that keeps its name, as in 20",
}


def _number(text: str, form: str) -> int | float:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    raise SchemaError(f"Grouping {FORMS[form]} needs numbers: {_EXAMPLES[form]}.")


def _tree(text: str) -> Any:
    lines = [line.rstrip() for line in text.expandtabs(4).splitlines()]
    lines = [line for line in lines if line and line != "---"]
    if not lines:
        raise SchemaError("The tree is empty. Write the root in the first line, and below it groups and values.")
    if any(line.endswith(":") or line.lstrip().startswith(("- ", "{")) or ": [" in line for line in lines):
        return _from_yaml(text)
    return _from_outline(lines)


def _from_yaml(text: str) -> Any:
    try:
        _check_events(text)
        return _with_leaves(yaml.load(text, _Loader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        raise SchemaError(f"The tree is not valid YAML{place}: {getattr(error, 'problem', error)}.") from None


def _with_leaves(node: Any) -> Any:
    """A label with nothing after its colon is a leaf."""
    if isinstance(node, dict):
        return {label: None if below in ("", "~", "null") else _with_leaves(below) for label, below in node.items()}
    return [_with_leaves(entry) for entry in node] if isinstance(node, list) else node


def _check_events(text: str) -> None:
    """Aliases could make a short text a tree without end, and nesting a slow one."""
    depth = 0
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.AliasEvent):
            raise SchemaError("The tree uses a YAML alias (*name). Write every part out, or put the text in quotes.")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > 2 * MOST_LEVELS:
            raise SchemaError(_TOO_DEEP)


def _from_outline(lines: list[str]) -> _Outline:
    """Depth is given by how far a line is indented; a line that is indented further than the last lies below it."""
    root: _Outline = {}
    open_at: list[tuple[int, _Outline]] = [(-1, root)]
    for number, line in enumerate(lines, start=1):
        label = line.strip()
        depth = len(line) - len(line.lstrip())
        while open_at[-1][0] >= depth:
            open_at.pop()
        below = open_at[-1][1]
        if label in below:
            raise SchemaError(f"The tree, line {number}: this label is there twice in the same group. Keep one.")
        below[label] = {}
        if len(open_at) > MOST_LEVELS:
            raise SchemaError(_TOO_DEEP)
        open_at.append((depth, below[label]))
    return {label: _close_outline(below) for label, below in root.items()}


def _close_outline(node: _Outline) -> Any:
    """Nothing below: a leaf; only leaves below: a list of them."""
    if not node:
        return None
    if not any(node.values()):
        return list(node)
    return {label: _close_outline(below) for label, below in node.items()}


def _write_outline(tree: Any) -> str:
    labels = _labels(tree)
    outline = "\n".join("  " * depth + label for depth, label in labels)
    with suppress(SchemaError):
        if _labels(_tree(outline)) == labels:
            return outline
    # Labels that an outline cannot hold: with line breaks, blanks around them, or what would be taken for YAML.
    dumped: str = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    return dumped


def _labels(tree: Any) -> list[tuple[int, str]]:
    """Labels with their depths, in order: what makes two ways of writing a tree the same tree."""
    found: list[tuple[int, str]] = []
    stack: list[tuple[Any, int]] = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, dict):
            stack.extend((item, depth) for item in reversed(list(node.items())))
        elif isinstance(node, list):
            stack.extend((entry if isinstance(entry, dict) else (entry, None), depth) for entry in reversed(node))
        elif isinstance(node, tuple):
            found.append((depth, str(node[0]).lower() if isinstance(node[0], bool) else str(node[0])))
            stack.append((node[1], depth + 1))
    return found
