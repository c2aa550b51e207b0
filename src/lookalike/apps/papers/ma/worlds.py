"""What an attacker who knows the method can infer about each bucket of a group, as MA measures it (MA).

MA takes the order of the records as known and gives one probability to all records of a bucket. Groups are taken one by
one. For one positive value all of this is exact: runs that grow (GG, RGG) by sums over the number of positives so far,
halved runs (SG) by counting the dealings whose halves are refused, and divided groups (GG(Ana), RGG(Ana)) by going
through the dealings. Sums are in floating point, accurate to about ten digits; `attacks.minimality.exact` has the same
in whole numbers for groups of up to 100 buckets, and tests compare the two. Other promises are sampled by rejection.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lookalike.apps.papers.experiments import Made
from lookalike.apps.papers.journal import Row
from lookalike.attacks.minimality.replay import Run, replay_method, runs_of, sample
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Replay, Replayable, Target
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported
from lookalike.pipeline.recipe import require
from lookalike.randomness import Randomness

Shares = NDArray[np.float64]
Stands = Callable[[int, NDArray[np.int64]], NDArray[np.bool_]]
"""Whether a run of so many records with so many positives may be a group."""
HAIR = 1e-9
_MOST_CELLS = 30_000_000
"""Buckets times positives up to which a group is worked out."""
_MOST_DEALINGS = 50_000
"""Dealings of a divided group that are gone through."""


def diverse(ell: int, records: int, positives: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Binary l-diversity: at most one record in l is positive."""
    return positives * ell <= records


def close(t: float, share: float, records: int, positives: NDArray[np.int64]) -> NDArray[np.bool_]:
    """t-closeness of one value against the rest: shares differ by at most t."""
    return np.abs(positives / records - share) <= t + HAIR


def grown_beliefs(step: int, buckets: int, positives: int, again: float, stands: Stands) -> Shares | None:
    """P(positive) in each bucket of a run that grew bucket by bucket; None if no dealing leads to such a run.

    A dealing has weight `again` for each shorter run that might have been a group.
    """
    if (buckets + 1) * (positives + 1) > _MOST_CELLS:
        return None
    found = np.arange(positives + 1)
    if not stands(buckets * step, np.array([positives]))[0]:
        return None
    if buckets == 1 or positives == 0:
        possible = buckets == 1 or again > 0 or not any(stands(j * step, found[:1])[0] for j in range(1, buckets))
        return np.full(buckets, positives / (buckets * step)) if possible else None
    # Tilted to the group's own share, so that what matters is not lost among larger numbers. The total is given, so
    # that this changes no probability.
    share = positives / (buckets * step)
    most = min(step, positives)
    here = np.array([math.comb(step, k) * share**k * (1 - share) ** (step - k) for k in range(most + 1)])
    factors = [np.where(stands(j * step, found), again, 1.0) for j in range(1, buckets)] + [np.ones(positives + 1)]
    behind = np.zeros((buckets + 1, positives + 1))
    behind[buckets, positives] = 1.0
    for bucket in range(buckets - 1, -1, -1):
        ahead = factors[bucket] * behind[bucket + 1]
        for k, weight in enumerate(here):
            behind[bucket, : positives + 1 - k] += weight * ahead[k:]
        total = behind[bucket].sum()
        if total == 0:
            return None
        behind[bucket] /= total
    before = np.zeros(positives + 1)
    before[0] = 1.0
    beliefs = np.empty(buckets)
    for bucket in range(buckets):
        ahead = factors[bucket] * behind[bucket + 1]
        after = np.zeros(positives + 1)
        total = mean = 0.0
        for k, weight in enumerate(here):
            moved = weight * before[: positives + 1 - k]
            mass = float(moved @ ahead[k:])
            total, mean = total + mass, mean + k * mass
            after[k:] += moved
        if total == 0:
            return None
        beliefs[bucket] = mean / total / step
        before = after * factors[bucket]
        before /= before.sum()
    return beliefs


@lru_cache(maxsize=100_000)
def diverse_beliefs(ell: int, buckets: int, positives: int, again: float) -> Shares | None:
    """The same under binary l-diversity."""
    return grown_beliefs(ell, buckets, positives, again, partial(diverse, ell))


@lru_cache(maxsize=100_000)
def halved_beliefs(ell: int, size: int, positives: int) -> tuple[float, float] | None:
    """P(positive) in the left and the right half of a run whose halves were refused; None if they never are."""
    right = size // 2
    left = size - right
    if right < ell:
        return positives / size, positives / size
    ways, inside = 0, 0
    for k in range(max(0, positives - right), min(left, positives) + 1):
        if k * ell > left or (positives - k) * ell > right:
            weight = math.comb(left, k) * math.comb(right, positives - k)
            ways, inside = ways + weight, inside + k * weight
    if ways == 0:
        return None
    mean = inside / ways
    return mean / left, (positives - mean) / right


def divided_beliefs(
    ell: int, again: float, bucket_of_place: NDArray[np.int64], parts: Sequence[NDArray[np.int64]], held: Sequence[int]
) -> Shares | None:
    """P(positive) of each place of a grown group that was then divided: `parts` lists places, `held` their positives.

    None where a part holds several positives, or where there are too many dealings to go through.
    """
    buckets = int(bucket_of_place[-1]) + 1
    holding = [places for places, positives in zip(parts, held, strict=True) if positives]
    n_dealings = math.prod(map(len, holding))
    if max(held) > 1 or n_dealings > _MOST_DEALINGS:
        return None
    beliefs = np.zeros(len(bucket_of_place))
    if not holding:
        return beliefs
    chosen = np.array(list(product(*holding)))
    counts = np.zeros((len(chosen), buckets), dtype=np.int64)
    np.add.at(counts, (np.arange(len(chosen))[:, None], bucket_of_place[chosen]), 1)
    so_far = np.cumsum(counts, axis=1)[:, :-1]
    n_voluntary = (so_far * ell <= ell * np.arange(1, buckets)).sum(axis=1)
    weights = np.power(again, n_voluntary.astype(np.float64))
    total = weights.sum()
    if total == 0:
        return None
    np.add.at(beliefs, chosen, np.broadcast_to(weights[:, None], chosen.shape))
    return np.asarray(beliefs / total)


@dataclass(frozen=True, eq=False)
class Attacked:
    """Groups of a release as runs of the order, and how the method is played again."""

    made: Made
    requirements: Sequence[Requirement]
    replay: Replay
    runs: list[Run]

    @classmethod
    def of(cls, made: Made, seed: int) -> Attacked:
        method: object = made.algorithm
        assert isinstance(method, Replayable)
        requirements = require(made.promises, made.data)
        replay = method.replay(made.data, requirements, Randomness(seed))
        assert replay is not None
        target = Target(release=made.release, original=made.data, promises=made.promises, algorithm=made.algorithm)
        return cls(made, requirements, replay, runs_of(target, replay.order))

    @property
    def target(self) -> Target:
        made = self.made
        return Target(release=made.release, original=made.data, promises=made.promises, algorithm=made.algorithm)

    def is_rest(self, run: Run) -> bool:
        """Whether a run has taken in the records that were left at the end, and so was not made by the rule."""
        return self.replay.tail_is_merged and run.stop == len(self.replay.order)

    def positives(self, run: Run, code: int) -> int:
        return int((self.made.release.sensitive[run.rows, 0] == code).sum())


def risk_of_growth(made: Made, code: int, ell: int, seed: int) -> Row:
    """The largest probability times l over all buckets of GG or RGG, and the share of records in buckets above 1/l."""
    attacked = Attacked.of(made, seed)
    n_rows, again = made.data.n_rows, float(attacked.replay.again)
    by_place = np.zeros(n_rows)
    risk, vulnerable, left, largest = 0.0, 0, 0, 0
    for run in attacked.runs:
        positives = attacked.positives(run, code)
        by_place[run.start : run.stop] = positives / run.size
        if attacked.is_rest(run):
            left += run.size
            continue
        beliefs = diverse_beliefs(ell, run.size // ell, positives, again)
        if beliefs is None:
            left += run.size
            continue
        largest = max(largest, len(beliefs))
        risk = max(risk, ell * float(beliefs.max()))
        vulnerable += ell * int((ell * beliefs > 1 + HAIR).sum())
        by_place[run.start : run.stop] = np.repeat(beliefs, ell)
    alike = joint_ids(tuple(made.data.quasi.T), n_rows)[attacked.replay.order]
    by_person = (np.bincount(alike, by_place) / np.maximum(np.bincount(alike), 1))[alike]
    return {
        "risk": risk,
        "vulnerable": 100 * vulnerable / n_rows,
        "risk_by_person": ell * float(by_person.max()),
        "vulnerable_by_person": 100 * float((ell * by_person > 1 + HAIR).mean()),
        "records_left": left,
        "most_buckets": largest,
        "group_size": made.metric("average_group_size"),
    }


def sampled_risk(made: Made, code: int, ell: int, seed: int, accepted: int, tries: int) -> Row:
    """The largest estimate over all buckets, as the paper has it: each group by itself, by `accepted` dealings."""
    attacked = Attacked.of(made, seed)
    generator = np.random.default_rng([43, seed, accepted])
    risk, skipped, error = 0.0, 0, 0.0
    for run in attacked.runs:
        if attacked.is_rest(run) or run.size == ell:
            continue
        is_positive = made.release.sensitive[run.rows, 0] == code
        rows = made.release.sensitive[run.rows]
        estimate = sample(attacked.replay, rows, is_positive.astype(np.int64), generator, accepted, tries)
        if estimate is None:
            skipped += 1
            continue
        at = int(estimate.shares[:, -1].argmax())
        if ell * estimate.shares[at, -1] > risk:
            risk, error = ell * float(estimate.shares[at, -1]), ell * float(estimate.errors[at, -1])
    return {"risk": risk, "standard_error": error, "groups_skipped": skipped}


def risk_by_sampling(made: Made, ell: int, seed: int, accepted: int, tries: int) -> Row:
    """The largest estimate for any value, and the largest estimate less three standard errors."""
    attacked = Attacked.of(made, seed)
    generator = np.random.default_rng([47, seed])
    played = replay_method(attacked.target, attacked.requirements, attacked.replay, generator, accepted, tries)
    known = [estimate for _, estimate in played.found if estimate is not None]
    if not known:
        raise Unsupported("No group could be sampled: hardly any assignment leads to it.")
    return {
        "risk": ell * max(float(one.shares.max()) for one in known),
        "risk_for_sure": ell * max(float((one.shares - 3 * one.errors).max()) for one in known),
        "groups_sampled": played.n_sampled,
        "groups_left": played.n_left,
        "group_size": made.metric("average_group_size"),
    }


def risk_of_halves(made: Made, code: int, ell: int, seed: int) -> Row:
    """The largest probability times l over the halves of all groups of SG, exactly."""
    attacked = Attacked.of(made, seed)
    counted = Counter((run.size, attacked.positives(run, code)) for run in attacked.runs)
    beliefs = [one for size, positives in counted if (one := halved_beliefs(ell, size, positives)) is not None]
    return {"risk": ell * max(map(max, beliefs))}
