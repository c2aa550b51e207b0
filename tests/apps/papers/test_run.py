"""Running experiments: data sets, names, what is written, and claims that can fail."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from lookalike.apps.papers import EXPERIMENTS, Experiment, Figure, Results, Shape, find, reproduce, run
from lookalike.apps.papers.datasets import QUASI, Datasets
from lookalike.apps.papers.experiments import Bench, Row, Size
from lookalike.apps.samples.census import census
from lookalike.apps.samples.drawing import to_csv
from lookalike.errors import DataError, RecipeError

TINY = Size("tiny", rows=400, most_rows=400, repetitions=2, queries=50)


def measured(bench: Bench) -> Iterator[Row]:
    data = bench.datasets.census(bench.size.rows, QUASI[:3])
    for k in (2, 5):
        for repetition in bench.repetitions:
            made = bench.publish(data, f"k-anonymity:{k}", "mondrian", seed=repetition)
            yield {"k": k, "series": "mondrian", "repetition": repetition, "gcp": made.metric("gcp"), "t": made.t}


EXAMPLE = Experiment(
    title="loss by k",
    setting="CENSUS",
    reports="Loss rises.",
    figures=(Figure("xx-1a", "k", "gcp", "k", "GCP"), Figure("xx-1b", "k", "t", "k", "t")),
    measure=measured,
    shapes=(
        Shape("loss rises with k", lambda found: found.goes(1, "k", "gcp", "mondrian")),
        Shape("loss falls with k", lambda found: found.goes(-1, "k", "gcp", "mondrian")),
    ),
)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "find", lambda names: [EXAMPLE])


@pytest.mark.usefixtures("tiny")
def test_results_verdicts_and_figures_are_written(tmp_path: Path) -> None:
    (done,) = reproduce(["xx-1a"], out=tmp_path)
    assert done.verdicts == (("loss rises with k", True), ("loss falls with k", False))
    assert not done.holds
    assert "DOES NOT SHOW: loss falls with k" in str(done)
    assert done.data == "stand-in"
    with (tmp_path / "xx-1a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {row["repetition"] for row in rows} == {"0", "1"}
    told = json.loads((tmp_path / "xx-1a.json").read_text(encoding="utf-8"))
    assert told["shows"] == {"loss rises with k": True, "loss falls with k": False}
    for name in ("xx-1a", "xx-1b"):
        text = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "stand-in" in text


def test_a_file_is_no_folder_for_results(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    with pytest.raises(DataError, match="Name a folder"):
        reproduce(["hg-6a"], out=tmp_path / "results")
    assert (tmp_path / "results").read_text() == "mine"


@pytest.mark.usefixtures("tiny")
def test_the_same_seeds_give_the_same_results() -> None:
    first, second = (reproduce(["xx-1a"])[0].results.rows for _ in range(2))
    assert first == second


@pytest.mark.usefixtures("tiny")
def test_a_folder_of_real_records_is_used_and_said(tmp_path: Path) -> None:
    table = census(500, seed=9)
    to_csv(table, tmp_path / "census1k.csv")
    text = (tmp_path / "census1k.csv").read_text(encoding="utf-8")
    head, rest = text.split("\n", 1)
    (tmp_path / "census1k.csv").write_text(head.casefold().replace("work class", "workclass") + "\n" + rest)
    (done,) = reproduce(["xx-1a"], data=tmp_path)
    assert done.data == "census extract"
    assert Datasets(tmp_path).census(500).n_rows == 500


def test_folders_that_do_not_serve_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is no folder"):
        reproduce(["hg-6a"], data=tmp_path / "nothing")
    with pytest.raises(DataError, match=r"no census\*\.csv"):
        Datasets(tmp_path).census(10)
    (tmp_path / "census1k.csv").write_text("age,gender\n30,1\n")
    with pytest.raises(DataError, match="lacks the column"):
        Datasets(tmp_path).census(10)


def test_experiments_are_found_by_figure_paper_or_all() -> None:
    assert find(["HG-6A"])[0].name == "hg-6a"
    assert find(["hg-5a"])[0].names == ["hg-4a", "hg-5a"]
    assert {experiment.paper for experiment in find(["hg"])} == {"HG"}
    assert find(["all"]) == list(EXPERIMENTS)
    assert len(find(["hg-6a", "hg-6a"])) == 1
    with pytest.raises(RecipeError, match="hg-6a"):
        find(["hg-6z"])


def test_every_figure_has_one_experiment() -> None:
    names = [name for experiment in EXPERIMENTS for name in experiment.names]
    assert len(set(names)) == len(names)
    for experiment in EXPERIMENTS:
        assert experiment.shapes
        assert len({shape.claim for shape in experiment.shapes}) == len(experiment.shapes)
        assert experiment.reports


def test_tables_keep_their_domains_and_are_made_once() -> None:
    datasets = Datasets()
    small, large = datasets.census(300), datasets.census(2000)
    assert [domain.size for domain in small.domains.quasi[3:]] == [domain.size for domain in large.domains.quasi[3:]]
    assert small.domains.quasi[0].high == large.domains.quasi[0].high
    assert datasets.census(300) is small
    assert datasets.census(300, QUASI[:2]).quasi.shape == (300, 2)
    assert (datasets.census(100, start=50).quasi[:, 1] == large.quasi[50:150, 1]).all()


def test_the_stand_in_for_coil_has_its_cardinalities() -> None:
    data = Datasets().coil(8000)
    assert [domain.n_codes for domain in data.domains.quasi] == [10, 6, 6, 10]
    assert data.domains.sensitive[0].n_codes == 41
    nested = {(int(subtype), int(kind)) for subtype, kind in zip(data.sensitive[:, 0], data.quasi[:, 3], strict=True)}
    assert len(nested) == 41


def test_results_are_read_by_means() -> None:
    rows = [
        {"x": x, "series": series, "repetition": repetition, "y": level * x + repetition}
        for series, level in (("low", 1.0), ("high", 2.0))
        for x in (1, 2, 3)
        for repetition in (0, 1)
    ]
    found = Results(tuple(rows))
    assert found.means("x", "y", "low") == {1: 1.5, 2: 2.5, 3: 3.5}
    assert found.below("x", "y", "low", "high")
    assert not found.below("x", "y", "high", "low")
    assert not found.below("x", "y", "low", "absent")
    assert found.goes(1, "x", "y", "low")
    assert not found.goes(-1, "x", "y", "low")
    assert np.isclose(found.values("x", "y", "high")[3], [6, 7]).all()
