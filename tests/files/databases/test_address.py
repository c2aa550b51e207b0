"""What a URL says, and what it must not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lookalike as la
from lookalike.errors import RecipeError
from lookalike.files.databases.address import (
    Database,
    TableName,
    identifier,
    is_address,
    parse_address,
    without_passwords,
)


def test_the_parts_of_a_url() -> None:
    found = parse_address("postgresql://ann@host:5433/clinic?sslmode=require&table=ward.stays")
    assert found.database is Database.POSTGRESQL
    assert found.table == TableName("stays", "ward")
    assert found.target.startswith("postgresql://ann@host:5433/clinic?sslmode=require&")
    assert "table" not in found.target
    assert parse_address("sqlite:///a%20b.db?table=t").target == "a b.db"
    assert parse_address("duckdb:////data/x.duckdb?table=t").target == "/data/x.duckdb"


@pytest.mark.parametrize("text", ["postgresql://h/d?table=t", "SQLite:///x.db", "env:URL", "env:URL?table=t"])
def test_what_is_an_address(text: str) -> None:
    assert is_address(text)


@pytest.mark.parametrize(
    "text", ["table.csv", "/data/sqlite.db", "env:", "env:a b", "C:\\duckdb.csv", Path("duckdb:x")]
)
def test_what_is_a_file(text: object) -> None:
    assert not is_address(text)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cr3t@host/db?table=t",
        "postgres://ann:s3cr3t%40x@host/db?table=t",
        "postgresql://host/db?password=s3cr3t&table=t",
        "postgresql://host/db?table=t&sslpassword=s3cr3t",
        "postgresql://:s3cr3t@/db?table=t",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(RecipeError, match="holds a password.*env:NAME") as refused:
        parse_address(url)
    assert "s3cr3t" not in str(refused.value)
    assert parse_address("env:URL", {"URL": url}).table == TableName("t")
    assert "s3cr3t" not in without_passwords(f"no such file: {url} (nor another)")


def test_an_address_shows_neither_host_nor_password() -> None:
    address = parse_address("env:URL?table=stays", {"URL": "postgresql://ann:s3cr3t@host/db"})
    assert "s3cr3t" in address.target
    assert repr(address) == str(address) == 'table "stays"'


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///x.db", "names one table"),
        ("sqlite:///x.db?table=a&table=b", "names one table"),
        ("sqlite:///x.db?table=", "does not name a table"),
        ("sqlite:///x.db?table=a.b", "no schemas"),
        ("sqlite://x.db?table=a", "three slashes"),
        ("duckdb:///?table=a", "three slashes"),
        ("duckdb:///x?table=a&access_mode=rw", "nothing else"),
        ("postgresql://h/d?table=a.b.c", "does not name a table"),
        ("postgresql://h/d?table=a&options=-csession_authorization%3Droot", "no setting"),
        ("postgresql://h:port/d?table=a", "not well formed"),
        ("postgresql://[h/d?table=a", "not well formed"),
        ("env:THERE_IS_NO_SUCH_VARIABLE", "is not set"),
    ],
)
def test_what_is_refused(url: str, said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        parse_address(url)


def test_a_variable_that_holds_something_else_is_not_repeated() -> None:
    with pytest.raises(RecipeError, match="does not hold the URL") as refused:
        parse_address("env:TOKEN", {"TOKEN": "s3cr3t"})
    assert "s3cr3t" not in str(refused.value)


_NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@given(_NAMES, st.none() | _NAMES)
def test_every_name_can_be_written(name: str, schema: str | None) -> None:
    table = TableName(name, schema)
    assert TableName.parse(table.sql) == table


@given(_NAMES)
def test_a_quoted_name_is_one_name_to_a_database(name: str) -> None:
    there = sqlite3.connect(":memory:")
    assert there.execute(f"SELECT 1 AS {identifier(name)}").description[0][0] == name
    there.close()


def test_a_frame_of_an_open_connection_is_read_as_it_is() -> None:
    import adbc_driver_sqlite.dbapi
    import duckdb

    with adbc_driver_sqlite.dbapi.connect(":memory:") as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 7 AS age UNION ALL SELECT 8")
        assert la.read_table(cursor.fetch_arrow())["age"].values.tolist() == [7, 8]
    with duckdb.connect() as opened:
        assert la.read_table(opened.sql("SELECT 7 AS age"))["age"].values.tolist() == [7]
