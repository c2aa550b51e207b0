"""Group sizes and drop-one counts against a counter over tuples."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.evaluation.inspect import combinations as module
from lookalike.evaluation.inspect.combinations import Combinations


@st.composite
def coded_columns(draw: st.DrawFn) -> tuple[list[Column], list[tuple[int, ...]]]:
    """Columns whose highest code is missing, and the same as rows."""
    widths = draw(st.lists(st.integers(1, 4), max_size=4))
    rows = draw(st.lists(st.tuples(*(st.integers(0, width) for width in widths)), max_size=25))
    columns = [
        Column(f"c{attr}", ValueType.INTEGER, np.array([row[attr] for row in rows], dtype=np.int32), np.arange(width))
        for attr, width in enumerate(widths)
    ]
    return columns, rows


@given(coded_columns())
def test_sizes_and_unique_records_are_those_of_a_counter(case: tuple[list[Column], list[tuple[int, ...]]]) -> None:
    columns, rows = case
    counter = Counter(rows)
    combinations = Combinations.of(columns, len(rows))
    assert sorted(combinations.sizes.tolist()) == sorted(counter.values())
    assert combinations.n_unique == sum(count == 1 for count in counter.values())
    for size in (1, 2, 5):
        assert combinations.n_records_below(size) == sum(counter[row] < size for row in rows)


@given(coded_columns())
def test_leaving_out_a_column_merges_combinations(case: tuple[list[Column], list[tuple[int, ...]]]) -> None:
    columns, rows = case
    combinations = Combinations.of(columns, len(rows))
    without_each = combinations.count_unique_without_each()
    assert len(without_each) == len(columns)
    for attr, n_unique in enumerate(without_each):
        counter = Counter(row[:attr] + row[attr + 1 :] for row in rows)
        assert n_unique == sum(count == 1 for count in counter.values())
        assert n_unique <= combinations.n_unique


@given(coded_columns())
def test_knowing_one_more_column_splits_combinations(case: tuple[list[Column], list[tuple[int, ...]]]) -> None:
    columns, rows = case
    for attr, column in enumerate(columns):
        others = columns[:attr] + columns[attr + 1 :]
        counter = Counter(rows)
        found = Combinations.of(others, len(rows)).n_unique_with(column)
        assert found == sum(count == 1 for count in counter.values())


@given(coded_columns())
def test_each_record_knows_its_combination(case: tuple[list[Column], list[tuple[int, ...]]]) -> None:
    columns, rows = case
    combinations = Combinations.of(columns, len(rows))
    assert all(
        tuple(int(codes[number]) for codes in combinations.codes) == row
        for number, row in zip(combinations.numbers, rows, strict=True)
    )


@given(coded_columns())
def test_half_of_the_records_are_in_groups_up_to_the_median(case: tuple[list[Column], list[tuple[int, ...]]]) -> None:
    columns, rows = case
    counter = Counter(rows)
    sizes = sorted(counter[row] for row in rows)
    expected = sizes[(len(sizes) - 1) // 2] if sizes else 0
    assert Combinations.of(columns, len(rows)).median_size() == expected


def test_products_beyond_64_bits_are_renumbered_on_the_way() -> None:
    generator = np.random.default_rng(0)
    n_rows, width = 400, 2**30
    codes = generator.integers(width - 3, width, (n_rows, 5)).astype(np.int32)
    columns = []
    for attr in range(5):
        # A view of one number stands for a wide domain, so that the test needs no memory for it.
        wide = np.broadcast_to(np.int64(0), width)
        columns.append(Column(f"c{attr}", ValueType.INTEGER, codes[:, attr].copy(), wide))
    counter = Counter(map(tuple, codes.tolist()))
    combinations = Combinations.of(columns, n_rows)
    assert width**3 > module._LARGEST_KEY
    assert sorted(combinations.sizes.tolist()) == sorted(counter.values())
    without = Counter(row[1:] for row in map(tuple, codes.tolist()))
    assert combinations.count_unique_without_each()[0] == sum(count == 1 for count in without.values())


def test_no_columns_make_one_group_and_no_rows_none() -> None:
    assert Combinations.of([], 4).sizes.tolist() == [4]
    assert Combinations.of([], 0).sizes.tolist() == []
    assert Combinations.of([], 0).median_size() == 0
