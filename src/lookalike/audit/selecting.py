"""Perturbed releases: were some people chosen to keep their value?

A draw keeps the values of women as readily as those of men, of the young as of the old. So the values kept are counted
in parts of the table that follow from the original alone: people with each value of a column, or within a run of its
values, from halves to runs of one value; and people with both one value of a column and one of another.

How far the counts of all parts lie from what the matrix gives is summed up in one number, whose mean under honest draws
is at most 1: the product over the parts of 1/2 + 1/2 mean over rates r of exp(r kept) / E exp(r kept). By Markov's
inequality it exceeds x with probability at most 1/x. Numbers of independent pieces of a table are multiplied.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints
from lookalike.audit.tails import Floats

RATES: Floats = np.array([-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0])
_RUNS = (2, 4, 8, 16, 32, 64, 128)
_RUNS_OF_PAIRS = (4, 16)
_MOST_PAIRED = 10
_MOST_VALUES = 200
"""Of columns with more sensitive values, those kept are not counted value by value."""


@dataclass(frozen=True, eq=False)
class Choices:
    """Columns by which people may have been chosen: the rank of each record."""

    published: Sequence[NDArray[np.integer[Any]]] = ()
    others: Sequence[NDArray[np.integer[Any]]] = ()
    """Of the original alone, and its order."""


@dataclass(frozen=True, eq=False)
class Counted:
    """How often each value of each class was kept, and log E exp(rate * count) at `RATES`."""

    classes: Ints
    values: Ints
    kept: Ints
    log_moments: Floats


def evidence(counted: Counted, class_of_record: Ints, choices: Choices, n_values: int) -> Floats:
    """The logarithm of each number; as many for every table with these columns."""
    n_classes = 1 + int(max(class_of_record.max(initial=-1), counted.classes.max(initial=-1)))
    sizes = np.bincount(class_of_record, minlength=n_classes)
    means = [
        np.bincount(class_of_record, weights=ranks, minlength=n_classes) / np.maximum(sizes, 1)
        for ranks in (*choices.published, *choices.others)
    ]
    found = [_of_runs(counted, runs, n_values) for runs in _all_runs(means, len(choices.published), sizes)]
    return np.concatenate(found) if found else np.zeros(0)


def chance_of(log_numbers: Floats) -> float:
    """How often, at most, honest draws reach the largest of these."""
    return float(min(1.0, max(len(log_numbers), 1) * np.exp(-max(log_numbers.max(initial=0.0), 0.0))))


def _all_runs(means: Sequence[Floats], n_published: int, sizes: Ints) -> Iterator[Ints]:
    """The run of each class, for every way to part the table."""
    for mean in means:
        for n_runs in _RUNS:
            yield _runs(mean, sizes, n_runs)
    for n_runs in _RUNS_OF_PAIRS:
        single = [_runs(mean, sizes, n_runs) for mean in means[: min(n_published, _MOST_PAIRED)]]
        for one, other in itertools.combinations(single, 2):
            yield one * n_runs + other


def _runs(mean: Floats, sizes: Ints, n_runs: int) -> Ints:
    """At most so many runs of classes, each of about as many records; those with equal means are together."""
    distinct, place = np.unique(mean[sizes > 0], return_inverse=True)
    runs = np.zeros(len(mean), dtype=np.int64)
    if len(distinct) <= n_runs:
        runs[sizes > 0] = place.reshape(-1)
        return runs
    weights = np.bincount(place.reshape(-1), weights=sizes[sizes > 0])
    middle = (np.cumsum(weights) - weights / 2) / weights.sum()
    runs[sizes > 0] = np.minimum((middle * n_runs).astype(np.int64), n_runs - 1)[place.reshape(-1)]
    return runs


def _of_runs(counted: Counted, run_of_class: Ints, n_values: int) -> Floats:
    """Over all values; then value by value, since counts of two values of a class depend on each other."""
    run_of_key = run_of_class[counted.classes]
    n_runs = 1 + int(run_of_class.max(initial=0))
    over_all = _logarithms(counted, run_of_key, n_runs).sum()
    if n_values > _MOST_VALUES:
        return np.array([over_all])
    by_value = _logarithms(counted, counted.values * n_runs + run_of_key, n_values * n_runs)
    return np.append(over_all, by_value.reshape(n_values, n_runs).sum(axis=1))


def _logarithms(counted: Counted, part_of_key: Ints, n_parts: int) -> Floats:
    """log(1/2 + 1/2 mean over rates) of each part; 0 of one without values."""
    kept = np.bincount(part_of_key, weights=counted.kept, minlength=n_parts)
    moments = np.column_stack(
        [np.bincount(part_of_key, weights=column, minlength=n_parts) for column in counted.log_moments.T]
    )
    logs = np.logaddexp.reduce(kept[:, None] * RATES - moments, axis=1) - np.log(len(RATES))
    numbers: Floats = np.logaddexp(logs, 0.0) - np.log(2.0)
    return numbers
