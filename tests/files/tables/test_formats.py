"""The registry of formats: what it knows, and a format that is added from outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import lookalike as la
from lookalike.errors import DataError, RecipeError
from lookalike.files.tables.formats import FORMATS, TEXT, Asked, Format, format_of, list_endings, register_format


class Lines(Format):
    """One JSON object a line."""

    name, endings, about = "JSON lines", (".jsonl",), "one object a line"

    def scan(self, path: Path, asked: Asked) -> tuple[pl.DataFrame, list[str]]:
        return pl.read_ndjson(path), ["Read as JSON."]


class Boxed(Format):
    """The same behind some bytes."""

    name, endings, magic = "Boxed", (".boxed",), (b"BOX1",)

    def scan(self, path: Path, asked: Asked) -> tuple[pl.LazyFrame, list[str]]:
        return pl.read_ndjson(path.read_bytes()[4:]).lazy(), []


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = dict(FORMATS)
    yield
    FORMATS.clear()
    FORMATS.update(before)


def lines(n_rows: int = 40) -> bytes:
    people = (
        {"age": 20 + row % 7, "sex": "FM"[row % 2], "illness": ["flu", "gout", None][row % 3]} for row in range(n_rows)
    )
    return "".join(json.dumps(one) + "\n" for one in people).encode()


def test_endings_belong_to_one_format_each() -> None:
    assert len(set(list_endings())) == len(list_endings())
    assert all(one.about and one.name == name for name, one in FORMATS.items())


@pytest.mark.parametrize(("kind", "start", "ending"), [(Lines, b"", ".jsonl"), (Boxed, b"BOX1", ".boxed")])
def test_a_format_from_outside_is_read_by_path(kind: type[Format], start: bytes, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"people{ending}"
    path.write_bytes(start + lines())
    register_format(kind)
    assert format_of(path).name == kind.name
    table = la.read_table(path, columns=["age", "illness"])
    assert table.names == ["age", "illness"]
    assert table.n_rows == 40
    assert table.notes[:1] == (("Read as JSON.",) if kind is Lines else ())
    made = la.publish(path, qi=["age", "sex"], sensitive="illness", model="k-anonymity:3")
    made.write(tmp_path / "out", report="brief")
    assert la.verify(path, tmp_path / "out").passed
    assert la.inspect(path)


def test_first_bytes_go_before_names(tmp_path: Path) -> None:
    register_format(Boxed)
    odd = tmp_path / "people.csv"
    odd.write_bytes(b"BOX1" + lines())
    assert format_of(odd).name == "Boxed"
    renamed = tmp_path / "people.boxed"
    renamed.write_bytes(b"age,ill\n30,flu\n")
    with pytest.raises(DataError, match="does not begin as such a file does. Save the table as CSV, .* or Boxed first"):
        format_of(renamed)
    unknown = tmp_path / "people.what"
    unknown.write_bytes(b"age,sex\n1,F\n")
    assert format_of(unknown) is TEXT


def test_what_the_audit_cannot_look_through_is_refused_as_a_release(tmp_path: Path) -> None:
    register_format(Lines)
    path = tmp_path / "people.jsonl"
    path.write_bytes(lines())
    pl.read_ndjson(path).write_csv(tmp_path / "people.csv")
    audit = la.verify(
        tmp_path / "people.csv",
        path,
        model="k-anonymity:1",
        schema=la.Schema.of(qi=["age", "sex"], sensitive=["illness"]),
    )
    assert any("not looked through" in check.detail for check in audit.checks if not check.passed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "parquet"}, 'name "parquet" belongs to the format Parquet'),
        ({"endings": (".new", ".csv")}, "ending .csv belongs to the format CSV"),
        ({"endings": ()}, "needs endings"),
        ({"endings": ("new",)}, "needs endings"),
        ({"endings": (".NEW",)}, "needs endings"),
        ({"magic": (b"",)}, "1 to 8 bytes"),
        ({"magic": (b"123456789",)}, "1 to 8 bytes"),
    ],
)
def test_what_cannot_be_registered(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        register_format(type("Other", (Lines,), changes))
    assert "Other" not in FORMATS
