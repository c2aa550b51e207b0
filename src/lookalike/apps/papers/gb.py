"""Generalised bucketization for flexible privacy settings (GB).

OCC and EDU are CENSUS with the occupation and with the education as the sensitive value. Ceilings are
min(1, theta x share + 0.02), bucket sizes go up to 50. How long the searches take is in `gb_searches`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from lookalike.algorithms.shared.buckets import Counts
from lookalike.apps.papers.bench import Bench
from lookalike.apps.papers.datasets import QUASI, SENSITIVE
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.data.microdata import Microdata
from lookalike.metrics.query_error import SetWorkload
from lookalike.models import FPrivacy

THETAS = (2, 4, 8, 16, 32)
ANATOMY = "Anatomy (hypothetical)"
LARGEST = 50
_THETA = 8
_DEFAULT_ROWS = 300_000
_WORKLOAD = SetWorkload(columns=3, selectivity=0.05)


@dataclass(frozen=True)
class Base:
    """One of the paper's two tables."""

    letters: str
    sensitive: str

    def data(self, bench: Bench) -> Microdata:
        quasi = [name for name in (*QUASI, SENSITIVE) if name != self.sensitive]
        return bench.datasets.census(_rows(bench), quasi, self.sensitive)

    def count_known(self, bench: Bench) -> Counts:
        """Numbers of records of each value in the whole table."""
        return bench.datasets.census(bench.datasets.n_census, ("race",), self.sensitive).counts(0)

    def counts(self, bench: Bench, n_rows: int, rng: np.random.Generator) -> Counts:
        """Numbers of so many records of each value, drawn by the shares of the whole table."""
        known = self.count_known(bench)
        return rng.multinomial(n_rows, known / known.sum()).astype(np.int64)


OCC, _EDU = Base("occ", SENSITIVE), Base("edu", "education")
BASES = (OCC, _EDU)


def ceilings(counts: Counts, theta: int = _THETA) -> list[Fraction]:
    """The ceiling of each value."""
    asked = FPrivacy(theta=theta).requirement(counts, None, 0).ceilings
    assert asked is not None
    return list(asked)


def corresponding_l(bounds: Sequence[Fraction]) -> int:
    """The l of the l-diversity that keeps all of these ceilings.

    >>> corresponding_l([Fraction(1, 2), Fraction(3, 20)])
    7
    """
    return math.ceil(1 / min(bounds))


def _rows(bench: Bench) -> int:
    return min(_DEFAULT_ROWS, bench.size.most_rows, bench.datasets.n_census)


def points_of(bench: Bench, points: Sequence[int]) -> Sequence[int]:
    """The paper's points; of a quick run every second."""
    return points if bench.size.name == "full" else points[::2]


def _by_theta(base: Base) -> Callable[[Bench], Iterator[Row]]:
    """The l that corresponds to each theta, and the largest that the table allows."""

    def measure(bench: Bench) -> Iterator[Row]:
        counts = base.count_known(bench)
        for theta in THETAS:
            needed = corresponding_l(ceilings(counts, theta))
            allowed = int(counts.sum()) // int(counts.max())
            for series, ell in (("needed", needed), ("allowed by the table", allowed)):
                yield {"theta": theta, "series": series, "repetition": 0, "l": ell}

    return measure


def _losses(base: Base) -> Callable[[Bench], Iterator[Row]]:
    """MSBS and mean errors of counts of every method at each theta; of Anatomy what its sizes would lose."""

    def measure(bench: Bench) -> Iterator[Row]:
        data = base.data(bench)
        counts, n_rows = data.counts(0), data.n_rows
        counts = counts[counts > 0]
        seconds = 30 if bench.size.name == "full" else 2
        methods = {
            "TwoSize": f"two-size:largest={LARGEST}",
            "MultiSize": f"multi-size:largest={LARGEST}",
            "Optimal": f"optimal-buckets:largest={LARGEST},seconds={seconds}",
        }
        asked = [bench.draw_queries(_WORKLOAD, data, seed, bench.size.queries // 2) for seed in bench.repetitions]
        for theta in points_of(bench, THETAS):
            ell = corresponding_l(ceilings(counts, theta))
            yield {
                "theta": theta,
                "series": ANATOMY if int(counts.max()) * ell > n_rows else "Anatomy",
                "repetition": 0,
                "msbs": n_rows // ell * (ell - 1) ** 2 / (n_rows - 1),
            }
            for series, algorithm in methods.items():
                for repetition in bench.repetitions:
                    made = bench.publish(data, f"f-privacy:theta={theta}", algorithm, seed=repetition)
                    error = bench.error(asked[repetition], made)
                    yield {
                        "theta": theta,
                        "series": series,
                        "repetition": repetition,
                        "msbs": made.metric("msbs"),
                        "error": 100 * error.mean,
                        "seconds": made.seconds,
                        "dropped": error.n_dropped,
                        "selectivity": asked[repetition].selectivity,
                        "reached_l": made.diversity,
                    }

    return measure


def _keeps_promise(found: Results) -> dict[int, bool]:
    """For each theta whether the table allows the l-diversity that it corresponds to."""
    needed, allowed = (found.means("theta", "l", series) for series in ("needed", "allowed by the table"))
    return {theta: needed[theta] <= allowed[theta] for theta in needed}


def _only_kept_at(thetas: Sequence[int], among: Sequence[int] = THETAS) -> Callable[[Results], bool]:
    return lambda found: (
        [theta for theta, kept in _keeps_promise(found).items() if kept and theta in among] == list(thetas)
    )


def _anatomy_times(factor: float) -> Callable[[Results], bool]:
    """Anatomy's MSBS is at least so many times each other method's."""

    def test(found: Results) -> bool:
        by_series = {series: found.means("theta", "msbs", series) for series in found.series}
        anatomy = {
            at: loss for series in by_series if series.startswith("Anatomy") for at, loss in by_series[series].items()
        }
        others = [means for series, means in by_series.items() if not series.startswith("Anatomy")]
        return bool(others) and all(anatomy[at] >= factor * loss for means in others for at, loss in means.items())

    return test


def _stays_close(worse: str, better: str, points: float) -> Callable[[Results], bool]:
    def test(found: Results) -> bool:
        high, low = (found.means("theta", "error", series) for series in (worse, better))
        return bool(high) and all(high[theta] - low[theta] <= points for theta in high)

    return test


def _mostly_below_ten(found: Results) -> bool:
    """No error above 12 %, and most of them below 10 %."""
    errors = [error for series in found.series for error in found.means("theta", "error", series).values()]
    return bool(errors) and max(errors) <= 12 and sum(error < 10 for error in errors) > len(errors) / 2


_SMALLER = (
    "The paper's default is 300,000 records; here as many as the run's size and the data allow, and a quick run takes "
    "every second point. "
)
_ANATOMY = (
    "Anatomy's MSBS is what buckets of l records would lose; where l-diversity is not eligible there is no such "
    "release and the value is hypothetical. The paper says l or l - 1 in one place and l or l + 1 in another; "
    "the second is right. "
)
_OPTIMAL = (
    "The integer program stops after 30 seconds (2 in a quick run) and falls back on MultiSize's setting, so Optimal "
    "is the best known, not always the optimum. "
)
_L_SHAPES = {
    "occ": (
        Shape("l-diversity cannot be kept for any theta below 32", _only_kept_at((), THETAS[:-1])),
        Shape("l-diversity can be kept for theta = 32", _only_kept_at((32,), THETAS[-1:])),
    ),
    "edu": (Shape("l-diversity cannot be kept for any theta", _only_kept_at(())),),
}
_L_SEEN = {
    "occ": "On the census extract the rarest occupation has 0.169 %, so that theta = 32 needs l = 14 and not 13.",
    "edu": "",
}


def _experiments(base: Base) -> tuple[Experiment, ...]:
    name, table = base.letters, base.letters.upper()
    return (
        Experiment(
            paper="GB",
            title=f"l of the corresponding l-diversity on {table}",
            setting=f"{table}, theta = 2 to 32; l = 1 over the least ceiling",
            reports="OCC allows l up to 13, and needs 14 or more for all theta but 32; EDU allows 3, too few for all.",
            figures=(Figure(f"gb-3-{name}", "theta", "l", "theta", "l", log_x=True),),
            measure=_by_theta(base),
            shapes=(
                *_L_SHAPES[name],
                Shape("l falls as theta grows", lambda found: found.falls("theta", "l", "needed")),
            ),
            differs="The whole table is used, which has fewer records than the paper's 300,000. " + _L_SEEN[name],
        ),
        Experiment(
            paper="GB",
            title=f"loss and errors of counts by theta on {table}",
            setting=f"{table}, seven quasi-identifiers, sizes up to 50; random sets of values of three "
            "quasi-identifiers and of the sensitive column, selectivity 0.05",
            reports="Anatomy's MSBS is far larger; TwoSize, MultiSize and Optimal are close. Mean errors are mostly "
            "below 10 %; TwoSize within 2 points of MultiSize, that within 2 of Optimal.",
            figures=(
                Figure(f"gb-4-{name}", "theta", "msbs", "theta", "MSBS", log_x=True, log_y=True),
                Figure(f"gb-5-{name}", "theta", "error", "theta", "mean relative error, %", log_x=True),
            ),
            measure=_losses(base),
            shapes=(
                Shape("Anatomy's MSBS is larger than all others", _anatomy_times(1)),
                Shape("Anatomy's MSBS is at least twice as large", _anatomy_times(2)),
                Shape(
                    "TwoSize loses at least as much as MultiSize, MultiSize as Optimal",
                    lambda found: (
                        found.below("theta", "msbs", "MultiSize", "TwoSize", 1e-9)
                        and found.below("theta", "msbs", "Optimal", "MultiSize", 1e-9)
                    ),
                ),
                Shape(
                    "TwoSize loses at most a quarter more than Optimal",
                    lambda found: found.below("theta", "msbs", "TwoSize", "Optimal", 0.25),
                ),
                Shape("errors are mostly below 10 % and hardly above", _mostly_below_ten),
                Shape("MultiSize's error is within 2 points of Optimal's", _stays_close("MultiSize", "Optimal", 2)),
                Shape("TwoSize's error is within 2 points of MultiSize's", _stays_close("TwoSize", "MultiSize", 2)),
            ),
            differs=_SMALLER
            + _ANATOMY
            + _OPTIMAL
            + "The paper does not give the queries' selectivity and number of columns; 0.05 and 3 are ours, and errors "
            "fall as the number of records grows. The paper's figures have no numbers: far larger is read as twice, "
            "close as a quarter. On the census extract Anatomy is only 1.5 times as large at theta = 2, TwoSize loses "
            "up to twice as much as Optimal or more, and Optimal's errors on EDU are up to 4 points smaller; next to "
            "Anatomy all three are close.",
        ),
    )


EXPERIMENTS = tuple(one for base in BASES for one in _experiments(base))
