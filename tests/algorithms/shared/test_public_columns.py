"""Cells come from what is declared; what had to be read from the table is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lookalike.algorithms.shared.public_columns import PublicColumn, public_column, require_declared
from lookalike.data.microdata import Domain, Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import SchemaError
from lookalike.randomness import Randomness
from tests.strategies import column_of

TREE = {"tree": {"any": {"left": ["1", "2"], "right": ["3"]}}}


def domain_of(cells: list[Any], type: ValueType, **settings: Any) -> Domain:
    attribute = Attribute(name="x", role=Role.QUASI, **settings)
    return Microdata.encode(Table((column_of("x", cells, type),)), Schema((attribute,))).domains.quasi[0]


def values_of(column: PublicColumn, cells: list[int]) -> list[Any]:
    domain, codes = column.draw(np.array(cells), Randomness(1))
    assert domain.n_codes > codes.max()
    return [None if code == len(domain.values) else domain.values[code] for code in codes]


def test_a_declared_range_has_every_whole_number_whether_somebody_has_it_or_not() -> None:
    few = public_column(domain_of([3, 5], ValueType.INTEGER, low=0, high=9), 128, may_be_missing=False)
    assert (few.size, few.declared, few.cell_of_code.tolist()) == (10, True, [3, 5, 10])
    assert values_of(few, [0, 3, 9]) == [0, 3, 9]


@pytest.mark.parametrize("open_end", [{}, {"low": 0}, {"high": 99}])
def test_an_undeclared_range_is_read_from_the_table_and_said(open_end: dict[str, Any]) -> None:
    column = public_column(domain_of([3, 5], ValueType.INTEGER, **open_end), 128, may_be_missing=False)
    assert not column.declared
    with pytest.raises(SchemaError, match='1 column: "x"'):
        require_declared([column])


def test_a_wide_range_is_cut_into_parts_and_filled_evenly() -> None:
    domain = domain_of([0, 999], ValueType.INTEGER, low=0, high=1004)
    column = public_column(domain, 10, may_be_missing=False)
    assert (column.width, column.n_values) == (101, 10)
    assert column.cell_of_code.tolist() == [0, 9, 10]
    found = values_of(column, [9] * 4000)
    assert (min(found), max(found)) == (909, 1004)
    assert np.mean(found) == pytest.approx(956.5, abs=3)


def test_numbers_with_decimals_are_cut_into_parts() -> None:
    domain = domain_of([0.5, 2.0, 10.0], ValueType.NUMBER, low=0, high=10)
    column = public_column(domain, 5, may_be_missing=False)
    assert column.cell_of_code.tolist() == [0, 1, 4, 5]
    found = values_of(column, [4] * 1000)
    assert all(8 <= value <= 10 and value == round(value, 3) for value in found)
    assert len({*found}) > 500


@pytest.mark.parametrize(
    ("low", "high"), [(-1e308, 1.7e308), (0.0, 5e-324), (-3e-300, 2e-299), (1.0, 1.0 + 2**-52), (1e300, 1.1e300)]
)
def test_numbers_of_any_size_stay_in_their_range(low: float, high: float) -> None:
    column = public_column(domain_of([low, high], ValueType.NUMBER), 7, may_be_missing=False)
    assert column.cell_of_code[0] == 0
    assert column.cell_of_code[1] == column.n_values - 1
    assert all(low <= value <= high for value in values_of(column, list(range(column.n_values)) * 50))


def test_whole_numbers_that_a_float_does_not_have_are_refused() -> None:
    largest = 1 << 53
    column = public_column(domain_of([-largest, largest], ValueType.INTEGER), 128, may_be_missing=False)
    assert column.cell_of_code.tolist() == [0, 127, 128]
    assert all(-largest <= value <= largest for value in values_of(column, [0, 127] * 50))
    with pytest.raises(SchemaError, match="too large for a range"):
        public_column(domain_of([0, 4 * largest], ValueType.INTEGER), 128, may_be_missing=False)


def test_dates_are_days_of_a_range() -> None:
    domain = domain_of([19_000], ValueType.DATE, low="2022-01-01", high="2022-12-31")
    assert public_column(domain, 400, may_be_missing=False).size == 365
    assert public_column(domain, 12, may_be_missing=False).size == 12


@pytest.mark.parametrize("type", [ValueType.INTEGER, ValueType.NUMBER])
def test_one_number_is_one_cell(type: ValueType) -> None:
    column = public_column(domain_of([7, 7], type), 128, may_be_missing=False)
    assert column.size == 1
    assert values_of(column, [0, 0]) == [7, 7]


def test_listed_values_trees_and_orders_are_declared_and_a_size_is_not() -> None:
    cells = ["a", "b"]
    for settings in ({"values": ("a", "b", "c")}, {"order": ("c", "b", "a")}):
        column = public_column(domain_of(cells, ValueType.STRING, **settings), 128, may_be_missing=False)
        assert (column.size, column.declared) == (3, True)
        assert values_of(column, [0, 1, 2]) == list(*settings.values())
    for settings in ({}, {"size": 5}, {"taxonomy": {"prefixes": [1]}}):
        column = public_column(domain_of(cells, ValueType.STRING, **settings), 128, may_be_missing=False)
        assert (column.size, column.declared) == (2, False)


@pytest.mark.parametrize("cells", [[1, 2], [1, 2, 3], [1, 2, None]])
def test_a_tree_gives_the_same_text_whoever_is_in_the_table(cells: list[int | None]) -> None:
    """The type of what is written must not tell whether all leaves occur, nor the tree whether one is missing."""
    domain = domain_of(cells, ValueType.INTEGER, taxonomy=TREE)
    column = public_column(domain, 128, may_be_missing=True)
    made, codes = column.draw(np.arange(4), Randomness(1))
    assert (made.type, made.values.tolist(), made.has_missing) == (ValueType.STRING, ["1", "2", "3"], True)
    assert codes.tolist() == [0, 1, 2, 3]
    assert made.taxonomy is not None
    assert made.taxonomy.n_leaves == made.n_codes == 4


def test_missing_has_a_cell_if_somebody_is_or_may_be() -> None:
    seen = public_column(domain_of([1, None, 3], ValueType.INTEGER), 128, may_be_missing=False)
    assert (seen.size, seen.cell_of_code.tolist()) == (4, [0, 2, 3])
    assert values_of(seen, [3, 1]) == [None, 2]
    never = domain_of(["a"], ValueType.STRING, kind=Kind.CATEGORICAL)
    assert public_column(never, 128, may_be_missing=False).size == 1
    assert values_of(public_column(never, 128, may_be_missing=True), [1, 0]) == [None, "a"]


@pytest.mark.parametrize("kind", [Kind.CATEGORICAL, Kind.NUMERIC])
def test_a_column_in_which_everything_is_missing(kind: Kind) -> None:
    column = public_column(domain_of([None, None], ValueType.INTEGER, kind=kind), 128, may_be_missing=False)
    assert column.size == 1
    assert values_of(column, [0, 0]) == [None, None]
