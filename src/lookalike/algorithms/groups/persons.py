"""Free mode for persons with several rows: a group is tested by distinct persons, not by rows.

The table is cut into boxes that do not overlap and keep the promise by persons. Inside a box, rows of a person with
equal quasi-identifiers are one item. Items are searched as records are, with a ceiling: no person has more than 1/k of
the items of a group, so a group of k items or more has at least k persons. Boxes in which a person has too many items
for that are cut further by Mondrian, which tests every cut by persons.

Under promises about values, items may have several values. Boxes in which every person has one row are searched as
tables of persons; others are cut further by Mondrian. The cuts alone are tried besides, and the smaller loss is taken.
Boxes do not overlap, so groups of different boxes never have identical cells; inside a box that is searched no person
has two rows. So what the audit takes for one group has the persons of one group, or of groups without common persons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.groups import Effort, Run
from lookalike.algorithms.groups.free import Box, choose_box_size, search_box
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.algorithms.shared.matchers import Records
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.persons import number_pairs, renumber
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.progress import silent
from lookalike.randomness import Randomness

_SHORTER = 0.7
"""A swap costs more where persons have ceilings, so fewer passes are made: the time is about that of rows."""


def person_groups(
    data: Microdata, requirements: Sequence[Requirement], cell: int, effort: Effort, run: Run
) -> list[Records]:
    """The members of each group."""
    about_values = any(requirement.column is not None for requirement in requirements)
    search = _search_single_rows if about_values else _search_items
    n_persons, n_items = data.n_persons, int(_number_items(data).max()) + 1
    # Boxes are cut by persons and searched by items.
    size = cell or choose_box_size(n_items, requirements) * n_persons // n_items
    boxes = _cut(data, [*requirements, Requirement(min_size=size)], run, "boxes")
    groups = _search_boxes(data, requirements, boxes, effort, run, search)
    if about_values:
        cuts = _cut(data, requirements, run, "cuts")
        groups = min((cuts, groups), key=partial(_loss_of, data))
    order = np.argsort(groups, kind="stable")
    return np.split(order, np.cumsum(np.bincount(groups))[:-1])


def _cut(data: Microdata, requirements: Sequence[Requirement], run: Run, name: str) -> NDArray[np.int64]:
    """Boxes that keep the promise by persons, by Mondrian's cuts: the box of each record."""
    return Mondrian().partition(data, requirements, run.rng.child(name), silent)[0].astype(np.int64)


def _loss_of(data: Microdata, groups: NDArray[np.int64]) -> float:
    """The loss of these groups, summed over rows."""
    by_rows = replace(data, persons=None, individuals=None)
    whole = Box(by_rows, axes_of(by_rows), rule_of(by_rows, ()), (), np.arange(data.n_rows), Randomness(0))
    whole.begin(groups)
    return whole.loss()


def _search_boxes(
    data: Microdata,
    requirements: Sequence[Requirement],
    box_of_record: NDArray[np.int64],
    effort: Effort,
    run: Run,
    search: Callable[..., NDArray[np.int64]],
) -> NDArray[np.int64]:
    """The group of each record, from a search in every box."""
    order = np.argsort(box_of_record, kind="stable")
    boxes = np.split(order, np.cumsum(np.bincount(box_of_record))[:-1])
    shares = [0.0] * len(boxes)

    def search_one(number: int) -> NDArray[np.int64]:
        def note(share: float, loss: float) -> None:
            shares[number] = share
            run.report(sum(shares) / len(shares), loss / max(data.n_rows, 1))

        own = effort
        if effort.seconds is not None:
            own = replace(effort, seconds=effort.seconds * len(boxes[number]) / data.n_rows)
        rng = run.rng.child("box", len(boxes), number)
        return search(data, requirements, boxes[number], replace(run, rng=rng), own, note)

    groups, n_groups = np.empty(data.n_rows, dtype=np.int64), 0
    for rows, own in zip(boxes, run.map(search_one, range(len(boxes))), strict=True):
        groups[rows] = n_groups + own
        n_groups += int(own.max()) + 1
    return groups


def _search_items(
    data: Microdata,
    requirements: Sequence[Requirement],
    rows: Records,
    run: Run,
    effort: Effort,
    report: Callable[[float, float], None],
) -> NDArray[np.int64]:
    """The group of each of these rows, with enough persons in every group."""
    assert data.persons is not None
    item_of_row = _number_items(data.take(rows))
    firsts = rows[np.unique(item_of_row, return_index=True)[1]]
    owners = data.persons[firsts]
    n_items = np.bincount(owners)
    # Persons with one item need no ceiling: they all have code 0.
    repeated = np.flatnonzero(n_items > 1)
    least = max(requirement.min_size for requirement in requirements)
    if len(repeated) and least * int(n_items.max()) > len(firsts):
        part = data.take(rows)
        return Mondrian().partition(part, requirements, run.rng.child("mondrian"), silent)[0].astype(np.int64)
    code_of_person = np.zeros(len(n_items), dtype=np.int32)
    code_of_person[repeated] = 1 + np.arange(len(repeated), dtype=np.int32)
    items = replace(data.take(firsts), persons=None, individuals=None)
    ceilings = (Fraction(1), *[Fraction(1, least)] * len(repeated))
    asked: Sequence[Requirement] = requirements
    if len(repeated):
        items = _with_persons_as_values(items, code_of_person[owners])
        asked = [Requirement(column=0, min_size=least, ceilings=ceilings)]
        effort = replace(effort, passes=round(effort.passes * _SHORTER))
    return _search_records(items, asked, run, effort, report)[item_of_row]


def _number_items(data: Microdata) -> NDArray[np.int64]:
    """The item of each row: rows of a person with equal quasi-identifiers are one."""
    assert data.persons is not None
    items = data.persons.astype(np.int64)
    for codes in data.quasi.T:
        items = renumber(number_pairs(items, codes)).astype(np.int64)
    return items


def _with_persons_as_values(items: Microdata, codes: NDArray[np.int32]) -> Microdata:
    """The items with whose they are as their only sensitive value."""
    n_codes = int(codes.max()) + 1
    attribute = Attribute(name="person", role=Role.SENSITIVE, kind=Kind.CATEGORICAL)
    values = np.arange(n_codes)
    domain = Domain(attribute, ValueType.INTEGER, values, False, 0.0, float(n_codes - 1), n_codes, False)
    domains = replace(items.domains, sensitive=(domain,))
    return replace(items, domains=domains, sensitive=codes.reshape(-1, 1), whole=None)


def _search_single_rows(
    data: Microdata,
    requirements: Sequence[Requirement],
    rows: Records,
    run: Run,
    effort: Effort,
    report: Callable[[float, float], None],
) -> NDArray[np.int64]:
    """The group of each of these rows: a search where no two rows are of one person, else cuts."""
    assert data.persons is not None
    part = data.as_part_of_itself().take(rows)
    if len(np.unique(data.persons[rows])) == len(rows):
        return _search_records(replace(part, persons=None, individuals=None), requirements, run, effort, report)
    return Mondrian().partition(part, requirements, run.rng.child("mondrian"), silent)[0].astype(np.int64)


def _search_records(
    data: Microdata,
    requirements: Sequence[Requirement],
    run: Run,
    effort: Effort,
    report: Callable[[float, float], None],
) -> NDArray[np.int64]:
    """The group of each record, of records that are different persons."""
    found = search_box(data, requirements, np.arange(data.n_rows), run.rng, effort, report, run.stopped)
    groups = np.empty(data.n_rows, dtype=np.int64)
    groups[np.concatenate(found)] = np.repeat(np.arange(len(found)), [len(members) for members in found])
    return groups
