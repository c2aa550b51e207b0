"""Out of the studio, by the user's own wish: the release folder, an archive of it, the schema, the command."""

from __future__ import annotations

import secrets
import shlex
import shutil
import zipfile
from pathlib import Path
from typing import Any

from lookalike.apps.studio.jobs import Job
from lookalike.apps.studio.work import OWNERS_PAGE, RELEASE
from lookalike.apps.studio.workspace import Project
from lookalike.data.adversary import READS_RELEASE
from lookalike.errors import RecipeError
from lookalike.files.atomic import place_folder
from lookalike.files.releases.describe import DESCRIPTOR

SCHEMA_FILE = "schema.yaml"


def command(project: Project, task: dict[str, Any] | None = None, schema_file: str = SCHEMA_FILE) -> str:
    """The `lookalike publish` that does the same; of a run, with the settings it was made with."""
    if task and task["kind"] != "publish":
        raise RecipeError("A comparison has no command of this kind. Choose a run that publishes.")
    models = task["models"] if task else project.models
    algorithm = task["algorithm"] if task else project.algorithm
    adversary = task["adversary"] if task else project.adversary
    title, recipient = (task["title"], task["recipient"]) if task else (project.title, project.recipient)
    # A name that begins with a dash would be taken for an option.
    source = f"./{project.name}" if project.is_copy else str(project.source)
    parts = ["lookalike", "publish", source, "--schema", schema_file]
    for model in models:
        parts += ["--model", model]
    for flag, value in (("--algorithm", algorithm), ("--title", title), ("--recipient", recipient)):
        parts += [flag, value] if value else []
    if adversary != READS_RELEASE:
        parts += ["--adversary", adversary]
    if task["publish_scores"] if task else project.publish_scores:
        parts.append("--publish-scores")
    for name, value in project.reading.items():
        parts += [f"--{name}", "tab" if value == "\t" else value]
    return shlex.join([*parts, "--out", "release"])


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
    """The names of the files of a release."""
    return sorted(path.name for path in release_of(job).iterdir())


def _files(release: Path) -> list[Path]:
    """All files of a release, also those of tables in parts."""
    return sorted(path for path in release.rglob("*") if path.is_file())


def archive(job: Job) -> Path:
    """The release of a run as a ZIP file in the run's private folder."""
    source = release_of(job)
    target = job.folder / "release.zip"
    if not target.exists():
        unfinished = job.folder / f"{secrets.token_hex(8)}.part"
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as zipped:
            for path in _files(source):
                # A fixed time: when a release was made to the second is nobody's business.
                name = f"{RELEASE}/{path.relative_to(source).as_posix()}"
                entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                with path.open("rb") as file, zipped.open(entry, "w") as out:
                    shutil.copyfileobj(file, out)
        unfinished.rename(target)
    return target


def owners_report(job: Job) -> Path:
    """The owner's report of a run, if it is done."""
    return release_of(job).with_name(OWNERS_PAGE)


def release_of(job: Job) -> Path:
    """Where the release of a run lies, if it is done."""
    if job.state != "done" or job.kind != "publish":
        raise RecipeError("This run has no release (yet). Wait until it is done, or run again.")
    return job.folder / RELEASE
