"""Every record of a CSV file held against the first: the same number of fields, every quote closed.

A block of bytes is scanned as arrays: a byte is inside quotes if an odd number of quotes is before it, records
end at line feeds outside quotes, fields at delimiters outside quotes. That is exact as long as quotes stand only
where a field begins or ends (or doubled inside one), which is checked first. What is handed on is plain: whole records,
no blank lines, lines ending in a line feed, no spaces around quotes. Cost: a few array passes per block; one block
and the record it breaks off in are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import DataError, counted
from lookalike.files.tables.csv.dialect import FOR_SPREADSHEETS, Dialect, split_records
from lookalike.files.tables.formats import LONGEST_FIELD, MOST_FIELDS

Bytes = NDArray[np.uint8]
Places = NDArray[np.int64]
Mask = NDArray[np.bool_]

LONGEST_RECORD = 64 << 20
_LF, _CR, _SPACE = 10, 13, 32
_FIRST_LINES = 3
"""Where a record with more fields than the header speaks of a title above the true header."""


class StrayQuote(DataError):
    """A quote in the middle of a field, in a file in which no field so far was quoted."""


@dataclass(frozen=True, eq=False)
class Block:
    """Whole records as plain CSV (line feeds, no header, no blank lines)."""

    data: bytes
    n_records: int
    first_line: int
    _starts: Places
    _breaks: Places

    def line_of(self, record: int) -> int:
        """The line of the file on which a record of this block begins."""
        return self.first_line + int(np.searchsorted(self._breaks, self._starts[record]))


class Records:
    """The records of a file, block by block; `first` is the first one, field by field.

    >>> records = Records([b"a,b\\n1,2\\n\\n3,", b"4"], Dialect(delimiter=",", quote='"', header=True), "x.csv")
    >>> records.first, [(block.data, block.n_records) for block in records]
    (['a', 'b'], [(b'1,2\\n', 1), (b'3,4\\n', 1)])
    """

    def __init__(self, blocks: Iterable[bytes], dialect: Dialect, source: str) -> None:
        self._dialect = dialect
        self._source = source
        self._quoted_before = False
        self._line = 1
        self._delimiter = ord(dialect.delimiter)
        self._quote = ord(dialect.quote) if dialect.quote else None
        self._parts = self._whole_records(iter(blocks))
        self.first: list[str] = []
        self.n_fields = 0
        self._first_block = next(self._parts, None)

    def __iter__(self) -> Iterator[Block]:
        if self._first_block is not None:
            yield self._first_block
            self._first_block = None
        yield from self._parts

    def _whole_records(self, blocks: Iterator[bytes]) -> Iterator[Block]:
        rest = b""
        at_end = False
        while not at_end:
            block = next(blocks, None)
            at_end = block is None
            data = rest + (block or b"")
            if self._dialect.bare_returns:
                data = data.replace(b"\r", b"\n")
            if at_end and data and not data.endswith(b"\n"):
                data += b"\n"
            used, scanned = self._scan(data, at_end)
            rest = data[used:]
            if scanned is not None:
                yield scanned
            if len(rest) > LONGEST_RECORD:
                raise self._error(
                    f"the record that begins on line {self._line} goes on for more than {LONGEST_RECORD >> 20} MB. "
                    "Look for a quote that is opened there and not closed."
                )

    def _scan(self, data: bytes, at_end: bool) -> tuple[int, Block | None]:
        """How many bytes belong to whole records, and these records."""
        buffer: Bytes = np.frombuffer(data, dtype=np.uint8)
        breaks = np.flatnonzero(buffer == _LF)
        is_delimiter = buffer == self._delimiter
        ends = breaks
        drops: list[Places] = []
        if self._quote is not None and chr(self._quote).encode() in data:
            is_quote = buffer == self._quote
            inside = _odd_so_far(is_quote)
            drops = self._check_quotes(buffer, is_quote, inside, is_delimiter, at_end)
            ends = breaks[~inside[breaks]]
            np.greater(is_delimiter, inside, out=is_delimiter)
        elif self._quote is None and self._dialect.quote_guessed:
            self._check_unquoted(data)
        if len(ends) == 0:
            return 0, None
        starts = np.concatenate(([0], ends[:-1] + 1))
        delimiters = np.flatnonzero(is_delimiter[: ends[-1]])
        kept = np.ones(len(ends), dtype=np.bool_)
        if self.n_fields == 0:
            found = self._take_first(data, starts, ends, delimiters)
            if found is None:  # nothing but blank lines so far
                self._line += len(breaks)
                return int(ends[-1]) + 1, None
            kept[: found + self._dialect.header] = False
        if int((ends - starts).max()) > LONGEST_FIELD:
            self._refuse_long_fields(buffer, ends, delimiters)
        if not self._is_even(ends, delimiters):
            kept &= ~self._blank_records(buffer, starts, ends, delimiters, kept)
        if self.n_fields == 1:
            # A blank line is a missing value here, except at the end: those wait for what follows.
            written = np.flatnonzero(~_are_empty(buffer, starts, ends))
            if len(written) == 0:
                return 0, None
            n_written = int(written[-1]) + 1
            starts, ends, kept = starts[:n_written], ends[:n_written], kept[:n_written]
        if b"\r\n" in data:
            drops.append(ends[(ends > 0) & (buffer[ends - 1] == _CR)] - 1)
        if self._dialect.padded:
            drops.append(_spaces_from(buffer, delimiters + 1, 1))
        used = int(ends[-1]) + 1
        plain = _drop_bytes(buffer[:used], drops, starts, ends, kept)
        block = Block(plain, int(np.count_nonzero(kept)), self._line, starts[kept], breaks)
        self._line += int(np.searchsorted(breaks, used))
        return used, block

    def _take_first(self, data: bytes, starts: Places, ends: Places, delimiters: Places) -> int | None:
        """Read the first record that is not blank, and say which it is."""
        for record, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            text = data[start : end + 1].decode("utf-8")
            if not text.strip(" \t\r\n") and self._dialect.delimiter not in text:
                continue
            if FOR_SPREADSHEETS.fullmatch(text) and self._line + record == 1:
                continue
            self.n_fields = 1 + int(np.searchsorted(delimiters, end) - np.searchsorted(delimiters, start))
            if self.n_fields > MOST_FIELDS:
                raise self._error(
                    f"line {self._line + record} has {self.n_fields:,} fields (separated by "
                    f"{self._dialect.delimiter!r}), more than the {MOST_FIELDS:,} that can be read. Look whether rows "
                    "and columns were exchanged, or line ends were lost."
                )
            first = split_records(text, self._dialect.delimiter, self._dialect.quote)
            self.first = first[0] if first else [""]
            if len(self.first) != self.n_fields:
                raise self._error(f"line {self._line + record} could not be split into fields. Look at its quotes.")
            return record
        return None

    def _refuse_long_fields(self, buffer: Bytes, ends: Places, delimiters: Places) -> None:
        marks = np.sort(np.concatenate(([-1], delimiters, ends)))
        longest = int(np.argmax(np.diff(marks)))
        if marks[longest + 1] - marks[longest] - 1 > LONGEST_FIELD:
            line = self._line_at(buffer, int(marks[longest]) + 1)
            raise self._error(
                f"a field on line {line} is longer than {LONGEST_FIELD >> 20} MB. Look for a quote that is opened "
                "there and not closed, or leave that column out."
            )

    def _is_even(self, ends: Places, delimiters: Places) -> bool:
        """Whether every record has as many fields as the first; exact, by the places alone."""
        wanted = self.n_fields - 1
        if len(delimiters) != wanted * len(ends):
            return False
        if wanted == 0:
            return True
        by_record = delimiters.reshape(len(ends), wanted)
        return bool((by_record[:, -1] < ends).all() and (by_record[1:, 0] > ends[:-1]).all())

    def _blank_records(self, buffer: Bytes, starts: Places, ends: Places, delimiters: Places, kept: Mask) -> Mask:
        """Which records are blank lines; any other that is uneven is refused."""
        n_fields = np.diff(np.searchsorted(delimiters, ends), prepend=0) + 1
        uneven = (n_fields != self.n_fields) & kept
        blank: Mask = uneven & _are_empty(buffer, starts, ends)
        for record in np.flatnonzero(uneven & ~blank).tolist():
            if buffer[starts[record] : ends[record]].tobytes().strip(b" \t\r") == b"" and n_fields[record] == 1:
                blank[record] = True
                continue
            line = self._line_at(buffer, int(starts[record]))
            met, what = int(n_fields[record]), "header" if self._dialect.header else "first line"
            advice = "Add the fields that are missing"
            if met > self.n_fields:
                advice = "Quote the field that holds a delimiter"
            if met > self.n_fields and line <= _FIRST_LINES and self._dialect.header:
                advice = "If a title or a comment is above the header, remove it; if row names have no header, add one"
            raise self._error(
                f"line {line} has {counted(met, 'field')}, the {what} has {self.n_fields} (separated by "
                f"{self._dialect.delimiter!r}). {advice}, or give the delimiter if it was guessed wrong."
            )
        return blank

    def _check_quotes(
        self, buffer: Bytes, is_quote: Mask, inside: Mask, is_delimiter: Mask, at_end: bool
    ) -> list[Places]:
        """Refuse quotes that stand neither at the edge of a field nor doubled inside one; give the spaces around."""
        edge = is_delimiter | is_quote
        edge |= buffer == _LF
        # "greater" between truth values is "and not", without an array in between
        opens = is_quote & inside
        np.greater(opens[1:], edge[:-1], out=opens[1:])
        opens[0] = False
        edge |= buffer == _CR
        closes = np.greater(is_quote, inside)
        np.greater(closes[:-1], edge[1:], out=closes[:-1])
        closes[-1] = False
        drops: list[Places] = []
        if opens.any() or closes.any():
            edge &= ~is_quote
            sides = (np.flatnonzero(opens), -1), (np.flatnonzero(closes), 1)
            drops = [_spaces_from(buffer, signs + step, step) for signs, step in sides]
            strays = [signs[~_edge_past_spaces(buffer, signs, step, edge)] for signs, step in sides]
            if len(strays[0]) or len(strays[1]):
                self._refuse_quote(buffer, is_quote, *strays)
        if at_end and inside[-1]:
            signs = np.flatnonzero(is_quote)
            line = self._line_at(buffer, _opening_of(signs, len(signs) - 1))
            raise self._error(
                f"the quote that opens on line {line} is never closed. Close it, or double it if it is text."
            )
        self._quoted_before = True
        return drops

    def _refuse_quote(self, buffer: Bytes, is_quote: Mask, stray_opens: Places, stray_closes: Places) -> None:
        signs = np.flatnonzero(is_quote)
        if len(stray_closes) == 0 or (len(stray_opens) and stray_opens[0] < stray_closes[0]):
            message = (
                f"line {self._line_at(buffer, int(stray_opens[0]))} has a quote in the middle of a field that does not "
                "begin with one. Quote the whole field and double the quotes inside it, or say that nothing is quoted."
            )
            if self._dialect.quote_guessed and not self._quoted_before and stray_opens[0] == signs[0]:
                raise StrayQuote(f"{self._source}: {message}")
            raise self._error(message)
        closing = int(stray_closes[0])
        opening = _opening_of(signs, int(np.searchsorted(signs, closing)) - 1)
        raise self._error(
            f"the quoted field that opens on line {self._line_at(buffer, opening)} is followed by text after its "
            f"closing quote on line {self._line_at(buffer, closing)}. Double the quotes inside a quoted field (no "
            "backslashes), or close the quote where it belongs."
        )

    def _line_at(self, buffer: Bytes, place: int) -> int:
        return self._line + int(np.count_nonzero(buffer[:place] == _LF))

    def _check_unquoted(self, data: bytes) -> None:
        """After a stray quote made us read without quotes, no field may begin with one."""
        place = 0 if data.startswith(b'"') else data.find(b'\n"')
        if place < 0:
            place = data.find(self._dialect.delimiter.encode() + b'"')
        if place >= 0:
            line = self._line + data.count(b"\n", 0, place + 1)
            raise self._error(
                f"line {line} has a quoted field, but another line has a quote in the middle of a field. Quote every "
                "field that holds a quote and double the quotes inside it."
            )

    def _error(self, message: str) -> DataError:
        return DataError(f"{self._source}: {message}")


def _spaces_from(buffer: Bytes, places: Places, step: int) -> Places:
    """The places of the spaces that run from each place on, forwards or backwards."""
    runs: list[Places] = []
    while True:
        places = places[(places >= 0) & (places < len(buffer))]
        places = places[buffer[places] == _SPACE]
        if len(places) == 0:
            return np.concatenate(runs) if runs else np.empty(0, dtype=np.int64)
        runs.append(places)
        places = places + step


def _edge_past_spaces(buffer: Bytes, places: Places, step: int, edge: Mask) -> Mask:
    """Whether the first byte past each place that is no space is the edge of a field (or of the buffer)."""
    places = places + step
    while True:
        within = (places >= 0) & (places < len(buffer))
        near = np.clip(places, 0, len(buffer) - 1)
        moving = within & (buffer[near] == _SPACE)
        if not moving.any():
            return ~within | edge[near]
        places[moving] += step


def _opening_of(signs: Places, sign: int) -> int:
    """The place of the quote that opened the field in which an opening quote stands (it may be half of a double)."""
    while sign >= 2 and signs[sign] == signs[sign - 1] + 1:
        sign -= 2
    return int(signs[sign])


def _are_empty(buffer: Bytes, starts: Places, ends: Places) -> Mask:
    """Which lines have nothing but their end."""
    return np.asarray((ends == starts) | ((ends - starts == 1) & (buffer[starts] == _CR)))


def _odd_so_far(marks: Mask) -> Mask:
    """Whether an odd number of marks stands up to each place, the place included.

    Sixty-four places a word: a running exclusive or inside each word by doubling shifts, then each word is flipped
    if the words before it hold an odd number. Some ten times faster than a running sum over bytes.
    """
    packed = np.packbits(marks, bitorder="little")
    words = np.zeros((len(packed) + 7) // 8, dtype="<u8")
    words.view(np.uint8)[: len(packed)] = packed
    for shift in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(shift)
    odd = np.cumsum(words >> np.uint64(63), dtype=np.uint64) & np.uint64(1)
    words[1:] ^= np.uint64(0) - odd[:-1]  # all ones where odd
    return np.unpackbits(words.view(np.uint8), count=len(marks), bitorder="little").view(np.bool_)


def _drop_bytes(buffer: Bytes, drops: list[Places], starts: Places, ends: Places, kept: Mask) -> bytes:
    """The kept records without the dropped bytes."""
    if kept.all() and all(len(places) == 0 for places in drops):
        return buffer.tobytes()
    wanted = np.ones(len(buffer), dtype=np.bool_)
    for places in drops:
        wanted[places[places < len(buffer)]] = False
    for record in np.flatnonzero(~kept).tolist():
        wanted[starts[record] : ends[record] + 1] = False
    return buffer[wanted].tobytes()
