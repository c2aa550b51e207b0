"""The pages: HTML made on the server, a view of what `api` gives. What a page changes, it changes through the API."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from lookalike.apps.studio import api, results
from lookalike.apps.studio.columns import clip_text, describe_columns, describe_project, preview
from lookalike.apps.studio.jobs import ENDED, Job
from lookalike.apps.studio.promises import describe_methods, describe_promises, recommend_start, what_to_compare
from lookalike.apps.studio.taxonomies import FORMS, write_taxonomy
from lookalike.apps.studio.workspace import NotOpen, Project
from lookalike.data.adversary import ADVERSARIES
from lookalike.data.wording import Wording
from lookalike.evaluation.report.page import environment_of
from lookalike.files.tables.formats import list_endings, list_names
from lookalike.version import __version__

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

_STEPS = (
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
    known = {"most_bytes": request.app.state.most_bytes, "endings": list_endings(), "formats": list_names()}
    return _page("load", request, projects=api.list_projects(request), **known)


@router.get("/projects/{id}", response_model=None)
def project_page(project: api.Open) -> RedirectResponse:
    return RedirectResponse(f"/projects/{project.id}/columns", 303)


@router.get("/projects/{id}/columns")
def columns_page(project: api.Open, request: Request) -> HTMLResponse:
    found, rows = describe_columns(project), preview(project)
    return _page("columns", request, project, found=found, rows=rows, forms=FORMS)


@router.get("/projects/{id}/promise")
def promise_page(project: api.Open, request: Request) -> HTMLResponse:
    promises = describe_promises(project)
    start = recommend_start(project) if project.schema.quasi else None
    whom = _describe_adversaries(project)
    return _page("promise", request, project, promises=promises, start=start, adversaries=whom)


@router.get("/projects/{id}/method", response_model=None)
def method_page(project: api.Open, request: Request) -> HTMLResponse | RedirectResponse:
    if not project.models:
        return RedirectResponse(f"/projects/{project.id}/promise", 303)
    return _page("method", request, project, found=describe_methods(project))


@router.get("/projects/{id}/run")
def run_page(project: api.Open, request: Request) -> HTMLResponse:
    """Start a run, or watch the one that is under way."""
    jobs = _jobs(project, request, "publish")
    last = jobs[-1] if jobs else None
    return _page(
        "run",
        request,
        project,
        watched=_under_way(jobs),
        last=last,
        adversaries=_describe_adversaries(project),
        releases=results.list_finished(jobs),
    )


@router.get("/projects/{id}/results")
def results_page(project: api.Open, request: Request, run: int | None = None) -> HTMLResponse:
    """The result of a run; of the last one if none is named."""
    job = _choose_run(project, request, run)
    done = job if job is not None and job.state == "done" else None
    return _page(
        "results",
        request,
        project,
        job=job,
        found=None if done is None else results.results(done),
        pictures=_pictures(job),
        releases=results.list_finished(_jobs(project, request, "publish")),
        before=None if done is None else preview(project),
    )


@router.get("/projects/{id}/compare")
def compare_page(project: api.Open, request: Request) -> HTMLResponse:
    """Several settings on the frontier."""
    jobs = _jobs(project, request, "compare")
    shown = _last_done(jobs)
    return _page(
        "compare",
        request,
        project,
        watched=_under_way(jobs),
        shown=shown,
        found=None if shown is None else results.comparison_table(shown),
        pictures=_pictures(shown),
        offered=what_to_compare(project) if project.models else None,
        releases=results.list_finished(_jobs(project, request, "publish")),
    )


@router.get("/projects/{id}/export")
def export_page(project: api.Open, request: Request, run: int | None = None) -> HTMLResponse:
    job = _choose_run(project, request, run)
    return _page(
        "export",
        request,
        project,
        job=job,
        command=results.command(project, None if job is None else job.task),
        files=results.files_of(job) if job is not None and job.state == "done" else [],
        has_private_part=job is not None and results.has_private_part(job),
        releases=results.list_finished(_jobs(project, request, "publish")),
        is_copy=project.is_copy,
    )


def problem_page(said: str, status: int, headers: Mapping[str, str] | None = None) -> HTMLResponse:
    """What went wrong, and the way back."""
    return HTMLResponse(_render("problem", said=said), status, headers)


def _jobs(project: Project, request: Request, kind: str) -> list[Job]:
    return [job for job in api.jobs_of(request).of(project.id) if job.kind == kind]


def _choose_run(project: Project, request: Request, run: int | None) -> Job | None:
    """The run that is asked for, or the last that is done."""
    if run is not None:
        job = api.jobs_of(request).job(project.id, run)
        if job.kind != "publish":
            raise NotOpen("This is a comparison, which makes no release.")
        return job
    return _last_done(_jobs(project, request, "publish"))


def _last_done(jobs: list[Job]) -> Job | None:
    return next((job for job in reversed(jobs) if job.state == "done"), None)


def _under_way(jobs: list[Job]) -> Job | None:
    return next((job for job in jobs if job.state not in ENDED), None)


def _pictures(job: Job | None) -> dict[str, Markup]:
    """Charts escape all text in them."""
    return {} if job is None else {name: Markup(svg) for name, svg in results.pictures(job).items()}


def _page(step: str, request: Request, project: Project | None = None, **shown: Any) -> HTMLResponse:
    """The page of a step of the way."""
    if project is not None:
        under_way = [job for job in api.jobs_of(request).of(project.id) if job.state not in ENDED]
        shown |= {"project": describe_project(project), "under_way": under_way, "step": step}
    return HTMLResponse(_render(step, **shown))


def _render(template: str, **shown: Any) -> str:
    usual: dict[str, Any] = {"project": None, "steps": _STEPS, "step": None, "under_way": [], "version": __version__}
    return _environment().get_template(f"{template}.html").render(usual | shown)


@cache
def _environment() -> jinja2.Environment:
    environment = environment_of("lookalike.apps.studio")
    environment.filters["clip"] = clip_text
    environment.filters["typed"] = write_taxonomy
    environment.filters["count"] = lambda number: f"{number:,}"
    return environment


def _describe_adversaries(project: Project) -> dict[str, str]:
    """What each adversary knows, with the quasi-identifiers by name."""
    known = tuple(attribute.name for attribute in project.schema.quasi)
    return {name: Wording(adversary=name, known=known).describe_adversary() for name in ADVERSARIES}
