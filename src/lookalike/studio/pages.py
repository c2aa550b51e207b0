"""The pages: HTML made on the server, a view of what `api` gives. What a page changes, it changes through the API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from lookalike.adversary import ADVERSARIES
from lookalike.studio import api, exporting, results
from lookalike.studio.describing import describe_columns, describe_project, preview
from lookalike.studio.jobs import ENDED, Job
from lookalike.studio.methods import describe_methods
from lookalike.studio.promising import describe_promises
from lookalike.studio.workspace import Project
from lookalike.version import __version__

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

STEPS = (
    ("columns", "Columns"),
    ("promise", "Promise"),
    ("method", "Method"),
    ("run", "Run"),
    ("results", "Results"),
    ("compare", "Compare"),
    ("export", "Export"),
)
"""The way, after a table was loaded: the last part of the address, and what the step is called."""


@router.get("/")
def load_page(request: Request) -> HTMLResponse:
    return _page("load.html", request, projects=api.list_projects(request), most_bytes=request.app.state.most_bytes)


@router.get("/projects/{id}", response_model=None)
def project_page(project: api.Open) -> RedirectResponse:
    return RedirectResponse(f"/projects/{project.id}/columns", 303)


@router.get("/projects/{id}/columns")
def columns_page(project: api.Open, request: Request) -> HTMLResponse:
    return _page(
        "columns.html", request, project, step="columns", found=describe_columns(project), rows=preview(project)
    )


@router.get("/projects/{id}/promise")
def promise_page(project: api.Open, request: Request) -> HTMLResponse:
    promises = describe_promises(project)
    return _page("promise.html", request, project, step="promise", promises=promises, adversaries=ADVERSARIES)


@router.get("/projects/{id}/method", response_model=None)
def method_page(project: api.Open, request: Request) -> HTMLResponse | RedirectResponse:
    if not project.models:
        return RedirectResponse(f"/projects/{project.id}/promise", 303)
    return _page("method.html", request, project, step="method", found=describe_methods(project))


@router.get("/projects/{id}/run")
def run_page(project: api.Open, request: Request) -> HTMLResponse:
    """Start a run, or watch the one that is under way."""
    return _page("run.html", request, project, step="run", jobs=_jobs(project, request, "publish"))


@router.get("/projects/{id}/results")
def results_page(project: api.Open, request: Request, run: int | None = None) -> HTMLResponse:
    """What came of a run; of the last one if none is named."""
    job = _chosen(project, request, run)
    found = None if job is None else results.results(job)
    pictures = {} if job is None else {name: Markup(svg) for name, svg in results.pictures(job).items()}
    return _page(
        "results.html",
        request,
        project,
        step="results",
        job=job,
        found=found,
        pictures=pictures,
        before=preview(project),
    )


@router.get("/projects/{id}/compare")
def compare_page(project: api.Open, request: Request) -> HTMLResponse:
    """Several settings on the frontier."""
    jobs = _jobs(project, request, "compare")
    done = [job for job in jobs if job.state == "done"]
    found = results.comparison(done[-1]) if done else None
    pictures = {name: Markup(svg) for name, svg in results.pictures(done[-1]).items()} if done else {}
    return _page("compare.html", request, project, step="compare", jobs=jobs, found=found, pictures=pictures)


@router.get("/projects/{id}/export")
def export_page(project: api.Open, request: Request, run: int | None = None) -> HTMLResponse:
    job = _chosen(project, request, run)
    command = exporting.command(project, None if job is None else job.task)
    return _page("export.html", request, project, step="export", job=job, command=command)


def problem_page(said: str, status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """What went wrong, and the way back."""
    page = _environment().get_template("problem.html")
    shown = page.render(project=None, steps=STEPS, step=None, under_way=[], version=__version__, said=said)
    return HTMLResponse(shown, status, headers)


def _jobs(project: Project, request: Request, kind: str) -> list[Job]:
    return [job for job in api.jobs_of(request).of(project.id) if job.kind == kind]


def _chosen(project: Project, request: Request, run: int | None) -> Job | None:
    """The run that is asked for, or the last that is done."""
    if run is not None:
        return api.jobs_of(request).job(project.id, run)
    done = [job for job in _jobs(project, request, "publish") if job.state == "done"]
    return done[-1] if done else None


def _page(template: str, request: Request, project: Project | None = None, **shown: Any) -> HTMLResponse:
    under_way = (
        [] if project is None else [job for job in api.jobs_of(request).of(project.id) if job.state not in ENDED]
    )
    page = _environment().get_template(template)
    return HTMLResponse(
        page.render(
            project=None if project is None else describe_project(project),
            steps=STEPS,
            under_way=under_way,
            version=__version__,
            **{"step": None, **shown},
        )
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("lookalike.studio"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share: f"{100 * share:.3g} %"
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment
