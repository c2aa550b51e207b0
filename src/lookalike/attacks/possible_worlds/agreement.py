"""Do chains from different starts come to say the same? What they counted, split R-hat, effective sizes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.possible_worlds.boards import Board

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
    """-1: of nobody, or with a value that is not told"""
    n_persons: int
    halves: Shares
    """[chains, 2, pairs] shares of the worlds"""
    squares: Shares
    """[pairs] sum over the batches of the squared share"""

    @classmethod
    def of(cls, part: Board, values: Ints, n_chains: int) -> Tally:
        """`values` of the rows of a board; -1 where it is not told."""
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
        from scipy.special import stdtrit

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
