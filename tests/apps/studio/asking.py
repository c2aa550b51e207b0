"""A studio in this process, and what tests ask of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient

from lookalike.apps.studio.app import create_app
from lookalike.apps.studio.serving import guard

HERE = "127.0.0.1:8765"
LINK = f"http://{HERE}"
TOKEN = "a-token-for-tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
CSV = "age,zip,disease\n" + "".join(f"{20 + n % 40},{1000 + n % 7},{'abcde'[n % 5]}\n" for n in range(120))
PROMISE = "k-anonymity:3"


@contextmanager
def studio(*, most_bytes: int = 1 << 20) -> Iterator[TestClient]:
    """Behind its guard, with the token sent."""
    app = create_app(most_bytes=most_bytes)
    with TestClient(
        guard(app, TOKEN, 8765),
        base_url=LINK,
        headers=BEARER,
        raise_server_exceptions=False,
        follow_redirects=False,
    ) as client:
        client.app_state = app.state
        yield client


def folder_of(client: TestClient) -> Path:
    folder: Path = client.app_state.workspace.folder
    return folder


def rooms(client: TestClient) -> list[Path]:
    """The folders of projects."""
    return [path for path in folder_of(client).iterdir() if path.is_dir()]


def upload(client: TestClient, content: str | bytes = CSV, name: str = "people.csv", **options: str) -> Any:
    return client.post("/api/projects/upload", params={"name": name, **options}, content=content)


def opened(client: TestClient, content: str | bytes = CSV) -> str:
    answer = upload(client, content)
    assert answer.status_code == 201, answer.text
    return f"/api/projects/{answer.json()['id']}"


def promised(client: TestClient, *, algorithm: str = "mondrian", models: tuple[str, ...] = (PROMISE,)) -> str:
    """A table that is ready to run."""
    project = opened(client)
    columns = [
        {"name": "age", "role": "quasi-identifier"},
        {"name": "zip", "role": "quasi-identifier", "kind": "categorical"},
        {"name": "disease", "role": "sensitive"},
    ]
    for address, sent in (
        ("columns", {"columns": columns}),
        ("promise", {"models": list(models)}),
        ("method", {"algorithm": algorithm}),
    ):
        answer = client.put(f"{project}/{address}", json=sent)
        assert answer.status_code == 200, answer.text
    return project


def ended(client: TestClient, run: str, seconds: float = 60) -> dict[str, Any]:
    """A run when it is over, whichever way."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        now: dict[str, Any] = client.get(run).json()
        if now["state"] not in ("queued", "running"):
            return now
        time.sleep(0.05)
    raise AssertionError(f"still {now['state']} after {seconds} s: {now['step']}")


def refused(answer: Any, words: str, status: int = 422) -> None:
    assert answer.status_code == status, answer.text
    assert words in answer.json()["error"]
