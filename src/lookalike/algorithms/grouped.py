"""What methods that publish groups have in common: from a partition of the records to a Grouped release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.method import Method
from lookalike.microdata import Microdata
from lookalike.progress import Progress
from lookalike.randomness import Randomness
from lookalike.release import Grouped, Linkage, cover
from lookalike.requirement import Requirement


class Grouping(Method):
    """A method that divides the records into groups; fits `contracts.Algorithm` once it has a name and `partition`."""

    form: ClassVar[str] = Grouped.form

    def partition(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[NDArray[np.int32], int]:
        """The group of each record, and the number of groups."""
        raise NotImplementedError

    def anonymize(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Grouped, Linkage]:
        """Publish each group's least extents. The row order is a permutation of its own, so it says nothing."""
        group_of_record, n_groups = self.partition(data, requirements, rng, progress)
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
