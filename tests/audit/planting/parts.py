"""Releases in parts: audited part by part and joined, held against the oracle on all units of all parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.audit import audit_part, join_audits
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Whole
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from tests.audit.making import bucketized, grouped, matched, number_table, perturbed, random_groups
from tests.audit.planting.cases import Case, random_matrix
from tests.audit.planting.tables import random_table
from tests.audit.planting.thresholds import about_values
from tests.oracles.promises import judged
from tests.oracles.truthful import faults, prior, units

FORMS_IN_PARTS = ("grouped", "matched", "bucketized", "perturbed")
WRONGS = (
    "none",
    "part missing",
    "part doubled",
    "first part held against other counts",
    "last part held against other counts",
    "whole of another size",
)


def part_of(data: Microdata, records: Any) -> Microdata:
    counts = tuple(data.counts(index).astype(np.int64) for index in range(len(data.domains.sensitive)))
    return replace(
        data,
        quasi=data.quasi[records],
        sensitive=data.sensitive[records],
        carried=data.carried[records],
        whole=Whole(data.n_rows, counts),
    )


def in_parts(rng: np.random.Generator, form: str) -> tuple[Microdata, list[Case]]:
    """An honest release in two or three parts, each made by itself."""
    n_rows = int(rng.integers(8, 22))
    data = random_table(rng, n_rows, carried=False if form == "perturbed" else None)
    part_of_record = rng.permutation(np.arange(n_rows) % int(rng.integers(2, 4)))
    if form == "perturbed":
        while (data.quasi == data.quasi[0]).all():
            data = random_table(rng, n_rows, carried=False)
        part_of_record = _cut_by_a_column(rng, data)
    matrices = [random_matrix(rng, domain.n_codes) for domain in data.domains.sensitive]
    cases = []
    for number in range(int(part_of_record.max()) + 1):
        own = part_of(data, np.flatnonzero(part_of_record == number))
        order, size = rng.permutation(own.n_rows), int(rng.integers(1, max(own.n_rows // 2, 2)))
        groups = random_groups(rng, own.n_rows, size)
        if form == "grouped":
            cases.append(Case(grouped(own, groups, order), own))
        elif form == "bucketized":
            cases.append(Case(bucketized(own, groups, order, rng.permutation(own.n_rows)), own))
        elif form == "perturbed":
            cases.append(Case(perturbed(rng, own, matrices, order), own))
        else:
            degree = int(rng.integers(1, min(own.n_rows, 3) + 1))
            slots = [[(slot + step) % own.n_rows for step in range(degree)] for slot in range(own.n_rows)]
            cases.append(Case(*_of(matched(own, slots, range(own.n_rows), order), own)))
    return data, cases


def _cut_by_a_column(rng: np.random.Generator, data: Microdata) -> Any:
    """Parts that a quasi-identifier decides, as those of a perturbed release must be."""
    column = max(range(data.quasi.shape[1]), key=lambda index: len(np.unique(data.quasi[:, index])))
    codes = np.unique(data.quasi[:, column])
    cuts = rng.choice(codes[1:], min(int(rng.integers(1, 3)), len(codes) - 1), replace=False)
    return np.searchsorted(np.sort(cuts), data.quasi[:, column], side="right")


def _of(made: Any, own: Microdata) -> tuple[Any, Microdata, Any]:
    return made[0], own, made[1]


def told_by_parts(rng: np.random.Generator, form: str) -> tuple[Case, dict[str, Any], dict[str, dict[str, Any]]]:
    """A release, parts of its rows as they should be, and parts that tell what is not published, by what."""
    size, n_groups = 4, int(rng.integers(3, 6))
    n_rows = size * n_groups
    groups = np.arange(n_rows) // size
    # Four ages and four values in each group.
    quasi, values = np.arange(n_rows)[:, None], (np.arange(n_rows) + rng.integers(0, 4, n_groups)[groups]) % size
    data = number_table(quasi, values)
    order, half = rng.permutation(n_rows), (groups >= n_groups // 2).astype(np.int64)
    age_in_group, k_promise = quasi[:, 0] % size, (Promise(KAnonymity(size)),)
    if form == "grouped":
        case = Case(grouped(data, groups, order), data, promises=k_promise)
        told = {"the exact age": age_in_group[order], "the input order": (np.arange(n_rows) % 2)[order]}
        return case, _one_table(half[order]), {kind: _one_table(of_rows) for kind, of_rows in told.items()}
    if form == "matched":
        slots = [[size * (slot // size) + place for place in range(size)] for slot in range(n_rows)]
        release, graph = matched(data, slots, range(n_rows), order)
        case = Case(release, data, graph, k_promise)
        return case, _one_table(half[order]), {"the exact age": _one_table(age_in_group[order])}
    if form == "bucketized":
        others = rng.permutation(n_rows)
        case = Case(bucketized(data, groups, order, others), data, promises=(Promise(LDiversity(size), "s"),))
        paired = {"qit": age_in_group[order], "sat": age_in_group[others]}
        apart = {"qit": half[order], "sat": 1 - half[others]}
        honest = {"qit": half[order], "sat": half[others]}
        return case, honest, {"the person, in both tables": paired, "another part in each table": apart}
    case = Case(perturbed(rng, data, [random_matrix(rng, size)], order), data)
    return case, _one_table(half[order]), {"the value that was there": _one_table(values[order])}


def _one_table(part_of_row: Any) -> dict[str, Any]:
    return {"release": part_of_row}


def all_units(data: Microdata, cases: list[Case], column: int) -> list[Any]:
    if cases[0].release.form == "perturbed":
        return units(cases[0].release, data, column)
    return [unit for case in cases for unit in units(case.release, case.data, column, case.graph)]


def edges_in_parts(rng: np.random.Generator, data: Microdata, cases: list[Case]) -> list[tuple[Promise, bool, str]]:
    """Promises on both sides of what all parts together reach."""
    column = int(rng.integers(len(data.domains.sensitive)))
    domain, found = data.domains.sensitive[column], all_units(data, cases, column)
    counted = cases[0].release.form != "perturbed"
    return [
        (Promise(model, domain.name), judged(model, found, prior(data, column), domain).holds, edge.kind)
        for edge in about_values(rng, found, prior(data, column), domain, counted=counted)
        for model in (edge.kept, edge.broken)
        if model is not None
    ]


def audited(cases: list[Case], promises: Any) -> Any:
    return join_audits([audit_part(case.data, case.release, promises, graph=case.graph) for case in cases]).audit


def keeps_in_parts(data: Microdata, cases: list[Case], promises: Any) -> bool:
    """Truthful in every part, and every promise kept by the units of all of them."""
    if any(fault for case in cases for fault in faults(case.release, case.data, case.graph)):
        return False
    return _kept(data, promises, lambda column: all_units(data, cases, column))


def keeps_on_disk(data: Microdata, whole: Any, cases: list[Case], promises: Any) -> bool:
    """Truthful as a whole, and every promise kept by the units of each part: a reader tells the parts apart."""
    if any(faults(whole, data)):
        return False
    if whole.form == "perturbed":
        return _kept(data, promises, lambda column: units(whole, data, column))
    return _kept(data, promises, lambda column: [unit for case in cases for unit in units(case.release, data, column)])


def _kept(data: Microdata, promises: Any, units_of: Callable[[int], list[Any]]) -> bool:
    names = [domain.name for domain in data.domains.sensitive]
    return all(
        judged(
            promise.model,
            units_of(names.index(promise.column)),
            prior(data, names.index(promise.column)),
            data.domains.sensitive[names.index(promise.column)],
        ).holds
        for promise in promises
    )


def wronged(wrong: str, cases: list[Case]) -> list[Case]:
    """The parts with something wrong between them."""
    if wrong == "part missing":
        return cases[1:]
    if wrong == "part doubled":
        return [*cases, cases[0]]
    if wrong == "first part held against other counts":
        return [_against_other_counts(cases[0]), *cases[1:]]
    if wrong == "last part held against other counts":
        return [*cases[:-1], _against_other_counts(cases[-1])]
    if wrong == "whole of another size":
        return [replace(case, data=replace(case.data, whole=_larger(case.data.whole))) for case in cases]
    return cases


def _against_other_counts(case: Case) -> Case:
    whole = _larger(case.data.whole)
    one_more = whole.counts[0] + np.eye(1, len(whole.counts[0]), dtype=np.int64)[0]
    return replace(case, data=replace(case.data, whole=replace(whole, counts=(one_more, *whole.counts[1:]))))


def _larger(whole: Whole | None) -> Whole:
    assert whole is not None
    return replace(whole, n_rows=whole.n_rows + 1)
