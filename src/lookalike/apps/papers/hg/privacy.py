"""HG, theorems 3, 4 and 7 and the sentences about attackers: does the published method keep its promise?

What a person sees are the values in the rows that they may be behind. The paper promises that no value has more than
1/l of them, or more than 1 + beta times its share of the table. Six records are small enough to go through every table
and every random choice, so that what an attacker who knows the method can conclude is exact (`worlds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.heterogeneous.slots import descending
from lookalike.algorithms.shared.method import through_diversity
from lookalike.apps.papers.claims import Claim, Found, Test, all_hold, every
from lookalike.apps.papers.experiments import Bench, Experiment, Figure, Results
from lookalike.apps.papers.hg.methods import (
    BETAS,
    BY_BUREL,
    DIVERSE,
    LIKE,
    NAMES,
    NH,
    RING,
    SPLIT,
    THREE,
    losses,
    model_of_beta,
    model_of_l,
    table_of,
)
from lookalike.apps.papers.hg.readings import at_most
from lookalike.apps.papers.hg.worlds import Tiny, worst_gain
from lookalike.apps.papers.journal import Row

_PROMISED = "promised"
_CASES = 2_000
_LS = (2, 5, 10)
_PADDED = "HG, records no multiple of l"
_DRAW = (
    "The draw mixes buckets, so that two rows of one person can show the same value, whatever the records are. "
    "Exchanging whole columns avoids it (docs/algorithms/heterogeneous.md)."
)


def _of_diversity(bench: Bench) -> Iterator[Row]:
    repetitions = bench.repeat(2)
    for ell in _LS:
        yield bench.row({"l": ell, "series": _PROMISED, "repetition": 0}, partial(_promise_l, ell))
        for letter, name in NAMES.items():
            methods = {f"{series}, {name}": method for series, method in DIVERSE.items()}
            if letter == "a":
                methods |= RING
            yield from losses(bench, "l", [(ell, table_of(bench, letter), model_of_l(ell))], methods, repetitions)
        odd = table_of(bench, "a", rows=bench.size.rows - 1)
        yield from losses(bench, "l", [(ell, odd, model_of_l(ell))], {_PADDED: DIVERSE["HG"]}, 1)


def _promise_l(ell: int) -> Row:
    return {"certainty": 100 / ell, "repeats": 0, "real_values": ell}


def _of_likeness(bench: Bench) -> Iterator[Row]:
    repetitions = min(2, bench.size.matched_repetitions)
    data = table_of(bench, "a")
    for beta in BETAS:
        yield bench.row({"beta": beta, "series": _PROMISED, "repetition": 0}, partial(dict, reached_beta=beta))
        settings = [(beta, data, model_of_beta(beta))]
        yield from losses(bench, "beta", settings, {**LIKE, **BY_BUREL}, repetitions)


def _of_worlds(tiny: Tiny, bench: Bench) -> Iterator[Row]:
    for place in range(1, 4):
        for series in ("HG", "HG, columns exchanged (ours)", _PROMISED):
            at = {"table": place, "series": series, "repetition": 0}
            seed = [place, bench.seed_of(0)]
            yield bench.row(at, partial(_look_at_worlds, tiny, series, seed))


def _look_at_worlds(tiny: Tiny, series: str, seed: list[int]) -> Row:
    if series == _PROMISED:
        return {"gain": float(tiny.promised), "above": 0}
    points = sorted(np.random.default_rng(seed).permutation(100)[: len(tiny.values)].tolist())
    found = worst_gain(tiny, points, aligned=series != "HG")
    return {"gain": float(found.worst), "above": 100 * float(found.above)}


def _of_theorem_4(bench: Bench) -> Iterator[Row]:
    for n_values in (2, 3, 4, 5, 6):
        for series in ("no whole l (theorem 4)", "above equation 7 without dummies"):
            at = {"values": n_values, "series": series, "repetition": 0}
            yield bench.row(at, partial(_count_failures, series, [n_values, bench.seed_of(0)]))


def _count_failures(series: str, seed: list[int]) -> Row:
    """How often random counts contradict the theorem, in per cent, and the first case."""
    rng = np.random.default_rng(seed)
    failed, tried, example = 0, 0, ""
    for _ in range(_CASES):
        counts = np.sort(rng.integers(1, 21, seed[0])).astype(np.int64)
        if series.startswith("no"):
            tried += 1
            beta = Fraction(int(counts.max()), int(counts.min())) - 1 + Fraction(int(rng.integers(0, 20)), 100)
            n_rows = int(counts.sum())
            ceilings = [min(Fraction(1), (1 + beta) * Fraction(int(count), n_rows)) for count in counts]
            wrong = through_diversity(counts, ceilings, 1) is None
        else:
            size = int(rng.integers(1, counts.max() + 1))
            printed, reached = gains_with_dummies(counts, size)
            tried += int(counts.sum()) % size > 0
            wrong, beta = reached > printed, printed
        failed += wrong
        if wrong and not example:
            example = f"counts {' '.join(map(str, counts.tolist()))}, beta {float(beta):.3g}"
    return {"failed": 100 * failed / max(tried, 1), "example": example}


def gains_with_dummies(counts: NDArray[np.int64], size: int) -> tuple[Fraction, Fraction]:
    """The beta of equation 7 for buckets of a size, and the largest gain once rows of dummies are taken out.

    A person has a row in every bucket; in a bucket with dummies that row may show one.
    """
    layout = descending(counts, size)
    n_rows, spread = int(counts.sum()), np.count_nonzero(layout, axis=0)
    printed = size / min(Fraction(int(count), int(times)) for count, times in zip(counts, spread, strict=True)) - 1
    short = layout.sum(axis=1) < size
    reached = Fraction(0)
    for value, count in enumerate(counts.tolist()):
        left = len(layout) - int(np.count_nonzero(short & (layout[:, value] == 0)))
        reached = max(reached, Fraction(int(spread[value]), left) * n_rows / count - 1)
    return printed, reached


def _never(series: str) -> Test:
    def test(found: Results) -> Found:
        shares = found.means("values", "failed", series)
        example = next((row["example"] for row in found.rows if row["series"] == series and row.get("example")), "")
        said = f"fails in {' '.join(f'{shares[at]:.3g}' for at in sorted(shares))} % of random counts"
        return Found(not any(shares.values()) if shares else None, said + (f", such as {example}" if example else ""))

    return test


def _at_least(x: str, y: str, bound: str, series: str) -> Test:
    def test(found: Results) -> Found:
        limits, values = found.means(x, y, bound), found.values(x, y, series)
        said = ", ".join(f"{min(values[at]):g} instead of {limits[at]:g}" for at in sorted(values))
        return Found(all_hold([min(some) >= limits[at] for at, some in values.items()]), said)

    return test


def _same_guarantee(x: str, y: str, one: str, other: str, at: float) -> Test:
    def test(found: Results) -> Found:
        mine, theirs = found.means(x, y, one).get(at), found.means(x, y, other).get(at)
        if mine is None or theirs is None:
            return Found(None, "not measured")
        return Found(mine <= 1.001 * theirs, f"{one} {mine:.3g}, {other} {theirs:.3g} at {x} {at:g}")

    return test


_ALL_DIVERSE = tuple(f"{series}, {name}" for series in THREE for name in NAMES.values())
_THEOREM_3 = Experiment(
    title="certainty that releases with l-diversity allow",
    setting="CENSUS, Uniform and Zipf 0.5, 10,000 records, l = 2, 5, 10: the largest share of one value among the rows "
    "that a person may be behind.",
    figures=(
        Figure("hg-theorem3", "l", "certainty", "l", "highest certainty, %"),
        Figure("hg-theorem3-repeats", "l", "repeats", "l", "persons who see a value twice, %"),
    ),
    measure=_of_diversity,
    claims=(
        Claim(
            where="abstract and 3.5, theorem 3",
            says="In a release with l-diversity nobody can be more than 1/l sure of a value.",
            test=every(
                at_most("l", "certainty", _PROMISED, *_ALL_DIVERSE), at_most("l", "repeats", _PROMISED, *_ALL_DIVERSE)
            ),
            why=_DRAW,
        ),
        Claim(
            where="5.1",
            says="All compared methods give the same guarantee (l-diversity: HG and NH).",
            test=_same_guarantee("l", "certainty", "HG, CENSUS", NH, 10),
            judged="the highest certainty is the same at l = 10",
            why="NH moves all values of a part by one offset, so nobody sees a value twice. " + _DRAW,
        ),
        Claim(
            where="3.1, footnote 2",
            says="Dummies with values that nobody has may fill the table up to a multiple of l, without loss of "
            "generality.",
            test=_at_least("l", "real_values", _PROMISED, _PADDED),
            judged="each person still sees l different values of real people",
            why="A dummy can be recognized by its value, and a person matched with one has one possible value less.",
        ),
    ),
    differs="The published method is measured without an audit, which it fails.",
)

_THEOREM_7 = Experiment(
    title="the beta that releases reach",
    setting="CENSUS, 10,000 records, beta = 1 to 5: the most by which the share of a value among a person's rows "
    "exceeds its share of the table, relative to the latter.",
    figures=(Figure("hg-theorem7", "beta", "reached_beta", "beta that is promised", "beta that is reached"),),
    measure=_of_likeness,
    claims=(
        Claim(
            where="4.6, theorem 7",
            says="A release with beta-likeness keeps beta.",
            test=at_most("beta", "reached_beta", _PROMISED, *THREE),
            why=_DRAW,
        ),
        Claim(
            where="6, footnote 6",
            says="BuReL gives the same guarantee.",
            test=every(
                at_most("beta", "reached_beta", _PROMISED, "BuReL"), at_most("beta", "reached_beta", _PROMISED, "HG")
            ),
            judged="both keep beta at every beta",
            why="BuReL keeps it, HG does not. " + _DRAW,
        ),
    ),
    differs="The published method is measured without an audit, which it fails. BuReL's releases are audited. " + SPLIT,
)

_WORLDS = "All tables and all random choices are enumerated, so the figures are exact. "
_BAYES = tuple(
    Experiment(
        title=f"what an attacker who knows the method can conclude, {promise}",
        setting=f"Six records with the values {' '.join(tiny.values)} at three sets of places, {promise}.",
        figures=(
            Figure(name, "table", "gain", "set of places", "largest gain of a belief over the value's share"),
            Figure(f"{name}-share", "table", "above", "set of places", "beliefs above the promise, %"),
        ),
        measure=partial(_of_worlds, tiny),
        claims=(Claim(where=where, says=says, test=at_most("table", "gain", _PROMISED, "HG"), why=_WORLDS + _DRAW),),
        differs="The draw as published (one of a random set of disjoint assignments, all sets equally likely) beside "
        "ours, which exchanges whole columns. The attacker sees ranges and values, not who is in a row.",
    )
    for name, tiny, promise, where, says in (
        (
            "hg-bayes-l",
            Tiny("aabbcc", ("aa", "bb", "cc"), Fraction(0)),
            "l = 3",
            "abstract, 1, 3.5 and 7",
            "An attacker who knows the algorithm and its parameters gains nothing.",
        ),
        (
            "hg-bayes-beta",
            Tiny("aaabbc", ("aa", "ab", "bc"), Fraction(1)),
            "beta = 1",
            "3.5, 4.6 and 6",
            "The methods are immune to the minimality attack.",
        ),
    )
)

_THEOREM_4 = Experiment(
    title="beta-likeness through l-diversity, and with dummies",
    setting=f"Random counts of 2 to 6 values, 1 to 20 records each, {_CASES:,} tables per point.",
    figures=(Figure("hg-theorem4", "values", "failed", "values", "tables that contradict it, %"),),
    measure=_of_theorem_4,
    claims=(
        Claim(
            where="4.1, theorem 4",
            says="If beta is at least the ratio of the largest to the least share minus 1, some l-diversity gives it.",
            test=_never("no whole l (theorem 4)"),
            why="l must be a whole number, and the interval that the theorem leaves for it may have none.",
        ),
        Claim(
            where="4.3, equation 7",
            says="Buckets filled up with dummies reach the beta of equation 7.",
            test=_never("above equation 7 without dummies"),
            judged="the gain stays below it once dummies are taken out of what a person sees",
            why="Arithmetic: rows of dummies count in the equation, and a person's real rows are fewer.",
        ),
    ),
)

EXPERIMENTS = (_THEOREM_3, _THEOREM_7, *_BAYES, _THEOREM_4)
