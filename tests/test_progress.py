"""How many threads a search may use, and that it makes no difference to what comes out."""

from __future__ import annotations

import os

import pytest

from lookalike import progress


def test_the_number_is_what_is_said_or_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(progress.THREADS_VARIABLE, "3")
    assert progress.available_threads() == 3
    for nonsense in ("", "0", "-2", "many"):
        monkeypatch.setenv(progress.THREADS_VARIABLE, nonsense)
        assert 1 <= progress.available_threads() <= (os.cpu_count() or 1)
