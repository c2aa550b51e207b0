"""A bounded number of faults; thousands of them: `make faults`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only: its audit hooks, locks and limits")


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """In memory where the machine has that."""
    shared = Path("/dev/shm")
    place = shared if os.access(shared, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-", dir=place) as folder:
        yield Path(folder)


def test_a_folder_killed_at_every_moment_is_old_or_new_and_the_next_run_clears_up(quick_folder: Path) -> None:
    counts = json.loads(_script("folder_kills.py", quick_folder))
    assert counts["kills"] >= 60
    assert counts["refusals"] >= 30
    assert min(counts[state] for state in ("old", "new", "absent")) > 0


def test_a_run_that_is_killed_loses_nothing() -> None:
    said = _script("runs.py", "--count", 1, "--rows", 40, "--kinds", "kill at a moment", "--only", "publish")
    assert "1 kill at a moment: survived" in said
    assert "1 publish: killed" in said


def _script(name: str, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, HERE / name, *map(str, words)], capture_output=True, text=True, timeout=300, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
