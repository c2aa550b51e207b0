"""Spellings of yesterday: the one list of them, and how whoever uses one is told.

A deprecated spelling works as before and warns with what to write instead, since which version, and which version may
stop reading it. The library warns with `Deprecation`; the command prints the same sentence as a note. What is promised
about this stands in docs/decisions/0016-old-folders-and-old-spellings.md.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

NAME, OPTION = "name", "option"
"""Kinds besides those of `notation`: what `lookalike` offers in Python, and flags of the command."""


class Deprecation(DeprecationWarning):
    """A spelling of ours that a later version will not read."""


@dataclass(frozen=True, kw_only=True)
class Deprecated:
    """One spelling that is on its way out."""

    kind: str
    """`NAME`, `OPTION`, or as in `parameters.parse_component`: "model", "algorithm", and "mondrian parameter"."""
    old: str
    new: str
    since: str
    """The version that gave it the new spelling."""
    until: str
    """The first version that may not read the old one: at least two minor versions later."""

    def __str__(self) -> str:
        return (
            f"The {self.kind} {self.old} is deprecated since version {self.since}: write {self.new}. Version "
            f"{self.until} may not know {self.old} any more."
        )


DEPRECATED: tuple[Deprecated, ...] = ()
"""All of them. An entry is removed no sooner than the version it names."""


def find_spelling(kind: str, name: str) -> str:
    """The name as it is spelled today; a name that is not deprecated is returned as it is. Nobody is told."""
    return next((one.new for one in DEPRECATED if (one.kind, one.old) == (kind, name)), name)


def current(kind: str, name: str, *, stacklevel: int = 3) -> str:
    """The same, and whoever called the caller is told if the name is of yesterday."""
    for one in DEPRECATED:
        if (one.kind, one.old) == (kind, name):
            warnings.warn(str(one), Deprecation, stacklevel=stacklevel)
            return one.new
    return name
