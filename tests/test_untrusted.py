"""Files and texts that mean harm are refused soon, in few words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lookalike.data.schema import Schema
from lookalike.data.taxonomy import read_paths
from lookalike.errors import DataError, LookalikeError, RecipeError, SchemaError
from lookalike.files.tables import read_table
from lookalike.models import parse_model
from lookalike.untrusted import DEEPEST, BadYaml, check_plain_file, load_json, load_yaml, read_text


def test_a_bomb_of_aliases_is_refused_before_it_is_written_out() -> None:
    doublings = "".join(f"a{step}: &a{step} [*a{step - 1}, *a{step - 1}]\n" for step in range(1, 40))
    with pytest.raises(BadYaml, match="more than 1,000,000 values") as refused:
        load_yaml(f"a0: &a0 x\n{doublings}")
    assert refused.value.line is not None


def test_a_ladder_of_aliases_is_as_deep_as_if_it_were_written_out() -> None:
    ladder = "a0: &a0 x\n" + "".join(f"a{step}: &a{step} [*a{step - 1}]\n" for step in range(1, 100))
    with pytest.raises(BadYaml, match=f"deeper than {DEEPEST}"):
        load_yaml(ladder)
    assert load_yaml("\n".join(ladder.splitlines()[:3]))["a2"] == [["x"]]


def test_an_honest_alias_stands_for_what_it_names() -> None:
    assert load_yaml("a: &a [1, {b: 2}]\nc: *a") == {"a": [1, {"b": 2}], "c": [1, {"b": 2}]}
    assert load_yaml("a: 007", as_text=True) == {"a": "007"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 100_000, f"deeper than {DEEPEST}"),
        ("&a [*a]", "holds itself"),
        ("!!int ''", "not what its tag says"),
        ("!!timestamp x", "not what its tag says"),
        ("!!bool x", "not what its tag says"),
        ("9" * 5000, "limit"),
        ("a\0b", "character"),
        ("2024-99-99", "month"),
        ("*" + "a" * 10_000, "undefined alias"),
    ],
)
def test_yaml_that_would_break_its_reader_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadYaml, match=problem) as refused:
        load_yaml(text)
    assert len(str(refused.value)) <= 120


def test_json_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="too deep"):
        load_json("[" * 200_000)


def test_what_has_no_end_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    endless = tmp_path / "endless"
    endless.symlink_to("/dev/zero")
    for path in (pipe, endless):
        with pytest.raises(OSError, match="a pipe or a device"):
            check_plain_file(path)
        for read, kind in (
            (read_table, DataError),
            (Schema.load, SchemaError),
            (read_paths, DataError),
            (lambda path: parse_model(f"f-privacy:file={path}"), RecipeError),
        ):
            with pytest.raises(LookalikeError, match="a pipe or a device, not a file") as refused:
                read(path)  # type: ignore[operator]
            assert isinstance(refused.value, kind)
    with pytest.raises(OSError, match="NUL"):
        read_text(tmp_path / "a\0b")


def test_a_text_is_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n")
    assert read_text(path, "utf-8-sig") == path.read_text(encoding="utf-8-sig") == "a\nb\nc\n"
