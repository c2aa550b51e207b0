"""Free mode: boxes that keep the promise as a whole, each searched by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups.boxes import choose_box_size, cut_boxes
from lookalike.algorithms.groups.effort import Effort, Run
from lookalike.algorithms.groups.search import Box
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.progress import available_threads, silent
from lookalike.randomness import Randomness

Records = NDArray[np.int64]


def free_groups(
    data: Microdata, requirements: Sequence[Requirement], cell: int, effort: Effort, run: Run
) -> list[Records]:
    """The members of each group."""
    boxes = cut_boxes(data, requirements, cell or choose_box_size(data.n_rows, requirements), run.rng)
    shares, losses = [0.0] * len(boxes), [0.0] * len(boxes)
    table_boxes = [len(rows) * data.quasi.shape[1] for rows in boxes]
    n_threads = min(len(boxes), available_threads())

    def report(number: int, share: float, loss: float) -> None:
        shares[number], losses[number] = share, loss
        under_way = sum(size for size, done in zip(table_boxes, shares, strict=True) if done)
        run.report(sum(shares) / len(shares), sum(losses) / max(under_way, 1))

    def search(number: int) -> list[Records]:
        rows, own = boxes[number], effort
        if effort.seconds is not None:
            own = replace(effort, seconds=effort.seconds * n_threads * len(rows) / data.n_rows)
        rng = run.rng.child("cell", number)
        return _search_box(data, requirements, rows, rng, own, partial(report, number), run.stopped)

    return [members for groups in run.map(search, range(len(boxes))) for members in groups]


def _search_box(
    data: Microdata,
    requirements: Sequence[Requirement],
    rows: Records,
    rng: Randomness,
    effort: Effort,
    report: Callable[[float, float], None],
    stopped: Callable[[], bool],
) -> list[Records]:
    """The groups of one cell."""
    rule = rule_of(data, requirements)

    def by_mondrian() -> Records:
        part = data.take(rows)
        groups, _ = Mondrian().partition(part, requirements, rng.child("mondrian"), silent, rule)
        return groups.astype(np.int64)

    def searched(name: str, dealt: bool) -> tuple[Box, bool]:
        cell = Box(data, axes_of(data), rule, requirements, rows, rng.child(name))
        undecided = cell.seed(by_mondrian, dealt=dealt)
        # Two searches share the seconds that were given to one.
        halved = effort.seconds is not None and (undecided or not dealt)
        cell.improve(replace(effort, seconds=(effort.seconds or 0) / 2) if halved else effort, report, stopped)
        return cell, undecided

    best, undecided = searched("dealt", True)
    if undecided:
        best = min(best, searched("cut", False)[0], key=Box.loss)
    return best.groups()
