"""Parts of near records, grown so that no two records of a part have the same value (`kernels.nearest`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.matchers import chunks_of
from lookalike.kernels.axes import Axes
from lookalike.kernels.nearest import Due, Part, Queue, grow_parts
from lookalike.progress import Progress

Records = NDArray[np.int64]
_LOOKED_AT = 512
_OF_ONE_VALUE = 128
_RECORDS_BY_CALL = 20_000


def near_parts(
    axes: Axes, order: Records, values: NDArray[np.integer], degree: int, progress: Progress
) -> list[Records]:
    """All records, given in random order, in n // degree parts of near ones: `degree` or more with different values.

    No value (0, 1, 2 ...) may have more than n // degree records.
    """
    near = order[np.concatenate(chunks_of(axes, order, 1))]
    queue, due = _queue_of(near, values[near].astype(np.int64)), _due_of(values, len(near))
    n_parts = len(near) // degree
    members, starts = np.empty(len(near), dtype=np.int64), np.zeros(n_parts + 1, dtype=np.int64)
    part, step = _empty_part(axes, len(due.left)), max(_RECORDS_BY_CALL // degree, 1)
    for first in range(0, n_parts, step):
        stop = min(first + step, n_parts)
        grow_parts(axes, queue, due, part, degree, members, starts, first, stop, _LOOKED_AT, _OF_ONE_VALUE)
        progress("parts", stop / n_parts)
    return np.split(members, starts[1:-1])


def _queue_of(near: Records, values: NDArray[np.int64]) -> Queue:
    n = len(near)
    by_value = np.argsort(values, kind="stable")
    alike = np.full(n, n, dtype=np.int64)
    is_followed = values[by_value[1:]] == values[by_value[:-1]]
    alike[by_value[:-1][is_followed]] = by_value[1:][is_followed]
    return Queue(
        near=near,
        values=values,
        following=np.append(np.arange(1, n + 1), 0),
        before=np.append(np.append(n, np.arange(n - 1)), n - 1),
        heads=by_value[np.searchsorted(values[by_value], np.arange(int(values.max()) + 1)) % n],
        alike=alike,
        is_taken=np.zeros(n + 1, dtype=np.bool_),
    )


def _due_of(values: NDArray[np.integer], n: int) -> Due:
    left = np.bincount(values)
    ranked = np.argsort(-left, kind="stable")
    ranks = np.empty_like(ranked)
    ranks[ranked] = np.arange(len(ranked))
    return Due(
        ranked=ranked,
        ranks=ranks,
        left=left,
        at_least=np.searchsorted(-left[ranked], -np.arange(n + 2), side="right"),
    )


def _empty_part(axes: Axes, n_values: int) -> Part:
    n_attrs = axes.codes.shape[1]
    return Part(
        lows=np.empty(n_attrs, dtype=np.int64),
        highs=np.empty(n_attrs, dtype=np.int64),
        lacking=np.empty(n_attrs, dtype=np.int64),
        losses=np.empty(n_attrs),
        marks=np.zeros((n_attrs, int(axes.codes.max(initial=0)) + 1), dtype=np.int64),
        holds=np.zeros(n_values, dtype=np.int64),
        offered=np.zeros(n_values, dtype=np.int64),
        offers=np.empty(_LOOKED_AT + n_values, dtype=np.int64),
    )
