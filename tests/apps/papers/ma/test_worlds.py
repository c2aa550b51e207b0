"""What an attacker who knows the method can infer: the sums against whole numbers and against enumeration."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest

from lookalike.apps.papers.experiments import Bench
from lookalike.apps.papers.ma.data import CRAFT, binary, positive, table
from lookalike.apps.papers.ma.worlds import (
    close,
    diverse,
    diverse_beliefs,
    divided_beliefs,
    grown_beliefs,
    halved_beliefs,
    risk_by_sampling,
    risk_of_growth,
    risk_of_halves,
    sampled_risk,
)
from lookalike.attacks.minimality.exact import bucket_shares, first_bucket_limit
from tests.apps.papers.measuring import TINY, stand_ins


@pytest.mark.parametrize("p", ["0", "0.2", "0.65"])
@pytest.mark.parametrize(
    ("ell", "buckets", "positives"), [(6, 2, 2), (6, 3, 3), (3, 5, 5), (4, 9, 7), (6, 2, 1), (2, 1, 1)]
)
def test_sums_agree_with_whole_numbers(p: str, ell: int, buckets: int, positives: int) -> None:
    exact = bucket_shares(ell, buckets, positives, Fraction(p))
    found = diverse_beliefs(ell, buckets, positives, float(p))
    if exact is None:
        assert found is None
    else:
        assert found == pytest.approx([float(share) for share in exact], abs=1e-10)


def test_long_groups_approach_the_limit_from_below() -> None:
    found = diverse_beliefs(6, 800, 800, 0.0)
    assert found is not None
    assert found.mean() == pytest.approx(1 / 6)
    assert 2.486 < 6 * found[0] < float(first_bucket_limit(6))


def test_closeness_of_one_value_against_enumeration() -> None:
    """Runs of three buckets of two records with two positives, none of whose shorter runs is close."""
    stands = partial(close, 0.2, 0.3)
    found = grown_beliefs(2, 3, 2, 0.0, stands)
    sums, n_worlds = np.zeros(3), 0
    for world in combinations(range(6), 2):
        counts = np.bincount(np.array(world) // 2, minlength=3)
        if not any(stands(2 * j, np.array([counts[:j].sum()]))[0] for j in (1, 2)):
            sums, n_worlds = sums + counts / 2, n_worlds + 1
    assert found == pytest.approx(sums / n_worlds)


@pytest.mark.parametrize(
    ("ell", "size", "positives", "beliefs"),
    [(2, 7, 2, (0, 2 / 3)), (3, 11, 2, (0, 2 / 5)), (6, 11, 1, (1 / 11, 1 / 11)), (6, 12, 1, None)],
)
def test_halves_that_were_refused(ell: int, size: int, positives: int, beliefs: tuple[float, float] | None) -> None:
    found = halved_beliefs(ell, size, positives)
    assert found == (beliefs if beliefs is None else pytest.approx(beliefs))


@pytest.mark.parametrize("first", [1, 2, 3])
def test_parts_of_two_buckets_reveal_a_positive(first: int) -> None:
    """Greedy groups of two buckets have both positives in the first; a part with j records of it gives 1/j."""
    buckets = np.arange(12) // 6
    one = np.array([*range(first), *range(6, 12 - first)])
    other = np.setdiff1d(np.arange(12), one)
    found = divided_beliefs(6, 0.0, buckets, [one, other], [1, 1])
    assert found is not None
    assert found.max() == pytest.approx(1 / first)
    assert found.sum() == pytest.approx(2)
    coin = divided_beliefs(6, 0.65, buckets, [one, other], [1, 1])
    assert coin is not None
    assert coin.max() < found.max()


def test_parts_that_cannot_be_gone_through_are_left_out() -> None:
    buckets = np.arange(12) // 6
    assert divided_beliefs(6, 0.0, buckets, [np.arange(12)], [2]) is None
    many = [np.arange(12 * part, 12 * part + 12) for part in range(6)]
    assert divided_beliefs(6, 0.0, np.arange(72) // 6, many, [1] * 6) is None


def test_binary_diversity_is_one_in_l() -> None:
    assert diverse(6, 12, np.array([2, 3])).tolist() == [True, False]


def test_releases_are_attacked_exactly_and_by_sampling() -> None:
    bench = Bench(stand_ins(), TINY)
    data = table(bench)
    code = positive(data, CRAFT)[0]
    model = binary(data, CRAFT, 6)
    grown = bench.publish(data, model, "greedy-grouping:recode=permute", 0)
    exact = risk_of_growth(grown, code, 6, 0)
    assert 2 <= exact["risk"] < float(first_bucket_limit(6))
    assert exact["vulnerable"] > 0
    # Records that nobody can tell apart share what is known about them.
    assert exact["risk_by_person"] <= exact["risk"]
    few, many = (sampled_risk(grown, code, 6, 0, accepted, 20_000) for accepted in (50, 4000))
    assert many["risk"] == pytest.approx(exact["risk"], abs=0.1)
    assert few["standard_error"] >= many["standard_error"]
    halved = bench.publish(data, model, "symmetric-grouping:recode=permute", 0)
    assert risk_of_halves(halved, code, 6, 0)["risk"] <= 6 / 5.5 + 1e-9
    simple = bench.publish(data, "l-diversity:3", "greedy-grouping:recode=permute", 0)
    sampled = risk_by_sampling(simple, 3, 0, 200, 5000)
    assert sampled["risk_for_sure"] <= sampled["risk"]
