"""Fixtures of the comparisons."""

from __future__ import annotations

from typing import Any

import pytest

from lookalike.evaluation.compare import Run, processes
from lookalike.evaluation.compare.runs import Task


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that are really made, in order."""
    made: list[str] = []
    real = processes.execute

    def counting(task: Task, *rest: Any) -> Run:
        made.append(f"{task.promise}, {task.algorithm}")
        return real(task, *rest)

    monkeypatch.setattr(processes, "execute", counting)
    return made
