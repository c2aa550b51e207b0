"""One run at a time, the others in a queue, in its own process that can be stopped at any moment.

The process stays for the next run, so that it need not load everything again; a run that is cancelled takes the process
with it. What comes back are steps, shares and losses; results lie in the run's folder.
"""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from lookalike.apps.studio.workspace import NotOpen
from lookalike.errors import RecipeError

State = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: tuple[State, ...] = ("done", "failed", "cancelled")
MOST_JOBS = 200
_POINTS = 400
"""Losses kept for the picture of a search."""


@dataclass
class Job:
    """A run or a comparison, from the queue to its end."""

    number: int
    project: str
    kind: Literal["publish", "compare"]
    task: dict[str, Any]
    folder: Path
    state: State = "queued"
    step: str = ""
    share: float = 0.0
    note: str = ""
    losses: list[tuple[float, float]] = field(default_factory=list)
    """Seconds since the beginning, and the loss of the best so far."""
    error: str = ""
    nearest: str | None = None
    """If no release can keep the promise: the nearest that can be kept."""
    began: float = 0.0
    was_sent: bool = False
    """Whether the process has the task, so that it can be asked to stop."""
    stopping: bool = False

    def to_plain(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("number", "project", "kind", "state", "step", "share", "note")},
            "losses": [list(point) for point in self.losses],
            **{name: getattr(self, name) for name in ("error", "nearest", "stopping")},
            "models": list(self.task.get("models", ())),
            "algorithm": self.task.get("algorithm"),
            "adversary": self.task.get("adversary"),
        }


class Jobs:
    """The queue and the process that works it off."""

    def __init__(self) -> None:
        self._jobs: dict[int, Job] = {}
        self._last = 0
        self._waiting: deque[int] = deque()
        self._changed = threading.Condition()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._ending = False
        self._thread = threading.Thread(target=self._work_off, name="lookalike-jobs", daemon=True)
        self._thread.start()

    def warm_up(self) -> None:
        """Start the process now: it takes seconds to load everything."""
        with self._changed:
            self._start_pipe()

    def add(self, project: str, kind: Literal["publish", "compare"], task: dict[str, Any], folder: Path) -> Job:
        with self._changed:
            if len(self._jobs) >= MOST_JOBS:
                raise RecipeError(f"{MOST_JOBS} runs were made. Close a table first.")
            self._last += 1
            number = self._last
            place = folder / f"run-{number}"
            job = Job(number, project, kind, {**task, "kind": kind, "out": str(place)}, place)
            self._jobs[number] = job
            self._waiting.append(number)
            self._changed.notify_all()
            return job

    def of(self, project: str) -> list[Job]:
        with self._changed:
            return [job for job in self._jobs.values() if job.project == project]

    def job(self, project: str, number: int) -> Job:
        with self._changed:
            job = self._jobs.get(number)
        if job is None or job.project != project:
            raise NotOpen("There is no such run of this table.")
        return job

    def ahead_of(self, job: Job) -> int:
        """How many runs come before it."""
        with self._changed:
            if job.number not in self._waiting:
                return 0
            running = any(other.state == "running" for other in self._jobs.values())
            return list(self._waiting).index(job.number) + running

    def cancel(self, job: Job) -> None:
        """Stop a run, or take it out of the queue; nothing of it stays."""
        with self._changed:
            if job.state in ENDED:
                return
            if job.state == "queued":
                self._waiting.remove(job.number)
            else:
                self._stop_process()
            self._end(job, "cancelled")

    def stop_search(self, job: Job) -> None:
        """Ask a search to end with the best it has."""
        with self._changed:
            if job.state == "running":
                job.stopping = True
                if job.was_sent:
                    self._tell_to_stop()

    def forget(self, project: str) -> None:
        """Cancel and drop all runs of a project that is closed."""
        for job in self.of(project):
            if job.state not in ENDED:
                self.cancel(job)
            with self._changed:
                self._jobs.pop(job.number, None)

    def wait(self, job: Job, seconds: float) -> None:
        """Until it ends, or so long; for scripts and tests."""
        with self._changed:
            self._changed.wait_for(lambda: job.state in ENDED, seconds)

    def end(self) -> None:
        with self._changed:
            self._ending = True
            self._stop_process()
            self._changed.notify_all()
        self._thread.join(timeout=5)

    def _stop_process(self) -> None:
        if self._process is not None:
            with suppress(OSError, AttributeError):
                # It leads a group of its own once it has begun.
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()
            self._process.join(timeout=5)
        # The thread that reads the pipe sees its end; closing it here could hand its number to another file meanwhile.
        self._process = self._pipe = None

    def _tell_to_stop(self) -> None:
        # If the process is dead, anyone who follows the run finds out.
        with suppress(OSError):
            if self._pipe is not None:
                self._pipe.send("stop")

    def _start_pipe(self) -> Connection:
        """The pipe to the process, which is started if it is not there."""
        if self._process is None or not self._process.is_alive() or self._pipe is None:
            from lookalike.apps.studio.work import work

            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            self._process = context.Process(target=work, args=(theirs,), name="lookalike-work", daemon=True)
            self._process.start()
            theirs.close()
            self._pipe = ours
        return self._pipe

    def _work_off(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._ending)
                if self._ending:
                    return
                job = self._jobs[self._waiting.popleft()]
                job.state, job.began = "running", time.monotonic()
                self._changed.notify_all()
            self._follow(job)

    def _follow(self, job: Job) -> None:
        """Until the process says that it is done, or dies."""
        try:
            with self._changed:
                if job.state != "running":
                    return
                pipe = self._start_pipe()
            pipe.send(job.task)
            with self._changed:
                job.was_sent = True
                if job.stopping:
                    self._tell_to_stop()
            while True:
                said = pipe.recv()
                with self._changed:
                    if job.state != "running" or self._heard(job, said):
                        return
        except (EOFError, OSError):
            with self._changed:
                if job.state == "running":
                    self._end(
                        job,
                        "failed",
                        "The run ended unexpectedly, perhaps for lack of memory. Nothing was published; try again.",
                    )
                self._process = self._pipe = None

    def _end(self, job: Job, state: State, error: str = "") -> None:
        if state != "done":
            # Before anybody hears of it: anyone who asks what is left finds nothing.
            shutil.rmtree(job.folder, ignore_errors=True)
        job.state, job.error = state, error
        self._changed.notify_all()

    def _heard(self, job: Job, said: dict[str, Any]) -> bool:
        """Take in one message; True if it was the last of the run."""
        if said["what"] == "progress":
            job.step, job.share, job.note = said["step"], said["share"], said["note"]
            if said["loss"] is not None and len(job.losses) < _POINTS:
                job.losses.append((round(time.monotonic() - job.began, 2), said["loss"]))
            return False
        job.nearest = said.get("nearest")
        job.share = 1.0 if said["what"] == "done" else job.share
        self._end(job, said["what"], said.get("error", ""))
        return True
