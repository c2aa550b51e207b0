"""`lookalike measure`: the losses that publish wrote down."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.apps.cli.running import lookalike


def test_measure_agrees_with_publish(patients: Path, release: Path) -> None:
    made = json.loads((release / "audit.json").read_text(encoding="utf-8"))["loss"]
    measured = json.loads(lookalike("measure", patients, release, "--json").stdout)
    # What is published has six digits.
    assert measured["loss"] == pytest.approx(made, rel=1e-5)
    assert measured["domains"] == {"age": "observed", "sex": "observed", "zip code": "observed"}
