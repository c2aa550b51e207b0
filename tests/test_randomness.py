"""The stream of random bits: repeatable with a seed, unpredictable without one, and unbiased.

Statistical tests run on fixed seeds, so they either always pass or always fail.
"""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from lookalike.randomness import Randomness

UNLIKELY = 1e-4


def test_the_same_seed_gives_the_same_draws() -> None:
    first, second = Randomness(7), Randomness(7)
    for draw in ("words", "uniforms", "permutation"):
        assert np.array_equal(getattr(first, draw)(50), getattr(second, draw)(50))
    assert np.array_equal(first.integers(10, 50), second.integers(10, 50))


def test_the_stream_of_a_seed_never_changes() -> None:
    """Releases made with a seed are reproducible across versions, machines and byte orders only if this holds."""
    assert Randomness(7).words(3).tolist() == [7437256250951706127, 8237985555535945793, 219442705477450841]


def test_other_seeds_give_other_streams() -> None:
    firsts = {int(Randomness(seed).words(1)[0]) for seed in range(-50, 50)}
    assert len(firsts) == 100


def test_without_a_seed_no_two_streams_agree() -> None:
    assert len({int(Randomness().words(1)[0]) for _ in range(20)}) == 20


def test_draws_continue_one_stream() -> None:
    whole, parts = Randomness(3), Randomness(3)
    assert np.array_equal(whole.words(10), np.concatenate([parts.words(4), parts.words(0), parts.words(6)]))


def test_a_child_does_not_depend_on_what_was_drawn_before() -> None:
    fresh, used = Randomness(5), Randomness(5)
    used.words(1000)
    used.child("other").permutation(10)
    assert np.array_equal(fresh.child("part", 3).words(5), used.child("part", 3).words(5))


def test_making_a_child_takes_nothing_from_its_parent() -> None:
    with_child, alone = Randomness(5), Randomness(5)
    with_child.child("part").words(9)
    assert np.array_equal(with_child.words(5), alone.words(5))


def test_children_do_not_depend_on_the_order_in_which_they_are_made() -> None:
    parent = Randomness(5)
    upward = {label: parent.child("group", label).words(2).tolist() for label in range(10)}
    downward = {label: parent.child("group", label).words(2).tolist() for label in reversed(range(10))}
    assert upward == downward


def test_labels_tell_children_apart() -> None:
    parent = Randomness(5)
    labels: list[tuple[str | int, ...]] = [(), ("a",), ("b",), ("ab",), ("a", "b"), (1,), ("1",), (1, 1), (11,)]
    streams = [parent, *(parent.child(*label) for label in labels), parent.child("a").child("b")]
    assert len({int(stream.words(1)[0]) for stream in streams}) == len(labels) + 2


def test_a_number_from_an_array_is_the_same_label_as_a_plain_number() -> None:
    parent = Randomness(5)
    assert np.array_equal(parent.child("row", 3).words(2), parent.child("row", np.int64(3)).words(2))  # type: ignore[arg-type]


def test_children_without_a_seed_are_unpredictable_too() -> None:
    assert Randomness().child("a").words(1)[0] != Randomness().child("a").words(1)[0]


@given(st.integers(0, 200), st.integers(0, 1000))
def test_a_permutation_has_every_number_once(count: int, seed: int) -> None:
    assert sorted(Randomness(seed).permutation(count).tolist()) == list(range(count))


@pytest.mark.parametrize("count", [2, 3, 4])
def test_all_permutations_are_equally_likely(count: int) -> None:
    rng = Randomness(count)
    seen = dict.fromkeys(itertools.permutations(range(count)), 0)
    for _ in range(500 * math.factorial(count)):
        seen[tuple(rng.permutation(count).tolist())] += 1
    assert chisquare(list(seen.values())).pvalue > UNLIKELY


def test_in_long_permutations_every_place_is_equally_likely() -> None:
    rng = Randomness(11)
    landed = np.array([rng.permutation(50)[0] for _ in range(10_000)])
    assert chisquare(np.bincount(landed, minlength=50)).pvalue > UNLIKELY


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10, 64, 100, 1000])
def test_integers_are_uniform(bound: int) -> None:
    drawn = Randomness(bound).integers(bound, 100 * bound + 1000)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    if bound > 1:
        assert chisquare(np.bincount(drawn, minlength=bound)).pvalue > UNLIKELY


def test_integers_have_no_modulo_bias() -> None:
    """Plain remainders of 64 bits would fall into the upper third only a quarter of the time."""
    bound = 3 << 61
    drawn = Randomness(1).integers(bound, 30_000)
    thirds = np.bincount(drawn // (1 << 61), minlength=3)
    assert chisquare(thirds).pvalue > UNLIKELY


def test_integers_reach_both_ends_of_the_largest_bound() -> None:
    drawn = Randomness(1).integers((1 << 63) - 1, 10_000)
    assert drawn.min() >= 0
    assert drawn.min() < 1 << 53
    assert drawn.max() > (1 << 63) - (1 << 53)


@pytest.mark.parametrize("bound", [0, -1, 1 << 63])
def test_bounds_out_of_range_are_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound must lie between 1 and"):
        Randomness(1).integers(bound, 1)


def test_uniforms_lie_in_the_unit_interval_and_fill_it() -> None:
    drawn = Randomness(2).uniforms(20_000)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert kstest(drawn, "uniform").pvalue > UNLIKELY


def test_every_bit_of_a_word_is_fair() -> None:
    words = Randomness(4).words(20_000)
    ones = np.array([int(np.count_nonzero(words >> np.uint64(bit) & np.uint64(1))) for bit in range(64)])
    assert np.all(np.abs(ones - 10_000) < 5 * math.sqrt(20_000) / 2)


def test_nothing_can_be_drawn() -> None:
    rng = Randomness(1)
    assert len(rng.words(0)) == len(rng.uniforms(0)) == len(rng.integers(5, 0)) == len(rng.permutation(0)) == 0


def test_a_copy_in_another_process_has_the_same_children() -> None:
    secret = Randomness(9)
    secret.words(5)
    copy = pickle.loads(pickle.dumps(secret))
    assert copy.child("part", 3).words(4).tolist() == secret.child("part", 3).words(4).tolist()
