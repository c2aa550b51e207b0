"""What methods that publish groups have in common: from a partition of the records to a Grouped release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Method
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, Linkage, Withheld, cover
from lookalike.data.requirement import Requirement
from lookalike.progress import Progress
from lookalike.randomness import Randomness


class Grouping(Method):
    """A method that divides the records into groups; fits `contracts.Algorithm` once it has a name and `partition`."""

    form: ClassVar[str] = Grouped.form

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups."""
        raise NotImplementedError

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, Linkage]:
        group_of_record, n_groups = self.partition(data, requirements, rng, progress)
        return generalised(data, group_of_record, n_groups, rng)


def generalised(
    data: Microdata, group_of_record: NDArray[np.int32], n_groups: int, rng: Randomness
) -> tuple[Grouped, Linkage]:
    """Publish each group's least extents; records of group -1 are left out, and counted.

    The row order is a permutation of its own, so it says nothing.
    """
    record_of_row = rng.child("row order").permutation(data.n_rows)
    record_of_row = record_of_row[group_of_record[record_of_row] >= 0]
    group_of_row = group_of_record[record_of_row]
    extents = tuple(
        cover(domain, data.quasi[record_of_row, index], group_of_row, n_groups)
        for index, domain in enumerate(data.domains.quasi)
    )
    release = Grouped(
        domains=data.domains,
        extents=extents,
        group_of_row=group_of_row,
        sensitive=data.sensitive[record_of_row],
        carried=data.carried[record_of_row],
        withheld=left_out(data, group_of_record < 0),
    )
    return release, Linkage(record_of_row)


def left_out(data: Microdata, is_left_out: NDArray[np.bool_]) -> Withheld:
    """The records that are not published, counted by sensitive value."""
    if not is_left_out.any():
        return Withheld()
    counts = tuple(
        np.bincount(data.sensitive[is_left_out, column], minlength=domain.n_codes).astype(np.int64)
        for column, domain in enumerate(data.domains.sensitive)
    )
    return Withheld(suppressed=counts, n_suppressed=int(is_left_out.sum()))
