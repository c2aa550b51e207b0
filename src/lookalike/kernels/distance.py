"""How far records are from each other: what a group of two would lose."""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry
from lookalike.kernels.axes import NODE, SET, measure


@entry
def pair_distances(axes, record, factors, plain, scaled):  # type: ignore[no-untyped-def]
    """For every record x: plain[x] is what it and `record` lose together; scaled[x] the same, by attribute's factor."""
    plain[:] = 0.0
    scaled[:] = 0.0
    for attr in range(axes.codes.shape[1]):
        kind, missing = axes.attributes[attr]["kind"], axes.attributes[attr]["missing"]
        if axes.attributes[attr]["span"] <= 0.0:
            continue
        here = np.int64(axes.codes[record, attr])
        for other in range(len(plain)):
            there = np.int64(axes.codes[other, attr])
            if there == here:
                continue
            if kind == SET:
                lost = measure(axes, attr, 0, 0, 0, 2)
            elif kind != NODE and (here == missing or there == missing):
                lost = measure(axes, attr, 0, 0, 1, 0)
            else:
                lost = measure(axes, attr, min(here, there), max(here, there), 0, 0)
            plain[other] += lost
            scaled[other] += factors[attr] * lost
