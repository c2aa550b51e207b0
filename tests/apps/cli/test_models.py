"""`lookalike models`: all models with their parameters."""

from __future__ import annotations

from tests.apps.cli.running import check_listing


def test_listing() -> None:
    check_listing("models")
