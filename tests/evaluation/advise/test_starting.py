"""Whatever is recommended can be published and passes its audit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import Groups
from lookalike.data.microdata import Table
from lookalike.data.schema import Schema, ValueType
from lookalike.evaluation.advise import advise
from lookalike.evaluation.advise.starting import promise_to_start_with
from lookalike.models import parse_promise
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import run
from tests.evaluation.advise.test_bearing import domain_of
from tests.strategies import column_of

texts, numbers = st.sampled_from("abcdefg") | st.just("a"), st.integers(0, 60)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, Schema]:
    n_rows = draw(st.integers(1, 40))

    def cells(values: st.SearchStrategy[object]) -> list[object]:
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    table = Table(
        (
            column_of("age", cells(st.integers(0, 9)), ValueType.INTEGER),
            column_of("main diagnosis", cells(texts | st.none()), ValueType.STRING),
            column_of("wage=month", cells(numbers), ValueType.INTEGER),
        )
    )
    named = draw(st.lists(st.sampled_from(["main diagnosis", "wage=month"]), max_size=2, unique=True))
    return table, Schema.of(qi=["age"], sensitive=named)


@pytest.mark.slow
@settings(max_examples=20)
@given(tables())
def test_what_is_recommended_can_be_published(given_table: tuple[Table, Schema]) -> None:
    table, schema = given_table
    start = advise(table, schema, trials=False).start
    assert start is not None
    promises = tuple(parse_promise(str(promise)) for promise in start.promises)
    assert promises == start.promises
    outcome = run(prepare(Recipe(schema=schema, promises=promises, algorithm=Groups(effort="fast"), seed=0), table))
    assert outcome.audit.passed
    assert len(outcome.audit.verdicts) == len(promises)
    assert len(start.reasons) == 1 + len(schema.sensitive)


def test_the_recommendation_says_why_in_numbers() -> None:
    start = promise_to_start_with(1000, [domain_of([1, *[37] * 27])])
    assert start.sentence == "To start with: --model k-anonymity:5 --model s=beta-likeness:3"
    assert '"v0" may rise from 0.1 % to at most 0.4 %, that in "v1" from 3.7 % to at most 14.8 %' in start.reasons[1]


def test_many_values_get_another_promise() -> None:
    prior, column = domain_of([1] * 30)
    start = promise_to_start_with(30, [(prior, column)])
    assert str(start.promises[1]) == "s=l-diversity:5"
    cells: list[object] = list(range(30))
    table = Table((column_of("q", cells, ValueType.INTEGER), column_of("s", cells, ValueType.INTEGER)))
    ordered = advise(table, Schema.of(qi=["q"], sensitive=["s"]), trials=False).start
    assert ordered is not None
    assert str(ordered.promises[1]) == "s=t-closeness:0.2,distance=ordered"
    assert ordered.promises[1].model.asked == Fraction(1, 5)


def test_options_with_spaces_are_quoted() -> None:
    cells: list[object] = ["a", "b"] * 10
    table = Table((column_of("q", [*range(20)], ValueType.INTEGER), column_of("the value", cells, ValueType.STRING)))
    start = advise(table, Schema.of(qi=["q"], sensitive=["the value"]), trials=False).start
    assert start is not None
    assert "--model 'the value=beta-likeness:1'" in start.sentence
    assert "Even so, a value" in start.reasons[1]
