"""Release folders read back: whole, damaged, changed, or of another table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Perturbed
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import DataError, SchemaError
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release, column
from tests.reading import read_release


def written(tmp_path: Path, form: str) -> tuple[Microdata, Path]:
    data, release = clinic_release(form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    return data, tmp_path / "out"


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize("name", ["release.csv", "release.parquet", "datapackage.json"])
def test_a_file_of_a_folder_means_the_folder(tmp_path: Path, name: str) -> None:
    data, folder = written(tmp_path, Grouped.form)
    release, manifest = read_release(folder / name, data)
    assert manifest is not None
    assert release.n_rows == data.n_rows


@pytest.mark.parametrize("form", FORMS)
def test_the_published_schema_reads_the_original_the_same_way(tmp_path: Path, form: str) -> None:
    data, folder = written(tmp_path, form)
    schema = ReleaseFolder(folder).schema
    assert [attribute.name for attribute in schema.attributes] == [domain.name for domain in data.domains.all]
    assert [attribute.kind for attribute in schema.attributes] == [domain.kind for domain in data.domains.all]


def test_a_changed_csv_disagrees_with_its_parquet(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Grouped.form)
    edited(folder / "release.csv", "flu", "cold")
    with pytest.raises(DataError, match=r"release\.parquet and release\.csv disagree"):
        read_release(folder, data)


def changed_alike(folder: Path, old: str, new: str) -> None:
    """Change a diagnosis in CSV and Parquet."""
    edited(folder / "release.csv", old, new)
    frame = pl.read_parquet(folder / "release.parquet")
    row = frame["diagnosis"].index_of(old)
    cells = frame["diagnosis"].to_list()
    cells[row] = new
    frame.with_columns(diagnosis=pl.Series(cells)).write_parquet(folder / "release.parquet")


def test_a_value_that_the_original_lacks_is_counted_not_shown(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Grouped.form)
    changed_alike(folder, "flu", "plague")
    with pytest.raises(DataError, match=r'"diagnosis" holds 1 value that the original does not have') as caught:
        read_release(folder, data)
    assert "plague" not in str(caught.value)


def test_a_release_of_another_table_is_told(tmp_path: Path) -> None:
    _, folder = written(tmp_path, Grouped.form)
    other = Microdata.encode(
        Table((column("age", ValueType.INTEGER, [1]), column("other", ValueType.INTEGER, [1]))),
        Schema.of(qi=["age", "other"]),
    )
    with pytest.raises((SchemaError, DataError)):
        read_release(folder, other)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "was not written by lookalike"),
        ('{"name": "x"}', "was not written by lookalike"),
        ('{"lookalike": {"format": 99}}', "format 99"),
        ('{"lookalike": {"format": 1}}', "lacks parts"),
    ],
)
def test_a_broken_manifest(tmp_path: Path, text: str, message: str) -> None:
    data, folder = written(tmp_path, Grouped.form)
    (folder / "datapackage.json").write_text(text)
    with pytest.raises(DataError, match=message):
        read_release(folder, data)


def test_a_folder_without_manifest(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Grouped.form)
    (folder / "datapackage.json").unlink()
    with pytest.raises(DataError, match="is not a release"):
        read_release(folder, data)


@pytest.mark.parametrize("name", ["release.csv", "release.parquet"])
@pytest.mark.parametrize("damage", ["gone", "cut", "noise"])
def test_damaged_tables(tmp_path: Path, name: str, damage: str) -> None:
    data, folder = written(tmp_path, Grouped.form)
    path = folder / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[: len(content) // 2] if damage == "cut" else b"\xff\xfe\x00" * 40)
    with pytest.raises(DataError):
        read_release(folder, data)


@pytest.mark.parametrize("more", [1, 0.5, -2, 2**64])
def test_a_matrix_must_be_one(tmp_path: Path, more: float) -> None:
    data, folder = written(tmp_path, Perturbed.form)
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    package["lookalike"]["matrices"][0]["weights"][0][0] += more
    (folder / "datapackage.json").write_text(json.dumps(package))
    with pytest.raises(DataError, match="no matrix of probabilities"):
        read_release(folder, data)


def test_a_matrix_over_other_values(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Perturbed.form)
    edited(folder / "datapackage.json", '"gout"', '"plague"')
    with pytest.raises(DataError, match="does not fit the values"):
        read_release(folder, data)


def test_a_schema_that_reaches_out_of_the_folder(tmp_path: Path) -> None:
    _, folder = written(tmp_path, Grouped.form)
    edited(folder / "schema.yaml", "prefixes:", "file: /etc/hosts\n    origin:")
    with pytest.raises(DataError, match="names a file"):
        ReleaseFolder(folder).schema


def test_a_matrix_in_another_order_is_put_in_order(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Perturbed.form)
    before, _ = read_release(folder, data)
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    matrix = package["lookalike"]["matrices"][0]
    matrix["values"].reverse()
    matrix["weights"] = [row[::-1] for row in matrix["weights"][::-1]]
    (folder / "datapackage.json").write_text(json.dumps(package))
    after, _ = read_release(folder, data)
    assert isinstance(before, Perturbed)
    assert isinstance(after, Perturbed)
    assert np.array_equal(before.randomizers[0].weights, after.randomizers[0].weights)


@pytest.mark.parametrize("change", ["weight", "line", "twice"])
def test_a_matrix_file_that_says_something_else_than_the_manifest(tmp_path: Path, change: str) -> None:
    """Found by the exam of the audit: analysts read this file, and nobody compared it."""
    data, folder = written(tmp_path, Perturbed.form)
    path = next(folder.glob("matrix-*.csv"))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = {"weight": [*lines[:-1], lines[-1].rstrip() + "1\n"], "line": lines[:-1], "twice": [*lines, lines[-1]]}
    path.write_text("".join(changed[change]), encoding="utf-8")
    with pytest.raises(DataError, match="says something else"):
        read_release(folder, data)
    path.unlink()
    read_release(folder, data)


def test_buckets_that_are_no_numbers(tmp_path: Path) -> None:
    data, folder = written(tmp_path, Bucketized.form)
    package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
    for entry in package["lookalike"]["tables"][0]["columns"]:
        if entry["encoding"] == "bucket":
            entry["encoding"] = "exact"
    (folder / "datapackage.json").write_text(json.dumps(package))
    with pytest.raises(DataError, match="bucket numbers"):
        read_release(folder, data)
