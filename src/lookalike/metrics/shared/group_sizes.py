"""How coarse the grouping is, whatever the values: sizes of groups, and what metrics of them share.

A group is what a reader can tell apart: rows whose published quasi-identifiers are identical, or a bucket.
Releases without groups (matched rows, perturbed columns) have none of these figures: not a number.

A suppressed row is in no group. Figures that are losses charge it what a row costs in a group of the whole table.

Where persons have several rows, sizes are numbers of different persons. These do not follow from the release, so the
figures are worked out from the sizes that the audit found (`of_sizes`), stay with the owner, and are left out where
nobody knows which person is in which group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import RELEASE
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped, Ranges, Release
from lookalike.metrics.shared.metric import WrittenMetric

_SIZES: WeakKeyDictionary[Release, NDArray[np.int64]] = WeakKeyDictionary()


def group_sizes(release: Release) -> NDArray[np.int64]:
    """The sizes of the groups a reader can tell apart; empty where the form has none. Counted once for a release."""
    if release not in _SIZES:
        _SIZES[release] = _count_groups(release)
    return _SIZES[release]


def _count_groups(release: Release) -> NDArray[np.int64]:
    if isinstance(release, Bucketized):
        sizes = np.bincount(release.bucket_of_quasi)
        return sizes[sizes > 0].astype(np.int64)
    if not isinstance(release, Grouped):
        return np.zeros(0, dtype=np.int64)
    class_of_group = _classes(release)
    return np.bincount(class_of_group[release.group_of_row], minlength=int(class_of_group.max(initial=-1)) + 1)


def _classes(release: Grouped) -> NDArray[np.int64]:
    """Groups with the same extents get the same number: refined column by column."""
    classes = np.zeros(len(release.extents[0]), dtype=np.int64)
    for extents in release.extents:
        if isinstance(extents, Ranges):
            points = np.nan_to_num(np.stack([extents.low_points, extents.high_points]), nan=-np.inf)
            keys = np.stack([classes, *(np.unique(line, return_inverse=True)[1] for line in points), extents.missing])
        else:
            known: dict[bytes, int] = {}
            bounds = list(zip(extents.starts[:-1], extents.starts[1:], strict=True))
            sets = [known.setdefault(extents.members[a:b].tobytes(), len(known)) for a, b in bounds]
            keys = np.stack([classes, np.asarray(sets, dtype=np.int64)])
        classes = np.unique(keys.astype(np.int64), axis=1, return_inverse=True)[1].reshape(-1)
    return classes


class OfGroups(WrittenMetric):
    """A figure of three sums over groups and the number of suppressed rows: parts hand these on, in whole numbers."""

    needs = RELEASE
    axis: ClassVar[str | None] = None
    forms = frozenset({Grouped.form, Bucketized.form})
    joins = True
    counts_rows = False

    def measure(self, original: Microdata, release: Release) -> float:
        return self.join([self.of_part(original, release)])

    def of_part(self, original: Microdata, release: Release) -> tuple[int, int, int, int]:
        if original.persons is not None:
            return 0, 0, 0, 0
        sizes = group_sizes(release)
        return len(sizes), int(sizes.sum()), int((sizes**2).sum()), int(release.withheld.n_suppressed)

    def join(self, parts: Sequence[tuple[int, int, int, int]]) -> float:
        n_groups, n_rows, squares, n_suppressed = (sum(sums) for sums in zip(*parts, strict=True))
        return self.of_sums(n_groups, n_rows, squares, n_suppressed) if n_groups else math.nan

    def of_sizes(self, units_of_size: Mapping[int, int]) -> float:
        """From how many groups there are of each size, whatever sizes are numbers of."""
        sizes, units = np.array([*units_of_size.items()], dtype=np.int64).reshape(-1, 2).T
        return self.join([(int(units.sum()), int(units @ sizes), int(units @ sizes**2), 0)])

    def of_sums(self, n_groups: int, n_rows: int, squares: int, n_suppressed: int) -> float:
        """From the number of groups, their rows, their squared sizes, and the rows that are in no group."""
        raise NotImplementedError
