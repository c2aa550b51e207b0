"""Expected losses: from trials alone, the same every time, and near what publishing loses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.schema import Schema
from lookalike.evaluation.advise.expectations import Expected, expect_losses
from lookalike.models import parse_promise

SCHEMA = Schema.of(qi=["Age", "Gender", "Education"], sensitive=["Occupation"])
PERSONS = (parse_promise("k-anonymity:5"),)
CLOSE = (*PERSONS, parse_promise("Occupation=t-closeness:0.2,distance=ordered"))


def expected(*trials: tuple[int, float], n_records: int = 4000) -> Expected:
    return Expected(promises=PERSONS, trials=trials, n_records=n_records)


def test_a_trial_on_all_records_is_the_expectation() -> None:
    assert expected((2000, 0.4), (4000, 0.3)).loss == 0.3
    assert "a trial on all 4,000 records" in expected((4000, 0.3)).sentence


def test_between_two_trials_the_loss_falls_by_a_power_and_goes_on_so() -> None:
    halved_by_fourfold = expected((500, 0.4), (1000, 0.4 / 2**0.5))
    assert halved_by_fourfold.loss == pytest.approx(0.4 / 2**0.5 / 2)
    assert "about 0.141 on all 4,000 records (trials: 0.400 on 500 and 0.283 on 1,000)" in halved_by_fourfold.sentence


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1001, 10**7))
def test_an_expectation_is_at_most_the_last_trial_and_never_steeper_than_the_root(
    before: float, last: float, n_records: int
) -> None:
    loss = expected((500, before), (1000, last), n_records=n_records).loss
    assert loss is not None
    assert last * (1000 / n_records) ** 0.5 <= loss * (1 + 1e-9)
    assert loss <= last * (1 + 1e-9)


def test_what_cannot_be_kept_is_said() -> None:
    refused = (parse_promise("Occupation=l-diversity:1000"),)
    (found,) = expect_losses(census(300, 1), SCHEMA, [refused], sample=1000)
    assert found.loss is None
    assert "not tried, as" in found.sentence


def test_the_same_table_gives_the_same_figures_and_publishing_loses_about_as_much() -> None:
    table = census(600, 2)
    candidates: list[tuple[Promise, ...]] = [PERSONS, CLOSE]
    first = expect_losses(table, SCHEMA, candidates, sample=60)
    assert first == expect_losses(table, SCHEMA, candidates, sample=60)
    assert [size for size, _ in first[0].trials] == [60, 480]
    for found in first:
        made = la.publish(table, schema=SCHEMA, model=[str(one) for one in found.promises], seed=3)
        assert found.loss == pytest.approx(made.losses["gcp"], rel=0.5)


def test_a_promise_that_stops_losing_less_in_larger_tables_is_tried_on_thousands_of_records() -> None:
    # Half of the persons have one of two values: from some hundreds of records on closeness costs what it costs.
    rng = np.random.default_rng(0)
    n_rows = 6000
    age = rng.integers(18, 80, n_rows)
    ill = np.where(rng.random(n_rows) < age / 100, "yes", "no")
    table = la.read_table({"age": age, "sex": rng.choice(["f", "m"], n_rows), "ill": ill})
    schema = Schema.of(qi=["age", "sex"], sensitive=["ill"])
    promises = (*PERSONS, parse_promise("ill=t-closeness:0.1"))
    (found,) = expect_losses(table, schema, [promises], sample=1000)
    made = la.publish(table, schema=schema, model=[str(one) for one in promises], seed=1)
    assert found.trials[-1][0] == n_rows
    assert found.loss == pytest.approx(made.losses["gcp"], rel=0.2)
