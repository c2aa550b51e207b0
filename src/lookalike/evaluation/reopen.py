"""Reads back a release folder, or another tool's table, together with the original it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike import models
from lookalike.algorithms import parse_algorithm
from lookalike.audit import Check, Grounds
from lookalike.audit.coarsened import check_coarsening
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.control import leave_out
from lookalike.data.microdata import Codes, Microdata, Table
from lookalike.data.person_settings import StatedPersons
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.errors import DataError, LookalikeError, RecipeError, quoted
from lookalike.evaluation.counting import Counted, Counting, count_whom
from lookalike.files.releases.describe import REWRITTEN, PublishedManifest
from lookalike.files.releases.other_tools import read_foreign_table
from lookalike.files.releases.private import check_belongs, private_folder, read_held_out
from lookalike.files.releases.read import ReleaseFolder, check_readable, over_original, release_folder
from lookalike.files.releases.tablefiles import Parts
from lookalike.files.tables import read_whole
from lookalike.files.urls import STANDARD_INPUT, at_hand, is_url
from lookalike.pipeline.hidden_data.grounds import Findings, agree_schema, exact_columns, list_declared, list_stated
from lookalike.pipeline.series.invariance import with_published_values

# What only an audit needs (reports, charts, the bytes of files) is loaded for audits alone.
if TYPE_CHECKING:
    from lookalike.evaluation.report.check import Documents


@dataclass(frozen=True, kw_only=True)
class Reopened:
    """A release read back over its original."""

    release: Release
    data: Microdata
    promises: tuple[Promise, ...] = ()
    """What its own manifest promises; empty for tables of other tools."""
    adversary: str = READS_RELEASE
    notes: tuple[str, ...]
    algorithm: Algorithm | None = None
    """The method that its manifest names; None for tables of other tools and methods of other versions."""
    parts: Parts = field(default_factory=dict)
    """Of its tables, where it was published in parts."""
    folder: Path
    """Where the release lies."""
    checks: tuple[Check, ...]
    """Of its files, where it was reopened to be audited."""
    grounds: Grounds
    """What an audit of it rests on."""
    unpublished: Mapping[str, Codes]
    """Columns of the original that the release leaves out, by name, as the rank of each record."""
    documents: Documents | None = None
    """Audit and report that lie in the folder, where an audit of the folder has their words."""
    persons: StatedPersons | None = None
    """Whose rows it has, as the release states it."""
    as_stated: bool = True
    """Whether persons are counted as the release states."""
    table: Table
    """The original as it was read, without people who are held out of the release."""
    held_out: Table | None = None
    """The records of these people, where a private folder says which they are."""
    counted: Counted
    """Whose rows are whose."""
    is_foreign: bool = False
    """Whether it is a table that another tool made."""


def reopen(
    original: Any,
    release: str | Path | object,
    schema: Schema | str | Path | None = None,
    *,
    suppressed: int = 0,
    audited: bool = False,
    ignore: Iterable[str] = (),
    counting: Counting | None = None,
    **reading: Any,
) -> Reopened:
    """Read a release folder, or a table of another tool, together with the original it was made from.

    A folder of ours brings its own schema; for another tool's table the roles must be given. To be `audited`, the files
    are examined too: a folder must agree with the schema that is given and say nothing besides its release, and columns
    without a role are refused but for those to `ignore`. `counting` says who is counted; without it, whom the release
    names.
    """
    counting = counting or Counting()
    if not isinstance(release, str | Path):
        is_made = hasattr(release, "owners_report")
        remedy = (
            'Write it first (made.write("release")) and name the folder, or look at made.audit, made.losses and '
            "made.fidelity()."
        )
        raise DataError(
            f"The release is a {type(release).__name__}, not a path. "
            f"{remedy if is_made else 'Give its folder, or the file of another tool.'}"
        )
    if release == STANDARD_INPUT and isinstance(original, str) and original == STANDARD_INPUT:
        raise RecipeError("Original and release cannot both come from standard input. Give one of them as a file.")
    given = Schema.of(schema)
    with at_hand(release) as path:
        folder = release_folder(path)
        if folder is not None:
            return _reopen_folder(original, path, folder, given, counting, audited, tuple(ignore), reading)
        if not given.published:
            if isinstance(original, str | Path) and not is_url(original) and release_folder(Path(original)) is not None:
                raise RecipeError(f"{original} is a release folder. Name the original first, then the release.")
            raise RecipeError(
                f"{path} is not a release folder of lookalike, so it does not say which column is what. Name the "
                "quasi-identifiers and the sensitive column (--qi A,B --sensitive S, or --schema FILE)."
            )
        return _reopen_table(original, path, given, counting, suppressed, audited, tuple(ignore), reading)


def _reopen_folder(
    original: Any,
    path: Path,
    folder: Path,
    given: Schema,
    counting: Counting,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    opened = ReleaseFolder(folder)
    own, manifest = opened.schema, opened.manifest
    stated = tuple(said for attribute in own.published for said in list_declared(attribute))
    with_roles = bool(given.published)
    used = given if with_roles else own
    if audited and (with_roles or ignore):
        left = tuple(attribute for attribute in own.attributes if attribute.name not in ignore)
        wanted = given if with_roles else Schema(left)
        used, merged = agree_schema(own, wanted, ignore)
        stated = merged if with_roles else stated
    hidden = manifest.persons is not None and manifest.persons.hides_salt and not manifest.parts
    if hidden and not audited and counting.private is None and private_folder(folder.absolute()).is_dir():
        # The salt is where the owner's release was written. An audit names the folder.
        check_belongs(private_folder(folder.absolute()), folder)
        counting = replace(counting, private=private_folder(folder.absolute()))
    counted = count_whom(counting, given, manifest.persons, in_parts=bool(manifest.parts))
    used = counted.over(used)
    table = read_whole(original, used, made=counted.made, **reading)
    table, held_out, said = _leave_out(table, manifest, folder, _find_private(counting, folder, audited=audited))
    if audited:
        counted.refuse_rows(table, used)
    table = counted.fold(table, used)
    held_out = None if held_out is None else counted.fold(held_out, used)
    data, kept = counted.select(Microdata.encode(table, used), table)
    data = with_published_values(data, opened)
    found = over_original(opened, data)
    promises = tuple(Promise(models.parse_model(said.text), said.column) for said in manifest.promises)
    examined, documents, ignored = Findings(), None, [f"column {quoted(name)} (ignored on request)" for name in ignore]
    if audited:
        from lookalike.evaluation.report.check import read_documents
        from lookalike.pipeline.hidden_data.folder import can_be_audited_alike, examine_folder

        examined = examine_folder(opened, found, ignored=ignore)
        rewritten = [name for name in REWRITTEN if name in manifest.files and can_be_audited_alike(manifest)]
        if not ignore:
            documents = read_documents(opened, data, table.all_names)
        elif rewritten:
            ignored.append(f"{', '.join(rewritten)} (about all columns)")
    algorithm = None
    with suppress(LookalikeError):
        algorithm = parse_algorithm(manifest.algorithm)
    grounds = Grounds(
        publishers_roles=not with_roles,
        stated=(*list_stated(manifest), *counted.stated, *stated),
        not_checked=(*ignored, *examined.not_checked),
        exact=exact_columns(found),
    )
    return Reopened(
        release=found,
        data=data,
        promises=promises,
        adversary=manifest.adversary,
        notes=(*table.notes, *said),
        algorithm=algorithm,
        parts=manifest.parts,
        folder=path,
        checks=(*examined.checks, *counted.check(data), *check_coarsening(table, data, kept)),
        grounds=grounds,
        unpublished=_find_unpublished(table, used, kept),
        documents=documents,
        persons=manifest.persons,
        as_stated=counted.as_stated,
        table=table,
        held_out=held_out,
        counted=counted,
    )


def _find_private(counting: Counting, folder: Path, *, audited: bool) -> Path | None:
    """The private folder: the one that is named or, but for an audit, the one that is beside the release."""
    if counting.private is not None or audited:
        return counting.private
    beside = private_folder(folder.absolute())
    return beside if beside.is_dir() else None


def _leave_out(
    table: Table, manifest: PublishedManifest, folder: Path, private: Path | None
) -> tuple[Table, Table | None, tuple[str, ...]]:
    """The original without the people who are held out, these, and what to say where nobody knows who they are."""
    if manifest.held_out is None:
        return table, None, ()
    if private is not None:
        check_belongs(private, folder)
    held = None if private is None else read_held_out(private)
    if held is None:
        said = (
            f"A share of {manifest.held_out} of the people of the original was held out of the release. Which they are "
            "is in the PRIVATE folder: name it (--private DIR), unless the table that you give lacks them already."
        )
        return table, None, (said,)
    rows, n_rows = held
    if table.n_rows == n_rows - len(rows):
        return table, None, ()
    kept, people = leave_out(table, rows, n_rows)
    return kept, people, ()


def _reopen_table(
    original: Any,
    path: Path,
    schema: Schema,
    counting: Counting,
    suppressed: int,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    check_readable(path)
    counted = count_whom(counting, schema, None)
    schema = counted.over(schema)
    table = read_whole(original, schema, made=counted.made, **reading)
    if audited:
        counted.refuse_rows(table, schema)
    table = counted.fold(table, schema)
    data, kept = counted.select(Microdata.encode(table, schema), table)
    notes = list(table.notes)
    found, cells = read_foreign_table(path, data, suppressed=suppressed, note=notes.append)
    examined = Findings()
    if audited:
        from lookalike.pipeline.hidden_data.other_tools import examine_table

        examined = examine_table(path, cells, data, ignore, table.names)
    grounds = Grounds(
        publishers_roles=False,
        stated=counted.stated,
        not_checked=examined.not_checked,
        normalised=examined.normalised,
        exact=exact_columns(found),
    )
    return Reopened(
        release=found,
        data=data,
        notes=tuple(notes),
        folder=path,
        checks=examined.checks,
        grounds=grounds,
        unpublished=_find_unpublished(table, schema, kept),
        table=table,
        counted=counted,
        is_foreign=True,
    )


def _find_unpublished(table: Table, schema: Schema, kept: NDArray[np.int64] | None) -> dict[str, Codes]:
    """Of the records that are published; `kept`: their rows, None: all."""
    published = {attribute.name for attribute in schema.published}
    found = {column.name: column.codes for column in table.columns if column.name not in published}
    return found if kept is None else {name: codes[kept] for name, codes in found.items()}
