"""A release read back over its original: to audit it again, to measure it, to attack it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike import models, pipeline
from lookalike.adversary import READS_RELEASE
from lookalike.audit import Audit
from lookalike.contracts import Promise
from lookalike.errors import RecipeError
from lookalike.microdata import Microdata
from lookalike.pipeline import settle
from lookalike.progress import Progress, silent
from lookalike.publication import ModelLike, as_promises, read_columns
from lookalike.release import Release
from lookalike.schema import Schema

if TYPE_CHECKING:
    from lookalike.packages.tablefiles import Parts


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


def reopen(
    original: Any, release: str | Path, schema: Schema | None = None, *, suppressed: int = 0, **reading: Any
) -> Reopened:
    """Read a release folder, or a table of another tool, together with the original it was made from.

    A folder of ours brings its own schema; for another tool's table the roles must be given.
    """
    from lookalike.tables.arriving import STANDARD_INPUT, at_hand

    if release == STANDARD_INPUT and isinstance(original, str) and original == STANDARD_INPUT:
        raise RecipeError("Original and release cannot both come from standard input. Give one of them as a file.")
    with at_hand(release) as path:
        return _reopened(original, path, schema, suppressed, reading)


def _reopened(
    original: Any, release: Path, schema: Schema | None, suppressed: int, reading: dict[str, Any]
) -> Reopened:
    from lookalike.packages.folder import read_manifest
    from lookalike.packages.reading import read_release, read_schema, release_folder
    from lookalike.tables.urls import is_url

    folder = release_folder(release)
    if folder is not None and (schema is None or not schema.attributes):
        schema = read_schema(folder)
    if schema is None or not schema.attributes:
        if isinstance(original, str | Path) and not is_url(original) and release_folder(Path(original)) is not None:
            raise RecipeError(f"{original} is a release folder. Name the original first, then the release.")
        raise RecipeError(
            f"{release} is not a release folder of lookalike, so it does not say which column is what. Name the "
            "quasi-identifiers and the sensitive column (--qi A,B --sensitive S, or --schema FILE)."
        )
    table = read_columns(original, schema, **reading)
    data = Microdata.encode(table, schema)
    notes = list(table.notes)
    found, _ = read_release(release, data, suppressed=suppressed, note=notes.append)
    promises: tuple[Promise, ...] = ()
    adversary = READS_RELEASE
    parts: Parts = {}
    if folder is not None:
        manifest = read_manifest(folder)
        adversary = manifest.adversary
        parts = manifest.parts
        promises = tuple(Promise(models.parse_model(stated.text), stated.column) for stated in manifest.promises)
    return Reopened(found, data, promises, adversary, tuple(notes), parts, Path(release))


def verify(
    original: Any,
    release: str | Path,
    *,
    model: ModelLike | Iterable[ModelLike] = (),
    schema: Schema | str | Path | None = None,
    private: str | Path | None = None,
    suppressed: int = 0,
    progress: Progress = silent,
) -> Audit:
    """Audit a release folder, or a table that another tool made, against the original it was made from.

    Without `model` a folder is held to what it promises itself. `private` is the folder that `write(private=True)`
    left; a matched release is judged by the graph in it.
    """
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    return audit_of(reopen(original, release, loaded, suppressed=suppressed), as_promises(model), private, progress)


def audit_of(
    reopened: Reopened, promises: tuple[Promise, ...], private: str | Path | None = None, progress: Progress = silent
) -> Audit:
    """The audit of a release that was read back; without `promises`, of what it promises itself."""
    from lookalike.packages.mixing import mixed

    graph, release = None, mixed(reopened.release, reopened.parts)
    if private is not None:
        from lookalike.packages.private import check_belongs, read_graph

        if reopened.folder is not None:
            check_belongs(Path(private), reopened.folder)
        # A graph numbers the rows as they are written.
        graph, release = read_graph(Path(private)), reopened.release
    asked = settle(promises or reopened.promises, reopened.data) if promises or reopened.promises else ()
    return pipeline.verify(release, reopened.data, asked, graph=graph, adversary=reopened.adversary, progress=progress)


def measure(
    original: Any, release: str | Path, *, schema: Schema | str | Path | None = None, suppressed: int = 0
) -> dict[str, float]:
    """The losses of a release folder, or of a table that another tool made, against its original."""
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    reopened = reopen(original, release, loaded, suppressed=suppressed)
    return pipeline.measure(reopened.release, reopened.data)[0]
