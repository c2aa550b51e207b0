"""`lookalike algorithms`: all algorithms with their parameters."""

from __future__ import annotations

from tests.apps.cli.running import check_listing


def test_listing() -> None:
    check_listing("algorithms")
