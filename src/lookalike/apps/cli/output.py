"""What the terminal shows: JSON on request, notes on standard error, progress that keeps quiet when nobody watches."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from lookalike.errors import counted
from lookalike.evaluation.plain import json_text
from lookalike.progress import SEARCHING, available_cores

STDOUT = "-"
UNREAD = 141
"""The exit code of a program that a closed pipe ends, as shells have it (128 and the signal's number)."""
_COMPILING, _LEAST_WAIT = 30, 5
"""CPU seconds that a slow machine takes for the kernels of the default method, and the least to announce."""
_PATIENCE = 1.0
"""Seconds before progress shows itself."""


def print_json(content: Any) -> None:
    """One object on standard output; numbers that JSON lacks become text."""
    click.echo(json_text(content))


def note(*sentences: str) -> None:
    """For the user, on standard error."""
    for sentence in sentences:
        click.echo(f"{click.style('note', fg='cyan')}: {sentence}", err=True)


def note_first_use() -> None:
    """Say in advance why the first run on a machine takes longer."""
    from lookalike.kernels import list_compiled

    if not list_compiled():
        cores = available_cores()
        seconds = max(_LEAST_WAIT, round(_COMPILING / cores))
        note(
            f"First use on this machine: lookalike compiles its inner loops once. On {counted(cores, 'core')} this "
            f"takes about {seconds} seconds, longer if the machine is slow or busy."
        )


def peak_megabytes() -> float:
    """The largest amount of memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1)


def print_table(headings: Iterable[str] | None, rows: Iterable[Sequence[str]]) -> None:
    """A table that fits the terminal. Cells are plain text: nothing in them is taken for markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=headings is not None)
    for heading in headings or ():
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    console = Console()
    Console(width=console.width if console.is_terminal else 160).print(table)


def send_to_stdout(path: Path) -> None:
    """The bytes of a finished file on standard output; where its reader goes away, the code that pipes expect."""
    stream = sys.stdout.buffer
    try:
        with path.open("rb") as file:
            shutil.copyfileobj(file, stream)
        stream.flush()
    except BrokenPipeError:
        leave_stdout()
        click.get_current_context().exit(UNREAD)


def say_verdict(text: str) -> None:
    """Print what an exit code says as well: that must be right even if nobody reads to the end."""
    try:
        click.echo(text)
    except BrokenPipeError:
        leave_stdout()


def leave_stdout() -> None:
    """Write nothing more to a pipe that nobody reads, not even at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class TerminalProgress:
    """A bar with the time left, on standard error, for anything that takes over a second; silent elsewhere.

    At a terminal the first Ctrl-C during a search asks it to stop with the best it has; a second one, or one at any
    other time, interrupts.
    """

    def __init__(self) -> None:
        self.stopped = False
        """Whether the user asked to stop the search."""
        self._step = ""
        self._previous: Any = None
        self._begin = time.monotonic()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}
        self._watched = sys.stderr.isatty()
        self._lock = threading.Lock()

    def __enter__(self) -> TerminalProgress:
        on_main = threading.current_thread() is threading.main_thread()
        if on_main and self._watched and sys.stdin is not None and sys.stdin.isatty():
            self._previous = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: object) -> None:
        self.pause()

    def pause(self) -> None:
        """Leave the terminal to others."""
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
        if self._bar is not None:
            self._bar.stop()

    def _interrupt(self, number: int, frame: object) -> None:
        if self._step != SEARCHING or self.stopped:
            raise KeyboardInterrupt
        self.stopped = True

    def __call__(self, step: str, share: float, note: str = "") -> bool:
        self._step = step
        if self._watched and (self._bar is not None or time.monotonic() - self._begin >= _PATIENCE):
            self._show(step, share, "stopping (Ctrl-C again: give up)" if self.stopped else note)
        return self.stopped

    def _show(self, step: str, share: float, note: str) -> None:
        with self._lock:
            if self._bar is None:
                self._bar = _bar()
                self._bar.start()
            if step not in self._tasks:
                for task in self._tasks.values():
                    self._bar.update(task, completed=1.0)
                self._tasks[step] = self._bar.add_task(step, total=1.0, note="")
            self._bar.update(self._tasks[step], completed=share, note=note)


def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
    )


def print_components(what: str, rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Models, algorithms or attacks, with their parameters."""
    if as_json:
        print_json({what: rows})
        return
    for row in rows:
        click.echo(f"{click.style(row['name'], bold=True)}  {row['meaning']}")
        print_table(
            None,
            (
                (
                    f"  {parameter['name']}",
                    "required" if parameter["required"] else f"default {parameter['default'] or 'none'}",
                    parameter["meaning"],
                )
                for parameter in row["parameters"]
            ),
        )
        click.echo()
