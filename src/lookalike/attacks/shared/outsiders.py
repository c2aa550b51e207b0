"""Journalist and marketer: attackers who do not know that their target is in the table, only in its population.

    journalist   wants any one person of the population, to show that it can be done: 1 / F
    marketer     links every row to someone who fits it, and wants as many as possible right: (1 / n) sum f / F

f persons of a class are in the table and F in the population (El Emam and Dankar 2008; El Emam 2013). F is counted in a
population table, or estimated (`population`). A population row is counted for every class whose cells hold it, because
the attacker's target may be that person; a value that the table lacks and that lies in no run of numbers is in no cell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.control import Seen
from lookalike.attacks.shared.population import Everybody, Posterior
from lookalike.attacks.shared.reader import Reader, is_plain, points_of_classes
from lookalike.attacks.shared.whereabouts import Whereabouts
from lookalike.audit.reading import joint_ids, joint_ids_of_two
from lookalike.data.contracts import Target
from lookalike.data.population import refuse_lacking
from lookalike.data.release import Grouped, Matched

Ints = NDArray[np.int64]
COUNTED = "population table"


@dataclass(frozen=True)
class Outsiders:
    """What journalist and marketer achieve."""

    source: str
    """Where F is from: an estimator, or a population table."""
    highest: float
    mean: float
    """Of 1 / F over the persons of the table: the marketer's success rate."""
    share_at_risk: float
    success: float
    """The journalist's success rate."""

    @property
    def figures(self) -> dict[str, float]:
        return {
            name_figure("highest journalist risk", self.source): self.highest,
            name_figure("mean journalist risk", self.source): self.mean,
            name_figure("share at journalist risk", self.source): self.share_at_risk,
            name_figure("journalist success rate", self.source): self.success,
            name_figure("marketer risk", self.source): self.mean,
        }

    @property
    def sentence(self) -> str:
        return (
            f"Someone who only knows that the person is in the population finds the row with a chance of "
            f"{self.highest:.1%} at most and {self.mean:.1%} on average, and someone who links every row gets "
            f"{self.mean:.1%} of them right ({self.source})."
        )


def name_figure(name: str, source: str) -> str:
    """
    >>> name_figure("marketer risk", "mu-Argus")
    'marketer risk (mu-Argus)'
    """
    return f"{name} ({source})"


def least_size(threshold: Fraction) -> int:
    """The least class size whose risk 1 / size is not above the threshold.

    >>> [least_size(Fraction(text)) for text in ("0.05", "0.09", "0.1", "0.2", "0.33", "0.5", "1/11")]
    [20, 12, 10, 5, 4, 2, 11]
    """
    return ceil(1 / threshold)


class Persons(NamedTuple):
    """Persons by what they are narrowed down to."""

    sizes: Ints
    """f of each unit."""
    persons: Ints
    """How many persons of the table have that unit."""
    are_classes: bool
    """Whether each unit is a class of f persons; else f is how many rows fit a person."""


def estimate_outsiders(posterior: Posterior, found: Persons, threshold: Fraction, n_persons: int) -> Outsiders:
    """By estimates of F; `n_persons`: those of the table, of whom some may have no row."""
    risks = posterior.risks(found.sizes)
    mean = float(found.persons @ risks) / max(n_persons, 1)
    reached = 0.0
    if found.are_classes and len(found.sizes):
        reached = len(found.sizes) / float(posterior.sizes(found.sizes).sum())
    # Where nothing is estimated, the comparison is exact.
    is_exact = isinstance(posterior, Everybody)
    is_above = found.sizes < least_size(threshold) if is_exact else risks > float(threshold)
    return Outsiders(
        source=posterior.name,
        highest=float(risks.max(initial=0.0)),
        mean=mean,
        share_at_risk=float(found.persons[is_above].sum()) / max(n_persons, 1),
        success=max(reached, mean),
    )


def count_outsiders(target: Target, threshold: Fraction) -> Outsiders:
    """By the population table of the target."""
    in_table, in_population = count_by_class(target)
    seen = in_table > 0
    f, whole = in_table[seen], in_population[seen]
    n_persons = max(int(f.sum()), 1)
    # Rows that are made up may be in cells that hold nobody.
    risks = np.divide(1.0, whole, where=whole > 0, out=np.zeros(len(whole)))
    mean = float(f @ risks) / n_persons
    reached = len(f) / float(whole.sum()) if whole.any() else 0.0
    return Outsiders(
        source=COUNTED,
        highest=float(risks.max(initial=0.0)),
        mean=mean,
        share_at_risk=float(f[(whole > 0) & (whole < least_size(threshold))].sum()) / n_persons,
        success=max(reached, mean),
    )


def count_by_class(target: Target) -> tuple[Ints, Ints]:
    """For each class of rows how many rows it has, and how many people of the population its cells hold."""
    population = target.population
    assert population is not None
    wide = Seen.of(replace(target, control=population)).wide
    own, all_of_them = joint_ids_of_two((wide.original.quasi,), (population.quasi,))
    n_ids = 1 + int(max(own.max(initial=-1), all_of_them.max(initial=-1)))
    times = np.bincount(all_of_them, minlength=n_ids).astype(np.int64)
    refuse_lacking(np.bincount(own, minlength=n_ids).astype(np.int64), times)
    ids, firsts = np.unique(all_of_them, return_index=True)
    people, weights = population.quasi[firsts], times[ids]
    release, reading = wide.release, Whereabouts.of(wide).reading
    if isinstance(release, Grouped | Matched):
        boxes = reading.boxes
        in_table = np.bincount(boxes.class_of_row[~reading.is_told_dummy], minlength=boxes.n_classes).astype(np.int64)
        if not is_plain(release):
            who, classes = Reader.of(wide).find_classes(people)
            return in_table, _add_up(classes, weights[who], boxes.n_classes)
        points = points_of_classes(release, boxes.class_of_row, boxes.n_classes)
    else:
        in_table = np.bincount(reading.point_of_row).astype(np.int64)
        rows = np.unique(reading.point_of_row, return_index=True)[1]
        in_table, points = in_table[in_table > 0], release.quasi[rows]
    of_class, of_person = joint_ids_of_two((points,), (people,))
    n_points = 1 + int(max(of_class.max(initial=-1), of_person.max(initial=-1)))
    return in_table, _add_up(of_person, weights, n_points)[of_class]


def _add_up(ids: Ints, weights: Ints, n_ids: int) -> Ints:
    found = np.zeros(n_ids, dtype=np.int64)
    np.add.at(found, ids, weights)
    return found


def count_unique(target: Target) -> float:
    """The share of the population whose quasi-identifiers nobody else has."""
    population = target.population
    assert population is not None
    sizes = np.bincount(joint_ids(tuple(population.quasi.T), population.n_rows))
    return float((sizes == 1).sum()) / max(population.n_rows, 1)
