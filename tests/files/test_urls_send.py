"""Releases sent to URLs: the descriptor comes last, and a copy that fails leaves nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pytest

import lookalike as la
from lookalike.errors import DataError, RecipeError
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.urls import check_destination, place_of, send

FRAME = pl.DataFrame({"age": [1, 2, 3, 4], "diagnosis": ["a", "b", "a", "b"]})


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()


@pytest.fixture(scope="module")
def publication() -> la.Publication:
    return la.publish(FRAME, qi=["age"], sensitive="diagnosis", model="l-diversity:2")


def test_a_release_goes_to_a_url_and_is_audited_from_there(
    publication: la.Publication, memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    put = type(memory).put_file

    def noted(self: Any, source: str, target: str, *more: Any, **options: Any) -> None:
        order.append(target)
        put(self, source, target, *more, **options)

    monkeypatch.setattr(type(memory), "put_file", noted)
    files = publication.write("memory://out/release", report="brief")
    assert sorted(memory.find("/out/release")) == [f"/out/release/{name}" for name in sorted(files)]
    assert order[-1] == f"/out/release/{DESCRIPTOR}"
    assert la.verify(FRAME, "memory://out/release").passed
    with pytest.raises(RecipeError, match="something at memory://out/release already"):
        publication.write("memory://out/release", report="brief")
    with pytest.raises(RecipeError, match="nothing private is kept"):
        publication.write("memory://out/other", private=True)


def test_a_copy_that_fails_leaves_nothing(
    tmp_path: Path, memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (DESCRIPTOR, "a.csv", "b.csv"):
        (tmp_path / name).write_text("x")
    put = type(memory).put_file

    def breaks_off(self: Any, source: str, target: str, *more: Any, **options: Any) -> None:
        put(self, source, target, *more, **options)
        if target.endswith("b.csv"):
            raise ConnectionResetError("secret-token")

    monkeypatch.setattr(type(memory), "put_file", breaks_off)
    with pytest.raises(DataError, match=r"cannot be reached \(ConnectionResetError\)") as failed:
        send(tmp_path, place_of("memory://out/r"), last=DESCRIPTOR)
    assert "secret-token" not in str(failed.value)
    assert memory.find("/out") == []


def test_a_file_that_arrives_cut_off(
    tmp_path: Path, memory: fsspec.AbstractFileSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / DESCRIPTOR).write_text("whole")
    monkeypatch.setattr(type(memory), "size", lambda self, path: 1)
    with pytest.raises(DataError, match="did not arrive whole"):
        send(tmp_path, place_of("memory://out/r"), last=DESCRIPTOR)
    assert memory.find("/out") == []


def test_places_that_take_no_release() -> None:
    with pytest.raises(RecipeError, match="cannot be sent to https"):
        check_destination(place_of("https://host/release"))
    with pytest.raises(RecipeError, match="a URL, and this is read from folders"):
        la.open_release("memory://out/release")
    with pytest.raises(RecipeError, match="plain URL") as refused:
        la.open_release("s3://key:hunter2@bucket/release")
    assert "hunter2" not in str(refused.value)
