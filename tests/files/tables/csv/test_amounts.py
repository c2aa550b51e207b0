"""Numbers as people write them: read where they can mean one thing only, else left as text."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import lookalike as la
from lookalike.data.schema import ValueType
from lookalike.files.tables.csv.amounts import parse_amounts

READ = {
    "dollars": (["$1,234.50", "$85", "$0.99"], [1234.5, 85, 0.99]),
    "a currency has no thousandths": (["$85,123", "$91,000"], [85123, 91000]),
    "euros after": (["1.234,50 \u20ac", "85,00 \u20ac"], [1234.5, 85]),
    "euros by code": (["EUR 1.234", "EUR 12"], [1234, 12]),
    "pounds below nothing": (["-\u00a35.10", "\u00a31,000.00", "\u00a3-2"], [-5.1, 1000, -2]),
    "per cent": (["45 %", "7.5%", "100%"], [45, 7.5, 100]),
    "points and a comma": (["1.234,5", "12"], [1234.5, 12]),
    "several commas": (["1,234,567", "12,345"], [1234567, 12345]),
    "apostrophes": (["12'345", "1\u2019000.50"], [12345, 1000.5]),
    "narrow spaces": (["12\u202f345", "999"], [12345, 999]),
    "brackets": (["(12.50)", "3.25"], [-12.5, 3.25]),
    "brackets around a currency": (["($1,200)", "$3"], [-1200, 3]),
    "a true minus sign": (["\u22125.5", "2"], [-5.5, 2]),
}
LEFT = {
    "thousands or decimals": ["85,123", "91,456"],
    "two currencies": ["$5", "\u20ac5"],
    "a currency only here and there": ["$5", "5"],
    "zeros in front": ["$05", "$10"],
    "telephones": ["79 456 123", "310 456 123"],
    "numbers of persons": ["79.456.123", "1.030.456.123"],
    "addresses of computers": ["192.168.100.200", "192.168.1.1"],
    "two signs": ["-$-5", "$5"],
    "an open bracket": ["(5", "(6)"],
    "more digits than a number holds": ["$1,234,567,890,123,456.5", "$2"],
    "words": ["$", "none"],
    "plus signs": ["+43123456", "+4312345"],
    "nothing": [],
}


@pytest.mark.parametrize("case", READ)
def test_amounts_are_read(case: str) -> None:
    texts, numbers = READ[case]
    read = parse_amounts(pl.Series(texts, dtype=pl.String))
    assert read.fits.all()
    assert read.values.tolist() == numbers
    assert read.are_whole == all(float(number).is_integer() for number in numbers)
    assert "numbers were read" in read.note


@pytest.mark.parametrize("case", LEFT)
def test_what_could_mean_two_things_stays_text(case: str) -> None:
    assert not parse_amounts(pl.Series(LEFT[case], dtype=pl.String)).fits.any()


def test_tables_with_amounts_are_read_alike_with_and_without_a_declared_type(tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    path.write_text('age,salary,bonus\n30,"$1,234.50",5 %\n40,$85.00,NA\n')
    table = la.read_table(path)
    assert [column.type for column in table.columns] == [ValueType.INTEGER, ValueType.NUMBER, ValueType.INTEGER]
    assert table["salary"].values.tolist() == [85, 1234.5]
    assert 'Column "salary": numbers were read without $, with commas before thousands.' in " ".join(table.notes)
    asked = la.read_table(path, types={"salary": "number", "bonus": "integer"})
    assert asked["salary"].values.tolist() == [85, 1234.5]
    assert asked["bonus"].values.tolist() == [5]
    assert la.read_table(path, types={"salary": "string"})["salary"].type is ValueType.STRING
