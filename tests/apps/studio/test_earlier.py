"""Publishing after earlier releases of the same people: runs of the table, folders, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.apps.studio.asking import ended, opened, refused

# Two halves with different values: cells of one release hold several values, and two releases together fewer.
PEOPLE = "age,zip,disease\n" + "".join(f"{20 + n % 40},{1000 + n % 7},{'abcdefgh'[(n * 5) % 8]}\n" for n in range(160))
COLUMNS = [
    {"name": "age", "role": "quasi-identifier"},
    {"name": "zip", "role": "quasi-identifier", "kind": "categorical"},
    {"name": "disease", "role": "sensitive"},
]


@pytest.fixture(scope="module")
def project(client: TestClient) -> str:
    address = opened(client, PEOPLE)
    assert client.put(f"{address}/columns", json={"columns": COLUMNS}).status_code == 200
    return address


def run(client: TestClient, project: str, promise: str, algorithm: str, **more: Any) -> tuple[str, dict[str, Any]]:
    client.put(f"{project}/promise", json={"models": [promise]})
    client.put(f"{project}/method", json={"algorithm": algorithm})
    answer = client.post(f"{project}/runs", json=more)
    assert answer.status_code == 202, answer.text
    address = f"{project}/runs/{answer.json()['number']}"
    return address, ended(client, address, 120)


def number(address: str) -> int:
    return int(address.rpartition("/")[2])


@pytest.mark.slow
def test_a_second_release_is_held_against_the_first(client: TestClient, project: str, tmp_path: Path) -> None:
    first, outcome = run(client, project, "l-diversity:4", "mondrian-strict")
    assert outcome["state"] == "done", outcome["error"]
    # Other groups of the same people: by themselves fine, together with the first not.
    _, alone = run(client, project, "l-diversity:4", "groups:effort=fast")
    assert alone["state"] == "done"
    _, together = run(client, project, "l-diversity:4", "groups:effort=fast", after=[{"run": number(first)}])
    assert together["state"] == "failed"
    assert "together" in together["error"] or "releases" in together["error"]
    # As a folder it is the same release.
    assert client.post(f"{first}/export", json={"folder": str(tmp_path / "earlier")}).status_code == 200
    _, folder = run(
        client, project, "l-diversity:4", "groups:effort=fast", after=[{"folder": str(tmp_path / "earlier")}]
    )
    assert folder["state"] == "failed"
    # The same cells again add nothing.
    harmless, outcome = run(client, project, "l-diversity:4", "mondrian-strict", after=[{"run": number(first)}])
    assert outcome["state"] == "done", outcome["error"]
    assert f"--after RELEASE-OF-RUN-{number(first)}" in client.get(f"{harmless}/command").json()["command"]
    page = client.get(f"{project.removeprefix('/api')}/results", params={"run": number(harmless)}).text
    assert f"RELEASE-OF-RUN-{number(first)}" in page
    assert str(client.app_state.workspace.folder) not in page
    listed = client.get(f"{project.removeprefix('/api')}/run").text
    assert f'name="after-run" value="{number(first)}"' in listed


def test_what_is_no_earlier_release_is_refused(client: TestClient, project: str, tmp_path: Path) -> None:
    client.put(f"{project}/promise", json={"models": ["k-anonymity:3"]})
    for sent, said, status in (
        ([{}], "Name one of the two", 422),
        ([{"run": 1, "folder": str(tmp_path)}], "Name one of the two", 422),
        ([{"run": 999}], "no such run", 404),
        ([{"folder": "release"}], "not a full path", 422),
        ([{"folder": str(tmp_path / "nothing")}], "There is no folder", 422),
        ([{"folder": str(tmp_path), "original": str(tmp_path / "nothing.csv")}], "cannot be opened", 422),
        ([{"folder": str(tmp_path), "more": 1}], "not permitted", 422),
        ([{"folder": "/a\0b"}], "", 422),
        ([{"run": 1}] * 9, "at most 8 items", 422),
    ):
        refused(client.post(f"{project}/runs", json={"after": sent}), said, status)
    _, outcome = run(client, project, "k-anonymity:3", "mondrian", after=[{"folder": str(tmp_path)}])
    assert outcome["state"] == "failed"
    assert "release" in outcome["error"]
