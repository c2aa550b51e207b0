"""Codes drawn from published cells: each value that a cell may hide is as likely as the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain
from lookalike.data.release import Extents, Ranges
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]


def bounds_of(domain: Domain, extents: Ranges) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """First code, number of codes in the run, and whether missing is inside too, of each unit."""
    # Of a taxonomy, missing is a leaf; otherwise a run never reaches the missing code by accident.
    last = domain.n_codes - 1 if domain.taxonomy is not None else domain.missing_code - 1
    lows = np.maximum(extents.lows.astype(np.int64), 0)
    lengths = np.maximum(np.minimum(extents.highs.astype(np.int64), last) - lows + 1, 0)
    missing = extents.missing & (domain.missing_code < domain.n_codes)
    return np.where(lengths > 0, lows, 0), lengths, missing


def drawn_from_cells(domain: Domain, extents: Extents, units: Ints, rng: Randomness) -> Ints:
    """A code for each unit listed, each of those in its cell as likely."""
    if isinstance(extents, Ranges):
        lows, lengths, missing = bounds_of(domain, extents)
        place = nth_of((lengths + missing)[units], rng)
        return np.where(
            place < lengths[units], lows[units] + place, np.where(missing, domain.missing_code, lows)[units]
        )
    place = nth_of(extents.sizes[units], rng)
    members = np.append(extents.members, 0).astype(np.int64)
    drawn: Ints = members[extents.starts[units] + place]
    return drawn


def nth_of(sizes: Ints, rng: Randomness) -> Ints:
    """A number below each size, each as likely."""
    return np.minimum((rng.uniforms(len(sizes)) * sizes).astype(np.int64), np.maximum(sizes - 1, 0))
