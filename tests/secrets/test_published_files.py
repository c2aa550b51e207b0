"""A table with planted names, order, seed and paths, published in every way; then every file is searched for them.

The identifiers are unique, quasi-identifier `place` and carried column `turn` count the rows of the original, the seed
is a number that stands nowhere by chance, and paths and user have their own names.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.apps.studio.jobs import Job
from lookalike.apps.studio.results import archive
from lookalike.data.contracts import Algorithm
from lookalike.data.frequent_values import set_cells
from lookalike.data.release import Perturbed
from lookalike.data.schema import Schema
from lookalike.evaluation.report import describe_release
from lookalike.files.releases.private import private_folder
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.models import parse_promise
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.recipe import Recipe
from lookalike.publication import in_parts as publishing
from tests.apps.cli.running import lookalike
from tests.golden.making import COMPARISON, GOLDEN
from tests.golden.making import SEED as GOLDEN_SEED
from tests.secrets.traces import check_parquet, traces

ROWS = 120
SEED = 7_640_891_576_956_012_808
PLANTED = ("IDENT-", "Planted-Person", "planted-user", "planted-folder", "planted.csv")
QI, SENSITIVE = ["age", "place", "zip", "admitted"], "diagnosis"
QUICK = {"optimal-buckets": "optimal-buckets:nodes=20", "groups": "groups:effort=fast"}
METHODS = {name: parse_algorithm(QUICK.get(name, name)) for name in ALGORITHMS}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the table, both with names that must not get out."""
    folder = tmp_path_factory.mktemp("planted-folder")
    draws = np.random.default_rng(4)
    frame = pl.DataFrame(
        {
            "record": [f"IDENT-{row:05d}" for row in range(ROWS)],
            "name": [f"Planted-Person {row}" for row in range(ROWS)],
            "age": draws.integers(20, 60, ROWS),
            "place": range(1000, 1000 + ROWS),
            "zip": [f"0{code}" for code in draws.integers(10, 16, ROWS)],
            "admitted": (np.datetime64("2021-03-01") + draws.integers(0, 200, ROWS)).astype("datetime64[D]"),
            "diagnosis": [("flu", "cold", "gout", "rash", "cough")[code] for code in draws.integers(0, 5, ROWS)],
            "turn": range(5000, 5000 + ROWS),
        }
    )
    frame.write_csv(folder / "planted.csv")
    return folder


@pytest.fixture(autouse=True)
def planted_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("USER", "LOGNAME", "USERNAME"):
        monkeypatch.setenv(name, "planted-user")


_OWN = {
    **dict.fromkeys(("burel", "lmondrian", "dmondrian", "heterogeneous", "two-size", "multi-size"), "beta-likeness:3"),
    **dict.fromkeys(("sabre", "tmondrian"), "t-closeness:0.5"),
}


def asked(method: Algorithm) -> dict[str, Any]:
    """A promise that the method serves; perturbed rows carry nothing."""
    if method.form == Perturbed.form:
        return {"model": "beta-likeness:2"}
    return {"model": _OWN.get(method.name, "k-anonymity:4"), "carry": ["turn"], "carry_anyway": ["turn"]}


def published(house: Path, method: Algorithm) -> la.Publication:
    return la.publish(house / "planted.csv", qi=QI, sensitive=SENSITIVE, algorithm=method, seed=SEED, **asked(method))


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def check_files(folder: Path) -> None:
    files = files_of(folder)
    assert traces(files, seed=SEED, words=[*PLANTED, folder.parent]) == []
    for path in files:
        if path.suffix == ".parquet":
            check_parquet(path)
    check_order(folder)


def check_order(folder: Path) -> None:
    """Neither rows nor groups are in the order of the original, nor in its reverse."""
    looked_at = 0
    for path in folder.rglob("*.parquet"):
        frame = pl.read_parquet(path, glob=False)
        for name in {"place", "turn"} & set(frame.columns):
            cells = frame[name].struct.field("low") if frame[name].dtype == pl.Struct else frame[name]
            if cells.n_unique() < 3 or cells.null_count() == len(cells):
                continue
            rows, looked_at = len(cells), looked_at + 1
            ranks = cells.rank().to_numpy()
            together = abs(float(np.corrcoef(ranks, np.arange(rows))[0, 1]))
            assert together < 4 / np.sqrt(rows), f"{path.name}: {name} goes with the order of the original"
            rising = int((np.diff(ranks) == 1).sum() + (np.diff(ranks) == -1).sum())
            assert rising < rows / 4, f"{path.name}: neighbours of the original are neighbours in {name}"
    assert looked_at


@pytest.mark.parametrize("name", METHODS)
def test_no_method_publishes_a_trace(house: Path, tmp_path: Path, name: str) -> None:
    made = published(house, METHODS[name])
    write_release(
        tmp_path / "out", made.release, manifest=describe_release(made.made, made.stated),
        documents={"audit.json": json.dumps(made.audit.to_plain())},
    )  # fmt: skip
    check_files(tmp_path / "out")
    said = "\n".join((str(made), repr(made), made._repr_html_(), *made.notes))
    assert str(SEED) not in said
    assert not any(word in said for word in PLANTED)


@pytest.fixture(scope="module")
def written(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release with all of its report and its private folder, by someone who lets everybody read their files."""
    folder = tmp_path_factory.mktemp("written") / "out"
    before = os.umask(0)
    try:
        published(house, METHODS["freeform"]).write(folder, report="full", private=True)
    finally:
        os.umask(before)
    return folder


def test_reports_tell_nothing_and_the_private_folder_is_closed(written: Path) -> None:
    assert {"report.html", "report.json"} <= {path.name for path in files_of(written)}
    assert "attacks" in json.loads((written / "report.json").read_text(encoding="utf-8"))
    check_files(written)
    private = private_folder(written)
    assert traces([private / "seed.txt"], seed=SEED)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in private.iterdir()} == {0o600}


def test_the_archive_of_a_studio(house: Path, written: Path, tmp_path: Path) -> None:
    job = Job(1, "planted.csv", "publish", {}, tmp_path, state="done")
    shutil.copytree(written, tmp_path / "release")
    assert traces([archive(job)], seed=SEED, words=[*PLANTED, house, tmp_path]) == []


@pytest.mark.parametrize("name", ["mondrian", "anatomy"])
def test_releases_in_parts(house: Path, tmp_path: Path, name: str) -> None:
    schema = set_cells(Schema.of(qi=QI, sensitive=[SENSITIVE], carry=["turn"]), carry_anyway="turn")
    recipe = Recipe(schema=schema, promises=(parse_promise("k-anonymity:4"),), algorithm=METHODS[name], seed=SEED)
    frame = pl.read_csv(house / "planted.csv", try_parse_dates=True)
    with mock.patch.object(publishing, "LEAST_PART", 30):
        publishing.publish_in_parts(LocalBackend(frame), recipe, tmp_path / "out", part_rows=50)
    assert len(next(iter(ReleaseFolder(tmp_path / "out").manifest.parts.values()))) > 1
    check_files(tmp_path / "out")


def test_tables_drawn_and_synthesized(house: Path, written: Path, tmp_path: Path) -> None:
    drawn = lookalike("sample", written, "--worlds", "1", "--seed", str(SEED), "--out", tmp_path / "one.parquet")
    assert drawn.returncode == 0, drawn.stderr
    la.synthesize(house / "planted.csv", epsilon=1, qi=QI, sensitive=SENSITIVE, seed=SEED).write(tmp_path / "new.csv")
    plain = sorted(path for path in tmp_path.iterdir() if path.is_file())
    assert len(plain) == 2
    assert traces(plain, seed=SEED, words=[*PLANTED, tmp_path]) == []
    check_parquet(tmp_path / "one.parquet")
    assert list(tmp_path.glob(".*")) == []


def test_comparisons() -> None:
    kept = files_of(GOLDEN / la.__version__ / COMPARISON)
    assert {path.suffix for path in kept} >= {".json", ".csv"}
    assert traces(kept, seed=GOLDEN_SEED, words=["made-up-", "original.csv"]) == []


def test_what_commands_print(house: Path, tmp_path: Path) -> None:
    """Notes and errors tell the steward about columns and counts, never a value; JSON goes to other programs."""
    columns = ("--qi", "age,zip", "--sensitive", SENSITIVE)
    done = lookalike(
        "publish", "planted.csv", *columns, "--model", "k-anonymity:4", "--algorithm", "mondrian", "--seed", str(SEED),
        "--out", tmp_path / "out", "--json", cwd=house,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["audit"]["passed"]
    assert "anyone who knows it" in done.stderr
    said = [done]
    for wrong in (
        ("--qi", "age", "--sensitive", "name", "--model", "l-diversity:500"),
        ("--qi", "name", "--numeric", "name", "--sensitive", SENSITIVE, "--model", "k-anonymity:3"),
        (*columns, "--model", "k-anonymity:500"),
        (*columns, "--model", "l-diversity:9"),
        ("--qi", "record", "--sensitive", "nothing", "--model", "k-anonymity:3"),
    ):
        failed = lookalike("publish", "planted.csv", *wrong, "--out", tmp_path / "no", "--json", cwd=house)
        assert failed.returncode in (2, 3), failed.stderr
        said.append(failed)
    for one in said:
        for word in ("IDENT-", "Planted-Person", str(SEED), "planted-user", str(house)):
            assert word not in one.stdout + one.stderr
