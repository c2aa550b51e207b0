"""What carried columns reveal: the release as someone sees it who knows one of them, or all.

Each case is the audit's own reading of the release for that attacker (`knowing`), counted exactly and without chance:

    broken      persons in classes that break a promise once the columns are known
    least       persons (rows) in the smallest class; highest: the highest certainty in any value that a class leaves
    alone       persons who are by themselves in their class; certain: persons whose class has one sensitive value
    candidates  the same by the rows that a reader finds, who does not know the class: all rows whose cells the person
                fits, of all classes, and that have the person's carried value. Matched: those of the private graph

A class is what promises are judged by, so `alone` and `certain` by classes are never fewer than by candidates. By
classes they follow from the published rows (grouped and bucketized releases without persons or made-up rows); by
candidates they need the quasi-identifiers of all records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.containment import list_fitting
from lookalike.audit.exposures import expose_blocks, expose_reading, part
from lookalike.audit.knowing import learn_carried, learn_graph
from lookalike.audit.persons import expose_persons, find_classes
from lookalike.audit.perturbation import matrix_problem
from lookalike.audit.reading import FITS_LIMIT, Ints, Reading, joint_ids_of_two
from lookalike.audit.verify import Examined, expose_promise
from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.release import Grouped, Matched, MatchGraph, Perturbed

_LOOKS = 20_000
"""How many parts of an exposure are looked at to count who is in units that break a promise."""
_COMPARISONS = 1_000_000_000
"""Pairs of a kind of record and a class that are compared to find all rows per person fits; more are not."""


@dataclass(frozen=True, kw_only=True)
class CarriedRisk:
    """What someone achieves who knows these carried columns of a person besides the quasi-identifiers."""

    columns: tuple[str, ...]
    """Empty: nobody knows a carried column."""
    n_persons: int
    """Persons with a published row (rows, where every row is a person)."""
    broken: Mapping[str, int | None] = field(default_factory=dict)
    """By promise that no longer holds: in how many persons' classes; None: not decided."""
    n_broken: int | None = 0
    """Persons in classes that break some promise; None: not decided."""
    least: int | None = None
    """Persons in the smallest class; None: not known."""
    n_alone: int | None = None
    """Persons who are by themselves in their class."""
    n_certain: Mapping[str, int] = field(default_factory=dict)
    """By sensitive column: persons whose class has one value."""
    highest: Mapping[str, Fraction] = field(default_factory=dict)
    """By sensitive column: the highest certainty in any value."""
    n_single_candidate: int | None = None
    """Persons of whom a reader finds exactly one candidate row; None: not counted."""
    n_certain_candidates: Mapping[str, int] = field(default_factory=dict)
    """By sensitive column: persons all of whose candidate rows have their own value."""

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "columns": list(self.columns),
            "persons": self.n_persons,
            "promise_broken_for": self.n_broken,
            "broken": dict(self.broken),
            "smallest_class": self.least,
            "alone_in_class": self.n_alone,
            "certain_in_class": dict(self.n_certain),
            "highest_certainty": {name: float(belief) for name, belief in self.highest.items()},
            "one_candidate": self.n_single_candidate,
            "certain_of_candidates": dict(self.n_certain_candidates),
        }

    def public(self, *, by_classes: bool) -> CarriedRisk | None:
        """What follows from the published rows alone; None: nothing does."""
        if not by_classes:
            return None
        return replace(self, broken={}, n_broken=None, n_single_candidate=None, n_certain_candidates={})


def _choose_cases(carried: Sequence[Domain]) -> list[tuple[str, ...]]:
    """Which columns an attacker may know: none, each alone, all together, and all but those stated to be unknown."""
    names = tuple(domain.name for domain in carried)
    open_names = tuple(domain.name for domain in carried if not domain.attribute.carry_anyway)
    together = [listed for listed in (names, open_names) if len(listed) > 1]
    return list(dict.fromkeys([(), *((name,) for name in names), *together])) if names else []


def measure_carried(examined: Examined, *, candidates: bool = True) -> tuple[CarriedRisk, ...]:
    """What each attacker achieves, beginning with the one who knows no carried column; empty if none is carried.

    `candidates`: whether the rows that a reader finds are counted, too, for which all records are compared with the
    cells. In one part of a table they are not known.
    """
    reading = examined.reading
    names = [domain.name for domain in reading.original.domains.carried]
    if not examined.sound:
        return ()
    found = []
    for case in _choose_cases(reading.original.domains.carried):
        places = [names.index(name) for name in case]
        learned = learn_carried(reading, places)
        graph = examined.graph
        if graph is not None and places:
            graph = learn_graph(graph, reading, places)
        promises = [promise for promise, _ in examined.promised]
        wants = candidates and bool(places) and reading.original.whole is None
        found.append(_measure(case, places, learned, graph, promises, examined.audit.adversary, candidates=wants))
    return tuple(found)


def _measure(
    case: tuple[str, ...],
    places: Sequence[int],
    reading: Reading,
    graph: MatchGraph | None,
    promises: Sequence[Promise],
    adversary: str,
    *,
    candidates: bool,
) -> CarriedRisk:
    identity = _expose(reading, None, graph, adversary)
    domains = reading.original.domains.sensitive
    columns = {domain.name: _expose(reading, index, graph, adversary) for index, domain in enumerate(domains)}
    known = {name: seen for name, seen in columns.items() if seen is not None and seen.n_units}
    risk = CarriedRisk(
        columns=tuple(case),
        n_persons=_count_persons(reading),
        **({} if identity is None else _count_alone(reading, identity)),
        n_certain={name: _count_certain(reading, seen) for name, seen in known.items() if seen.counts_rows},
        highest={name: _find_highest(seen) for name, seen in known.items()},
    )
    if places and not isinstance(reading.release, Perturbed):
        # Anyone who finds a row of a perturbed release reads what it carries: its promises count that already.
        risk = replace(risk, **_count_broken(reading, promises, graph, adversary, risk.n_persons))
    if not candidates:
        return risk
    if isinstance(reading.release, Grouped | Matched):
        counted = _count_candidates(reading, places, graph)
        return (
            risk if counted is None else replace(risk, n_single_candidate=counted[0], n_certain_candidates=counted[1])
        )
    # Anyone who reads a bucket, or finds a row by exact quasi-identifiers, knows the class.
    return replace(risk, n_single_candidate=risk.n_alone, n_certain_candidates=risk.n_certain)


def _expose(reading: Reading, column: int | None, graph: MatchGraph | None, adversary: str) -> Exposure | None:
    """What is left of a person (None: of the person's identity); None where the audit cannot tell."""
    release = reading.release
    if reading.original.persons is not None:
        seen = expose_persons(reading, column, adversary, mixed=False)
        return seen if isinstance(seen, Exposure) else None
    if isinstance(release, Matched) and graph is None:
        return None if reading.blocks is None else expose_blocks(reading, reading.blocks, column, adversary)
    if isinstance(release, Perturbed) and column is not None and matrix_problem(release.randomizers[column]):
        return None
    return expose_reading(reading, column, graph, adversary)


def _count_persons(reading: Reading) -> int:
    """Persons with a published row; rows that anybody sets aside as made up are none."""
    original, release = reading.original, reading.release
    if original.persons is None:
        return int(np.count_nonzero(~reading.is_told_dummy))
    if reading.record_of_row is None:
        return original.n_persons
    listed = reading.record_of_row[reading.record_of_row >= 0]
    return len(np.unique(original.persons[listed])) if len(listed) else len(release.sensitive)


def _people(exposure: Exposure) -> Ints:
    """How many persons each class holds; those of matched releases are one record each."""
    own = exposure.sizes[: exposure.n_classes]
    return np.ones(len(own), dtype=np.int64) if exposure.form == Matched.form else own.astype(np.int64)


def _count_in(reading: Reading, people: Ints, which: NDArray[np.bool_]) -> int:
    """Persons in these classes, each once; `people`: how many there are in each class."""
    persons, release = reading.original.persons, reading.release
    is_linked = isinstance(release, Grouped) and release.linked is not None
    if persons is None or is_linked:
        return int(people[which].sum())
    # A person may have rows in several classes.
    classes = find_classes(reading)
    assert classes is not None, "Classes were counted, so it is known who is in them."
    kept = classes >= 0
    units = np.unique(classes[kept], return_inverse=True)[1].reshape(-1)
    return len(np.unique(persons[kept][which[units]]))


def _count_alone(reading: Reading, exposure: Exposure) -> dict[str, Any]:
    own = exposure.sizes[: exposure.n_classes]
    if not len(own) or exposure.possible_sizes is not None:
        return {}
    return {"least": int(own.min()), "n_alone": _count_in(reading, _people(exposure), own == 1)}


def _count_certain(reading: Reading, exposure: Exposure) -> int:
    """Persons in classes all of whose persons have one value."""
    people = _people(exposure)
    sure = exposure.weights == exposure.sizes[exposure.unit_of_entry]
    units = np.unique(exposure.unit_of_entry[sure])
    which = np.zeros(len(people), dtype=bool)
    which[units[units < len(people)]] = True
    return _count_in(reading, people, which)


def _find_highest(exposure: Exposure) -> Fraction:
    sizes = exposure.sizes[exposure.unit_of_entry]
    quotients = np.asarray(exposure.weights / sizes, dtype=np.float64)
    near = np.flatnonzero(quotients >= quotients.max(initial=0) * (1 - 1e-12))
    return max((exposure.belief(entry) for entry in near.tolist()), default=Fraction(0))


def _count_broken(
    reading: Reading, promises: Sequence[Promise], graph: MatchGraph | None, adversary: str, n_persons: int
) -> dict[str, Any]:
    """Promises that no longer hold, and in how many persons' classes."""
    broken: dict[str, int | None] = {}
    of_units: list[tuple[NDArray[np.bool_], Ints]] = []
    for promise in promises:
        seen = expose_promise(reading, promise, graph, adversary)
        if not isinstance(seen, Exposure):
            broken[str(promise)] = None
            continue
        if promise.model.holds(promise.model.level(seen)):
            continue
        failing, people = find_failing(promise.model, seen), _people(seen)
        broken[str(promise)] = _count_in(reading, people, failing)
        of_units.append((failing, people))
    if any(number is None for number in broken.values()):
        return {"broken": broken, "n_broken": None}
    if of_units and all(np.array_equal(people, of_units[0][1]) for _, people in of_units):
        # Units of one release are the same classes in the same order, whatever is looked at in them.
        total = _count_in(reading, of_units[0][1], np.logical_or.reduce([failing for failing, _ in of_units]))
    else:
        total = max((number or 0 for number in broken.values()), default=0)
    return {"broken": broken, "n_broken": min(total, n_persons)}


def find_failing(model: PrivacyModel, exposure: Exposure) -> NDArray[np.bool_]:
    """[classes] which of them break the promise by themselves. Units with equal probabilities are looked at once."""
    n_classes = exposure.n_units if exposure.n_classes is None else exposure.n_classes
    kinds: dict[tuple[bytes, bytes, int, int], int] = {}
    kind_of_unit = np.empty(exposure.n_units, dtype=np.int64)
    for unit in range(exposure.n_units):
        values, weights, size = exposure.unit(unit)
        concealed = -1 if exposure.concealed is None else int(exposure.concealed[unit])
        key = values.tobytes(), np.asarray(weights, dtype=np.int64).tobytes(), size, concealed
        kind_of_unit[unit] = kinds.setdefault(key, len(kinds))
    samples = np.empty(len(kinds), dtype=np.int64)
    samples[kind_of_unit[::-1]] = np.arange(exposure.n_units)[::-1]
    fails = np.zeros(len(kinds), dtype=bool)
    stack, n_looks = [np.arange(len(kinds))], 0
    while stack:
        chosen = stack.pop()
        n_looks += 1
        if n_looks > _LOOKS:
            # So many kinds of classes fail that the rest is taken to fail as well: the number is the most there can be.
            fails[chosen] = True
            continue
        if model.holds(model.level(part(exposure, samples[chosen]))):
            continue
        if len(chosen) == 1:
            fails[chosen] = True
        else:
            stack += [chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]]
    of_unit = fails[kind_of_unit]
    found = of_unit[:n_classes].copy()
    if exposure.behind is not None:
        found[exposure.behind[of_unit[n_classes:]]] = True
    return found


def _count_candidates(
    reading: Reading, places: Sequence[int], graph: MatchGraph | None
) -> tuple[int, dict[str, int]] | None:
    """Persons with one candidate, and by sensitive column those all of whose candidates have their own value.

    None where there are too many pairs of a person and a row, or where it is not known whose the rows are.
    """
    release, original = reading.release, reading.original
    if isinstance(release, Grouped) and release.linked is not None:
        return None
    if original.persons is not None and reading.record_of_row is None:
        return None
    if isinstance(release, Matched) and graph is not None:
        records, starts, items = np.arange(original.n_rows), graph.starts, graph.rows.astype(np.int64)
        item_of_row = np.arange(release.n_rows)
    else:
        item_of_row = reading.boxes.class_of_row
        listed = _list_classes(reading, places)
        if listed is None:
            return None
        records, starts, items = listed
    kept = np.flatnonzero(~reading.is_told_dummy)
    n_items = int(item_of_row.max(initial=-1)) + 1
    owners = kept if original.persons is None else _owners_of(reading)[kept]
    own = _have_rows(reading)[records]
    single = _agree(starts, items, *_ends_by_item(item_of_row[kept], owners, n_items)) & own
    certain = {}
    for column, domain in enumerate(original.domains.sensitive):
        ends = _ends_by_item(item_of_row[kept], release.sensitive[kept, column].astype(np.int64), n_items)
        sure = _agree(starts, items, *ends, wanted=original.sensitive[records, column].astype(np.int64))
        certain[domain.name] = _count_people(reading, records[sure & own])
    return _count_people(reading, records[single]), certain


def _list_classes(reading: Reading, places: Sequence[int]) -> tuple[Ints, Ints, Ints] | None:
    """Records by carried value, and the classes that each fits: (records, starts, classes); None if far too many.

    Only classes with the record's own carried value are compared with it.
    """
    boxes, original = reading.boxes, reading.original
    sample = np.zeros(boxes.n_classes, dtype=np.int64)
    sample[boxes.class_of_row] = np.arange(reading.release.n_rows)
    listed = list(places)
    of_record, of_class = joint_ids_of_two(
        (original.carried[:, listed],), (reading.release.carried[sample][:, listed],)
    )
    n_values = 1 + int(max(of_record.max(initial=-1), of_class.max(initial=-1)))
    pairs = np.bincount(of_record, minlength=n_values) * np.bincount(of_class, minlength=n_values)
    if int(pairs.sum()) > _COMPARISONS:
        return None
    records, classes = np.argsort(of_record, kind="stable"), np.argsort(of_class, kind="stable")
    numbers = np.arange(n_values + 1)
    starts, items = list_fitting(
        boxes.cells,
        classes,
        np.searchsorted(of_class[classes], numbers).astype(np.int64),
        np.ascontiguousarray(original.quasi[records]),
        np.searchsorted(of_record[records], numbers).astype(np.int64),
        FITS_LIMIT,
    )
    return None if starts[-1] > FITS_LIMIT else (records, starts, classes[items])


def _owners_of(reading: Reading) -> Ints:
    """The person of each row; a made-up row is its own person."""
    assert reading.record_of_row is not None
    assert reading.original.persons is not None
    made_up = -1 - np.arange(len(reading.record_of_row))
    owners = reading.original.persons[reading.record_of_row].astype(np.int64)
    return np.where(reading.record_of_row >= 0, owners, made_up)


def _have_rows(reading: Reading) -> NDArray[np.bool_]:
    """[records] those with their own row, as far as it is known."""
    found = np.ones(reading.original.n_rows, dtype=bool)
    if reading.record_of_row is not None:
        found[:] = False
        found[reading.record_of_row[reading.record_of_row >= 0]] = True
    return found


def _count_people(reading: Reading, records: Ints) -> int:
    """How many persons these records are of."""
    persons = reading.original.persons
    return len(records) if persons is None else len(np.unique(persons[records]))


def _ends_by_item(items: Ints, numbers: NDArray[Any], n_items: int) -> tuple[Ints, Ints]:
    """The least and the greatest number of each item; of an item without any, ends that agree with everything."""
    lows = np.full(n_items, np.iinfo(np.int64).max)
    highs = np.full(n_items, np.iinfo(np.int64).min)
    np.minimum.at(lows, items, numbers)
    np.maximum.at(highs, items, numbers)
    return lows, highs


def _agree(starts: Ints, items: Ints, lows: Ints, highs: Ints, wanted: Ints | None = None) -> NDArray[np.bool_]:
    """[records] whether all items of a record have one and the same number (the wanted one)."""
    filled = np.flatnonzero(np.diff(starts) > 0)
    found = np.zeros(len(starts) - 1, dtype=bool)
    if len(filled):
        low = np.minimum.reduceat(lows[items], starts[:-1][filled])
        high = np.maximum.reduceat(highs[items], starts[:-1][filled])
        found[filled] = low == high
        if wanted is not None:
            found[filled] &= low == wanted[filled]
    return found


def join_carried(parts: Sequence[Sequence[CarriedRisk]]) -> tuple[CarriedRisk, ...]:
    """What is known of all parts of a release: classes lie in one part each, so numbers add up.

    A person with rows in several parts counts in each of them.
    """
    filled = [part for part in parts if part]
    return tuple(map(_join, zip(*filled, strict=True))) if filled else ()


def _join(risks: Sequence[CarriedRisk]) -> CarriedRisk:
    promises = dict.fromkeys(promise for risk in risks for promise in risk.broken)
    columns = dict.fromkeys(name for risk in risks for name in risk.highest)
    return CarriedRisk(
        columns=risks[0].columns,
        n_persons=sum(risk.n_persons for risk in risks),
        broken={promise: _add([risk.broken.get(promise, 0) for risk in risks]) for promise in promises},
        n_broken=_add([risk.n_broken for risk in risks]),
        least=min((risk.least for risk in risks if risk.least is not None), default=None),
        n_alone=_add([risk.n_alone for risk in risks]),
        n_certain={name: sum(risk.n_certain.get(name, 0) for risk in risks) for name in columns},
        highest={name: max(risk.highest.get(name, Fraction(0)) for risk in risks) for name in columns},
    )


def _add(numbers: Sequence[int | None]) -> int | None:
    """The sum; None where one is not known."""
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None
