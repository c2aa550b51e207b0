"""How likely a person is found, and a sensitive value guessed, in the original and in the release.

    prosecutor   knows that the person is in the table: 1 in as many as share what the attacker knows
    journalist   knows that the person is one of a population of which the table is a random sample
    certainty    the share of the likeliest sensitive value among those who share what the attacker knows

Highest: of the person who is worst off. Average: over all persons. The figures of the original are scored on it, so
they are in the owner's report alone; those of the release follow from its rows, where it shows who shares a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.linkage import journalist_risks
from lookalike.audit.reading import joint_ids
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata
from lookalike.data.persons import number_pairs
from lookalike.data.release import Bucketized, Matched, Perturbed, Release

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Chance:
    """A probability of the person who is worst off, and its mean over all persons; None: not known."""

    highest: float | None = None
    average: float | None = None

    def round(self) -> Chance:
        """To whole percents."""
        return Chance(*(None if share is None else round(share, 2) for share in (self.highest, self.average)))


@dataclass(frozen=True)
class Before:
    """What an attacker who knows the quasi-identifiers would achieve if the original were published as it is."""

    found: Chance
    certain: Mapping[str, Chance]
    """By sensitive column."""
    sizes: Mapping[int, int]
    """How many persons share their quasi-identifiers with so many persons, themselves counted."""

    def round(self) -> Before:
        """To whole percents."""
        return Before(self.found.round(), {name: chance.round() for name, chance in self.certain.items()}, {})

    @classmethod
    def of(cls, data: Microdata) -> Before:
        """Where persons have several rows, the attacker knows the row that says most."""
        points = joint_ids(tuple(data.quasi.T), data.n_rows)
        owners = np.arange(data.n_rows) if data.persons is None else data.persons.astype(np.int64)
        of_point, of_owner = _list_pairs(points, owners)
        sizes = np.bincount(of_point)
        mine = sizes[of_point]
        order = np.lexsort((mine, of_owner))
        firsts = np.unique(of_owner[order], return_index=True)[1]
        smallest = mine[order][firsts]
        certain = {}
        for place, domain in enumerate(data.domains.sensitive):
            values = points * np.int64(domain.n_codes) + data.sensitive[:, place]
            of_value, _ = _list_pairs(values, owners)
            known, counts = np.unique(of_value, return_counts=True)
            best = np.zeros(len(sizes))
            np.maximum.at(best, known // domain.n_codes, counts / sizes[known // domain.n_codes])
            surest = np.zeros(int(of_owner.max(initial=0)) + 1)
            np.maximum.at(surest, of_owner, best[of_point])
            people = np.unique(of_owner)
            certain[domain.name] = Chance(float(best.max(initial=0.0)), float(surest[people].mean()))
        counts = np.bincount(smallest)
        held = {size: int(counts[size]) for size in np.flatnonzero(counts).tolist()}
        return cls(found_among(held), certain, held)


def _list_pairs(units: Ints, owners: Ints) -> tuple[Ints, Ints]:
    """Each unit with each of its owners, once."""
    firsts = np.unique(number_pairs(units, owners), return_index=True)[1]
    return units[firsts], owners[firsts]


def found_among(people: Mapping[int, int], fraction: float = 1.0) -> Chance:
    """The chance to find one of them: so many people share what is known with so many, themselves counted.

    `fraction`: the share of the population that is in the table.

    >>> found_among({1: 1, 2: 4})
    Chance(highest=1.0, average=0.6)
    """
    sizes = np.array(sorted(size for size in people if size), dtype=np.int64)
    if not len(sizes):
        return Chance()
    numbers = np.array([people[size] for size in sizes.tolist()], dtype=np.int64)
    risks = journalist_risks(sizes, fraction)
    return Chance(float(risks.max()), float(numbers @ risks) / int(numbers.sum()))


def people_by_size(crowds: Mapping[int, int], form: str) -> dict[int, int]:
    """How many people are in units of each size; a unit of a matched release is one person, of others all its rows."""
    return {size: units if form == Matched.form else size * units for size, units in crowds.items()}


def list_points(release: Release) -> dict[int, int]:
    """Of forms that publish quasi-identifiers exactly: how many rows share them with so many rows."""
    if not isinstance(release, Bucketized | Perturbed):
        return {}
    sizes = np.bincount(joint_ids(tuple(release.quasi.T), len(release.quasi)))
    found, units = np.unique(sizes[sizes > 0], return_counts=True)
    return {size: size * n_units for size, n_units in zip(found.tolist(), units.tolist(), strict=True)}


def certainty_of(seen: Exposure, *, complete: bool) -> Chance:
    """How sure a reader can be of the likeliest value; `complete`: whether all units are at hand."""
    shares = seen.weights / seen.sizes[seen.unit_of_entry]
    highest = float(shares.max(initial=0.0))
    if not complete or not seen.counts_rows:
        return Chance(highest)
    n_units = seen.n_units if seen.n_classes is None else seen.n_classes
    best = np.zeros(seen.n_units)
    np.maximum.at(best, seen.unit_of_entry, shares)
    weights = np.ones(n_units) if seen.form == Matched.form else seen.sizes[:n_units].astype(float)
    total = float(weights.sum())
    return Chance(highest, float(best[:n_units] @ weights) / total if total else None)


@dataclass(frozen=True)
class RiskLine:
    """One question before and after."""

    what: str
    before: Chance
    after: Chance
    promised: float | None = None
    """The highest that the promise allows, where the release does not show what is reached."""
    column: str | None = None
    """The sensitive column that it is about; None: finding a person."""
    blind: float | None = None
    """How often a guess is right that names the most frequent value for everybody."""
