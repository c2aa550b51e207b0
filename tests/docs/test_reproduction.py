"""The page about the papers, written from made-up results: what it counts, and its last section."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from lookalike.apps.papers import EXPERIMENTS, PAPERS, Experiment, find, today
from lookalike.apps.papers.run import judge_again
from tests.docs.pages import DOCS, script

BETA, _ = today.EXPERIMENTS


def keep(folder: Path, experiment: Experiment, claims: list[dict[str, str]], rows: list[dict[str, Any]]) -> None:
    """Results as a run writes them."""
    told = {
        "experiment": list(experiment.names), "title": experiment.title, "data": f"records of {experiment.paper}",
        "size": "full", "claims": claims, "infeasible": [row for row in rows if row.get("infeasible")],
        "repetitions": 5,
    }  # fmt: skip
    (folder / f"{experiment.name}.json").write_text(json.dumps(told), encoding="utf-8")
    names = list(dict.fromkeys(name for row in rows for name in row))
    with (folder / f"{experiment.name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    for name in experiment.names:
        (folder / f"{name}.svg").write_text("<svg/>", encoding="utf-8")


@pytest.fixture
def page(tmp_path: Path) -> str:
    results, target = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    target.mkdir()
    (counted,) = find(["gb-count"])
    claim = {"where": "3", "says": "a | b", "judged": "", "verdict": "reproduced", "evidence": "1", "reason": ""}
    keep(results, counted, [claim], [{"records": 1, "series": "any", "repetition": 0}])
    rows: list[dict[str, Any]] = [
        {"beta": beta, "series": "groups", "repetition": repetition, "query_error": 10 * beta + repetition, "gcp": 0.5}
        for beta in (1, 3, 5)
        for repetition in (0, 1)
    ]
    rows.append({"beta": 3, "series": "original", "repetition": 0, "query_error": 0.0})
    rows.append({"beta": 3, "series": "BUREL", "repetition": 0, "infeasible": "no"})
    keep(results, BETA, [], rows)
    script("make_reproduction").write(results, target)
    assert {path.stem for path in (target / "reproduction").iterdir()} == {*counted.names, *BETA.names}
    return (target / "reproduction.md").read_text(encoding="utf-8")


def test_the_summary_counts_the_papers_alone(page: str) -> None:
    head = page.partition("## BL")[0]
    n_open = sum(len(paper.claims) for paper in PAPERS)
    assert f"| all | | {1 + n_open} |" in head
    assert "records of GB" in head
    assert "records of TODAY" not in head


def test_every_main_claim_is_a_claim_of_its_experiment() -> None:
    for paper in PAPERS:
        assert len([says for some in paper.main.values() for says in some]) >= 5
        for name, said in paper.main.items():
            (experiment,) = find([name])
            assert experiment.paper == paper.letters
            assert set(said) <= {claim.says for claim in experiment.claims}


def test_the_main_claims_are_at_the_top_with_their_verdicts_and_links_to_sections() -> None:
    page = (DOCS / "reproduction.md").read_text(encoding="utf-8")
    head, _, rest = page.partition("## How to read this page")
    for paper in PAPERS:
        table = head.partition(f"### {paper.letters}: the main claims")[2].partition("###")[0]
        rows = [row.removeprefix("| ").split(" | ") for row in table.splitlines() if row.startswith("| ")][1:]
        assert [claim for claim, _, _ in rows] == [
            says for experiment in EXPERIMENTS for says in paper.main.get(experiment.name, ())
        ]
        for claim, verdict, link in rows:
            name = link.partition("]")[0].removeprefix("[")
            section = rest.partition(f"### {name}")[2].partition("\n### ")[0]
            assert any(claim in row and verdict.strip("*") in row for row in section.splitlines())


def test_links_name_headings(page: str) -> None:
    assert script("make_reproduction")._anchor("HG-10c: a, b (c)") == "hg-10c-a-b-c"


def test_the_last_section_shows_figures_the_middle_point_and_how_promises_differ(page: str) -> None:
    _, section = page.split("## What to pick today\n")
    assert all(f"(reproduction/{name}.svg)" in section for name in BETA.names)
    assert "At beta = 3:" in section
    assert "| groups | 30.5 | - | - | - | 0.5 | - |" in section
    assert "| original | 0 | - | - | - | - | - |" in section
    assert "BUREL (1)" in section
    assert section.rstrip().endswith(BETA.differs.strip())
    assert "What differs from the paper" not in section
    assert "verdict" not in section


def _figures_of(name: str) -> dict[tuple[str, str], dict[str, float]]:
    """What the stored measurements of `today` say: means by method and point."""
    found: dict[tuple[str, str], dict[str, list[float]]] = {}
    with (DOCS / "reproduction" / f"today-{name}-queries.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            of = found.setdefault((row["series"], row["beta" if name == "beta" else "l"]), {})
            for figure in ("query_error", "prediction", "naive_bayes", "largest_share", "gcp"):
                if row.get(figure):
                    of.setdefault(figure, []).append(float(row[figure]))
    return {at: {figure: fmean(some) for figure, some in of.items()} for at, of in found.items()}


def test_the_advice_follows_from_the_measurements() -> None:
    beta, ell = _figures_of("beta"), _figures_of("l")
    keeping = ("groups, strict", "HG (repaired)", "BUREL")
    for at in "135":
        groups, strict, repaired, burel = (beta[series, at] for series in ("groups", *keeping))
        for figure in ("gcp", "query_error"):
            assert groups[figure] < min(beta[series, at][figure] for series in keeping)
        assert strict["gcp"] == pytest.approx(repaired["gcp"], rel=0.15)
        assert strict["query_error"] < repaired["query_error"]
        assert groups["prediction"] > burel["prediction"]
        mst, privbayes = beta["MST", at], beta["PrivBayes", at]
        assert mst["query_error"] < privbayes["query_error"]
        assert mst["prediction"] > privbayes["prediction"]
        assert mst["naive_bayes"] > max(beta[series, at]["naive_bayes"] for series in ("groups", *keeping))
    series = ("MST", "PrivBayes", "SABRE (rebuilt)", "groups", *keeping)
    least = [min((beta[one, at]["query_error"], one) for one in series)[1] for at in "135"]
    assert least == ["MST", "MST", "groups"]
    assert min(beta[series, "1"]["query_error"] for series in ("groups", *keeping)) >= 170
    assert (round(beta["SABRE (rebuilt)", "5"]["largest_share"]), beta["groups", "5"]["largest_share"]) == (70, 40)
    for at in ("2", "5", "10"):
        of_others = [series for series, point in ell if point == at and series not in {"groups", "original"}]
        others = {series: ell[series, at] for series in of_others if "gcp" in ell[series, at]}
        assert ell["groups", at]["gcp"] < min(one["gcp"] for one in others.values())
        ahead = {series for series, one in others.items() if one["query_error"] < ell["groups", at]["query_error"]}
        assert ahead == ({"ring"} if at == "5" else set())
        strict, repaired = ell["groups, strict", at], ell["HG (repaired)", at]
        assert strict["gcp"] == pytest.approx(repaired["gcp"], rel=0.15)
        assert (repaired["query_error"] < strict["query_error"]) == (at != "2")
        assert ell["groups", at]["prediction"] > ell["BUREL", at]["prediction"]


def test_what_the_paper_s_own_records_could_change_is_told_as_measured() -> None:
    with (DOCS / "reproduction" / "bl-groups.csv").open(encoding="utf-8", newline="") as file:
        assert {float(row["share"]) for row in csv.DictReader(file)} == {100.0}
    with (DOCS / "reproduction" / "bl-dependence.csv").open(encoding="utf-8", newline="") as file:
        losses = {(row["strength"], row["series"]): float(row["ail"]) for row in csv.DictReader(file)}
    times = [loss / losses[at, f"LMondrian{series[5:]}"] for (at, series), loss in losses.items() if "BUREL" in series]
    assert len(times) == 10
    assert min(times) > 1.45
    assert max(times) < 7


def test_the_verdicts_and_pictures_follow_from_the_measurements_and_the_page_from_both(tmp_path: Path) -> None:
    stored, again = DOCS / "reproduction", tmp_path / "reproduction"
    shutil.copytree(stored, again)
    assert {one.experiment for one in judge_again(again)} == set(EXPERIMENTS)
    files = sorted(file for file in stored.iterdir() if file.is_file())
    changed = [file.name for file in files if file.read_bytes() != (again / file.name).read_bytes()]
    assert changed == []
    script("make_reproduction").write(again, tmp_path)
    assert (tmp_path / "reproduction.md").read_text(encoding="utf-8") == (DOCS / "reproduction.md").read_text(
        encoding="utf-8"
    )
