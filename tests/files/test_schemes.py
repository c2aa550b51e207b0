"""Schemes as files: read back as they were written, faults refused, mappings for other tools."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.data.scheme import Cell, Cut, Scheme
from lookalike.errors import DataError, LookalikeError, RecipeError, Unsupported
from lookalike.files.schemes import parse_scheme, read_scheme, scheme_text, write_scheme
from tests.data.test_scheme import AGE, DAY, KD, SCHEMA, SEX, WEIGHT

GRID = Scheme(
    schema=Schema((AGE, SEX, WEIGHT, DAY)),
    promises=("k-anonymity:5",),
    adversary="knows-method",
    starts={"age": (30, 60), "day": ("2024-01-16", "(missing)"), "weight": (60.5,)},
)


def same(one: Scheme, other: Scheme) -> bool:
    """Whether two schemes say the same."""
    return scheme_text(one) == scheme_text(other) and (one.parts, one.schema) == (other.parts, other.schema)


@pytest.mark.parametrize("scheme", [KD, GRID])
def test_schemes_read_back(scheme: Scheme, tmp_path: Path) -> None:
    path = tmp_path / "scheme.yaml"
    write_scheme(path, scheme)
    again = read_scheme(path)
    assert same(again, scheme)
    assert again.n_cells == scheme.n_cells


def test_a_file_is_readable() -> None:
    text = scheme_text(
        Scheme(schema=Schema((AGE, SEX)), promises=("k-anonymity:5",), parts=(Cut("age", 40), Cell(10), Cell(5)))
    )
    assert text.startswith("lookalike scheme: 1\npromises:\n- k-anonymity:5\ncolumns:\n")
    assert text.endswith("cells:\n- {cut: age, from: 40}\n- {records: 10}\n- {records: 5}\n")


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.yaml"
    path.write_text("my own notes")
    for overwrite in (False, True):
        with pytest.raises(RecipeError, match="exists already"):
            write_scheme(path, KD, overwrite=overwrite)
    assert path.read_text() == "my own notes"
    ours = tmp_path / "scheme.yaml"
    write_scheme(ours, KD)
    with pytest.raises(RecipeError, match="exists already"):
        write_scheme(ours, GRID)
    write_scheme(ours, GRID, overwrite=True)
    assert same(read_scheme(ours), GRID)


GOOD = scheme_text(KD)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "does not begin with"),
        ("columns: []", "does not begin with"),
        (GOOD.replace("scheme: 1", "scheme: 2"), "format 2"),
        (GOOD.replace("scheme: 1", "scheme: true"), "format"),
        (GOOD + "extra: 1\n", "There is no entry"),
        (GOOD + "cuts: {age: [40]}\n", "either cells"),
        (GOOD.replace("{cut: age, from: 40}", "{cut: age, at: 40}"), "entry 1 of cells"),
        (GOOD.replace("{cut: age, from: 40}", "{cut: age, from: [40]}"), '"age" is cut at .40., which is no number'),
        (GOOD.replace("{cut: age, from: 40}", "{cut: age, from: .nan}"), "no value of type integer"),
        (GOOD.replace("{cut: age, from: 40}", "{cut: age, from: 1.0e+300}"), "no value of type integer"),
        (GOOD.replace("- {}\n", "- {records: -1}\n", 1), "of cells must be a cut"),
        (GOOD.replace("- {}\n", "", 1), "lacks 1 part"),
        (GOOD.replace("promises: []", "promises: k-anonymity:5"), "list of texts"),
        (GOOD.replace("promises: []", "promises: []\nadversary: everybody"), "adversary"),
        (GOOD.replace("others: true", "others: maybe", 1), "true or false"),
        (GOOD.replace("taxonomy:\n    tree:", "taxonomy:\n    file: /etc/passwd\n    tree:"), "file"),
        ("lookalike scheme: 1\ncolumns: &a [*a]\n", "not valid YAML"),
        ("lookalike scheme: 1\ncolumns: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
    ],
)
def test_faults_are_refused_with_the_file_named(text: str, word: str) -> None:
    with pytest.raises(LookalikeError, match=word) as refused:
        parse_scheme(text, "their scheme")
    assert str(refused.value).startswith("their scheme")


@given(st.integers(0, len(GOOD) - 1), st.sampled_from(["", "x", "\n", "{", ": ", "9" * 400, "- "]))
def test_damaged_files_are_refused_or_are_partitions(place: int, inserted: str) -> None:
    try:
        found = parse_scheme(GOOD[:place] + inserted + GOOD[place + 1 :])
    except LookalikeError:
        return
    assert found.n_cells >= 1


def test_no_file_and_no_mapping_is_read_as_a_scheme(tmp_path: Path) -> None:
    for name, word in (("no.yaml", "Cannot read"), ("scheme.csv", "mapping for other tools")):
        with pytest.raises(DataError, match=word):
            read_scheme(tmp_path / name)


def test_a_mapping_lists_every_value(tmp_path: Path) -> None:
    path = tmp_path / "scheme.csv"
    write_scheme(path, GRID)
    lines = list(csv.DictReader(io.StringIO(path.read_text())))
    ages = {line["from"]: line["to"] for line in lines if line["column"] == "age"}
    assert list(map(int, ages)) == list(range(18, 91))
    assert (ages["18"], ages["29"], ages["30"], ages["90"]) == ("18..29", "18..29", "30..59", "60..90")
    assert [(line["from"], line["to"]) for line in lines if line["column"] == "sex"] == [("F", "*"), ("M", "*")]
    assert [(line["from"], line["to"]) for line in lines if line["column"] == "weight"] == [
        ("40..60.5", "40..60.5"),
        ("60.5..120", "60.5..120"),
    ]
    days = [(line["from"], line["to"]) for line in lines if line["column"] == "day"]
    assert days[-1] == ("", "")
    assert days[0] == ("2024-01-01..2024-01-15",) * 2


def test_cuts_that_depend_on_other_columns_are_no_mapping(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="depends on the other columns"):
        write_scheme(tmp_path / "scheme.csv", KD)
    assert not list(tmp_path.iterdir())
    # A tree that cuts all parts alike is full-domain.
    even = (Cut("age", 40), Cut("sex", "M"), Cell(), Cell(), Cut("sex", "M"), Cell(), Cell())
    write_scheme(tmp_path / "scheme.csv", Scheme(schema=Schema((AGE, SEX)), parts=even))
    text = (tmp_path / "scheme.csv").read_text()
    assert "age,18,18..39" in text
    assert "sex,F,F" in text


def test_the_schema_of_a_scheme_says_whose_rows_they_are() -> None:
    person = Attribute(name="patient", role=Role.PERSON)
    again = parse_scheme(scheme_text(Scheme(schema=Schema((*SCHEMA.attributes, person)), parts=(Cell(),))))
    assert again.schema.person == person
    assert np.array_equal(again.axes[0].ends, (18, 90))
    assert again.axes[0].attribute.kind is Kind.NUMERIC
    assert again.axes[0].attribute.type is ValueType.INTEGER
