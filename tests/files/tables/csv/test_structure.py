"""Records held against the first: errors with lines, and blocks that do not depend on where the bytes were cut."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.errors import DataError
from lookalike.files.tables.csv import structure
from lookalike.files.tables.csv.dialect import Dialect
from lookalike.files.tables.csv.structure import Block, Records, StrayQuote

PLAIN = Dialect(delimiter=",", quote='"', header=True)
GUESSED = Dialect(delimiter=",", quote='"', header=True, quote_guessed=True)
UNQUOTED = Dialect(delimiter=",", quote=None, header=True)
PADDED = Dialect(delimiter=",", quote='"', header=True, padded=True)
HEADLESS = Dialect(delimiter=",", quote='"', header=False)


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[start : start + size] for start in range(0, len(data), size))


def scanned(data: bytes, dialect: Dialect = PLAIN, size: int = 1000) -> tuple[list[str], bytes, list[Block]]:
    records = Records(cut(data, size), dialect, "t.csv")
    blocks = list(records)
    return records.first, b"".join(block.data for block in blocks), blocks


def message(data: bytes, dialect: Dialect = PLAIN, size: int = 1000) -> str:
    with pytest.raises(DataError) as caught:
        scanned(data, dialect, size)
    return str(caught.value)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 1000])
@pytest.mark.parametrize(
    ("data", "plain"),
    [
        (b"a,b\n1,2\n3,4\n", b"1,2\n3,4\n"),
        (b"a,b\n1,2\n3,4", b"1,2\n3,4\n"),
        (b"a,b\r\n1,2\r\n3,4\r\n", b"1,2\n3,4\n"),
        (b"a,b\n\n1,2\n\r\n  \n3,4\n\n\n", b"1,2\n3,4\n"),
        (b"\n\na,b\n1,2\n", b"1,2\n"),
        (b'a,b\n"1,\n""",2\n', b'"1,\n""",2\n'),
        (b'a,b\r\n"x\r\ny",2\r\n', b'"x\r\ny",2\n'),
        (b'a,b\n1,  "x, y"  \n "z" ,3\n', b'1,"x, y"\n"z",3\n'),
        (b"a,b\n,\n", b",\n"),
        (b"a,b\n", b""),
    ],
)
def test_what_is_handed_on_is_plain(data: bytes, plain: bytes, size: int) -> None:
    first, found, blocks = scanned(data, size=size)
    assert first == ["a", "b"]
    assert found == plain
    assert sum(block.n_records for block in blocks) == len(list(csv.reader(io.StringIO(plain.decode(), newline=""))))


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_in_one_column_a_blank_line_is_a_value_except_at_the_end(size: int) -> None:
    assert scanned(b"a\n\nx\n\n\ny\n\n\n", size=size)[1] == b"\nx\n\n\ny\n"
    assert scanned(b"a\r\n\r\nx\r\n\r\n", size=size)[1] == b"\nx\n"


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_padding_is_dropped_outside_quotes_only(size: int) -> None:
    assert scanned(b'a, b\n1,   x y\n2, " z, w"\n', PADDED, size)[1] == b'1,x y\n2," z, w"\n'


def test_without_a_header_the_first_record_is_data() -> None:
    first, plain, _ = scanned(b"1,2\n3,4\n", HEADLESS)
    assert first == ["1", "2"]
    assert plain == b"1,2\n3,4\n"


def test_nothing_but_blank_lines_has_no_first_record() -> None:
    assert scanned(b"\n\r\n\n", size=1)[:2] == ([], b"")
    assert scanned(b"")[:2] == ([], b"")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_too_few_and_too_many_fields_name_the_line(size: int) -> None:
    said = message(b"a,b,c\n1,2,3\n4,5\n", size=size)
    assert "line 3 has 2 fields, the header has 3" in said
    assert "Add the fields" in said
    said = message(b"a,b\n1,2\n\n4,5,6\n", size=size)
    assert "line 4 has 3 fields, the header has 2" in said
    assert "Quote the field" in said
    assert "line 2 has 1 field, the first line has 2" in message(b"1,2\n3\n", HEADLESS, size)


def test_uneven_records_that_even_out_are_found() -> None:
    assert "line 2 has 3 fields" in message(b"a,b\n1,2,3\n4\n")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_lines_are_counted_inside_quotes_too(size: int) -> None:
    assert "line 5 has 1 field" in message(b'a,b\n"x\n\ny",1\nz\n', size=size)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_quote_never_closed_names_the_line_it_opens_on(size: int) -> None:
    assert "quote that opens on line 3 is never closed" in message(b'a,b\n1,2\n3,"x\n5,6\n', size=size)
    assert "quote that opens on line 2 is never closed" in message(b'a,b\n3,"x""y\n5,6\n', size=size)


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_missing_closing_quote_names_both_lines(size: int) -> None:
    said = message(b'a,b\n"p","q"\n"r","s\n"t","u"\n', size=size)
    assert "opens on line 3" in said
    assert "closing quote on line 4" in said
    assert "opens on line 2" in message(b'a,b\n"x \\"y\\" z",1\n', size=size)


def test_text_beside_a_quoted_field_is_refused() -> None:
    assert "followed by text" in message(b'a,b\n"x" y,1\n')
    assert "followed by text" in message(b'a,b\n"x" "y",1\n')
    assert "line 2 has a quote in the middle" in message(b'a,b\nx "y",1\n')


def test_a_stray_quote_is_only_forgivable_if_quotes_were_guessed_and_none_was_one() -> None:
    data = b'a,b\n5" pipe,1\n'
    with pytest.raises(StrayQuote):
        scanned(data, GUESSED)
    with pytest.raises(DataError) as caught:
        scanned(data, PLAIN)
    assert not isinstance(caught.value, StrayQuote)
    with pytest.raises(DataError) as caught:
        scanned(b'a,b\n"x",1\n5" pipe,1\n', GUESSED)
    assert not isinstance(caught.value, StrayQuote)
    assert "line 3" in str(caught.value)


def test_read_without_quotes_no_field_may_begin_with_one() -> None:
    guessed = Dialect(delimiter=",", quote=None, header=True, quote_guessed=True)
    assert scanned(b'a,b\n5" pipe,1\n', guessed)[1] == b'5" pipe,1\n'
    assert "line 3 has a quoted field" in message(b'a,b\n5",1\n"x",2\n', guessed)
    assert "line 3 has a quoted field" in message(b'a,b\n5",1\n2,"x"\n', guessed)
    assert scanned(b'a,b\n"x,1\n', UNQUOTED)[1] == b'"x,1\n'


def test_a_record_without_end_is_refused_before_memory_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "LONGEST_RECORD", 1 << 20)
    blocks = [b'a,b\n1,"', *[b"x,y\n" * 100_000] * 10]
    with pytest.raises(DataError, match="record that begins on line 2 goes on"):
        list(Records(iter(blocks), PLAIN, "t.csv"))


def test_no_message_shows_a_value() -> None:
    for data in (b"a,b\nsecret\n", b'a,b\n"secret" secret,1\n', b'a,b\nsecret"secret,1\n', b'a,b\n"secret,1\n'):
        assert "secret" not in message(data)


@given(st.lists(st.booleans(), max_size=300))
def test_parity_is_that_of_a_running_sum(marks: list[bool]) -> None:
    mask = np.array(marks, dtype=np.bool_)
    assert structure._odd_so_far(mask).tolist() == (np.cumsum(mask) % 2 == 1).tolist()


cells = st.text(alphabet="a\",\n\r 'é;", max_size=5)


@given(
    st.lists(st.lists(cells, min_size=3, max_size=3), max_size=6),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.integers(1, 40),
)
def test_any_cut_gives_the_same_records_and_lines(rows: list[list[str]], quoting: int, size: int) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=quoting)  # type: ignore[arg-type]
    writer.writerow(["a", "b", "c"])
    lines = []
    for row in rows:
        lines.append(out.getvalue().count("\n") + 1)
        writer.writerow(row)
    first, plain, blocks = scanned(out.getvalue().encode(), PLAIN, size)
    assert first == ["a", "b", "c"]
    assert list(csv.reader(io.StringIO(plain.decode(), newline=""))) == rows
    assert [block.line_of(record) for block in blocks for record in range(block.n_records)] == lines


def test_a_giant_field_is_refused_by_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "LONGEST_FIELD", 100)
    dialect = Dialect(delimiter=",", quote='"', header=True)
    wide = b"a,b\n1," + b"x" * 90 + b"\n" + b"y" * 60 + b"," + b"z" * 60 + b"\n"
    assert sum(block.n_records for block in Records([wide], dialect, "x.csv")) == 2
    with pytest.raises(DataError, match="a field on line 4 is longer than"):
        list(Records([wide + b'1,"' + b"x" * 101 + b'"\n'], dialect, "x.csv"))


def test_a_giant_header_is_refused() -> None:
    dialect = Dialect(delimiter=",", quote='"', header=True)
    with pytest.raises(DataError, match="line 1 has 100,002 fields .* more than the 100,000 that can be read"):
        Records([b"a," * 100_001 + b"a\n"], dialect, "x.csv")
