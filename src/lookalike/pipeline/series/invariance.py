"""A series in mode m-invariant: signatures from the ledger, values that only earlier releases had, the audit.

A person whose value was corrected to one of the signature keeps it. One whose value is another now counts as a person
who left and one who came, under its own name in the ledger, and gets a signature that shares no value with the
earlier ones: if it did, what they share would be left for a reader who takes values to be the same, and what the later
one adds for a reader who knows why signatures change. One whose value is in the first signature again gets that back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from lookalike.algorithms.shared.m_invariant import MInvariant, Signature
from lookalike.audit.paths import ClassValues
from lookalike.audit.reading import Ints
from lookalike.audit.series import audit_series, check_m_invariance
from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.release import COUNTERFEITS
from lookalike.data.schema import ValueType
from lookalike.errors import AuditFailed, RecipeError, Unsupported, counted, quoted
from lookalike.files.releases.assemble import DomainIndex
from lookalike.files.releases.cells import raw_values, values_of
from lookalike.files.releases.read import ReleaseFolder
from lookalike.pipeline.recipe import Prepared, Recipe, require
from lookalike.pipeline.series.check import Before, Now, number_alike, sum_counts
from lookalike.pipeline.series.contents import CLASS, ROWS, Contents, read_contents, value_column
from lookalike.pipeline.series.people import digest, list_people

_CORRECTED = "\0corrected "


def choose_m_invariant(recipe: Recipe) -> Recipe:
    """The recipe with the method of this mode; raises if something else is promised."""
    if recipe.algorithm is not None:
        raise RecipeError("A series in mode m-invariant has its own method. Leave out --algorithm.")
    if recipe.schema.person is None:
        raise RecipeError(
            "A series in mode m-invariant recognises people by the column that identifies them. Name it (--person "
            "COLUMN)."
        )
    if len(recipe.schema.sensitive) != 1:
        raise Unsupported(
            "A series in mode m-invariant keeps one sensitive column: rows are made up for its values. Name one "
            "sensitive column, and carry or leave out the others."
        )
    found = []
    for promise in recipe.promises:
        model: Any = promise.model
        if (
            model.name != "l-diversity"
            or model.kind != "simple"
            or model.subset
            or model.band is not None
            or model.ell.denominator != 1
        ):
            raise Unsupported(
                f"A series in mode m-invariant promises l-diversity:m with a whole m for all values, not {promise}. "
                "Promise that alone, or keep the series in another mode."
            )
        found.append(int(model.ell))
    return replace(recipe, algorithm=MInvariant(max(2, *found) if found else 2))


def prepare_m_invariant(
    prepared: Prepared, names: Sequence[str], before: Sequence[Before], extra: Mapping[str, Any]
) -> tuple[Prepared, list[str], int, list[str]]:
    """The recipe with signatures, what each record is recognised by, m, and sentences for the owner."""
    method = prepared.algorithm
    assert isinstance(method, MInvariant)
    m = int(method.m)
    if int(extra.get("m", m)) != m:
        raise RecipeError(
            f"The series keeps m = {extra['m']}, and {m} is asked for. The groups of all releases need the same m: "
            f"promise l-diversity:{extra['m']}."
        )
    data = with_earlier_values(prepared.data, [one.contents for one in before])
    domain = data.domains.sensitive[0]
    identities, known, barred = list(names), dict[int, Signature](), dict[int, frozenset[int]]()
    latest = _latest(before, domain)
    for record, name in enumerate(names):
        held = _signatures_of(name, before, latest)
        fitting = [number for number, signature in enumerate(held) if int(data.sensitive[record, 0]) in signature]
        if fitting:
            identities[record], known[record] = _name(name, fitting[-1]), held[fitting[-1]]
        elif held:
            identities[record], barred[record] = _name(name, len(held)), frozenset().union(*held)
    donors = _find_donors(before, data)
    _refuse_traces(data, before, donors)
    said = []
    if barred:
        said.append(
            f"{counted(len(barred), 'person')} with a value now that their group did not have: counted as people who "
            "left and others who came, in groups without any value of their earlier ones. Those for whom there is no "
            "such group wait."
        )
    requirements = require(prepared.promises, data, eligible=False)
    made_ready = replace(prepared, data=data, requirements=requirements, algorithm=method.over(known, donors, barred))
    return made_ready, identities, m, said


def _signatures_of(name: str, before: Sequence[Before], latest: Mapping[str, Signature]) -> list[Signature]:
    """The signatures of a person, one more after each value that was in none of them."""
    found: list[Signature] = []
    while (signature := latest.get(_digest_of(before, name, len(found)))) is not None:
        found.append(signature)
    return found


def _name(name: str, number: int) -> str:
    return name if number == 0 else f"{name}{_CORRECTED}{number}"


def plain_name(identity: str) -> str:
    """What a person is recognised by outside the series: without the number of signatures."""
    return identity.partition(_CORRECTED)[0]


def _digest_of(before: Sequence[Before], name: str, number: int) -> str:
    return digest(before[-1].key, "person", _name(name, number)) if before else ""


def _latest(before: Sequence[Before], domain: Domain) -> dict[str, Signature]:
    """By digest, the values of the group that a person was in last."""
    index, found = DomainIndex(domain), dict[str, Signature]()
    for one in before:
        assert one.people is not None
        column = value_column(one.contents.sensitive[0])
        sets: dict[int, set[int]] = {}
        for group, text in one.contents.frame.select(CLASS, column).iter_rows():
            sets.setdefault(group, set()).add(domain.missing_code if text is None else index.find(text))
        for person, group in zip(one.people.persons, one.people.groups.tolist(), strict=True):
            if group >= 0:
                found[person] = tuple(sorted(sets[group]))
    return found


def with_published_values(data: Microdata, opened: ReleaseFolder) -> Microdata:
    """The original with the values that only made-up rows of its release have, where the release declares these."""
    if COUNTERFEITS not in opened.manifest.tables:
        return data
    return with_earlier_values(data, [read_contents(opened.path)[0]])


def with_earlier_values(data: Microdata, before: Sequence[Contents]) -> Microdata:
    """The table with domains that also have the values of earlier releases, for made-up rows."""
    blocks = {"sensitive": data.sensitive, "carried": data.carried}
    domains: dict[str, list[Domain]] = {"sensitive": [], "carried": []}
    for role, block in blocks.items():
        columns = []
        for domain, codes in zip(getattr(data.domains, role), block.T, strict=True):
            shown = [one.frame[value_column(domain.name)] for one in before]
            made, changed = extend_domain(domain, codes, pl.concat(shown).unique().to_list() if shown else [])
            domains[role].append(made)
            columns.append(changed)
        blocks[role] = np.column_stack([np.empty((data.n_rows, 0), dtype=np.int32), *columns])
    known = Domains(data.domains.quasi, tuple(domains["sensitive"]), tuple(domains["carried"]))
    return replace(data, domains=known, sensitive=blocks["sensitive"], carried=blocks["carried"])


def extend_domain(domain: Domain, codes: Codes, texts: Sequence[str | None]) -> tuple[Domain, Codes]:
    """The domain with further values, and the codes of the records in it."""
    index = DomainIndex(domain)
    new = sorted({text for text in texts if text is not None and index.find(text) < 0})
    with_missing = domain.has_missing or None in texts
    if not new and with_missing == domain.has_missing:
        return domain, codes
    if new and (
        domain.taxonomy is not None or domain.attribute.order is not None or domain.attribute.values is not None
    ):
        raise Unsupported(
            f"Earlier releases have {counted(len(new), 'value')} of {quoted(domain.name)} that its taxonomy, order or "
            "list of values lacks. Declare all values of the series."
        )
    try:
        added = raw_values(values_of(new, domain.type), domain.type) if new else domain.values[:0]
    except (TypeError, ValueError):
        raise Unsupported(
            f"Earlier releases have values of {quoted(domain.name)} that are no {domain.type}. Declare its type in a "
            "schema."
        ) from None
    joined = np.concatenate((domain.values, added))
    order = np.argsort(joined, kind="stable")
    values = joined[order]
    if domain.type is ValueType.STRING:
        held = np.empty(len(values), dtype=object)
        held[:] = values
        values = held
    place = np.empty(len(order) + 1, dtype=np.int32)
    place[order] = np.arange(len(order))
    place[-1] = len(order)
    moved = np.where(codes == domain.missing_code, place[-1], place[np.minimum(codes, len(order) - 1)])
    size = len(values) + with_missing
    made = replace(domain, values=values, has_missing=with_missing, size=max(domain.size, size))
    return made, moved.astype(np.int32)


def _refuse_traces(data: Microdata, before: Sequence[Before], donors: Mapping[int, tuple[int, ...]]) -> None:
    """Refuse carried columns by which a reader follows a row from one release to the next.

    If rows with the same sensitive value carry different values, a row can be found again by them in a later release.
    Anyone who is in both groups, and there may be one such person, has the row. So a value may carry one thing only.
    """
    if not data.carried.shape[1]:
        return
    rows = np.unique(np.column_stack((data.sensitive[:, 0], data.carried)), axis=0)
    several = len(rows) != len(np.unique(rows[:, 0]))
    for row in rows.tolist():
        several |= row[0] in donors and donors[row[0]] != tuple(row[1:])
    for one in before:
        shown = one.contents.frame.drop(CLASS, ROWS).unique()
        several |= len(shown) != shown[value_column(data.domains.sensitive[0].name)].n_unique()
    if several:
        names = " and ".join(quoted(domain.name) for domain in data.domains.carried)
        raise Unsupported(
            f"Rows with the same value of {quoted(data.domains.sensitive[0].name)} carry different values of {names}. "
            "A reader could follow a row by them from one release to the next and find whose it is. Publish without "
            "carried columns, or with ones that follow from the sensitive value."
        )


def _find_donors(before: Sequence[Before], data: Microdata) -> dict[int, tuple[int, ...]]:
    """By value, what a row of an earlier release with it carried."""
    domain, carried = data.domains.sensitive[0], data.domains.carried
    indexes = [DomainIndex(one) for one in carried]
    own, found = DomainIndex(domain), dict[int, tuple[int, ...]]()
    for one in before if carried else ():
        columns = [value_column(domain.name), *(value_column(other.name) for other in carried)]
        for value, *texts in one.contents.frame.select(columns).iter_rows():
            code = domain.missing_code if value is None else own.find(value)
            found[code] = tuple(
                other.missing_code if text is None else index.find(text)
                for other, index, text in zip(carried, indexes, texts, strict=True)
            )
    return found


def hold_invariance(before: Sequence[Before], now: Now, data: Microdata, m: int) -> list[str]:
    """Raise `AuditFailed` unless the series is m-invariant with the new release; else sentences about it."""
    releases, domains, codes = number_alike(before, now, data)
    by_code = [replace(one, values=_without_carried(one.values, codes[0])) for one in releases]
    problems = check_m_invariance(by_code, [m] * len(releases))
    separate, _, _ = number_alike(*_by_value(before, now, data), data)
    read = audit_series(
        [replace(one, promises=(), values=_without_carried(one.values, codes[0])) for one in separate],
        domains,
        [np.arange(domains[0].n_codes)],
    )
    if read.changed:
        problems.append(f"the releases contradict each other about {counted(read.changed, 'person')}")
    if any(one.together for one in read.certain):
        problems.append(f"one value is left for {counted(max(one.together for one in read.certain), 'person')}")
    if shared := _count_shared(before, now):
        problems.append(
            f"{counted(shared, 'person')} with a changed value in a group that shares values with an earlier one"
        )
    if problems:
        raise AuditFailed(
            f"The series is not {m}-invariant with this release; nothing is written. {'; '.join(problems)}. Publish "
            "again, as groups are drawn anew (with another --seed, if you gave one)."
        )
    n_again = int(np.count_nonzero(releases[-1].class_of_person >= 0)) if before else 0
    said = f"The series is {m}-invariant in {counted(len(releases), 'release')}"
    return (
        [f"{said}: every group has different values, and everybody in it had the same values before."]
        if n_again
        else []
    )


def _count_shared(before: Sequence[Before], now: Now) -> int:
    """How many persons share a value with a group that they were in under an earlier value."""
    seen: dict[str, set[str | None]] = {}
    for one in before:
        assert one.people is not None
        sets = _sets_of(one.contents)
        for person, group in zip(one.people.persons, one.people.groups.tolist(), strict=True):
            if group >= 0:
                seen.setdefault(person, set()).update(sets[group])
    shown, n_shared = _sets_of(now.contents), 0
    for identity, group in zip(now.names, now.groups.tolist(), strict=True):
        person, others, number = plain_name(identity), set[str | None](), 0
        while (other := _name(person, number)) == identity or _digest_of(before, person, number) in seen:
            others |= set() if other == identity else seen[_digest_of(before, person, number)]
            number += 1
        n_shared += group >= 0 and not others.isdisjoint(shown[group])
    return n_shared


def _by_value(before: Sequence[Before], now: Now, data: Microdata) -> tuple[list[Before], Now]:
    """The same with persons whose values changed as several persons, one per value.

    Readers who take values to be the same in all releases contradict themselves about these persons. That is no fault
    of the series: whatever is said of the values of a group is as true of any other order of these values.
    """
    if not before:
        return [], now
    separate = []
    for one in before:
        assert one.people is not None
        people = one.people
        named = dict(zip(zip(people.persons, people.values, strict=True), people.groups.tolist(), strict=True))
        separate.append(replace(one, people=None, named={"\0".join(who): group for who, group in named.items()}))
    listed = list_people(now.names, data, now.groups, before[-1].key)
    names = ["\0".join(who) for who in zip(listed.persons, listed.values, strict=True)]
    return separate, replace(now, names=names)


def _sets_of(contents: Contents) -> dict[int, set[str | None]]:
    """The values of each group."""
    sets: dict[int, set[str | None]] = {}
    for group, text in contents.frame.select(CLASS, value_column(contents.sensitive[0])).iter_rows():
        sets.setdefault(group, set()).add(text)
    return sets


def _without_carried(held: ClassValues, code_of_value: Ints) -> ClassValues:
    return sum_counts(held.classes, code_of_value[held.values], held.counts, held.n_classes)
