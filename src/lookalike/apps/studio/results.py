"""What came of a run, read from its folder."""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lookalike.apps.studio.exporting import release_of
from lookalike.apps.studio.jobs import Job
from lookalike.apps.studio.work import OWNERS, PICTURES, SUMMARY
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.evaluation.compare import Comparison
from lookalike.evaluation.compare.tables import loss_text
from lookalike.evaluation.report.basis import BeliefLine, BeliefTable

_N_PREVIEW = 8


def results(job: Job) -> dict[str, Any]:
    """The owner's report as plain data, a summary and the first rows of the release."""
    release = release_of(job)
    report = json.loads((job.folder / OWNERS).read_text(encoding="utf-8"))
    return {
        "summary": json.loads((job.folder / SUMMARY).read_text(encoding="utf-8")),
        "report": report,
        "beliefs": [_belief_sentence(table) for table in report["beliefs"]],
        "preview": {path.stem: _first_rows(path) for path in _tables(release)},
    }


def comparison(job: Job) -> dict[str, Any]:
    """The runs of a comparison."""
    if job.state != "done" or job.kind != "compare":
        raise RecipeError("This comparison is not done (yet).")
    found: dict[str, Any] = json.loads((job.folder / SUMMARY).read_text(encoding="utf-8"))
    return found


def comparison_table(job: Job) -> dict[str, Any]:
    """The same as rows of text, with what the rows leave open; a star marks those that no other beats."""
    sensitive = tuple(attribute.name for attribute in Schema.from_yaml(job.task["schema"]).sensitive)
    found = Comparison.from_plain(comparison(job), sensitive)
    headings = ("best", *found.headings()[1:])
    return {"rows": [dict(zip(headings, row, strict=True)) for row in found.rows()], "remarks": found.remarks()}


def list_finished(jobs: Iterable[Job]) -> list[dict[str, Any]]:
    """The releases among some jobs, one line each, to hold side by side."""
    lines = []
    for job in jobs:
        if job.state == "done" and job.kind == "publish":
            summary = json.loads((job.folder / SUMMARY).read_text(encoding="utf-8"))
            lines.append(
                {
                    "number": job.number,
                    "models": list(job.task["models"]),
                    "algorithm": summary["algorithm"],
                    "form": summary["form"],
                    "loss": loss_text(summary["form"], summary["losses"]),
                    "highest_belief": summary["highest_belief"],
                    "query_error": summary["query_error"],
                }
            )
    return lines


def pictures(job: Job) -> dict[str, str]:
    """SVG by name."""
    if job.state != "done":
        return {}
    found: dict[str, str] = json.loads((job.folder / PICTURES).read_text(encoding="utf-8"))
    return found


def _belief_sentence(table: dict[str, Any]) -> str:
    """How far beliefs may rise, in words."""
    lines = tuple(BeliefLine(**line) for line in table["lines"])
    return BeliefTable(table["column"], lines, table["n_values"]).sentence if lines else ""


def _tables(release: Path) -> list[Path]:
    return sorted(path for path in release.glob("*.csv") if not path.name.startswith("matrix-"))


def _first_rows(path: Path) -> dict[str, Any]:
    first = min(path.iterdir()) if path.is_dir() else path
    with first.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        columns = next(rows)
        return {"columns": columns, "rows": list(itertools.islice(rows, _N_PREVIEW))}
