"""Output on a terminal: progress is shown there and nowhere else."""

from __future__ import annotations

import contextlib
import os
import pty
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lookalike.apps.cli import main
from tests.apps.cli.running import QI, published


def test_progress_is_shown_on_a_terminal_and_only_there(
    patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little time it takes; that a bar waits for a second is left out here."""
    monkeypatch.setattr("lookalike.apps.cli.output._PATIENCE", 0)
    monkeypatch.setenv("TERM", "xterm")
    quiet = published(patients, tmp_path / "quiet")
    assert quiet.returncode == 0
    assert "\x1b[" not in quiet.stderr
    assert "%" not in quiet.stderr
    with at_a_terminal() as shown, pytest.raises(SystemExit) as done:
        main(["publish", str(patients), *QI, "--model", "k-anonymity:4", "--out", str(tmp_path / "out")])
    assert done.value.code == 0
    assert b"\x1b[" in shown
    assert b"%" in shown
    assert b"searching" in shown


@contextlib.contextmanager
def at_a_terminal() -> Iterator[bytearray]:
    """With a terminal for standard error; what it shows is there at the end."""
    leader, follower = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):
            while part := os.read(leader, 65536):
                shown.extend(part)

    reading = threading.Thread(target=read)
    reading.start()
    with os.fdopen(follower, "w") as terminal, contextlib.redirect_stderr(terminal):
        yield shown
    reading.join()
    os.close(leader)
