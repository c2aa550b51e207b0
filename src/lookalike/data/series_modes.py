"""Modes of a series of releases of the same people: what each promises, and against whom, in one sentence."""

from __future__ import annotations

FROZEN, CHECKED, M_INVARIANT = MODES = ("frozen", "checked", "m-invariant")
AFTER = "after"
"""A release that was held against others without a series."""
MODE_SENTENCES = {
    "after": (
        "Held against earlier releases of the same people: someone who has all of them, knows in which releases "
        "and in which group of each a person is, and does not use how they were made, stays within the promises of "
        "each release, as far as values that follow from the numbers of all groups and multiplied chances tell."
    ),
    "checked": (
        "Part of a series of releases, each held against all before it: someone who has all of them, knows in "
        "which releases and in which group of each a person is, and does not use how they were made, stays within the "
        "promises of each release, as far as values that follow from the numbers of all groups and multiplied chances "
        "tell."
    ),
    "frozen": (
        "Part of a series in cells that never change: someone who has all releases, and knows in which of them a "
        "person is, learns no more about the person than the rows tell that appeared in the cell, and left it, at the "
        "same time, and these keep the promises by themselves."
    ),
    "m-invariant": (
        "Part of an m-invariant series: someone who has all releases, knows in which of them a person is, and takes "
        "all values to be equally likely beforehand, finds the same m or more values in every group of the person, "
        "each equally likely. Some rows are made up for that; their number is published for each group. Someone who "
        "knows how frequent values are, or how the method fills groups, can become surer."
    ),
}
