"""Where a release and its reports go: one folder to hand over, and next to it a folder that only the owner may see."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from lookalike.data.parameters import number_text
from lookalike.data.statement import UNTITLED, Statement
from lookalike.data.wording import Wording
from lookalike.errors import RecipeError, unknown_name
from lookalike.files.releases.describe import DESCRIPTOR, Manifest, state_promise
from lookalike.files.releases.private import Private, check_private, private_beside
from lookalike.files.urls import check_destination, is_url, place_of, send
from lookalike.pipeline.recipe import state_persons
from lookalike.pipeline.run import Made, MadeWhole

FULL, _BRIEF = _REPORTS = ("full", "brief")
_REPORT_VARIABLE = "LOOKALIKE_REPORT"
SCORES_NEED_FULL = "The brief report scores nothing on the original. Ask for the full one to publish scores."
SCORES_REVEAL = (
    "The report in the release folder has figures that were scored on the original (--publish-scores). They confirm "
    "guesses about people in the table: a reader may become surer of a person's value than is promised, most of all "
    "where there are few records. The promise holds for the table alone."
)


def wants_full_report(report: str | None, *, scores: bool) -> bool:
    """Whether the full report is made: the one asked for, or what LOOKALIKE_REPORT says, else the full one."""
    report = report or os.environ.get(_REPORT_VARIABLE) or FULL
    if report not in _REPORTS:
        raise RecipeError(unknown_name("report", report, _REPORTS))
    if scores and report != FULL:
        raise RecipeError(SCORES_NEED_FULL)
    return report == FULL


def describe_release(made: Made, stated: Statement, *, safe_csv: bool = False, series: str | None = None) -> Manifest:
    persons = state_persons(made.recipe)
    wording = Wording(
        form=made.form,
        adversary=made.adversary,
        known=tuple(domain.name for domain in made.domains.quasi),
        unit=None if persons is None else persons.counted,
    )
    return Manifest(
        title=stated.title or UNTITLED,
        promises=tuple(state_promise(promise, wording) for promise in made.promises),
        algorithm=str(made.algorithm),
        adversary=made.adversary,
        created=stated.day,
        safe_csv=safe_csv,
        series=series,
        persons=persons,
        held_out=None if made.held_out is None else number_text(made.held_out),
    )


def choose_private(made: MadeWhole, *, asked: bool | None) -> Private | None:
    """What the owner keeps of a run: the record map if `asked` or, left open (None), if an audit needs it."""
    needed = made.data.persons is not None
    keeps_map = needed if asked is None else asked
    salt = made.recipe.persons.salt
    if not keeps_map and salt is None:
        return None
    record_map = made.record_map if keeps_map else None
    return Private(record_map=record_map, seed=made.recipe.seed if keeps_map else None, salt=salt)


@contextmanager
def open_destination(
    folder: str | Path,
    owners: dict[str, bytes] | None,
    kept: Private | None,
    *,
    people: Mapping[str, bytes] = MappingProxyType({}),
    overwrite: bool,
) -> Iterator[Path]:
    """Where to write a release folder, until the block ends; then its private part appears beside it.

    The private part has the `owners` documents as they are at the end (None: there are none), the list of `people`, and
    what of the run is `kept`.
    A release for a URL is written here first, and sent when the block ends.
    """
    if is_url(folder):
        place = place_of(str(folder))
        check_destination(place)
        with tempfile.TemporaryDirectory(prefix="lookalike-") as here:
            yield Path(here) / "release"
            send(Path(here) / "release", place, last=DESCRIPTOR)
    elif owners is None and kept is None:
        yield Path(folder)
    else:
        check_private(Path(folder), overwrite=overwrite)
        written = False
        try:
            documents = {} if owners is None else owners
            documents.update(people)
            with private_beside(Path(folder), kept or Private(), documents=documents, overwrite=overwrite):
                yield Path(folder)
                written = True
        except RecipeError as error:
            if not written:
                raise
            raise RecipeError(f"The release is written and whole, but its private part is not. {error}") from None
