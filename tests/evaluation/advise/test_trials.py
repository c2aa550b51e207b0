"""Trial runs: costs that can be worked out by hand, figures that publishing confirms, and changes that can be made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.mondrian import Mondrian
from lookalike.apps.samples import hospital
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import Unsupported
from lookalike.evaluation.advise.trials import Costs, Saving, possible_changes, sample_rows, try_costs
from lookalike.evaluation.inspect import suggest_schema
from lookalike.models import parse_promise
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import run
from tests.strategies import column_of

PAIRS = (Promise(KAnonymity(2)),)


def crossing() -> Table:
    """Records that are near in one column are far apart in the other; the third is the same for all."""
    return Table(
        (
            column_of("a", [0, 0, 1, 1, 2, 2, 3, 3], ValueType.INTEGER),
            column_of("b", [0, 9, 0, 9, 0, 9, 0, 9], ValueType.INTEGER),
            column_of("same", ["x"] * 8, ValueType.STRING),
            column_of("s", list("pqpqpqpq"), ValueType.STRING),
        )
    )


@pytest.fixture(scope="module")
def crossed() -> Costs:
    schema = Schema.of(qi=["a", "b", "same"], sensitive=["s"])
    return try_costs(crossing(), schema, PAIRS, algorithm=Mondrian())


def saving_of(costs: Costs, column: str, what: str = "left out") -> Saving:
    return next(saving for saving in costs.savings if (saving.column, saving.what) == (column, what))


def test_costs_of_a_table_by_hand(crossed: Costs) -> None:
    """Pairs are near in b, so a spans a third of its domain; without either column the other is published exactly."""
    assert {cost.column: cost.loss for cost in crossed.columns} == pytest.approx({"a": 1 / 3, "b": 0, "same": 0})
    assert [cost.share for cost in crossed.columns] == [1, 0, 0]
    without_b = saving_of(crossed, "b")
    assert without_b.own == (0, 1)
    assert without_b.others == (pytest.approx(1 / 6), 0)
    assert without_b.gcp == pytest.approx((1 / 9, 1 / 3))
    assert without_b.helps is (not without_b.makes_counts_worse)
    assert saving_of(crossed, "same").others == (pytest.approx(1 / 6), pytest.approx(1 / 6))
    assert saving_of(crossed, "same").verdict == "No clear saving."


def test_a_saving_is_told_with_both_sides(crossed: Costs) -> None:
    said = saving_of(crossed, "b").sentence
    assert said.startswith('"b" left out: the other columns lose 0.000 instead of 0.167, it is gone; counts over')
    assert crossed.sentence == "Tried with k-anonymity:2 by mondrian, on all 8 records."


def test_verdicts() -> None:
    saving = Saving(
        column="a",
        what="by year",
        snippet="",
        own=(0.2, 0.3),
        others=(0.4, 0.2),
        gcp=(0.3, 0.25),
        error=(0.1, 0.11),
        chance=0.01,
        chance_of_error=0.02,
        leaves_out=False,
    )
    assert saving.verdict == "Worth a look."
    assert replace(saving, chance_of_error=0.0).verdict == "Counts get worse by it."
    assert replace(saving, gcp=(0.3, 0.31)).verdict == "The others gain less than it loses."
    assert replace(saving, chance=0.3).verdict == "No clear saving."
    assert replace(saving, leaves_out=True).verdict == "Worth a look if nobody needs it."


@pytest.fixture(scope="module")
def patients_costs() -> tuple[Table, Schema, Costs]:
    table = hospital(150, seed=3)
    schema = suggest_schema(table)
    return table, schema, try_costs(table, schema, (parse_promise("k-anonymity:4"),), algorithm=Mondrian())


def test_publishing_with_a_change_loses_what_the_trial_says(patients_costs: tuple[Table, Schema, Costs]) -> None:
    table, schema, costs = patients_costs
    saving = next(saving for saving in costs.savings if saving.column == "admission_date" and "year" in saving.what)
    (attribute,) = Schema.from_yaml(saving.snippet).attributes
    assert attribute.taxonomy is not None
    recipe = Recipe(schema=schema.replace_attribute(attribute), promises=costs.promises, algorithm=Mondrian(), seed=0)
    outcome = run(prepare(recipe, table))
    assert outcome.audit.passed
    assert outcome.loss_by_column["admission_date"] == pytest.approx(saving.own[1])
    others = [loss for name, loss in outcome.loss_by_column.items() if name != "admission_date"]
    assert np.mean(others) == pytest.approx(saving.others[1])
    assert outcome.losses["gcp"] == pytest.approx(saving.gcp[1])


def test_every_column_is_left_out_once(patients_costs: tuple[Table, Schema, Costs]) -> None:
    _, schema, costs = patients_costs
    left_out = [saving.column for saving in costs.savings if saving.leaves_out]
    assert sorted(left_out) == sorted(attribute.name for attribute in schema.quasi)
    assert sum(cost.share for cost in costs.columns) == pytest.approx(1)
    assert [cost.loss for cost in costs.columns] == sorted((cost.loss for cost in costs.columns), reverse=True)
    helps = [saving.helps for saving in costs.savings]
    assert helps == sorted(helps, reverse=True)


def test_a_sample_is_a_part_over_the_same_domain_and_loses_more() -> None:
    table = hospital(1200, seed=5)
    part = sample_rows(table, 100, seed=0)
    assert part.n_rows == 100
    assert part["age"].values is table["age"].values
    assert sample_rows(table, 1200, seed=0) is table
    schema = Schema.of(qi=["age", "sex"], sensitive=["diagnosis"])
    promises = (Promise(KAnonymity(5)),)
    small, whole = (try_costs(table, schema, promises, algorithm=Mondrian(), sample=n) for n in (100, 1200))
    assert (small.n_tried, whole.n_tried) == (100, 1200)
    assert "a sample of 100 of 1,200 records" in small.sentence
    assert sum(cost.loss for cost in whole.columns) < sum(cost.loss for cost in small.columns)
    assert small == try_costs(table, schema, promises, algorithm=Mondrian(), sample=100)


def test_changes_that_a_schema_can_say() -> None:
    table = hospital(60, seed=1)
    date = Attribute(name="admission_date", role=Role.QUASI)
    said = [change.what for change in possible_changes(date, table["admission_date"])]
    assert said[:2] == ["left out", "with a weight of 0.25"]
    assert said[2].startswith("by month")
    assert said[-1] == "by year"
    age = replace(date, name="age", kind=Kind.CATEGORICAL)
    assert [change.what for change in possible_changes(age, table["age"])] == ["left out", "with a weight of 0.25"]
    tree = replace(date, name="sex", taxonomy={"tree": {"any": ["female", "male"]}})
    weightless = possible_changes(replace(tree, weight=0), table["sex"])
    assert [change.what for change in weightless] == ["left out", "without its taxonomy"]


def test_one_column_has_no_others() -> None:
    costs = try_costs(crossing(), Schema.of(qi=["a"]), PAIRS, algorithm=Mondrian())
    assert (len(costs.columns), costs.savings) == (1, ())


def test_without_a_sensitive_column_there_are_no_counts() -> None:
    costs = try_costs(crossing(), Schema.of(qi=["a", "b"]), PAIRS, algorithm=Mondrian())
    assert all(saving.error is None for saving in costs.savings)
    assert saving_of(costs, "b").helps


def test_exact_quasi_identifiers_cost_nothing() -> None:
    schema = Schema.of(qi=["a", "b"], sensitive=["s"])
    with pytest.raises(Unsupported, match="no column costs anything"):
        try_costs(crossing(), schema, (Promise(LDiversity(2)),), algorithm=Anatomy())
