"""BL's figures 8 and 9: median errors of count queries, answered from generalised and from perturbed tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations

import numpy as np

from lookalike.algorithms.perturbation import Bounds
from lookalike.analysis.counts import Queries, estimate_counts, independent
from lookalike.analysis.intervals import Answers
from lookalike.apps.papers.bl.methods import (
    AS_PRINTED,
    BETA,
    BETAS,
    BUREL,
    DATA,
    DEFAULT,
    GENERALIZED,
    LMONDRIAN,
    NAMES,
    NOT_PUBLIC,
    OTHER_RECORDS,
    PAPERS,
    RIVALS,
    SPLIT,
    likeness,
    list_reached,
    repeat_thrice,
    repeat_twice,
)
from lookalike.apps.papers.claims import (
    Claim,
    Found,
    Test,
    Verdict,
    below,
    describe,
    falls,
    format_figure,
    rises,
    steady,
)
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Made, Named, Results
from lookalike.apps.papers.journal import Row
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import Drawn, RangeWorkload, judge_answers
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle

_COLUMNS = 3
"""Quasi-identifiers that a query asks about, unless the experiment is about it."""
_THETA = 0.1
_THETAS = (0.05, 0.1, 0.15, 0.2, 0.25)
PERTURBED, BASELINE = "perturbation", "Baseline"
_PERTURBED: dict[str, Named] = {PERTURBED: "perturbation"}
_NOISE = 0.1
"""Medians move by up to this part of themselves from one draw of queries, or of values, to the next."""


@dataclass(frozen=True)
class _Setting:
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


def _settings(x: str, bench: Bench) -> Iterator[_Setting]:
    """The points of an axis."""

    def table(names: Sequence[str]) -> Microdata:
        return bench.datasets.census(bench.most_rows, names)

    sizes = range(1, len(NAMES) + 1)
    if x == "lambda":
        return (_Setting(columns, table(NAMES), columns=columns) for columns in sizes)
    if x == "columns":
        return (_Setting(size, table(NAMES[:size]), columns=min(_COLUMNS, size)) for size in sizes)
    if x == "beta":
        return (_Setting(beta, table(DEFAULT), beta=beta) for beta in BETAS)
    return (_Setting(theta, table(DEFAULT), theta=theta) for theta in _THETAS)


def clip_answers(asked: Drawn, made: Made) -> Answers:
    """Reconstructed counts, none below 0 or above the number of records that the quasi-identifiers select."""
    about_quasi = Queries(asked.queries.quasi, Queries.everything(made.data.domains, len(asked.queries)).sensitive)
    answers = estimate_counts(asked.queries, made.release)
    most = estimate_counts(about_quasi, made.release).counts
    return answers._replace(counts=np.clip(answers.counts, 0.0, most))


def _look(asked: Drawn, answers: Answers) -> Row:
    return {
        "error": 100 * judge_answers(asked, answers).median,
        "queries": len(asked.truth),
        "dropped": asked.n_dropped,
        "selectivity": asked.selectivity,
    }


def _measure_generalized(x: str, bench: Bench) -> Iterator[Row]:
    """Errors of the methods that generalise; values inside cells count as equally likely."""
    methods = {**GENERALIZED, **(AS_PRINTED if x == "beta" else {})}
    for setting in _settings(x, bench):
        asked = cache(partial(setting.draw_queries, bench))

        def look(made: Made, repetition: int, asked: Callable[[int], Drawn] = asked) -> Row:
            answers = estimate_counts(asked(repetition).queries, made.release, "uniform")
            return {**_look(asked(repetition), answers), **list_reached(made)}

        yield from bench.rows_of(
            {x: setting.at}, setting.data, likeness(setting.beta), methods, look, repeat_twice(bench)
        )


def _measure_perturbed(x: str, bench: Bench) -> Iterator[Row]:
    """Errors of perturbation, and of exact quasi-identifiers beside the table's shares of values."""
    for setting in _settings(x, bench):
        asked = cache(partial(setting.draw_queries, bench))
        # All queries share the noise of one draw; with half a million records it is small, and an audit takes long.
        n_draws = repeat_twice(bench) if bench.is_full else repeat_thrice(bench)

        def look(
            made: Made, repetition: int, asked: Callable[[int], Drawn] = asked, setting: _Setting = setting
        ) -> Row:
            row = _look(asked(repetition), clip_answers(asked(repetition), made))
            return {**row, "reached_beta": made.beta, **_compare_alphas(setting)}

        def answer_alone(repetition: int, asked: Callable[[int], Drawn] = asked, setting: _Setting = setting) -> Row:
            alone = independent(asked(repetition).queries, setting.data)
            return _look(asked(repetition), Answers.of_another(alone))

        yield from bench.rows_of({x: setting.at}, setting.data, likeness(setting.beta), _PERTURBED, look, n_draws)
        for repetition in range(n_draws):
            at = {x: setting.at, "series": BASELINE, "repetition": repetition}
            yield bench.row(at, partial(answer_alone, repetition))


def find_alphas(data: Microdata, beta: float) -> list[float]:
    """The printed chance of each value to be kept: (m * gamma_i / (gamma_max + m - 1) - 1) / (m - 1)."""
    promises = settle([Promise(parse_model(likeness(beta)))], data)
    gammas = [math.inf if g is None else float(g) for g in Bounds.of(data.prior(0), require(promises, data)).gammas()]
    m = len(gammas)
    return [(m * gamma / (max(gammas) + m - 1) - 1) / (m - 1) for gamma in gammas]


def _compare_alphas(setting: _Setting) -> Row:
    """The least chance to be kept, and how many values have less of it than with the beta before."""
    now = find_alphas(setting.data, setting.beta)
    before = find_alphas(setting.data, setting.beta - 1) if setting.beta > 1 else now
    return {
        "least_kept": min(now),
        "kept_less": sum(after < earlier - 1e-12 for earlier, after in zip(before, now, strict=True)),
    }


def turns(x: str, series: str) -> Test:
    """The test that an error is not monotone along an axis: it rises and it falls, beyond the spread of repetitions."""

    def test(found: Results) -> Found:
        values = found.values(x, "error", series)
        pairs = list(combinations((values[at] for at in sorted(values)), 2))
        rises = any(max(before) < min(after) for before, after in pairs)
        falls = any(min(before) > max(after) for before, after in pairs)
        return Found(rises and falls, describe(found, x, "error", series))

    return test


def _rises_least(x: str, one: str, *others: str) -> Test:
    """The test that from the first to the last x the error of one series grows by the fewest points."""

    def test(found: Results) -> Found:
        growths: dict[str, float] = {}
        for series in (one, *others):
            means = found.means(x, "error", series)
            growths[series] = means[max(means)] - means[min(means)] if means else math.nan
        holds = all(growths[one] < growths[other] for other in others)
        said = (f"{series} by {format_figure(growth)} points" for series, growth in growths.items())
        return Found(holds, "; ".join(said))

    return test


def _never_kept_less(found: Results) -> Found:
    """Whether every value is kept with a chance that grows with beta."""
    fewer = found.means("beta", "kept_less", PERTURBED)
    said = f"values kept less than with the beta before: {' '.join(f'{fewer[beta]:g}' for beta in sorted(fewer))}"
    return Found(
        bool(fewer) and not any(fewer.values()),
        f"{said}; least chance: {describe(found, 'beta', 'least_kept', PERTURBED)}",
    )


_AXES = {
    "lambda": ("lambda", "five quasi-identifiers, beta = 4, theta = 0.1, queries about one to five of them."),
    "beta": ("beta", "three quasi-identifiers, beta = 1 to 5, theta = 0.1, lambda = 3."),
    "columns": (
        "quasi-identifiers",
        "one to five quasi-identifiers, beta = 4, theta = 0.1, lambda = 3 or all there are.",
    ),
    "theta": ("theta", "three quasi-identifiers, beta = 4, theta = 0.05 to 0.25, lambda = 3."),
}
"""What is on each axis, and the setting of its experiments."""
_RECONSTRUCTED = (
    "The matrix is corrected where the paper's would break its promise. Reconstructed counts are clipped to what the "
    "quasi-identifiers select. At full size each point has two perturbed tables, whose audits take long. "
)
_GENDERS = "A range over two genders holds one of them or both, so queries select more or less than theta. "
_THETA_UNKNOWN = "The paper's values of theta are not legible. "
_EITHER = (
    "Which of the two is ahead changes with beta, with theta and with the columns that are asked about. " + NOT_PUBLIC
)
_UP_TO_NOISE = "no step goes the other way by more than 10 %"
_BOTH_WAYS = "it rises somewhere and falls somewhere, beyond the spread of the repetitions"


def _describe(figure: str, x: str, *claims: Claim, differs: str = "") -> Experiment:
    """Errors by an axis: of generalised tables in figure 8, of perturbed ones in figure 9."""
    axis, setting = _AXES[x]
    perturbed, where = figure.startswith("9"), f"6.{3 if figure.startswith('9') else 2}, figure {figure}"
    return Experiment(
        title=f"query error {'of perturbation ' if perturbed else ''}by {axis}",
        setting=f"CENSUS, {setting}",
        figures=(Figure(f"bl-{figure}", x, "error", axis, "median error, %"),),
        measure=partial(_measure_perturbed if perturbed else _measure_generalized, x),
        claims=(*claims, *(_claim_beats_baseline(x, where) if perturbed else _claim_best(x, where))),
        limits=OTHER_RECORDS + ("" if perturbed else SPLIT),
        differs=DATA + (_RECONSTRUCTED if perturbed else "") + _GENDERS + differs,
    )


def _claim_best(x: str, where: str) -> tuple[Claim, ...]:
    return tuple(
        Claim(
            f"{where}; end of 6.2",
            f"BUREL answers queries better than {other}.",
            below(x, "error", BUREL, other),
            fails=Verdict.NO_DATA,
            why=_EITHER if other == LMONDRIAN else NOT_PUBLIC,
        )
        for other in RIVALS
    )


def _claim_beats_baseline(x: str, where: str) -> tuple[Claim, ...]:
    return (
        Claim(
            f"{where}; end of 6.3, abstract",
            "Perturbation answers queries better than Baseline.",
            below(x, "error", PERTURBED, BASELINE),
            fails=Verdict.NO_DATA,
            why="The error of perturbation shrinks with the number of records, and that of Baseline with how little "
            "values depend on quasi-identifiers. " + NOT_PUBLIC,
        ),
    )


def _claim_each(
    where: str, says: str, test: Callable[[str], Test], judged: str, methods: Sequence[str]
) -> Iterator[Claim]:
    """One claim per method; `says` has a place for its name."""
    return (
        Claim(where, says.format(method), test(method), judged=judged, fails=Verdict.NO_DATA, why=NOT_PUBLIC)
        for method in methods
    )


def _falls(x: str) -> Callable[[str], Test]:
    return lambda method: falls(x, "error", method, slack=_NOISE)


_BOTH = (PERTURBED, BASELINE)
EXPERIMENTS = (
    _describe(
        "8a",
        "lambda",
        *_claim_each(
            "6.2, figure 8a",
            "The error of {} is not monotone in the number of columns that queries ask about.",
            partial(turns, "lambda"),
            _BOTH_WAYS,
            PAPERS,
        ),
        *_claim_each(
            "6.2, figure 8a",
            "For {} it matters little over how many columns a given selectivity is spread.",
            lambda method: steady("lambda", "error", method, factor=1.5),
            "the largest mean error is at most one and a half times the least",
            PAPERS,
        ),
    ),
    _describe(
        "8b",
        "beta",
        *_claim_each("6.2, figure 8b", "The error of {} falls as beta grows.", _falls("beta"), _UP_TO_NOISE, PAPERS),
    ),
    _describe(
        "8c",
        "columns",
        *_claim_each(
            "6.2, figure 8c",
            "The error of {} rises with the number of quasi-identifiers.",
            lambda method: rises("columns", "error", method, slack=_NOISE),
            _UP_TO_NOISE,
            PAPERS,
        ),
        Claim(
            "6.2, figure 8c",
            "With more quasi-identifiers the error of BUREL rises least.",
            _rises_least("columns", BUREL, *RIVALS),
            judged="by the fewest points from one to five",
            fails=Verdict.NO_DATA,
            why=NOT_PUBLIC,
        ),
    ),
    _describe(
        "8d",
        "theta",
        *_claim_each("6.2, figure 8d", "The error of {} falls as theta grows.", _falls("theta"), _UP_TO_NOISE, PAPERS),
        differs=_THETA_UNKNOWN,
    ),
    _describe(
        "9a",
        "lambda",
        *_claim_each(
            "6.3, figure 9a",
            "The error of {} falls with the number of columns that queries ask about.",
            _falls("lambda"),
            _UP_TO_NOISE,
            _BOTH,
        ),
        Claim(
            "6.3, figure 9a",
            "The reason is that more records satisfy a query that asks about more columns.",
            rises("lambda", "selectivity", PERTURBED),
            why="Ranges are chosen so that a query selects the share theta of uniform data however many columns it "
            "asks about. Only the range of values grows, so that it holds more of the values",
        ),
    ),
    _describe(
        "9b",
        "beta",
        *_claim_each(
            "6.3, figure 9b", "The error of {} falls as beta grows.", _falls("beta"), _UP_TO_NOISE, (PERTURBED,)
        ),
        Claim(
            "6.3, figure 9b",
            "A larger beta keeps every value with a larger probability.",
            _never_kept_less,
            why="The probability is divided by a term that grows with the largest gamma of all values, so it can fall "
            "for rare values while their own bound rises; this is arithmetic of the printed formula",
        ),
    ),
    _describe(
        "9c",
        "columns",
        *_claim_each(
            "6.3, figure 9c",
            "The error of {} has no uniform trend in the number of quasi-identifiers.",
            partial(turns, "columns"),
            _BOTH_WAYS,
            _BOTH,
        ),
    ),
    _describe(
        "9d",
        "theta",
        *_claim_each("6.3, figure 9d", "The error of {} falls as theta grows.", _falls("theta"), _UP_TO_NOISE, _BOTH),
        differs=_THETA_UNKNOWN,
    ),
)
