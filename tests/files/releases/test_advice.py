"""README.txt tells recipients how to use the release, and what it shows runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lookalike as la
from lookalike.files.releases.write import write_release
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release


@pytest.mark.parametrize("form", FORMS)
def test_what_the_readme_shows_runs(form: str, tmp_path: Path) -> None:
    write_release(tmp_path / "out", clinic_release(form)[1], documents={}, manifest=MANIFEST)
    text = (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    headings = [line for line in text.split("\n") if line and not line.startswith((" ", "="))]
    for heading in ("How to use it", "What not to conclude", "Contact and terms", "How to cite it"):
        assert headings.count(heading) == 1
    shown = [line.strip() for line in text.split("\n") if line.startswith("    ")]
    code = [line for line in shown if re.match(r"(import |(release|tables?|worlds) = |release\.)", line)]
    assert len(code) >= 4
    names = {"lookalike": la}
    for line in code:
        exec(line.replace("THIS-FOLDER", str(tmp_path / "out")).partition("   #")[0], names)
    assert len(names["worlds"]) == 5  # type: ignore[arg-type]
    assert max(map(len, shown)) < 125
