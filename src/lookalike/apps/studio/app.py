"""The application: workspace, queue, routes, and errors in words."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from lookalike.apps.studio import api, pages
from lookalike.apps.studio.jobs import Jobs
from lookalike.apps.studio.uploads import MOST_BYTES, Bounded, TooLarge
from lookalike.apps.studio.workspace import NotOpen, Workspace
from lookalike.errors import Infeasible, LookalikeError
from lookalike.version import __version__

_STATIC = Path(__file__).parent / "static"
_STATUS: dict[type[LookalikeError], int] = {NotOpen: 404, TooLarge: 413}
_MOST_SAID = 5
"""Faults of a request that are listed."""


def create_app(*, most_bytes: int = MOST_BYTES) -> FastAPI:
    """The studio without its guard (`security.Guard` goes around it when it is served)."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        app.state.jobs.end()
        app.state.workspace.remove()

    app = FastAPI(
        title="lookalike studio",
        version=__version__,
        description="Publish a table about people so that nobody can be singled out. All of it stays on this machine.",
        openapi_url="/api/openapi.json",
        # The usual pages for it fetch scripts from a network.
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.workspace = Workspace()
    app.state.jobs = Jobs()
    app.state.most_bytes = most_bytes
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")
    app.add_middleware(Bounded)
    app.add_exception_handler(LookalikeError, _explain)
    app.add_exception_handler(RequestValidationError, _misunderstood)
    app.add_exception_handler(HTTPException, _explain_refusal)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _faulty)
    return app


async def _explain(request: Request, error: Exception) -> Response:
    """What the user can do something about, in words."""
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 422)
    nearest = error.nearest if isinstance(error, Infeasible) else None
    return _problem(request, str(error), status, nearest=nearest)


async def _misunderstood(request: Request, error: Exception) -> Response:
    """Which field is wrong; never what stood in it."""
    assert isinstance(error, RequestValidationError)
    said = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:_MOST_SAID]]
    return _problem(request, f"The request was not understood. {'; '.join(said)[:2000]}", 422)


async def _explain_refusal(request: Request, error: Exception) -> Response:
    """No such page, no such method, or no JSON."""
    assert isinstance(error, HTTPException)
    said = "There is no such page. Go back, or load a table." if error.status_code == 404 else str(error.detail)
    return _problem(request, said, error.status_code, headers=error.headers)


async def _too_deep(request: Request, error: Exception) -> Response:
    return _problem(request, "What was sent is nested too deeply. Send something flatter.", 422)


async def _left(request: Request, error: Exception) -> Response:
    """Anyone who sent a file went away in the middle of it: nobody reads the answer."""
    return _problem(request, "The file did not arrive whole. Send it again.", 400)


async def _faulty(request: Request, error: Exception) -> Response:
    # The kind of a fault is logged, its text is not: it could hold a value.
    logging.getLogger("lookalike.apps.studio").error("request failed: %s", type(error).__name__)
    said = f"This failed ({type(error).__name__}). It is a fault of the software, please report it."
    return _problem(request, said, 500)


def _problem(
    request: Request,
    said: str,
    status: int,
    *,
    nearest: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """As JSON for scripts, as a page for readers. Signs that no text can hold (half of a pair) are shown as ?."""
    text = said.encode("utf-8", "replace").decode("utf-8")
    if request.url.path.startswith(("/api/", "/static/")):
        return JSONResponse({"error": text, "nearest": nearest}, status, headers)
    return pages.problem_page(text, status, headers)
