"""What came of a run, read from its folder."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

from lookalike.errors import RecipeError
from lookalike.studio.exporting import release_of
from lookalike.studio.jobs import Job
from lookalike.studio.work import PICTURES, SUMMARY

N_PREVIEW = 8


def results(job: Job) -> dict[str, Any]:
    """The report as plain data, a summary and the first rows of the release."""
    release = release_of(job)
    report = json.loads((release / "report.json").read_text(encoding="utf-8"))
    return {
        "summary": json.loads((job.folder / SUMMARY).read_text(encoding="utf-8")),
        "report": report,
        "preview": {path.stem: _first_rows(path) for path in _tables(release)},
    }


def comparison(job: Job) -> dict[str, Any]:
    """The runs of a comparison."""
    if job.state != "done" or job.kind != "compare":
        raise RecipeError("This comparison is not done (yet).")
    found: dict[str, Any] = json.loads((job.folder / SUMMARY).read_text(encoding="utf-8"))
    return found


def pictures(job: Job) -> dict[str, str]:
    """SVG by name."""
    if job.state != "done":
        return {}
    found: dict[str, str] = json.loads((job.folder / PICTURES).read_text(encoding="utf-8"))
    return found


def _tables(release: Path) -> list[Path]:
    return sorted(path for path in release.glob("*.csv") if not path.name.startswith("matrix-"))


def _first_rows(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        columns = next(rows)
        return {"columns": columns, "rows": list(itertools.islice(rows, N_PREVIEW))}
