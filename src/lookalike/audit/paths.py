"""Several releases of the same people read together: paths, and what follows about the values on each path.

The reader has every release, knows in which of them a person is, and in which class (group of identical rows, bucket)
of each. A path is what is the same for persons whom this reader cannot tell apart: the class in each release, or that
the person is not in it. Persons keep their values. With x[p, v], the number of persons on path p with value v, a class
shows the sum of x[p, v] over the paths through it: rows that come and go are found by subtraction. `bound_values`
narrows every x[p, v] down to a least and a greatest number by these sums, and by all that follow from them by adding
and subtracting classes (`subtraction`), in whole numbers.

Where they meet, x is known to the reader, and as rows of a class are shuffled nothing tells the persons of the path
apart: the certainty in v is x[p, v] / n[p]. Elsewhere the probabilities of the releases are multiplied (`multiply`):
the number
of rows with v in the person's class of each release, divided by the share of v for all releases but one, as if
releases were drawn independently. A class that holds another class of the path adds nothing and is left out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints, joint_ids
from lookalike.audit.subtraction import Sums, subtract_all
from lookalike.errors import DataError

_ROUNDS = 200
_GRID = 1 << 60
ABSENT = -1


@dataclass(frozen=True, eq=False)
class ClassValues:
    """How often each value of one sensitive column is published in each class of one release, most values nowhere."""

    n_classes: int
    classes: Ints
    values: Ints
    counts: Ints

    @classmethod
    def of(cls, class_of_row: Ints, value_of_row: Ints, n_classes: int) -> ClassValues:
        pairs = np.column_stack((class_of_row, value_of_row)).astype(np.int64)
        found, counts = np.unique(pairs, axis=0, return_counts=True)
        return cls(n_classes, found[:, 0], found[:, 1], counts.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Paths:
    """The paths of all persons through all releases."""

    path_of_person: Ints
    classes: Ints
    """[paths, releases] the class, or ABSENT."""
    sizes: Ints
    """Persons of each path."""
    is_person: NDArray[np.bool_]
    """[paths] False: made-up rows, which nobody is behind."""

    @classmethod
    def of(cls, class_of_person: Sequence[Ints], made_up: Sequence[Ints]) -> Paths:
        """`class_of_person`: by release, the class of each person, or ABSENT; `made_up`: rows made up in each class."""
        n_persons, n_releases = len(class_of_person[0]), len(class_of_person)
        listed = np.column_stack(class_of_person).astype(np.int64)
        ids = joint_ids([column - ABSENT for column in listed.T], n_persons)
        n_paths = int(ids.max(initial=-1)) + 1
        classes = np.full((n_paths, n_releases), ABSENT, dtype=np.int64)
        classes[ids] = listed
        extra, extra_sizes = [], []
        for release, counts in enumerate(made_up):
            places = np.flatnonzero(counts)
            rows = np.full((len(places), n_releases), ABSENT, dtype=np.int64)
            rows[:, release] = places
            extra.append(rows)
            extra_sizes.append(counts[places])
        sizes = np.concatenate([np.bincount(ids, minlength=n_paths), *extra_sizes]).astype(np.int64)
        # Who is in no release is on no path.
        nowhere = (classes == ABSENT).all(axis=1)
        sizes[:n_paths][nowhere] = 0
        is_person = np.concatenate([~nowhere, np.zeros(len(sizes) - n_paths, dtype=bool)])
        return cls(ids, np.concatenate([classes, *extra]), sizes, is_person)

    def through(self, release: int) -> Ints:
        """The paths of persons who are in a release."""
        return np.flatnonzero((self.classes[:, release] != ABSENT) & self.is_person)


@dataclass(frozen=True, eq=False)
class Bounds:
    """For each path the values that are possible on it, and how many of its persons have them at least and at most."""

    paths: Ints
    values: Ints
    least: Ints
    most: Ints
    starts: Ints
    """Entries of path p are starts[p]:starts[p + 1]."""
    known: NDArray[np.bool_]
    """[paths] whether least and most agree for every value."""
    contradicted: Ints
    """Paths for which there is no solution: the releases contradict each other about them."""
    complete: bool = True
    """Whether all that follows from adding and subtracting groups was worked out."""


def check_sizes(paths: Paths, published: Sequence[ClassValues]) -> None:
    """Each class must have as many rows as persons and made-up rows: otherwise who is in which class is not known."""
    for release, held in enumerate(published):
        rows = np.bincount(held.classes, weights=held.counts, minlength=held.n_classes).astype(np.int64)
        inside = paths.classes[:, release] != ABSENT
        persons = np.bincount(
            paths.classes[inside, release], weights=paths.sizes[inside], minlength=held.n_classes
        ).astype(np.int64)
        if len(persons) != len(rows) or (persons != rows).any():
            raise DataError(
                f"The list of who is in which group does not fit release {release + 1} of the series: groups have "
                "other numbers of rows. The list or the release was changed."
            )


def bound_values(paths: Paths, published: Sequence[ClassValues]) -> Bounds:
    """What the sums of all classes say about every path, by narrowing least and most until nothing changes."""
    own, values, most, places = _possible(paths, published)
    least = np.zeros(len(own), dtype=np.int64)
    n_paths = len(paths.sizes)
    sums = [(own, np.arange(len(own)), paths.sizes)]
    for place, held in zip(places, published, strict=True):
        inside = np.flatnonzero(place >= 0)
        sums.append((place[inside], inside, held.counts))
    _narrow_all(least, most, sums)
    complete, subtracted = True, np.zeros(0, dtype=np.int64)
    if (least < most).any() and not (least > most).any():
        open_paths = np.unique(own[least != most])
        found = subtract_all(_list_open(paths, published, open_paths, own, values, least))
        complete, subtracted = found.complete, np.array(sorted(found.contradicted), dtype=np.int64)
        sums.append(_list_sums(found, own, values))
        _narrow_all(least, most, sums)
    wrong = np.zeros(n_paths, dtype=bool)
    wrong[own[least > most]] = True
    wrong |= _sums(most, own, n_paths) < paths.sizes
    wrong |= _sums(least, own, n_paths) > paths.sizes
    wrong[subtracted] = True
    known = np.ones(n_paths, dtype=bool)
    known[own[least != most]] = False
    starts = np.searchsorted(own, np.arange(n_paths + 1)).astype(np.int64)
    return Bounds(own, values, least, most, starts, known & ~wrong, np.flatnonzero(wrong), complete)


def _narrow_all(least: Ints, most: Ints, sums: Sequence[tuple[Ints, Ints, Ints]]) -> None:
    """By all sums, until nothing changes or something contradicts itself."""
    for _ in range(_ROUNDS):
        before = least.copy(), most.copy()
        for sums_of, entries, totals in sums:
            _narrow(least, most, sums_of, entries, totals)
        if (least > most).any() or (np.array_equal(before[0], least) and np.array_equal(before[1], most)):
            break


def _list_open(
    paths: Paths, published: Sequence[ClassValues], open_paths: Ints, own: Ints, values: Ints, least: Ints
) -> Iterator[tuple[frozenset[int], dict[int, int]]]:
    """The open paths of every class, with the values that the others leave them."""
    is_open = np.zeros(len(paths.sizes), dtype=bool)
    is_open[open_paths] = True
    settled = np.flatnonzero(~is_open[own] & (least > 0))
    for release, held in enumerate(published):
        classes = paths.classes[:, release]
        members: dict[int, list[int]] = defaultdict(list)
        for path in np.flatnonzero(is_open & (classes != ABSENT)).tolist():
            members[int(classes[path])].append(path)
        counts: dict[int, dict[int, int]] = {group: {} for group in members}
        rows = zip(held.classes.tolist(), held.values.tolist(), held.counts.tolist(), strict=True)
        for group, value, count in rows:
            if group in counts:
                counts[group][value] = count
        groups = classes[own[settled]]
        for group, value, count in zip(groups.tolist(), values[settled].tolist(), least[settled].tolist(), strict=True):
            if group in counts:
                counts[group][value] = counts[group].get(value, 0) - count
        for group, found in members.items():
            yield frozenset(found), counts[group]


def _list_sums(found: Sums, own: Ints, values: Ints) -> tuple[Ints, Ints, Ints]:
    """For every set of paths and value the entries that add up, and what they add up to."""
    starts = np.searchsorted(own, np.arange(int(own.max(initial=-1)) + 2))
    sums_of: list[int] = []
    entries: list[int] = []
    totals: list[int] = []
    for members, counts in found.held.items():
        number_of: dict[int, int] = {}
        for path in members:
            for entry in range(int(starts[path]), int(starts[path + 1])):
                value = int(values[entry])
                if value not in number_of:
                    number_of[value] = len(totals)
                    totals.append(counts.get(value, 0))
                sums_of.append(number_of[value])
                entries.append(entry)
    return np.array(sums_of, dtype=np.int64), np.array(entries, dtype=np.int64), np.array(totals, dtype=np.int64)


def _possible(paths: Paths, published: Sequence[ClassValues]) -> tuple[Ints, Ints, Ints, list[Ints]]:
    """Entries (path, value) with a row in every class of the path: path, value, most, and their place per release."""
    own, values = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    places: list[Ints] = []
    begun = np.zeros(len(paths.sizes), dtype=bool)
    n_values = 1 + max((int(held.values.max(initial=-1)) for held in published), default=-1)
    for release, held in enumerate(published):
        starts = np.searchsorted(held.classes, np.arange(held.n_classes + 1))
        through = np.flatnonzero(paths.classes[:, release] != ABSENT)
        lengths = np.diff(starts)[paths.classes[through, release]]
        rows = np.repeat(through, lengths)
        offsets = np.arange(len(rows)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        entries = np.repeat(starts[paths.classes[through, release]], lengths) + offsets
        keys, here = own * n_values + values, rows * n_values + held.values[entries]
        order = np.argsort(here)
        here, entries = here[order], entries[order]
        at = np.searchsorted(here, keys)
        found = np.zeros(len(keys), dtype=bool)
        inside = at < len(here)
        found[inside] = here[at[inside]] == keys[inside]
        goes_through = paths.classes[own, release] != ABSENT
        kept = found | ~goes_through
        place = np.full(len(keys), -1, dtype=np.int64)
        place[found] = entries[at[found]]
        # Paths that no earlier release has begin with the values of their class here.
        new = ~begun[here // max(n_values, 1)]
        own = np.concatenate((own[kept], here[new] // max(n_values, 1)))
        values = np.concatenate((values[kept], here[new] % max(n_values, 1)))
        places = [np.concatenate((old[kept], np.full(int(new.sum()), -1))) for old in places]
        places.append(np.concatenate((place[kept], entries[new])))
        begun[through] = True
        order = np.lexsort((values, own))
        own, values, places = own[order], values[order], [old[order] for old in places]
    most = paths.sizes[own].copy()
    for place, held in zip(places, published, strict=True):
        inside = place >= 0
        most[inside] = np.minimum(most[inside], held.counts[place[inside]])
    return own, values, most, places


def _narrow(least: Ints, most: Ints, sums_of: Ints, entries: Ints, totals: Ints) -> None:
    """Entries of one sum: each is at least the total less the most of the others, and at most less their least."""
    n_sums = len(totals)
    lower, upper = least[entries], most[entries]
    room = (totals - _sums(upper, sums_of, n_sums))[sums_of] + upper
    np.maximum.at(least, entries, room)
    rest = (totals - _sums(lower, sums_of, n_sums))[sums_of] + lower
    np.minimum.at(most, entries, rest)


def _sums(numbers: Ints, owners: Ints, n_owners: int) -> Ints:
    found = np.zeros(n_owners, dtype=np.int64)
    np.add.at(found, owners, numbers)
    return found


def multiply(
    paths: Paths, published: Sequence[ClassValues], bounds: Bounds, which: Ints, pooled: Ints | None
) -> tuple[Ints, Ints]:
    """The multiplied probabilities of these paths as whole numbers: a weight per entry of the path, and their sum.

    `pooled`: how often each value is published in all releases together; None: every value is taken as equally likely.
    Exact while the numbers fit into 63 bits, else rounded up on a fine grid.
    """
    lookup = [{} for _ in published] if not len(which) else [_table(held) for held in published]
    needed = _minimal(paths)
    weights, totals = [], []
    for path in which.tolist():
        entries = range(int(bounds.starts[path]), int(bounds.starts[path + 1]))
        through = [release for release in range(len(published)) if needed[path, release]]
        products = []
        for entry in entries:
            value = int(bounds.values[entry])
            product = Fraction(1 if bounds.most[entry] > 0 else 0)
            for release in through:
                product *= lookup[release].get((int(paths.classes[path, release]), value), 0)
            if pooled is not None:
                product /= int(pooled[value]) ** (len(through) - 1)
            products.append(product)
        whole, total = _whole_numbers(products)
        weights += whole
        totals.append(total)
    return np.array(weights, dtype=np.int64), np.array(totals, dtype=np.int64)


def _table(held: ClassValues) -> dict[tuple[int, int], int]:
    keys = zip(held.classes.tolist(), held.values.tolist(), strict=True)
    return dict(zip(keys, held.counts.tolist(), strict=True))


def _minimal(paths: Paths) -> NDArray[np.bool_]:
    """[paths, releases] whether a path's class there holds no other class of the path (of equal ones the first)."""
    n_releases = paths.classes.shape[1]
    needed: NDArray[np.bool_] = paths.classes != ABSENT
    for wide in range(n_releases):
        for narrow in range(n_releases):
            if wide == narrow:
                continue
            both = np.flatnonzero((paths.classes[:, wide] != ABSENT) & (paths.classes[:, narrow] != ABSENT))
            n_narrow = int(paths.classes[:, narrow].max(initial=-1)) + 1
            n_wide = int(paths.classes[:, wide].max(initial=-1)) + 1
            inside = paths.classes[:, narrow] != ABSENT
            total = _sums(paths.sizes[inside], paths.classes[inside, narrow], n_narrow)
            keys = paths.classes[both, narrow] * max(n_wide, 1) + paths.classes[both, wide]
            pairs, pair_of_path = np.unique(keys, return_inverse=True)
            shared = _sums(paths.sizes[both], pair_of_path.reshape(-1), len(pairs))
            holds = shared == total[pairs // max(n_wide, 1)]
            if wide < narrow:
                # Equal classes: the first release stays.
                outside = paths.classes[:, wide] != ABSENT
                own = _sums(paths.sizes[outside], paths.classes[outside, wide], n_wide)
                holds &= shared < own[pairs % max(n_wide, 1)]
            needed[both[holds[pair_of_path.reshape(-1)]], wide] = False
    return needed


def _whole_numbers(products: Sequence[Fraction]) -> tuple[list[int], int]:
    """The same ratios in whole numbers, and their sum."""
    total = sum(products, Fraction(0))
    if not total:
        return [0] * len(products), 0
    common = math.lcm(*(product.denominator for product in products))
    whole = [int(product * common) for product in products]
    divisor = math.gcd(*whole)
    whole = [number // divisor for number in whole]
    if sum(whole) < _GRID:
        return whole, sum(whole)
    return [math.ceil(product / total * _GRID) for product in products], _GRID
