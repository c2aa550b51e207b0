"""Is the release about this table at all: well formed, complete, every value kept, a row for every record.

These checks come before any promise. Together they catch dropped, doubled and invented rows, swapped values, moved
or narrowed ranges, and shifted bucket numbers. Their words give counts, never a record's values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints, Reading
from lookalike.audit.tails import SELDOM, Chance, cap_counts
from lookalike.audit.verdicts import Check
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Release
from lookalike.errors import counted, quoted

ROW_COUNT, A_ROW, A_BUCKET = "number of rows", "a row for every record", "a bucket for every record"
_EDGE_LIMIT = 20_000_000
_PAIRS_AT_ONCE = 4_000_000


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
    detail = rows_for_records(
        reading.release.n_rows, reading.original.n_rows, withheld.n_suppressed, withheld.n_dummies
    )
    negative = withheld.n_suppressed < 0 or withheld.n_dummies < 0
    if lengths != {wanted}:
        detail += f"; {wanted:,} wanted"
    return Check(ROW_COUNT, lengths == {wanted} and not negative, detail)


def rows_for_records(n_rows: int, n_records: int, n_suppressed: int, n_dummies: int) -> str:
    """
    >>> rows_for_records(1500, 1501, 2, 1)
    '1,500 rows for 1,501 records, 2 declared suppressed and 1 declared made up'
    """
    said = f"{counted(n_rows, 'row')} for {counted(n_records, 'record')}"
    if n_suppressed or n_dummies:
        said += f", {n_suppressed:,} declared suppressed and {n_dummies:,} declared made up"
    return said


def values_kept(reading: Reading) -> Check:
    """The joint sensitive and carried values are the original's, apart from what is declared."""
    name, withheld = "values kept", reading.release.withheld
    # Rows made up that look like any other are not declared by value, and what they hide cannot be subtracted.
    counted_by_value = not (withheld.indistinguishable and withheld.n_dummies)
    for index, domain in enumerate(reading.original.domains.sensitive if counted_by_value else ()):
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


def dummies_known(reading: Reading, adversary: str) -> Check | None:
    """Rows made up must look like all others, or carry a value of their own so that the audit can set them aside.

    A reader who is given the made-up rows by value takes them away, and one who knows everybody's quasi-identifiers
    counts the persons who fit a group: for neither do they look like all others.
    """
    withheld = reading.release.withheld
    if withheld.n_dummies == 0:
        return None
    n_told = int(np.count_nonzero(reading.is_told_dummy))
    if n_told:
        detail = f"{counted(n_told, 'row')} made up with values that no record has; set aside, as any reader would"
    else:
        detail = f"{counted(withheld.n_dummies, 'row')} made up, declared to look like any other"
    n_hidden = withheld.n_dummies - n_told
    if withheld.indistinguishable and n_hidden and any(counts.any() for counts in withheld.dummies):
        detail = (
            f"{counted(n_hidden, 'row')} made up are said to look like any other, and the release says how many there "
            "are of each value: a reader takes them away. Leave the counts by value out"
        )
        return Check("rows made up", False, detail)
    if withheld.indistinguishable and n_hidden and adversary == KNOWS_METHOD:
        detail = (
            f"{counted(n_hidden, 'row')} made up are said to look like any other, but someone who knows everybody's "
            "quasi-identifiers counts the persons of a group. Make up no rows against this adversary"
        )
        return Check("rows made up", False, detail)
    n_real = reading.original.n_rows - withheld.n_suppressed
    if withheld.indistinguishable and n_hidden > n_real:
        detail = (
            f"{counted(n_hidden, 'row')} made up for {counted(n_real, 'record')}: a row is more likely made up than "
            "not, so it hides nobody. Make up fewer rows than there are records"
        )
        return Check("rows made up", False, detail)
    if withheld.indistinguishable and n_hidden and _chance_of_made_up_values(reading) < SELDOM:
        detail = (
            "within groups the values of made-up rows differ from those of records: rows chosen at random have such "
            "values with probability below 1e-9. Draw the values of a group's made-up rows as its records have them"
        )
        return Check("rows made up", False, detail)
    passed = withheld.indistinguishable or n_hidden == 0
    if not passed:
        detail = (
            f"{n_hidden:,} rows are made up with values that records have, and a reader is said to "
            "tell them apart, but the release does not say which rows they are. Make them look like any other row"
        )
    return Check("rows made up", passed, detail)


def _chance_of_made_up_values(reading: Reading) -> float:
    """How often, at most, made-up rows have values like these if in each group any rows may be the made-up ones.

    For each value its made-up rows are hypergeometric counts, independent between groups. Looked at where it is known
    which values were made up: nothing was left out, and no record fits two groups. Elsewhere 1.
    """
    from scipy.stats import hypergeom

    from lookalike.kernels.containment import weight_fitting

    release, original = reading.release, reading.original
    if not isinstance(release, Grouped) or release.withheld.n_suppressed:
        return 1.0
    boxes, placement = reading.boxes, reading.placement
    all_classes = np.arange(boxes.n_classes), np.ones(boxes.n_classes, dtype=np.int64), np.array([0, boxes.n_classes])
    codes, records = np.ascontiguousarray(original.quasi), np.arange(original.n_rows)
    if (weight_fitting(boxes.cells, *all_classes, codes, records, np.zeros_like(records)) != 1).any():
        return 1.0
    placed = placement.item_of_record[placement.item_of_record >= 0]
    made_up = placement.capacities - np.bincount(placed, minlength=len(placement.capacities))
    n_made_up, sizes = (
        np.bincount(placement.class_of_item, weights=counts, minlength=boxes.n_classes).astype(np.int64)
        for counts in (made_up, placement.capacities)
    )
    values, value_of_item = np.unique(placement.value_of_item, return_inverse=True)
    least = 1.0
    for value in range(len(values)):
        total = Chance.nothing()
        items = np.flatnonzero((value_of_item.reshape(-1) == value) & (n_made_up[placement.class_of_item] > 0))
        for n_rows in np.unique(placement.capacities[items]).tolist():
            some = items[placement.capacities[items] == n_rows]
            own = placement.class_of_item[some][:, None]
            shares = hypergeom.pmf(np.arange(n_rows + 1)[None, :], sizes[own], n_rows, n_made_up[own])
            total = total + cap_counts(float(made_up[some].sum()), shares)
        least = min(least, total.at_least, total.at_most)
    return min(1.0, 2 * len(values) * least)


def everyone_has_a_row(reading: Reading) -> Check:
    """A one-to-one assignment exists in which each record fits its row and finds its own values there."""
    withheld = reading.release.withheld
    wanted = reading.original.n_rows - withheld.n_suppressed
    n_left = wanted - reading.placement.n_placed
    detail = describe_rows(wanted)
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} have no row that they fit with their own values"
    return Check(A_ROW, n_left <= 0, detail)


def describe_rows(n_records: int) -> str:
    return f"{counted(n_records, 'record')} can each be given a row that they fit, with their own values"


def check_points(reading: Reading) -> Check:
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
    name, release = A_BUCKET, reading.release
    assert isinstance(release, Bucketized)
    wanted = reading.original.n_rows - release.withheld.n_suppressed
    _, buckets = np.unique(np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive)), return_inverse=True)
    of_points, of_values = np.split(buckets.reshape(-1).astype(np.int64), [len(release.bucket_of_quasi)])
    listed, held = Pairs.of(of_points, reading.point_of_row), Pairs.of(of_values, reading.value_of_row)
    kinds = Pairs.of(reading.point_of_record, reading.value_of_record)
    ways = _ways(kinds, listed, held)
    if ways is None:
        detail = f"not run: more than {_EDGE_LIMIT:,} ways for records to lie in buckets"
        return Check.not_run(name, detail, decides=True)
    kind, listing, holding = ways
    spread = min(
        transport(kinds.counts, held.counts, kind, holding, kinds.seconds, held.seconds),
        transport(kinds.counts, listed.counts, kind, listing, kinds.firsts, listed.seconds),
    )
    n_left = wanted - spread
    detail = describe_buckets(wanted)
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} lie in no bucket that holds their own values"
    return Check(name, n_left <= 0, detail)


def describe_buckets(n_records: int) -> str:
    return f"{counted(n_records, 'record')} can each lie in a bucket that lists them and holds their own values"


@dataclass(frozen=True)
class Pairs:
    """Distinct pairs of numbers, sorted by the first, and how often each occurs."""

    firsts: Ints
    seconds: Ints
    counts: Ints

    @classmethod
    def of(cls, firsts: Ints, seconds: Ints) -> Pairs:
        width = int(seconds.max(initial=0)) + 1
        keys, counts = np.unique(firsts * width + seconds, return_counts=True)
        return cls(keys // width, keys % width, counts.astype(np.int64))

    def places(self, firsts: Ints, seconds: Ints) -> Ints:
        """Where these pairs are; -1 for those that are not."""
        width = int(max(self.seconds.max(initial=0), seconds.max(initial=0))) + 1
        keys, wanted = self.firsts * width + self.seconds, firsts * width + seconds
        found = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[found] == wanted, found, -1) if len(keys) else np.full(len(wanted), -1)


def _ways(kinds: Pairs, listed: Pairs, held: Pairs) -> tuple[Ints, Ints, Ints] | None:
    """Every way for a kind of record (point, value) to lie in a bucket that lists its point and holds its value.

    Numbers of the kind, of the listing (bucket, point) and of the holding (bucket, value); None if there are too many.
    """
    n_buckets = 1 + int(max(listed.firsts.max(initial=-1), held.firsts.max(initial=-1)))
    first_listing, first_holding = (np.searchsorted(side.firsts, np.arange(n_buckets + 1)) for side in (listed, held))
    n_listings, n_holdings = np.diff(first_listing), np.diff(first_holding)
    products = np.cumsum(n_listings * n_holdings)
    found: list[tuple[Ints, Ints, Ints]] = []
    n_found, begin = 0, 0
    while begin < n_buckets:
        # So many buckets at a time that their pairs fit into memory.
        before = products[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(products, before + _PAIRS_AT_ONCE, side="right")))
        listings = np.arange(first_listing[begin], first_listing[end])
        times = n_holdings[listed.firsts[listings]]
        listing = np.repeat(listings, times)
        place = np.arange(len(listing)) - np.repeat(np.cumsum(times) - times, times)
        holding = first_holding[listed.firsts[listing]] + place
        kind = kinds.places(listed.seconds[listing], held.seconds[holding])
        real = kind >= 0
        found.append((kind[real], listing[real], holding[real]))
        n_found += int(np.count_nonzero(real))
        if n_found > _EDGE_LIMIT:
            return None
        begin = end
    kind, listing, holding = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return kind, listing, holding


def transport(
    supplies: NDArray[np.int64],
    capacities: NDArray[np.int64],
    left: Ints,
    right: Ints,
    block_of_left: Ints,
    block_of_right: Ints,
) -> int:
    """The most that supplies can send along the edges (left, right) into capacities of their own block."""
    from lookalike.kernels.transport import send_most

    n_blocks = 1 + int(max(block_of_left.max(initial=-1), block_of_right.max(initial=-1)))
    lefts, rights = (np.argsort(blocks, kind="stable") for blocks in (block_of_left, block_of_right))
    place_of_left, place_of_right = np.empty_like(lefts), np.empty_like(rights)
    place_of_left[lefts], place_of_right[rights] = np.arange(len(lefts)), np.arange(len(rights))
    tails = place_of_left[left]
    starts = np.concatenate([[0], np.cumsum(np.bincount(tails, minlength=len(supplies)))]).astype(np.int64)
    heads = place_of_right[right][np.argsort(tails, kind="stable")]
    blocks = [
        np.concatenate([[0], np.cumsum(np.bincount(of_node, minlength=n_blocks))]).astype(np.int64)
        for of_node in (block_of_left, block_of_right)
    ]
    return int(send_most(supplies[lefts], capacities[rights], starts, heads, *blocks))
