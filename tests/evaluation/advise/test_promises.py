"""What a column can bear, against histograms counted by hand and against every group there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.groups import Groups
from lookalike.data.microdata import Domain, Microdata, Table
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import Infeasible
from lookalike.evaluation.advise import advise
from lookalike.evaluation.advise.promises import (
    Belief,
    ColumnBearing,
    most_groups,
    promise_to_start_with,
    what_it_bears,
)
from lookalike.models import parse_promise
from lookalike.models.beta_likeness import BetaLikeness, keeps_minor, sensible_beta
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity, largest_recursive
from lookalike.models.shared.model import strongest
from lookalike.models.t_closeness import TCloseness, least_distance
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import run
from tests.examples import examples
from tests.strategies import column_of

histograms = st.lists(st.integers(1, 30), min_size=1, max_size=8)


def domain_of(counts: Sequence[int]) -> tuple[np.ndarray, Domain]:
    cells: list[object] = [f"v{code}" for code, number in enumerate(counts) for _ in range(number)]
    table = Table((column_of("q", [1] * len(cells), ValueType.INTEGER), column_of("s", cells, ValueType.STRING)))
    data = Microdata.encode(table, Schema.of(qi=["q"], sensitive=["s"]))
    return data.counts(0), data.domains.sensitive[0]


def bearing_of(counts: Sequence[int]) -> ColumnBearing:
    return what_it_bears(*domain_of(counts))


@pytest.mark.parametrize(
    ("counts", "simple", "distinct", "recursive"),
    [([6, 3, 1], 1.666, 3, 2), ([4, 3, 3], 2, 3, 3), ([3, 3, 3, 1], 3, 4, 3), ([5, 3, 2], 2, 3, 2), ([7], 1, 1, 1)],
)
def test_largest_l_by_hand(counts: list[int], simple: float, distinct: int, recursive: int) -> None:
    """Simple: records over the commonest, whole from 2 on. Recursive, c = 2: the commonest below twice the rest."""
    models = [str(bearable.model) for bearable in bearing_of(counts).models]
    assert models[0] == f"l-diversity:{simple}"
    assert models[1] == f"l-diversity:{distinct},kind=distinct"
    assert models[3] == f"l-diversity:{recursive},kind=recursive,c=2"


def test_entropy_of_equal_values_is_their_number() -> None:
    assert str(bearing_of([5, 5, 5, 5]).models[2].model) == "l-diversity:4,kind=entropy"


@settings(max_examples=examples(40))
@given(histograms)
def test_nothing_larger_is_eligible(counts: list[int]) -> None:
    prior, column = domain_of(counts)
    n_records = sum(counts)
    assert strongest(KAnonymity(n_records + 1), np.array([n_records]), None) == KAnonymity(n_records)
    largest = [strongest(LDiversity(n_records + 1, kind=kind), prior, column) for kind in ("simple", "distinct")]
    # A whole number, unless that is 1, which promises nothing.
    digits = 1 if n_records >= 2 * max(counts) else 1000
    simple = Fraction(n_records * digits // max(counts), digits)
    assert [model.asked for model in largest] == [simple, len(counts)]
    entropy = strongest(LDiversity(n_records + 1, kind="entropy"), prior, column)
    recursive = largest_recursive(prior, column)
    further = [
        *(LDiversity(model.asked + 1, kind=kind) for model, kind in zip(largest, ("simple", "distinct"), strict=True)),
        LDiversity(entropy.asked + Fraction(1, 1000), kind="entropy"),
        LDiversity(recursive.ell + 1, kind="recursive", c=2),
    ]
    for model in (*largest, entropy, recursive):
        model.check_eligible(prior, column)
    for model in further:
        with pytest.raises(Infeasible):
            model.check_eligible(prior, column)


def test_beliefs_under_beta() -> None:
    bearing = bearing_of([1, *[37] * 27])
    assert (bearing.rarest, bearing.rarest_share) == ("v0", Fraction(1, 1000))
    assert (bearing.commonest, bearing.commonest_share) == ("v1", Fraction(37, 1000))
    beta = next(one for one in bearing.models if isinstance(one.model, BetaLikeness))
    assert beta.model == BetaLikeness(3)
    assert beta.rarest == Belief("v0", Fraction(1, 1000), Fraction(4, 1000))
    assert beta.commonest == Belief("v1", Fraction(37, 1000), Fraction(148, 1000))
    assert beta.rarest.least_group == 250
    assert beta.rarest.sentence == 'the certainty in "v0" may rise from 0.1 % to at most 0.4 %'
    assert beta.most_groups == 1000 // 7


@pytest.mark.parametrize(
    ("counts", "beta", "kept"),
    [([1] * 10, 3, True), ([2] * 5, 1, True), ([3, 3, 3, 1], 1, False), ([95, *[1] * 5], 3, True), ([5, 5], 1, False)],
)
def test_a_sensible_beta_leaves_no_value_more_likely_than_not(counts: list[int], beta: int, kept: bool) -> None:
    """A share of 1/5 may grow to 0.52 under 2 and 3, and to 0.4 under 1; what most have already does not count."""
    prior, column = domain_of(counts)
    assert sensible_beta(prior, column) == BetaLikeness(beta)
    assert keeps_minor(BetaLikeness(beta), prior, column) is kept


def groups_of(n_values: int, size: int) -> Iterator[tuple[int, ...]]:
    if n_values == 1:
        yield (size,)
        return
    for number in range(size + 1):
        yield from ((number, *rest) for rest in groups_of(n_values - 1, size - number))


@settings(max_examples=examples(20))
@given(st.lists(st.integers(1, 12), min_size=2, max_size=4))
def test_least_t_and_its_beliefs_against_every_group(counts: list[int]) -> None:
    shares = [Fraction(number, sum(counts)) for number in counts]
    most = 4
    distances = {}
    for size in range(1, most + 1):
        for group in groups_of(len(counts), size):
            gains = [Fraction(number, size) - share for number, share in zip(group, shares, strict=True)]
            distances[group] = sum(gain for gain in gains if gain > 0)
            assert max(gains) <= distances[group]
    assert least_distance(*domain_of(counts), most) == min(distances.values())


def test_beliefs_under_t_are_those_that_the_distance_allows() -> None:
    bearing = bearing_of([2, 8, 10])
    close = next(one for one in bearing.models if isinstance(one.model, TCloseness))
    assert close.model.asked == 0  # ten records, as 1, 4 and 5, are like the whole table
    assert close.rarest == Belief("v0", Fraction(1, 10), Fraction(1, 10))
    assert close.most_groups is None


def test_floors_bound_the_number_of_groups() -> None:
    prior, column = domain_of([2, 30, 30])
    assert most_groups(DeltaDisclosure(1).requirement(prior, column, 0), prior) == 2
    assert most_groups(LDiversity(2).requirement(prior, column, 0), prior) == 31
    delta = next(one for one in what_it_bears(prior, column).models if isinstance(one.model, DeltaDisclosure))
    assert delta.most_groups == 2


def test_columns_of_very_many_values_get_what_is_cheap() -> None:
    bearing = bearing_of([1] * 1001)
    assert [one.model.name for one in bearing.models] == ["l-diversity"] * 4


def test_a_model_from_outside_is_proposed_by_its_class(guest: None) -> None:
    proposed = bearing_of([6, 3, 1]).models[-1]
    assert proposed.sentence == (
        'at-most:0.6: the least share, the certainty in "v2" may rise from 10 % to at most 60 %, that in "v0" from '
        "60 % "
        "to at most 60 %."
    )


def test_one_value_has_nothing_to_hide() -> None:
    assert "nothing to hide" in bearing_of([4]).sentence


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
@settings(max_examples=examples(20))
@given(tables())
def test_what_is_recommended_can_be_published(given_table: tuple[Table, Schema]) -> None:
    table, schema = given_table
    start = advise(table, schema=schema, trials=False).start
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
    ordered = advise(table, schema=Schema.of(qi=["q"], sensitive=["s"]), trials=False).start
    assert ordered is not None
    assert str(ordered.promises[1]) == "s=t-closeness:0.2,distance=ordered"
    assert ordered.promises[1].model.asked == Fraction(1, 5)


def test_options_with_spaces_are_quoted() -> None:
    cells: list[object] = ["a", "b"] * 10
    table = Table((column_of("q", [*range(20)], ValueType.INTEGER), column_of("the value", cells, ValueType.STRING)))
    start = advise(table, schema=Schema.of(qi=["q"], sensitive=["the value"]), trials=False).start
    assert start is not None
    assert "--model 'the value=beta-likeness:1'" in start.sentence
    assert "Even so, a value" in start.reasons[1]
