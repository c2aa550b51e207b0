"""Columns that follow from others, against a look at every pair of values; chance is not taken for a rule."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType
from lookalike.evaluation.inspect.dependencies import MOST_ASKED, find_followers


def coded(name: str, codes: list[int]) -> Column:
    """A column of whole numbers in which -1 is missing."""
    present = sorted({code for code in codes if code >= 0})
    numbered = [present.index(code) if code >= 0 else len(present) for code in codes]
    return Column(name, ValueType.INTEGER, np.array(numbered, dtype=np.int32), np.array(present, dtype=np.int64))


def follows_by_definition(of: list[int], column: list[int]) -> bool:
    """Whether each value of one has one value of the other, and chance would do it in one of 10^9 tables at most."""
    seen = defaultdict(set)
    known = [(one, other) for one, other in zip(of, column, strict=True) if one >= 0]
    for one, other in known:
        seen[one].add(other)
    if any(len(values) > 1 for values in seen.values()) or not known:
        return False
    most = max(Counter(other for _, other in known).values()) / len(known)
    return most < 1 and (len(known) - len(seen)) * math.log(most) <= math.log(1e-9)


@given(
    st.lists(st.tuples(*[st.integers(-1, 3)] * 2), min_size=2, max_size=60),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_what_follows_is_found_and_nothing_else(rows: list[tuple[int, int]], image: list[int]) -> None:
    one, chance = [row[0] for row in rows], [row[1] for row in rows]
    image_of_one = [image[code] for code in one]
    columns = {"one": one, "chance": chance, "image": image_of_one}
    table = [coded(name, codes) for name, codes in columns.items()]
    found = {(each.column, each.of) for each in find_followers(table, ["one"], ["chance", "image"])}
    expected = set()
    for name in ("chance", "image"):
        if len(set(one) - {-1}) >= 2 and len(set(columns[name]) - {-1}) >= 2:
            expected |= {(name, "one")} if follows_by_definition(one, columns[name]) else set()
    assert found == expected


def test_chance_in_small_or_lopsided_tables_is_no_rule() -> None:
    nearly_unique = coded("day", [*range(95), 1, 2, 3, 4, 5])
    codes = [code % 2 for code in [*range(95), 1, 2, 3, 4, 5]]
    assert find_followers([nearly_unique, coded("sex", codes)], ["day"], ["sex"]) == ()
    rare = coded("rare", [0] * 118 + [1] * 2)
    grouped = coded("grouped", [row // 2 for row in range(120)])
    assert find_followers([grouped, rare], ["grouped"], ["rare"]) == ()


def test_two_spellings_of_one_thing_are_named_once_and_the_coarsest_cause_is_named() -> None:
    codes = [row % 12 for row in range(600)]
    team, short = coded("team", codes), coded("short", [11 - code for code in codes])
    (found,) = find_followers([team, short], ["team", "short"], ["team", "short"])
    assert (found.column, found.of, found.both_ways) == ("short", "team", True)
    assert found.sentence == '"short" says the same as "team"'
    half, quarter = coded("half", [code // 2 for code in codes]), coded("quarter", [code // 4 for code in codes])
    names = [one.name for one in (team, half, quarter)]
    found_of = {one.column: one.of for one in find_followers([team, half, quarter], names, names)}
    assert found_of == {"half": "team", "quarter": "half"}


def test_among_very_many_quasi_identifiers_those_of_few_values_are_asked() -> None:
    rng = np.random.default_rng(0)
    others = [coded(f"q{place}", rng.integers(0, 40, 500).tolist()) for place in range(MOST_ASKED + 20)]
    province = coded("province", rng.integers(0, 9, 500).tolist())
    population = coded("population", [int(code) % 5 for code in province.codes])
    columns = [*others, population, province]
    names = [one.name for one in columns]
    assert [one.sentence for one in find_followers(columns, names, names)] == ['"population" follows from "province"']
