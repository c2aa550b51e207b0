"""The table of MA's experiments, its positive values, and tests that several of its claims share (MA)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lookalike.apps.papers.claims import Found, Test, format_figure
from lookalike.apps.papers.datasets import Source
from lookalike.apps.papers.experiments import Bench, Results
from lookalike.data.microdata import Microdata

QUASI = ("age", "workclass", "education", "marital", "race", "gender")
TECH, CRAFT = POSITIVES = ("Tech-Support", "Craft-Repair")
BOTH = "both values"
READINGS = (TECH, CRAFT, BOTH)
"""Which values the query figures protect, which the paper does not say."""
ELL = 6
COINS = ("0", "0.2", "0.4", "0.6", "0.65")
SAFE = "0.65"
_ROWS = 45_222
_REPETITIONS = 3
_SHARES = {TECH: 0.031, CRAFT: 1.0}
"""Without ADULT: the shares of the values that are taken instead."""

AXES = "The paper's text does not give the values on the axes; these are ours. "
BY_BUCKET = (
    "As in the paper, an attacker knows the order of all records, and all records of a bucket share one probability. "
    "The results also have the same for records with equal quasi-identifiers, whose order nobody knows "
    "(risk_by_person, vulnerable_by_person), which is less. "
)
WITHOUT_ADULT = (
    "Without ADULT the run uses CENSUS and says so; Tech-Support is then the occupation nearest to 3.1 %, "
    "Craft-Repair the "
    "most frequent one. "
)


def repetitions(bench: Bench) -> range:
    """Three at most: publishing and auditing ADULT takes seconds, and the repetitions hardly differ."""
    return range(min(_REPETITIONS, bench.size.repetitions))


def n_queries(bench: Bench) -> int:
    """1,000, as in the paper."""
    return min(1000, bench.size.queries)


def table(bench: Bench) -> Microdata:
    """ADULT; without it CENSUS, which is said."""
    if bench.datasets.has_adult():
        return bench.datasets.adult(QUASI)
    bench.datasets.used["adult"] = Source("CENSUS in place of ADULT, which is missing", stands_in=True)
    return bench.datasets.census(min(_ROWS, bench.size.most_rows // 2), QUASI)


def positive(data: Microdata, series: str) -> tuple[int, str]:
    """The code and the text of a positive value."""
    texts = data.domains.sensitive[0].texts
    named = {text.casefold(): code for code, text in enumerate(texts)}
    code = named.get(series.casefold())
    if code is None:
        code = int(np.abs(data.counts(0)[: len(texts)] / data.n_rows - _SHARES[series]).argmin())
    return code, texts[code]


def binary(data: Microdata, series: str, ell: int = ELL) -> str:
    """Binary l-diversity of one positive value, or l-diversity of both by themselves."""
    if series == BOTH:
        return f"l-diversity:{ell},subset={'|'.join(positive(data, one)[1] for one in POSITIVES)}"
    return f"l-diversity:{ell},kind=binary,subset={positive(data, series)[1]}"


def readings(make: Callable[[str], Test], names: Sequence[str] = READINGS) -> Test:
    """The test that a claim holds under each reading of what the paper leaves open; it is open if they disagree."""

    def test(found: Results) -> Found:
        parts = {name: make(name)(found) for name in names}
        decided = {part.holds for part in parts.values()}
        words = {True: "holds", False: "fails", None: "undecided"}
        evidence = "; ".join(f"{name}: {words[part.holds]} ({part.evidence})" for name, part in parts.items())
        return Found(decided.pop() if len(decided) == 1 else None, evidence.replace(";", ","))

    return test


def some_rows(
    test: Callable[[list[float]], bool | None], y: str, *series: str, at: dict[str, float] | None = None
) -> Test:
    """A test of all measurements of a figure in some series, at a point or everywhere."""

    def look(found: Results) -> Found:
        rows = [row for row in found.rows if row["series"] in series and row.get(y) is not None]
        rows = [row for row in rows if all(row.get(x) == point for x, point in (at or {}).items())]
        numbers = [float(row[y]) for row in rows]
        if not numbers:
            return Found(None, f"{y} of {', '.join(series)} not measured")
        said = [
            f"{one} {span([float(row[y]) for row in rows if row['series'] == one])}"
            for one in dict.fromkeys(row["series"] for row in rows)
        ]
        return Found(test(numbers), "; ".join(said))

    return look


def at_most(y: str, most: float, *series: str, at: dict[str, float] | None = None) -> Test:
    return some_rows(lambda numbers: max(numbers) <= most + 1e-9, y, *series, at=at)


def span(numbers: Sequence[float]) -> str:
    """Least and greatest, in words."""
    low, high = format_figure(min(numbers)), format_figure(max(numbers))
    return low if low == high else f"{low} to {high}"


def tends_upwards(x: str, y: str, series: str) -> Test:
    """The test that ranks agree with the axis on the whole (Spearman above 0), and the last mean exceeds the first."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        points = sorted(means)
        numbers = [means[point] for point in points]
        if len(numbers) < 2:
            return Found(None, f"{series} not measured")
        ranks = np.argsort(np.argsort(numbers))
        agreement = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
        said = f"{series} {' '.join(map(format_figure, numbers))} for {x} {points[0]:g} to {points[-1]:g}"
        return Found(agreement > 0 and numbers[-1] > numbers[0], f"{said}, rank correlation {agreement:.2f}")

    return test


def grows_by(x: str, y: str, series: str, most: float, first: float, last: float) -> Test:
    """The test that a figure at one point is at most `most` times that at another."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        if first not in means or last not in means:
            return Found(None, f"{series} not measured")
        factor = means[last] / means[first] if means[first] else math.inf
        said = f"{series} {format_figure(means[first])} at {x} {first:g}, {format_figure(means[last])} at {last:g}"
        return Found(factor <= most, f"{said} ({format_figure(factor)} times)")

    return test
