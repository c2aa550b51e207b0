"""Where a table is cut: decided on the driver, from counts of all records and a sample of their codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil

import numpy as np
from numpy.typing import NDArray

from lookalike.contracts import Backend, Fragments, Promise
from lookalike.distribution.cells import Cells, grown, put_together
from lookalike.distribution.coding import Survey
from lookalike.distribution.methods import CELLS, Way
from lookalike.distribution.slices import Slices, even_quotas
from lookalike.errors import Infeasible, Unsupported
from lookalike.exposure import Exposure
from lookalike.microdata import Codes
from lookalike.randomness import Randomness
from lookalike.release import Grouped
from lookalike.requirement import Requirement

Counts = NDArray[np.int64]
SAMPLE = 1_000_000
MOST_IN_A_PART = 20_000_000
"""Records that one task can be given."""


class Fitting:
    """Whether records with given counts may be published by themselves, exactly: the promises held against one unit."""

    def __init__(self, survey: Survey, promises: Sequence[Promise], adversary: str) -> None:
        self._survey, self._promises, self._adversary = survey, promises, adversary

    def __call__(self, counts: Sequence[Counts]) -> bool:
        """`counts`: of each sensitive column; without one, the number of records."""
        size = int(counts[0].sum())
        return size > 0 and all(self._holds(promise, size, counts) for promise in self._promises)

    def _holds(self, promise: Promise, size: int, counts: Sequence[Counts]) -> bool:
        domains, whole = self._survey.data.domains, self._survey.data
        index = None if promise.column is None else domains.sensitive_index(promise.column)
        values = np.zeros(1, dtype=np.int64) if index is None else np.flatnonzero(counts[index])
        weights = np.array([size]) if index is None else counts[index][values]
        unit = Exposure(
            adversary=self._adversary,
            form=Grouped.form,
            column=None if index is None else domains.sensitive[index],
            prior=whole.prior(index),
            starts=np.array([0, len(values)], dtype=np.int64),
            values=values.astype(np.int32),
            weights=weights.astype(np.int64),
            sizes=np.array([size], dtype=np.int64),
        )
        return promise.model.holds(promise.model.level(unit))


def cut(
    backend: Backend,
    survey: Survey,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    way: Way,
    adversary: str,
    part_rows: int,
    rng: Randomness,
) -> tuple[Fragments, Way]:
    """Parts of about `part_rows` records that each can keep every promise by itself, and the way they were cut."""
    fits = Fitting(survey, promises, adversary)
    if way.cut == CELLS:
        cells = _cells(backend, survey, requirements, way, fits, part_rows, rng)
        if cells is not None:
            return cells, way
        assert way.otherwise is not None
        return cut(backend, survey, promises, requirements, way.otherwise, adversary, part_rows, rng)
    return _slices(survey, requirements, way, fits, part_rows, rng), way


def _cells(
    backend: Backend,
    survey: Survey,
    requirements: Sequence[Requirement],
    way: Way,
    fits: Fitting,
    part_rows: int,
    rng: Randomness,
) -> Cells | None:
    """None: cells that look at no value do not fit, and there is another way."""
    sample = backend.sample(SAMPLE, rng.child("sample"))
    looks = way.whole_values and not way.blind
    n_quasi = len(survey.data.domains.quasi)
    fullness = _fullness(requirements, n_quasi) if looks else _empty
    cells = grown(sample, survey.data.domains, survey.n_rows, part_rows, fullness)
    counts = _counted(backend, survey, cells)
    if not way.whole_values:
        return cells
    if way.blind:
        unfit = sum(not fits([column[number] for column in counts]) for number in range(cells.n_parts))
        if unfit and way.otherwise is not None:
            return None
        if unfit:
            raise Infeasible(
                f"{unfit} of {cells.n_parts} parts of about {part_rows:,} records cannot keep the promise by "
                "themselves. Parts are cut without a look at the sensitive values; that is what the promise against an "
                "adversary who knows the method rests on. Make parts larger (--part-rows), promise less, or use "
                "--adversary reads-release."
            )
        return cells
    mended = put_together(cells, lambda numbers: fits([column[numbers].sum(axis=0) for column in counts]))
    largest = max(_sizes(mended, cells, counts[0].sum(axis=1)))
    if largest > MOST_IN_A_PART:
        raise Unsupported(
            f"The table cannot be cut into parts that keep the promise by themselves: one would have {largest:,} "
            "records. Quasi-identifiers and sensitive values go together too closely for this promise; promise less, "
            "or use a bucket method (two-size), whose parts have the distribution of the table."
        )
    return mended


def _empty(records: Codes) -> float:
    return 0.0


def _fullness(requirements: Sequence[Requirement], n_quasi: int) -> Callable[[Codes], float]:
    """The largest share of its room that a value takes among sampled records, with two standard deviations to spare.

    What is no ceiling is left to the count of all records.
    """
    bounds = [
        (n_quasi + (rule.column or 0), np.array([float(share) for share in rule.ceilings]))
        for rule in requirements
        if rule.ceilings is not None
    ]

    def fullness(records: Codes) -> float:
        fullest = 0.0
        for column, ceilings in bounds:
            counts = np.bincount(records[:, column], minlength=len(ceilings))
            taken = (counts + 2 * np.sqrt(counts)) / np.maximum(ceilings * len(records), 1e-9)
            fullest = max(fullest, float(taken[(ceilings < 1) & (counts > 0)].max(initial=0.0)))
        return fullest

    return fullness


def _counted(backend: Backend, survey: Survey, cells: Cells) -> list[Counts]:
    """[cells, values] of each sensitive column, of all records; without one, [cells, 1] how many there are."""
    n_quasi = len(survey.data.domains.quasi)
    widths = [domain.n_codes for domain in survey.data.domains.sensitive] or [1]
    n_columns = len(survey.data.domains.sensitive)
    starts = np.concatenate([[0], np.cumsum([cells.n_parts * width for width in widths])])

    def keys(codes: Codes) -> Counts:
        parts = cells.part_of(codes).astype(np.int64)
        if not n_columns:
            return parts
        return np.concatenate(
            [starts[column] + parts * widths[column] + codes[:, n_quasi + column] for column in range(n_columns)]
        )

    found, times = backend.count(keys)
    flat = np.zeros(int(starts[-1]), dtype=np.int64)
    flat[found] = times
    return [
        flat[starts[column] : starts[column + 1]].reshape(cells.n_parts, width) for column, width in enumerate(widths)
    ]


def _sizes(mended: Cells, cells: Cells, numbers: Counts) -> list[int]:
    """Records of each cell after some were put together."""
    lows = np.array([leaf.lows for leaf in cells.root.leaves()], dtype=np.int32)
    # A cell's first corner lies in the cell that it went into.
    went = mended.part_of(lows)
    return [int(size) for size in np.bincount(went, weights=numbers, minlength=mended.n_parts)]


def _slices(
    survey: Survey,
    requirements: Sequence[Requirement],
    way: Way,
    fits: Fitting,
    part_rows: int,
    rng: Randomness,
) -> Slices:
    data = survey.data
    columns = sorted({requirement.column for requirement in requirements if requirement.column is not None})
    column = columns[0] if columns else None
    counts = data.prior(column)
    shares = [share for rule in requirements for share in rule.ceilings or () if 0 < share < 1]
    least = max([1, *(rule.min_size for rule in requirements)])
    units = [max(least, ceil(1 / max(shares))) if shares else least, least]
    n_parts = max(1, ceil(Fraction(survey.n_rows, part_rows)))

    def alone(quota: Counts) -> bool:
        every = [quota if index == column else None for index in range(len(data.domains.sensitive))]
        return fits([each if each is not None else np.array([int(quota.sum())]) for each in every] or [quota])

    quotas = even_quotas(counts, n_parts, alone, units)
    if int(quotas.sum(axis=1).max()) > MOST_IN_A_PART:
        raise Unsupported(
            "The promise leaves so little room that the table cannot be cut into parts that keep it by themselves. "
            "Promise a little less."
        )
    return Slices(data.schema, data.domains, column, quotas, rng.child("slices") if way.at_random else None)
