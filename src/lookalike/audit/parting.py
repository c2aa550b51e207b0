"""A release in parts: does the part that a row lies in say more than the row?

A reader of the files sees which part a row came from, so a part is a published column like any other:

    groups      rows with identical cells in two parts are two groups, each of which must keep every promise
    buckets     a bucket lies in one part, the same in both tables: anything else pairs rows within buckets
    matched     the rows that a graph joins to a record lie in one part
    perturbed   quasi-identifiers decide the part: the ranges that the parts cover do not overlap

All of it is exact. What is left is which groups and buckets go together into a part; no promise speaks of that.
"""

from __future__ import annotations

import numpy as np

from lookalike.audit.reading import Ints, Reading, joint_ids
from lookalike.audit.verdicts import Check
from lookalike.data.release import Bucketized, Grouped, MatchGraph, Perturbed
from lookalike.errors import counted

_NAME = "rows in parts"


def parts_check(reading: Reading, graph: MatchGraph | None) -> Check | None:
    """None for a release that is not in parts."""
    release = reading.release
    if not reading.parts:
        return None
    if isinstance(release, Bucketized):
        return _buckets_whole(release, reading.parts["qit"], reading.parts["sat"])
    part_of_row = reading.parts["release"]
    if isinstance(release, Perturbed):
        return _boxes_apart(release, part_of_row)
    if isinstance(release, Grouped):
        return Check(_NAME, True, "rows with the same cells in two parts are judged as two groups")
    return _neighbours_together(graph, part_of_row)


def _buckets_whole(release: Bucketized, part_of_quasi: Ints, part_of_sensitive: Ints) -> Check:
    buckets = np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive)).astype(np.int64)
    parts = np.concatenate((part_of_quasi, part_of_sensitive))
    numbers = joint_ids((buckets,), len(buckets))
    n_parts_of = np.bincount(np.unique(np.column_stack((numbers, parts)), axis=0)[:, 0])
    n_split = int(np.count_nonzero(n_parts_of > 1))
    detail = "every bucket lies in one part, the same in both tables"
    if n_split:
        detail = (
            f"{n_split:,} of {counted(len(n_parts_of), 'bucket')} have rows in several parts: the part tells which "
            "rows of the two tables belong together. Keep each bucket in one part"
        )
    return Check(_NAME, n_split == 0, detail)


def _boxes_apart(release: Perturbed, part_of_row: Ints) -> Check:
    n_parts = int(part_of_row.max(initial=0)) + 1
    order = np.argsort(part_of_row, kind="stable")
    starts = np.searchsorted(part_of_row[order], np.arange(n_parts))
    lows, highs = (side.reduceat(release.quasi[order], starts, axis=0) for side in (np.minimum, np.maximum))
    n_meeting = 0
    for part in range(1, n_parts):
        meets = (lows[:part] <= highs[part]) & (highs[:part] >= lows[part])
        n_meeting += int(np.count_nonzero(meets.all(axis=1)))
    detail = "parts cover ranges of quasi-identifiers that do not overlap"
    if n_meeting:
        detail = (
            f"{counted(n_meeting, 'pair')} of parts cover the same quasi-identifiers: something else decides the part "
            "of a row, such as the value that it had. Cut parts by quasi-identifiers alone"
        )
    return Check(_NAME, n_meeting == 0, detail)


def _neighbours_together(graph: MatchGraph | None, part_of_row: Ints) -> Check:
    if graph is None:
        return Check(_NAME, True, "rows of different parts are judged apart")
    parts, joins = part_of_row[graph.rows], np.diff(graph.starts)
    owner = np.repeat(np.arange(len(joins)), joins)
    first = parts[np.minimum(graph.starts[:-1], max(len(parts) - 1, 0))] if len(parts) else joins
    n_split = len(np.unique(owner[parts != first[owner]]))
    detail = "the rows that a record may be behind lie in one part"
    if n_split:
        detail = (
            f"{counted(n_split, 'record')} may be behind rows of several parts, and the part tells which. Draw the "
            "rows of each part from a separate graph"
        )
    return Check(_NAME, n_split == 0, detail)
