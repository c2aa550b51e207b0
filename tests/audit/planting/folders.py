"""Releases as folders on disk: written, changed by hand, read back and audited.

A change is caught if the folder cannot be read or its audit fails. In-memory plants are written as well, so that
what the reader makes of files is held against the oracle too.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Withheld
from lookalike.errors import LookalikeError
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release, write_table
from lookalike.models.k_anonymity import KAnonymity
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.hidden_data.folder import examine_folder
from lookalike.pipeline.parts.verify import verify_in_parts
from tests.audit.planting.cases import Case
from tests.files.releases.part_folders import write_parts
from tests.files.releases.release_forms import promising
from tests.reading import read_release

Edit = Callable[[np.random.Generator, Path], bool]
"""Changes a folder and says whether there was something to change."""
EDITS: dict[str, Edit] = {}


def edit(name: str) -> Callable[[Edit], Edit]:
    def register(function: Edit) -> Edit:
        EDITS[name] = function
        return function

    return register


def write(case: Case, folder: Path) -> None:
    manifest = promising(case.release, *(case.promises or (Promise(KAnonymity(1)),)))
    write_release(folder, case.release, manifest=manifest, overwrite=True)


def write_in_parts(cases: Sequence[Case], folder: Path) -> None:
    """The cases as parts of one folder."""
    shutil.rmtree(folder, ignore_errors=True)
    releases = [case.release for case in cases if case.release.n_rows]
    write_parts(folder, releases, manifest=promising(releases[0], Promise(KAnonymity(1))))


def passes_in_parts(data: Microdata, promises: Sequence[Promise], folder: Path) -> bool:
    """Whether a folder of parts passes its audit part by part, against the original as a frame."""
    try:
        return verify_in_parts(LocalBackend(frame_of(data)), folder, promises).passed
    except LookalikeError:
        return False


def frame_of(data: Microdata) -> pl.DataFrame:
    """The records as their owner has them."""
    blocks = (
        (data.domains.quasi, data.quasi),
        (data.domains.sensitive, data.sensitive),
        (data.domains.carried, data.carried),
    )
    return pl.DataFrame(
        {
            domain.name: [domain.values[code] if code < len(domain.values) else None for code in codes[:, index]]
            for domains, codes in blocks
            for index, domain in enumerate(domains)
        }
    )


def rewrite_tables(case: Case, folder: Path) -> None:
    """The tables of a folder written anew, text and Parquet alike; what is said about them stays."""
    for table in case.release.tables():
        write_table(table, folder / f"{table.name}.csv", folder / f"{table.name}.parquet")


def passes(case: Case, folder: Path) -> bool:
    """Whether the folder can be read and passes its audit."""
    try:
        release, manifest = read_release(folder, case.data)
        assert manifest is not None
        found = examine_folder(ReleaseFolder(folder), release)
    except LookalikeError:
        return False
    return (
        all(check.passed for check in found.checks)
        and verify(case.data, release, case.promises, graph=case.graph).passed
    )


def as_read(case: Case) -> Case:
    """What a folder can say: suppressed records by number, their values are found by comparing with the table."""
    withheld = case.release.withheld
    if withheld.indistinguishable and withheld.n_dummies:
        return replace(case, release=replace(case.release, withheld=replace(withheld, suppressed=(), dummies=())))
    if not withheld.n_suppressed:
        return case
    counts = []
    for index in range(len(case.data.domains.sensitive)):
        n_codes = case.data.domains.sensitive[index].n_codes
        before = np.bincount(case.data.sensitive[:, index], minlength=n_codes)
        after = np.bincount(case.release.sensitive[:, index], minlength=n_codes)
        made = withheld.dummies[index] if withheld.dummies else 0
        counts.append(before - after + made)
    told: Withheld = replace(withheld, suppressed=tuple(counts))
    return replace(case, release=replace(case.release, withheld=told))


def _tables(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.csv")) if not path.name.startswith("matrix")]


def _lines(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _write_lines(path: Path, lines: list[list[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)


@edit("cell of the text changed")
def _cell(rng: np.random.Generator, folder: Path) -> bool:
    path = _tables(folder)[int(rng.integers(len(_tables(folder))))]
    lines = _lines(path)
    row, column = int(rng.integers(1, len(lines))), int(rng.integers(len(lines[0])))
    others = sorted({line[column] for line in lines[1:]} - {lines[row][column]})
    if not others:
        return False
    lines[row][column] = str(rng.choice(others))
    _write_lines(path, lines)
    return True


@edit("line of the text dropped")
def _line(rng: np.random.Generator, folder: Path) -> bool:
    path = _tables(folder)[0]
    lines = _lines(path)
    lines.pop(int(rng.integers(1, len(lines))))
    _write_lines(path, lines)
    return True


@edit("line of the text doubled")
def _twice(rng: np.random.Generator, folder: Path) -> bool:
    path = _tables(folder)[0]
    lines = _lines(path)
    lines.append(lines[int(rng.integers(1, len(lines)))])
    _write_lines(path, lines)
    return True


@edit("columns of the text exchanged")
def _columns(rng: np.random.Generator, folder: Path) -> bool:
    path = _tables(folder)[0]
    lines = _lines(path)
    if len(lines[0]) < 2 or all(line[0] == line[1] for line in lines[1:]):
        return False
    _write_lines(path, [lines[0], *([line[1], line[0], *line[2:]] for line in lines[1:])])
    return True


@edit("Parquet file missing")
def _no_parquet(rng: np.random.Generator, folder: Path) -> bool:
    next(folder.glob("*.parquet")).unlink()
    return True


def _described(folder: Path, change: Callable[[dict[str, Any]], bool]) -> bool:
    path = folder / "datapackage.json"
    package = json.loads(path.read_text(encoding="utf-8"))
    changed = change(package["lookalike"])
    path.write_text(json.dumps(package), encoding="utf-8")
    return changed


@edit("suppressed count lied about")
def _suppressed(rng: np.random.Generator, folder: Path) -> bool:
    def change(block: dict[str, Any]) -> bool:
        block["suppressed"] += int(rng.choice([1, 2]))
        return True

    return _described(folder, change)


@edit("dummies claimed that are not there")
def _dummies(rng: np.random.Generator, folder: Path) -> bool:
    def change(block: dict[str, Any]) -> bool:
        block["dummies"]["records"] += 1
        block["dummies"]["indistinguishable"] = True
        return True

    return _described(folder, change)


@edit("made-up rows counted by value")
def _by_value(rng: np.random.Generator, folder: Path) -> bool:
    def change(block: dict[str, Any]) -> bool:
        columns = [column for table in block["tables"] for column in table["columns"] if column["role"] == "sensitive"]
        lines = _lines(_tables(folder)[0])
        if not block["dummies"]["records"] or not columns or columns[0]["name"] not in lines[0]:
            return False
        value = lines[1][lines[0].index(columns[0]["name"])]
        counts = [[value or None, block["dummies"]["records"]]]
        block["dummies"]["by_value"] = [{"column": columns[0]["name"], "counts": counts}]
        return True

    return _described(folder, change)


@edit("entry of the stated matrix changed")
def _matrix(rng: np.random.Generator, folder: Path) -> bool:
    def change(block: dict[str, Any]) -> bool:
        if not block["matrices"]:
            return False
        weights = block["matrices"][0]["weights"]
        weights[int(rng.integers(len(weights)))][int(rng.integers(len(weights)))] += 1
        return True

    return _described(folder, change)


@edit("another form claimed")
def _form(rng: np.random.Generator, folder: Path) -> bool:
    def change(block: dict[str, Any]) -> bool:
        block["form"] = "perturbed" if block["form"] != "perturbed" else "grouped"
        return True

    return _described(folder, change)


@edit("matrix file changed")
def _matrix_file(rng: np.random.Generator, folder: Path) -> bool:
    for path in sorted(folder.glob("matrix-*.csv")):
        lines = _lines(path)
        lines[-1][-1] += "1"
        _write_lines(path, lines)
        return True
    return False
