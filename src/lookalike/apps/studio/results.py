"""The result of a run, read from its folder; and out of the studio: the release folder, an archive, the command."""

from __future__ import annotations

import csv
import itertools
import json
import secrets
import shlex
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lookalike.apps.studio.jobs import Job
from lookalike.apps.studio.work import OWNERS, PICTURES, RELEASE, SUMMARY
from lookalike.apps.studio.workspace import Project
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.person_settings import PersonSettings, StatedPersons
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.evaluation.compare import Comparison
from lookalike.evaluation.report.basis import BeliefLine, BeliefTable
from lookalike.files.atomic import place_folder
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.releases.private import has_record_map, private_folder, read_salt
from lookalike.metrics.shared.losses import loss_text

SCHEMA_FILE = "schema.yaml"
_N_PREVIEW = 8


def results(job: Job) -> dict[str, Any]:
    """The owner's report as plain data, a summary and the first rows of the release."""
    tables = sorted(path for path in release_of(job).glob("*.csv") if not path.name.startswith("matrix-"))
    report = _read(job, OWNERS)
    return {
        "summary": _read(job, SUMMARY),
        "report": report,
        "beliefs": [_belief_sentence(table) for table in report["beliefs"]],
        "preview": {path.stem: _first_rows(path) for path in tables},
    }


def comparison(job: Job) -> dict[str, Any]:
    if job.state != "done" or job.kind != "compare":
        raise RecipeError("This comparison is not done (yet).")
    return _read(job, SUMMARY)


def comparison_table(job: Job) -> dict[str, Any]:
    """The same as rows of text, with what the rows leave open; a star marks those that no other beats."""
    sensitive = tuple(attribute.name for attribute in Schema.from_yaml(job.task["schema"]).sensitive)
    found = Comparison.from_plain(comparison(job), sensitive)
    headings = ("best", *found.headings()[1:])
    return {"rows": [dict(zip(headings, row, strict=True)) for row in found.rows()], "remarks": found.remarks()}


def list_finished(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """The releases among some jobs, one line each, to hold side by side."""
    return [
        {
            "number": job.number,
            "models": list(job.task["models"]),
            "loss": loss_text(summary["form"], summary["losses"]),
            **{name: summary[name] for name in ("algorithm", "form", "highest_belief", "query_error")},
        }
        for job in jobs
        if job.state == "done" and job.kind == "publish"
        for summary in [_read(job, SUMMARY)]
    ]


def pictures(job: Job) -> dict[str, str]:
    """SVG by name."""
    return _read(job, PICTURES) if job.state == "done" else {}


def _read(job: Job, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((job.folder / name).read_text(encoding="utf-8"))
    return found


def _belief_sentence(table: dict[str, Any]) -> str:
    """How far probabilities may rise, in words."""
    lines = tuple(BeliefLine(**line) for line in table["lines"])
    return BeliefTable(table["column"], lines, table["n_values"]).sentence if lines else ""


def _first_rows(path: Path) -> dict[str, Any]:
    first = min(path.iterdir()) if path.is_dir() else path
    with first.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        columns = next(rows)
        return {"columns": columns, "rows": list(itertools.islice(rows, _N_PREVIEW))}


def command(project: Project, task: dict[str, Any] | None = None) -> str:
    """The `lookalike publish` that does the same; of a run, with the settings it was made with."""
    if task and task["kind"] != "publish":
        raise RecipeError("A comparison has no command of this kind. Choose a run that publishes.")
    made = task or vars(project)
    # A name that begins with a dash would be taken for an option.
    source = f"./{project.name}" if project.is_copy else str(project.source)
    parts = ["lookalike", "publish", source, "--schema", SCHEMA_FILE]
    for model in made["models"]:
        parts += ["--model", model]
    # Runs are exported under names of the user's choice.
    parts += [word for one in made.get("after", ()) for word in ("--after", one["name"])]
    for name in ("algorithm", "title", "recipient"):
        parts += [f"--{name}", made[name]] if made[name] else []
    parts += _flags_of_persons(made["schema"], made["persons"])
    if made["adversary"] != READS_RELEASE:
        parts += ["--adversary", made["adversary"]]
    if made["publish_scores"]:
        parts.append("--publish-scores")
    for name, value in project.reading.items():
        parts += [f"--{name}", "tab" if value == "\t" else value]
    return shlex.join([*parts, "--out", "release"])


def _flags_of_persons(schema: str | Schema, persons: Mapping[str, Any] | PersonSettings) -> list[str]:
    """What says how the rows of one person are published; the schema says whose they are."""
    roles = Schema.from_yaml(schema) if isinstance(schema, str) else schema
    settings = PersonSettings(**persons) if isinstance(persons, Mapping) else persons
    if roles.unit is None and not settings.rows_are_persons:
        return []
    person, household = (None if each is None else each.name for each in (roles.person, roles.household))
    return StatedPersons(person=person, household=household, settings=settings).flags()


def export_to(job: Job, target: Path, *, overwrite: bool = False) -> list[str]:
    """Copy the release of a run into a folder of the user's choice, all or nothing; the names of its files."""
    source = release_of(job)
    if not target.is_absolute():
        raise RecipeError(f"{target} is not a full path. Write where to from the root on, as in /home/me/release.")
    try:
        with place_folder(target, marker=DESCRIPTOR, overwrite=overwrite) as building:
            for path in _files(source):
                copy = building / path.relative_to(source)
                copy.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, copy)
    except OSError as error:
        raise RecipeError(f"Cannot write to {target}: {error.strerror}. Choose another folder.") from None
    except ValueError:
        raise RecipeError("A path cannot hold such a character. Choose another folder.") from None
    return files_of(job)


def files_of(job: Job) -> list[str]:
    return sorted(path.name for path in release_of(job).iterdir())


def _files(release: Path) -> list[Path]:
    """All files of a release, also those of tables in parts."""
    return sorted(path for path in release.rglob("*") if path.is_file())


def has_private_part(job: Job) -> bool:
    """Whether an audit of the release needs what its publisher keeps: where persons have several rows."""
    if job.state != "done":
        return False
    folder = private_folder(release_of(job))
    return has_record_map(folder) or read_salt(folder) is not None


def archive_private(job: Job) -> Path:
    """What the publisher keeps of a run, as a ZIP file: what an audit of the release needs."""
    source = private_folder(release_of(job))
    if not has_private_part(job):
        raise RecipeError("This run keeps nothing private: the release can be audited without it.")
    return _pack(job, source, "private.zip")


def archive(job: Job) -> Path:
    """The release of a run as a ZIP file in the run's private folder."""
    return _pack(job, release_of(job), "release.zip")


def _pack(job: Job, source: Path, name: str) -> Path:
    target = job.folder / name
    if not target.exists():
        unfinished = job.folder / f"{secrets.token_hex(8)}.part"
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped:
            for path in _files(source):
                # A fixed time: when a release was made to the second is nobody's business.
                inside = f"{source.name}/{path.relative_to(source).as_posix()}"
                entry = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as file, zipped.open(entry, "w") as out:
                    shutil.copyfileobj(file, out)
        unfinished.rename(target)
    return target


def release_of(job: Job) -> Path:
    """Where the release of a run lies, if it is done."""
    if job.state != "done" or job.kind != "publish":
        raise RecipeError("This run has no release (yet). Wait until it is done, or run again.")
    return job.folder / RELEASE
