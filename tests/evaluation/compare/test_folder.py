"""What a folder keeps: runs that are not made again, what is made anew, and no value of the table."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from lookalike.errors import RecipeError
from lookalike.evaluation.compare import Run, processes
from lookalike.evaluation.compare.folder import Kept
from lookalike.evaluation.compare.runs import Task
from tests.evaluation.compare.asking import MODELS, compared, people, timeless


def test_a_folder_is_completed(tmp_path: Path, executed: list[str]) -> None:
    first = compared(folder=tmp_path / "kept", models="l-diversity:2")
    assert len(executed) == 2
    second = compared(folder=tmp_path / "kept")
    assert len(executed) == 6
    assert (len(second.made), len(second.reused)) == (4, 2)
    assert second.runs[:2] == first.runs
    assert any("2 runs" in note for note in second.notes)
    kept = sorted((tmp_path / "kept" / "runs").iterdir())
    assert len(kept) == 6
    kept[0].unlink()
    kept[1].write_text(kept[1].read_text()[:100])
    kept[2].write_text(json.dumps({"fingerprint": "another"}))
    third = compared(folder=tmp_path / "kept")
    assert (len(third.made), len(third.reused)) == (3, 3)
    assert timeless(third) == timeless(second)
    assert len(compared(folder=tmp_path / "kept").made) == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"data": people().with_columns(pl.col("illness").reverse())},
        {"data": people().head(119)},
        {"seed": 4},
        {"seed": None},
        {"attacks": ["naive-bayes", "homogeneity"]},
        {"algorithms": ["mondrian:cuts=2"]},
        {"models": ["l-diversity:2.5"]},
        {"categorical": ["height"]},
        {"adversary": "knows-method", "algorithms": ["mondrian-strict", "anatomy"]},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_what_changed_is_run_anew(tmp_path: Path, changed: dict[str, Any]) -> None:
    asked = {"models": ["l-diversity:2"], "algorithms": ["mondrian"], "folder": tmp_path / "kept"}
    compared(**asked)
    again = compared(**{**asked, **changed})
    assert again.reused == frozenset()
    assert compared(**asked).made == frozenset()


def test_the_same_table_from_elsewhere_is_the_same(tmp_path: Path) -> None:
    asked = {"models": ["l-diversity:2"], "algorithms": ["mondrian"], "folder": tmp_path / "kept"}
    compared(**asked)
    people().with_columns(more=pl.lit("not published")).write_csv(tmp_path / "people.csv")
    assert compared(tmp_path / "people.csv", **asked).made == frozenset()


def test_another_version_is_run_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"models": ["l-diversity:2"], "algorithms": ["mondrian"], "folder": tmp_path / "kept"}
    compared(**asked)
    monkeypatch.setattr("lookalike.evaluation.compare.folder.__version__", "99.0")
    assert len(compared(**asked).made) == 1


def test_interrupted_runs_leave_what_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = processes.execute, []

    def interrupted(task: Task, *rest: Any) -> Run:
        calls.append(task)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(task, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(processes, "execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            compared(folder=tmp_path / "kept")
    kept = [json.loads(path.read_text()) for path in (tmp_path / "kept" / "runs").iterdir()]
    assert [one["run"]["status"] for one in kept] == ["done", "done"]
    resumed = compared(folder=tmp_path / "kept")
    assert (len(resumed.made), len(resumed.reused)) == (4, 2)
    assert timeless(resumed) == timeless(compared())


def test_nothing_written_shows_a_value(tmp_path: Path) -> None:
    compared(
        models=[*MODELS, "l-diversity:50", "t-closeness:0.4"],
        attacks=["naive-bayes", "homogeneity", "possible-worlds"],
        folder=tmp_path / "kept",
        seed=918273645,
    )
    files = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"comparison.json", "comparison.csv", "frontier.svg"}
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "Xyzzyville" not in text
        assert "Plughitis" not in text
        assert "73100" not in text
        assert str(tmp_path) not in text
        assert "918273645" not in text
        assert not path.name.endswith(".part")


def test_a_comparison_that_was_killed_at_once_can_be_begun_again(tmp_path: Path) -> None:
    (tmp_path / "kept" / "runs").mkdir(parents=True)
    (tmp_path / "kept" / ".comparison.json.abcdefg1.part").mkdir(mode=0o700)
    Kept(tmp_path / "kept").begin()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["comparison.json", "runs"]
    (tmp_path / "kept" / "comparison.json").unlink()
    (tmp_path / "kept" / "runs" / "notes.txt").write_text("mine")
    with pytest.raises(RecipeError, match="something else"):
        Kept(tmp_path / "kept")


def test_a_full_disk_is_said_in_words_and_the_file_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(tmp_path / "kept")
    kept.begin()
    before = (tmp_path / "kept" / "comparison.json").read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RecipeError, match="no room left"):
        kept.write("comparison.json", "{}")
    assert (tmp_path / "kept" / "comparison.json").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["comparison.json", "runs"]
