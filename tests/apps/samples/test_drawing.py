"""Drawing by weights, columns as a reader delivers them, and CSV."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.apps.samples.drawing import column, curve, draw, draw_given, generator, to_csv
from lookalike.data.microdata import Column, Table
from lookalike.data.schema import ValueType
from lookalike.errors import RecipeError


def test_each_cell_draws_by_its_own_weights() -> None:
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 5.0], [1.0, 0.0, 3.0]])
    cells = np.repeat(np.arange(3), 20_000)
    codes = draw_given(generator(1, 5), weights, cells)
    assert set(codes[:20_000]) == {0}
    assert set(codes[20_000:40_000]) == {2}
    assert set(codes[40_000:]) == {0, 2}
    assert np.mean(codes[40_000:] == 2) == pytest.approx(0.75, abs=0.015)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=8).filter(any), st.integers(0, 99))
def test_a_code_without_weight_is_never_drawn(weights: list[int], seed: int) -> None:
    codes = draw(generator(1, seed), np.array(weights, dtype=np.float64), 200)
    assert all(weights[code] > 0 for code in codes)


def test_the_greatest_uniform_number_stays_inside_its_cell() -> None:
    class Greatest:
        def random(self, size: int) -> np.ndarray:
            return np.full(size, 1 - 2.0**-53)

    codes = draw_given(Greatest(), np.ones((300, 4)), np.arange(300))  # type: ignore[arg-type]
    assert set(codes) == {3}


def test_column_sorts_values_and_leaves_out_those_that_no_row_has() -> None:
    codes = np.array([2, 0, 2, 1])
    missing = np.array([False, False, False, True])
    made = column("letter", ValueType.STRING, ("z", "m", "a"), codes, missing)
    assert made.values.tolist() == ["a", "z"]
    assert made.codes.tolist() == [0, 1, 0, 2]
    assert made.codes.dtype == np.int32
    assert made.n_missing == 1


def test_curve_is_the_line_through_its_points() -> None:
    assert curve([(0, 1), (10, 3)], np.array([-5, 0, 5, 10, 15])).tolist() == [1, 1, 2, 3, 3]


def test_csv_quotes_dates_and_missing_values(tmp_path: Path) -> None:
    days = Column("day", ValueType.DATE, np.array([0, 1], dtype=np.int32), np.array([0]))
    words = Column(
        "word", ValueType.STRING, np.array([1, 0], dtype=np.int32), np.array(['say "a, b"', "c"], dtype=object)
    )
    to_csv(Table((days, words)), tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b'day,word\n1970-01-01,c\n,"say ""a, b"""\n'
    with (tmp_path / "out.csv").open(newline="") as file:
        assert list(csv.reader(file))[2] == ["", 'say "a, b"']


@pytest.mark.parametrize(("rows", "seed", "part"), [(0, 1, "1 row or more, not 0"), (5, -1, "0 or more, not -1")])
def test_impossible_samples_are_refused(rows: int, seed: int, part: str) -> None:
    with pytest.raises(RecipeError, match=part):
        generator(rows, seed)
