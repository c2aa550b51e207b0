"""Where `publish` puts a release: a folder, a URL, or standard output."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from lookalike.apps.cli.output import STDOUT, send_to_stdout
from lookalike.errors import Unsupported

if TYPE_CHECKING:
    from lookalike.publication import Publication

_ONE_TABLE = ("grouped", "matched")
_NEEDS_FOLDER = {
    "private": "--private",
    "overwrite": "--overwrite",
    "pdf": "--pdf",
    "publish_scores": "--publish-scores",
    "title": "--title",
    "to": "--to",
}


def refuse_beside_stdout(context: click.Context, out: str, as_json: bool) -> None:
    """With --out - the table alone is on standard output: options about anything else have no place to go."""
    if out != STDOUT:
        return
    if as_json:
        raise click.UsageError("--json and --out - both write to standard output. Leave out one of them.", context)
    for name, flag in _NEEDS_FOLDER.items():
        if context.params.get(name) and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{flag} is about a release folder, and --out - makes none. Leave it out.", context)


def check_out(out: str, *, overwrite: bool) -> None:
    """Refuse a destination before any work is done for it."""
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.urls import is_url, place_of

    if out == STDOUT:
        return
    if is_url(out):
        from lookalike.files.sending import check_destination

        check_destination(place_of(out))
        return
    check_target(Path(out), marker=DESCRIPTOR, overwrite=overwrite)


def private_place(out: str, *, report: str, private: bool) -> Path | None:
    """Where the owner's report and the linkage go: beside a folder, if either is asked for."""
    from lookalike.files.releases.private import private_folder
    from lookalike.files.urls import is_url
    from lookalike.publication import FULL

    if out == STDOUT or is_url(out) or not (private or report == FULL):
        return None
    return private_folder(Path(out))


def print_published(publication: Publication, *, safe_csv: bool) -> None:
    """The published table as CSV on standard output; written, read back and compared before the first byte is sent."""
    form = publication.release.form
    if form not in _ONE_TABLE:
        raise Unsupported(
            f"A {form} release is more than one table, and standard output takes one. Give a folder (--out DIR), or an "
            "algorithm that generalises, such as --algorithm groups."
        )
    with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
        folder = Path(here) / "release"
        publication.write_tables(folder, safe_csv=safe_csv)
        send_to_stdout(folder / "release.csv")
