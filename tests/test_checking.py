"""From a release folder and its original to what attacks achieve and what was lost, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import lookalike
import lookalike as la
from lookalike.apps.cli import main
from lookalike.errors import DataError, RecipeError


@pytest.fixture(scope="module")
def original() -> pl.DataFrame:
    """Illness follows from the town, so anyone who learns from a release of groups learns it."""
    rng = np.random.default_rng(4)
    town = rng.integers(0, 6, 600)
    illness = np.where(rng.random(600) < 0.9, town, rng.integers(0, 6, 600))
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, 600),
            "town": [f"t{code}" for code in town],
            "illness": [f"i{code}" for code in illness],
        }
    )


@pytest.fixture(scope="module")
def folder(original: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("attacked")
    original.write_csv(folder / "people.csv")
    made = la.publish(original, qi=["age", "town"], sensitive="illness", model="l-diversity:2", seed=3)
    made.write(folder / "release", report="brief")
    return folder


def run(*words: object):  # type: ignore[no-untyped-def]
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.slow
def test_attacks_on_a_folder(original: pl.DataFrame, folder: Path) -> None:
    found = la.attack(original, folder / "release", attacks=["naive-bayes", "homogeneity"], seed=1)
    assert [attacked.finding.attack.partition(":")[0] for attacked in found.made] == ["naive-bayes", "homogeneity"]
    bayes = found.made[0]
    assert bayes.finding.succeeds
    assert bayes.finding.column == "illness"
    assert set(bayes.kept) == {"illness=l-diversity:2"}
    assert "naive-bayes" in str(found)
    plain = found.to_plain()
    assert plain["attacks"][0]["accuracy"] > max(plain["attacks"][0]["baselines"].values())


def test_rows_that_a_table_of_another_tool_lacks_count_as_lost(original: pl.DataFrame, tmp_path: Path) -> None:
    made = la.publish(original, qi=["age", "town"], sensitive="illness", model="k-anonymity:5", seed=3)
    rows = made.to_polars()
    roles = la.Schema.of(qi=["age", "town"], sensitive=["illness"])
    found = {}
    for n_rows in (600, 450):
        rows.head(n_rows).write_csv(tmp_path / "rows.csv")
        found[n_rows] = la.measure(original, tmp_path / "rows.csv", schema=roles)
        said = la.measure(original, tmp_path / "rows.csv", schema=roles, suppressed=600 - n_rows)
        assert dict(found[n_rows]) == pytest.approx(dict(said))
    assert 0.25 < found[450]["gcp"] < 0.25 + 0.75 * 2 * found[600]["gcp"] + 0.01
    assert "The release has 150 rows fewer than the original: they count as suppressed." in found[450].notes
    assert not any("fewer" in note for note in found[600].notes)


def test_a_release_of_another_table_is_refused(original: pl.DataFrame, folder: Path) -> None:
    changed = original.with_columns(pl.col("illness").shuffle(seed=5))
    with pytest.raises(DataError, match="does not belong to this original"):
        la.attack(changed, folder / "release", attacks=["homogeneity"])
    with pytest.raises(DataError):
        la.attack(original.head(500), folder / "release", attacks=["homogeneity"])


def test_an_attack_that_does_not_apply_says_why(original: pl.DataFrame, folder: Path) -> None:
    with pytest.raises(RecipeError, match="possible-worlds cannot be made on this release"):
        la.attack(original, folder / "release", attacks=["possible-worlds"])
    found = la.attack(original, folder / "release", attacks=["possible-worlds", "homogeneity"])
    assert list(found.not_made) == ["possible-worlds"]
    with pytest.raises(RecipeError, match="Did you mean"):
        la.attack(original, folder / "release", attacks=["naive-bays"])


@pytest.fixture(scope="module")
def made(patients: Path) -> lookalike.Publication:
    return lookalike.publish(
        patients, qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:3", algorithm="anatomy", seed=1
    )


@pytest.fixture(scope="module")
def written(made: lookalike.Publication, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared") / "release"
    made.write(out, report="brief")
    return out


@pytest.mark.slow
def test_a_publication_and_its_folder_say_the_same(made: lookalike.Publication, written: Path, patients: Path) -> None:
    pytest.importorskip("sklearn")
    here, there = made.fidelity(), lookalike.fidelity(patients, written)
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
    found = made.fidelity()
    assert [line.metric for line in found.lines] == ["marginal_distance", "pair_distance", "correlation_difference"]
    assert "pip install" in found.notes[0]
