"""Original, release, lost: from a publication, from a folder, from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import lookalike
from lookalike.errors import RecipeError
from tests.apps.cli.running import lookalike as command


@pytest.fixture(scope="module")
def made(patients: Path) -> lookalike.Publication:
    return lookalike.publish(
        patients, qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:3", algorithm="anatomy", seed=1
    )


@pytest.fixture(scope="module")
def folder(made: lookalike.Publication, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared") / "release"
    made.write(out, report="brief")
    return out


def test_a_publication_and_its_folder_say_the_same(made: lookalike.Publication, folder: Path, patients: Path) -> None:
    pytest.importorskip("sklearn")
    here, there = lookalike.fidelity(made), lookalike.fidelity(folder, patients)
    metrics = [
        "marginal_distance",
        "pair_distance",
        "correlation_difference",
        "propensity_ratio",
        *["accuracy_loss"] * 2,
    ]
    assert [line.metric for line in here.lines] == [line.metric for line in there.lines] == metrics
    for one, other in zip(here.lines[:3], there.lines[:3], strict=True):
        assert (one.what, one.lost) == (other.what, pytest.approx(other.lost))
    assert here["marginal_distance"] == 0
    assert 0 < here["pair_distance"] < 0.5
    for line in here.lines[:4]:
        assert line.lost == abs(line.original - line.release)
    assert all(line.lost == line.original - line.release for line in here.lines[4:])
    with pytest.raises(KeyError):
        here["gcp"]
    assert len(str(here).splitlines()) == len(metrics) + 1


def test_without_scikit_learn_the_rest_is_there(made: lookalike.Publication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    found = lookalike.fidelity(made)
    assert [line.metric for line in found.lines] == ["marginal_distance", "pair_distance", "correlation_difference"]
    assert "pip install" in found.notes[0]


def test_a_folder_needs_its_original(folder: Path) -> None:
    with pytest.raises(RecipeError, match="Name the original"):
        lookalike.fidelity(folder)


def test_the_command(folder: Path, patients: Path) -> None:
    pytest.importorskip("sklearn")
    words = ["fidelity", folder, "--original", patients]
    table = command(*words)
    assert table.returncode == 0, table.stderr
    head, first = (line.split() for line in table.stdout.splitlines()[:2])
    assert head == ["original", "release", "lost"]
    assert first == ["distance", "of", "single", "columns", "0.000", "0.000", "0.000"]
    plain = json.loads(command(*words, "--json").stdout)
    assert {"metric", "what", "original", "release", "lost"} == set(plain["lines"][0])
