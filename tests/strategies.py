"""Hypothesis strategies shared by the tests: tables under a schema, as microdata."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import starmap

import numpy as np
from hypothesis import strategies as st

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType

_TREE = {"tree": {"any": {"left": ["a", "b"], "right": {"upper": ["c", "d"], "lower": ["e"]}}}}


def column_of(name: str, cells: list[object], type: ValueType) -> Column:
    """A dictionary-encoded column from plain cells; None is missing."""
    distinct = sorted({cell for cell in cells if cell is not None})
    code_of = {cell: code for code, cell in enumerate(distinct)}
    codes = np.array([len(distinct) if cell is None else code_of[cell] for cell in cells], dtype=np.int32)
    if type is ValueType.STRING:
        values = np.empty(len(distinct), dtype=object)
        values[:] = distinct
    else:
        values = np.array(distinct, dtype=np.float64 if type is ValueType.NUMBER else np.int64)
    return Column(name, type, codes, values)


_CELLS = {
    "number": (ValueType.INTEGER, Kind.NUMERIC, sorted(range(-20, 21), key=abs)),
    "fraction": (ValueType.NUMBER, Kind.NUMERIC, [number / 4 for number in range(7)]),
    "set": (ValueType.STRING, Kind.CATEGORICAL, [*"pqrstu"]),
    "order": (ValueType.STRING, Kind.ORDERED, ["low", "middle", "high"]),
    "tree": (ValueType.STRING, Kind.CATEGORICAL, [*"abcde"]),
}


def cells_of(values: Sequence[object], n_rows: int, *half: object) -> st.SearchStrategy[list[object]]:
    """So many cells, each any of the values with the same probability; with `half`, every other one is that instead.

    All are drawn at once, one byte each: as a list, with a choice for each cell, a table takes four times as long.
    Hypothesis often tries the simplest bytes: they are one value throughout, or all values in turn if rows are even.
    """
    turning = n_rows % 2 == 0

    def cell(place: int, byte: int) -> object:
        return half[0] if half and byte >= 128 else values[(byte + turning * place) % len(values)]

    return st.binary(min_size=n_rows, max_size=n_rows).map(lambda drawn: [*starmap(cell, enumerate(drawn))])


def attribute_of(name: str, sort: str, role: Role) -> Attribute:
    _, kind, _ = _CELLS[sort]
    return Attribute(
        name=name,
        role=role,
        kind=kind,
        taxonomy=_TREE if sort == "tree" else None,
        order=("low", "middle", "high") if sort == "order" else None,
    )


@st.composite
def microdatas(
    draw: st.DrawFn,
    *,
    max_rows: int = 60,
    min_rows: int = 1,
    n_sensitive: st.SearchStrategy[int] = st.integers(1, 2),  # noqa: B008
) -> Microdata:
    """Small tables with quasi-identifiers of every sort, missing values, skewed sensitive columns and a carried one."""
    n_rows = draw(st.integers(min_rows, max_rows))
    sorts = draw(st.lists(st.sampled_from(list(_CELLS)), min_size=1, max_size=4))
    columns, attributes = [], []
    for place, sort in enumerate(sorts):
        type, _, values = _CELLS[sort]
        missing = [None] if draw(st.booleans()) else []
        drawn = draw(cells_of(values, n_rows, *missing))
        columns.append(column_of(f"q{place}", drawn, type))
        attributes.append(attribute_of(f"q{place}", sort, Role.QUASI))
    for place in range(draw(n_sensitive)):
        n_values = draw(st.integers(1, 6))
        drawn = draw(cells_of(range(n_values), n_rows, 0))
        columns.append(column_of(f"s{place}", drawn, ValueType.INTEGER))
        attributes.append(Attribute(name=f"s{place}", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    if draw(st.booleans()):
        drawn = draw(cells_of("xyz", n_rows))
        columns.append(column_of("carried", drawn, ValueType.STRING))
        attributes.append(Attribute(name="carried", role=Role.CARRIED, kind=Kind.CATEGORICAL))
    return Microdata.encode(Table(tuple(columns)), Schema(tuple(attributes)))
