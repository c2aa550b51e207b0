"""Sums over records, from each form of release: each counts with a product of numbers, one per column asked about.

A count is the sum in which a number is 1 where a value is wanted, else 0. Here columns whose values are published as
they are may give any number: SUM(income) counts a record with its income, and a sample weight counts it that often.
Generalised columns give 0 or 1 here; sums over their values are made of counts (`statistics`).

    Grouped, Matched   the estimator of counts, with numbers in place of the weights of values (`counts`)
    Bucketized         bucket by bucket the product of both sums over N, plus what buckets say beyond (`linking`); the
                       variance is that of dealing at random, sum (a - mean)^2 sum (b - mean)^2 / (N - 1), and the ends
                       of what is possible are reached if both sides are dealt in order, or in opposite order
    Perturbed          published values through the inverse of the matrix, with the exact variance of the redraw
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.counts import Queries, distinct_rows, estimate_counts
from lookalike.analysis.intervals import Law
from lookalike.analysis.linking import Links
from lookalike.data.microdata import Codes, Domain
from lookalike.data.reconstruct import Reconstruction
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Release

Numbers = NDArray[np.float64]
Functions = Mapping[str, Numbers]
"""[queries, codes] what a record counts, by column; columns that are not named count 1."""
_FEW_VALUES = 16
"""A column with more values is cut into so many parts before it is asked which of them go with the rest."""
_HAIR = 1e-9


class Sums(NamedTuple):
    """Estimated sums, their standard errors, and between which numbers the truth lies for certain; one per query."""

    values: Numbers
    errors: Numbers
    least: Numbers
    most: Numbers
    law: Law


def estimate_sums(functions: Functions, release: Release, n_queries: int, *, bounds: bool = True) -> Sums:
    """What the release says about these sums. Without `bounds` the ends are not worked out, and mean nothing."""
    if isinstance(release, Bucketized):
        return _deal(functions, release, n_queries, bounds)
    if isinstance(release, Perturbed):
        return _reconstruct(functions, release, n_queries)
    return _count(functions, release, n_queries, bounds)


def _of(domain: Domain, functions: Functions, n_queries: int) -> NDArray[np.bool_] | Numbers:
    """[queries, codes]; of a column that is not asked about a mask, which costs nothing."""
    if domain.name not in functions:
        return np.broadcast_to(np.ones(1, dtype=bool), (n_queries, domain.n_codes))
    return np.broadcast_to(functions[domain.name], (n_queries, domain.n_codes))


def _count(functions: Functions, release: Grouped | Matched, n_queries: int, bounds: bool) -> Sums:
    quasi = tuple(_of(domain, functions, n_queries).astype(bool) for domain in release.domains.quasi)
    domains = release.domains.sensitive
    values = [_of(domain, functions, n_queries) for domain in domains]
    # In units of a usual record, so that what is said about counts holds: rounding, and variances of a few records.
    unit = np.ones(n_queries)
    largest = np.ones(n_queries)
    for place, one in enumerate(values):
        if one.dtype != bool:
            n_of_code = np.bincount(release.sensitive[:, place], minlength=one.shape[1])[: one.shape[1]]
            size = np.abs(one)
            unit *= np.maximum((size**2) @ n_of_code, _HAIR) / np.maximum(size @ n_of_code, _HAIR)
            largest *= size.max(axis=1, initial=0.0)
    unit = np.where(largest > 0, np.maximum(unit, _HAIR), 1.0)
    # Negative numbers are those of one column at most: conditions and weights have none.
    real = [place for place, one in enumerate(values) if one.dtype != bool]
    scaled = next((place for place in real if (values[place] < 0).any()), real[0] if real else None)

    def answer(sign: int | None) -> tuple[Numbers, ...]:
        chosen = [one.astype(np.float64) if one.dtype != bool else one for one in values]
        if scaled is not None:
            product = chosen[scaled] / unit[:, None]
            chosen[scaled] = product if sign is None else np.maximum(sign * product, 0.0)
        return estimate_counts(Queries(quasi, tuple(chosen)), release).figures  # type: ignore[arg-type]

    counts, errors, least, most = answer(None)
    if bounds and scaled is not None and (values[scaled] < 0).any():
        (*_, least, most), (*_, owed_least, owed_most) = answer(1), answer(-1)
        least, most = least - owed_most, most - owed_least
    # Rows that may be made up count as much as the largest number.
    spare = release.withheld.n_dummies * np.maximum(largest / unit - 1.0, 0.0)
    return Sums(counts * unit, errors * unit, (least - spare) * unit, (most + spare) * unit, Law.MODELLED)


def _product(domains: Sequence[Domain], codes: Codes, functions: Functions, query: int) -> Numbers:
    """What each row counts by these columns."""
    found = np.ones(len(codes))
    for place, domain in enumerate(domains):
        if domain.name in functions:
            of_code = functions[domain.name]
            found *= of_code[query if len(of_code) > 1 else 0][codes[:, place]]
    return found


def _deal(functions: Functions, release: Bucketized, n_queries: int, bounds: bool) -> Sums:
    both = np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive))
    numbers = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    rows, entries = numbers[: release.n_rows], numbers[release.n_rows :]
    sizes = np.bincount(rows).astype(np.float64)
    n_buckets = len(sizes)
    links, part_of_entry = _link(functions, release, entries, n_buckets)
    n_parts = int(part_of_entry.max(initial=0)) + 1
    n_of_part = np.maximum(np.bincount(part_of_entry, minlength=n_parts), 1)
    real = _keep_real(release)
    found = np.zeros((4, n_queries))
    for query in range(n_queries):
        a = _product(release.domains.quasi, release.quasi, functions, query)
        b = _product(release.domains.sensitive, release.sensitive, functions, query) * real
        of_rows, of_entries = np.bincount(rows, a, n_buckets), np.bincount(entries, b, n_buckets)
        spread = np.maximum(np.bincount(rows, a * a, n_buckets) - of_rows**2 / sizes, 0.0)
        other = np.maximum(np.bincount(entries, b * b, n_buckets) - of_entries**2 / sizes, 0.0)
        variance = spread * other / np.maximum(sizes - 1.0, 1.0)
        variance[variance < _HAIR**2 * np.maximum((of_rows * of_entries) ** 2, 1.0)] = 0.0
        value, chance = float((of_rows * of_entries / sizes).sum()), float(variance.sum())
        moved, added = 0.0, 0.0
        if chance > 0:
            by_value = np.stack(
                [np.bincount(part_of_entry, one[entries], n_parts) for one in (of_rows, of_rows / sizes)]
            )
            sums = np.zeros((7, 1))
            sums[1], sums[2], sums[4] = chance, of_rows.sum(), (of_rows**2).sum()
            of_parts = np.asarray(np.bincount(part_of_entry, b, n_parts) / n_of_part, dtype=np.float64)
            n_rows = float(sizes.sum())
            alone = max(float((a * a).sum()) / n_rows - (float(a.sum()) / n_rows) ** 2, 0.0)
            ahead, beside = links.follow(
                of_parts[:, None], by_value[:, :, None].astype(np.float64), sums, np.array([alone])
            )
            moved, added = float(ahead[0]), float(beside[0])
        found[:2, query] = value + moved, np.sqrt(chance + added)
        found[2:, query] = value
        if bounds and chance > 0:
            in_order = b[np.lexsort((b, entries))]
            found[2, query] = a[np.lexsort((-a, rows))] @ in_order
            found[3, query] = a[np.lexsort((a, rows))] @ in_order
        if release.withheld.n_dummies:
            spare = release.withheld.n_dummies * np.abs(a).max(initial=0.0) * np.abs(b).max(initial=0.0)
            found[2:, query] += -spare, spare
    values, errors, least, most = found
    return Sums(values, errors, least, most, Law.DEALT)


def _keep_real(release: Bucketized) -> Numbers:
    """Which part of each published value is a person's: made-up ones are taken out in proportion."""
    dummies = release.withheld.dummies
    if not dummies:
        return np.ones(len(release.sensitive))
    codes = release.sensitive[:, 0]
    published = np.bincount(codes, minlength=len(dummies[0]))
    made_up = np.zeros(len(published))
    made_up[: len(dummies[0])] = dummies[0]
    return np.asarray((1.0 - made_up / np.maximum(published, 1))[codes])


def _link(
    functions: Functions, release: Bucketized, entries: NDArray[np.int64], n_buckets: int
) -> tuple[Links, NDArray[np.int64]]:
    """The values that are asked about, ready for least squares, columns with many values cut into parts."""
    parts: list[NDArray[np.int64]] = []
    for place, domain in enumerate(release.domains.sensitive):
        codes = release.sensitive[:, place].astype(np.int64)
        if domain.n_codes > _FEW_VALUES:
            cuts = np.unique(np.quantile(codes, np.arange(1, _FEW_VALUES) / _FEW_VALUES, method="nearest"))
            codes = np.searchsorted(cuts, codes, side="right").astype(np.int64)
        if domain.name in functions or not parts:
            parts.append(codes)
    combinations, part = distinct_rows(np.stack(parts, axis=1)) if parts else (entries[:1], np.zeros_like(entries))
    return Links(entries, part, n_buckets, len(combinations)), part


def _reconstruct(functions: Functions, release: Perturbed, n_queries: int) -> Sums:
    found = np.zeros((4, n_queries))
    redrawn = [
        (place, domain, Reconstruction(release.randomizers[place]))
        for place, domain in enumerate(release.domains.sensitive)
        if domain.name in functions
    ]
    for query in range(n_queries):
        a = _product(release.domains.quasi, release.quasi, functions, query)
        back, square, low, high = (np.ones(release.n_rows) for _ in range(4))
        for place, domain, way in redrawn:
            of_code = functions[domain.name]
            of_code = of_code[query if len(of_code) > 1 else 0]
            codes, possible = release.sensitive[:, place], of_code[way.drawn]
            back *= (of_code @ way.inverse)[codes]
            square *= (of_code**2 @ way.inverse)[codes]
            ends = [one * end for one in (low, high) for end in (possible.min(), possible.max())]
            low, high = np.minimum.reduce(ends), np.maximum.reduce(ends)
        least, most = np.minimum(a * low, a * high).sum(), np.maximum(a * low, a * high).sum()
        variance = float((a * a * (back * back - square)).sum()) if redrawn and least < most else 0.0
        found[:, query] = float((a * back).sum()), np.sqrt(max(variance, 0.0)), least, most
    values, errors, least, most = found
    return Sums(values, errors, least, most, Law.EXACT)
