"""Small tables with nasty names and values, releases of every form over them, and what a cell holds, spelled out."""

from __future__ import annotations

import datetime
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from lookalike.data.contracts import Promise
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import (
    Bucketized,
    Cells,
    ExactCells,
    Grouped,
    Matched,
    NumberCells,
    Perturbed,
    Randomizer,
    Ranges,
    RecordMap,
    Release,
    Withheld,
    cover,
)
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.wording import Wording
from lookalike.files.releases.describe import Manifest, StatedPromise, state_promise
from lookalike.files.releases.private import Private, private_beside
from lookalike.version import __version__

MANIFEST = Manifest(
    title="Patients 2024",
    promises=(StatedPromise("k-anonymity:5", "Nobody can be told from four others."),),
    algorithm="mondrian",
    adversary="reads-release",
    version=__version__,
    created=datetime.date(2024, 5, 6),
)

METHODS = {"grouped": "mondrian", "matched": "ring", "bucketized": "anatomy", "perturbed": "perturbation"}
"""A method of each form."""


def promising(release: Release, *promises: Promise) -> Manifest:
    """The same with a method and promises that are stated as such a release states them."""
    wording = Wording(form=release.form, known=tuple(domain.name for domain in release.domains.quasi))
    stated = tuple(state_promise(one, wording) for one in promises)
    return replace(MANIFEST, promises=stated, algorithm=METHODS[release.form])


def write_private(folder: Path, linkage: RecordMap, seed: int | None = None, *, overwrite: bool = False) -> Path:
    """The private part of a release, without the release."""
    with private_beside(folder, Private(record_map=linkage, seed=seed), overwrite=overwrite) as target:
        return target


_SPECIAL = [
    "",
    "*",
    "(missing)",
    "(empty)",
    "\\(empty)",
    "\\",
    "|",
    " to ",
    "to",
    "a to b",
    " a",
    "b ",
    "\n",
    "a,b",
    '"',
]
nasty_texts = st.one_of(
    st.sampled_from(_SPECIAL), st.text(alphabet=",;\"'|\\*\n\r\t -()toab\u00e9\ufeff\u20130", max_size=6)
)
_names = nasty_texts.filter(bool)
_EPOCH = datetime.datetime(1970, 1, 1)


def column(name: str, type: ValueType, cells: list[Any]) -> Column:
    """A column from plain cells; None is missing. Dates and moments are given as such."""
    raw = [None if cell is None else _raw(cell) for cell in cells]
    distinct = sorted({cell for cell in raw if cell is not None})
    dtype: Any = {ValueType.STRING: object, ValueType.NUMBER: np.float64}.get(type, np.int64)
    values = np.empty(len(distinct), dtype=dtype)
    values[:] = distinct
    code_of = {value: code for code, value in enumerate(distinct)}
    codes = [len(distinct) if cell is None else code_of[cell] for cell in raw]
    return Column(name, type, np.array(codes, dtype=np.int32), values)


def _raw(cell: Any) -> Any:
    if isinstance(cell, datetime.datetime):
        return (cell - _EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(cell, datetime.date):
        return (cell - _EPOCH.date()).days
    return int(cell) if isinstance(cell, bool) else cell


_CELLS: dict[ValueType, st.SearchStrategy[Any]] = {
    ValueType.INTEGER: st.one_of(st.integers(-12, 12), st.integers(2**53, 2**53 + 5), st.integers(-(2**62), 2**62)),
    ValueType.NUMBER: st.floats(allow_nan=False, allow_infinity=False, width=64).map(lambda number: number + 0.0),
    ValueType.DATE: st.dates(),
    ValueType.DATETIME: st.datetimes(),
    ValueType.BOOLEAN: st.booleans(),
    ValueType.STRING: nasty_texts,
}


@st.composite
def _typed_column(draw: st.DrawFn, name: str, n_rows: int) -> Column:
    type = draw(st.sampled_from(list(ValueType)))
    cells = _CELLS[type] if draw(st.booleans()) else st.one_of(st.none(), _CELLS[type])
    return column(name, type, draw(st.lists(cells, min_size=n_rows, max_size=n_rows)))


@st.composite
def _attribute(draw: st.DrawFn, column: Column, role: Role) -> Attribute:
    attribute = Attribute(name=column.name, role=role)
    if column.type is not ValueType.STRING:
        kinds = [None, Kind.CATEGORICAL] if role is Role.QUASI else [None]
        return replace(attribute, kind=draw(st.sampled_from(kinds)))
    if role is not Role.QUASI:
        return attribute
    how = draw(st.sampled_from(["set", "order", "tree", "prefixes"]))
    values = [str(value) for value in column.values]
    if how == "order" and values:
        return replace(attribute, kind=Kind.ORDERED, order=tuple(draw(st.permutations(values))))
    if how == "tree" and values and "(missing)" not in values:
        cut = draw(st.integers(0, len(values)))
        return replace(attribute, taxonomy={"tree": {"top of all": {"left\n": values[:cut], "|right": values[cut:]}}})
    if how == "prefixes" and not {"(missing)", "*"} & set(values) and all(text.isalnum() for text in values):
        return replace(attribute, taxonomy={"prefixes": [2, 1]})
    return attribute


@st.composite
def microdata(draw: st.DrawFn, *, sensitive: int = 0) -> Microdata:
    """A few rows under a schema with every role; at least `sensitive` sensitive columns."""
    n_rows = draw(st.integers(1, 9))
    n_columns = draw(st.integers(1 + sensitive, 5))
    names = draw(st.lists(_names, min_size=n_columns, max_size=n_columns, unique=True))
    roles = [Role.QUASI, *[Role.SENSITIVE] * sensitive]
    rest = st.sampled_from([Role.QUASI, Role.SENSITIVE, Role.CARRIED])
    roles += [draw(rest) for _ in range(n_columns - len(roles))]
    columns = [draw(_typed_column(name, n_rows)) for name in names]
    attributes = [draw(_attribute(column, role)) for column, role in zip(columns, roles, strict=True)]
    return Microdata.encode(Table(tuple(columns)), Schema(tuple(attributes)))


@st.composite
def releases(draw: st.DrawFn, form: str) -> tuple[Microdata, Release]:
    """A table and a release of it, of the form asked for."""
    data = draw(microdata(sensitive=1 if form in (Bucketized.form, Perturbed.form) else 0))
    group_of_record = np.array(draw(st.lists(st.integers(0, 2), min_size=data.n_rows, max_size=data.n_rows)))
    order = np.array(draw(st.permutations(range(data.n_rows))))
    return data, make_release(form, data, group_of_record, order, draw(st.integers(1, 5)))


def make_release(form: str, data: Microdata, group_of_record: Any, order: Any, noise: int = 1) -> Release:
    domains = data.domains
    sensitive, carried = data.sensitive[order], data.carried[order]
    groups, unit_of_record = np.unique(group_of_record, return_inverse=True)
    extents = tuple(
        cover(domain, data.quasi[:, attr], unit_of_record, len(groups)) for attr, domain in enumerate(domains.quasi)
    )
    if form == Grouped.form:
        group_of_row = unit_of_record[order].astype(np.int32)
        return Grouped(
            domains=domains, extents=extents, group_of_row=group_of_row, sensitive=sensitive, carried=carried
        )
    if form == Matched.form:
        # Row r hides the record it comes from and the next one.
        both = np.stack([order, np.roll(order, -1)], axis=1).ravel()
        rows = np.repeat(np.arange(data.n_rows), 2)
        own = tuple(
            cover(domain, data.quasi[both, attr], rows, data.n_rows) for attr, domain in enumerate(domains.quasi)
        )
        return Matched(domains=domains, extents=own, sensitive=sensitive, carried=carried)
    if form == Bucketized.form:
        return Bucketized(
            domains=domains,
            quasi=data.quasi,
            bucket_of_quasi=unit_of_record.astype(np.int32),
            sensitive=sensitive,
            carried=carried,
            bucket_of_sensitive=unit_of_record[order].astype(np.int32),
        )
    randomizers = []
    for domain in domains.sensitive:
        weights = np.ones((domain.n_codes, domain.n_codes), dtype=np.int64) + noise * np.eye(domain.n_codes, dtype=int)
        randomizers.append(Randomizer(weights, domain.n_codes + noise))
    return Perturbed(
        domains=domains,
        quasi=data.quasi[order],
        sensitive=sensitive,
        carried=carried,
        randomizers=tuple(randomizers),
        withheld=Withheld(),
    )


FORMS = [Grouped.form, Matched.form, Bucketized.form, Perturbed.form]


def held(cells: Cells) -> list[Any]:
    """What each row of a published column holds, in plain Python."""
    if isinstance(cells, NumberCells):
        return [int(number) for number in cells.numbers]
    if isinstance(cells, ExactCells):
        return [int(code) for code in cells.codes]
    spelled = []
    for unit in cells.unit_of_row:
        extents = cells.extents
        if isinstance(extents, Ranges):
            codes = set(range(int(extents.lows[unit]), int(extents.highs[unit]) + 1))
            codes |= {cells.domain.missing_code} if extents.missing[unit] else set()
            points = (repr(float(extents.low_points[unit])), repr(float(extents.high_points[unit])))
            spelled.append((frozenset(codes), points))
        else:
            start, end = extents.starts[unit], extents.starts[unit + 1]
            spelled.append((frozenset(extents.members[start:end].tolist()), None))
    return spelled


def small_clinic() -> Microdata:
    """Twelve patients: a number, a set with missing values, a date, an order, a taxonomy; two sensitive columns."""
    jobs = ["Private", "Federal", None, "Local", "Private", "Self"] * 2
    born = [datetime.date(1980, 1, 1) + datetime.timedelta(days=40 * row) for row in range(12)]
    table = Table(
        (
            column("age", ValueType.INTEGER, [28, 39, 41, 33, -5, -2, 60, None, 28, 45, 52, 30]),
            column("work, class", ValueType.STRING, jobs),
            column("born", ValueType.DATE, born),
            column("pain", ValueType.STRING, ["low", "high", "mid"] * 4),
            column("zip", ValueType.STRING, [f"13{row:03d}" for row in range(12)]),
            column("diagnosis", ValueType.STRING, ["flu", "cold", "gout", None] * 3),
            column("smokes", ValueType.BOOLEAN, [True, False] * 6),
            column("weight", ValueType.NUMBER, [61.5, 70.25, None] * 4),
        )
    )
    schema = Schema(
        (
            Attribute(name="age", role=Role.QUASI, low=-10, high=110),
            Attribute(name="work, class", role=Role.QUASI),
            Attribute(name="born", role=Role.QUASI),
            Attribute(name="pain", role=Role.QUASI, order=("low", "mid", "high")),
            Attribute(name="zip", role=Role.QUASI, taxonomy={"prefixes": [4, 3]}),
            Attribute(name="diagnosis", role=Role.SENSITIVE),
            Attribute(name="smokes", role=Role.SENSITIVE),
            Attribute(name="weight", role=Role.CARRIED),
        )
    )
    return Microdata.encode(table, schema)


def clinic_release(form: str) -> tuple[Microdata, Release]:
    data = small_clinic()
    order = np.array([7, 2, 9, 0, 4, 11, 1, 3, 10, 5, 8, 6])
    return data, make_release(form, data, np.arange(12) // 4, order)
