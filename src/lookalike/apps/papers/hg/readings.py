"""How HG's sentences are read as tests, where the general tests do not say it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, variance

from lookalike.apps.papers.claims import Found, Test, all_hold, describe, format_figure
from lookalike.apps.papers.experiments import Results

_FEW = 4
"""More series than these are told by the largest."""


def largest(
    x: str, y: str, ours: Sequence[str], others: Sequence[str], least: float, most: float, *, gain: bool
) -> Test:
    """The largest advantage of ours over others lies between two bounds: others / ours, or (gain) 1 - ours / others."""

    def test(found: Results) -> Found:
        best, said = -float("inf"), "not measured together"
        for one in ours:
            for other in others:
                for at, mine, theirs in found.shared(x, y, one, other):
                    if not mine or not theirs:
                        continue
                    value = 100 * (1 - mine / theirs) if gain else theirs / mine
                    if value > best:
                        best = value
                        unit = f"{format_figure(value)} %" if gain else f"{format_figure(value)} times"
                        said = f"largest: {unit} ({one} against {other} at {x} {at:g})"
        return Found(None if best == -float("inf") else least <= best <= most, said)

    return test


def more_at(x: str, at: float, over: str, under: str, ys: Sequence[str], than: str, *, relative: bool = True) -> Test:
    """At one point the gap of two series (a ratio, else a difference) is larger in some figures than in another one."""

    def test(found: Results) -> Found:
        gaps: dict[str, float] = {}
        for y in (*ys, than):
            for _, high, low in found.shared(x, y, over, under, (at,)):
                gaps[y] = high / low if relative else high - low
        said = ", ".join(f"{format_figure(gap)} ({_table(y)})" for y, gap in gaps.items()) or "not measured"
        holds = all(gaps[y] > gaps[than] for y in ys) if len(gaps) == len(ys) + 1 else None
        return Found(holds, f"{over} {'over' if relative else 'minus'} {under} at {x} {at:g}: {said}")

    return test


def _table(y: str) -> str:
    """The table of a figure that is measured on several."""
    return y.partition(" on ")[2] or y


def whichever(tests: Mapping[str, Test]) -> Test:
    """What comes out alike whichever of several unprinted details is right; undecided where they disagree."""

    def test(found: Results) -> Found:
        parts = {name: one(found) for name, one in tests.items()}
        decided = {part.holds for part in parts.values()}
        evidence = "; ".join(f"{name}: {part.evidence}" for name, part in parts.items())
        return Found(decided.pop() if len(decided) == 1 else None, evidence)

    return test


def within(x: str, y: str, *series: str, points: float) -> Test:
    """No series' means differ by more than so many points, from the least to the largest."""

    def test(found: Results) -> Found:
        means = [list(found.means(x, y, one).values()) for one in series]
        verdicts = [max(some) - min(some) <= points if len(some) > 1 else None for some in means]
        return Found(all_hold(verdicts), "; ".join(describe(found, x, y, one) for one in series))

    return test


def alike(x: str, one: str, other: str, *series: str, points: float) -> Test:
    """Two figures of a series differ by at most so many points, on both sides, at every point."""

    def test(found: Results) -> Found:
        verdicts, said = [], []
        for each in series:
            first, second = found.means(x, one, each), found.means(x, other, each)
            gaps = [second[at] - first[at] for at in sorted(first) if at in second]
            verdicts.append(max(map(abs, gaps)) <= points if gaps else None)
            said.append(f"{each}: {other} - {one} {' '.join(map(format_figure, gaps))}")
        return Found(all_hold(verdicts), "; ".join(said))

    return test


def improves(x: str, one: str, other: str, series: str, noise: float) -> Test:
    """A second figure of a series is above the first at every point, by more than the noise; less decides nothing."""

    def test(found: Results) -> Found:
        first, second = found.means(x, one, series), found.means(x, other, series)
        gaps = [second[at] - first[at] for at in sorted(first) if at in second]
        verdicts = [gap > 0 if abs(gap) > noise else None for gap in gaps]
        said = f"{describe(found, x, one, series)} ({one}); {describe(found, x, other, series)} ({other})"
        return Found(all_hold(verdicts), said)

    return test


def fewer(x: str, y: str, ours: Sequence[str], other: str, noise: float) -> Test:
    """A figure of each of ours is below the other's at every point, by more than the noise; less decides nothing."""

    def test(found: Results) -> Found:
        verdicts, said = [], []
        for one in ours:
            gaps = [(at, mine - theirs) for at, mine, theirs in found.shared(x, y, one, other)]
            verdicts.append(all_hold([gap < 0 if abs(gap) > noise else None for _, gap in gaps]))
            said.append(f"{one} {' '.join(f'{gap:+.2f}' for _, gap in gaps) or 'not measured'}")
        return Found(all_hold(verdicts), f"points more than {other} ({y}): {', '.join(said)}")

    return test


def hardly_above(x: str, y: str, ours: Sequence[str], other: str, points: float) -> Test:
    """A figure of each of ours is at most so many points above the other's, at every point."""

    def test(found: Results) -> Found:
        gaps = {one: [mine - theirs for _, mine, theirs in found.shared(x, y, one, other)] for one in ours}
        verdicts = [all(gap <= points for gap in some) if some else None for some in gaps.values()]
        said = ", ".join(
            f"{one} {' '.join(f'{gap:+.2f}' for gap in some) or 'not measured'}" for one, some in gaps.items()
        )
        return Found(all_hold(verdicts), f"points more than {other} ({y}): {said}")

    return test


def grows_surely(x: str, y: str, series: str) -> Test:
    """A series' last mean is above its first by two standard errors of the repetitions; less decides nothing."""

    def test(found: Results) -> Found:
        values = found.values(x, y, series)
        said = describe(found, x, y, series)
        if len(values) < 2:
            return Found(None, said)
        first, last = values[min(values)], values[max(values)]
        error = math.sqrt(sum(variance(some) / len(some) if len(some) > 1 else 0.0 for some in (first, last)))
        gap = fmean(last) - fmean(first)
        holds = gap > 0 if abs(gap) > 2 * error else None
        return Found(holds, f"{said}; last minus first {gap:+.2f}, standard error {error:.2f}")

    return test


def at_most(x: str, y: str, bound: str, *series: str) -> Test:
    """No repetition of a series exceeds the bound that is drawn beside it, anywhere."""

    def test(found: Results) -> Found:
        limits = found.means(x, y, bound)
        said, most = [describe(found, x, y, bound)], dict.fromkeys(limits, -math.inf)
        verdicts: list[bool | None] = []
        for one in series:
            values = found.values(x, y, one)
            verdicts.append(all_hold([max(some) <= limits[at] + 1e-9 for at, some in values.items()]))
            most |= {at: max(most[at], *some) for at, some in values.items()}
            largest_one = " ".join(format_figure(max(values[at])) for at in sorted(values)) or "not measured"
            said.append(f"{one} {largest_one}")
        if len(series) > _FEW:
            said[1:] = [f"largest of {len(series)} series {' '.join(format_figure(most[at]) for at in sorted(most))}"]
        return Found(all_hold(verdicts), "; ".join(said))

    return test


def best_at(x: str, y: str, series: str, place: float) -> Test:
    """A series is largest at one place; if another's interval overlaps with it, nothing is decided."""

    def test(found: Results) -> Found:
        values = found.values(x, y, series)
        said = "; ".join(f"{format_figure(sum(values[at]) / len(values[at]))} at {at:g}" for at in sorted(values))
        if place not in values:
            return Found(None, said or "not measured")
        others = [some for at, some in values.items() if at != place]
        if any(min(some) > max(values[place]) for some in others):
            return Found(False, said)
        return Found(True if all(max(some) < min(values[place]) for some in others) else None, said)

    return test


def higher_ratio(x: str, at: float, over: str, under: str, ys: Sequence[str], least: float, most: float) -> Test:
    """Of several figures, the largest ratio of two series at one point lies between two bounds."""

    def test(found: Results) -> Found:
        ratios = {y: high / low for y in ys for _, high, low in found.shared(x, y, over, under, (at,))}
        said = ", ".join(f"{format_figure(value)} ({_table(y)})" for y, value in ratios.items()) or "not measured"
        holds = least <= max(ratios.values()) <= most if ratios else None
        return Found(holds, f"{over} over {under} at {x} {at:g}: {said}")

    return test


def no_more_at(x: str, y: str, series: str, late: float, early: float, factor: float) -> Test:
    """A series at a late point is at most so many times what it is at an early one."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        holds = means[late] <= factor * means[early] if late in means and early in means else None
        return Found(holds, describe(found, x, y, series))

    return test


def above_elsewhere(x: str, series: str, one: str, other: str, first: float) -> Test:
    """A series' figure `one` is above its figure `other` at every point from `first` on."""

    def test(found: Results) -> Found:
        mine, theirs = found.means(x, one, series), found.means(x, other, series)
        points = [at for at in sorted(mine) if at in theirs and at >= first]
        said = "; ".join(f"{describe(found, x, y, series)} ({_table(y)})" for y in (one, other))
        return Found(all_hold([mine[at] > theirs[at] for at in points]), said)

    return test


def reaches_time(x: str, ours: str, other: str) -> Test:
    """Whether ours is as quick as the other at some point, by intervals; and what it loses there."""

    def test(found: Results) -> Found:
        mine, theirs = found.values(x, "seconds", ours), found.values(x, "seconds", other)
        if not mine or not theirs:
            return Found(None, "not measured")
        slowest = max(max(some) for some in theirs.values())
        at = min(mine, key=lambda part: sum(mine[part]) / len(mine[part]))
        factor = (sum(mine[at]) / len(mine[at])) / (sum(map(sum, theirs.values())) / sum(map(len, theirs.values())))
        loss = found.means(x, "gcp", ours)[at] / list(found.means(x, "gcp", other).values())[0]
        said = (
            f"{ours} at {x} {at:g}: {format_figure(factor)} times {other}'s time, {format_figure(loss)} times its loss"
        )
        return Found(min(mine[at]) <= slowest, said)

    return test


def better_in_equal_time(x: str, ours: str, other: str) -> Test:
    def test(found: Results) -> Found:
        reached = reaches_time(x, ours, other)(found)
        mine, theirs = found.means(x, "gcp", ours), found.means(x, "gcp", other)
        if not mine or not theirs:
            return Found(None, "not measured")
        times, slowest = (
            found.values(x, "seconds", ours),
            max(max(v) for v in found.values(x, "seconds", other).values()),
        )
        equal = [at for at in mine if min(times[at]) <= slowest]
        better = any(mine[at] < min(theirs.values()) for at in equal)
        return Found(better if equal else None, reached.evidence)

    return test


def ratio_of_ends(x: str, y: str, series: str, least: float) -> Test:
    """A series' last mean is at least so many times its first."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        points = sorted(means)
        holds = means[points[-1]] >= least * means[points[0]] if len(points) > 1 else None
        return Found(holds, describe(found, x, y, series))

    return test


def steady_times(x: str, *series: str, factor: float) -> Test:
    """A series' longest time is at most so many times its shortest, by intervals over the repetitions."""

    def test(found: Results) -> Found:
        verdicts: list[bool | None] = []
        for one in series:
            values = found.values(x, "seconds", one)
            if len(values) < 2:
                verdicts.append(None)
                continue
            longest, shortest = max(map(max, values.values())), min(map(min, values.values()))
            sure = max(map(min, values.values())) > factor * min(map(max, values.values()))
            verdicts.append(True if longest <= factor * shortest else False if sure else None)
        said = "; ".join(describe(found, x, "seconds", one) for one in series)
        return Found(all_hold(verdicts), said)

    return test


def gains(x: str, y: str, over: str, under: str, least: float, most: float) -> Test:
    """One series over another lies between two bounds at every point."""

    def test(found: Results) -> Found:
        ratios = [high / low for _, high, low in found.shared(x, y, over, under) if low]
        said = f"{over} over {under}: {' '.join(map(format_figure, ratios)) or 'not measured'}"
        return Found(all_hold([least <= value <= most for value in ratios]), said)

    return test


def falls_by(x: str, y: str, ours: str, other: str, at: float, least: float, most: float) -> Test:
    """At one point ours is lower by a share between two bounds, in per cent; the other reading is said too."""

    def test(found: Results) -> Found:
        shared = found.shared(x, y, ours, other, (at,))
        if not shared:
            return Found(None, "not measured")
        _, mine, theirs = shared[0]
        less, more = 100 * (1 - mine / theirs), 100 * (theirs / mine - 1)
        said = (
            f"{ours} loses {format_figure(less)} % less than {other}, {other} {format_figure(more)} % more than {ours}"
        )
        return Found(least <= less <= most, said)

    return test


def grows_no_faster(x: str, series: str, power: float) -> Test:
    """From the first to the last point the time of a series grows with at most this power of the axis, by intervals."""

    def test(found: Results) -> Found:
        values = found.values(x, "seconds", series)
        points = sorted(values)
        if len(points) < 2:
            return Found(None, f"{series} not measured")
        growth = math.log(points[-1] / points[0])
        first, last = values[points[0]], values[points[-1]]
        most = math.log(max(last) / max(min(first), 1e-9)) / growth
        least = math.log(max(min(last), 1e-9) / max(max(first), 1e-9)) / growth
        holds = True if most <= power else False if least > power else None
        said = f"{series} from {points[0]:,} to {points[-1]:,}: power {format_figure(least)} to {format_figure(most)}"
        return Found(holds, said)

    return test


def possible_from(x: str, y: str, series: str, first: float) -> Test:
    """A figure is above 0 from one point on, and 0 before it."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        said = ", ".join(
            f"{'l = ' + format_figure(means[at]) if means[at] else 'none'} at {at:g}" for at in sorted(means)
        )
        holds = all((value > 0) == (at >= first) for at, value in means.items()) if first in means else None
        return Found(holds, said)

    return test
