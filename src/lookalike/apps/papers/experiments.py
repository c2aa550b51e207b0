"""What an experiment is: what it measures, which figures show it, which claims of the paper it decides, and the bench.

Every release passes its audit before anything is measured of it, except those of a method that is only studied because
it breaks its own promise (`is_studied`): these are never written. Times are CPU seconds of the method alone, kernels
compiled before.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.analysis.counts import estimate_counts
from lookalike.apps.papers.claims import Claim, Statement
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.journal import Journal, Row
from lookalike.attacks import parse_attack
from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Finding, Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import MatchGraph, Release
from lookalike.errors import AuditFailed, Infeasible, LookalikeError, MissingPart, Unsupported
from lookalike.metrics import METRICS
from lookalike.metrics.query_error import Drawn, QueryError, Workload, draw_queries, judge_answers
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

Named = str | Algorithm
"""A method of the registry, as one writes it, or one that only an experiment has."""
_FEW = 600
_KEPT = 192
"""Releases kept for other experiments of the same run."""
_SEEDS = 1_000
"""Repetitions of a run with another seed begin so many seeds further on."""


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints, as a point of a figure."""

    series: str
    x: float
    y: float


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
    printed: tuple[Printed, ...] = ()


@dataclass(frozen=True, eq=False)
class Results:
    """All measurements of an experiment."""

    rows: tuple[Row, ...]

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(row["series"] for row in self.rows))

    @property
    def infeasible(self) -> list[Row]:
        """Points at which a method could not keep its promise."""
        return [row for row in self.rows if row.get("infeasible")]

    def list_repetitions(self) -> list[Results]:
        """Each repetition by itself, if there are several; points with fewer of them begin again with their first."""
        points: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            points.setdefault(_point_of(row), []).append(row)
        n_repetitions = max(map(len, points.values()), default=0)
        if n_repetitions < 2:
            return []
        return [
            Results(tuple(rows[repetition % len(rows)] for rows in points.values()))
            for repetition in range(n_repetitions)
        ]

    def points(self, x: str, y: str) -> list[Any]:
        """Where on the axis any series was measured."""
        return sorted({row[x] for row in self.rows if x in row and row.get(y) is not None})

    def values(self, x: str, y: str, series: str) -> dict[Any, list[float]]:
        """For each x the repetitions of a figure."""
        found: dict[Any, list[float]] = {}
        for row in self.rows:
            if row["series"] == series and row.get(y) is not None and x in row:
                found.setdefault(row[x], []).append(float(row[y]))
        return found

    def means(self, x: str, y: str, series: str) -> dict[Any, float]:
        return {at: float(np.mean(numbers)) for at, numbers in self.values(x, y, series).items()}

    def shared(
        self, x: str, y: str, one: str, other: str, at: Sequence[float] = ()
    ) -> list[tuple[float, float, float]]:
        """Each point (or some points) at which two series were measured, with the means of both, along the axis."""
        first, second = self.means(x, y, one), self.means(x, y, other)
        points = [point for point in sorted(first) if point in second and (not at or point in at)]
        return [(point, first[point], second[point]) for point in points]

    def goes(self, way: int, x: str, y: str, series: str, slack: float = 0.0) -> bool:
        """Whether a series rises (1) or falls (-1) from first to last x, nowhere back by more than the slack."""
        means = self.means(x, y, series)
        numbers = [means[at] for at in sorted(means)]
        is_steady = all(way * after >= way * before * (1 - way * slack) for before, after in pairwise(numbers))
        return len(numbers) > 1 and way * numbers[-1] > way * numbers[0] and is_steady


def _point_of(row: Row) -> tuple[tuple[str, Any], ...]:
    """Where a row was measured, whichever repetition: a row begins with its point, of which these two names end."""
    names = list(row)
    end = max(names.index(name) for name in ("series", "repetition"))
    return tuple((name, row[name]) for name in names[: end + 1] if name != "repetition")


@dataclass(frozen=True)
class Experiment:
    """One run of measurements, which one or several of a paper's figures show."""

    title: str
    setting: str
    """Data set and parameters, in a sentence."""
    figures: tuple[Figure, ...]
    measure: Callable[[Bench], Iterator[Row]]
    """Every row comes from `Bench.row`, with whatever takes time inside of what is handed to it."""
    claims: tuple[Claim, ...]
    limits: str = ""
    """Why a claim that holds here counts only with limits: other data, or a method that is not the authors'."""
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
class Paper:
    """A paper as a whole: its story for readers, and what it says apart from its experiments."""

    letters: str
    title: str
    authors: str
    claimed: str
    """What it claims, in a few sentences."""
    holds: str
    fails: str
    instead: str
    """What to use today."""
    statements: tuple[Statement, ...] = ()
    claims: tuple[Claim, ...] = ()
    """Claims that no experiment decides: open, each with the reason."""
    main: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The claims for which the paper is cited, as its experiments state them: experiment by experiment."""


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
FULL = Size("full", rows=10_000, most_rows=500_000, repetitions=5, queries=10_000, matched_repetitions=5)


@dataclass(frozen=True, eq=False)
class Made:
    """An audited release, or one of a method that is only studied, and what is asked of it."""

    data: Microdata
    promises: tuple[Promise, ...]
    algorithm: Any
    release: Release
    audit: Audit | None
    """None: the method is only studied, and nothing is promised."""
    seconds: float
    """CPU seconds of the method."""
    graph: MatchGraph | None = None
    """Of a matched release: the rows that each record may be behind."""

    def metric(self, name: str) -> float:
        return METRICS[name]().measure(self.data, self.release)

    def level(self, measure: str) -> float:
        """What the release reaches, as the audit measures it: beta, t (equal distance), l, k ..."""
        measured = () if self.audit is None else self.audit.measured
        for verdict in measured:
            if verdict.model == measure and verdict.reached is not None:
                return float(verdict.reached)
        raise KeyError(f"{measure} is none of {[verdict.model for verdict in measured]}")

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


@dataclass(eq=False)
class Bench:
    """Data sets, sizes and seeds of one run of experiments, and what was measured so far."""

    datasets: Datasets
    size: Size
    seed: int = 0
    journal: Journal = field(default_factory=Journal)
    """The points of the experiment that is running."""
    is_planning: bool = False
    """Whether rows are only counted: nothing is measured."""
    _made: OrderedDict[tuple[Any, ...], Made] = field(default_factory=OrderedDict)
    _warm: set[tuple[str, Named]] = field(default_factory=set)

    @property
    def repetitions(self) -> range:
        return range(self.size.repetitions)

    def repeat(self, most: int) -> int:
        """Repetitions where these are enough: where more hardly differ, or take too long."""
        return min(most, self.size.repetitions)

    @property
    def is_full(self) -> bool:
        return self.size.name == "full"

    def row(self, at: Row, measure: Callable[[], Row]) -> Row:
        """A point with what is measured there, now or in an earlier run; what cannot be kept there is said."""
        if self.is_planning:
            return dict(at)
        found = self.journal.find(at)
        if found is None:
            begin = time.perf_counter()
            try:
                figures = measure()
            except (Infeasible, Unsupported, MissingPart) as error:
                figures = {"infeasible": str(error)}
            found = self.journal.add(at, figures, time.perf_counter() - begin)
        return found

    def seed_of(self, repetition: int) -> int:
        return _SEEDS * self.seed + repetition

    def publish(self, data: Microdata, model: str, algorithm: Named, repetition: int) -> Made:
        """A release, audited unless its method is only studied; the same one if it was made before in this run."""
        key = id(data), model, algorithm, repetition
        if key not in self._made:
            kind = model.partition(":")[0], algorithm
            if kind not in self._warm:
                # Kernels compile on first use, which is none of the method's time.
                self._warm.add(kind)
                with suppress(LookalikeError), self.datasets.unrecorded():
                    _publish(self.datasets.census(_FEW), model, algorithm, 0)
            self._made[key] = _publish(data, model, algorithm, self.seed_of(repetition))
            if len(self._made) > _KEPT:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]

    def rows_of(
        self,
        at: Row,
        data: Microdata,
        model: str,
        methods: Mapping[str, Named],
        measure: Callable[[Made, int], Row],
        repetitions: int | None = None,
    ) -> Iterator[Row]:
        """A row for each method and repetition at a point: what `measure` finds in its release."""

        def look(algorithm: Named, repetition: int) -> Row:
            return measure(self.publish(data, model, algorithm, repetition), repetition)

        for series, algorithm in methods.items():
            for repetition in range(repetitions or self.size.repetitions):
                point = {**at, "series": series, "repetition": repetition}
                yield self.row(point, partial(look, algorithm, repetition))

    def draw_queries(self, workload: Workload, data: Microdata, seed: int, n_queries: int | None = None) -> Drawn:
        """Queries of a workload that somebody satisfies."""
        rng = np.random.default_rng([41, self.seed_of(seed)])
        return draw_queries(workload, data, n_queries or self.size.queries, rng)

    def error(self, asked: Drawn, made: Made, inside: str = "uniform") -> QueryError:
        """How a release answers them; inside cells all values are alike, as in the papers, unless said otherwise."""
        return judge_answers(asked, estimate_counts(asked.queries, made.release, inside))

    @property
    def most_rows(self) -> int:
        """Records of the largest tables: at the papers' size more than the data have, drawn from them again."""
        return self.size.most_rows if self.is_full else min(self.size.most_rows, self.datasets.n_census)


def share_most_frequent(data: Microdata) -> float:
    """What someone gets right who guesses the most frequent value for everybody, in per cent."""
    return 100 * float(data.counts(0).max() / data.n_rows)


def _publish(data: Microdata, model: str, algorithm: Named, seed: int) -> Made:
    method = (parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm).facing(READS_RELEASE)
    promises = settle([Promise(parse_model(model))], data)
    requirements = require(promises, data)
    begin = time.process_time()
    release, record_map = method.anonymize(data, requirements, Randomness(seed), silent)
    seconds = time.process_time() - begin
    if getattr(method, "is_studied", False):
        return Made(data, promises, method, release, None, seconds, record_map.graph)
    audit = pipeline.verify(data, release, promises, graph=record_map.graph, adversary=method.adversary)
    if not audit.passed:
        raise AuditFailed(f"What {algorithm} made under {model} does not pass its audit.\n{audit}")
    return Made(data, promises, method, release, audit, seconds, record_map.graph)
