"""Promises about persons: which records are in which class, and what a class reveals about a person in it.

By persons, the size of a class is the number of distinct persons in it, and the certainty about a value is the number
of
distinct persons who have it in some row of the class, over that size: what someone believes who is given which rows of
the class belong together, but not whose they are. Which records a class holds is in the private record map. Without
the map it is known only where every record fits a single class; elsewhere the audit says so and passes nothing that
depends on it, except sizes that the records which fit no other class reach by themselves.

An attacker who knows that c of the w rows of a class are the person's takes any c of them, and believes in a value
that n_v rows have with h_v(c) = 1 - C(w - n_v, c) / C(w, c). Such probabilities are further units behind the classes
(`Exposure.n_classes`): h_v at the largest c and, for promises with floors, at 1, since h_v rises with c. The largest c
is the larger of two numbers: the most rows that any person has in the class, and the most rows with equal
quasi-identifiers that any person has whose quasi-identifiers fit the class, wherever these rows are.

*Several classes.* Someone who knows the quasi-identifiers of a row knows those of all equal rows of the person. So
equal rows of a person must be in one class: a reader who is given which rows belong together would otherwise intersect
classes. A reader who does not know that they are together may still spread the c rows over the classes that fit, c_i
to class i. That shows no value with more than the ceiling z if h_v(c) <= z in each of them: 1 - h_v(c) is log-concave
in c and 1 at 0, so the product of 1 - h_v(c_i) is at least the product of (1 - z)^(c_i / c) = 1 - z.

Assumed of the attacker:
- knows the quasi-identifiers of one row of the person, and so of all rows equal to it, but not of rows that differ in
  some quasi-identifier (a later visit, another age). Rows in several classes, known together, can show more than
  each class: this is counted (`check_rows`), not bounded;
- may know how many rows with these quasi-identifiers the person has, and how many rows in the class; in buckets, where
  quasi-identifiers are exact and can be counted, always;
- does not know other persons' sensitive values, and is not given both which rows belong together and how many are the
  person's: these are two attackers, with a test each.
A class of k persons does not mean that each has one row in k: anyone who has most rows of a class is most likely
behind a
row picked at random from it. Values of a person in rows outside the class are not spoken of. The record map is
believed where release and original do not contradict it: of records with equal cells and values any may be named.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from lookalike.audit.containment import holds_each, list_fitting
from lookalike.audit.linked import expose_numbers
from lookalike.audit.reading import FITS_LIMIT, Ints, Reading
from lookalike.audit.verdicts import OPEN, Check
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.persons import PersonCounts, chance_of_value, number_pairs
from lookalike.data.release import Bucketized, Grouped
from lookalike.errors import counted

RECORD_MAP = "record map"
_GRID = 1 << 60
_LARGEST_MIX = 1 << 40
ROWS_TOGETHER = "rows of a person"
NEEDS_MAP = (
    f"{OPEN}: records fit several groups, and how many persons a group holds depends on which records it was made of. "
    "Audit it with the private folder (--private DIR), if the publisher kept one"
)
_SPLIT = "broken: rows of a person with equal quasi-identifiers are in several classes, which a reader can combine"
_NOT_SERVED = "not decided: promises about persons are checked for groups and buckets only"
_MIXED_IN_PARTS = "not decided: how the values of each person mix in the whole table is not known in one part"
_MIXED = "not decided: persons have too many different values to mix them exactly; promise one row per person"


def check_map(reading: Reading) -> Check | None:
    """Whether the private record map agrees with the release and the original; None without one."""
    record_of_row = reading.record_of_row
    if record_of_row is None or reading.original.persons is None:
        return None
    problem = _find_map_problem(reading, record_of_row)
    return Check(RECORD_MAP, problem is None, problem or "every row shows its own record, with its values")


def check_rows(reading: Reading) -> Check | None:
    """Whether equal rows of a person are in one class; None where nobody has several rows or classes are not known."""
    persons = reading.original.persons
    if persons is None or not isinstance(reading.release, Grouped | Bucketized):
        return None
    if isinstance(reading.release, Grouped) and reading.release.linked is not None:
        # Readers know which rows belong together: classes are of whole persons.
        return None
    classes = find_classes(reading)
    if classes is None:
        return None
    n_split = _count_split(reading, classes)
    kept = classes >= 0
    pairs = np.unique(number_pairs(persons[kept], classes[kept])) // (int(classes.max(initial=0)) + 1)
    n_several = int(np.count_nonzero(np.unique(pairs, return_counts=True)[1] > 1))
    noun = "bucket" if isinstance(reading.release, Bucketized) else "group"
    unit = reading.original.schema.unit_name
    detail = f"all rows of each {unit} are in one {noun}"
    if n_several:
        detail = (
            f"{n_several:,} of {counted(reading.original.n_persons, unit)} have rows in several {noun}s, with "
            f"different quasi-identifiers: an attacker who knows several rows of a {unit} can combine them"
        )
    if n_split:
        detail = f"rows with equal quasi-identifiers of {counted(n_split, unit)} are in several {noun}s"
    return Check(ROWS_TOGETHER, n_split == 0, detail)


def _count_split(reading: Reading, classes: Ints) -> int:
    """How many persons have rows with equal quasi-identifiers in several classes."""
    assert reading.original.persons is not None
    kept = np.flatnonzero(classes >= 0)
    pairs = np.unique(np.column_stack((reading.item_of_record[kept], classes[kept])), axis=0)
    items, numbers = np.unique(pairs[:, 0], return_counts=True)
    split = np.isin(reading.item_of_record, items[numbers > 1])
    return len(np.unique(reading.original.persons[split]))


def _find_map_fault(reading: Reading, record_of_row: Ints) -> str | None:
    """Why the map names no record for each row."""
    if len(record_of_row) != len(reading.release.sensitive):
        return "the map does not have one record per row"
    if record_of_row.min(initial=0) < 0 or record_of_row.max(initial=-1) >= reading.original.n_rows:
        return "the map names records that the original does not have"
    if len(np.unique(record_of_row)) != len(record_of_row):
        return "the map names a record twice"
    return None


def _find_map_problem(reading: Reading, record_of_row: Ints) -> str | None:
    release, original = reading.release, reading.original
    if fault := _find_map_fault(reading, record_of_row):
        return fault
    wrong = int(np.count_nonzero(reading.value_of_row != reading.value_of_record[record_of_row]))
    if not wrong and isinstance(release, Grouped):
        held = holds_each(reading.boxes.cells, reading.boxes.class_of_row, original.quasi, record_of_row)
        wrong = int(np.count_nonzero(~held))
    if not wrong and isinstance(release, Bucketized):
        wrong = _count_misplaced(reading, record_of_row)
    return f"{counted(wrong, 'row')} cannot be of the record that the map names" if wrong else None


def _count_misplaced(reading: Reading, record_of_row: Ints) -> int:
    """Rows of buckets whose listed quasi-identifiers are not those of the records that the map puts there."""
    of_quasi = np.sort(number_pairs(reading.buckets[0], reading.point_of_row))
    of_map = np.sort(number_pairs(reading.buckets[1], reading.point_of_record[record_of_row]))
    return 0 if np.array_equal(of_quasi, of_map) else max(1, len(np.setdiff1d(of_map, of_quasi)))


def find_classes(reading: Reading) -> Ints | None:
    """The class (bucket) of each record, -1 for records that are left out; None where it is not known."""
    release, original = reading.release, reading.original
    if reading.record_of_row is not None:
        if _find_map_fault(reading, reading.record_of_row):
            return None
        units = reading.unit_of_row if isinstance(release, Grouped) else reading.buckets[1]
        classes = np.full(original.n_rows, -1, dtype=np.int64)
        classes[reading.record_of_row] = units
        return classes
    if release.withheld.n_suppressed or release.withheld.n_dummies:
        return None
    if isinstance(release, Bucketized):
        return reading.bucket_of_record if (reading.bucket_of_record >= 0).all() else None
    fits = list_classes(reading)
    if fits is None or (np.diff(fits[0]) != 1).any() or _recur_in_parts(reading):
        return None
    return fits[1].astype(np.int64)


def _recur_in_parts(reading: Reading) -> bool:
    """Whether rows with the same cells lie in several parts, which a reader tells apart."""
    return bool(reading.parts) and len(np.unique(reading.unit_of_row)) != reading.boxes.n_classes


def list_classes(reading: Reading) -> tuple[Ints, Ints] | None:
    """For each record the classes that it fits; None if there are far too many."""
    boxes, codes = reading.boxes, np.ascontiguousarray(reading.original.quasi)
    bounds = np.array([0, boxes.n_classes]), np.array([0, len(codes)])
    starts, classes = list_fitting(boxes.cells, np.arange(boxes.n_classes), bounds[0], codes, bounds[1], FITS_LIMIT)
    return None if starts[-1] > FITS_LIMIT else (starts, classes.astype(np.int64))


def expose_persons(reading: Reading, column: int | None, adversary: str, *, mixed: bool) -> Exposure | str:
    """What the release reveals about persons, or why that is not known.

    `mixed`: as a distribution, in which each person's different values of a class share the person's weight evenly.
    """
    if not isinstance(reading.release, Grouped | Bucketized):
        return _NOT_SERVED
    if isinstance(reading.release, Grouped) and reading.release.linked is not None:
        return _expose_linked(reading, column, adversary, mixed=mixed)
    classes = find_classes(reading)
    if classes is None:
        return _bound_sizes(reading, adversary) if column is None else NEEDS_MAP
    if _count_split(reading, classes):
        return _SPLIT
    original = reading.original
    assert original.persons is not None
    kept = np.flatnonzero(classes >= 0)
    names, units = np.unique(classes[kept], return_inverse=True)
    units, owners = units.reshape(-1).astype(np.int64), original.persons[kept].astype(np.int64)
    firsts = np.unique(number_pairs(units, owners), return_index=True)[1]
    sizes = np.bincount(units[firsts], minlength=len(names)).astype(np.int64)
    if column is None:
        return _count(reading, units[firsts], None, len(names), None, adversary)
    codes = original.sensitive[kept, column].astype(np.int64)
    pairs = np.unique(number_pairs(number_pairs(units, owners), codes), return_index=True)[1]
    if mixed:
        return _mix(reading, column, units[pairs], owners[pairs], codes[pairs], sizes, adversary)
    exposure = replace(_count(reading, units[pairs], codes[pairs], len(names), column, adversary), sizes=sizes)
    if not reading.number_known and isinstance(reading.release, Grouped):
        return exposure
    return _with_known_numbers(exposure, units, codes, _find_most_rows(reading, names, units, owners))


def _expose_linked(reading: Reading, column: int | None, adversary: str, *, mixed: bool) -> Exposure | str:
    """The same where rows carry person numbers: by classes of persons, whose numbers of rows are known anyway."""
    found = expose_numbers(reading, column)
    if isinstance(found, str):
        return found
    units, owners, codes = found
    n_units = int(units.max(initial=-1)) + 1
    firsts = np.unique(owners, return_index=True)[1]
    if codes is None:
        return _count(reading, units[firsts], None, n_units, None, adversary)
    sizes = np.bincount(units[firsts], minlength=n_units).astype(np.int64)
    pairs = np.unique(number_pairs(owners, codes), return_index=True)[1]
    if mixed:
        return _mix(reading, column or 0, units[pairs], owners[pairs], codes[pairs], sizes, adversary)
    return replace(_count(reading, units[pairs], codes[pairs], n_units, column, adversary), sizes=sizes)


def _bound_sizes(reading: Reading, adversary: str) -> Exposure | str:
    """Sizes that are certain without the map: persons with a record that fits the class and no other."""
    withheld = reading.release.withheld
    fits = None
    if isinstance(reading.release, Grouped) and not withheld.n_suppressed and not _recur_in_parts(reading):
        fits = list_classes(reading)
    if fits is None or reading.original.persons is None:
        return NEEDS_MAP
    starts, classes = fits
    certain = np.flatnonzero(np.diff(starts) == 1)
    repeats = np.bincount(reading.item_of_record)[reading.item_of_record] > 1
    if (repeats & (np.diff(starts) > 1)).any():
        # Equal rows of a person may be in several classes.
        return NEEDS_MAP
    pairs = np.unique(np.column_stack((classes[starts[certain]], reading.original.persons[certain])), axis=0)
    sizes = np.bincount(pairs[:, 0].astype(np.int64), minlength=reading.boxes.n_classes)
    owner = np.repeat(np.arange(reading.original.n_rows), np.diff(starts))
    possible = np.unique(np.column_stack((classes, reading.original.persons[owner])), axis=0)
    most = np.bincount(possible[:, 0].astype(np.int64), minlength=reading.boxes.n_classes)
    exposure = _count(reading, np.repeat(np.arange(len(sizes)), sizes), None, len(sizes), None, adversary)
    return replace(exposure, possible_sizes=most)


def _count(
    reading: Reading, units: Ints, codes: Ints | None, n_units: int, column: int | None, adversary: str
) -> Exposure:
    """The exposure of persons, each once per unit, or once per unit and value."""
    exposure = counted_exposure(
        units,
        None if codes is None else codes.astype(np.int32),
        n_units,
        adversary=adversary,
        form=reading.release.form,
        column=None if column is None else reading.original.domains.sensitive[column],
        prior=reading.original.prior(column),
    )
    return replace(exposure, n_classes=n_units)


def _find_most_rows(reading: Reading, names: Ints, units: Ints, owners: Ints) -> Ints:
    """For each class (`names`) the most of its rows that may be one person's."""
    _, firsts, counts = np.unique(number_pairs(units, owners), return_index=True, return_counts=True)
    most = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(most, units[firsts], counts)
    # The most equal rows that a person has with certain quasi-identifiers, where these are more than in some class.
    _, records, sizes = np.unique(reading.item_of_record, return_index=True, return_counts=True)
    beyond = sizes > int(most.min(initial=0))
    records, sizes = records[beyond], sizes[beyond]
    if not len(records):
        return most
    if isinstance(reading.release, Bucketized):
        largest = np.zeros(reading.n_points, dtype=np.int64)
        np.maximum.at(largest, reading.point_of_record[records], sizes)
        np.maximum.at(most, np.searchsorted(names, reading.buckets[0]), largest[reading.point_of_row])
        return most
    boxes, codes = reading.boxes, np.ascontiguousarray(reading.original.quasi[records])
    bounds = np.array([0, boxes.n_classes]), np.array([0, len(codes)])
    starts, fitting = list_fitting(boxes.cells, np.arange(boxes.n_classes), bounds[0], codes, bounds[1], FITS_LIMIT)
    if starts[-1] > FITS_LIMIT:
        most[:] = np.maximum(most, sizes.max())
        return most
    of_box = np.zeros(boxes.n_classes, dtype=np.int64)
    np.maximum.at(of_box, fitting, np.repeat(sizes, np.diff(starts)))
    box_of_unit = np.zeros(int(reading.unit_of_row.max(initial=0)) + 1, dtype=np.int64)
    box_of_unit[reading.unit_of_row] = boxes.class_of_row
    most[:] = np.maximum(most, of_box[box_of_unit[names]])
    return most


def _with_known_numbers(exposure: Exposure, units: Ints, codes: Ints, most: Ints) -> Exposure:
    """The exposure with two further units per class of which several rows may be one person's: all these, and one."""
    if int(most.max(initial=0)) <= 1:
        return exposure
    n_rows = np.bincount(units, minlength=exposure.n_units)
    n_codes = len(exposure.prior)
    keys, counts = np.unique(units * n_codes + codes, return_counts=True)
    several = np.flatnonzero(most[keys // n_codes] > 1)
    keys, counts = keys[several], counts[several]
    own, entry_class = np.unique(keys // n_codes, return_inverse=True)
    entry_class = entry_class.reshape(-1)
    n_taken = np.minimum(most[own], n_rows[own])
    settings = np.column_stack((n_rows[own][entry_class], counts, n_taken[entry_class]))
    kinds, kind_of_entry = np.unique(settings, axis=0, return_inverse=True)
    beliefs = [chance_of_value(*kind) for kind in kinds.tolist()]
    weights, sizes = common_terms(beliefs, kind_of_entry.reshape(-1), entry_class, len(own))
    lengths = np.tile(np.bincount(entry_class, minlength=len(own)), 2)
    starts = exposure.starts[-1] + np.cumsum(lengths)
    values = np.tile((keys % n_codes).astype(np.int32), 2)
    return replace(
        exposure,
        starts=np.concatenate((exposure.starts, starts)).astype(np.int64),
        values=np.concatenate((exposure.values, values)),
        weights=np.concatenate((exposure.weights, weights, counts)).astype(np.int64),
        sizes=np.concatenate((exposure.sizes, sizes, n_rows[own])).astype(np.int64),
        behind=np.tile(own, 2),
    )


def common_terms(
    beliefs: list[Fraction], kind_of_entry: Ints, class_of_entry: Ints, n_classes: int
) -> tuple[Ints, Ints]:
    """Beliefs as whole numbers over one size per class: exact while that fits, else rounded up on a fine grid."""
    sizes = np.full(n_classes, _GRID, dtype=np.int64)
    weights = np.empty(len(kind_of_entry), dtype=np.int64)
    order = np.argsort(class_of_entry, kind="stable")
    bounds = np.searchsorted(class_of_entry[order], np.arange(n_classes + 1))
    for place in range(n_classes):
        entries = order[bounds[place] : bounds[place + 1]]
        held = [beliefs[kind] for kind in kind_of_entry[entries].tolist()]
        common = math.lcm(*(belief.denominator for belief in held))
        sizes[place] = common if common <= _GRID else _GRID
        size = int(sizes[place])
        weights[entries] = [math.ceil(belief * size) for belief in held]
    return weights, sizes


def _mix(
    reading: Reading, column: int, units: Ints, owners: Ints, codes: Ints, sizes: Ints, adversary: str
) -> Exposure | str:
    """Each person once per class, with all different values in equal parts; the whole table likewise."""
    original = reading.original
    assert original.persons is not None
    if original.whole is not None:
        return _MIXED_IN_PARTS
    n_codes = original.domains.sensitive[column].n_codes
    of_table = np.unique(np.column_stack((original.persons, original.sensitive[:, column])), axis=0)
    numbers = np.bincount(of_table[:, 0])[of_table[:, 0]]
    _, pair_of_entry, own_numbers = np.unique(number_pairs(units, owners), return_inverse=True, return_counts=True)
    parts = own_numbers[pair_of_entry.reshape(-1)]
    common = math.lcm(*np.unique(np.concatenate((numbers, parts))).tolist())
    if common > _LARGEST_MIX // max(original.n_rows, 1):
        return _MIXED
    keys, place_of_entry = np.unique(units * n_codes + codes, return_inverse=True)
    weights = np.zeros(len(keys), dtype=np.int64)
    np.add.at(weights, place_of_entry.reshape(-1), common // parts)
    prior = np.zeros(n_codes, dtype=np.int64)
    np.add.at(prior, of_table[:, 1], common // numbers)
    return Exposure(
        adversary=adversary,
        form=reading.release.form,
        column=original.domains.sensitive[column],
        prior=PersonCounts.of(prior, common * original.n_persons),
        starts=np.searchsorted(keys, np.arange(len(sizes) + 1) * n_codes).astype(np.int64),
        values=(keys % n_codes).astype(np.int32),
        weights=weights,
        sizes=sizes * common,
        n_classes=len(sizes),
    )
