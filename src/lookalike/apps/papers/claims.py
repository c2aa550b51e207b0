"""What a paper says it found, how that is tested on our measurements, and the verdict.

A claim has a verdict of five. `reproduced`: its test holds. `reproduced with limits`: it holds, on other data or with a
method that differs. `not reproduced (data not public)`: it fails, and the paper's data or size may be the reason. `not
reproduced (our evidence against the paper)`: it fails for a reason that the paper's data would not change. `open`: what
we measured does not decide. Repetitions that disagree decide nothing: a test that holds (or fails) for the means must
not come out the other way for any repetition by itself. Times are compared by the intervals of their repetitions:
intervals that overlap decide nothing, and neither does a series that was not measured. What is true by construction, by
proof or by arithmetic is a `Statement`: it is listed and not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lookalike.apps.papers.experiments import Results


class Verdict(StrEnum):
    """How a claim came out."""

    REPRODUCED = "reproduced"
    LIMITED = "reproduced with limits"
    NO_DATA = "not reproduced (data not public)"
    AGAINST = "not reproduced (our evidence against the paper)"
    OPEN = "open"


@dataclass(frozen=True)
class Found:
    """What a test found: whether the claim holds (None: undecided), and the figures that show it."""

    holds: bool | None
    evidence: str


Test = Callable[["Results"], Found]


@dataclass(frozen=True)
class Claim:
    """One result that a paper states."""

    where: str
    """Section and figure of the paper."""
    says: str
    """The claim in our words."""
    test: Test | None = None
    """None: nothing that we can measure decides it, and the claim stays open."""
    judged: str = ""
    """How the test reads the claim, where the paper gives no number: our reading, and marked as such."""
    limits: str = ""
    """Why a success counts only with limits, beyond the limits of the experiment."""
    fails: Verdict = Verdict.AGAINST
    """The verdict if the test fails."""
    why: str = ""
    """The reason for that verdict, or why the claim stays open."""


@dataclass(frozen=True)
class Statement:
    """What a paper says that no measurement could refute, or that it cites: listed, not counted."""

    where: str
    says: str
    because: str
    """By construction, by proof, by arithmetic (with the test that has it), or cited."""


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict and the evidence."""

    claim: Claim
    verdict: Verdict
    evidence: str
    reason: str


def judge(
    claim: Claim, results: Results, limits: str = "", *, invented: bool = False, again: Results | None = None
) -> Judged:
    """The verdict on a claim; `limits` are those of its experiment, `invented` whether its records are.

    `again` is a second run with other random draws. A verdict that comes out differently there is none: the claim is
    open.
    """
    first = _judge_once(claim, results, limits, invented)
    if again is None or first.verdict is Verdict.OPEN:
        return first
    second = _judge_once(claim, again, limits, invented)
    if second.verdict is first.verdict:
        return first
    reason = f"A second run with other random draws comes out differently ({second.verdict}: {second.evidence})."
    return Judged(claim, Verdict.OPEN, first.evidence, reason)


def _judge_once(claim: Claim, results: Results, limits: str, invented: bool) -> Judged:
    found = Found(None, "") if claim.test is None else claim.test(results)
    if found.holds is None or claim.test is None:
        return Judged(claim, Verdict.OPEN, found.evidence, claim.why or "The measurements do not decide.")
    alone = [claim.test(one).holds for one in results.list_repetitions()]
    n_other = alone.count(not found.holds)
    if n_other:
        holds, fails = ("holds", "fails") if found.holds else ("fails", "holds")
        which = "each repetition" if n_other == len(alone) else f"{n_other} of {len(alone)} repetitions"
        reason = f"It {holds} for the means, but {fails} in {which} taken alone."
        return Judged(claim, Verdict.OPEN, found.evidence, reason)
    if found.holds:
        why = " ".join(filter(None, ("Measured on invented records." if invented else "", claim.limits, limits)))
        return Judged(claim, Verdict.LIMITED if why else Verdict.REPRODUCED, found.evidence, why)
    if invented and claim.fails is Verdict.AGAINST:
        return Judged(claim, Verdict.OPEN, found.evidence, "Measured on invented records, which refute nothing.")
    return Judged(claim, claim.fails, found.evidence, claim.why)


def below(x: str, y: str, one: str, *others: str, factor: float = 1.0, at: Sequence[float] = ()) -> Test:
    """The test that a series' mean is at most `factor` times each other's, at every point (or at some points)."""

    def test(found: Results) -> Found:
        said, verdicts = [describe(found, x, y, one, at)], []
        for other in others:
            pairs = found.shared(x, y, one, other, at)
            failed = [point for point, low, high in pairs if low > factor * high]
            verdicts.append(not failed if pairs else None)
            said.append(describe(found, x, y, other, at) + (f" (fails at {x} {_list(failed)})" if failed else ""))
        return Found(all_hold(verdicts), "; ".join(said))

    return test


def quicker(x: str, one: str, *others: str, factor: float = 1.0, y: str = "seconds", at: Sequence[float] = ()) -> Test:
    """The test that a series takes at most `factor` times each other's time, by intervals over the repetitions."""

    def test(found: Results) -> Found:
        verdicts: list[bool | None] = []
        for other in others:
            mine, theirs = found.values(x, y, one), found.values(x, y, other)
            for point in sorted(point for point in mine if point in theirs and (not at or point in at)):
                low, high = [factor * value for value in (min(theirs[point]), max(theirs[point]))]
                verdicts.append(True if max(mine[point]) <= low else False if min(mine[point]) > high else None)
        evidence = "; ".join(describe(found, x, y, series, at) for series in (one, *others))
        return Found(all_hold(verdicts), evidence)

    return test


def falls(x: str, y: str, *series: str, slack: float = 0.0) -> Test:
    """The test that every series falls along an axis, nowhere rising by more than a part of itself."""
    return _goes(-1, x, y, series, slack)


def rises(x: str, y: str, *series: str, slack: float = 0.0) -> Test:
    """The test that every series rises along an axis, nowhere falling by more than a part of itself."""
    return _goes(1, x, y, series, slack)


def _goes(way: int, x: str, y: str, series: Sequence[str], slack: float) -> Test:
    def test(found: Results) -> Found:
        verdicts = [found.goes(way, x, y, one, slack) if len(found.means(x, y, one)) > 1 else None for one in series]
        return Found(all_hold(verdicts), "; ".join(describe(found, x, y, one) for one in series))

    return test


def takes_longer(x: str, *series: str, y: str = "seconds", at: Sequence[float] = ()) -> Test:
    """The test that times rise along an axis: first and last differ by intervals, and no step falls by intervals."""
    return _time_goes(1, x, y, series, at)


def takes_less(x: str, *series: str, y: str = "seconds", at: Sequence[float] = ()) -> Test:
    """The test that times fall along an axis: first and last differ by intervals, and no step rises by intervals."""
    return _time_goes(-1, x, y, series, at)


def _time_goes(way: int, x: str, y: str, series: Sequence[str], some: Sequence[float]) -> Test:
    def test(found: Results) -> Found:
        verdicts: list[bool | None] = []
        for one in series:
            values = found.values(x, y, one)
            steps = [[way * number for number in values[at]] for at in sorted(values) if not some or at in some]
            if len(steps) < 2:
                verdicts.append(None)
            elif any(max(after) < min(before) for before, after in (*pairwise(steps), (steps[0], steps[-1]))):
                verdicts.append(False)
            else:
                verdicts.append(True if min(steps[-1]) > max(steps[0]) else None)
        evidence = "; ".join(describe(found, x, y, one) for one in series)
        return Found(all_hold(verdicts), evidence)

    return test


def ratio(
    x: str,
    y: str,
    over: str,
    under: str,
    least: float,
    most: float,
    *,
    of: Callable[[Iterable[float]], float] = fmean,
    at: Sequence[float] = (),
) -> Test:
    """The test that one series over another lies between two bounds: on average, or what `of` takes (max, min)."""

    def test(found: Results) -> Found:
        ratios = [high / low for _, high, low in found.shared(x, y, over, under, at) if low]
        if not ratios:
            return Found(None, f"{over} and {under} were not measured together")
        value = of(ratios)
        spread = f"{format_figure(min(ratios))} to {format_figure(max(ratios))}"
        said = f"{over} over {under}: {format_figure(value)} ({spread})"
        return Found(least <= value <= most, said)

    return test


def between(x: str, y: str, series: str, least: float, most: float, at: Sequence[float] = ()) -> Test:
    """The test that a series' means lie between two bounds at every point (or at some)."""

    def test(found: Results) -> Found:
        means = {point: mean for point, mean in found.means(x, y, series).items() if not at or point in at}
        verdicts = [least <= mean <= most for mean in means.values()]
        return Found(all_hold(verdicts), describe(found, x, y, series, at))

    return test


def steady(x: str, y: str, *series: str, factor: float) -> Test:
    """The test that a series' largest mean is at most `factor` times its least."""

    def test(found: Results) -> Found:
        means = [list(found.means(x, y, one).values()) for one in series]
        verdicts = [max(some) <= factor * min(some) if len(some) > 1 else None for some in means]
        return Found(all_hold(verdicts), "; ".join(describe(found, x, y, one) for one in series))

    return test


def near_printed(x: str, y: str, series: str, printed: dict[float, float], within: float) -> Test:
    """The test that measured means are within a part of each printed number, on both sides."""

    def test(found: Results) -> Found:
        means = found.means(x, y, series)
        pairs = [(at, means[at], said) for at, said in printed.items() if at in means]
        holds = all_hold([abs(mean - said) <= within * abs(said) for _, mean, said in pairs])
        shown = (f"{format_figure(mean)} (printed {format_figure(said)}) at {at:g}" for at, mean, said in pairs)
        return Found(holds, f"{series}: " + (", ".join(shown) or "not measured"))

    return test


def every(*tests: Test) -> Test:
    """The test that all of these hold."""

    def test(found: Results) -> Found:
        parts = [one(found) for one in tests]
        evidence = "; ".join(dict.fromkeys(piece for part in parts for piece in part.evidence.split("; ") if piece))
        return Found(all_hold([part.holds for part in parts]), evidence)

    return test


def on_each(tests: Mapping[str, Test]) -> Test:
    """The test that holds if it does in each case, such as on each table; the evidence names the cases."""

    def test(found: Results) -> Found:
        parts = {name: one(found) for name, one in tests.items()}
        evidence = "; ".join(f"{name}: {part.evidence}" for name, part in parts.items())
        return Found(all_hold([part.holds for part in parts.values()]), evidence)

    return test


def all_hold(verdicts: Sequence[bool | None]) -> bool | None:
    """Whether all of these hold: not if one fails; undecided if one is, or if there is none."""
    return False if False in verdicts else None if None in verdicts or not verdicts else True


def describe(found: Results, x: str, y: str, series: str, at: Sequence[float] = ()) -> str:
    """A series in one phrase: its means along the axis, with a dash where only others were measured."""
    means = found.means(x, y, series)
    points = [point for point in found.points(x, y) if not at or point in at]
    if not any(point in means for point in points):
        return f"{series} not measured"
    return f"{series} {' '.join(format_figure(means[point]) if point in means else '-' for point in points)}"


def format_figure(value: float) -> str:
    return f"{value:,.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def _list(points: Sequence[float]) -> str:
    return ", ".join(f"{point:g}" for point in points)
