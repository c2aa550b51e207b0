"""Folders that decode well and say more than their decoded content: every one is refused."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import LookalikeError
from lookalike.microdata import Microdata
from lookalike.packages.canonical import examine_folder
from lookalike.packages.reading import read_release
from tests.audit.planting import folders, parts
from tests.audit.planting.cases import FORMS, honest
from tests.audit.planting.messages import MESSAGES
from tests.packages.part_folders import numbered_apart

SEEDS = 3


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
        return all(check.passed for check in examine_folder(folder, release, manifest).checks)
    except LookalikeError:
        return False


def hold(found: Counter[str], rng: np.random.Generator, folder: Path, passes: Callable[[Path], bool]) -> None:
    assert passes(folder), "an honest folder is refused"
    for kind, changed in planted(rng, folder):
        found[kind] += 1
        assert not passes(changed), kind


@pytest.mark.parametrize("form", FORMS)
def test_every_message_in_a_folder_is_noticed(form: str, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, FORMS.index(form)])
        case = honest(rng, form)
        folder = tmp_path / str(seed) / "honest"
        folder.parent.mkdir()
        folders.write(case, folder)
        hold(found, rng, folder, lambda path, case=case: folders.passes(case, path))
    if form == "bucketized":
        assert found["bucket numbers with gaps"]
    if form not in ("bucketized", "perturbed"):
        assert found["a set that names a value twice"]
    assert found.total() >= 20 * SEEDS


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
