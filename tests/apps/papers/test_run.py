"""Running experiments: names, what is written, runs that were stopped, and the papers' tables."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from lookalike.apps.papers import (
    EXPERIMENTS,
    PAPERS,
    Claim,
    Experiment,
    Figure,
    Results,
    Verdict,
    find,
    reproduce,
    run,
    today,
)
from lookalike.apps.papers.claims import falls, rises
from lookalike.apps.papers.datasets import QUASI, Datasets
from lookalike.apps.papers.experiments import FULL, Bench, Made, Printed, Row, Size
from lookalike.apps.samples.census import census
from lookalike.apps.samples.drawing import to_csv
from lookalike.errors import DataError, RecipeError
from tests.apps.papers.measuring import is_complete, stand_ins, tells_its_story

TINY = Size("tiny", rows=400, most_rows=400, repetitions=2, queries=50)
RISES, FALLS = "loss rises with k", "loss falls with k"
ROOT = Path(__file__).parents[3]


def look(made: Made, repetition: int) -> Row:
    return {"gcp": made.metric("gcp"), "t": made.t}


def measured(bench: Bench) -> Iterator[Row]:
    data = bench.datasets.census(bench.size.rows, QUASI[:3])
    for k in (2, 5):
        yield from bench.rows_of({"k": k}, data, f"k-anonymity:{k}", {"mondrian": "mondrian"}, look)


EXAMPLE = Experiment(
    title="loss by k",
    setting="CENSUS.",
    figures=(
        Figure("xx-1a", "k", "gcp", "k", "GCP", printed=(Printed("mondrian", 5, 0.5),)),
        Figure("xx-1b", "k", "t", "k", "t"),
    ),
    measure=measured,
    claims=(
        Claim("1, figure 1", RISES, rises("k", "gcp", "mondrian"), why="Larger groups have wider ranges."),
        Claim("1, figure 1", FALLS, falls("k", "gcp", "mondrian"), fails=Verdict.NO_DATA, why="The data are other."),
    ),
)
OTHER = replace(EXAMPLE, figures=(Figure("yy-2", "k", "gcp", "k", "GCP"),))


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", TINY)
    monkeypatch.setattr(run, "EXPERIMENTS", (EXAMPLE, OTHER))


@pytest.mark.usefixtures("tiny")
def test_results_verdicts_and_figures_are_written(tmp_path: Path) -> None:
    (done,) = reproduce(["xx-1a"], out=tmp_path)
    assert [one.verdict for one in done.judged] == [Verdict.LIMITED, Verdict.NO_DATA]
    assert f"  reproduced with limits: {RISES}" in str(done)
    assert "invented records in the shape of CENSUS" in done.data
    with (tmp_path / "xx-1a.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {row["repetition"] for row in rows} == {"0", "1"}
    told = json.loads((tmp_path / "xx-1a.json").read_text(encoding="utf-8"))
    first, second = told["claims"]
    assert (first["where"], first["says"], first["verdict"]) == ("1, figure 1", RISES, "reproduced with limits")
    assert first["reason"] == "Measured on invented records."
    assert (second["verdict"], second["reason"]) == ("not reproduced (data not public)", "The data are other.")
    assert first["evidence"].startswith("mondrian 0.")
    assert told["invented"] is True
    assert told["size"] == "tiny"
    assert told["repetitions"] == 2
    assert told["infeasible"] == []
    for name in ("xx-1a", "xx-1b"):
        assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.usefixtures("tiny")
def test_a_printed_number_is_drawn(tmp_path: Path) -> None:
    reproduce(["xx-1a"], out=tmp_path)
    with_points, without = ((tmp_path / f"{name}.svg").read_text(encoding="utf-8") for name in ("xx-1a", "xx-1b"))
    assert "mondrian (printed)" in with_points
    assert "(printed)" not in without


@pytest.mark.usefixtures("tiny")
def test_planning_names_the_points_that_are_measured() -> None:
    plan = list(EXAMPLE.measure(Bench(Datasets(), TINY, is_planning=True)))
    (done,) = reproduce(["xx-1a"])
    assert plan == [{name: row[name] for name in ("k", "series", "repetition")} for row in done.results.rows]


@pytest.mark.usefixtures("tiny")
def test_the_same_seeds_give_the_same_results_and_others_give_others() -> None:
    first, second, other = (reproduce(["xx-1a"], seed=seed)[0].results.rows for seed in (0, 0, 1))
    assert first == second
    assert first != other


def _stopping(bench: Bench, after: int, calls: list[int]) -> Iterator[Row]:
    """Points of which a few are measured before the run breaks off."""

    def measure(x: int) -> Row:
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(x)
        return {"gcp": bench.seed_of(x) / 7}

    bench.datasets.census(10)
    for x in range(5):
        yield bench.row({"k": x, "series": "one", "repetition": 0}, partial(measure, x))


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    stopped = replace(EXAMPLE, measure=partial(_stopping, after=3, calls=calls))
    monkeypatch.setattr(run, "EXPERIMENTS", (stopped,))
    with pytest.raises(KeyboardInterrupt):
        reproduce(["xx-1a"], out=tmp_path)
    assert calls == [0, 1, 2]
    assert not (tmp_path / "xx-1a.json").exists()
    whole = replace(EXAMPLE, measure=partial(_stopping, after=99, calls=calls))
    monkeypatch.setattr(run, "EXPERIMENTS", (whole,))
    (done,) = reproduce(["xx-1a"], out=tmp_path)
    assert calls == [0, 1, 2, 3, 4]
    assert done.results.rows == reproduce(["xx-1a"])[0].results.rows
    assert "CENSUS" in done.data
    calls.clear()
    assert reproduce(["xx-1a"], out=tmp_path)[0].results.rows == done.results.rows
    assert calls == []


SLOW = """
import sys
from dataclasses import replace
from lookalike.apps.cli import main
from lookalike.apps.papers import run
from tests.apps.papers.test_run import EXAMPLE

def measure(bench):
    yield bench.row({"k": 1, "series": "one", "repetition": 0}, lambda: {"gcp": 1.0})
    # Like a kernel: no Python code runs for a long time, so that no handler of Python's would be called.
    yield bench.row({"k": 2, "series": "one", "repetition": 0}, lambda: {"gcp": sum(range(10**13))})

run.EXPERIMENTS = (replace(EXAMPLE, measure=measure),)
main(["reproduce", "xx-1a", "--out", sys.argv[1]], "lookalike")
"""


def test_sigterm_ends_a_run_at_once_and_it_can_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = tmp_path / "xx-1a.points"
    with subprocess.Popen([sys.executable, "-c", SLOW, tmp_path], cwd=ROOT, stderr=subprocess.DEVNULL) as running:
        try:
            deadline = time.monotonic() + 120
            while not (points.exists() and points.read_text(encoding="utf-8").endswith("\n")):
                assert running.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            time.sleep(0.2)
            running.send_signal(signal.SIGTERM)
            assert running.wait(timeout=20) == -signal.SIGTERM
        finally:
            running.kill()
    calls: list[int] = []

    def measure(bench: Bench) -> Iterator[Row]:
        for k in (1, 2):
            yield bench.row({"k": k, "series": "one", "repetition": 0}, lambda: calls.append(1) or {"gcp": 2.0})

    monkeypatch.setattr(run, "EXPERIMENTS", (replace(EXAMPLE, measure=measure),))
    (done,) = reproduce(["xx-1a"], out=tmp_path)
    assert [row["gcp"] for row in done.results.rows] == [1.0, 2.0]
    assert len(calls) == 1


@pytest.mark.usefixtures("tiny")
def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    reproduce(["xx-1a"], out=tmp_path)
    with pytest.raises(DataError, match="results of another run"):
        reproduce(["xx-1a"], out=tmp_path, seed=1)
    with pytest.raises(DataError, match="results of another run"):
        reproduce(["xx-1a"], out=tmp_path, full=True)
    assert len(reproduce(["yy-2"], out=tmp_path)) == 1


def test_a_file_is_no_folder_for_results(tmp_path: Path, tiny: None) -> None:
    (tmp_path / "results").write_text("mine")
    with pytest.raises(DataError, match="Name a folder"):
        reproduce(["xx-1a"], out=tmp_path / "results")
    assert (tmp_path / "results").read_text() == "mine"


def write_census(folder: Path, rows: int) -> None:
    to_csv(census(rows, seed=9), folder / "census1k.csv")
    head, rest = (folder / "census1k.csv").read_text(encoding="utf-8").split("\n", 1)
    (folder / "census1k.csv").write_text(head.casefold().replace("work class", "workclass") + "\n" + rest)


@pytest.mark.usefixtures("tiny")
def test_a_folder_of_real_records_is_used_and_said(tmp_path: Path) -> None:
    write_census(tmp_path, 500)
    (done,) = reproduce(["xx-1a"], data=tmp_path)
    assert done.data == "a census extract of 500 records"
    assert [one.verdict for one in done.judged] == [Verdict.REPRODUCED, Verdict.NO_DATA]
    assert Datasets(tmp_path).census(500).n_rows == 500


def test_larger_tables_are_resampled_and_say_so(tmp_path: Path) -> None:
    write_census(tmp_path, 300)
    datasets = Datasets(tmp_path)
    large = datasets.census(1000, QUASI[:2])
    assert large.n_rows == 1000
    assert [source.text for source in datasets.used.values()] == ["a census extract of 300 records, resampled to 1,000"]
    assert (Datasets(tmp_path).census(1000, QUASI[:2]).quasi == large.quasi).all()
    datasets.used.clear()
    datasets.census(300)
    assert [source.text for source in datasets.used.values()] == ["a census extract of 300 records"]


def test_adult_is_read_from_its_two_files_without_missing_values(tmp_path: Path) -> None:
    record = "{age}, Private, 7, {school}, {years}, Divorced, {job}, Wife, White, Female, 0, 0, 40, Cuba, <=50K"
    lines = [record.format(age=30 + row, school="HS", years=9 + row % 2, job=f"Job {row % 3}") for row in range(6)]
    lines.insert(2, record.format(age=77, school="HS", years=9, job="?"))
    (tmp_path / "adult.data").write_text("\n".join(lines[:4]) + "\n\n")
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + ".\n".join(lines[4:]) + ".\n")
    datasets = Datasets(tmp_path)
    assert datasets.has_adult()
    data = datasets.adult(("age", "education", "marital"))
    assert data.n_rows == 6
    assert [domain.n_codes for domain in data.domains.sensitive] == [3]
    assert (data.domains.quasi[0].low, data.domains.quasi[0].high) == (30, 35)
    assert datasets.used["adult"].text == "ADULT, its 6 complete records"
    assert not datasets.used["adult"].invented
    assert datasets.adult(("age", "education", "marital")) is data


def test_coil_is_read_from_either_file(tmp_path: Path) -> None:
    rows = [[3 + row % 2, 1, 2 + row % 3, 4, 5, 99] for row in range(6)]
    (tmp_path / "ticdata2000.txt").write_text("\n".join("\t".join(map(str, row)) for row in rows) + "\n")
    datasets = Datasets(tmp_path)
    by_place = datasets.coil(1000)
    assert by_place.n_rows == 6
    assert [domain.n_codes for domain in by_place.domains.quasi] == [1, 3, 1, 1]
    assert by_place.domains.sensitive[0].n_codes == 2
    assert (datasets.used["coil"].text, datasets.used["coil"].invented) == ("COIL2000, 6 records", False)
    named = tmp_path / "named"
    named.mkdir()
    head = "subtype,houses,household,age,type,other"
    (named / "coil.csv").write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")
    by_name = Datasets(named).coil(1000)
    assert (by_name.quasi == by_place.quasi).all()
    assert (by_name.sensitive == by_place.sensitive).all()
    (named / "coil.csv").write_text("subtype,houses\n1,2\n")
    with pytest.raises(DataError, match="lacks the column"):
        Datasets(named).coil(1000)


def test_coil_is_invented_with_its_cardinalities() -> None:
    datasets = Datasets()
    data = datasets.coil(8000)
    assert [domain.n_codes for domain in data.domains.quasi] == [10, 6, 6, 10]
    assert data.domains.sensitive[0].n_codes == 41
    nested = {(int(subtype), int(kind)) for subtype, kind in zip(data.sensitive[:, 0], data.quasi[:, 3], strict=True)}
    assert len(nested) == 41
    assert datasets.used["coil"].invented


def test_folders_that_do_not_serve_are_refused(tmp_path: Path, tiny: None) -> None:
    with pytest.raises(DataError, match="is no folder"):
        reproduce(["xx-1a"], data=tmp_path / "nothing")
    with pytest.raises(DataError, match=r"no census\*\.csv"):
        Datasets(tmp_path).census(10)
    (tmp_path / "census1k.csv").write_text("age,gender\n30,1\n")
    with pytest.raises(DataError, match="lacks the column"):
        Datasets(tmp_path).census(10)


@pytest.mark.usefixtures("tiny")
def test_experiments_are_found_by_figure_paper_or_all() -> None:
    assert find(["XX-1A"]) == [EXAMPLE]
    assert find(["xx-1b"])[0].names == ["xx-1a", "xx-1b"]
    assert find(["yy"]) == [OTHER]
    assert find(["all"]) == [EXAMPLE, OTHER]
    assert len(find(["xx-1a", "xx-1b", "xx"])) == 1
    with pytest.raises(RecipeError, match="xx-1a"):
        find(["xx-1z"])


OF_PAPERS = [one for one in EXPERIMENTS if one not in today.EXPERIMENTS]


def test_every_figure_has_one_experiment_of_a_paper() -> None:
    names = [name for experiment in EXPERIMENTS for name in experiment.names]
    assert len(set(names)) == len(names)
    assert {experiment.paper for experiment in OF_PAPERS} == {paper.letters for paper in PAPERS}


@pytest.mark.parametrize("experiment", OF_PAPERS, ids=lambda experiment: experiment.name)
def test_every_claim_says_where_it_stands_and_why_it_would_fail(experiment: Experiment) -> None:
    is_complete(experiment)


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_every_point_is_measured_once_per_repetition(experiment: Experiment) -> None:
    planned = Results(tuple(experiment.measure(Bench(stand_ins(), FULL, is_planning=True))))
    alone = planned.list_repetitions() or [planned]
    assert len({len(one.rows) for one in alone}) == 1
    seen = [json.dumps(row, sort_keys=True) for row in planned.rows]
    assert len(set(seen)) == len(seen)
    assert {json.dumps(row, sort_keys=True) for one in alone for row in one.rows} == set(seen)
    assert {row["repetition"] for row in alone[0].rows} == {0}


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.letters)
def test_every_paper_tells_its_story(paper: run.Paper) -> None:
    tells_its_story(paper)


def test_tables_keep_their_domains_and_are_made_once() -> None:
    datasets = Datasets()
    small, large = datasets.census(300), datasets.census(2000)
    assert [domain.size for domain in small.domains.quasi[3:]] == [domain.size for domain in large.domains.quasi[3:]]
    assert small.domains.quasi[0].high == large.domains.quasi[0].high
    assert datasets.census(300) is small
    assert datasets.census(300, QUASI[:2]).quasi.shape == (300, 2)
    assert (datasets.census(100, start=50).quasi[:, 1] == large.quasi[50:150, 1]).all()


def test_results_are_read_by_means() -> None:
    rows = [
        {"x": x, "series": series, "repetition": repetition, "y": level * x + repetition}
        for series, level in (("low", 1.0), ("high", 2.0))
        for x in (1, 2, 3)
        for repetition in (0, 1)
    ]
    rows.append({"x": 4, "series": "low", "repetition": 0, "infeasible": "none"})
    found = Results(tuple(rows))
    assert found.series == ["low", "high"]
    assert found.means("x", "y", "low") == {1: 1.5, 2: 2.5, 3: 3.5}
    assert found.shared("x", "y", "low", "high") == [(1, 1.5, 2.5), (2, 2.5, 4.5), (3, 3.5, 6.5)]
    assert found.shared("x", "y", "low", "high", at=[2]) == [(2, 2.5, 4.5)]
    assert found.shared("x", "y", "low", "absent") == []
    assert found.goes(1, "x", "y", "low")
    assert not found.goes(-1, "x", "y", "low")
    assert found.values("x", "y", "high")[3] == [6.0, 7.0]
    assert [row["x"] for row in found.infeasible] == [4]
