"""BL's releases in use: median errors of count queries, answered from generalised and from perturbed tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.analysis.counts import Answers, Queries, estimated, independent
from lookalike.apps.papers.bench import Bench, Made
from lookalike.apps.papers.bl import (
    BETA,
    BETAS,
    BUCKETS,
    DATA,
    DEFAULT,
    GENERALIZED,
    NAMES,
    PAPERS,
    falling,
    likeness,
    lowest,
    reached,
    rising,
)
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import Drawn, RangeWorkload, judged

COLUMNS = 3
"""Quasi-identifiers that a query asks about, unless the experiment is about it."""
THETA = 0.1
THETAS = (0.05, 0.1, 0.15, 0.2, 0.25)
PERTURBED, BASELINE = "perturbation", "Baseline"
DRAWS = 5
"""Perturbed tables at each point, at least: all queries share the noise of one, so two say little."""
_NOISE = 0.1
"""Medians of a thousand queries move by so much of themselves from one draw of queries to the next."""


@dataclass(frozen=True)
class Setting:
    """One point of an axis: a table, a promise and a workload."""

    at: float
    data: Microdata
    beta: int = BETA
    columns: int = COLUMNS
    theta: float = THETA

    def asked(self, bench: Bench, repetition: int) -> Drawn:
        """Queries of its own for each point, as in the paper."""
        seed = round(1000 * self.at) * 100 + repetition
        return bench.asked(RangeWorkload(self.columns, self.theta), self.data, seed)


Axis = Callable[[Bench], Iterator[Setting]]


def _table(bench: Bench, names: Sequence[str] = NAMES) -> Microdata:
    return bench.datasets.census(bench.size.most_rows, names)


def by_lambda(bench: Bench) -> Iterator[Setting]:
    data = _table(bench)
    for columns in range(1, len(NAMES) + 1):
        yield Setting(columns, data, columns=columns)


def by_beta(bench: Bench) -> Iterator[Setting]:
    data = _table(bench, DEFAULT)
    for beta in BETAS:
        yield Setting(beta, data, beta=beta)


def by_columns(bench: Bench) -> Iterator[Setting]:
    for size in range(1, len(NAMES) + 1):
        yield Setting(size, _table(bench, NAMES[:size]), columns=min(COLUMNS, size))


def by_theta(bench: Bench) -> Iterator[Setting]:
    data = _table(bench, DEFAULT)
    for theta in THETAS:
        yield Setting(theta, data, theta=theta)


def clipped(asked: Drawn, made: Made) -> Answers:
    """Reconstructed counts, none below 0 or above the number of records that the quasi-identifiers select."""
    about_quasi = Queries(asked.queries.quasi, Queries.everything(made.data.domains, len(asked.queries)).sensitive)
    answers = estimated(asked.queries, made.release)
    most = estimated(about_quasi, made.release).counts
    return Answers(np.clip(answers.counts, 0.0, most), answers.errors)


def _row(x: str, setting: Setting, series: str, repetition: int, asked: Drawn, answers: Answers) -> Row:
    return {
        x: setting.at,
        "series": series,
        "repetition": repetition,
        "error": 100 * judged(asked, answers).median,
        "queries": len(asked.truth),
        "dropped": asked.n_dropped,
        "selectivity": asked.selectivity,
    }


def generalized(x: str, axis: Axis) -> Callable[[Bench], Iterator[Row]]:
    """Errors of the methods that generalise; values inside cells count as equally likely."""

    def measure(bench: Bench) -> Iterator[Row]:
        for setting in axis(bench):
            for repetition in bench.repetitions:
                asked = setting.asked(bench, repetition)
                for series, algorithm in GENERALIZED.items():
                    made = bench.publish(setting.data, likeness(setting.beta), algorithm, repetition)
                    answers = estimated(asked.queries, made.release, "uniform")
                    yield {**_row(x, setting, series, repetition, asked, answers), **reached(made)}

    return measure


def perturbed(x: str, axis: Axis) -> Callable[[Bench], Iterator[Row]]:
    """Errors of perturbation, and of exact quasi-identifiers beside the table's shares of values."""

    def measure(bench: Bench) -> Iterator[Row]:
        for setting in axis(bench):
            for repetition in range(max(DRAWS, bench.size.repetitions)):
                asked = setting.asked(bench, repetition)
                made = bench.publish(setting.data, likeness(setting.beta), "perturbation", repetition)
                yield _row(x, setting, PERTURBED, repetition, asked, clipped(asked, made)) | {"reached_beta": made.beta}
                alone = independent(asked.queries, setting.data)
                yield _row(x, setting, BASELINE, repetition, asked, Answers(alone, np.zeros(len(alone))))

    return measure


def not_monotone(x: str, series: str) -> Callable[[Results], bool]:
    """The test that an error goes up and down along an axis."""

    def test(found: Results) -> bool:
        enough = len(found.means(x, "error", series)) > 2
        return enough and not found.falls(x, "error", series) and not found.rises(x, "error", series)

    return test


def rises_least(x: str) -> Callable[[Results], bool]:
    """The test that from the first to the last x BUREL's error grows by the fewest points."""

    def growth(found: Results, series: str) -> float:
        means = found.means(x, "error", series)
        return means[max(means)] - means[min(means)] if means else math.nan

    return lambda found: all(growth(found, "BUREL") < growth(found, other) for other in PAPERS[1:])


def flat(x: str, series: str, slack: float = 2 * _NOISE) -> Callable[[Results], bool]:
    """The test that a series stays within the noise of its mean."""

    def test(found: Results) -> bool:
        means = list(found.means(x, "error", series).values())
        return bool(means) and max(means) - min(means) <= slack * float(np.mean(means))

    return test


def _generalized(
    figure: str, x: str, axis: Axis, title: str, setting: str, reports: str, *shapes: Shape, differs: str = ""
) -> Experiment:
    return Experiment(
        paper="BL",
        title=f"query error by {title}",
        setting=f"CENSUS, {setting}",
        reports=f"{reports}; BUREL best.",
        figures=(Figure(figure, x, "error", title, "median error, %"),),
        measure=generalized(x, axis),
        shapes=(*shapes, Shape("BUREL answers best", lowest(x, "error", "BUREL", "LMondrian", "DMondrian"))),
        differs=DATA + BUCKETS + _NOT_BEST + differs,
    )


def _perturbed(
    figure: str, x: str, axis: Axis, title: str, setting: str, reports: str, *shapes: Shape, differs: str = ""
) -> Experiment:
    return Experiment(
        paper="BL",
        title=f"query error of perturbation by {title}",
        setting=f"CENSUS, {setting}",
        reports=f"{reports}; perturbation beats Baseline everywhere.",
        figures=(Figure(figure, x, "error", title, "median error, %"),),
        measure=perturbed(x, axis),
        shapes=(*shapes, Shape("perturbation answers better than Baseline", lowest(x, "error", PERTURBED, BASELINE))),
        differs=DATA + _RECONSTRUCTED + _NOISY + differs,
    )


_RECONSTRUCTED = (
    "The matrix is mended where the paper's would break its promise. Reconstructed counts are clipped to what the "
    "quasi-identifiers select. "
)
_NOT_BEST = (
    "On the census extract BUREL and LMondrian answer about equally well at beta = 4: BUREL is better for a smaller "
    "beta, LMondrian with one or two quasi-identifiers. "
)
_NOISY = (
    "Perturbation keeps about one value in ten or twenty, so its errors shrink as records grow in number, and those of "
    "Baseline do not: with a small beta, or where values depend little on what is asked about, it takes more records. "
)
_GENDERS = "A range over two genders holds one of them or both, so queries select more or less than theta. "
_THETAS = "The paper's values of theta are not known. "
_BY_LAMBDA = "five quasi-identifiers, beta = 4, theta = 0.1, queries about one to five of them"
_BY_BETA = "three quasi-identifiers, beta = 1 to 5, theta = 0.1, lambda = 3"
_BY_COLUMNS = "one to five quasi-identifiers, beta = 4, theta = 0.1, lambda = 3 or all there are"
_BY_THETA = "three quasi-identifiers, beta = 4, theta = 0.05 to 0.25, lambda = 3"

EXPERIMENTS = (
    _generalized(
        "bl-8a",
        "lambda",
        by_lambda,
        "lambda",
        _BY_LAMBDA,
        "Not monotone in lambda",
        Shape("error is not monotone in lambda", not_monotone("lambda", "BUREL")),
        differs=_GENDERS + "Errors rise with lambda: cells of five columns are wide, and so rarely inside a query. ",
    ),
    _generalized(
        "bl-8b",
        "beta",
        by_beta,
        "beta",
        _BY_BETA,
        "Falls with beta",
        *falling("error falls as beta grows", "beta", "error", *PAPERS, slack=_NOISE),
        differs=_GENDERS,
    ),
    _generalized(
        "bl-8c",
        "columns",
        by_columns,
        "quasi-identifiers",
        _BY_COLUMNS,
        "Rises with the number of quasi-identifiers, with BUREL the least",
        *rising("error rises with quasi-identifiers", "columns", "error", *PAPERS, slack=_NOISE),
        Shape("BUREL's error rises least", rises_least("columns")),
        differs=_GENDERS,
    ),
    _generalized(
        "bl-8d",
        "theta",
        by_theta,
        "theta",
        _BY_THETA,
        "Falls with theta",
        *falling("error falls as theta grows", "theta", "error", *PAPERS, slack=_NOISE),
        differs=_GENDERS + _THETAS,
    ),
    _perturbed(
        "bl-9a",
        "lambda",
        by_lambda,
        "lambda",
        _BY_LAMBDA,
        "Falls with lambda",
        *falling("error falls with lambda", "lambda", "error", PERTURBED, BASELINE, slack=_NOISE),
    ),
    _perturbed(
        "bl-9b",
        "beta",
        by_beta,
        "beta",
        _BY_BETA,
        "Perturbation falls with beta, Baseline is flat up to noise",
        *falling("error of perturbation falls as beta grows", "beta", "error", PERTURBED, slack=_NOISE),
        Shape("error of Baseline does not depend on beta", flat("beta", BASELINE)),
    ),
    _perturbed(
        "bl-9c",
        "columns",
        by_columns,
        "quasi-identifiers",
        _BY_COLUMNS,
        "No uniform trend",
        Shape("error is not monotone in quasi-identifiers", not_monotone("columns", PERTURBED)),
    ),
    _perturbed(
        "bl-9d",
        "theta",
        by_theta,
        "theta",
        _BY_THETA,
        "Falls with theta",
        *falling("error falls as theta grows", "theta", "error", PERTURBED, BASELINE, slack=_NOISE),
        differs=_THETAS,
    ),
)
