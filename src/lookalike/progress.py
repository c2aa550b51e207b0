"""How long work says how far it is, and is asked to stop."""

from __future__ import annotations

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
