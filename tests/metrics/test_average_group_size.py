"""Average group size."""

from __future__ import annotations

import numpy as np

from lookalike.data.release import Grouped, Ranges
from lookalike.metrics.average_group_size import AverageGroupSize
from lookalike.metrics.discernibility import Discernibility
from lookalike.metrics.shared.group_sizes import group_sizes
from tests.metrics.making import twelve


def test_groups_that_look_alike_are_one_group() -> None:
    """Four stored groups, two of them with the same extents: a reader sees three."""
    data = twelve()
    lows, highs = np.array([0, 3, 0, 9], dtype=np.int32), np.array([2, 5, 2, 11], dtype=np.int32)
    release = Grouped(
        domains=data.domains,
        extents=(Ranges.of(data.domains.quasi[0], lows, highs),),
        group_of_row=np.repeat(np.arange(4, dtype=np.int32), 3),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert sorted(group_sizes(release).tolist()) == [3, 3, 6]
    assert Discernibility().measure(data, release) == 9 + 9 + 36
    assert AverageGroupSize().measure(data, release) == 4
