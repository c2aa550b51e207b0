"""One run at a time, the others in a queue; whatever is stopped leaves nothing behind."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lookalike.apps.studio import jobs as queue
from lookalike.apps.studio import work
from lookalike.apps.studio.jobs import Job, Jobs
from lookalike.apps.studio.workspace import NotOpen
from lookalike.errors import Infeasible, RecipeError
from tests.apps.studio.asking import CSV

SCHEMA = """
columns:
- {name: age, role: quasi-identifier}
- {name: zip, role: quasi-identifier, kind: categorical}
- {name: disease, role: sensitive}
"""
LONG = "groups:effort=60"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("table") / "people.csv"
    path.write_text(CSV)
    return path


@pytest.fixture(scope="module")
def jobs() -> Iterator[Jobs]:
    made = Jobs()
    yield made
    made.end()


@pytest.fixture
def add(jobs: Jobs, table: Path, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    def added(algorithm: str = "mondrian", model: str = "k-anonymity:3", project: str = "one", **more: Any) -> Job:
        task = {
            "source": str(table),
            "reading": {},
            "schema": SCHEMA,
            "adversary": "reads-release",
            "persons": {},
            "after": [],
            "models": [model],
            "algorithm": algorithm,
            "title": "",
            "recipient": "",
            "publish_scores": False,
        }
        return jobs.add(project, "publish", {**task, **more}, tmp_path)

    yield added
    for project in ("one", "two"):
        jobs.forget(project)


def wait_for(happens: Callable[[], object], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


def searching(job: Job) -> bool:
    assert job.state in ("queued", "running"), job.error
    return bool(job.losses)


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_runs_go_in_order_one_at_a_time_and_the_process_stays(jobs: Jobs, add: Callable[..., Job]) -> None:
    first, second, third = add(), add(project="two"), add()
    assert [jobs.ahead_of(job) for job in (second, third)] == [1, 2]
    seen: set[tuple[str, ...]] = set()
    while third.state in ("queued", "running"):
        seen.add(tuple(job.state for job in (first, second, third)))
        time.sleep(0.01)
    assert all(states.count("running") <= 1 for states in seen)
    assert [job.state for job in (first, second, third)] == ["done"] * 3, [first.error, second.error, third.error]
    assert first.began < second.began < third.began
    assert (first.folder / work.RELEASE / "datapackage.json").exists()
    assert (first.folder / work.SUMMARY).exists()
    assert [job.number for job in jobs.of("one")] == [first.number, third.number]
    with pytest.raises(NotOpen):
        jobs.job("two", first.number)


def test_a_search_that_is_stopped_gives_the_best_so_far(jobs: Jobs, add: Callable[..., Job]) -> None:
    job = add(LONG)
    wait_for(lambda: searching(job))
    began = time.monotonic()
    jobs.stop_search(job)
    jobs.wait(job, 40)
    assert job.state == "done", job.error
    assert job.stopping
    assert time.monotonic() - began < 40
    again = add()
    jobs.stop_search(again)  # while it waits: nothing to stop
    jobs.wait(again, 60)
    assert again.state == "done"


def test_cancelled_runs_leave_nothing_and_the_next_one_works(jobs: Jobs, add: Callable[..., Job]) -> None:
    running, waiting, last = add(LONG), add(), add()
    wait_for(lambda: running.step)
    pid = jobs._process.pid
    jobs.cancel(waiting)
    assert waiting.state == "cancelled"
    assert jobs.ahead_of(last) == 1
    jobs.cancel(running)
    assert running.state == "cancelled"
    assert is_gone(pid)
    assert not running.folder.exists()
    assert not waiting.folder.exists()
    jobs.wait(last, 60)
    assert last.state == "done", last.error
    jobs.cancel(last)
    assert last.state == "done", "what is over cannot be cancelled"
    assert last.folder.exists()


def test_a_process_that_is_killed_is_a_clear_failure_and_the_next_run_works(
    jobs: Jobs, add: Callable[..., Job]
) -> None:
    job, after = add(LONG), add()
    wait_for(lambda: job.step)
    os.kill(jobs._process.pid, signal.SIGKILL)
    jobs.wait(job, 20)
    assert job.state == "failed"
    assert "ended unexpectedly" in job.error
    assert "try again" in job.error
    assert not job.folder.exists()
    jobs.wait(after, 60)
    assert after.state == "done", after.error
    # Killed while it has nothing to do: nobody notices.
    os.kill(jobs._process.pid, signal.SIGKILL)
    jobs._process.join()
    later = add()
    jobs.wait(later, 60)
    assert later.state == "done", later.error


def test_failures_are_told_and_leave_nothing(jobs: Jobs, add: Callable[..., Job]) -> None:
    infeasible, unknown = add(model="l-diversity:50"), add(algorithm="nothing")
    missing = add(source="/nothing/there.csv")
    jobs.wait(missing, 60)
    assert [job.state for job in (infeasible, unknown, missing)] == ["failed"] * 3
    assert infeasible.nearest is not None
    assert infeasible.nearest in infeasible.error
    assert 'no algorithm "nothing"' in unknown.error
    assert not any(job.folder.exists() for job in (infeasible, unknown, missing))


def test_a_table_that_is_closed_takes_its_runs_along(jobs: Jobs, add: Callable[..., Job]) -> None:
    running, waiting, other = add(LONG), add(), add(project="two")
    wait_for(lambda: running.state == "running")
    jobs.forget("one")
    assert (running.state, waiting.state) == ("cancelled", "cancelled")
    assert jobs.of("one") == []
    jobs.wait(other, 60)
    assert other.state == "done"


def test_the_process_ends_with_the_studio(table: Path) -> None:
    made = Jobs()
    made.warm_up()
    pid = made._process.pid
    made.end()
    made.end()
    assert is_gone(pid)
    assert not [thread for thread in threading.enumerate() if thread is made._thread]


def test_there_is_an_end_to_runs(jobs: Jobs, add: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MOST_JOBS", 0)
    with pytest.raises(RecipeError, match="Close a table first"):
        add()


class _Pipe:
    """The studio's end, seen from the process; hears nothing and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def poll(self) -> bool:
        return False

    def send(self, message: Any) -> None:
        self.told.append(message)


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (ValueError("Mrs. Secret"), "fault of the software"),
        (MemoryError("Mrs. Secret"), "not enough memory"),
        (BaseException("Mrs. Secret"), "fault of the software"),
        (Infeasible("No.", "k-anonymity:2"), "k-anonymity:2"),
    ],
)
def test_faults_are_told_without_their_text(
    raised: BaseException, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing(*_: Any) -> None:
        raise raised

    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setitem(work._TASKS, "publish", failing)
    outcome = work._outcome({"kind": "publish", "out": str(tmp_path / "run")}, work._Told(_Pipe()))  # type: ignore[arg-type]
    assert outcome["what"] == "failed"
    assert said in outcome["error"]
    assert "Secret" not in outcome["error"] + caplog.text


def test_progress_is_told_when_it_changes() -> None:
    pipe = _Pipe()
    told = work._Told(pipe)  # type: ignore[arg-type]
    for share in (0.1, 0.1001, 0.2):
        assert told("search", share, "loss 0.25") is False
    assert [message["loss"] for message in pipe.told] == [0.25, 0.25]
