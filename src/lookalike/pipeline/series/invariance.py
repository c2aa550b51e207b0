"""A series in mode m-invariant: signatures from the ledger, values that only earlier releases had, the audit.

A person whose value was corrected to one of the signature keeps it. One whose value is another now counts as a person
who left and one who came, under a name of its own in the ledger, and gets a signature as newcomers do.
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
from lookalike.pipeline.series.people import digest


def choose_m_invariant(recipe: Recipe) -> Recipe:
    """The recipe with the method of this mode; raises if something else is promised."""
    if recipe.algorithm is not None:
        raise RecipeError("A series in mode m-invariant has a method of its own. Leave out --algorithm.")
    if recipe.schema.person is None:
        raise RecipeError(
            "A series in mode m-invariant recognises people by a column. Name the one that says whose row it is "
            "(--person COLUMN)."
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
    identities, known, n_new = list(names), {}, 0
    latest = _latest(before, domain)
    for record, name in enumerate(names):
        value = int(data.sensitive[record, 0])
        number, signature = 0, None
        while (held := latest.get(_digest_of(before, name, number))) is not None:
            signature, number = held, number + 1
        if signature is None:
            continue
        if value in signature:
            identities[record] = _name(name, number - 1)
            known[record] = signature
        else:
            identities[record] = _name(name, number)
            n_new += 1
    donors = _find_donors(before, data)
    _refuse_traces(data, before, donors)
    said = []
    if n_new:
        said.append(
            f"{counted(n_new, 'person')} with a value now that their group did not have: counted as people who left "
            "and others who came, in other groups. Somebody who takes values to be the same in all releases may "
            "believe something false of them."
        )
    requirements = require(prepared.promises, data, eligible=False)
    made_ready = replace(prepared, data=data, requirements=requirements, algorithm=method.over(known, donors))
    return made_ready, identities, m, said


def _name(name: str, number: int) -> str:
    return name if number == 0 else f"{name}\0corrected {number}"


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
    Whoever is in both groups, and there may be one such person, has the row. So a value may carry one thing only.
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
    read = audit_series([replace(one, promises=()) for one in by_code], domains, [np.arange(domains[0].n_codes)])
    if read.changed:
        problems.append(f"the releases contradict each other about {counted(read.changed, 'person')}")
    if any(one.together for one in read.certain):
        problems.append(f"one value is left for {counted(max(one.together for one in read.certain), 'person')}")
    if problems:
        raise AuditFailed(
            f"The series is not {m}-invariant with this release; nothing is written. {'; '.join(problems)}."
        )
    n_again = int(np.count_nonzero(releases[-1].class_of_person >= 0)) if before else 0
    said = f"The series is {m}-invariant in {counted(len(releases), 'release')}"
    return (
        [f"{said}: every group has different values, and everybody in it had the same values before."]
        if n_again
        else []
    )


def _without_carried(held: ClassValues, code_of_value: Ints) -> ClassValues:
    return sum_counts(held.classes, code_of_value[held.values], held.counts, held.n_classes)
