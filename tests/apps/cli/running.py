"""The command, here and as its own process.

Most tests are about what a command says and does: `lookalike` calls it here, which saves starting Python and loading
libraries. What only a process shows (signals, terminals, the streams of the system) is tested with `as_process`.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from lookalike.apps.cli import main

CLI = [sys.executable, "-m", "lookalike"]
QI = ["--qi", "age,sex,zip code", "--sensitive", "diagnosis"]


class Done(NamedTuple):
    """What a command left, by the names that `subprocess` has for it."""

    returncode: int
    stdout: str
    stderr: str


def lookalike(*words: str | Path, cwd: Path | None = None) -> Done:
    out, err = _stream(), _stream()
    with (
        contextlib.chdir(cwd or Path.cwd()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as done,
    ):
        main([*map(str, words)], "lookalike")
    assert isinstance(done.value.code, int)
    return Done(done.value.code, _text(out), _text(err))


def as_process(*words: str | Path, cwd: Path | None = None) -> Done:
    done = subprocess.run([*CLI, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=300)
    return Done(done.returncode, done.stdout, done.stderr)


def published(patients: Path, out: Path, *words: str) -> Done:
    return lookalike("publish", patients, *QI, "--model", "k-anonymity:4", "--out", out, *words)


def check_listing(command: str) -> None:
    """Text and JSON list the same members, and every member and every parameter has its meaning."""
    found = json.loads(lookalike(command, "--json").stdout)[command]
    text = lookalike(command).stdout
    for row in found:
        assert row["name"] in text
        assert row["meaning"]
        assert all(parameter["meaning"] for parameter in row["parameters"]), row["name"]


def _stream() -> io.TextIOWrapper:
    """Of text over bytes, as the streams of a process are."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()
