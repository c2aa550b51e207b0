from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

import lookalike as la
from lookalike.data.schema import Role, Schema
from lookalike.evaluation.inspect.values import note_values

N_ROWS = 120


def table(**columns: list[Any]) -> Any:
    return la.read_table(pl.DataFrame({"age": [20 + row % 40 for row in range(N_ROWS)], **columns}))


def test_only_columns_that_are_published_are_looked_at() -> None:
    mails = [f"p{row}@example.org" for row in range(N_ROWS)]
    read = table(mail=mails)
    roles: dict[str, Role | None] = {"age": Role.QUASI, "mail": Role.CARRIED}
    (said,) = note_values(read, roles, None)
    assert "120 of its 120 different values hold e-mail addresses" in said
    assert "@" not in said
    assert note_values(read, {**roles, "mail": Role.IDENTIFIER}, None) == ()
    assert note_values(read, {**roles, "mail": None}, None) == ()


def test_what_a_schema_declares_is_heard() -> None:
    towns = [f"town {row % 3}" if row % 2 else f"hamlet {row}" for row in range(N_ROWS)]
    read = table(town=towns)
    roles: dict[str, Role | None] = {"age": Role.QUASI, "town": Role.QUASI}
    (said,) = note_values(read, roles, Schema.of(qi=["age", "town"]))
    assert "--frequent town=" in said
    grouped = Schema.from_yaml(
        "columns: [{name: age, role: quasi-identifier}, {name: town, role: quasi-identifier, taxonomy: {frequent: 5}}]"
    )
    assert note_values(read, roles, grouped) == ()


def test_worse_things_come_first() -> None:
    notes = [f"call +41 44 668 18 {row % 100:02d}" if row < 5 else "." for row in range(N_ROWS)]
    said = note_values(table(note=notes), {"age": Role.QUASI, "note": Role.SENSITIVE}, None)
    assert ["phone numbers" in said[0], '"."' in said[1], len(said)] == [True, True, 2]


def test_whether_possible_dates_are_a_long_tail_is_left_open(tmp_path: Path) -> None:
    days = [f"{1 + row % 12:02d}/{1 + row // 12 % 12:02d}/{2000 + row}" for row in range(N_ROWS)]
    path = tmp_path / "days.csv"
    path.write_text("day\n" + "\n".join(days) + "\n")
    read = la.read_table(path)
    assert "DD/MM/YYYY or as MM/DD/YYYY" in read["day"].question
    assert note_values(read, {"day": Role.QUASI}, None) == ()
