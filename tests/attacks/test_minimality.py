"""The minimality attack: the tables of the paper made exact, its examples, and what it finds in planted releases."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.greedy_grouping import GreedyGrouping
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.mondrian_strict import StrictMondrian
from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.symmetric_grouping import SymmetricGrouping
from lookalike.attacks import parse_attack
from lookalike.attacks.minimality import Minimality
from lookalike.attacks.minimality.exact import (
    acceptance,
    as_published,
    box_key,
    bucket_shares,
    enumerate_posteriors,
    first_bucket_limit,
    n_worlds,
)
from lookalike.attacks.minimality.replay import runs_of, sample
from lookalike.data.contracts import Algorithm, Attack, Finding, Promise, Replay, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.worlds import tiny_table

BINARY = "l-diversity:{},kind=binary,subset=p"


def required(data: Microdata, model: str) -> tuple[Requirement, ...]:
    return required_by(settle([Promise(parse_model(model))], data), data)


def target_of(data: Microdata, algorithm: Algorithm, model: str, seed: int = 1) -> Target:
    promises = settle([Promise(parse_model(model))], data)
    release, _ = algorithm.anonymize(data, required_by(promises, data), Randomness(seed), silent)
    return Target(release=release, original=data, promises=promises, algorithm=algorithm)


def attacked(target: Target, attack: Attack | None = None) -> Finding:
    attack = attack or Minimality()
    assert attack.refuses(target) is None
    (finding,) = attack.run(target, Randomness(5), silent)
    return finding


@pytest.mark.parametrize(
    ("m", "ell", "times", "accepted"),
    [
        (2, 2, ["2", "0"], "1/6"),
        (2, 3, ["2", "0"], "1/5"),
        (2, 6, ["2", "0"], "5/22"),
        (3, 2, ["2", "1", "0"], "1/10"),
        (3, 3, ["21/10", "9/10", "0"], "5/42"),
        (3, 4, ["15/7", "6/7", "0"], "7/55"),
        (4, 3, ["15/7", "8/7", "5/7", "0"], "14/165"),
        (4, 4, ["364/165", "184/165", "112/165", "0"], "33/364"),
        (5, 3, ["13/6", "83/66", "31/33", "7/11", "0"], "6/91"),
    ],
)
def test_beliefs_in_the_buckets_of_greedy_groups(m: int, ell: int, times: list[str], accepted: str) -> None:
    shares = bucket_shares(ell, m, m)
    assert shares is not None
    assert [str(ell * share) for share in shares] == times
    assert str(acceptance(ell, m, m)) == accepted


@pytest.mark.parametrize(("ell", "m", "positives"), [(2, 3, 3), (3, 3, 3), (3, 2, 2), (2, 4, 3), (3, 3, 2)])
@pytest.mark.parametrize("p", ["0", "0.4"])
def test_beliefs_are_those_of_all_worlds(ell: int, m: int, positives: int, p: str) -> None:
    again, total, sums = Fraction(p), Fraction(0), [Fraction(0)] * m
    for places in itertools.combinations(range(ell * m), positives):
        inside = [sum(place // ell == bucket for place in places) for bucket in range(m)]
        weight = Fraction(1)
        for end in range(1, m):
            weight *= again if sum(inside[:end]) <= end else 1
        total += weight
        sums = [old + weight * Fraction(number, ell) for old, number in zip(sums, inside, strict=True)]
    expected = tuple(part / total for part in sums) if total else None
    assert bucket_shares(ell, m, positives, again) == expected


def test_the_first_bucket_by_formula_and_its_limit() -> None:
    for ell in (2, 3, 4, 6, 8):
        previous = Fraction(0)
        for m in range(2, 9):
            shares = bucket_shares(ell, m, m)
            assert shares is not None
            product = Fraction(1, ell)
            for j in range(1, ell):
                product *= Fraction(m * ell - 1 - j, m * ell - m - j)
            assert shares[0] == product
            assert list(shares) == sorted(shares, reverse=True)
            assert previous <= ell * shares[0] < first_bucket_limit(ell) or ell == 2
            previous = ell * shares[0]
    limits = {2: 2, 3: 2.25, 4: 2.3704, 5: 2.4414, 6: 2.4883, 7: 2.5216, 8: 2.5465, 10: 2.5812, 20: 2.65}
    for ell, limit in limits.items():
        assert float(first_bucket_limit(ell)) == pytest.approx(limit, abs=2e-4)
    rising = {2: 2, 3: 2.1818, 4: 2.2647, 5: 2.3123, 10: 2.4029, 50: 2.4716}
    for m, times in rising.items():
        shares = bucket_shares(6, m, m)
        assert shares is not None
        assert float(6 * shares[0]) == pytest.approx(times, abs=6e-5)


@pytest.mark.parametrize(
    ("p", "two", "three"),
    [
        ("0", (2, 0), (2.1818, 0.8182, 0)),
        ("0.2", (1.4762, 0.5238), (1.7989, 0.9248, 0.2763)),
        ("0.4", (1.2542, 0.7458), (1.4650, 0.9734, 0.5616)),
        ("0.6", (1.1316, 0.8684), (1.2426, 0.9922, 0.7651)),
        ("0.65", (1.1090, 0.8910), (1.2005, 0.9946, 0.8049)),
    ],
)
def test_beliefs_in_the_buckets_of_random_groups(p: str, two: tuple[float, ...], three: tuple[float, ...]) -> None:
    again = Fraction(p)
    for m, expected in ((2, two), (3, three)):
        shares = bucket_shares(6, m, m, again)
        assert shares is not None
        assert [float(6 * share) for share in shares] == pytest.approx(expected, abs=6e-5)
    # One positive in two buckets: only a coin can have made it, and it says nothing about where.
    assert bucket_shares(6, 2, 1, again) == (None if again == 0 else (Fraction(1, 12), Fraction(1, 12)))


def replay_of(method: GreedyGrouping | RandomGrouping | SymmetricGrouping, world: str, model: str) -> Replay:
    data = tiny_table(world, [*range(len(world))])
    replay = method.replay(data, required(data, model), Randomness(1))
    assert replay is not None
    return replay


@pytest.mark.slow
@pytest.mark.parametrize("p", ["0", "0.4"])
def test_sampling_agrees_with_the_formula(p: str) -> None:
    """A = 20,000 dealings accepted: within 0.02, about seven standard errors."""
    replay = replay_of(RandomGrouping(p=p), "ppp" + "n" * 15, BINARY.format(6))
    rows = np.repeat(np.array([[1], [0]], dtype=np.int32), [3, 15], axis=0)
    generator = np.random.default_rng(4)
    found = sample(replay, rows, np.repeat([0, 1], [3, 15]), generator, 20_000, 1_000_000)
    exact = bucket_shares(6, 3, 3, Fraction(p))
    assert found is not None
    assert exact is not None
    assert 6 * found.shares[:, 0] == pytest.approx([float(6 * share) for share in exact], abs=0.02)
    assert (6 * found.errors[:, 0] < 0.02 / 3).all()
    if p == "0":
        # The spread that the paper's tables are known to have.
        assert 6 * found.errors[0, 0] * np.sqrt(20_000) == pytest.approx(0.39, abs=0.02)


def test_many_values_are_no_worse_than_two() -> None:
    """One value m times, the rest unique: the certainty in it is that of the binary case."""
    replay = replay_of(GreedyGrouping(), "aaabcdefg", "l-diversity:3")
    rows = np.array([[0], [0], [0], [1], [2], [3], [4], [5], [6]], dtype=np.int32)
    kinds = np.array([0, 0, 0, 1, 2, 3, 4, 5, 6])
    found = sample(replay, rows, kinds, np.random.default_rng(4), 20_000, 1_000_000)
    assert found is not None
    assert 3 * found.shares[:, 0] == pytest.approx([2.1, 0.9, 0], abs=0.03)


def test_hardly_any_acceptance_is_no_estimate() -> None:
    replay = replay_of(GreedyGrouping(), "pnnn", BINARY.format(2))
    rows = np.array([[1], [0], [0], [0]], dtype=np.int32)
    assert sample(replay, rows, np.array([0, 1, 1, 1]), np.random.default_rng(1), 100, 1000) is None


def beliefs_in_p(algorithm: Algorithm, world: str, points: list[int], model: str, seeds: int = 1) -> list[Fraction]:
    data = tiny_table(world, points)
    release, _ = algorithm.anonymize(data, required(data, model), Randomness(0), silent)
    beliefs = enumerate_posteriors(algorithm, data, required(data, model), range(seeds)).of(release)
    assert beliefs is not None
    return [row[1] for row in beliefs]


@pytest.mark.parametrize("recode", ["generalise", "permute"])
def test_appendix_example_one_greedy_grouping(recode: str) -> None:
    """As published: what is left at the end is not in the release. Merged into the group, it would hide the order."""
    points, model = [0, 1, 2, 3], BINARY.format(2)
    assert beliefs_in_p(GreedyGrouping(recode=recode, tail="suppress"), "ppnn", points, model) == [1, 1, 0, 0]
    assert beliefs_in_p(GreedyGrouping(recode=recode), "ppnn", points, model) == [Fraction(1, 2)] * 4


def test_appendix_example_two_strict_mondrian() -> None:
    strict = StrictMondrian(cuts=1, choose="widest")
    assert beliefs_in_p(strict, "ppnnnn", [0, 1, 2, 2, 2, 3], BINARY.format(2)) == [1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("relaxed", [SymmetricGrouping(), Mondrian(cuts=1, choose="widest")], ids=str)
def test_appendix_example_three_relaxed_halves(relaxed: Algorithm) -> None:
    """Halves of 3 and 3 are refused on whichever side both positives are: 1/3 for each."""
    found = beliefs_in_p(relaxed, "ppnnnn", [0, 1, 2, 2, 2, 3], BINARY.format(2))
    assert found == [Fraction(1, 3)] * 6


@pytest.mark.slow
@pytest.mark.parametrize("method", [Anatomy(), Groups().facing("knows-method")], ids=str)
def test_appendix_example_four_methods_that_give_nothing_away(method: Algorithm) -> None:
    """Pairs of one p and one n: 1/2, up to the noise of so many seeds."""
    found = beliefs_in_p(method, "ppnn", [0, 1, 2, 3], "l-diversity:2", seeds=200)
    assert [float(belief) for belief in found] == pytest.approx([0.5] * 4, abs=0.12)


def test_worlds_are_told_apart_by_values_only() -> None:
    data = tiny_table("ppnn", [0, 1, 2, 3])
    assert n_worlds(data) == 6
    release, _ = GreedyGrouping().anonymize(data, required(data, BINARY.format(2)), Randomness(1), silent)
    again, _ = GreedyGrouping().anonymize(data, required(data, BINARY.format(2)), Randomness(2), silent)
    assert as_published(release) == as_published(again)


def test_the_attack_goes_through_tiny_tables() -> None:
    finding = attacked(target_of(tiny_table("ppnn", [0, 1, 2, 3]), GreedyGrouping(tail="suppress"), BINARY.format(2)))
    assert finding.figures["largest_belief"] == 1
    assert finding.figures["risk_times_l"] == 2
    assert finding.n_affected == 2
    assert finding.score is not None
    assert finding.score.n_right == 4
    assert finding.exposure is not None
    assert parse_model(BINARY.format(2)).level(finding.exposure).value == 1


PLANTED = ("aabc" + "bbca" + "ccde" + "ddab" + "eeda") * 20


@pytest.mark.parametrize("recode", ["generalise", "permute"])
@pytest.mark.parametrize("order", ["lexicographic", "hilbert"])
def test_greedy_groups_give_values_away(recode: str, order: str) -> None:
    """Two of a kind come first in every group: anyone who knows the method is certain about half of the records."""
    data = tiny_table(PLANTED, [*range(len(PLANTED))])
    target = target_of(data, GreedyGrouping(recode=recode, order=order), "l-diversity:2")
    finding = attacked(target)
    assert finding.succeeds
    assert finding.score is not None
    assert finding.score.share > 0.7
    assert finding.figures["risk_times_l"] == 2
    assert finding.n_affected is not None
    assert finding.n_affected >= 0.45 * data.n_rows
    assert '"s"' in finding.sentence


def test_symmetric_groups_hardly_do() -> None:
    data = tiny_table(PLANTED, [*range(len(PLANTED))])
    finding = attacked(target_of(data, SymmetricGrouping(recode="permute"), "l-diversity:2"))
    assert finding.score is not None
    assert finding.score.interval[0] <= 1 / 2
    assert finding.figures["largest_belief"] <= 1 / 1.5 + 0.05


def test_positives_are_found_by_the_formula() -> None:
    world = ("ppnnnn" + "n" * 12 + "pnnnnn") * 10
    data = tiny_table(world, [*range(len(world))])
    target = target_of(data, GreedyGrouping(recode="permute", tail="suppress"), BINARY.format(3))
    finding = attacked(target)
    assert finding.figures["groups_sampled"] == 0
    assert finding.figures["risk_times_l"] == pytest.approx(2)
    assert finding.n_affected == 30
    assert finding.figures["vulnerable_share"] == 30 / len(world)


def test_records_that_are_alike_share_a_belief() -> None:
    """All at one point: there is no order, so nothing is given away."""
    data = tiny_table(PLANTED, [7] * len(PLANTED))
    for recode in ("generalise", "permute"):
        finding = attacked(target_of(data, GreedyGrouping(recode=recode), "l-diversity:2"))
        assert finding.n_affected == 0
        assert not finding.succeeds


MEDIANS = StrictMondrian(cuts=1, choose="widest"), Mondrian(cuts=1, choose="widest")
DEALT_ONLY = Minimality(accepted=4000, tries=100_000, worlds=0)
"""Never by going through all worlds."""


def beliefs_by_cutting_again(data: Microdata, method: Algorithm, model: str) -> np.ndarray:
    exposure = attacked(target_of(data, method, model), DEALT_ONLY).exposure
    assert exposure is not None
    beliefs = np.zeros((exposure.n_units, len(exposure.prior)))
    beliefs[np.repeat(np.arange(exposure.n_units), np.diff(exposure.starts)), exposure.values] = exposure.weights
    return np.asarray(beliefs / exposure.sizes[:, None])


@pytest.mark.parametrize(
    ("method", "world", "points", "ell", "positive"),
    [
        (MEDIANS[0], "ppnnnn", [0, 1, 2, 2, 2, 3], 2, [1, 1, 0, 0, 0, 0]),
        (MEDIANS[1], "ppnnnn", [0, 1, 2, 2, 2, 3], 2, [1 / 3] * 6),
        # The bound of even splits, 1 / (l - 1/2), is reached.
        (MEDIANS[1], "nnnnpnp", [*range(7)], 2, [0] * 4 + [2 / 3] * 3),
        (MEDIANS[1], "nnnnnnpnnpn", [*range(11)], 3, [0] * 6 + [2 / 5] * 5),
    ],
)
def test_cuts_that_were_not_made_tell_who(
    method: Algorithm, world: str, points: list[int], ell: int, positive: list[float]
) -> None:
    data = tiny_table(world, points)
    code = data.domains.sensitive[0].values.tolist().index("p")
    found = beliefs_by_cutting_again(data, method, BINARY.format(ell))[:, code]
    assert found == pytest.approx(positive, abs=0.04)


@pytest.mark.slow
@pytest.mark.parametrize("method", [*MEDIANS, Mondrian(cuts=3), StrictMondrian(cuts=3)], ids=str)
@pytest.mark.parametrize("model", ["l-diversity:2", BINARY.format(3), "t-closeness:0.3", "beta-likeness:2"])
def test_groups_that_were_never_cut_give_the_beliefs_of_all_worlds(method: Mondrian, model: str) -> None:
    """A release of one group: to condition on it is to condition on all that happened."""
    rng = np.random.default_rng(6)
    compared = 0
    while compared < 2:
        world = "".join(rng.choice([*"ppqr"], 5))
        data = tiny_table(world, rng.integers(0, 5, 5).tolist())
        try:
            requirements = required(data, model)
            target = target_of(data, method, model)
        except (Infeasible, Unsupported, RecipeError):
            continue
        release = target.release
        assert isinstance(release, Grouped)
        if len(release.extents[0]) > 1 or len(set(data.quasi[:, 0].tolist())) == 1:
            continue
        exact = enumerate_posteriors(method, data, requirements, range(1 if method.strict else 40), silent).of(
            release, 0
        )
        assert exact is not None
        found = beliefs_by_cutting_again(data, method, model)
        assert found == pytest.approx(np.array(exact, dtype=float), abs=0.1)
        compared += 1


def test_mondrian_is_attacked_where_cuts_fail() -> None:
    """The example with strict medians, at many places: both positives are before the tie, and the attacker knows."""
    data = tiny_table("ppnnnn" * 32, [100 * place + offset for place in range(32) for offset in (0, 1, 2, 2, 2, 3)])
    finding = attacked(target_of(data, MEDIANS[0], BINARY.format(2)))
    assert finding.figures["groups_sampled"] == 32
    assert finding.figures["risk_times_l"] == 2
    assert finding.n_affected == 64
    assert finding.succeeds


def test_closeness_is_measured_by_its_distance() -> None:
    data = tiny_table(PLANTED, [*range(len(PLANTED))])
    finding = attacked(target_of(data, GreedyGrouping(), "t-closeness:0.4"))
    assert finding.figures["risk_times_t"] > 1
    assert finding.n_affected is not None


@pytest.mark.parametrize("recode", ["generalise", "permute"])
@pytest.mark.parametrize("order", ["lexicographic", "hilbert"])
@pytest.mark.parametrize("name", ["greedy-grouping", "random-grouping", "symmetric-grouping"])
def test_the_attacker_finds_every_group(name: str, order: str, recode: str) -> None:
    rng = np.random.default_rng(3)
    world = "".join(rng.choice([*"abcde"], 300))
    data = tiny_table(world, rng.integers(0, 90, 300).tolist())
    target = target_of(data, parse_algorithm(f"{name}:order={order},recode={recode}"), "l-diversity:3")
    replay = target.algorithm.replay(data, required(data, "l-diversity:3"), Randomness(8))  # type: ignore[union-attr]
    runs = runs_of(target, replay.order)
    assert [run.start for run in runs] == [0, *(run.stop for run in runs[:-1])]
    assert runs[-1].stop == data.n_rows
    published = target.release.sensitive
    if isinstance(target.release, Bucketized):
        n_groups = len(np.unique(target.release.bucket_of_quasi))
    else:
        # Groups of records that are all alike have the same cells: nobody can tell them apart.
        assert isinstance(target.release, Grouped)
        extents = target.release.extents
        n_groups = len({box_key(extents, unit) for unit in range(len(extents[0]))})
    assert len(runs) == n_groups
    assert sum(len(published[run.rows]) for run in runs) == data.n_rows


def test_what_cannot_be_attacked_is_refused_with_a_reason() -> None:
    data = tiny_table(PLANTED, [*range(len(PLANTED))])
    target = target_of(data, GreedyGrouping(), "l-diversity:2")
    attack = Minimality()

    def refusal(**changes: object) -> str:
        given = {
            "release": target.release,
            "original": data,
            "promises": target.promises,
            "algorithm": target.algorithm,
        }
        return attack.refuses(Target(**{**given, **changes})) or ""  # type: ignore[arg-type]

    assert "not known" in refusal(algorithm=None)
    assert "promised" in refusal(promises=())
    assert "bucketized" in refusal(algorithm=Anatomy())
    assert "group by group" in refusal(algorithm=Groups())
    assert "another table" in refusal(original=tiny_table("ab" * 10, [*range(20)]))
    assert refusal() == ""


def test_a_release_of_other_records_is_told() -> None:
    data = tiny_table(PLANTED, [*range(len(PLANTED))])
    target = target_of(data, GreedyGrouping(recode="permute"), "l-diversity:2")
    other = tiny_table(PLANTED, [*range(1000, 1000 + len(PLANTED))][::-1])
    strange = Target(
        release=target_of(other, Anatomy(), "l-diversity:2").release,
        original=other,
        promises=target.promises,
        algorithm=target.algorithm,
    )
    with pytest.raises(Unsupported, match="No group of the release"):
        attacked(strange)


def test_it_is_written_as_it_is_read() -> None:
    assert str(parse_attack("minimality:accepted=200,seeds=3")) == "minimality:accepted=200,seeds=3"
