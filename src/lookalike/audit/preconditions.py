"""Is the release about this table at all: well formed, complete, every value kept, a row for every record.

These checks come before any promise. Together they catch dropped, doubled and invented rows, swapped values, moved
or narrowed ranges, and shifted bucket numbers. Their words give counts, never a record's values.

A reader of the files of a release in parts sees which part a row came from, so a part is a published column like any
other (`parts_check`):

    groups      rows with identical cells in two parts are two groups, each of which must keep every promise
    buckets     a bucket is in one part, the same in both tables: anything else pairs rows within buckets
    matched     the rows that a graph joins to a record lie in one part
    perturbed   quasi-identifiers decide the part: the ranges that the parts cover do not overlap

All of it is exact. What is left is which groups and buckets go together into a part; no promise speaks of that.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lookalike.audit.containment import weight_fitting
from lookalike.audit.reading import Ints, Reading
from lookalike.audit.tail_bounds import SELDOM, Chance, cap_counts
from lookalike.audit.verdicts import Audit, Check
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.release import Bucketized, Grouped, Matched, MatchGraph, Perturbed, Ranges, Release
from lookalike.errors import counted, quoted

_ROW_COUNT, _A_ROW, A_BUCKET = "number of rows", "a row for every record", "a bucket for every record"
_IN_PARTS = "rows in parts"


def well_formed(original: Microdata, release: Release) -> Check:
    """Whether arrays fit together and codes lie in the original's domains. Nothing else is looked at if not."""
    complaint = next(_complaints(original, release), None)
    return Check("well formed", complaint is None, complaint or "columns, lengths and codes fit the original")


def _complaints(original: Microdata, release: Release) -> Iterator[str]:
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
        yield from _extent_complaints(original, release)
    elif isinstance(release, Bucketized):
        if len(release.bucket_of_quasi) != len(release.quasi) or len(release.bucket_of_sensitive) != len(
            release.sensitive
        ):
            yield "there is not one bucket number per row"
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


def _extent_complaints(original: Microdata, release: Grouped | Matched) -> Iterator[str]:
    units = release.unit_of_row
    if len(units) != len(release.sensitive):
        yield "there is not one group number per row"
    linked = release.linked if isinstance(release, Grouped) else None
    if linked is not None and {len(linked.person_of_row), len(linked.visit_of_row)} != {len(release.sensitive)}:
        yield "there is not one person number per row"
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
    detail = _rows_for_records(
        reading.release.n_rows, reading.original.n_rows, withheld.n_suppressed, withheld.n_dummies
    )
    negative = withheld.n_suppressed < 0 or withheld.n_dummies < 0
    if lengths != {wanted}:
        detail += f"; {wanted:,} wanted"
    return Check(_ROW_COUNT, lengths == {wanted} and not negative, detail)


def _rows_for_records(n_rows: int, n_records: int, n_suppressed: int, n_dummies: int) -> str:
    """
    >>> _rows_for_records(1500, 1501, 2, 1)
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
    n_lost, n_new = count_changes(reading.value_of_record, reading.value_of_row)
    passed = n_lost <= withheld.n_suppressed and n_new <= withheld.n_dummies
    detail = f"{counted(reading.n_values, 'joint value')}, each as often as in the original"
    if n_lost or n_new:
        detail = (
            f"{n_lost:,} joint sensitive and carried values lost ({withheld.n_suppressed:,} declared), "
            f"{n_new:,} new ({withheld.n_dummies:,} declared)"
        )
    return Check(name, passed, detail)


def count_changes(records: Ints, rows: Ints) -> tuple[int, int]:
    """How many numbers of records are not among those of rows, and how many of rows not among those of records."""
    size = 1 + int(max(records.max(initial=-1), rows.max(initial=-1)))
    change = np.bincount(rows, minlength=size) - np.bincount(records, minlength=size)
    return int(np.maximum(-change, 0).sum()), int(np.maximum(change, 0).sum())


def dummies_known(reading: Reading, adversary: str) -> Check | None:
    """Rows made up must look like all others, or carry their own value so that the audit can set them aside.

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
        if _is_by_group(reading):
            detail += ", with their number in each group"
    problem = next(_dummy_problems(reading, adversary, withheld.n_dummies - n_told), None)
    return Check("rows made up", problem is None, problem or detail)


def _dummy_problems(reading: Reading, adversary: str, n_hidden: int) -> Iterator[str]:
    """Of rows made up with values that records have."""
    withheld = reading.release.withheld
    if not withheld.indistinguishable:
        if n_hidden:
            yield (
                f"{n_hidden:,} rows are made up with values that records have, and a reader is said to tell them apart,"
                " but the release does not say which rows they are. Make them look like any other row"
            )
        return
    if n_hidden and any(counts.any() for counts in withheld.dummies):
        yield (
            f"{counted(n_hidden, 'row')} made up are said to look like any other, and the release says how many there "
            "are of each value: a reader takes them away. Leave the counts by value out"
        )
    if n_hidden and adversary == KNOWS_METHOD:
        yield (
            f"{counted(n_hidden, 'row')} made up are said to look like any other, but someone who knows everybody's "
            "quasi-identifiers counts the persons of a group. Make up no rows against this adversary"
        )
    n_real = reading.original.n_rows - withheld.n_suppressed
    if n_hidden > n_real:
        yield (
            f"{counted(n_hidden, 'row')} made up for {counted(n_real, 'record')}: a row is more likely made up than "
            "not, so it hides nobody. Make up fewer rows than there are records"
        )
    if _is_by_group(reading):
        yield from _problems_by_group(reading)
    elif n_hidden and _chance_of_made_up_values(reading) < SELDOM:
        yield (
            "within groups the values of made-up rows differ from those of records: rows chosen at random have such "
            "values with probability below 1e-9. Draw the values of a group's made-up rows as its records have them"
        )


def _is_by_group(reading: Reading) -> bool:
    """Whether made-up rows are declared group by group, in numbered groups."""
    return isinstance(reading.release, Grouped) and reading.release.made_up_of_group is not None


def _problems_by_group(reading: Reading) -> Iterator[str]:
    """Where the number of made-up rows of each group is published, they hide nobody by their number.

    What they say then rests on each group having every value once: whichever rows are made up, the persons of the group
    have values of one set, and nothing tells which. So no value may occur twice in a group.
    """
    release = reading.release
    assert isinstance(release, Grouped)
    assert release.made_up_of_group is not None
    n_groups = len(release.made_up_of_group)
    sizes = np.bincount(release.group_of_row, minlength=n_groups)
    if (release.made_up_of_group < 0).any() or (release.made_up_of_group >= np.maximum(sizes, 1)).any():
        yield "a group is declared to have as many made-up rows as rows, or more, or fewer than none"
    if int(release.made_up_of_group.sum()) != release.withheld.n_dummies:
        yield "the numbers of made-up rows of all groups do not add up to the number declared"
    for index, domain in enumerate(reading.original.domains.sensitive):
        codes = release.sensitive[:, index].astype(np.int64)
        keys = release.group_of_row.astype(np.int64) * domain.n_codes + codes
        n_twice = len(codes) - len(np.unique(keys))
        if n_twice:
            yield (
                f"{counted(n_twice, 'row')} repeat a value of {quoted(domain.name)} in their group, so that declared "
                "numbers of made-up rows may say whose value is whose"
            )


def _chance_of_made_up_values(reading: Reading) -> float:
    """How often, at most, made-up rows have values like these if in each group any rows may be the made-up ones.

    For each value its made-up rows are hypergeometric counts, independent between groups. Looked at where it is known
    which values were made up: nothing was left out, and no record fits two groups. Elsewhere 1.
    """
    from scipy.stats import hypergeom

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
    detail = _describe_rows(wanted)
    if n_left > 0:
        detail = f"{counted(n_left, 'record')} of {wanted:,} have no row that they fit with their own values"
    return Check(_A_ROW, n_left <= 0, detail)


def describe_totals(check: str, audit: Audit) -> str | None:
    """The words of a check that passed, where they need no more than the numbers of rows and records."""
    n_published = audit.n_records - audit.n_suppressed
    words = {
        _ROW_COUNT: _rows_for_records(audit.n_rows, audit.n_records, audit.n_suppressed, audit.n_dummies),
        _A_ROW: _describe_rows(n_published),
        A_BUCKET: describe_buckets(n_published),
    }
    return words.get(check)


def _describe_rows(n_records: int) -> str:
    return f"{counted(n_records, 'record')} can each be given a row that they fit, with their own values"


def check_points(reading: Reading) -> Check:
    """Exact quasi-identifiers are the original's."""
    withheld = reading.release.withheld
    n_lost, n_new = count_changes(reading.point_of_record, reading.point_of_row)
    passed = n_lost <= withheld.n_suppressed and n_new <= withheld.n_dummies
    detail = "each combination as often as in the original"
    if not passed:
        detail = f"{n_lost:,} combinations lost and {n_new:,} new"
    return Check("quasi-identifiers kept", passed, detail)


def describe_buckets(n_records: int) -> str:
    return f"{counted(n_records, 'record')} can each lie in a bucket that lists them and holds their own values"


def parts_check(reading: Reading, graph: MatchGraph | None) -> Check | None:
    """None for a release that is not in parts."""
    release = reading.release
    if not reading.parts:
        return None
    if isinstance(release, Bucketized):
        return _buckets_whole(reading)
    part_of_row = reading.parts["release"]
    if isinstance(release, Perturbed):
        return _boxes_apart(release, part_of_row)
    if isinstance(release, Grouped):
        return Check(_IN_PARTS, True, "rows with the same cells in two parts are judged as two groups")
    return _neighbours_together(graph, part_of_row)


def _buckets_whole(reading: Reading) -> Check:
    parts = np.concatenate((reading.parts["qit"], reading.parts["sat"]))
    numbers = np.concatenate(reading.buckets)
    n_parts_of = np.bincount(np.unique(np.column_stack((numbers, parts)), axis=0)[:, 0])
    n_split = int(np.count_nonzero(n_parts_of > 1))
    detail = "every bucket is in one part, the same in both tables"
    if n_split:
        detail = (
            f"{n_split:,} of {counted(len(n_parts_of), 'bucket')} have rows in several parts: the part tells which "
            "rows of the two tables belong together. Keep each bucket in one part"
        )
    return Check(_IN_PARTS, n_split == 0, detail)


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
    return Check(_IN_PARTS, n_meeting == 0, detail)


def _neighbours_together(graph: MatchGraph | None, part_of_row: Ints) -> Check:
    if graph is None:
        return Check(_IN_PARTS, True, "rows of different parts are judged apart")
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
    return Check(_IN_PARTS, n_split == 0, detail)
