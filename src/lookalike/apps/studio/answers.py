"""What the OpenAPI document says of answers: how something is refused, and what is sent that is no JSON."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class Problem(BaseModel):
    """Why something was refused, and what to do."""

    error: str
    nearest: str | None = None
    """If no release can keep a promise: the nearest that can be kept."""


_MEANINGS = {
    400: "The body is no JSON, or did not arrive whole.",
    403: "The token is missing or wrong, or the request comes from another page.",
    404: "The table or the run is not there (any more).",
    413: "More was sent than is allowed.",
    422: "Refused; the sentence says why and what to do.",
}
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": meaning} for status, meaning in _MEANINGS.items()
}
TAKES_A_FILE = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def sends(kind: str) -> dict[int | str, dict[str, Any]]:
    """An answer of this media type."""
    return {200: {"content": {kind: {}}}}
