"""A part of a release audited where its rows are: the same audit, and the few units that decide for the whole.

A table that is larger than a machine is published in parts, and nobody ever holds all of it. Each part is examined like
its own release, against promises that are measured by the whole table's counts (`Microdata.whole`). What is handed
on holds no rows and does not grow with them: counts, and of each exposure those units that a level can rest on.

Every model promises something of *every* unit. So its level is that of its worst unit, or of its few worst (alpha-k
names the smallest group beside the highest certainty), and the worst of the whole is the worst of the parts' worst. Of
an
exposure are kept, then, for each model the units that by themselves give the part's level, which is tried and not taken
for granted; the smallest unit; and for each value the unit that leaves the highest certainty in it, which reports show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.carried import CarriedRisk, measure_carried
from lookalike.audit.exposures import part
from lookalike.audit.perturbation import Redrawn, matrix_problem, redrawings
from lookalike.audit.reading import Ints
from lookalike.audit.verdicts import Audit
from lookalike.audit.verify import Examined, examine
from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Microdata
from lookalike.data.release import Matched, MatchGraph, Perturbed, Release, Withheld

Subject = tuple[str | None, str]
"""What probabilities are about, a sensitive column (None: identity), and how rows or persons are counted in them."""
COUNTED, POSSIBLE, MIXED = "counted", "possible", "mixed"
"""As they are; also rows that are only possible; each person's different values in equal parts."""
_MOST_PAIRS = 10_000_000
"""Rows of a table up to which parts hand on which persons they have."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PartAudit:
    """What a part hands on: its audit, and what the audit of the whole needs. Counts and probabilities, no rows."""

    audit: Audit
    promises: tuple[Promise, ...]
    measures: tuple[Promise, ...]
    exposures: Mapping[Subject, Exposure]
    """Thinned to the units that a level can rest on."""
    sizes: Mapping[int, int]
    """How many units there are of each size; empty where sizes are no numbers of rows."""
    counts: tuple[NDArray[np.int64], ...]
    """How often each value of a sensitive column occurs in this part."""
    whole_counts: tuple[NDArray[np.int64], ...]
    """And in the whole table, as this part was given."""
    n_whole: int
    """How many records the whole table has, as this part was given."""
    whole_persons: tuple[tuple[int, ...], ...] | None = None
    """By persons: how many the whole table has, and how many of them have each value, column by column."""
    persons: tuple[NDArray[np.int64], ...] | None = None
    """By persons, for tables up to a size: those of this part, and those with each value, as numbers of pairs."""
    withheld: Withheld
    carried: tuple[CarriedRisk, ...] = ()
    """What carried columns reveal to someone who knows them."""
    redrawn: tuple[Redrawn, ...] = ()
    """How perturbed columns were redrawn."""


def audit_part(
    original: Microdata,
    release: Release,
    promises: Sequence[Promise],
    *,
    graph: MatchGraph | None = None,
    owners: NDArray[np.int32] | None = None,
    **known: Any,
) -> PartAudit:
    """`verify` for a part of a release and the records it is about; `audit.join_audits` makes one audit of them.

    `known` are further arguments of `examine`. What is audited together may be several parts: `parts` then says in
    which each row lies. `owners`: whose each record is, by numbers that mean the same in every part.
    """
    examined = examine(original, release, promises, graph=graph, **known)
    seen = _exposures(examined, graph) if examined.sound else {}
    n_sensitive = len(original.domains.sensitive)
    return PartAudit(
        audit=examined.audit,
        promises=tuple(promises),
        measures=tuple(promise for promise, _ in examined.measured),
        exposures={subject: thin_exposure(exposure, models) for subject, (exposure, models) in seen.items()},
        sizes=_sizes(exposure for (_, kind), (exposure, _) in seen.items() if kind == COUNTED),
        counts=tuple(original.counts(index).astype(np.int64, copy=False) for index in range(n_sensitive)),
        whole_counts=_whole_rows(original),
        n_whole=original.n_rows if original.whole is None else original.whole.n_rows,
        whole_persons=_whole_persons(original),
        persons=_list_persons(original, owners),
        withheld=release.withheld,
        carried=measure_carried(examined, candidates=False),
        redrawn=tuple(redrawings(examined.reading)) if examined.sound and isinstance(release, Perturbed) else (),
    )


def _whole_rows(original: Microdata) -> tuple[NDArray[np.int64], ...]:
    whole = original.whole
    if whole is not None and whole.row_counts is not None:
        return whole.row_counts
    return tuple(original.prior(index) for index in range(len(original.domains.sensitive)))


def _whole_persons(original: Microdata) -> tuple[tuple[int, ...], ...] | None:
    if original.persons is None:
        return None
    return tuple(tuple(original.prior(index).tolist()) for index in (None, *range(len(original.domains.sensitive))))


def _list_persons(original: Microdata, owners: NDArray[np.int32] | None) -> tuple[NDArray[np.int64], ...] | None:
    """The persons of a part, and those with each value; None where the table has too many rows to hand these on."""
    n_whole = original.n_rows if original.whole is None else original.whole.n_rows
    if owners is None or n_whole > _MOST_PAIRS:
        return None
    columns = (original.sensitive[:, index] for index in range(len(original.domains.sensitive)))
    n_codes = (domain.n_codes for domain in original.domains.sensitive)
    pairs = (owners.astype(np.int64) * width + codes for width, codes in zip(n_codes, columns, strict=True))
    return tuple(np.unique(numbers) for numbers in (owners.astype(np.int64), *pairs))


def _exposures(examined: Examined, graph: MatchGraph | None) -> dict[Subject, tuple[Exposure, list[PrivacyModel]]]:
    """Everything that was looked at or that a report shows, and the models that look at it."""
    found: dict[Subject, tuple[Exposure, list[PrivacyModel]]] = {}
    release, original = examined.reading.release, examined.reading.original
    if not isinstance(release, Matched) or graph is not None:
        for index, domain in enumerate(original.domains.sensitive):
            if isinstance(release, Perturbed) and matrix_problem(release.randomizers[index]) is not None:
                continue
            found[domain.name, COUNTED] = examined.exposure(index), []
        if not isinstance(release, Perturbed):
            # Of a perturbed release persons with the same quasi-identifiers may be in several parts.
            found[None, COUNTED] = examined.exposure(None), []
    for promise, exposure_or_reason in (*examined.promised, *examined.measured):
        if isinstance(exposure_or_reason, Exposure):
            subject = _subject_of(promise, exposure_or_reason)
            found.setdefault(subject, (exposure_or_reason, []))[1].append(promise.model)
    return found


def _subject_of(promise: Promise, exposure: Exposure) -> Subject:
    about = None if promise.model.about_identity else promise.column
    if exposure.concealed is not None:
        return about, POSSIBLE
    return about, MIXED if exposure.counts_persons and promise.model.by_distribution else COUNTED


def thin_exposure(exposure: Exposure, models: Iterable[PrivacyModel]) -> Exposure:
    """The units that decide the level of each model, the smallest, and those with the highest certainty in each
    value.
    """
    if not exposure.n_units:
        return exposure
    kept = {int(np.argmin(exposure.sizes[: exposure.n_classes])), *_highest(exposure).tolist()}
    for model in models:
        kept |= _deciding(model, exposure, kept)
    return part(exposure, np.array(sorted(kept), dtype=np.int64))


def _highest(exposure: Exposure) -> Ints:
    """For each value that occurs the unit where the certainty in it is highest."""
    beliefs = (exposure.weights / exposure.sizes[exposure.unit_of_entry]).astype(np.float64)
    order = np.lexsort((beliefs, exposure.values))
    last = np.append(np.diff(exposure.values[order]) != 0, True) if len(order) else np.zeros(0, dtype=bool)
    units: Ints = exposure.unit_of_entry[order[last]]
    return units


def _deciding(model: PrivacyModel, exposure: Exposure, kept: set[int]) -> set[int]:
    """Units that, with those kept already, give the level of the whole exposure by themselves.

    Mostly the one that the level names. Where a level rests on a second one, this is found by halving: units only make
    a level worse, so the least run of them that reaches it ends with one that is needed.
    """
    wanted = model.level(exposure)

    def are_enough(units: set[int]) -> bool:
        found = model.level(part(exposure, np.array(sorted(units), dtype=np.int64)))
        undefined = wanted.value != wanted.value and found.value != found.value
        return (wanted.value == found.value or undefined) and wanted.detail == found.detail

    chosen = kept if wanted.unit is None else kept | {wanted.unit}
    while not are_enough(chosen):
        others = sorted(set(range(exposure.n_units)) - chosen)
        if not others:
            break
        too_few, enough = 0, len(others)
        while enough - too_few > 1:
            middle = (too_few + enough) // 2
            if are_enough(chosen | set(others[:middle])):
                enough = middle
            else:
                too_few = middle
        chosen = chosen | {others[enough - 1]}
    return chosen


def _sizes(exposures: Iterable[Exposure]) -> dict[int, int]:
    """Units by size; every exposure that counts rows has the same units."""
    first = next((exposure for exposure in exposures if exposure.counts_rows), None)
    return {} if first is None else first.crowds
