"""What models ask of a sensitive column, and the words for it: designated values, implied sizes, the reader.

Messages name columns, parameters and counts. Values appear only where the user wrote them into a model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level, PrivacyModel
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.persons import noun_of, total_of
from lookalike.errors import Infeasible, RecipeError, counted, quoted

EXACT_QUASI = "not applicable: quasi-identifiers are published exactly"
"""Why a perturbed release has no sizes."""


def sensitive_column(model: PrivacyModel, column: Domain | None) -> Domain:
    """The column that the model is held to; refused if there is none."""
    if column is None:
        raise RecipeError(f"{model} speaks of a sensitive column and none is named. Name one (--sensitive COLUMN).")
    return column


def codes_of(model: PrivacyModel, names: Iterable[str], column: Domain) -> list[int]:
    """The codes of values that a model names."""
    code_of = {text: code for code, text in enumerate(column.texts)}
    for name in names:
        if name not in code_of:
            raise RecipeError(
                f"{model.name} names the value {quoted(name)}, which column {quoted(column.name)} does not have. "
                "Write it exactly as the table does, or declare it in the schema (domain: values)."
            )
    return [code_of[name] for name in names]


def find_designated(model: PrivacyModel, names: Sequence[str] | None, column: Domain) -> list[int]:
    """The codes that a model speaks of: those named, or all."""
    return list(range(column.n_codes)) if names is None else codes_of(model, names, column)


def find_shares(prior: NDArray[np.int64]) -> list[Fraction]:
    """The share of each value in the table."""
    n_records = max(total_of(prior), 1)
    return [Fraction(number, n_records) for number in prior.tolist()]


def least_size(ceilings: Iterable[Fraction], prior: NDArray[np.int64]) -> int:
    """The least size of a group that ceilings allow: some value has a row, which is no more than its ceiling."""
    highest = max(
        (share for share, number in zip(ceilings, prior.tolist(), strict=True) if number), default=Fraction(1)
    )
    return math.ceil(1 / highest) if highest > 0 else 1


def enough_records(model: str, size: int, prior: NDArray[np.int64], nearest: str) -> None:
    """Refuses groups larger than the table."""
    n_records = total_of(prior)
    if n_records < size:
        raise Infeasible(
            f"{model} asks for groups of at least {counted(size, noun_of(prior))}, and the table has {n_records:,}.",
            nearest,
        )


def smallest_size(sizes: NDArray[np.int64]) -> Level:
    """The least of the sizes; nothing published tells nothing about anybody."""
    if len(sizes) == 0:
        return Level(math.inf, None, "nothing is published")
    unit = int(np.argmin(sizes))
    return Level(Fraction(int(sizes[unit])), unit)


_GUARD = 1e-12
_BLOCK_ENTRIES = 1 << 16
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Extremes:
    """The highest or lowest certainty in each value, and a unit where it is met (-1: there is no unit)."""

    beliefs: tuple[Fraction, ...]
    units: tuple[int, ...]


def highest_beliefs(exposure: Exposure) -> Extremes:
    """Values that no unit holds have a highest certainty of 0."""
    return _extremes(exposure, _decisive(exposure, highest=True))


def lowest_beliefs(exposure: Exposure) -> Extremes:
    """A value that some unit lacks has a lowest certainty of 0 (and unit -1: `unit_lacking` finds one)."""
    entries = _decisive(exposure, highest=False)
    held = np.bincount(exposure.values, minlength=len(exposure.prior))
    entries[held < exposure.n_units] = -1
    return _extremes(exposure, entries)


def _extremes(exposure: Exposure, entries: NDArray[np.int64]) -> Extremes:
    return Extremes(
        tuple(exposure.belief(entry) if entry >= 0 else Fraction(0) for entry in entries.tolist()),
        tuple(int(exposure.unit_of_entry[entry]) if entry >= 0 else -1 for entry in entries.tolist()),
    )


def unit_lacking(exposure: Exposure, code: int) -> int:
    """The first unit that does not hold the value."""
    holders = np.zeros(exposure.n_units, dtype=bool)
    holders[exposure.unit_of_entry[exposure.values == code]] = True
    return int(np.argmin(holders))


def largest_ratio(numerators: NDArray[Any], denominators: NDArray[Any]) -> int:
    """The place of the largest quotient of non-negative by positive integers; there must be one."""
    groups = np.zeros(len(numerators), dtype=np.int64)
    return int(_extreme_of_groups(groups, numerators, denominators, 1, highest=True)[0])


def exact_integers(array: NDArray[np.int64], bound: int) -> NDArray[Any]:
    """The array, as Python integers if results up to `bound` would not fit 64 bits."""
    return array if bound <= _LARGEST else array.astype(object)


def unit_sums(numbers: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """The sum of each unit's entries, in integers. A running sum that wraps around still has the right differences."""
    running = np.concatenate((np.zeros(1, dtype=numbers.dtype), np.cumsum(numbers)))
    return np.asarray(running[starts[1:]] - running[starts[:-1]])


def in_blocks(exposure: Exposure, measure: Callable[[Exposure], NDArray[Any]]) -> NDArray[Any]:
    """One number a unit, measured block by block: what fits the processor's cache is several times as fast."""
    measured = []
    first = 0
    while first < exposure.n_units:
        last = int(np.searchsorted(exposure.starts, exposure.starts[first] + _BLOCK_ENTRIES, side="right")) - 1
        last = min(max(last, first + 1), exposure.n_units)
        entries = slice(int(exposure.starts[first]), int(exposure.starts[last]))
        block = replace(
            exposure,
            starts=exposure.starts[first : last + 1] - exposure.starts[first],
            values=exposure.values[entries],
            weights=exposure.weights[entries],
            sizes=exposure.sizes[first:last],
            concealed=None,
        )
        measured.append(measure(block))
        first = last
    return np.concatenate(measured) if measured else np.zeros(0)


def _decisive(exposure: Exposure, *, highest: bool) -> NDArray[np.int64]:
    sizes = exposure.sizes[exposure.unit_of_entry]
    return _extreme_of_groups(exposure.values, exposure.weights, sizes, len(exposure.prior), highest=highest)


def _extreme_of_groups(
    groups: NDArray[Any], numerators: NDArray[Any], denominators: NDArray[Any], n_groups: int, *, highest: bool
) -> NDArray[np.int64]:
    """For each group the place of its largest (least) quotient; -1 for a group without any."""
    chosen = np.full(n_groups, -1, dtype=np.int64)
    if len(numerators) == 0:
        return chosen
    quotients = np.asarray(numerators / denominators, dtype=np.float64)
    if highest:
        extremes = np.full(n_groups, -np.inf)
        np.maximum.at(extremes, groups, quotients)
        near = np.flatnonzero(quotients >= (extremes * (1 - _GUARD))[groups])
    else:
        extremes = np.full(n_groups, np.inf)
        np.minimum.at(extremes, groups, quotients)
        near = np.flatnonzero(quotients <= (extremes * (1 + _GUARD))[groups])
    chosen[groups[near]] = near
    exact = int(max(numerators.max(), 1)) * int(denominators.max()) <= _LARGEST
    while near.size:
        rivals = chosen[groups[near]]
        mine, theirs = numerators[near], numerators[rivals]
        if not exact:
            mine, theirs = mine.astype(object), theirs.astype(object)
        left, right = mine * denominators[rivals], theirs * denominators[near]
        near = near[(left > right) if highest else (left < right)]
        # Each round every group with a better quotient takes one of them, so the rounds end.
        chosen[groups[near]] = near
    return chosen
