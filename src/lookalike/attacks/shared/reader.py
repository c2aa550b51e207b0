"""The plain reader: what the rows say that a person fits, anyone who the person is.

    Grouped, Matched   the rows of all classes whose cells hold the person
    plain tables       the rows nearest to the person, by the loss (NCP) of a cell that would hold both
    Bucketized         the values of the buckets of the rows with exactly the person's quasi-identifiers
    Perturbed          the rows with exactly these, their values read by Bayes

Unlike the plain reader of `whereabouts`, who finds a place for every record of the table, this one needs no record
but the person's own quasi-identifiers. So it reads the release for people who are not in it as well.

Cost: records times classes comparisons; of plain tables records times rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs
from lookalike.audit.containment import list_fitting
from lookalike.audit.reading import joint_ids, joint_ids_of_two
from lookalike.data.cell_kinds import EXACT, describe_cells
from lookalike.data.contracts import Target
from lookalike.data.microdata import Codes, Domain, read_only
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Release, is_numeric_cell

Ints = NDArray[np.int64]
Shares = NDArray[np.float64]
_PAIRS = 20_000_000
"""Pairs of records and classes that are compared at once."""
_DISTANCES = 4_000_000
_MOST_CODES = 2000
"""Of a taxonomy with more leaves all values are equally far."""
_TIE = 1e-9


def is_plain(release: Release) -> bool:
    """Whether every cell of a generalised release is one value: a table as it was, or synthetic records."""
    return isinstance(release, Grouped | Matched) and set(describe_cells(release).values()) <= {EXACT}


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads a release for people given by their quasi-identifiers, over the domains of the target."""

    target: Target

    @classmethod
    def of(cls, target: Target) -> Reader:
        """Worked out once per target."""
        found = target.worked_out.setdefault("reader", cls(target))
        assert isinstance(found, cls)
        return found

    @property
    def _where(self) -> Whereabouts:
        return Whereabouts.of(self.target)

    @cached_property
    def is_plain(self) -> bool:
        return is_plain(self.target.release)

    def find_classes(self, quasi: Codes) -> tuple[Ints, Ints]:
        """Pairs (place of the person, class) of people and the classes whose cells hold them."""
        cells, n_classes = self._where.reading.boxes.cells, self._where.reading.boxes.n_classes
        classes, people = np.arange(n_classes), [np.zeros(0, dtype=np.int64)]
        fitting = [np.zeros(0, dtype=np.int64)]
        step = max(_PAIRS // max(n_classes, 1), 1)
        bounds = np.array([0, n_classes])
        for first in range(0, len(quasi), step):
            block = read_only(quasi[first : first + step])
            starts, items = list_fitting(
                cells, classes, bounds, block, np.array([0, len(block)]), len(block) * n_classes
            )
            people.append(first + np.repeat(np.arange(len(block)), np.diff(starts)))
            fitting.append(items.astype(np.int64))
        return np.concatenate(people), np.concatenate(fitting)

    def _fit(self, quasi: Codes) -> tuple[Any, Any]:
        """Which units each person is in, as [people, units], and the units that they stand for."""
        release, n_people = self.target.release, len(quasi)
        if isinstance(release, Grouped | Matched) and not self.is_plain:
            n_classes = self._where.reading.boxes.n_classes
            return count_pairs(*self.find_classes(quasi), (n_people, n_classes)), self._where.reading.boxes.class_of_row
        if isinstance(release, Grouped | Matched):
            return self._find_nearest(quasi), self._where.reading.boxes.class_of_row
        point_of_person, point_of_row = joint_ids_of_two((quasi,), (release.quasi,))
        n_points = 1 + int(max(point_of_person.max(initial=-1), point_of_row.max(initial=-1)))
        here = count_pairs(np.arange(n_people), point_of_person, (n_people, n_points))
        if isinstance(release, Perturbed):
            return here, point_of_row
        of_sensitive, of_quasi = self._where.buckets
        listed = count_pairs(point_of_row, of_quasi, (n_points, self._where.n_units))
        return sparse.csr_array(here @ listed), of_sensitive

    def beliefs(self, quasi: Codes, column: int) -> Any:
        """[people, values] how many rows that a person fits say each value (CSR); nothing for who fits none."""
        ids = joint_ids(tuple(quasi.T), len(quasi)) if quasi.shape[1] else np.zeros(len(quasi), dtype=np.int64)
        firsts = np.unique(ids, return_index=True)[1]
        found = self._read(quasi[firsts], column)
        return found[ids]

    def _read(self, quasi: Codes, column: int) -> Any:
        release, original = self.target.release, self.target.original
        n_codes = original.domains.sensitive[column].n_codes
        fits, unit_of_row = self._fit(quasi)
        told = ~self._where.reading.is_told_dummy
        counts = count_pairs(unit_of_row[told], release.sensitive[told, column], (fits.shape[1], n_codes))
        if isinstance(release, Bucketized):
            sizes = np.asarray(counts.sum(axis=1)).reshape(-1)
            counts = sparse.csr_array(sparse.diags_array(1 / np.maximum(sizes, 1)) @ counts)
        if isinstance(release, Perturbed):
            joint = release.randomizers[column].weights.astype(np.float64) * original.counts(column)
            drawn = joint.sum(axis=1, keepdims=True)
            counts = counts @ np.divide(joint, drawn, where=drawn > 0, out=np.zeros_like(joint))
        found = sparse.csr_array(fits @ counts)
        found.eliminate_zeros()
        return found

    def _find_nearest(self, quasi: Codes) -> Any:
        """[people, classes] the classes of the rows nearest to each person."""
        boxes, domains = self._where.reading.boxes, self.target.release.domains.quasi
        points = points_of_classes(self.target.release, boxes.class_of_row, boxes.n_classes)
        measures = [_Distance.of(domain) for domain in domains]
        people, nearest = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        step = max(_DISTANCES // max(boxes.n_classes, 1), 1)
        for first in range(0, len(quasi), step):
            block = quasi[first : first + step]
            total = np.zeros((len(block), boxes.n_classes))
            for measure, mine, theirs in zip(measures, block.T, points.T, strict=True):
                total += measure.between(mine, theirs)
            owner, classes = np.nonzero(total <= total.min(axis=1, keepdims=True) + _TIE)
            people.append(first + owner)
            nearest.append(classes)
        return count_pairs(np.concatenate(people), np.concatenate(nearest), (len(quasi), boxes.n_classes))


def points_of_classes(release: Release, class_of_row: Ints, n_classes: int) -> Codes:
    """[classes, attributes] the values of the rows of a plain table."""
    assert isinstance(release, Grouped | Matched)
    units = np.zeros(n_classes, dtype=np.int64)
    units[class_of_row] = release.unit_of_row
    columns = []
    for domain, extents in zip(release.domains.quasi, release.extents, strict=True):
        if isinstance(extents, Ranges):
            empty = extents.highs < extents.lows
            codes = np.where(empty & extents.missing, domain.missing_code, extents.lows)
        else:
            members = np.append(extents.members, domain.n_codes)
            codes = members[np.minimum(extents.starts[:-1], len(members) - 1)]
        columns.append(codes[units])
    return np.column_stack(columns).astype(np.int32)


@dataclass(frozen=True, eq=False)
class _Distance:
    """How far values of a column are apart, from 0 to its weight: the NCP of a cell that would hold both."""

    weight: float
    points: Shares
    """Of each code and of nobody's; NaN: none."""
    span: float
    """0: values are equal or as far as can be."""
    table: Shares | None = None
    """[codes, codes] of a taxonomy."""

    @classmethod
    def of(cls, domain: Domain) -> _Distance:
        n_codes, weight = domain.n_codes, domain.attribute.weight
        points = np.arange(n_codes + 2, dtype=np.float64)
        if domain.taxonomy is not None and n_codes <= _MOST_CODES:
            tree, codes = domain.taxonomy, np.arange(n_codes, dtype=np.int32)
            firsts, lasts = np.meshgrid(codes, codes, indexing="ij")
            nodes = tree.closures(np.minimum(firsts, lasts).ravel(), np.maximum(firsts, lasts).ravel())
            leaves = (tree.lasts[nodes] - tree.firsts[nodes]).reshape(n_codes, n_codes)
            table = np.ones((n_codes + 2, n_codes + 2))
            table[:n_codes, :n_codes] = leaves / max(n_codes - 1, 1)
            return cls(weight, points, 0.0, table)
        if not domain.in_ranges or domain.taxonomy is not None:
            return cls(weight, points, 0.0)
        span = domain.high - domain.low if is_numeric_cell(domain) else float(max(domain.size - 1, 1))
        points[len(domain.values) :] = np.nan
        points[: len(domain.values)] = domain.points
        return cls(weight, points, span)

    def between(self, mine: Codes, theirs: Codes) -> Shares:
        """[mine, theirs]"""
        if self.table is not None:
            return np.asarray(self.weight * self.table[mine[:, None], theirs[None, :]])
        if not self.span:
            return np.asarray(self.weight * (mine[:, None] != theirs[None, :]).astype(np.float64))
        apart = np.abs(self.points[mine][:, None] - self.points[theirs][None, :]) / self.span
        # A missing value is as far as can be from any other, and equal to none but missing.
        both = np.isnan(self.points[mine])[:, None] & np.isnan(self.points[theirs])[None, :]
        return np.asarray(self.weight * np.where(both, 0.0, np.where(np.isnan(apart), 1.0, np.minimum(apart, 1.0))))
