"""The report on paper: by the browser that is there, or not at all."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from lookalike.apps.cli import main
from lookalike.errors import MissingPart
from lookalike.evaluation.report import find_browser, to_pdf
from tests.evaluation.report.conftest import SEED, Reported
from tests.secrets.traces import traces

FAKE = """#!{python}
import pathlib, sys
target = next(part.partition("=")[2] for part in sys.argv if part.startswith("--print-to-pdf="))
if {prints}:
    pathlib.Path(target).write_bytes(b"%PDF " + " ".join(sys.argv[1:]).encode())
"""


def fake_browser(folder: Path, *, prints: bool) -> Path:
    path = folder / "browser"
    path.write_text(FAKE.format(python=sys.executable, prints=prints))
    path.chmod(0o755)
    return path


def test_a_browser_can_be_named_and_forbidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LOOKALIKE_BROWSER", "")
    assert find_browser() is None
    with pytest.raises(MissingPart, match="Install Chromium"):
        to_pdf("<p>x</p>")
    monkeypatch.setenv("LOOKALIKE_BROWSER", str(fake_browser(tmp_path, prints=True)))
    assert find_browser() == tmp_path / "browser"
    monkeypatch.setenv("LOOKALIKE_BROWSER", str(tmp_path / "nothing"))
    with pytest.raises(MissingPart, match="Correct it"):
        find_browser()


def test_the_browser_gets_no_network_and_prints_no_path(tmp_path: Path) -> None:
    said = to_pdf("<p>x</p>", fake_browser(tmp_path, prints=True)).decode()
    for part in ("--headless", "--no-pdf-header-footer", "MAP * ~NOTFOUND", "--user-data-dir="):
        assert part in said


def test_a_release_appears_without_paper_only_if_paper_was_not_asked_for(
    reported: Reported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOKALIKE_BROWSER", str(fake_browser(tmp_path, prints=False)))
    with pytest.raises(MissingPart, match="could not print"):
        reported.publication.write(tmp_path / "asked", report="brief", pdf=True)
    assert not (tmp_path / "asked").exists()
    assert "report.pdf" not in reported.publication.write(tmp_path / "tried", report="brief", pdf=None)
    fake_browser(tmp_path, prints=True)
    assert "report.pdf" in reported.publication.write(tmp_path / "printed", report="brief", pdf=None)
    assert (tmp_path / "printed" / "report.pdf").read_bytes().startswith(b"%PDF")


def test_the_command_refuses_before_it_works(patients: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOOKALIKE_BROWSER", "")
    done = CliRunner().invoke(main, ["demo", "--out", str(tmp_path / "out"), "--pdf"])
    assert done.exit_code == 4
    assert "No browser was found" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(find_browser() is None, reason="no browser of the Chromium family is installed")
def test_a_real_browser_prints_it(reported: Reported, tmp_path: Path) -> None:
    printed = to_pdf((reported.folder / "report.html").read_text(encoding="utf-8"))
    assert printed.startswith(b"%PDF")
    assert len(printed) > 50_000
    (tmp_path / "report.pdf").write_bytes(printed)
    assert traces([tmp_path / "report.pdf"], seed=SEED, words=[reported.folder.parent, "Mozilla", "Skia/PDF"]) == []
    assert {stamp[-6:] for stamp in re.findall(rb"D:(\d{14})", printed)} == {b"000000"}
