"""What a release reveals about persons with several rows, by listing everything: no code of the audit is used.

A class is what a reader cannot tell apart. `Seen` has, for one class and one sensitive column, the number of persons
and every certainty; `judge` holds such classes against a model, whose parameters alone are read.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any

from lookalike.data.release import Bucketized
from tests.oracles.containment import cell_holds, classes
from tests.oracles.promises import LONG, judged, log, long

_LISTED = 1_000


@dataclass(frozen=True)
class Seen:
    """One class."""

    n_persons: int
    by_persons: dict[int, Fraction]
    """Share of the persons who have the value in some row of the class."""
    several: dict[int, Fraction]
    """Share of the draws of as many rows as a person may have here that hold the value."""
    one: dict[int, Fraction]
    """Share of the rows."""
    mixed: dict[int, Fraction]
    """Each person once, in equal parts for each of the own values."""


def classes_of(release: Any, record_of_row: Sequence[int]) -> list[list[int]]:
    """The records of each class."""
    cells = release.bucket_of_sensitive.tolist() if isinstance(release, Bucketized) else classes(release)
    held: dict[Any, list[int]] = {}
    for cell, record in zip(cells, record_of_row, strict=True):
        held.setdefault(cell, []).append(int(record))
    return list(held.values())


def share_of_draws(values: Sequence[int], value: int, n_taken: int) -> Fraction:
    """By listing all draws of so many rows; of large classes, by counting them."""
    n_taken = min(n_taken, len(values))
    if math.comb(len(values), n_taken) > _LISTED:
        return 1 - Fraction(math.comb(len(values) - values.count(value), n_taken), math.comb(len(values), n_taken))
    draws = [*combinations(range(len(values)), n_taken)]
    return Fraction(sum(any(values[place] == value for place in draw) for draw in draws), len(draws))


def most_rows(data: Any, release: Any, record_of_row: Sequence[int], records: Sequence[int]) -> int:
    """The most rows of a class that may be one person's."""
    owners = data.persons.tolist()
    most = max(sum(owners[record] == owner for record in records) for owner in {owners[record] for record in records})
    for record in range(data.n_rows):
        same = (data.persons == data.persons[record]) & (data.quasi == data.quasi[record]).all(axis=1)
        if _fits(data, release, record_of_row, records, record):
            most = max(most, int(same.sum()))
    return most


def _fits(data: Any, release: Any, record_of_row: Sequence[int], records: Sequence[int], record: int) -> bool:
    """Whether a reader may look for the record in the class."""
    if isinstance(release, Bucketized):
        return any((data.quasi[record] == data.quasi[other]).all() for other in records)
    unit = int(release.unit_of_row[list(record_of_row).index(records[0])])
    return all(
        cell_holds(domain, extents, unit, int(data.quasi[record, place]))
        for place, (domain, extents) in enumerate(zip(data.domains.quasi, release.extents, strict=True))
    )


def is_split(data: Any, found: Sequence[Sequence[int]]) -> bool:
    """Whether rows of a person with equal quasi-identifiers are in several classes."""
    place = {record: number for number, records in enumerate(found) for record in records}
    return any(
        place[one] != place[other]
        for one, other in combinations(place, 2)
        if data.persons[one] == data.persons[other] and (data.quasi[one] == data.quasi[other]).all()
    )


def look_at(data: Any, release: Any, record_of_row: Sequence[int], column: int) -> list[Seen]:
    """All classes."""
    seen = []
    for records in classes_of(release, record_of_row):
        owners = [int(data.persons[record]) for record in records]
        values = [int(data.sensitive[record, column]) for record in records]
        own = {owner: {v for v, o in zip(values, owners, strict=True) if o == owner} for owner in owners}
        n_taken = most_rows(data, release, record_of_row, records)
        seen.append(
            Seen(
                len(own),
                {v: Fraction(sum(v in held for held in own.values()), len(own)) for v in values},
                {v: share_of_draws(values, v, n_taken) for v in values},
                {v: Fraction(values.count(v), len(values)) for v in values},
                mix(own.values(), len(own)),
            )
        )
    return seen


def mix(held: Any, n_persons: int) -> dict[int, Fraction]:
    mixed: dict[int, Fraction] = {}
    for values in held:
        for value in values:
            mixed[value] = mixed.get(value, Fraction(0)) + Fraction(1, len(values) * n_persons)
    return mixed


def shares(data: Any, column: int) -> list[Fraction]:
    """The share of persons who have each value anywhere."""
    n_codes, n_persons = data.domains.sensitive[column].n_codes, len(set(data.persons.tolist()))
    pairs = set(zip(data.persons.tolist(), data.sensitive[:, column].tolist(), strict=True))
    return [Fraction(sum(value == code for _, value in pairs), n_persons) for code in range(n_codes)]


def judge(model: Any, data: Any, seen: Sequence[Seen], column: int, *, number_known: bool) -> bool:
    """Whether these classes keep the model's promise."""
    if model.name == "k-anonymity":
        return min(one.n_persons for one in seen) >= model.k
    if model.by_distribution:
        return _judge_mixed(model, data, seen, column)
    beliefs = [one.by_persons for one in seen]
    if number_known:
        beliefs += [held for one in seen for held in (one.several, one.one)]
    whole = shares(data, column)
    with localcontext(LONG):
        return _RULES[model.name](model, seen, beliefs, whole)


def _judge_mixed(model: Any, data: Any, seen: Sequence[Seen], column: int) -> bool:
    own: dict[int, set[int]] = {}
    for owner, value in zip(data.persons.tolist(), data.sensitive[:, column].tolist(), strict=True):
        own.setdefault(owner, set()).add(value)
    table = mix(own.values(), len(own))
    n_codes = data.domains.sensitive[column].n_codes
    scale = math.lcm(*(share.denominator for held in (table, *(one.mixed for one in seen)) for share in held.values()))
    units = [{value: int(share * scale) for value, share in one.mixed.items()} for one in seen]
    prior = [int(table.get(code, 0) * scale) for code in range(n_codes)]
    return bool(judged(model, units, prior, data.domains.sensitive[column]).holds)


def _diversity(model: Any, seen: Sequence[Seen], beliefs: Any, whole: Any) -> bool:
    if model.kind == "distinct":
        return min(len(one.by_persons) for one in seen) >= model.ell
    return max(belief for held in beliefs for belief in held.values()) * model.ell <= 1


def _alpha(model: Any, seen: Sequence[Seen], beliefs: Any, whole: Any) -> bool:
    top = max(belief for held in beliefs for belief in held.values())
    return min(one.n_persons for one in seen) >= model.k and top <= model.alpha


def _likeness(model: Any, seen: Sequence[Seen], beliefs: Any, whole: Any) -> bool:
    for held in beliefs:
        for code, share in enumerate(whole):
            belief = held.get(code, Fraction(0))
            if not share:
                continue
            if model.negative is not None and belief < share / (1 + model.negative):
                return False
            if belief <= (1 + model.beta) * share and model.bound == "basic":
                continue
            gain = long((belief - share) / share)
            limit = long(model.beta) if model.bound == "basic" else min(long(model.beta), -log(share))
            if gain > limit and abs(gain - limit) > Decimal(10) ** -40:
                return False
    return True


def _disclosure(model: Any, seen: Sequence[Seen], beliefs: Any, whole: Any) -> bool:
    for held in beliefs:
        for code, share in enumerate(whole):
            belief = held.get(code, Fraction(0))
            if share and (not belief or abs(log(belief / share)) >= long(model.delta)):
                return False
    return True


def _ceilings(model: Any, seen: Sequence[Seen], beliefs: Any, whole: Any) -> bool:
    bounds = [min(Fraction(1), model.theta * share + model.base) for share in whole]
    return all(belief <= bounds[code] for held in beliefs for code, belief in held.items())


_RULES = {
    "l-diversity": _diversity,
    "alpha-k": _alpha,
    "beta-likeness": _likeness,
    "delta-disclosure": _disclosure,
    "f-privacy": _ceilings,
}
