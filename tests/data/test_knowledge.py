"""Rules of common knowledge: how they are written, whom they speak of, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lookalike.apps.samples import hospital, hospital_schema, sample_knowledge
from lookalike.data.knowledge import Condition, Knowledge, Rule, as_knowledge, break_rules, sort_into_kinds
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.errors import DataError
from lookalike.files.tables import read_columns

TEXT = """
knowledge: 1
rules:
- who: {sex: male}
  never: {ill: birth}
- who: {age: {to: 14}, sex: [female, other]}
  never: {ill: [birth, gout]}
- who: {born: {from: 2000-01-01}}
  never: {ill: gout}
"""


def table(**changed: list[object]) -> Microdata:
    columns: dict[str, list[object]] = {
        "age": [10, 14, 15, 40],
        "sex": ["female", "female", "female", "male"],
        "born": ["1990-01-01", "2000-01-01", "2001-05-05", "1980-01-01"],
        "ill": ["flu", "flu", "birth", "gout"],
    }
    frame = pl.DataFrame(columns | changed).with_columns(pl.col("born").str.to_date())
    schema = Schema.of(qi=["age", "sex", "born"], sensitive="ill")
    return Microdata.encode(read_columns(frame, schema), schema)


def test_rules_are_read_as_they_are_meant() -> None:
    read = Knowledge.from_yaml(TEXT)
    assert read.rules[0] == Rule((Condition("sex", ("male",)),), (Condition("ill", ("birth",)),))
    assert str(read.rules[1]) == "age up to 14, sex female or other: never ill birth or gout"
    assert str(read.rules[2]) == "born from 2000-01-01: never ill gout"
    assert Knowledge.from_yaml(json.dumps(read.to_plain())) == read


def test_kinds_are_what_people_cannot_have() -> None:
    data = table()
    kinds = sort_into_kinds(Knowledge.from_yaml(TEXT), data)
    texts = data.domains.sensitive[0].texts
    cannot = [
        {texts[code] for code in np.flatnonzero(~kinds.possible[0][kind]).tolist()} for kind in kinds.kind_of_record
    ]
    assert cannot == [{"birth", "gout"}, {"birth", "gout"}, {"gout"}, {"birth"}]
    assert kinds.n_kinds == 3
    assert kinds.allow(data.sensitive[:1]).shape == (3, 1)
    assert kinds.notes == ()


def test_rules_that_are_wrong_are_refused_with_their_number() -> None:
    with pytest.raises(DataError, match=r"Rule 1 \(sex male: never ill birth\) is not true of this table: 1 record"):
        sort_into_kinds(Knowledge.from_yaml(TEXT), table(ill=["flu", "flu", "flu", "birth"]))


def test_rules_without_effect_are_named() -> None:
    text = """
rules:
- who: {town: A}
  never: {ill: flu}
- who: {sex: unknown}
  never: {ill: flu}
- who: {sex: male}
  never: {ill: [birht]}
- who: {sex: male}
  never: {job: midwife}
"""
    notes = " ".join(sort_into_kinds(Knowledge.from_yaml(text), table()).notes)
    assert '"town" is no quasi-identifier of the release' in notes
    assert 'no value of "sex" is meant by it' in notes
    assert '"ill" has no value "birht"' in notes
    assert "the release lacks their columns: rule 4" in notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: 3", "must be a list"),
        ("- a", "must be a mapping"),
        ("rules: []", "must be a mapping"),
        ("knowledge: 2\nrules: [{who: {a: b}, never: {c: d}}]", "version 2"),
        ("rules: [{who: {a: b}}]", "rule 1: a rule has who and never"),
        ("rules: [{who: {}, never: {c: d}}]", "rule 1, who: it must name columns"),
        ("rules: [{who: {a: {above: 3}}, never: {c: d}}]", "a range of"),
        ("rules: [{who: {a: []}, never: {c: d}}]", "needs a value"),
        ("rules: [", "is not valid YAML"),
    ],
)
def test_texts_that_are_no_rules_are_refused(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        Knowledge.from_yaml(text)


def test_an_end_without_a_place_is_refused() -> None:
    rule = Knowledge.from_yaml("rules: [{who: {age: {to: old}}, never: {ill: flu}}]")
    with pytest.raises(DataError, match='"old" as an end of "age"'):
        sort_into_kinds(rule, table())


def test_the_hospital_keeps_its_rules() -> None:
    schema = hospital_schema()
    data = Microdata.encode(hospital(3000, seed=5), schema)
    rules = as_knowledge(sample_knowledge())
    assert rules is not None
    kinds = sort_into_kinds(rules, data)
    assert len(kinds.rules) == 5
    assert kinds.notes == ()
    assert not break_rules(rules, data.domains, data.quasi, data.sensitive).any()
    # Groups of a taxonomy are values, too: no child of five works in an office.
    ages, jobs = (
        next(i for i, one in enumerate(data.domains.quasi) if one.name == name) for name in ("age", "occupation")
    )
    quasi = data.quasi.copy()
    quasi[0, ages] = data.domains.quasi[ages].texts.index("4")
    quasi[0, jobs] = data.domains.quasi[jobs].texts.index("lawyer")
    assert break_rules(rules, data.domains, quasi, data.sensitive)[0]


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(DataError, match="Cannot read the rules"):
        Knowledge.load(Path("nowhere.yaml"))
    assert as_knowledge(None) is None


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("{who: {born: {to: 2000-1-2}}, never: {ill: gout}}", "Write dates as 2020-01-31"),
        ("{who: {born: {to: May 2020}}, never: {ill: gout}}", "Write dates as 2020-01-31"),
        ("{who: {age: {from: 15, to: 14}}, never: {ill: gout}}", "age from 15 to 14: the first end is above the last"),
        ("{who: {age: {from: nan}}, never: {ill: gout}}", "no such order"),
        ("{who: {sex: male, sex: female}, never: {ill: gout}}", '"sex" is written twice in one mapping'),
    ],
)
def test_rules_that_would_be_read_otherwise_than_meant_are_refused(rule: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        sort_into_kinds(Knowledge.from_yaml(f"rules: [{rule}]"), table())


def numbers() -> Microdata:
    frame = pl.DataFrame(
        {
            "weight": [60.0, 61.5],
            "seen": ["2020-01-05T10:00:00", "2020-01-06T00:00:00"],
            "code": ["1", "01"],
            "pay": [1000.0, 2000.0],
        }
    ).with_columns(pl.col("seen").str.to_datetime())
    schema = Schema.of(qi=["weight", "seen", "code"], sensitive="pay")
    return Microdata.encode(read_columns(frame, schema), schema)


@pytest.mark.parametrize(
    ("who", "never", "cannot"),
    [
        ("{weight: 60.0}", "2000.00", [{"2000"}, set()]),
        ("{seen: {to: 2020-01-05}}", "2000", [{"2000"}, set()]),
        ("{seen: {from: 2020-01-06}}", "1000", [set(), {"1000"}]),
        ("{code: 1}", "2000", [{"2000"}, set()]),
    ],
)
def test_numbers_in_any_spelling_and_whole_days(who: str, never: str, cannot: list[set[str]]) -> None:
    data = numbers()
    kinds = sort_into_kinds(Knowledge.from_yaml(f"rules: [{{who: {who}, never: {{pay: {never}}}}}]"), data)
    texts = data.domains.sensitive[0].texts
    found = [
        {texts[code] for code in np.flatnonzero(~kinds.possible[0][kind]).tolist()} for kind in kinds.kind_of_record
    ]
    assert found == cannot
    assert not kinds.notes


def test_a_range_that_excludes_nothing_is_noted() -> None:
    rules = Knowledge.from_yaml("rules: [{who: {weight: 60}, never: {pay: {from: 9000}}}]")
    (note,) = sort_into_kinds(rules, numbers()).notes
    assert 'no value of "pay" is meant by it' in note
