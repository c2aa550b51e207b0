"""What the boxes of a matched release alone say: assignments that fit them are drawn, each as likely as any other.

The attacker knows everybody's quasi-identifiers and reads the release. A world gives each record a row that holds it,
no row twice. How often a record is given a row with a value, over all worlds, is what the attacker believes.

Counting worlds is hard, drawing them is not: `kernels/worlds.py` has the chain and why it is right. Pairs of a record
and a row that no world contains are struck out first. What is left falls into components that have nothing to do with
each other, each with its own chain. Records left out and rows made up take part: a row left out is one that any
record fits, a record made up fits any row, so that worlds stay complete assignments, each as often counted.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.possible_worlds.chains import BATCHES, Board, Ints, Tally, possible_pairs
from lookalike.attacks.shared.attack import WrittenAttack, exposure_of, find_ceilings, score_guesses
from lookalike.attacks.shared.consequence import UNDECIDED, Consequence, Result, explain_guesses
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses, normalise
from lookalike.audit.matching import graph_complaint
from lookalike.data.contracts import Finding, Score, Target
from lookalike.data.parameters import Choice, Exact, Whole
from lookalike.data.release import Matched
from lookalike.errors import counted
from lookalike.progress import Progress, available_threads
from lookalike.randomness import Randomness

if TYPE_CHECKING:
    from lookalike.kernels.worlds import World

_SWEEPS, _FOR_RECORDS, _MORE = 3000, 10_000, 4
_MOST_STEPS = 500_000_000
"""Chains that disagree are run again with more sweeps if that takes no more steps than this."""
_PATIENCE = 8
_NO_GRAPH = "graph=yes needs the private graph of the release; give it, or leave out graph=yes"


@dataclass(frozen=True)
class PossibleWorlds(WrittenAttack):
    """Draws assignments of persons to rows that the published ranges allow, and counts the values each one gets."""

    name: ClassVar[str] = "possible-worlds"
    most_records: ClassVar[int | None] = 5_000
    forms: ClassVar[frozenset[str] | None] = frozenset({Matched.form})

    chains: Whole = Whole(low=2, high=64, default=4)
    """Chains from different starts; their agreement shows whether they were long enough."""
    sweeps: Whole = Whole(low=0, default=0)
    """Sweeps of each chain, about as many steps each as there are records; 0: 3000, fewer for more than 10,000 records,
    and more if it needs and can."""
    burn: Exact = Exact(low=0, high="0.5", default=Fraction(3, 10))
    """The share of the sweeps that is thrown away at the beginning."""
    most: Whole = Whole(low=1, default=100_000)
    """Most records attacked; of more, whole components are drawn."""
    graph: Choice = Choice("no", "yes", default="no")
    """`yes`: the private graph has leaked, and its edges take the place of the ranges."""

    def lacks(self, target: Target) -> str | None:
        return _NO_GRAPH if self.graph == "yes" and target.graph is None else None

    def explain(self, result: Result) -> Consequence:
        if result.finding.score is None:
            return Consequence(
                UNDECIDED, "The chains have not converged, so this run shows nothing. Run it with more sweeps."
            )
        return explain_guesses(result, self.remedy)

    def refuses(self, target: Target) -> str | None:
        release, original = target.release, target.original
        if (reason := super().refuses(target)) is not None:
            return reason
        for column, domain in enumerate(original.domains.sensitive):
            if int(release.sensitive[:, column].max(initial=0)) >= domain.n_codes:
                return f'the release has values of "{domain.name}" that the original, as it was read, does not know of'
        if self.graph == "no":
            return None
        if target.graph is None:
            return _NO_GRAPH
        return graph_complaint(target.graph, Whereabouts.of(target).reading)

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        where = Whereabouts.of(target)
        places = self._places(where)
        board = possible_pairs(places, where)
        part = board.some(self.most, rng.child("components"))
        # A step takes longer too where more records do not fit into the processor's cache.
        sweeps = self.sweeps or int(_SWEEPS * min(1, _FOR_RECORDS / max(part.n_persons, 1)) ** 2) + 1
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
        shape = where.target.original.n_rows, where.target.release.n_rows
        return normalise(sparse.csr_array((np.ones(len(graph.rows)), graph.rows, graph.starts), shape=shape))

    def _walk(
        self, part: Board, tallies: list[Tally], sweeps: int, rng: Randomness, progress: Progress
    ) -> dict[str, float]:
        """Run the chains; the tallies take note."""
        from lookalike.kernels.worlds import wander, warm_up

        n_burnt = int(self.burn * sweeps)
        length = max((sweeps - n_burnt) // BATCHES, 1)
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

        with ThreadPoolExecutor(max_workers=available_threads()) as pool:
            walks = list(pool.map(begin, range(self.chains)))
            for batch in range(BATCHES):
                for chain, (counts, moves) in enumerate(pool.map(go_on, walks)):
                    made += np.array(moves)
                    for tally in tallies:
                        tally.note(chain, batch, counts / length)
                progress("walking", (batch + 1) / BATCHES)
        n_trips, n_taken_back, n_steps = made.tolist()
        return {
            "worlds": float(self.chains * BATCHES * length),
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
        score = score_guesses(guesses, truth)
        baselines = {
            "most frequent value": score_guesses(np.full(len(truth), int(np.argmax(prior))), truth).share,
            "rows that fit": score_guesses(honest_guesses(honest[part.persons], prior), truth).share,
        }
        ceilings = find_ceilings(target, column)
        affected = None if ceilings is None else tally.is_above(ceilings, agreement)
        figures["belief in the guess"] = float(beliefs.max(axis=1).mean()) if len(beliefs) else 0.0
        text = _sentence(score, baselines, n_worlds, attacked, self.graph == "yes")
        if affected is not None:
            text += f" About {counted(int(affected.sum()), 'record')} some value is believed more than was promised"
            if affected.any():
                figures["right about the affected"] = score_guesses(guesses[affected], truth[affected]).share
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
        f"value that each of {attacked} most often gets is right for {score.share:.1%}; the baseline "
        f"({best}) is right for {baselines[best]:.1%}: "
        f"{'more than chance, if guesses were independent' if clearly else 'no more than chance'}."
    )
