"""The compiled group test against the requirement read aloud (tests/oracles/group_rule.py)."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.requirement import Distance, Requirement, Windows, pack
from lookalike.data.taxonomy import Taxonomy
from lookalike.kernels.grouptest import at_most, is_group_allowed, tally_for
from tests.examples import examples
from tests.oracles.group_rule import accepts, equal_emd, hierarchical_emd, ordered_emd

TREE = Taxonomy.from_paths([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*"), ("e", "*")])
N_CODES = TREE.n_leaves

shares = st.fractions(0, 1, max_denominator=40)


@st.composite
def requirements(draw: st.DrawFn) -> Requirement:
    kind = draw(
        st.sampled_from(["size", "ceilings", "floors", "distinct", "entropy", "recursive", "windows", "distance"])
    )
    listed = st.lists(shares, min_size=N_CODES, max_size=N_CODES).map(tuple)
    extra: dict[str, object] = {}
    if kind == "ceilings":
        extra["ceilings"] = draw(listed)
    if kind == "floors":
        extra["floors"] = tuple(share / 8 for share in draw(listed))
    if kind == "distinct":
        extra["distinct"] = draw(st.integers(1, N_CODES))
    if kind == "entropy":
        extra["entropy"] = draw(st.fractions(1, N_CODES, max_denominator=6))
    if kind == "recursive":
        extra["recursive"] = (draw(st.fractions(Fraction(1, 4), 4, max_denominator=8)), draw(st.integers(1, 5)))
    if kind == "windows":
        reach = np.minimum(np.arange(N_CODES) + np.array(draw(st.lists(st.integers(0, 3), min_size=5, max_size=5))), 4)
        extra["windows"] = Windows(np.maximum.accumulate(reach), draw(shares))
    if kind == "distance":
        extra["distance"] = draw(st.sampled_from([member for member in Distance if member]))
        extra["bound"], extra["tree"] = draw(shares), TREE
    return Requirement(column=0, min_size=draw(st.integers(1, 4)), **extra)  # type: ignore[arg-type]


@st.composite
def groups(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """The codes of a group, and the counts of the whole table that it is part of."""
    codes = st.integers(0, N_CODES - 1)
    group = draw(st.lists(codes, min_size=1, max_size=14))
    rest = draw(st.lists(codes, max_size=14))
    return group, np.bincount(group + rest, minlength=N_CODES).tolist()


def judged(rule_of: list[Requirement], group: list[int], prior: list[int]) -> bool:
    rule = pack(rule_of, [np.array(prior)], sum(prior))
    tally = tally_for(rule)
    sensitive = np.array(group, dtype=np.int32).reshape(-1, 1)
    verdict = is_group_allowed(rule, sensitive, np.arange(len(group)), 0, len(group), tally)
    assert not tally.counts.any(), "the tally must be left clean"
    return bool(verdict)


@settings(max_examples=examples(600), deadline=None)
@given(requirements(), groups())
def test_agrees_with_the_requirement_read_aloud(requirement: Requirement, case: tuple[list[int], list[int]]) -> None:
    group, prior = case
    counts = np.bincount(group, minlength=N_CODES).tolist()
    expected = accepts(requirement, counts, prior)
    found = judged([requirement], group, prior)
    if requirement.entropy is not None and found != expected:
        # The even distribution that meets the bound exactly: the kernel knows it, the guarded oracle does not.
        present = [count for count in counts if count]
        assert found
        assert len(set(present)) == 1
        assert len(present) >= requirement.entropy
    else:
        assert found == expected


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(requirements(), min_size=2, max_size=3), groups())
def test_several_requirements_must_all_hold(rules: list[Requirement], case: tuple[list[int], list[int]]) -> None:
    group, prior = case
    assert judged(rules, group, prior) == all(judged([rule], group, prior) for rule in rules)


@given(*[st.integers(0, (1 << 63) - 1)] * 4)
@settings(max_examples=examples(300), deadline=None)
def test_products_are_compared_in_128_bits(first: int, second: int, third: int, fourth: int) -> None:
    assert at_most(first, second, third, fourth) == (first * second <= third * fourth)


@pytest.mark.parametrize("delta", [-1, 0, 1])
def test_ceilings_decide_at_equality_with_huge_denominators(delta: int) -> None:
    """Half of the group exactly, written as a ratio near 2^61: a float could not tell."""
    half = (1 << 60) + delta
    requirement = Requirement(column=0, ceilings=(Fraction(half, 1 << 61), Fraction(1)))
    assert judged([requirement], [0, 1], [1, 1]) == (delta >= 0)


@settings(max_examples=examples(200), deadline=None)
@given(st.data(), st.sampled_from([Distance.EQUAL, Distance.ORDERED, Distance.HIERARCHICAL]))
def test_distances_of_columns_with_many_values(data: st.DataObject, distance: Distance) -> None:
    """Most values of the table are not in the group: what it lacks counts all the same, exactly."""
    n_codes = data.draw(st.integers(20, 60))
    group = data.draw(st.lists(st.integers(0, n_codes - 1), min_size=1, max_size=6))
    rest = data.draw(st.lists(st.integers(0, n_codes - 1), max_size=60))
    prior = np.bincount(group + rest, minlength=n_codes).tolist()
    tree = Taxonomy.from_paths([(str(code), f"tens {code // 7}", f"half {code // 21}", "*") for code in range(n_codes)])
    counts = np.bincount(group, minlength=n_codes).tolist()
    exact = Requirement(column=0, distance=distance, tree=tree)
    shares = [Fraction(number, sum(prior)) for number in prior]
    beliefs = [Fraction(count, len(group)) for count in counts]
    moved = {
        Distance.EQUAL: lambda: equal_emd(shares, beliefs),
        Distance.ORDERED: lambda: ordered_emd(shares, beliefs),
        Distance.HIERARCHICAL: lambda: hierarchical_emd(tree, shares, beliefs),
    }[distance]()
    step = Fraction(1, 10**9)
    assert judged([replace(exact, bound=moved)], group, prior)
    assert moved < step or not judged([replace(exact, bound=moved - step)], group, prior)


def test_distances_too_large_for_integers_of_64_bits_are_decided_on_the_safe_side() -> None:
    """A million million records: the sum over values would wrap around."""
    n_codes = 4000
    prior = [1 << 38] * n_codes
    group = [0, n_codes // 3, n_codes - 1] * 400_000
    shares, size = [Fraction(1, n_codes)] * n_codes, len(group)
    beliefs = [Fraction(count, size) for count in np.bincount(group, minlength=n_codes).tolist()]
    moved = ordered_emd(shares, beliefs)
    for bound, allowed in ((moved + Fraction(1, 10**6), True), (moved, False), (moved - Fraction(1, 10**6), False)):
        requirement = Requirement(column=0, distance=Distance.ORDERED, bound=bound)
        assert judged([requirement], group, prior) == allowed


def test_distance_names_match_the_kernel() -> None:
    """The kernel is below `requirement` and repeats its numbers."""
    from lookalike.kernels import grouptest

    assert [getattr(grouptest, f"_{member.name}") for member in Distance if member] == [int(d) for d in Distance if d]
