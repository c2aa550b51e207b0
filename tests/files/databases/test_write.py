"""Releases as tables of a database: whole or not at all, and nothing of the steward's in them."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest

import lookalike as la
from lookalike.errors import DataError, RecipeError
from lookalike.files.databases import write as databases
from lookalike.files.databases.connect import Connection
from lookalike.files.databases.write import check_database, database_frames
from tests.apps.cli.running import lookalike
from tests.places import PASSWORD, Place

ODD = 'Born "at"; --'


def original() -> pl.DataFrame:
    draw = random.Random(3)
    born = [date(1990, 1, 1) + timedelta(days=draw.randrange(900)) for _ in range(24)]
    return pl.DataFrame(
        {
            "age": [draw.choice([None, *range(20, 60)]) for _ in born],
            ODD: born,
            "job": [draw.choice(["a|b", "x'); DROP TABLE r; --", None, "é\n"]) for _ in born],
            "ill": [draw.choice(["flu", "cold", '"']) for _ in born],
        }
    )


@pytest.fixture(scope="module")
def made() -> la.Publication:
    return la.publish(
        original(), qi=["age", ODD, "job"], sensitive="ill", model="k-anonymity:4", algorithm="mondrian", seed=1
    )


@pytest.fixture(scope="module")
def in_buckets() -> la.Publication:
    return la.publish(
        original(), qi=["age", "job"], sensitive="ill", model="l-diversity:2", algorithm="anatomy", seed=1
    )


def test_a_release_is_there_with_text_and_typed_ends(place: Place, made: la.Publication) -> None:
    assert made.write_to(place.table("r")) == ("r",)
    names = f'age, age_low, age_high, "{ODD.replace(chr(34), chr(34) * 2)}", job, ill'
    rows = place.run(f"SELECT {names} FROM r")
    frame = database_frames(made.release)["release"]
    assert frame.schema["age_low"] == pl.Int64
    assert frame.schema[f"{ODD}_low"] == pl.Date
    expected = frame.select("age", "age_low", "age_high", ODD, "job", "ill").rows()
    assert sorted(map(repr, rows)) == sorted(map(repr, expected))
    assert place.tables() == {"r"}
    text = frame.select(pl.concat_str("age_low", pl.lit(".."), "age_high")).to_series()
    plain = frame.filter((pl.col("age_low") < pl.col("age_high")) & ~pl.col("age").str.contains("missing"))
    assert set(plain["age"]) <= set(text)


def test_an_earlier_release_is_replaced_only_if_that_is_allowed(place: Place, made: la.Publication) -> None:
    made.write_to(place.table("r"))
    with pytest.raises(RecipeError, match='There is a table "r" already'):
        made.write_to(place.table("r"))
    made.write_to(place.table("r"), overwrite=True)
    assert place.run("SELECT count(*) FROM r") == [(24,)]
    assert place.tables() == {"r"}


def test_a_table_of_somebody_else_is_never_replaced(place: Place, made: la.Publication) -> None:
    place.run("CREATE TABLE people (age INTEGER)", "INSERT INTO people VALUES (5)")
    for refuse in (made.write_to, check_database):
        with pytest.raises(RecipeError, match="not made by lookalike"):
            refuse(place.table("people"), overwrite=True)
    assert place.run("SELECT * FROM people") == [(5,)]


def test_several_tables_come_together_or_not_at_all(
    place: Place, in_buckets: la.Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = Connection.fill

    def interrupted(connection: Connection, table: str, schema: str | None, frame: pl.DataFrame) -> None:
        fill(connection, table, schema, frame)
        if "ill" in frame.columns:
            raise KeyboardInterrupt

    place.run("CREATE TABLE people (age INTEGER)")
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "fill", interrupted)
        with pytest.raises(KeyboardInterrupt):
            in_buckets.write_to(place.table("r"))
    assert place.tables() == {"people"}
    assert in_buckets.write_to(place.table("r")) == ("r_qit", "r_sat")
    joined = place.run("SELECT count(*) FROM r_qit JOIN r_sat ON r_qit.bucket = r_sat.bucket")
    assert joined[0][0] >= 24
    assert place.tables() == {"people", "r_qit", "r_sat"}


def test_a_value_that_the_database_changes_is_noticed(
    place: Place, made: la.Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = Connection.fill

    def bent(connection: Connection, table: str, schema: str | None, frame: pl.DataFrame) -> None:
        fill(connection, table, schema, frame.with_columns(ill=pl.lit("flu")))

    made.write_to(place.table("r"))
    monkeypatch.setattr(Connection, "fill", bent)
    with pytest.raises(DataError, match="does not read back"):
        made.write_to(place.table("r"), overwrite=True)
    assert len(place.run("SELECT DISTINCT ill FROM r")) > 1
    assert place.tables() == {"r"}


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_made_for_nothing_is_removed(
    kind: str, made: la.Publication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("No space left on device: /secret/place")

    monkeypatch.setattr(databases, "_check_same", full)
    with pytest.raises(DataError, match="no space left") as refused:
        made.write_to(f"{kind}:///{tmp_path}/new.db?table=r")
    assert "secret" not in str(refused.value)
    assert not list(tmp_path.iterdir())
    with pytest.raises(DataError, match="There is no folder"):
        made.write_to(f"{kind}:///{tmp_path}/no/new.db?table=r")


def test_a_server_that_hangs_up_leaves_nothing(
    postgres: Place, made: la.Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hung_up(*_: object) -> None:
        postgres.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lookalike'")

    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setattr(databases, "_check_same", hung_up)
    before = postgres.tables()
    with pytest.raises(DataError, match="PostgreSQL"):
        made.write_to(postgres.table("public.gone"))
    assert postgres.tables() == before


KILLED = """
import os, signal, sys
from lookalike.apps.cli import main
from lookalike.files.databases import write as databases

databases._rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:], "lookalike")
"""


def test_a_run_killed_while_it_writes_leaves_the_tables_as_they_were(
    place: Place, made: la.Publication, tmp_path: Path
) -> None:
    """In the worst moment: the earlier table is dropped, the new one has not got its name."""
    made.write(tmp_path / "release")
    export = ["export", str(tmp_path / "release"), "--to", place.table("r"), "--overwrite"]
    made.write_to(place.table("r"))
    before = sorted(map(str, place.run("SELECT * FROM r")))
    killed = subprocess.run([sys.executable, "-c", KILLED, *export], capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert place.tables() == {"r"}
    assert sorted(map(str, place.run("SELECT * FROM r"))) == before
    assert lookalike(*export).returncode == 0
    assert place.tables() == {"r"}


def test_names_that_a_database_would_bend_are_refused(made: la.Publication, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="63 bytes"):
        made.write_to(f"postgresql://127.0.0.1:1/db?table={'r' * 64}")
    twice = la.publish(
        pl.DataFrame({"Age": [1, 2] * 4, "age": ["x", "y"] * 4}),
        qi=["Age"],
        sensitive="age",
        model="k-anonymity:2",
        algorithm="mondrian",
    )
    with pytest.raises(DataError, match="but for capitals"):
        twice.write_to(f"sqlite:///{tmp_path}/new.db?table=r")
    assert not list(tmp_path.iterdir())


def test_names_of_ends_make_way_for_columns() -> None:
    taken = la.publish(
        pl.DataFrame({"age": [1, 2, 3, 4], "AGE_low": [1, 1, 2, 2], "ill": ["x", "y"] * 2}),
        qi=["age", "AGE_low"],
        sensitive="ill",
        model="k-anonymity:4",
        algorithm="mondrian",
    )
    frame = database_frames(taken.release)["release"]
    assert frame.columns == ["age", "age_low_", "age_high", "AGE_low", "AGE_low_low", "AGE_low_high", "ill"]


def test_the_command_from_database_to_database(
    postgres: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = ", ".join(f"('Ann {row}', {20 + row}, '{('flu', 'cold')[row % 2]}')" for row in range(20))
    postgres.run("CREATE TABLE ward (name text, age integer, ill text)", f"INSERT INTO ward VALUES {people}")
    monkeypatch.setenv("WARD", postgres.whole)
    words = ["--qi", "age", "--sensitive", "ill", "--model", "k-anonymity:5", "--algorithm", "mondrian"]
    words += ["--out", str(tmp_path / "out")]
    done = lookalike("publish", "env:WARD?table=ward", *words, "--to", "env:WARD?table=ward_release", "--json")
    assert done.returncode == 0, done.stderr
    assert '"tables": [\n    "ward_release"' in done.stdout
    assert postgres.run("SELECT count(*), min(age_low), max(age_high) FROM ward_release") == [(20, 20, 39)]
    again = lookalike("audit", "env:WARD?table=ward", tmp_path / "out")
    assert again.returncode == 0, again.stderr
    taken = lookalike("publish", "env:WARD?table=ward", *words, "--to", "env:WARD?table=ward", "--overwrite")
    assert taken.returncode == 2
    assert "not made by lookalike" in taken.stderr
    said = [done.stdout, done.stderr, again.stdout, again.stderr, taken.stdout, taken.stderr]
    written = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert len(written) > 5
    for secret in (PASSWORD, postgres.whole.split("@")[0].split(":")[2], "steward", "127.0.0.1", "Ann "):
        assert not any(secret in text for text in said), secret
        assert not any(secret.encode() in content for content in written), secret


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "postgresql://ann:s3cr3t@host/db?table=t"),
        ("inspect", "postgresql://host/db?table=t&password=s3cr3t", "--json"),
        ("audit", "postgresql://ann:s3cr3t@host/db?table=t", ".", "--qi", "a"),
        ("inspect", "x.csv", "postgresql://ann:s3cr3t@host/db?table=t"),
        ("query", "postgresql://ann:s3cr3t@host/db?table=t", "--where", "age > 3"),
        ("publish", "x.csv", "--qi", "a", "--model", "k-anonymity:2", "--out", "o")
        + ("--to", "postgresql://ann:s3cr3t@host/db?table=t"),
        ("publish", "postgresql://ann:s3cr3t@host/db?table=t", "--qi", "a", "--model", "k-anonymity:2", "--out", "o")
        + ("--backend", "spark"),
    ],
)
def test_a_password_on_the_command_line_is_refused_and_not_repeated(words: tuple[str, ...], tmp_path: Path) -> None:
    done = lookalike(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "s3cr3t" not in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())


def test_a_database_that_fails_after_the_folder_says_that_the_folder_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: object, **__: object) -> None:
        raise DataError("SQLite is in use by another program.")

    monkeypatch.setattr(databases, "write_database", locked)
    original().write_csv(tmp_path / "people.csv")
    words = ["--qi", "age", "--sensitive", "ill", "--model", "k-anonymity:4", "--algorithm", "mondrian"]
    done = lookalike("publish", "people.csv", *words, "--out", "out", "--to", "sqlite:///new.db?table=r", cwd=tmp_path)
    assert done.returncode == 2
    assert "is in use" in done.stderr
    assert "folder out is complete" in done.stderr
    assert "lookalike export" in done.stderr
    assert (tmp_path / "out" / "release.csv").exists()


def test_a_folder_that_is_there_is_loaded_as_it_would_have_been(
    made: la.Publication, in_buckets: la.Publication, tmp_path: Path
) -> None:
    for release in (made, in_buckets):
        release.write(tmp_path / "out", overwrite=True)
        loaded = databases._frames_of(tmp_path / "out")
        written = database_frames(release.release)
        assert loaded.keys() == written.keys()
        assert all(loaded[name].equals(written[name]) for name in written)
