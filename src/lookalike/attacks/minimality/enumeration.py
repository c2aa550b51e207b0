"""Exact beliefs on tiny tables, whatever the method: all ways to give the values to the records, and many seeds.

Every world is as likely before the release is seen. In each the method is run with the same seeds; those runs that give
the release as published, up to the order of rows and the numbers of buckets, tell what the records may have. Seeds
stand for the method's own randomness: with few of them a release that many choices lead to is found in few worlds only,
so beliefs come out too sharp rather than too mild.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Algorithm
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Extents, Grouped, Matched, Ranges, Release
from lookalike.data.requirement import Requirement
from lookalike.errors import LookalikeError
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


@dataclass(frozen=True, eq=False)
class Posteriors:
    """For each release that came out: how often each record had each row of values."""

    data: Microdata
    rows: NDArray[np.int32]
    """[k, columns] the different rows of sensitive values, with what is carried beside them."""
    found: dict[Hashable, NDArray[np.int64]]
    """[records, k] by release as published."""

    def of(self, release: Release, column: int = 0) -> list[list[Fraction]] | None:
        """P(value | release) for each record; None if the release never came out."""
        return self.by_key(as_published(release), column)

    def by_key(self, key: Hashable, column: int = 0) -> list[list[Fraction]] | None:
        counts = self.found.get(key)
        if counts is None:
            return None
        # Records with equal quasi-identifiers cannot be told apart, whatever the seeds tried say.
        _, kind = np.unique(self.data.quasi, axis=0, return_inverse=True)
        kind = kind.reshape(-1)
        together = np.zeros((int(kind.max()) + 1, len(self.rows)), dtype=np.int64)
        np.add.at(together, kind, counts)
        by_value = np.zeros((len(together), self.data.domains.sensitive[column].n_codes), dtype=np.int64)
        np.add.at(by_value.T, self.rows[:, column], together.T)
        return [[Fraction(int(part), int(by_value[one].sum())) for part in by_value[one]] for one in kind.tolist()]


def enumerate_posteriors(
    algorithm: Algorithm,
    data: Microdata,
    requirements: Sequence[Requirement],
    seeds: Iterable[int],
    progress: Progress = silent,
) -> Posteriors:
    """Run the method in every world with every seed. Worlds in which it makes nothing do not count."""
    joint = np.concatenate((data.sensitive, data.carried), axis=1)
    rows, counts = np.unique(joint, axis=0, return_counts=True)
    streams = [*seeds]
    n_sensitive, n_all = data.sensitive.shape[1], n_worlds(data)
    found: dict[Hashable, NDArray[np.int64]] = {}
    places = np.arange(data.n_rows)
    for number, world in enumerate(_dealings(counts.tolist())):
        dealt = np.asarray(world)
        values = np.ascontiguousarray(rows[dealt])
        there = replace(
            data,
            sensitive=np.ascontiguousarray(values[:, :n_sensitive]),
            carried=np.ascontiguousarray(values[:, n_sensitive:]),
        )
        for seed in streams:
            try:
                release, _ = algorithm.anonymize(there, requirements, Randomness(seed), silent)
            except LookalikeError:
                continue
            seen = found.setdefault(as_published(release), np.zeros((data.n_rows, len(rows)), dtype=np.int64))
            seen[places, dealt] += 1
        progress("worlds", (number + 1) / n_all)
    return Posteriors(data, rows, found)


def n_worlds(data: Microdata) -> int:
    """The number of ways to give the rows of values to the records."""
    joint = np.concatenate((data.sensitive, data.carried), axis=1)
    _, counts = np.unique(joint, axis=0, return_counts=True)
    return math.factorial(data.n_rows) // math.prod(math.factorial(count) for count in counts.tolist())


def _dealings(counts: list[int]) -> Iterator[list[int]]:
    """All different sequences with so many of each number."""
    if not any(counts):
        yield []
        return
    for number, count in enumerate(counts):
        if count:
            counts[number] -= 1
            for rest in _dealings(counts):
                yield [number, *rest]
            counts[number] += 1


def as_published(release: Release) -> Hashable:
    """All that a reader sees, without the order of rows and the numbers of buckets: those are drawn for themselves."""
    values = _tuples(np.concatenate((release.sensitive, release.carried), axis=1))
    if isinstance(release, Bucketized):
        buckets: dict[int, tuple[list[Any], list[Any]]] = {}
        for bucket, row in zip(release.bucket_of_quasi.tolist(), _tuples(release.quasi), strict=True):
            buckets.setdefault(bucket, ([], []))[0].append(row)
        for bucket, row in zip(release.bucket_of_sensitive.tolist(), values, strict=True):
            buckets.setdefault(bucket, ([], []))[1].append(row)
        return tuple(sorted((tuple(sorted(quasi)), tuple(sorted(inside))) for quasi, inside in buckets.values()))
    if isinstance(release, Grouped | Matched):
        boxes = [box_key(release.extents, unit) for unit in range(len(release.extents[0]))]
        return tuple(sorted(zip((boxes[unit] for unit in release.unit_of_row.tolist()), values, strict=True)))
    return tuple(sorted(zip(_tuples(release.quasi), values, strict=True)))


def box_key(extents: Sequence[Extents], unit: int) -> tuple[tuple[int, ...], ...]:
    """The cells of one unit, to be compared."""
    return tuple(
        (int(part.lows[unit]), int(part.highs[unit]), int(part.missing[unit]))
        if isinstance(part, Ranges)
        else tuple(part.members[part.starts[unit] : part.starts[unit + 1]].tolist())
        for part in extents
    )


def _tuples(codes: NDArray[np.int32]) -> list[tuple[int, ...]]:
    return [tuple(row) for row in codes.tolist()]
