from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.data.total_rows import find_totals, note_totals


def found_in(**columns: list[Any]) -> Any:
    return find_totals(la.read_table(pl.DataFrame(columns)))


@given(st.lists(st.integers(1, 1000), min_size=5, max_size=40))
def test_a_last_line_that_says_total_and_adds_up_is_noticed(amounts: list[int]) -> None:
    regions = [f"region {number}" for number in range(len(amounts))]
    found = found_in(region=[*regions, "Total"], amount=[*amounts, sum(amounts)])
    assert (found.rows, found.label, found.sums) == ((len(amounts) + 1,), "region", ("amount",))


def test_totals_of_groups_are_noticed() -> None:
    years = [year for year in range(2000, 2010) for _ in range(31)]
    regions = [*(f"region {number}" for number in range(30)), "All"] * 10
    amounts = [amount for year in range(10) for amount in (*range(year, year + 30), sum(range(year, year + 30)))]
    found = found_in(year=years, region=regions, amount=amounts)
    assert (len(found.rows), found.label, found.sums) == (10, "region", ("amount",))


def test_a_last_line_of_sums_needs_no_word() -> None:
    one, two = [*range(1, 21)], [*range(5, 25)]
    found = found_in(name=[f"n{row}" for row in range(21)], one=[*one, sum(one)], two=[*two, sum(two)])
    assert (found.rows, found.label, found.sums) == ((21,), "", ("one", "two"))
    said = found.sentence
    assert said.startswith("Row 21, the last one, seems to be a total")
    assert "n20" not in said


def test_categories_and_chance_are_no_totals() -> None:
    ages = ["All" if row % 3 else "65+" for row in range(60)]
    assert found_in(group=ages, amount=[*range(60)]) is None
    companies = [f"company {row}" for row in range(60)]
    companies[17] = "Total"
    assert found_in(name=companies, sales=[*range(60)]) is None
    assert found_in(one=[1, -1, 0, 0, 0, 0], two=[0, 1, 0, -1, 0, 0]) is None
    assert note_totals(la.read_table(pl.DataFrame({"x": [1, 2, 3]}))) == ()


def test_publish_and_inspect_say_so() -> None:
    amounts = [row % 17 + 1 for row in range(60)]
    table = pl.DataFrame(
        {
            "town": [*(f"t{row % 5}" for row in range(60)), "Total"],
            "amount": [*amounts, sum(amounts)],
            "ill": ["a"] * 61,
        }
    )
    assert any("seems to be a total" in note for note in la.inspect(table).notes)
    made = la.publish(
        table, qi=["town"], carry=["amount"], carry_anyway="amount", model="k-anonymity:2", algorithm="mondrian"
    )
    assert any("would count as a person" in note for note in made.notes)


def test_rows_without_any_value_are_noticed() -> None:
    table = la.read_table(pl.DataFrame({"x": [1, None, 3, None], "y": ["a", None, None, None]}))
    assert note_totals(table) == ("Rows 2, 4 have no value in any column. Each would count as a person: remove them.",)
