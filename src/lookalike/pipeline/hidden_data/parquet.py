"""What the end of a Parquet file says about the file: its columns, its row groups, its metadata.

Parquet keeps this in Thrift's compact protocol. It is read here without any library, because what is asked is what
libraries pass over: keys of metadata that nobody looks at, and bytes that belong to no column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.untrusted import check_plain_file

_MAGIC = b"PAR1"
_DEEPEST = 32
_LEAST_GROUP = 1 << 14
_LONGEST_REPEATED = 1 << 20
_LONGEST_HEAD = 1 << 16


Fields = Mapping[int, Any]
"""What a structure may have, by field number: structures within it, or None for plain values."""
_NOTHING: Fields = {}
_UNIT: Fields = {1: _NOTHING, 2: _NOTHING, 3: _NOTHING}
_STATISTICS: Fields = dict.fromkeys(range(1, 9))
_LOGICAL_TYPE: Fields = {
    **dict.fromkeys((1, 2, 3, 4, 6, 11, 12, 13, 14, 15), _NOTHING),
    5: dict.fromkeys((1, 2)),
    7: {1: None, 2: _UNIT},
    8: {1: None, 2: _UNIT},
    10: dict.fromkeys((1, 2)),
}
_ELEMENT: Fields = {**dict.fromkeys(range(1, 9)), 10: _LOGICAL_TYPE}
_PAIR: Fields = dict.fromkeys((1, 2))
_COLUMN: Fields = {
    **dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 9, 10, 11)),
    8: _PAIR,
    12: _STATISTICS,
    13: dict.fromkeys((1, 2, 3)),
    16: dict.fromkeys((1, 2, 3)),
}
_CHUNK: Fields = {2: None, 3: _COLUMN, **dict.fromkeys((4, 5, 6, 7))}
_GROUP: Fields = {1: _CHUNK, 2: None, 3: None, 4: dict.fromkeys((1, 2, 3)), **dict.fromkeys((5, 6, 7))}
_FILE: Fields = {1: None, 2: _ELEMENT, 3: None, 4: _GROUP, 5: _PAIR, 6: None, 7: {1: _NOTHING, 2: _NOTHING}}
"""Parquet's structures, less what only encrypted, geographic or scattered files have, bloom filters, and free numbers
for columns."""
_PAGE: Fields = {
    **dict.fromkeys((1, 2, 3, 4)),
    5: {**dict.fromkeys((1, 2, 3, 4)), 5: _STATISTICS},
    7: dict.fromkeys((1, 2, 3)),
    8: {**dict.fromkeys(range(1, 8)), 8: _STATISTICS},
}


class BadFooter(ValueError):
    """The file does not end as Parquet files do."""


@dataclass(frozen=True)
class Footer:
    """The parts of a footer in which something could be hidden."""

    columns: tuple[tuple[object, ...], ...]
    """Of each column: type, repetition, name and number of children."""
    group_rows: tuple[int, ...]
    """Rows of each row group."""
    metadata: tuple[tuple[str, bytes], ...]
    """Of the file, and of single columns (their keys begin with the column's place)."""
    written_by: str
    n_unclaimed: int
    """Bytes that belong to no column, no index and not to the footer."""
    unknown: tuple[str, ...] = ()
    """In words: fields of the footer and of pages that tables do not need, and entries spelled in an odd way."""

    @property
    def even_groups(self) -> bool:
        """Whether row groups are as large as one another but for the last, so that they say nothing of the rows."""
        *full, last = self.group_rows or (0,)
        return len(set(full)) <= 1 and (not full or last <= full[0])

    @property
    def large_groups(self) -> bool:
        """Whether row groups but the last are so large that what is said of each says nothing of single rows."""
        return all(rows >= _LEAST_GROUP for rows in self.group_rows[:-1])


def read_footer(path: Path) -> Footer:
    """The footer of a Parquet file; `BadFooter` if it has none."""
    check_plain_file(path)
    size = path.stat().st_size
    with path.open("rb") as file:
        begins = file.read(4)
        file.seek(max(size - 8, 0))
        length, ends = int.from_bytes(file.read(4), "little"), file.read(4)
        if begins != _MAGIC or ends != _MAGIC or length + 12 > size:
            raise BadFooter(path.name)
        file.seek(size - 8 - length)
        content = file.read(length)
    try:
        reader = _Compact(content)
        return _footer(reader.structure(), path, reader)
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError):
        raise BadFooter(path.name) from None


def _footer(found: dict[int, Any], path: Path, reader: _Compact) -> Footer:
    claimed = reader.place
    metadata = [(pair[1].decode(), pair.get(2, b"")) for pair in found.get(5, [])]
    for group in found.get(4, []):
        for place, chunk in enumerate(group[1]):
            about = chunk[3]
            claimed += about[7] + chunk.get(5, 0) + chunk.get(7, 0) + about.get(15, 0) + _count_repeated(path, chunk)
            metadata += [(f"{place}: {pair[1].decode()}", pair.get(2, b"")) for pair in about.get(8, [])]
    return Footer(
        columns=tuple((element.get(1), element.get(3), element[4].decode(), element.get(5, 0)) for element in found[2]),
        group_rows=tuple(group[3] for group in found.get(4, [])),
        metadata=tuple(metadata),
        written_by=found.get(6, b"").decode(),
        n_unclaimed=path.stat().st_size - 2 * len(_MAGIC) - 4 - claimed,
        unknown=tuple(
            dict.fromkeys((*_beyond(found, _FILE, "footer"), *_odd(reader, "footer"), *_odd_pages(path, found)))
        ),
    )


def _beyond(found: Any, fields: Fields | None, where: str) -> Iterator[str]:
    """Fields that are not among those of a structure."""
    if isinstance(found, list):
        for entry in found:
            yield from _beyond(entry, fields, where)
    elif isinstance(found, dict):
        for number, entry in found.items():
            if fields is None or number not in fields:
                yield f"a field in its {where} that tables do not need (number {number})"
            else:
                yield from _beyond(entry, fields[number], where)


def _odd(reader: _Compact, where: str) -> Iterator[str]:
    if reader.is_odd:
        yield f"an entry in its {where} that is spelled in another way than writers of Parquet do"


def _odd_pages(path: Path, found: dict[int, Any]) -> Iterator[str]:
    """The same of the pages of each column, which must fill the column without a gap."""
    with path.open("rb") as file:
        for about in (chunk[3] for group in found.get(4, []) for chunk in group[1]):
            place = min(about[9], about.get(11) or about[9])
            end = place + about[7]
            while place < end:
                file.seek(place)
                reader = _Compact(file.read(min(_LONGEST_HEAD, end - place)))
                try:
                    page = reader.structure()
                    place += reader.place + page[3]
                    if page[3] < 0:
                        raise KeyError(3)
                except (IndexError, KeyError, TypeError, RecursionError):
                    yield "a page that does not begin as pages do"
                    return
                yield from _beyond(page, _PAGE, "pages")
                yield from _odd(reader, "pages")
            if place != end:
                yield "a page that reaches into another column"


def _count_repeated(path: Path, chunk: dict[int, Any]) -> int:
    """How many bytes repeat what the footer says of a column behind the column, as some writers do."""
    about = chunk[3]
    end = min(about[9], about.get(11, about[9])) + about[7]
    with path.open("rb") as file:
        file.seek(end)
        reader = _Compact(file.read(_LONGEST_REPEATED))
    try:
        same = reader.structure() == about
    except (IndexError, KeyError, RecursionError):
        return 0
    return reader.place if same else 0


class _Compact:
    """Thrift's compact protocol: structures become dictionaries by field number."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0
        self.is_odd = False
        """Whether something is spelled longer than it must be, named twice or out of order."""

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _varint(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                self.is_odd |= shift > 0 and byte == 0
                return number
            shift += 7

    def _read_whole(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)

    def _text(self) -> bytes:
        length = self._varint()
        self.place += length
        if self.place > len(self.content):
            raise IndexError(length)
        return self.content[self.place - length : self.place]

    def structure(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            before = number
            number = number + (head >> 4) if head >> 4 else self._read_whole()
            self.is_odd |= number <= before or (not head >> 4 and number - before < 16)
            found[number] = self._value(head & 0x0F, depth + 1)
        return found

    def _value(self, kind: int, depth: int, *, listed: bool = False) -> Any:
        if depth > _DEEPEST:
            raise RecursionError(depth)
        if kind in (1, 2):
            # A flag is its own kind in a structure, and a byte in a list.
            return self._byte() == 1 if listed else kind == 1
        if kind == 3:
            return self._byte()
        if kind in (4, 5, 6):
            return self._read_whole()
        if kind == 7:
            self.place += 8
            return None
        if kind == 8:
            return self._text()
        if kind in (9, 10):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._varint()
            self.is_odd |= head >> 4 == 15 and length < 15
            if length > len(self.content):
                raise IndexError(length)
            return [self._value(head & 0x0F, depth + 1, listed=True) for _ in range(length)]
        if kind == 12:
            return self.structure(depth + 1)
        raise KeyError(kind)
