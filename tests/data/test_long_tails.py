from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.data.long_tails import describe_wide_cells, find_long_tail, note_long_tails, note_tails
from lookalike.data.schema import Attribute, Role, Schema


def tail_of(cells: list[Any], **declared: Any) -> Any:
    (column,) = la.read_table(pl.DataFrame({"x": cells})).columns
    counts = np.bincount(column.codes)[: len(column.values)]
    return find_long_tail(column, counts, Attribute(name="x", role=Role.QUASI, **declared))


def jobs(n_rows: int = 600) -> list[str]:
    return [f"job {row % 3}" if row % 2 else f"rare {row}" for row in range(n_rows)]


def test_times_of_day_are_grouped_by_the_hour() -> None:
    clock = [f"{minute // 60:02d}:{minute % 60:02d}" for minute in range(0, 1440, 3)]
    assert tail_of(clock).prefixes == (2,)
    assert tail_of([f"{minute // 60:02d}:{minute % 60:02d}:00" for minute in range(0, 1440, 3)]).prefixes == (2,)
    assert tail_of([f"08:{minute:02d}:{second:02d}" for minute in range(60) for second in (1, 2)]).prefixes == ()


def test_a_long_tail_is_told_with_the_values_that_would_be_kept() -> None:
    found = tail_of(jobs())
    assert (found.frequent, found.n_kept, found.covered, found.is_free_text) == (6, 3, 0.5, True)
    assert "--frequent x=6 keeps 3 values, which 50% of the rows have" in found.sentence


def test_the_advice_can_be_followed_to_the_letter() -> None:
    table = pl.DataFrame({"job": jobs(), "ill": ["ab"[row % 2] for row in range(600)]})
    (said,) = note_long_tails(la.read_table(table), Schema.of(qi=["job"]))
    name, _, least = said.partition("--frequent ")[2].partition(" ")[0].partition("=")
    made = la.publish(
        table, qi=["job"], sensitive="ill", model="k-anonymity:5", algorithm="mondrian", frequent={name: int(least)}
    )
    assert made.made.domains.quasi[0].attribute.values == ("job 0", "job 1", "job 2")
    assert not any("long tail" in note or "free text" in note for note in made.notes if "(other)" not in note)


def test_codes_are_cut_to_their_first_characters() -> None:
    codes = [f"{10_000 + 7 * row:05d}" for row in range(200)]
    found = tail_of([f"A{code}" for code in codes])
    assert found.prefixes
    assert "taxonomy: {prefixes:" in found.sentence
    table = pl.DataFrame({"x": [f"A{code}" for code in codes], "ill": ["ab"[row % 2] for row in range(200)]})
    schema = Schema(
        (
            Attribute(name="x", role=Role.QUASI, taxonomy={"prefixes": list(found.prefixes)}),
            Attribute(name="ill", role=Role.SENSITIVE),
        )
    )
    assert la.publish(table, schema=schema, model="k-anonymity:5", algorithm="mondrian").audit.passed


@pytest.mark.parametrize("values", [["a", "b"] * 100, [*range(400)], ["x"] * 30])
def test_short_columns_and_numbers_have_none(values: list[Any]) -> None:
    assert tail_of(values) is None


def test_columns_that_are_grouped_already_get_no_caution() -> None:
    assert tail_of(jobs(), taxonomy={"frequent": 20}) is None
    assert tail_of(jobs(), values=tuple(sorted(set(jobs())))) is None
    assert note_tails([]) == ()


def test_cells_that_would_list_too_many_values_are_short_and_true(tmp_path: Path) -> None:
    table = pl.DataFrame(
        {"job": [f"job {row % 80:02d}" for row in range(400)], "ill": ["abcd"[row // 100] for row in range(400)]}
    )
    asked: dict[str, Any] = {"qi": ["job"], "sensitive": "ill", "model": "k-anonymity:200", "algorithm": "mondrian"}
    long, short = la.publish(table, longest_set=0, **asked), la.publish(table, longest_set=10, **asked)
    assert long.made.loss_by_column["job"] < short.made.loss_by_column["job"] == 1.0
    assert any("100% of the rows show *" in note for note in short.notes)
    assert describe_wide_cells(long.release) == ()
    short.write(tmp_path / "short")
    cells = pl.read_csv(tmp_path / "short" / "release.csv")["job"].unique().to_list()
    assert cells == ["*"]
    assert la.verify(table, tmp_path / "short").passed
    assert "more than 10 values is *" in (tmp_path / "short" / "README.txt").read_text()
