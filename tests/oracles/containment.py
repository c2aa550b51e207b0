"""Slow and obvious: which record fits which row, largest assignments, complete assignments by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.data.release import Ranges


def cell_holds(domain: Any, extents: Any, unit: int, code: int) -> bool:
    if isinstance(extents, Ranges):
        if domain.taxonomy is None and code == domain.missing_code:
            return bool(extents.missing[unit])
        return bool(extents.lows[unit] <= code <= extents.highs[unit])
    return code in extents.members[extents.starts[unit] : extents.starts[unit + 1]].tolist()


def fits(release: Any, data: Any, record: int, row: int) -> bool:
    unit = int(release.unit_of_row[row])
    return all(
        cell_holds(domain, extents, unit, int(data.quasi[record, attr]))
        for attr, (domain, extents) in enumerate(zip(data.domains.quasi, release.extents, strict=True))
    )


def fit_table(release: Any, data: Any) -> np.ndarray:
    """[record, row]"""
    return np.array(
        [[fits(release, data, record, row) for row in range(release.n_rows)] for record in range(data.n_rows)]
    ).reshape(data.n_rows, release.n_rows)


def same_values(release: Any, data: Any) -> np.ndarray:
    """[record, row]: whether the row carries the record's sensitive and carried values."""
    mine = np.hstack((data.sensitive, data.carried))
    theirs = np.hstack((release.sensitive, release.carried))
    return (mine[:, None, :] == theirs[None, :, :]).all(axis=2)


def largest_assignment(allowed: np.ndarray) -> int:
    """Kuhn's algorithm."""
    partner: dict[int, int] = {}

    def place(record: int, seen: set[int]) -> bool:
        for row in np.flatnonzero(allowed[record]).tolist():
            if row not in seen:
                seen.add(row)
                if row not in partner or place(partner[row], seen):
                    partner[row] = record
                    return True
        return False

    return sum(place(record, set()) for record in range(len(allowed)))


def complete_assignments(allowed: np.ndarray) -> list[tuple[int, ...]]:
    """Every one-to-one assignment of all records to rows."""
    found: list[tuple[int, ...]] = []

    def extend(chosen: tuple[int, ...]) -> None:
        if len(chosen) == len(allowed):
            found.append(chosen)
            return
        for row in np.flatnonzero(allowed[len(chosen)]).tolist():
            if row not in chosen:
                extend((*chosen, row))

    extend(())
    return found


def concealed(allowed: np.ndarray) -> list[int]:
    """For each record the number of rows that some complete assignment gives it."""
    every = complete_assignments(allowed)
    return [len({assignment[record] for assignment in every}) for record in range(len(allowed))]


def regular_part_exists(allowed: np.ndarray, values: Sequence[int], degree: int, caps: Sequence[int]) -> bool:
    """Whether edges can be chosen so that records and rows have `degree` each and no record exceeds a value's cap."""
    n_records, n_rows = allowed.shape

    def choose(record: int, used: tuple[int, ...]) -> bool:
        if record == n_records:
            return all(count == degree for count in used)
        return pick(record, 0, degree, used, ())

    def pick(record: int, row: int, left: int, used: tuple[int, ...], seen: tuple[int, ...]) -> bool:
        if left == 0:
            return choose(record + 1, used)
        if row == n_rows:
            return False
        value = values[row]
        if allowed[record, row] and used[row] < degree and seen.count(value) < caps[value]:
            taken = (*used[:row], used[row] + 1, *used[row + 1 :])
            if pick(record, row + 1, left - 1, taken, (*seen, value)):
                return True
        return pick(record, row + 1, left, used, seen)

    return choose(0, (0,) * n_rows)


def classes(release: Any) -> list[tuple[Any, ...]]:
    """What is published for each row's quasi-identifiers, as something to compare."""
    seen = []
    for row in range(release.n_rows):
        unit = int(release.unit_of_row[row])
        cells: list[Any] = []
        for extents in release.extents:
            if isinstance(extents, Ranges):
                run = (int(extents.lows[unit]), int(extents.highs[unit]))
                cells.append((run if run[0] <= run[1] else None, bool(extents.missing[unit])))
            else:
                cells.append(frozenset(extents.members[extents.starts[unit] : extents.starts[unit + 1]].tolist()))
        seen.append(tuple(cells))
    return seen
