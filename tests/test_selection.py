"""A skip for a reason that is not listed is a failure; what is slow is there."""

from __future__ import annotations

import pytest

from tests.selection import HERE, SLOW, without_other_skips


def skipped(reason: str) -> pytest.TestReport:
    return pytest.TestReport(
        "a test", ("a file", 1, "a test"), {}, "skipped", ("a file", 1, f"Skipped: {reason}"), "call"
    )


@pytest.mark.parametrize("reason", ["no PostgreSQL server here (install it)", "could not import 'sklearn': No module"])
def test_what_is_missing_may_be_skipped(reason: str) -> None:
    assert without_other_skips(skipped(reason)).outcome == "skipped"


@pytest.mark.parametrize("reason", ["does not apply", "unconditional skip", "could not import 'lookalike.attacks'", ""])
def test_any_other_skip_is_a_failure(reason: str) -> None:
    report = without_other_skips(skipped(reason))
    assert report.outcome == "failed"
    assert reason in str(report.longrepr)


def test_an_expected_failure_is_no_skip() -> None:
    report = skipped("known")
    report.wasxfail = "known"
    assert without_other_skips(report).outcome == "skipped"


@pytest.mark.parametrize("path", SLOW)
def test_what_is_slow_is_there(path: str) -> None:
    assert (HERE / path).exists()
