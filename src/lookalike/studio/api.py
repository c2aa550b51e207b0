"""The studio for scripts: JSON in, JSON out, described by OpenAPI. The pages are a view of the same.

Every function here is a few lines around the library; nothing is decided here that the command line would decide
otherwise.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import yaml
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse
from pydantic import BaseModel, ConfigDict, Field

from lookalike.adversary import ADVERSARIES
from lookalike.errors import DataError, RecipeError, SchemaError, quoted, unknown_name
from lookalike.models import parse_promise
from lookalike.pipeline import required, settle
from lookalike.samples import sample_schema, sample_table
from lookalike.schema import Schema
from lookalike.studio import exporting, results
from lookalike.studio.describing import describe_columns, describe_project, preview
from lookalike.studio.jobs import Job, Jobs
from lookalike.studio.methods import check_method, describe_methods
from lookalike.studio.promising import describe_promises, what_it_allows
from lookalike.studio.security import REPORT_POLICY
from lookalike.studio.uploads import existing_file, keep_upload, shown_name
from lookalike.studio.workspace import Project, Workspace


class Problem(BaseModel):
    """Why something was refused, and what to do."""

    error: str
    nearest: str | None = None
    """If no release can keep a promise: the nearest that can be kept."""


def _refusals(**meanings: str) -> dict[int | str, dict[str, Any]]:
    return {int(code[1:]): {"model": Problem, "description": said} for code, said in meanings.items()}


def _sends(kind: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {}}}}


_TAKES_A_FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}

router = APIRouter(
    prefix="/api",
    tags=["studio"],
    responses=_refusals(
        _400="The body is no JSON.",
        _403="The token is missing or wrong, or the request comes from another page.",
        _404="The table or the run is not there (any more).",
        _413="More was sent than is allowed.",
        _422="Refused; the sentence says why and what to do.",
    ),
)

Text = Annotated[str, Field(max_length=2000)]


class Input(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReadingOptions(Input):
    """How a CSV file is to be read, where detection goes wrong."""

    delimiter: Annotated[str, Field(max_length=1)] | None = None
    encoding: Annotated[str, Field(max_length=40)] | None = None


class FromPath(ReadingOptions):
    path: Annotated[str, Field(min_length=1, max_length=4096)]
    """A CSV, Parquet or Arrow file on this machine."""


class ColumnSettings(Input):
    name: Annotated[str, Field(max_length=1000)]
    role: Text
    kind: Text | None = None
    weight: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)] = 1.0
    taxonomy: dict[str, Any] | None = None


class Columns(Input):
    columns: Annotated[list[ColumnSettings], Field(max_length=500)]


class SchemaText(Input):
    yaml: Annotated[str, Field(max_length=10_000_000)]


class PromiseSettings(Input):
    models: Annotated[list[Text], Field(max_length=20)]
    adversary: Text = "reads-release"


class MethodSettings(Input):
    algorithm: Text | None = None


class RunSettings(Input):
    title: Text = ""
    recipient: Text = ""


class ComparisonSettings(Input):
    models: Annotated[list[Text], Field(min_length=1, max_length=12)]
    algorithms: Annotated[list[Text], Field(max_length=8)] = []


class ExportSettings(Input):
    folder: Annotated[str, Field(min_length=1, max_length=4096)]
    overwrite: bool = False


def workspace_of(request: Request) -> Workspace:
    found: Workspace = request.app.state.workspace
    return found


def jobs_of(request: Request) -> Jobs:
    found: Jobs = request.app.state.jobs
    return found


def project_of(id: str, request: Request) -> Project:
    return workspace_of(request).project(id)


def job_of(id: str, number: int, request: Request) -> Job:
    return jobs_of(request).job(project_of(id, request).id, number)


Open = Annotated[Project, Depends(project_of)]
Found = Annotated[Job, Depends(job_of)]


@router.get("/projects")
def list_projects(request: Request) -> list[dict[str, Any]]:
    """The tables that are open."""
    return [describe_project(project) for project in workspace_of(request).projects()]


@router.post("/projects/sample", status_code=201)
def open_sample(request: Request) -> dict[str, Any]:
    """Open the bundled hospital stays, with their schema."""
    workspace = workspace_of(request)
    schema = Schema.load(sample_schema())
    project = workspace.open(sample_table(), "hospital.csv", workspace.room(), schema=schema)
    return describe_project(project)


@router.post("/projects/path", status_code=201)
def open_path(given: FromPath, request: Request) -> dict[str, Any]:
    """Open a file on this machine."""
    workspace = workspace_of(request)
    path = existing_file(given.path)
    project = workspace.open(path, path.name, workspace.room(), reading=_reading(given))
    return describe_project(project)


@router.post("/projects/upload", status_code=201, openapi_extra=_TAKES_A_FILE)
async def open_upload(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=255)],
    delimiter: Annotated[str | None, Query(max_length=1)] = None,
    encoding: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """Open a file that is sent as the body; it goes to the private folder piece by piece."""
    workspace = workspace_of(request)
    folder = workspace.room()
    source = await keep_upload(request, name, folder)
    options = _reading(ReadingOptions(delimiter=delimiter, encoding=encoding))

    def opened() -> Project:
        try:
            return workspace.open(source, shown_name(name), folder, is_copy=True, reading=options)
        except DataError as error:
            # The copy has a name of ours, which would puzzle whoever sent the file.
            raise DataError(str(error).replace(source.name, quoted(shown_name(name)))) from None

    return describe_project(await asyncio.to_thread(opened))


@router.get("/projects/{id}")
def show_project(project: Open) -> dict[str, Any]:
    return describe_project(project)


@router.delete("/projects/{id}", status_code=204)
def close_project(project: Open, request: Request) -> None:
    """Close a table: its runs are cancelled, its private folder is removed."""
    with project.lock:
        workspace_of(request).close(project.id)
    jobs_of(request).forget(project.id)
    shutil.rmtree(project.folder, ignore_errors=True)


@router.get("/projects/{id}/columns")
def show_columns(project: Open) -> dict[str, Any]:
    """Types, roles, missing and distinct values, a histogram and suggestions with reasons."""
    return describe_columns(project)


@router.get("/projects/{id}/preview")
def show_preview(project: Open) -> dict[str, Any]:
    """The first rows of the original, without identifiers."""
    return preview(project)


@router.put("/projects/{id}/columns")
def set_columns(given: Columns, project: Open) -> dict[str, Any]:
    """Roles, kinds, weights and taxonomies; columns that are not named stay as they are."""
    with project.lock:
        plain = yaml.safe_load(project.schema.to_yaml())
        entries = {entry["name"]: entry for entry in plain["columns"]}
        for column in given.columns:
            if column.name not in entries:
                raise SchemaError(unknown_name("column", column.name, entries))
            entry = entries[column.name]
            changed = {"role": column.role, "kind": column.kind, "weight": column.weight, "taxonomy": column.taxonomy}
            if column.taxonomy != entry.get("taxonomy") or column.kind != entry.get("kind"):
                # A domain and an order belong to the kind they were declared for.
                changed |= {"domain": None, "order": None}
            entry.update(changed)
            entries[column.name] = {key: value for key, value in entry.items() if value is not None}
        plain["columns"] = list(entries.values())
        return _take_schema(project, Schema.from_yaml(yaml.safe_dump(plain, allow_unicode=True), "the columns"))


@router.get("/projects/{id}/schema", response_class=Response, responses=_sends("application/yaml"))
def show_schema(project: Open) -> PlainTextResponse:
    """The schema as a file, for `--schema`."""
    headers = {"content-disposition": 'attachment; filename="schema.yaml"'}
    return PlainTextResponse(project.schema.to_yaml(), media_type="application/yaml", headers=headers)


@router.put("/projects/{id}/schema")
def set_schema(given: SchemaText, project: Open) -> dict[str, Any]:
    """A whole schema; taxonomies must stand in it, not in files beside it."""
    _check_aliases(given.yaml)
    with project.lock:
        return _take_schema(project, Schema.from_yaml(given.yaml, "the schema"))


@router.get("/projects/{id}/models")
def show_models(project: Open) -> list[dict[str, Any]]:
    """The models in plain words, with the number that is moved first."""
    return describe_promises(project)


@router.get("/projects/{id}/allows")
def show_allowed(project: Open, model: Annotated[str, Query(max_length=2000)]) -> dict[str, Any]:
    """What one promise allows on this table, or why it cannot be kept and the nearest that can."""
    return what_it_allows(project, model)


@router.put("/projects/{id}/promise")
def set_promise(given: PromiseSettings, project: Open) -> dict[str, Any]:
    """What the release must keep, and against whom; refused if no release can."""
    if given.adversary not in ADVERSARIES:
        raise RecipeError(unknown_name("adversary", given.adversary, ADVERSARIES))
    with project.lock:
        data = project.microdata()
        required(settle([parse_promise(text) for text in given.models], data), data)
        project.models, project.adversary = tuple(given.models), given.adversary
        return describe_project(project)


@router.get("/projects/{id}/methods")
def show_methods(project: Open) -> dict[str, Any]:
    """Which methods serve the promise, and what they trade."""
    return describe_methods(project)


@router.put("/projects/{id}/method")
def set_method(given: MethodSettings, project: Open) -> dict[str, Any]:
    """The method, as `--algorithm` takes it; none: the recommended one."""
    with project.lock:
        project.algorithm = check_method(given.algorithm)
        return describe_project(project)


@router.post("/projects/{id}/runs", status_code=202)
def start_run(given: RunSettings, project: Open, request: Request) -> dict[str, Any]:
    """Publish with the settings as they are now; one run at a time, the others wait."""
    with project.lock:
        project_of(project.id, request)  # it may have been closed meanwhile
        if not project.models:
            raise RecipeError("No promise is chosen yet. Choose one first.")
        project.title, project.recipient = given.title, given.recipient
        task = {**_task(project), "models": list(project.models), "algorithm": project.algorithm}
        task |= {"title": project.title, "recipient": project.recipient}
        return _told(jobs_of(request).add(project.id, "publish", task, project.folder), request)


@router.post("/projects/{id}/comparisons", status_code=202)
def start_comparison(given: ComparisonSettings, project: Open, request: Request) -> dict[str, Any]:
    """Several promises and methods side by side; an entry of models may sweep, as in l-diversity:2,4,8."""
    with project.lock:
        project_of(project.id, request)
        task = {**_task(project), "models": given.models, "algorithms": given.algorithms, "attacks": ["naive-bayes"]}
        return _told(jobs_of(request).add(project.id, "compare", task, project.folder), request)


@router.get("/projects/{id}/runs")
def list_runs(project: Open, request: Request) -> list[dict[str, Any]]:
    """Runs and comparisons of this table, in the order they were asked for."""
    return [_told(job, request) for job in jobs_of(request).of(project.id)]


@router.get("/projects/{id}/runs/{number}")
def show_run(job: Found, request: Request) -> dict[str, Any]:
    """How far a run is."""
    return _told(job, request)


@router.post("/projects/{id}/runs/{number}/cancel")
def cancel_run(job: Found, request: Request) -> dict[str, Any]:
    """Stop it at once; nothing of it stays."""
    jobs_of(request).cancel(job)
    return _told(job, request)


@router.post("/projects/{id}/runs/{number}/stop")
def stop_search(job: Found, request: Request) -> dict[str, Any]:
    """Let a search end with the best it has found so far."""
    jobs_of(request).stop_search(job)
    return _told(job, request)


@router.get("/projects/{id}/runs/{number}/results")
def show_results(job: Found) -> dict[str, Any]:
    """What came of a run: the report as plain data, a summary, the first rows of the release."""
    return results.results(job)


@router.get("/projects/{id}/runs/{number}/comparison")
def show_comparison(job: Found) -> dict[str, Any]:
    """What came of a comparison."""
    return results.comparison(job)


@router.get("/projects/{id}/runs/{number}/report", response_class=Response, responses=_sends("text/html"))
def show_report(job: Found) -> HTMLResponse:
    """The report to sign, as it lies in the release folder."""
    page = (exporting.release_of(job) / "report.html").read_text(encoding="utf-8")
    return HTMLResponse(page, headers={"content-security-policy": REPORT_POLICY})


@router.get(
    "/projects/{id}/runs/{number}/release.zip", response_class=FileResponse, responses=_sends("application/zip")
)
def download_release(job: Found) -> FileResponse:
    """The release folder as an archive."""
    return FileResponse(exporting.archive(job), media_type="application/zip", filename="release.zip")


@router.post("/projects/{id}/runs/{number}/export")
def export_release(given: ExportSettings, job: Found) -> dict[str, Any]:
    """Copy the release into a folder on this machine, all or nothing."""
    try:
        target = Path(given.folder).expanduser()
    except RuntimeError:
        raise RecipeError("Nobody has that home folder. Write the full path, as in /home/me/release.") from None
    return {"folder": str(target), "files": exporting.export_to(job, target, overwrite=given.overwrite)}


@router.get("/projects/{id}/runs/{number}/command")
def show_command(job: Found, project: Open) -> dict[str, Any]:
    """The `lookalike publish` that does the same, and the schema it needs."""
    return {"command": exporting.command(project, job.task), "schema": job.task["schema"]}


def _reading(given: ReadingOptions) -> dict[str, Any]:
    return {name: value for name, value in (("delimiter", given.delimiter), ("encoding", given.encoding)) if value}


def _check_aliases(text: str) -> None:
    """A few lines of YAML that point at each other can stand for a tree without an end."""
    try:
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise SchemaError("The schema refers to parts of itself (*name). Write them out.")
    except yaml.YAMLError:
        return  # the schema's own reader says where


def _take_schema(project: Project, schema: Schema) -> dict[str, Any]:
    """Another schema, if the table can be read and described under it; what was promised before may no longer fit."""
    for attribute in schema.attributes:
        if attribute.taxonomy is not None and "file" in attribute.taxonomy:
            raise SchemaError("A taxonomy in a file cannot be used here. Write its tree into the schema.")
    before = project.schema
    project.schema = schema
    try:
        if schema.quasi:
            project.microdata()
        described = describe_columns(project)
        json.dumps(described, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError):
        project.schema = before
        raise SchemaError("The schema holds a value that is neither text nor a number. Write it out.") from None
    except BaseException:
        project.schema = before
        raise
    project.models = ()
    return described


def _task(project: Project) -> dict[str, Any]:
    """What the process needs to read the table the same way."""
    if not project.schema.quasi:
        raise RecipeError("No quasi-identifier is named. Say which columns an outsider may know.")
    return {
        "source": str(project.source),
        "reading": dict(project.reading),
        "schema": replace(project.schema).to_yaml(),
        "adversary": project.adversary,
    }


def _told(job: Job, request: Request) -> dict[str, Any]:
    return {**job.to_plain(), "ahead": jobs_of(request).ahead_of(job)}
