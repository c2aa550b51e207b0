"""Where a known person may be in a release, and what the rows there say: the plain reader, whom attacks try to beat.

    Grouped      a class of identical rows that the person fits; where classes overlap, such that all find room
    Bucketized   the buckets that list the person's quasi-identifiers
    Perturbed    the rows with the person's quasi-identifiers, their values read by Bayes
    Matched      all rows whose cells hold the person's quasi-identifiers, each as likely

Units are numbered; `places` says with which probability a record is in which unit, `stocks` what each unit says about a
sensitive column. Both are sparse, so a million records take memory in proportion to what is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.audit.reading import Reading, largest_placement
from lookalike.data.contracts import Target
from lookalike.data.release import Bucketized, Grouped, Perturbed
from lookalike.errors import Unsupported

SLACK = 1e-9
"""Beliefs this near are equal."""


@dataclass(frozen=True, eq=False)
class Whereabouts:
    """What a reader who knows everybody's quasi-identifiers can say about who is where."""

    target: Target

    @classmethod
    def of(cls, target: Target) -> Whereabouts:
        """The same for every attack on a target: who fits what is listed once."""
        found = target.worked_out.setdefault("whereabouts", cls(target))
        assert isinstance(found, cls)
        return found

    @cached_property
    def reading(self) -> Reading:
        return Reading(self.target.release, self.target.original, record_of_row=self.target.record_of_row)

    @property
    def fits(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Of a matched release: record i fits the rows rows[starts[i]:starts[i + 1]]."""
        if self.reading.fits is None:
            raise Unsupported(
                "Records fit far too many rows of this matched release to list them. Attack a sample of it."
            )
        return self.reading.fits

    @cached_property
    def unit_of_row(self) -> NDArray[np.int64]:
        """The unit of each published row that carries sensitive values."""
        release = self.target.release
        if isinstance(release, Grouped):
            return self.reading.boxes.class_of_row
        if isinstance(release, Bucketized):
            return self.buckets[0]
        if isinstance(release, Perturbed):
            return self.reading.point_of_row
        return np.arange(release.n_rows)

    @cached_property
    def buckets(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The bucket of each row of sat and of qit, numbered alike."""
        release = self.target.release
        assert isinstance(release, Bucketized)
        both = np.concatenate((release.bucket_of_sensitive, release.bucket_of_quasi))
        numbers = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
        n_rows = len(release.bucket_of_sensitive)
        return numbers[:n_rows], numbers[n_rows:]

    @property
    def n_units(self) -> int:
        numbered = self.buckets if isinstance(self.target.release, Bucketized) else (self.unit_of_row,)
        return 1 + max(int(units.max(initial=-1)) for units in numbered)

    @cached_property
    def places(self) -> Any:
        """[records, units] with which probability a record is in which unit (CSR; rows sum to 1)."""
        release, reading = self.target.release, self.reading
        n_records = self.target.original.n_rows
        if isinstance(release, Grouped):
            # By quasi-identifiers alone: the audit's own placement looks at the values that are to be guessed.
            same = np.zeros(n_records, dtype=np.int64), np.zeros(release.n_rows, dtype=np.int64)
            placement = largest_placement(reading.boxes, self.target.original.quasi, *same, 1)
            found = placement.item_of_record >= 0
            units = placement.class_of_item[placement.item_of_record[found]]
            return count_pairs(np.flatnonzero(found), units, (n_records, self.n_units))
        if isinstance(release, Bucketized):
            listed = count_pairs(reading.point_of_row, self.buckets[1], (reading.n_points, self.n_units))
            return normalise(listed)[reading.point_of_record]
        if isinstance(release, Perturbed):
            return count_pairs(np.arange(n_records), reading.point_of_record, (n_records, reading.n_points))
        starts, rows = self.fits
        return normalise(sparse.csr_array((np.ones(len(rows)), rows, starts), shape=(n_records, release.n_rows)))

    def stocks(self, column: int) -> Any:
        """[units, values] what each unit says about a sensitive column, as shares (CSR; rows sum to 1)."""
        release, original = self.target.release, self.target.original
        n_codes = original.domains.sensitive[column].n_codes
        values = release.sensitive[:, column]
        told = ~self.reading.is_told_dummy
        counts = count_pairs(self.unit_of_row[told], values[told], (self.n_units, n_codes))
        if not isinstance(release, Perturbed):
            return normalise(counts)
        joint = release.randomizers[column].weights.astype(np.float64) * original.counts(column)
        drawn = joint.sum(axis=1, keepdims=True)
        posterior = np.divide(joint, drawn, where=drawn > 0, out=np.zeros_like(joint))
        return normalise(sparse.csr_array(counts @ posterior))

    def beliefs(self, column: int) -> Any:
        """[records, values] what the plain reader believes of each record (CSR)."""
        return sparse.csr_array(self.places @ self.stocks(column))


def honest_guesses(beliefs: Any, prior: NDArray[np.int64]) -> NDArray[np.int64]:
    """The likeliest value of each record; among equally likely ones the most frequent in the table."""
    dense_row = np.argsort(np.argsort(prior, kind="stable"), kind="stable").astype(np.float64)
    guesses = np.full(beliefs.shape[0], int(np.argmax(prior)), dtype=np.int64)
    weights = beliefs.data + 1e-9 * dense_row[beliefs.indices] / max(len(prior), 1)
    owners = owners_of(beliefs)
    # Written in rising order: the last of a record stays.
    order = np.lexsort((weights, owners))
    guesses[owners[order]] = beliefs.indices[order]
    return guesses


def honest_share(beliefs: Any, truth: NDArray[np.int32]) -> float:
    """How often a reader is right on average who guesses a value as likely as it is believed."""
    return float(np.asarray(beliefs[np.arange(len(truth)), truth]).mean())


def count_pairs(rows: NDArray[Any], columns: NDArray[Any], shape: tuple[int, int]) -> Any:
    """How often each row goes with each column (CSR)."""
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


def owners_of(beliefs: Any) -> NDArray[np.int64]:
    """The row of each entry."""
    return np.repeat(np.arange(beliefs.shape[0]), np.diff(beliefs.indptr)).astype(np.int64)


def normalise(beliefs: Any) -> Any:
    """Rows scaled to sum to 1; empty rows stay empty."""
    sums = np.asarray(beliefs.sum(axis=1)).reshape(-1).astype(np.float64)
    scale = np.divide(1.0, sums, where=sums > 0, out=np.zeros_like(sums))
    scaled = sparse.csr_array(sparse.diags_array(scale) @ beliefs)
    scaled.eliminate_zeros()
    return scaled
