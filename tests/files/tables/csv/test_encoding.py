"""Bytes to UTF-8 blocks: marks, fallbacks, compression, and the lines named in errors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from lookalike.errors import DataError, RecipeError
from lookalike.files.tables.csv.encoding import NotDecodable, TextFile, check_encoding, detect_encoding


def written(tmp_path: Path, data: bytes, name: str = "table.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_mark_decides_and_is_not_text(tmp_path: Path, encoding: str) -> None:
    path = written(tmp_path, "name\nJürgen €\n".encode(encoding))
    found, marked = detect_encoding(path)
    assert marked
    assert b"".join(TextFile(path, found).blocks()).decode() == "name\nJürgen €\n"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_characters_split_between_blocks_are_whole(tmp_path: Path, size: int) -> None:
    text = "añ€😀\n" * 5
    path = written(tmp_path, text.encode())
    assert b"".join(TextFile(path, "utf-8").blocks(size)).decode() == text
    path = written(tmp_path, text.encode("utf-16"))
    assert b"".join(TextFile(path, "utf-16").blocks(size)).decode() == text


@pytest.mark.parametrize("size", [2, 1000])
def test_bytes_that_do_not_fit_name_their_line(tmp_path: Path, size: int) -> None:
    path = written(tmp_path, b"a\nb\nJ\xfcrgen\n")
    with pytest.raises(NotDecodable) as caught:
        list(TextFile(path, "utf-8").blocks(size))
    assert (caught.value.encoding, caught.value.line) == ("utf-8", 3)


def test_a_character_cut_off_at_the_end_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path, "a\n€".encode()[:-1])
    with pytest.raises(NotDecodable):
        list(TextFile(path, "utf-8").blocks())


def test_nul_bytes_are_refused_with_their_line(tmp_path: Path) -> None:
    path = written(tmp_path, b"a,b\n1,2\n\x00\x01,3\n")
    with pytest.raises(DataError, match="line 3 holds a NUL byte"):
        list(TextFile(path, "utf-8").blocks(3))


def test_gzip_is_unpacked_and_a_cut_one_refused(tmp_path: Path) -> None:
    packed = gzip.compress("name\nJürgen\n".encode("utf-16") * 1)
    path = written(tmp_path, packed, "table.csv.gz")
    assert detect_encoding(path) == ("utf-16", True)
    assert b"".join(TextFile(path, "utf-16").blocks()).decode() == "name\nJürgen\n"
    path = written(tmp_path, packed[:-10], "cut.csv.gz")
    with pytest.raises(DataError, match="cut off gzip"):
        list(TextFile(path, "utf-16").blocks())


def test_names_of_encodings_are_checked() -> None:
    assert check_encoding("UTF8") == "utf-8"
    assert check_encoding("utf-8-sig") == "utf-8"
    assert check_encoding("latin1") == "iso8859-1"
    for unknown in ("klingon", "base64"):
        with pytest.raises(RecipeError, match="is not known"):
            check_encoding(unknown)


def test_the_share_read_reaches_the_end(tmp_path: Path) -> None:
    file = TextFile(written(tmp_path, b"a\n" * 100), "utf-8")
    shares = [file.share_read for _ in file.blocks(50)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
