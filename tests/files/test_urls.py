"""Tables from standard input and from URLs; URLs with secrets are refused and never shown."""

from __future__ import annotations

import io
import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import fsspec
import polars as pl
import pytest

from lookalike.errors import DataError, MissingPart, RecipeError
from lookalike.files import urls
from lookalike.files.tables import read_table

SECRET = "hunter2secret"


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


@pytest.fixture
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tables are kept while they are read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_table_from_standard_input(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"a;b\n1;2\n")
    table = read_table("-")
    assert (table.names, table.source) == (["a", "b"], "standard input")
    assert list(kept_in.iterdir()) == []


def test_what_is_kept_is_private_and_gone_after_an_error(kept_in: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"a,b\n1\n")
    with urls.at_hand("-") as path:
        assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
    piped(monkeypatch, b"a,b\n1\n")
    with pytest.raises(DataError, match="^standard input: line 2 has 1 field"):
        read_table("-")
    assert list(kept_in.iterdir()) == []


def test_nothing_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"")
    with pytest.raises(DataError, match="Standard input is empty"):
        read_table("-")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    with pytest.raises(RecipeError, match="is a terminal"):
        read_table("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(RecipeError, match="no standard input"):
        read_table("-")


def test_files_and_folders_behind_urls(
    memory: fsspec.AbstractFileSystem, kept_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/bucket/my table.csv", b"a,b\n1,2\n")
    table = read_table("memory://bucket/my table.csv")
    assert (table.names, table.source) == (["a", "b"], "my table.csv")
    for year in (2023, 2024):
        buffer = io.BytesIO()
        pl.DataFrame({"age": [year - 2000]}).write_parquet(buffer)
        memory.pipe(f"/bucket/parts/year={year}/part.parquet", buffer.getvalue())
    assert read_table("memory://bucket/parts")["year"].values.tolist() == [2023, 2024]
    (kept_in / "t.csv").write_text("x\n1\n")
    assert read_table(f"file://{kept_in}/t.csv").names == ["x"]
    assert [path.name for path in kept_in.iterdir()] == ["t.csv"]


def test_nothing_behind_a_url(memory: fsspec.AbstractFileSystem) -> None:
    with pytest.raises(DataError, match="There is nothing at memory://bucket/none.csv"):
        read_table("memory://bucket/none.csv")
    with pytest.raises(RecipeError, match='no kind of URL "s4". Known: s3, gs'):
        read_table("s4://bucket/t.csv")
    with pytest.raises(RecipeError, match="chain of several"):
        read_table("memory://a/t.csv::file:///etc/passwd")


@pytest.mark.parametrize(
    "url",
    [
        f"s3://key:{SECRET}@bucket/t.csv",
        f"s3://{SECRET}@bucket/t.csv",
        f"s3://key:{SECRET}/more@bucket/t.csv",
        f"s3://key:{SECRET}",
        f"https://host/t.csv?X-Amz-Signature={SECRET}",
        f"https://host/t.csv#{SECRET}",
        f"https://user%3A{SECRET}%40host/t.csv",
        f"sftp://user:{SECRET}@host:22/t.csv",
        f"abfs://box:{SECRET}@account/t.csv",
        f"abfs://box@account@{SECRET}/t.csv",
        f"file://{SECRET}@host/t.csv",
        f"https://[{SECRET}/t.csv",
    ],
)
def test_a_url_with_a_secret_is_refused_and_not_shown(url: str) -> None:
    with pytest.raises(RecipeError, match="give the plain URL") as refused:
        read_table(url)
    assert SECRET not in str(refused.value)


def test_plain_urls_are_places() -> None:
    for url in ("s3://bucket/t.csv", "abfs://box@account.dfs/t.csv", "https://host:8080/a/t.csv", "gs://b/a=1/"):
        assert urls.place_of(url).url == url
    assert urls.place_of("gs://b/a%20b.csv").name == "a b.csv"


def test_words_of_other_libraries_are_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(url: str) -> None:
        raise RuntimeError(f"token={SECRET}")

    monkeypatch.setattr(fsspec.core, "url_to_fs", fails)
    with pytest.raises(DataError, match=r"cannot be reached \(RuntimeError\)") as refused:
        read_table("s3://bucket/t.csv")
    assert SECRET not in str(refused.value)
    assert refused.value.__suppress_context__


def test_without_the_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks(url: str) -> None:
        raise ImportError("Install s3fs")

    monkeypatch.setattr(fsspec.core, "url_to_fs", lacks)
    with pytest.raises(MissingPart, match=r'need s3fs. Install it: pip install "lookalike\[urls\]" s3fs\.'):
        read_table("s3://bucket/t.csv")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(MissingPart, match=r'need fsspec. Install it: pip install "lookalike\[urls\]"\.'):
        read_table("memory://t.csv")
