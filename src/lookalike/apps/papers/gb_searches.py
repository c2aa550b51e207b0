"""How long the searches for bucket sizes take (GB, figures 6 and 7).

A search looks at nothing but the number of records of each value, so times are taken on numbers drawn by the table's
shares, for as many records as the paper has.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

import numpy as np

from lookalike.algorithms.optimal_buckets import all_sizes
from lookalike.algorithms.shared.bucket_sizes import Range, rooms, smallest_size, two_sizes
from lookalike.algorithms.shared.buckets import Counts
from lookalike.apps.papers.bench import Bench
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.apps.papers.gb import BASES, LARGEST, Base, ceilings, points_of

_PRUNINGS = {"No-pruning": "none", "Loss-pruning": "loss", "Full-pruning": "full"}
_SCALED_ROWS = 500_000
_ENOUGH = 0.02
"""CPU seconds: a search is repeated until so many are spent."""


def _by_rows(base: Base) -> Callable[[Bench], Iterator[Row]]:
    """Seconds of every search by the number of records."""

    def measure(bench: Bench) -> Iterator[Row]:
        for rows in points_of(bench, (100_000, 200_000, 300_000, 400_000, 500_000)):
            for repetition in bench.repetitions:
                counts = base.counts(bench, rows, np.random.default_rng([6, rows, repetition]))
                for row in _measure_time(bench, counts):
                    yield {"rows": rows, "repetition": repetition, **row}

    return measure


def _by_values(base: Base) -> Callable[[Bench], Iterator[Row]]:
    """Seconds of every search when each value becomes gamma values, drawn evenly."""

    def measure(bench: Bench) -> Iterator[Row]:
        for gamma in points_of(bench, (2, 4, 8, 16, 32, 64)):
            for repetition in bench.repetitions:
                rng = np.random.default_rng([7, gamma, repetition])
                counts = base.counts(bench, _SCALED_ROWS, rng)
                scaled = np.concatenate([rng.multinomial(count, np.full(gamma, 1 / gamma)) for count in counts])
                for row in _measure_time(bench, scaled[scaled > 0].astype(np.int64)):
                    yield {"gamma": gamma, "repetition": repetition, **row}

    return measure


def _measure_time(bench: Bench, counts: Counts) -> Iterator[Row]:
    """CPU seconds of the searches for the best two sizes."""
    bounds = ceilings(counts)
    tried = Range.between(smallest_size(bounds, 1), LARGEST, bounds)
    for series, pruning in _PRUNINGS.items():
        two_sizes(counts[:1], Range(tried.sizes, tried.rooms[:, :1].copy()), pruning)
        begin, times = time.process_time(), 0
        while times == 0 or time.process_time() - begin < _ENOUGH:
            found = two_sizes(counts, tried, pruning)
            times += 1
        spent = (time.process_time() - begin) / times
        yield {"series": series, "seconds": spent, "tests": found.tests if found else 0, "values": len(counts)}
    pairs = list(itertools.combinations(tried.sizes.tolist(), 2))
    some = pairs[:: max(len(pairs) // (200 if bench.size.name == "full" else 12), 1)]
    begin = time.process_time()
    for pair in some:
        all_sizes(counts, Range(np.array(pair), rooms(bounds, pair)), seconds=60)
    spent = (time.process_time() - begin) / len(some) * len(pairs)
    yield {"series": "Optimal (estimated)", "seconds": spent, "programs": len(some), "values": len(counts)}


def _stays_flat(x: str, most: float) -> Callable[[Results], bool]:
    """Full-pruning takes at most so many times as long in one place as in another."""

    def test(found: Results) -> bool:
        seconds = found.means(x, "seconds", "Full-pruning").values()
        return bool(seconds) and max(seconds) <= most * min(seconds)

    return test


def _fastest(x: str) -> Callable[[Results], bool]:
    others = ("No-pruning", "Loss-pruning", "Optimal (estimated)")
    return lambda found: all(found.below(x, "seconds", "Full-pruning", other) for other in others)


def _grows_ever_faster(found: Results) -> bool:
    """Each step to a larger gamma multiplies Optimal's time by more than the step before."""
    means = found.means("gamma", "seconds", "Optimal (estimated)")
    numbers = [means[gamma] for gamma in sorted(means)]
    factors = [1.0, *(after / before for before, after in itertools.pairwise(numbers))]
    return len(factors) > 2 and all(after > before for before, after in itertools.pairwise(factors))


def _grows_most(found: Results) -> bool:
    def growth(series: str) -> float:
        means = found.means("gamma", "seconds", series)
        return means[max(means)] / means[min(means)]

    return all(growth("Optimal (estimated)") > growth(series) for series in _PRUNINGS)


_TIMES = (
    "The search sees only numbers of records, which are drawn by the shares of the table: so times are for the paper's "
    "numbers of records. Here Optimal is an integer program for each pair of sizes, its time estimated from some of "
    "them. Our searches are compiled and test a step in nanoseconds, the paper's Optimal was in Matlab; their order "
    "depends on that. "
)


def _experiments(base: Base) -> tuple[Experiment, ...]:
    name, table = base.letters, base.letters.upper()
    return (
        Experiment(
            paper="GB",
            title=f"time by number of records on {table}",
            setting=f"{table}, theta = 8, 100,000 to 500,000 records",
            reports="No-pruning is slowest, then Optimal; Loss-pruning grows; Full-pruning takes least and stays flat.",
            figures=(Figure(f"gb-6-{name}", "rows", "seconds", "records", "CPU seconds", log_y=True),),
            measure=_by_rows(base),
            shapes=(
                Shape(
                    "No-pruning takes longer than Optimal",
                    lambda found: found.below("rows", "seconds", "Optimal (estimated)", "No-pruning"),
                ),
                Shape(
                    "Loss-pruning's time grows with the records",
                    lambda found: found.rises("rows", "seconds", "Loss-pruning", 0.1),
                ),
                Shape("Full-pruning takes least", _fastest("rows")),
                Shape("Full-pruning's time stays within a factor of 2", _stays_flat("rows", 2)),
            ),
            differs=_TIMES,
        ),
        Experiment(
            paper="GB",
            title=f"time by number of values on {table}",
            setting=f"{table}, theta = 8, 500,000 records, each value made into gamma values",
            reports="Optimal grows exponentially, the others little; No-pruning even falls.",
            figures=(Figure(f"gb-7-{name}", "gamma", "seconds", "gamma", "CPU seconds", log_x=True, log_y=True),),
            measure=_by_values(base),
            shapes=(
                Shape("Optimal's time grows more than that of the others", _grows_most),
                Shape("Optimal's time grows ever faster", _grows_ever_faster),
                Shape("No-pruning's time falls", lambda found: found.falls("gamma", "seconds", "No-pruning", 0.1)),
                Shape("Full-pruning takes least", _fastest("gamma")),
            ),
            differs=_TIMES
            + "Exponential is read as: each step multiplies the time by more than the step before. It does not show: "
            "lower ceilings leave fewer pairs of sizes (on OCC 1,081 at gamma = 2, 325 at 32) of which hardly any has "
            "a solution, and a program takes only twice as long.",
        ),
    )


EXPERIMENTS = tuple(one for base in BASES for one in _experiments(base))
