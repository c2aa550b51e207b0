"""Questions in SQL: the same answers as the conditions they stand for, and a refusal for everything else."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import lookalike as la
from lookalike.analysis.conditions import AllOf, AnyOf, Except, Range
from lookalike.analysis.sql import SUPPORTED, parse
from lookalike.data.release import Bucketized, Perturbed
from tests.analysis.release_folders import bucketized

DAYS = [datetime.date(2024, 1, day) for day in range(1, 6)]
WORDS = ["flu", "it's", "01", 'a "b"']
VALUES: dict[str, list[Any]] = {
    "age": [-3, 0, 1, 2, 2**53 + 1],
    "zip code": ["01", "02", "10"],
    "Born": DAYS,
    "illness": WORDS,
    "weight": [-1.5, 0.0, 0.1, 60.25],
}


@pytest.fixture(scope="module", params=[Bucketized.form, Perturbed.form])
def release(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> la.PublishedRelease:
    rng = np.random.default_rng(5)
    drawn: dict[str, list[Any]] = {
        name: [([*values, None])[place] for place in rng.integers(0, len(values) + 1, 60)]
        for name, values in VALUES.items()
    }
    known = {name: drawn[name] for name in ("age", "zip code", "Born")}
    folder = tmp_path_factory.mktemp("made") / "out"
    sensitive = {"illness": drawn["illness"], "weight": drawn["weight"]}
    return la.open_release(bucketized(folder, rng.integers(0, 12, 60), known, sensitive, form=request.param))


def _literal(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return f"DATE '{value}'" if isinstance(value, datetime.date) else repr(value)


@st.composite
def conditions(draw: st.DrawFn, name: str, depth: int = 1) -> tuple[str, Any]:
    """A condition on a column as SQL, and in Python."""
    value = st.sampled_from(VALUES[name])
    column = f'"{name}"' if " " in name else draw(st.sampled_from([name, name.upper(), f'"{name}"']))
    how = draw(st.sampled_from(["compare", "in", "between", "null", *(["or", "and"] if depth else [])]))
    negated = draw(st.booleans())
    if how in ("or", "and"):
        parts = draw(st.lists(conditions(name, depth - 1), min_size=2, max_size=3))
        join = AnyOf if how == "or" else AllOf
        return "(" + f" {how} ".join(sql for sql, _ in parts) + ")", join(tuple(wanted for _, wanted in parts))
    if how == "null":
        return (f"{column} IS NOT NULL", (None, None)) if negated else (f"{column} IS NULL", None)
    if how == "in":
        some = draw(st.lists(value, min_size=1, max_size=3))
        listed = f"({', '.join(map(_literal, some))})"
        return (f"{column} NOT IN {listed}", Except(tuple(some))) if negated else (f"{column} IN {listed}", some)
    if how == "between":
        low, high = draw(value), draw(value)
        sql = f"BETWEEN {_literal(low)} AND {_literal(high)}"
        if negated:
            return f"{column} NOT {sql}", AnyOf((Range(None, low, True, False), Range(high, None, False)))
        return f"{column} {sql}", (low, high)
    one = draw(value)
    sign, wanted = draw(
        st.sampled_from(
            [
                ("=", one),
                ("<>", Except((one,))),
                ("<", Range(None, one, high_included=False)),
                ("<=", (None, one)),
                (">", Range(one, None, low_included=False)),
                (">=", (one, None)),
            ]
        )
    )
    return f"{column} {sign} {_literal(one)}", wanted


@given(draw=st.data())
def test_sql_is_the_same_conditions(release: la.PublishedRelease, draw: st.DataObject) -> None:
    names = draw.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=4, unique=True))
    asked = [draw.draw(conditions(name)) for name in names]
    where = {name: wanted for name, (_, wanted) in zip(names, asked, strict=True)}
    text = " AND ".join(sql for sql, _ in asked)
    assert release.query(f"SELECT COUNT(*) FROM release WHERE {text}") == release.count(where)
    free = [name for name in VALUES if name not in names]
    listed = ", ".join(f'"{name}"' for name in free)
    found = release.query(f"SELECT {listed}, COUNT(*) WHERE {text} GROUP BY {listed}", level=0.8)
    assert isinstance(found, pl.DataFrame)
    assert_frame_equal(found, release.crosstab(free[:-1], free[-1], where, level=0.8))


def test_conditions_on_columns_that_are_counted_choose_lines(release: la.PublishedRelease) -> None:
    found = release.query("SELECT COUNT(*), illness, age WHERE illness <> 'flu' AND age > 0 GROUP BY illness, age")
    whole = release.crosstab("illness", "age")
    assert isinstance(found, pl.DataFrame)
    assert_frame_equal(found, whole.filter((pl.col("illness") != "flu") & (pl.col("age") > 0)))
    assert 0 < len(found) < len(whole)


def test_several_conditions_on_one_column_hold_together(release: la.PublishedRelease) -> None:
    found = release.query("select count(*) from x as t where t.age >= 0 and 2 > t.AGE and not age between 1 and 7")
    assert found == release.count({"age": 0})
    assert release.query("SELECT COUNT(*)") == release.count({})


def test_names_are_matched_exactly_first() -> None:
    assert parse("SELECT COUNT(*) WHERE sex = 'F'", ["Sex", "sex"]).where == {"sex": ["F"]}
    assert parse("SELECT COUNT(*) WHERE SEX = 'F'", ["Sex", "age"]).where == {"Sex": ["F"]}
    assert parse('SELECT COUNT(*) WHERE "a ""b""" = 1', ['a "b"']).where == {'a "b"': ["1"]}
    with pytest.raises(la.RecipeError, match='"SEX" could be "Sex" and "sex"'):
        parse("SELECT COUNT(*) WHERE SEX = 'F'", ["Sex", "sex"])
    with pytest.raises(la.RecipeError, match='Did you mean "sex"'):
        parse("SELECT COUNT(*) WHERE sexx = 'F'", ["sex"])
    with pytest.raises(la.RecipeError, match='"other" is no table'):
        parse("SELECT COUNT(*) FROM x WHERE other.sex = 'F'", ["sex"])


@pytest.mark.parametrize(
    "sql",
    [
        "",
        "hello",
        "SELECT",
        "SELECT COUNT(*) WHERE",
        "SELECT *",
        "SELECT age GROUP BY age",
        "SELECT SUM(age + 1)",
        "SELECT SUM(DISTINCT age)",
        "SELECT AVG(age) OVER ()",
        "SELECT STDDEV(age)",
        "SELECT QUANTILE(age, sex)",
        "SELECT COUNT(DISTINCT age)",
        "SELECT COUNT(*) AS n",
        "SELECT COUNT(*), COUNT(*)",
        "SELECT COUNT(*) OVER ()",
        "SELECT COUNT(*) FILTER (WHERE age = 1)",
        "SELECT DISTINCT COUNT(*)",
        "SELECT COUNT(*) LIMIT 3",
        "SELECT COUNT(*) ORDER BY age",
        "SELECT COUNT(*) GROUP BY age HAVING COUNT(*) > 3",
        "SELECT COUNT(*) GROUP BY 1",
        "SELECT COUNT(*) GROUP BY ROLLUP(age)",
        "SELECT COUNT(*) GROUP BY ALL",
        "SELECT COUNT(*) FROM a, b",
        "SELECT COUNT(*) FROM a JOIN b ON a.x = b.x",
        "SELECT COUNT(*) FROM (SELECT 1)",
        "SELECT COUNT(*) FROM read_csv('x')",
        "SELECT COUNT(*) FROM a TABLESAMPLE 10%",
        "SELECT COUNT(*) UNION SELECT COUNT(*)",
        "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a",
        "SELECT COUNT(*); SELECT COUNT(*)",
        "DROP TABLE release",
        "SELECT COUNT(*) WHERE age",
        "SELECT COUNT(*) WHERE 1 = 1",
        "SELECT COUNT(*) WHERE age + 1 = 3",
        "SELECT COUNT(*) WHERE age = 1 + 2",
        "SELECT COUNT(*) WHERE age = sex",
        'SELECT COUNT(*) WHERE sex = "F"',
        "SELECT COUNT(*) WHERE age = NULL",
        "SELECT COUNT(*) WHERE age IN (1, NULL)",
        "SELECT COUNT(*) WHERE age IN (SELECT 1)",
        "SELECT COUNT(*) WHERE sex LIKE '%F'",
        "SELECT COUNT(*) WHERE sex LIKE 'F_%'",
        "SELECT COUNT(*) WHERE sex LIKE 'F'",
        "SELECT COUNT(*) WHERE sex LIKE '%'",
        "SELECT COUNT(*) WHERE NOT sex LIKE 'F%'",
        "SELECT COUNT(*) WHERE sex ILIKE 'f%'",
        "SELECT COUNT(*) WHERE sex LIKE 'F!%%' ESCAPE '!'",
        "SELECT COUNT(*) WHERE age = 1 OR sex = 'F'",
        "SELECT COUNT(*) WHERE age = 1 OR (age = 2 AND sex = 'F')",
        "SELECT COUNT(*) WHERE NOT age = 1",
        "SELECT COUNT(*) WHERE NOT (age = 1 OR age = 2)",
        "SELECT COUNT(*) WHERE UPPER(sex) = 'F'",
        "SELECT COUNT(*) WHERE age = 1 " + "(" * 3000,
    ],
)
def test_everything_else_is_refused(sql: str) -> None:
    with pytest.raises(la.RecipeError) as refused:
        parse(sql, ["age", "sex"])
    assert str(refused.value).endswith(SUPPORTED)


def test_other_mistakes_are_named(release: la.PublishedRelease) -> None:
    with pytest.raises(la.RecipeError, match="must be in GROUP BY"):
        release.query("SELECT COUNT(*), age")
    with pytest.raises(la.RecipeError, match="a column twice"):
        release.query("SELECT COUNT(*) GROUP BY age, AGE")
    with pytest.raises(la.RecipeError, match="holds int64 values"):
        release.query("SELECT COUNT(*) WHERE age = 'old'")
    with pytest.raises(la.RecipeError, match="holds date values"):
        release.query("SELECT COUNT(*) WHERE born > 'yesterday'")


def test_long_questions_are_read() -> None:
    many = " AND ".join(f"age <> {number}" for number in range(3000))
    assert len(parse(f"SELECT COUNT(*) WHERE {many}", ["age"]).where["age"].parts) == 3000
    assert parse("SELECT COUNT(*) WHERE age = 1 OR age = 2 OR (age = 3)", ["age"]).where == {
        "age": AnyOf((["1"], ["2"], ["3"]))
    }
