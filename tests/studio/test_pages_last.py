"""The pages from the method on: in every state of a run, with hostile names, and with a command that really works."""

from __future__ import annotations

import csv
import json
import re
import shlex
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from lookalike.cli import main
from lookalike.samples import hospital, to_csv
from lookalike.studio import work
from lookalike.studio.app import create_app
from lookalike.studio.jobs import Job, Jobs

with warnings.catch_warnings():
    # It recommends another package than the one that everybody has.
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

COLUMN = "<script>alert(1)</script>"
VALUE = "<img src=x onerror=alert(2)>"
NAME = "x'\"><script>alert(3)</script>.csv"
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
    path = folder / NAME.replace("/", "-")
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
    work._publish(job.task, Quiet())
    job.state = "done"
    return job


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
    return reply.text


def test_made(client: TestClient, project: str, release: Job) -> None:
    text = page(client, project, "results")
    Path("/tmp/s2/test.html").write_text(text)
