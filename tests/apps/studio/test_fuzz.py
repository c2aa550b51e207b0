"""Whatever the OpenAPI document allows is answered as it says, and nothing of it breaks the studio.

`make studio-fuzz` tries far more than the checks do.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lookalike.apps.studio.app import create_app
from lookalike.apps.studio.jobs import Jobs
from lookalike.apps.studio.workspace import Project
from tests.apps.studio.asking import CSV
from tests.examples import examples

N_EXAMPLES = int(os.environ.get("LOOKALIKE_FUZZ", "6"))
CHECKS = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
WORDS = st.sampled_from(
    ["k-anonymity:3", "k-anonymity:1e999", "l-diversity:2,4", "beta-likeness:-0", "age=t-closeness:0.1", "mondrian",
     "groups:effort=nan", "quasi-identifier", "sensitive", "age", "disease", "/dev/zero", "/", "~x", "\0", "\u202e", ""]
)  # fmt: skip


@cache
def described() -> Any:
    """The document, without a studio behind it that anybody has to end."""
    app = create_app()
    document = app.openapi()
    app.state.jobs.end()
    app.state.workspace.remove()
    return schemathesis.openapi.from_dict(document)


OPERATIONS = {found.ok().label: found.ok() for found in described().get_all_operations()}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    """A studio whose queue is never worked off: what runs do is tested elsewhere."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Jobs, "_work_off", lambda self: None)
        app = create_app(most_bytes=1 << 20)
        yield app
        app.state.jobs.end()
        app.state.workspace.remove()


@pytest.fixture(scope="module")
def project(app: FastAPI, tmp_path_factory: pytest.TempPathFactory) -> Project:
    source = tmp_path_factory.mktemp("fuzz") / "people.csv"
    source.write_text(CSV)
    workspace = app.state.workspace
    opened: Project = workspace.open(source, "people.csv", workspace.room())
    settings_of_run = {"models": [], "schema": "", "algorithm": None, "adversary": "x", "title": "", "recipient": ""}
    settings_of_run |= {"publish_scores": False, "persons": {}, "after": []}
    app.state.jobs.add(opened.id, "publish", settings_of_run, opened.folder)
    app.state.jobs.add(opened.id, "compare", {"models": [], "schema": ""}, opened.folder)
    return opened


def with_words(value: Any, data: st.DataObject) -> Any:
    """Now and then a text that means something, in place of one that does not."""
    if isinstance(value, str):
        return data.draw(st.one_of(st.just(value), WORDS))
    if isinstance(value, list):
        return [with_words(each, data) for each in value]
    if isinstance(value, dict):
        return {key: with_words(each, data) for key, each in value.items()}
    return value


@pytest.mark.parametrize("label", OPERATIONS)
def test_nothing_breaks_the_studio(app: FastAPI, project: Project, label: str) -> None:
    operation = OPERATIONS[label]

    async def lasting(scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Every call starts and ends the application; its tables are to outlive that."""
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})

    @settings(
        max_examples=examples(N_EXAMPLES),
        derandomize=N_EXAMPLES < 50,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(), data=st.data())
    def tried(case: Any, data: st.DataObject) -> None:
        if "id" in case.path_parameters and label != "DELETE /api/projects/{id}":
            case.path_parameters["id"] = data.draw(st.sampled_from([project.id, project.id, "nothing"]))
        if "number" in case.path_parameters:
            case.path_parameters["number"] = data.draw(st.sampled_from([1, 2, 0, -1, 10**30]))
        if isinstance(case.body, (dict, list)):
            case.body = with_words(case.body, data)
        case.call_and_validate(app=lasting, checks=CHECKS)
        for other in app.state.workspace.projects():
            if other.id != project.id:
                app.state.workspace.close(other.id)

    tried()
    assert app.state.workspace.project(project.id) is project
