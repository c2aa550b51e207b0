"""Parquet files of a release whose columns are of other types than its manifest says."""

from __future__ import annotations

import io

import polars as pl
import pytest

from fuzz.clinic import clinic, folder_of, replaced
from lookalike.analysis.release import open_release
from lookalike.errors import DataError
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import dtype_of
from lookalike.files.releases.read import ReleaseFolder
from tests.files.releases.release_forms import FORMS
from tests.reading import read_release

ODD = (
    pl.lit(1),
    pl.lit("x"),
    pl.lit(None),
    pl.lit([1]),
    pl.struct(low=pl.lit(1), high=pl.lit(2)),
    pl.struct(values=pl.lit(3), missing=pl.lit("a")),
)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_has_the_types_that_are_asked_for(form: str) -> None:
    opened = ReleaseFolder(folder_of(form))
    manifest, tables = opened.manifest, opened.frames
    for name, fields in manifest.tables.items():
        assert [tables[name][field.name].dtype for field in fields] == [dtype_of(field) for field in fields]


@pytest.mark.parametrize("form", FORMS)
def test_columns_of_another_type_are_refused(form: str) -> None:
    folder = folder_of(form)
    path = sorted(folder.glob("*.parquet"))[-1]
    frame = pl.read_parquet(path)
    for place, name in enumerate(frame.columns):
        odd = ODD[place % len(ODD)]
        changed = frame.with_columns(odd.alias(name))
        if changed.schema == frame.schema:
            continue
        buffer = io.BytesIO()
        changed.write_parquet(buffer)
        with replaced(path, buffer.getvalue()):
            for read in (
                open_release,
                lambda folder: read_alone(ReleaseFolder(folder)),
                lambda folder: read_release(folder, clinic()),
            ):
                with pytest.raises(DataError, match="its columns are not those of the release"):
                    read(folder)
