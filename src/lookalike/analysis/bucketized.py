"""Counts from a bucketized release: quasi-identifiers and sensitive values stand in two tables, joined by a bucket.

Within a bucket of N rows every way to hand out the sensitive values is equally likely. Of the K rows that match on one
side, the number that also match among the M on the other is hypergeometric, and buckets are independent:

    estimate = sum K M / N,      error^2 = sum K (M/N) (1 - M/N) (N - K) / (N - 1) = sum K (N-K) M (N-M) / (N^2 (N-1))

Both are products of a matrix (combinations x buckets) with another (buckets x values), which are sparse. Columns of one
table alone are counted without error.

That is what a reader can say who knows nothing of how people's values go with the rest; what that leaves open
(`queries.links`) is added to the error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from lookalike.analysis.conditions import Where, rows_where
from lookalike.analysis.crosstables import check_size, combinations, framed
from lookalike.analysis.estimate import Estimate, spread
from lookalike.analysis.release import PublishedRelease
from lookalike.analysis.spreading import Links, Numbers
from lookalike.errors import DataError, counted
from lookalike.files.releases.cells import Encoding
from lookalike.files.releases.describe import PublishedManifest


@dataclass(frozen=True)
class Side:
    """One of the two tables: its columns about people, and the bucket of each row, numbered from 0."""

    frame: pl.DataFrame
    bucket_of_row: NDArray[np.int64]
    n_buckets: int

    def conditions(self, where: Where) -> Where:
        return {name: wanted for name, wanted in where.items() if name in self.frame.columns}

    def rows(self, where: Where) -> NDArray[np.int64]:
        """The rows that satisfy this side's conditions."""
        return np.flatnonzero(rows_where(self.frame, self.conditions(where)).to_numpy())

    def by_bucket(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(self.bucket_of_row[rows], minlength=self.n_buckets)

    def crossed(self, names: Sequence[str], where: Where) -> _Crossed:
        rows = self.rows(where)
        own = [name for name in names if name in self.frame.columns]
        found, combination_of_row = combinations(self.frame[rows], own)
        counts = sparse.coo_array(
            (np.ones(len(rows)), (combination_of_row, self.bucket_of_row[rows])), shape=(len(found), self.n_buckets)
        ).tocsr()
        involved = bool(own or self.conditions(where))
        return _Crossed(own, found, counts, involved, rows, combination_of_row)


@dataclass(frozen=True)
class _Crossed:
    """How often each combination of one side's columns occurs in each bucket."""

    names: list[str]
    combinations: pl.DataFrame
    counts: Any
    """Sparse, combinations x buckets."""
    involved: bool
    """Whether this side is asked about at all."""
    rows: NDArray[np.int64]
    """The rows that satisfy the conditions, and the combination of each."""
    of_row: NDArray[np.int64]

    @property
    def totals(self) -> Numbers:
        return np.asarray(self.counts.sum(axis=1), dtype=np.float64)

    def shares(self, sizes: NDArray[np.int64]) -> Any:
        """K / N for each combination and bucket, sparse."""
        return self._mapped(self.counts.data / sizes[self.counts.indices])

    def complements(self, sizes: NDArray[np.int64]) -> Any:
        """K (N - K) for each combination and bucket, sparse."""
        return self._mapped(self.counts.data * (sizes[self.counts.indices] - self.counts.data))

    def doubts(self, sizes: NDArray[np.int64]) -> Any:
        """K (N - K) / (N^2 (N - 1)) for each combination and bucket, sparse."""
        found = self.complements(sizes)
        found.data *= _scale(sizes)[found.indices]
        return found

    def _mapped(self, numbers: Numbers) -> Any:
        return sparse.csr_array((numbers, self.counts.indices, self.counts.indptr), shape=self.counts.shape)


@dataclass(frozen=True)
class BucketizedRelease(PublishedRelease):
    """Columns of one table are counted; across the two, counts are estimated bucket by bucket."""

    methods: ClassVar[tuple[str, ...]] = ("buckets", "baseline")

    qit: pl.DataFrame
    """Quasi-identifiers as they are, and the bucket of each row."""
    sat: pl.DataFrame
    """Sensitive and carried columns as they are, and the bucket of each row."""
    quasi: Side
    sensitive: Side
    sizes: NDArray[np.int64]
    """Rows of each bucket."""

    @classmethod
    def of(cls, manifest: PublishedManifest, qit: pl.DataFrame, sat: pl.DataFrame) -> BucketizedRelease:
        numbers = [_bucket_numbers(manifest, name, frame) for name, frame in (("qit", qit), ("sat", sat))]
        labels, ranks = np.unique(np.concatenate(numbers), return_inverse=True)
        quasi, sensitive = (
            Side(_without_bucket(manifest, name, frame), ranked.astype(np.int64), len(labels))
            for name, frame, ranked in (("qit", qit, ranks[: len(qit)]), ("sat", sat, ranks[len(qit) :]))
        )
        sizes = np.bincount(quasi.bucket_of_row, minlength=len(labels))
        if not np.array_equal(sizes, np.bincount(sensitive.bucket_of_row, minlength=len(labels))):
            raise DataError("Buckets have other sizes in qit than in sat. The release was changed: get it again.")
        return cls(manifest, qit, sat, quasi, sensitive, sizes)

    def __repr__(self) -> str:
        hidden = ", ".join(self.sensitive.frame.columns)
        return (
            f"<{self.manifest.title}: {counted(len(self.qit), 'row')} in {counted(len(self.sizes), 'bucket')}, "
            f"{hidden} apart by {self.manifest.algorithm}>"
        )

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        return {"qit": self.qit, "sat": self.sat}

    @property
    def columns(self) -> list[str]:
        return [*self.quasi.frame.columns, *self.sensitive.frame.columns]

    @cached_property
    def _value_of_row(self) -> NDArray[np.int64]:
        """Which combination of values each row of the sensitive side has."""
        return combinations(self.sensitive.frame, self.sensitive.frame.columns)[1]

    @cached_property
    def _links(self) -> Links:
        values = self._value_of_row
        n_values = int(values.max(initial=-1)) + 1
        return Links.of(self.sensitive.bucket_of_row, values, self.sensitive.n_buckets, n_values)

    def _otherwise(self, known_by: Any, rows: NDArray[np.int64], of_row: NDArray[np.int64], n_asked: int) -> Numbers:
        """[known, asked] answers by least squares: known_by [buckets, known] are the rows that match, and of_row says
        which combination that was asked for each of the rows of values has."""
        links = self._links
        shape = (len(links.inverse), n_asked)
        chosen = sparse.coo_array((np.ones(len(rows)), (self._value_of_row[rows], of_row)), shape=shape).toarray()
        return np.asarray(links.likely(links.stock.T @ known_by).T @ chosen)

    def _count(self, where: Where, method: str) -> Estimate:
        known, values = self.quasi.rows(where), self.sensitive.rows(where)
        if method == "baseline":
            return Estimate(len(known) * len(values) / len(self.sat), math.nan, len(known), method)
        known_by, values_by = self.quasi.by_bucket(known), self.sensitive.by_bucket(values)
        estimate = (known_by * values_by / self.sizes).sum()
        variance = (
            known_by * (self.sizes - known_by) * (values_by * (self.sizes - values_by) * _scale(self.sizes))
        ).sum()
        if self.quasi.conditions(where) and self.sensitive.conditions(where):
            together = np.zeros(len(values), dtype=np.int64)
            otherwise = self._otherwise(known_by[:, None].astype(np.float64), values, together, 1)[0]
            most = np.array([min(len(known), len(values))])
            variance = self._links.variances(np.array([variance]), np.array([estimate]), otherwise, most)[0]
        return Estimate(float(estimate), math.sqrt(variance), len(known), method)

    def _crosstab(self, names: Sequence[str], where: Where, *, clip: bool, level: float) -> pl.DataFrame:
        known, values = self.quasi.crossed(names, where), self.sensitive.crossed(names, where)
        reach = spread(level)
        shown = "clipped" if clip else "estimate"
        if not (known.involved and values.involved):
            side = known if known.involved else values
            exact = side.totals
            columns = {name: side.combinations[name] for name in side.names}
            figures = {"published": exact.astype(np.int64), shown: exact, "error": np.zeros(len(exact))}
            return framed(names, columns, {**figures, "low": exact, "high": exact})
        shape = (len(known.combinations), len(values.combinations))
        check_size(shape)
        estimates = (known.counts @ values.shares(self.sizes).T).toarray()
        variances = (known.complements(self.sizes) @ values.doubts(self.sizes).T).toarray()
        otherwise = self._otherwise(known.counts.T.toarray(), values.rows, values.of_row, len(values.combinations))
        most = np.minimum(known.totals[:, None], values.totals)
        errors = np.sqrt(self._links.variances(variances, estimates, otherwise, most))
        rows = known.totals[:, None]
        of_known, of_values = (place.ravel() for place in np.indices(shape))
        columns = {name: known.combinations[name].gather(of_known) for name in known.names}
        columns |= {name: values.combinations[name].gather(of_values) for name in values.names}
        figures = {
            shown: estimates,
            "error": errors,
            "low": np.clip(estimates - reach * errors, 0, rows),
            "high": np.clip(estimates + reach * errors, 0, rows),
        }
        return framed(names, columns, figures)


def _scale(sizes: NDArray[np.int64]) -> Numbers:
    """1 / (N^2 (N - 1)); a bucket of one row leaves no doubt, and the other factors are 0 there."""
    return np.asarray(1 / (sizes.astype(np.float64) ** 2 * np.maximum(sizes - 1, 1)))


def _bucket_name(manifest: PublishedManifest, table: str) -> str:
    names = [field.name for field in manifest.tables[table] if field.encoding is Encoding.BUCKET]
    if len(names) != 1:
        raise DataError(f"{table} needs one column of bucket numbers. The release was changed: get it again.")
    return names[0]


def _bucket_numbers(manifest: PublishedManifest, table: str, frame: pl.DataFrame) -> NDArray[np.int64]:
    numbers = frame[_bucket_name(manifest, table)]
    if not numbers.dtype.is_integer() or numbers.null_count():
        raise DataError(f"{table} has rows without a bucket number. The release was changed: get it again.")
    return numbers.to_numpy().astype(np.int64)


def _without_bucket(manifest: PublishedManifest, table: str, frame: pl.DataFrame) -> pl.DataFrame:
    bucket = _bucket_name(manifest, table)
    return pl.DataFrame([frame[name] for name in frame.columns if name != bucket])
