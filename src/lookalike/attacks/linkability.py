"""Linkability: two files about the same people, with different columns, joined by way of the release.

The attacker knows some quasi-identifiers of everybody in one file and others in a second file, and wants to know which
rows of the two are of one person (Article 29 Working Party, WP216). The release says which values go together:

    w_g(i) = rows of class g if its cells hold what is known of i, else 0, as shares over g; likewise for file 2
    link(i) = the rows j of the second file with the highest sum over g of w_g(i) w_g(j)

A link to m rows that tie is right with 1 / m if the person's own is among them. Someone who ignores the release is
right with 1 / n. Within one class of k people nobody is right more often than 1 / k; more is possible across classes.
Both files have the same known row of each person.

Cost: people times people times classes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lookalike.attacks.shared.attack import WrittenAttack
from lookalike.attacks.shared.consequence import Consequence, Result, explain_residual, join_names
from lookalike.attacks.shared.control import Seen
from lookalike.attacks.shared.persons import is_linked
from lookalike.attacks.shared.whereabouts import Whereabouts, count_pairs, normalise
from lookalike.audit.containment import Cells, list_fitting
from lookalike.audit.reading import joint_ids
from lookalike.data.contracts import Finding, Residual, Score, Target
from lookalike.data.microdata import Codes, Domain, read_only
from lookalike.data.parameters import Values, Whole
from lookalike.data.release import Grouped, Matched, Release
from lookalike.errors import quoted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

Ints = NDArray[np.int64]
_PAIRS, _BLOCK = 20_000_000, 4_000_000
_TIE = 1e-9


@dataclass(frozen=True)
class Linkability(WrittenAttack):
    """Joins two files about the same people by way of the release."""

    name: ClassVar[str] = "linkability"
    looks_for_no_row: ClassVar[bool] = True
    most_records: ClassVar[int | None] = 100_000
    most_cells: ClassVar[int | None] = None
    kernels: ClassVar[Collection[str]] = ("containment.list_fitting",)
    remedy: ClassVar[str] = (
        "Coarser quasi-identifiers or fewer of them say less about which values go together; larger groups help too."
    )

    first: Values = Values()
    """Columns of the first file; by default every other quasi-identifier, by falling number of values."""
    second: Values = Values()
    """Columns of the second file; by default all quasi-identifiers that are not in the first."""
    people: Whole = Whole(low=2, default=2000)
    """Most people in each file; of more, so many are drawn."""

    def refuses(self, target: Target) -> str | None:
        reason = super().refuses(target)
        if reason is not None:
            return reason
        domains = target.original.domains.quasi
        if len(domains) < 2:
            return "two files need a quasi-identifier each, and the table has one."
        known = [domain.name for domain in domains]
        for name in (*(self.first or ()), *(self.second or ())):
            if name not in known:
                return f"{quoted(name)} is no quasi-identifier of the table. Known: {', '.join(known)}."
        one, other = split_columns(domains, self.first, self.second)
        if not one or not other or set(one) & set(other):
            return "the two files need different columns, at least one each."
        return None

    def explain(self, result: Result) -> Consequence:
        one, other = split_columns(result.target.original.domains.quasi, self.first, self.second)
        names = [domain.name for domain in result.target.original.domains.quasi]
        files = (
            f"{join_names([names[place] for place in one])}, the other {join_names([names[place] for place in other])}"
        )
        return explain_residual(
            result,
            f"of {result.people} are linked rightly between two files, one with {files}",
            "No promise is about links between files",
            self.remedy,
        )

    def refuses_persons(self, target: Target) -> str | None:
        if is_linked(target):
            return "this release numbers its persons, so their rows are linked by design."
        return None

    def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
        self.check(target)
        seen = Seen.of(target)
        targets, others = seen.draw_alike(rng.child("people"), self.people)
        n_people = len(targets)
        domains = seen.wide.release.domains.quasi
        columns = split_columns(target.original.domains.quasi, self.first, self.second)
        progress("linking", 0.1)
        right = _link(seen.wide, targets.wide, columns)
        control_right = None
        if others is not None:
            progress("linking", 0.6)
            control_right = _link(seen.wide, others.wide, columns)
        residual = Residual(
            n=n_people,
            right=right,
            control_n=None if others is None else len(others),
            control_right=control_right,
            baseline=1 / max(n_people, 1),
        )
        named = [" and ".join(domains[place].name for place in one) for one in columns]
        sentence = (
            f"An attacker who has one file with {named[0]} and another with {named[1]} of the same {n_people:,} people "
            f"joins them by way of the release. {residual.sentence()}"
        )
        if target.original.persons is not None:
            sentence += f" Each {target.original.schema.unit_name} is in each file once, with one known row."
        return [
            Finding(
                attack=str(self),
                column=None,
                sentence=sentence,
                score=Score(int(residual.right), residual.n),
                baselines={"a row of the other file at random": residual.baseline or 0.0},
                residual=residual,
            )
        ]


def split_columns(
    domains: Sequence[Domain], first: tuple[str, ...] | None, second: tuple[str, ...] | None
) -> tuple[list[int], list[int]]:
    """The places of the columns of each file."""
    places = {domain.name: place for place, domain in enumerate(domains)}
    if first is None and second is None:
        order = sorted(range(len(domains)), key=lambda place: -domains[place].n_codes)
        return sorted(order[0::2]), sorted(order[1::2])
    one, other = ([places[name] for name in listed or ()] for listed in (first, second))
    if first is None:
        one = [place for place in places.values() if place not in other]
    if second is None:
        other = [place for place in places.values() if place not in one]
    return sorted(one), sorted(other)


def _link(target: Target, quasi: Codes, columns: tuple[list[int], list[int]]) -> float:
    """How many of these people are linked rightly; one among ties counts in part."""
    if not len(quasi):
        return 0.0
    weights = []
    profile_of_person = []
    for places in columns:
        known = quasi[:, places]
        ids = joint_ids(tuple(known.T), len(known))
        firsts = np.unique(ids, return_index=True)[1]
        weights.append(_weigh(target, known[firsts], places))
        profile_of_person.append(ids)
    (one, other), (mine, theirs) = weights, profile_of_person
    n_with = np.bincount(theirs, minlength=other.shape[0]).astype(np.float64)
    right = 0.0
    turned = sparse.csc_array(other.T)
    step = max(_BLOCK // max(other.shape[0], 1), 1)
    order = np.argsort(mine, kind="stable")
    for first in range(0, one.shape[0], step):
        scores = np.asarray((one[first : first + step] @ turned).toarray())
        best = scores.max(axis=1, keepdims=True)
        ties = scores >= best * (1 - _TIE)
        n_ties = ties @ n_with
        people = order[np.searchsorted(mine[order], first) : np.searchsorted(mine[order], first + len(scores))]
        own = mine[people] - first
        right += float((ties[own, theirs[people]] / n_ties[own]).sum())
    return right


def _weigh(target: Target, known: Codes, places: list[int]) -> Any:
    """[people, classes] how likely a person of whom this is known is in each class (CSR); rows sum to 1, or to 0."""
    cells, rows = _classes(target)
    narrow = Cells(
        lows=np.ascontiguousarray(cells.lows[:, places]),
        highs=np.ascontiguousarray(cells.highs[:, places]),
        missing=np.ascontiguousarray(cells.missing[:, places]),
        missing_codes=np.ascontiguousarray(cells.missing_codes[places]),
        starts=np.ascontiguousarray(cells.starts[:, places]),
        ends=np.ascontiguousarray(cells.ends[:, places]),
        members=cells.members,
    )
    n_classes = len(rows)
    people, classes = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    step = max(_PAIRS // max(n_classes, 1), 1)
    for first in range(0, len(known), step):
        block = read_only(known[first : first + step])
        starts, items = list_fitting(
            narrow,
            np.arange(n_classes),
            np.array([0, n_classes]),
            block,
            np.array([0, len(block)]),
            len(block) * n_classes,
        )
        people.append(first + np.repeat(np.arange(len(block)), np.diff(starts)))
        classes.append(items.astype(np.int64))
    inside = count_pairs(np.concatenate(people), np.concatenate(classes), (len(known), n_classes))
    return normalise(sparse.csr_array(inside @ sparse.diags_array(rows)))


def _classes(target: Target) -> tuple[Cells, NDArray[np.float64]]:
    """The cells of each class, and how many rows it has: of exact quasi-identifiers, equal rows are a class."""
    release: Release = target.release
    if isinstance(release, Grouped | Matched):
        boxes = Whereabouts.of(target).reading.boxes
        told = ~Whereabouts.of(target).reading.is_told_dummy
        return boxes.cells, np.bincount(boxes.class_of_row[told], minlength=boxes.n_classes).astype(np.float64)
    ids = joint_ids(tuple(release.quasi.T), len(release.quasi))
    firsts = np.unique(ids, return_index=True)[1]
    points = np.ascontiguousarray(release.quasi[firsts], dtype=np.int32)
    nothing = np.zeros(points.shape, dtype=np.int64)
    codes = np.array([domain.missing_code for domain in release.domains.quasi], dtype=np.int32)
    cells = Cells(
        points, points, np.zeros(points.shape, dtype=bool), codes, nothing, nothing, np.zeros(0, dtype=np.int32)
    )
    return cells, np.bincount(ids).astype(np.float64)
