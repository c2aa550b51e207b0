"""Columns that were read, put together as a release: whoever read them, in whatever notation.

Rows with the same cells in every quasi-identifier are one group, as they are to any reader. Every value must be one
that the original has; what was left out is the original less what is published.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.release import Extents, Grouped, Perturbed, Ranges, Release, Sets, Withheld
from lookalike.errors import DataError, counted, quoted

Note = Callable[[str], None]


def unheard(note: str) -> None:
    """For notes that nobody reads."""


def reject_unknown(source: str, domain: Domain, unknown: int) -> None:
    """A release may only hold what its original holds."""
    if unknown:
        raise DataError(
            f"{source}: column {quoted(domain.name)} holds {counted(unknown, 'value')} that the original does not "
            "have: this release does not belong to this table, or was changed."
        )


def stack_columns(blocks: Sequence[Codes], n_rows: int) -> Codes:
    return np.ascontiguousarray(np.column_stack(blocks)) if blocks else np.empty((n_rows, 0), dtype=np.int32)


def take(extents: Extents, units: NDArray[Any]) -> Extents:
    """The extents of the named units, in that order."""
    if isinstance(extents, Ranges):
        return Ranges(*(getattr(extents, field.name)[units] for field in fields(Ranges)))
    sizes = extents.sizes[units]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = np.arange(starts[-1]) + np.repeat(extents.starts[units] - starts[:-1], sizes)
    return Sets(starts, extents.members[places])


def group_rows(
    domains: Domains,
    columns: Sequence[tuple[Extents, NDArray[np.int32]]],
    sensitive: Codes,
    carried: Codes,
    withheld: Withheld,
) -> Grouped:
    """Rows with the same cells in every quasi-identifier are a group."""
    group_of_row = np.zeros(len(sensitive), dtype=np.int64)
    for extents, unit_of_row in columns:
        keys = group_of_row * max(len(extents), 1) + unit_of_row
        group_of_row = np.unique(keys, return_inverse=True)[1].astype(np.int64)
    first_rows = np.unique(group_of_row, return_index=True)[1]
    return Grouped(
        domains=domains,
        extents=tuple(take(extents, unit_of_row[first_rows]) for extents, unit_of_row in columns),
        group_of_row=group_of_row.astype(np.int32),
        sensitive=sensitive,
        carried=carried,
        withheld=withheld,
    )


def count_suppressed(release: Release, original: Microdata) -> Withheld:
    """What was left out by value: the original and the dummies less what is published. A reader with the original
    can tell. Perturbed values cannot be subtracted, made-up rows that look like any other hide what is missing, and a
    release that has too many of a value is left to the audit."""
    withheld = release.withheld
    hidden = withheld.indistinguishable and withheld.n_dummies
    if isinstance(release, Perturbed) or not withheld.n_suppressed or hidden:
        return withheld
    suppressed = []
    for column, domain in enumerate(release.domains.sensitive):
        published = np.bincount(release.sensitive[:, column], minlength=domain.n_codes)
        made_up = withheld.dummies[column] if withheld.dummies else 0
        suppressed.append(original.counts(column) + made_up - published)
    if any((counts < 0).any() for counts in suppressed):
        return withheld
    return replace(withheld, suppressed=tuple(counts.astype(np.int64) for counts in suppressed))
