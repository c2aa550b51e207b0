"""views.sql in DuckDB: probabilities of every row sum to 1, and sums over them are the estimates of the library."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings

import lookalike as la
from lookalike.data.release import Bucketized, Release
from lookalike.files.releases.write import write_release
from tests.analysis.release_folders import bucketized
from tests.examples import examples
from tests.files.releases.release_forms import MANIFEST, clinic_release, releases


def opened(folder: Path) -> duckdb.DuckDBPyConnection:
    """A database in which the script was run, as if from inside the folder."""
    connection = duckdb.connect()
    connection.execute(f"SET file_search_path = '{folder}'")
    # As bytes: a name may hold a carriage return, which text mode would take for the end of a line.
    connection.execute((folder / "views.sql").read_bytes().decode("utf-8"))
    return connection


def one(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    row = connection.execute(sql).fetchone()
    assert row is not None
    return row[0]


def names(connection: duckdb.DuckDBPyConnection, view: str) -> list[str]:
    return [column[0] for column in connection.execute(f"SELECT * FROM {view} LIMIT 0").description or ()]


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    _, release = clinic_release(Bucketized.form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    return tmp_path / "out"


def test_the_views_are_what_they_are_called(clinic: Path) -> None:
    database = opened(clinic)
    assert names(database, "qit") == ["age", "work, class", "born", "pain", "zip", "bucket"]
    assert names(database, "sat") == ["bucket", "diagnosis", "smokes", "weight"]
    assert database.execute("SELECT * FROM bucket_sizes ORDER BY bucket").fetchall() == [(0, 4), (1, 4), (2, 4)]
    assert names(database, "probabilities") == ["bucket", "diagnosis", "smokes", "weight", "probability"]
    sums = database.execute("SELECT SUM(probability) FROM probabilities GROUP BY bucket").fetchall()
    assert sums == [(1.0,)] * 3
    assert set(names(database, "joined")) == {*names(database, "qit"), *names(database, "probabilities")}
    database.execute((clinic / "views.sql").read_text(encoding="utf-8"))
    assert "duckdb -init views.sql" in (clinic / "README.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("condition", "where"),
    [
        ("age BETWEEN 28 AND 41 AND diagnosis IN ('flu', 'gout')", {"age": (28, 41), "diagnosis": ["flu", "gout"]}),
        ("age IS NULL AND smokes", {"age": None, "smokes": True}),
        ("\"work, class\" = 'Private' AND diagnosis IS NULL", {"work, class": "Private", "diagnosis": None}),
        ("born > '1980-03-01' AND weight < 65", {"born": ("1980-03-02", None), "weight": (None, 64.9)}),
        ("TRUE", {}),
    ],
)
def test_sums_of_probabilities_are_estimates(clinic: Path, condition: str, where: dict[str, Any]) -> None:
    found = one(opened(clinic), f"SELECT SUM(probability) FROM joined WHERE {condition}")
    assert found == pytest.approx(la.open_release(clinic).count(where).value)
    assert found > 0


@pytest.mark.slow
@settings(max_examples=examples(40), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(made=releases(Bucketized.form))
def test_every_row_has_probability_one_whatever_the_names(made: tuple[Any, Release]) -> None:
    _, release = made
    with tempfile.TemporaryDirectory() as folder:
        write_release(Path(folder) / "out", release, documents={}, manifest=MANIFEST)
        database = opened(Path(folder) / "out")
        assert one(database, "SELECT COUNT(*) FROM qit") == one(database, "SELECT SUM(size) FROM bucket_sizes")
        # DuckDB numbers rows of a view in no order that lasts, so rows are told apart by a number of the test's own.
        database.execute("CREATE TEMP TABLE numbered AS SELECT *, row_number() OVER () AS place_ FROM qit")
        bucket = names(database, "bucket_sizes")[0]
        sums = database.execute(
            f'SELECT SUM(probabilities.probability) FROM numbered JOIN probabilities USING ("{bucket}") GROUP BY place_'
        ).fetchall()
        total = one(database, "SELECT SUM(probability) FROM joined")
    assert [total for (total,) in sums] == pytest.approx([1.0] * release.n_rows)
    assert total == pytest.approx(release.n_rows)


def test_names_that_sql_could_trip_over(tmp_path: Path) -> None:
    known = {"Sex": ["F", "M"], "sex": [1, 2], "select": [1, 2], 'a "b"\n; DROP': [1, 2], "qit": [5, 6]}
    sensitive = {"SEX": ["x", "y"], "probability": [1, 2], "bucket": ["p", "q"], "size": [1, 1]}
    folder = bucketized(tmp_path / "out", [3, 3], known, sensitive)
    database = opened(folder)
    assert names(database, "qit") == ["Sex", "sex_", "select", 'a "b"\n; DROP', "qit", "bucket_"]
    assert names(database, "sat") == ["bucket_", "SEX__", "probability", "bucket", "size"]
    assert names(database, "probabilities")[-1] == "probability_"
    assert names(database, "bucket_sizes") == ["bucket_", "size_"]
    where = "Sex = 'F' AND sex_ = 1 AND \"SEX__\" = 'x' AND bucket = 'p'"
    found = one(database, f"SELECT SUM(probability_) FROM joined WHERE {where}")
    assert found == la.open_release(folder).count({"Sex": "F", "sex": 1, "SEX": "x", "bucket": "p"}).value == 0.5


def test_nothing_that_somebody_has_open_is_replaced(clinic: Path) -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE qit AS SELECT 7 AS mine")
    connection.execute(f"SET file_search_path = '{clinic}'")
    connection.execute((clinic / "views.sql").read_text(encoding="utf-8"))
    assert one(connection, "SELECT mine FROM memory.main.qit") == 7
    assert one(connection, "SELECT SUM(probability) FROM joined") == 12


def test_other_forms_have_no_views(tmp_path: Path) -> None:
    _, release = clinic_release("grouped")
    assert "views.sql" not in write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
