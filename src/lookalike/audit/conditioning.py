"""Promises held against an attacker who also has common knowledge: what people of a kind cannot have.

Rules (`data.knowledge`) sort people into kinds by their quasi-identifiers; a kind cannot have certain sensitive values.
Two attackers use that.

*By rows.* Someone who knows a person takes away the rows with values that the person cannot have. What is left is
equally likely: in a unit with w rows that are possible for the person, n_v of them with value v, the certainty is n_v
/ w,
and the row is found among w. Units are those of the audit, one for each kind of person who fits them:

    grouped      every class whose cells a record of the kind fits, whether or not its own row is in it
    matched      the rows that the graph joins the record to
    bucketized   the bucket, for the kinds of people that it lists
    perturbed    each published value: the matrix times the counts of the values that are possible for the kind

A reader who does not know the class pools the classes that the person fits. The pooled share is a mean of theirs and
so no larger than the largest of them.

*By assignments.* Someone who knows everybody's quasi-identifiers, and so the kinds of all people in a class, knows
more: each of them has one of its rows, and none has an impossible one. All such assignments of people to rows are
equally likely (without rules, all orders are). The certainty is the share of assignments in which the person has the
value, the chance of a row the share in which the person has the row. They are counted exactly: rows that are possible
for the same kinds are interchangeable, and so are people of one kind, so tables of how many people of a kind have rows
of a type are gone through, each with its number of assignments. Rows that are possible for all kinds need not be gone
through. Where there are too many tables the promise is not decided, which does not pass.

In a bucket everybody's quasi-identifiers are published, so any reader is the second attacker. In groups only someone
who knows the method is taken to know who is in a class: by the record map, or where every record fits one class only.

Not decided, and so never passed: persons with several rows, promises with least shares of values or about whole
distributions (rules take values away from everybody; a promise about them would not be about this release), what is
possible in a matched release, and perturbed releases against someone who knows the method.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.carried import find_failing
from lookalike.audit.exposures import expose_units, list_stocks
from lookalike.audit.persons import common_terms, find_classes, list_classes
from lookalike.audit.perturbation import matrix_problem
from lookalike.audit.reading import Ints, Reading
from lookalike.audit.verdicts import NOTHING, OPEN, Verdict, judge_level, verdict_of
from lookalike.audit.verify import Examined
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Promise
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.knowledge import Kinds
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed

_MOST_STEPS = 300_000
"""Ways to give rows of a type to kinds of people that are gone through in one class."""
BY_ROWS, BY_ASSIGNMENTS = "impossible rows removed", "impossible assignments removed"
_SEVERAL_ROWS = "not decided: rules are used where every person has one row (--rows one)"
_FLOORS = (
    "not decided: the promise bounds probabilities from below or compares distributions, which rules change for "
    "everybody"
)
_TOO_MANY = "not decided: a class has too many assignments to count"
_NOT_KNOWN = (
    f"{OPEN}: who is in which group, which an attacker who knows the method may know. Audit it with the private folder "
    "(--private DIR) that --private makes"
)


@dataclass(frozen=True)
class Conditioned:
    """A promise held against an attacker who knows the rules."""

    promise: Promise
    way: str
    verdict: Verdict
    """`passed` is None where this attacker is stronger than the release is made for: measured, not promised."""
    n_broken: int | None
    """Persons for whom it no longer holds; None: not decided."""

    def to_plain(self) -> dict[str, object]:
        return {"promise": str(self.promise), "way": self.way, "broken_for": self.n_broken, **self.verdict.to_plain()}


def condition(examined: Examined, kinds: Kinds, record_of_row: Ints | None = None) -> tuple[Conditioned, ...]:
    """Every promise against someone who knows the rules; `record_of_row` is the private record map."""
    reading = examined.reading
    if record_of_row is not None:
        reading = replace(reading, record_of_row=record_of_row)
    if not examined.sound or not kinds.rules:
        return ()
    found = []
    for promise, _ in examined.promised:
        ways = [BY_ROWS]
        if isinstance(reading.release, Grouped | Bucketized):
            ways.append(BY_ASSIGNMENTS)
        for way in ways:
            # In buckets every reader sees who is there; in groups that is knowledge of its own.
            judged = way == BY_ROWS or isinstance(reading.release, Bucketized)
            judged |= examined.audit.adversary == KNOWS_METHOD
            found.append(_judge(examined, reading, kinds, promise, way, judged=judged))
    return tuple(found)


def _judge(
    examined: Examined, reading: Reading, kinds: Kinds, promise: Promise, way: str, *, judged: bool
) -> Conditioned:
    seen = _refuse(reading, promise, examined.audit.adversary) or _expose(examined, reading, kinds, promise, way)
    model = promise.model
    if isinstance(seen, str):
        verdict, n_broken = verdict_of(promise, False, seen, reading.release.form), None
    else:
        exposure, people = seen
        verdict = judge_level(promise, exposure) if exposure.n_units else verdict_of(promise, True, NOTHING, None)
        failing = find_failing(model, exposure) if not verdict.passed else np.zeros(exposure.n_units, dtype=bool)
        n_broken = int(np.count_nonzero(_mark(people, failing, reading.original.n_rows)))
        verdict = replace(verdict, failing_records=n_broken, failing_units=int(np.count_nonzero(failing)))
    verdict = replace(
        verdict,
        model=f"{model} ({way})",
        passed=verdict.passed if judged else None,
        detail="; ".join(filter(None, (verdict.detail, "" if judged else "who is in a group is taken to be unknown"))),
        unit_size=None,
    )
    return Conditioned(promise, way, verdict, n_broken)


def _mark(people: tuple[Ints, Ints], failing: NDArray[np.bool_], n_records: int) -> NDArray[np.bool_]:
    """[records] whether some unit of theirs fails; `people`: pairs of a record and a unit."""
    records, units = people
    marked = np.zeros(n_records, dtype=bool)
    marked[records[failing[units]]] = True
    return marked


def _refuse(reading: Reading, promise: Promise, adversary: str) -> str | None:
    """Why a promise cannot be decided under rules, or None."""
    model, original = promise.model, reading.original
    if (reason := model.refuses_form(reading.release.form)) is not None:
        return reason
    if original.persons is not None:
        return _SEVERAL_ROWS
    if isinstance(reading.release, Perturbed) and adversary == KNOWS_METHOD:
        return "not decided: rules are not used against an attacker who knows how values were redrawn"
    if isinstance(reading.release, Matched) and model.by_possible:
        return "not decided: what is possible in a matched release under rules"
    if promise.column is not None:
        index = original.domains.sensitive_index(promise.column)
        asked = model.requirement(original.prior(index), original.domains.sensitive[index], index)
        if model.by_distribution or asked.floors is not None:
            return _FLOORS
    return None


_Seen = tuple[Exposure, tuple[Ints, Ints]]
"""Beliefs, and pairs of a record and a unit whose probabilities are about it."""


def _expose(examined: Examined, reading: Reading, kinds: Kinds, promise: Promise, way: str) -> _Seen | str:
    column = None if promise.column is None else reading.original.domains.sensitive_index(promise.column)
    if promise.model.about_identity:
        column = None
    if isinstance(reading.release, Perturbed):
        if column is None:
            return "not applicable: quasi-identifiers are published exactly"
        return _expose_posteriors(reading, kinds, column)
    if way == BY_ASSIGNMENTS:
        return _expose_assignments(reading, kinds, column)
    members = _list_members(examined, reading)
    if isinstance(members, str):
        return members
    rows, units, records, own_units = members
    return _remove_rows(reading, kinds, column, rows, units, records, own_units)


def _list_members(examined: Examined, reading: Reading) -> tuple[Ints, Ints, Ints, Ints] | str:
    """Rows with their units, and records with the units that are looked at for them."""
    release, original = reading.release, reading.original
    if isinstance(release, Bucketized):
        of_quasi, of_values = reading.buckets
        pairs = np.unique(np.column_stack((reading.point_of_row, of_quasi)), axis=0)
        starts = np.searchsorted(pairs[:, 0], np.arange(reading.n_points + 1))
        records, places = _spread(starts, reading.point_of_record)
        return np.arange(len(of_values)), of_values, records, pairs[places, 1]
    if isinstance(release, Matched) and examined.graph is not None:
        graph = examined.graph
        records = np.arange(original.n_rows)
        return graph.rows.astype(np.int64), np.repeat(records, np.diff(graph.starts)), records, records
    if isinstance(release, Matched):
        if reading.blocks is None:
            return f"{OPEN}: what a matched release reveals depends on its private graph (--private DIR)"
        units = reading.in_parts(reading.blocks)
        if reading.fits is None:
            return "not decided: records fit far too many rows to list them"
        starts, rows = reading.fits
        records = np.repeat(np.arange(original.n_rows), np.diff(starts))
        pairs = np.unique(np.column_stack((records, units[rows])), axis=0)
        return np.arange(release.n_rows), units, pairs[:, 0], pairs[:, 1]
    fits = list_classes(reading)
    if fits is None:
        return "not decided: records fit far too many groups to list them"
    # A class of cells may be several units: parts, or groups that are numbered.
    owner = np.repeat(np.arange(original.n_rows), np.diff(fits[0]))
    both = np.unique(np.column_stack((reading.boxes.class_of_row, reading.unit_of_row)), axis=0)
    starts = np.searchsorted(both[:, 0], np.arange(reading.boxes.n_classes + 1))
    places, entries = _spread(starts, fits[1])
    return np.arange(release.n_rows), reading.unit_of_row, owner[places], both[entries, 1]


def _spread(starts: Ints, items: Ints) -> tuple[Ints, Ints]:
    """For the i-th item, i with each of starts[item]:starts[item + 1]."""
    lengths = np.diff(starts)[items]
    places = np.repeat(np.arange(len(items)), lengths)
    within = np.arange(len(places)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return places, starts[items][places] + within


def _remove_rows(
    reading: Reading, kinds: Kinds, column: int | None, rows: Ints, units: Ints, records: Ints, own_units: Ints
) -> _Seen:
    """Units by kind of person, each with the rows that are possible for the kind."""
    kept = ~reading.is_told_dummy[rows]
    rows, units = rows[kept], units[kept]
    n_units = 1 + int(max(units.max(initial=-1), own_units.max(initial=-1)))
    allowed = kinds.allow(reading.release.sensitive[rows])
    n_kinds = kinds.n_kinds
    wanted = np.zeros((n_kinds, n_units), dtype=bool)
    wanted[kinds.kind_of_record[records], own_units] = True
    kind_of_entry, places = [], []
    for kind in range(n_kinds):
        chosen = np.flatnonzero(allowed[kind] & wanted[kind][units])
        kind_of_entry.append(np.full(len(chosen), kind))
        places.append(chosen)
    taken = np.concatenate([np.zeros(0, dtype=np.int64), *places]).astype(np.int64)
    keys = units[taken] * n_kinds + np.concatenate([np.zeros(0, dtype=np.int64), *kind_of_entry]).astype(np.int64)
    names, unit_of_entry = np.unique(keys, return_inverse=True)
    exposure = counted_exposure(
        unit_of_entry.reshape(-1).astype(np.int64),
        None if column is None else reading.release.sensitive[rows[taken], column],
        len(names),
        adversary=READS_RELEASE,
        form=reading.release.form,
        column=None if column is None else reading.original.domains.sensitive[column],
        prior=reading.original.prior(column),
    )
    own = own_units * n_kinds + kinds.kind_of_record[records]
    found = np.searchsorted(names, own)
    # A unit without a possible row is one that the person cannot be in: it says nothing.
    known = (found < len(names)) & (names[np.minimum(found, max(len(names) - 1, 0))] == own) if len(names) else own < 0
    return exposure, (records[known], found[known])


def _expose_posteriors(reading: Reading, kinds: Kinds, column: int) -> _Seen | str:
    """By Bayes, among the values that are possible for each kind of person."""
    release = reading.release
    assert isinstance(release, Perturbed)
    if (problem := matrix_problem(release.randomizers[column])) is not None:
        return f"not run: the matrix is none, {problem}"
    weights = release.randomizers[column].weights.astype(object)
    units: list[NDArray[np.object_]] = []
    of_kind: list[list[int]] = [[] for _ in range(kinds.n_kinds)]
    for counts, published in list_stocks(reading, release, column):
        for kind in range(kinds.n_kinds):
            joint = weights[published] * np.where(kinds.possible[column][kind], counts, 0).astype(object)
            for unit in joint:
                if unit.any():
                    of_kind[kind].append(len(units))
                    units.append(unit)
    exposure = expose_units(reading, column, units, READS_RELEASE)
    pairs = [(record, unit) for record, kind in enumerate(kinds.kind_of_record.tolist()) for unit in of_kind[kind]]
    people = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return exposure, (people[:, 0], people[:, 1])


def _expose_assignments(reading: Reading, kinds: Kinds, column: int | None) -> _Seen | str:
    """Units by kind of person in a class, with the share of assignments that give the kind each value."""
    release = reading.release
    kept = ~reading.is_told_dummy
    if isinstance(release, Bucketized):
        unit_of_row = reading.buckets[1]
        kind_of_point = np.full(reading.n_points, -1, dtype=np.int64)
        kind_of_point[reading.point_of_record] = kinds.kind_of_record
        unit_of_member, kind_of_member = reading.buckets[0], kind_of_point[reading.point_of_row]
        unit_of_member, kind_of_member = unit_of_member[kind_of_member >= 0], kind_of_member[kind_of_member >= 0]
        pairs = np.unique(np.column_stack((reading.point_of_row, reading.buckets[0])), axis=0)
        starts = np.searchsorted(pairs[:, 0], np.arange(reading.n_points + 1))
        records, places = _spread(starts, reading.point_of_record)
        own_units = pairs[places, 1]
    else:
        classes = find_classes(reading)
        if classes is None:
            return _NOT_KNOWN
        unit_of_row = reading.unit_of_row
        records = np.flatnonzero(classes >= 0)
        own_units = unit_of_member = classes[records]
        kind_of_member = kinds.kind_of_record[records]
    allowed = kinds.allow(release.sensitive)
    codes = np.zeros(len(release.sensitive), dtype=np.int64)
    if column is not None:
        codes = release.sensitive[:, column].astype(np.int64)
    beliefs: list[dict[int, Fraction]] = []
    sizes: list[int] = []
    place_of: dict[tuple[int, int], int] = {}
    rows_of = _group_by(unit_of_row, np.flatnonzero(kept))
    members_of = _group_by(unit_of_member, np.arange(len(unit_of_member)))
    for unit, members in members_of.items():
        rows = rows_of.get(unit, [])
        present, numbers = np.unique(kind_of_member[members], return_counts=True)
        # Made-up rows that nobody tells apart stand for people of whom nothing is known.
        beyond = len(rows) - len(members)
        if beyond < 0:
            return "not decided: a class has more people than rows"
        patterns = allowed[present][:, rows]
        types, type_of_row = np.unique(patterns, axis=1, return_inverse=True)
        type_of_row = type_of_row.reshape(-1)
        counts = np.bincount(type_of_row, minlength=types.shape[1])
        people = (*numbers.tolist(), *([beyond] if beyond else []))
        able = tuple((*column_, *([True] if beyond else [])) for column_ in types.T.tolist())
        shares = share_rows(people, tuple(counts.tolist()), able)
        if shares is None:
            return _TOO_MANY
        for place, kind in enumerate(present.tolist()):
            found: dict[int, Fraction] = defaultdict(Fraction)
            chances = []
            for number, expected in enumerate(shares[place]):
                if expected:
                    chance = expected / (people[place] * int(counts[number]))
                    chances.append(chance)
                    for row in np.array(rows)[type_of_row == number].tolist():
                        found[int(codes[row])] += chance
            place_of[unit, kind] = len(beliefs)
            beliefs.append(dict(found))
            sizes.append(math.floor(1 / max(chances)))
    exposure = _expose_beliefs(reading, column, beliefs, sizes)
    own = np.array(
        [
            place_of[unit, kind]
            for unit, kind in zip(own_units.tolist(), kinds.kind_of_record[records].tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    return exposure, (records.astype(np.int64), own)


def _group_by(units: Ints, items: Ints) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for item in items.tolist():
        found.setdefault(int(units[item]), []).append(item)
    return found


def _expose_beliefs(
    reading: Reading, column: int | None, beliefs: list[dict[int, Fraction]], sizes: list[int]
) -> Exposure:
    """An exposure of probabilities as they are: whole numbers over a common size, rounded up where that is too large.

    About identity the size of a unit is the number of equally likely rows that the likeliest row comes to.
    """
    owners = np.repeat(np.arange(len(beliefs)), [len(one) for one in beliefs])
    flat = [belief for one in beliefs for _, belief in sorted(one.items())]
    values = [value for one in beliefs for value in sorted(one)]
    if column is None:
        owners, values = np.arange(len(beliefs)), [0] * len(beliefs)
        weights, whole = np.array(sizes, dtype=np.int64), np.array(sizes, dtype=np.int64)
    else:
        weights, whole = common_terms(flat, np.arange(len(flat)), owners, len(beliefs))
    return Exposure(
        adversary=READS_RELEASE,
        form=reading.release.form,
        column=None if column is None else reading.original.domains.sensitive[column],
        prior=reading.original.prior(column),
        starts=np.searchsorted(owners, np.arange(len(beliefs) + 1)).astype(np.int64),
        values=np.array(values, dtype=np.int32),
        weights=weights,
        sizes=whole,
    )


@lru_cache(maxsize=4096)
def share_rows(
    people: tuple[int, ...], rows: tuple[int, ...], able: tuple[tuple[bool, ...], ...]
) -> tuple[tuple[Fraction, ...], ...] | None:
    """[kinds, types] how many rows of a type people of a kind have on average, over all possible assignments.

    There are people[k] of kind k and rows[t] rows of type t, as many in all; able[t][k] says whether kind k may have
    them. Types are gone through one after the other, with all ways to deal their rows to people who have none yet; the
    types that everybody may have come last and take what is left. None where there are too many ways.
    """
    free = [number for number, may in enumerate(able) if all(may)]
    bound = [number for number, may in enumerate(able) if not all(may)]
    # Few ways first: states stay few.
    bound.sort(key=lambda number: (sum(able[number]), rows[number]))
    steps = 0
    forward: list[dict[tuple[int, ...], int]] = [{people: 1}]
    moves: list[list[tuple[tuple[int, ...], tuple[int, ...], int, tuple[int, ...]]]] = []
    for number in bound:
        reached: dict[tuple[int, ...], int] = defaultdict(int)
        listed = []
        for state, weight in forward[-1].items():
            for dealt in _deal(rows[number], state, able[number]):
                steps += 1
                if steps > _MOST_STEPS:
                    return None
                ways = math.prod(math.comb(left, taken) for left, taken in zip(state, dealt, strict=True))
                after = tuple(left - taken for left, taken in zip(state, dealt, strict=True))
                reached[after] += weight * ways
                listed.append((state, dealt, ways, after))
        forward.append(dict(reached))
        moves.append(listed)
    total = sum(forward[-1].values())
    if not total:
        return None
    backward = dict.fromkeys(forward[-1], 1)
    expected = [[Fraction(0)] * len(rows) for _ in people]
    for place in range(len(bound) - 1, -1, -1):
        before: dict[tuple[int, ...], int] = defaultdict(int)
        sums = [0] * len(people)
        for state, dealt, ways, after in moves[place]:
            rest = ways * backward.get(after, 0)
            before[state] += rest
            for kind, taken in enumerate(dealt):
                sums[kind] += forward[place][state] * rest * taken
        for kind, number in enumerate(sums):
            expected[kind][bound[place]] = Fraction(number, total)
        backward = dict(before)
    n_free = sum(rows[number] for number in free)
    for kind, number in enumerate(people):
        left = number - sum(expected[kind])
        for place in free:
            expected[kind][place] = left * Fraction(rows[place], n_free)
    return tuple(map(tuple, expected))


def _deal(n_rows: int, left: Sequence[int], may: Sequence[bool]) -> list[tuple[int, ...]]:
    """All ways to split rows among the kinds that may have them and have people left."""
    found: list[tuple[int, ...]] = []

    def go_on(place: int, rest: int, dealt: tuple[int, ...]) -> None:
        if place == len(left):
            if rest == 0:
                found.append(dealt)
            return
        for taken in range(min(rest, left[place]) + 1 if may[place] else 1):
            go_on(place + 1, rest - taken, (*dealt, taken))

    go_on(0, n_rows, ())
    return found
