"""Who may be behind which row of a matched release, in components that have nothing to do with each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import FITS_LIMIT
from lookalike.errors import DataError, Unsupported, counted
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.worlds import Fits, World

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Board:
    """Records and rows, component after component, and the pairs of them that some world contains."""

    fits: Fits
    person_of_record: Ints
    """-1: a record made up"""
    persons: Ints
    """The records of the original that are attacked, rising."""
    values: Ints
    """[rows, sensitive columns] -1: not told"""

    @property
    def n_persons(self) -> int:
        return len(self.persons)

    @cached_property
    def record_of_edge(self) -> Ints:
        return np.repeat(np.arange(len(self.fits.starts) - 1), np.diff(self.fits.starts))

    def start(self, rng: Randomness) -> World:
        """A complete assignment: the one found when records and rows come in random order."""
        from lookalike.kernels.worlds import World

        n_records = len(self.fits.starts) - 1
        record_place, row_place = rng.permutation(n_records), rng.permutation(n_records)
        edges = sparse.csr_array(
            (
                np.ones(len(self.fits.rows), dtype=np.int8),
                (record_place[self.record_of_edge], row_place[self.fits.rows]),
            ),
            shape=(n_records, n_records),
        )
        partner = _partners(edges)
        row_of_record = np.argsort(row_place)[partner[record_place]]
        used = np.flatnonzero(self.fits.rows == row_of_record[self.record_of_edge])
        owner = np.empty(n_records, dtype=np.int64)
        owner[row_of_record] = np.arange(n_records)
        return World(used.astype(np.int64), owner)

    def some(self, most: int, rng: Randomness) -> Board:
        """Components drawn at random, with no more persons than `most` in all; all of them if they are no more."""
        if self.n_persons <= most:
            return self
        bounds = self.fits.bounds
        component_of_record = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
        sizes = np.bincount(component_of_record[self.person_of_record >= 0], minlength=len(bounds) - 1)
        order = rng.permutation(len(sizes))
        taken = np.zeros(len(sizes), dtype=bool)
        taken[order[np.cumsum(sizes[order]) <= most]] = True
        if not sizes[taken].any():
            raise Unsupported(
                f"The ranges tie {counted(int(sizes.max()), 'record')} together, and most={most} allows fewer. A part "
                "of them cannot be attacked alone: give a larger most."
            )
        return self._only(taken[component_of_record], np.diff(bounds)[taken])

    def _only(self, kept: NDArray[np.bool_], sizes: Ints) -> Board:
        """The components of these records alone. Rows are numbered as records are, component by component."""
        from lookalike.kernels.worlds import Fits

        new_number = np.cumsum(kept) - 1
        edges = kept[self.record_of_edge]
        starts = np.concatenate(([0], np.cumsum(np.diff(self.fits.starts)[kept])))
        bounds = np.concatenate(([0], np.cumsum(sizes)))
        person = self.person_of_record[kept]
        in_order = np.unique(person[person >= 0])
        numbers = np.where(person >= 0, np.searchsorted(in_order, person), -1)
        return Board(
            Fits(starts, new_number[self.fits.rows[edges]].astype(np.int32), bounds),
            numbers,
            self.persons[in_order],
            self.values[kept],
        )


def possible_pairs(places: Any, where: Whereabouts) -> Board:
    """The board of a release: what a reader knows before any world is drawn."""
    target, told_dummy = where.target, where.reading.is_told_dummy
    n_records, n_rows = places.shape
    record, row = np.repeat(np.arange(n_records), np.diff(places.indptr)), places.indices.astype(np.int64)
    real = ~told_dummy[row]
    record, row = record[real], row[real]
    listed_rows = np.flatnonzero(~told_dummy)
    withheld = target.release.withheld
    listed = np.arange(n_records)
    n_left_out = withheld.n_suppressed
    if withheld.n_suppressed:
        # Who fits no row is known to be left out.
        without = np.diff(places.indptr) == 0
        listed = np.flatnonzero(~without)
        n_left_out = max(n_left_out - int(without.sum()), 0)
    n_made_up = len(listed_rows) - (len(listed) - n_left_out)
    if n_made_up < 0 or n_made_up > withheld.n_dummies:
        raise DataError(
            f"The release has {counted(len(listed_rows), 'row')} for {counted(len(listed) - n_left_out, 'record')}, "
            f"and declares {withheld.n_dummies:,} made up. It does not belong to this table: give the original of it."
        )
    if len(record) + n_made_up * len(listed_rows) + n_left_out * len(listed) > FITS_LIMIT:
        raise Unsupported("Too many records were made up or left out to try where they may be. Attack a sample of it.")
    size = len(listed) + n_made_up
    record_number, row_number = np.full(n_records, -1), np.full(n_rows, -1)
    record_number[listed], row_number[listed_rows] = np.arange(len(listed)), np.arange(len(listed_rows))
    made_up, left_out = len(listed) + np.arange(n_made_up), len(listed_rows) + np.arange(n_left_out)
    tails = np.concatenate(
        (record_number[record], np.repeat(made_up, len(listed_rows)), np.tile(np.arange(len(listed)), n_left_out))
    )
    heads = np.concatenate(
        (row_number[row], np.tile(np.arange(len(listed_rows)), n_made_up), np.repeat(left_out, len(listed)))
    )
    values = np.full((size, target.release.sensitive.shape[1]), -1, dtype=np.int64)
    values[: len(listed_rows)] = target.release.sensitive[listed_rows]
    for column, counts in enumerate(withheld.suppressed):
        if int(counts.sum()) == n_left_out:
            values[len(listed_rows) :, column] = np.repeat(np.arange(len(counts)), counts)
    person = np.where(np.arange(size) < len(listed), np.arange(size), -1)
    return _in_components(tails, heads, size, person, listed, values)


def _in_components(tails: Ints, heads: Ints, size: int, person: Ints, persons: Ints, values: Ints) -> Board:
    """Only pairs that some world contains are kept; records and rows are numbered component by component.

    In a world, draw an arrow from a record to each record whose row it fits: pairs within a strong component, and
    only they, are in some world.
    """
    from scipy.sparse.csgraph import connected_components

    from lookalike.kernels.worlds import Fits

    edges = sparse.csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(size, size))
    partner = _partners(edges)
    n_lost = int(np.count_nonzero(partner < 0))
    if n_lost:
        raise DataError(
            f"For {counted(n_lost, 'record')} no row is left whose ranges hold them: no assignment is complete. The "
            "release does not belong to this table: give the original of it."
        )
    owner = np.empty(size, dtype=np.int64)
    owner[partner] = np.arange(size)
    arrows = sparse.csr_array((np.ones(len(tails), dtype=np.int8), (tails, owner[heads])), shape=(size, size))
    n_components, component = connected_components(arrows, directed=True, connection="strong")
    order = np.argsort(component, kind="stable")
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    possible = component[tails] == component[owner[heads]]
    record, row = place[tails[possible]], place[owner[heads[possible]]]
    pairs = sparse.csr_array((np.ones(len(record), dtype=np.int8), (record, row)), shape=(size, size))
    pairs.sort_indices()
    bounds = np.searchsorted(component[order], np.arange(n_components + 1)).astype(np.int64)
    row_at = partner[order]
    fits = Fits(pairs.indptr.astype(np.int64), pairs.indices.astype(np.int32), bounds)
    return Board(fits, person[order], persons, values[row_at])


def _partners(edges: Any) -> Ints:
    """The row that each record gets in an assignment of as many as possible; -1 for who gets none."""
    from lookalike.kernels.transport import partners

    found: Ints = partners(edges.indptr.astype(np.int64), edges.indices.astype(np.int32), edges.shape[1])
    return found
