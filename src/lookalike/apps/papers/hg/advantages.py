"""How HG's comparisons of methods are read as tests: by the part of another's loss or time, and by how gains go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lookalike.apps.papers.claims import Found, Test, all_hold, below, format_figure, quicker
from lookalike.apps.papers.experiments import Results

_AGREES = 0.5
"""Least rank correlation of a gain with the axis."""


def loses_less(x: str, y: str, ours: Sequence[str], other: str, what: str = "loss", beside: str = "") -> Test:
    """Each of ours loses at most what the other does, at every point; the evidence is the part of its loss.

    The evidence also tells how `beside` would be compared, which decides nothing.
    """

    def test(found: Results) -> Found:
        verdicts = [below(x, y, one, other)(found).holds for one in ours]
        said = [_compare(found, x, y, ours, each, what) for each in (other, beside) if each]
        return Found(all_hold(verdicts), "; ".join(said))

    return test


def takes_at_most(x: str, ours: Sequence[str], other: str, factor: float) -> Test:
    """Each of ours takes at most so many times the other's time, by intervals; the evidence is how many times."""

    def test(found: Results) -> Found:
        said, verdicts = [], []
        for one in ours:
            verdicts.append(quicker(x, one, other, factor=factor)(found).holds)
            times = [mine / theirs for _, mine, theirs in found.shared(x, "seconds", one, other) if theirs]
            said.append(f"{one} {_span(times)}")
        return Found(all_hold(verdicts), f"times as long as {other}: {'; '.join(said)}")

    return test


def gain_goes(way: int, x: str, y: str, over: str, *unders: str) -> Test:
    """What each other series gains on one rises (1) or falls (-1) along the axis, as a difference and as a ratio.

    By the ends and by ranks. Nothing is decided where ranks hardly agree, or the difference and the ratio disagree.
    """

    def test(found: Results) -> Found:
        verdicts: list[bool | None] = []
        said = []
        for under in unders:
            shared = [(at, high, low) for at, high, low in found.shared(x, y, over, under) if low]
            if len(shared) < 2:
                verdicts.append(None)
                said.append(f"{under} not measured")
                continue
            ratios, gaps = [high / low for _, high, low in shared], [high - low for _, high, low in shared]
            by_ratio, by_gap = (_trend(way, some) for some in (ratios, gaps))
            verdicts.append(by_ratio if by_ratio == by_gap else None)
            said.append(
                f"{over} / {under} {' '.join(map(format_figure, ratios))} (ranks {_agreement(ratios):.2f}); minus: "
                f"{format_figure(gaps[0])} to {format_figure(gaps[-1])} (ranks {_agreement(gaps):.2f})"
            )
        return Found(all_hold(verdicts), "; ".join(said))

    return test


def below_exactly_from(x: str, y: str, ours: Sequence[str], other: str, first: float) -> Test:
    """Each of ours is below the other from one point on, and not before."""

    def test(found: Results) -> Found:
        wrong, said = [], []
        for one in ours:
            shared = found.shared(x, y, one, other)
            wrong += [f"{one} at {at:g}" for at, mine, theirs in shared if (mine < theirs) != (at >= first)]
            said.append(f"{one} {' '.join(f'{100 * mine / theirs:,.0f}' for _, mine, theirs in shared) or '-'}")
        measured = any(found.shared(x, y, one, other) for one in ours)
        told = f" (otherwise: {', '.join(wrong)})" if wrong else ""
        return Found(not wrong if measured else None, f"in % of the loss of {other}: {'; '.join(said)}{told}")

    return test


def _compare(found: Results, x: str, y: str, ours: Sequence[str], other: str, what: str) -> str:
    """What each of ours loses, in parts of what another one loses, and where it is more."""
    said = []
    for one in ours:
        shares = [(at, 100 * mine / theirs) for at, mine, theirs in found.shared(x, y, one, other) if theirs]
        above = [f"{at:,g}" for at, share in shares if share > 100]
        said.append(f"{one} {_span([share for _, share in shares])} %" + _more_at(x, above, len(shares)))
    return f"in % of the {what} of {other}: {', '.join(said)}"


def _trend(way: int, values: Sequence[float]) -> bool | None:
    """None: the ends go that way, but the ranks hardly."""
    agreement = way * _agreement(values)
    if way * values[-1] <= way * values[0] or agreement <= 0:
        return False
    return True if agreement >= _AGREES - 1e-9 else None


def _agreement(values: Sequence[float]) -> float:
    """The rank correlation with the axis."""
    ranks = np.argsort(np.argsort(values))
    return float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])


def _span(values: Sequence[float]) -> str:
    if not values:
        return "not measured"
    low, high = format_figure(min(values)), format_figure(max(values))
    return low if low == high else f"{low} to {high}"


def _more_at(x: str, above: Sequence[str], n_points: int) -> str:
    if not above:
        return ""
    return " (more everywhere)" if len(above) == n_points else f" (more at {x} {', '.join(above)})"
