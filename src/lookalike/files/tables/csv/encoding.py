"""The bytes of a text file, as UTF-8, block by block.

A byte order mark decides; without one the file is taken as UTF-8 until a byte proves it is not, and then as
Windows-1252 (which `NotDecodable` lets the caller try). Compressed files are unpacked on the way (`compressed`).
Nothing is ever written to disk: a block is decoded, handed on and forgotten. Cost: one pass, one block in memory.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from lookalike.errors import DataError, RecipeError
from lookalike.files.tables.compressed import unpack

# As much as stays in a processor's cache while the arrays of a scan are made from it.
_BLOCK_BYTES = 1 << 20
# The longer mark first: UTF-32 starts with the mark of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class NotDecodable(Exception):
    """A byte that the encoding does not know, and the line it is on."""

    def __init__(self, encoding: str, line: int) -> None:
        super().__init__(encoding, line)
        self.encoding, self.line = encoding, line


class TextFile:
    """A text file as blocks of UTF-8 without a byte order mark. Every walk over it starts anew."""

    def __init__(self, path: Path, encoding: str, unpack_limit: int | None = None) -> None:
        self.path = path
        self.encoding = encoding
        self.unpack_limit = unpack_limit
        self.share_read = 0.0
        """How much of the file the current walk has behind it."""

    def blocks(self, size: int = _BLOCK_BYTES) -> Iterator[bytes]:
        n_bytes = max(self.path.stat().st_size, 1)
        decode = _check_utf8() if self.encoding == "utf-8" else _transcode(self.encoding)
        n_given = 0
        with self.path.open("rb") as raw, unpack(raw, self.path, self.unpack_limit) as read:
            while True:
                packed = read(size)
                try:
                    block = decode(packed, not packed)
                except UnicodeError as error:
                    start = error.start if isinstance(error, UnicodeDecodeError) else 0
                    line = self._lines_in(n_given, size) + packed.count(b"\n", 0, start) + 1
                    raise NotDecodable(self.encoding, line) from None
                if n_given == 0:
                    block = block.removeprefix(codecs.BOM_UTF8)
                nul = block.find(b"\0")
                if nul >= 0:
                    line = self._lines_in(n_given, size) + block.count(b"\n", 0, nul) + 1
                    raise DataError(
                        f"{self.path.name}: line {line} holds a NUL byte, so this is no text file or not in the "
                        'encoding it was read with. Name the encoding (such as "utf-16"), or save '
                        "the table anew."
                    )
                self.share_read = min(1.0, raw.tell() / n_bytes)
                if not packed and not block:
                    return
                yield block
                n_given += 1

    def _lines_in(self, n_blocks: int, size: int) -> int:
        """How many lines end in the first blocks: counted when an error needs it, not on every walk."""
        walk = TextFile(self.path, self.encoding, self.unpack_limit).blocks(size)
        return sum(block.count(b"\n") for block in islice(walk, n_blocks))


def detect_encoding(path: Path) -> tuple[str, bool]:
    """The encoding a byte order mark names, else UTF-8; and whether a mark was there."""
    with path.open("rb") as raw, unpack(raw, path) as read:
        head = read(4)
    return next(((encoding, True) for mark, encoding in _MARKS if head.startswith(mark)), ("utf-8", False))


def check_encoding(name: str) -> str:
    """The encoding that a user named, in Python's spelling; a mark at the start never counts as text."""
    try:
        found = codecs.lookup(name).name
        "".encode(found)
    except (LookupError, ValueError):
        raise RecipeError(
            f"The encoding {name!r} is not known. Common ones: utf-8, utf-16, windows-1252, iso-8859-1."
        ) from None
    return "utf-8" if found == "utf-8-sig" else found


def _check_utf8() -> Callable[[bytes, bool], bytes]:
    """Passes UTF-8 through unchanged and fails on what is not; plain ASCII costs next to nothing."""
    decoder = codecs.getincrementaldecoder("utf-8")()

    def check(block: bytes, final: bool) -> bytes:
        if final or not block.isascii() or decoder.getstate()[0]:
            decoder.decode(block, final)
        return block

    return check


def _transcode(encoding: str) -> Callable[[bytes, bool], bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    return lambda block, final: decoder.decode(block, final).encode("utf-8")
