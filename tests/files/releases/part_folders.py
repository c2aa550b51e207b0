"""Releases in parts, made by hand: rows of a table split, released part by part, and put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.data.microdata import Microdata, Whole
from lookalike.data.release import Bucketized, Grouped, Perturbed, Release
from lookalike.files.releases.describe import Manifest
from lookalike.files.releases.parts import WrittenPart, complete, write_part
from lookalike.files.releases.write import NewRelease, new_release
from tests.files.releases.release_forms import MANIFEST, make_release, small_clinic


def some_rows(data: Microdata, rows: Any) -> Microdata:
    """Records of a table, as a part of it."""
    counts = tuple(data.prior(place) for place in range(len(data.domains.sensitive)))
    whole = Whole(data.n_rows, counts)
    return replace(
        data, quasi=data.quasi[rows], sensitive=data.sensitive[rows], carried=data.carried[rows], whole=whole
    )


def part_releases(form: str, data: Microdata, split: Sequence[Any], *, seed: int = 5, size: int = 3) -> list[Release]:
    """A release of each part, in groups of `size` records as they come, rows shuffled, bucket numbers apart."""
    shuffler = np.random.default_rng(seed)
    made = [
        make_release(form, some_rows(data, rows), np.arange(len(rows)) // size, shuffler.permutation(len(rows)))
        for rows in split
    ]
    return numbered_apart(as_said(release, shuffler) for release in made)


def as_said(release: Release, shuffler: np.random.Generator) -> Release:
    """Values redrawn by the matrix that is published, both tables of buckets shuffled, buckets numbered at random."""
    if isinstance(release, Perturbed):
        redrawn = release.sensitive.copy()
        for column, matrix in enumerate(release.randomizers):
            shares = matrix.weights / matrix.total
            redrawn[:, column] = [shuffler.choice(len(shares), p=shares[:, code]) for code in redrawn[:, column]]
        return replace(release, sensitive=redrawn)
    if not isinstance(release, Bucketized):
        return release
    order = shuffler.permutation(len(release.quasi))
    numbers = shuffler.permutation(1 + int(release.bucket_of_quasi.max(initial=0))).astype(np.int32)
    return replace(
        release,
        quasi=release.quasi[order],
        bucket_of_quasi=numbers[release.bucket_of_quasi[order]],
        bucket_of_sensitive=numbers[release.bucket_of_sensitive],
    )


def numbered_apart(releases: Iterable[Release]) -> list[Release]:
    """The same, with bucket numbers that are unique across parts."""
    made: list[Release] = []
    listed = list(releases)
    for number, release in enumerate(listed):
        if isinstance(release, Bucketized):
            release = replace(
                release,
                bucket_of_quasi=release.bucket_of_quasi * len(listed) + number,
                bucket_of_sensitive=release.bucket_of_sensitive * len(listed) + number,
            )
        made.append(release)
    return made


def without_rows(release: Release) -> Release:
    """What is said about all parts: form, domains, matrices, what was withheld."""
    none: dict[str, Any] = {"sensitive": release.sensitive[:0], "carried": release.carried[:0]}
    if isinstance(release, Bucketized):
        none |= {"bucket_of_quasi": release.bucket_of_quasi[:0], "bucket_of_sensitive": release.bucket_of_sensitive[:0]}
    if isinstance(release, Grouped):
        none["group_of_row"] = release.group_of_row[:0]
    if hasattr(release, "quasi"):
        none["quasi"] = release.quasi[:0]
    return replace(release, **none)


def write_parts(folder: Path, releases: Sequence[Release], *, overwrite: bool = False, **more: Any) -> list[str]:
    """The folder, whole or not at all."""
    with new_release(folder, overwrite=overwrite) as out:
        parts = [write_part(out.folder, number, release)[0] for number, release in enumerate(releases)]
        return finish(out, parts, releases[0], **more)


def finish(
    out: NewRelease,
    parts: Sequence[WrittenPart],
    release: Release,
    *,
    documents: Mapping[str, bytes] | None = None,
    manifest: Manifest = MANIFEST,
) -> list[str]:
    complete(out, parts, without_rows(release))
    out.add(documents or {})
    out.describe(manifest)
    return out.names


SPLIT = (np.array([0, 1, 2, 3, 4]), np.array([5, 6, 7, 8]), np.array([9, 10, 11]))


def clinic_in_parts(folder: Path, form: str, **more: Any) -> tuple[Microdata, list[Release]]:
    """Twelve patients in three parts."""
    data = small_clinic()
    releases = part_releases(form, data, SPLIT)
    write_parts(folder, releases, **more)
    return data, releases
