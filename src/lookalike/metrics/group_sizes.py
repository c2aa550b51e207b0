"""How coarse the grouping is, whatever the values: discernibility, average group size, MSBS.

A group is what a reader can tell apart: rows whose published quasi-identifiers are identical, or a bucket.
Releases without groups (matched rows, perturbed columns) have none of these figures: not a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import RELEASE
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Grouped, Ranges, Release


def group_sizes(release: Release) -> NDArray[np.int64]:
    """The sizes of the groups a reader can tell apart; empty where the form has none."""
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


@dataclass(frozen=True)
class Discernibility:
    """The sum of squared group sizes: each record is charged the number of records it looks like."""

    name: ClassVar[str] = "discernibility"
    needs: ClassVar[str] = RELEASE

    def measure(self, release: Release, original: Microdata) -> float:
        sizes = group_sizes(release)
        return float((sizes.astype(np.float64) ** 2).sum()) if sizes.size else float("nan")


@dataclass(frozen=True)
class AverageGroupSize:
    """Records by groups."""

    name: ClassVar[str] = "average_group_size"
    needs: ClassVar[str] = RELEASE

    def measure(self, release: Release, original: Microdata) -> float:
        sizes = group_sizes(release)
        return float(sizes.mean()) if sizes.size else float("nan")


@dataclass(frozen=True)
class MeanSquaredBucketSize:
    """MSBS: the sum of (size - 1)^2 over the groups, divided by n - 1; 0 if every record stands alone."""

    name: ClassVar[str] = "msbs"
    needs: ClassVar[str] = RELEASE

    def measure(self, release: Release, original: Microdata) -> float:
        sizes = group_sizes(release).astype(np.float64)
        if not sizes.size:
            return float("nan")
        return float(((sizes - 1) ** 2).sum() / max(sizes.sum() - 1, 1))
