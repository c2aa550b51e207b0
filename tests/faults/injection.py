"""Faults at chosen moments: the k-th time that a process touches a folder, it is killed, or the system says no.

Python tells an audit hook of every file it opens, makes, renames and removes; `os.fsync` is wrapped. What Polars writes
by itself is not seen here: a limit on the size of files (`Fault.most_bytes`) stops that.

A fault happens in a fork, so that the libraries are loaded once. Anyone who forks must not have used Polars: its
threads
do not survive a fork.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGING = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod")


@dataclass(frozen=True)
class Fault:
    """What goes wrong; one of these, or nothing."""

    kill_at: int | None = None
    """The process is killed at its k-th touch."""
    refuse_at: int | None = None
    """The k-th touch that would change something fails with `error`, and so does every later one."""
    error: int = 0
    """A number of the system's; 0: there is no memory."""
    kill_after: float | None = None
    """The process is killed after so many seconds."""
    most_bytes: int | None = None
    """No file can grow beyond this."""
    most_memory: int | None = None
    """The process can take so many bytes of address space more."""
    powerless: bool = False
    """Root is held to the permissions of files as anybody else is."""


@dataclass(frozen=True)
class Ending:
    """How a fork ended."""

    code: int
    """The exit code; minus the number of the signal that ended it."""
    said: str
    """On standard error."""
    touches: int

    @property
    def was_killed(self) -> bool:
        return self.code == -signal.SIGKILL


def answer_of_fork(work: Callable[[], Any]) -> Any:
    """What the work gives, as JSON, from a fork: libraries with threads of their own stay out of this process."""
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.stdout = os.fdopen(1, "w", closefd=False)
            with os.fdopen(sending, "w") as pipe:
                json.dump(work(), pipe)
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    assert told, "the fork failed; see what it printed"
    return json.loads(told)


def in_fork(work: Callable[[], int], fault: Fault, folder: Path) -> Ending:
    """Do the work in a fork, with its folder watched; what it says goes into a pipe, which no fault can fill."""
    (said, saying), (touches, touching) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            os.dup2(saying, 2)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
            _arm(fault, folder, touching)
            code = work()
        finally:
            # Whatever happens: the fork must not go on as its parent.
            try:
                sys.stderr.flush()
            finally:
                os._exit(code)
    os.close(saying)
    os.close(touching)
    if fault.kill_after is not None:
        time.sleep(fault.kill_after)
        os.kill(pid, signal.SIGKILL)
    watch = threading.Timer(_HANGS_AFTER, os.kill, (pid, signal.SIGALRM))
    watch.start()
    with os.fdopen(said, "rb") as words, os.fdopen(touches, "rb") as dots:
        told, n_touches = words.read().decode(errors="replace"), len(dots.read())
    watch.cancel()
    return Ending(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), told, n_touches)


_HANGS_AFTER = 300
"""Seconds, after which a signal ends it that no fault gives."""


def _arm(fault: Fault, folder: Path, tally: int) -> None:
    if fault.most_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (fault.most_bytes, fault.most_bytes))
    if fault.most_memory is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most = pages * resource.getpagesize() + fault.most_memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    if fault.powerless:
        _drop_powers()
    count = changes = 0

    def touched(changing: bool) -> None:
        nonlocal count, changes
        count, changes = count + 1, changes + changing
        os.write(tally, b".")
        if count == fault.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if changing and fault.refuse_at is not None and changes >= fault.refuse_at:
            raise OSError(fault.error, os.strerror(fault.error)) if fault.error else MemoryError

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if _within(path, folder):
                touched(bool(flags & _WRITING))
        elif event in _CHANGING and (_within(arguments[0], folder) or arguments[-1] not in (-1, None)):
            # Emptying a folder goes by descriptors: names without a path.
            touched(event in ("os.mkdir", "os.rename"))

    # Not synced in truth, which takes long: what the system was given outlives the process without.
    os.fsync = lambda descriptor: touched(True)
    sys.addaudithook(hook)


def _within(path: Any, folder: Path) -> bool:
    try:
        return os.fsdecode(path).startswith(f"{folder}/")
    except TypeError:
        return False


def _drop_powers() -> None:
    """Without capabilities root may do to its own files what their permissions say."""
    import ctypes

    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None, use_errno=True).capset(header, nothing) != 0:
        raise OSError(ctypes.get_errno(), "capset")
