"""What the process beside the studio does: the same `publish`, `write` and `compare` as the command line.

It gets tasks through a pipe and answers with progress; results go into the folder of the run:

    release/       the release folder itself, report included
    summary.json   what the page shows beside the report
    owners.json    the owner's report, with what was scored on the original; the release has the public one
    owners.html    the same as a page
    pictures.json  its pictures, as SVG
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from lookalike.data.families import load_guests
from lookalike.errors import Infeasible, LookalikeError
from lookalike.evaluation.plain import json_text

SUMMARY, PICTURES = "summary.json", "pictures.json"
OWNERS, OWNERS_PAGE = "owners.json", "owners.html"
RELEASE = "release"


class _Told:
    """Progress that goes through the pipe, and hears whether a search is to stop."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.stopped = False
        self._last: tuple[str, int, str] = ("", -1, "")

    def __call__(self, step: str, share: float, note: str = "") -> bool:
        while self._pipe.poll():
            if self._pipe.recv() == "stop":
                self.stopped = True
        now = (step, int(share * 200), note)
        if now != self._last:
            self._last = now
            loss = float(note.removeprefix("loss ")) if note.startswith("loss ") else None
            self._pipe.send({"what": "progress", "step": step, "share": share, "note": note, "loss": loss})
        return self.stopped


def work(pipe: Connection) -> None:
    """Task after task, until the pipe closes."""
    # Ctrl-C in the terminal is for the studio, which then ends this process and what it started (a browser, for PDF).
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(os, "setsid"):
        os.setsid()
    load_guests()
    from lookalike import publication  # noqa: F401  (loaded while the user still looks at columns)
    from lookalike.evaluation import report  # noqa: F401  (loaded while the user still looks at columns)

    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        if task == "stop":
            continue
        try:
            pipe.send(_outcome(task, _Told(pipe)))
        except (EOFError, BrokenPipeError):
            # The studio is gone, however it ended: so is its wish.
            return


def _outcome(task: dict[str, Any], told: _Told) -> dict[str, Any]:
    """Do it, and say how it went."""
    out = Path(task["out"])
    try:
        out.mkdir(parents=True)
        # Whatever is put aside for the time being is in the run's folder too, and goes with it.
        tempfile.tempdir = str(out)
        _TASKS[task["kind"]](task, told)
    except (EOFError, BrokenPipeError):
        raise
    except LookalikeError as error:
        nearest = error.nearest if isinstance(error, Infeasible) else None
        return {"what": "failed", "error": _name_earlier(str(error), task), "nearest": nearest}
    except MemoryError:
        return {"what": "failed", "error": "There was not enough memory. Try a sample of the table, or mondrian."}
    except BaseException as error:  # some libraries' faults are not Exceptions
        # The kind of a fault is told, its text is not: it could hold a value.
        logging.getLogger("lookalike.apps.studio").error("run failed: %s", type(error).__name__)
        said = f"The run failed ({type(error).__name__}). This is a fault of the software, please report it."
        return {"what": "failed", "error": said}
    return {"what": "done"}


def _name_earlier(said: str, task: dict[str, Any]) -> str:
    """A sentence with earlier runs by their names: where they lie is nobody's business."""
    for one in task.get("after", ()):
        said = said.replace(one["folder"], one["name"])
    return said


def _publish(task: dict[str, Any], told: _Told) -> None:
    from lookalike.data.schema import Schema
    from lookalike.publication import publish

    out = Path(task["out"])
    publication = publish(
        task["source"],
        schema=Schema.from_yaml(task["schema"]),
        model=task["models"],
        algorithm=task["algorithm"],
        adversary=task["adversary"],
        **task["persons"],
        after=[(one["folder"], one["original"]) for one in task["after"]],
        title=task["title"] or None,
        recipient=task["recipient"] or None,
        progress=told,
        **task["reading"],
    )
    # As the command line: the full report, unless the environment says otherwise.
    publication.write(out / RELEASE, publish_scores=task["publish_scores"], progress=told)
    report, found = publication.owners_report(), publication.summary()
    summary = {
        **{name: found[name] for name in ("algorithm", "form", "rows", "seconds")},
        "losses": found["loss"],
        "highest_belief": max((line.belief for table in report.beliefs for line in table.lines), default=None),
        "query_error": report.answers[-1].median if report.answers else None,
        "persons": publication.audit.n_persons,
        "together": [] if publication.step is None else [_name_earlier(one, task) for one in publication.step.notes],
        "notes": [_name_earlier(note, task) for note in publication.notes],
        "text": str(publication),
    }
    _write(out / SUMMARY, summary)
    _write(out / OWNERS, report.to_plain())
    (out / OWNERS_PAGE).write_text(report.page, encoding="utf-8")
    _write(out / PICTURES, report.pictures)


def _compare(task: dict[str, Any], told: _Told) -> None:
    from lookalike.data.schema import Schema
    from lookalike.evaluation import charts
    from lookalike.evaluation.compare import compare

    out = Path(task["out"])
    found = compare(
        task["source"],
        schema=Schema.from_yaml(task["schema"]),
        models=task["models"],
        algorithms=task["algorithms"],
        adversary=task["adversary"],
        **task["persons"],
        # This process may have no children: it is a daemon, so that it cannot outlive the studio.
        jobs=1,
        progress=told,
        **task["reading"],
    )
    _write(out / SUMMARY, found.to_plain())
    chart = found.chart()
    pictures = {"frontier": charts.svg(chart) if chart is not None else ""}
    _write(out / PICTURES, pictures)


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json_text(content), encoding="utf-8")


_TASKS = {"publish": _publish, "compare": _compare}
