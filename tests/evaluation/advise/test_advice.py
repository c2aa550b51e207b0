"""All advice together: tables that lack something, plain data, and the command."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.apps.cli import main
from lookalike.apps.samples import hospital, to_csv
from lookalike.data.microdata import Table
from lookalike.data.schema import Role, Schema, ValueType
from lookalike.errors import DataError
from lookalike.evaluation.advise import advise
from lookalike.evaluation.advise.advice import MOST_PAIRS, column_advice, singling_pairs
from lookalike.evaluation.inspect import inspect
from tests.examples import examples
from tests.strategies import column_of

SCHEMA = Schema.of(qi=["age", "sex"], sensitive=["diagnosis"], carry=["length_of_stay"])


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("advice") / "patients.csv"
    to_csv(hospital(120, seed=7), path)
    return path


def test_without_trials_nothing_is_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.evaluation.advise.advice.try_costs", lambda *_, **__: pytest.fail("a trial was run"))
    advice = la.advise(file, schema=SCHEMA, trials=False)
    assert advice.costs is None
    assert advice.largest_k == 120
    assert "To start with: --model k-anonymity:5 --model diagnosis=beta-likeness:" in str(advice)


@pytest.mark.slow
def test_advice_in_words_and_as_plain_data(file: Path) -> None:
    advice = la.advise(file, schema=SCHEMA, algorithm="mondrian", model="k-anonymity:3")
    assert advice.costs is not None
    assert [str(promise) for promise in advice.costs.promises] == ["k-anonymity:3"]
    plain = json.loads(json.dumps(advice.to_plain()))
    assert plain["start"]["models"][0] == "k-anonymity:5"
    assert plain["bearing"][0]["models"][0]["model"].startswith("l-diversity:")
    assert {saving["column"] for saving in plain["costs"]["savings"]} == {"age", "sex"}
    text = str(advice)
    assert plain["costs"]["sentence"] in text
    for part in (*plain["pairs"], *plain["bearing"], *plain["costs"]["columns"], *plain["costs"]["savings"]):
        assert part["sentence"] in text
    assert "if someone outside knew it" in text


def test_tables_that_lack_something() -> None:
    with pytest.raises(DataError, match="no rows"):
        advise(Table((column_of("a", [], ValueType.INTEGER),)), schema=Schema.of(qi=["a"]))
    table = Table((column_of("a", [1, 1, 2], ValueType.INTEGER), column_of("s", list("xxy"), ValueType.STRING)))
    assert advise(table, schema=Schema.of(sensitive=["s"])).start is None
    without_sensitive = advise(table, schema=Schema.of(qi=["a"]))
    assert without_sensitive.start is not None
    assert [str(promise) for promise in without_sensitive.start.promises] == ["k-anonymity:3"]
    assert without_sensitive.bearing == ()


def test_what_cannot_be_tried_is_said(file: Path) -> None:
    advice = advise(file, schema=SCHEMA, model="l-diversity:60")
    assert advice.costs is None
    assert "The nearest that can: l-diversity:" in advice.notes[0]
    assert advice.notes[0] in str(advice)


@pytest.mark.slow
def test_inspect_shows_advice_and_tries_on_request(file: Path) -> None:
    words = ["inspect", str(file), "--qi", "age,sex", "--sensitive", "diagnosis"]
    shown = CliRunner().invoke(main, words)
    assert shown.exit_code == 0, shown.output
    assert 'Promises that "diagnosis" can support.' in shown.output
    assert "inspect --advise" in shown.output
    tried = CliRunner().invoke(main, [*words, "--advise", "--model", "k-anonymity:4", "--json"])
    advice = json.loads(tried.stdout)["advice"]
    assert advice["costs"]["promises"] == ["k-anonymity:4"]
    assert advice["costs"]["n_tried"] == 120
    refused = CliRunner().invoke(main, [*words, "--model", "k-anonymity:4"])
    assert refused.exit_code == 2
    assert "--advise" in refused.output


rows_of_four = st.lists(st.tuples(*[st.integers(0, 4)] * 4), min_size=1, max_size=25)


def table_of(rows: list[tuple[int, ...]]) -> Table:
    return Table(
        tuple(column_of(name, [row[place] for row in rows], ValueType.INTEGER) for place, name in enumerate("abcd"))
    )


def n_alone(rows: list[tuple[int, ...]], places: tuple[int, ...]) -> int:
    return sum(number == 1 for number in Counter(tuple(row[place] for place in places) for row in rows).values())


@settings(max_examples=examples(40))
@given(rows_of_four)
def test_pairs_and_leverage_against_counting(rows: list[tuple[int, ...]]) -> None:
    table = table_of(rows)
    found = inspect(table, schema=Schema.of(qi=list("abc"), carry="d"))
    pairs = singling_pairs(table, found)
    counted = {tuple("abc"[place] for place in pair): n_alone(rows, pair) for pair in combinations(range(3), 2)}
    assert [pair.n_alone for pair in pairs] == sorted((number for number in counted.values() if number), reverse=True)
    assert all(counted[min(pair.names), max(pair.names)] == pair.n_alone for pair in pairs)
    assert len(pairs) <= MOST_PAIRS
    advised = {column.name: column for column in column_advice(table, found)}
    assert {column.n_alone for column in advised.values()} == {n_alone(rows, (0, 1, 2))}
    assert advised["a"].n_alone_otherwise == n_alone(rows, (1, 2))
    assert advised["d"].n_alone_otherwise == n_alone(rows, (0, 1, 2, 3))


def test_sentences() -> None:
    table = table_of([(1, 1, 0, 0), (1, 2, 0, 0), (2, 1, 0, 0), (2, 2, 0, 0), (2, 2, 0, 1)])
    found = inspect(table, schema=Schema.of(qi=list("ab"), sensitive="c", carry="d"))
    said = {column.name: column.sentence for column in column_advice(table, found)}
    assert said["a"] == '"a": quasi-identifier; without it 3 of the 3 records that stand alone would not.'
    assert said["d"].startswith('"d": carried, though quasi-identifier is suggested, as it has 2 values')
    assert said["d"].endswith("if someone outside knew it, 2 more records would stand alone.")
    assert singling_pairs(table, found)[0].sentence == '"a" and "b" alone single out 3 records (60.0%).'
    assert next(column for column in column_advice(table, found) if column.name == "d").role is Role.CARRIED
