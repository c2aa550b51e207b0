"""People of the same kind who are not in the table: the control group that attacks are also made on.

What an attacker guesses about them is known of people in general. So they must come from the same source, share no
person with the table, and be looked at through the same cells.

    hold_out         draws a share of the persons of a table before anything else is made of it
    check_apart      refuses people who are in the table as well
    encode_control   their records over the domains of the table
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.coarsening import Coarsening
from lookalike.data.microdata import Codes, Column, Domain, Domains, Microdata, Table, label_blocks, texts_of
from lookalike.data.parameters import as_fraction, number_text
from lookalike.data.persons import renumber
from lookalike.data.release import Grouped, cover
from lookalike.data.schema import NUMBER_LIKE, Kind, Schema
from lookalike.data.taxonomy import OTHER
from lookalike.errors import DataError, RecipeError, SchemaError, counted, quoted, unknown_name

Ints = NDArray[np.int64]
_MOST_SHARED = 0.01
"""Of the records of a control group, this share may be in the table besides those that are alike by chance."""


def read_share(given: object) -> Fraction | None:
    """The share of persons to hold out, if that is what was given; None: something to read people from.

    >>> read_share("0.1"), read_share("10%"), read_share("people.csv")
    (Fraction(1, 10), Fraction(1, 10), None)
    """
    if not isinstance(given, str | float | int | Fraction) or isinstance(given, bool):
        return None
    text = str(given).strip()
    try:
        share = as_fraction(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except (ValueError, ArithmeticError):
        return None
    if not 0 < share < 1:
        raise RecipeError(
            f"A control group of {text} of the persons cannot be held out. Give a share between 0 and 1, as in 0.1, "
            "or a file with people who are not in the table."
        )
    return share


@dataclass(frozen=True, eq=False)
class HeldOut:
    """People of a table who are kept out of its release."""

    share: Fraction
    rows: Ints
    """Their rows in the table as it was read."""
    n_rows: int
    """Of that table."""
    people: Table
    """Their records."""

    @property
    def note(self) -> str:
        return (
            f"{counted(len(self.rows), 'row')} of {self.n_rows:,} are held out as a control group "
            f"({number_text(self.share)} of the persons, drawn at random before anything else). The release has the "
            "other rows."
        )


def refuse_without_private(elsewhere: bool, private: bool | None) -> None:
    """Raise `RecipeError` where people who are held out could not be kept; `private`: whether the folder is wanted."""
    if elsewhere:
        raise RecipeError(
            "People who are held out of a release are kept in the PRIVATE folder beside it, and nothing private is "
            "sent elsewhere or printed. Write the release to a folder."
        )
    if private is False:
        raise RecipeError(
            "People who are held out of a release are kept in its PRIVATE folder, without which nobody can audit it. "
            "Leave out --no-private (private=False), or --control."
        )


def hold_out(table: Table, schema: Schema, share: Fraction, draws: NDArray[np.float64]) -> tuple[Table, HeldOut]:
    """The table without a random share of its persons, and these; `draws`: a number in [0, 1) for each row."""
    column = schema.household or schema.person
    named = None if column is None else table[column.name]
    persons = np.arange(table.n_rows) if named is None else renumber(named.codes).astype(np.int64)
    firsts = np.unique(persons, return_index=True)[1]
    n_held = round(float(share) * len(firsts))
    if not 0 < n_held < len(firsts):
        raise DataError(
            f"A share of {number_text(share)} of {counted(len(firsts), 'person')} leaves one side without people. "
            "Hold out another share (--control), or give a file with other people."
        )
    held = np.zeros(len(firsts), dtype=bool)
    held[np.argsort(draws[firsts], kind="stable")[:n_held]] = True
    rows = np.flatnonzero(held[persons])
    people, rest = take_rows(table, rows), take_rows(table, np.flatnonzero(~held[persons]))
    return rest, HeldOut(share, rows, table.n_rows, people)


def leave_out(table: Table, rows: Ints, n_rows: int) -> tuple[Table, Table]:
    """The table without these rows, and these; raises if it is not the table that they were drawn from."""
    if table.n_rows != n_rows or (len(rows) and int(rows.max()) >= n_rows):
        raise DataError(
            f"{table.source} has {counted(table.n_rows, 'row')}, and the control group was held out of a table with "
            f"{n_rows:,}. Name the table that the release was made from."
        )
    kept = np.ones(n_rows, dtype=bool)
    kept[rows] = False
    return take_rows(table, np.flatnonzero(kept)), take_rows(table, rows)


def take_rows(table: Table, rows: Ints) -> Table:
    """These rows with the values that occur in them: nothing is left of a value that only other rows have."""
    return replace(table, columns=tuple(_take(column, rows) for column in table.columns))


def _take(column: Column, rows: Ints) -> Column:
    codes = column.codes[rows]
    occurs = np.zeros(len(column.values) + 1, dtype=bool)
    occurs[codes] = True
    occurs[-1] = True
    renumbered = (np.cumsum(occurs) - 1).astype(np.int32)
    return replace(column, codes=renumbered[codes], values=column.values[occurs[:-1]])


def check_apart(table: Table, others: Table, schema: Schema) -> None:
    """Raise `DataError` if people of the control group seem to be in the table.

    Different people may have equal records. So as many may be in the table as records of the table have a twin in it,
    and 1 % more.
    """
    for unit in (schema.person, schema.household):
        if unit is None or unit.name not in table.names or unit.name not in others.names:
            continue
        known, theirs = (set(texts_of(one.values, one.type)) for one in (table[unit.name], others[unit.name]))
        if shared := len(known & theirs):
            raise DataError(
                f"{counted(shared, str(unit.role))} of the control group {'is' if shared == 1 else 'are'} in the table "
                f"as well, by column {quoted(unit.name)}. Leave them out of the control group: it must be other people."
            )
    names = [attribute.name for attribute in schema.published if attribute.name in table.names]
    for name in names:
        if name not in others.names:
            raise SchemaError(f"{unknown_name('column', name, others.names)} (in the control group {others.source})")
    mine, theirs_ids = _joint_ids([(table[name], others[name]) for name in names])
    times = np.bincount(mine, minlength=int(max(mine.max(initial=-1), theirs_ids.max(initial=-1))) + 1)
    shared_rows, n_others = int((times[theirs_ids] > 0).sum()), len(theirs_ids)
    by_chance = float((times[mine] > 1).mean()) if len(mine) else 0.0
    spread = 3 * math.sqrt(by_chance * (1 - by_chance) * n_others)
    if shared_rows > (by_chance + _MOST_SHARED) * n_others + spread:
        raise DataError(
            f"{counted(shared_rows, 'record')} of {n_others:,} of the control group are also in the table, column by "
            f"column, where {100 * by_chance:.0f} % would be by chance. They may be the same people. Give people who "
            "are not in the table."
        )


def _joint_ids(pairs: Sequence[tuple[Column, Column]]) -> tuple[Ints, Ints]:
    """Equal numbers for rows with equal values in all columns, of two tables."""
    n_first = len(pairs[0][0].codes) if pairs else 0
    n_second = len(pairs[0][1].codes) if pairs else 0
    ids = np.zeros(n_first + n_second, dtype=np.int64)
    for one, other in pairs:
        code_of: dict[str, int] = {}
        codes = []
        for column in (one, other):
            numbers = [code_of.setdefault(text, len(code_of)) for text in texts_of(column.values, column.type)]
            codes.append(np.array([*numbers, -1], dtype=np.int64)[column.codes] + 1)
        both = np.concatenate(codes)
        ids = np.unique(ids * (len(code_of) + 1) + both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return ids[:n_first], ids[n_first:]


def nobody(domain: Domain) -> int:
    """The code of a value that the domain lacks: it is in no cell."""
    return domain.n_codes


def encode_control(table: Table, data: Microdata) -> tuple[Microdata, tuple[str, ...]]:
    """The control group over the domains of a table, and sentences about values that the table lacks.

    A number or a date that the table lacks lies between those that it has, so the domain of such a column becomes
    wider. Of other columns a new value is nobody's (`nobody`): no cell holds it.
    """
    blocks: list[list[Codes]] = []
    domains: list[tuple[Domain, ...]] = []
    outside = np.zeros(table.n_rows, dtype=bool)
    names = []
    for role in (data.domains.quasi, data.domains.sensitive, data.domains.carried):
        found = [_encode_column(table[domain.name], domain) for domain in role]
        domains.append(tuple(domain for domain, _ in found))
        blocks.append([codes for _, codes in found])
        for domain, codes in found if role is data.domains.quasi else ():
            if (lacking := codes >= nobody(domain)).any():
                outside |= lacking
                names.append(quoted(domain.name))
    nothing = np.empty((table.n_rows, 0), dtype=np.int32)
    unit = data.schema.unit
    persons = None if unit is None or unit.name not in table.names else renumber(table[unit.name].codes)
    if persons is not None and len(np.unique(persons)) == len(persons):
        persons = None
    control = Microdata(
        data.schema,
        Domains(*domains),
        *(np.column_stack([nothing, *block]) for block in blocks),
        persons=persons,
    )
    notes = []
    if n_outside := int(outside.sum()):
        notes.append(
            f"{counted(n_outside, 'record')} of {table.n_rows:,} of the control group have a value of "
            f"{', '.join(names)} that the table lacks. No group is theirs."
        )
    return control, tuple(notes)


def _encode_column(column: Column, domain: Domain) -> tuple[Domain, Codes]:
    missing = domain.missing_code if domain.has_missing else nobody(domain)
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None:
        return _encode_numbers(column, domain)
    attribute = domain.attribute
    if attribute.prepare is not None:
        texts = label_blocks(column, attribute, Coarsening(attribute.name, attribute.prepare))[0]
    else:
        texts = texts_of(column.values, column.type)
    known = domain.texts[: len(domain.values)]
    code_of = {text: code for code, text in enumerate(known)}
    other = code_of.get(OTHER, nobody(domain)) if attribute.others else nobody(domain)
    return domain, np.array([*(code_of.get(text, other) for text in texts), missing], dtype=np.int32)[column.codes]


def _encode_numbers(column: Column, domain: Domain) -> tuple[Domain, Codes]:
    if column.type not in NUMBER_LIKE and len(column.values):
        raise DataError(
            f"Column {quoted(column.name)} of the control group holds other values than numbers or dates, which it "
            "holds in the table. Give it as in the table."
        )
    values = np.union1d(domain.values, column.values) if len(column.values) else domain.values
    if len(values) > len(domain.values):
        domain = replace(domain, values=values)
    missing = domain.missing_code if domain.has_missing else nobody(domain)
    places = np.searchsorted(domain.values, column.values)
    return domain, np.append(places, missing).astype(np.int32)[column.codes]


def as_plain_release(made: Table, data: Microdata) -> tuple[Microdata, Grouped, tuple[str, ...]]:
    """A table of plain rows as a release about the same columns, and the table over the domains of both.

    Numbers that the table lacks make its domains wider. Rows with another value that the table lacks are left out, as
    nobody in the table could be behind them, and counted.
    """
    rows, _ = encode_control(made, data)
    wide = Domains(rows.domains.quasi, data.domains.sensitive, data.domains.carried)
    sensitive = np.column_stack(
        [
            np.empty((rows.n_rows, 0), dtype=np.int32),
            *(
                find_known(codes, one, own)
                for codes, one, own in zip(
                    rows.sensitive.T, rows.domains.sensitive, data.domains.sensitive, strict=True
                )
            ),
        ]
    )
    known = np.ones(rows.n_rows, dtype=bool)
    for codes, domain in (*zip(rows.quasi.T, wide.quasi, strict=True), *zip(sensitive.T, wide.sensitive, strict=True)):
        known &= codes < nobody(domain)
    kept = np.flatnonzero(known)
    if not len(kept):
        raise DataError(f"No row of {made.source} has values of the original alone. Name the table it was made from.")
    quasi, n_rows = rows.quasi[kept], len(kept)
    every = np.arange(n_rows)
    release = Grouped(
        domains=wide,
        sensitive=sensitive[kept],
        carried=np.zeros((n_rows, 0), dtype=np.int32),
        extents=tuple(cover(domain, codes, every, n_rows) for domain, codes in zip(wide.quasi, quasi.T, strict=True)),
        group_of_row=every.astype(np.int32),
    )
    left_out = rows.n_rows - n_rows
    notes = (
        (f"{counted(left_out, 'synthetic record')} have values that the original lacks, and are left out.",)
        if left_out
        else ()
    )
    moved = [
        np.append(np.searchsorted(new.values, old.values), [new.missing_code])[codes]
        if len(new.values) > len(old.values)
        else codes
        for old, new, codes in zip(data.domains.quasi, wide.quasi, data.quasi.T, strict=True)
    ]
    nothing = np.empty((data.n_rows, 0), dtype=np.int32)
    return replace(data, domains=wide, quasi=np.column_stack([nothing, *moved]).astype(np.int32)), release, notes


def find_known(codes: Codes, wide: Domain, own: Domain) -> Codes:
    """Codes of a wider domain over the table's own; nobody's where the table lacks the value."""
    if len(wide.values) == len(own.values):
        return codes
    places = np.searchsorted(own.values, wide.values)
    there = (places < len(own.values)) & (own.values[np.minimum(places, len(own.values) - 1)] == wide.values)
    missing = [own.missing_code] if wide.has_missing else []
    moved = np.array([*np.where(there, places, nobody(own)), *missing, nobody(own), nobody(own)], dtype=np.int32)
    return moved[codes]
