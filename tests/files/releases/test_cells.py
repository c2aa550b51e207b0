"""Cells as text and back."""

from __future__ import annotations

import re
from datetime import date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import ExtentCells, Ranges, Sets, cover
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import DataError
from lookalike.files.releases.assemble import DomainIndex, assemble_extents
from lookalike.files.releases.cells import (
    Encoding,
    escape_member,
    lay_out,
    parse_cells,
    plain_escape,
    plain_unescape,
    print_cells,
    range_pattern,
    unescape_member,
)
from tests.examples import examples
from tests.files.releases.release_forms import column, held, microdata, nasty_texts


def one_column(type: ValueType, cells: list, **attribute) -> Microdata:
    table = Table((column("x", type, cells),))
    return Microdata.encode(table, Schema((Attribute(name="x", role=Role.QUASI, **attribute),)))


def one_unit(data: Microdata) -> ExtentCells:
    """All records of the table in one cell."""
    (domain,) = data.domains.quasi
    return ExtentCells(domain, cover(domain, data.quasi[:, 0], np.zeros(data.n_rows, dtype=int), 1), np.zeros(1, int))


def printed(cells: ExtentCells) -> list[str | None]:
    field, entries, _ = lay_out(cells)
    return print_cells(field, entries).to_list()


@pytest.mark.parametrize(
    ("type", "cells", "attribute", "text"),
    [
        (ValueType.INTEGER, [28, 39], {}, "28..39"),
        (ValueType.INTEGER, [28, 28], {}, "28"),
        (ValueType.INTEGER, [-5, -2], {}, "[-5..-2]"),
        (ValueType.INTEGER, [-5, 3], {}, "[-5..3]"),
        (ValueType.INTEGER, [28, None, 39], {}, "28..39|(missing)"),
        (ValueType.INTEGER, [28, None], {}, "28|(missing)"),
        (ValueType.INTEGER, [None, None], {}, None),
        (ValueType.INTEGER, [2**53 + 1, 2**53], {}, "9007199254740992..9007199254740993"),
        (ValueType.NUMBER, [0.1, 1e-7], {}, "0.0000001..0.1"),
        (ValueType.STRING, ["b", "a"], {"size": 9}, "*"),
        (ValueType.STRING, ["a"], {}, "a"),
        (ValueType.STRING, ["a", None], {"values": ("a", "b")}, "a|(missing)"),
        (ValueType.STRING, ["b|c", "*", "\\"], {"values": ("z", "b|c", "*", "\\")}, "b\\|c|\\*|\\\\"),
        (ValueType.STRING, ["mid", "low"], {"order": ("low", "mid", "high")}, "low to mid"),
        (ValueType.STRING, ["to", "a to"], {"order": ("a to", "to")}, "a \\to to \\to"),
        (ValueType.STRING, ["130", "131", "145"], {"taxonomy": {"prefixes": [2, 1]}}, "1**"),
        (ValueType.STRING, [None], {"taxonomy": {"prefixes": [2, 1]}}, None),
        (ValueType.BOOLEAN, [True], {}, "true"),
    ],
)
def test_print(type: ValueType, cells: list, attribute: dict, text: str | None) -> None:
    assert printed(one_unit(one_column(type, cells, **attribute))) == [text]


def test_dates_print_as_iso_intervals() -> None:
    days = one_column(ValueType.DATE, [date(2024, 1, 5), date(2024, 2, 10)])
    assert printed(one_unit(days)) == ["2024-01-05..2024-02-10"]
    moments = one_column(ValueType.DATETIME, [datetime(2024, 1, 5, 7, 30), datetime(2024, 1, 5, 8)])
    assert printed(one_unit(moments)) == ["2024-01-05T07:30:00..2024-01-05T08:00:00"]


def test_part_of_the_domain_is_spelled_out() -> None:
    data = one_column(ValueType.STRING, ["a", "b", "c", None])
    (domain,) = data.domains.quasi
    sets = Sets(np.array([0, 2, 5, 9]), np.array([0, 2, 0, 1, 2, 0, 1, 2, 3], dtype=np.int32))
    cells = ExtentCells(domain, sets, np.arange(3, dtype=np.int32))
    assert printed(cells) == ["a|c", "a|b|c", "*"]
    _, entries, _ = lay_out(cells)
    assert entries.to_list()[2] == {"values": [], "missing": True, "any": True}


def test_a_run_that_is_no_node_is_spelled_out() -> None:
    data = one_column(ValueType.STRING, ["130", "131", "145"], taxonomy={"prefixes": [2, 1]})
    (domain,) = data.domains.quasi
    run = Ranges.of(domain, np.array([1], dtype=np.int32), np.array([2], dtype=np.int32))
    field, entries, _ = lay_out(ExtentCells(domain, run, np.zeros(1, dtype=np.int32)))
    assert field.encoding is Encoding.SET
    assert print_cells(field, entries).to_list() == ["131|145"]


def test_ends_that_no_record_has_are_kept() -> None:
    data = one_column(ValueType.INTEGER, [21, 28])
    (domain,) = data.domains.quasi
    rounded = Ranges(
        np.array([0, 1], dtype=np.int32),
        np.array([1, 0], dtype=np.int32),
        np.zeros(2, dtype=bool),
        np.array([20.0, 22.0]),
        np.array([29.5, 23.0]),
    )
    cells = ExtentCells(domain, rounded, np.arange(2, dtype=np.int32))
    field, entries, _ = lay_out(cells)
    assert field.type is ValueType.NUMBER
    assert print_cells(field, entries).to_list() == ["20..29.5", "22..23"]


def test_a_cell_without_values_is_refused() -> None:
    data = one_column(ValueType.STRING, ["a", "b"])
    empty = Sets(np.array([0, 0]), np.empty(0, dtype=np.int32))
    with pytest.raises(DataError, match="holds no value"):
        lay_out(ExtentCells(data.domains.quasi[0], empty, np.zeros(1, dtype=np.int32)))


@given(nasty_texts)
def test_escapes_are_undone(text: str) -> None:
    assert unescape_member(escape_member(text)) == text
    assert plain_unescape(plain_escape(text)) == text
    assert plain_escape(text) not in ("", "(missing)")
    assert escape_member(text) not in ("", "*", "(missing)")


@settings(max_examples=examples(300))
@given(microdata())
def test_every_extent_survives_its_text(data: Microdata) -> None:
    unit_of_record = np.arange(data.n_rows) // 2
    for attr, domain in enumerate(data.domains.quasi):
        extents = cover(domain, data.quasi[:, attr], unit_of_record, int(unit_of_record[-1]) + 1)
        cells = ExtentCells(domain, extents, np.arange(len(extents), dtype=np.int32))
        field, entries, _ = lay_out(cells)
        texts = print_cells(field, entries)
        index = DomainIndex(domain)
        again = assemble_extents(
            index, [parse_cells(field, index, text) for text in texts], as_sets=field.encoding is Encoding.SET
        )
        assert held(ExtentCells(domain, again, cells.unit_of_row)) == held(cells)
        if field.encoding is Encoding.RANGE:
            assert all(text is None or re.fullmatch(range_pattern(field.type), text) for text in texts)


LIKE_A_DATE_A_NUMBER_OR_A_FORMULA = re.compile(r"[-=+@].*|[0-9]*[-/ .:,]?[0-9a-zA-Z]+[-/ .:,]?[0-9]*")
"""What spreadsheets are known to change: 9-10, 9/10, 2024-03, 9.10, 9:10, MAR1, 1e5, and what begins like a formula."""


@settings(max_examples=examples(200))
@given(microdata())
def test_what_stands_for_several_values_is_left_alone_by_spreadsheets(data: Microdata) -> None:
    unit_of_record = np.arange(data.n_rows) // 3
    for attr, domain in enumerate(data.domains.quasi):
        extents = cover(domain, data.quasi[:, attr], unit_of_record, int(unit_of_record[-1]) + 1)
        field, entries, _ = lay_out(ExtentCells(domain, extents, np.arange(len(extents), dtype=np.int32)))
        if field.encoding is Encoding.RANGE:
            several = (entries.struct.field("low") != entries.struct.field("high")).fill_null(False)
            for text in print_cells(field, entries).filter(several):
                assert not LIKE_A_DATE_A_NUMBER_OR_A_FORMULA.fullmatch(text.removesuffix("|(missing)"))
    assert LIKE_A_DATE_A_NUMBER_OR_A_FORMULA.fullmatch("9-10")


@pytest.mark.parametrize(
    ("type", "cells", "attribute", "text"),
    [
        (ValueType.INTEGER, [28, 39], {}, "28-39"),
        (ValueType.INTEGER, [-5, -2], {}, "-5 to -2"),
        (ValueType.INTEGER, [28, None, 39], {}, "28-39|(missing)"),
        (ValueType.DATE, [date(2024, 1, 5), date(2024, 2, 10)], {}, "2024-01-05/2024-02-10"),
        (ValueType.INTEGER, [-3, -7], {"taxonomy": {"intervals": [10]}}, "-10--1"),
        (ValueType.INTEGER, [13, 14], {"taxonomy": {"intervals": [10]}}, "10-19"),
        (ValueType.DATE, [date(2024, 1, 5), date(2024, 1, 7)], {"taxonomy": {"dates": ["month"]}}, "2024-01"),
    ],
)
def test_cells_of_the_first_version_are_written_and_read(
    type: ValueType, cells: list, attribute: dict, text: str
) -> None:
    unit = one_unit(one_column(type, cells, **attribute))
    field, entries, _ = lay_out(unit, old=True)
    assert field.encoding is (Encoding.NODE if attribute else Encoding.INTERVAL)
    assert print_cells(field, entries).to_list() == [text]
    index = DomainIndex(unit.domain)
    again = assemble_extents(index, [parse_cells(field, index, text)])
    assert held(ExtentCells(unit.domain, again, unit.unit_of_row)) == held(unit)


@pytest.mark.parametrize(
    ("type", "cells", "attribute", "text", "error"),
    [
        (ValueType.INTEGER, [1, 9], {}, "9..1", ValueError),
        (ValueType.INTEGER, [1, 9], {}, "one", ValueError),
        (ValueType.INTEGER, [1, 9], {}, "1..9|2", ValueError),
        (ValueType.INTEGER, [1, 9], {}, "1..9|(missing)", KeyError),
        (ValueType.INTEGER, [1, 9], {}, None, KeyError),
        (ValueType.STRING, ["a", "b"], {}, "a|c", KeyError),
        (ValueType.STRING, ["a", "b"], {}, "a||b", ValueError),
        (ValueType.STRING, ["a", "b"], {}, "a|(missing)", KeyError),
        (ValueType.STRING, ["a", "b"], {"order": ("a", "b")}, "b to a", ValueError),
        (ValueType.STRING, ["130", "131"], {"taxonomy": {"prefixes": [2]}}, "14*", KeyError),
    ],
)
def test_wrong_cells_are_told(type: ValueType, cells: list, attribute: dict, text: str | None, error: type) -> None:
    data = one_column(type, cells, **attribute)
    field, _, _ = lay_out(one_unit(data))
    with pytest.raises(error):
        parse_cells(field, DomainIndex(data.domains.quasi[0]), text)


def test_a_hundred_thousand_rows_are_formatted_once_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of Python-level formatting steps follows the distinct values, not the rows."""
    from lookalike.files.releases import cells as module

    calls = []
    monkeypatch.setattr(module, "escape_member", lambda text: calls.append(text) or escape_member(text))
    data = one_column(ValueType.STRING, [f"v{row % 7}" for row in range(100_000)])
    (domain,) = data.domains.quasi
    sets = Sets(np.arange(100_001, dtype=np.int64), data.quasi[:, 0])
    texts = printed(ExtentCells(domain, sets, np.arange(100_000, dtype=np.int32)))
    assert len(calls) == 7
    assert texts[:8] == [f"v{row % 7}" for row in range(8)]


def test_ordered_numbers_print_their_ends() -> None:
    data = one_column(ValueType.INTEGER, [3, 1, 2], kind=Kind.ORDERED)
    assert printed(one_unit(data)) == ["1 to 3"]


def test_exact_values_keep_their_types() -> None:
    from lookalike.data.release import ExactCells

    data = one_column(ValueType.INTEGER, [3, None])
    (domain,) = data.domains.quasi
    field, entries, rows = lay_out(ExactCells(domain, data.quasi[:, 0], Role.QUASI))
    assert entries.dtype == pl.Int64
    assert entries.gather(rows).to_list() == [3, None]
    assert print_cells(field, entries).gather(rows).to_list() == ["3", None]
