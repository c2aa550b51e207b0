"""Runs in their own processes: the same results, no process left behind, no death shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lookalike.evaluation.compare import processes
from tests.evaluation.compare.asking import compared, timeless
from tests.evaluation.compare.methods import Dying


def test_side_by_side_is_one_after_the_other_and_one_that_dies_takes_only_itself() -> None:
    alone, beside = compared(), compared(algorithms=["mondrian", Dying(), "anatomy"], jobs=2)
    dead = [run for run in beside.runs if run.algorithm == "dying"]
    assert [run.status for run in dead] == ["fault"] * 3
    assert all("memory" in run.reason for run in dead)
    assert timeless(alone) == [run for run in timeless(beside) if run.algorithm != "dying"]
    assert [run.name for run in alone.frontier] == [run.name for run in beside.frontier]


def test_interrupted_processes_are_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    real = processes.subprocess.Popen

    def watched(*words: Any, **more: Any) -> Any:
        started.append(real(*words, **more))
        return started[-1]

    def stop(step: str, share: float, note: str = "") -> bool | None:
        if step == "compare" and share > 0:
            raise KeyboardInterrupt
        return None

    monkeypatch.setattr(processes.subprocess, "Popen", watched)
    with pytest.raises(KeyboardInterrupt):
        compared(folder=tmp_path / "kept", jobs=2, progress=stop)
    assert 1 <= len(started) <= 2
    assert all(process.poll() is not None for process in started)
    assert len(list((tmp_path / "kept" / "runs").glob("*.json"))) == 1
    monkeypatch.undo()
    assert len(compared(folder=tmp_path / "kept").reused) == 1
