"""Groups as runs of an order: the paper's examples, where runs close, what becomes of the end, even splits."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.greedy_grouping import GreedyGrouping
from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.shared.order_runs import Rules, in_order
from lookalike.algorithms.symmetric_grouping import SymmetricGrouping
from lookalike.data.contracts import Algorithm, Promise, Replayable
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped, RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.strategies import microdatas
from tests.worlds import tiny_table

SETTINGS = [
    f"{name}:order={order},recode={recode}{rest}"
    for name, rests in (
        ("greedy-grouping", ("", ",tail=suppress")),
        ("random-grouping", (",p=0.65", ",tail=suppress")),
        ("symmetric-grouping", ("",)),
    )
    for order in ("lexicographic", "hilbert")
    for recode in ("generalise", "permute")
    for rest in rests
] + ["symmetric-grouping:recode=permute,anatomize=true"]
MODELS = [
    "k-anonymity:3",
    "l-diversity:2",
    "l-diversity:2.5",
    "l-diversity:2,kind=distinct",
    "beta-likeness:2",
    "t-closeness:0.3",
    "t-closeness:0.2,distance=ordered",
]


def required(data: Microdata, *models: str) -> tuple[Requirement, ...]:
    return required_by(settle([Promise(parse_model(text)) for text in models], data), data)


def groups_of(world: str, algorithm: Algorithm, *models: str) -> list[str]:
    """The values of each group along the line; what is left out is not there."""
    data = tiny_table(world, [*range(len(world))])
    release, linkage = algorithm.anonymize(data, required(data, *models), Randomness(3), silent)
    return ["".join(world[record] for record in members) for members in members_of(release, linkage)]


def members_of(release: Release, linkage: RecordMap) -> list[list[int]]:
    assert isinstance(release, Grouped | Bucketized)
    units = release.group_of_row if isinstance(release, Grouped) else release.bucket_of_sensitive
    found: dict[int, list[int]] = {}
    for unit, record in zip(units.tolist(), linkage.record_of_row.tolist(), strict=True):
        found.setdefault(unit, []).append(record)
    return sorted(sorted(members) for members in found.values())


BINARY = "l-diversity:{},kind=binary,subset=p"


@pytest.mark.parametrize("recode", ["generalise", "permute"])
def test_groups_close_as_soon_as_they_may(recode: str) -> None:
    greedy = GreedyGrouping(recode=recode)
    assert groups_of("ppnn", greedy, BINARY.format(2)) == ["ppnn"]
    assert groups_of("pnnnpp" + "nn" * 2, greedy, BINARY.format(2)) == ["pn", "nn", "ppnn", "nn"]
    assert groups_of("abcaabbccabc", greedy, "l-diversity:3") == ["abc", "aabbcc", "abc"]


def test_without_a_positive_a_group_still_has_l_records() -> None:
    """Trap 8: binary diversity alone would let a single negative stand."""
    assert groups_of("nnnnnpnnnnnn", GreedyGrouping(), BINARY.format(6)) == ["nnnnnp", "nnnnnn"]
    assert groups_of("nnnnnpnnnnnn", SymmetricGrouping(), BINARY.format(6)) == ["nnnnnp", "nnnnnn"]
    assert groups_of("nnnnn" + "pnnnnnn", GreedyGrouping(), BINARY.format("2.5")) == ["nnn", "nnp", "nnn", "nnn"]


def test_what_is_left_at_the_end() -> None:
    world = "pnnnpnpnpp"
    merged = groups_of(world, GreedyGrouping(), BINARY.format(2))
    assert "".join(merged) == world
    assert all(2 * group.count("p") <= len(group) for group in merged)
    assert merged == ["pn", "nnpnpnpp"]
    assert groups_of(world, GreedyGrouping(tail="suppress"), BINARY.format(2)) == ["pn", "nn", "pn", "pn"]
    assert groups_of("pnnnn", GreedyGrouping(), BINARY.format(2)) == ["pn", "nnn"]


def test_suppressed_records_are_declared_by_value() -> None:
    data = tiny_table("pnnnpnpnpp", [*range(10)])
    requirements = required(data, BINARY.format(2))
    release, linkage = GreedyGrouping(tail="suppress").anonymize(data, requirements, Randomness(1), silent)
    assert release.withheld.n_suppressed == 2
    assert [counts.tolist() for counts in release.withheld.suppressed] == [[0, 2]]
    assert "suppressed" in linkage.remarks[0]
    _, linkage = GreedyGrouping().anonymize(data, requirements, Randomness(1), silent)
    assert "merged into the group before" in linkage.remarks[0]


def test_nothing_but_the_end_cannot_all_be_suppressed() -> None:
    data = tiny_table("ppnnn", [*range(5)])
    with pytest.raises(Unsupported, match="all would be suppressed"):
        GreedyGrouping(tail="suppress").anonymize(data, required(data, BINARY.format("2.5")), Randomness(1), silent)
    assert groups_of("ppnnn", GreedyGrouping(), BINARY.format("2.5")) == ["ppnnn"]


def test_halves_are_halved_while_both_may_stand() -> None:
    symmetric = SymmetricGrouping()
    assert groups_of("pnnpnnnn", symmetric, BINARY.format(2)) == ["pn", "np", "nn", "nn"]
    assert groups_of("ppnnnnn", symmetric, BINARY.format(2)) == ["ppnn", "nnn"]
    assert groups_of("nnnnppn", symmetric, BINARY.format(2)) == ["nnnnppn"]
    # Figure 1's sizes: the larger half is the left one.
    assert [len(group) for group in groups_of("n" * 26 + "p", symmetric, BINARY.format(6))] == [7, 7, 7, 6]


@pytest.mark.parametrize(
    ("ell", "size", "positives", "left", "right"),
    [(2, 7, 2, Fraction(0), Fraction(2, 3)), (3, 11, 2, Fraction(0), Fraction(2, 5))],
)
def test_a_refused_split_tells_no_more_than_theorem_five_says(
    ell: int, size: int, positives: int, left: Fraction, right: Fraction
) -> None:
    beliefs = halving_beliefs(ell, size, positives)
    assert set(beliefs[: (size + 1) // 2]) == {left}
    assert set(beliefs[(size + 1) // 2 :]) == {right}
    assert right == 1 / (ell - Fraction(1, 2))


def test_halves_below_l_are_not_even_considered() -> None:
    """Trap 1: with children of 3 and 2 the belief would be 1/2."""
    assert set(halving_beliefs(3, 5, 1)) == {Fraction(1, 5)}
    assert halving_beliefs(3, 5, 1, least=1)[3:] == [Fraction(1, 2)] * 2


@pytest.mark.parametrize("ell", [2, 3])
def test_no_group_tells_more_than_the_even_split_bound(ell: int) -> None:
    beliefs = [
        max(found)
        for size in range(ell, 12)
        for positives in range(1, size // ell + 1)
        if (found := halving_beliefs(ell, size, positives))
    ]
    assert max(beliefs) == 1 / (ell - Fraction(1, 2))


def halving_beliefs(ell: int, size: int, positives: int, least: int | None = None) -> list[Fraction]:
    """P(positive) of each place of a group that symmetric grouping left whole, over all its worlds."""
    world = "p" * positives + "n" * (size - positives)
    data = tiny_table(world, [*range(size)])
    replay = SymmetricGrouping()._halving(data, Rules.of(data, required(data, BINARY.format(ell))), Randomness(1))
    if least is not None:
        replay.rules.__dict__["rule"] = replay.rules.rule._replace(min_size=least)
    chosen = [*itertools.combinations(range(size), positives)]
    dealings = np.array([[*_dealing(size, places)] for places in chosen])
    weights = replay.weights(data.sensitive, dealings)
    total = int(weights.sum())
    return (
        [Fraction(int(weights[[place in places for places in chosen]].sum()), total) for place in range(size)]
        if total
        else []
    )


def _dealing(size: int, places: Sequence[int]) -> list[int]:
    """Which of the rows (positives first) each place gets."""
    positive, negative = iter(range(len(places))), iter(range(len(places), size))
    return [next(positive) if place in places else next(negative) for place in range(size)]


def test_coins_make_groups_grow_on() -> None:
    """p/(1 - p) steps more on average: the paper counts the last toss too (trap 13)."""
    world = "ab" * 4000
    sizes = [len(group) for group in groups_of(world, RandomGrouping(p="0.65"), "k-anonymity:2")]
    assert np.mean(sizes) / 2 - 1 == pytest.approx(0.65 / 0.35, abs=0.25)
    assert {len(group) for group in groups_of(world, RandomGrouping(p=0), "k-anonymity:2")} == {2}


def test_coins_are_fresh() -> None:
    data = tiny_table("ab" * 50, [*range(100)])
    requirements = required(data, "k-anonymity:2")
    made = [members_of(*RandomGrouping().anonymize(data, requirements, Randomness(), silent)) for _ in range(2)]
    assert made[0] != made[1]


@pytest.mark.slow
@pytest.mark.parametrize("text", SETTINGS)
@settings(max_examples=15, deadline=None)
@given(data=microdatas(min_rows=2, max_rows=40, n_sensitive=st.just(1)), model=st.sampled_from(MODELS))
def test_every_setting_keeps_every_promise(text: str, data: Microdata, model: str) -> None:
    algorithm = parse_algorithm(text)
    promises = settle([Promise(parse_model(model))], data)
    try:
        requirements = required_by(promises, data)
        if algorithm.refuses(promises[0], requirements[0]):
            return
        release, _ = algorithm.anonymize(data, requirements, Randomness(1), silent)
    except (Infeasible, Unsupported):
        return
    assert release.form == algorithm.form
    found = pipeline.verify(data, release, promises)
    assert found.passed, str(found)
    assert release.n_rows + release.withheld.n_suppressed == data.n_rows


@settings(max_examples=30, deadline=None)
@given(world=st.text("pn", min_size=4, max_size=40), ell=st.sampled_from(["2", "3", "2.5"]))
def test_greedy_groups_have_no_shorter_run_that_may_stand(world: str, ell: str) -> None:
    share = Fraction(1) / Fraction(ell)
    if "p" not in world or "n" not in world or world.count("p") > share * len(world):
        return
    groups = groups_of(world, GreedyGrouping(tail="suppress"), BINARY.format(ell)) if _closes(world, share) else []
    step = -int(-Fraction(ell) // 1)
    assert world.startswith("".join(groups))
    for group in groups:
        assert len(group) % step == 0
        stands = [group[:end].count("p") <= share * end for end in range(step, len(group) + 1, step)]
        assert stands == [False] * (len(stands) - 1) + [True]


def _closes(world: str, share: Fraction) -> bool:
    step = -int(-(1 / share) // 1)
    return any(world[:end].count("p") <= share * end for end in range(step, len(world) + 1, step))


def test_equal_records_come_in_random_order_and_others_by_quasi_identifiers() -> None:
    data = tiny_table("abcabc", [2, 1, 1, 1, 1, 0])
    orders = {tuple(in_order(data, "lexicographic", Randomness(seed)).tolist()) for seed in range(200)}
    assert {order[0] for order in orders} == {5}
    assert {order[-1] for order in orders} == {0}
    assert len(orders) == 24


def test_groups_along_the_curve_are_runs_of_it() -> None:
    data = tiny_table("abcabc", [0, 9, 5, 1, 8, 4])
    assert in_order(data, "hilbert", Randomness(1)).tolist() == [0, 3, 5, 2, 4, 1]


def test_anatomized_groups_are_smaller_and_as_diverse() -> None:
    data = tiny_table("aabbccabcabbcaccba" * 4, [*range(72)])
    requirements = required(data, "l-diversity:3")
    whole, divided = (
        members_of(
            *SymmetricGrouping(recode="permute", anatomize=word).anonymize(data, requirements, Randomness(1), silent)
        )
        for word in ("false", "true")
    )
    assert len(divided) > len(whole)
    assert all(any(set(part) <= set(group) for group in whole) for part in divided)


def test_anatomizing_is_refused_where_it_does_not_repair() -> None:
    for kind in (GreedyGrouping, RandomGrouping):
        with pytest.raises(RecipeError, match="does not repair"):
            kind(recode="permute", anatomize="true")
    with pytest.raises(RecipeError, match="recode=permute"):
        SymmetricGrouping(anatomize="true")
    with pytest.raises(RecipeError, match="below 1"):
        RandomGrouping(p=1)


def test_replays_are_offered_unless_buckets_hide_the_groups() -> None:
    data = tiny_table("ppnn", [0, 1, 2, 3])
    requirements = required(data, BINARY.format(2))
    for method in (GreedyGrouping(), RandomGrouping(), SymmetricGrouping()):
        assert isinstance(method, Replayable)
        assert method.replay(data, requirements, Randomness(1)) is not None
    assert SymmetricGrouping(recode="permute", anatomize="true").replay(data, requirements, Randomness(1)) is None
