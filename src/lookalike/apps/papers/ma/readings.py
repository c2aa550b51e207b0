"""How MA's sentences are read as tests, where the general tests do not say it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from lookalike.apps.papers.claims import Found, Test, format_figure
from lookalike.apps.papers.experiments import Results
from lookalike.apps.papers.ma.data import READINGS


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
