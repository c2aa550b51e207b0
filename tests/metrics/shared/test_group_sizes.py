"""Groups as a reader can tell them apart."""

from __future__ import annotations

import numpy as np

from lookalike.data.release import Grouped, Sets
from lookalike.metrics.shared.group_sizes import group_sizes
from tests.metrics.making import twelve


def test_sets_tell_groups_apart_by_their_members() -> None:
    data = twelve()
    sets = Sets(np.array([0, 2, 3, 5]), np.array([0, 1, 4, 0, 1], dtype=np.int32))
    release = Grouped(
        domains=data.domains,
        extents=(sets,),
        group_of_row=np.repeat(np.arange(3, dtype=np.int32), 4),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert sorted(group_sizes(release).tolist()) == [4, 8]
