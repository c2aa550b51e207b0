"""Release folders made of parts: written by many hands, some of them twice, and read like any other."""

from __future__ import annotations

import hashlib
import json
import pickle
import re
import shutil
import tempfile
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import frictionless
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.apps.studio import results
from lookalike.apps.studio.jobs import Job
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Bucketized, Grouped, Perturbed, Release, Withheld
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import DataError, RecipeError
from lookalike.files import atomic
from lookalike.files.releases import write as writing
from lookalike.files.releases.describe import DESCRIPTOR
from lookalike.files.releases.parts import WrittenPart, mix_parts, write_part
from lookalike.files.releases.read import ReleaseFolder, release_folder
from lookalike.files.releases.tablefiles import ENDINGS, Part, digest_of, digest_of_part
from lookalike.files.releases.write import NewRelease, new_release, same_cells, write_release
from tests.audit.making import moved
from tests.examples import examples
from tests.files.releases.part_folders import (
    SPLIT,
    as_said,
    clinic_in_parts,
    finish,
    numbered_apart,
    part_releases,
    some_rows,
    write_parts,
)
from tests.files.releases.release_forms import (
    FORMS,
    MANIFEST,
    clinic_release,
    column,
    held,
    make_release,
    microdata,
    promising,
    small_clinic,
)
from tests.files.releases.test_readme import one, opened
from tests.reading import read_release


def files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def rows_of(release: Release, table: int = 0) -> Counter[Any]:
    """The rows of a table in plain Python, whatever their order; bucket numbers, which mean nothing, left out."""
    columns = [held(cells) for cells in release.tables()[table].columns if hasattr(cells, "domain")]
    return Counter(zip(*columns, strict=True))


def with_descriptor(folder: Path, change: Any) -> None:
    package = json.loads((folder / DESCRIPTOR).read_text(encoding="utf-8"))
    change(package["lookalike"])
    (folder / DESCRIPTOR).write_text(json.dumps(package), encoding="utf-8")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grouped release in three parts, never changed."""
    folder = tmp_path_factory.mktemp("parts") / "out"
    clinic_in_parts(folder, Grouped.form)
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(whole, tmp_path / "out"))


@pytest.mark.parametrize("form", FORMS)
def test_a_folder_of_parts_says_what_its_parts_say(form: str, tmp_path: Path) -> None:
    withheld = Withheld(n_suppressed=2)
    data = small_clinic()
    releases = [replace(release, withheld=withheld) for release in part_releases(form, data, SPLIT)]
    names = write_parts(tmp_path / "out", releases, documents={"audit.json": b"{}\n"})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert files_in(tmp_path / "out") == names
    again, manifest = read_release(tmp_path / "out", data)
    assert manifest is not None
    assert manifest.files == tuple(names)
    assert (again.form, again.n_rows, again.withheld.n_suppressed) == (form, 12, 2)
    for table in range(len(again.tables())):
        assert rows_of(again, table) == sum((rows_of(release, table) for release in releases), Counter())
    if isinstance(again, Bucketized):
        pairs = Counter(zip(again.bucket_of_quasi.tolist(), again.quasi[:, 0].tolist(), strict=True))
        of_parts = np.concatenate([part.bucket_of_quasi for part in releases if isinstance(part, Bucketized)])
        assert sorted(Counter(bucket for bucket, _ in pairs.elements()).values()) == sorted(
            Counter(of_parts.tolist()).values()
        )
    if isinstance(again, Perturbed):
        first = releases[0]
        assert isinstance(first, Perturbed)
        assert np.array_equal(again.randomizers[0].weights, first.randomizers[0].weights)
    package = frictionless.Package(str(tmp_path / "out" / DESCRIPTOR))
    report = package.validate()
    assert report.valid, report.flatten(["fieldName", "type", "message"])
    assert len(package.resources[0].read_rows()) == 12


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(8), suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(draw=st.data())
def test_nasty_parts_read_back_the_same(form: str, draw: st.DataObject) -> None:
    data = draw.draw(microdata(sensitive=1 if form in (Bucketized.form, Perturbed.form) else 0))
    cut = draw.draw(st.integers(0, data.n_rows))
    releases = part_releases(form, data, [rows for rows in (np.arange(cut), np.arange(cut, data.n_rows)) if len(rows)])
    with tempfile.TemporaryDirectory() as folder:
        write_parts(Path(folder) / "out", releases)
        again, manifest = read_release(Path(folder) / "out", data)
    assert manifest is not None
    for table in range(len(again.tables())):
        assert rows_of(again, table) == sum((rows_of(release, table) for release in releases), Counter())


def test_the_descriptor_lists_rows_and_files(whole: Path) -> None:
    block = json.loads((whole / DESCRIPTOR).read_text(encoding="utf-8"))["lookalike"]
    assert block["format"] == 3
    (table,) = block["tables"]
    assert (table["name"], table["csv"], table["parquet"], table["rows"]) == (
        "release",
        "release.csv",
        "release.parquet",
        12,
    )
    assert sorted(part["rows"] for part in table["parts"]) == [3, 4, 5]
    for part in table["parts"]:
        for ending in ("csv", "parquet"):
            assert digest_of(whole / part[ending]["path"]) == part[ending]["sha256"]
            assert part["rows"] == len(pl.read_parquet(whole / part["parquet"]["path"]))
    text = (whole / "README.txt").read_text(encoding="utf-8")
    assert "release has 12 rows in 3 parts." in text
    assert "release.csv: the table as text, a folder of parts" in text
    assert "The rows are in random order within each file, and the files are in random order." in text


def test_other_tools_read_it_as_the_letter_says(whole: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (whole / "README.txt").read_text(encoding="utf-8")
    monkeypatch.chdir(whole)
    zips = []
    for tool, module in (("pandas", pd), ("Polars", pl)):
        (call,) = re.findall(rf"^  {tool}: +\w+\.read_parquet\((.+)\)$", text, re.MULTILINE)
        zips.append(sorted(module.read_parquet(json.loads(call))["zip"]))
    (query,) = re.findall(r"^  DuckDB: +SELECT \* (FROM .+)$", text, re.MULTILINE)
    zips.append(sorted(zip for (zip,) in duckdb.connect().execute(f"SELECT zip {query}").fetchall()))
    assert zips[0] == zips[1] == zips[2]
    assert len(zips[0]) == 12


def test_what_a_part_tells_is_small_and_without_values(tmp_path: Path) -> None:
    release = part_releases(Bucketized.form, small_clinic(), SPLIT)[0]
    written, again = write_part(tmp_path / "out", 3, release)
    told = pickle.dumps(written)
    assert pickle.loads(told) == written
    assert len(told) < 4096
    assert b"flu" not in told
    assert b"Federal" not in told
    assert (written.number, written.n_rows, set(written.tables)) == (3, 5, {"qit", "sat"})
    for table, same in zip(release.tables(), again.tables(), strict=True):
        assert all(same_cells(*pair) for pair in zip(table.columns, same.columns, strict=True))


def test_the_order_of_work_does_not_show(tmp_path: Path) -> None:
    releases = part_releases(Bucketized.form, small_clinic(), SPLIT)
    write_parts(tmp_path / "one", releases)
    write_parts(tmp_path / "two", releases[::-1])
    assert files_in(tmp_path / "one") == files_in(tmp_path / "two")
    for name in files_in(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_attempts_with_other_bytes_do_not_overwrite_each_other(tmp_path: Path) -> None:
    data = small_clinic()
    first = part_releases(Grouped.form, data, SPLIT)
    other = part_releases(Grouped.form, data, SPLIT, seed=6)
    with new_release(tmp_path / "out") as out:
        building = out.folder
        parts = [write_part(building, number, release)[0] for number, release in enumerate(first)]
        again, _ = write_part(building, 0, first[0])
        assert again == parts[0]
        late, _ = write_part(building, 1, other[1])
        assert late != parts[1]
        assert len(list(tmp_path.glob(".*/new.attempts/*"))) == 8
        assert list(building.iterdir()) == []
        finish(out, parts, first[0])
        # A task that nobody waits for any more still writes, and changes nothing.
        write_part(building, 2, other[2])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert len(files_in(tmp_path / "out")) == 9
    release, _ = read_release(tmp_path / "out", data)
    assert rows_of(release) == sum(map(rows_of, first), Counter())
    with pytest.raises(FileNotFoundError):
        write_part(building, 2, other[2])


def test_parts_that_do_not_fit_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    releases = part_releases(Grouped.form, small_clinic(), SPLIT)
    building = tmp_path / "new"
    building.mkdir()
    out = NewRelease(building)
    one, two, three = (write_part(building, number, release)[0] for number, release in enumerate(releases))
    with pytest.raises(DataError, match="no rows"):
        finish(out, [], releases[0])
    with pytest.raises(RecipeError, match="named twice"):
        finish(out, [one, two, three, one], releases[0])
    table = two.tables["release"]
    odd = replace(two, tables={"release": replace(table, fields=table.fields[1:])})
    with pytest.raises(DataError, match=r"Part 1 has its columns written in another way than part 0"):
        finish(out, [one, odd, three], releases[0])
    assert list(building.iterdir()) == []
    (tmp_path / "new.attempts" / table.files["csv"]).unlink()
    with pytest.raises(DataError, match="Part 1 was written, but its files are not there"):
        finish(out, [one, two, three], releases[0])


def test_a_part_without_rows_is_not_written(tmp_path: Path) -> None:
    release = make_release(Perturbed.form, some_rows(small_clinic(), np.arange(0)), np.arange(0), np.arange(0))
    with pytest.raises(DataError, match="Part 4 has no rows"):
        write_part(tmp_path / "out", 4, release)


def test_a_writer_that_changes_a_value_of_a_part_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    release = part_releases(Grouped.form, small_clinic(), SPLIT)[0]
    real = writing.lay_out

    def slip(cells: Any, *, old: bool) -> Any:
        field, entries, rows = real(cells, old=old)
        return (field, entries.reverse(), rows) if field.name == "diagnosis" else (field, entries, rows)

    monkeypatch.setattr(writing, "lay_out", slip)
    with pytest.raises(DataError, match='"diagnosis" of release does not read back'):
        write_part(tmp_path / "out", 0, release)
    assert list((tmp_path / "out.attempts").iterdir()) == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("damage", ["gone", "extra", "changed", "swapped", "no folder"])
def test_parts_that_are_not_those_published(folder: Path, ending: str, damage: str) -> None:
    within = folder / f"release.{ending}"
    first, second = within / f"part-00000.{ending}", within / f"part-00001.{ending}"
    if damage == "gone":
        second.unlink()
        told = rf"lacks 1 part, the first of them part-00001\.{ending}"
    elif damage == "extra":
        shutil.copyfile(first, within / f"part-00003.{ending}")
        told = rf'holds 1 entry that the release does not list, the first of them "part-00003\.{ending}"'
    elif damage == "no folder":
        shutil.rmtree(within)
        told = "lacks 3 parts"
    else:
        content = second.read_bytes()
        second.write_bytes(first.read_bytes() if damage == "swapped" else content[:-9] + b"8" + content[-8:])
        told = rf"part-00001\.{ending} is not the part that was published"
    with pytest.raises(DataError, match=told):
        read_release(folder, small_clinic())
    if ending == "parquet":
        with pytest.raises(DataError, match=told):
            la.open_release(folder)


def test_files_that_desktops_leave_behind_are_no_parts(folder: Path) -> None:
    (folder / "release.csv" / ".DS_Store").write_bytes(b"\0")
    assert read_release(folder, small_clinic())[0].n_rows == 12


def test_csv_and_parquet_are_still_held_against_each_other(folder: Path) -> None:
    path = folder / "release.csv" / "part-00001.csv"
    path.write_bytes(path.read_bytes().replace(b"true", b"false", 1))

    def relisted(block: Any) -> None:
        block["tables"][0]["parts"][1]["csv"]["sha256"] = digest_of(path)

    with_descriptor(folder, relisted)
    with pytest.raises(DataError, match=r"part-00001\.parquet and part-00001\.csv disagree"):
        read_release(folder, small_clinic())


@pytest.mark.parametrize("change", ["path", "table", "rows", "none", "kind", "format"])
def test_a_list_of_parts_that_was_changed(folder: Path, change: str) -> None:
    def changed(block: Any) -> None:
        table = block["tables"][0]
        if change == "path":
            table["parts"][0]["csv"]["path"] = "../secret.csv"
        elif change == "table":
            del table["parts"]
            table["name"] = "../out/release"
        elif change == "rows":
            table["rows"] += 1
        elif change == "none":
            table["parts"], table["rows"] = [], 0
        elif change == "kind":
            del table["parts"][0]["parquet"]
        else:
            block["format"] = 4

    with_descriptor(folder, changed)
    with pytest.raises(DataError, match="reads 1, 2 and 3" if change == "format" else "lacks parts of its"):
        ReleaseFolder(folder).manifest


def test_rows_that_the_list_counts_otherwise(folder: Path) -> None:
    def changed(block: Any) -> None:
        parts = block["tables"][0]["parts"]
        parts[0]["rows"] += 1
        parts[1]["rows"] -= 1

    with_descriptor(folder, changed)
    with pytest.raises(DataError, match=r"Part 0 of .*release\.parquet has another number of rows"):
        read_release(folder, small_clinic())


@pytest.mark.parametrize("name", ["", DESCRIPTOR, "release.csv", "release.parquet", "release.csv/part-00002.csv"])
def test_a_table_or_a_part_means_the_folder(whole: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release_folder(whole / name) == whole
    assert read_release(whole / name, small_clinic())[1] is not None
    monkeypatch.chdir(whole / "release.csv")
    assert release_folder(Path("part-00000.csv")) == whole
    assert release_folder(Path("../README.txt")) is None


def test_overwriting_parts(folder: Path) -> None:
    _, single = clinic_release(Bucketized.form)
    releases = part_releases(Grouped.form, small_clinic(), SPLIT)
    with pytest.raises(RecipeError, match="exists already"):
        write_parts(folder, releases)
    write_parts(folder, releases[:1], overwrite=True)
    assert "release.csv/part-00001.csv" not in files_in(folder)
    (folder / "release.csv" / "thesis.doc").write_text("years of work")
    with pytest.raises(RecipeError, match="1 entry that lookalike did not write"):
        write_release(folder, single, documents={}, manifest=MANIFEST, overwrite=True)
    (folder / "release.csv" / "thesis.doc").rename(folder.parent / "thesis.doc")
    (folder / "release.csv" / "deeper").mkdir()
    with pytest.raises(RecipeError, match="1 entry that lookalike did not write"):
        write_parts(folder, releases, overwrite=True)
    (folder / "release.csv" / "deeper").rmdir()
    write_release(folder, single, documents={}, manifest=MANIFEST, overwrite=True)
    assert (folder / "qit.csv").is_file()
    write_parts(folder, releases, overwrite=True)
    assert not (folder / "qit.csv").exists()


def test_parts_are_on_disk_before_the_folder_appears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = []
    monkeypatch.setattr(atomic, "sync", lambda path: synced.append(path))
    names = write_parts(tmp_path / "out", part_releases(Grouped.form, small_clinic(), SPLIT))
    on_disk = {path.relative_to(path.parents[-1]).as_posix().partition("/new/")[2] for path in synced}
    assert {*names, "release.csv", "release.parquet"} <= on_disk


def test_documents_are_made_from_the_folder_as_it_is_read(tmp_path: Path) -> None:
    data = small_clinic()

    with new_release(tmp_path / "whole") as out:
        out.write_tables(make_release(Grouped.form, data, np.arange(12), np.arange(12)))
        opened = out.check(MANIFEST)
        out.add({"report.html": str(opened.over(data.domains).n_rows).encode()})
        assert "report.html" in out.describe(MANIFEST)
    assert (tmp_path / "whole" / "report.html").read_text() == "12"
    names = write_parts(tmp_path / "out", part_releases(Grouped.form, data, SPLIT), documents={"report.html": b"12"})
    assert "report.html" in names
    assert ReleaseFolder(tmp_path / "out").manifest.files == tuple(names)
    with pytest.raises(RecipeError, match="cannot be called"):
        write_parts(tmp_path / "no", part_releases(Grouped.form, data, SPLIT), documents={"release.csv": b""})
    assert not (tmp_path / "no").exists()


def test_views_over_parts(tmp_path: Path) -> None:
    clinic_in_parts(tmp_path / "out", Bucketized.form)
    database = opened(tmp_path / "out")
    condition = "age BETWEEN 28 AND 41 AND diagnosis IN ('flu', 'gout')"
    found = one(database, f"SELECT SUM(probability) FROM joined WHERE {condition}")
    assert one(database, "SELECT SUM(probability) FROM joined") == pytest.approx(12)
    where = {"age": (28, 41), "diagnosis": ["flu", "gout"]}
    assert found == pytest.approx(la.open_release(tmp_path / "out").count(where).value)


def people(order: Any) -> tuple[pl.DataFrame, Microdata]:
    """An original with one quasi-identifier, by age or in another order."""
    ages = [20 + person // 4 for person in order]
    values = ["abcde"[person % 5] for person in order]
    table = Table((column("age", ValueType.INTEGER, ages), column("s", ValueType.STRING, values)))
    data = Microdata.encode(table, Schema.of(qi=["age"], sensitive=["s"]))
    return pl.DataFrame({"age": ages, "s": values}), data


@pytest.mark.parametrize("form", [Grouped.form, Bucketized.form, Perturbed.form])
def test_everything_works_on_parts_of_a_sorted_original(form: str, tmp_path: Path) -> None:
    """Parts follow the order of a sorted original; that is no order of rows, and the audit does not take it for one."""
    original, data = people(range(800))
    halves = [np.arange(400), np.arange(400, 800)]
    # The folder orders parts by their digests, so both orders are tried.
    for seed in (1, 2):
        releases = part_releases(form, data, halves, seed=seed, size=10)
        model = la.LDiversity(2) if form != Perturbed.form else la.LDiversity(1)
        write_parts(tmp_path / "out", releases, overwrite=True, manifest=promising(releases[0], Promise(model, "s")))
        found = la.verify(original, tmp_path / "out")
        order = next(check for check in found.checks if check.name == "row order")
        assert order.passed, order.detail
        assert "neither the input order" in order.detail
    assert found.passed
    published = la.open_release(tmp_path / "out")
    assert published.query("SELECT COUNT(*) WHERE age <= 119").value == pytest.approx(400, abs=4)
    assert len(la.sample(tmp_path / "out", worlds=1)[0]) == 800
    assert la.measure(original, tmp_path / "out")
    assert la.attack(original, tmp_path / "out", attacks=["linkage"], seed=1)


@pytest.mark.parametrize("form", [Grouped.form, Bucketized.form, Perturbed.form])
def test_parts_that_were_not_shuffled_are_told(form: str, tmp_path: Path) -> None:
    original, data = people(np.random.default_rng(4).permutation(800))
    releases = []
    for first, last in ((0, 100), (100, 200)):
        rows = np.flatnonzero((data.quasi[:, 0] >= first) & (data.quasi[:, 0] < last))
        releases.append(make_release(form, some_rows(data, rows), data.quasi[rows, 0] // 3, np.arange(len(rows))))
    write_parts(tmp_path / "out", numbered_apart(releases))
    order = next(check for check in la.verify(original, tmp_path / "out").checks if check.name == "row order")
    assert not order.passed


def test_the_studio_hands_out_parts(whole: Path, tmp_path: Path) -> None:
    job = Job(1, "p", "publish", {}, tmp_path / "job", state="done")
    shutil.copytree(whole, results.release_of(job))
    assert results.export_to(job, tmp_path / "out") == sorted(path.name for path in whole.iterdir())
    assert files_in(tmp_path / "out") == files_in(whole)
    with zipfile.ZipFile(results.archive(job)) as zipped:
        assert sorted(zipped.namelist()) == [f"release/{name}" for name in files_in(whole)]
    preview = results._first_rows(whole / "release.csv")
    assert preview["columns"][0] == "age"
    assert len(preview["rows"]) in (3, 4, 5)


def test_many_parts_are_dealt_into_one_another() -> None:
    """Forty parts have digests of more digits than Python prints as one number."""
    data = small_clinic()
    release = make_release(Perturbed.form, data, np.zeros(data.n_rows, dtype=np.int64), np.arange(data.n_rows))
    rows = np.tile(np.arange(data.n_rows), 10)
    many = replace(release, quasi=release.quasi[rows], sensitive=release.sensitive[rows], carried=release.carried[rows])
    parts = tuple(Part(3, dict.fromkeys(ENDINGS, hashlib.sha256(bytes([place])).hexdigest())) for place in range(40))
    dealt, part_of_row = mix_parts(many, {"release": parts})
    assert Counter(map(tuple, dealt.quasi.tolist())) == Counter(map(tuple, many.quasi.tolist()))
    assert np.bincount(part_of_row["release"]).tolist() == [3] * 40
    for part in range(40):
        assert (dealt.quasi[part_of_row["release"] == part] == many.quasi[3 * part : 3 * part + 3]).all()
    assert (mix_parts(many, {"release": parts})[0].quasi == dealt.quasi).all()
    assert not (mix_parts(many, {"release": parts[::-1]})[0].quasi == dealt.quasi).all()


def told_by_parts(form: str) -> tuple[pl.DataFrame, list[Release], Promise]:
    """Rows dealt to four parts by their place in a group of four: by exact age, by person, by the value that was."""
    original, data = people(range(800))
    place = np.arange(800) % 4
    rng = np.random.default_rng(3)
    promise = Promise(la.KAnonymity(8)) if form == Grouped.form else Promise(la.LDiversity(2), "s")
    whole = make_release(form, data, rng.permutation(100)[np.arange(800) // 8], np.arange(800))
    if isinstance(whole, Perturbed):
        whole, promise = as_said(whole, rng), Promise(la.LDiversity(1), "s")
        place = data.sensitive[:, 0] % 4
    releases = []
    for part in range(4):
        rows, others = (rng.permutation(np.flatnonzero(place == part)) for _ in range(2))
        if isinstance(whole, Bucketized):
            quasi = {"quasi": whole.quasi[others], "bucket_of_quasi": whole.bucket_of_quasi[others]}
            sensitive = {"sensitive": whole.sensitive[rows], "bucket_of_sensitive": whole.bucket_of_sensitive[rows]}
            releases.append(replace(whole, carried=whole.carried[rows], **quasi, **sensitive))
        else:
            releases.append(moved(whole, rows))
    return original, releases, promise


@pytest.mark.parametrize("form", [Grouped.form, Bucketized.form, Perturbed.form])
def test_a_part_that_tells_more_than_its_rows_fails(form: str, tmp_path: Path) -> None:
    original, releases, promise = told_by_parts(form)
    write_parts(tmp_path / "out", releases, manifest=promising(releases[0], promise))
    found = la.verify(original, tmp_path / "out")
    assert not found.passed
    in_parts = next(check for check in found.checks if check.name == "rows in parts")
    assert in_parts.passed == (form == Grouped.form)
    assert found.verdicts[0].passed == (form != Grouped.form)
    others = [check for check in found.checks if check.name != "rows in parts"]
    assert not any(check.blocks for check in others), str(found)


def test_parts_in_another_order_than_that_of_their_digests_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, data = people(range(800))
    releases = part_releases(Grouped.form, data, [np.arange(400), np.arange(400, 800)], size=10)
    monkeypatch.setattr(
        WrittenPart, "digest", property(lambda part: -int(digest_of_part([part.tables["release"].part]), 16))
    )
    write_parts(tmp_path / "out", releases, manifest=promising(releases[0], Promise(la.KAnonymity(2))))
    described = next(check for check in la.verify(original, tmp_path / "out").checks if check.name == "description")
    assert "order of their digests" in described.detail
