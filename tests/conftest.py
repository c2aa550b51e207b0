"""Fixtures that several test files share."""

from __future__ import annotations

import csv
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from lookalike.apps.samples import hospital, to_csv
from tests.examples import examples
from tests.places import place, postgres, server  # noqa: F401  fixtures
from tests.selection import (  # noqa: F401  hooks
    pytest_collection_modifyitems,
    pytest_ignore_collect,
    pytest_make_collect_report,
    pytest_runtest_makereport,
)

# Machines are noisy: how long an example takes says nothing about whether it is right.
settings.register_profile("checks", deadline=None, max_examples=examples(100))
settings.load_profile("checks")

# It registers guests where it is imported: only the tests of `lookalike.extend` may do that.
collect_ignore = ["toy_guest.py"]

# What commands do besides takes seconds and is tested by itself (tests/evaluation/report).
os.environ |= {"LOOKALIKE_REPORT": "brief", "LOOKALIKE_PDF": "0"}


@pytest.fixture(autouse=True)
def no_known_series(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Ledgers of series are noted for the user: each test begins without any."""
    state = tmp_path_factory.getbasetemp() / "state" / str(next(_numbers))
    monkeypatch.setenv("XDG_STATE_HOME", str(state))


_numbers = itertools.count()


@pytest.fixture(scope="session")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital table of 400 rows as a CSV file."""
    path = tmp_path_factory.mktemp("patients") / "patients.csv"
    to_csv(hospital(400, seed=11), path)
    return path


@pytest.fixture(scope="session")
def patient_rows(patients: Path) -> list[dict[str, str]]:
    with patients.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def registries() -> Iterator[None]:
    """Whatever a test registers is taken out again."""
    from lookalike import extend

    families: list[Any] = [
        extend.MODELS,
        extend.ALGORITHMS,
        extend.ATTACKS,
        extend.METRICS,
        extend.FIDELITY,
        extend.FORMATS,
    ]
    before = [dict(registry) for registry in families]
    yield
    for registry, kept in zip(families, before, strict=True):
        registry.clear()
        registry.update(kept)


@pytest.fixture
def guest(registries: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The guests of toy_guest.py, as the environment names them."""
    from lookalike.data.families import NAMED, load_guests

    monkeypatch.setenv(NAMED, str(Path(__file__).with_name("toy_guest.py")))
    load_guests()
    yield
    del sys.modules["toy_guest"]
