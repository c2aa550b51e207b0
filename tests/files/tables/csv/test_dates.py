"""Dates as real tables write them: the format is found in the whole column, or asked about, and never guessed."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import lookalike as la
from lookalike.data.date_formats import DateFormat
from lookalike.data.microdata import texts_of
from lookalike.data.schema import ValueType
from lookalike.files.tables.csv.dates import guess_dates, parse_dates
from lookalike.files.tables.csv.inference import Settled, settle

THREE_DAYS = st.lists(st.dates(datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)), min_size=3, unique=True)


def settled(texts: list[str], asked: ValueType | None = None, date_format: str | None = None) -> Settled:
    return settle("seen", pl.Series(texts, dtype=pl.String), asked, (), date_format)


@pytest.mark.parametrize(
    ("texts", "format", "printed"),
    [
        (["12/31/1999", "1/2/2000"], "MM/DD/YYYY", ["1999-12-31", "2000-01-02"]),
        (["31/12/1999", "1/2/2000"], "DD/MM/YYYY", ["1999-12-31", "2000-02-01"]),
        (["31-12-1999", "01-02-2000"], "DD-MM-YYYY", ["1999-12-31", "2000-02-01"]),
        (["01.02.2000"], "DD.MM.YYYY", ["2000-02-01"]),
        (["12.31.1999"], "MM.DD.YYYY", ["1999-12-31"]),
        (["1999/12/31", "2000/1/2"], "YYYY/MM/DD", ["1999-12-31", "2000-01-02"]),
        (["1999-31-12", "2000-02-01"], "YYYY-DD-MM", ["1999-12-31", "2000-01-02"]),
        (["01-Jan-24", "15-MAR-23"], "DD-Mon-YY", ["2024-01-01", "2023-03-15"]),
        (["1. Januar 2024"], "DD. Mon YYYY", ["2024-01-01"]),
        (["1. of Januar 2024"], None, []),
        (["1 Januar 2024", "3 Mai 2023"], "DD Mon YYYY", ["2024-01-01", "2023-05-03"]),
        (["1. Jan. 2024", "3. Mär 2023"], "DD. Mon YYYY", ["2024-01-01", "2023-03-03"]),
        (["1 févr 2024", "3 août 2023"], "DD Mon YYYY", ["2024-02-01", "2023-08-03"]),
        (["01JAN1960", "12feb1977"], "DDMonYYYY", ["1960-01-01", "1977-02-12"]),
        (["Jan 5, 2024", "March 12, 2023"], "Mon DD, YYYY", ["2024-01-05", "2023-03-12"]),
        (["13/12/99", "01/02/05"], "DD/MM/YY", ["1999-12-13", "2005-02-01"]),
        (["99/12/13"], "YY/MM/DD", ["1999-12-13"]),
        (["20240131", "19991231", "20000229"], "YYYYMMDD", ["2024-01-31", "1999-12-31", "2000-02-29"]),
        (["03/03/2024"], "DD/MM/YYYY", ["2024-03-03"]),
    ],
)
def test_the_format_is_found_in_the_whole_column(texts: list[str], format: str | None, printed: list[str]) -> None:
    found = settled(texts)
    assert found.date_format == format
    assert found.question == ""
    if format is not None:
        assert found.type is ValueType.DATE
        assert f"dates were read as {format}" in found.notes[0]
        assert [texts_of(found.values, found.type)[code] for code in found.codes] == printed


@pytest.mark.parametrize(
    ("texts", "printed"),
    [
        (["12/31/2024 13:45", "1/5/2024 0:00"], ["2024-12-31T13:45:00", "2024-01-05T00:00:00"]),
        (["12/31/2024 12:45 pm", "1/5/2024 12:05 AM"], ["2024-12-31T12:45:00", "2024-01-05T00:05:00"]),
        (["31.12.2024 10:00:01.5", "01.01.2024"], ["2024-12-31T10:00:01.500000", "2024-01-01T00:00:00"]),
        (["31/12/2024 23:30-02:00", "01/01/2024 10:00Z"], ["2025-01-01T01:30:00", "2024-01-01T10:00:00"]),
    ],
)
def test_times_of_day_are_read_in_any_format(texts: list[str], printed: list[str]) -> None:
    found = settled(texts)
    assert found.type is ValueType.DATETIME
    assert [texts_of(found.values, found.type)[code] for code in found.codes] == printed
    assert ("UTC" in found.notes[0]) == texts[0].endswith("02:00")


@pytest.mark.parametrize(
    "texts",
    [
        ["12/31/2024 25:00", "1/5/2024 0:00"],
        ["12/31/2024 13:00 PM", "1/5/2024 1:00 PM"],
        ["12/31/2024 10:00Z", "1/5/2024 10:00Z", "1/5/2024 11:00"],
    ],
)
def test_impossible_times_are_asked_about(texts: list[str]) -> None:
    found = settled(texts)
    assert found.type is ValueType.STRING
    assert found.misfits.sum() == 1
    assert "1 value is not" in found.question


def test_a_column_that_fits_two_formats_is_asked_about() -> None:
    found = settled(["03/04/2024", "05/06/2024"])
    assert found.type is ValueType.STRING
    for way in ("seen=DD/MM/YYYY", "seen=MM/DD/YYYY", "seen=text"):
        assert f'--date-format "{way}"' in found.question
    assert settled(["03/04/2024", "05/06/2024", "13/06/2024"]).question == ""
    far_down = ["03/04/2024"] * 600 + ["04/13/2024"]
    assert settled(far_down).date_format == "MM/DD/YYYY"


def test_a_sample_never_decides() -> None:
    """The first texts fit day-first only, a later one month-first only: neither is taken."""
    found = settled(["13/04/2024"] * 600 + ["04/13/2024"])
    assert found.type is ValueType.STRING
    assert found.misfits.sum() == 1


def test_two_digit_years_that_may_lie_in_the_future_are_asked_about() -> None:
    found = settled(["01-Jan-65", "03-Feb-70"])
    assert found.type is ValueType.STRING
    assert "seen=DD-Mon-YY from 1927" in found.question
    born = settled(["01-Jan-65", "03-Feb-70"], date_format="DD-Mon-YY from 1930")
    assert texts_of(born.values, born.type) == ["1965-01-01", "1970-02-03"]
    plan = settled(["01-Jan-65", "03-Feb-70"], date_format="DD-Mon-YY from 1969")
    assert texts_of(plan.values, plan.type) == ["1970-02-03", "2065-01-01"]
    past = settled(["01-Jan-75", "03-Feb-70"])
    assert "with years from 1969 to 2068" in past.notes[0]


@pytest.mark.parametrize(
    "texts",
    [
        ["20240131", "20240200", "20240101"],
        ["17001231", "17001230", "17001229"],
        ["20240101", "20240102"],
        ["99999999"],
        ["1987", "2024"],
        ["202401", "202402"],
    ],
)
def test_whole_numbers_that_may_be_anything_stay_whole_numbers(texts: list[str]) -> None:
    assert settle("amount", pl.Series(texts), None).type is ValueType.INTEGER


def test_the_name_of_a_column_of_digits_counts() -> None:
    days = pl.Series(["20240101", "20240102"])
    assert settle("date of birth", days, None).type is ValueType.DATE
    more = pl.Series(["20240101", "20240102", "20240103"])
    assert settle("value", more, None).type is ValueType.DATE
    assert settle("order_id", more, None).type is ValueType.INTEGER
    assert settle("order_id", more, None, (), "YYYYMMDD").type is ValueType.DATE


def test_codes_that_look_a_little_like_dates_stay_text_without_a_question() -> None:
    for texts in (["12-34-56", "99-88-77"], ["1.2.3.4"], ["10/2024"], ["123-45-6789"], ["A-B-C"], ["5-7"]):
        found = settled(texts)
        assert (found.type, found.question) == (ValueType.STRING, "")


@pytest.mark.parametrize(
    ("written", "format"),
    [
        ("dd/mm/yyyy", "DD/MM/YYYY"),
        ("%d/%m/%Y", "DD/MM/YYYY"),
        ("%d-%b-%y", "DD-Mon-YY"),
        ("D.M.YY", "DD.MM.YY"),
        ("YYYYMMDD", "YYYYMMDD"),
        ("%Y%m%d", "YYYYMMDD"),
        ("MM/DD/YYYY hh:mm:ss AM", "MM/DD/YYYY hh:mm"),
        ("%m/%d/%Y %H:%M", "MM/DD/YYYY hh:mm"),
        ("Month DD, YYYY", "Mon DD, YYYY"),
        ("DD/MM/YY from 1930", "DD/MM/YY from 1930"),
        ("DD/MM/YY from 1969", "DD/MM/YY"),
    ],
)
def test_formats_are_read_in_the_usual_spellings(written: str, format: str) -> None:
    assert str(DateFormat.parse(written, "c")) == format
    assert str(DateFormat.parse(format, "c")) == format


@pytest.mark.parametrize(
    "written", ["", "DD/MM", "DD/MM/YYYY/YY", "yesterday", "DD_MM_YYYY", "DDMM/YYYY", "MM/MM/YYYY"]
)
def test_what_is_no_format_is_refused_with_examples(written: str) -> None:
    with pytest.raises(la.SchemaError, match="Give a format such as DD/MM/YYYY"):
        DateFormat.parse(written, "c")


def test_a_century_of_years_with_four_digits_is_refused() -> None:
    with pytest.raises(la.SchemaError, match="years of four digits"):
        DateFormat.parse("DD/MM/YYYY from 1930", "c")


FORMATS: dict[str, Callable[[datetime.date], str]] = {
    "DD/MM/YYYY": lambda day: f"{day.day}/{day.month}/{day.year}",
    "MM/DD/YYYY": lambda day: f"{day.month:02}/{day.day:02}/{day.year}",
    "DD-Mon-YYYY": lambda day: f"{day.day:02}-{day:%b}-{day.year}",
    "YYYYMMDD": lambda day: f"{day:%Y%m%d}",
    "YYYY.MM.DD": lambda day: f"{day.year}.{day.month}.{day.day}",
    "DD.MM.YY from 1930": lambda day: f"{day.day}.{day.month}.{day.year % 100:02}",
}


@given(days=THREE_DAYS, format=st.sampled_from(list(FORMATS)))
def test_a_format_that_is_given_reads_every_date_back(days: list[datetime.date], format: str) -> None:
    assume(not format.endswith("1930") or all(1930 <= day.year < 2030 for day in days))
    parsed = parse_dates(pl.Series([FORMATS[format](day) for day in days]), DateFormat.parse(format, "c"))
    assert parsed.fits.all()
    assert parsed.values.astype("datetime64[D]").tolist() == days


@given(days=THREE_DAYS, format=st.sampled_from([format for format in FORMATS if "YYYY" in format]))
def test_what_is_guessed_without_a_question_is_right(days: list[datetime.date], format: str) -> None:
    """No guess is wrong: it gives the days that were written, or a question whose answers include the right format."""
    found = guess_dates("day", pl.Series([FORMATS[format](day) for day in days]))
    assert found is not None
    if found.question:
        assert format in found.question
    else:
        assert found.parsed.values.astype("datetime64[D]").tolist() == days


def table(folder: Path, days: list[str]) -> Path:
    path = folder / "stays.csv"
    rows = [f"{20 + place % 7},{day},{'flu' if place % 2 else 'cold'}" for place, day in enumerate(days)]
    path.write_text("\n".join(["age,seen,ill", *rows]) + "\n")
    return path


ROLES = {"qi": ["age", "seen"], "sensitive": "ill", "model": "k-anonymity:2"}


def test_an_open_question_is_refused_where_the_date_would_be_published(tmp_path: Path) -> None:
    path = table(tmp_path, ["03/04/2024", "05/06/2024"] * 10)
    assert 'column "seen"' in str(la.inspect(path).notes).lower()
    assert la.inspect(path)["seen"].question
    with pytest.raises(la.SchemaError, match='--date-format "seen=MM/DD/YYYY"'):
        la.publish(path, **ROLES)
    with pytest.raises(la.SchemaError, match='--date-format "seen=MM/DD/YYYY"'):
        la.publish(path, schema=la.suggest_schema(la.read_table(path)), model="k-anonymity:2", sensitive="ill")
    la.publish(path, qi=["age"], sensitive="ill", model="k-anonymity:2")
    as_text = la.publish(path, date_format={"seen": "text"}, **ROLES)
    assert as_text.made.data.schema["seen"].type is ValueType.STRING
    american = la.publish(path, date_format={"seen": "month-first"}, **ROLES)
    assert american.made.data.schema["seen"].date_format == "MM/DD/YYYY"
    assert texts_of(american.made.data.domains.quasi[1].values, ValueType.DATE) == ["2024-03-04", "2024-05-06"]


def test_impossible_dates_are_named_by_their_lines_and_never_shown(tmp_path: Path) -> None:
    path = table(tmp_path, [f"{day}.01.2024" for day in range(1, 29)] + ["31.02.2024", "30.02.2024"])
    with pytest.raises(la.SchemaError) as refused:
        la.publish(path, **ROLES)
    assert "2 values are not (lines 30, 31)" in str(refused.value)
    assert "31.02" not in str(refused.value)
    with pytest.raises(la.DataError, match=r"2 values do not fit \(lines 30, 31\)"):
        la.publish(path, date_format={"seen": "DD.MM.YYYY"}, **ROLES)
    made = la.publish(path, missing={"seen": ["31.02.2024", "30.02.2024"]}, **ROLES)
    assert made.made.data.schema["seen"].missing_codes == ("30.02.2024", "31.02.2024")


def test_a_release_remembers_how_its_original_is_read(tmp_path: Path) -> None:
    path = table(tmp_path, ["03/04/2024", "05/06/2024", "09/09/2024", "07/08/2024"] * 5)
    la.publish(path, date_format={"seen": "DD/MM/YYYY"}, missing=["age=26"], out=tmp_path / "release", **ROLES)
    audit = la.verify(path, tmp_path / "release")
    assert audit.passed
    assert {'date format in the original of "seen"', 'codes for missing values of "age"'} <= {*audit.grounds.stated}
    assert "2024-04-03" in (tmp_path / "release" / "release.csv").read_text()
    written = la.Schema.load(tmp_path / "release" / "schema.yaml")
    assert (written["seen"].date_format, written["age"].missing_codes) == ("DD/MM/YYYY", ("26",))
    la.publish(path, schema=written, model="k-anonymity:2")


def test_frames_and_tables_take_formats_too() -> None:
    frame = pl.DataFrame({"seen": ["03/04/2024", None, "13/04/2024"], "born": [20240131, 19991231, 20000101]})
    asked = {"seen": "DD/MM/YYYY", "born": "YYYYMMDD"}
    for read in (la.read_table(frame, date_format=asked), la.read_table(frame.lazy(), date_format=asked)):
        assert [str(column.type) for column in read.columns] == ["date", "date"]
        assert read["seen"].n_missing == 1
    with pytest.raises(la.DataError, match=r"1 value does not fit \(row 3\)"):
        la.read_table(frame, date_format={"seen": "MM/DD/YYYY"})
    with pytest.raises(la.SchemaError, match="There is no column"):
        la.read_table(frame, date_format={"sen": "MM/DD/YYYY"})
    plain = la.read_table(frame)
    schema = la.Schema((la.Attribute(name="seen", role=la.Role.QUASI, date_format="DD/MM/YYYY", missing_codes=("x",)),))
    from lookalike.files.tables import read_whole

    again = read_whole(plain, schema, missing={"born": [19991231]})
    assert (again["seen"].type, again["seen"].date_format) == (ValueType.DATE, "DD/MM/YYYY")
    assert again["born"].n_missing == 1


def test_a_person_is_not_ordered_by_texts_that_may_be_dates(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    rows = [
        f"{who},{20 + who},{'flu' if who % 2 else 'cold'},0{1 + who % 9}/0{day}/2024"
        for who in range(20)
        for day in (4, 5)
    ]
    path.write_text("\n".join(["who,age,ill,seen", *rows]) + "\n")
    asked = {"qi": ["age"], "sensitive": "ill", "person": "who", "rows": "linked", "order": "seen"}
    with pytest.raises(la.SchemaError, match='--date-format "seen=DD/MM/YYYY"'):
        la.publish(path, model="k-anonymity:2", **asked)
    assert la.publish(path, model="k-anonymity:2", date_format={"seen": "DD/MM/YYYY"}, **asked).audit.passed


def test_the_same_days_are_read_by_parts(tmp_path: Path) -> None:
    path = table(tmp_path, [f"{1 + place % 28:02}/04/2024" for place in range(2000)])
    made = la.publish(path, part_rows=1000, out=tmp_path / "parts", **ROLES)
    assert la.Schema.load(tmp_path / "parts" / "schema.yaml")["seen"].date_format == "DD/MM/YYYY"
    assert made.audit.passed
    assert la.verify(path, tmp_path / "parts").passed
