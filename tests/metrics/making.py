"""Tables and releases that several metrics are measured on."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lookalike.apps.samples import hospital
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.metrics.shared.cells import certainty_penalty
from tests.strategies import column_of

N_ROWS = 12


def data_of(*attributes: Attribute, **cells: list[object]) -> Microdata:
    columns = []
    for name, column in cells.items():
        numeric = all(cell is None or isinstance(cell, int) for cell in column)
        columns.append(column_of(name, column, ValueType.INTEGER if numeric else ValueType.STRING))
    return Microdata.encode(Table(tuple(columns)), Schema(attributes))


def quasi(name: str, kind: Kind = Kind.NUMERIC, **settings: object) -> Attribute:
    return Attribute(name=name, role=Role.QUASI, kind=kind, **settings)  # type: ignore[arg-type]


def one_group(data: Microdata, members: list[int]) -> float:
    extents = cover(data.domains.quasi[0], data.quasi[members, 0], np.zeros(len(members), dtype=np.int32), 1)
    return float(certainty_penalty(data.domains.quasi[0], extents)[0])


def twelve() -> Microdata:
    """Twelve people of different ages."""
    columns = (
        column_of("age", list(range(N_ROWS)), ValueType.INTEGER),
        column_of("s", list("ab" * 6), ValueType.STRING),
    )
    schema = Schema(
        (
            Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC),
            Attribute(name="s", role=Role.SENSITIVE, kind=Kind.CATEGORICAL),
        )
    )
    return Microdata.encode(Table(columns), schema)


def bucketized(data: Microdata, buckets: ArrayLike) -> Bucketized:
    number = np.asarray(buckets, dtype=np.int32)
    return Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=number,
        sensitive=data.sensitive,
        carried=data.carried,
        bucket_of_sensitive=number,
    )


def table(**columns: list[object]) -> Microdata:
    """Columns of whole numbers or text; the last one is sensitive."""
    types = {
        name: ValueType.INTEGER if isinstance(cells[0], int) else ValueType.STRING for name, cells in columns.items()
    }
    made = tuple(column_of(name, cells, types[name]) for name, cells in columns.items())
    *quasi, sensitive = columns
    return Microdata.encode(Table(made), Schema.of(qi=quasi, sensitive=[sensitive]))


def stays() -> Microdata:
    """Enough records to learn from."""
    return Microdata.encode(hospital(1500, seed=3), Schema.of(qi=["age", "sex"], sensitive=["diagnosis"]))
