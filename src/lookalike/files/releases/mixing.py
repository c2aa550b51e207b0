"""Rows of parts dealt into one another at random, for whoever holds row order against the original's records.

A release must look like a shuffle of its rows. In a release in parts each file is shuffled by itself, and what goes
into which file follows from the records' values: where the original is sorted, files follow its order although no
row's place tells anything. Dealt into one another at random, shuffled parts are one shuffled table again, and a part
that was not shuffled still shows it, since its rows keep their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.release import Bucketized, Grouped, Matched, Release
from lookalike.files.releases.assembly import take
from lookalike.files.releases.tablefiles import ENDINGS, Part, Parts
from lookalike.randomness import Randomness

PartsOfRows = Mapping[str, NDArray[np.int64]]
"""By published table, the number of the part that each row lies in."""


def mixed(release: Release, parts: Parts) -> tuple[Release, PartsOfRows]:
    """The release with its parts dealt into one another, the same way for the same files; and where each row was."""
    if not parts:
        return release, {}
    of_rows = parts_of_rows(parts)
    orders = {name: _order(name, listed) for name, listed in parts.items()}
    dealt = {name: of_rows[name][order] for name, order in orders.items()}
    return _taken(release, orders), dealt


def parts_of_rows(parts: Parts) -> PartsOfRows:
    """The part of each row, as they are written."""
    return {name: np.repeat(np.arange(len(listed)), [part.n_rows for part in listed]) for name, listed in parts.items()}


def _taken(release: Release, orders: Mapping[str, NDArray[np.int64]]) -> Release:
    if isinstance(release, Bucketized):
        qit, sat = orders["qit"], orders["sat"]
        return replace(
            release,
            quasi=release.quasi[qit],
            bucket_of_quasi=release.bucket_of_quasi[qit],
            sensitive=release.sensitive[sat],
            carried=release.carried[sat],
            bucket_of_sensitive=release.bucket_of_sensitive[sat],
        )
    order = orders["release"]
    values: dict[str, Any] = {"sensitive": release.sensitive[order], "carried": release.carried[order]}
    if isinstance(release, Grouped):
        return replace(release, group_of_row=release.group_of_row[order], **values)
    if isinstance(release, Matched):
        return replace(release, extents=tuple(take(extents, order) for extents in release.extents), **values)
    return replace(release, quasi=release.quasi[order], **values)


def _order(table: str, parts: Sequence[Part]) -> NDArray[np.int64]:
    """The rows of a table as they come when the next one is taken from a part by lot, in proportion to its rows."""
    # One digest of all: Python prints no number of so many digits as many parts have.
    digests = "".join(part.digests[ending] for part in parts for ending in ENDINGS)
    rng = Randomness(int(hashlib.sha256(digests.encode()).hexdigest(), 16)).child(table)
    part_of_row = np.repeat(np.arange(len(parts)), [part.n_rows for part in parts])
    place_of_row = np.argsort(rng.shuffled(part_of_row), kind="stable")
    order = np.empty_like(place_of_row)
    order[place_of_row] = np.arange(len(order))
    return order
