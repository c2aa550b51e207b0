"""The lower bound against the true optimum of tiny tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.shared.axes import rule_of
from lookalike.algorithms.shared.loss_bound import LossBound, loss_bound
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import cover
from lookalike.data.schema import Schema
from lookalike.errors import Infeasible
from lookalike.kernels.grouptest import is_group_allowed, tally_for
from lookalike.metrics.shared.cells import certainty_penalty
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.randomness import Randomness
from tests.audit.making import number_table
from tests.examples import examples
from tests.strategies import microdatas


def partitions(members: list[int]) -> Iterator[list[list[int]]]:
    if not members:
        yield []
        return
    first, *rest = members
    for part in partitions(rest):
        yield [[first], *part]
        for place, group in enumerate(part):
            yield [*part[:place], [first, *group], *part[place + 1 :]]


def least_loss(data: Microdata, requirements: tuple) -> float | None:  # type: ignore[type-arg]
    """The GCP of the best grouping that keeps every requirement, by trying all."""
    rule = rule_of(data, requirements)
    tally = tally_for(rule)
    memo: dict[tuple[int, ...], float | None] = {}

    def loss(group: list[int]) -> float | None:
        key = tuple(group)
        if key not in memo:
            members = np.array(group)
            fine = len(group) >= rule.min_size and is_group_allowed(rule, data.sensitive, members, 0, len(group), tally)
            units = np.zeros(len(group), dtype=np.int32)
            memo[key] = (
                fine
                and len(group)
                * sum(
                    float(certainty_penalty(domain, cover(domain, data.quasi[members, attr], units, 1))[0])
                    for attr, domain in enumerate(data.domains.quasi)
                )
                or (0.0 if fine else None)
            )
        return memo[key]

    totals = []
    for groups in partitions(list(range(data.n_rows))):
        losses = [loss(group) for group in groups]
        if None not in losses:
            totals.append(sum(value for value in losses if value is not None))
    return min(totals) / data.n_rows / data.quasi.shape[1] if totals else None


@settings(max_examples=examples(30), deadline=None)
@given(
    data=microdatas(min_rows=2, max_rows=7),
    model=st.sampled_from(
        [
            "k-anonymity:2",
            "k-anonymity:3",
            "l-diversity:2",
            "l-diversity:3,kind=distinct",
            "l-diversity:1.9,kind=entropy",
            "beta-likeness:1,bound=basic",
            "t-closeness:0.3",
            "alpha-k:alpha=0.6,k=2",
        ]
    ),
)
def test_no_grouping_is_below_the_bound(data: Microdata, model: str) -> None:
    try:
        promises = settle([Promise(parse_model(model))], data)
        requirements = require(promises, data)
    except Infeasible:
        return
    best = least_loss(data, requirements)
    assert best is not None
    assert loss_bound(data, requirements, Randomness(1)).value <= best + 1e-9


def test_rows_of_one_person_with_one_value_are_no_reason_for_loss() -> None:
    """Ten of twelve rows have one value and are one person's. The table as one group keeps the promise and loses all;
    no bound may be above that, as it is if ceilings are taken for shares of rows."""
    data = number_table([[30]] * 10 + [[90]] * 2, [0] * 10 + [1, 2])
    visits = replace(data, persons=np.array([0] * 10 + [1, 2], dtype=np.int32), number_known=False)
    requirements = require(settle([Promise(parse_model("l-diversity:3"))], visits), visits)
    assert 0 < loss_bound(visits, requirements, Randomness(1)).value <= 1


def test_it_is_not_trivial_and_a_sample_is_below_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    table = census(1200, seed=4)
    names = table.names
    schema = Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]])
    data = Microdata.encode(table, schema)
    requirements = require(settle([Promise(parse_model("l-diversity:6"))], data), data)
    sampled = loss_bound(data, requirements, Randomness(1))
    monkeypatch.setattr("lookalike.algorithms.shared.loss_bound._MOST_SAMPLE", 1200)
    whole = loss_bound(data, requirements, Randomness(1))
    assert (sampled.n_sampled, whole.n_sampled) == (500, None)
    assert 0.01 < sampled.value <= whole.value < 0.2
    stricter = require(settle([Promise(parse_model("l-diversity:9"))], data), data)
    assert loss_bound(data, stricter, Randomness(1)).value > whole.value


def test_what_it_says() -> None:
    assert LossBound(0.0, None).above(0.3) is None
    assert "not known" in LossBound(0.0, None).sentence(0.3)
    assert "estimated from 500 records" in LossBound(0.1, 500).sentence(0.12)
    assert "20 % above" in LossBound(0.1, 500).sentence(0.12)
