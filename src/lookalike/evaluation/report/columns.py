"""The columns of a release by what happens to them: removed, coarsened, exact, sensitive.

Names of columns are no values of persons, and the report that goes with a release also names those that were removed.
A table with a column per person is the exception: where one of these names looks like a person or like a number of one,
or where there are very many, the published report has their number alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookalike.data.cell_kinds import EXACT
from lookalike.data.coarsening import Coarsening
from lookalike.data.microdata import Domain, Domains
from lookalike.data.release import Perturbed
from lookalike.evaluation.report.short_lists import clip
from lookalike.files.identifiers.person_names import find_full_names, find_given_names

_MOST_LETTERS = 130
"""Of a list of columns on page one."""
_LONGEST_NAME = 34
_MOST_NAMED = 100
_NUMBERED = re.compile(r"@|\d(?:[ ./-]?\d){5}")
"""E-mail addresses, and numbers of at least six digits."""


@dataclass(frozen=True)
class NamedColumns:
    """Columns of one kind: all of them, and those that fit on the sheet."""

    title: str
    what: str
    """What happens to them."""
    names: tuple[str, ...]
    """With how a value was changed, in brackets."""
    n_others: int = 0
    """Further ones whose names are not published."""

    @property
    def shown(self) -> str:
        """As many as fit, and how many are left out."""
        listed, letters = list[str](), 0
        for name in self.names:
            name = clip(name, _LONGEST_NAME)
            if listed and letters + len(name) > _MOST_LETTERS:
                break
            listed.append(name)
            letters += len(name) + 2
        left = len(self.names) - len(listed)
        more = [f"{left} more (see the annex)"] if left else []
        if self.n_others:
            more.append(f"{self.n_others} {'others' if self.names else 'columns'}, not named")
        return ", ".join([*listed, *more]) or "none"


def may_be_named(names: Sequence[str]) -> bool:
    """Whether the names of removed columns may be published.

    >>> may_be_named(["patient_id", "occupation"]), may_be_named(["day", "Anna Keller"]), may_be_named(["P 7560123"])
    (True, False, False)
    """
    if len(names) > _MOST_NAMED or any(_NUMBERED.search(name) for name in names):
        return False
    return not (find_full_names(names).any() or find_given_names(names).any())


def list_columns(
    domains: Domains, cells: Mapping[str, str], form: str, removed: tuple[str, ...] | None, n_unnamed: int
) -> tuple[NamedColumns, ...]:
    """Removed, coarsened, exact and sensitive columns; `cells`: how those of quasi-identifiers are published."""
    exact = [domain.name for domain in domains.quasi if cells.get(domain.name) == EXACT]
    coarse = [domain.name for domain in domains.quasi if domain.name not in exact]
    changed = "redrawn at random" if form == Perturbed.form else "published, nobody can tell whose"
    carried = (f"{_describe(domain)} (carried)" for domain in domains.carried)
    return (
        NamedColumns("Removed", "not in the release", removed or (), n_unnamed),
        NamedColumns("Coarsened", "published as ranges or sets", tuple(coarse)),
        NamedColumns("Exact", "published as they are", (*exact, *carried)),
        NamedColumns("Sensitive", changed, tuple(map(_describe, domains.sensitive))),
    )


def _describe(domain: Domain) -> str:
    if domain.attribute.prepare is None:
        return domain.name
    return f"{domain.name} ({Coarsening(domain.name, domain.attribute.prepare).describe()})"
