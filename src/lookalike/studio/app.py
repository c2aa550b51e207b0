"""The application: workspace, queue, routes, and errors in words."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles

from lookalike.errors import Infeasible, LookalikeError
from lookalike.studio import api, pages
from lookalike.studio.jobs import Jobs
from lookalike.studio.uploads import MOST_BYTES
from lookalike.studio.workspace import NotOpen, Workspace
from lookalike.version import __version__

STATIC = Path(__file__).parent / "static"


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
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_exception_handler(LookalikeError, _explained)
    app.add_exception_handler(RequestValidationError, _misunderstood)
    app.add_exception_handler(Exception, _faulty)
    return app


async def _explained(request: Request, error: Exception) -> Response:
    """What the user can do something about, in words."""
    status = 404 if isinstance(error, NotOpen) else 422
    plain: dict[str, Any] = {"error": str(error)}
    if isinstance(error, Infeasible):
        plain["nearest"] = error.nearest
    return JSONResponse(plain, status)


async def _misunderstood(request: Request, error: Exception) -> Response:
    """Which field is wrong; never what stood in it."""
    assert isinstance(error, RequestValidationError)
    said = "; ".join(f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors())
    return JSONResponse({"error": f"The request was not understood. {said}"}, 422)


async def _faulty(request: Request, error: Exception) -> Response:
    # The kind of a fault is logged, its text is not: it could hold a value.
    logging.getLogger("lookalike.studio").error("request failed: %s", type(error).__name__)
    said = f"This failed ({type(error).__name__}). It is a fault of the software, please report it."
    return JSONResponse({"error": said}, 500)
