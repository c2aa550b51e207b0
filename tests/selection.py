"""Which tests are slow, and what is a reason to skip one. Both are said here and nowhere else.

`make test-fast` leaves out what is slow: it is not even imported. A skip means that something is missing on this
machine. A combination that does not apply is not collected; a table that does not fit is left out by `assume`.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)
HERE = Path(__file__).parent

SLOW = (
    "analysis/test_release_ranged.py",
    "apps/papers",
    "apps/studio/test_browser.py",
    "apps/studio/test_ending.py",
    "apps/studio/test_fuzz.py",
    "apps/studio/test_jobs.py",
    "audit/test_exam.py",
    "audit/test_messages.py",
    "docs",
    "evaluation/compare",
    "evaluation/report",
    "evaluation/test_evaluate.py",
    "exams",
    "faults",
    "files/databases/test_read.py",
    "files/databases/test_write.py",
    "fuzz",
    "golden",
    "peers",
    "pipeline/backends",
    "pipeline/parts/test_publish.py",
    "pipeline/parts/test_verify.py",
    "pipeline/hidden_data/test_folder.py",
    "secrets/test_same_release_same_files.py",
    "test_memory.py",
)
"""Folders and files below `tests`. A single test that takes seconds is marked where it is: `pytest.mark.slow`."""
SLOW_FIXTURES = {"place", "postgres", "server", "spark"}
"""Whatever uses a database or a cluster."""

REASONS = (
    r"could not import '(sklearn|mbi|pyspark\.sql|playwright\.sync_api)'",
    r"no browser of the Chromium family is installed",
    r"no PostgreSQL server here",
    r"PySpark is not installed",
    r"Spark needs Java",
    r"pyCANON is not installed",
    r"Linux only: ",
    r"compiled only: ",
)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import what would be left out: `True` leaves it out, `None` lets others decide."""
    return True if _without_slow(config) and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _is_slow(item.path) or SLOW_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return without_other_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return without_other_skips((yield))


def without_other_skips(report: Report) -> Report:
    """The report, which fails if it tells of a skip for a reason that is not listed."""
    if report.outcome != "skipped" or hasattr(report, "wasxfail"):
        return report
    reason = str(report.longrepr[2]).removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
    if not any(re.match(allowed, reason) for allowed in REASONS):
        report.outcome = "failed"
        report.longrepr = (
            f"Skipped for a reason that tests/selection.py does not list: {reason}\n"
            "Leave out what does not apply when tests are collected, or list what is missing."
        )
    return report


def _without_slow(config: pytest.Config) -> bool:
    return config.getoption("markexpr") == "not slow"


@cache
def _is_slow(path: Path) -> bool:
    return any(path.is_relative_to(HERE / slow) for slow in SLOW)
