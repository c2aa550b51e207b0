"""A release read back over its original: to audit it again, to measure it, to attack it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import models, pipeline
from lookalike.adversary import READS_RELEASE
from lookalike.audit import Audit, Check, Grounds, public_audit
from lookalike.contracts import Promise
from lookalike.errors import RecipeError, quoted
from lookalike.guarded import load_json, read_bytes
from lookalike.metrics import public_losses, rounded, same_figure
from lookalike.microdata import Codes, Microdata, Table
from lookalike.pipeline import settle
from lookalike.progress import Progress, silent
from lookalike.publication import ModelLike, as_promises, read_whole
from lookalike.release import Release
from lookalike.schema import Schema

if TYPE_CHECKING:
    from lookalike.packages.manifest import PublishedManifest
    from lookalike.packages.tablefiles import Parts

OWN_AUDIT = "stated audit"


@dataclass(frozen=True)
class Reopened:
    """A release read back over its original."""

    release: Release
    data: Microdata
    promises: tuple[Promise, ...]
    """What its own manifest promises; empty for tables of other tools."""
    adversary: str
    notes: tuple[str, ...]
    parts: Parts = field(default_factory=dict)
    """Of its tables, where it was published in parts."""
    folder: Path | None = None
    """Where the release lies."""
    checks: tuple[Check, ...] = ()
    """Of its files, where it was reopened to be audited."""
    grounds: Grounds | None = None
    """What an audit of it rests on."""
    unpublished: Mapping[str, Codes] = field(default_factory=dict)
    """Columns of the original that the release leaves out, by name, as the rank of each record."""
    own_audit: bytes | None = None
    """The audit that lies in the folder, where an audit of the folder has the same words."""


def reopen(
    original: Any,
    release: str | Path,
    schema: Schema | None = None,
    *,
    suppressed: int = 0,
    audited: bool = False,
    ignore: Iterable[str] = (),
    **reading: Any,
) -> Reopened:
    """Read a release folder, or a table of another tool, together with the original it was made from.

    A folder of ours brings its own schema; for another tool's table the roles must be given. To be `audited`, the files
    are examined too: a folder must agree with the schema that is given and say nothing besides its release, and columns
    without a role are refused but for those to `ignore`.
    """
    from lookalike.tables.arriving import STANDARD_INPUT, at_hand

    if release == STANDARD_INPUT and isinstance(original, str) and original == STANDARD_INPUT:
        raise RecipeError("Original and release cannot both come from standard input. Give one of them as a file.")
    with at_hand(release) as path:
        folder = _folder_of(original, path, schema)
        if folder is not None:
            return _reopened_folder(original, path, folder, schema, audited, tuple(ignore), reading)
        assert schema is not None
        return _reopened_table(original, path, schema, suppressed, audited, tuple(ignore), reading)


def _folder_of(original: Any, release: Path, schema: Schema | None) -> Path | None:
    """The release folder that a path means; None for a table of another tool, whose roles must be given."""
    from lookalike.packages.reading import release_folder
    from lookalike.tables.urls import is_url

    folder = release_folder(release)
    if folder is None and (schema is None or not schema.attributes):
        if isinstance(original, str | Path) and not is_url(original) and release_folder(Path(original)) is not None:
            raise RecipeError(f"{original} is a release folder. Name the original first, then the release.")
        raise RecipeError(
            f"{release} is not a release folder of lookalike, so it does not say which column is what. Name the "
            "quasi-identifiers and the sensitive column (--qi A,B --sensitive S, or --schema FILE)."
        )
    return folder


def _reopened_folder(
    original: Any,
    path: Path,
    folder: Path,
    schema: Schema | None,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    from lookalike.packages.agreeing import agreed, declared
    from lookalike.packages.canonical import Findings, exact_columns, examine_folder, stated_by
    from lookalike.packages.folder import read_manifest
    from lookalike.packages.reading import read_release, read_schema

    own = read_schema(folder)
    given = schema if schema is not None and schema.attributes else None
    stated = tuple(said for attribute in own.published for said in declared(attribute))
    if audited and (given is not None or ignore):
        used, merged = agreed(own, given if given is not None else without(own, ignore), ignore)
        stated = merged if given is not None else stated
    else:
        used = given or own
    table = read_whole(original, used, **reading)
    data = Microdata.encode(table, used)
    found, _ = read_release(path, data)
    manifest = read_manifest(folder)
    examined = examine_folder(folder, found, manifest, ignored=ignore) if audited else Findings()
    promises = tuple(Promise(models.parse_model(said.text), said.column) for said in manifest.promises)
    grounds = Grounds(
        publishers_roles=given is None,
        stated=(*stated_by(manifest), *stated),
        not_checked=(
            *(f"column {quoted(name)} (ignored on request)" for name in ignore),
            *(["audit.json (it is about all columns)"] if ignore and "audit.json" in manifest.files else []),
            *examined.not_checked,
        ),
        exact=exact_columns(found),
    )
    return Reopened(
        found,
        data,
        promises,
        manifest.adversary,
        table.notes,
        manifest.parts,
        path,
        examined.checks,
        grounds if audited else None,
        unpublished=_unpublished(table, used),
        own_audit=_own_audit_text(folder, manifest) if audited and not ignore else None,
    )


def _own_audit_text(folder: Path, manifest: PublishedManifest) -> bytes | None:
    from lookalike.packages.canonical import can_be_audited_alike
    from lookalike.packages.manifest import AUDIT

    if AUDIT not in manifest.files or not can_be_audited_alike(manifest):
        return None
    try:
        return read_bytes(folder / AUDIT)
    except OSError:
        return b""


def _unpublished(table: Table, schema: Schema) -> dict[str, Codes]:
    published = {attribute.name for attribute in schema.published}
    return {column.name: column.codes for column in table.columns if column.name not in published}


def without(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema less some columns."""
    left_out = set(names)
    return Schema(tuple(attribute for attribute in schema.attributes if attribute.name not in left_out))


def _reopened_table(
    original: Any,
    path: Path,
    schema: Schema,
    suppressed: int,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    from lookalike.packages.canonical import exact_columns
    from lookalike.packages.foreign import read_foreign_table
    from lookalike.packages.reading import check_readable
    from lookalike.packages.spellings import examine_table

    check_readable(path)
    table = read_whole(original, schema, **reading)
    data = Microdata.encode(table, schema)
    notes = list(table.notes)
    found, cells = read_foreign_table(path, data, suppressed=suppressed, note=notes.append)
    checks: tuple[Check, ...] = ()
    grounds = None
    if audited:
        examined = examine_table(path, cells, data, ignore, table.names)
        checks = examined.checks
        grounds = Grounds(
            publishers_roles=False,
            not_checked=examined.not_checked,
            normalised=examined.normalised,
            exact=exact_columns(found),
        )
    unpublished = _unpublished(table, schema)
    return Reopened(found, data, (), READS_RELEASE, tuple(notes), {}, path, checks, grounds, unpublished=unpublished)


def verify(
    original: Any,
    release: str | Path,
    *,
    model: ModelLike | Iterable[ModelLike] = (),
    schema: Schema | str | Path | None = None,
    private: str | Path | None = None,
    suppressed: int = 0,
    ignore: Iterable[str] = (),
    progress: Progress = silent,
) -> Audit:
    """Audit a release folder, or a table that another tool made, against the original it was made from.

    Without `model` a folder is held to what it promises itself; without `schema`, under its own column roles. `private`
    is the folder that `write(private=True)` left; a matched release is judged by the graph in it. Columns that get no
    role make the audit fail, but for those to `ignore`, which it names.
    """
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    ignored = [ignore] if isinstance(ignore, str) else ignore
    reopened = reopen(original, release, loaded, suppressed=suppressed, audited=True, ignore=ignored)
    return audit_of(reopened, as_promises(model), private, progress)


def audit_of(
    reopened: Reopened, promises: tuple[Promise, ...], private: str | Path | None = None, progress: Progress = silent
) -> Audit:
    """The audit of a release that was read back; without `promises`, of what it promises itself."""
    from lookalike.packages.mixing import mixed, parts_of_rows

    if not promises and not reopened.promises:
        raise RecipeError(
            "The release promises nothing that could be checked. Say what to hold it to, for example --model "
            "k-anonymity:10."
        )
    graph = None
    release, parts = mixed(reopened.release, reopened.parts)
    if private is not None:
        from lookalike.packages.private import check_belongs, read_graph

        if reopened.folder is not None:
            check_belongs(Path(private), reopened.folder)
        # A graph numbers the rows as they are written.
        graph, release, parts = read_graph(Path(private)), reopened.release, parts_of_rows(reopened.parts)
    asked = settle(promises or reopened.promises, reopened.data)
    found = pipeline.verify(
        release,
        reopened.data,
        asked,
        graph=graph,
        adversary=reopened.adversary,
        unpublished=reopened.unpublished,
        parts=parts,
        progress=progress,
    )
    grounds, checks = reopened.grounds, reopened.checks
    if grounds is not None and graph is not None:
        grounds = replace(grounds, stated=(*grounds.stated, "that the release was drawn from the private graph"))
    if grounds is not None and promises:
        unasked = [str(promise) for promise in reopened.promises if promise not in asked]
        grounds = replace(grounds, stated=(*grounds.stated, *(f"its own promise {text}" for text in unasked)))
    if grounds is not None and reopened.own_audit is not None:
        if reopened.promises and set(asked) == set(settle(reopened.promises, reopened.data)):
            checks = (*checks, _own_audit(reopened, found))
        else:
            said = "audit.json (it is about the promises of the release itself)"
            grounds = replace(grounds, not_checked=(*grounds.not_checked, said))
    return replace(found, checks=(*checks, *found.checks), grounds=grounds)


def _own_audit(reopened: Reopened, found: Audit) -> Check:
    """Whether the audit that lies in the folder is, byte for byte, what this one writes."""
    from lookalike.packages.canonical import first_difference
    from lookalike.report import as_json

    text = reopened.own_audit or b""
    try:
        stated = load_json(text.decode())
    except ValueError:
        return Check(OWN_AUDIT, False, "audit.json is not valid JSON")
    losses, by_column = public_losses(
        *pipeline.measure(reopened.release, reopened.data),
        reopened.data.domains,
        reopened.release.form,
        reopened.release.withheld.n_suppressed,
    )
    public = public_audit(found).to_plain()
    for name, figures in (("loss", losses), ("loss_by_column", by_column)):
        public[name] = _as_stated(stated.get(name) if isinstance(stated, dict) else None, figures)
    if text == as_json(public):
        return Check(OWN_AUDIT, True, "audit.json is what this audit writes, byte for byte")
    place = first_difference(stated, json.loads(json.dumps(public)))
    if place is None:
        detail = "audit.json has other white space, spellings, keys or an other order of keys than lookalike writes"
        return Check(OWN_AUDIT, False, detail)
    return Check(OWN_AUDIT, False, f"audit.json says something else than this audit finds: {quoted(place)}")


def _as_stated(stated: Any, figures: Mapping[str, float]) -> dict[str, float]:
    """Figures as they are stated where that is how they round, on this machine or on another."""
    known = stated if isinstance(stated, dict) else {}
    return {
        name: known[name] if same_figure(known.get(name), figure) else rounded(figure)
        for name, figure in figures.items()
    }


def measure(
    original: Any, release: str | Path, *, schema: Schema | str | Path | None = None, suppressed: int = 0
) -> dict[str, float]:
    """The losses of a release folder, or of a table that another tool made, against its original."""
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    reopened = reopen(original, release, loaded, suppressed=suppressed)
    return pipeline.measure(reopened.release, reopened.data)[0]
