"""Folders and tables that decode well and say more than their decoded content: every one is refused."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.data.microdata import Microdata
from lookalike.errors import LookalikeError
from lookalike.files.releases.read import ReleaseFolder
from lookalike.pipeline.hidden_data.folder import examine_folder
from tests.audit.planting import folders, parts
from tests.audit.planting.boxes import HONEST_BOXES, PLANTED_BOXES
from tests.audit.planting.cases import FORMS
from tests.audit.planting.exam import Marks
from tests.audit.planting.foreign import RESPELLINGS
from tests.audit.planting.messages import MESSAGES
from tests.audit.planting.rooms import sit_boxes, sit_foreign, sit_messages
from tests.files.releases.part_folders import numbered_apart
from tests.reading import read_release

WITH_SETS = {
    "grouped": 3,
    "widened": 2,
    "withheld": 6,
    "matched": 12,
    "bucketized": 0,
    "perturbed": 0,
    "matched widened": 0,
}
"""Seeds by form; where cells are generalised, seeds of tables that have sets."""


def planted(rng: np.random.Generator, honest_folder: Path) -> Iterator[tuple[str, Path]]:
    """The folder with one message after the other."""
    out = honest_folder.with_name("out")
    for kind, plant in MESSAGES.items():
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(honest_folder, out)
        if plant(rng, out):
            yield kind, out


def says_no_more(folder: Path, data: Microdata) -> bool:
    try:
        release, manifest = read_release(folder, data)
        assert manifest is not None
        return all(check.passed for check in examine_folder(ReleaseFolder(folder), release).checks)
    except LookalikeError:
        return False


def hold(found: Counter[str], rng: np.random.Generator, folder: Path, passes: Callable[[Path], bool]) -> None:
    assert passes(folder), "an honest folder is refused"
    for kind, changed in planted(rng, folder):
        found[kind] += 1
        assert not passes(changed), kind


@pytest.mark.parametrize(("form", "seed"), WITH_SETS.items())
def test_every_message_in_a_folder_is_noticed(form: str, seed: int, tmp_path: Path) -> None:
    marks = Marks()
    sit_messages(marks, form, seed, tmp_path)
    assert not marks.wrong, str(marks)
    assert marks.planted["bucket numbers with gaps"] == (form == "bucketized")
    assert marks.planted["a set that names another value first"] == (form not in ("bucketized", "perturbed"))
    assert marks.planted.total() >= 20


def test_every_form_is_tried() -> None:
    assert set(WITH_SETS) == set(FORMS)


def test_every_cell_of_another_tool_that_is_spelled_to_say_more_is_noticed(tmp_path: Path) -> None:
    marks = Marks()
    for seed in range(40):
        sit_foreign(marks, seed, tmp_path)
    assert not marks.wrong, str(marks)
    assert all(marks.planted[f"{kind}, in a table of another tool"] for kind in RESPELLINGS)


def test_every_file_of_another_tool_that_holds_more_than_its_table_is_noticed(tmp_path: Path) -> None:
    marks = Marks()
    for seed in range(10):
        sit_boxes(marks, seed, tmp_path)
    assert not marks.wrong, str(marks)
    assert marks.planted.total() == 10 * len(PLANTED_BOXES)
    assert marks.honest.total() == 10 * len(HONEST_BOXES)


@pytest.mark.parametrize("form", parts.FORMS_IN_PARTS)
def test_every_message_in_a_folder_of_parts_is_noticed(form: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(parts.FORMS_IN_PARTS.index(form))
    data, cases = parts.in_parts(rng, form)
    releases = numbered_apart(case.release for case in cases)
    folder = tmp_path / "honest"
    folders.write_in_parts([replace(case, release=one) for case, one in zip(cases, releases, strict=True)], folder)
    found: Counter[str] = Counter()
    hold(found, rng, folder, lambda path: says_no_more(path, data))
    assert found.total() >= 15
