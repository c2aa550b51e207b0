"""Random small tables: columns of every kind, missing values, taxonomies, duplicates, skewed and absent values."""

from __future__ import annotations

import numpy as np

from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Role, Schema, ValueType
from tests.strategies import attribute_of, column_of

_WORDS = {"set": "pqrstu", "tree": "abcde", "order": ("low", "middle", "high")}
MOST_ROWS = 24
"""With so few rows no test of chance (order of rows, use of a matrix) can fail: what is left is exact."""


def random_table(rng: np.random.Generator, n_rows: int, *, carried: bool | None = None) -> Microdata:
    """One to three quasi-identifiers, one or two sensitive columns, sometimes a carried one."""
    columns, attributes = [], []

    def add(name: str, sort: str, role: Role, missing: bool, skew: bool) -> None:
        if sort in ("number", "fraction"):
            drawn = rng.integers(0, int(rng.integers(1, 9)) if role is Role.QUASI else 5, n_rows)
            cells: list[object] = [int(number) / 4 if sort == "fraction" else int(number) for number in drawn]
        else:
            words = _WORDS[sort]
            shares = rng.dirichlet([0.5 if skew else 5.0] * len(words))
            cells = [words[place] for place in rng.choice(len(words), n_rows, p=shares)]
        if missing:
            cells = [None if rng.random() < 0.15 else cell for cell in cells]
        type = {"number": ValueType.INTEGER, "fraction": ValueType.NUMBER}.get(sort, ValueType.STRING)
        columns.append(column_of(name, cells, type))
        attributes.append(attribute_of(name, sort, role))

    for place in range(int(rng.integers(1, 4))):
        sort = str(rng.choice(["number", "fraction", "set", "order", "tree"]))
        add(f"q{place}", sort, Role.QUASI, bool(rng.random() < 0.4), False)
    for place in range(int(rng.integers(1, 3))):
        sort = str(rng.choice(["number", "set", "order", "tree"]))
        add(f"s{place}", sort, Role.SENSITIVE, bool(rng.random() < 0.2), bool(rng.random() < 0.7))
    if rng.random() < 0.4 if carried is None else carried:
        add("c", "set", Role.CARRIED, False, True)
    data = Microdata.encode(Table(tuple(columns)), Schema(tuple(attributes)))
    if rng.random() < 0.3:
        data = _with_twins(rng, data)
    return data


def _with_twins(rng: np.random.Generator, data: Microdata) -> Microdata:
    """Some records become copies of others, in quasi-identifiers or altogether."""
    from dataclasses import replace

    twin = np.arange(data.n_rows)
    copies = rng.integers(0, data.n_rows, max(data.n_rows // 4, 1))
    twin[copies] = rng.integers(0, data.n_rows, len(copies))
    if rng.random() < 0.5:
        return replace(data, quasi=data.quasi[twin])
    return replace(data, quasi=data.quasi[twin], sensitive=data.sensitive[twin], carried=data.carried[twin])
