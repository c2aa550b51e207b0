"""Which rows of a person are published or learned from, in which order, and what is said about those left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Microdata, Table, refuse_open
from lookalike.data.person_settings import LAST, LINKED, RANDOM, PersonSettings
from lookalike.data.persons import rank_rows
from lookalike.errors import RecipeError, counted, quoted, unknown_name
from lookalike.randomness import Randomness


def describe_left_out(data: Microdata, most_rows: int | None) -> tuple[str, ...]:
    """How many rows of how many persons are left out if nobody has more than so many; nothing if none are."""
    if data.persons is None or most_rows is None:
        return ()
    n_over = np.maximum(np.bincount(data.persons) - most_rows, 0)
    n_left, n_cut = int(n_over.sum()), int(np.count_nonzero(n_over))
    if not n_left:
        return ()
    verb = "is" if n_left == 1 else "are"
    limit, noun = counted(most_rows, "row"), data.schema.unit_name
    return (f"{counted(n_left, 'row')} of {counted(n_cut, noun)} {verb} left out: at most {limit} per {noun}.",)


def bound_contribution(
    data: Microdata, settings: PersonSettings, seed: int | None
) -> tuple[Microdata, int | None, tuple[str, ...]]:
    """The records that are learned from, the most of them per person, and a sentence about those that are left out.

    The limit is the one that was asked for, also where nobody has so many records: a limit that was read off the table
    would tell of the person with the most. None: every record is a person.
    """
    if settings.contribution is None:
        if data.persons is not None and not settings.rows_are_persons:
            named = "The column of persons" if data.schema.unit is None else f"Column {quoted(data.schema.unit.name)}"
            raise RecipeError(
                f"{named} repeats: epsilon would be that of one record, and a person with several would have several "
                "times as much. State the most records per person (--contribution C; epsilon is then per person, and "
                "further records are left out at random), or state that every row is a different person "
                "(--rows-are-persons)."
            )
        return replace(data, persons=None, individuals=None), None, ()
    if data.schema.unit is None:
        raise RecipeError("A limit of records per person needs the column that identifies persons (--person COLUMN).")
    salt = Randomness(seed).child("kept rows").words(2).tobytes().hex()
    kept = keep_rows(data, replace(settings, keep=RANDOM, salt=salt))
    left_out = describe_left_out(data, settings.contribution)
    return replace(kept, persons=None, individuals=None), settings.contribution, left_out


def keep_rows(data: Microdata, given: PersonSettings) -> Microdata:
    """The rows of each person that are published, chosen by the order of the table or by the salt, never by values."""
    persons = data.persons
    if persons is None:
        return data
    rows = choose_rows(data, given)
    places = rank_rows(persons, _order_rows(data)).astype(np.int32) if given.rows == LINKED else None
    data = replace(data, number_known=given.number_known, visits=places)
    if given.most_rows is None:
        return data
    chosen = data.take(rows)
    if given.most_rows == 1 or chosen.persons is None:
        return replace(chosen, persons=None, individuals=None, visits=None)
    if chosen.visits is not None:
        # The rows that were left out leave no gaps.
        places = rank_rows(chosen.persons, _order_rows(chosen)).astype(np.int32)
        chosen = replace(chosen, visits=places)
    return chosen


def choose_rows(data: Microdata, given: PersonSettings) -> NDArray[np.int64]:
    """The rows that are published, in the order of the table."""
    assert data.persons is not None, "Only rows of persons are chosen."
    order = _order_rows(data)
    if given.most_rows is None:
        return np.arange(data.n_rows)
    if given.keep == LAST:
        order = order[::-1]
    elif given.keep == RANDOM:
        assert given.salt is not None, "Rows are drawn by a salt."
        order = Randomness(int(given.salt, 16)).child("kept rows").permutation(data.n_rows)
    return np.flatnonzero(rank_rows(data.persons, order) < given.most_rows)


def _order_rows(data: Microdata) -> NDArray[np.int64]:
    """The rows in an order in which those of each person are in theirs."""
    return np.arange(data.n_rows) if data.visits is None else np.argsort(data.visits, kind="stable")


def order_visits(data: Microdata, table: Table | None, column: str) -> NDArray[np.int32]:
    """The place of each record among those of its person by that column; ties in the order of the table."""
    assert data.persons is not None, "Only rows of persons are ordered."
    blocks = (data.quasi, data.sensitive, data.carried)
    encoded = dict(zip((domain.name for domain in data.domains.all), np.hstack(blocks).T, strict=True))
    if table is not None:
        if column in table.names:
            refuse_open(table[column])
        encoded |= {one.name: one.codes for one in table.columns}
    if column not in encoded:
        raise RecipeError(unknown_name("column to order by", column, encoded))
    order = np.argsort(encoded[column], kind="stable")
    return rank_rows(data.persons, order).astype(np.int32)
