"""What speaks against a column that is said to number persons: two spellings of one number, or two persons under one.

Either makes promises wrong. One person under two numbers counts twice. Two persons under one number count once, which
is safe for sizes, but not for limits on values: a share of such numbers is no share of persons.
"""

from __future__ import annotations

import unicodedata

import numpy as np

from lookalike.data.column_names import find_word, words_of
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import is_constant
from lookalike.data.persons import number_pairs
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import counted, quoted

_FIXED = """
    birth* dob born geburt* naissance datedenaissance nacimiento yob sex gender geschlecht sexe sexo sesso geslacht
    genero race ethnic* birthplace geburtsort
"""
"""What one person has once and for all: rows that differ in it are of different persons."""
_LARGE_SHARE, _LARGE_TABLE = 0.1, 1000


def note_units(table: Table, schema: Schema) -> list[str]:
    """What the owner should know about the columns of persons and households that are declared."""
    units = [table[unit.name] for unit in (schema.person, schema.household) if unit is not None]
    doubts = [] if schema.person is None else [find_doubt(table, table[schema.person.name])]
    return [note for note in (*doubts, *map(find_spellings, units)) if note]


def find_doubt(table: Table, person: Column) -> str:
    """Whether rows of one person differ in what a person has once and for all, and which column would explain it.

    Else whether one person has a large part of a large table, as the first child of every family would have.
    """
    most_rows = int(np.bincount(person.codes, minlength=len(person.values) + 1)[: len(person.values)].max(initial=0))
    if most_rows < 2:
        return ""
    fixed = [one for one in table.columns if one.name != person.name and find_word(words_of(one.name), _FIXED)]
    varying = [one for one in fixed if len(one.values) > 1 and not is_constant(person, one)]
    if not varying:
        share = most_rows / table.n_rows
        if share < _LARGE_SHARE or table.n_rows < _LARGE_TABLE:
            return ""
        return (
            f"{share:.0%} of all rows have one value of {quoted(person.name)}. Check that it does not number the "
            "members of a family, or count something."
        )
    name = quoted(person.name)
    differs = f"{quoted(varying[0].name)} differs between rows with the same {name}, as it should not for one person"
    left_out = {person.name, *(one.name for one in varying)}
    others = [one for one in table.columns if 1 < len(one.values) < len(person.values) and one.name not in left_out]
    for other in others:
        both = _join(other, person)
        counts = np.bincount(both.codes, minlength=len(both.values) + 1)[: len(both.values)]
        if counts.max(initial=0) > 1 and all(is_constant(both, one) for one in varying):
            return (
                f"{differs}. Where {quoted(other.name)} is the same too, it hardly differs, so {name} may number the "
                f"persons of each {quoted(other.name)} from 1 on: make one column of both, and name that one instead."
            )
    return f"{differs}. Check that {name} numbers persons."


def _join(one: Column, other: Column) -> Column:
    """A column whose values are the pairs of values of two; missing where either is."""
    known = (one.codes < len(one.values)) & (other.codes < len(other.values))
    pairs, codes = np.unique(number_pairs(one.codes[known], other.codes[known]), return_inverse=True)
    joined = np.full(len(one.codes), len(pairs), dtype=np.int32)
    joined[known] = codes
    return Column("", ValueType.INTEGER, joined, np.arange(len(pairs)))


def find_spellings(column: Column) -> str:
    """What to say if values differ only in capitals, in blanks around them or in how letters are encoded."""
    if column.type is not ValueType.STRING:
        return ""
    texts = map(str, column.values)
    plain = [(one if one.isascii() else unicodedata.normalize("NFKC", one)).strip().casefold() for one in texts]
    n_spelled = len(plain) - len(set(plain))
    if not n_spelled:
        return ""
    verb = "differs" if n_spelled == 1 else "differ"
    return (
        f"{counted(n_spelled, 'value')} of {quoted(column.name)} {verb} from another one only in capitals or blanks, "
        "and each counts as a different person. If these are the same persons, spell them alike before you publish."
    )
