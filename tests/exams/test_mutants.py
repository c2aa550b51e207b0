"""The mistakes that `make audit-mutants` plants fit the code: a file that moves cannot leave the list behind."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "audit_mutants.py"


def test_every_mutant_changes_a_line_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec = importlib.util.spec_from_file_location("audit_mutants", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    stale = [
        (mutant.file, mutant.right)
        for mutant in script.MUTANTS
        if not (script.PACKAGE / mutant.file).is_file()
        or mutant.right not in (script.PACKAGE / mutant.file).read_text(encoding="utf-8")
    ]
    assert len(script.MUTANTS) > 80
    assert stale == []
