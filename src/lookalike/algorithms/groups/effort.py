"""How long to search: a number of rounds with a name, or a number of seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from lookalike.randomness import Randomness


@dataclass(frozen=True)
class Effort:
    """What a search may cost."""

    passes: int
    """free: times that all neighbourhoods are gone through, each time other ones."""
    tries: int
    """free: random swaps tried for each record in a pass."""
    rounds: int
    """strict: times that every column is matched anew."""
    matched_rows: int
    """strict: most groups that are matched at once."""
    seconds: float | None = None
    """Search until so much time has passed; the numbers of passes and rounds do not count then."""

    def scale_to(self, n_rows: int) -> Effort:
        """For a table of that size: small ones are searched for longer, large ones gain less by it."""
        longer = min(2.5, max(1.0, (_SMALL_TABLE / max(n_rows, 1)) ** 0.75))
        shorter = max(0.2, min(1.0, (_LARGE_TABLE / max(n_rows, 1)) ** 0.55))
        passes, rows = round(self.passes * longer * shorter), round(self.matched_rows * min(longer, 1.25))
        return replace(self, passes=passes, matched_rows=rows)


_SMALL_TABLE, _LARGE_TABLE = 30_000, 100_000

EFFORTS = {
    "fast": Effort(passes=10, tries=30, rounds=1, matched_rows=120),
    "balanced": Effort(passes=60, tries=50, rounds=4, matched_rows=700),
    "best": Effort(passes=300, tries=60, rounds=15, matched_rows=1500),
}


def effort_of(text: str) -> Effort:
    """
    >>> effort_of("fast").passes, effort_of("90").seconds
    (10, 90.0)
    """
    return EFFORTS[text] if text in EFFORTS else replace(EFFORTS["balanced"], seconds=float(text))


@dataclass(frozen=True)
class Run:
    """What a search works with: its randomness, its threads, whom it tells how far it is, and when to stop."""

    rng: Randomness
    map: Callable[..., Iterator[Any]]
    """As the built-in one, or that of a pool of threads."""
    report: Callable[[float, float], None]
    """Told the share done and the loss so far."""
    stopped: Callable[[], bool]
    """Whether to stop and give the best state so far."""
    remark: Callable[[str], None] = lambda sentence: None
    """Told what the person who publishes should know about this run."""


class Pace:
    """How far a search is: by its steps, or by the clock where it was given seconds."""

    def __init__(self, steps: int, seconds: float | None, stopped: Callable[[], bool]) -> None:
        self._steps, self._seconds, self._stopped = steps, seconds, stopped
        self._begin = time.monotonic()

    def share(self, done: int) -> float:
        """Between 0 and 1; 1 if it is time to stop."""
        if self._stopped():
            return 1.0
        if self._seconds is None:
            return min(1.0, done / max(self._steps, 1))
        return min(1.0, (time.monotonic() - self._begin) / self._seconds)
