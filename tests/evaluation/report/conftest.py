"""A release with its full report, made once."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

import lookalike as la
from lookalike.apps.samples import hospital, sample_schema
from lookalike.data.statement import Statement
from lookalike.evaluation.report import Examples, Report, make_up_examples
from lookalike.evaluation.report.basis import Basis
from lookalike.files.releases.read import ReleaseFolder


class Reported(NamedTuple):
    publication: la.Publication
    folder: Path
    report: Report
    examples: Examples


SEED = 902_173_645


@pytest.fixture(scope="session")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Reported:
    made = la.publish(
        hospital(300, seed=3),
        schema=sample_schema(),
        model=["k-anonymity:3", "l-diversity:3"],
        title="Stays",
        recipient="Institute of Health",
        seed=SEED,
    )
    folder = tmp_path_factory.mktemp("reported") / "release"
    made.write(folder, report="full")
    outcome = made.made
    examples = make_up_examples(ReleaseFolder(folder))
    assert examples is not None
    report = Report.on(Basis.of(outcome), Statement(title="Stays"), evaluation=made.evaluate(), examples=examples)
    return Reported(made, folder, report, examples)
