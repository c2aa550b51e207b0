"""How long work says how far it is, is asked to stop, and how many threads it may use."""

from __future__ import annotations

import os
from typing import Protocol

SEARCHING = "searching"
"""The step of a search that can stop at any time with the best it has."""


class Progress(Protocol):
    """Told now and then how far a step is: a share in [0, 1] and a word.

    Returns True to ask a search to stop with the best it has; what cannot stop halfway goes on.
    """

    def __call__(self, step: str, share: float, note: str = "") -> bool | None: ...


def silent(step: str, share: float, note: str = "") -> bool | None:
    """Progress that nobody watches."""
    return None


THREADS_VARIABLE = "LOOKALIKE_THREADS"


def available_cores() -> int:
    """The cores that this process may use, where the system tells: containers and schedulers give it fewer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def available_threads() -> int:
    """The number in LOOKALIKE_THREADS, else the cores that this process may use."""
    said = os.environ.get(THREADS_VARIABLE, "")
    return int(said) if said.isdecimal() and int(said) > 0 else available_cores()
