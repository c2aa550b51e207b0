"""A command that is told to end: nothing of what it had put aside stays."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from lookalike.files.releases.write import NewRelease
from tests.apps.cli.running import lookalike, published


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)], ids=str
)
def test_a_signal_in_the_middle_of_writing_leaves_nothing(
    patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    seen: list[list[str]] = []

    def told_to_end(out: NewRelease, *_: Any) -> None:
        seen.append(sorted(path.name for path in out.folder.iterdir()))
        os.kill(os.getpid(), number)

    def left(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(NewRelease, "check", told_to_end)
    monkeypatch.setattr(os, "_exit", left)
    usual = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
    heeded = signal.signal(number, usual)
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    try:
        done = published(patients, tmp_path / "out")
    finally:
        left_as = {one: signal.getsignal(one) for one in before}
        signal.signal(number, heeded)
    assert (done.returncode, "No release was left half done" in done.stderr) == (code, True)
    assert "release.csv" in seen[0]
    assert list(tmp_path.iterdir()) == []
    assert left_as == before


def test_a_signal_that_is_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        heard: list[Any] = []
        monkeypatch.setattr("lookalike.apps.cli.output.print_json", lambda rows: heard.append(signal.getsignal(1)))
        assert lookalike("models", "--json").returncode == 0
        assert heard == [signal.SIG_IGN]
    finally:
        signal.signal(signal.SIGHUP, before)
