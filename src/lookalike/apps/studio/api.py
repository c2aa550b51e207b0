"""The studio for scripts: JSON in, JSON out, described by OpenAPI. The pages are a view of the same.

Every function here is a few lines around the library; nothing is decided here that the command line would decide
otherwise.
"""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse

from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples import sample_schema, sample_table
from lookalike.apps.studio import columns, earlier, openapi, persons, promises, results, taxonomies
from lookalike.apps.studio.columns import describe_project
from lookalike.apps.studio.jobs import Job, Jobs
from lookalike.apps.studio.security import REPORT_POLICY
from lookalike.apps.studio.uploads import clean_name, existing_file, keep_upload
from lookalike.apps.studio.work import OWNERS_PAGE
from lookalike.apps.studio.workspace import Project, Workspace
from lookalike.data.adversary import ADVERSARIES
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError, quoted, unknown_name

router = APIRouter(prefix="/api", tags=["studio"], responses=openapi.REFUSALS)


def _workspace_of(request: Request) -> Workspace:
    found: Workspace = request.app.state.workspace
    return found


def jobs_of(request: Request) -> Jobs:
    found: Jobs = request.app.state.jobs
    return found


def _project_of(id: str, request: Request) -> Project:
    return _workspace_of(request).project(id)


def _job_of(id: str, number: int, request: Request) -> Job:
    return jobs_of(request).job(_project_of(id, request).id, number)


Open = Annotated[Project, Depends(_project_of)]
Found = Annotated[Job, Depends(_job_of)]


@router.get("/projects")
def list_projects(request: Request) -> list[dict[str, Any]]:
    """The tables that are open."""
    return [describe_project(project) for project in _workspace_of(request).projects()]


@router.post("/projects/sample", status_code=201)
def open_sample(request: Request) -> dict[str, Any]:
    """Open the bundled hospital stays, with their schema."""
    workspace = _workspace_of(request)
    schema = Schema.load(sample_schema())
    project = workspace.open(sample_table(), "hospital.csv", workspace.room(), schema=schema)
    return describe_project(project)


@router.post("/projects/path", status_code=201)
def open_path(given: openapi.FromPath, request: Request) -> dict[str, Any]:
    """Open a file on this machine."""
    workspace = _workspace_of(request)
    path = existing_file(given.path)
    project = workspace.open(path, path.name, workspace.room(), reading=_reading(given))
    return describe_project(project)


@router.post("/projects/upload", status_code=201, openapi_extra=openapi.TAKES_A_FILE)
async def open_upload(
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=255)],
    delimiter: Annotated[str | None, Query(max_length=1)] = None,
    encoding: Annotated[str | None, Query(max_length=40)] = None,
) -> dict[str, Any]:
    """Open a file that is sent as the body; it goes to the private folder piece by piece."""
    workspace = _workspace_of(request)
    folder = workspace.room()
    source = await keep_upload(request, name, folder)
    options = _reading(openapi.ReadingOptions(delimiter=delimiter, encoding=encoding))

    def opened() -> Project:
        try:
            return workspace.open(source, clean_name(name), folder, is_copy=True, reading=options)
        except DataError as error:
            # The copy has a name of ours, which would puzzle anyone who sent the file.
            raise DataError(str(error).replace(source.name, quoted(clean_name(name)))) from None

    return describe_project(await asyncio.to_thread(opened))


@router.get("/projects/{id}")
def show_project(project: Open) -> dict[str, Any]:
    return describe_project(project)


@router.delete("/projects/{id}", status_code=204)
def close_project(project: Open, request: Request) -> None:
    """Close a table: its runs are cancelled, its private folder is removed."""
    with project.lock:
        _workspace_of(request).close(project.id)
    jobs_of(request).forget(project.id)
    shutil.rmtree(project.folder, ignore_errors=True)


@router.get("/projects/{id}/columns")
def show_columns(project: Open) -> dict[str, Any]:
    """Types, roles, missing and distinct values, a histogram and suggestions with reasons."""
    return columns.describe_columns(project)


@router.get("/projects/{id}/preview")
def show_preview(project: Open) -> dict[str, Any]:
    """The first rows of the original, without identifiers."""
    return columns.preview(project)


@router.put("/projects/{id}/columns")
def set_columns(given: openapi.Columns, project: Open) -> dict[str, Any]:
    """Roles, kinds, weights and taxonomies; columns that are not named stay as they are."""
    with project.lock:
        return columns.take_schema(project, columns.with_columns(project.schema, project.table.names, given.columns))


@router.put("/projects/{id}/persons")
def set_persons(given: openapi.PersonsInput, project: Open) -> dict[str, Any]:
    """How the rows of one person are published, or that rows are different persons although a column repeats."""
    with project.lock:
        before = project.persons
        persons.set_persons(project, given.model_dump())
        try:
            promises.forget_broken(project)
        except BaseException:
            project.persons = before
            raise
        return persons.describe_persons(project)


@router.post("/projects/{id}/taxonomy")
def read_taxonomy(given: openapi.TaxonomyText, project: Open) -> dict[str, Any]:
    """Text as a taxonomy of a column, and what its levels would be; nothing is changed yet."""
    column = project.table[given.column]
    begun = given.form == "tree" and not given.text.strip()
    taxonomy = taxonomies.read_taxonomy(given.form, taxonomies.first_outline(column) if begun else given.text)
    return {
        "taxonomy": taxonomy,
        "text": taxonomies.write_taxonomy(taxonomy)[1],
        "levels": taxonomies.levels_of(column, taxonomy),
    }


@router.get("/projects/{id}/schema", response_class=Response, responses=openapi.sends("application/yaml"))
def show_schema(project: Open) -> PlainTextResponse:
    """The schema as a file, for `--schema`."""
    return _as_file(project.schema.to_yaml())


@router.put("/projects/{id}/schema")
def set_schema(given: openapi.SchemaText, project: Open) -> dict[str, Any]:
    """A whole schema; taxonomies must be in it, not in files beside it."""
    columns.check_aliases(given.yaml)
    with project.lock:
        return columns.take_schema(project, Schema.from_yaml(given.yaml, "the schema"))


@router.get("/projects/{id}/models")
def show_models(project: Open) -> list[dict[str, Any]]:
    """The models in plain words, with the number that is moved first."""
    return promises.describe_promises(project)


@router.get("/projects/{id}/allows")
def show_allowed(project: Open, model: Annotated[str, Query(max_length=2000)]) -> dict[str, Any]:
    """What one promise allows on this table, or why it cannot be kept and the nearest that can."""
    return promises.what_it_allows(project, model)


@router.put("/projects/{id}/promise")
def set_promise(given: openapi.PromiseSettings, project: Open) -> dict[str, Any]:
    """What the release must keep, and against which attacker; refused if no release can. No models: none is chosen
    yet.
    """
    if given.adversary not in ADVERSARIES:
        raise RecipeError(unknown_name("adversary", given.adversary, ADVERSARIES))
    with project.lock:
        if given.models:
            promises.check_models(project, given.models, given.adversary)
        project.models, project.adversary = tuple(given.models), given.adversary
        return describe_project(project)


@router.get("/projects/{id}/methods")
def show_methods(project: Open) -> dict[str, Any]:
    """Which methods serve the promise, and what they trade."""
    return promises.describe_methods(project)


@router.put("/projects/{id}/method")
def set_method(given: openapi.MethodSettings, project: Open) -> dict[str, Any]:
    """The method, as `--algorithm` takes it; none: the recommended one."""
    with project.lock:
        project.algorithm = str(parse_algorithm(given.algorithm)) if given.algorithm else None
        return describe_project(project)


@router.post("/projects/{id}/runs", status_code=202)
def start_run(given: openapi.RunSettings, project: Open, request: Request) -> dict[str, Any]:
    """Publish with the settings as they are now; one run at a time, the others wait."""
    with project.lock:
        _project_of(project.id, request)  # it may have been closed meanwhile
        if not project.models:
            raise RecipeError("No promise is chosen yet. Choose one first.")
        project.title, project.recipient = given.title, given.recipient
        project.publish_scores = given.publish_scores
        task = {**_task(project), "models": list(project.models), "algorithm": project.algorithm}
        task["after"] = earlier.find_earlier(given.after, project.id, jobs_of(request))
        task |= {"title": project.title, "recipient": project.recipient, "publish_scores": project.publish_scores}
        return _describe_job(jobs_of(request).add(project.id, "publish", task, project.folder), request)


@router.post("/projects/{id}/comparisons", status_code=202)
def start_comparison(given: openapi.ComparisonSettings, project: Open, request: Request) -> dict[str, Any]:
    """Several promises and methods side by side; an entry of models may sweep, as in l-diversity:2,4,8."""
    with project.lock:
        _project_of(project.id, request)
        task = {**_task(project), "models": given.models, "algorithms": given.algorithms}
        return _describe_job(jobs_of(request).add(project.id, "compare", task, project.folder), request)


@router.get("/projects/{id}/runs")
def list_runs(project: Open, request: Request) -> list[dict[str, Any]]:
    """Runs and comparisons of this table, in the order they were asked for."""
    return [_describe_job(job, request) for job in jobs_of(request).of(project.id)]


@router.get("/projects/{id}/runs/{number}")
def show_run(job: Found, request: Request) -> dict[str, Any]:
    """How far a run is."""
    return _describe_job(job, request)


@router.post("/projects/{id}/runs/{number}/cancel")
def cancel_run(job: Found, request: Request) -> dict[str, Any]:
    """Stop it at once; nothing of it stays."""
    jobs_of(request).cancel(job)
    return _describe_job(job, request)


@router.post("/projects/{id}/runs/{number}/stop")
def stop_search(job: Found, request: Request) -> dict[str, Any]:
    """Let a search end with the best it has found so far."""
    jobs_of(request).stop_search(job)
    return _describe_job(job, request)


@router.get("/projects/{id}/runs/{number}/results")
def show_results(job: Found) -> dict[str, Any]:
    """The result of a run: the report as plain data, a summary, the first rows of the release."""
    return results.results(job)


@router.get("/projects/{id}/runs/{number}/comparison")
def show_comparison(job: Found) -> dict[str, Any]:
    """The result of a comparison."""
    return results.comparison(job)


@router.get("/projects/{id}/runs/{number}/report", response_class=Response, responses=openapi.sends("text/html"))
def show_report(job: Found) -> HTMLResponse:
    """The report that is in the release folder, to hand over."""
    return _as_page(results.release_of(job) / "report.html")


@router.get("/projects/{id}/runs/{number}/owner-report", response_class=Response, responses=openapi.sends("text/html"))
def show_owners_report(job: Found) -> HTMLResponse:
    """The owner's report, with what was scored on the original. It is no part of the release."""
    return _as_page(results.release_of(job).with_name(OWNERS_PAGE))


@router.get(
    "/projects/{id}/runs/{number}/release.zip", response_class=FileResponse, responses=openapi.sends("application/zip")
)
def download_release(job: Found) -> FileResponse:
    """The release folder as an archive."""
    return FileResponse(results.archive(job), media_type="application/zip", filename="release.zip")


@router.get(
    "/projects/{id}/runs/{number}/private.zip", response_class=FileResponse, responses=openapi.sends("application/zip")
)
def download_private(job: Found) -> FileResponse:
    """What the publisher keeps, where an audit of the release needs it: whose row is whose, or how rows were drawn."""
    return FileResponse(results.archive_private(job), media_type="application/zip", filename="private.zip")


@router.post("/projects/{id}/runs/{number}/export")
def export_release(given: openapi.ExportSettings, job: Found) -> dict[str, Any]:
    """Copy the release into a folder on this machine, all or nothing."""
    try:
        target = Path(given.folder).expanduser()
    except RuntimeError:
        raise RecipeError("Nobody has that home folder. Write the full path, as in /home/me/release.") from None
    return {"folder": str(target), "files": results.export_to(job, target, overwrite=given.overwrite)}


@router.get("/projects/{id}/runs/{number}/schema", response_class=Response, responses=openapi.sends("application/yaml"))
def download_schema(job: Found) -> PlainTextResponse:
    """The schema that a run was made with, for `--schema`."""
    return _as_file(job.task["schema"])


@router.get("/projects/{id}/runs/{number}/command")
def show_command(job: Found, project: Open) -> dict[str, Any]:
    """The `lookalike publish` that does the same, and the schema it needs."""
    return {"command": results.command(project, job.task), "schema": job.task["schema"]}


def _as_page(report: Path) -> HTMLResponse:
    return HTMLResponse(report.read_text(encoding="utf-8"), headers={"content-security-policy": REPORT_POLICY})


def _as_file(schema: str) -> PlainTextResponse:
    headers = {"content-disposition": f'attachment; filename="{results.SCHEMA_FILE}"'}
    return PlainTextResponse(schema, media_type="application/yaml", headers=headers)


def _reading(given: openapi.ReadingOptions) -> dict[str, Any]:
    return {name: value for name, value in (("delimiter", given.delimiter), ("encoding", given.encoding)) if value}


def _task(project: Project) -> dict[str, Any]:
    """What the process needs to read the table the same way."""
    if not project.schema.quasi:
        raise RecipeError("No quasi-identifier is named. Say which columns an outsider may know.")
    persons.refuse_repeated_rows(project)
    return {
        "source": str(project.source),
        "reading": dict(project.reading),
        "schema": project.schema.to_yaml(),
        "adversary": project.adversary,
        "persons": persons.settings_of(project),
    }


def _describe_job(job: Job, request: Request) -> dict[str, Any]:
    return {**job.to_plain(), "ahead": jobs_of(request).ahead_of(job)}
