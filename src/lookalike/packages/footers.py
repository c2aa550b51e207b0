"""What the end of a Parquet file says about the file: its columns, its row groups, its metadata.

Parquet keeps this in Thrift's compact protocol. It is read here without any library, because what is asked is what
libraries pass over: keys of metadata that nobody looks at, and bytes that belong to no column.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.guarded import check_plain_file

_MAGIC = b"PAR1"
_DEEPEST = 32
_LONGEST_REPEATED = 1 << 20


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

    @property
    def even_groups(self) -> bool:
        """Whether row groups are as large as one another but for the last, so that they say nothing of the rows."""
        *full, last = self.group_rows or (0,)
        return len(set(full)) <= 1 and (not full or last <= full[0])


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
        found = reader.structure()
        return _footer(found, path, reader.place)
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError):
        raise BadFooter(path.name) from None


def _footer(found: dict[int, Any], path: Path, length: int) -> Footer:
    claimed = length
    metadata = [(pair[1].decode(), pair.get(2, b"")) for pair in found.get(5, [])]
    for group in found.get(4, []):
        for place, chunk in enumerate(group[1]):
            about = chunk[3]
            claimed += about[7] + chunk.get(5, 0) + chunk.get(7, 0) + about.get(15, 0) + _repeated(path, chunk)
            metadata += [(f"{place}: {pair[1].decode()}", pair.get(2, b"")) for pair in about.get(8, [])]
    return Footer(
        columns=tuple((element.get(1), element.get(3), element[4].decode(), element.get(5, 0)) for element in found[2]),
        group_rows=tuple(group[3] for group in found.get(4, [])),
        metadata=tuple(metadata),
        written_by=found.get(6, b"").decode(),
        n_unclaimed=path.stat().st_size - 2 * len(_MAGIC) - 4 - claimed,
    )


def _repeated(path: Path, chunk: dict[int, Any]) -> int:
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

    def _byte(self) -> int:
        self.place += 1
        return self.content[self.place - 1]

    def _varint(self) -> int:
        number, shift = 0, 0
        while True:
            byte = self._byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7

    def _whole(self) -> int:
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
            number = number + (head >> 4) if head >> 4 else self._whole()
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
            return self._whole()
        if kind == 7:
            self.place += 8
            return None
        if kind == 8:
            return self._text()
        if kind in (9, 10):
            head = self._byte()
            length = head >> 4 if head >> 4 < 15 else self._varint()
            if length > len(self.content):
                raise IndexError(length)
            return [self._value(head & 0x0F, depth + 1, listed=True) for _ in range(length)]
        if kind == 12:
            return self.structure(depth + 1)
        raise KeyError(kind)
