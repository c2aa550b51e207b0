"""What the audit sees through the eyes of an attacker who also knows carried columns of a person.

A carried value is published exactly, in the row with the sensitive value. To someone who knows it, it works as one
more quasi-identifier: rows with another value are not that person's. So the audit of such an attacker is the audit of
the same release with these columns among the quasi-identifiers:

    grouped      a group falls into one class per carried value (linked rows: per sequence of values)
    matched      a person's rows are those with the same carried value, of the rows that the graph or the cells allow
    bucketized   a bucket's sensitive values fall apart by the carried value beside them
    perturbed    a person's row is one of those with the same quasi-identifiers and the same carried value

Nothing else is looked at: which rows are made up, which parts there are and whose rows they are stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lookalike.audit.reading import Ints, Reading, joint_ids, joint_ids_of_two
from lookalike.data.microdata import Codes, Domains, Microdata
from lookalike.data.release import Bucketized, Grouped, MatchGraph, Perturbed, Release, cover, take
from lookalike.errors import RecipeError, unknown_name


def find_carried(original: Microdata, names: Sequence[str]) -> tuple[int, ...]:
    """The places of carried columns, each once; raises `RecipeError` for a name that is none."""
    known = [domain.name for domain in original.domains.carried]
    for name in names:
        if name not in known:
            raise RecipeError(unknown_name("carried column", name, known))
    return tuple(known.index(name) for name in dict.fromkeys(names))


def learn_carried(reading: Reading, places: Sequence[int]) -> Reading:
    """The reading of someone who also knows these carried columns of a person."""
    if not places:
        return reading
    listed = list(places)
    original, release = reading.original, reading.release
    known = Domains(
        original.domains.quasi + tuple(original.domains.carried[place] for place in listed),
        original.domains.sensitive,
        original.domains.carried,
    )
    data = replace(original, domains=known, quasi=np.hstack((original.quasi, original.carried[:, listed])))
    seen = _split(reading, release, data, listed)
    return replace(reading, release=seen, original=data, exposures={}, of_persons={}, of_linked={})


def learn_graph(graph: MatchGraph, reading: Reading, places: Sequence[int]) -> MatchGraph:
    """The rows of the private graph that are left of each record for someone who knows these carried columns."""
    listed, n_records = list(places), len(graph.starts) - 1
    owner = np.repeat(np.arange(n_records), np.diff(graph.starts))
    same = (reading.release.carried[graph.rows][:, listed] == reading.original.carried[owner][:, listed]).all(axis=1)
    lengths = np.bincount(owner[same], minlength=n_records)
    return MatchGraph(np.concatenate(([0], np.cumsum(lengths))).astype(np.int64), graph.rows[same])


def _split(reading: Reading, release: Release, data: Microdata, places: list[int]) -> Release:
    """The release with the carried columns among its quasi-identifiers."""
    columns = release.carried[:, places]
    domains = replace(
        release.domains,
        quasi=release.domains.quasi + tuple(release.domains.carried[place] for place in places),
    )
    if isinstance(release, Perturbed):
        return replace(release, domains=domains, quasi=np.hstack((release.quasi, columns)))
    if isinstance(release, Bucketized):
        return _split_buckets(reading, release, data, places, domains)
    units = release.unit_of_row
    if isinstance(release, Grouped):
        units = joint_ids((units, *columns.T), release.n_rows).astype(np.int32)
    n_units = int(units.max(initial=-1)) + 1
    first_rows = np.full(n_units, -1, dtype=np.int64)
    first_rows[units] = np.arange(len(units))
    extents = (
        *(take(held, release.unit_of_row[first_rows]) for held in release.extents),
        *(
            cover(domain, codes, units, n_units)
            for domain, codes in zip(domains.quasi[-len(places) :], columns.T, strict=True)
        ),
    )
    if not isinstance(release, Grouped):
        return replace(release, domains=domains, extents=extents)
    # Which rows of a group are made up is not known, so neither is how many of those with one carried value are.
    made_up = None if release.made_up_of_group is None else np.zeros(n_units, dtype=np.int64)
    return replace(release, domains=domains, extents=extents, group_of_row=units, made_up_of_group=made_up)


def _split_buckets(
    reading: Reading, release: Bucketized, data: Microdata, places: list[int], domains: Domains
) -> Bucketized:
    """Buckets by carried value. Where persons are counted, the records that are known to be in each of them."""
    of_quasi, of_values = reading.buckets
    columns = release.carried[:, places]
    nothing = np.zeros((0, len(domains.quasi)), dtype=np.int32)
    if reading.original.persons is None:
        buckets = joint_ids((of_values, *columns.T), len(of_values))
        return replace(
            release,
            domains=domains,
            quasi=nothing,
            bucket_of_quasi=np.zeros(0, dtype=np.int32),
            bucket_of_sensitive=buckets.astype(np.int32),
        )
    records = _find_listed(reading)
    bucket_of_record = np.full(reading.original.n_rows, -1, dtype=np.int64)
    if reading.record_of_row is not None:
        bucket_of_record[records] = of_values
    else:
        bucket_of_record = reading.bucket_of_record
    own = bucket_of_record[records].astype(np.int32).reshape(-1, 1)
    listed, shown = joint_ids_of_two(
        (own, reading.original.carried[records][:, places]), (of_values.astype(np.int32).reshape(-1, 1), columns)
    )
    # Records whose bucket is not known are listed in two that have no values, so that it stays unknown.
    unknown = np.flatnonzero(own[:, 0] < 0)
    beyond = int(max(listed.max(initial=0), shown.max(initial=0))) + 1
    listed[unknown] = beyond
    quasi: Codes = data.quasi[records]
    return replace(
        release,
        domains=domains,
        quasi=np.vstack((quasi, quasi[unknown])),
        bucket_of_quasi=np.append(listed, np.full(len(unknown), beyond + 1)).astype(np.int32),
        bucket_of_sensitive=shown.astype(np.int32),
    )


def _find_listed(reading: Reading) -> Ints:
    """The records with their own row: by the private map, or else all."""
    if reading.record_of_row is not None:
        return reading.record_of_row
    return np.arange(reading.original.n_rows, dtype=np.int64)
