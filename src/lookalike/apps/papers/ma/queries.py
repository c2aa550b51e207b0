"""How well the releases of MA answer counts, what they reveal and how large their groups are (MA, figure 5).

RGG and SG keep binary 6-diversity of Tech-Support, of Craft-Repair, or of both values; Base publishes quasi-identifiers
and values without any link; (Ana) means that groups are divided by values, so Base(Ana) is Anatomy. All releases answer
the same queries, so that errors are compared query by query.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.shared.order_runs import Grown
from lookalike.analysis.counts import independent
from lookalike.analysis.intervals import Answers
from lookalike.apps.papers.experiments import Bench, Made
from lookalike.apps.papers.journal import Row
from lookalike.apps.papers.ma.data import (
    BOTH,
    ELL,
    POSITIVES,
    READINGS,
    SAFE,
    binary,
    n_queries,
    positive,
    repetitions,
    table,
)
from lookalike.apps.papers.ma.exact import divide, risk_of_parts
from lookalike.apps.papers.ma.worlds import risk_of_growth, risk_of_halves
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized
from lookalike.metrics.query_error import Drawn, SubsetWorkload, judge_answers

POINTS: dict[str, tuple[float, ...]] = {"qd": (1, 2, 3, 4, 5, 6), "sel": (0.1, 0.2, 0.3, 0.4, 0.5)}
BASE, ANATOMY = "Base", "Base(Ana)"
ABOVE, BELOW = "true count above", "true count below"
LARGER_ELL = math.ceil(math.e * ELL)
_GROWN, _HALVED = f"random-grouping:p={SAFE}", "symmetric-grouping:"
_WHOLE = 200
"""Queries of which it is counted how many groups they take whole."""
Errors = NDArray[np.float64]


def name(method: str, value: str) -> str:
    """A series: RGG, SG, their divided and generalised versions or GG(el), for what it protects."""
    return f"{method}, {value}"


def _list_compared(value: str) -> dict[str, list[str]]:
    """For each series whose errors should be higher, those that should be lower."""
    pairs = {
        name("SG", value): [name("RGG", value), name("SG(Ana)", value)],
        BASE: [name("RGG", value)],
        name("SG(Ana)", value): [name("RGG(Ana)", value)],
        ANATOMY: [name("RGG(Ana)", value)],
        name("RGG", value): [name("RGG(Ana)", value)],
    }
    if value != BOTH:
        pairs[name("GG(el)", value)] = [name("RGG", value)]
        pairs[name("RGG generalised", value)] = [name("RGG", value)]
        pairs[name("SG generalised", value)] = [name("SG", value)]
    return pairs


def all_pairs() -> dict[str, list[str]]:
    pairs: dict[str, list[str]] = {BASE: [ANATOMY], ANATOMY: []}
    for value in READINGS:
        for high, lows in _list_compared(value).items():
            pairs.setdefault(high, []).extend(lows)
        pairs.setdefault(name("RGG(Ana)", value), [])
    return pairs


@dataclass(eq=False)
class Releases:
    """The releases of one repetition, each made when it is first asked for."""

    bench: Bench
    data: Microdata
    repetition: int
    _divided: dict[str, tuple[Made, Grown, NDArray[np.int32]]] = field(default_factory=dict)

    def made(self, series: str) -> Made | None:
        """None for Base, which publishes no groups."""
        bench, data, repetition = self.bench, self.data, self.repetition
        if series == BASE:
            return None
        if series == ANATOMY:
            return bench.publish(data, f"l-diversity:{ELL}", "anatomy", repetition)
        method, _, value = series.partition(", ")
        if method == "RGG(Ana)":
            return self._divide(value)[0]
        if method == "GG(el)":
            return bench.publish(data, binary(data, value, LARGER_ELL), "greedy-grouping:recode=permute", repetition)
        algorithm = {
            "RGG": f"{_GROWN},recode=permute",
            "SG": f"{_HALVED}recode=permute",
            "SG(Ana)": f"{_HALVED}recode=permute,anatomize=true",
            "RGG generalised": _GROWN,
            "SG generalised": _HALVED.rstrip(":"),
        }[method]
        return bench.publish(data, binary(data, value), algorithm, repetition)

    def _divide(self, value: str) -> tuple[Made, Grown, NDArray[np.int32]]:
        if value not in self._divided:
            grown, seed = RandomGrouping(p=SAFE, recode="permute"), self.bench.seed_of(self.repetition)
            self._divided[value] = divide(self.data, binary(self.data, value), grown, seed)
        return self._divided[value]

    def attack(self, series: str) -> Row:
        """The risk of a release against someone who knows the method, and the size of its groups."""
        made = self.made(series)
        assert made is not None
        method, _, value = series.partition(", ")
        found: Row = {"group_size": made.metric("average_group_size")}
        seed = self.bench.seed_of(self.repetition)
        if series == ANATOMY:
            # By the paper's claim 4 no more than the buckets say.
            assert isinstance(made.release, Bucketized)
            counts = np.zeros((int(made.release.bucket_of_sensitive.max()) + 1, made.data.domains.sensitive[0].n_codes))
            np.add.at(counts, (made.release.bucket_of_sensitive, made.release.sensitive[:, 0]), 1)
            found["risk"] = ELL * float((counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)).max())
        elif value in POSITIVES and method in ("RGG", "SG"):
            risk = risk_of_growth if method == "RGG" else risk_of_halves
            found["risk"] = risk(made, positive(self.data, value)[0], ELL, seed)["risk"]
        elif value in POSITIVES and method == "RGG(Ana)":
            _, grown, parts = self._divide(value)
            code = positive(self.data, value)[0]
            found["risk"] = risk_of_parts(self.data, grown, parts, code, ELL, float(SAFE))["risk"]
        return found


@dataclass(eq=False)
class Asked:
    """The queries of one point and repetition, and how each release answers them, worked out when first asked for."""

    releases: Releases
    axis: str
    point: float
    _errors: dict[str, Errors] = field(default_factory=dict)
    _drawn: Drawn | None = None

    @property
    def drawn(self) -> Drawn:
        if self._drawn is None:
            workload = (
                SubsetWorkload(int(self.point), 0.3) if self.axis == "qd" else SubsetWorkload(3, float(self.point))
            )
            bench = self.releases.bench
            self._drawn = bench.draw_queries(workload, self.releases.data, self.releases.repetition, n_queries(bench))
        return self._drawn

    def errors(self, series: str) -> Errors:
        """The relative error of each query, in per cent."""
        if series not in self._errors:
            made = self.releases.made(series)
            if made is None:
                estimates = independent(self.drawn.queries, self.releases.data)
                error = judge_answers(self.drawn, Answers.of_another(estimates))
            else:
                error = self.releases.bench.error(self.drawn, made)
            self._errors[series] = 100 * error.relative
        return self._errors[series]

    def correlated(self, kind: str) -> NDArray[np.int64]:
        """The tenth of the queries whose true count is furthest above (below) what independence would give."""
        ratio = self.drawn.truth / np.maximum(independent(self.drawn.queries, self.releases.data), 1e-9)
        in_turn = np.argsort(-ratio if kind == ABOVE else ratio, kind="stable")
        return in_turn[: max(1, len(in_turn) // 10)]

    def measure(self, series: str, lows: list[str]) -> Row:
        errors = self.errors(series)
        row: Row = {
            # Generalised groups have errors so large that nothing else could be read off the figure.
            "generalised_error" if "generalised" in series else "error": float(errors.mean()),
            "queries": len(errors),
            "dropped": self.drawn.n_dropped,
            "count": float(self.drawn.truth.mean()),
        }
        for low in lows:
            gaps = self.errors(low) - errors
            row[f"gap to {low}"] = float(gaps.mean())
            row[f"noise to {low}"] = float(gaps.std() / math.sqrt(len(gaps)))
        if series == ANATOMY or series.startswith("RGG(Ana)"):
            row["whole_groups"] = 100 * self.whole_groups(series)
        return row

    def measure_correlated(self, series: str, kind: str) -> Row:
        return {"correlated_error": float(self.errors(series)[self.correlated(kind)].mean())}

    def whole_groups(self, series: str) -> float:
        """The share of groups of which the conditions on quasi-identifiers take all records or none."""
        made = self.releases.made(series)
        assert made is not None
        assert isinstance(made.release, Bucketized)
        release, queries = made.release, self.drawn.queries
        sizes = np.bincount(release.bucket_of_quasi)
        shares = []
        for query in range(min(_WHOLE, len(queries))):
            wanted = np.ones(len(release.quasi), dtype=bool)
            for column, mask in enumerate(queries.quasi):
                wanted &= mask[query][release.quasi[:, column]]
            inside = np.bincount(release.bucket_of_quasi, wanted, len(sizes))
            shares.append(float(((inside == 0) | (inside == sizes))[sizes > 0].mean()))
        return float(np.mean(shares))


def answer_queries(bench: Bench) -> Iterator[Row]:
    """Of each release risk and group size; at each point errors, gaps between releases, and errors of the correlated
    queries of RGG and the baselines."""
    data, pairs = table(bench), all_pairs()
    attacked = [
        ANATOMY,
        *(name(method, value) for value in READINGS for method in ("RGG", "SG", "RGG(Ana)", "SG(Ana)")),
    ]
    both_kinds = [BASE, ANATOMY, *(name(method, value) for value in READINGS for method in ("RGG", "RGG(Ana)"))]
    for repetition in repetitions(bench):
        releases = Releases(bench, data, repetition)

        def rows(at: Row, series: str, measure: Callable[[], Row], repetition: int = repetition) -> Row:
            return bench.row({**at, "series": series, "repetition": repetition}, measure)

        for series in attacked:
            yield rows({"of": "release"}, series, partial(releases.attack, series))
        for axis, points in POINTS.items():
            for point in points:
                asked = Asked(releases, axis, point)
                for series, lows in pairs.items():
                    yield rows({axis: point}, series, partial(asked.measure, series, lows))
                for kind in (ABOVE, BELOW):
                    for series in both_kinds:
                        measure = partial(asked.measure_correlated, series, kind)
                        yield rows({axis: point}, f"{series}, {kind}", measure)
