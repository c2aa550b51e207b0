"""GB, figure 5: how counts come out, and whether the loss of buckets is a guide to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

import numpy as np

from lookalike.apps.papers.claims import Claim, Found, Test, Verdict, all_hold, describe, format_figure
from lookalike.apps.papers.datasets import QUASI, SENSITIVE
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Made, Results
from lookalike.apps.papers.gb.tables import BASES, LARGEST, THETAS, Base, some_points
from lookalike.apps.papers.journal import Row
from lookalike.metrics.query_error import Drawn, SetWorkload

_METHODS = {
    "TwoSize": f"two-size:largest={LARGEST}",
    "MultiSize": f"multi-size:largest={LARGEST}",
    "Optimal": f"optimal-buckets:largest={LARGEST}",
}
_WORKLOAD = SetWorkload(columns=3, selectivity=0.05)
_REPETITIONS = 2
_PAIRS = (("MultiSize", "Optimal"), ("TwoSize", "MultiSize"))


def _measure(bench: Bench) -> Iterator[Row]:
    """MSBS and mean errors of counts of every method at each theta; each repetition has its own records."""
    rows = bench.datasets.n_census // _REPETITIONS if bench.is_full else bench.size.rows

    def look(base: Base, algorithm: str, theta: int, repetition: int) -> Row:
        made = bench.publish(data, f"f-privacy:theta={theta}", algorithm, repetition)
        return _judge(bench, base, made, ask())

    for base in BASES:
        quasi = [name for name in (*QUASI, SENSITIVE) if name != base.sensitive]
        for repetition in range(bench.repeat(_REPETITIONS)):
            data = bench.datasets.census(rows, quasi, base.sensitive, start=repetition * rows)
            ask = cache(partial(bench.draw_queries, _WORKLOAD, data, repetition, bench.size.queries // 2))
            for theta in some_points(bench, THETAS):
                for series, algorithm in _METHODS.items():
                    at = {"table": base.letters, "theta": theta, "series": series, "repetition": repetition}
                    yield bench.row(at, partial(look, base, algorithm, theta, repetition))


def _judge(bench: Bench, base: Base, made: Made, queries: Drawn) -> Row:
    error = bench.error(queries, made)
    return {
        f"{base.letters}_msbs": made.metric("msbs"),
        f"{base.letters}_error": 100 * error.mean,
        "seconds": made.seconds,
        "dropped": error.n_dropped,
        "selectivity": queries.selectivity,
        "reached_l": made.diversity,
    }


def _errors(found: Results) -> list[float]:
    return [
        mean
        for base in BASES
        for series in _METHODS
        for mean in found.means("theta", f"{base.letters}_error", series).values()
    ]


def _describe_errors(found: Results) -> str:
    return "; ".join(
        f"{base.letters.upper()}: "
        + ", ".join(describe(found, "theta", f"{base.letters}_error", one) for one in _METHODS)
        for base in BASES
    )


def _largest_error(found: Results) -> Found:
    errors = _errors(found)
    if not errors:
        return Found(None, _describe_errors(found))
    return Found(10 < max(errors) <= 12, f"at most {format_figure(max(errors))} %; {_describe_errors(found)}")


def _mostly_below_ten(found: Results) -> Found:
    errors = _errors(found)
    below_ten = sum(error < 10 for error in errors)
    return Found(None if not errors else 2 * below_ten > len(errors), f"{below_ten} of {len(errors)} below 10 %")


def _gap(base: Base, worse: str, better: str, found: Results) -> float | None:
    """The largest distance of two methods' errors, in points."""
    shared = found.shared("theta", f"{base.letters}_error", worse, better)
    return max((high - low for _, high, low in shared), default=None)


def _within_two(worse: str, better: str) -> Test:
    """The test that a method's error is at most 2 points larger than another's, on both tables."""

    def test(found: Results) -> Found:
        gaps = {base.letters.upper(): _gap(base, worse, better, found) for base in BASES}
        known = [gap for gap in gaps.values() if gap is not None]
        said = (f"{name} {format_figure(gap)} points" for name, gap in gaps.items() if gap is not None)
        return Found(all(gap <= 2 for gap in known) if known else None, f"{worse} - {better}: " + ", ".join(said))

    return test


def _closer_on_occ(found: Results) -> Found:
    """By means for the evidence; the verdict is open where the repetitions disagree."""
    said: list[str] = []
    verdicts: list[bool | None] = []
    for worse, better in _PAIRS:
        shared = [found.shared("theta", f"{base.letters}_error", worse, better) for base in BASES]
        if not all(shared):
            return Found(None, "not measured on both tables")
        occ, edu = (max(abs(high - low) for _, high, low in some) for some in shared)
        said.append(f"{worse} and {better}: OCC {format_figure(occ)}, EDU {format_figure(edu)} points")
        pairs = zip(*(_farthest(found, f"{base.letters}_error", worse, better) for base in BASES), strict=False)
        nearer = {on_occ < on_edu for on_occ, on_edu in pairs}
        verdicts.append(nearer.pop() if len(nearer) == 1 else None)
    return Found(all_hold(verdicts), "; ".join(said))


def _farthest(found: Results, y: str, worse: str, better: str) -> list[float]:
    """The largest distance of two methods over theta, in each repetition."""
    high, low = found.values("theta", y, worse), found.values("theta", y, better)
    number = min(len(some) for values in (high, low) for some in values.values())
    return [max(abs(high[at][one] - low[at][one]) for at in high if at in low) for one in range(number)]


def _follows_loss(found: Results) -> Found:
    """Whether the ranks of losses and of errors agree, over methods and theta of each table."""
    from scipy.stats import spearmanr

    said, agree = [], []
    for base in BASES:
        points = [
            (loss, found.means("theta", f"{base.letters}_error", series)[at])
            for series in _METHODS
            for at, loss in found.means("theta", f"{base.letters}_msbs", series).items()
        ]
        if len(points) < 3:
            return Found(None, "too few points")
        rank = float(spearmanr(*np.array(points).T).statistic)
        agree.append(rank >= 0.5)
        said.append(f"{base.letters.upper()} {rank:.2f} over {len(points)} points")
    return Found(all(agree), "rank correlation: " + "; ".join(said))


_QUERIES = "The paper does not say how many columns its queries have, nor their selectivity; errors depend on both."

ERRORS = Experiment(
    title="errors of counts by theta",
    setting="OCC and EDU with 50,000 records (a quick run: 5,000 and every second theta), seven quasi-identifiers, "
    "sizes up to 50; 5,000 queries (500) on sets of values of three quasi-identifiers and of the sensitive column, "
    "selectivity 0.05.",
    figures=tuple(
        Figure(
            f"gb-5-{base.letters}", "theta", f"{base.letters}_error", "theta",
            f"mean relative error, %, on {base.letters.upper()}", log_x=True,
        )
        for base in BASES
    ),
    measure=_measure,
    limits="The records come from a public extract, fewer than the paper's, and the queries are ours.",
    claims=(
        Claim(
            "7.2.2, figure 5", "The largest error of counts is slightly above 10 %.", _largest_error,
            judged="above 10 % and at most 12 %, over both tables", fails=Verdict.OPEN, why=_QUERIES,
        ),
        Claim(
            "7.2.2, figure 5", "Most errors of counts are below 10 %.", _mostly_below_ten,
            fails=Verdict.OPEN, why=_QUERIES,
        ),
        Claim(
            "7.2.2, figure 5", "MultiSize's error is at most 2 points above Optimal's.",
            _within_two("MultiSize", "Optimal"), fails=Verdict.OPEN, why=_QUERIES,
        ),
        Claim(
            "7.2.2, figure 5", "TwoSize's error is at most 2 points above MultiSize's.",
            _within_two("TwoSize", "MultiSize"), fails=Verdict.OPEN, why=_QUERIES,
        ),
        Claim(
            "7.2.2, figure 5", "The methods' errors are closer on OCC than on EDU.", _closer_on_occ,
            judged="the largest distance on OCC is below that on EDU, for both pairs of methods, in "
            "every repetition",
            fails=Verdict.OPEN, why=_QUERIES,
        ),
        Claim(
            "7.2, 7.2.2", "MSBS is a good guide to the errors of counts.", _follows_loss,
            judged="a rank correlation of 0.5 or more over methods and theta, on each table",
            fails=Verdict.OPEN, why=_QUERIES,
        ),
    ),
    differs="The paper has 300,000 records. Ours are the two halves of the extract, one for each repetition: every "
    "release is audited, which takes a minute or more for 300,000 records, and there are 60 of them. Errors fall as "
    "the number of records grows. The paper does not give the queries' columns and selectivity: three and 0.05 are "
    "ours.",
)  # fmt: skip
