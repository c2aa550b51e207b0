"""The journal of a run: points are kept line by line, and read as they were written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lookalike.apps.papers.experiments import Bench, Row
from lookalike.apps.papers.journal import Journal
from lookalike.errors import Infeasible
from tests.apps.papers.measuring import TINY, stand_ins

FOUND = {"gcp": 0.1 + 0.2, "rows": np.int64(7), "share": np.float64(0.25), "name": "a", "kept": True}


def test_rows_are_identical_when_measured_and_when_read(tmp_path: Path) -> None:
    path = tmp_path / "xx.points"
    at = {"k": 2, "theta": 0.1, "series": "one", "repetition": 0}
    measured = Journal(path).add(at, FOUND, 0.5)
    read = Journal(path).find(at)
    assert measured == read == {**at, "gcp": 0.1 + 0.2, "rows": 7, "share": 0.25, "name": "a", "kept": True}
    assert [type(value) for value in measured.values()] == [type(value) for value in (read or {}).values()]
    assert Journal().add(at, FOUND, 0.5) == read
    (row,) = Journal(path).rows
    assert list((row or {}).items()) == list(measured.items())


def test_infinite_numbers_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "xx.points"
    row = Journal(path).add({"k": 2}, {"beta": float("inf"), "t": float("nan")}, 0)
    assert row == Journal(path).find({"k": 2}) == {"k": 2, "beta": None, "t": None}


def test_points_are_told_apart_by_every_name(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "xx.points")
    journal.add({"k": 2, "series": "one"}, {"gcp": 0.1}, 0)
    assert journal.find({"series": "one", "k": 2}) == {"k": 2, "series": "one", "gcp": 0.1}
    assert journal.find({"k": 3, "series": "one"}) is None
    assert journal.find({"k": 2, "series": "two"}) is None


@pytest.mark.parametrize("kept", [1, 30, -1])
def test_a_line_that_was_cut_off_is_measured_again(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "xx.points"
    journal = Journal(path)
    for k in (2, 3):
        journal.add({"k": k}, FOUND, 0.5)
    whole = path.read_text(encoding="utf-8")
    first, second = whole.splitlines(keepends=True)
    path.write_text(first + second[:kept], encoding="utf-8")
    again = Journal(path)
    assert again.find({"k": 2}) is not None
    assert again.find({"k": 3}) is None
    again.add({"k": 3}, FOUND, 0.5)
    assert path.read_text(encoding="utf-8") == whole


def test_a_bench_measures_a_point_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def measure() -> Row:
        calls.append(1)
        return {"gcp": 0.3}

    rows = [
        Bench(stand_ins(), TINY, journal=Journal(tmp_path / "xx.points")).row({"k": 2, "series": "one"}, measure)
        for _ in range(2)
    ]
    assert rows[0] == rows[1] == {"k": 2, "series": "one", "gcp": 0.3}
    assert len(calls) == 1
    assert Bench(stand_ins(), TINY, is_planning=True).row({"k": 3}, measure) == {"k": 3}
    assert len(calls) == 1


def test_a_point_that_cannot_be_kept_is_said_and_kept(tmp_path: Path) -> None:
    def measure() -> Row:
        raise Infeasible("no such release")

    bench = Bench(stand_ins(), TINY, journal=Journal(tmp_path / "xx.points"))
    assert bench.row({"k": 2}, measure) == {"k": 2, "infeasible": "no such release"}
    assert Journal(tmp_path / "xx.points").find({"k": 2}) == {"k": 2, "infeasible": "no such release"}
