"""Modes of a series of releases of the same people: what each promises, and against which attacker, in one sentence."""

from __future__ import annotations

from lookalike.data.wording import ANY_RELEASE, Wording

FROZEN, CHECKED, M_INVARIANT = MODES = ("frozen", "checked", "m-invariant")
AFTER = "after"
"""A release that was held against others without a series."""
STATED_MODES = (AFTER, *MODES)
"""What a release may say about how it was held against others."""


def describe_mode(mode: str, wording: Wording = ANY_RELEASE) -> str:
    """What a release that was held against others promises, in a sentence or a few.

    >>> print(describe_mode(AFTER)[:53])
    Held against earlier releases of the same people: som
    """
    return wording.say(f"series.{mode}")
