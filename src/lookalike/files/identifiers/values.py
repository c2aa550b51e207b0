"""Identifiers among the values of a column that is to be published: which kinds, in how many values, and what to do.

Carried and sensitive values are published as they are, and cells of quasi-identifiers list values. An e-mail address
in one of them names a person to every reader, which no promise speaks of: promises limit what quasi-identifiers tell.
So such a column is refused, unless its owner states that these values identify nobody (`keep_identifiers`), which the
release repeats. A quasi-identifier with a taxonomy or of numbers, whose cells seldom show a value, gets a caution.

Only different values are looked at, once each. A message says how many values hold which kind, never a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Domain, Domains
from lookalike.data.schema import Attribute, Kind, Role, ValueType
from lookalike.errors import RecipeError, counted, quoted
from lookalike.files.identifiers.patterns import find_patterns, name_kinds
from lookalike.files.identifiers.person_names import TITLED, find_full_names, find_given_names

if TYPE_CHECKING:
    import polars as pl

_NAMES = "names of persons"
_SAMPLED = 20_000
"""Names are decided by shares: so many values tell them."""
_LEAST_NAMES, _LEAST_SHARE = 3, 0.2
"""Full names in a column: so many, and this share of its different values."""
_LEAST_GIVEN, _LEAST_GIVEN_SHARE = 20, 0.5
"""Different values of a column of given names, and the share of them that are on the list."""
_LEAST_TITLES, _LEAST_TITLE_SHARE = 3, 0.01
_LONG_NUMBER = 10**11
"""Whole numbers below have fewer digits than a card or a social insurance number."""


@dataclass(frozen=True)
class Identifiers:
    """What was found in the values of one column."""

    column: str
    role: Role
    counts: tuple[tuple[str, int], ...]
    """How many different values hold each kind."""
    n_holding: int
    """Different values that hold any of them."""
    n_values: int
    shown: bool
    """Whether values are published as they are, or listed in cells."""
    kept: bool
    """Whether the owner of the table states that they identify nobody."""

    @property
    def what(self) -> str:
        """How many values hold which kinds."""
        kinds = name_kinds([f"{name} ({count:,})" if len(self.counts) > 1 else name for name, count in self.counts])
        return f"{self.n_holding:,} of its {counted(self.n_values, 'different value')} hold {kinds}"

    @property
    def sentence(self) -> str:
        """What to say of it where it is not refused."""
        name = quoted(self.column)
        if self.kept:
            return f"Column {name}: {self.what}, and you state that they identify nobody. The release says so."
        if not self.shown:
            return (
                f"The quasi-identifier {name} holds identifiers: {self.what}. Cells that show a single value publish "
                "them. Leave the column out unless its taxonomy hides them."
            )
        return f"{self._published}. {self._ways_out}"

    @property
    def _published(self) -> str:
        how = {
            Role.CARRIED: "is carried, so its values are published as they are",
            Role.SENSITIVE: "is sensitive, and its values are published as they are",
        }.get(self.role, "is a quasi-identifier, and cells list its values")
        return f"Column {quoted(self.column)} {how}; {self.what}"

    @property
    def _ways_out(self) -> str:
        flag = self.column if self.column.isidentifier() else quoted(self.column)
        return (
            "A reader finds persons by them, whatever is promised. Leave the column out, or remove them from its "
            f"values. If they identify nobody, say so: --keep-identifiers {flag} (keep_identifiers in Python, "
            "keep_identifiers: true in a schema), which the release states."
        )


def find_identifiers(values: NDArray[Any], type: ValueType) -> tuple[dict[str, int], int]:
    """How many of a column's different values hold identifiers, by kind, and how many hold any.

    >>> values = np.array(["call 1 Ms. Meier", "ask ann@example.org", "none"], dtype=object)
    >>> find_identifiers(values, ValueType.STRING)
    ({'e-mail addresses': 1}, 1)
    """
    import polars as pl

    if type is ValueType.INTEGER:
        long = values[values >= _LONG_NUMBER]
        texts = pl.Series([str(value) for value in long.tolist()], dtype=pl.String)
        held = find_patterns(texts, numbers=True) if 2 * len(long) >= len(values) else {}
    elif type is ValueType.STRING:
        texts = pl.Series(values.tolist(), dtype=pl.String)
        held = find_patterns(texts)
        if (named := _find_names(texts)) is not None:
            held[_NAMES] = named
    else:
        return {}, 0
    if not held:
        return {}, 0
    return {name: int(found.sum()) for name, found in held.items()}, int(np.logical_or.reduce([*held.values()]).sum())


def _find_names(texts: pl.Series) -> NDArray[np.bool_] | None:
    """Which texts name a person, where enough of them do; of many, those that were looked at."""
    titled = texts.str.contains(TITLED).to_numpy()
    is_enough = titled.sum() >= max(_LEAST_TITLES, _LEAST_TITLE_SHARE * len(texts))
    step = -(-len(texts) // _SAMPLED) or 1
    looked_at = texts.gather_every(step).to_list()
    found = find_full_names(looked_at) | titled[::step]
    if found.sum() < max(_LEAST_NAMES, _LEAST_SHARE * len(looked_at)):
        given = find_given_names(looked_at)
        if len(looked_at) >= _LEAST_GIVEN and given.sum() >= _LEAST_GIVEN_SHARE * len(looked_at):
            found = given
        elif not is_enough:
            return None
    named = np.array(titled, dtype=bool)
    named[::step] |= found
    return named


def examine_column(
    attribute: Attribute,
    type: ValueType,
    values: NDArray[Any],
    *,
    shown: bool,
    found: tuple[dict[str, int], int] | None = None,
) -> Identifiers | None:
    """The identifiers of a column, if it holds any; `found`: what `find_identifiers` said of it, if it was asked."""
    counts, n_holding = find_identifiers(values, type) if found is None else found
    if not counts:
        return None
    kept = attribute.keep_identifiers
    return Identifiers(attribute.name, attribute.role, tuple(counts.items()), n_holding, len(values), shown, kept)


def is_shown(attribute: Attribute, type: ValueType) -> bool:
    """Whether readers see values of the column: as they are, or in cells that list them."""
    if attribute.role is not Role.QUASI:
        return True
    is_numeric = attribute.kind is Kind.NUMERIC or (attribute.kind is None and type is not ValueType.STRING)
    return attribute.taxonomy is None and not is_numeric


def _find_in_domains(domains: Iterable[Domain]) -> list[Identifiers]:
    """The columns that hold identifiers."""
    found = (
        examine_column(one.attribute, one.type, one.values, shown=is_shown(one.attribute, one.type)) for one in domains
    )
    return [one for one in found if one is not None]


def refuse_identifiers(domains: Domains | Sequence[Domain]) -> tuple[str, ...]:
    """Sentences about columns that hold identifiers; raises `RecipeError` if some would be published unsaid."""
    found = _find_in_domains(domains.all if isinstance(domains, Domains) else domains)
    refused = [one for one in found if one.shown and not one.kept]
    if refused:
        raise RecipeError(" ".join(one.sentence for one in refused))
    return tuple(one.sentence for one in found)


def state_kept(attributes: Iterable[Attribute]) -> str | None:
    """What a release says of columns whose identifiers were kept; None if there are none."""
    names = [quoted(one.name) for one in attributes if one.keep_identifiers]
    if not names:
        return None
    return (
        f"Values of {name_kinds(names)} may hold e-mail addresses, phone numbers, names or the like. The publisher "
        "states that they identify nobody in this table."
    )
