"""Compressed files: the same table comes out, and bombs and damaged files are refused."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.errors import DataError, MissingPart, RecipeError
from lookalike.files.tables import compressed, read_table
from lookalike.files.tables.formats import ZIP
from tests.examples import examples

TEXT = b"age,sex\n" + b"".join(b"%d,female\n" % (age % 90) for age in range(2000))


def zipped(data: bytes, *names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names or ("data/t.csv",):
            archive.writestr(name, data)
    return buffer.getvalue()


def zstd(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
    "zip": zipped,
}
packings = pytest.mark.parametrize("packing", PACKERS)


def kept(folder: Path, data: bytes) -> Path:
    path = folder / "t.packed"
    path.write_bytes(data)
    return path


@packings
def test_a_packed_table_is_the_table(tmp_path: Path, packing: str) -> None:
    path = kept(tmp_path, PACKERS[packing](TEXT))
    assert compressed.packing_of(path) == packing
    table = read_table(path)
    assert table.names == ["age", "sex"]
    assert table["age"].codes.tolist() == [age % 90 for age in range(2000)]


@packings
def test_a_cut_off_file_is_refused(tmp_path: Path, packing: str) -> None:
    whole = PACKERS[packing](TEXT)
    with pytest.raises(DataError, match=f"damaged or cut off {packing} file"):
        read_table(kept(tmp_path, whole[: len(whole) // 2]))


@packings
def test_a_bomb_is_refused_and_can_be_allowed(tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "FREE_BYTES", 1 << 20)
    monkeypatch.setattr(compressed, "MOST_RATIO", 20)
    path = kept(tmp_path, PACKERS[packing](b"age,note\n" + (b"7," + b"x" * 1021 + b"\n") * 2048))
    with pytest.raises(DataError, match="unpacks to more than 20 times its size.*--unpack-limit"):
        read_table(path)
    assert read_table(path, unpack_limit=3 << 20).n_rows == 2048
    with pytest.raises(DataError, match="more than the 1 MB allowed"):
        read_table(path, unpack_limit=1 << 20)


def test_an_endless_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "MOST_BYTES", 1 << 12)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_table(kept(tmp_path, gzip.compress(TEXT)))
    with pytest.raises(RecipeError, match="unpack_limit is a number of bytes"):
        read_table(kept(tmp_path, gzip.compress(TEXT)), unpack_limit=0)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("a.csv", "b.csv"), "zip archive with 2 files"),
        (("empty/",), "zip archive with 0 files"),
        (("a.parquet",), 'a file that ends in ".parquet"'),
    ],
)
def test_archives_without_one_table(tmp_path: Path, names: tuple[str, ...], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_table(kept(tmp_path, zipped(b"" if names[0].endswith("/") else b"a\n1\n", *names)))


def test_an_archive_of_endlessly_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "LONGEST_DIRECTORY", 2000)
    assert read_table(kept(tmp_path, zipped(b"a,b\n1,2\n"))).names == ["a", "b"]
    with pytest.raises(DataError, match="zip archive of far too many files"):
        read_table(kept(tmp_path, zipped(b"a\n1\n", *(f"{number}.csv" for number in range(100)))))


def test_what_desktops_add_to_archives_is_left_out(tmp_path: Path) -> None:
    data = zipped(b"a,b\n1,2\n", "t.csv", "__MACOSX/._t.csv", ".DS_Store")
    assert read_table(kept(tmp_path, data)).names == ["a", "b"]


def test_an_archive_with_a_password(tmp_path: Path) -> None:
    data = bytearray(zipped(b"a\n1\n"))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(DataError, match="password"):
        read_table(kept(tmp_path, bytes(data)))


def test_without_a_library_for_zstd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    with pytest.raises(MissingPart, match=r"lookalike\[zstd\]"):
        read_table(kept(tmp_path, zstd(TEXT)))


def test_streams_one_after_the_other_and_padding(tmp_path: Path) -> None:
    half = lzma.compress(b"a\n1\n")
    assert read_table(kept(tmp_path, half + b"\0" * 4 + lzma.compress(b"2\n"))).n_rows == 2


@pytest.mark.parametrize("magic", [b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd", ZIP])
@settings(max_examples=examples(25))
@given(rest=st.binary(max_size=200))
def test_whatever_follows_the_first_bytes(tmp_path_factory: pytest.TempPathFactory, magic: bytes, rest: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "noise.packed"
    path.write_bytes(magic + rest)
    with pytest.raises(DataError):
        read_table(path)
