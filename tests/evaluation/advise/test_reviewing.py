"""Advice after the fact: what it says the release keeps, an audit confirms; what it calls the limit is one."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.mondrian import Mondrian
from lookalike.apps.samples import hospital
from lookalike.data.contracts import PrivacyModel
from lookalike.data.microdata import Table
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import Infeasible
from lookalike.evaluation.advise import review
from lookalike.evaluation.advise.reviewing import Suggestion, find_kept
from lookalike.models import parse_model, parse_promise
from lookalike.pipeline.recipe import Recipe, prepare, require
from lookalike.pipeline.run import MadeWhole, run, verify
from tests.strategies import column_of

ASKED = (
    "k-anonymity:3",
    "l-diversity:2",
    "l-diversity:2,kind=distinct",
    "l-diversity:1.5,kind=entropy",
    "l-diversity:2,kind=recursive,c=30",
    "t-closeness:0.9",
    "beta-likeness:20,bound=basic",
    "alpha-k:alpha=0.9,k=2",
    "f-privacy:theta=8,base=0.5",
)


@pytest.fixture(scope="module")
def outcome() -> MadeWhole:
    schema = Schema.of(qi=["age", "zip code"], sensitive=["diagnosis"])
    promises = tuple(parse_promise(text) for text in ASKED)
    return run(prepare(Recipe(schema=schema, promises=promises, algorithm=Mondrian(), seed=0), hospital(200, seed=2)))


def test_what_it_says_is_kept_is_kept(outcome: MadeWhole) -> None:
    found = review(outcome)
    stronger = [reached.reached for reached in found.promises if reached.reached is not None]
    assert len(stronger) >= 5
    again = verify(outcome.data, outcome.release, stronger)
    assert again.passed, str(again)
    assert found.promises[-1].sentence == f"diagnosis={ASKED[-1]} was asked, and the release keeps it."


def test_next_and_limit_can_be_borne_and_nothing_beyond(outcome: MadeWhole) -> None:
    found = review(outcome)
    for reached in found.promises:
        require([promise for promise in (reached.next, reached.limit) if promise is not None], outcome.data)
    limit = {str(reached.promise.model): reached.limit for reached in found.promises}
    most = int(outcome.data.counts(0).max())
    assert limit["l-diversity:2"] is not None
    assert limit["l-diversity:2"].model.asked == 200 // most
    assert limit["k-anonymity:3"] is not None
    assert limit["k-anonymity:3"].model.asked == 200
    beyond = replace(limit["l-diversity:2"], model=parse_model(f"l-diversity:{200 // most + 1}"))
    with pytest.raises(Infeasible):
        require([beyond], outcome.data)


def test_costs_and_what_to_try(outcome: MadeWhole) -> None:
    found = review(outcome)
    assert {cost.column: cost.loss for cost in found.columns} == outcome.loss_by_column
    assert sum(cost.share for cost in found.columns) == pytest.approx(1)
    assert found.worth_a_trial[0] == Suggestion(found.columns[0].column, "left out")
    assert json.loads(json.dumps(found.to_plain()))["sentences"] == list(found.sentences)


@pytest.mark.parametrize(
    ("asked", "reached", "kept"),
    [
        ("l-diversity:4", Fraction(11, 2), "l-diversity:5"),
        ("l-diversity:4", Fraction(4), "l-diversity:4"),
        ("l-diversity:2.5", Fraction(7, 3) + Fraction(1, 2), "l-diversity:2.833"),
        ("k-anonymity:5", Fraction(9), "k-anonymity:9"),
        ("beta-likeness:3", Fraction(12341, 10000), "beta-likeness:1.235"),
        ("t-closeness:0.2", Fraction(1, 8), "t-closeness:0.125"),
        ("delta-disclosure:2", 1.5, "delta-disclosure:1.501"),
        ("l-diversity:2,kind=recursive,c=3", Fraction(2), "l-diversity:2,kind=recursive,c=2.001"),
        ("k-anonymity:5", math.inf, "k-anonymity:5"),
    ],
)
def test_the_strongest_parameter_that_a_level_keeps(asked: str, reached: Fraction | float, kept: str) -> None:
    """Rounded to the safe side; strict models need a little more than was reached."""
    model: PrivacyModel = find_kept(parse_model(asked), reached)
    assert str(model) == kept


def test_no_file_of_the_schema_is_named(tmp_path: Path) -> None:
    taxonomy = tmp_path / "secret-project.csv"
    taxonomy.write_text("0;low;any\n1;low;any\n2;high;any\n3;high;any\n", encoding="utf-8")
    ages = Attribute(name="a", role=Role.QUASI, taxonomy={"file": str(taxonomy)})
    cells: list[object] = [0, 1, 2, 3]
    table = Table((column_of("a", cells, ValueType.INTEGER), column_of("b", [0] * 4, ValueType.INTEGER)))
    schema = Schema((ages, Attribute(name="b", role=Role.QUASI)))
    recipe = Recipe(schema=schema, promises=(parse_promise("k-anonymity:2"),), algorithm=Mondrian(), seed=0)
    found = review(run(prepare(recipe, table)))
    assert Suggestion("a", "without its taxonomy") in found.worth_a_trial
    assert "secret-project" not in json.dumps(found.to_plain())


def test_sentences_of_a_release_at_its_limit() -> None:
    table = Table(
        (column_of("a", [0, 0, 1, 1], ValueType.INTEGER), column_of("s", list("pqpq"), ValueType.STRING)),
    )
    schema = Schema.of(qi=["a"], sensitive=["s"])
    recipe = Recipe(schema=schema, promises=(parse_promise("l-diversity:2"),), algorithm=Mondrian(), seed=0)
    found = review(run(prepare(recipe, table)))
    said = "s=l-diversity:2 was asked, and the release keeps just that; no release of this table can keep more."
    assert found.sentences == (said,)
    assert (found.columns, found.worth_a_trial) == ((), ())


@pytest.mark.slow
def test_forms_without_loss_have_no_costly_column() -> None:
    schema = Schema.of(qi=["age", "sex"], sensitive=["diagnosis"])
    recipe = Recipe(schema=schema, promises=(parse_promise("l-diversity:3"),), algorithm=Anatomy(), seed=0)
    found = review(run(prepare(recipe, hospital(60, seed=2))))
    assert found.columns == ()
    assert found.promises[0].sentence.startswith("diagnosis=l-diversity:3 was asked")
