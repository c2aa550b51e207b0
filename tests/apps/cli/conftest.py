"""A release made by the command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apps.cli.running import published


@pytest.fixture(scope="session")
def release(patients: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "release"
    result = published(patients, out, "--model", "beta-likeness:4", "--private")
    assert result.returncode == 0, result.stderr
    return out
