"""What is published: the least extents that hold a unit's records, and the layout of the tables of every form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Domain, Microdata, Table
from lookalike.data.release import (
    Bucketized,
    ExactCells,
    ExtentCells,
    Extents,
    Grouped,
    Matched,
    NumberCells,
    Perturbed,
    Randomizer,
    Ranges,
    Sets,
    cover,
    is_numeric_cell,
)
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError
from tests.strategies import attribute_of, column_of, microdatas


def members(domain: Domain, extents: Extents, unit: int) -> set[int]:
    """Every code that the cell of a unit may hide."""
    if isinstance(extents, Sets):
        return set(extents.members[int(extents.starts[unit]) : int(extents.starts[unit + 1])].tolist())
    run = set(range(int(extents.lows[unit]), int(extents.highs[unit]) + 1))
    return run | ({domain.missing_code} if extents.missing[unit] else set())


def least_cover(domain: Domain, codes: set[int]) -> set[int]:
    """The smallest set of codes that may be published and holds these, by trying them all."""
    if not codes:
        return set()
    if domain.taxonomy is not None:
        tree = domain.taxonomy
        runs = [set(range(int(tree.firsts[node]), int(tree.lasts[node]) + 1)) for node in range(len(tree.labels))]
        return min((run for run in runs if codes <= run), key=len)
    if domain.kind is Kind.CATEGORICAL:
        return codes
    real = codes - {domain.missing_code}
    n_values = len(domain.values)
    runs = [set(range(low, high)) for low in range(n_values + 1) for high in range(low, n_values + 1)]
    return min((run for run in runs if real <= run), key=len) | (codes - real)


@given(microdatas(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_covers_are_the_least_that_hold_their_records(data: Microdata, n_units: int, random: Any) -> None:
    unit_of_record = np.array([random.randrange(n_units) for _ in range(data.n_rows)], dtype=np.int32)
    for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True):
        extents = cover(domain, codes, unit_of_record, n_units)
        assert len(extents) == n_units
        assert isinstance(extents, Ranges) == domain.in_ranges
        for unit in range(n_units):
            inside = set(codes[unit_of_record == unit].tolist())
            assert members(domain, extents, unit) == least_cover(domain, inside)


@given(microdatas(), st.integers(1, 6), st.integers(0, 5), st.randoms(use_true_random=False))
def test_sets_that_list_too_many_values_hold_all_of_them(
    data: Microdata, n_units: int, longest: int, random: Any
) -> None:
    unit_of_record = np.array([random.randrange(n_units) for _ in range(data.n_rows)], dtype=np.int32)
    for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True):
        limited = replace(domain, attribute=replace(domain.attribute, longest_set=longest))
        free = replace(domain, attribute=replace(domain.attribute, longest_set=0))
        short = cover(limited, codes, unit_of_record, n_units)
        long = cover(free, codes, unit_of_record, n_units)
        for unit in range(n_units):
            inside = members(domain, long, unit)
            is_long = not domain.in_ranges and 0 < longest < len(inside)
            assert members(domain, short, unit) == (set(range(domain.n_codes)) if is_long else inside)


def test_sets_that_no_memory_holds_are_refused_with_the_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    domain, codes = only_column([f"v{place}" for place in range(60)], "set", ValueType.STRING)
    domain = replace(domain, attribute=replace(domain.attribute, longest_set=5))
    monkeypatch.setattr("lookalike.data.release._MOST_MEMBERS", 100)
    with pytest.raises(DataError, match="--longest-set 0") as refused:
        cover(domain, codes, np.arange(60) // 10, 6)
    assert "v1" not in str(refused.value)


@given(microdatas())
def test_one_record_alone_is_published_as_it_is(data: Microdata) -> None:
    for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True):
        extents = cover(domain, codes, np.arange(data.n_rows), data.n_rows)
        assert all(members(domain, extents, row) == {code} for row, code in enumerate(codes.tolist()))


def only_column(cells: list[Any], sort: str, type: ValueType) -> tuple[Domain, Any]:
    schema = Schema((attribute_of("c", sort, Role.QUASI),))
    data = Microdata.encode(Table((column_of("c", cells, type),)), schema)
    return data.domains.quasi[0], data.quasi[:, 0]


def test_intervals_end_in_values_and_carry_them_as_points() -> None:
    domain, codes = only_column([30, 7, 100, None, None], "number", ValueType.INTEGER)
    extents = cover(domain, codes, np.array([0, 0, 1, 1, 2]), 3)
    assert isinstance(extents, Ranges)
    assert extents.lows.dtype == extents.highs.dtype == np.int32
    assert extents.missing.tolist() == [False, True, True]
    assert extents.low_points[:2].tolist() == [7.0, 100.0]
    assert extents.high_points[:2].tolist() == [30.0, 100.0]
    assert extents.highs[2] < extents.lows[2], "nothing but missing values is an empty run"
    assert np.isnan(extents.low_points[2])
    assert np.isnan(extents.high_points[2])


def test_orders_and_trees_are_measured_in_codes() -> None:
    order, codes = only_column(["high", "low"], "order", ValueType.STRING)
    extents = cover(order, codes, np.zeros(2, dtype=np.int64), 1)
    assert isinstance(extents, Ranges)
    assert (extents.low_points.tolist(), extents.high_points.tolist()) == ([0.0], [2.0])
    tree, codes = only_column(["c", "e", "a", None], "tree", ValueType.STRING)
    extents = cover(tree, codes, np.array([0, 0, 1, 2]), 3)
    assert isinstance(extents, Ranges)
    assert (extents.low_points.tolist(), extents.high_points.tolist()) == ([2.0, 0.0, 5.0], [4.0, 0.0, 5.0])
    assert not extents.missing.any(), "of a taxonomy, missing is a leaf like any other"
    mixed = cover(tree, codes, np.array([0, 1, 1, 0]), 2)
    assert isinstance(mixed, Ranges)
    assert (mixed.lows.tolist(), mixed.highs.tolist()) == ([0, 0], [5, 5]), "only the root holds missing and a value"


@pytest.mark.parametrize("sort", ["number", "order", "set", "tree"])
def test_a_unit_without_records_holds_nothing(sort: str) -> None:
    cells: list[Any] = {"number": [1, 2], "order": ["low", "high"], "set": ["p", "q"], "tree": ["a", "e"]}[sort]
    domain, codes = only_column(cells, sort, ValueType.INTEGER if sort == "number" else ValueType.STRING)
    extents = cover(domain, codes, np.array([2, 2]), 4)
    assert [len(members(domain, extents, unit)) > 0 for unit in range(4)] == [False, False, True, False]


def test_sets_are_sorted_and_without_doubles() -> None:
    domain, codes = only_column(["r", "p", "r", None, "q"], "set", ValueType.STRING)
    extents = cover(domain, codes, np.array([1, 1, 1, 0, 1]), 2)
    assert isinstance(extents, Sets)
    assert (extents.starts.tolist(), extents.members.tolist()) == ([0, 1, 4], [3, 0, 1, 2])
    assert (extents.sizes.tolist(), extents.members.dtype) == ([1, 3], np.int32)


def test_lengths_measure_numbers_without_a_taxonomy_only() -> None:
    number, _ = only_column([1, 2], "number", ValueType.INTEGER)
    attribute = Attribute(name="c", role=Role.QUASI, kind=Kind.NUMERIC, taxonomy={"intervals": [10]})
    data = Microdata.encode(Table((column_of("c", [1, 2], ValueType.INTEGER),)), Schema((attribute,)))
    assert is_numeric_cell(number)
    assert not is_numeric_cell(data.domains.quasi[0])
    for sort in ("order", "set", "tree"):
        cells = ["low"] if sort == "order" else ["p"] if sort == "set" else ["a"]
        assert not is_numeric_cell(only_column(cells, sort, ValueType.STRING)[0])


def people() -> Microdata:
    columns = (
        column_of("name", ["u", "v", "w", "x"], ValueType.STRING),
        column_of("age", [30, 20, 40, 50], ValueType.INTEGER),
        column_of("job", ["p", "q", "p", "r"], ValueType.STRING),
        column_of("ill", ["flu", "hiv", "flu", "tb"], ValueType.STRING),
        column_of("note", ["n", "m", "n", "m"], ValueType.STRING),
    )
    schema = Schema.of(qi=["age", "job"], sensitive=["ill"], carry=["note"])
    return Microdata.encode(Table(columns), schema)


def test_a_grouped_release_is_one_table_of_extents_and_values() -> None:
    data = people()
    groups = np.array([0, 0, 1, 1], dtype=np.int32)
    extents = tuple(
        cover(domain, codes, groups, 2) for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True)
    )
    shuffle = np.array([2, 0, 3, 1])
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=groups[shuffle],
        sensitive=data.sensitive[shuffle],
        carried=data.carried[shuffle],
    )
    (table,) = release.tables()
    assert (table.name, release.n_rows, release.form) == ("release", 4, "grouped")
    age, job, ill, note = table.columns
    for cells, domain, extent in ((age, data.domains.quasi[0], extents[0]), (job, data.domains.quasi[1], extents[1])):
        assert isinstance(cells, ExtentCells)
        assert (cells.domain, cells.extents, cells.role) == (domain, extent, Role.QUASI)
        assert cells.unit_of_row.tolist() == [1, 0, 1, 0]
    for cells, role, codes in ((ill, Role.SENSITIVE, [0, 0, 2, 1]), (note, Role.CARRIED, [1, 1, 0, 0])):
        assert isinstance(cells, ExactCells)
        assert (cells.role, cells.codes.tolist()) == (role, codes)
    assert (release.withheld.n_suppressed, release.withheld.n_dummies) == (0, 0)


def test_a_matched_release_has_extents_for_every_row() -> None:
    data = people()
    extents = tuple(
        cover(domain, codes, np.arange(4), 4) for domain, codes in zip(data.domains.quasi, data.quasi.T, strict=True)
    )
    release = Matched(domains=data.domains, extents=extents, sensitive=data.sensitive, carried=data.carried)
    (table,) = release.tables()
    assert (table.name, release.n_rows, release.form) == ("release", 4, "matched")
    assert [cells.domain.name for cells in table.columns if not isinstance(cells, NumberCells)] == [
        *("age", "job", "ill", "note")
    ]
    assert isinstance(table.columns[0], ExtentCells)
    assert table.columns[0].unit_of_row.tolist() == [0, 1, 2, 3]


def test_a_bucketized_release_is_two_tables_joined_by_a_number() -> None:
    data = people()
    release = Bucketized(
        domains=data.domains,
        quasi=data.quasi,
        bucket_of_quasi=np.array([0, 1, 1, 0], dtype=np.int32),
        sensitive=data.sensitive[::-1],
        carried=data.carried[::-1],
        bucket_of_sensitive=np.array([1, 0, 1, 0], dtype=np.int32),
    )
    qit, sat = release.tables()
    assert (qit.name, sat.name, release.n_rows, release.form) == ("qit", "sat", 4, "bucketized")

    def layout(columns: Any) -> list[tuple[str, list[int], Role | None]]:
        return [
            (cells.name, cells.numbers.tolist(), None)
            if isinstance(cells, NumberCells)
            else (cells.domain.name, cells.codes.tolist(), cells.role)
            for cells in columns
        ]

    assert layout(qit.columns) == [
        ("age", [1, 0, 2, 3], Role.QUASI),
        ("job", [0, 1, 0, 2], Role.QUASI),
        ("bucket", [0, 1, 1, 0], None),
    ]
    assert layout(sat.columns) == [
        ("bucket", [1, 0, 1, 0], None),
        ("ill", [2, 0, 1, 0], Role.SENSITIVE),
        ("note", [0, 1, 0, 1], Role.CARRIED),
    ]


def test_a_perturbed_release_is_one_table_of_exact_values() -> None:
    data = people()
    matrix = Randomizer(np.array([[2, 1, 1], [1, 2, 1], [1, 1, 2]]), 4)
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive,
        carried=data.carried,
        randomizers=(matrix,),
    )
    (table,) = release.tables()
    assert (table.name, release.n_rows, release.form) == ("release", 4, "perturbed")
    assert all(isinstance(cells, ExactCells) for cells in table.columns)
    assert [cells.role for cells in table.columns if isinstance(cells, ExactCells)] == [
        *(Role.QUASI, Role.QUASI, Role.SENSITIVE, Role.CARRIED)
    ]
