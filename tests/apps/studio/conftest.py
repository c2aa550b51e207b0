"""One studio for a file of tests: starting the process beside it takes seconds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.apps.studio.asking import ended, promised, studio


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with studio() as client:
        yield client


@pytest.fixture(scope="module")
def done(client: TestClient) -> str:
    """The address of a run that is done."""
    project = promised(client)
    answer = client.post(f"{project}/runs", json={"title": "Stays", "recipient": "The ward"})
    assert answer.status_code == 202, answer.text
    run = f"{project}/runs/{answer.json()['number']}"
    assert ended(client, run)["state"] == "done"
    return run
