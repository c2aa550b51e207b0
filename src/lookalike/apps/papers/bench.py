"""What experiments measure with. Every release passes its audit before anything is measured of it; times are CPU
seconds of the method alone, kernels compiled before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.analysis.counts import estimate_counts
from lookalike.apps.papers.datasets import Datasets
from lookalike.attacks import parse_attack
from lookalike.audit import Audit
from lookalike.data.contracts import Finding, Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import AuditFailed, LookalikeError
from lookalike.metrics import METRICS
from lookalike.metrics.query_error import Drawn, QueryError, Workload, draw_queries, judge_answers
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

_FEW = 600


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    name: str
    rows: int
    """Records where the paper has its default."""
    most_rows: int
    repetitions: int
    queries: int
    matched_repetitions: int = 1
    """Repetitions where rows of ranges are matched for small beta, which takes long (longer for fewer records)."""


QUICK = Size("quick", rows=5_000, most_rows=20_000, repetitions=2, queries=1_000)
FULL = Size("full", rows=10_000, most_rows=100_000, repetitions=5, queries=10_000, matched_repetitions=5)


@dataclass(frozen=True, eq=False)
class Made:
    """An audited release, and what is asked of it."""

    data: Microdata
    promises: tuple[Promise, ...]
    algorithm: Any
    release: Release
    audit: Audit
    seconds: float
    """CPU seconds of the method."""

    def metric(self, name: str) -> float:
        return METRICS[name]().measure(self.release, self.data)

    def level(self, measure: str) -> float:
        """What the release reaches, as the audit measures it: beta, t (equal distance), l, k ..."""
        for verdict in self.audit.measured:
            if verdict.model == measure and verdict.reached is not None:
                return float(verdict.reached)
        raise KeyError(f"{measure} is none of {[verdict.model for verdict in self.audit.measured]}")

    @property
    def beta(self) -> float:
        return self.level("beta-likeness (bound=basic)")

    @property
    def t(self) -> float:
        return self.level("t-closeness")

    @property
    def diversity(self) -> float:
        return self.level("l-diversity")

    def attack(self, attack: str, seed: int) -> Finding:
        target = Target(release=self.release, original=self.data, promises=self.promises, algorithm=self.algorithm)
        return parse_attack(attack).run(target, Randomness(seed), silent)[0]


@dataclass(frozen=True, eq=False)
class Bench:
    """Data sets, sizes and seeds of one run of experiments."""

    datasets: Datasets
    size: Size
    progress: Progress = silent
    _made: dict[tuple[Any, ...], Made] = field(default_factory=dict)
    _warm: set[tuple[str, str]] = field(default_factory=set)

    @cached_property
    def _few(self) -> Microdata:
        return self.datasets.census(_FEW)

    @property
    def repetitions(self) -> range:
        return range(self.size.repetitions)

    def publish(self, data: Microdata, model: str, algorithm: str, seed: int, adversary: str = "reads-release") -> Made:
        """An audited release; the same one if it was made before in this run."""
        key = id(data), model, algorithm, seed
        if key not in self._made:
            kind = model.partition(":")[0], algorithm
            if kind not in self._warm:
                # Kernels compile on first use, which is none of the method's time.
                self._warm.add(kind)
                with suppress(LookalikeError):
                    self._publish(self._few, model, algorithm, seed, adversary)
            self._made[key] = self._publish(data, model, algorithm, seed, adversary)
        return self._made[key]

    def _publish(self, data: Microdata, model: str, algorithm: str, seed: int, adversary: str) -> Made:
        method = parse_algorithm(algorithm).facing(adversary)
        promises = settle([Promise(parse_model(model))], data)
        requirements = require(promises, data)
        begin = time.process_time()
        release, linkage = method.anonymize(data, requirements, Randomness(seed), self.progress)
        seconds = time.process_time() - begin
        audit = pipeline.verify(release, data, promises, graph=linkage.graph, adversary=method.adversary)
        if not audit.passed:
            raise AuditFailed(f"What {algorithm} made under {model} does not pass its audit.\n{audit}")
        return Made(data, promises, method, release, audit, seconds)

    def draw_queries(self, workload: Workload, data: Microdata, seed: int, n_queries: int | None = None) -> Drawn:
        """Queries of a workload that somebody satisfies."""
        return draw_queries(workload, data, n_queries or self.size.queries, np.random.default_rng([41, seed]))

    def error(self, asked: Drawn, made: Made, inside: str = "uniform") -> QueryError:
        """How a release answers them; inside cells all values are alike, as in the papers, unless said otherwise."""
        return judge_answers(asked, estimate_counts(asked.queries, made.release, inside))

    def sizes_up_to(self, sizes: Sequence[int]) -> list[int]:
        """Numbers of records that this size of run and the data allow."""
        return [size for size in sizes if size <= min(self.size.most_rows, self.datasets.n_census)]
