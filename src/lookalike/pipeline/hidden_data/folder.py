"""Does a release folder say more than what is read from it?

A folder can decode well and carry a message all the same: in white space, quotes, the order inside sets, keys that
nobody reads, Parquet metadata, files beside the tables. So what was read is written again, by the same writer, and the
folder must be that, byte for byte:

    files             exactly those of the format: no other file, folder or link
    description       datapackage.json, schema.yaml, README.txt, views.sql and matrices, as written from what was read
    stated promises   sentences that say what the promises mean
    table files       every cell as it is written from what it means, every file as it is written from its cells

Parquet files of another version of Polars have other bytes: `tables` compares what they say, and `Findings.not_checked`
names them.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike import models
from lookalike.algorithms import parse_algorithm
from lookalike.audit import Check
from lookalike.data.contracts import Promise
from lookalike.data.release import Bucketized, Matched, Perturbed, Release
from lookalike.data.statement import LONGEST_TITLE, title_problem
from lookalike.errors import LookalikeError, counted, quoted
from lookalike.files.releases.describe import (
    AUDIT,
    DESCRIPTOR,
    DOCUMENTS,
    REWRITTEN,
    PublishedManifest,
    descriptor,
    state_promise,
)
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.readme import VIEWS, readme, views
from lookalike.files.releases.tablefiles import digest_of_part
from lookalike.files.releases.write import README, SCHEMA, file_names, write_matrices
from lookalike.pipeline.hidden_data.grounds import Findings
from lookalike.pipeline.hidden_data.tables import TableFindings, differ, examine_tables
from lookalike.untrusted import load_json, read_bytes
from lookalike.version import __version__

_FILES, _DESCRIPTION, _PROMISES, _TABLES = "files", "description", "stated promises", "table files"
_FIRST_VERSION = (0, 1, 0)
_FIRST_WORDS = "0.1.0"
"""The version whose words earlier releases speak (`words`)."""


def examine_folder(folder: ReleaseFolder, release: Release, *, ignored: Collection[str] = ()) -> Findings:
    """All of a folder against the release that was read from it, which lacks the columns that are `ignored`."""
    about, manifest = examine_description(folder, release), folder.manifest
    if not manifest.parts:
        return join_findings(about, [examine_tables(folder, None, release, ignored)])
    places = range(len(next(iter(manifest.parts.values()))))
    parts = (folder.parts_over([place], release.domains) for place in places)
    return join_findings(about, [examine_tables(folder, place, part, ignored) for place, part in enumerate(parts)])


def join_findings(about: Findings, tables: Sequence[TableFindings]) -> Findings:
    """What was found of the description and of the tables, part by part."""
    problem = next((found.problem for found in tables if found.problem is not None), None)
    n_files = sum(found.n_files for found in tables)
    detail = problem or f"{counted(n_files, 'file')}, every cell and every byte as lookalike writes what they say"
    otherwise = sorted({name for found in tables for name in found.written_otherwise})
    if otherwise and problem is None:
        detail = f"{counted(n_files, 'file')}, every cell as lookalike writes what it says"
    said = [
        f"the encoding inside {', '.join(otherwise)} (written by another version of Polars; content, columns, row "
        "groups and metadata were compared)"
    ]
    return Findings(
        (*about.checks, Check(_TABLES, problem is None, detail)), (*about.not_checked, *(said if otherwise else ()))
    )


def examine_description(opened: ReleaseFolder, release: Release) -> Findings:
    """Everything but the tables. Of the release form, domains, matrices and what was withheld are looked at."""
    folder, manifest = opened.path, opened.manifest
    documents = [name for name in DOCUMENTS if name in manifest.files]
    names = file_names(release, manifest.parts, dict.fromkeys(documents))
    format = manifest.format
    problem = _file_problem(folder, names, format)
    files = Check(_FILES, problem is None, problem or f"{counted(len(names), 'file')}, all of them known to the format")
    # A description is never written by anybody; it says the promises.
    plain = replace(manifest, description="")
    wanted = {
        DESCRIPTOR: descriptor(release, plain, manifest.tables, names, manifest.parts),
        SCHEMA: opened.schema.to_yaml(),
        README: readme(release, plain, manifest.tables, names, manifest.parts, opened.schema),
    }
    if isinstance(release, Bucketized):
        wanted[VIEWS] = views(manifest.tables, in_parts=bool(manifest.parts))
    unread = [name for name in documents if name not in REWRITTEN or not can_be_audited_alike(manifest)]
    not_checked = [f"{', '.join(unread)} (documents for readers)"] if unread else []
    if AUDIT not in documents:
        not_checked.append(f"{AUDIT} (the folder has none)")
    if _is_earlier(manifest.version):
        # Their words may have changed since.
        for name in (README, VIEWS):
            if wanted.pop(name, None) is not None:
                not_checked.append(f"{name} (written by version {manifest.version} of lookalike)")
    package = {DESCRIPTOR: wanted.pop(DESCRIPTOR)}
    problems = itertools.chain(
        _text_problems(folder, package, format),
        _statement_problems(manifest),
        _text_problems(folder, wanted, format),
        _schema_problems(opened),
    )
    problem = next(problems, None)
    if problem is None and isinstance(release, Perturbed):
        problem = _matrix_problem(folder, release, manifest)
    described = Check(
        _DESCRIPTION, problem is None, problem or f"{', '.join((*package, *wanted))} say what was read, and no more"
    )
    return Findings((files, described, _promises(manifest)), tuple(not_checked))


def can_be_audited_alike(manifest: PublishedManifest) -> bool:
    """Whether an audit of the folder has the words of the one that is in it: of this version, no graph, no parts."""
    return manifest.version == __version__ and not manifest.parts and manifest.form != Matched.form


def first_difference(found: Any, wanted: Any, path: str = "") -> str | None:
    """Where two plain structures differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in {**found, **wanted}:
            if key not in found or key not in wanted:
                return f"{path}.{key}".lstrip(".")
            if (place := first_difference(found[key], wanted[key], f"{path}.{key}")) is not None:
                return place
        return None
    if isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = enumerate(zip(found, wanted, strict=True))
        places = (first_difference(one, other, f"{path}[{place}]") for place, (one, other) in pairs)
        return next((place for place in places if place is not None), None)
    return None if type(found) is type(wanted) and found == wanted else path.lstrip(".")


def _is_earlier(version: str) -> bool:
    """Whether an earlier version that was published has this number.

    >>> _is_earlier("0.0.9"), _is_earlier("99.0.0"), _is_earlier("row 3 is Anna")
    (False, False, False)
    """
    if re.fullmatch(r"\d{1,4}\.\d{1,4}\.\d{1,4}", version) is None:
        return False
    number, own = (tuple(map(int, text.split(".")[:3])) for text in (version, __version__))
    return _FIRST_VERSION <= number < own


def _statement_problems(manifest: PublishedManifest) -> Iterator[str]:
    """Of what the descriptor alone says: a known version, parts in no order of their own, and texts of the publisher.

    Those are of a length that a reader of the verdict reads, and of a known form.
    """
    if manifest.version != __version__ and not _is_earlier(manifest.version):
        yield (
            f"{DESCRIPTOR} says that version {quoted(manifest.version)} of lookalike wrote the release, which version "
            f"{__version__} cannot audit. Use that version"
        )
    digests = [digest_of_part(listed) for listed in zip(*manifest.parts.values(), strict=True)]
    if digests != sorted(digests):
        yield "the parts are not in the order of their digests"
    if (problem := title_problem(manifest.title)) is not None:
        yield f"{DESCRIPTOR}, title: {problem}"
    try:
        method = parse_algorithm(manifest.algorithm) if len(manifest.algorithm) <= LONGEST_TITLE else None
    except LookalikeError:
        method = None
    if method is None or (manifest.version == __version__ and str(method) != manifest.algorithm):
        yield f"{DESCRIPTOR}, algorithm: {quoted(manifest.algorithm)} is not a method as lookalike writes it"
    elif method.form != manifest.form:
        yield f"{DESCRIPTOR}, algorithm: {quoted(manifest.algorithm)} does not make {manifest.form} releases"


def _file_problem(folder: Path, names: Sequence[str], format: int) -> str | None:
    """What is in the folder and not in the format, or the other way round."""
    known = {*names, *(str(Path(name).parent) for name in names if "/" in name)}
    found = set()
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(here) / name
            within = path.relative_to(folder).as_posix()
            if path.is_symlink():
                return f"{quoted(within)} is a link to another place"
            found.add(within)
    if extra := sorted(found - known):
        return (
            f"the folder has {quoted(extra[0])}, which format {format} of releases does not have. Remove it, or audit "
            "the release with the version of lookalike that wrote it"
        )
    if missing := sorted(known - found):
        return f"the folder lacks {quoted(missing[0])}"
    return None


def _text_problems(folder: Path, wanted: dict[str, str], format: int) -> Iterator[str]:
    for name, text in wanted.items():
        try:
            raw = read_bytes(folder / name)
            found = raw.decode()
        except (OSError, UnicodeDecodeError):
            yield f"{name} cannot be read"
            continue
        if raw == text.encode():
            continue
        if name == DESCRIPTOR:
            difference = _difference(load_json(found), json.loads(text), "", format)
            yield (
                difference or f"{name} has other white space, spellings or another order of keys than lookalike writes"
            )
        else:
            lines = itertools.zip_longest(found.splitlines(keepends=True), text.splitlines(keepends=True))
            line = next((number for number, (one, other) in enumerate(lines, 1) if one != other), 1)
            yield f"{name} is not as lookalike writes it, from line {line} on"


def _difference(found: Any, wanted: Any, path: str, format: int) -> str | None:
    """The first place in which the descriptor is not what was read from the folder."""
    here = f"{DESCRIPTOR}, {path.lstrip('.')}" if path else DESCRIPTOR
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in found:
            if key not in wanted:
                return (
                    f"this folder has {quoted(f'{path}.{key}'.lstrip('.'))} in {DESCRIPTOR}, which format {format} of "
                    "releases does not have. Use a newer lookalike to audit it"
                )
        for key, entry in wanted.items():
            if key not in found:
                return f"{here} lacks {quoted(key)}"
            if (said := _difference(found[key], entry, f"{path}.{key}", format)) is not None:
                return said
        return None
    if isinstance(found, list) and isinstance(wanted, list):
        if len(found) != len(wanted):
            return f"{here} has {counted(len(found), 'entry', 'entries')} where the release has {len(wanted):,}"
        pairs = enumerate(zip(found, wanted, strict=True))
        said_of = (_difference(one, other, f"{path}[{place}]", format) for place, (one, other) in pairs)
        return next((said for said in said_of if said is not None), None)
    if type(found) is not type(wanted) or found != wanted:
        return f"{here} is not what the rest of the release says"
    return None


def _schema_problems(opened: ReleaseFolder) -> Iterator[str]:
    """schema.yaml and the descriptor must name the same columns in the same roles."""
    stated = {attribute.name: str(attribute.role) for attribute in opened.schema.attributes}
    tables = opened.manifest.tables.values()
    fields = [field for listed in tables for field in listed if not field.is_number]
    published = {field.name: field.role for field in fields}
    for name in {**stated, **published}:
        if stated.get(name) != published.get(name):
            yield f"{SCHEMA} and {DESCRIPTOR} say different things about the role of {quoted(name)}"


def _matrix_problem(folder: Path, release: Perturbed, manifest: PublishedManifest) -> str | None:
    with tempfile.TemporaryDirectory(prefix="lookalike-") as place:
        write_matrices(Path(place), release, safe_csv=manifest.safe_csv)
        for path in sorted(Path(place).iterdir()):
            if differ(folder / path.name, path):
                return f"{path.name} is not the matrix of {DESCRIPTOR} as lookalike writes it"
    return None


def _promises(manifest: PublishedManifest) -> Check:
    """A folder of ours always promises something, and each sentence says what its promise means."""
    if not manifest.promises:
        return Check(_PROMISES, False, "the release promises nothing")
    wording = manifest.wording
    if _is_earlier(manifest.version):
        wording = replace(wording, version=_FIRST_WORDS)
    for stated in manifest.promises:
        model = models.parse_model(stated.text)
        promise = Promise(model, None if model.about_identity else stated.column)
        if stated != state_promise(promise, wording):
            return Check(_PROMISES, False, f"the sentence for {quoted(stated.text)} is not what this promise means")
    said = counted(len(manifest.promises), "sentence that says", "sentences that say")
    return Check(_PROMISES, True, f"{said} what is promised")
