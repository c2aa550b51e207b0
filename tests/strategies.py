"""Hypothesis strategies shared by the tests: tables under a schema, as microdata."""

from __future__ import annotations

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
    "number": (ValueType.INTEGER, Kind.NUMERIC, st.integers(-20, 20)),
    "fraction": (ValueType.NUMBER, Kind.NUMERIC, st.integers(0, 6).map(lambda number: number / 4)),
    "set": (ValueType.STRING, Kind.CATEGORICAL, st.sampled_from("pqrstu")),
    "order": (ValueType.STRING, Kind.ORDERED, st.sampled_from(["low", "middle", "high"])),
    "tree": (ValueType.STRING, Kind.CATEGORICAL, st.sampled_from("abcde")),
}


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
        type, _, cells = _CELLS[sort]
        may_lack = st.none() if draw(st.booleans()) else st.nothing()
        drawn = draw(st.lists(cells | may_lack, min_size=n_rows, max_size=n_rows))
        columns.append(column_of(f"q{place}", drawn, type))
        attributes.append(attribute_of(f"q{place}", sort, Role.QUASI))
    for place in range(draw(n_sensitive)):
        n_values = draw(st.integers(1, 6))
        skew = st.integers(0, n_values - 1) | st.just(0)
        drawn = draw(st.lists(skew, min_size=n_rows, max_size=n_rows))
        columns.append(column_of(f"s{place}", list(drawn), ValueType.INTEGER))
        attributes.append(Attribute(name=f"s{place}", role=Role.SENSITIVE, kind=Kind.NUMERIC))
    if draw(st.booleans()):
        drawn = draw(st.lists(st.sampled_from("xyz"), min_size=n_rows, max_size=n_rows))
        columns.append(column_of("carried", drawn, ValueType.STRING))
        attributes.append(Attribute(name="carried", role=Role.CARRIED, kind=Kind.CATEGORICAL))
    return Microdata.encode(Table(tuple(columns)), Schema(tuple(attributes)))
