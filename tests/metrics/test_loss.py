"""NCP, GCP and AIL: the figures of the papers, the four kinds of cell, missing values."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Grouped, Matched, Ranges, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.metrics import METRICS
from lookalike.metrics.loss import (
    AverageInformationLoss,
    GlobalCertaintyPenalty,
    certainty_penalty,
    information_loss,
    loss_by_column,
)
from tests.examples import examples
from tests.strategies import column_of, microdatas

# HG Table 1: eight people, and the originals behind each published row.
AGES = [59, 57, 39, 28, 41, 37, 40, 53]
SALARIES = [25, 27, 47, 41, 20, 59, 35, 34]
BEHIND = [[0, 1, 7], [0, 1, 7], [2, 3, 5], [3, 4, 5], [0, 4, 6], [2, 3, 5], [2, 4, 6], [1, 6, 7]]


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


def test_gcp_of_the_heterogeneous_papers_table() -> None:
    data = data_of(quasi("age"), quasi("salary"), age=list(AGES), salary=list(SALARIES))
    rows = np.repeat(np.arange(8), 3)
    originals = np.array(BEHIND).ravel()
    extents = tuple(
        cover(domain, data.quasi[originals, attr], rows, 8) for attr, domain in enumerate(data.domains.quasi)
    )
    empty = np.zeros((8, 0), dtype=np.int32)
    release = Matched(domains=data.domains, extents=extents, sensitive=empty, carried=empty)
    assert GlobalCertaintyPenalty().measure(data, release) == pytest.approx(float(Fraction(149, 372)), abs=1e-15)


def test_four_records_of_age_20_to_30_on_0_to_100() -> None:
    data = data_of(quasi("age", low=0, high=100), age=[20, 24, 27, 30])
    assert one_group(data, [0, 1, 2, 3]) == 0.1


def test_full_gender_costs_one_in_both_measures() -> None:
    data = data_of(quasi("gender", Kind.CATEGORICAL), gender=["f", "m"])
    extents = cover(data.domains.quasi[0], data.quasi[:, 0], np.zeros(2, dtype=np.int32), 1)
    assert certainty_penalty(data.domains.quasi[0], extents).tolist() == [1.0]
    assert information_loss(data.domains.quasi[0], extents).tolist() == [1.0]


def test_three_of_six_leaves_under_one_node() -> None:
    """2/5 in NCP (exactly those three values), 1/2 in IL."""
    tree = {"tree": {"any": {"heart": ["a", "b", "c"], "head": ["d", "e", "f"]}}}
    data = data_of(quasi("disease", Kind.CATEGORICAL, taxonomy=tree), disease=list("abcdef"))
    extents = cover(data.domains.quasi[0], data.quasi[:3, 0], np.zeros(3, dtype=np.int32), 1)
    assert certainty_penalty(data.domains.quasi[0], extents).tolist() == [2 / 5]
    assert information_loss(data.domains.quasi[0], extents).tolist() == [1 / 2]
    single = cover(data.domains.quasi[0], data.quasi[:1, 0], np.zeros(1, dtype=np.int32), 1)
    assert information_loss(data.domains.quasi[0], single).tolist() == [0.0]


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


@settings(max_examples=examples(60), deadline=None)
@given(microdatas(), st.data())
def test_losses_lie_between_nothing_and_everything_and_grow_with_the_group(
    data: Microdata, draw: st.DataObject
) -> None:
    members = draw.draw(st.lists(st.integers(0, data.n_rows - 1), min_size=2, unique=False))
    for attr, domain in enumerate(data.domains.quasi):
        codes = data.quasi[members, attr]
        zeros = np.zeros(len(codes), dtype=np.int32)
        part = cover(domain, codes[:1], zeros[:1], 1)
        whole = cover(domain, codes, zeros, 1)
        for loss in (certainty_penalty, information_loss):
            small, large = float(loss(domain, part)[0]), float(loss(domain, whole)[0])
            assert 0.0 <= small <= large <= 1.0


def test_metrics_weigh_rows_not_groups() -> None:
    data = data_of(quasi("age", low=0, high=10), age=[0, 10, 5, 5, 5, 5])
    groups = np.array([0, 0, 1, 1, 1, 1], dtype=np.int32)
    empty = np.zeros((6, 0), dtype=np.int32)
    release = Grouped(
        domains=data.domains,
        extents=(cover(data.domains.quasi[0], data.quasi[:, 0], groups, 2),),
        group_of_row=groups,
        sensitive=empty,
        carried=empty,
    )
    assert loss_by_column(release) == {"age": pytest.approx(2 / 6)}
    assert AverageInformationLoss().measure(data, release) == pytest.approx(2 / 6)
    assert {name: kind().measure(data, release) for name, kind in METRICS.items()} == {
        "gcp": pytest.approx(1 / 3),
        "ail": pytest.approx(1 / 3),
        "discernibility": 20.0,
        "average_group_size": 3.0,
        "msbs": 2.0,
        "values_changed": pytest.approx(math.nan, nan_ok=True),
    }
