"""How the methods of figure 5 are compared: errors over the same queries, sizes of groups, whole groups (MA)."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean, median

from lookalike.apps.papers.claims import Found, Test, format_figure
from lookalike.apps.papers.experiments import Results
from lookalike.apps.papers.ma.queries import ABOVE, ANATOMY, BASE, BELOW, POINTS, name
from lookalike.apps.papers.ma.readings import span

_SURE = 2.0


def under(low: str, high: str) -> Test:
    """The test that one series has lower errors at every point of both axes, by intervals over the same queries."""

    def test(found: Results) -> Found:
        above, unsure, gaps, n_points = [], 0, [], 0
        for axis, points in POINTS.items():
            for point in points:
                rows = [row for row in found.rows if row["series"] == high and row.get(axis) == point]
                rows = [row for row in rows if row.get(f"gap to {low}") is not None]
                if not rows:
                    continue
                gap = fmean(row[f"gap to {low}"] for row in rows)
                noise = _SURE * math.sqrt(sum(row[f"noise to {low}"] ** 2 for row in rows)) / len(rows)
                n_points += 1
                gaps.append(gap)
                if gap - noise > 0:
                    above.append(f"{axis} {point:g}")
                unsure += abs(gap) <= noise
        if not n_points:
            return Found(None, f"{low} and {high} were not measured together")
        said = f"{low} minus {high}: {span(gaps)} points of per cent"
        if above:
            said += ", higher at " + (", ".join(above) if len(above) < 4 else f"{len(above)} of {n_points} points")
        said += f", within noise at {unsure} of {n_points} points" if unsure else ""
        return Found(False if above else None if unsure else True, said)

    return test


def goes_down(axis: str, y: str, *series: str, slack: float = 0.05) -> Test:
    """The test that every series falls along an axis, with a slack for noise; two of those that do not are shown."""

    def test(found: Results) -> Found:
        known = {one: found.means(axis, y, one) for one in series}
        falling = [one for one in series if found.goes(-1, axis, y, one, slack)]
        shown = [one for one in series if one not in falling and known[one]][:2] or falling[:1]
        said = [f"{one} {' '.join(format_figure(known[one][point]) for point in sorted(known[one]))}" for one in shown]
        if not said:
            return Found(None, "not measured")
        start = f"{len(falling)} of {len(series)} series fall with {axis}, "
        return Found(len(falling) == len(series), start + "; ".join(said))

    return test


def mean_drop(low: str, high: str, least: float) -> Test:
    """The test that one series' errors are on average lower than another's by so much of them."""

    def test(found: Results) -> Found:
        drops = [1 - a / b for axis in POINTS for _, a, b in found.shared(axis, "error", low, high) if b]
        if not drops:
            return Found(None, f"{low} and {high} were not measured together")
        return Found(fmean(drops) >= least, f"{low} {100 * fmean(drops):.0f} % below {high} on average")

    return test


def _measure_size(found: Results, series: str) -> float | None:
    sizes = [row["group_size"] for row in found.rows if row["series"] == series and row.get("group_size") is not None]
    return fmean(sizes) if sizes else None


def sizes(check: Callable[..., bool], *series: str) -> Test:
    """A test of average group sizes."""

    def test(found: Results) -> Found:
        known = [_measure_size(found, one) for one in series]
        if None in known:
            return Found(None, f"groups of {', '.join(series)} not measured")
        said = "; ".join(f"{one} {format_figure(each or 0)} records" for one, each in zip(series, known, strict=True))
        return Found(check(*known), said)

    return test


def often_half(value: str) -> Test:
    """The test that at half of the points RGG has at most 0.6 of the baseline's error, undivided and divided apart."""

    def test(found: Results) -> Found:
        said, holds = [], []
        for low, high in ((name("RGG", value), BASE), (name("RGG(Ana)", value), ANATOMY)):
            ratios = [
                a / b
                for kind in (ABOVE, BELOW)
                for axis in POINTS
                for _, a, b in found.shared(axis, "correlated_error", f"{low}, {kind}", f"{high}, {kind}")
                if b
            ]
            if not ratios:
                return Found(None, "not measured")
            n_low = sum(ratio <= 0.6 for ratio in ratios)
            holds.append(n_low >= len(ratios) / 2)
            said.append(f"{low} over {high}: median {median(ratios):.2f}, at most 0.6 at {n_low} of {len(ratios)}")
        return Found(all(holds), "; ".join(said))

    return test


def whole_groups(value: str) -> Test:
    """The test that queries take whole groups, or none of a group, more often than with Anatomy, at every point."""
    low, high = name("RGG(Ana)", value), ANATOMY

    def test(found: Results) -> Found:
        pairs = [pair for axis in POINTS for pair in found.shared(axis, "whole_groups", low, high)]
        if not pairs:
            return Found(None, "not measured")
        said = f"{low} {span([a for _, a, _ in pairs])} %, {high} {span([b for _, _, b in pairs])} %"
        return Found(all(a > b for _, a, b in pairs), said)

    return test
