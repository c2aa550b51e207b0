"""What an experiment is: how it is measured, what is drawn, what a reproduction must show, and the bench to measure on.

Every release passes its audit before anything is measured of it; times are CPU seconds of the method alone, kernels
compiled before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.analysis.counts import estimate_counts
from lookalike.apps.papers.datasets import Datasets
from lookalike.attacks import parse_attack
from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Finding, Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import AuditFailed, LookalikeError
from lookalike.metrics import METRICS
from lookalike.metrics.query_error import Drawn, QueryError, Workload, draw_queries, judge_answers
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

Row = dict[str, Any]
"""One measurement: the parameter on the x axis, `series`, `repetition`, and figures by name."""
Named = str | Algorithm
"""A method of the registry, as one writes it, or one that only an experiment has."""
_FEW = 600


@dataclass(frozen=True)
class Figure:
    """A picture of the paper: which measured figure it shows, over which parameter."""

    name: str
    """As the paper numbers it, such as hg-6a."""
    x: str
    y: str
    x_title: str
    y_title: str
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True, eq=False)
class Results:
    """All measurements of an experiment."""

    rows: tuple[Row, ...]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(row["series"] for row in self.rows))

    def values(self, x: str, y: str, series: str) -> dict[Any, list[float]]:
        """For each x the repetitions of a figure."""
        found: dict[Any, list[float]] = {}
        for row in self.rows:
            if row["series"] == series and row.get(y) is not None:
                found.setdefault(row[x], []).append(float(row[y]))
        return found

    def means(self, x: str, y: str, series: str) -> dict[Any, float]:
        return {at: float(np.mean(numbers)) for at, numbers in self.values(x, y, series).items()}

    def pairs(self, x: str, y: str, one: str, other: str) -> list[tuple[float, float]]:
        """The means of two series wherever both were measured, along the axis."""
        first, second = self.means(x, y, one), self.means(x, y, other)
        return [(first[at], second[at]) for at in sorted(first) if at in second]

    def below(self, x: str, y: str, lower: str, upper: str, slack: float = 0.0) -> bool:
        """Whether one series' mean lies below another's wherever both were measured."""
        shared = self.pairs(x, y, lower, upper)
        return bool(shared) and all(low <= high * (1 + slack) for low, high in shared)

    def goes(self, way: int, x: str, y: str, series: str, slack: float = 0.0) -> bool:
        """Whether a series rises (1) or falls (-1) from first to last x, nowhere back by more than the slack."""
        means = self.means(x, y, series)
        numbers = [means[at] for at in sorted(means)]
        steady = all(way * after >= way * before * (1 - way * slack) for before, after in pairwise(numbers))
        return len(numbers) > 1 and way * numbers[-1] > way * numbers[0] and steady


Test = Callable[[Results], bool]


@dataclass(frozen=True)
class Shape:
    """What a reproduction must show, in words and as a test; noise is allowed for in the test."""

    claim: str
    test: Test


def lowest(x: str, y: str, one: str, *others: str, slack: float = 0.0) -> Test:
    """The test that a series lies below others everywhere."""
    return lambda found: all(found.below(x, y, one, other, slack) for other in others)


def falls(x: str, y: str, *series: str, slack: float = 0.0) -> Test:
    """The test that every one of these series falls along an axis."""
    return lambda found: all(found.goes(-1, x, y, one, slack) for one in series)


def rises(x: str, y: str, *series: str, slack: float = 0.0) -> Test:
    """The test that every one of these series rises along an axis."""
    return lambda found: all(found.goes(1, x, y, one, slack) for one in series)


def claim_each(what: str, test: Callable[..., Test], x: str, y: str, *series: str, slack: float) -> tuple[Shape, ...]:
    """The claim that a figure falls or rises along an axis, for each series by itself."""
    return tuple(Shape(f"{what}: {one}", test(x, y, one, slack=slack)) for one in series)


@dataclass(frozen=True)
class Experiment:
    """One run of measurements, which one or several of a paper's figures show."""

    title: str
    setting: str
    """Data set and parameters, in a sentence."""
    reports: str
    """What the paper says it found."""
    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Iterator[Row]]
    shapes: tuple[Shape, ...]
    stand_in: bool = False
    """Whether its data set is never at hand, so that it always runs on a stand-in."""
    differs: str = ""
    """What is done otherwise than in the paper, and why; errors of the paper."""

    @property
    def name(self) -> str:
        return self.figures[0].name

    @property
    def names(self) -> Sequence[str]:
        return [figure.name for figure in self.figures]

    @property
    def paper(self) -> str:
        """BL, GB, MA, HG or FF."""
        return self.name.partition("-")[0].upper()


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
        return METRICS[name]().measure(self.data, self.release)

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

    def guess(self, kind: str, seed: int) -> float:
        """How many guesses of naive Bayes are right, in per cent."""
        score = self.attack(f"naive-bayes:kind={kind}", seed).score
        assert score is not None
        return 100 * float(score.share)


@dataclass(frozen=True, eq=False)
class Bench:
    """Data sets, sizes and seeds of one run of experiments."""

    datasets: Datasets
    size: Size
    _made: dict[tuple[Any, ...], Made] = field(default_factory=dict)
    _warm: set[tuple[str, Named]] = field(default_factory=set)

    @property
    def repetitions(self) -> range:
        return range(self.size.repetitions)

    @property
    def is_full(self) -> bool:
        return self.size.name == "full"

    def publish(self, data: Microdata, model: str, algorithm: Named, seed: int) -> Made:
        """An audited release; the same one if it was made before in this run."""
        key = id(data), model, algorithm, seed
        if key not in self._made:
            kind = model.partition(":")[0], algorithm
            if kind not in self._warm:
                # Kernels compile on first use, which is none of the method's time.
                self._warm.add(kind)
                with suppress(LookalikeError):
                    _publish(self.datasets.census(_FEW), model, algorithm, seed)
            self._made[key] = _publish(data, model, algorithm, seed)
        return self._made[key]

    def releases(self, data: Microdata, model: str, methods: Mapping[str, Named]) -> Iterator[tuple[Row, Made]]:
        """A release by each method in each repetition, and the beginning of its row."""
        for series, algorithm in methods.items():
            for repetition in self.repetitions:
                made = self.publish(data, model, algorithm, repetition)
                yield {"series": series, "repetition": repetition}, made

    def draw_queries(self, workload: Workload, data: Microdata, seed: int, n_queries: int | None = None) -> Drawn:
        """Queries of a workload that somebody satisfies."""
        return draw_queries(workload, data, n_queries or self.size.queries, np.random.default_rng([41, seed]))

    def error(self, asked: Drawn, made: Made, inside: str = "uniform") -> QueryError:
        """How a release answers them; inside cells all values are alike, as in the papers, unless said otherwise."""
        return judge_answers(asked, estimate_counts(asked.queries, made.release, inside))

    @property
    def most_rows(self) -> int:
        """Records that this size of run and the data allow."""
        return min(self.size.most_rows, self.datasets.n_census)


def _publish(data: Microdata, model: str, algorithm: Named, seed: int) -> Made:
    method = (parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm).facing(READS_RELEASE)
    promises = settle([Promise(parse_model(model))], data)
    requirements = require(promises, data)
    begin = time.process_time()
    release, record_map = method.anonymize(data, requirements, Randomness(seed), silent)
    seconds = time.process_time() - begin
    audit = pipeline.verify(data, release, promises, graph=record_map.graph, adversary=method.adversary)
    if not audit.passed:
        raise AuditFailed(f"What {algorithm} made under {model} does not pass its audit.\n{audit}")
    return Made(data, promises, method, release, audit, seconds)
