"""In how large a crowd people stand: among how many rows each of them may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.data.exposure import Exposure

MOST_SIZES = 12


@dataclass(frozen=True)
class SizeLine:
    """How many people are hidden among so many rows."""

    rows: str
    share: float


def crowds_of(seen: Exposure) -> dict[int, int]:
    """How many units there are of each size."""
    if not seen.counts_rows:
        return {}
    sizes, units = np.unique(seen.sizes[seen.sizes > 0], return_counts=True)
    return dict(zip(sizes.tolist(), units.tolist(), strict=True))


def size_lines(crowds: Mapping[int, int], form: str) -> tuple[SizeLine, ...]:
    """Among how many rows people are hidden; sizes put together if there are many."""
    if not crowds:
        return ()
    sizes, units = np.array(sorted(crowds.items()), dtype=np.int64).T
    people = units if form == "matched" else sizes * units
    total = max(int(people.sum()), 1)
    shares = people / total
    edges = np.arange(len(sizes)) if len(sizes) <= MOST_SIZES else _even_parts(shares)
    lines = []
    for start, stop in zip(edges, [*edges[1:], len(sizes)], strict=True):
        low, high = int(sizes[start]), int(sizes[stop - 1])
        lines.append(SizeLine(f"{low}" if low == high else f"{low} to {high}", int(people[start:stop].sum()) / total))
    return tuple(lines)


def _even_parts(shares: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where parts of about as many people begin."""
    before = np.concatenate(([0.0], np.cumsum(shares)[:-1]))
    return np.flatnonzero(np.diff(np.floor(before * MOST_SIZES), prepend=-1.0))
