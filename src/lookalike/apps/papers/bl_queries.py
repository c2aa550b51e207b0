"""BL's releases in use: median errors of count queries, answered from generalised and from perturbed tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.analysis.counts import Answers, Queries, estimate_counts, independent
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
    list_reached,
    lowest,
    rising,
)
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import Drawn, RangeWorkload, judge_answers

_COLUMNS = 3
"""Quasi-identifiers that a query asks about, unless the experiment is about it."""
_THETA = 0.1
_THETAS = (0.05, 0.1, 0.15, 0.2, 0.25)
_PERTURBED, _BASELINE = "perturbation", "Baseline"
_DRAWS = 5
"""Perturbed tables at each point, at least: all queries share the noise of one, so two say little."""
_NOISE = 0.1
"""Medians of a thousand queries move by so much of themselves from one draw of queries to the next."""


@dataclass(frozen=True)
class Setting:
    """One point of an axis: a table, a promise and a workload."""

    at: float
    data: Microdata
    beta: int = BETA
    columns: int = _COLUMNS
    theta: float = _THETA

    def draw_queries(self, bench: Bench, repetition: int) -> Drawn:
        """Queries of its own for each point, as in the paper."""
        seed = round(1000 * self.at) * 100 + repetition
        return bench.draw_queries(RangeWorkload(self.columns, self.theta), self.data, seed)


Axis = Callable[[Bench], Iterator[Setting]]


def _table(bench: Bench, names: Sequence[str] = NAMES) -> Microdata:
    return bench.datasets.census(bench.size.most_rows, names)


def _by_lambda(bench: Bench) -> Iterator[Setting]:
    data = _table(bench)
    for columns in range(1, len(NAMES) + 1):
        yield Setting(columns, data, columns=columns)


def _by_beta(bench: Bench) -> Iterator[Setting]:
    data = _table(bench, DEFAULT)
    for beta in BETAS:
        yield Setting(beta, data, beta=beta)


def _by_columns(bench: Bench) -> Iterator[Setting]:
    for size in range(1, len(NAMES) + 1):
        yield Setting(size, _table(bench, NAMES[:size]), columns=min(_COLUMNS, size))


def _by_theta(bench: Bench) -> Iterator[Setting]:
    data = _table(bench, DEFAULT)
    for theta in _THETAS:
        yield Setting(theta, data, theta=theta)


def clip_answers(asked: Drawn, made: Made) -> Answers:
    """Reconstructed counts, none below 0 or above the number of records that the quasi-identifiers select."""
    about_quasi = Queries(asked.queries.quasi, Queries.everything(made.data.domains, len(asked.queries)).sensitive)
    answers = estimate_counts(asked.queries, made.release)
    most = estimate_counts(about_quasi, made.release).counts
    return Answers(np.clip(answers.counts, 0.0, most), answers.errors)


def _row(x: str, setting: Setting, series: str, repetition: int, asked: Drawn, answers: Answers) -> Row:
    return {
        x: setting.at,
        "series": series,
        "repetition": repetition,
        "error": 100 * judge_answers(asked, answers).median,
        "queries": len(asked.truth),
        "dropped": asked.n_dropped,
        "selectivity": asked.selectivity,
    }


def _measure_generalized(x: str, axis: Axis) -> Callable[[Bench], Iterator[Row]]:
    """Errors of the methods that generalise; values inside cells count as equally likely."""

    def measure(bench: Bench) -> Iterator[Row]:
        for setting in axis(bench):
            for repetition in bench.repetitions:
                asked = setting.draw_queries(bench, repetition)
                for series, algorithm in GENERALIZED.items():
                    made = bench.publish(setting.data, likeness(setting.beta), algorithm, repetition)
                    answers = estimate_counts(asked.queries, made.release, "uniform")
                    yield {**_row(x, setting, series, repetition, asked, answers), **list_reached(made)}

    return measure


def _measure_perturbed(x: str, axis: Axis) -> Callable[[Bench], Iterator[Row]]:
    """Errors of perturbation, and of exact quasi-identifiers beside the table's shares of values."""

    def measure(bench: Bench) -> Iterator[Row]:
        for setting in axis(bench):
            for repetition in range(max(_DRAWS, bench.size.repetitions)):
                asked = setting.draw_queries(bench, repetition)
                made = bench.publish(setting.data, likeness(setting.beta), "perturbation", repetition)
                yield _row(x, setting, _PERTURBED, repetition, asked, clip_answers(asked, made)) | {
                    "reached_beta": made.beta
                }
                alone = independent(asked.queries, setting.data)
                yield _row(x, setting, _BASELINE, repetition, asked, Answers(alone, np.zeros(len(alone))))

    return measure


def _not_monotone(x: str, series: str) -> Callable[[Results], bool]:
    """The test that an error goes up and down along an axis."""

    def test(found: Results) -> bool:
        enough = len(found.means(x, "error", series)) > 2
        return enough and not found.falls(x, "error", series) and not found.rises(x, "error", series)

    return test


def _rises_least(x: str) -> Callable[[Results], bool]:
    """The test that from the first to the last x BUREL's error grows by the fewest points."""

    def growth(found: Results, series: str) -> float:
        means = found.means(x, "error", series)
        return means[max(means)] - means[min(means)] if means else math.nan

    return lambda found: all(growth(found, "BUREL") < growth(found, other) for other in PAPERS[1:])


def _stays_flat(x: str, series: str, slack: float = 2 * _NOISE) -> Callable[[Results], bool]:
    """The test that a series stays within the noise of its mean."""

    def test(found: Results) -> bool:
        means = list(found.means(x, "error", series).values())
        return bool(means) and max(means) - min(means) <= slack * float(np.mean(means))

    return test


def _describe_generalized(
    figure: str, x: str, axis: Axis, title: str, setting: str, reports: str, *shapes: Shape, differs: str = ""
) -> Experiment:
    return Experiment(
        paper="BL",
        title=f"query error by {title}",
        setting=f"CENSUS, {setting}",
        reports=f"{reports}; BUREL best.",
        figures=(Figure(figure, x, "error", title, "median error, %"),),
        measure=_measure_generalized(x, axis),
        shapes=(*shapes, Shape("BUREL answers best", lowest(x, "error", "BUREL", "LMondrian", "DMondrian"))),
        differs=DATA + BUCKETS + _NOT_BEST + differs,
    )


def _describe_perturbed(
    figure: str, x: str, axis: Axis, title: str, setting: str, reports: str, *shapes: Shape, differs: str = ""
) -> Experiment:
    return Experiment(
        paper="BL",
        title=f"query error of perturbation by {title}",
        setting=f"CENSUS, {setting}",
        reports=f"{reports}; perturbation beats Baseline everywhere.",
        figures=(Figure(figure, x, "error", title, "median error, %"),),
        measure=_measure_perturbed(x, axis),
        shapes=(*shapes, Shape("perturbation answers better than Baseline", lowest(x, "error", _PERTURBED, _BASELINE))),
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
_THETA_UNKNOWN = "The paper's values of theta are not known. "
_BY_LAMBDA = "five quasi-identifiers, beta = 4, theta = 0.1, queries about one to five of them"
_BY_BETA = "three quasi-identifiers, beta = 1 to 5, theta = 0.1, lambda = 3"
_BY_COLUMNS = "one to five quasi-identifiers, beta = 4, theta = 0.1, lambda = 3 or all there are"
_BY_THETA = "three quasi-identifiers, beta = 4, theta = 0.05 to 0.25, lambda = 3"

EXPERIMENTS = (
    _describe_generalized(
        "bl-8a",
        "lambda",
        _by_lambda,
        "lambda",
        _BY_LAMBDA,
        "Not monotone in lambda",
        Shape("error is not monotone in lambda", _not_monotone("lambda", "BUREL")),
        differs=_GENDERS + "Errors rise with lambda: cells of five columns are wide, and so rarely inside a query. ",
    ),
    _describe_generalized(
        "bl-8b",
        "beta",
        _by_beta,
        "beta",
        _BY_BETA,
        "Falls with beta",
        *falling("error falls as beta grows", "beta", "error", *PAPERS, slack=_NOISE),
        differs=_GENDERS,
    ),
    _describe_generalized(
        "bl-8c",
        "columns",
        _by_columns,
        "quasi-identifiers",
        _BY_COLUMNS,
        "Rises with the number of quasi-identifiers, with BUREL the least",
        *rising("error rises with quasi-identifiers", "columns", "error", *PAPERS, slack=_NOISE),
        Shape("BUREL's error rises least", _rises_least("columns")),
        differs=_GENDERS,
    ),
    _describe_generalized(
        "bl-8d",
        "theta",
        _by_theta,
        "theta",
        _BY_THETA,
        "Falls with theta",
        *falling("error falls as theta grows", "theta", "error", *PAPERS, slack=_NOISE),
        differs=_GENDERS + _THETA_UNKNOWN,
    ),
    _describe_perturbed(
        "bl-9a",
        "lambda",
        _by_lambda,
        "lambda",
        _BY_LAMBDA,
        "Falls with lambda",
        *falling("error falls with lambda", "lambda", "error", _PERTURBED, _BASELINE, slack=_NOISE),
    ),
    _describe_perturbed(
        "bl-9b",
        "beta",
        _by_beta,
        "beta",
        _BY_BETA,
        "Perturbation falls with beta, Baseline is flat up to noise",
        *falling("error of perturbation falls as beta grows", "beta", "error", _PERTURBED, slack=_NOISE),
        Shape("error of Baseline does not depend on beta", _stays_flat("beta", _BASELINE)),
    ),
    _describe_perturbed(
        "bl-9c",
        "columns",
        _by_columns,
        "quasi-identifiers",
        _BY_COLUMNS,
        "No uniform trend",
        Shape("error is not monotone in quasi-identifiers", _not_monotone("columns", _PERTURBED)),
    ),
    _describe_perturbed(
        "bl-9d",
        "theta",
        _by_theta,
        "theta",
        _BY_THETA,
        "Falls with theta",
        *falling("error falls as theta grows", "theta", "error", _PERTURBED, _BASELINE, slack=_NOISE),
        differs=_THETA_UNKNOWN,
    ),
)
