"""Does a schema of Arrow say more than the names and types of its columns?

Arrow keeps schemas as FlatBuffers: at the head and at the end of Arrow files, and under a key of Parquet files. They
are read here without any library, because what is asked is what libraries pass over: metadata of the table and of
columns, fields that the format does not have, and bytes that belong to nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ARROW_FILE = b"ARROW1"
ZONE = re.compile(r"[A-Za-z_]{1,20}(?:/[A-Za-z_]{1,20}){0,2}|[+-]\d\d:\d\d")
_CONTINUES = b"\xff\xff\xff\xff"
_SCHEMA, _DICTIONARY, _BATCH = 1, 2, 3
_INT, _FLOAT, _DECIMAL, _DATE, _TIMESTAMP = 2, 3, 7, 8, 10
_PLAIN_TYPES = frozenset({1, 4, 5, 6, 19, 20, 23, 24})
"""Null, texts, bytes and booleans, which have nothing to be set."""
_CATEGORICAL_OF_POLARS = re.compile(r"0;0;u(?:8|16|32);")
_BLOCK = struct.Struct("<QI4xQ")
_LONGEST = 64 << 20

Known = Callable[[str, bytes], str | None]
"""The problem of a pair of metadata, or None."""


class _SaysMore(ValueError):
    """What else the schema says, in a few words."""


def find_embedded_problem(value: bytes, columns: Sequence[str], known: Known) -> str | None:
    """Of the schema that a Parquet file keeps as text."""
    try:
        _check_message(base64.b64decode(value, validate=True), columns, known)
    except (_SaysMore, binascii.Error) as problem:
        return str(problem)
    return None


def arrow_file_problem(path: Path, columns: Sequence[str], known: Known) -> str | None:
    """Of an Arrow file: schema, footer, and how its rows are divided into batches."""
    if path.stat().st_size > _LONGEST:
        return f"is larger than {_LONGEST >> 20} MB. Save it as Parquet or CSV"
    try:
        _check_arrow_file(path.read_bytes(), columns, known)
    except _SaysMore as problem:
        return str(problem)
    return None


def _check_arrow_file(content: bytes, columns: Sequence[str], known: Known) -> None:
    end = len(content) - len(ARROW_FILE) - 4
    length = int.from_bytes(content[end : end + 4], "little") if end > 8 else -1
    if content[:8] != ARROW_FILE + b"\0\0" or content[-6:] != ARROW_FILE or not 0 < length < end:
        raise _SaysMore("does not begin and end as Arrow files do")
    flat = _Flat(content[end - length : end])
    footer = flat.table(flat.follow(0), 5)
    flat.number(footer.get(0), 2, range(5))
    _check_schema(flat, footer.get(1), columns, known)
    blocks = [*flat.blocks(footer.get(2)), *flat.blocks(footer.get(3))]
    _check_metadata(flat, footer.get(4), known)
    flat.check_rest()
    rows = []
    place = min((offset for offset, _, _ in blocks), default=end - length)
    _check_message(content[8:place], columns, known)
    for offset, head, body in sorted(blocks):
        if content[place:offset].strip(b"\0"):
            raise _SaysMore("has bytes that belong to no column")
        rows += _check_batch(content[offset : offset + head])
        place = offset + head + body
    if content[place : end - length].replace(_CONTINUES, b"").strip(b"\0"):
        raise _SaysMore("has bytes that belong to no column")
    if len(set(rows[:-1])) > 1 or (len(rows) > 1 and rows[-1] > rows[0]):
        raise _SaysMore("has batches of rows of uneven sizes")


def _check_message(content: bytes, columns: Sequence[str], known: Known) -> None:
    """A schema behind its length, or, as Polars begins files, without it."""
    if content[:4] == _CONTINUES:
        length = int.from_bytes(content[4:8], "little")
        if content[8 + length :].strip(b"\0"):
            raise _SaysMore("has bytes that belong to nothing")
        content = content[8 : 8 + length]
    flat = _Flat(content)
    message = flat.table(flat.follow(0), 5)
    flat.number(message.get(0), 2, range(5))
    flat.number(message.get(1), 1, (_SCHEMA,))
    flat.number(message.get(3), 8, (0,))
    _check_schema(flat, message.get(2), columns, known)
    _check_metadata(flat, message.get(4), known)
    flat.check_rest()


def _check_batch(content: bytes) -> list[int]:
    """How many rows are in a batch; none for a dictionary."""
    start = 8 if content[:4] == _CONTINUES else 4
    flat = _Flat(content[start:])
    message = flat.table(flat.follow(0), 5)
    kind = flat.number(message.get(1), 1, (_DICTIONARY, _BATCH))
    if 4 in message and flat.items(message[4]):
        raise _SaysMore("has metadata in a batch of rows")
    if kind == _DICTIONARY or 2 not in message:
        return []
    batch = flat.table(flat.follow(message[2]), 5)
    return [flat.number(batch.get(0), 8, range(1 << 62))]


def _check_schema(flat: _Flat, at: int | None, columns: Sequence[str], known: Known) -> None:
    if at is None:
        raise _SaysMore("has no schema")
    schema = flat.table(flat.follow(at), 4)
    flat.number(schema.get(0), 2, (0, 1))
    fields = flat.items(schema[1]) if 1 in schema else []
    if len(fields) != len(columns):
        raise _SaysMore("has other columns than the table")
    _check_metadata(flat, schema.get(2), known)
    if 3 in schema and flat.items(schema[3]):
        raise _SaysMore("has features that tables do not need")
    for place, (field_at, name) in enumerate(zip(fields, columns, strict=True)):
        _check_field(flat, flat.table(flat.follow(field_at), 7), place, name, len(columns))


def _check_field(flat: _Flat, field: Mapping[int, int], place: int, name: str, n_columns: int) -> None:
    if 0 not in field or flat.text(field[0]) != name.encode():
        raise _SaysMore("names other columns than the table has")
    flat.number(field.get(1), 1, (0, 1))
    kind = flat.number(field.get(2), 1, range(1, 30))
    if 3 in field:
        _check_type(flat, kind, field[3])
    if 4 in field:
        encoding = flat.table(flat.follow(field[4]), 4)
        flat.number(encoding.get(0), 8, range(n_columns + 1))
        if 1 in encoding:
            _check_type(flat, _INT, encoding[1])
        flat.number(encoding.get(2), 1, (0, 1))
        flat.number(encoding.get(3), 2, (0,))
    if 5 in field and flat.items(field[5]):
        raise _SaysMore("has columns within columns")

    def of_column(key: str, value: bytes) -> str | None:
        if key == "_PL_CATEGORICAL2" and _CATEGORICAL_OF_POLARS.fullmatch(value.decode("latin-1")):
            return None
        if key == "PARQUET:field_id" and value in (b"-1", b"%d" % place, b"%d" % (place + 1)):
            return None
        return "has metadata of a column"

    _check_metadata(flat, field.get(6), of_column)


def _check_type(flat: _Flat, kind: int, at: int) -> None:
    settings = flat.table(flat.follow(at), 0 if kind in _PLAIN_TYPES else 3)
    if kind == _INT:
        flat.number(settings.get(0), 4, (0, 8, 16, 32, 64))
        flat.number(settings.get(1), 1, (0, 1))
    elif kind in (_FLOAT, _DATE):
        flat.number(settings.get(0), 2, range(3))
    elif kind == _DECIMAL:
        flat.number(settings.get(0), 4, range(77))
        flat.number(settings.get(1), 4, range(77))
        flat.number(settings.get(2), 4, (0, 32, 64, 128, 256))
    elif kind == _TIMESTAMP:
        flat.number(settings.get(0), 2, range(4))
        if 1 in settings and not ZONE.fullmatch(flat.text(settings[1]).decode("latin-1")):
            raise _SaysMore("has a time zone that there is not")
    elif kind not in _PLAIN_TYPES:
        raise _SaysMore("has a type that tables do not need")


def _check_metadata(flat: _Flat, at: int | None, known: Known) -> None:
    seen = set()
    for pair_at in flat.items(at) if at is not None else ():
        pair = flat.table(flat.follow(pair_at), 2)
        key = flat.text(pair[0]).decode("utf-8", "replace") if 0 in pair else ""
        problem = known(key, flat.text(pair[1]) if 1 in pair else b"")
        if problem is not None or key in seen:
            raise _SaysMore(problem or "has the same metadata twice")
        seen.add(key)


class _Flat:
    """A FlatBuffer that remembers which of its bytes were looked at."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.seen = bytearray(len(content))

    def _bytes(self, at: int, length: int) -> bytes:
        if not 0 <= at <= at + length <= len(self.content):
            raise _SaysMore("is cut off")
        self.seen[at : at + length] = b"\1" * length
        return self.content[at : at + length]

    def number(self, at: int | None, length: int, allowed: Sequence[int] | range) -> int:
        """A number of so many bytes, 0 where it is left out."""
        found = 0 if at is None else int.from_bytes(self._bytes(at, length), "little", signed=True)
        if at is not None and found not in allowed:
            raise _SaysMore("has settings that no tool writes")
        return found

    def follow(self, at: int) -> int:
        return at + int.from_bytes(self._bytes(at, 4), "little")

    def table(self, at: int, n_fields: int) -> dict[int, int]:
        """By field number, where the field is; a field that the format does not have is a message."""
        layout = at - int.from_bytes(self._bytes(at, 4), "little", signed=True)
        length = int.from_bytes(self._bytes(layout, 2), "little")
        self._bytes(layout + 2, 2)
        found = {}
        for number in range(max(length - 4, 0) // 2):
            offset = int.from_bytes(self._bytes(layout + 4 + 2 * number, 2), "little")
            if offset:
                found[number] = at + offset
        if any(number >= n_fields for number in found):
            raise _SaysMore("has fields that the format does not have")
        return found

    def items(self, at: int) -> list[int]:
        """Where the items of a list of tables are."""
        start = self.follow(at)
        length = int.from_bytes(self._bytes(start, 4), "little")
        if length > len(self.content) // 4:
            raise _SaysMore("is cut off")
        return [start + 4 + 4 * place for place in range(length)]

    def blocks(self, at: int | None) -> list[tuple[int, int, int]]:
        """Where the batches of a file are: offset, length of what is said about them, length of their values."""
        if at is None:
            return []
        start = self.follow(at)
        length = int.from_bytes(self._bytes(start, 4), "little")
        content = self._bytes(start + 4, _BLOCK.size * length)
        return list(_BLOCK.iter_unpack(content))

    def text(self, at: int) -> bytes:
        start = self.follow(at)
        return self._bytes(start + 4, int.from_bytes(self._bytes(start, 4), "little"))

    def check_rest(self) -> None:
        """What was not looked at fills up, and is 0."""
        if any(byte and not seen for byte, seen in zip(self.content, self.seen, strict=True)):
            raise _SaysMore("has bytes that belong to nothing")
