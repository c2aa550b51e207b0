"""What a promise would lose, by trial runs on samples: never from a formula, never by the clock.

A promise is tried on the whole table, or on two samples of a larger one. A trial on the whole table loses what
publishing loses, but for chance. Larger tables lose less, since more people are alike: the loss falls by a power of
the rows, and which one is read off the two trials. The larger sample has thousands of rows, since promises about
values stop losing less at some hundreds or thousands, and a power that is read off small samples would go on for
ever. Samples and runs have fixed seeds, so the same table gives the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.algorithms.groups import Groups
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Table
from lookalike.data.schema import Schema
from lookalike.errors import LookalikeError, counted
from lookalike.evaluation.advise.trials import sample_rows
from lookalike.metrics.gcp import GlobalCertaintyPenalty
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

_STEEPEST = 0.5
"""The loss falls at most by the root of the rows: what two small trials differ by more is chance."""
_LARGER = 8
"""The larger sample has so many times the rows of the smaller one at most."""
_STEP = "trial runs"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What some promises would lose on a table, and the trials that say so."""

    promises: tuple[Promise, ...]
    trials: tuple[tuple[int, float], ...]
    """Records in each trial and the loss (GCP, 0 to 1); empty if a promise cannot be kept on the sample."""
    n_records: int
    refusal: str = ""
    """Why there was no trial."""

    @property
    def loss(self) -> float | None:
        """Expected on all records."""
        if not self.trials:
            return None
        n_tried, loss = self.trials[-1]
        if n_tried >= self.n_records or len(self.trials) == 1:
            return loss
        n_before, before = self.trials[-2]
        if before <= 0 or loss <= 0:
            return loss
        power = math.log(before / loss) / math.log(n_tried / n_before)
        return float(loss * (n_tried / self.n_records) ** min(max(power, 0.0), _STEEPEST))

    @property
    def sentence(self) -> str:
        listed = ", ".join(str(promise) for promise in self.promises)
        if self.loss is None:
            return f"{listed}: not tried, as {self.refusal}"
        tried = " and ".join(f"{loss:.3f} on {n_tried:,}" for n_tried, loss in self.trials)
        if self.trials[-1][0] >= self.n_records:
            return f"{listed}: loss {self.loss:.3f} (a trial on all {counted(self.n_records, 'record')})."
        return f"{listed}: loss about {self.loss:.3f} on all {counted(self.n_records, 'record')} (trials: {tried})."


def expect_losses(
    table: Table,
    schema: Schema,
    candidates: Sequence[Sequence[Promise]],
    *,
    sample: int,
    algorithm: Algorithm | None = None,
    progress: Progress = silent,
) -> tuple[Expected, ...]:
    """Each list of promises tried on the same records: all, or samples of `sample` and of `_LARGER` times as many."""
    sizes = [table.n_rows] if table.n_rows <= _LARGER * sample else [sample, _LARGER * sample]
    parts = [sample_rows(table, size, seed=0) for size in sizes]
    found = []
    for place, promises in enumerate(candidates):
        trials: list[tuple[int, float]] = []
        refusal = ""
        try:
            for part in parts:
                trials.append((part.n_rows, _try_promises(part, schema, promises, algorithm)))
        except LookalikeError as refused:
            trials, refusal = [], str(refused)
        found.append(Expected(promises=tuple(promises), trials=tuple(trials), n_records=table.n_rows, refusal=refusal))
        progress(_STEP, (place + 1) / len(candidates))
    return tuple(found)


def _try_promises(
    table: Table, schema: Schema, promises: Sequence[Promise], algorithm: Algorithm | None = None
) -> float:
    """The loss (GCP) of one run in a hurry; nothing of it is kept."""
    method = Groups(effort="fast") if algorithm is None else algorithm
    prepared = prepare(Recipe(schema=schema, promises=tuple(promises), algorithm=method), table)
    release, _ = prepared.anonymize(Randomness(0))
    return GlobalCertaintyPenalty().measure(prepared.data, release)
