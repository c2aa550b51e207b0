"""Tables of other tools: refused where they say more than their cells mean, passed in one notation throughout."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from tests.apps.cli.running import lookalike
from tests.files.tables.workbook_files import write_workbook

N_ROWS = 120
WORDS = ("--qi", "age,job", "--sensitive", "illness", "--numeric", "age", "--model", "k-anonymity:20")
SCHEMA = la.Schema.of(qi=["age", "job"], sensitive=["illness"], numeric=["age"])
JOBS = ("clerk", "cook", "nurse", "smith")


@pytest.fixture
def original(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 60, N_ROWS),
            "job": [JOBS[place] for place in rng.integers(0, 4, N_ROWS)],
            "illness": [("flu", "gout", "asthma")[place] for place in rng.integers(0, 3, N_ROWS)],
            "e-mail": [f"person{place}@example.org" for place in range(N_ROWS)],
        }
    )
    frame.write_csv(tmp_path / "people.csv")
    return tmp_path / "people.csv"


Row = dict[str, str]
Spell = Callable[[Row, Row], Row]


def generalised(original: Path, spell: Spell = lambda cells, person: cells) -> list[Row]:
    """The table of another tool: ages in two halves, any job, rows shuffled; `spell` may look at the person."""
    with original.open(encoding="utf-8", newline="") as file:
        people = list(csv.DictReader(file))
    rows = []
    for place in np.random.default_rng(3).permutation(len(people)).tolist():
        person = people[place]
        age = "[20, 40)" if int(person["age"]) < 40 else "[40, 60)"
        rows.append(spell({"age": age, "job": "*", "illness": person["illness"]}, {**person, "index": str(place)}))
    return rows


def as_csv(path: Path, rows: list[Row]) -> Path:
    """Cells as they are given, quotes and all."""
    lines = [",".join(rows[0]), *(",".join(_quoted(cell) for cell in row.values()) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
    return path


def _quoted(cell: str) -> str:
    return f'"{cell}"' if "," in cell and not cell.startswith('"') else cell


def audited(original: Path, release: Path, **more: object) -> la.Audit:
    return la.verify(original, release, schema=SCHEMA, model="k-anonymity:20", **more)


def failed(audit: la.Audit) -> dict[str, str]:
    return {check.name: check.detail for check in audit.checks if not check.passed}


def test_one_notation_throughout_passes_and_is_named(original: Path, tmp_path: Path) -> None:
    audit = audited(original, as_csv(tmp_path / "other.csv", generalised(original)))
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert audit.grounds.normalised == ('column "age": notation of ranges and values, quotes',)
    assert 'Normalised before reading: column "age": notation of ranges' in str(audit)
    assert audit.to_plain()["normalised"] == list(audit.grounds.normalised)


def hinted(column: str, spelling: Callable[[str], str]) -> Spell:
    """Another spelling of the same cell for every nurse."""

    def spell(cells: Row, person: Row) -> Row:
        return cells if person["job"] != "nurse" else {**cells, column: spelling(cells[column])}

    return spell


HINTS: dict[str, Spell] = {
    "two stars": hinted("job", lambda cell: "**"),
    "a space before": hinted("job", lambda cell: f" {cell}"),
    "a space behind": hinted("illness", lambda cell: f"{cell} "),
    "quotes": hinted("illness", lambda cell: f'"{cell}"'),
    "another notation": hinted("age", lambda cell: "20-39" if cell == "[20, 40)" else "40-59"),
    "an end that nobody has": hinted("age", lambda cell: cell.replace("60", "61").replace("[20", "[19")),
    "a space inside": hinted("age", lambda cell: cell.replace(", ", ",")),
    "all values in a set": hinted("job", lambda cell: "{" + "; ".join(JOBS) + "}"),
    "a number written out": hinted("age", lambda cell: cell.replace("40", "40.0")),
    "quotes and spaces": hinted("illness", lambda cell: f'"{cell}"  '),
    "own job first": lambda cells, person: {
        **cells,
        "job": "|".join([person["job"], *(job for job in JOBS if job != person["job"])]),
    },
    "own job twice": lambda cells, person: {**cells, "job": "|".join([*JOBS, person["job"]])},
}


@pytest.mark.parametrize("hint", HINTS)
def test_the_same_content_spelled_in_two_ways_is_refused(hint: str, original: Path, tmp_path: Path) -> None:
    audit = audited(original, as_csv(tmp_path / "other.csv", generalised(original, HINTS[hint])))
    assert not audit.passed
    assert list(failed(audit)) == ["notation"]


@pytest.mark.parametrize("hint", ["two stars", "another notation", "own job first", "own job twice"])
def test_the_same_in_a_parquet_file(hint: str, original: Path, tmp_path: Path) -> None:
    pl.DataFrame(generalised(original, HINTS[hint])).write_parquet(tmp_path / "other.parquet")
    assert list(failed(audited(original, tmp_path / "other.parquet"))) == ["notation"]


def test_lines_that_end_in_two_ways_and_blank_lines_are_refused(original: Path, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "other.csv", generalised(original))
    lines = path.read_bytes().split(b"\n")
    for change in ((b"\n".join([*lines[:5], lines[5] + b"\r", *lines[6:]])), b"\n".join([*lines[:5], b"", *lines[5:]])):
        path.write_bytes(change)
        assert list(failed(audited(original, path))) == ["notation"]


@pytest.mark.parametrize(
    ("cells", "passes"),
    [
        (["a|b|c|d", "b|c|d", "a|d"], True),
        (["d|c|b|a", "d|c|b", "d|a"], True),
        (["b|d|a|c", "d|a|c", "b|c"], True),  # one order that is shown whole
        (["d|b", "a|c", "d|b"], False),  # an order that could have been chosen cell by cell
        (["a|b|c|d", "c|b|d", "a|d"], False),
        (["a|b|c|d", "d|b|c", "a|d"], False),
        (["a|b|a", "b|c|d", "a|d"], False),
    ],
)
def test_sets_name_their_values_once_and_in_one_order(cells: list[str], passes: bool, tmp_path: Path) -> None:
    """Three kinds of cells; everybody in a third of the table has one of them."""
    people = [{"x": letter, "s": "uv"[place % 2]} for place, letter in enumerate("abcd" * 12)]
    meant = [set(cell.split("|")) for cell in cells]
    rows = []
    for place, person in enumerate(people):
        fitting = [cell for cell, values in zip(cells, meant, strict=True) if person["x"] in values]
        rows.append({"x": fitting[place % len(fitting)], "s": person["s"]})
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    pl.DataFrame([rows[place] for place in order]).write_csv(tmp_path / "other.csv")
    schema = la.Schema.of(qi=["x"], sensitive=["s"])
    audit = la.verify(tmp_path / "people.csv", tmp_path / "other.csv", schema=schema, model="k-anonymity:1")
    found = failed(audit)
    assert ("notation" not in found) == passes, found


@pytest.mark.parametrize("column", ["e-mail", "index"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_without_a_role_is_refused_unless_it_is_ignored_by_name(
    column: str, ending: str, original: Path, tmp_path: Path
) -> None:
    rows = generalised(original, lambda cells, person: {**cells, column: person[column]})
    path = tmp_path / f"other.{ending}"
    if ending == "csv":
        as_csv(path, rows)
    else:
        pl.DataFrame(rows).write_parquet(path)
    refused = lookalike("audit", original, path, *WORDS, "--json")
    assert refused.returncode == 1
    check = next(check for check in json.loads(refused.stdout)["checks"] if check["name"] == "columns")
    assert not check["passed"]
    assert f'"{column}" with 120 values' in check["detail"]
    assert not audited(original, path).passed
    ignored = lookalike("audit", original, path, *WORDS, "--ignore", column)
    assert ignored.returncode == 0, ignored.stdout
    assert f'Not checked: column "{column}" (ignored on request)' in ignored.stdout
    plain = json.loads(lookalike("audit", original, path, *WORDS, "--ignore", column, "--json").stdout)
    assert plain["not_checked"][0] == f'column "{column}" (ignored on request)'
    found = audited(original, path, ignore=[column])
    assert found.passed
    assert found.grounds is not None
    assert found.grounds.not_checked == tuple(plain["not_checked"])


def test_what_to_ignore_must_be_there_and_have_no_role(original: Path, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "other.csv", generalised(original, lambda cells, person: {**cells, "all": "same"}))
    assert audited(original, path, ignore=["all"]).passed
    for name, said in (("mail", "no column"), ("age", "has a role")):
        with pytest.raises(la.RecipeError, match=said):
            audited(original, path, ignore=[name])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_column_that_is_the_same_in_all_rows_may_hold_a_whole_table(
    ending: str, original: Path, tmp_path: Path
) -> None:
    path = tmp_path / f"other.{ending}"

    def with_column(name: str, cell: str) -> dict[str, str]:
        rows = generalised(original, lambda cells, person: {**cells, name: cell})
        if ending == "csv":
            as_csv(path, rows)
        else:
            pl.DataFrame(rows).write_parquet(path)
        return failed(audited(original, path))

    assert '"note" with 1 value' in with_column("note", "Anna has gout")["columns"]
    assert list(with_column("e-mail", "Anna has gout")) == ["columns"]
    assert list(with_column("Anna has gout", "*")) == ["columns"], "the name of a column is published, too"
    for blank in ("*", ""):
        assert with_column("e-mail", blank) == {}
    assert 'blanked out in all rows: "e-mail"' in str(audited(original, path))


def test_a_blanked_column_is_spelled_in_one_way(original: Path, tmp_path: Path) -> None:
    rows = generalised(original, lambda cells, person: {**cells, "e-mail": '"*"' if person["job"] == "nurse" else "*"})
    assert list(failed(audited(original, as_csv(tmp_path / "other.csv", rows)))) == ["columns"]


def starred_above_57(cells: Row, person: Row) -> Row:
    """As other tools suppress rows, where no job begins otherwise, so that a mask means any job, too."""
    return dict.fromkeys(cells, "*") if int(person["age"]) > 57 else {**cells, "job": "**"}


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_suppressed_rows_are_no_other_notation(ending: str, original: Path, tmp_path: Path) -> None:
    rows, path = generalised(original, starred_above_57), tmp_path / f"other.{ending}"
    if ending == "csv":
        as_csv(path, rows)
    else:
        pl.DataFrame(rows).write_parquet(path)
    audit = audited(original, path)
    assert audit.passed, str(audit)


def test_suppressed_rows_say_nothing_else(original: Path, tmp_path: Path) -> None:
    """Neither by how their stars are spelled nor by what they carry."""

    def spaced(cells: Row, person: Row) -> Row:
        found = starred_above_57(cells, person)
        return {**found, "job": " *"} if found["age"] == "*" and person["job"] == "nurse" else found

    def carrying(cells: Row, person: Row) -> Row:
        return {**starred_above_57(cells, person), "e-mail": person["e-mail"]}

    path = as_csv(tmp_path / "other.csv", generalised(original, spaced))
    assert "spelled differently" in failed(audited(original, path))["notation"]
    as_csv(path, generalised(original, carrying))
    schema = la.Schema.of(qi=["age", "job"], sensitive=["illness"], carry=["e-mail"], numeric=["age"])
    audit = la.verify(original, path, schema=schema, model="k-anonymity:20")
    assert "counts as suppressed, and yet it has a value here" in failed(audit)["notation"]


def test_a_workbook_holds_the_table_alone(original: Path, tmp_path: Path) -> None:
    rows = generalised(original)
    table = [[*rows[0]], *([*row.values()] for row in rows)]
    audit = audited(original, write_workbook(tmp_path / "other.xlsx", {"table": table}))
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert audit.grounds.not_checked == (
        "how other.xlsx keeps its values, styles and settings inside (other data may be hidden there)",
    )
    more = write_workbook(tmp_path / "more.xlsx", {"table": table, "names": [["name"], ["Anna"]]})
    assert failed(audited(original, more)) == {"sheets": "1 sheet besides the table"}


def test_a_packed_table_is_named_as_packed(original: Path, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "other.csv", generalised(original))
    (tmp_path / "other.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    audit = audited(original, tmp_path / "other.csv.gz")
    assert audit.passed, str(audit)
    assert audit.grounds is not None
    assert audit.grounds.not_checked == ("how other.csv.gz keeps its values inside (other data may be hidden there)",)


def test_no_promise_is_never_a_pass(original: Path, tmp_path: Path) -> None:
    path = as_csv(tmp_path / "other.csv", generalised(original))
    done = lookalike("audit", original, path, *WORDS[:-2])
    assert done.returncode == 2
    assert "promises nothing" in done.stderr
    with pytest.raises(la.RecipeError, match="promises nothing"):
        la.verify(original, path, schema=SCHEMA)
