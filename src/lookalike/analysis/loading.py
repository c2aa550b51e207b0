"""A release folder becomes the class of its form."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lookalike.analysis.bucketized import BucketizedRelease
from lookalike.analysis.perturbed import PerturbedRelease
from lookalike.analysis.ranged import RangedRelease
from lookalike.analysis.release import PublishedRelease
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from lookalike.errors import DataError, quoted
from lookalike.files.releases.read import ReleaseFolder, release_folder
from lookalike.files.urls import local_path


def load(folder: str | Path) -> PublishedRelease:
    """A release folder, to be analysed."""
    found = release_folder(local_path(folder))
    if found is None:
        raise DataError(f"{folder} is not a release folder of lookalike. Name the folder with datapackage.json.")
    opened = ReleaseFolder(found)
    manifest, tables = opened.manifest, opened.frames
    forms = (Grouped.form, Matched.form, Bucketized.form, Perturbed.form)
    if manifest.form not in forms:
        raise DataError(f"{folder} is a release of form {quoted(manifest.form)}. Known: {', '.join(forms)}.")
    expected = ("qit", "sat") if manifest.form == Bucketized.form else ("release",)
    if any(name not in tables for name in expected):
        raise DataError(f"{folder} lacks one of its tables ({', '.join(expected)}). It is damaged: get it again.")
    if manifest.form in (Grouped.form, Matched.form):
        return replace(RangedRelease.of(manifest, tables["release"]), folder=found)
    if manifest.form == Perturbed.form:
        return replace(PerturbedRelease.of(manifest, tables["release"]), folder=found)
    return replace(BucketizedRelease.of(manifest, tables["qit"], tables["sat"]), folder=found)
