"""What the boxes of a matched release alone say: assignments that fit them are drawn, each as likely as any other.

The attacker knows everybody's quasi-identifiers and reads the release. A world gives each record a row that holds it,
no row twice. How often a record is given a row with a value, over all worlds, is what the attacker believes.

Counting worlds is hard, drawing them is not: `kernels/worlds.py` has the chain and why it is right. Pairs of a record
and a row that no world contains are struck out first. What is left falls into components that have nothing to do with
each other, each with a chain of its own. Records left out and rows made up take part: a row left out is one that any
record fits, a record made up fits any row, so that worlds stay complete assignments, each as often counted.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.beliefs import exposure_of, promised_ceilings, scored
from lookalike.attacks.whereabouts import Whereabouts, honest_guesses
from lookalike.attacks.written import WrittenAttack
from lookalike.audit.matching import graph_complaint
from lookalike.audit.reading import FITS_LIMIT
from lookalike.contracts import Finding, Score, Target
from lookalike.errors import DataError, Unsupported, counted
from lookalike.parameters import Choice, Exact, Whole
from lookalike.progress import Progress
from lookalike.randomness import Randomness
from lookalike.release import Matched

if TYPE_CHECKING:
    from lookalike.kernels.worlds import Fits, World

Ints = NDArray[np.int64]
Shares = NDArray[np.float64]

AGREED = 1.05
"""Chains agree about a record if R-hat is no more than this."""
FEW = 0.01
"""The chains have converged if they disagree about no larger share of the records ..."""
ENOUGH = 100.0
"""... and are worth so many independent worlds for half of them."""
_SWEEPS, _MORE = 3000, 4
_MOST_STEPS = 500_000_000
"""Chains that disagree are run again with more sweeps if that takes no more steps than this."""
_PATIENCE = 8
_BATCHES = 10
_ERRORS = 3.0
_CHANCE = 0.05
_NO_OVERLAP = 1000.0
"""R-hat where no chain moved and they differ; it would be infinite."""


@dataclass(frozen=True)
class PossibleWorlds(WrittenAttack):
    """Draws assignments of persons to rows that the published ranges allow, and counts the values each one gets."""

    name: ClassVar[str] = "possible-worlds"

    chains: Whole = Whole(low=2, high=64, default=4)
    """Chains from different starts; their agreement shows whether they were long enough."""
    sweeps: Whole = Whole(low=0, default=0)
    """Sweeps of each chain, about as many steps each as there are records; 0: 3000, and more if it needs and can."""
    burn: Exact = Exact(low=0, high="0.5", default=Fraction(3, 10))
    """The share of the sweeps that is thrown away at the beginning."""
    most: Whole = Whole(low=1, default=100_000)
    """Most records attacked; of more, whole components are drawn."""
    graph: Choice = Choice("no", "yes", default="no")
    """`yes`: the private graph has leaked, and its edges take the place of the ranges."""

    def refuses(self, target: Target) -> str | None:
        release, original = target.release, target.original
        if not isinstance(release, Matched):
            return (
                f"{self.name} needs a matched release, whose rows have ranges of their own; this one is {release.form}"
            )
        for column, domain in enumerate(original.domains.sensitive):
            if int(release.sensitive[:, column].max(initial=0)) >= domain.n_codes:
                return f'the release has values of "{domain.name}" that the original, as it was read, does not know of'
        if self.graph == "no":
            return None
        if target.graph is None:
            return "graph=yes needs the private graph of the release; give it, or leave out graph=yes"
        return graph_complaint(target.graph, Whereabouts(target).reading)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        where = Whereabouts(target)
        places = self._places(where)
        board = possible_pairs(places, where)
        part = board.some(self.most, rng.child("components"))
        sweeps = self.sweeps or _SWEEPS
        while True:
            tallies = [Tally.of(part, values, self.chains) for values in part.values.T]
            figures = self._walk(part, tallies, sweeps, rng.child("sweeps", sweeps), progress)
            converged = all(tally.agreement(int(figures["worlds"])).converged for tally in tallies)
            if converged or self.sweeps or _MORE * figures["steps"] > _MOST_STEPS:
                break
            sweeps *= _MORE
        return [
            self._finding(target, column, part, tally, sparse.csr_array(places @ where.stocks(column)), figures)
            for column, tally in enumerate(tallies)
        ]

    def _places(self, where: Whereabouts) -> Any:
        """[records, rows] the rows that a record may be behind, each as likely (CSR)."""
        if self.graph == "no":
            return where.places
        graph = where.target.graph
        assert graph is not None
        lengths = np.diff(graph.starts)
        shares = np.repeat(1.0 / np.maximum(lengths, 1), lengths)
        shape = where.target.original.n_rows, where.target.release.n_rows
        return sparse.csr_array((shares, graph.rows, graph.starts), shape=shape)

    def _walk(
        self, part: Board, tallies: list[Tally], sweeps: int, rng: Randomness, progress: Progress
    ) -> dict[str, float]:
        """Run the chains; the tallies take note."""
        from lookalike.kernels.worlds import wander, warm_up

        n_burnt = int(self.burn * sweeps)
        length = max((sweeps - n_burnt) // _BATCHES, 1)
        limits = np.maximum(_PATIENCE * np.diff(part.fits.bounds), 64)
        made = np.zeros(3, dtype=np.int64)

        def begin(chain: int) -> tuple[World, Ints, NDArray[np.uint64]]:
            mine = rng.child("chain", chain)
            world, state = part.start(mine), mine.words(1).copy()
            return world, warm_up(part.fits, world, limits, max(n_burnt, 1), state), state

        def go_on(walk: tuple[World, Ints, NDArray[np.uint64]]) -> tuple[Ints, tuple[int, int, int]]:
            world, trips, state = walk
            counts = np.zeros(len(part.fits.rows), dtype=np.int64)
            return counts, wander(part.fits, world, limits, trips, length, counts, state)

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            walks = list(pool.map(begin, range(self.chains)))
            for batch in range(_BATCHES):
                for chain, (counts, moves) in enumerate(pool.map(go_on, walks)):
                    made += np.array(moves)
                    for tally in tallies:
                        tally.note(chain, batch, counts / length)
                progress("walking", (batch + 1) / _BATCHES)
        n_trips, n_taken_back, n_steps = made.tolist()
        return {
            "worlds": float(self.chains * _BATCHES * length),
            "sweeps": float(sweeps),
            "steps": float(n_steps),
            "accepted": 1.0 - n_taken_back / max(n_trips, 1),
            "components": float(len(part.fits.bounds) - 1),
            "records": float(part.n_persons),
        }

    def _finding(
        self, target: Target, column: int, part: Board, tally: Tally, honest: Any, figures: dict[str, float]
    ) -> Finding:
        name = target.original.domains.sensitive[column].name
        n_worlds = int(figures["worlds"])
        agreement = tally.agreement(n_worlds)
        figures = figures | {
            "rhat": agreement.rhat,
            "rhat above 1.05": agreement.share_apart,
            "ess": agreement.ess,
            "ess least": agreement.ess_least,
        }
        attacked = counted(part.n_persons, "record")
        if not agreement.converged:
            return Finding(
                attack=str(self),
                column=name,
                sentence=(
                    f"No claim about {attacked}: the chains have not converged (they disagree about "
                    f"{agreement.share_apart:.1%} of them, the largest R-hat is {agreement.rhat:,.2f}, and they are "
                    f"worth {agreement.ess:,.0f} independent worlds). Run it with more sweeps."
                ),
                figures=figures,
            )
        domain_size = target.original.domains.sensitive[column].n_codes
        prior = target.original.counts(column).astype(np.int64)
        beliefs = tally.beliefs(domain_size)
        truth = target.original.sensitive[part.persons, column]
        guesses = honest_guesses(sparse.csr_array(beliefs), prior)
        score = scored(guesses, truth)
        baselines = {
            "most frequent value": scored(np.full(len(truth), int(np.argmax(prior))), truth).share,
            "rows that fit": scored(honest_guesses(honest[part.persons], prior), truth).share,
        }
        ceilings = promised_ceilings(target, column)
        if ceilings is not None and (ceilings == ceilings[0]).all():
            baselines["1/l"] = float(min(ceilings[0], 1.0))
        affected = None if ceilings is None else tally.is_above(ceilings, agreement)
        figures["belief in the guess"] = float(beliefs.max(axis=1).mean()) if len(beliefs) else 0.0
        text = _sentence(score, baselines, n_worlds, attacked, self.graph == "yes")
        if affected is not None:
            text += f" About {counted(int(affected.sum()), 'record')} some value is believed more than was promised"
            if affected.any():
                figures["right about the affected"] = scored(guesses[affected], truth[affected]).share
                text += f"; the guess is right for {figures['right about the affected']:.1%} of them"
            text += "."
        return Finding(
            attack=str(self),
            column=name,
            sentence=text,
            score=score,
            baselines=baselines,
            n_affected=None if affected is None else int(affected.sum()),
            exposure=exposure_of(target, column, beliefs, self.name),
            figures=figures,
        )


def _sentence(score: Score, baselines: dict[str, float], n_worlds: int, attacked: str, leaked: bool) -> str:
    best = max(baselines, key=lambda name: baselines[name])
    clearly = score.interval[0] > baselines[best]
    return (
        f"Of {n_worlds:,} assignments that {'the leaked graph allows' if leaked else 'fit the published ranges'}, the "
        f"value that each of {attacked} most often gets is right for {score.share:.1%}; honest guessing "
        f"({best}) is right for {baselines[best]:.1%}: "
        f"{'more than chance, if guesses were independent' if clearly else 'no more than chance'}."
    )


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
        return float((self.rhats > AGREED).sum() / n_open) if n_open else 0.0

    @property
    def ess(self) -> float:
        """For half of the records more."""
        return float(np.median(self.sizes[self.is_open])) if self.is_open.any() else float(self.sizes.max(initial=0.0))

    @property
    def ess_least(self) -> float:
        return float(self.sizes.min(initial=self.ess))

    @property
    def converged(self) -> bool:
        return not self.is_open.any() or (self.share_apart <= FEW and self.ess >= ENOUGH)


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
        self.halves[chain, batch * 2 // _BATCHES] += found * 2 / _BATCHES
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
        n_batches = self.halves.shape[0] * _BATCHES
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
        n_batches = self.halves.shape[0] * _BATCHES
        errors = max(_ERRORS, float(stdtrit(n_batches - 1, 1 - _CHANCE / max(len(person), 1))))
        above = (self.shares - errors * error > ceilings[self.value_of_pair] + 1e-9) & (
            agreement.rhats[person] <= AGREED
        )
        found: NDArray[np.bool_] = np.bincount(person[above], minlength=self.n_persons) > 0
        return found


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
        from scipy.sparse.csgraph import maximum_bipartite_matching

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
        partner = maximum_bipartite_matching(edges, perm_type="column")
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
    from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

    from lookalike.kernels.worlds import Fits

    edges = sparse.csr_array((np.ones(len(tails), dtype=np.int8), (tails, heads)), shape=(size, size))
    partner = maximum_bipartite_matching(edges, perm_type="column")
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
    by_record = np.lexsort((row, record))
    starts = np.searchsorted(record[by_record], np.arange(size + 1)).astype(np.int64)
    bounds = np.searchsorted(component[order], np.arange(n_components + 1)).astype(np.int64)
    row_at = partner[order]
    fits = Fits(starts, row[by_record].astype(np.int32), bounds)
    return Board(fits, person[order], persons, values[row_at])
