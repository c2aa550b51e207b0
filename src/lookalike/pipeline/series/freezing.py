"""A series in mode frozen: which people the next release has, from the ledger, and the audit of the whole series.

Who was in which group of which release is all that is needed of the past: people with the same groups in all releases
are a block (`frozen`). The values of people who are gone from the table are found by the digests of values in the
ledger, among the values that their group showed.

A person who is gone and may not leave yet cannot be published again, since the table has no row for them any more: the
release is refused until the rows are put back, or more people of the group are gone.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.audit.frozen import audit_bounds, audit_histories
from lookalike.audit.paths import ABSENT
from lookalike.audit.reading import Ints
from lookalike.data.microdata import Codes, Domain, Microdata
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import AuditFailed, DataError, Infeasible, RecipeError, Unsupported, counted
from lookalike.files.releases.assemble import DomainIndex
from lookalike.files.schemes import scheme_text
from lookalike.pipeline.recipe import Prepared
from lookalike.pipeline.series.check import Before, Now, number_alike
from lookalike.pipeline.series.contents import CLASS, value_column
from lookalike.pipeline.series.frozen import NEVER, FrozenRows, frozen_test, plan_batch
from lookalike.pipeline.series.invariance import with_earlier_values
from lookalike.pipeline.series.people import digest


def prepare_frozen(
    prepared: Prepared, names: Sequence[str], before: Sequence[Before], extra: Mapping[str, Any]
) -> tuple[Prepared, Ints, str, list[str]]:
    """The recipe for the people of the next release, their records, a digest of the scheme, sentences for the owner."""
    method = prepared.algorithm
    if not isinstance(method, FixedCells) or method.scheme is None:
        raise RecipeError(
            "A series in mode frozen needs cells that never change. Make a scheme (lookalike publish --scheme-out "
            "scheme.yaml), and publish every release in it: lookalike apply scheme.yaml DATA --series NAME --mode "
            "frozen."
        )
    if method.suppress > 0:
        raise RecipeError("In a series in mode frozen, rows wait instead of being left out. Leave out --suppress.")
    if prepared.data.persons is not None:
        raise Unsupported("A series in mode frozen publishes one row per person: --rows one --keep first.")
    scheme = hashlib.sha256(scheme_text(method.scheme).encode()).hexdigest()
    if extra.get("scheme", scheme) != scheme:
        raise RecipeError(
            "The series has another scheme, and its cells never change. Apply the scheme of its first release."
        )
    data = prepared.data
    people, groups = _list_histories(names, before)
    n_gone = len(people) - data.n_rows
    cells = method.scheme.locate(data).cell_of_record.astype(np.int64)
    ever = (groups != ABSENT).any(axis=1) if before else np.zeros(len(people), dtype=bool)
    block = np.full(len(people), NEVER)
    block[ever] = np.unique(groups[ever], axis=0, return_inverse=True)[1].reshape(-1)
    rows = FrozenRows(
        cell=_find_cells(cells, groups, n_gone),
        block=block,
        present=np.arange(len(people)) < data.n_rows,
        left=ever & (groups[:, -1] == ABSENT) if before else ever,
    )
    known = _with_gone(data, people, groups, before)
    # Promises of earlier releases are about people who are still in the series: a weaker one later does not end them.
    promised = itertools.chain(prepared.promises, *(one.contents.promises for one in before))
    promises = list({str(promise): promise for promise in promised}.values())
    about_values = any(not promise.model.about_identity for promise in promises)
    keeps = frozen_test(known, promises, prepared.recipe.adversary)
    plan = plan_batch(rows, keeps, about_values=about_values)
    if plan.lingers.any():
        raise Infeasible(
            f"{counted(int(plan.lingers.sum()), 'published row')} gone from the table may not leave yet: those that "
            "leave, or those that stay behind in their group, would not keep the promise by themselves. Put the rows "
            "back into the table, and take them out when more of their group leave."
        )
    records = np.flatnonzero(plan.published[: data.n_rows])
    if not len(records):
        raise Infeasible(
            "Nothing can be published yet: in no cell of the scheme do the new rows keep the promise by themselves. "
            "Wait for more rows, or begin the series with larger cells."
        )
    made_ready = replace(prepared, data=_narrow_types(data.take(records), prepared.recipe.schema))
    n_back = int((rows.left & rows.present).sum())
    said = [f"Frozen cells (for internal use only): {plan}."]
    if n_back:
        said.append(f"{counted(n_back, 'person')} who left the series and came back stay out of it.")
    return made_ready, records, scheme, said


def _narrow_types(data: Microdata, asked: Schema) -> Microdata:
    """Columns of numbers as whole numbers if no row has another: a row that waits must not show by their type."""
    declared = {attribute.name for attribute in asked.attributes if attribute.type is not None}
    blocks = {"sensitive": data.sensitive, "carried": data.carried}
    domains: dict[str, tuple[Domain, ...]] = {}
    for role, block in blocks.items():
        columns = [
            (domain, codes) if domain.name in declared else _as_whole_numbers(domain, codes)
            for domain, codes in zip(getattr(data.domains, role), block.T, strict=True)
        ]
        domains[role] = tuple(domain for domain, _ in columns)
        blocks[role] = np.column_stack([np.empty((data.n_rows, 0), dtype=np.int32), *(codes for _, codes in columns)])
    return replace(
        data,
        domains=replace(data.domains, sensitive=domains["sensitive"], carried=domains["carried"]),
        sensitive=blocks["sensitive"],
        carried=blocks["carried"],
    )


def _as_whole_numbers(domain: Domain, codes: Codes) -> tuple[Domain, Codes]:
    """A column without the values that these records lack, if theirs are whole numbers; else as it is."""
    known = np.unique(codes[codes < len(domain.values)])
    shown = domain.values[known]
    if (
        domain.type is not ValueType.NUMBER
        or domain.taxonomy is not None
        or not len(shown)
        or (shown != np.floor(shown)).any()
    ):
        return domain, codes
    attribute = replace(domain.attribute, type=domain.attribute.type and ValueType.INTEGER)
    made = replace(domain, attribute=attribute, type=ValueType.INTEGER, values=shown.astype(np.int64))
    return made, np.where(codes < len(domain.values), np.searchsorted(known, codes), len(known)).astype(np.int32)


def _find_cells(cells: Ints, groups: Ints, n_gone: int) -> Ints:
    """The cell of each row: of rows in the last release the cell of its group, wherever their values lie now.

    A group of which nobody is in the table any more counts as a cell by itself.
    """
    found = np.concatenate((cells, np.full(n_gone, -1, dtype=np.int64)))
    if not groups.shape[1]:
        return found
    last, next_cell = groups[:, -1], int(cells.max(initial=0)) + 1
    for group in np.unique(last[last != ABSENT]):
        inside = last == group
        here = found[inside & (found >= 0)]
        found[inside] = here.min() if len(here) else next_cell
        next_cell += not len(here)
    found[found < 0] = next_cell
    return found


def _list_histories(names: Sequence[str], before: Sequence[Before]) -> tuple[list[str], Ints]:
    """Digests of the table's people, then of those who are gone; [people, releases] the group of each, or ABSENT."""
    if not before:
        return [*names], np.empty((len(names), 0), dtype=np.int64)
    key = before[-1].key
    people = [digest(key, "person", name) for name in names]
    place = {person: number for number, person in enumerate(people)}
    shown = []
    for one in before:
        assert one.people is not None, "A ledger lists the people of each release."
        listed = dict(zip(one.people.persons, one.people.groups.tolist(), strict=True))
        shown.append({person: group for person, group in listed.items() if group >= 0})
    for person in itertools.chain(*shown):
        place.setdefault(person, len(place))
    groups = np.full((len(place), len(before)), ABSENT, dtype=np.int64)
    for release, found in enumerate(shown):
        for person, group in found.items():
            groups[place[person], release] = group
    return [*place], groups


def _with_gone(data: Microdata, people: Sequence[str], groups: Ints, before: Sequence[Before]) -> Microdata:
    """The table and, behind it, rows of the people who are gone, with the values that were published of them."""
    gone = range(data.n_rows, len(people))
    if not gone:
        return data
    data = with_earlier_values(data, [one.contents for one in before])
    found = np.array([_find_values(data, people[person], groups[person], before) for person in gone], dtype=np.int32)
    return replace(
        data,
        quasi=np.vstack((data.quasi, np.zeros((len(gone), data.quasi.shape[1]), dtype=np.int32))),
        sensitive=np.vstack((data.sensitive, found)),
        carried=np.vstack((data.carried, np.zeros((len(gone), data.carried.shape[1]), dtype=np.int32))),
    )


def _find_values(data: Microdata, person: str, groups: Ints, before: Sequence[Before]) -> list[int]:
    """The sensitive codes of a person who is gone."""
    release = int(np.flatnonzero(groups != ABSENT)[-1])
    one = before[release]
    assert one.people is not None
    stated = one.people.values[one.people.persons.index(person)]
    names = sorted(domain.name for domain in (*data.domains.sensitive, *data.domains.carried))
    shown = one.contents.frame.filter(one.contents.frame[CLASS] == int(groups[release]))
    for texts in shown.select([value_column(name) for name in names]).unique().iter_rows():
        parts = [part for name, text in zip(names, texts, strict=True) for part in (name, text)]
        if digest(one.key, "values", person, *parts) == stated:
            by_name = dict(zip(names, texts, strict=True))
            return [_code_of(domain, by_name[domain.name]) for domain in data.domains.sensitive]
    raise DataError(f"The ledger does not fit {one.name}: it was changed or damaged. Restore it.")


def _code_of(domain: Domain, text: str | None) -> int:
    return domain.missing_code if text is None else DomainIndex(domain).find(text)


def _describe_movers(before: Sequence[Before], now: Now) -> str:
    """A sentence about people who are shown in another cell than in the last release, if there are any."""
    if not before:
        return ""
    _, groups = _list_histories(now.names, before)
    last = groups[: len(now.names), -1]
    pairs = np.unique(np.column_stack((last, now.groups))[(last != ABSENT) & (now.groups != ABSENT)], axis=0)
    # Groups of the two releases that show the same cell are those that share most of their people.
    shared = Counter(zip(last.tolist(), now.groups.tolist(), strict=True))
    moved = 0
    for group in np.unique(pairs[:, 0]).tolist():
        counts = [shared[group, other] for other in pairs[pairs[:, 0] == group][:, 1].tolist()]
        moved += sum(counts) - max(counts)
    if not moved:
        return ""
    return (
        f"{counted(moved, 'person')} moved to another cell since the last release: give them the quasi-identifiers "
        "that they were first published with, as cells stay the same and so must who is in them. "
    )


def hold_frozen(before: Sequence[Before], now: Now, data: Microdata, adversary: str) -> list[str]:
    """Raise `AuditFailed` unless every set of rows with one history keeps every promise; else a sentence."""
    people, groups = _list_histories(now.names, before)
    shown = np.concatenate((now.groups, np.full(len(people) - len(now.names), ABSENT)))
    known: Codes = _with_gone(data, people, groups, before).sensitive
    domains = with_earlier_values(data, [one.contents for one in before]).domains.sensitive
    promises = [*(one.contents.promises for one in before), now.contents.promises]
    problems = audit_histories(np.column_stack((groups, shown)), known, promises, domains, adversary)
    if not problems:
        releases, joined, codes = number_alike(before, now, data)
        problems = audit_bounds(releases, joined, codes, adversary)
    if problems:
        raise AuditFailed(
            f"The series does not keep its promises with this release; nothing is written. {'; '.join(problems)}. "
            f"{_describe_movers(before, now)}If rows were taken out of the table, put some of them back and take them "
            "out before a later release."
        )
    n_releases = len(before) + 1
    return [
        f"The series keeps its promises in {counted(n_releases, 'release')}: rows that appear, stay and leave together "
        "keep them by themselves."
    ]
