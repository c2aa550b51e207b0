"""HG, figures 8 to 10: errors of count queries, beside BuReL and PrivBayes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial

from lookalike.algorithms.shared.method import through_diversity
from lookalike.apps.papers.claims import Claim, Test, Verdict, between, every, falls, on_each
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Named
from lookalike.apps.papers.hg.advantages import loses_less
from lookalike.apps.papers.hg.methods import (
    BETAS,
    BY_CURVES,
    CURVES,
    LIKE,
    SCALE,
    SPLIT,
    THREE,
    THROUGH_L,
    UNSAFE,
    model_of_beta,
    table_of,
)
from lookalike.apps.papers.hg.readings import largest, possible_from, whichever
from lookalike.apps.papers.hg.synthetic import LACKING, PRIVBAYES, answer, synthesize
from lookalike.apps.papers.journal import Row
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import PrefixWorkload, RangeWorkload, Workload

_GROUPS = "groups (ours)"
_OTHERS = ("BuReL", PRIVBAYES)
_L_FROM = 49
"""From this beta on the paper goes through l-diversity, on CENSUS."""
_WHOLE_RANGE = (1, 3, 10, 25, 49, 100)
_SAME = "The published method on the authors' own records, answered as the paper's text says."
_HALF = " Only half of the paper's records are at hand, and ranges over 6 or 10 values are rounded."
_AT_ANY_SCALE = "Whichever scale the curve of BuReL has."
_UNKNOWN_SCALE = "The scale of the curve of BuReL decides it, and is not printed."
_THEIRS = (
    " The releases of the authors' own programs do no better (benchmarks/published.py): on CENSUS HG's errors are 281 "
    "to 553 %, and 177 to 191 % as the authors' evaluation counts, with matches that no recipient sees."
)
_BUREL_OF_THEIRS = (
    "It holds with one scale of BuReL's curve, and which one the paper had is not printed. The authors' own programs "
    "decide it: on CENSUS, for beta = 1 to 5, HG's errors are 281 to 553 % and their BuReL's 177 to 391 %, less at "
    "every beta; as their evaluation counts, 177 to 191 % against 43 to 67 % (benchmarks/published.py)."
)
_PRIVBAYES_LIMIT = "PrivBayes is our implementation of its paper."
_DIFFERS = (
    "Inside ranges all values count alike, as the paper's text says; the authors' program counts how many matches of a "
    "row have each value, which a recipient of the release cannot know (its errors: benchmarks/published.py). Queries "
    "with a true count of 0 are replaced by others. Ranges of categories follow their codes. PrivBayes keeps another "
    "promise, with epsilon = ln(1 + beta). The authors' domain file for it omits occupations 0 and 21 to 30: the "
    "second series of PrivBayes has the same omission. One release of each of the three and of groups per point, two "
    "of the others. " + SPLIT + SCALE
)

Point = tuple[float, Microdata, float, Workload]
"""Where on the axis, the table, beta, and what is asked."""


def _errors(bench: Bench, x: str, points: Iterable[Point], *, is_census: bool) -> Iterator[Row]:
    """Median relative errors of each method at each point."""
    repetitions = min(2, bench.size.matched_repetitions)
    for point, data, beta, workload in points:
        is_through_l = is_census and beta >= _L_FROM
        methods: dict[str, Named] = {
            **(THROUGH_L if is_through_l else LIKE),
            **BY_CURVES,
            _GROUPS: "groups:mode=strict",
        }

        for repetition in range(repetitions):
            for series, method in methods.items():
                # One release is enough where 10,000 queries are asked and its groups or slots hardly vary.
                if repetition and series not in BY_CURVES:
                    continue
                at = {x: point, "series": series, "repetition": repetition}
                yield bench.row(at, partial(_ask, bench, data, workload, beta, series, method, repetition))
            for series in (PRIVBAYES, LACKING) if is_census else (PRIVBAYES,):
                at = {x: point, "series": series, "repetition": repetition}
                yield bench.row(at, partial(_ask_synthetic, bench, data, workload, beta, series == LACKING, repetition))


def _ask(
    bench: Bench, data: Microdata, workload: Workload, beta: float, series: str, method: Named, repetition: int
) -> Row:
    made = bench.publish(data, model_of_beta(beta), method, repetition)
    asked = bench.draw_queries(workload, data, seed=repetition)
    row: Row = {"median_error": 100 * bench.error(asked, made).median, "dropped": asked.n_dropped}
    if series in THREE:
        row["possible_l"] = _find_l(data, beta) or 0
    return row


def _find_l(data: Microdata, beta: float) -> int | None:
    """The least l whose l-diversity keeps beta-likeness on this table, if it can have it."""
    counts = data.counts(0)
    ceilings = [min(Fraction(1), (1 + Fraction(str(beta))) * Fraction(int(count), data.n_rows)) for count in counts]
    return through_diversity(counts, ceilings, 1)


def _ask_synthetic(
    bench: Bench, data: Microdata, workload: Workload, beta: float, is_lacking: bool, repetition: int
) -> Row:
    asked = bench.draw_queries(workload, data, seed=repetition)
    synthetic = synthesize(data, beta, bench.seed_of(repetition), is_lacking)
    return {"median_error": 100 * answer(asked, synthetic).median, "dropped": asked.n_dropped}


def _table(kind: str, bench: Bench) -> Microdata:
    return bench.datasets.coil(bench.size.rows) if kind == "coil" else table_of(bench, "a")


def _by_beta(kind: str, betas: tuple[float, ...], bench: Bench) -> Iterator[Row]:
    data = _table(kind, bench)
    points = ((beta, data, beta, RangeWorkload(3, 0.1)) for beta in betas)
    return _errors(bench, "beta", points, is_census=kind == "census")


def _by_lambda(kind: str, most: int, bench: Bench) -> Iterator[Row]:
    data = _table(kind, bench)
    points = ((count, data, 3, RangeWorkload(count, 0.1)) for count in range(1, most + 1))
    return _errors(bench, "lambda", points, is_census=kind == "census")


def _by_selectivity(kind: str, bench: Bench) -> Iterator[Row]:
    data = _table(kind, bench)
    points = ((share, data, 3, RangeWorkload(3, share)) for share in (0.05, 0.1, 0.15, 0.2, 0.25))
    return _errors(bench, "selectivity", points, is_census=kind == "census")


def _prefixes(bench: Bench) -> Iterator[Row]:
    data = _table("census", bench)
    workload = PrefixWorkload("education", ("age", "gender", "marital", "race"))
    return _errors(bench, "beta", ((beta, data, beta, workload) for beta in BETAS), is_census=True)


def _below_all(x: str, other: str, beside: str = "") -> Test:
    return loses_less(x, "median_error", THREE, other, "error", beside)


def _experiment(
    name: str, title: str, kind: str, x: str, x_title: str, measure: object, claims: tuple[Claim, ...]
) -> Experiment:
    where = "COIL2000" if kind == "coil" else "CENSUS, 10,000 records"
    return Experiment(
        title=f"query error {title}" + (" on COIL2000" if kind == "coil" else ""),
        setting=f"{where}; range queries on three columns and the sensitive one, a selectivity of 0.1 and beta = 3 "
        "unless on the axis; medians of relative errors.",
        figures=(Figure(name, x, "median_error", x_title, "median relative error, %", log_y=True),),
        measure=measure,  # type: ignore[arg-type]
        claims=claims,
        limits="The training half of COIL2000, 5,822 of about 10,000 records." if kind == "coil" else "",
        differs=UNSAFE + _DIFFERS,
    )


def _three(number: str, kind: str, columns: int, times: tuple[float, float, float]) -> tuple[Experiment, ...]:
    """Errors by beta, by the columns asked about (so many at most), and by selectivity."""
    table = "COIL2000" if kind == "coil" else "CENSUS"
    printed, least, most = times
    lacking = LACKING if kind == "census" else ""
    # Of COIL2000 only half of the paper's records are at hand, and its ranges over 6 or 10 values are rounded.
    if_not = Verdict.AGAINST if kind == "census" else Verdict.OPEN
    half = "" if kind == "census" else _HALF
    # On CENSUS the releases of the authors' own BuReL decide where the two scales of its curve disagree.
    at_any_scale = on_each if kind == "census" else whichever
    theirs = _THEIRS if kind == "census" else ""
    of_privbayes = f"{_SAME} PrivBayes is ours; its error would have to be several times larger."
    by_beta = (
        Claim(
            where=f"5.2, figure {number}a",
            says=f"On {table} the error of the three methods stays low.",
            test=every(*(between("beta", "median_error", one, 0, 50) for one in THREE)),
            judged="at most 50 % at every beta",
            why=_SAME + theirs,
        ),
        Claim(
            where=f"5.2, figure {number}a",
            says=f"On {table} the error of the three methods falls as beta grows.",
            test=falls("beta", "median_error", *THREE, slack=0.1),
            judged="each of the three; steps of up to 10 % the other way are allowed",
            fails=if_not,
            why=_SAME,
        ),
        Claim(
            where=f"5.2, figure {number}a",
            says=f"On {table} the error of the three methods is below BuReL's at every beta.",
            test=at_any_scale({scale: _below_all("beta", series) for scale, series in CURVES.items()}),
            limits=_AT_ANY_SCALE,
            fails=if_not,
            why=_BUREL_OF_THEIRS if kind == "census" else _UNKNOWN_SCALE + half,
        ),
        Claim(
            where=f"1 and 5.2, figure {number}a",
            says=f"On {table} the error of the three methods is below PrivBayes's at every beta.",
            test=_below_all("beta", PRIVBAYES, lacking),
            limits=_PRIVBAYES_LIMIT,
            why=of_privbayes,
        ),
        Claim(
            where=f"5.2, figure {number}a",
            says=f"On {table} the three methods are up to {printed:g} times better than BuReL and PrivBayes.",
            test=largest("beta", "median_error", THREE, _OTHERS, least, most, gain=False),
            judged=f"the largest ratio of errors is between {least:g} and {most:g}",
            limits=_PRIVBAYES_LIMIT,
            why=of_privbayes + theirs,
        ),
    )
    by_lambda = [
        Claim(
            where=f"5.2, figure {number}b",
            says=f"On {table} the error of the three methods is below BuReL's and PrivBayes's, however many columns "
            "are "
            "asked about.",
            test=every(*(_below_all("lambda", other) for other in _OTHERS)),
            limits=_PRIVBAYES_LIMIT,
            why=of_privbayes,
        )
    ]
    if kind == "census":
        by_lambda.append(
            Claim(
                where="5.2, figures 8b and 9b",
                says="The three methods are better than the others by up to 83 %.",
                test=largest("lambda", "median_error", THREE, _OTHERS, 75, 91, gain=True),
                judged="the largest gain is between 75 and 91 %",
                limits=_PRIVBAYES_LIMIT,
                why=of_privbayes + " On COIL2000 they do not gain so much either (hg-9b).",
            )
        )
    by_selectivity = Claim(
        where=f"5.2, figure {number}c",
        says=f"On {table} the error of the three methods falls as queries select more.",
        test=falls("selectivity", "median_error", *THREE, slack=0.1),
        judged="each of the three; steps of up to 10 % the other way are allowed",
        fails=if_not,
        why=_SAME + half,
    )
    name, asked = f"hg-{number}", "columns asked about"
    return (
        _experiment(f"{name}a", "by beta", kind, "beta", "beta", partial(_by_beta, kind, BETAS), by_beta),
        _experiment(
            f"{name}b", f"by {asked}", kind, "lambda", asked, partial(_by_lambda, kind, columns), tuple(by_lambda)
        ),
        _experiment(
            f"{name}c",
            "by selectivity",
            kind,
            "selectivity",
            "selectivity",
            partial(_by_selectivity, kind),
            (by_selectivity,),
        ),
    )


def _over_the_range(name: str, kind: str) -> Experiment:
    claims = [
        Claim(
            where=f"5.2, figure {name.removeprefix('hg-')}",
            says=f"On {'COIL2000' if kind == 'coil' else 'CENSUS'} the three methods stay ahead of PrivBayes for every "
            "epsilon.",
            test=_below_all("beta", PRIVBAYES, LACKING if kind == "census" else ""),
            limits=_PRIVBAYES_LIMIT,
            why=f"{_SAME} PrivBayes is ours. The evidence names the beta at which the claim fails.",
        )
    ]
    if kind == "census":
        claims.append(
            Claim(
                where="5.2",
                says="On CENSUS beta-likeness goes through l-diversity from beta = 49 on (theorem 4).",
                test=possible_from("beta", "possible_l", "HG", _L_FROM),
                why="Decided by the counts of the authors' own records.",
            )
        )
    title, measure = "over the whole range of beta", partial(_by_beta, kind, _WHOLE_RANGE)
    return _experiment(name, title, kind, "beta", "beta", measure, tuple(claims))


_PREFIX = Experiment(
    title="prefix queries by beta",
    setting="CENSUS, 10,000 records; education up to a level, single values of age, gender, marital status and race.",
    figures=(Figure("hg-10c", "beta", "median_error", "beta", "median relative error, %"),),
    measure=_prefixes,
    claims=(
        Claim(
            where="5.2, figure 10c",
            says="With prefix queries too the three methods are ahead of PrivBayes.",
            test=_below_all("beta", PRIVBAYES, LACKING),
            limits=_PRIVBAYES_LIMIT + " Its median error is that of answering 0.",
            fails=Verdict.OPEN,
            why=_PRIVBAYES_LIMIT,
        ),
    ),
    differs=UNSAFE + _DIFFERS + "Whether the occupation is asked about is not printed; here it is not.",
)

EXPERIMENTS = (
    *_three("8", "census", 6, (4, 3.2, 5)),
    *_three("9", "coil", 4, (10, 8, 12.5)),
    _over_the_range("hg-10a", "census"),
    _over_the_range("hg-10b", "coil"),
    _PREFIX,
)
