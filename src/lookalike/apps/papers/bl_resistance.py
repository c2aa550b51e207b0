"""How BL's releases resist attacks: the closeness and diversity of their groups, and Naive Bayes learned from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lookalike.apps.papers.bench import Bench
from lookalike.apps.papers.bl import (
    BETAS,
    BUCKETS,
    DATA,
    GENERALIZED,
    default_table,
    falling,
    likeness,
    list_reached,
    rising,
)
from lookalike.apps.papers.experiments import Experiment, Figure, Results, Row, Shape
from lookalike.audit.exposures import expose
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.models.t_closeness import equal_moves, ordered_moves

_UNEVEN = 0.05


@dataclass(frozen=True)
class Levels:
    """t and l of a release's groups: of the worst one, and on average over all."""

    t: float
    avg_t: float
    ordered_t: float
    """The worst if values are points in the order of their codes, as salary classes might have been."""
    ell: float
    avg_ell: float
    n_groups: int

    @classmethod
    def of(cls, release: Release, original: Microdata) -> Levels:
        exposure = expose(release, original, 0)
        wholes = exposure.n_records * exposure.sizes
        distances = (equal_moves(exposure) / wholes).astype(np.float64)
        ordered = ordered_moves(exposure) / (wholes * max(len(exposure.prior) - 1, 1))
        ells = exposure.sizes / np.maximum.reduceat(exposure.weights, exposure.starts[:-1])
        return cls(
            t=float(distances.max()),
            avg_t=float(distances.mean()),
            ordered_t=float(ordered.max()),
            ell=float(ells.min()),
            avg_ell=float(ells.mean()),
            n_groups=exposure.n_units,
        )


def _levels(bench: Bench) -> Iterator[Row]:
    data = default_table(bench)
    shares = data.counts(0) / data.n_rows
    for beta in BETAS:
        allowed = max(share * (1 + min(beta, -np.log(share))) for share in shares if share > 0)
        for repetition in bench.repetitions:
            made = bench.publish(data, likeness(beta), GENERALIZED["BUREL"], repetition)
            levels = Levels.of(made.release, data)
            yield {
                "beta": beta,
                "series": "BUREL",
                "repetition": repetition,
                "t": levels.t,
                "avg t": levels.avg_t,
                "l": levels.ell,
                "avg l": levels.avg_ell,
                "ordered t": levels.ordered_t,
                "least l allowed": 1 / float(allowed),
                "groups": levels.n_groups,
            }


def _is_allowed(found: Results) -> bool:
    return bool(found.rows) and all(row["l"] >= row["least l allowed"] * (1 - 1e-9) for row in found.rows)


def _naive_bayes(bench: Bench) -> Iterator[Row]:
    data = default_table(bench)
    most_frequent = 100 * float(data.counts(0).max()) / data.n_rows
    for beta in BETAS:
        for repetition in bench.repetitions:
            for series in ("BUREL", "BUREL by cuts"):
                made = bench.publish(data, likeness(beta), GENERALIZED[series], repetition)
                found = made.attack("naive-bayes:kind=classic", repetition)
                assert found.score is not None
                yield {
                    "beta": beta,
                    "series": series,
                    "repetition": repetition,
                    "right": 100 * found.score.share,
                    **list_reached(made),
                }
            yield {"beta": beta, "series": _MOST_FREQUENT, "repetition": repetition, "right": most_frequent}


_MOST_FREQUENT = "most frequent value"
_CLOSE_BY = 1.0
"""Percentage points that count as close to the share of the most frequent value."""


def _close_to_most_frequent(found: Results) -> bool:
    right, honest = (found.means("beta", "right", series) for series in ("BUREL", _MOST_FREQUENT))
    return bool(right) and all(abs(right[beta] - honest[beta]) <= _CLOSE_BY for beta in right)


EXPERIMENTS = (
    Experiment(
        paper="BL",
        title="closeness and diversity of BUREL's releases",
        setting="CENSUS, three quasi-identifiers, beta = 1 to 5; of the worst group, and the mean over groups",
        reports=(
            "beta 1: t 0.02 (mean 0.01), l 19.0 (20.7); 2: 0.09 (0.04), 11.0 (15.9); 3: 0.13 (0.04), 8.7 (14.2); "
            "4: 0.16 (0.04), 7.2 (13.6); 5: 0.17 (0.05), 6.6 (12.6)."
        ),
        figures=(Figure("bl-table", "beta", "l", "beta", "l of the worst group"),),
        measure=_levels,
        shapes=(
            *rising("t rises with beta", "beta", "t", "BUREL", slack=_UNEVEN),
            *rising("mean t rises with beta", "beta", "avg t", "BUREL", slack=_UNEVEN),
            *falling("l falls as beta grows", "beta", "l", "BUREL", slack=_UNEVEN),
            *falling("mean l falls as beta grows", "beta", "avg l", "BUREL", slack=_UNEVEN),
            Shape("no group's l is below what beta allows", _is_allowed),
        ),
        differs=DATA
        + BUCKETS
        + "t is measured with equal distances, as the paper names none. "
        + (
            "The printed t are about as small as ours with values in the order of their codes (ordered t): the paper "
            "seems to have measured them so. BUREL halves in steps, so levels do not follow beta closely."
        ),
    ),
    Experiment(
        paper="BL",
        title="Naive Bayes by beta",
        setting="CENSUS, three quasi-identifiers, beta = 1 to 5; shares counted as in Eq. (17), nothing added",
        reports="The share of right guesses stays close to the share of the most frequent value, 4.8402 %.",
        figures=(Figure("bl-nb", "beta", "right", "beta", "guessed right, %"),),
        measure=_naive_bayes,
        shapes=(
            Shape("right guesses stay within a point of the share of the most frequent value", _close_to_most_frequent),
        ),
        differs=DATA + BUCKETS + "Eq. (17) misprints its last term; it sums over the groups that hold the value. ",
    ),
)
