"""The tables of the papers' experiments: from a folder of CSV files, or stand-ins that are called so.

Files have the columns age, gender, education, marital, race, workclass, country and occupation, all whole numbers
(census10k.csv, census100k.csv, uniform10k.csv, zipf10k_05.csv ...). Stand-ins have the same columns and the papers'
cardinalities; agreement with a printed number is claimed for neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from lookalike.apps.samples.census import census
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
SENSITIVE = "occupation"
_NUMBERS = ("age", "education")
_NAMES = {"Work class": "workclass"}
_LARGEST = 100_000


@dataclass(frozen=True)
class Datasets:
    """Tables by what they are: CENSUS, or its quasi-identifiers with values drawn uniformly or by Zipf's law."""

    folder: Path | None = None
    _kept: dict[tuple[object, ...], Microdata] = field(default_factory=dict, repr=False)
    """Tables made before: experiments share them, and so what was published of them."""

    @property
    def label(self) -> str:
        return "stand-in" if self.folder is None else "census extract"

    @cached_property
    def _census(self) -> Table:
        if self.folder is None:
            return _rename(census(_LARGEST, seed=1))
        files = sorted(self.folder.glob("census*.csv"), key=lambda path: path.stat().st_size)
        if not files:
            raise DataError(f"{self.folder} has no census*.csv. Name a folder that has, or leave out --data.")
        return _read(files[-1])

    @property
    def n_census(self) -> int:
        return self._census.n_rows

    def census(self, rows: int, qi: Sequence[str] = QUASI, sensitive: str = SENSITIVE, *, start: int = 0) -> Microdata:
        """The first rows of CENSUS from `start` on, with these columns known."""
        return self._once(
            ("census", rows, tuple(qi), sensitive, start),
            lambda: self._encode(_part(self._census, start, rows), qi, sensitive),
        )

    def uniform(self, rows: int, qi: Sequence[str] = QUASI) -> Microdata:
        """Another sample's quasi-identifiers, occupations drawn uniformly."""
        return self._draw("uniform10k.csv", "uniform", rows, qi)

    def zipf(self, exponent: float, rows: int, qi: Sequence[str] = QUASI) -> Microdata:
        """The same with occupations by Zipf's law."""
        return self._draw(f"zipf10k_{round(10 * exponent):02d}.csv", f"zipf:{exponent}", rows, qi)

    def coil(self, rows: int) -> Microdata:
        """A stand-in for COIL2000: its cardinalities, all categories, customer subtypes nested in types."""
        return self._once(("coil", rows), lambda: _coil(rows))

    def _once(self, key: tuple[object, ...], make: Callable[[], Microdata]) -> Microdata:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _draw(self, file: str, law: str, rows: int, qi: Sequence[str]) -> Microdata:
        def make() -> Microdata:
            path = None if self.folder is None else self.folder / file
            table = _read(path) if path is not None and path.exists() else _rename(census(rows, seed=2, occupation=law))
            return self._encode(_part(table, 0, rows), qi, SENSITIVE)

        return self._once((law, rows, tuple(qi)), make)

    def _encode(self, table: Table, qi: Sequence[str], sensitive: str) -> Microdata:
        attributes = [self._attribute(name, Role.QUASI, table) for name in qi]
        attributes.append(self._attribute(sensitive, Role.SENSITIVE, table))
        kept = tuple(table[attribute.name] for attribute in attributes)
        return Microdata.encode(Table(kept, table.source), Schema(tuple(attributes)))

    def _attribute(self, name: str, role: Role, table: Table) -> Attribute:
        # Domains are as the largest table has them, so that losses of its parts compare.
        values = np.union1d(self._census[name].values, table[name].values)
        if name in _NUMBERS and role is Role.QUASI:
            low, high = int(values[0]), int(values[-1])
            return Attribute(name=name, role=role, kind=Kind.NUMERIC, type=ValueType.INTEGER, low=low, high=high)
        size = len(values) if role is Role.QUASI else None
        return Attribute(name=name, role=role, kind=Kind.CATEGORICAL, type=ValueType.INTEGER, size=size)


def _read(path: Path) -> Table:
    from lookalike.files.tables import read_table

    table = read_table(path)
    lacking = sorted({*QUASI, SENSITIVE} - set(table.names))
    if lacking:
        raise DataError(f"{path} lacks the column {lacking[0]}. The experiments need {', '.join((*QUASI, SENSITIVE))}.")
    return table


def _rename(table: Table) -> Table:
    columns = (replace(column, name=_NAMES.get(column.name, column.name.casefold())) for column in table.columns)
    return Table(tuple(columns), table.source)


def _part(table: Table, start: int, rows: int) -> Table:
    """Some rows, with the values that occur in them."""
    return Table(tuple(_cut(column, start, start + rows) for column in table.columns), table.source)


def _cut(column: Column, start: int, stop: int) -> Column:
    codes = column.codes[start:stop]
    used = np.unique(codes[codes < len(column.values)])
    new = np.full(len(column.values) + 1, len(used), dtype=np.int32)
    new[used] = np.arange(len(used))
    return Column(column.name, column.type, new[codes], column.values[used])


def _coil(rows: int) -> Microdata:
    rng = np.random.default_rng(2000)
    kind_of_subtype = np.sort(rng.integers(0, 10, 41))
    kind_of_subtype[:10] = np.arange(10)
    kind_of_subtype.sort()
    subtype = rng.choice(41, rows, p=rng.dirichlet(np.full(41, 2.0)))
    kind = kind_of_subtype[subtype]
    columns = [
        ("houses", np.where(rng.random(rows) < 0.03, rng.integers(1, 11, rows), 1 + (rng.random(rows) < 0.1))),
        ("household", np.clip(np.round(rng.normal(1.5 + kind % 4, 0.9)), 1, 6)),
        ("age", np.clip(np.round(rng.normal(1.5 + kind / 3, 1.0)), 1, 6)),
        ("type", kind + 1),
        ("subtype", subtype + 1),
    ]
    made = []
    for name, numbers in columns:
        values, codes = np.unique(numbers.astype(np.int64), return_inverse=True)
        made.append(Column(name, ValueType.INTEGER, codes.astype(np.int32), values))
    roles = [Role.QUASI] * 4 + [Role.SENSITIVE]
    attributes = tuple(
        Attribute(name=column.name, role=role, kind=Kind.CATEGORICAL, type=column.type)
        for column, role in zip(made, roles, strict=True)
    )
    return Microdata.encode(Table(tuple(made), "COIL2000 stand-in"), Schema(attributes))
