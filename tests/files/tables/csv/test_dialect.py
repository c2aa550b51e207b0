"""What is guessed about a CSV file from its first records."""

from __future__ import annotations

import pytest

from lookalike.errors import RecipeError
from lookalike.files.tables.csv.dialect import Dialect, detect_dialect, split_records


def detected(sample: str, **given: object) -> tuple[Dialect, list[str]]:
    return detect_dialect(sample, cut_off=False, **given)  # type: ignore[arg-type]


def test_a_plain_file_needs_no_notes() -> None:
    dialect, notes = detected("age,sex\n30,f\n20,m\n")
    assert (dialect.delimiter, dialect.quote, dialect.header, dialect.padded) == (",", '"', True, False)
    assert notes == []


@pytest.mark.parametrize(
    ("sample", "delimiter", "word"),
    [
        ("a;b\n1,5;2,5\n3,5;4,0\n", ";", "semicolon"),
        ("a\tb\n1,5\t2\n", "\t", "tab"),
        ("a|b|c\n1|2|3\n", "|", "vertical bar"),
        ('name;"x;y";z\n"a;b";c;"d,e"\n', ";", "semicolon"),
        ('"last, first";age\n"Doe, Jo";3\n"Roe, Al";4\n', ";", "semicolon"),
    ],
)
def test_the_delimiter_is_the_one_that_makes_records_even(sample: str, delimiter: str, word: str) -> None:
    dialect, notes = detected(sample)
    assert dialect.delimiter == delimiter
    assert any(word in note for note in notes)


def test_tabs_in_a_tsv_are_plain_and_commas_are_not() -> None:
    assert detected("a\tb\n1\t2\n", tabs_expected=True)[1] == []
    dialect, notes = detected("a,b\n1,2\n", tabs_expected=True)
    assert dialect.delimiter == ","
    assert "comma" in notes[0]


def test_one_uneven_record_does_not_change_the_delimiter() -> None:
    assert detected("a,b\n1,2\n3,4,5\n6,7;8\n")[0].delimiter == ","


def test_a_file_of_one_column_has_the_plain_delimiter() -> None:
    assert detected("name\nx\ny\n")[0].delimiter == ","


def test_what_is_given_is_taken() -> None:
    dialect, notes = detected("a,b;c\n1,2;3\n", delimiter=";", quote="'", header=False)
    assert (dialect.delimiter, dialect.quote, dialect.header, dialect.quote_guessed) == (";", "'", False, False)
    assert notes == []
    assert detected("a,b\n", quote="")[0].quote is None


@pytest.mark.parametrize("given", [{"delimiter": ",,"}, {"delimiter": "é"}, {"delimiter": ""}, {"delimiter": "\n"}])
def test_impossible_delimiters_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(RecipeError, match="delimiter must be one ASCII character"):
        detected("a,b\n", **given)


def test_impossible_quotes_are_refused() -> None:
    with pytest.raises(RecipeError, match="quote must be one ASCII character"):
        detected("a,b\n", quote="''")
    with pytest.raises(RecipeError, match="both"):
        detected("a,b\n", quote="'", delimiter="'")


@pytest.mark.parametrize(
    ("sample", "quote"),
    [
        ("a,b\n'x, y',1\n'z, w',2\n", "'"),
        ("a,b\n'x',1\n'z',2\n", "'"),
        ("a,b\nO'Brien,1\nD'Arcy,2\n", '"'),
        ("a,b\n'tis,1\nx,2\n", '"'),
        ("a,b\n'x',\"1\"\n'z',\"2\"\n", '"'),
        ("a,b\n'x',1\nz,2\n", '"'),
    ],
)
def test_single_quotes_are_quotes_only_on_evidence(sample: str, quote: str) -> None:
    dialect, notes = detected(sample)
    assert dialect.quote == quote
    assert any("single quotes" in note for note in notes) == (quote == "'")


@pytest.mark.parametrize(
    ("sample", "header"),
    [
        ("age,sex\n30,f\n", True),
        ("39,State-gov\n50,Private\n", False),
        ("State-gov,2020-01-02\nPrivate,2020-01-03\n", False),
        ("?,39\nPrivate,50\n", False),
        ("age,2020\n1,2\n3,4\n", True),  # a word above numbers
        ("country,2019,2020,2021\nDE,1,2,3\n", True),  # years as names
        ("name,1.5\nx,NA\ny,\n", True),  # nothing below to compare with
        ("a,b\nx,y\n", True),
        ("1,2,3\n", True),  # one line says nothing
        ("00123,5\n00456,6\n", False),
    ],
)
def test_the_header_is_only_denied_by_numbers_above_numbers(sample: str, header: bool) -> None:
    dialect, notes = detected(sample)
    assert dialect.header is header
    assert any("column_1" in note for note in notes) is not header


@pytest.mark.parametrize(
    ("sample", "padded"),
    [
        ("age,work\n39, State-gov\n50, Private\n", True),
        ('a, b, c\n1, "x,y", 3\n', True),
        ("age,work\n39, State-gov\n50,Private\n", False),
        ("a,b\nx,y\n", False),
    ],
)
def test_padding_is_a_space_after_every_delimiter(sample: str, padded: bool) -> None:
    dialect, notes = detected(sample)
    assert dialect.padded is padded
    assert any("space" in note for note in notes) is padded


def test_old_line_ends_are_noticed() -> None:
    dialect, notes = detected("a,b\r1,2\r")
    assert dialect.bare_returns
    assert "carriage return" in notes[0]
    assert not detected("a,b\r\n1,2\r\n")[0].bare_returns


def test_records_of_a_sample() -> None:
    assert split_records('a, "b ""c""\nd" ,e\r\n\r\n  \nf,,\n', ",", '"') == [["a", 'b "c"\nd', "e"], ["f", "", ""]]
    assert split_records("a,'b,c'", ",", "'") == [["a", "b,c"]]
    assert split_records('5" pipe,"x', ",", '"') == [['5" pipe', '"x']]
    assert split_records("a,", ",", None) == [["a", ""]]


def test_a_sample_that_is_cut_off_loses_its_last_record_only() -> None:
    assert split_records('a,b\n1,2\n3,"4\n5,6\n7', ",", '"', cut_off=True) == [["a", "b"], ["1", "2"]]
    assert split_records("a,b\n1,2\n", ",", '"', cut_off=True) == [["a", "b"], ["1", "2"]]
    assert split_records("a,b\n1,2", ",", '"', cut_off=True) == [["a", "b"]]
