"""What a known person can be narrowed down to: rows, and where persons have several, the persons behind them.

Rows that fit: Grouped, the class of identical rows; Bucketized and Perturbed, the rows with exactly the person's
quasi-identifiers, which both publish as they are; Matched, all rows whose cells hold the person's record.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.persons import PersonClasses, owners_of_records
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Target
from lookalike.data.microdata import Microdata
from lookalike.data.persons import number_pairs
from lookalike.data.release import Grouped, Matched


class Narrowed(NamedTuple):
    """How many rows persons are narrowed down to."""

    units: NDArray[np.int64]
    """Rows of each unit: a class, or what one person fits."""
    persons: NDArray[np.int64]
    """How many persons are narrowed down to that unit."""


def narrow_down(target: Target) -> Narrowed:
    """What persons are narrowed down to. Anyone who fits no row is left out."""
    release, where = target.release, Whereabouts.of(target)
    reading = where.reading
    if isinstance(release, Matched):
        starts, rows = where.fits
        kept = np.concatenate(([0], np.cumsum(~reading.is_told_dummy[rows])))
        counts = np.bincount(kept[starts[1:]] - kept[starts[:-1]])
        sizes = np.flatnonzero(counts[1:]) + 1
        return Narrowed(sizes.astype(np.int64), counts[sizes].astype(np.int64))
    if isinstance(release, Grouped):
        counts = np.bincount(reading.boxes.class_of_row[~reading.is_told_dummy])
    else:
        counts = np.bincount(reading.point_of_row)
    sizes = counts[counts > 0].astype(np.int64)
    return Narrowed(sizes, sizes)


class _Counted(NamedTuple):
    """Different persons by class."""

    sizes: NDArray[np.int64]
    """Persons of each class."""
    smallest: NDArray[np.int64]
    """For each person the size of the smallest class with a row of this person; 0 without a row."""
    once: bool
    """Whether every person is in one class only."""


def count_persons(target: Target) -> _Counted:
    """Persons that an attacker who knows one row cannot tell apart."""
    if not isinstance(target.release, Grouped):
        # Quasi-identifiers are published as they are, and records left out tell persons apart no better.
        classes = PersonClasses.of(target)
        left = classes.records if classes is not None and target.release.withheld.n_suppressed else None
        return count_persons_of_points(target.original, left)
    classes = PersonClasses.of(target)
    assert classes is not None
    return _count_by_class(classes.units, classes.owners, classes.n_persons)


def count_persons_of_points(original: Microdata, records: NDArray[np.int64] | None = None) -> _Counted:
    """Persons with exactly the same quasi-identifiers in some row."""
    records = np.arange(original.n_rows) if records is None else records
    points = joint_ids(tuple(original.quasi[records].T), len(records))
    return _count_by_class(points, owners_of_records(original)[records], original.n_persons)


def _count_by_class(units: NDArray[np.int64], owners: NDArray[np.int64], n_persons: int) -> _Counted:
    firsts = np.unique(number_pairs(units, owners), return_index=True)[1]
    units, owners = units[firsts], owners[firsts]
    sizes = np.bincount(units).astype(np.int64)
    smallest = np.full(n_persons, n_persons + 1, dtype=np.int64)
    np.minimum.at(smallest, owners, sizes[units])
    smallest[smallest > n_persons] = 0
    return _Counted(sizes, smallest, len(np.unique(owners)) == len(owners))
