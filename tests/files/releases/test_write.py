"""Release folders: whole or not at all, valid data packages, and nothing in them that must stay home."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

import frictionless
import numpy as np
import polars as pl
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, MatchGraph, Perturbed, RecordMap, Withheld
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import DataError, RecipeError
from lookalike.files import atomic
from lookalike.files.releases import write as writing
from lookalike.files.releases.describe import public_schema
from lookalike.files.releases.private import read_graph
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.pipeline.hidden_data.folder import examine_folder
from lookalike.pipeline.hidden_data.grounds import list_stated
from tests.examples import examples
from tests.files.releases.release_forms import (
    FORMS,
    MANIFEST,
    METHODS,
    clinic_release,
    column,
    held,
    make_release,
    releases,
    write_private,
)
from tests.reading import read_release

DOCUMENTS = {"audit.json": '{"passed": true}\n', "report.html": "<html></html>\n"}


@pytest.mark.parametrize("form", FORMS)
def test_the_folder_is_a_valid_data_package(form: str, tmp_path: Path) -> None:
    _, release = clinic_release(form)
    names = write_release(tmp_path / "out", release, documents=DOCUMENTS, manifest=MANIFEST)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    package = frictionless.Package(str(tmp_path / "out" / "datapackage.json"))
    report = package.validate()
    assert report.valid, report.flatten(["fieldName", "type", "message"])
    assert {resource.path for resource in package.resources} == {name for name in names if name.endswith(".csv")}
    assert package.resources[-1].read_rows()


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(draw=st.data())
def test_nasty_releases_read_back_the_same(form: str, draw: st.DataObject) -> None:
    data, release = draw.draw(releases(form))
    with tempfile.TemporaryDirectory() as folder:
        write_release(Path(folder) / "out", release, documents={}, manifest=replace(MANIFEST, algorithm=METHODS[form]))
        again, manifest = read_release(Path(folder) / "out", data)
        assert manifest is not None
        examined = examine_folder(ReleaseFolder(Path(folder) / "out"), again)
    assert [check.detail for check in examined.checks if not check.passed] == [
        'the sentence for "k-anonymity:5" is not what this promise means'
    ]
    assert manifest.form == form == again.form
    assert (manifest.title, manifest.promises, manifest.created) == (
        MANIFEST.title,
        MANIFEST.promises,
        MANIFEST.created,
    )
    for table, table_again in zip(release.tables(), again.tables(), strict=True):
        for cells, cells_again in zip(table.columns, table_again.columns, strict=True):
            assert held(cells) == held(cells_again)
    if isinstance(release, Perturbed):
        assert isinstance(again, Perturbed)
        for randomizer, same in zip(release.randomizers, again.randomizers, strict=True):
            assert randomizer.total == same.total
            assert np.array_equal(randomizer.weights, same.weights)


def test_cells_in_the_file_read_as_documented(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    lines = (tmp_path / "out" / "release.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == 'age,"work, class",born,pain,zip,diagnosis,smokes,weight'
    assert lines[1] == ("[-5..60]|(missing),Federal|Private|Self,1980-06-09..1980-10-07,low to high,1300*,,false,70.25")
    assert any(line.split(",")[1].endswith("|(missing)") for line in lines[2:])
    frame = pl.read_parquet(tmp_path / "out" / "release.parquet")
    assert frame["age"].dtype == pl.Struct({"low": pl.Int64, "high": pl.Int64, "missing": pl.Boolean})
    assert frame["born"].struct.field("low").dtype == pl.Date
    assert frame["age"][0] == {"low": -5, "high": 60, "missing": True}
    assert (frame["zip"][0], frame["smokes"][0], frame["weight"][0], frame["diagnosis"][0]) == (
        "1300*",
        False,
        70.25,
        None,
    )


def test_the_manifest_counts_what_was_withheld(tmp_path: Path) -> None:
    data, release = clinic_release(Grouped.form)
    dummies = tuple(np.eye(domain.n_codes, dtype=np.int64)[0] * 2 for domain in data.domains.sensitive)
    withheld = Withheld(n_suppressed=3, n_dummies=2, dummies=dummies)
    write_release(tmp_path / "out", replace(release, withheld=withheld), documents={}, manifest=MANIFEST)
    block = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))["lookalike"]
    assert block["suppressed"] == 3
    assert block["dummies"]["by_value"][0] == {"column": "diagnosis", "counts": [["cold", 2]]}
    again, manifest = read_release(tmp_path / "out", data)
    assert manifest is not None
    assert manifest.n_dummies == 2
    assert not again.withheld.indistinguishable
    assert [counts.tolist() for counts in again.withheld.dummies] == [counts.tolist() for counts in dummies]


def test_the_manifest_does_not_say_which_values_are_made_up(tmp_path: Path) -> None:
    data, release = clinic_release(Grouped.form)
    dummies = tuple(np.eye(domain.n_codes, dtype=np.int64)[0] * 2 for domain in data.domains.sensitive)
    withheld = Withheld(n_dummies=2, dummies=dummies, indistinguishable=True)
    write_release(tmp_path / "out", replace(release, withheld=withheld), documents={}, manifest=MANIFEST)
    block = json.loads((tmp_path / "out" / "datapackage.json").read_text(encoding="utf-8"))["lookalike"]
    assert block["dummies"] == {"records": 2, "indistinguishable": True, "by_value": []}
    assert "by value" not in (tmp_path / "out" / "README.txt").read_text(encoding="utf-8")
    again, manifest = read_release(tmp_path / "out", data)
    assert again.withheld.indistinguishable
    assert again.withheld.dummies == ()
    assert manifest is not None
    assert any("nobody can tell which 2 rows are made up" in said for said in list_stated(manifest))


def test_rows_that_are_missing_altogether_stay_rows(tmp_path: Path) -> None:
    table = Table((column("x", ValueType.INTEGER, [None, None, 3]),))
    data = Microdata.encode(table, Schema.of(qi=["x"]))
    release = make_release(Grouped.form, data, np.array([0, 0, 1]), np.arange(3))
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    assert (tmp_path / "out" / "release.csv").read_text(encoding="utf-8") == "x\n(missing)\n(missing)\n3\n"
    assert frictionless.Package(str(tmp_path / "out" / "datapackage.json")).validate().valid
    again, _ = read_release(tmp_path / "out", data)
    assert again.n_rows == 3


def test_a_column_called_bucket_keeps_its_name(tmp_path: Path) -> None:
    table = Table((column("bucket", ValueType.INTEGER, [5, 6]), column("s", ValueType.STRING, ["a", "b"])))
    data = Microdata.encode(table, Schema.of(qi=["bucket"], sensitive=["s"]))
    release = make_release(Bucketized.form, data, np.zeros(2), np.array([1, 0]))
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    assert pl.read_csv(tmp_path / "out" / "qit.csv").columns == ["bucket", "bucket_"]
    again, _ = read_release(tmp_path / "out", data)
    assert isinstance(again, Bucketized)
    assert again.quasi.ravel().tolist() == [0, 1]


def test_frames_are_what_will_be_written() -> None:
    _, release = clinic_release(Bucketized.form)
    qit, sat = writing.frames(release).values()
    assert qit.columns == ["age", "work, class", "born", "pain", "zip", "bucket"]
    assert sat["smokes"].dtype == pl.Boolean
    _, release = clinic_release(Grouped.form)
    (frame,) = writing.frames(release).values()
    assert frame.row(0)[:2] == ("[-5..60]|(missing)", "Federal|Private|Self")
    assert frame["weight"].dtype == pl.Float64


def test_an_empty_release_is_not_written(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)
    assert isinstance(release, Grouped)
    empty = replace(
        release,
        group_of_row=release.group_of_row[:0],
        sensitive=release.sensitive[:0],
        carried=release.carried[:0],
    )
    with pytest.raises(DataError, match="no rows"):
        write_release(tmp_path / "out", empty, documents={}, manifest=MANIFEST)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["\ufeff", "\ufeffage", 'a "b"', "a\nb", "\r", " ", ",", "#"])
def test_a_header_with_one_odd_name(tmp_path: Path, name: str) -> None:
    data = Microdata.encode(Table((column(name, ValueType.INTEGER, [None, 3]),)), Schema.of(qi=[name]))
    release = make_release(Grouped.form, data, np.array([0, 1]), np.array([1, 0]))
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    again, _ = read_release(tmp_path / "out", data)
    assert held(again.tables()[0].columns[0]) == held(release.tables()[0].columns[0])


class Broken(Exception):
    pass


@pytest.mark.parametrize("error", [Broken, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("writer", ["write_csv", "write_parquet", "readme", "check_same"])
@pytest.mark.parametrize("existing", [False, True])
def test_a_crash_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writer: str, error: type, existing: bool
) -> None:
    _, release = clinic_release(Bucketized.form)
    target = tmp_path / "new" / "out" if not existing else tmp_path / "out"
    if existing:
        write_release(target, release, documents={"note.txt": "the old one"}, manifest=MANIFEST)
    real = getattr(writing, writer)
    calls = []

    def crash(*arguments: object, **options: object) -> object:
        calls.append(arguments)
        if len(calls) == 2 or writer in ("readme", "check_same"):
            raise error
        return real(*arguments, **options)

    monkeypatch.setattr(writing, writer, crash)
    # What the system refuses is said in words.
    with pytest.raises(RecipeError if error is OSError else error):
        write_release(target, release, documents={}, manifest=MANIFEST, overwrite=True)
    assert list(target.parent.iterdir()) == ([target] if existing else [])
    if existing:
        assert (target / "note.txt").read_text() == "the old one"


def test_a_crash_between_the_renames_brings_the_old_folder_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, release = clinic_release(Grouped.form)
    target = tmp_path / "out"
    write_release(target, release, documents={"note.txt": "the old one"}, manifest=MANIFEST)
    real = os.rename
    monkeypatch.setattr(atomic, "_exchange", lambda first, second: False)

    def crash(source: Path, goal: Path) -> None:
        if source.name == "new":
            raise KeyboardInterrupt
        real(source, goal)

    monkeypatch.setattr(os, "rename", crash)
    with pytest.raises(KeyboardInterrupt):
        write_release(target, release, documents={}, manifest=MANIFEST, overwrite=True)
    assert list(tmp_path.iterdir()) == [target]
    assert (target / "note.txt").read_text() == "the old one"


def test_a_writer_that_changes_a_value_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, release = clinic_release(Grouped.form)
    real = writing.write_csv

    def slip(frame: pl.DataFrame, path: Path, *, safe: bool) -> None:
        real(frame.with_columns(diagnosis=pl.col("diagnosis").fill_null("flu")), path, safe=safe)

    monkeypatch.setattr(writing, "write_csv", slip)
    with pytest.raises(DataError, match="disagree"):
        write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    assert list(tmp_path.iterdir()) == []


def test_a_printer_that_changes_both_files_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, release = clinic_release(Grouped.form)
    real = writing.lay_out

    def slip(cells: object, *, old: bool) -> object:
        field, entries, rows = real(cells, old=old)
        return (field, entries.reverse(), rows) if field.name == "diagnosis" else (field, entries, rows)

    monkeypatch.setattr(writing, "lay_out", slip)
    with pytest.raises(DataError, match='"diagnosis" of release does not read back'):
        write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    assert list(tmp_path.iterdir()) == []


def test_overwriting(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)
    target = tmp_path / "deep" / "out"

    def write(overwrite: bool) -> list[str]:
        return write_release(target, release, documents={}, manifest=MANIFEST, overwrite=overwrite)

    write(False)
    with pytest.raises(RecipeError, match="exists already"):
        write(False)
    write(True)
    (target / "thesis.doc").write_text("years of work")
    with pytest.raises(RecipeError, match="1 entry that lookalike did not write"):
        write(True)
    assert (target / "thesis.doc").exists()
    assert [path.name for path in target.parent.iterdir()] == ["out"]


def test_other_targets_are_refused(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)

    def write(name: str) -> None:
        write_release(tmp_path / name, release, documents={}, manifest=MANIFEST, overwrite=True)

    (tmp_path / "file").write_text("mine")
    with pytest.raises(RecipeError, match="is a file"):
        write("file")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "datapackage.json").write_text('{"name": "of another tool"}')
    with pytest.raises(RecipeError, match="not written by lookalike"):
        write("folder")
    with pytest.raises(RecipeError, match="Cannot write"):
        write("file/below")
    (tmp_path / "empty").mkdir()
    write("empty")
    assert (tmp_path / "empty" / "release.csv").exists()
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["release.csv", "../up.txt", "", ".hidden", "datapackage.json"])
def test_documents_have_plain_names_of_their_own(tmp_path: Path, name: str) -> None:
    _, release = clinic_release(Grouped.form)
    with pytest.raises(RecipeError, match="cannot be called"):
        write_release(tmp_path / "out", release, documents={name: ""}, manifest=MANIFEST)
    assert list(tmp_path.iterdir()) == []


def test_permissions_are_those_of_other_files(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)
    write_release(tmp_path / "out", release, documents={}, manifest=MANIFEST)
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "file").touch()
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    plain = stat.S_IMODE((tmp_path / "plain" / "file").stat().st_mode)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()} == {plain}


@pytest.mark.parametrize("form", FORMS)
def test_no_path_leaves_the_house(tmp_path: Path, form: str) -> None:
    taxonomy = tmp_path / "jobs.csv"
    taxonomy.write_text("clerk;office;any\nmayor;office;any\nbaker;shop;any\n")
    table = Table(
        (
            column("job", ValueType.STRING, ["clerk", "baker", None, "clerk"]),
            column("s", ValueType.STRING, ["a", "b", "a", "b"]),
        )
    )
    schema = Schema(
        (
            Attribute(name="job", role=Role.QUASI, taxonomy={"file": str(taxonomy)}),
            Attribute(name="s", role=Role.SENSITIVE),
        )
    )
    data = Microdata.encode(table, schema)
    release = make_release(form, data, np.array([0, 1, 1, 0]), np.array([2, 0, 3, 1]))
    write_release(tmp_path / "out", release, documents=DOCUMENTS, manifest=MANIFEST)
    for path in (tmp_path / "out").iterdir():
        content = path.read_bytes()
        for secret in (str(tmp_path), str(Path.home()) + "/", os.getcwd(), "jobs.csv", "seed"):
            assert secret.encode() not in content, (path.name, secret)
    published = Schema.load(tmp_path / "out" / "schema.yaml")
    again = Microdata.encode(table, published)
    assert again.domains.quasi[0].taxonomy.labels == data.domains.quasi[0].taxonomy.labels
    assert again.quasi.tolist() == data.quasi.tolist()


def test_the_schema_names_no_observed_value(tmp_path: Path) -> None:
    _, release = clinic_release(Grouped.form)
    plain = yaml.safe_load(public_schema(release.domains).to_yaml())["columns"]
    by_name = {entry["name"]: entry for entry in plain}
    assert by_name["age"]["domain"] == {"low": -10, "high": 110}
    assert "domain" not in by_name["born"]
    assert by_name["zip"]["taxonomy"] == {"prefixes": [4, 3]}
    assert "domain" not in by_name["work, class"]


def test_the_same_release_gives_the_same_bytes(tmp_path: Path) -> None:
    for form in FORMS:
        _, release = clinic_release(form)
        for name in ("one", "two"):
            write_release(tmp_path / form / name, release, documents=DOCUMENTS, manifest=MANIFEST)
        for path in (tmp_path / form / "one").iterdir():
            assert path.read_bytes() == (tmp_path / form / "two" / path.name).read_bytes(), path.name


def test_progress_ends_at_one(tmp_path: Path) -> None:
    _, release = clinic_release(Bucketized.form)
    shares: list[float] = []
    write_release(
        tmp_path / "out",
        release,
        documents={},
        manifest=MANIFEST,
        progress=lambda step, share, note="": shares.append(share),
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_the_private_part(tmp_path: Path) -> None:
    graph = MatchGraph(np.array([0, 2, 2, 3]), np.array([1, 0, 2], dtype=np.int32))
    linkage = RecordMap(np.array([2, 0, 1]), np.array([1, 2, 0]), graph)
    folder = write_private(tmp_path / "out", linkage, 12345)
    assert folder == tmp_path / "out PRIVATE"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert (folder / "seed.txt").read_text() == "12345\n"
    assert "DO NOT" in (folder / "README.txt").read_text()
    again = read_graph(folder)
    assert again.starts.tolist() == graph.starts.tolist()
    assert again.rows.tolist() == graph.rows.tolist()
    kept = pl.read_parquet(folder / "linkage.parquet")
    assert kept.rows() == [("rows", 0, 2), ("rows", 1, 0), ("rows", 2, 1)] + [
        ("quasi rows", row, record) for row, record in enumerate((1, 2, 0))
    ]


def test_the_private_part_without_graph_and_seed(tmp_path: Path) -> None:
    folder = write_private(tmp_path / "out", RecordMap(np.arange(3)), None)
    assert sorted(path.name for path in folder.iterdir()) == ["README.txt", "linkage.parquet", "private.json"]
    with pytest.raises(DataError, match="PRIVATE"):
        read_graph(folder)
    with pytest.raises(RecipeError, match="exists already"):
        write_private(tmp_path / "out", RecordMap(np.arange(3)), None)
    write_private(tmp_path / "out", RecordMap(np.arange(2)), None, overwrite=True)
    assert pl.read_parquet(folder / "linkage.parquet")["record"].to_list() == [0, 1]
