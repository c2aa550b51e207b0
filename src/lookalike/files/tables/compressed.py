"""Compressed text, unpacked on the way and never beyond what is allowed.

gzip, bzip2, xz and zstd are recognised by their first bytes; a zip archive is read if there is one file in it. A small
file
can unpack to a huge one, so every read is counted: up to `FREE_BYTES` anything goes, beyond that no more than
`MOST_RATIO` times what was read of the packed file, and never more than `MOST_BYTES`. Tables of people stay far below.
Memory: one block, and what the format needs to unpack (bounded for xz, whose files may ask for gigabytes).
"""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from lookalike.errors import DataError, MissingPart, RecipeError, counted, quoted
from lookalike.files.tables.formats import TEXT, ZIP, list_endings, read_head

FREE_BYTES = 100 << 20
MOST_RATIO = 200
MOST_BYTES = 32 << 30
_XZ_MEMORY = 256 << 20
_PIECE = 1 << 16
LONGEST_DIRECTORY = 16 << 20
_NAMES = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", ZIP: "zip"}
_DAMAGED = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError)


def packing_of(path: Path) -> str | None:
    """How a file is packed, by its first bytes; None: it is not."""
    head = read_head(path)
    return next((name for magic, name in _NAMES.items() if head.startswith(magic)), None)


def check_limit(limit: int | None) -> None:
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise RecipeError(f"unpack_limit is a number of bytes from 1 on, not {limit!r}. Leave it out if unsure.")


@contextmanager
def unpack(raw: IO[bytes], path: Path, limit: int | None = None) -> Iterator[Callable[[int], bytes]]:
    """A function that reads the text of an open file, so many bytes at a time.

    `limit` is the most bytes that may come out, instead of what the limits above allow.
    """
    packing = packing_of(path)
    if packing is None:
        yield raw.read
        return
    given = 0

    def read(size: int) -> bytes:
        nonlocal given
        try:
            piece = stream.read(size)
        except _DAMAGED:
            raise _explain_damage(path, packing) from None
        given += len(piece)
        refuse_too_much(given, raw.tell(), path, limit)
        return piece

    try:
        stream = _open_unpacker(raw, path, packing)
    except _DAMAGED:
        raise _explain_damage(path, packing) from None
    with stream:
        yield read


def refuse_too_much(unpacked: int, packed: int, path: Path, limit: int | None) -> None:
    """DataError where so many bytes out of so many are more than is allowed."""
    if limit is not None and unpacked > limit:
        met = f"the {_size(limit)} allowed"
    elif limit is None and unpacked > MOST_BYTES:
        met = _size(MOST_BYTES)
    elif limit is None and unpacked > FREE_BYTES and unpacked > MOST_RATIO * max(packed, 1):
        met = f"{MOST_RATIO} times its size, as files do that are made to fill a machine"
    else:
        return
    raise DataError(f"{path.name} unpacks to more than {met}. {_RAISE}")


_RAISE = "If you trust it, allow more (--unpack-limit MB; unpack_limit in Python), or unpack it by hand."


def _size(n_bytes: int) -> str:
    return f"{n_bytes >> 30} GB" if n_bytes >= 1 << 30 else f"{n_bytes / (1 << 20):,.3g} MB"


def _explain_damage(path: Path, packing: str) -> DataError:
    return DataError(f"{path.name} is a damaged or cut off {packing} file. Unpack it by hand, or fetch it again.")


def _open_unpacker(raw: IO[bytes], path: Path, packing: str) -> IO[bytes]:
    if packing == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw))
    if packing == "bzip2":
        return cast("IO[bytes]", _Unpacking(raw, bz2.BZ2Decompressor))
    if packing == "xz":
        return cast("IO[bytes]", _Unpacking(raw, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)))
    return _zstd(raw, path) if packing == "zstd" else _only_member(raw, path)


def _zstd(raw: IO[bytes], path: Path) -> IO[bytes]:
    with suppress(ImportError):
        return cast("IO[bytes]", importlib.import_module("compression.zstd").ZstdFile(raw))
    with suppress(ImportError):
        return cast("IO[bytes]", importlib.import_module("pyarrow").CompressedInputStream(raw, "zstd"))
    raise MissingPart(
        f"{path.name} is packed by zstd, which needs pyarrow or Python 3.14. Install it: pip install "
        '"lookalike[zstd]"; or unpack the file by hand.'
    )


def _only_member(raw: IO[bytes], path: Path) -> IO[bytes]:
    archive = open_archive(raw, path)
    # Without what desktops put into archives beside what one asked for.
    files = [
        member
        for member in archive.infolist()
        if not member.filename.startswith("__MACOSX/") and member.filename.rpartition("/")[2][:1] not in ("", ".")
    ]
    if len(files) != 1:
        raise DataError(
            f"{path.name} is a zip archive with {counted(len(files), 'file')}. Unpack it and give the one that holds "
            "the table."
        )
    (member,) = files
    if member.flag_bits & 1:
        raise DataError(f"{path.name} is a zip archive that asks for a password. Unpack it by hand.")
    ending = Path(member.filename).suffix.casefold()
    if ending in {*list_endings(), ".ods"} - {*TEXT.endings} | {".zip"}:
        raise DataError(
            f"{path.name} is a zip archive of a file that ends in {quoted(ending)}. Only CSV is read from archives: "
            "unpack it and give that file."
        )
    return archive.open(member)


def open_archive(raw: IO[bytes], path: Path) -> zipfile.ZipFile:
    """A zip archive, unless its list of files is endless: all of that is held in memory, and grows tenfold there."""
    return zipfile.ZipFile(cast("IO[bytes]", _InPieces(raw, path)))


class _InPieces:
    """A file of which nobody reads much at once. The list of files in an archive is read at once."""

    def __init__(self, raw: IO[bytes], path: Path) -> None:
        self._raw = raw
        self._path = path

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)

    def read(self, size: int = -1, /) -> bytes:
        piece = self._raw.read(LONGEST_DIRECTORY + 1 if size < 0 else min(size, LONGEST_DIRECTORY + 1))
        if len(piece) > LONGEST_DIRECTORY:
            raise DataError(
                f"{self._path.name} is a zip archive of far too many files. Unpack it and give the one with the table."
            )
        return piece


class _Unpacking(io.RawIOBase):
    """One packed stream after the other, read piece by piece through a decompressor."""

    def __init__(self, raw: IO[bytes], start: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]) -> None:
        self._raw = raw
        self._start = start
        self._unpacker = start()
        self._waiting = b""
        self._begun = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        pieces: list[bytes] = []
        wanted = size
        while wanted > 0 and (piece := self._next(wanted)):
            pieces.append(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def _next(self, size: int) -> bytes:
        while True:
            if self._unpacker.eof:
                # Padding and further streams, as tools that work in parallel write them.
                self._waiting = (self._unpacker.unused_data or self._raw.read(_PIECE)).lstrip(b"\0")
                if not self._waiting:
                    return b""
                self._unpacker, self._begun = self._start(), False
            if not self._waiting and self._unpacker.needs_input:
                self._waiting = self._raw.read(_PIECE)
                if not self._waiting:
                    if self._begun:
                        raise EOFError
                    return b""
            data, self._waiting = self._waiting, b""
            self._begun = True
            piece = self._unpacker.decompress(data, size)
            if piece:
                return piece
