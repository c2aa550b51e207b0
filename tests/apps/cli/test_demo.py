"""`lookalike demo`: the bundled sample, end to end."""

from __future__ import annotations

from pathlib import Path

from tests.apps.cli.running import lookalike


def test_demo(tmp_path: Path) -> None:
    result = lookalike("demo", "--out", tmp_path / "demo")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "demo" / "report.html").exists()
    again = lookalike("demo", "--out", tmp_path / "demo")
    assert again.returncode == 2
    assert "--overwrite" in again.stderr
