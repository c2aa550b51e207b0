"""Calls that cannot be carried out say what to write."""

from __future__ import annotations

import inspect
from typing import Any

import pandas as pd
import pytest

import lookalike as la
from lookalike.errors import LookalikeError, RecipeError

TABLE = pd.DataFrame({"age": [30, 31, 40, 41], "ill": ["a", "b", "a", "b"]})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"k": 5}, 'publish has no argument "k". A promise is given by model: write model="k-anonymity:5".'),
        ({"k": 5, "l": 2}, 'write model=["k-anonymity:5", "l-diversity:2"].'),
        ({"t": 0.2}, 'write model="t-closeness:0.2".'),
        ({"beta": "3"}, 'write model="beta-likeness:3".'),
        ({"models": "k-anonymity:2"}, "Write model= instead."),
        ({"model": "k-anonymity:2", "quasi_identifiers": ["age"]}, "Write qi= instead."),
        ({"model": "k-anonymity:2", "sensitive_attribute": "ill"}, "Write sensitive= instead."),
        ({"model": "k-anonymity:2", "method": "mondrian"}, "Write algorithm= instead."),
        ({"model": "k-anonymity:2", "sensitiv": "ill"}, "Write sensitive= instead."),
        ({"model": "k-anonymity:2", "sep": ";"}, "Write delimiter= instead."),
        ({"model": "k-anonymity:2", "epsilon": 1}, "see lookalike.synthesize"),
        ({"model": "k-anonymity:2", "round": {"ill": 5}}, 'coarsen={"salary": {"round": 1000}}'),
        ({"model": "k-anonymity:2", "zzz": 1}, "See help(lookalike.publish)."),
        ({}, 'publish needs model: what the release must keep, for example model="k-anonymity:10".'),
    ],
)
def test_publish_names_the_mistake(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError) as refusal:
        la.publish(TABLE, **{"qi": "age", **arguments})
    assert said in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"ends": 5}, "ends is of type int"),
        ({"coarsen": "ill=prefix:1"}, 'coarsen={"salary": {"round": 1000}}, not a value of type str'),
        ({"coarsen": {"ill": 5}}, 'coarsen={"ill": {"round": 1000}}'),
        ({"coarsen": {"ill": "prefix"}}, "round:1000, top:90"),
        ({"frequent": 5}, 'frequent={"town": 20}'),
        ({"out": 5}, "out is of type int. Give the path of the folder."),
    ],
)
def test_arguments_of_a_wrong_type_say_what_to_write(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(LookalikeError) as refusal:
        la.publish(TABLE, qi="age", sensitive="ill", model="k-anonymity:2", **arguments)
    assert said in str(refusal.value)


def test_a_rule_that_makes_coarser_may_be_a_text() -> None:
    table = pd.DataFrame({"age": [30, 31, 40, 41], "ill": ["a1", "a2", "b1", "b2"]})
    made = la.publish(table, qi="age", sensitive="ill", model="k-anonymity:2", coarsen={"ill": "prefix:1"})
    assert set(made.frame()["ill"]) == {"a*", "b*"}


def test_conditions_in_words_go_to_query() -> None:
    made = la.publish(TABLE, qi="age", sensitive="ill", model="k-anonymity:2")
    for ask in (made.count, lambda where: made.crosstab("age", "ill", where)):
        with pytest.raises(RecipeError, match="Conditions are given by column"):
            ask("age > 35")


def test_arguments_without_a_name_are_counted() -> None:
    with pytest.raises(RecipeError, match=r"publish\(table, qi=..., sensitive=..., model=...\)"):
        la.publish(TABLE, ["age"], "ill", "k-anonymity:2")  # type: ignore[misc]
    with pytest.raises(RecipeError, match=r"publish needs table"):
        la.publish(model="k-anonymity:2")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "name", ["publish", "synthesize", "apply_scheme", "compare", "verify", "measure", "attack", "fidelity"]
)
def test_functions_keep_their_face(name: str) -> None:
    function = getattr(la, name)
    assert function.__name__ == name
    assert function.__doc__
    first, *_ = inspect.signature(function).parameters
    assert first in ("table", "original")
    with pytest.raises(RecipeError, match=f'{name} has no argument "frobnicate"'):
        function(TABLE, "folder", frobnicate=1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"seed": "7"}, "seed is of type str"),
        ({"seed": 1.5}, "seed is of type float"),
        ({"title": 5}, "The title is a text"),
        ({"algorithm": la.Mondrian}, "Write Mondrian()"),
        ({"qi": "age,ill", "sensitive": ()}, 'in Python: ["age", "ill"]'),
    ],
)
def test_values_of_another_type(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(LookalikeError) as refusal:
        la.publish(TABLE, **{"qi": "age", "sensitive": "ill", "model": "k-anonymity:2", **arguments})
    assert said in str(refusal.value)


def test_a_single_text_names_a_column() -> None:
    made = la.publish(TABLE, qi="age", sensitive="ill", model="k-anonymity:2", numeric="age")
    assert made.audit.passed
    assert list(made.frame().columns) == ["age", "ill"]


def test_arguments_for_spark_are_left_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    import lookalike.publication as publication

    def opened(*arguments: object) -> None:
        raise InterruptedError(arguments[-1])

    monkeypatch.setattr(publication, "open_backend", opened)
    with pytest.raises(InterruptedError, match="spark.executor.memory"):
        la.publish(
            "people", qi="age", model="k-anonymity:2", out="x", backend="spark", conf={"spark.executor.memory": "4g"}
        )
