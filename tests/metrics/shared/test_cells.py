"""NCP: the four kinds of cell, missing values, declared domains."""

from __future__ import annotations

import numpy as np

from lookalike.data.release import Ranges
from lookalike.data.schema import Kind
from lookalike.metrics.shared.cells import certainty_penalty
from tests.metrics.making import data_of, one_group, quasi


def test_four_records_of_age_20_to_30_on_0_to_100() -> None:
    data = data_of(quasi("age", low=0, high=100), age=[20, 24, 27, 30])
    assert one_group(data, [0, 1, 2, 3]) == 0.1


def test_declared_domains_are_what_loss_is_measured_against() -> None:
    observed = data_of(quasi("city", Kind.CATEGORICAL), city=["a", "b", "c"])
    declared = data_of(quasi("city", Kind.CATEGORICAL, size=11), city=["a", "b", "c"])
    assert (one_group(observed, [0, 1]), one_group(declared, [0, 1])) == (0.5, 0.1)
    assert (observed.domains.quasi[0].declared, declared.domains.quasi[0].declared) == (False, True)


def test_an_interval_that_may_hide_a_missing_value_loses_everything() -> None:
    data = data_of(quasi("age"), age=[1, 2, 9, None, None])
    assert one_group(data, [0, 1]) == 1 / 8
    assert one_group(data, [0, 3]) == 1.0
    assert one_group(data, [3, 4]) == 0.0


def test_in_a_set_missing_is_one_more_value() -> None:
    data = data_of(quasi("city", Kind.CATEGORICAL), city=["a", "b", None])
    assert one_group(data, [0, 2]) == 0.5


def test_a_column_of_one_value_loses_nothing() -> None:
    for kind, cell in ((Kind.NUMERIC, 7), (Kind.CATEGORICAL, "a")):
        assert one_group(data_of(quasi("x", kind), x=[cell] * 3), [0, 1, 2]) == 0.0


def test_ranges_of_other_tools_count_as_printed() -> None:
    """20-30 printed for values 22 to 28 costs what is printed, not what occurs."""
    data = data_of(quasi("age", low=0, high=100), age=[22, 28])
    printed = Ranges(*(np.array([part]) for part in (0, 1, False, 20.0, 30.0)))
    assert certainty_penalty(data.domains.quasi[0], printed).tolist() == [0.1]
