"""The two tables of GB, its ceilings, and what both say about the sizes of buckets.

OCC and EDU are CENSUS with the occupation and with the education as the sensitive value. Ceilings are
min(1, theta x share + 0.02), bucket sizes go up to 50.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lookalike.algorithms.shared.bucket_sizes import Range, smallest_size
from lookalike.algorithms.shared.buckets import Counts
from lookalike.apps.papers.claims import Test, on_each
from lookalike.apps.papers.datasets import SENSITIVE
from lookalike.apps.papers.experiments import Bench
from lookalike.models.f_privacy import FPrivacy

THETAS = (2, 4, 8, 16, 32)
_THETA = 8
LARGEST = 50
DEFAULT_ROWS = 300_000


@dataclass(frozen=True)
class Base:
    """One of the paper's two tables."""

    letters: str
    sensitive: str

    def count_known(self, bench: Bench) -> Counts:
        """Numbers of records of each value in all records that there are."""
        return bench.datasets.census(bench.datasets.n_census, ("race",), self.sensitive).counts(0)

    def count_drawn(self, bench: Bench, n_rows: int, rng: np.random.Generator) -> Counts:
        """Numbers of so many records of each value, drawn by the shares of all records that there are."""
        known = self.count_known(bench)
        return rng.multinomial(n_rows, known / known.sum()).astype(np.int64)


OCC, EDU = BASES = Base("occ", SENSITIVE), Base("edu", "education")


def ceilings(counts: Counts, theta: int = _THETA) -> list[Fraction]:
    asked = FPrivacy(theta=theta).requirement(counts, None, 0).ceilings
    assert asked is not None
    return list(asked)


def sizes_to_try(bounds: Sequence[Fraction]) -> Range:
    """From the smallest bucket that can hold a record up to the paper's largest."""
    return Range.between(smallest_size(bounds, 1), LARGEST, bounds)


def corresponding_l(bounds: Sequence[Fraction]) -> int:
    """The l of the l-diversity that keeps all of these ceilings.

    >>> corresponding_l([Fraction(1, 2), Fraction(3, 20)])
    7
    """
    return math.ceil(1 / min(bounds))


def some_points(bench: Bench, points: Sequence[int]) -> Sequence[int]:
    """The paper's points; of a quick run every second."""
    return points if bench.is_full else points[::2]


def on_both(build: Callable[[str], Test]) -> Test:
    """A test that must hold on either table; it is built with the table's letters."""
    return on_each({base.letters.upper(): build(base.letters) for base in BASES})
