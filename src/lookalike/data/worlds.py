"""A world: a plain table that a release may come from, with a value in every cell.

    Grouped, Matched   each quasi-identifier drawn evenly from what its cell may hide
    Bucketized         the sensitive values of a bucket dealt at random to its persons, all of them, so that every world
                       has exactly the published counts
    Perturbed          each value drawn from what it may have been (`reconstruct`)

Carried columns stay as they are, beside the sensitive values. Made-up records are left out: those that look like
others are not known, so for each value as many as the release declares are taken away at random.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain
from lookalike.data.reconstruct import draw_back
from lookalike.data.release import Bucketized, Extents, Perturbed, Ranges, Release
from lookalike.errors import explain_change
from lookalike.randomness import Randomness


@dataclass(frozen=True, eq=False)
class World:
    """Codes over the release's domains, one row per person."""

    quasi: Codes
    sensitive: Codes
    carried: Codes

    def __len__(self) -> int:
        return len(self.quasi)

    def only(self, rows: Ints | NDArray[np.bool_]) -> World:
        return World(self.quasi[rows], self.sensitive[rows], self.carried[rows])


def draw_world(release: Release, rng: Randomness) -> World:
    """One world; anyone who wants several takes a child of the randomness for each."""
    world = draw_rows(release, rng)
    return world.only(~pick_dummies(release, world, rng)) if release.withheld.n_dummies else world


def draw_rows(release: Release, rng: Randomness) -> World:
    """A world with one row per row of the release (of a bucketized one: of its qit), made-up records included."""
    if isinstance(release, Bucketized):
        dealt = deal_values(release, rng.child("deal"))
        return World(release.quasi, release.sensitive[dealt], release.carried[dealt])
    if isinstance(release, Perturbed):
        return World(release.quasi, draw_back(release, rng.child("back")), release.carried)
    units = release.unit_of_row.astype(np.int64)
    columns = [
        draw_from_cells(domain, extents, units, rng.child("cells", place))
        for place, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True))
    ]
    return World(np.column_stack(columns).astype(np.int32), release.sensitive, release.carried)


def deal_values(release: Bucketized, rng: Randomness) -> Ints:
    """For each row of quasi-identifiers a row of sensitive values of its bucket, none twice."""
    shuffled = rng.permutation(len(release.sensitive))
    values = shuffled[np.argsort(release.bucket_of_sensitive[shuffled], kind="stable")]
    persons = np.argsort(release.bucket_of_quasi, kind="stable")
    if not np.array_equal(release.bucket_of_quasi[persons], release.bucket_of_sensitive[values]):
        raise explain_change("Buckets have other sizes in qit than in sat")
    dealt = np.empty(len(persons), dtype=np.int64)
    dealt[persons] = values
    return dealt


def pick_dummies(release: Release, world: World, rng: Randomness) -> NDArray[np.bool_]:
    """Which of the rows drawn to leave out: by the values of the first sensitive column, else any."""
    made_up = np.zeros(len(world), dtype=bool)
    shuffled = rng.child("dummies").permutation(len(world))
    if not release.withheld.dummies:
        made_up[shuffled[: release.withheld.n_dummies]] = True
        return made_up
    codes = world.sensitive[shuffled, 0]
    for code, count in enumerate(release.withheld.dummies[0].tolist()):
        made_up[shuffled[np.flatnonzero(codes == code)[:count]]] = True
    return made_up


Ints = NDArray[np.int64]


def bounds_of(domain: Domain, extents: Ranges) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """First code, number of codes in the run, and whether missing is inside too, of each unit."""
    # Of a taxonomy, missing is a leaf; otherwise a run never reaches the missing code by accident.
    last = domain.n_codes - 1 if domain.taxonomy is not None else domain.missing_code - 1
    lows = np.maximum(extents.lows.astype(np.int64), 0)
    lengths = np.maximum(np.minimum(extents.highs.astype(np.int64), last) - lows + 1, 0)
    missing = extents.missing & (domain.missing_code < domain.n_codes)
    return np.where(lengths > 0, lows, 0), lengths, missing


def draw_from_cells(domain: Domain, extents: Extents, units: Ints, rng: Randomness) -> Ints:
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
