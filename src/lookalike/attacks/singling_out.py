"""Singling out: predicates, written from the release alone, that exactly one person of the table satisfies.

A predicate isolates if one record satisfies it and no other (Cohen and Nissim, PNAS 2020). By chance alone one that a
share w of all people satisfies isolates among n records with probability n w (1 - w)^(n - 1), at most 0.37. So the same
predicates are also held against as many people who are not in the table: what isolates there as often is chance.

    row       the cells of a published class
    ends      these, and one number or ordered value is an end of its interval
    members   these, and one category is a member of its set
    value     these, and the sensitive value is one that the class shows once
    exact     the exact quasi-identifiers of a published row
    rare      the rarest published value of a column, or the rarest pair of two columns
    random    as many random conditions of the same columns, each as wide: for someone who ignores the release

Which kind works best is chosen on one half of its predicates and scored on the other, for the best of many looks better
than it is. The halves are of the predicates, not of the people: how many people a predicate isolates depends on how
many there are. For the same reason table and control group are cut to the same number of people, drawn at random.

Residuals of different kinds cannot be compared. k-anonymity promises that no row can be given to fewer than k people,
and nothing about predicates.

Cost: records times classes comparisons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.linkage import narrow_down
from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.consequence import NO_GAIN, Consequence, Result, explain_residual
from lookalike.attacks.shared.control import Seen
from lookalike.attacks.shared.persons import owners_of_records
from lookalike.attacks.shared.reader import is_plain, points_of_classes
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.containment import Cells, list_fitting
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import LEAST_GUESSES, Finding, Residual, Score, Target
from lookalike.data.microdata import Codes, Domain, Microdata, read_only
from lookalike.data.parameters import Choice, Whole
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Sets
from lookalike.data.schema import Kind
from lookalike.errors import counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_ROW, _ENDS, _MEMBERS, _VALUE, _EXACT, _RARE = _KINDS = ("row", "ends", "members", "value", "exact", "rare")
_BEST = "best"
_WHOLE = "isolated in the whole table"
_UNIQUE, _SMALLEST = "unique on their published quasi-identifiers", "smallest class"
_FIRST_BLOCK = 128
"""Rows that are looked at first."""
_PAIRS, _DRAWS = 20_000_000, 2_000_000
"""Pairs that are compared, and numbers that are drawn, at once."""
_NONE = -1


@dataclass(frozen=True, eq=False)
class _Boxes:
    """Conditions on all quasi-identifiers: boxes, each of which holds some values of every column."""

    cells: Cells
    n_boxes: int


@dataclass(frozen=True, eq=False)
class _Predicates:
    """A box for each, and one further condition: that a column has one value."""

    boxes: _Boxes
    box: Ints
    column: Ints
    """Of quasi-identifiers from 0 on, of sensitive columns after them; -1: no further condition."""
    code: Ints
    """-1: a value that nobody in the table and in the control group has."""

    def __len__(self) -> int:
        return len(self.box)

    def only(self, places: Ints) -> _Predicates:
        return replace(self, box=self.box[places], column=self.column[places], code=self.code[places])


@dataclass(frozen=True, eq=False)
class _Crowd:
    """People that predicates are tried on: their rows, and whose these are."""

    quasi: Codes
    sensitive: Codes
    owners: Ints

    @classmethod
    def of(cls, data: Microdata, quasi: Codes, sensitive: Codes, persons: Ints) -> _Crowd:
        """The rows of these persons."""
        owners = np.arange(data.n_rows) if data.persons is None else owners_of_records(data)
        rows = np.flatnonzero(np.isin(owners, persons))
        return cls(read_only(quasi[rows]), sensitive[rows], owners[rows])

    @classmethod
    def of_table(cls, seen: Seen) -> _Crowd:
        """Everybody in the table."""
        original = seen.target.original
        return cls.of(original, seen.wide.original.quasi, original.sensitive, np.arange(original.n_persons))

    def values(self, column: int) -> NDArray[np.int32]:
        n_quasi = self.quasi.shape[1]
        return self.quasi[:, column] if column < n_quasi else self.sensitive[:, column - n_quasi]


@dataclass(frozen=True)
class SinglingOut(WrittenAttack):
    """Writes predicates from the release, and counts those that exactly one person satisfies."""

    name: ClassVar[str] = "singling-out"
    looks_for_no_row: ClassVar[bool] = True
    most_records: ClassVar[int | None] = 100_000
    most_cells: ClassVar[int | None] = None
    kernels: ClassVar[Collection[str]] = ("containment.list_fitting",)
    remedy: ClassVar[str] = (
        "Round the ends of intervals (--ends COLUMN=STEP): on one grid for all groups they are nobody's values."
    )

    kind: Choice = Choice(_BEST, *_KINDS, default=_BEST)
    """Which predicates: of one kind, or of the kind that works best on half of them."""
    predicates: Whole = Whole(low=1, default=10_000)
    """Most predicates of a kind; of more, so many are drawn."""

    def refuses(self, target: Target) -> str | None:
        reason = super().refuses(target)
        if reason is None and self.kind not in (_BEST, *_kinds_of(target)):
            reason = f"a {target.release.form} release has no predicates of kind {self.kind}."
        return reason

    def explain(self, result: Result) -> Consequence:
        found = result.finding.residual
        if found is None:
            return Consequence(NO_GAIN, "No condition that could single someone out can be written from the release.")
        return explain_residual(
            result,
            f"of the conditions written from the release (kind {found.kind}) are met by exactly one {result.person}",
            f"No promise is about conditions that one {result.person} alone meets",
            self.remedy,
        )

    def refuses_persons(self, target: Target) -> str | None:
        return None

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        seen = Seen.of(target)
        targets, others = _draw_crowds(seen, rng.child("people"))
        chosen_kinds = _kinds_of(target) if self.kind == _BEST else [self.kind]
        made, predicates = {}, {}
        for place, kind in enumerate(chosen_kinds):
            progress("predicates", place / len(chosen_kinds))
            written = _write(seen.wide, kind)
            if len(written) > self.predicates:
                drawn = rng.child(kind, "drawn").permutation(len(written))[: self.predicates]
                written = written.only(np.sort(drawn))
            if len(written):
                predicates[kind] = written
                made[kind] = _Tried.of(written, targets, others, seen.wide, rng.child(kind))
        facts = _count_facts(target)
        noun = target.original.schema.unit_name
        counted_once = (
            "" if target.original.persons is None else f" A predicate isolates a {noun} whose rows alone satisfy it."
        )
        whose = "rows are alone with" if target.synthetic else "people fit one published row alone by"
        said = (
            f"{100 * facts[_UNIQUE]:.0f} % of {whose} their quasi-identifiers, and the smallest class has "
            f"{counted(round(facts[_SMALLEST]), 'row')}.{counted_once}"
        )
        if not made:
            return [
                Finding(attack=str(self), column=None, sentence=f"No predicate could be written. {said}", figures=facts)
            ]
        kind, residual = _choose(made, rng.child("halves"))
        for name, tried in made.items():
            if len(tried.isolates) >= LEAST_GUESSES:
                facts |= {
                    f"isolated by {name}": float(tried.isolates.mean()),
                    f"predicates {name}": float(len(tried.isolates)),
                }
                if tried.control is not None:
                    facts[f"isolated by {name}, control group"] = float(tried.control.mean())
        n_people = _count_people(targets)
        if n_people < target.original.n_persons and len(predicates[kind]) >= LEAST_GUESSES:
            whole = _Crowd.of_table(seen)
            facts[_WHOLE] = share = float(_isolate(predicates[kind], whole).mean())
            said = (
                f"These are guesses about {n_people:,} people of each, drawn at random; in the whole table "
                f"{100 * share:.0f} % of the predicates are right. {said}"
            )
        sentence = (
            f"Predicates of kind {kind} are written from the release; one is right if just one person satisfies it. "
            f"{residual.sentence()} {said}"
        )
        return [
            Finding(
                attack=str(self),
                column=None,
                sentence=sentence,
                score=Score(int(residual.right), residual.n),
                baselines={"random conditions": residual.baseline or 0.0},
                residual=residual,
                figures=facts,
            )
        ]


@dataclass(frozen=True, eq=False)
class _Tried:
    """Which predicates of a kind isolate someone."""

    isolates: NDArray[np.bool_]
    control: NDArray[np.bool_] | None
    random: NDArray[np.bool_]
    """Random conditions beside each, held against the table."""

    @classmethod
    def of(
        cls, written: _Predicates, targets: _Crowd, others: _Crowd | None, target: Target, rng: Randomness
    ) -> _Tried:
        blind = _draw_blindly(written, target, rng)
        return cls(
            _isolate(written, targets),
            None if others is None else _isolate(written, others),
            _isolate(blind, targets),
        )

    def score(self, kind: str, places: Ints | None = None) -> Residual:
        used = np.arange(len(self.isolates)) if places is None else places
        return Residual(
            n=len(used),
            right=int(self.isolates[used].sum()),
            control_n=None if self.control is None else len(used),
            control_right=None if self.control is None else int(self.control[used].sum()),
            baseline=float(self.random[used].mean()) if len(used) else None,
            kind=kind,
        )


def _choose(made: Mapping[str, _Tried], rng: Randomness) -> tuple[str, Residual]:
    """The kind that works best on one half of its predicates, scored on the other."""
    many = [name for name, tried in made.items() if len(tried.isolates) >= 2 * LEAST_GUESSES]
    if len(made) == 1 or not many:
        # Too few to choose by what they achieve: the kind with most predicates, whatever they achieve.
        kind = max(made, key=lambda name: len(made[name].isolates))
        return kind, made[kind].score(kind)
    if len(many) == 1:
        return many[0], made[many[0]].score(many[0])
    ranks, rest = {}, {}
    for name in many:
        order = rng.child(name).permutation(len(made[name].isolates))
        middle = len(order) // 2
        first, rest[name] = made[name].score(name, order[:middle]), order[middle:]
        ranks[name] = first.share - (first.baseline or 0.0) if first.uncut is None else first.uncut
    kind = max(ranks, key=lambda name: ranks[name])
    return kind, made[kind].score(kind, rest[kind])


def _count_people(crowd: _Crowd) -> int:
    return len(np.unique(crowd.owners))


def _draw_crowds(seen: Seen, rng: Randomness) -> tuple[_Crowd, _Crowd | None]:
    """All rows of as many persons of the table as of the control group."""
    original, wide, control = seen.target.original, seen.wide.original, seen.target.control
    if control is None or seen.others is None:
        return _Crowd.of_table(seen), None
    n_people = min(original.n_persons, control.n_persons)
    drawn = [
        rng.child(name).permutation(data.n_persons)[:n_people]
        for name, data in (("targets", original), ("control", control))
    ]
    return (
        _Crowd.of(original, wide.quasi, original.sensitive, drawn[0]),
        _Crowd.of(control, control.quasi, seen.others.data.sensitive, drawn[1]),
    )


def _kinds_of(target: Target) -> list[str]:
    release = target.release
    if isinstance(release, Grouped | Matched) and not is_plain(release):
        kinds = [_ROW, _ENDS, _MEMBERS, _VALUE, _RARE]
    elif isinstance(release, Bucketized):
        kinds = [_EXACT, _VALUE, _RARE]
    else:
        kinds = [_EXACT, _RARE]
    return kinds if target.original.domains.sensitive else [kind for kind in kinds if kind != _VALUE]


def _write(target: Target, kind: str) -> _Predicates:
    """The predicates of a kind, from the release alone."""
    release = target.release
    writers: dict[str, Callable[[Target], _Predicates]] = {
        _ROW: _write_rows,
        _ENDS: _write_ends,
        _MEMBERS: _write_members,
        _VALUE: _write_values_of_buckets if isinstance(release, Bucketized) else _write_values,
        _EXACT: _write_exact,
        _RARE: _write_rare,
    }
    return writers[kind](target)


def _boxes_of(target: Target) -> tuple[_Boxes, Ints]:
    """The classes of a generalised release, and the class of each row."""
    boxes = Whereabouts.of(target).reading.boxes
    return _Boxes(boxes.cells, boxes.n_classes), boxes.class_of_row


def _units_of_classes(release: Grouped | Matched, class_of_row: Ints, n_classes: int) -> Ints:
    units = np.zeros(n_classes, dtype=np.int64)
    units[class_of_row] = release.unit_of_row
    return units


def _write_rows(target: Target) -> _Predicates:
    boxes, _ = _boxes_of(target)
    every = np.arange(boxes.n_boxes)
    return _Predicates(boxes, every, np.full(boxes.n_boxes, _NONE), np.full(boxes.n_boxes, _NONE))


def _write_ends(target: Target) -> _Predicates:
    release = target.release
    assert isinstance(release, Grouped | Matched)
    boxes, class_of_row = _boxes_of(target)
    units = _units_of_classes(release, class_of_row, boxes.n_boxes)
    found = []
    for column, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True)):
        if isinstance(extents, Sets) or domain.taxonomy is not None:
            continue
        low, high = extents.low_points[units], extents.high_points[units]
        classes = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (low < high))
        for ends in (low, high):
            found.append((classes, column, _code_at(domain, ends[classes])))
    return _join(boxes, found)


def _code_at(domain: Domain, points: NDArray[np.float64]) -> Ints:
    """The code of the value at each point; -1 where nobody has it."""
    known = domain.points if domain.kind is Kind.NUMERIC else np.arange(len(domain.values), dtype=np.float64)
    places = np.minimum(np.searchsorted(known, points), len(known) - 1)
    return np.where(known[places] == points, places, _NONE).astype(np.int64)


def _write_members(target: Target) -> _Predicates:
    release = target.release
    assert isinstance(release, Grouped | Matched)
    boxes, class_of_row = _boxes_of(target)
    units = _units_of_classes(release, class_of_row, boxes.n_boxes)
    found = []
    for column, (domain, extents) in enumerate(zip(release.domains.quasi, release.extents, strict=True)):
        if isinstance(extents, Ranges):
            if domain.taxonomy is None:
                continue
            firsts = extents.lows[units].astype(np.int64)
            sizes = np.maximum(extents.highs[units].astype(np.int64) - firsts + 1, 0)
            members = np.arange(domain.n_codes)
        else:
            firsts, sizes, members = extents.starts[units], extents.sizes[units], extents.members.astype(np.int64)
        sizes = np.where(sizes > 1, sizes, 0)
        classes = np.repeat(np.arange(boxes.n_boxes), sizes)
        places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes - firsts, sizes)
        found.append((classes, column, members[places]))
    return _join(boxes, found)


def _write_values(target: Target) -> _Predicates:
    release = target.release
    boxes, class_of_row = _boxes_of(target)
    told = ~Whereabouts.of(target).reading.is_told_dummy
    n_quasi = len(release.domains.quasi)
    found = []
    for column in range(len(release.domains.sensitive)):
        values = release.sensitive[told, column].astype(np.int64)
        width = release.domains.sensitive[column].n_codes
        keys, times = np.unique(class_of_row[told] * width + values, return_counts=True)
        once = keys[times == 1]
        found.append((once // width, n_quasi + column, once % width))
    return _join(boxes, found)


def _write_values_of_buckets(target: Target) -> _Predicates:
    """Of a bucket a reader writes one predicate for each value that it shows once: in the bucket, with that value."""
    release, where = target.release, Whereabouts.of(target)
    assert isinstance(release, Bucketized)
    of_sensitive, of_quasi = where.buckets
    told = ~where.reading.is_told_dummy
    n_quasi = len(release.domains.quasi)
    found = []
    for column in range(len(release.domains.sensitive)):
        values, width = release.sensitive[told, column].astype(np.int64), release.domains.sensitive[column].n_codes
        keys, times = np.unique(of_sensitive[told] * width + values, return_counts=True)
        once = keys[times == 1]
        found.append((once // width, n_quasi + column, once % width))
    # A box here is a bucket: all points that it lists.
    boxes = _Buckets(*_cells_of_points(release.quasi, release.domains.quasi), of_quasi, where.n_units)
    return _join(boxes, found)


@dataclass(frozen=True, eq=False)
class _Buckets(_Boxes):
    """Boxes that are unions of points: those of the rows of a bucket."""

    bucket_of_row: Ints
    n_buckets: int


def _cells_of_points(quasi: Codes, domains: Sequence[Domain]) -> tuple[Cells, int]:
    """A box for each row that holds its values and no others."""
    n_rows = len(quasi)
    missing_codes = np.array([domain.missing_code for domain in domains], dtype=np.int32)
    nothing = np.zeros(quasi.shape, dtype=np.int64)
    codes = np.ascontiguousarray(quasi, dtype=np.int32)
    return (
        Cells(
            codes,
            codes,
            np.zeros(quasi.shape, dtype=bool),
            missing_codes,
            nothing,
            nothing,
            np.zeros(0, dtype=np.int32),
        ),
        n_rows,
    )


def _write_exact(target: Target) -> _Predicates:
    """The exact quasi-identifiers of each published row."""
    release = target.release
    if isinstance(release, Bucketized | Perturbed):
        quasi = release.quasi
        ids = joint_ids(tuple(quasi.T), len(quasi))
        points = quasi[np.unique(ids, return_index=True)[1]]
    else:
        boxes, ids = _boxes_of(target)
        points = points_of_classes(release, ids, boxes.n_boxes)
    none = np.full(len(ids), _NONE)
    return _Predicates(_Boxes(*_cells_of_points(points, release.domains.quasi)), ids, none, none)


def _write_rare(target: Target) -> _Predicates:
    """Conditions on one column or two, by the values and cells that fewest rows show."""
    release, where = target.release, Whereabouts.of(target)
    told = ~where.reading.is_told_dummy
    n_quasi, n_sensitive = len(release.domains.quasi), len(release.domains.sensitive)
    if isinstance(release, Grouped | Matched):
        cells, class_of_row = where.reading.boxes.cells, where.reading.boxes.class_of_row
        ids = [_ids_of_cells(cells, column) for column in range(n_quasi)]
    else:
        (cells, _), class_of_row = _cells_of_points(release.quasi, release.domains.quasi), np.arange(len(release.quasi))
        ids = [release.quasi[:, column].astype(np.int64) for column in range(n_quasi)]
    shown = [one[class_of_row] for one in ids]
    # The rows of a bucketized release are apart from its values: only one side at a time can be read together.
    both_sides = not isinstance(release, Bucketized)
    rows = np.flatnonzero(told) if both_sides else np.arange(len(class_of_row))
    picked: list[tuple[tuple[int, ...], Ints, Ints]] = []
    for one in range(n_quasi):
        picked.append(((one,), *_rarest(shown[one][rows], rows)))
        for other in range(one + 1, n_quasi):
            pairs = joint_ids((shown[one][rows], shown[other][rows]), len(rows))
            picked.append(((one, other), *_rarest(pairs, rows)))
    values: list[tuple[tuple[int, ...], int, Ints, Ints]] = []
    for column in range(n_sensitive):
        codes = release.sensitive[:, column].astype(np.int64)
        places, sample = _rarest(codes[told], np.flatnonzero(told))
        values.append(((), column, sample, codes[sample]))
        for one in range(n_quasi) if both_sides else ():
            pairs = joint_ids((shown[one][rows], codes[rows]), len(rows))
            _, sample = _rarest(pairs, rows)
            values.append(((one,), column, sample, codes[sample]))
    return _open_boxes(cells, class_of_row, n_quasi, picked, values, both_sides)


def _rarest(ids: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The values that fewest rows show, and a row of each."""
    kinds, firsts, times = np.unique(ids, return_index=True, return_counts=True)
    if len(kinds) < 2:
        # What all rows show is rare nowhere.
        return kinds[:0], rows[:0]
    fewest = times == times.min()
    return kinds[fewest], rows[firsts[fewest]]


def _ids_of_cells(cells: Cells, column: int) -> Ints:
    """Equal numbers for classes with the same cell in a column."""
    sizes = cells.ends[:, column] - cells.starts[:, column]
    hashes = np.zeros(len(sizes), dtype=np.int64)
    if sizes.any():
        number: dict[bytes, int] = {}
        for place in np.flatnonzero(sizes):
            held = cells.members[cells.starts[place, column] : cells.ends[place, column]].tobytes()
            hashes[place] = 1 + number.setdefault(held, len(number))
    return joint_ids((cells.lows[:, column], cells.highs[:, column], cells.missing[:, column], hashes), len(sizes))


def _open_boxes(
    cells: Cells,
    class_of_row: Ints,
    n_quasi: int,
    picked: Sequence[tuple[tuple[int, ...], Ints, Ints]],
    values: Sequence[tuple[tuple[int, ...], int, Ints, Ints]],
    both_sides: bool,
) -> _Predicates:
    """Boxes that hold anything in all columns but those named, and the value that is asked for besides."""
    columns_of, rows, column, code = [], [], [], []
    for columns, _, sample in picked:
        columns_of += [columns] * len(sample)
        rows.append(sample)
        column.append(np.full(len(sample), _NONE))
        code.append(np.full(len(sample), _NONE))
    for columns, sensitive, sample, codes in values:
        columns_of += [columns] * len(sample)
        rows.append(sample if both_sides else np.zeros(len(sample), dtype=np.int64))
        column.append(np.full(len(sample), n_quasi + sensitive))
        code.append(codes)
    every_row = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    named = np.zeros((len(every_row), n_quasi), dtype=bool)
    for place, columns in enumerate(columns_of):
        named[place, list(columns)] = True
    classes = class_of_row[every_row]
    none = np.zeros((len(classes), n_quasi), dtype=np.int64)
    opened = Cells(
        lows=np.where(named, cells.lows[classes], 0).astype(np.int32),
        highs=np.where(named, cells.highs[classes], np.iinfo(np.int32).max).astype(np.int32),
        missing=np.where(named, cells.missing[classes], True),
        missing_codes=cells.missing_codes,
        starts=np.where(named, cells.starts[classes], none),
        ends=np.where(named, cells.ends[classes], none),
        members=cells.members,
    )
    return _Predicates(
        _Boxes(opened, len(classes)),
        np.arange(len(classes)),
        np.concatenate([np.zeros(0, dtype=np.int64), *column]),
        np.concatenate([np.zeros(0, dtype=np.int64), *code]),
    )


def _join(boxes: _Boxes, found: Sequence[tuple[Ints, int, Ints]]) -> _Predicates:
    nothing = np.zeros(0, dtype=np.int64)
    return _Predicates(
        boxes,
        np.concatenate([nothing, *(classes for classes, _, _ in found)]),
        np.concatenate([nothing, *(np.full(len(classes), column) for classes, column, _ in found)]),
        np.concatenate([nothing, *(codes for _, _, codes in found)]),
    )


def _isolate(written: _Predicates, crowd: _Crowd) -> NDArray[np.bool_]:
    """Which predicates exactly one person satisfies."""
    first, several = np.full(len(written), _NONE, dtype=np.int64), np.zeros(len(written), dtype=bool)
    by_column = [
        (column, *_index(written, np.flatnonzero(written.column == column), crowd, column))
        for column in np.unique(written.column).tolist()
    ]
    boxes, start, size = written.boxes, 0, _FIRST_BLOCK
    while start < len(crowd.quasi):
        # What several people satisfy already is not looked at again, and most wide conditions are told by few rows.
        is_open = np.zeros(boxes.n_buckets if isinstance(boxes, _Buckets) else boxes.n_boxes, dtype=bool)
        is_open[written.box[~several]] = True
        classes = np.flatnonzero(is_open[boxes.bucket_of_row] if isinstance(boxes, _Buckets) else is_open)
        if not len(classes):
            break
        block = crowd.quasi[start : start + max(min(size, _PAIRS // len(classes)), 1)]
        starts, items = list_fitting(
            boxes.cells,
            classes,
            np.array([0, len(classes)]),
            block,
            np.array([0, len(block)]),
            len(block) * len(classes),
        )
        rows, held = start + np.repeat(np.arange(len(block)), np.diff(starts)), classes[items]
        if isinstance(boxes, _Buckets):
            pairs = np.unique(boxes.bucket_of_row[held] * len(crowd.quasi) + rows)
            held, rows = pairs // len(crowd.quasi), pairs % len(crowd.quasi)
        for column, keys, places, width in by_column:
            codes = np.zeros(len(rows), dtype=np.int64)
            if column != _NONE:
                codes = crowd.values(column)[rows].astype(np.int64)
            _note(keys, places, held * width + codes, crowd.owners[rows], first, several)
        start, size = start + len(block), 4 * size
    return np.asarray((first != _NONE) & ~several)


def _index(written: _Predicates, places: Ints, crowd: _Crowd, column: int) -> tuple[Ints, Ints, int]:
    """Keys (box and value) of the predicates on a column, sorted, and which predicates these are."""
    width = (
        1 if column == _NONE else 2 + int(max(crowd.values(column).max(initial=0), written.code[places].max(initial=0)))
    )
    codes = np.zeros(len(places), dtype=np.int64) if column == _NONE else written.code[places]
    known = codes >= 0
    keys = (written.box[places] * width + codes)[known]
    order = np.argsort(keys, kind="stable")
    return keys[order], places[known][order], width


def _note(keys: Ints, places: Ints, found: Ints, owners: Ints, first: Ints, several: NDArray[np.bool_]) -> None:
    """Note the person that satisfies each predicate, and whether there are others."""
    starts, ends = np.searchsorted(keys, found, side="left"), np.searchsorted(keys, found, side="right")
    sizes = ends - starts
    total = int(sizes.sum())
    if not total:
        return
    met = places[np.arange(total) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)]
    who = np.repeat(owners, sizes)
    width = int(who.max()) + 1
    pairs = np.unique(met * width + who)
    predicates, firsts, times = np.unique(pairs // width, return_index=True, return_counts=True)
    people = pairs[firsts] % width
    several[predicates] |= (times > 1) | ((first[predicates] != _NONE) & (first[predicates] != people))
    first[predicates] = people


def _draw_blindly(written: _Predicates, target: Target, rng: Randomness) -> _Predicates:
    """As many random conditions of the same columns, each as wide as the one it stands for."""
    domains = target.release.domains
    boxes = written.boxes
    if isinstance(boxes, _Buckets):
        rows, box = _rows_of_buckets(boxes, written.box)
    else:
        rows = box = written.box
    cells = boxes.cells
    lows, highs = cells.lows[rows].astype(np.int64), cells.highs[rows].astype(np.int64)
    missing, starts, ends = cells.missing[rows].copy(), cells.starts[rows].copy(), cells.ends[rows].copy()
    members = [np.zeros(0, dtype=np.int64)]
    offset = 0
    for column, domain in enumerate(domains.quasi):
        n_codes, draws = max(domain.n_codes, 1), rng.child("cells", column)
        sizes = np.where(ends[:, column] > starts[:, column], ends[:, column] - starts[:, column], 0)
        listed = np.flatnonzero(sizes)
        anything = (lows[:, column] == 0) & (highs[:, column] >= n_codes - 1)
        run = np.flatnonzero((sizes == 0) & ~anything & (highs[:, column] >= lows[:, column]))
        lengths = highs[run, column] - lows[run, column] + 1
        begin = (draws.uniforms(len(run)) * np.maximum(n_codes - lengths + 1, 1)).astype(np.int64)
        lows[run, column], highs[run, column] = begin, begin + lengths - 1
        step = max(_DRAWS // n_codes, 1)
        for first in range(0, len(listed), step):
            block = listed[first : first + step]
            keys = draws.child("sets", first).uniforms(len(block) * n_codes).reshape(len(block), n_codes)
            ranks = np.argsort(np.argsort(keys, axis=1), axis=1)
            owner, drawn = np.nonzero(ranks < sizes[block, None])
            ending = np.cumsum(sizes[block])
            starts[block, column], ends[block, column] = offset + ending - sizes[block], offset + ending
            lows[block, column] = drawn[ending - sizes[block]]
            highs[block, column] = drawn[ending - 1]
            members.append(drawn)
            offset += len(owner)
    drawn_cells = Cells(
        np.ascontiguousarray(lows, dtype=np.int32),
        np.ascontiguousarray(np.minimum(highs, np.iinfo(np.int32).max), dtype=np.int32),
        np.ascontiguousarray(missing),
        cells.missing_codes,
        np.ascontiguousarray(starts),
        np.ascontiguousarray(ends),
        np.concatenate(members).astype(np.int32),
    )
    code = written.code.copy()
    for column in np.unique(written.column[written.column >= 0]).tolist():
        domain = (*domains.quasi, *domains.sensitive)[column]
        mine = np.flatnonzero(written.column == column)
        code[mine] = rng.child("values", column).integers(max(domain.n_codes, 1), len(mine))
    if isinstance(boxes, _Buckets):
        drawn_boxes: _Boxes = _Buckets(drawn_cells, len(rows), box, len(written))
    else:
        drawn_boxes = _Boxes(drawn_cells, len(rows))
    return _Predicates(drawn_boxes, np.arange(len(written)), written.column, code)


def _rows_of_buckets(boxes: _Buckets, buckets: Ints) -> tuple[Ints, Ints]:
    """The rows of each bucket named, one after the other, and the place of the bucket in the list."""
    order = np.argsort(boxes.bucket_of_row, kind="stable")
    ranked = boxes.bucket_of_row[order]
    starts, ends = np.searchsorted(ranked, buckets, side="left"), np.searchsorted(ranked, buckets, side="right")
    sizes = ends - starts
    places = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes - starts, sizes)
    return order[places], np.repeat(np.arange(len(buckets)), sizes)


def _count_facts(target: Target) -> dict[str, float]:
    """Two facts that need no attacker: rows that a person's quasi-identifiers leave alone, and the least of them."""
    narrowed = narrow_down(target)
    n_records = max(int(narrowed.persons.sum()), 1)
    return {
        _UNIQUE: float(narrowed.persons[narrowed.units == 1].sum() / n_records),
        _SMALLEST: float(narrowed.units.min()) if len(narrowed.units) else 0.0,
    }
