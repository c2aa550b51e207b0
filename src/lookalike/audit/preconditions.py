"""Is the release about this table at all: well formed, complete, every value kept, a row for every record.

These checks come before any promise. Together they catch dropped, doubled and invented rows, swapped values, moved
or narrowed ranges, and shifted bucket numbers. Their words give counts, never a record's values.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.cells import Ints
from lookalike.audit.reading import Reading
from lookalike.audit.verdicts import Check
from lookalike.errors import counted, quoted
from lookalike.microdata import Codes, Domain, Microdata
from lookalike.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Release

EDGE_LIMIT = 20_000_000


def well_formed(release: Release, original: Microdata) -> Check:
    """Whether arrays fit together and codes lie in the original's domains. Nothing else is looked at if not."""
    complaint = next(_complaints(release, original), None)
    return Check("well formed", complaint is None, complaint or "columns, lengths and codes fit the original")


def _complaints(release: Release, original: Microdata) -> Iterator[str]:
    for role in ("quasi", "sensitive", "carried"):
        published = [domain.name for domain in getattr(release.domains, role)]
        wanted = [domain.name for domain in getattr(original.domains, role)]
        if published != wanted:
            yield f"the {role} columns are {published}, the original has {wanted}"
            return
    blocks = [(release.sensitive, original.domains.sensitive), (release.carried, original.domains.carried)]
    if isinstance(release, Bucketized | Perturbed):
        blocks.append((release.quasi, original.domains.quasi))
    for codes, domains in blocks:
        yield from _code_complaints(codes, domains)
    if len({len(release.sensitive), len(release.carried)}) > 1:
        yield "sensitive and carried columns differ in length"
    if isinstance(release, Grouped | Matched):
        yield from _extent_complaints(release, original)
    elif isinstance(release, Bucketized):
        if len(release.bucket_of_quasi) != len(release.quasi) or len(release.bucket_of_sensitive) != len(
            release.sensitive
        ):
            yield "there is not one bucket number a row"
    elif len(release.quasi) != len(release.sensitive):
        yield "quasi-identifiers and sensitive columns differ in length"
    elif len(release.randomizers) != len(original.domains.sensitive):
        yield f"there are {len(release.randomizers)} matrices for {len(original.domains.sensitive)} sensitive columns"
    else:
        for randomizer, domain in zip(release.randomizers, original.domains.sensitive, strict=True):
            if randomizer.weights.shape != (domain.n_codes, domain.n_codes):
                yield f"the matrix of {quoted(domain.name)} is not {domain.n_codes} by {domain.n_codes}"


def _code_complaints(codes: Codes, domains: tuple[Domain, ...]) -> Iterator[str]:
    if codes.ndim != 2 or codes.shape[1] != len(domains):
        yield f"a block of {len(domains)} columns has the wrong shape"
        return
    for index, domain in enumerate(domains):
        column = codes[:, index]
        outside = int(np.count_nonzero((column < 0) | (column >= domain.n_codes)))
        if outside:
            yield f"{counted(outside, 'cell')} of {quoted(domain.name)} hold a value that the original never has"


def _extent_complaints(release: Grouped | Matched, original: Microdata) -> Iterator[str]:
    units = release.unit_of_row
    if len(units) != len(release.sensitive):
        yield "there is not one group number a row"
    if len(release.extents) != len(original.domains.quasi):
        yield f"there are extents for {len(release.extents)} of {len(original.domains.quasi)} quasi-identifiers"
        return
    for domain, extents in zip(original.domains.quasi, release.extents, strict=True):
        if len(units) and (int(units.min()) < 0 or int(units.max()) >= len(extents)):
            yield f"rows point to units that {quoted(domain.name)} has no extents for"
        if isinstance(extents, Ranges) != domain.in_ranges:
            yield f"the cells of {quoted(domain.name)} are of the wrong kind"
        elif not isinstance(extents, Ranges):
            starts, members = extents.starts, extents.members
            if starts[0] != 0 or starts[-1] != len(members) or (np.diff(starts) < 0).any():
                yield f"the sets of {quoted(domain.name)} are not laid out in order"
            elif members.size and (int(members.min()) < 0 or int(members.max()) >= domain.n_codes):
                yield f"sets of {quoted(domain.name)} hold a value that the original never has"


def row_count(reading: Reading) -> Check:
    """As many rows as records, less those declared suppressed, plus those declared made up."""
    withheld = reading.release.withheld
    wanted = reading.original.n_rows - withheld.n_suppressed + withheld.n_dummies
    lengths = {reading.release.n_rows, len(reading.release.sensitive)}
    detail = f"{counted(reading.release.n_rows, 'row')} for {counted(reading.original.n_rows, 'record')}"
    if withheld.n_suppressed or withheld.n_dummies:
        detail += f", {withheld.n_suppressed:,} declared suppressed and {withheld.n_dummies:,} declared made up"
    negative = withheld.n_suppressed < 0 or withheld.n_dummies < 0
    if lengths != {wanted}:
        detail += f"; {wanted:,} wanted"
    return Check("number of rows", lengths == {wanted} and not negative, detail)


def values_kept(reading: Reading) -> Check:
    """The joint sensitive and carried values are the original's, apart from what is declared."""
    name, withheld = "values kept", reading.release.withheld
    for index, domain in enumerate(reading.original.domains.sensitive):
        declared = []
        for counts, total in (
            (withheld.suppressed, withheld.n_suppressed),
            (withheld.dummies, withheld.n_dummies),
        ):
            given = counts[index] if index < len(counts) else np.zeros(domain.n_codes, dtype=np.int64)
            if len(given) != domain.n_codes or (given < 0).any() or int(given.sum()) != total:
                return Check(name, False, f"{quoted(domain.name)}: {total:,} withheld, but not so many by value")
            declared.append(given)
        published = np.bincount(reading.release.sensitive[:, index], minlength=domain.n_codes)
        wrong = published != reading.original.counts(index) - declared[0] + declared[1]
        if wrong.any():
            many = counted(int(np.count_nonzero(wrong)), "value")
            return Check(name, False, f"{quoted(domain.name)}: {many} published too often or too seldom")
    records = np.bincount(reading.value_of_record, minlength=reading.n_values)
    rows = np.bincount(reading.value_of_row, minlength=reading.n_values)
    n_lost, n_new = int(np.maximum(records - rows, 0).sum()), int(np.maximum(rows - records, 0).sum())
    passed = n_lost <= withheld.n_suppressed and n_new <= withheld.n_dummies
    detail = f"{counted(reading.n_values, 'joint value')}, each as often as in the original"
    if n_lost or n_new:
        detail = (
            f"{n_lost:,} joint sensitive and carried values lost ({withheld.n_suppressed:,} declared), "
            f"{n_new:,} new ({withheld.n_dummies:,} declared)"
        )
    return Check(name, passed, detail)


def dummies_known(reading: Reading) -> Check | None:
    """Rows made up must look like all others, or carry a value of their own so that the audit can set them aside."""
    withheld = reading.release.withheld
    if withheld.n_dummies == 0:
        return None
    n_told = int(np.count_nonzero(reading.is_told_dummy))
    if n_told:
        detail = f"{counted(n_told, 'row')} made up with values that no record has; set aside, as any reader would"
    else:
        detail = f"{counted(withheld.n_dummies, 'row')} made up, declared to look like any other"
    passed = withheld.indistinguishable or n_told == withheld.n_dummies
    if not passed:
        detail = (
            f"{withheld.n_dummies - n_told:,} rows are made up with values that records have, and a reader is said to "
            "tell them apart, but the release does not say which rows they are. Make them look like any other row"
        )
    return Check("rows made up", passed, detail)


def everyone_has_a_row(reading: Reading) -> Check:
    """A one-to-one assignment exists in which each record fits its row and finds its own values there."""
    withheld = reading.release.withheld
    wanted = reading.original.n_rows - withheld.n_suppressed
    n_left = wanted - reading.placement.n_placed
    detail = f"{counted(wanted, 'record')} can each be given a row that they fit, with their own values"
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} have no row that they fit with their own values"
    return Check("a row for every record", n_left <= 0, detail)


def points_kept(reading: Reading) -> Check:
    """Exact quasi-identifiers are the original's."""
    withheld = reading.release.withheld
    records = np.bincount(reading.point_of_record, minlength=reading.n_points)
    rows = np.bincount(reading.point_of_row, minlength=reading.n_points)
    n_lost, n_new = int(np.maximum(records - rows, 0).sum()), int(np.maximum(rows - records, 0).sum())
    passed = n_lost <= withheld.n_suppressed and n_new <= withheld.n_dummies
    detail = "each combination as often as in the original"
    if not passed:
        detail = f"{n_lost:,} combinations lost and {n_new:,} new"
    return Check("quasi-identifiers kept", passed, detail)


def buckets_match(release: Bucketized) -> Check:
    """Both tables have the same buckets, each with as many rows on one side as on the other."""
    buckets = np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive))
    names, codes = np.unique(buckets, return_inverse=True)
    sides = [
        np.bincount(side, minlength=len(names)) for side in np.split(codes.reshape(-1), [len(release.bucket_of_quasi)])
    ]
    n_wrong = int(np.count_nonzero(sides[0] != sides[1]))
    detail = f"{counted(len(names), 'bucket')}, equally large in both tables"
    if n_wrong:
        detail = f"{n_wrong:,} of {counted(len(names), 'bucket')} differ in size between the two tables"
    return Check("buckets match", n_wrong == 0, detail)


def everyone_has_a_bucket(reading: Reading) -> Check:
    """Records can be spread over the buckets that list them so that each finds its own values in its bucket.

    Two marginal tests: for each joint value over the buckets that hold it, and for each combination of
    quasi-identifiers over the buckets that list it. Exact where no two records share their quasi-identifiers.
    """
    name, release = "a bucket for every record", reading.release
    assert isinstance(release, Bucketized)
    wanted = reading.original.n_rows - release.withheld.n_suppressed
    _, buckets = np.unique(np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive)), return_inverse=True)
    of_points, of_values = np.split(buckets.reshape(-1).astype(np.int64), [len(release.bucket_of_quasi)])
    listed = _pairs(of_points, reading.point_of_row, reading.n_points)
    held = _pairs(of_values, reading.value_of_row, reading.n_values)
    n_left = 0
    for sides in (
        (reading.value_of_record, reading.point_of_record, held, listed, reading.n_points),
        (reading.point_of_record, reading.value_of_record, listed, held, reading.n_values),
    ):
        spread = _spread(*sides)
        if spread is None:
            detail = f"not run: more than {EDGE_LIMIT:,} ways for records to lie in buckets"
            return Check.not_run(name, detail, decides=True)
        n_left = max(n_left, wanted - spread)
    detail = f"{counted(wanted, 'record')} can each lie in a bucket that lists them and holds their own values"
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} lie in no bucket that holds their own values"
    return Check(name, n_left <= 0, detail)


def _pairs(buckets: Ints, ids: Ints, n_ids: int) -> tuple[Ints, Ints, Ints]:
    """Distinct (id, bucket) pairs sorted by id, and how often each occurs."""
    width = int(buckets.max()) + 1 if len(buckets) else 1
    keys, counts = np.unique(ids * width + buckets, return_counts=True)
    return keys // width, keys % width, counts.astype(np.int64)


def _spread(
    kind: Ints,
    other: Ints,
    rooms: tuple[Ints, Ints, Ints],
    listing: tuple[Ints, Ints, Ints],
    n_others: int,
) -> int | None:
    """How many records can lie in buckets: a record of (kind, other) needs a free place of its kind in a bucket that
    lists its other side."""
    width = n_others + 1
    pairs, supplies = np.unique(kind * width + other, return_counts=True)
    pair_kind, pair_other = pairs // width, pairs % width
    listed_ids, listed_buckets, _ = listing
    first, last = np.searchsorted(listed_ids, pair_other), np.searchsorted(listed_ids, pair_other, side="right")
    choices = last - first
    if int(choices.sum()) > EDGE_LIMIT:
        return None
    pair = np.repeat(np.arange(len(pairs)), choices)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(choices) - choices, choices)
    bucket = listed_buckets[first[pair] + place]
    room_kinds, room_buckets, capacities = rooms
    n_buckets = int(max(room_buckets.max(initial=0), listed_buckets.max(initial=0))) + 1
    room_keys = room_kinds * n_buckets + room_buckets
    wanted_keys = pair_kind[pair] * n_buckets + bucket
    room = np.searchsorted(room_keys, wanted_keys)
    real = (room < len(room_keys)) & (room_keys[np.minimum(room, len(room_keys) - 1)] == wanted_keys)
    pair, room = pair[real], room[real]
    degree = np.bincount(pair, minlength=len(pairs))
    if (degree <= 1).all():
        demand = np.bincount(room, weights=supplies[pair], minlength=len(room_keys)).astype(np.int64)
        return int(np.minimum(demand, capacities).sum())
    return transport(supplies, capacities, pair, room)


def transport(supplies: NDArray[np.int64], capacities: NDArray[np.int64], left: Ints, right: Ints) -> int:
    """The most that supplies can send along the edges (left, right) into capacities."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n_left, n_right = len(supplies), len(capacities)
    source, sink = n_left + n_right, n_left + n_right + 1
    tails = np.concatenate((np.full(n_left, source), left, n_left + np.arange(n_right)))
    heads = np.concatenate((np.arange(n_left), n_left + right, np.full(n_right, sink)))
    amounts = np.concatenate((supplies, np.minimum(supplies[left], capacities[right]), capacities)).astype(np.int32)
    network = csr_array((amounts, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(maximum_flow(network, source, sink).flow_value)
