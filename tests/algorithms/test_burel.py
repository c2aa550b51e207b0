"""BUREL: the paper's examples, buckets by brute force, and groups that keep the bounds."""

from __future__ import annotations

import itertools
import operator
from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.burel import Bounded, Burel, value_buckets
from lookalike.algorithms.shared.value_buckets import curve_keys
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data
from tests.examples import examples
from tests.strategies import column_of, microdatas
from tests.worlds import Tape, tiny_table, worlds


def ceilings_for(counts: list[int], model: str) -> list[Fraction]:
    values = "".join(chr(97 + place) * count for place, count in enumerate(counts))
    data = tiny_table(values, [*range(len(values))])
    (requirement,) = require(settle([Promise(parse_model(model))], data), data)
    assert requirement.ceilings is not None
    return list(requirement.ceilings)


def test_example_two_of_the_paper() -> None:
    """headache 2, epilepsy 3, brain tumors 3, anemia 3, angina 4, heart murmur 4, beta 2."""
    counts = [2, 3, 3, 3, 4, 4]
    ceilings = ceilings_for(counts, "beta-likeness:2")
    buckets = value_buckets(np.array(counts), ceilings)
    assert buckets == [[0, 1], [2, 3], [4, 5]]
    drawing = Bounded(buckets, ceilings, 1)
    assert drawing.halve_all(np.array([5, 6, 8])).tolist() == [[1, 1, 2], [1, 2, 2], [3, 3, 4]]
    assert drawing.halves(np.array([3, 3, 4])) is None
    assert drawing.n_groups(np.array([5, 6, 8])) == 3


def test_example_one_of_the_paper() -> None:
    """Six values once each, beta 1: two per bucket and two groups of three keep the promise, but fill the bucket.

    The example says that such a partition keeps beta-likeness, not that the dynamic program returns it: it asks for
    less than the bound, so every value has its own bucket, and there is one group.
    """
    counts, ceilings = np.array([1] * 6), ceilings_for([1] * 6, "beta-likeness:1")
    assert ceilings == [Fraction(1, 3)] * 6
    assert [len(bucket) for bucket in value_buckets(counts, ceilings)] == [1] * 6
    printed = Bounded(value_buckets(counts, ceilings), ceilings, 1)
    assert printed.halve_all(counts).tolist() == [[1] * 6]
    example = Bounded(value_buckets(counts, ceilings, full=True), ceilings, 1)
    assert [len(bucket) for bucket in example.buckets] == [2, 2, 2]
    assert example.halve_all(np.array([2, 2, 2])).tolist() == [[1, 1, 1], [1, 1, 1]]


def test_a_full_bucket_can_stop_the_first_halving() -> None:
    """Why the comparison is strict: 6 of 18 records fill a bucket, and one half would have 3 of 8."""
    counts, ceilings = np.array([3, 3, 5, 7]), [Fraction(1, 3), Fraction(1, 3), Fraction(1, 2), Fraction(1, 2)]
    full = Bounded(value_buckets(counts, ceilings, full=True), ceilings, 1)
    assert full.buckets == [[0, 1], [2], [3]]
    assert full.n_groups(full.sizes(counts)) == 1
    printed = Bounded(value_buckets(counts, ceilings), ceilings, 1)
    assert printed.buckets == [[0], [1], [2], [3]]
    assert printed.n_groups(printed.sizes(counts)) > 1


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=7),
    st.fractions(Fraction(1, 10), 3, max_denominator=10),
    st.booleans(),
)
def test_no_division_into_neighbours_has_fewer_buckets(numbers: list[int], beta: Fraction, full: bool) -> None:
    counts, n_rows = np.array(numbers), sum(numbers)
    ceilings = [min((1 + beta) * Fraction(count, n_rows), Fraction(1)) for count in numbers]
    buckets = value_buckets(counts, ceilings, full=full)
    holds = operator.le if full else operator.lt
    order = sorted(range(len(numbers)), key=lambda value: (ceilings[value], counts[value], value))
    assert [value for bucket in buckets for value in bucket] == order
    fewest = min(
        len(cuts) + 1
        for n_cuts in range(len(order))
        for cuts in itertools.combinations(range(1, len(order)), n_cuts)
        if all(
            last - first == 1
            or holds(sum(int(counts[value]) for value in order[first:last]), ceilings[order[first]] * n_rows)
            for first, last in itertools.pairwise([0, *cuts, len(order)])
        )
    )
    assert len(buckets) == fewest


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    data=microdatas(min_rows=4, max_rows=40, n_sensitive=st.just(1)),
    retrieve=st.sampled_from(["curve", "cuts", "window", "random", "neighbours"]),
    model=st.sampled_from(["beta-likeness:2", "beta-likeness:1,bound=basic", "l-diversity:2", "alpha-k:alpha=0.7,k=2"]),
    fill=st.sampled_from(["auto", "1", "0.5"]),
    split=st.sampled_from(["yes", "no"]),
)
def test_every_retrieval_keeps_the_promise(data: Microdata, retrieve: str, model: str, fill: str, split: str) -> None:
    promises = settle([Promise(parse_model(model))], data)
    try:
        requirements = require(promises, data)
    except Infeasible:
        return
    method = Burel(retrieve=retrieve, fill=fill, split=split)
    release, linkage = method.anonymize(data, requirements, Randomness(1), silent)
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    data=microdatas(min_rows=4, max_rows=60, n_sensitive=st.just(1)),
    retrieve=st.sampled_from(["curve", "cuts"]),
    fill=st.sampled_from(["1", "0.5"]),
)
def test_without_the_split_groups_draw_what_halving_gives(data: Microdata, retrieve: str, fill: str) -> None:
    (requirement,) = requirements = require(settle([Promise(parse_model("beta-likeness:2"))], data), data)
    assert requirement.ceilings is not None
    counts = data.counts(0)
    drawing = Bounded(value_buckets(counts, requirement.ceilings, Fraction(fill)), requirement.ceilings, 1)
    method = Burel(retrieve=retrieve, fill=fill, split="no")
    groups, n_groups = method.partition(data, requirements, Randomness(1), silent)
    draws = np.zeros((n_groups, drawing.n_buckets), dtype=np.int64)
    np.add.at(draws, (groups, drawing.bucket_of(data.sensitive[:, 0])), 1)
    assert sorted(draws.tolist()) == sorted(drawing.halve_all(drawing.sizes(counts)).tolist())


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(
    data=microdatas(min_rows=4, max_rows=60, n_sensitive=st.just(1)),
    retrieve=st.sampled_from(["curve", "cuts", "window", "random", "neighbours"]),
    model=st.sampled_from(["beta-likeness:2", "beta-likeness:1,bound=basic", "l-diversity:2", "alpha-k:alpha=0.7,k=2"]),
    fill=st.sampled_from(["auto", "1", "0.5"]),
)
def test_the_split_only_refines_and_every_group_keeps_every_ceiling(
    data: Microdata, retrieve: str, model: str, fill: str
) -> None:
    try:
        requirements = require(settle([Promise(parse_model(model))], data), data)
    except Infeasible:
        return
    coarse, fine = (
        Burel(retrieve=retrieve, fill=fill, split=split).partition(data, requirements, Randomness(1), silent)
        for split in ("no", "yes")
    )
    assert fine[1] >= coarse[1]
    for group in range(fine[1]):
        members = np.flatnonzero(fine[0] == group)
        assert len(set(coarse[0][members].tolist())) == 1
        for requirement in requirements:
            assert len(members) >= requirement.min_size
            for value, ceiling in enumerate(requirement.ceilings or ()):
                assert int((data.sensitive[members, 0] == value).sum()) <= ceiling * len(members)


@pytest.mark.parametrize("retrieve", ["curve", "cuts"])
def test_the_split_halves_a_group_by_what_it_has_rather_than_by_what_it_may_have(retrieve: str) -> None:
    """Buckets of 7, 8 and 9 records, a ceiling of 2/5: of a draw of [4, 4, 5] one half may have 3 of 7 with one value.

    Where values are mixed it has not. Where records of one value lie together, as far as cuts go, it has.
    """
    requirement = Requirement(column=0, ceilings=(Fraction(2, 5),) * 6)
    mixed, apart = (
        tiny_table(values, [*range(24)]) for values in ("abcdef" * 3 + "abcdea", "aaaaabbbbccccddddeeeefff")
    )

    def n_groups(data: Microdata, split: str) -> int:
        method = Burel(retrieve=retrieve, fill="1", split=split)
        return method.partition(data, [requirement], Randomness(1), silent)[1]

    assert [n_groups(data, "no") for data in (mixed, apart)] == [4, 4]
    assert n_groups(mixed, "yes") > 4
    assert retrieve == "curve" or n_groups(apart, "yes") == 4


def test_the_split_makes_no_group_so_small_that_its_size_tells_a_value() -> None:
    """One value has a ceiling, the others none: a group without it could be a single record."""
    data = tiny_table("a" + "bc" * 8, [*range(17)])
    requirement = Requirement(column=0, ceilings=(Fraction(1, 4), Fraction(1), Fraction(1)))
    by_cuts, without = (
        Burel(fill="1", split=split).partition(data, [requirement], Randomness(1), silent) for split in ("yes", "no")
    )
    sizes = np.bincount(by_cuts[0])
    unsplit = {len(members) for members in _members(*without)}
    assert all(size >= 4 or size in unsplit for size in sizes.tolist())


def _members(groups: np.ndarray, n_groups: int) -> list[np.ndarray]:
    return [np.flatnonzero(groups == group) for group in range(n_groups)]


def test_cuts_lose_less_than_the_curve() -> None:
    data = census_data(4000)
    requirements = require(settle([Promise(parse_model("beta-likeness:3"))], data), data)
    losses = [
        pipeline.measure(data, Burel(retrieve=way).anonymize(data, requirements, Randomness(1), silent)[0])[0]["gcp"]
        for way in ("curve", "cuts")
    ]
    assert losses[1] < losses[0]


@pytest.mark.parametrize("beta", [1, 2, 3, 4, 5])
def test_auto_never_loses_more_than_full_buckets_and_keeps_the_promise(beta: int) -> None:
    table = census(3000, seed=6)
    names = table.names
    for qi in (names[:3], names[:-1]):
        data = Microdata.encode(
            table, Schema.of(qi=qi, sensitive=names[-1:], categorical={names[1], *names[3:]} & {*qi, names[-1]})
        )
        promises = settle([Promise(parse_model(f"beta-likeness:{beta}"))], data)
        requirements = require(promises, data)
        losses = {}
        for fill in ("auto", "1"):
            release, _ = Burel(fill=fill).anonymize(data, requirements, Randomness(1), silent)
            assert pipeline.verify(data, release, promises).passed
            losses[fill] = pipeline.measure(data, release)[0]["gcp"]
        assert losses["auto"] <= losses["1"] + 1e-12


def test_numbers_stand_by_size_on_the_curve_and_missing_ones_at_the_far_end() -> None:
    assert curve_keys(tiny_table("abab", [0, 5, 10, 10])).tolist() == [0, 512, 1023, 1023]
    columns = column_of("x", [0, None, 10], ValueType.INTEGER), column_of("s", ["a", "b", "a"], ValueType.STRING)
    data = Microdata.encode(Table(columns), Schema.of(qi=["x"], sensitive=["s"]))
    assert curve_keys(data).tolist() == [0, 1023, 1023]


def test_a_taxonomy_orders_the_axis() -> None:
    """By name flu is between burn and gash; under its node it is after both."""
    columns = (
        column_of("x", ["burn", "flu", "gash"], ValueType.STRING),
        column_of("s", ["a", "b", "a"], ValueType.STRING),
    )
    tree = {"any": {"wound": ["burn", "gash"], "illness": ["flu"]}}
    schema = Schema(
        (Attribute(name="x", role=Role.QUASI, taxonomy={"tree": tree}), Attribute(name="s", role=Role.SENSITIVE))
    )
    assert curve_keys(Microdata.encode(Table(columns), schema)).tolist() == [0, 1023, 512]


def test_settings_that_would_not_be_heard_are_refused() -> None:
    with pytest.raises(RecipeError, match="window"):
        Burel(window=8)
    with pytest.raises(RecipeError, match="seeds"):
        Burel(retrieve="cuts", seeds=3)
    with pytest.raises(RecipeError, match="up to 1"):
        Burel(fill="1.5")


def test_two_sensitive_columns_are_refused() -> None:
    cells = ["a", "b", "c", "d"] * 5
    table = Table(tuple(column_of(name, cells, ValueType.STRING) for name in ("town", "illness", "income")))
    data = Microdata.encode(table, Schema.of(qi=["town"], sensitive=["illness", "income"]))
    requirements = require(settle([Promise(parse_model("l-diversity:2"))], data), data)
    with pytest.raises(Unsupported, match="one sensitive column"):
        Burel().anonymize(data, requirements, Randomness(1), silent)


class Seeded(Tape):
    """A tape with the words that seeds are drawn by."""

    def child(self, *label: str | int) -> Seeded:
        return Seeded(self.script, self.asked, (*self.path, *label))

    def words(self, count: int) -> np.ndarray:
        return self.script[("words",)].astype(np.uint64)


@pytest.mark.parametrize("retrieve", ["curve", "cuts"])
def test_whoever_knows_the_method_can_be_certain_about_somebody(retrieve: str) -> None:
    """aaaabb in two groups of aab: over all worlds and random choices. It is why burel is not for that adversary."""
    weight: dict[Any, int] = defaultdict(int)
    joint: dict[tuple[Any, int, str], int] = defaultdict(int)
    requirement = Requirement(column=0, ceilings=(Fraction(2, 3), Fraction(1, 3)))
    for world in worlds("aaaabb"):
        data = tiny_table(world, [0, 1, 3, 7, 8, 20])
        # A bucket of two, a place of up to four; for two groups, which come in either order.
        for words in itertools.product(range(2), range(4), range(2), range(4)) if retrieve == "curve" else [(0,) * 4]:
            tape = Seeded({("words",): np.array(words)}, {})
            groups, n_groups = Burel(retrieve=retrieve).partition(data, [requirement], tape, silent)  # type: ignore[arg-type]
            assert n_groups == 2
            release = frozenset(frozenset(np.flatnonzero(groups == number).tolist()) for number in range(2))
            weight[release] += 1
            for record, value in enumerate(world):
                joint[release, record, value] += 1
    beliefs = [Fraction(part, weight[release]) for (release, _, value), part in joint.items() if value == "b"]
    assert max(beliefs) > Fraction(1, 3)
    assert retrieve == "cuts" or max(beliefs) == 1
