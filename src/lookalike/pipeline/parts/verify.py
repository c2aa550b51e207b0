"""A release in parts audited again, against a table that lies elsewhere: nobody holds either.

Nothing is believed of how the release was made. What each part reaches over, its hull, is read from its files. Parts
whose hulls overlap are taken together; then a person fits rows of one fragment alone, every record belongs to the one
whose hull holds it, and the audits of the fragments join to that of the whole, exactly. A record in no hull has no row,
and the release fails.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike import models
from lookalike.audit import Audit, Grounds, PartAudit, audit_part, join_audits
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Codes, Domains
from lookalike.data.person_settings import PersonSettings
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Ranges, Release
from lookalike.data.schema import Attribute, Schema
from lookalike.errors import DataError, LookalikeError, RecipeError, Unsupported
from lookalike.files.releases.parts import mix_parts
from lookalike.files.releases.read import ReleaseFolder, read_matrices, withheld_of
from lookalike.pipeline.backends import Backend
from lookalike.pipeline.hidden_data.folder import examine_description, join_findings
from lookalike.pipeline.hidden_data.grounds import exact_columns, exact_counts, list_declared, list_stated
from lookalike.pipeline.hidden_data.tables import TableFindings, examine_tables
from lookalike.pipeline.parts.cut import MOST_IN_A_PART
from lookalike.pipeline.parts.persons import select_persons
from lookalike.pipeline.parts.publish import load_results, skeleton
from lookalike.pipeline.parts.repeated import refuse_repeated_elsewhere
from lookalike.pipeline.parts.survey import Survey, survey
from lookalike.pipeline.recipe import settle
from lookalike.pipeline.run import standard_measures
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

_REFUSED = {
    Bucketized.form: "the parts of two tables overlap, and which records went into which is not published",
    Matched.form: "people fit rows of several parts, and which records went into which is not published",
}

_NOT_OF_THIS_TABLE = "It is not a release of this table, or it was changed."


@dataclass(frozen=True, eq=False)
class _Hulls:
    """Boxes of codes, both ends included. Fits `contracts.Fragments`.

    Boxes that overlap belong to one fragment. Records in no box go to a fragment after the last.
    """

    lows: NDArray[np.int32]
    """[boxes, quasi-identifiers]"""
    highs: NDArray[np.int32]
    rows: tuple[int, ...]
    """How many published rows lie in each box."""

    is_ranked = False

    @cached_property
    def fragment_of_box(self) -> NDArray[np.int64]:
        """Boxes that reach over a combination of values in common, directly or by others, have the same number."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        ones, others = [], []
        for number in range(1, len(self.lows)):
            meets = (self.lows[:number] <= self.highs[number]) & (self.highs[:number] >= self.lows[number])
            found = np.flatnonzero(meets.all(axis=1))
            ones += [number] * len(found)
            others += found.tolist()
        met = csr_array((np.ones(len(ones)), (ones, others)), shape=(len(self.lows), len(self.lows)))
        _, numbers = connected_components(met, directed=False)
        return np.asarray(numbers, dtype=np.int64)

    @property
    def n_parts(self) -> int:
        return int(self.fragment_of_box.max()) + 2

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(np.bincount(self.fragment_of_box, weights=self.rows, minlength=self.n_parts).astype(int).tolist())

    def order(self, codes: Codes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        raise NotImplementedError("hulls rank nothing")

    def part_of(self, codes: Codes, ranks: NDArray[np.int64] | None = None) -> NDArray[np.int32]:
        quasi = codes[:, : self.lows.shape[1]]
        parts = np.full(len(codes), self.n_parts - 1, dtype=np.int32)
        for low, high, fragment in zip(self.lows, self.highs, self.fragment_of_box, strict=True):
            parts[((quasi >= low) & (quasi <= high)).all(axis=1)] = fragment
        return parts


def _hull_of(release: Release) -> tuple[list[int], list[int]]:
    """The least and the greatest code that a release shows of each quasi-identifier; missing is the code after all."""
    lows, highs = [], []
    for index, domain in enumerate(release.domains.quasi):
        if isinstance(release, Bucketized | Perturbed):
            shown = release.quasi[:, index]
        elif isinstance(extents := release.extents[index], Ranges):
            filled = extents.highs >= extents.lows
            lacking = [domain.missing_code] if bool(extents.missing.any()) else []
            shown = np.concatenate([extents.lows[filled], extents.highs[filled], np.array(lacking, dtype=np.int32)])
        else:
            shown = extents.members
        if not len(shown):
            raise DataError(f"A part has rows that no record of the original fits. {_NOT_OF_THIS_TABLE}")
        lows.append(int(shown.min()))
        highs.append(int(shown.max()))
    return lows, highs


@dataclass(frozen=True, eq=False)
class _HullWork:
    """What a part reaches over, read from its files."""

    folder: ReleaseFolder
    domains: Domains

    def __call__(self, place: int) -> bytes:
        try:
            return pickle.dumps((place, _hull_of(self.folder.parts_over([place], self.domains))))
        except LookalikeError as error:
            return pickle.dumps((place, error))


@dataclass(frozen=True, eq=False)
class _AuditedPart:
    """What a part hands on: its audit, what its files were found to be, and how often its exact values occur."""

    audit: PartAudit
    files: tuple[TableFindings, ...]
    exact: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class _AuditWork:
    """The audit of one part."""

    folder: ReleaseFolder
    survey: Survey
    promises: tuple[Promise, ...]
    hulls: _Hulls

    def __call__(self, number: int, codes: Codes) -> bytes:
        """An `AuditedPart`; the number of records where they fit none; or what went wrong."""
        try:
            if number == self.hulls.n_parts - 1:
                return pickle.dumps((number, len(codes)))
            codes = codes[np.lexsort(codes.T[::-1])]
            data = self.survey.records(codes)
            manifest = self.folder.manifest
            places = np.flatnonzero(self.hulls.fragment_of_box == number).tolist()
            release, parts = mix_parts(
                self.folder.parts_over(places, data.domains),
                {name: tuple(parts[place] for place in places) for name, parts in manifest.parts.items()},
            )
            found = audit_part(
                data,
                release,
                self.promises,
                measures=standard_measures(),
                adversary=manifest.adversary,
                parts=parts,
                number_known=data.number_known,
                owners=codes[:, self.survey.n_published] if self.survey.counts_persons else None,
            )
            files = [
                examine_tables(self.folder, place, self.folder.parts_over([place], data.domains)) for place in places
            ]
            return pickle.dumps((number, _AuditedPart(found, tuple(files), exact_counts(release))))
        except LookalikeError as error:
            return pickle.dumps((number, error))


def verify_in_parts(
    backend: Backend,
    folder: Path,
    promises: Sequence[Promise] = (),
    *,
    units: Sequence[Attribute] = (),
    persons: PersonSettings | None = None,
    stated: Sequence[str] = (),
    progress: Progress = silent,
) -> Audit:
    """Audit a release in parts; without `promises`, what it promises itself.

    `units`: the columns of the original that say whose row it is, if persons are counted; `persons`: how their rows
    are published; `stated`: what of this no file shows.
    """
    persons = persons or PersonSettings()
    # Executors have working their own folders.
    opened = ReleaseFolder(folder.resolve())
    manifest = opened.manifest
    if not manifest.parts:
        raise RecipeError(f"{folder} is one release and not in parts. Audit it on one machine: lookalike audit.")
    if manifest.form not in (Grouped.form, Perturbed.form):
        raise Unsupported(
            f"A {manifest.form} release in parts is audited while it is made; again it is on one machine that holds it "
            f"(lookalike audit), because {_REFUSED[manifest.form]}."
        )
    if manifest.n_suppressed or manifest.n_dummies:
        raise Unsupported(
            "Records were left out or made up, and parts do not say where. Audit the release on one machine."
        )
    if not units and manifest.persons is not None and manifest.persons.unit != "row":
        raise RecipeError(
            f"The release counts {manifest.persons.unit}s. Name the column of the original that identifies them "
            "(person=COLUMN)."
        )
    if units and persons.most_rows is not None:
        raise Unsupported(
            "Which rows of each person were published was drawn by a key that nobody kept. Such a release in parts is "
            "audited while it is made, and not again."
        )
    try:
        progress("survey", 0.0)
        schema = Schema((*opened.schema.attributes, *units))
        refuse_repeated_elsewhere(backend, schema, persons)
        seen = survey(backend, schema)
        backend.encode(seen.names, seen.coding)
        # All rows are counted: of which only some are published, no file says which.
        seen, _ = select_persons(backend, seen, persons, Randomness(0))
        own = tuple(Promise(models.parse_model(stated.text), stated.column) for stated in manifest.promises)
        settled = settle(promises or own, seen.data)
        domains = seen.data.domains
        matrices = read_matrices(domains, manifest) if manifest.form == Perturbed.form else ()
        bare = skeleton(seen, manifest.form, withheld_of(manifest, domains), matrices)
        about = examine_description(opened, bare)
        progress("audit", 0.0, "parts")
        parts = next(iter(manifest.parts.values()))
        ends = np.array(load_results(backend.each(_HullWork(opened, domains), len(parts))), dtype=np.int32)
        hulls = _Hulls(ends[:, 0], ends[:, 1], tuple(part.n_rows for part in parts))
        if max(hulls.sizes) > MOST_IN_A_PART:
            raise Unsupported(
                "The parts reach over the same values, so they cannot be audited apart. Audit the release on one "
                "machine that holds it: lookalike audit."
            )
        work = _AuditWork(opened, seen, settled, hulls)
        results = load_results(backend.map(work, hulls, lambda: None))
    finally:
        backend.close()
    audits = _gather_audits(results, hulls.n_parts - 1)
    examined = join_findings(about, [files for part in audits for files in part.files])
    grounds = Grounds(
        publishers_roles=True,
        stated=(
            *list_stated(manifest),
            *stated,
            *(said for attribute in opened.schema.published for said in list_declared(attribute)),
            *(f"its own promise {one}" for one in own if promises and one not in settled),
        ),
        not_checked=examined.not_checked,
        exact=exact_columns(
            bare, [np.sum(counts, axis=0) for counts in zip(*(part.exact for part in audits), strict=True)]
        ),
    )
    audit = join_audits([part.audit for part in audits]).audit
    return replace(audit, checks=(*examined.checks, *audit.checks), grounds=grounds)


def _gather_audits(results: Sequence[_AuditedPart | int], n_parts: int) -> list[_AuditedPart]:
    audits = []
    for result in results:
        if isinstance(result, int):
            raise DataError(f"{result:,} records of the original fit no row of the release. {_NOT_OF_THIS_TABLE}")
        audits.append(result)
    if len(audits) < n_parts:
        raise DataError(
            f"{n_parts - len(audits)} of {n_parts} parts have rows that no record of the original fits. "
            f"{_NOT_OF_THIS_TABLE}"
        )
    return audits
