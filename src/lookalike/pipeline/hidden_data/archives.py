"""What packed files hold besides what they unpack to: comments, names, further files, bytes behind the end.

Readers of archives pass over all of this. Here it is looked for, format by format, without unpacking to memory.
"""

from __future__ import annotations

import bz2
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import IO, NamedTuple

from lookalike.files.tables.compressed import open_archive, packing_of

_PIECE = 1 << 20
_SMALL_PIECE = 1 << 13
"""What zlib unpacks at once, to no more than a thousand times as much."""
_LONGEST_NAME = 100
_NAME_IN_GZIP = 8
_TIMES_AND_OWNERS = {0x0001: 32, 0x000A: 36, 0x5455: 17, 0x7875: 19}
"""What archives may say of a file besides its name: sizes, times and owners, by kind, and in how many bytes at most."""
_ROOM_TO_GROW = 0xA220
"""Zeros by which Excel keeps room for a longer list of files."""
_DESCRIPTORS = frozenset({0, 12, 16, 20, 24})
_LOCAL, _CENTRAL, _END, _LARGE_END = 30, 46, 22, 76


class Packing(NamedTuple):
    """What was found."""

    problem: str | None
    """In a few words that go on from the name of the file."""
    name: str = ""
    """Under which a file is packed, where the packed file says so."""


def examine_packing(path: Path) -> Packing:
    """A file that is packed by gzip, bzip2, xz, zstd or zip."""
    packing = packing_of(path)
    with path.open("rb") as file:
        if packing == "gzip":
            return _gzip(file)
        if packing == "zip":
            return _zip(file, path)
        if packing == "zstd":
            ends = _zstd_ends(file, path.stat().st_size)
        else:
            ends = _stream_ends(file, bz2.BZ2Decompressor() if packing == "bzip2" else lzma.LZMADecompressor())
    return Packing(None if ends else _BEHIND)


_BEHIND = "holds more than one packed table, or bytes behind it"


def _gzip(file: IO[bytes]) -> Packing:
    head = file.read(10 + _LONGEST_NAME + 1)
    flags, name = head[3], b""
    if flags & ~_NAME_IN_GZIP:
        return Packing("has a comment, or other data, at its beginning")
    if flags & _NAME_IN_GZIP:
        name, found, _ = head[10:].partition(b"\0")
        if not found:
            return Packing(f"gives a name of more than {_LONGEST_NAME} letters for what is packed")
    file.seek(0)
    ends = _ends_deflated(file, None, zlib.MAX_WBITS | 16)
    return Packing(None if ends else _BEHIND, name.decode("latin-1"))


def _ends_deflated(file: IO[bytes], n_bytes: int | None, window: int) -> bool:
    """Whether a stream ends where so many bytes, or the file, end."""
    unpacker, left = zlib.decompressobj(window), n_bytes
    while piece := file.read(_SMALL_PIECE if left is None else min(_SMALL_PIECE, left)):
        left = None if left is None else left - len(piece)
        unpacker.decompress(piece)
        if unpacker.eof and (unpacker.unused_data or left or (left is None and file.read(1))):
            return False
    return unpacker.eof


def _stream_ends(file: IO[bytes], unpacker: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> bool:
    while not unpacker.eof:
        piece = file.read(_PIECE) if unpacker.needs_input else b""
        if not piece and unpacker.needs_input:
            return False
        unpacker.decompress(piece, _PIECE)
    return not unpacker.unused_data and not file.read(1)


def _zstd_ends(file: IO[bytes], size: int) -> bool:
    """Whether the file is one frame: others may be made to be skipped."""
    head = file.read(5)[4]
    alone = head >> 5 & 1
    content = (alone, 2, 4, 8)[head >> 6]
    file.seek((not alone) + (0, 1, 2, 4)[head & 3] + content, 1)
    while len(block := file.read(3)) == 3:
        number = int.from_bytes(block, "little")
        file.seek(1 if number >> 1 & 3 == 1 else number >> 3, 1)
        if number & 1:
            return file.tell() + 4 * (head >> 2 & 1) == size
    return False


def _zip(file: IO[bytes], path: Path) -> Packing:
    with open_archive(file, path) as archive:
        members = archive.infolist()
        if len(members) != 1:
            return Packing("holds other files or folders besides the table")
        return Packing(archive_problem(archive, file, path), members[0].filename)


def archive_problem(archive: zipfile.ZipFile, file: IO[bytes], path: Path) -> str | None:
    """What a zip archive says besides the content of its files and their names."""
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    if archive.comment or any(member.comment for member in members):
        return "has a comment"
    if len({member.filename for member in members}) < len(members):
        return "holds a file twice"
    place = spoken_for = 0
    for member in members:
        name = member.orig_filename.encode("utf-8" if member.flag_bits & 0x800 else "cp437")
        if len(name) > _LONGEST_NAME:
            return f"gives a name of more than {_LONGEST_NAME} letters for what is packed"
        file.seek(member.header_offset)
        local = file.read(_LOCAL)
        lengths = int.from_bytes(local[26:28], "little"), int.from_bytes(local[28:30], "little")
        if file.read(lengths[0]) != name or not _is_plain(file.read(lengths[1])) or not _is_plain(member.extra):
            return "says more of its files than names, times and owners"
        if member.header_offset - place not in (_DESCRIPTORS if place else {0}):
            return "holds bytes that belong to no file"
        start = member.header_offset + _LOCAL + sum(lengths)
        file.seek(start)
        if member.compress_type == zipfile.ZIP_DEFLATED and not _ends_deflated(file, member.compress_size, -15):
            return "holds bytes that belong to no file"
        if member.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            return "is packed in a way that is not looked through"
        place = start + member.compress_size
        spoken_for += _CENTRAL + len(name) + len(member.extra)
    rest = path.stat().st_size - place - spoken_for - _END
    return None if {rest, rest - _LARGE_END} & _DESCRIPTORS else "holds bytes that belong to no file"


def _is_plain(extra: bytes) -> bool:
    """Whether what is said of a file besides its name is a size, a time or an owner."""
    while extra:
        kind, length = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        is_room = kind == _ROOM_TO_GROW and not extra[8 : 4 + length].strip(b"\0")
        if not is_room and (len(extra) < 4 + length or length > _TIMES_AND_OWNERS.get(kind, -1)):
            return False
        extra = extra[4 + length :]
    return True
