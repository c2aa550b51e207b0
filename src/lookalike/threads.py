"""How many threads a search may use."""

from __future__ import annotations

import os

VARIABLE = "LOOKALIKE_THREADS"


def available() -> int:
    """The number in LOOKALIKE_THREADS, else the cores that this process may use."""
    said = os.environ.get(VARIABLE, "")
    if said.isdecimal() and int(said) > 0:
        return int(said)
    # What the process may use, where the system tells: containers and schedulers give it fewer than there are.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
