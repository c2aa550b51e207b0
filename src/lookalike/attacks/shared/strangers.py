"""Is it this person's secret, or is it true of anybody like this person?

A classifier that is often right may have learned nothing but general facts, which no release can hide and which are as
true of people who are not in it. To tell, it learns from half of the units and is asked about people in the other half.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.beliefs import scored
from lookalike.attacks.shared.judging import Classifier, Strangers, guessed_among_all
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.data.release import Bucketized, Grouped, Matched, Release
from lookalike.randomness import Randomness

MOST_RECORDS = 200_000
"""Of larger tables it is not found out: people would have to be found in their units first."""


def right_about_strangers(
    where: Whereabouts,
    column: int,
    guesses: NDArray[np.int64],
    learn: Callable[[Whereabouts], Classifier],
    rng: Randomness,
) -> Strangers | None:
    """How often the classifier is right about people whose units it has not learned from; None if nobody can say.

    `guesses` are those of the classifier that has learned from all units.
    """
    target = where.target
    if isinstance(target.release, Matched) or target.original.n_rows > MOST_RECORDS or where.n_units < 2:
        return None
    truth = target.original.sensitive[:, column]
    is_second = rng.permutation(where.n_units) % 2 == 1
    guesses_unseen = np.full(len(truth), -1, dtype=np.int64)
    asked = np.zeros(len(truth), dtype=bool)
    for held_back in (is_second, ~is_second):
        learned_from = _only(target.release, ~held_back[where.unit_of_row])
        learnt = learn(Whereabouts(replace(target, release=learned_from)))
        mine = np.flatnonzero(where.places @ held_back.astype(np.float64) > 1 - 1e-9)
        guesses_unseen[mine] = guessed_among_all(learnt, target.original.quasi[mine])
        asked[mine] = True
    if not asked.any():
        return None
    return Strangers(scored(guesses_unseen[asked], truth[asked]), scored(guesses[asked], truth[asked]))


def _only(release: Release, rows: NDArray[np.bool_]) -> Release:
    """The release with some rows of sensitive values, and what belongs to them."""
    assert not isinstance(release, Matched)
    sensitive, carried = release.sensitive[rows], release.carried[rows]
    if isinstance(release, Grouped):
        return replace(release, group_of_row=release.group_of_row[rows], sensitive=sensitive, carried=carried)
    if isinstance(release, Bucketized):
        buckets = release.bucket_of_sensitive[rows]
        listed = np.isin(release.bucket_of_quasi, buckets)
        return replace(
            release,
            quasi=release.quasi[listed],
            bucket_of_quasi=release.bucket_of_quasi[listed],
            sensitive=sensitive,
            carried=carried,
            bucket_of_sensitive=buckets,
        )
    return replace(release, quasi=release.quasi[rows], sensitive=sensitive, carried=carried)
