"""Releases planted to be weak, and releases that are safe: what attackers who learn should and should not achieve."""

from __future__ import annotations

from typing import Any

import numpy as np

from lookalike.data.contracts import Target
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.data.schema import Schema
from tests.audit.making import bucketized, grouped, matched, mixing_matrix, perturbed, whole_numbers

FORMS = (Grouped.form, Matched.form, Bucketized.form, Perturbed.form)
N_VALUES = 6


def coded(quasi: Any, sensitive: Any) -> Microdata:
    """Columns of codes, all of them categories; -1 is missing."""
    quasi, sensitive = np.asarray(quasi), np.asarray(sensitive)
    names = [f"q{place}" for place in range(quasi.shape[1])]
    columns = [whole_numbers(name, quasi[:, place]) for place, name in enumerate(names)]
    columns.append(whole_numbers("s", sensitive))
    return Microdata.encode(Table(tuple(columns)), Schema.of(qi=names, sensitive=["s"], categorical=[*names, "s"]))


def people(rng: np.random.Generator, n_rows: int, *, determined: bool) -> Microdata:
    """The value is the first quasi-identifier, or has nothing to do with any; the last tells people apart."""
    values = rng.permutation(np.arange(n_rows) % N_VALUES)
    first = values if determined else rng.integers(0, N_VALUES, n_rows)
    return coded(np.column_stack([first, rng.integers(0, 4, n_rows), rng.integers(0, 40, n_rows)]), values)


def diverse_groups(rng: np.random.Generator, values: Any, size: int) -> Any:
    """Groups of `size` records with different values each (as many records of each value as of any other)."""
    n_values = int(values.max()) + 1
    columns = np.stack([rng.permutation(np.flatnonzero(values == value)) for value in range(n_values)])
    group_of_record = np.empty(len(values), dtype=np.int64)
    n_groups = 0
    for column in columns.T:
        for part in rng.permutation(column).reshape(-1, size):
            group_of_record[part] = n_groups
            n_groups += 1
    return group_of_record


def target_of(form: str, data: Microdata, rng: np.random.Generator, size: int = 3) -> Target:
    """A release of that form in which every group has `size` different values."""
    groups = diverse_groups(rng, data.sensitive[:, 0], size)
    order = rng.permutation(data.n_rows)
    if form == Grouped.form:
        return Target(release=grouped(data, groups, order), original=data)
    if form == Bucketized.form:
        return Target(release=bucketized(data, groups, order, rng.permutation(data.n_rows)), original=data)
    if form == Perturbed.form:
        randomizer = mixing_matrix(N_VALUES, keep=5, total=10)
        return Target(release=perturbed(rng, data, [randomizer], order), original=data)
    members = [np.flatnonzero(groups == group) for group in groups]
    # Every row has its own cells: those of its group and one more record.
    slots = [[*mine, (record + 1) % data.n_rows] for record, mine in enumerate(members)]
    return Target(release=matched(data, slots, np.arange(data.n_rows), order)[0], original=data)
