"""A method played again, group by group: which dealings of a group's values would have led to this group?

Groups are runs of an order that quasi-identifiers alone decide, so the attacker finds them in the release. The values
of a group are dealt to its records at random, and a dealing is accepted as often as the method would have made the
group of it (rejection); the means over the accepted ones are what someone who knows the method believes. Groups that
grew bucket by bucket under a ceiling on a single value need no sampling (`exact.bucket_shares`).

A method that cuts groups as long as it may is played by `recut`, each published group by itself: a dealing is kept if
the method would not have cut the group further. What the cuts further up tell is not used, so a sharper attacker is
conceivable; nor is it known which of the records that fit two groups is in which, so one way to place them is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.minimality.exact import box_key, bucket_shares
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import Reading, joint_ids
from lookalike.data.contracts import Dealt, Replay, Target
from lookalike.data.ends import Step, find_step, widen
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Bucketized, Extents, Grouped, Ranges, cover
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress

Shares = NDArray[np.float64]
_Group = TypeVar("_Group")

_FEW = 50
"""Fewer accepted dealings say nothing."""
_TOP = 10
"""So many of the groups with the highest estimates are estimated anew: the largest of many is too large."""
_LONGEST = 100
"""Buckets up to which exact weights are worked out."""


@dataclass(frozen=True, eq=False)
class Run:
    """A published group found in the order: places start:stop, and its rows of sensitive values."""

    start: int
    stop: int
    rows: NDArray[np.int64]

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class Estimate:
    """Beliefs in the values of a group by part of it, with their standard errors (0: exact)."""

    part_of_place: NDArray[np.int64]
    shares: Shares
    """[parts, different rows of values]"""
    errors: Shares


@dataclass(frozen=True, eq=False)
class Played:
    """Beliefs by place of the order, for one column after the other."""

    runs: list[Run]
    found: list[tuple[NDArray[np.int32], Estimate | None]]
    """For each run its different rows and what is believed; None where the attacker gives up."""
    n_sampled: int

    @property
    def n_left(self) -> int:
        return sum(estimate is None for _, estimate in self.found)


def runs_of(target: Target, order: NDArray[np.int64]) -> list[Run]:
    """The groups of the release as runs of the order, as far as they can be told from quasi-identifiers."""
    if isinstance(target.release, Bucketized):
        return _list_runs(target.release, Reading(target.release, target.original), order)
    assert isinstance(target.release, Grouped)
    return [*_box_runs(target.original, target.release, order)]


def _list_runs(release: Bucketized, reading: Reading, order: NDArray[np.int64]) -> list[Run]:
    """Buckets list quasi-identifiers: their mean place says which comes first."""
    points = reading.point_of_record[order]
    numbers = np.bincount(points, minlength=reading.n_points)
    places = np.bincount(points, np.arange(len(order)), reading.n_points) / np.maximum(numbers, 1)
    n_buckets = int(max(release.bucket_of_quasi.max(initial=-1), release.bucket_of_sensitive.max(initial=-1))) + 1
    sizes = np.bincount(release.bucket_of_quasi, minlength=n_buckets)
    mean = np.bincount(release.bucket_of_quasi, places[reading.point_of_row], n_buckets) / np.maximum(sizes, 1)
    in_turn = np.argsort(mean, kind="stable")
    in_turn = in_turn[sizes[in_turn] > 0]
    turn_of_bucket = np.zeros(n_buckets, dtype=np.int64)
    turn_of_bucket[in_turn] = np.arange(len(in_turn))
    rows = np.lexsort((places[reading.point_of_row], turn_of_bucket[release.bucket_of_quasi]))
    if len(rows) > len(points):
        return []
    is_there = reading.point_of_row[rows] == points[: len(rows)]
    ends = np.cumsum(sizes[in_turn])
    by_bucket = np.argsort(release.bucket_of_sensitive, kind="stable")
    starts = np.searchsorted(release.bucket_of_sensitive[by_bucket], np.arange(n_buckets + 1))
    return [
        Run(int(end - sizes[bucket]), int(end), by_bucket[starts[bucket] : starts[bucket + 1]])
        for bucket, end in zip(in_turn.tolist(), ends.tolist(), strict=True)
        if is_there[end - sizes[bucket] : end].all() and starts[bucket + 1] - starts[bucket] == sizes[bucket]
    ]


def _box_runs(original: Microdata, release: Grouped, order: NDArray[np.int64]) -> Iterator[Run]:
    """The next group is the one whose cells are just those that the next so many records need."""
    rows_of_box: dict[Hashable, list[int]] = {}
    keys = [box_key(release.extents, unit) for unit in range(len(release.extents[0]))]
    for row, unit in enumerate(release.group_of_row.tolist()):
        rows_of_box.setdefault(keys[unit], []).append(row)
    steps = [
        find_step(domain, extents) if isinstance(extents, Ranges) else None
        for domain, extents in zip(release.domains.quasi, release.extents, strict=True)
    ]
    sizes = sorted({len(rows) for rows in rows_of_box.values()})
    start = 0
    while start < len(order):
        for size in sizes:
            codes = original.quasi[order[start : start + size]]
            alike = np.zeros(len(codes), dtype=np.int64)
            box = box_key(
                [
                    _round_cover(domain, cover(domain, codes[:, index], alike, 1), steps[index])
                    for index, domain in enumerate(original.domains.quasi)
                ],
                0,
            )
            if len(rows_of_box.get(box, ())) == size == len(codes):
                yield Run(start, start + size, np.array(rows_of_box.pop(box)))
                start += size
                break
        else:
            return


def _round_cover(domain: Domain, extents: Extents, step: Step | None) -> Extents:
    """The cells of some records as the release would have them, whose ends lie on a grid (`ends.find_step`)."""
    return widen(domain, extents, step) if step is not None and isinstance(extents, Ranges) else extents


def replay_method(
    target: Target,
    requirements: Sequence[Requirement],
    replay: Replay,
    generator: np.random.Generator,
    accepted: int,
    tries: int,
) -> Played:
    """What someone who knows the method believes of each group."""
    sensitive = target.release.sensitive
    runs = runs_of(target, replay.order)
    positive = _single_bound(target.original, requirements) if replay.step > 0 else None
    alike = _treats_values_alike(target.original, requirements)
    keys: list[tuple[Hashable, NDArray[np.int32]]] = []
    samples: dict[Hashable, Estimate | None] = {}
    sampled: dict[Hashable, tuple[NDArray[np.int32], NDArray[np.int64]]] = {}
    kinds = joint_ids(tuple(target.original.quasi.T), target.original.n_rows)[replay.order]
    for run in runs:
        if replay.tail_is_merged and run.stop == len(replay.order):
            # What was merged into the last group did not come by the rule that is played here.
            keys.append((None, sensitive[run.rows]))
            continue
        rows, counts = np.unique(sensitive[run.rows], axis=0, return_counts=True)
        by_count = np.lexsort((np.arange(len(rows)), -counts))
        rows, counts = rows[by_count], counts[by_count]
        told = tuple(counts.tolist()) if alike else (tuple(counts.tolist()), rows.tobytes())
        key: Hashable = (run.size, told)
        parts = replay.part_of_place(run.size)
        if kinds[run.start] == kinds[run.stop - 1]:
            # Records that nobody can tell apart: their order says nothing.
            key, parts = ("equal", key), np.zeros_like(parts)
        keys.append((key, rows))
        if key not in samples:
            if parts[-1] == 0:
                samples[key] = _honest(parts, counts)
            elif positive is not None and run.size % replay.step == 0 and run.size <= _LONGEST * replay.step:
                samples[key] = _estimate_exactly(parts, rows, counts, replay, *positive)
            else:
                dealt = np.repeat(np.arange(len(rows)), counts)
                sampled[key] = rows[dealt], dealt
                samples[key] = sample(replay, *sampled[key], generator, accepted, tries)
    for key in _highest({key: estimate for key in sampled if (estimate := samples[key]) is not None}):
        samples[key] = sample(replay, *sampled[key], generator, accepted, tries)
    found = [(rows, samples.get(key)) for key, rows in keys]
    return Played(runs, found, sum(key in sampled for key, _ in keys))


def sample(
    dealt: Dealt,
    rows: NDArray[np.int32],
    kind_of_row: NDArray[np.int64],
    generator: np.random.Generator,
    accepted: int,
    tries: int,
) -> Estimate | None:
    """Beliefs in a group's kinds of rows by rejection; None if hardly any dealing is accepted."""
    from lookalike.kernels.growing import deal

    size, n_kinds = len(rows), int(kind_of_row.max()) + 1
    parts = dealt.part_of_place(size)
    widths = np.bincount(parts)
    sums, squares = np.zeros((2, len(widths), n_kinds))
    n_accepted, n_tried, batch = 0, 0, min(1000, tries)
    while n_accepted < accepted and n_tried < tries:
        batch = min(batch, tries - n_tried)
        dealings = np.empty((batch, size), dtype=np.int64)
        deal(generator.integers(1 << 63), dealings)
        weights = dealt.weights(rows, dealings)
        kept = dealings[generator.random(batch) < weights]
        n_tried += batch
        kept = kept[: accepted - n_accepted]
        n_accepted += len(kept)
        cells = parts * n_kinds + kind_of_row[kept]
        if len(widths) < size:
            cells += np.arange(len(kept))[:, None] * len(widths) * n_kinds
            counts = np.bincount(cells.reshape(-1), minlength=len(kept) * sums.size).reshape(len(kept), *sums.shape)
            shares = counts / widths[:, None]
            sums += shares.sum(axis=0)
            squares += (shares**2).sum(axis=0)
        else:
            # A place has a kind or has it not: squares are what they are squares of.
            sums += np.bincount(cells.reshape(-1), minlength=sums.size).reshape(sums.shape)
            squares[:] = sums
        wanted = 1.2 * (accepted - n_accepted) * n_tried / max(n_accepted, 1)
        batch = int(min(max(wanted, 100), 2 * batch, max(1000, 2_000_000 // size)))
    if n_accepted < min(_FEW, accepted):
        return None
    mean = sums / n_accepted
    return Estimate(parts, mean, np.sqrt(np.maximum(squares / n_accepted - mean**2, 0.0) / n_accepted))


def _honest(parts: NDArray[np.int64], counts: NDArray[np.int64]) -> Estimate:
    """What the group says by itself."""
    shares = (counts / counts.sum())[None, :]
    return Estimate(parts, shares, np.zeros_like(shares))


def _estimate_exactly(
    parts: NDArray[np.int64],
    rows: NDArray[np.int32],
    counts: NDArray[np.int64],
    replay: Replay,
    column: int,
    code: int,
    ceiling: Fraction,
) -> Estimate | None:
    """Positives by the exact weights; what is not positive is spread evenly over the rest."""
    is_positive = rows[:, column] == code
    n_positive = int(counts[is_positive].sum())
    n_buckets = int(parts[-1]) + 1
    told = bucket_shares(replay.step, n_buckets, n_positive, replay.again, ceiling)
    if told is None:
        return None
    here = np.array([float(share) for share in told])[:, None]
    of_positive = np.where(is_positive, counts, 0) / max(n_positive, 1)
    of_others = np.where(is_positive, 0, counts) / max(int(counts.sum()) - n_positive, 1)
    shares = here * of_positive + (1 - here) * of_others
    return Estimate(parts, shares, np.zeros_like(shares))


def _highest(estimates: Mapping[_Group, Estimate | None]) -> list[_Group]:
    """The groups with the highest estimates, to be estimated anew."""
    risks = {group: 0.0 if one is None else float(one.shares.max()) for group, one in estimates.items()}
    return sorted(risks, key=risks.__getitem__, reverse=True)[:_TOP]


def _single_bound(original: Microdata, requirements: Sequence[Requirement]) -> tuple[int, int, Fraction] | None:
    """The column, value and ceiling, if all that is asked is one ceiling on one value."""
    bounds = {
        (requirement.column, code, bound)
        for requirement in requirements
        if requirement.column is not None
        for code, bound in enumerate(requirement.ceilings or ())
        if bound < 1 and original.counts(requirement.column)[code]
    }
    if len(bounds) != 1 or not all(requirement.only_ceilings for requirement in requirements):
        return None
    ((column, code, bound),) = bounds
    return column, code, bound


def _treats_values_alike(original: Microdata, requirements: Sequence[Requirement]) -> bool:
    """Whether it does not matter which value is which, but only how often each occurs."""
    if original.sensitive.shape[1] != 1 or not all(requirement.only_ceilings for requirement in requirements):
        return False
    occurs = original.counts(0) > 0
    return all(
        len({bound for bound, is_there in zip(requirement.ceilings, occurs, strict=True) if is_there}) <= 1
        for requirement in requirements
        if requirement.ceilings is not None
    )


def by_place(done: Played, read: Any, order: NDArray[np.int64], column: int) -> tuple[Shares, Shares]:
    """Beliefs [places, values] in a column, and standard errors; the plain reader's where the attacker gives up."""
    beliefs = np.asarray(read.todense())[order]
    errors = np.zeros_like(beliefs)
    for run, (rows, estimate) in zip(done.runs, done.found, strict=True):
        if estimate is None:
            continue
        told = np.zeros((2, len(estimate.shares), beliefs.shape[1]))
        for kind, code in enumerate(rows[:, column].tolist()):
            told[0, :, code] += estimate.shares[:, kind]
            told[1, :, code] += estimate.errors[:, kind]
        beliefs[run.start : run.stop] = told[0][estimate.part_of_place]
        errors[run.start : run.stop] = told[1][estimate.part_of_place]
    return beliefs, errors


def recut(
    where: Whereabouts,
    leaf: Callable[[NDArray[np.int64]], Dealt | None],
    generator: np.random.Generator,
    accepted: int,
    tries: int,
    progress: Progress,
) -> tuple[Played, NDArray[np.int64]]:
    """What is believed of each group, and the order of the records that its places are of."""
    placed = where.places.tocoo()
    by_unit = np.argsort(placed.col, kind="stable")
    order = placed.row[by_unit].astype(np.int64)
    rows_in_turn = np.argsort(where.unit_of_row, kind="stable")
    units = np.arange(where.n_units)
    ends = np.searchsorted(placed.col[by_unit], units, side="right").tolist()
    rows_of = np.split(rows_in_turn, np.searchsorted(where.unit_of_row[rows_in_turn], units[1:]))
    runs = [Run(start, stop, rows) for (start, stop), rows in zip(pairwise([0, *ends]), rows_of, strict=True)]
    sensitive = where.target.release.sensitive
    told: list[tuple[NDArray[np.int32], Estimate | None]] = [(sensitive[run.rows], None) for run in runs]
    sampled: dict[int, Callable[[], Estimate | None]] = {}
    for unit, run in enumerate(runs):
        if run.size != len(run.rows):
            continue
        values, numbers, counts = np.unique(told[unit][0], axis=0, return_inverse=True, return_counts=True)
        dealt = leaf(order[run.start : run.stop])
        if dealt is None:
            told[unit] = values, _honest(np.zeros(run.size, dtype=np.int64), counts)
        else:
            kinds = numbers.reshape(-1)
            sampled[unit] = partial(sample, dealt, values[kinds], kinds, generator, accepted, tries)
            told[unit] = values, sampled[unit]()
        progress("cutting again", unit / len(runs))
    for unit in _highest({unit: told[unit][1] for unit in sampled}):
        told[unit] = told[unit][0], sampled[unit]()
    missing = np.setdiff1d(np.arange(where.target.original.n_rows), order)
    return Played(runs, told, len(sampled)), np.concatenate((order, missing))
