"""A release read once, beside the original: classes, joint values, and a row for every record.

Everything is worked out from what is published and the original table when it is first asked for, and kept. The
costly part is `placement`: it lets every record take a published row that it fits and that carries its own sensitive
and carried values, which is possible for an honest release and shows how many records are left without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.cells import Boxes, Ints, boxes_of, joint_ids, joint_ids_of_two, value_ids
from lookalike.audit.placement import Placement, largest_placement
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Codes, Microdata
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Release


@dataclass(frozen=True, eq=False)
class Reading:
    """What the audit knows."""

    release: Release
    original: Microdata
    unpublished: Mapping[str, Codes] = field(default_factory=dict)
    """Columns of the original that the release leaves out, by name, as the rank of each record."""
    parts: Mapping[str, Ints] = field(default_factory=dict)
    """Of a release in parts: by published table, the number of the part that each row lies in."""
    exposures: dict[tuple[int | None, str], Exposure] = field(default_factory=dict)
    """Beliefs by column and adversary, kept because every model looks at them."""

    @cached_property
    def boxes(self) -> Boxes:
        assert isinstance(self.release, Grouped | Matched)
        return boxes_of(self.release)

    @cached_property
    def unit_of_row(self) -> Ints:
        """Rows that a reader takes for one group: identical cells, in one part."""
        return self.in_parts(self.boxes.class_of_row)

    def in_parts(self, units: Ints) -> Ints:
        """Units of the rows of a grouped or matched release, those of each part by themselves."""
        return joint_ids((units, self.parts["release"]), len(units)) if self.parts else units

    @cached_property
    def _values(self) -> tuple[Ints, Ints]:
        return value_ids(self.original, self.release.sensitive, self.release.carried)

    @property
    def value_of_record(self) -> Ints:
        """Number of each record's joint sensitive and carried values."""
        return self._values[0]

    @property
    def value_of_row(self) -> Ints:
        return self._values[1]

    @property
    def n_values(self) -> int:
        return 1 + max((int(ids.max()) for ids in self._values if len(ids)), default=-1)

    @cached_property
    def _points(self) -> tuple[Ints, Ints]:
        assert isinstance(self.release, Bucketized | Perturbed)
        return joint_ids_of_two((self.original.quasi,), (self.release.quasi,))

    @property
    def point_of_record(self) -> Ints:
        """Number of each record's joint quasi-identifiers (releases that publish them exactly)."""
        return self._points[0]

    @property
    def point_of_row(self) -> Ints:
        return self._points[1]

    @property
    def n_points(self) -> int:
        return 1 + max((int(ids.max()) for ids in self._points if len(ids)), default=-1)

    @cached_property
    def is_told_dummy(self) -> NDArray[np.bool_]:
        """Rows whose sensitive value no original record has: anybody sets them aside."""
        told = np.zeros(len(self.release.sensitive), dtype=bool)
        if isinstance(self.release, Perturbed):
            return told
        for index in range(self.release.sensitive.shape[1]):
            told |= self.original.prior(index)[self.release.sensitive[:, index]] == 0
        return told

    @cached_property
    def placement(self) -> Placement:
        return largest_placement(
            self.boxes, self.original.quasi, self.value_of_record, self.value_of_row, self.n_values
        )

    @cached_property
    def blocks(self) -> Ints | None:
        """The block of each row, where every record fits all rows of its block and no others; None if it is not so.

        A matched release with such blocks is a grouped one, whatever graph it was drawn from.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        if self.fits is None:
            return None
        starts, rows = self.fits
        n_records, n_rows = self.original.n_rows, self.release.n_rows
        n_fitting = np.diff(starts)
        ends = np.repeat(np.arange(n_records), n_fitting), n_records + rows
        edges = csr_array((np.ones(len(rows), dtype=np.int8), ends), shape=(n_records + n_rows,) * 2)
        _, component = connected_components(edges, directed=False)
        sizes = np.bincount(component[n_records:], minlength=int(component.max(initial=0)) + 1)
        real = n_fitting > 0
        if (n_fitting[real] != sizes[component[:n_records][real]]).any():
            return None
        blocks: Ints = component[n_records:].astype(np.int64)
        return blocks

    @cached_property
    def fits(self) -> tuple[Ints, NDArray[np.int32]] | None:
        """For each record all rows that it fits by its quasi-identifiers (starts, rows); None if far too many."""
        from lookalike.kernels.containment import list_fitting

        codes = np.ascontiguousarray(self.original.quasi)
        all_rows, all_records = np.array([0, self.release.n_rows]), np.array([0, len(codes)])
        starts, rows = list_fitting(self.boxes.cells, self.boxes.class_of_row, all_rows, codes, all_records, FITS_LIMIT)
        return None if starts[-1] > FITS_LIMIT else (starts, rows)

    @cached_property
    def fits_several_parts(self) -> bool:
        """Whether some record fits rows of more than one part."""
        if not self.parts or self.fits is None:
            return False
        starts, rows = self.fits
        parts = self.parts["release"][rows]
        inside = np.ones(len(parts), dtype=bool)
        inside[starts[:-1][np.diff(starts) > 0]] = False
        return bool((parts[1:] != parts[:-1])[inside[1:]].any())


FITS_LIMIT = 20_000_000
"""More (record, row) pairs than this are not listed."""
