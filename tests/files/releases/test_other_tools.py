"""Tables of other tools: every notation, and what is said about cells that nobody can read."""

from __future__ import annotations

import datetime
from pathlib import Path

import polars as pl
import pytest

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.release import Grouped, Ranges, Sets
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError, SchemaError
from lookalike.files.releases.other_tools import from_table
from tests.files.releases.release_forms import column, held
from tests.reading import read_release

AGES = list(range(18, 66))
DAYS = [datetime.date(2024, month, 10) for month in range(1, 13)]


def numbers_from(low: int, high: int) -> set[str]:
    return {str(age) for age in AGES if low <= age <= high}


AGE = (column("x", ValueType.INTEGER, AGES), {})
SIGNED = (column("x", ValueType.INTEGER, [-5, -4, -2, 0, 3]), {})
REAL = (column("x", ValueType.NUMBER, [0.5, 1.0, 1.5, 1000.0]), {})
DATE = (column("x", ValueType.DATE, DAYS), {})
MOMENT = (column("x", ValueType.DATETIME, [datetime.datetime(2024, 1, day, 12) for day in (5, 6, 7)]), {})
ZIP = (column("x", ValueType.STRING, ["13001", "13002", "13101", "14001", "130"]), {"kind": Kind.CATEGORICAL})
TREE = (
    column("x", ValueType.STRING, ["clerk", "mayor", "baker", None]),
    {"taxonomy": {"tree": {"any": {"office": ["clerk", "mayor"], "shop": ["baker"]}}}},
)
ORDER = (column("x", ValueType.STRING, ["low", "mid", "high"]), {"order": ("low", "mid", "high")})
SET = (column("x", ValueType.STRING, ["A", "B", "C d", "20-30", None]), {})
CODED = (column("x", ValueType.INTEGER, [1, 2, 3, 4]), {"kind": Kind.CATEGORICAL})
DECADES = (column("x", ValueType.INTEGER, AGES), {"taxonomy": {"intervals": [10]}})


def day_texts(*months: int) -> set[str]:
    return {f"2024-{month:02d}-10" for month in months}


NOTATIONS = [
    (AGE, "28", {"28"}),
    (AGE, " 28 ", {"28"}),
    (AGE, "28.0", {"28"}),
    (AGE, "*", numbers_from(18, 65)),
    (AGE, "20-30", numbers_from(20, 30)),
    (AGE, "[20..30]", numbers_from(20, 30)),
    (AGE, "[-5..30]", numbers_from(-5, 30)),
    (AGE, "20 - 30", numbers_from(20, 30)),
    (AGE, "20\u201330", numbers_from(20, 30)),
    (AGE, "20..30", numbers_from(20, 30)),
    (AGE, "20 to 30", numbers_from(20, 30)),
    (AGE, "[20, 30]", numbers_from(20, 30)),
    (AGE, "[20, 30)", numbers_from(20, 29)),
    (AGE, "[20, 30[", numbers_from(20, 29)),
    (AGE, "(20,30]", numbers_from(21, 30)),
    (AGE, "]20, 30]", numbers_from(21, 30)),
    (AGE, "(20, 30)", numbers_from(21, 29)),
    (AGE, "[20 - 30]", numbers_from(20, 30)),
    (AGE, "(-inf, 20.0]", numbers_from(18, 20)),
    (AGE, ">=30", numbers_from(30, 65)),
    (AGE, ">30", numbers_from(31, 65)),
    (AGE, "<30", numbers_from(18, 29)),
    (AGE, "<= 30", numbers_from(18, 30)),
    (AGE, "\u226530", numbers_from(30, 65)),
    (AGE, "60+", numbers_from(60, 65)),
    (AGE, "3*", numbers_from(30, 39)),
    (AGE, "*5", {"25", "35", "45", "55", "65"}),
    (AGE, "{20, 30}", {"20", "30"}),
    (AGE, "20|30", {"20", "30"}),
    (AGE, "0-10", set()),
    (AGE, "34.5", set()),
    (AGE, "", numbers_from(18, 65)),
    (AGE, "NA", numbers_from(18, 65)),
    (SIGNED, "-5 to -2", {"-5", "-4", "-2"}),
    (SIGNED, "-5--2", {"-5", "-4", "-2"}),
    (SIGNED, "[-5,-2)", {"-5", "-4"}),
    (SIGNED, "-2", {"-2"}),
    (REAL, "0.5-1.5", {"0.5", "1", "1.5"}),
    (REAL, "(0.5,1.5]", {"1", "1.5"}),
    (REAL, "(1e+02,1e+03]", {"1000"}),
    (REAL, "1.0", {"1"}),
    (DATE, "2024-02-10/2024-04-09", day_texts(2, 3)),
    (DATE, "2024-02-10 to 2024-04-10", day_texts(2, 3, 4)),
    (DATE, "[2024-02-10, 2024-04-10)", day_texts(2, 3)),
    (DATE, "2024-03", day_texts(3)),
    (DATE, "2024-M03", day_texts(3)),
    (DATE, "2024-02-10..2024-04-09", day_texts(2, 3)),
    (DATE, "2024", day_texts(*range(1, 13))),
    (DATE, "2024-1*-**", day_texts(10, 11, 12)),
    (DATE, ">=2024-11-01", day_texts(11, 12)),
    (MOMENT, "2024-01-05/2024-01-06", {"2024-01-05T12:00:00", "2024-01-06T12:00:00"}),
    (MOMENT, "2024-01-05T12:00:00/2024-01-06T11:00:00", {"2024-01-05T12:00:00"}),
    (ZIP, "130**", {"13001", "13002"}),
    (ZIP, "13*", {"130"}),
    (ZIP, "131*", {"13101"}),
    (ZIP, "1*0*1", {"13001", "14001"}),
    (ZIP, "*****", {"13001", "13002", "13101", "14001", "130"}),
    (TREE, "office", {"clerk", "mayor"}),
    (TREE, "any", {"clerk", "mayor", "baker", "(missing)"}),
    (TREE, "*", {"clerk", "mayor", "baker", "(missing)"}),
    (TREE, "{mayor, baker}", {"mayor", "baker"}),
    (TREE, "clerk|baker", {"clerk", "baker"}),
    (TREE, "", {"(missing)"}),
    (ORDER, "low to mid", {"low", "mid"}),
    (ORDER, "mid..high", {"mid", "high"}),
    (ORDER, "low-high", {"low", "mid", "high"}),
    (ORDER, "low|high", {"low", "high"}),
    (SET, "A", {"A"}),
    (SET, "20-30", {"20-30"}),
    (SET, "{A, B}", {"A", "B"}),
    (SET, "{'A', 'C d'}", {"A", "C d"}),
    (SET, "A|B", {"A", "B"}),
    (SET, "A;B", {"A", "B"}),
    (SET, "[A, C d]", {"A", "C d"}),
    (SET, "A|(missing)", {"A", "(missing)"}),
    (SET, "?", {"(missing)"}),
    (SET, "*", {"A", "B", "C d", "20-30", "(missing)"}),
    (CODED, "2-3", {"2", "3"}),
    (CODED, "{1, 4}", {"1", "4"}),
    (CODED, "[1, 4]", {"1", "4"}),
    (CODED, "[1, 4)", {"1", "2", "3"}),
    (AGE, "20,30", {"20", "30"}),
    (DECADES, "20-29", numbers_from(20, 29)),
    (DECADES, "20..29", numbers_from(20, 29)),
    (DECADES, "[25, 35)", numbers_from(25, 34)),
    (DECADES, "3*", numbers_from(30, 39)),
]


def encoded(original: Column, attribute: dict) -> Microdata:
    secret = column("s", ValueType.STRING, ["a"] * len(original.codes))
    schema = Schema((Attribute(name="x", role=Role.QUASI, **attribute), Attribute(name="s", role=Role.SENSITIVE)))
    return Microdata.encode(Table((original, secret)), schema)


def foreign(cells: list[str | None], data: Microdata, notes: list[str] | None = None) -> Grouped:
    secrets = column("s", ValueType.STRING, ["a"] * len(cells))
    table = Table((column("x", ValueType.STRING, cells), secrets))
    return from_table(table, data, suppressed=0, note=([] if notes is None else notes).append)


@pytest.mark.parametrize(("original", "cell", "values"), NOTATIONS)
def test_notations(original: tuple, cell: str, values: set[str]) -> None:
    data = encoded(*original)
    release = foreign([cell], data)
    (domain,) = data.domains.quasi
    texts = [*domain.texts, "(missing)"]
    ((codes, _),) = held(release.tables()[0].columns[0])
    assert {texts[code] for code in codes} == values


@pytest.mark.parametrize(
    ("original", "cell"),
    [
        (AGE, "thirty"),
        (AGE, "30-20"),
        (AGE, "[20"),
        (AGE, "9*"),
        (SET, "D"),
        (SET, "{A, D}"),
        (ZIP, "99***"),
        (TREE, "Office"),
        (ORDER, "mid to low"),
        (DATE, "2024-13"),
        (DATE, "2024-02-30/2024-04-10"),
    ],
)
def test_cells_that_nobody_can_read(original: tuple, cell: str) -> None:
    data = encoded(*original)
    with pytest.raises(DataError, match=r'column "x" has 1 cell .* on line 4: .*Understood are') as caught:
        foreign(["*", "*", cell, cell], data)
    assert cell in str(caught.value)


def test_printed_ends_are_kept_for_measuring() -> None:
    release = foreign(["[20, 30)", ">=60", "20-30"], encoded(*AGE))
    (extents,) = release.extents
    assert isinstance(extents, Ranges)
    ends = {(low, high) for low, high in zip(extents.low_points, extents.high_points, strict=True)}
    assert ends == {(20.0, 30.0), (60.0, 65.0)}
    assert len(extents) == 3


def test_columns_of_runs_are_ranges_and_others_sets() -> None:
    assert isinstance(foreign(["office", "*"], encoded(*TREE)).extents[0], Ranges)
    assert isinstance(foreign(["office", "clerk|baker"], encoded(*TREE)).extents[0], Sets)
    assert isinstance(foreign(["A"], encoded(*SET)).extents[0], Sets)


def test_empty_cells_mean_anything_where_nothing_is_missing() -> None:
    notes: list[str] = []
    foreign([None, "20-30"], encoded(*AGE), notes)
    assert any("any value" in note for note in notes)


def test_rows_that_are_stars_throughout_count_as_suppressed() -> None:
    data = encoded(*SET)
    table = Table((column("x", ValueType.STRING, ["A", "*", "*"]), column("s", ValueType.STRING, ["a", "a", "*"])))
    notes: list[str] = []
    release = from_table(table, data, suppressed=2, note=notes.append)
    assert release.n_rows == 2
    assert release.withheld.n_suppressed == 3
    assert [counts.tolist() for counts in release.withheld.suppressed] == [[3]]
    assert any("1 row" in note for note in notes)


def test_rows_with_the_same_cells_are_a_group() -> None:
    release = foreign(["20-30", "31-40", "20-30", "20 to 30"], encoded(*AGE))
    assert release.group_of_row[0] == release.group_of_row[2]
    assert len(set(release.group_of_row.tolist())) == 3


def test_an_unknown_sensitive_value() -> None:
    data = encoded(*SET)
    table = Table((column("x", ValueType.STRING, ["A", "A"]), column("s", ValueType.STRING, ["a", "z"])))
    with pytest.raises(DataError, match='"s" holds 1 value that the original does not have'):
        from_table(table, data, suppressed=0, note=[].append)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_of_other_tools(tmp_path: Path, ending: str) -> None:
    """Semicolons and half-open intervals as ARX writes them; the same table as Parquet."""
    table = Table(
        (
            column("age", ValueType.INTEGER, [21, 25, 34, 38]),
            column("zip", ValueType.STRING, ["01234", "01299", "01234", "05000"]),
            column("sex", ValueType.STRING, ["F", "M", "F", "M"]),
            column("s", ValueType.INTEGER, [1, 2, 1, 2]),
        )
    )
    data = Microdata.encode(table, Schema.of(qi=["age", "zip", "sex"], sensitive=["s"]))
    frame = pl.DataFrame(
        {
            "id": [9, 8, 7, 6],
            "s": [1, 2, 1, 2],
            "sex": ["*"] * 4,
            "zip": ["012**", "012**", "01234", "05000"],
            "age": ["[20, 30[", "[20, 30[", "[30, 40[", "[30, 40["],
        }
    )
    path = tmp_path / f"other.{ending}"
    if ending == "csv":
        frame.write_csv(path, separator=";")
    else:
        frame.write_parquet(path)
    notes: list[str] = []
    release, manifest = read_release(path, data, note=notes.append)
    assert manifest is None
    assert isinstance(release, Grouped)
    assert any('"id"' in note for note in notes)
    cells = release.tables()[0].columns
    assert [codes for codes, _ in held(cells[0])] == [{0, 1}, {0, 1}, {2, 3}, {2, 3}]
    assert [codes for codes, _ in held(cells[1])] == [{0, 1}, {0, 1}, {0}, {2}]
    assert held(cells[3]) == [0, 1, 0, 1]


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    data = encoded(*SET)
    (tmp_path / "other.csv").write_text("x,t\nA,a\n")
    with pytest.raises(SchemaError, match='no column "s"'):
        read_release(tmp_path / "other.csv", data)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        read_release(tmp_path / "nothing.csv", encoded(*SET))


def test_a_table_that_is_blanked_out_altogether() -> None:
    data = encoded(*SET)
    table = Table((column("x", ValueType.STRING, ["*"]), column("s", ValueType.STRING, ["*"])))
    with pytest.raises(DataError, match="no row with a value"):
        from_table(table, data, suppressed=0, note=[].append)
