"""Repeated values: the simplest attack on matched releases.

A method that keeps records of one value apart, so that no row is made for two of them, but draws who is behind which
row without regard to that, lets a person's own value be published exactly once among the rows that they fit: every
value seen twice is ruled out. The attack guesses among the values seen once. On a release whose draw respects the
values it is right in 1/l, as the baseline is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import (
    OnValues,
    best_guess_share,
    build_exposure,
    find_ceilings,
    majority,
    n_certain,
    n_rows_above,
    row_max,
    score_guesses,
)
from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs, honest_share, normalise
from lookalike.data.contracts import Finding, Target
from lookalike.data.parameters import Choice
from lookalike.data.release import Matched
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_NO_GRAPH = "rows=graph needs the private graph of the release. Give it, or leave out rows."


@dataclass(frozen=True)
class RepeatedValues(OnValues):
    """Rules out values that a person sees more than once among the rows that they fit (matched releases)."""

    name: ClassVar[str] = "repeated-values"
    remedy: ClassVar[str] = "Methods that draw each column of the assignment by itself resist it."
    forms: ClassVar[frozenset[str] | None] = frozenset({Matched.form})

    rows: Choice = Choice("fitting", "graph", default="fitting")
    """fitting: rows whose cells hold the person; graph: those of the private graph, as if it had leaked."""

    def lacks(self, target: Target) -> str | None:
        return _NO_GRAPH if self.rows == "graph" and target.graph is None else None

    def refuses(self, target: Target) -> str | None:
        reason = super().refuses(target)
        if reason is None and self.rows == "graph" and target.graph is None:
            return _NO_GRAPH
        return reason

    def _matches(self, whereabouts: Whereabouts) -> Any:
        """[records, rows] 1 where a record may be behind a row; made-up rows that anybody knows are left out."""
        target = whereabouts.target
        if self.rows == "graph":
            assert target.graph is not None
            starts, rows = target.graph.starts, target.graph.rows
        else:
            starts, rows = whereabouts.fits
        shape = (target.original.n_rows, target.release.n_rows)
        told = sparse.diags_array((~whereabouts.reading.is_told_dummy).astype(np.float64))
        return sparse.csr_array(sparse.csr_array((np.ones(len(rows)), rows, starts), shape=shape) @ told)

    def on_column(self, where: Whereabouts, column: int, rng: Randomness, progress: Progress) -> Finding:
        target = where.target
        original, release = target.original, target.release
        prior, truth = original.counts(column), original.sensitive[:, column]
        rows = np.arange(release.n_rows)
        carried = count_pairs(rows, release.sensitive[:, column], (release.n_rows, len(prior)))
        seen = sparse.csr_array(self._matches(where) @ carried)
        seen.eliminate_zeros()
        beliefs, n_repeated = _find_seen_once(seen)
        honest = normalise(seen)
        score = score_guesses(_draw_guesses(beliefs, rng.child("repeated-values", column)), truth)
        baselines = {
            "most frequent value": majority(original, column),
            "values of the group": best_guess_share(honest, prior, truth),
        }
        name = original.domains.sensitive[column].name
        n_left = n_certain(row_max(beliefs))
        sentence = (
            f'{n_repeated:,} of {original.n_rows:,} persons see a value of "{name}" more than once among the rows '
            f"that they fit. Guessing among the values seen once is right in {score.share:.1%}, reading them in "
            f"{honest_share(honest, truth):.1%}"
        )
        return Finding(
            attack=str(self),
            column=name,
            sentence=f"{sentence}. {n_left:,} persons are left with one value.",
            score=score,
            baselines=baselines,
            n_affected=n_rows_above(beliefs, find_ceilings(target, column)),
            exposure=build_exposure(target, column, beliefs, "rules out repeated values"),
            figures={
                "records that see a value repeated": float(n_repeated),
                "records left with one value": float(n_left),
                "expected share right": honest_share(beliefs, truth),
                "honest share right": honest_share(honest, truth),
            },
        )


def _find_seen_once(seen: Any) -> tuple[Any, int]:
    """Equal probabilities in the values seen exactly once, and how many records see one repeated.

    `seen` counts values [records, values]. A record that sees no value exactly once keeps the honest probabilities.
    """
    once = seen.copy()
    once.data = (seen.data == 1).astype(np.float64)
    lacks = np.asarray(once.sum(axis=1)).reshape(-1) == 0
    kept = sparse.csr_array(once + sparse.diags_array(lacks.astype(np.float64)) @ seen)
    return normalise(kept), int(np.count_nonzero(row_max(seen) > 1.5))


def _draw_guesses(beliefs: Any, rng: Randomness) -> NDArray[np.int64]:
    """A value drawn for each record by the probabilities about it; -1 where nothing is believed."""
    n_records = beliefs.shape[0]
    sums = np.concatenate(([0.0], np.cumsum(beliefs.data)))
    starts, ends = beliefs.indptr[:-1], beliefs.indptr[1:]
    points = sums[starts] + rng.uniforms(n_records) * (sums[ends] - sums[starts])
    entries = np.clip(np.searchsorted(sums, points, side="right") - 1, starts, np.maximum(ends - 1, starts))
    guesses = np.full(n_records, -1, dtype=np.int64)
    heard = ends > starts
    guesses[heard] = beliefs.indices[entries[heard]]
    return guesses
