"""The pages from the method on: in every state of a run, with hostile names, and with a command that really works."""

from __future__ import annotations

import csv
import json
import re
import shlex
import warnings
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lookalike.apps.cli import main
from lookalike.apps.samples import hospital, to_csv
from lookalike.apps.studio import work
from lookalike.apps.studio.app import create_app
from lookalike.apps.studio.jobs import Job, Jobs
from lookalike.evaluation import evaluate as evaluation

with warnings.catch_warnings():
    # It recommends another package than the one that everybody has.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

COLUMN = "<script>alert(1)</script>"
VALUE = "<img src=x onerror=alert(2)>"
NAME = "-x'\"><img src=y onerror=alert(3)>.csv"
MODELS = ["k-anonymity:3", "l-diversity:2"]
PAGES = ("method", "run", "results", "compare", "export")


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    """A studio whose queue stands still: what state a run is in, the tests say."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Jobs, "_work_off", lambda self: None)
        with TestClient(create_app()) as client:
            yield client


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty people, in a table with markup for a column's name, a value and the file's name."""
    folder = tmp_path_factory.mktemp("hostile")
    to_csv(hospital(60, seed=3), folder / "plain.csv")
    with (folder / "plain.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: row[name] for name in ("age", "sex", "diagnosis")} for row in csv.DictReader(file)]
    path = folder / NAME
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", COLUMN, "diagnosis"])
        writer.writerows(
            [row["age"], row["sex"], VALUE if place % 5 == 0 else row["diagnosis"]] for place, row in enumerate(rows)
        )
    return path


@pytest.fixture(scope="module")
def project(client: TestClient, table: Path) -> str:
    """The hostile table with its promise."""
    return opened(client, table, MODELS)


@pytest.fixture(scope="module")
def release(client: TestClient, project: str) -> Job:
    """A run that is done, made by what the process beside the studio does."""
    client.put(f"/api/projects/{project}/method", json={"algorithm": "mondrian"})
    job = started(client, project, title="<b>Title</b>", recipient="O'Neill & <i>sons</i>")
    with pytest.MonkeyPatch.context() as patch:
        # Attacks are tested where they are made; one is enough to be shown.
        patch.setattr(evaluation, "MOST_RECORDS", 0)
        patch.setattr(evaluation, "ATTACKS", {"naive-bayes": evaluation.ATTACKS["naive-bayes"]})
        patch.setenv("LOOKALIKE_REPORT", "full")
        work._publish(job.task, Quiet())  # type: ignore[arg-type]
    job.state = "done"
    return job


@pytest.fixture
def waiting(client: TestClient, project: str, release: Job) -> Iterator[Job]:
    """A run that was just asked for, after another one was done."""
    job = started(client, project)
    yield job
    jobs(client).cancel(job)
    job.state = "cancelled"


class Quiet:
    """Progress that nobody hears."""

    stopped = False

    def __call__(self, step: str, share: float, note: str = "") -> bool:
        return False


def opened(client: TestClient, table: Path, models: list[str]) -> str:
    reply = client.post("/api/projects/upload", params={"name": table.name}, content=table.read_bytes())
    assert reply.status_code == 201, reply.text
    found: str = reply.json()["id"]
    roles = {"age": "quasi-identifier", COLUMN: "quasi-identifier", "diagnosis": "sensitive"}
    columns = [{"name": name, "role": role} for name, role in roles.items()]
    assert client.put(f"/api/projects/{found}/columns", json={"columns": columns}).status_code == 200
    if models:
        assert client.put(f"/api/projects/{found}/promise", json={"models": models}).status_code == 200
    return found


def started(client: TestClient, project: str, **settings: str) -> Job:
    number = client.post(f"/api/projects/{project}/runs", json=settings).json()["number"]
    return jobs(client).job(project, number)


def jobs(client: TestClient) -> Jobs:
    found: Jobs = client.app.state.jobs  # type: ignore[attr-defined]
    return found


def page(client: TestClient, project: str, step: str, **query: Any) -> str:
    reply = client.get(f"/projects/{project}/{step}", params=query)
    assert reply.status_code == 200, reply.text
    return str(reply.text)


def text_of(html: str) -> str:
    """What a reader sees."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def tag(html: str, id: str) -> str:
    """The opening tag of an element."""
    found = re.search(rf'<[^>]*\bid="{re.escape(id)}"[^>]*>', html)
    assert found, id
    return found[0]


def is_hidden(html: str, id: str) -> bool:
    return " hidden" in tag(html, id)


@pytest.mark.parametrize("step", PAGES)
def test_without_a_promise_pages_say_what_is_missing(client: TestClient, table: Path, step: str) -> None:
    unset = opened(client, table, [])
    if step == "method":
        reply = client.get(f"/projects/{unset}/method", follow_redirects=False)
        assert reply.headers["location"] == f"/projects/{unset}/promise"
        return
    html = page(client, unset, step)
    if step in ("run", "compare"):
        assert 'id="no-promise"' in html
        assert "/promise" in html
        assert "-form" not in html
    else:
        assert 'id="no-run"' in html
        assert "lookalike publish" not in html


def test_the_recommended_method_is_chosen_and_the_unfit_cannot_be(client: TestClient, table: Path) -> None:
    unset = opened(client, table, MODELS)
    html = page(client, unset, "method")
    found = client.get(f"/api/projects/{unset}/methods").json()
    assert re.findall(r'value="([^"]+)"[^>]* checked', html) == [found["recommended"]]
    assert re.findall(r'<input type="radio"[^>]*value="([^"]+)"', html)[0] == found["recommended"]
    for row in found["methods"]:
        assert (f'id="method-{row["name"]}"' in html) == (row["refused"] is None)
        assert row["refused"] is None or row["refused"] in text_of(html)


def test_settings_of_a_method_come_back_as_they_were_written(client: TestClient, table: Path) -> None:
    chosen = opened(client, table, MODELS)
    client.put(f"/api/projects/{chosen}/method", json={"algorithm": "groups:effort=2.5,cell=40"})
    html = page(client, chosen, "method")
    assert 'value="2.5"' in tag(html, "setting-groups-effort")
    assert 'value="40"' in tag(html, "setting-groups-cell")
    assert 'value=""' in tag(html, "setting-groups-mode")
    client.put(f"/api/projects/{chosen}/method", json={"algorithm": "freeform"})
    html = page(client, chosen, "method")
    assert "freeform was chosen before and cannot keep the promise" in html
    assert "checked" in tag(html, "method-groups")


def test_the_run_page_finds_the_run_under_way(client: TestClient, project: str, waiting: Job) -> None:
    for state in ("queued", "running"):
        waiting.state = state
        html = page(client, project, "run")
        assert f'data-run="{waiting.number}"' in tag(html, "watch")
        assert not is_hidden(html, "watch")
        assert is_hidden(html, "run-form")
        assert is_hidden(html, "failure")
        assert "under way" in page(client, project, "method")
        html = page(client, project, "results", run=waiting.number)
        assert 'id="not-done"' in html
        assert 'id="verdict"' not in html
        assert "download-zip" not in page(client, project, "export", run=waiting.number)


def test_a_run_that_failed_says_why_and_what_could_be_kept(client: TestClient, project: str, waiting: Job) -> None:
    jobs(client).cancel(waiting)
    waiting.state, waiting.error, waiting.nearest = "failed", f"No release of {COLUMN} can.", "l-diversity:2"
    html = page(client, project, "run")
    assert not is_hidden(html, "failure")
    assert is_hidden(html, "watch")
    assert not is_hidden(html, "run-form")
    assert waiting.error in text_of(html)
    assert COLUMN not in html
    assert 'data-nearest="l-diversity:2"' in tag(html, "failure")
    models = re.search(r"data-models='([^']*)'", html)
    assert models
    assert json.loads(unescape(models[1])) == MODELS
    for step in ("results", "export"):
        assert waiting.error in text_of(page(client, project, step, run=waiting.number))
    waiting.state = "cancelled"
    assert "was cancelled" in page(client, project, "results", run=waiting.number)
    assert is_hidden(page(client, project, "run"), "failure")


def test_results_show_what_the_report_says(client: TestClient, project: str, release: Job) -> None:
    html = page(client, project, "results")
    said = text_of(html)
    found = client.get(f"/api/projects/{project}/runs/{release.number}/results").json()
    assert "The audit passed." in said
    assert said.count(" kept ") >= len(MODELS)
    for sentence in (promise["sentence"] for promise in found["report"]["promises"]):
        assert sentence in said
    assert found["beliefs"][0] in said
    assert "may rise from" in said
    assert html.count('<div role="img"') == sum(
        map(bool, json.loads((release.folder / work.PICTURES).read_text()).values())
    )
    for row in found["preview"]["release"]["rows"]:
        assert " ".join(row) in said, "the first rows of the release"
    assert VALUE in said
    assert COLUMN in said
    assert f"/runs/{release.number}/report" in tag(html, "open-report")
    assert f"/runs/{release.number}/owner-report" in tag(html, "open-owners")
    assert "For internal use only" in said
    assert "sandbox" in re.findall(r"<iframe[^>]*>", html)[0]


def test_the_owner_sees_more_than_the_release_says(client: TestClient, project: str, release: Job) -> None:
    run = f"/api/projects/{project}/runs/{release.number}"
    owners, public = (client.get(f"{run}/{name}").text for name in ("owner-report", "report"))
    assert "For internal use only" in owners
    assert "For internal use only" not in public
    assert client.get(f"{run}/results").json()["report"]["advice"]
    assert not json.loads((release.folder / work.RELEASE / "report.json").read_text(encoding="utf-8"))["advice"]
    assert "download-owners" in page(client, project, "export", run=release.number)


def test_the_command_publishes_scores_if_the_run_did(client: TestClient, project: str, release: Job) -> None:
    command = f"/api/projects/{project}/runs/{release.number}/command"
    assert "--publish-scores" not in client.get(command).json()["command"]
    release.task["publish_scores"] = True
    try:
        assert "--publish-scores" in client.get(command).json()["command"]
        assert "scores that you chose to publish" in page(client, project, "results", run=release.number)
    finally:
        release.task["publish_scores"] = False


def test_a_comparison_is_no_release(client: TestClient, project: str, release: Job) -> None:
    reply = client.post(f"/api/projects/{project}/comparisons", json={"models": ["l-diversity:2"]})
    number = reply.json()["number"]
    assert f'data-run="{number}"' in tag(page(client, project, "compare"), "watch")
    assert client.get(f"/projects/{project}/results", params={"run": number}).status_code == 404
    client.post(f"/api/projects/{project}/runs/{number}/cancel")
    assert is_hidden(page(client, project, "compare"), "watch")


def test_compare_offers_the_promise_and_its_neighbours(client: TestClient, project: str, release: Job) -> None:
    html = page(client, project, "compare")
    offered = unescape(re.search(r"<textarea[^>]*>(.*?)</textarea>", html, re.S)[1]).split("\n")  # type: ignore[index]
    assert offered == ["k-anonymity:3 + diagnosis=l-diversity:2", "k-anonymity:3 + diagnosis=l-diversity:4"]
    boxes = re.findall(r'<input type="checkbox" name="method" value="([^"]+)"( checked)?', html)
    usual = [name for name, checked in boxes if checked]
    assert {"groups", "mondrian"} <= set(usual)
    assert len(usual) < len(boxes)
    assert "freeform" not in dict(boxes), "it does not serve the promise"


def test_a_comparison_that_is_done_shows_its_runs(client: TestClient, project: str, release: Job) -> None:
    asked = {"models": ["l-diversity:2,3,50"], "algorithms": ["mondrian"]}
    number = client.post(f"/api/projects/{project}/comparisons", json=asked).json()["number"]
    job = jobs(client).job(project, number)
    Path(job.task["out"]).mkdir()
    work._compare({**job.task, "attacks": []}, Quiet())  # type: ignore[arg-type]
    job.state = "done"
    html = page(client, project, "compare")
    runs = client.get(f"/api/projects/{project}/runs/{number}/comparison").json()["runs"]
    assert html.count('class="best"') == sum(run["frontier"] for run in runs) > 0
    assert "infeasible" in html
    assert "<svg" in html
    assert "l-diversity:3" in html
    assert f"results?run={release.number}" in html, "releases made here"
    hostile_free(html)


@pytest.mark.parametrize("step", PAGES)
def test_names_and_values_are_text(client: TestClient, project: str, release: Job, step: str) -> None:
    html = page(client, project, step)
    hostile_free(html)
    assert NAME in text_of(html)


def hostile_free(html: str) -> None:
    for markup in ("<script>", "<img", "<b>", "<i>", 'onerror=alert(3)>.csv"', " style="):
        assert markup not in html


def test_the_command_does_the_same(client: TestClient, project: str, release: Job, table: Path, tmp_path: Path) -> None:
    html = page(client, project, "export", run=release.number)
    shown = unescape(re.search(r'<pre id="command"[^>]*>(.*?)</pre>', html, re.S)[1])  # type: ignore[index]
    assert shown == client.get(f"/api/projects/{project}/runs/{release.number}/command").json()["command"]
    (tmp_path / NAME).write_bytes(table.read_bytes())
    schema = client.get(f"/api/projects/{project}/runs/{release.number}/schema")
    assert "schema.yaml" in schema.headers["content-disposition"]
    (tmp_path / "schema.yaml").write_text(schema.text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        ran = CliRunner().invoke(main, shlex.split(shown)[1:])
    assert ran.exit_code == 0, ran.output
    made, wanted = (
        json.loads((folder / "report.json").read_text(encoding="utf-8"))
        for folder in (tmp_path / "release", release.folder / work.RELEASE)
    )
    same = ("promises", "adversary", "algorithm", "title", "recipient", "form", "n_rows")
    assert {name: made[name] for name in same} == {name: wanted[name] for name in same}


def test_how_a_file_was_read_stands_in_the_command(client: TestClient) -> None:
    text = "age;illness\n" + "".join(f"{20 + place};{'abc'[place % 3]}\n" for place in range(12))
    query = {"name": "a b.csv", "delimiter": ";", "encoding": "utf-8"}
    read = client.post("/api/projects/upload", params=query, content=text).json()["id"]
    columns = [{"name": "age", "role": "quasi-identifier"}]
    client.put(f"/api/projects/{read}/columns", json={"columns": columns})
    client.put(f"/api/projects/{read}/promise", json={"models": ["k-anonymity:2"]})
    words = shlex.split(unescape(re.search(r'<pre id="command"[^>]*>(.*?)</pre>', page(client, read, "export"))[1]))  # type: ignore[index]
    assert words[2] == "./a b.csv"
    assert words[words.index("--delimiter") + 1] == ";"
    assert words[words.index("--encoding") + 1] == "utf-8"
