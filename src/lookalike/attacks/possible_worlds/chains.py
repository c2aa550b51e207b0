"""What chains of worlds walk on, and whether chains from different starts come to say the same.

A `Board` has who may be behind which row of a matched release, in components that have nothing to do with each other. A
`Tally` counts what the chains found, and its `Agreement` is split R-hat and effective sample sizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtrit

from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import FITS_LIMIT
from lookalike.errors import DataError, Unsupported, counted
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.worlds import Fits, World

Ints = NDArray[np.int64]
Shares = NDArray[np.float64]

_AGREED = 1.05
"""Chains agree about a record if R-hat is no more than this."""
_FEW = 0.01
"""The chains have converged if they disagree about no larger share of the records ..."""
_ENOUGH = 100.0
"""... and are worth so many independent worlds for half of them."""
BATCHES = 10
"""Parts of a chain that are tallied by themselves."""
_ERRORS = 3.0
_CHANCE = 0.05
_NO_OVERLAP = 1000.0
"""R-hat where no chain moved and they differ; it would be infinite."""


@dataclass(frozen=True, eq=False)
class Board:
    """Records and rows, component after component, and the pairs of them that some world contains."""

    fits: Fits
    person_of_record: Ints
    """-1: a record made up"""
    persons: Ints
    """The records of the original that are attacked, rising."""
    values: Ints
    """[rows, sensitive columns] -1: not known"""

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


@dataclass(frozen=True, eq=False)
class Agreement:
    """Whether chains from different starts came to say the same."""

    rhats: Shares
    """[records] split R-hat of the value believed most; 1 where only one value is possible"""
    sizes: Shares
    """[records] how many independent worlds the chains are worth"""
    is_open: NDArray[np.bool_]
    """[records] whether more than one value is possible"""

    @property
    def rhat(self) -> float:
        return float(self.rhats.max(initial=1.0))

    @property
    def share_apart(self) -> float:
        n_open = int(self.is_open.sum())
        return float((self.rhats > _AGREED).sum() / n_open) if n_open else 0.0

    @property
    def ess(self) -> float:
        """For half of the records more."""
        return float(np.median(self.sizes[self.is_open])) if self.is_open.any() else float(self.sizes.max(initial=0.0))

    @property
    def ess_least(self) -> float:
        return float(self.sizes.min(initial=self.ess))

    @property
    def converged(self) -> bool:
        return not self.is_open.any() or (self.share_apart <= _FEW and self.ess >= _ENOUGH)


@dataclass(frozen=True, eq=False)
class Tally:
    """How often each person was given each value: by half of a chain, and how it went from batch to batch."""

    person_of_pair: Ints
    value_of_pair: Ints
    pair_of_edge: Ints
    """-1: of nobody, or with a value that is not known"""
    n_persons: int
    halves: Shares
    """[chains, 2, pairs] shares of the worlds"""
    squares: Shares
    """[pairs] sum over the batches of the squared share"""

    @classmethod
    def of(cls, part: Board, values: Ints, n_chains: int) -> Tally:
        """`values` of the rows of a board; -1 where it is not known."""
        person, value = part.person_of_record[part.record_of_edge], values[part.fits.rows]
        told = (person >= 0) & (value >= 0)
        width = int(values.max(initial=0)) + 1
        keys, pairs = np.unique(person[told] * width + value[told], return_inverse=True)
        pair_of_edge = np.full(len(person), -1, dtype=np.int64)
        pair_of_edge[told] = pairs.reshape(-1)
        shape = n_chains, 2, len(keys)
        return cls(keys // width, keys % width, pair_of_edge, part.n_persons, np.zeros(shape), np.zeros(len(keys)))

    def note(self, chain: int, batch: int, shares: Shares) -> None:
        """`shares` of a batch of worlds in which each edge was used."""
        told = self.pair_of_edge >= 0
        found = np.bincount(self.pair_of_edge[told], weights=shares[told], minlength=len(self.squares))
        self.halves[chain, batch * 2 // BATCHES] += found * 2 / BATCHES
        self.squares[:] += found**2

    @property
    def shares(self) -> Shares:
        """[pairs]"""
        found: Shares = self.halves.mean(axis=(0, 1))
        return found

    def beliefs(self, n_codes: int) -> Shares:
        """[persons, values]"""
        found = np.zeros((self.n_persons, n_codes))
        found[self.person_of_pair, self.value_of_pair] = self.shares
        return found

    @cached_property
    def top(self) -> Ints:
        """[persons] the pair of the value believed most; -1 for none."""
        order = np.lexsort((self.shares, self.person_of_pair))
        found = np.full(self.n_persons, -1, dtype=np.int64)
        found[self.person_of_pair[order]] = order
        return found

    def agreement(self, n_worlds: int) -> Agreement:
        """Gelman and Rubin's statistic over halves of chains, and the effective sample size by batch means.

        The variance of a yes or no is known from its share, so shares are all that is needed.
        """
        has_top = self.top >= 0
        top = self.top[has_top]
        halves = self.halves[:, :, top].reshape(-1, len(top))
        length = n_worlds / len(halves)
        within = (halves * (1 - halves)).mean(axis=0) * length / max(length - 1, 1)
        between = halves.var(axis=0, ddof=1)
        apart = np.divide(between, within, out=np.where(between > 1e-12, np.inf, 0.0), where=within > 1e-12)
        rhats = np.ones(self.n_persons)
        spread_out = np.sqrt(np.where(within > 1e-12, (length - 1) / length + apart, 1.0 + apart))
        rhats[has_top] = np.minimum(spread_out, _NO_OVERLAP)
        n_batches = self.halves.shape[0] * BATCHES
        share = halves.mean(axis=0)
        error = np.maximum(self.squares[top] / n_batches - share**2, 0.0) / (n_batches - 1)
        sizes = np.full(self.n_persons, float(n_worlds))
        spread = share * (1 - share)
        worth = np.divide(spread, error, out=np.full(len(top), float(n_worlds)), where=error > 1e-15)
        sizes[has_top] = np.minimum(worth, n_worlds)
        is_open = np.bincount(self.person_of_pair, minlength=self.n_persons) > 1
        return Agreement(rhats, sizes, is_open)

    def is_above(self, ceilings: Shares, agreement: Agreement) -> NDArray[np.bool_]:
        """[persons] of whom some value is believed more than its ceiling allows, by more than the error of the draw.

        That is three standard errors, or more where there are so many persons that chance alone would go beyond.
        """
        person = self.person_of_pair
        size = agreement.sizes[person]
        # A share of 0 or 1 among a few worlds is not certainty: one more of each kind is counted in.
        careful = (self.shares * size + 1) / (size + 2)
        error = np.where(agreement.is_open[person], np.sqrt(careful * (1 - careful) / size), 0.0)
        n_batches = self.halves.shape[0] * BATCHES
        errors = max(_ERRORS, float(stdtrit(n_batches - 1, 1 - _CHANCE / max(len(person), 1))))
        above = (self.shares - errors * error > ceilings[self.value_of_pair] + 1e-9) & (
            agreement.rhats[person] <= _AGREED
        )
        found: NDArray[np.bool_] = np.bincount(person[above], minlength=self.n_persons) > 0
        return found
