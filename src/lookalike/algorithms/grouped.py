"""From a partition of the records to a Grouped release: extents per group, rows in secret random order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.microdata import Microdata
from lookalike.randomness import Randomness
from lookalike.release import Grouped, Linkage, cover


def grouped_release(
    data: Microdata, group_of_record: NDArray[np.int32], n_groups: int, rng: Randomness
) -> tuple[Grouped, Linkage]:
    """Publish each group's least extents. The row order is a permutation of its own, so it says nothing."""
    record_of_row = rng.child("row order").permutation(data.n_rows)
    extents = tuple(
        cover(domain, data.quasi[:, index], group_of_record, n_groups)
        for index, domain in enumerate(data.domains.quasi)
    )
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=group_of_record[record_of_row],
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
    )
    return release, Linkage(record_of_row)
