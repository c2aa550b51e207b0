"""Trade-off and advice where persons have several rows: probabilities, samples and limits are those of persons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms.mondrian import Mondrian
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.evaluation.advise import review
from lookalike.evaluation.tradeoff import some_records, tradeoff
from lookalike.models import parse_model
from lookalike.randomness import Randomness
from tests.audit.making import number_table


def visits(n_persons: int = 60, per_person: int = 4) -> Microdata:
    """Every person has one age and several of twelve values."""
    rng = np.random.default_rng(6)
    persons = np.repeat(np.arange(n_persons), per_person).astype(np.int32)
    ages = rng.integers(20, 80, n_persons)[persons]
    data = number_table(ages.reshape(-1, 1), rng.integers(0, 12, len(persons)))
    schema = Schema((*data.schema.attributes, Attribute(name="who", role=Role.PERSON)))
    return replace(data, persons=persons, schema=schema)


def test_the_chance_to_find_somebody_is_that_of_persons() -> None:
    promise = Promise(parse_model("k-anonymity:4"))
    found = tradeoff(visits(), [promise], Mondrian(), READS_RELEASE, Randomness(2))
    asked = next(setting for setting in found.settings if setting.is_asked)
    # Groups of four persons have sixteen rows.
    assert 1 / 8 < asked.belief <= 1 / 4
    assert "find a person" in found.belief_name
    by_rows = tradeoff(replace(visits(), persons=None), [promise], Mondrian(), READS_RELEASE, Randomness(2))
    asked_of_rows = next(setting for setting in by_rows.settings if setting.is_asked)
    assert asked_of_rows.loss < asked.loss


def test_beliefs_in_values_are_those_of_persons() -> None:
    data = replace(visits(), number_known=False)
    promise = Promise(parse_model("l-diversity:1.2"), "s")
    found = tradeoff(data, [promise], Mondrian(), READS_RELEASE, Randomness(2))
    asked = next(setting for setting in found.settings if setting.is_asked)
    # A person has up to four of the values, so more than one person in twelve has each.
    assert max(np.bincount(data.sensitive[:, 0])) / data.n_rows < asked.belief <= 1 / 1.2


def test_of_a_person_all_records_are_sampled_or_none() -> None:
    data = visits()
    part = some_records(data, 100, Randomness(3))
    assert data.persons is not None
    assert part.persons is not None
    assert 60 < part.n_rows <= 100
    assert set(np.bincount(part.persons)[np.unique(part.persons)]) == {4}
    assert some_records(replace(data, persons=None), 100, Randomness(3)).n_rows == 100
    assert some_records(data, 1000, Randomness(3)) is data


@pytest.mark.parametrize("person", ["who", None])
def test_advice_knows_how_many_persons_there_are(person: str | None) -> None:
    data = visits(12)
    table = pl.DataFrame({"who": data.persons, "age": data.quasi[:, 0], "illness": data.sensitive[:, 0]})
    made = la.publish(
        table, qi=["age"], sensitive="illness", model="k-anonymity:3", algorithm="mondrian", person=person
    )
    (reached,) = review(made.made).promises
    assert reached.limit is not None
    assert str(reached.limit) == f"k-anonymity:{12 if person else 48}"


def test_what_a_table_can_bear_is_asked_of_persons() -> None:
    data = visits(12)
    table = pl.DataFrame({"who": data.persons, "age": data.quasi[:, 0], "illness": data.sensitive[:, 0]})
    schema = la.Schema.of(qi=["age"], sensitive="illness", person="who")
    assert la.advise(table, schema=schema, trials=False).largest_k == 12
    by_rows = la.Schema.of(qi=["age"], sensitive="illness")
    assert la.advise(table, schema=by_rows, trials=False).largest_k == 48
