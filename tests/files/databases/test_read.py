"""Tables of databases come in with their types, their odd names, and nothing else."""

from __future__ import annotations

import datetime
import sqlite3
from pathlib import Path

import pytest

import lookalike as la
from lookalike.errors import DataError, LookalikeError, MissingPart, SchemaError
from lookalike.files.databases import connect
from lookalike.files.databases.address import parse_address
from tests.places import PASSWORD, Place

HOSTILE = "a\"; DROP TABLE people; -- ' % $1 ? .é"


def filled(place: Place) -> None:
    types = {
        "postgresql": "n bigint, small smallint, price numeric(8,2), f real, flag boolean, born date, seen timestamp, "
        "word text, whole numeric(9)",
        "sqlite": "n INTEGER, small INTEGER, price DECIMAL(8,2), f REAL, flag BOOLEAN, born DATE, seen TIMESTAMP, "
        "word TEXT, whole INTEGER",
        "duckdb": "n BIGINT, small SMALLINT, price DECIMAL(8,2), f FLOAT, flag BOOLEAN, born DATE, seen TIMESTAMP, "
        "word VARCHAR, whole INTEGER",
    }
    nothing = f"({', '.join(['NULL'] * 9)})"
    row = "(9007199254740993, -3, 12.25, 0.5, {}, '1999-12-31', '2024-01-05 06:07:08.5', '007', 5)"
    true = "1" if place.kind == "sqlite" else "TRUE"
    place.run(
        f"CREATE TABLE people ({types[place.kind]})",
        f"INSERT INTO people VALUES {nothing}, {row.format(true)}, {nothing}",
    )


def test_types_and_missing_values_are_kept(place: Place) -> None:
    filled(place)
    table = la.read_table(place.table("people"))
    assert table.names == ["n", "small", "price", "f", "flag", "born", "seen", "word", "whole"]
    types = [str(table[name].type) for name in table.names]
    assert types == ["integer", "integer", "number", "number", "boolean", "date", "datetime", "string", "integer"]
    assert [table[name].n_missing for name in table.names] == [2] * 9
    day, moment = datetime.date(1999, 12, 31), datetime.datetime(2024, 1, 5, 6, 7, 8, 500_000)
    days = (day - datetime.date(1970, 1, 1)).days
    micros = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    values = [table[name].values.tolist() for name in table.names]
    assert values == [[9007199254740993], [-3], [12.25], [0.5], [True], [days], [micros], ["007"], [5]]
    assert table.source == 'table "people"'


def test_only_what_is_asked_for_is_fetched(place: Place) -> None:
    unreadable = {"postgresql": "interval", "sqlite": "BLOB", "duckdb": "INTERVAL"}[place.kind]
    cell = "x'00'" if place.kind == "sqlite" else "INTERVAL '1 day'"
    place.run(f"CREATE TABLE people (age INTEGER, stay {unreadable})", f"INSERT INTO people VALUES (5, {cell})")
    assert la.read_table(place.table("people"), columns=["age"]).names == ["age"]
    with pytest.raises(DataError, match='"stay" holds values of type (?i:interval|blob)'):
        la.read_table(place.table("people"))
    with pytest.raises(SchemaError, match='no column "agee". Did you mean "age"'):
        la.read_table(place.table("people"), columns=["agee"])


def test_hostile_names_and_values_are_names_and_values(place: Place) -> None:
    name = HOSTILE.replace('"', '""')
    value = HOSTILE.replace("'", "''")
    place.run(
        "CREATE TABLE people (age INTEGER)",
        f'CREATE TABLE "{name}" ("{name}" TEXT)',
        f"INSERT INTO \"{name}\" VALUES ('{value}')",
    )
    table = la.read_table(place.table(f'"{name}"'))
    assert table.names == [HOSTILE]
    assert table[HOSTILE].values.tolist() == [HOSTILE]
    with pytest.raises(DataError, match="There is no table"):
        la.read_table(place.table('people" WHERE 1=1; DROP TABLE people; --'.replace('"', "")))
    assert "people" in place.tables()


def test_a_view_is_a_table_and_reading_changes_nothing(place: Place) -> None:
    place.run(
        "CREATE TABLE people (age INTEGER, name TEXT)",
        "INSERT INTO people VALUES (31, 'x'), (32, 'y')",
        "CREATE VIEW adults AS SELECT age FROM people WHERE age > 31",
    )
    assert la.read_table(place.table("adults"))["age"].values.tolist() == [32]
    with (
        pytest.raises(LookalikeError) as refused,
        connect.connect(parse_address(place.table("people"))) as connection,
    ):
        connection.execute("INSERT INTO people VALUES (1, 'z')")
    assert "allows reading only" in str(refused.value)


def test_a_table_that_is_not_there_is_answered_by_those_that_are(place: Place) -> None:
    place.run("CREATE TABLE people (age INTEGER)")
    with pytest.raises(DataError, match=r'There is no table "peopel". Did you mean "people"\?'):
        la.read_table(place.table("peopel"))


def test_text_of_sqlite_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as there:
        there.execute("CREATE TABLE people (age INTEGER, ill TEXT)")
        there.execute("INSERT INTO people VALUES (30, CAST(x'ebff' AS TEXT))")
    there.close()
    with pytest.raises(DataError, match='Column "ill" has text that is not UTF-8'):
        la.read_table(f"sqlite:///{file}?table=people")
    assert la.read_table(f"sqlite:///{file}?table=people", columns=["age"]).names == ["age"]


def test_a_long_run_of_missing_values_does_not_decide_the_type(tmp_path: Path) -> None:
    file = tmp_path / "people.db"
    with sqlite3.connect(file) as there:
        there.execute("CREATE TABLE people (word, number)")
        rows = [(None, None)] * 3_000 + [("late", 2.5), (7, 1)]
        there.executemany("INSERT INTO people VALUES (?, ?)", rows)
    there.close()
    table = la.read_table(f"sqlite:///{file}?table=people")
    assert table["word"].values.tolist() == ["7", "late"]
    assert table["number"].values.tolist() == [1.0, 2.5]
    assert table["word"].n_missing == 3_000


def test_types_of_postgresql_that_others_lack(postgres: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    postgres.run(
        'CREATE SCHEMA "odd schema"',
        "CREATE TYPE mood AS ENUM ('well', 'ill')",
        "CREATE DOMAIN zip AS char(5)",
        'CREATE TABLE "odd schema"."People" (m mood, z zip, u uuid, at timestamptz, v varchar(9), d numeric, l text[])',
        """INSERT INTO "odd schema"."People" VALUES ('ill', '12', '00000000-0000-0000-0000-000000000001',
        '2024-01-01 00:00+01', 'x', 'NaN', '{a}')""",
    )
    url = postgres.table('"odd schema"."People"')
    table = la.read_table(url, columns=["m", "z", "u", "at", "v", "d"])
    assert [table[name].values.tolist() for name in ("m", "z", "v", "d")] == [["ill"], ["12"], ["x"], []]
    assert str(table["at"].type) == "datetime"
    with pytest.raises(DataError, match=r'"l" holds values of type text\[\]'):
        la.read_table(url)
    with pytest.raises(DataError, match="People"):
        la.read_table(postgres.table("people"))  # capitals count


@pytest.mark.parametrize(
    ("password", "change", "said"),
    [
        ("wr0ng-password", ("steward", "steward"), "does not accept that user or password"),
        ("", ("steward", "steward"), "asks for a password"),
        (PASSWORD, ("/postgres?", "/nowhere?"), "no such database"),
        (PASSWORD, ("steward@", "stranger@"), "does not accept that user or password"),
        (PASSWORD, ("127.0.0.1", "no-such-host.invalid"), "no host of that name"),
    ],
)
def test_what_postgresql_refuses_is_said_without_its_words(
    postgres: Place, monkeypatch: pytest.MonkeyPatch, password: str, change: tuple[str, str], said: str
) -> None:
    monkeypatch.setenv("PGPASSWORD", password)
    with pytest.raises(LookalikeError, match=said) as refused:
        la.read_table(postgres.table("people").replace(*change))
    for secret in (PASSWORD, "wr0ng", "steward", "stranger", "127.0.0.1"):
        assert secret not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_server_that_does_not_answer() -> None:
    with pytest.raises(DataError, match="does not answer at that host and port"):
        la.read_table("postgresql://127.0.0.1:1/db?table=t")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_that_are_not_there_or_not_theirs(kind: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"There is no (SQLite|DuckDB) file .*none.db"):
        la.read_table(f"{kind}:///{tmp_path}/none.db?table=t")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "other.db").write_text("age,name\n31,Ann of the secret table\n" * 200)
    with pytest.raises(DataError, match="does not recognise the file|failed") as refused:
        la.read_table(f"{kind}:///{tmp_path}/other.db?table=t")
    assert "secret" not in str(refused.value)


def test_a_view_of_a_stranger_reads_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("age\n31\n")
    there = Place("duckdb", f"duckdb:///{tmp_path / 'people.db'}", "")
    there.run(f"CREATE VIEW people AS SELECT * FROM read_csv('{secret}')")
    with pytest.raises(DataError, match="reads other files"):
        la.read_table(there.table("people"))


def test_a_driver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(connect.importlib, "import_module", absent)
    with pytest.raises(MissingPart, match=r"lookalike\[databases\]"):
        la.read_table("sqlite:///x.db?table=t")
