"""The search itself: whatever is planted is found, however it is packed. Without this, silence would prove nothing."""

from __future__ import annotations

import socket
import time
import zipfile
import zlib
from pathlib import Path

import polars as pl
import pytest

from tests.secrets.test_published_files import ROWS, SEED, check_order
from tests.secrets.traces import check_parquet, traces

PLANTED = {
    "seed": str(SEED),
    "seed in hex": f"{SEED:x}",
    "IDENT-": "IDENT-00001",
    "the time": "made 2026-05-06T07:08",
    "the time of a computer": str(int(time.time())),
    "the time of a document": "D:20260506070809",
    "a machine": f"on {socket.gethostname()}-planted",
}


def found(path: Path) -> bool:
    return bool(traces([path], seed=SEED, words=["IDENT-", f"{socket.gethostname()}-planted"]))


@pytest.mark.parametrize("text", PLANTED.values(), ids=PLANTED)
def test_a_trace_is_found_in_every_kind_of_file(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.html").write_text(f"<p>{text}</p>")
    pl.DataFrame({"x": ["plain", text] * 40}).write_parquet(tmp_path / "a.parquet", compression="zstd")
    pl.DataFrame({"x": [1]}).write_parquet(tmp_path / "b.parquet", metadata={"note": text})
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4\nstream\n" + zlib.compress(f"({text})".encode()) + b"\nendstream")
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr(zipfile.ZipInfo("release/a.html"), f"<p>{text}</p>")
    assert [path.name for path in sorted(tmp_path.iterdir()) if not found(path)] == []
    clean = tmp_path / "clean.csv"
    clean.write_text("from,to\n2024-01-05,2024-02-10\n0.17943210987654,17\n")
    assert not found(clean)


def test_seeds_in_bytes_are_found(tmp_path: Path) -> None:
    for order in ("little", "big"):
        (tmp_path / "a.bin").write_bytes(b"xx" + SEED.to_bytes(8, order) + b"yy")
        assert found(tmp_path / "a.bin")


def test_metadata_and_dictionaries_of_parquet_are_noticed(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"x": ["a", "b"], "n": [{"low": 1, "high": 2}] * 2, "s": [{"values": ["a"], "any": False}] * 2}
    )
    frame.write_parquet(tmp_path / "good.parquet")
    check_parquet(tmp_path / "good.parquet")
    frame.write_parquet(tmp_path / "noted.parquet", metadata={"pandas": "{}"})
    # An enumeration lists values that no cell has.
    frame.select(pl.col("x").cast(pl.Enum(["a", "b", "rare"]))).write_parquet(tmp_path / "listed.parquet")
    for name in ("noted", "listed"):
        with pytest.raises(AssertionError):
            check_parquet(tmp_path / f"{name}.parquet")


def test_an_order_that_was_kept_or_turned_around_is_noticed(tmp_path: Path) -> None:
    for turn in (range(ROWS), range(ROWS, 0, -1), [row ^ 1 for row in range(ROWS)]):
        pl.DataFrame({"turn": list(turn)}).write_parquet(tmp_path / "a.parquet")
        with pytest.raises(AssertionError, match="of the original"):
            check_order(tmp_path)
