"""Which columns single records out, counted again the slow way."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Table
from lookalike.data.schema import Role, Schema, ValueType
from lookalike.evaluation.advise.columns import MOST_PAIRS, column_advice, singling_pairs
from lookalike.evaluation.inspect import inspect
from tests.strategies import column_of

rows_of_four = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=25)


def table_of(rows: list[tuple[int, ...]]) -> Table:
    return Table(
        tuple(column_of(name, [row[place] for row in rows], ValueType.INTEGER) for place, name in enumerate("abcd"))
    )


def n_alone(rows: list[tuple[int, ...]], places: tuple[int, ...]) -> int:
    return sum(number == 1 for number in Counter(tuple(row[place] for place in places) for row in rows).values())


@settings(max_examples=30)
@given(rows_of_four)
def test_pairs_and_leverage_against_counting(rows: list[tuple[int, ...]]) -> None:
    table = table_of(rows)
    found = inspect(table, Schema.of(qi="abc", carry="d"))
    pairs = singling_pairs(table, found)
    counted = {tuple("abc"[place] for place in pair): n_alone(rows, pair) for pair in combinations(range(3), 2)}
    assert [pair.n_alone for pair in pairs] == sorted((number for number in counted.values() if number), reverse=True)
    assert all(counted[min(pair.names), max(pair.names)] == pair.n_alone for pair in pairs)
    assert len(pairs) <= MOST_PAIRS
    advised = {column.name: column for column in column_advice(table, found)}
    assert {column.n_alone for column in advised.values()} == {n_alone(rows, (0, 1, 2))}
    assert advised["a"].n_alone_otherwise == n_alone(rows, (1, 2))
    assert advised["d"].n_alone_otherwise == n_alone(rows, (0, 1, 2, 3))


def test_sentences() -> None:
    table = table_of([(1, 1, 0, 0), (1, 2, 0, 0), (2, 1, 0, 0), (2, 2, 0, 0), (2, 2, 0, 1)])
    found = inspect(table, Schema.of(qi="ab", sensitive="c", carry="d"))
    said = {column.name: column.sentence for column in column_advice(table, found)}
    assert said["a"] == '"a": quasi-identifier; without it 3 of the 3 records that stand alone would not.'
    assert said["d"].startswith('"d": carried, though quasi-identifier is suggested, as it has 2 values')
    assert said["d"].endswith("if somebody outside knew it, 2 more records would stand alone.")
    assert singling_pairs(table, found)[0].sentence == '"a" and "b" alone single out 3 records (60.0%).'
    assert next(column for column in column_advice(table, found) if column.name == "d").role is Role.CARRIED
