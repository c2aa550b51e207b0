"""Which columns set records apart: each by itself, in pairs, and those that nobody is assumed to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from lookalike.data.microdata import Table
from lookalike.data.schema import Role
from lookalike.errors import counted, quoted
from lookalike.evaluation.inspect import Inspection
from lookalike.evaluation.inspect.combinations import Combinations

MOST_PAIRS = 3
_MOST_PAIRED = 12
"""So many columns are paired: those that set most records apart."""


@dataclass(frozen=True)
class ColumnAdvice:
    """What a column should be taken for, and what depends on it."""

    name: str
    role: Role | None
    """What it is taken for; None: it is not published."""
    suggested: Role
    reason: str
    """Why that is suggested."""
    n_alone: int | None
    """Records that stand alone now (quasi-identifiers and carried columns)."""
    n_alone_otherwise: int | None
    """Records that would stand alone if a quasi-identifier were not known, or if a carried column were known too."""

    @property
    def matters(self) -> bool:
        """Whether it decides for any record if it stands alone."""
        return self.n_alone != self.n_alone_otherwise

    @property
    def is_doubted(self) -> bool:
        """Whether it is published in another role than the suggested one."""
        return self.role not in (None, self.suggested)

    @property
    def sentence(self) -> str:
        said = f"{quoted(self.name)}: {self.role or 'not published'}"
        if self.is_doubted:
            said += f", though {self.suggested} is suggested, as {self.reason}"
        if self.n_alone is None or self.n_alone_otherwise is None or not self.matters:
            return f"{said}."
        if self.role is Role.QUASI:
            fewer = self.n_alone - self.n_alone_otherwise
            return f"{said}; without it {fewer:,} of the {counted(self.n_alone, 'record')} that stand alone would not."
        more = self.n_alone_otherwise - self.n_alone
        return f"{said}; if somebody outside knew it, {more:,} more records would stand alone."


@dataclass(frozen=True)
class Pair:
    """Two quasi-identifiers and how many records stand alone by them only."""

    names: tuple[str, str]
    n_alone: int
    n_rows: int

    @property
    def sentence(self) -> str:
        one, other = self.names
        share = self.n_alone / self.n_rows
        return f"{quoted(one)} and {quoted(other)} alone single out {counted(self.n_alone, 'record')} ({share:.1%})."


def column_advice(table: Table, found: Inspection) -> tuple[ColumnAdvice, ...]:
    """Every column that is published or should be looked at again, with what depends on it."""
    alone_without = {leverage.name: leverage.unique_without for leverage in found.worst_columns}
    quasi = [table[name] for name in found.quasi]
    advised = []
    for profile in found.columns:
        otherwise = alone_without.get(profile.name)
        if profile.role is Role.CARRIED and quasi:
            otherwise = Combinations.of([*quasi, table[profile.name]], table.n_rows).n_unique
        advised.append(
            ColumnAdvice(
                profile.name,
                profile.role,
                profile.suggested_role,
                profile.role_reason,
                None if otherwise is None else found.n_unique,
                otherwise,
            )
        )
    return tuple(advised)


def singling_pairs(table: Table, found: Inspection) -> tuple[Pair, ...]:
    """The pairs of quasi-identifiers that single out most records, the worst first; none that singles out nobody."""
    names: Sequence[str] = [leverage.name for leverage in found.worst_columns[:_MOST_PAIRED]]
    known = Combinations.of([table[name] for name in names], table.n_rows)
    pairs = [
        Pair((names[one], names[other]), known.n_unique_by((one, other)), table.n_rows)
        for one, other in combinations(range(len(names)), 2)
    ]
    return tuple(sorted((pair for pair in pairs if pair.n_alone), key=lambda pair: -pair.n_alone)[:MOST_PAIRS])
