"""Hierarchies of values. Leaves are numbered in pre-order, so that every node is a run of leaf codes.

A taxonomy is written as one of

    {tree: {Any: {Heart: [angina, murmur], Head: [migraine]}}}   nested mapping, lists of leaves at the ends
    {file: diseases.csv}             one line a leaf: leaf;parent;...;root
    {intervals: [10, 50]}            numbers: intervals of length 10, then 50 (30..39; optional `origin`)
    {prefixes: [3, 2]}               text: the first 3 characters, then the first 2 (121** and 12***)
    {dates: [month, year]}           dates: by month (2024-M03), then by year (also day, week, quarter, decade)

and `build` makes it a tree over the values that a column has. Every tree ends in one root.
Missing values, where a column has them, are one more leaf under the root, the last one.
"""

from __future__ import annotations

import csv
import datetime
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.coarsening import join_ends
from lookalike.data.schema import plain_text
from lookalike.errors import DataError, SchemaError, quoted, unknown_name
from lookalike.untrusted import read_text

ROOT = "*"
MISSING = "(missing)"
OTHER = "(other)"
"""Every value that a declared domain lacks, where its column may have others."""

Path_ = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A tree in arrays, one entry a node, nodes in pre-order (the root is node 0).

    >>> paths = [("angina", "Heart", "Any"), ("migraine", "Head", "Any"), ("murmur", "Heart", "Any")]
    >>> tree = Taxonomy.from_paths(paths)
    >>> tree.leaves
    ('angina', 'murmur', 'migraine')
    >>> tree.labels[tree.lowest_common(0, 1)], tree.labels[tree.lowest_common(0, 2)]
    ('Heart', 'Any')
    """

    labels: tuple[str, ...]
    parents: NDArray[np.int32]
    """Parent of each node; -1 for the root."""
    firsts: NDArray[np.int32]
    """First leaf code below each node."""
    lasts: NDArray[np.int32]
    """Last leaf code below each node (a leaf is its own first and last)."""

    @classmethod
    def from_paths(cls, paths: Sequence[Path_]) -> Taxonomy:
        """From one path a leaf, leaf first and root last. Children keep the order in which they are met."""
        children: dict[Path_, list[str]] = {}
        known: set[Path_] = set()
        for path in paths:
            downward = _collapse(path)[::-1]
            if downward in known:
                raise DataError(f"The taxonomy names the leaf {quoted(path[0])} twice. Keep one line for each leaf.")
            for depth in range(1, len(downward) + 1):
                node, above = downward[:depth], downward[: depth - 1]
                if node not in known:
                    known.add(node)
                    children.setdefault(above, []).append(node[-1])
        inner = next((path[0] for path in paths if _collapse(path)[::-1] in children), None)
        if inner is not None:
            raise DataError(
                f"The taxonomy uses the label {quoted(inner)} for a leaf and for a node above others. Rename one."
            )
        roots = children.get((), [])
        if len(roots) != 1:
            shown = ", ".join(quoted(root) for root in roots[:5])
            raise DataError(
                f"A taxonomy needs one root, this one has {len(roots)}: {shown}. End every line in the same root."
            )
        return cls._from_children(children, roots[0])

    @classmethod
    def _from_children(cls, children: Mapping[Path_, list[str]], root: str) -> Taxonomy:
        labels: list[str] = []
        parents: list[int] = []
        firsts: list[int] = []
        n_leaves = 0
        stack: list[tuple[Path_, int]] = [((root,), -1)]
        while stack:
            path, parent = stack.pop()
            node = len(labels)
            labels.append(path[-1])
            parents.append(parent)
            firsts.append(n_leaves)
            below = children.get(path, [])
            n_leaves += not below
            stack.extend(((*path, child), node) for child in reversed(below))
        lasts = [-1] * len(labels)
        for node in range(len(labels) - 1, -1, -1):
            lasts[node] = max(lasts[node], firsts[node])
            if parents[node] >= 0:
                lasts[parents[node]] = max(lasts[parents[node]], lasts[node])
        tree = cls(tuple(labels), *(np.asarray(column, dtype=np.int32) for column in (parents, firsts, lasts)))
        if len(set(labels)) != len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise DataError(
                f"The taxonomy uses the label {quoted(twice)} for two different nodes. A reader could not tell them "
                "apart: rename one."
            )
        return tree

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        leaf = np.ones(len(self.labels), dtype=bool)
        leaf[self.parents[1:]] = False
        return leaf

    @cached_property
    def leaf_nodes(self) -> NDArray[np.int32]:
        """The node of each leaf code."""
        return np.flatnonzero(self.is_leaf).astype(np.int32)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        return tuple(self.labels[node] for node in self.leaf_nodes)

    @property
    def n_leaves(self) -> int:
        return int(self.lasts[0]) + 1

    @cached_property
    def heights(self) -> NDArray[np.int32]:
        """Steps from each node down to its farthest leaf; leaves have 0."""
        heights = np.zeros(len(self.labels), dtype=np.int32)
        for node in range(len(self.labels) - 1, 0, -1):
            parent = self.parents[node]
            heights[parent] = max(heights[parent], heights[node] + 1)
        return heights

    @cached_property
    def _node_of(self) -> dict[str, int]:
        return {label: node for node, label in enumerate(self.labels)}

    def node(self, label: str) -> int | None:
        """The node of that label, if there is one; the labels that version 0.1.0 gave (`old_label`) are known too."""
        spellings = (label, *_new_labels(label))
        return next((self._node_of[spelling] for spelling in spellings if spelling in self._node_of), None)

    def children(self, node: int) -> NDArray[np.int32]:
        return np.flatnonzero(self.parents == node).astype(np.int32)

    def lowest_common(self, first: int, last: int) -> int:
        """The lowest node above both leaf codes (of two nodes with the same leaves the lower)."""
        low, high = min(first, last), max(first, last)
        node = int(self.leaf_nodes[low])
        while self.lasts[node] < high:
            node = int(self.parents[node])
        return node

    def closures(self, lows: NDArray[np.int32], highs: NDArray[np.int32]) -> NDArray[np.int32]:
        """`lowest_common` for many runs of leaves at once."""
        nodes = self.leaf_nodes[lows].copy()
        while (open_runs := np.flatnonzero(self.lasts[nodes] < highs)).size:
            nodes[open_runs] = self.parents[nodes[open_runs]]
        return nodes

    def cut(self, level: int) -> tuple[list[str], Taxonomy]:
        """Of each leaf the largest node above it with at most so many levels below, and the tree without those levels.

        >>> paths = [("angina", "Heart", "Any"), ("migraine", "Head", "Any"), ("murmur", "Heart", "Any")]
        >>> labels, above = Taxonomy.from_paths(paths).cut(1)
        >>> labels, above.leaves
        (['Heart', 'Heart', 'Head'], ('Heart', 'Head'))
        """
        is_low = self.heights <= level
        kept = [node for node in np.flatnonzero(is_low).tolist() if node == 0 or not is_low[self.parents[node]]]
        labels = [self.labels[node] for node in kept for _ in range(self.firsts[node], self.lasts[node] + 1)]
        paths = []
        for node in kept:
            path = [node]
            while self.parents[path[-1]] >= 0:
                path.append(int(self.parents[path[-1]]))
            paths.append(tuple(self.labels[each] for each in path))
        return labels, Taxonomy.from_paths(paths)

    def to_plain(self) -> dict[str, Any]:
        """The tree as a nested mapping, ready for YAML."""

        def below(node: int) -> Any:
            inner = self.children(node)
            if all(self.is_leaf[inner]):
                return [self.labels[child] for child in inner]
            return {self.labels[child]: None if self.is_leaf[child] else below(child) for child in inner}

        return {"tree": {self.labels[0]: None if self.is_leaf[0] else below(0)}}


def name_dates(days: Sequence[datetime.date], unit: str) -> list[str]:
    """The node that each day lies below: day, week, month, quarter, year or decade."""
    return [_DATE_LABELS[unit](day) for day in days]


def build(
    spec: Mapping[str, Any],
    values: Sequence[Any],
    texts: Sequence[str],
    *,
    column: str,
    with_missing: bool,
    with_others: bool = False,
) -> Taxonomy:
    """The tree that `spec` describes over a column's distinct values.

    `values` are numbers or dates where the column has them, `texts` how they print; the same length.
    Trees and files may name leaves that the table lacks. They may not lack a value that the table has, unless the
    column may have others: these are one more leaf under the root, the first one.
    """
    where = f"Column {quoted(column)}"
    forms = [form for form in _FORMS if form in spec]
    unknown = [key for key in spec if key not in _FORMS and key != "origin"]
    if len(forms) != 1 or unknown:
        wrong = unknown_name("taxonomy form", str(unknown[0]), _FORMS) if unknown else "name exactly one form."
        raise SchemaError(f"{where}: taxonomy: {wrong} Forms: {', '.join(_FORMS)}.")
    form = forms[0]
    if form == "frequent":
        raise SchemaError(f"{where}: taxonomy frequent is for quasi-identifiers of a table, whose values are counted.")
    if form in ("tree", "file"):
        paths = _tree_paths(spec["tree"], where) if form == "tree" else read_paths(Path(str(spec["file"])))
        leaves = {path[0] for path in paths}
        absent = [text for text in texts if text not in leaves]
        if absent and not with_others:
            raise DataError(
                f"{where}: the taxonomy lacks {len(absent)} of the {len(texts)} values that the table has. "
                "Add a leaf for each of them."
            )
    else:
        levels = list(spec[form]) if isinstance(spec[form], list | tuple) else [spec[form]]
        if not levels:
            raise SchemaError(f"{where}: taxonomy {form} needs at least one level.")
        paths = _FORMS[form](values, texts, levels, spec.get("origin", 0), where)
    if with_others:
        if form not in ("tree", "file"):
            raise SchemaError(f"{where}: others: true needs a taxonomy that names its leaves (tree or file).")
        paths = [(OTHER, paths[0][-1]), *paths]
    if with_missing:
        root = paths[0][-1] if paths else ROOT
        paths = [*paths, (MISSING, root)]
    return Taxonomy.from_paths(paths)


def read_paths(path: Path) -> list[Path_]:
    """Lines `leaf;parent;...;root` (semicolons or commas) as paths."""
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise DataError(f"Cannot read the taxonomy {path}: {reason}.") from None
    delimiter = ";" if ";" in text else ","
    rows = [tuple(cell.strip() for cell in row) for row in csv.reader(io.StringIO(text), delimiter=delimiter)]
    paths = [row for row in rows if any(row)]
    for number, row in enumerate(paths, start=1):
        if not all(row):
            form = delimiter.join(("leaf", "parent", "...", "root"))
            raise DataError(f"{path}, entry {number}: an empty label. Write {form}.")
    if not paths:
        raise DataError(f"The taxonomy {path} is empty. Write one line a leaf: leaf;parent;...;root.")
    return paths


def _collapse(path: Path_) -> Path_:
    """Other tools repeat a label on several levels (a;*;*): one node."""
    return tuple(label for position, label in enumerate(path) if position == 0 or label != path[position - 1])


def _tree_paths(tree: object, where: str) -> list[Path_]:
    """Walks the nested mapping; a mapping's values are mappings, lists of leaves, or nothing (then it is a leaf)."""
    if isinstance(tree, dict) and len(tree) != 1:
        tree = {ROOT: tree}
    if not isinstance(tree, dict):
        raise SchemaError(f"{where}: taxonomy tree must be a nested mapping that ends in lists of leaves.")
    paths: list[Path_] = []
    stack: list[tuple[object, Path_]] = [(tree, ())]
    while stack:
        node, above = stack.pop()
        if isinstance(node, dict):
            stack.extend((below, (plain_text(label), *above)) for label, below in reversed(list(node.items())))
        elif isinstance(node, list):
            stack.extend((entry if isinstance(entry, dict) else (entry,), above) for entry in reversed(node))
        elif isinstance(node, tuple):
            paths.append((plain_text(node[0]), *above))
        elif node is None and above:
            paths.append(above)
        else:
            raise SchemaError(f"{where}: taxonomy tree: write leaves as lists.")
    return paths


def _interval_paths(
    values: Sequence[Any], texts: Sequence[str], levels: list[Any], origin: Any, where: str
) -> list[Path_]:
    # Exact decimals: 0.3 is three times 0.1, and is in [0.3, 0.4).
    try:
        widths = [Fraction(str(level)) for level in levels]
        start = Fraction(str(origin))
    except (ValueError, ZeroDivisionError):
        raise SchemaError(f"{where}: taxonomy intervals and origin must be numbers.") from None
    if any(width <= 0 for width in widths) or sorted(set(widths)) != widths:
        raise SchemaError(f"{where}: taxonomy intervals must be positive and increasing, not {levels}.")
    if any(wide % narrow for narrow, wide in zip(widths, widths[1:], strict=False)):
        raise SchemaError(f"{where}: each interval length must be a multiple of the one before, not {levels}.")
    if not all(isinstance(value, int | float) and math.isfinite(value) for value in values):
        raise SchemaError(f"{where}: a taxonomy by intervals needs a column of numbers.")
    numbers = [Fraction(str(value)) for value in values]
    whole = all(number.denominator == 1 for number in (*widths, start, *numbers))
    return [
        _distinct((text, *(_interval_label(number, width, start, whole) for width in widths), ROOT))
        for number, text in zip(numbers, texts, strict=True)
    ]


_RANGE_LABEL = re.compile(r"(\[?)(-?\d+)\.\.(-?\d+)(\]?)")
_MONTH_LABEL = re.compile(r"(\d{4,})-M(\d\d)")
_OLD_RANGE_LABEL = re.compile(r"(-?\d+)-(-?\d+)")
_OLD_MONTH_LABEL = re.compile(r"(\d{4,})-(\d\d)")


def old_label(label: str) -> str:
    """What version 0.1.0 called a node of a rule: `30-39` and `2024-03`, which spreadsheets take for dates.

    >>> old_label("30..39"), old_label("[-10..-1]"), old_label("2024-M03"), old_label("2024")
    ('30-39', '-10--1', '2024-03', '2024')
    """
    if (ends := _RANGE_LABEL.fullmatch(label)) is not None and label == join_ends(ends[2], ends[3]):
        return f"{ends[2]}-{ends[3]}"
    return f"{month[1]}-{month[2]}" if (month := _MONTH_LABEL.fullmatch(label)) is not None else label


def _new_labels(label: str) -> Iterator[str]:
    """What a node is called now that may have been called so."""
    if (ends := _OLD_RANGE_LABEL.fullmatch(label)) is not None:
        yield join_ends(ends[1], ends[2])
    if (month := _OLD_MONTH_LABEL.fullmatch(label)) is not None:
        yield f"{month[1]}-M{month[2]}"


def _interval_label(number: Fraction, width: Fraction, start: Fraction, whole: bool) -> str:
    low = start + math.floor((number - start) / width) * width
    if whole:
        return f"{int(low)}" if width == 1 else join_ends(f"{int(low)}", f"{int(low + width) - 1}")
    return f"[{float(low):.12g}, {float(low + width):.12g})"


def _prefix_paths(
    values: Sequence[Any], texts: Sequence[str], levels: list[Any], origin: Any, where: str
) -> list[Path_]:
    if any(not isinstance(level, int) or level < 1 for level in levels) or sorted(set(levels), reverse=True) != levels:
        raise SchemaError(f"{where}: taxonomy prefixes must be whole numbers from 1, decreasing, not {levels}.")
    paths = []
    for text in sorted(texts):
        steps = [text[:level] + "*" * (len(text) - level) for level in levels if level < len(text)]
        paths.append(_distinct((text, *steps, ROOT)))
    return paths


_DATE_LABELS: dict[str, Callable[[datetime.date], str]] = {
    "day": lambda date: f"{date:%Y-%m-%d}",
    "week": lambda date: f"{date.isocalendar().year}-W{date.isocalendar().week:02d}",
    "month": lambda date: f"{date.year:04d}-M{date.month:02d}",
    "quarter": lambda date: f"{date.year:04d}-Q{(date.month + 2) // 3}",
    "year": lambda date: f"{date.year:04d}",
    "decade": lambda date: f"{date.year // 10 * 10:04d}s",
}


def _date_paths(values: Sequence[Any], texts: Sequence[str], levels: list[Any], origin: Any, where: str) -> list[Path_]:
    for level in levels:
        if not isinstance(level, str) or level not in _DATE_LABELS:
            raise SchemaError(f"{where}: {unknown_name('date level', str(level), _DATE_LABELS)}")
    if [level for level in _DATE_LABELS if level in levels] != levels or ("week" in levels and len(levels) > 1):
        raise SchemaError(
            f"{where}: date levels go from fine to coarse (day, month, quarter, year, decade), and week stands alone."
        )
    if not all(isinstance(value, datetime.date) for value in values):
        raise SchemaError(f"{where}: a taxonomy by dates needs a column of dates.")
    return [
        _distinct((text, *(_DATE_LABELS[level](value) for level in levels), ROOT))
        for value, text in zip(values, texts, strict=True)
    ]


def _distinct(path: Path_) -> Path_:
    """A level that says no more than the one below it is left out."""
    return tuple(dict.fromkeys(path))


_FORMS: dict[str, Callable[..., list[Path_]]] = {
    "tree": lambda *_: [],
    "file": lambda *_: [],
    "intervals": _interval_paths,
    "prefixes": _prefix_paths,
    "dates": _date_paths,
    "frequent": lambda *_: [],
}
