"""A release read back over its original: to audit it again, to measure it, to attack it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import models
from lookalike.algorithms import parse_algorithm
from lookalike.attacks import parse_attack
from lookalike.attacks.run import Attacks, attack_target
from lookalike.audit import Audit, Check, Examined, Grounds
from lookalike.audit import verify as audit_release
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm, Attack, Promise, Target
from lookalike.data.microdata import Codes, Microdata, Table
from lookalike.data.release import Release
from lookalike.data.schema import Schema
from lookalike.errors import DataError, LookalikeError, RecipeError, quoted
from lookalike.evaluation.fidelity import Fidelity, compare
from lookalike.files.tables import read_whole
from lookalike.metrics import public_losses, round_figure, same_figure
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import ModelLike, parse_promises, settle
from lookalike.pipeline.run import name_domains
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness
from lookalike.untrusted import load_json, read_bytes

if TYPE_CHECKING:
    from lookalike.evaluation.report import Basis, Examples
    from lookalike.files.releases.read import ReleaseFolder
    from lookalike.files.releases.tablefiles import Parts


_OWN_AUDIT = "stated audit"


@dataclass(frozen=True)
class Documents:
    """What a folder says of itself besides its description."""

    title: str
    contents: Mapping[str, bytes]
    """By the name of the file."""
    examples: Examples | None
    """Made-up people, made again from the release."""
    same_types: bool
    """Whether the original was read with the types that its publisher read; values are sorted by them."""


@dataclass(frozen=True)
class Reopened:
    """A release read back over its original."""

    release: Release
    data: Microdata
    promises: tuple[Promise, ...]
    """What its own manifest promises; empty for tables of other tools."""
    adversary: str
    notes: tuple[str, ...]
    algorithm: Algorithm | None = None
    """The method that its manifest names; None for tables of other tools and methods of other versions."""
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
    documents: Documents | None = None
    """Audit and report that lie in the folder, where an audit of the folder has their words."""


def reopen(
    original: Any,
    release: str | Path,
    schema: Schema | str | Path | None = None,
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
    from lookalike.files.urls import STANDARD_INPUT, at_hand

    if release == STANDARD_INPUT and isinstance(original, str) and original == STANDARD_INPUT:
        raise RecipeError("Original and release cannot both come from standard input. Give one of them as a file.")
    schema = Schema.of(schema) if schema is not None else None
    with at_hand(release) as path:
        folder = _folder_of(original, path, schema)
        if folder is not None:
            return _reopen_folder(original, path, folder, schema, audited, tuple(ignore), reading)
        assert schema is not None
        return _reopen_table(original, path, schema, suppressed, audited, tuple(ignore), reading)


def _folder_of(original: Any, release: Path, schema: Schema | None) -> Path | None:
    """The release folder that a path means; None for a table of another tool, whose roles must be given."""
    from lookalike.files.releases.read import release_folder
    from lookalike.files.urls import is_url

    folder = release_folder(release)
    if folder is None and (schema is None or not schema.attributes):
        if isinstance(original, str | Path) and not is_url(original) and release_folder(Path(original)) is not None:
            raise RecipeError(f"{original} is a release folder. Name the original first, then the release.")
        raise RecipeError(
            f"{release} is not a release folder of lookalike, so it does not say which column is what. Name the "
            "quasi-identifiers and the sensitive column (--qi A,B --sensitive S, or --schema FILE)."
        )
    return folder


def _reopen_folder(
    original: Any,
    path: Path,
    folder: Path,
    schema: Schema | None,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    from lookalike.files.releases.describe import REWRITTEN
    from lookalike.files.releases.read import ReleaseFolder, over_original
    from lookalike.pipeline.hidden_data.folder import Findings, can_be_audited_alike, examine_folder
    from lookalike.pipeline.hidden_data.grounds import agree_schema, exact_columns, list_declared, list_stated

    opened = ReleaseFolder(folder)
    own, manifest = opened.schema, opened.manifest
    given = schema if schema is not None and schema.attributes else None
    stated = tuple(said for attribute in own.published for said in list_declared(attribute))
    if audited and (given is not None or ignore):
        used, merged = agree_schema(own, given if given is not None else _without(own, ignore), ignore)
        stated = merged if given is not None else stated
    else:
        used = given or own
    table = read_whole(original, used, **reading)
    data = Microdata.encode(table, used)
    found = over_original(opened, data)
    examined = examine_folder(opened, found, ignored=ignore) if audited else Findings()
    promises = tuple(Promise(models.parse_model(said.text), said.column) for said in manifest.promises)
    rewritten = [name for name in REWRITTEN if name in manifest.files] if can_be_audited_alike(manifest) else []
    grounds = Grounds(
        publishers_roles=given is None,
        stated=(*list_stated(manifest), *stated),
        not_checked=(
            *(f"column {quoted(name)} (ignored on request)" for name in ignore),
            *([f"{', '.join(rewritten)} (about all columns)"] if ignore and rewritten else []),
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
        _parse_known(manifest.algorithm),
        manifest.parts,
        path,
        examined.checks,
        grounds if audited else None,
        unpublished=_find_unpublished(table, used),
        documents=_documents(opened, promises, data) if audited and not ignore else None,
    )


def _documents(opened: ReleaseFolder, promises: tuple[Promise, ...], data: Microdata) -> Documents | None:
    from lookalike.evaluation.report import REPORT, has_examples, make_up_examples
    from lookalike.files.releases.describe import REWRITTEN
    from lookalike.pipeline.hidden_data.folder import can_be_audited_alike

    manifest = opened.manifest
    if not can_be_audited_alike(manifest):
        return None
    contents = {}
    for name in REWRITTEN:
        if name in manifest.files:
            try:
                contents[name] = read_bytes(opened.path / name)
            except OSError:
                contents[name] = b""
    examples = None
    if promises and has_examples(contents.get(REPORT, b"")):
        try:
            method = parse_algorithm(manifest.algorithm)
            examples = make_up_examples(opened, settle(promises, data), method, manifest.adversary)
        except LookalikeError:
            examples = None
    fields = {field.name: field.type for listed in manifest.tables.values() for field in listed}
    same_types = all(fields.get(domain.name) is domain.type for domain in data.domains.sensitive)
    return Documents(manifest.title, contents, examples, same_types)


def _parse_known(algorithm: str) -> Algorithm | None:
    try:
        return parse_algorithm(algorithm)
    except LookalikeError:
        return None


def _find_unpublished(table: Table, schema: Schema) -> dict[str, Codes]:
    published = {attribute.name for attribute in schema.published}
    return {column.name: column.codes for column in table.columns if column.name not in published}


def _without(schema: Schema, names: Iterable[str]) -> Schema:
    """The schema less some columns."""
    left_out = set(names)
    return Schema(tuple(attribute for attribute in schema.attributes if attribute.name not in left_out))


def _reopen_table(
    original: Any,
    path: Path,
    schema: Schema,
    suppressed: int,
    audited: bool,
    ignore: tuple[str, ...],
    reading: dict[str, Any],
) -> Reopened:
    from lookalike.files.releases.other_tools import read_foreign_table
    from lookalike.files.releases.read import check_readable
    from lookalike.pipeline.hidden_data.grounds import exact_columns
    from lookalike.pipeline.hidden_data.other_tools import examine_table

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
    return Reopened(
        found,
        data,
        (),
        READS_RELEASE,
        tuple(notes),
        folder=path,
        checks=checks,
        grounds=grounds,
        unpublished=_find_unpublished(table, schema),
    )


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
    **reading: Any,
) -> Audit:
    """Audit a release folder, or a table that another tool made, against the original it was made from.

    Without `model` a folder is held to what it promises itself; without `schema`, under its own column roles. `private`
    is the folder that `write(private=True)` left; a matched release is judged by the graph in it. Columns that get no
    role make the audit fail, but for those to `ignore`, which it names.
    """
    ignored = [ignore] if isinstance(ignore, str) else ignore
    reopened = reopen(
        original, release, schema, suppressed=suppressed, audited=True, ignore=ignored, progress=progress, **reading
    )
    return replace(_audit_reopened(reopened, parse_promises(model), private, progress), notes=reopened.notes)


def _audit_reopened(
    reopened: Reopened, promises: tuple[Promise, ...], private: str | Path | None = None, progress: Progress = silent
) -> Audit:
    """The audit of a release that was read back; without `promises`, of what it promises itself."""
    from lookalike.files.releases.parts import mix_parts, parts_of_rows

    if not promises and not reopened.promises:
        raise RecipeError(
            "The release promises nothing that could be checked. Say what to hold it to, for example --model "
            "k-anonymity:10."
        )
    graph = None
    release, parts = mix_parts(reopened.release, reopened.parts)
    if private is not None:
        from lookalike.files.releases.private import check_belongs, read_graph

        if reopened.folder is not None:
            check_belongs(Path(private), reopened.folder)
        # A graph numbers the rows as they are written.
        graph, release, parts = read_graph(Path(private)), reopened.release, parts_of_rows(reopened.parts)
    asked = settle(promises or reopened.promises, reopened.data)
    own = settle(reopened.promises, reopened.data) if reopened.promises else ()
    if set(asked) == set(own):
        asked = own
    examined = pipeline.examine(
        release,
        reopened.data,
        asked,
        graph=graph,
        adversary=reopened.adversary,
        unpublished=reopened.unpublished,
        parts=parts,
        progress=progress,
    )
    found = examined.audit
    grounds, checks = reopened.grounds, reopened.checks
    if grounds is not None and graph is not None:
        grounds = replace(grounds, stated=(*grounds.stated, "that the release was drawn from the private graph"))
    if grounds is not None and promises:
        unasked = [str(promise) for promise in reopened.promises if promise not in asked]
        grounds = replace(grounds, stated=(*grounds.stated, *(f"its own promise {text}" for text in unasked)))
    if grounds is not None and reopened.documents is not None and reopened.documents.contents:
        if asked == own:
            further, grounds = _own_documents(reopened, reopened.documents, examined, own, grounds)
            checks = (*checks, *further)
        else:
            said = f"{', '.join(reopened.documents.contents)} (about the promises of the release itself)"
            grounds = replace(grounds, not_checked=(*grounds.not_checked, said))
    return replace(found, checks=(*checks, *found.checks), grounds=grounds)


def _own_documents(
    reopened: Reopened, documents: Documents, examined: Examined, promises: tuple[Promise, ...], grounds: Grounds
) -> tuple[list[Check], Grounds]:
    """Audit and report of a folder, held against what lookalike writes for this release."""
    from lookalike.evaluation.report import AUDIT, Basis, rebuild

    contents = dict(documents.contents)
    if reopened.algorithm is None:
        # Said by the check of the description.
        return [], replace(grounds, not_checked=(*grounds.not_checked, f"{', '.join(contents)} (of no known method)"))
    losses, by_column = pipeline.measure(reopened.release, reopened.data)
    basis = Basis.of_reading(
        reopened.release,
        examined,
        promises=promises,
        algorithm=reopened.algorithm,
        losses=losses,
        loss_by_column=by_column,
    ).public()
    exact = public_losses(
        losses, by_column, basis.domains, basis.form, reopened.release.withheld.n_suppressed, rounding=lambda loss: loss
    )
    checks = []
    if (text := contents.pop(AUDIT, None)) is not None:
        basis = _with_stated_losses(basis, text, exact)
        checks.append(_own_audit(text, basis))
    if contents and not documents.same_types:
        said = f"{', '.join(contents)} (the original was read with other types of values)"
        grounds = replace(grounds, not_checked=(*grounds.not_checked, said))
    elif contents:
        rebuilt = rebuild(contents, basis, documents.title, documents.examples)
        checks += [] if rebuilt.check is None else [rebuilt.check]
        grounds = replace(
            grounds,
            stated=(*grounds.stated, *rebuilt.stated),
            not_checked=(*grounds.not_checked, *rebuilt.not_checked),
        )
    return checks, grounds


def _with_stated_losses(basis: Basis, text: bytes, exact: tuple[Mapping[str, float], Mapping[str, float]]) -> Basis:
    """Losses as audit.json states them, where that is how they round on this machine or on another."""
    try:
        stated = load_json(text.decode())
    except ValueError:
        return basis
    known = [stated.get(key) if isinstance(stated, dict) else None for key in ("loss", "loss_by_column")]
    losses, by_column = (_as_stated(one, figures) for one, figures in zip(known, exact, strict=True))
    return replace(basis, losses=losses, loss_by_column=by_column)


def _own_audit(text: bytes, basis: Basis) -> Check:
    """Whether the audit that lies in the folder is, byte for byte, what this one writes."""
    from lookalike.evaluation.report import audit_json
    from lookalike.pipeline.hidden_data.folder import first_difference

    own = audit_json(basis)
    if text == own:
        return Check(_OWN_AUDIT, True, "audit.json is what this audit writes, byte for byte")
    try:
        place = first_difference(load_json(text.decode()), json.loads(own))
    except ValueError:
        return Check(_OWN_AUDIT, False, "audit.json is not valid JSON")
    if place is None:
        detail = "audit.json has other white space, spellings, keys or an other order of keys than lookalike writes"
        return Check(_OWN_AUDIT, False, detail)
    return Check(_OWN_AUDIT, False, f"audit.json says something else than this audit finds: {quoted(place)}")


def _as_stated(stated: Any, figures: Mapping[str, float]) -> dict[str, float]:
    """Figures as they are stated where that is how they round, on this machine or on another."""
    known = stated if isinstance(stated, dict) else {}
    return {
        name: known[name] if same_figure(known.get(name), figure) else round_figure(figure)
        for name, figure in figures.items()
    }


class Measured(dict[str, float]):
    """What a release lost against its original: each loss by its name, and beside them what they were measured of."""

    def __init__(self, losses: Mapping[str, float], by_column: dict[str, float], reopened: Reopened) -> None:
        super().__init__(losses)
        self.loss_by_column = by_column
        self.form = reopened.release.form
        self.n_rows = reopened.release.n_rows
        self.domains = name_domains(reopened.data.domains)
        self.notes = reopened.notes

    def to_plain(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "rows": self.n_rows,
            "loss": dict(self),
            "loss_by_column": self.loss_by_column,
            "domains": self.domains,
        }


def measure(
    original: Any,
    release: str | Path,
    *,
    schema: Schema | str | Path | None = None,
    suppressed: int = 0,
    progress: Progress = silent,
    **reading: Any,
) -> Measured:
    """The losses of a release folder, or of a table that another tool made, against its original."""
    reopened = reopen(original, release, schema, suppressed=suppressed, progress=progress, **reading)
    return Measured(*pipeline.measure(reopened.release, reopened.data), reopened)


def attack(
    original: Any,
    release: str | Path,
    *,
    attacks: Iterable[Attack | str] = (),
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    schema: Schema | str | Path | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Attacks:
    """Make attacks on a release folder, or on a table of another tool; all that apply if none is named.

    `others` are further releases of the same original, for attacks that combine them; `private` is the PRIVATE folder
    of a matched release, for attacks that assume a leak of it.
    """
    reopened = reopen(original, release, schema, progress=progress, **reading)
    target = _target_of(reopened, release, others=others, private=private, original=original, schema=schema)
    chosen = [parse_attack(one) if isinstance(one, str) else one for one in attacks]
    return attack_target(target, chosen, Randomness(seed), progress)


def _target_of(
    reopened: Reopened,
    release: str | Path,
    *,
    others: Sequence[str | Path] = (),
    private: str | Path | None = None,
    original: Any = None,
    schema: Schema | str | Path | None = None,
) -> Target:
    """A release that was read back as a target, once it is certain that it belongs to the original."""
    checks = audit_release(reopened.release, reopened.data, ()).checks
    failed = [check for check in checks if check.blocks and check.name != "row order"]
    if failed:
        raise DataError(
            f"{release} does not belong to this original, or was changed: {failed[0].name}, {failed[0].detail}. Name "
            "the table that the release was made from."
        )
    graph = None
    if private is not None:
        from lookalike.files.releases.private import check_belongs, read_graph

        check_belongs(Path(private), Path(release))
        graph = read_graph(Path(private))
    return Target(
        release=reopened.release,
        original=reopened.data,
        promises=settle(reopened.promises, reopened.data) if reopened.promises else (),
        algorithm=reopened.algorithm,
        graph=graph,
        others=tuple(reopen(original, other, schema).release for other in others),
    )


def fidelity(
    original: Any,
    release: str | Path,
    *,
    schema: Schema | str | Path | None = None,
    suppressed: int = 0,
    seed: int = 0,
    progress: Progress = silent,
    **reading: Any,
) -> Fidelity:
    """Compare a release with its original: counts, pairs, correlations, a machine that tells them apart, predictions.

    `release` is a folder or another tool's table; what `publish` gave has a method of this name. Distances are exact
    expectations; what needs chance (worlds drawn from the release, trees) takes it from `seed`.
    """
    reopened = reopen(original, release, schema, suppressed=suppressed, progress=progress, **reading)
    found = compare(reopened.release, reopened.data, seed, progress)
    return Fidelity(found.lines, (*reopened.notes, *found.notes))
