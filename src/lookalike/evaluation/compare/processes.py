"""Runs side by side, each in a process of its own kind: fresh interpreters that share nothing with the caller.

Fresh ones, not forks: forks of a process with threads may hang. Started by a command, not through `multiprocessing`:
that would run the caller's script again in every process. A process that dies takes only its run with it.

A process reads the table once and then tasks from standard input, and answers each on standard output, as pickles
between a parent and its own child. It ends when its input does. It writes no file.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence

from lookalike.algorithms import ALGORITHMS
from lookalike.attacks import ATTACKS
from lookalike.data.families import known_elsewhere, load_guests
from lookalike.data.microdata import Table
from lookalike.data.schema import Schema
from lookalike.evaluation.compare.execute import execute
from lookalike.evaluation.compare.runs import FAULT, Run, Task
from lookalike.metrics import METRICS
from lookalike.models import MODELS
from lookalike.progress import available_cores

_WORKER = "from lookalike.evaluation.compare.processes import serve; serve()"
_A_MOMENT = 0.5
"""Seconds between two words to anyone who watches."""


def execute_all(
    tasks: Sequence[Task], table: Table, schema: Schema, jobs: int
) -> Generator[tuple[int, Run] | None, None, None]:
    """Each run with its place among the tasks, as they finish; None now and then while nothing does.

    Closing the iterator ends the processes at once. One job runs here, in the caller's process; so does everything if
    a model, method or metric was registered here by hand, which other processes would not know.
    """
    families = (MODELS, ALGORITHMS, ATTACKS, METRICS)
    if jobs <= 1 or len(tasks) <= 1 or not known_elsewhere(kind for family in families for kind in family.guests):
        for place, task in enumerate(tasks):
            yield place, execute(task, table, schema)
        return
    crew = _Crew(tasks, table, schema, min(jobs, len(tasks)))
    try:
        missing = len(tasks)
        while missing:
            try:
                found = crew.results.get(timeout=_A_MOMENT)
            except queue.Empty:
                yield None
                continue
            if isinstance(found, BaseException):
                raise found
            missing -= 1
            yield found
    finally:
        crew.end()


class _Crew:
    """A thread for each process: it hands out tasks and waits for the answers."""

    def __init__(self, tasks: Sequence[Task], table: Table, schema: Schema, jobs: int) -> None:
        self.results: queue.Queue[tuple[int, Run] | BaseException] = queue.Queue()
        self._waiting: queue.Queue[tuple[int, Task]] = queue.Queue()
        for place, task in enumerate(tasks):
            self._waiting.put((place, task))
        self._given = pickle.dumps((table, schema))
        self._environment = _environment(jobs)
        self._ending = False
        self._lock = threading.Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """End every process, busy or not, and wait until they are gone."""
        with self._lock:
            self._ending = True
            for process in self._processes:
                process.kill()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        try:
            while not self._ending:
                try:
                    place, task = self._waiting.get_nowait()
                except queue.Empty:
                    return
                process = process or self._start_process()
                if process is None:
                    return
                run = _answer(process, task)
                if run is None:
                    run = task.run(FAULT, _last_words(_close_process(process)))
                    process = None
                self.results.put((place, run))
        except BaseException as error:
            self.results.put(error)
        finally:
            if process is not None:
                _close_process(process)

    def _start_process(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._ending:
                return None
            # -P: a module of that name in the caller's folder must not be taken for ours.
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
            )
            self._processes.append(process)
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.write(self._given)
        return process


def _answer(process: subprocess.Popen[bytes], task: Task) -> Run | None:
    """What the process answers; None if it died over it."""
    assert process.stdin is not None
    assert process.stdout is not None
    content = pickle.dumps(task)
    try:
        process.stdin.write(content)
        process.stdin.flush()
        run: Run = pickle.load(process.stdout)
    except (OSError, EOFError, pickle.UnpicklingError):
        return None
    return run


def _close_process(process: subprocess.Popen[bytes]) -> int:
    """Let the process end, and say how it did."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    return process.wait()


def _last_words(code: int) -> str:
    if code < 0:
        return "The system ended the run, most likely because memory ran out. Compare fewer at once (--jobs 1)."
    return f"The run's process ended by itself (code {code}). Run it alone (--jobs 1) to see why."


def _environment(jobs: int) -> dict[str, str]:
    """The caller's environment and import path, with the cores shared out among the processes."""
    share = str(max(1, available_cores() // jobs))
    threads = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), share)
    path = os.pathsep.join(place for place in sys.path if place)
    return {**threads, **os.environ, "PYTHONPATH": path}


def serve() -> None:
    """What a process does: run the tasks on its standard input."""
    # Ctrl-C at the terminal reaches every process; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    load_guests()
    given = sys.stdin.buffer
    try:
        table, schema = pickle.load(given)
        while True:
            pickle.dump(execute(pickle.load(given), table, schema), answers)
            answers.flush()
    except (EOFError, BrokenPipeError):
        return
