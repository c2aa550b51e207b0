"""Messages in a release folder that its decoded content does not have: hints, extras, sentences that do not fit.

Every change decodes to the same release, text and Parquet alike. Files in parts are sealed again by their digests, as a
publisher would do it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from lookalike.files.releases.cells import Encoding, print_cells
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.tablefiles import blanks_spelled_out, table_paths
from lookalike.files.releases.write import write_csv, write_parquet
from tests.audit.planting.folders import Edit

MESSAGES: dict[str, Edit] = {}


def message(name: str) -> Callable[[Edit], Edit]:
    def register(function: Edit) -> Edit:
        def sealed(rng: np.random.Generator, folder: Path) -> bool:
            before = _digests(folder)
            changed = function(rng, folder)
            _seal(folder, before)
            return changed

        MESSAGES[name] = sealed
        return function

    return register


def _digests(folder: Path) -> dict[Path, str]:
    files = (path for path in folder.rglob("part-*") if path.is_file())
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _seal(folder: Path, before: dict[Path, str]) -> None:
    """The digests of parts that were changed, in the description."""
    path = folder / "datapackage.json"
    text = path.read_text(encoding="utf-8")
    for part, digest in before.items():
        text = text.replace(digest, hashlib.sha256(part.read_bytes()).hexdigest())
    path.write_text(text, encoding="utf-8")


def _files(folder: Path, ending: str) -> list[Path]:
    manifest = ReleaseFolder(folder).manifest
    paths = [path for name in manifest.tables for path in table_paths(name, manifest.parts.get(name, ()))]
    return [folder / path for path in paths if path.endswith(f".{ending}")]


def _any(rng: np.random.Generator, paths: list[Path]) -> Path:
    return paths[int(rng.integers(len(paths)))]


def _rewritten(
    rng: np.random.Generator, folder: Path, encoding: Encoding, change: Callable[[dict[str, Any], int], bool]
) -> bool:
    """Cells of one column changed in text and Parquet alike."""
    manifest = ReleaseFolder(folder).manifest
    for parquet in rng.permutation(np.array([str(path) for path in _files(folder, "parquet")])).tolist():
        name = Path(parquet).relative_to(folder).parts[0].removesuffix(".parquet")
        fields = manifest.tables[name]
        frame = pl.read_parquet(parquet)
        for field in fields:
            if field.encoding is not encoding:
                continue
            cells = frame[field.name].to_list()
            done = [place for place in rng.permutation(len(cells)).tolist() if change(cells[place], place)][:1]
            if not done:
                continue
            column = pl.Series(field.name, cells, dtype=frame[field.name].dtype)
            frame = frame.with_columns(column)
            write_parquet(frame, Path(parquet))
            texts = pl.DataFrame([print_cells(one, frame[one.name]).alias(one.name) for one in fields])
            write_csv(blanks_spelled_out(texts, fields), Path(parquet.replace(".parquet", ".csv")))
            return True
    return False


@message("a set that names another value first")
def _first(rng: np.random.Generator, folder: Path) -> bool:
    done: list[int] = []

    def change(cell: dict[str, Any], place: int) -> bool:
        if done or len(cell["values"]) < 2:
            return False
        cell["values"] = [*cell["values"][1:], cell["values"][0]]
        done.append(place)
        return True

    return _rewritten(rng, folder, Encoding.SET, change)


@message("a set that names a value twice")
def _twice(rng: np.random.Generator, folder: Path) -> bool:
    done: list[int] = []

    def change(cell: dict[str, Any], place: int) -> bool:
        if done or not cell["values"]:
            return False
        cell["values"] = [*cell["values"], cell["values"][0]]
        done.append(place)
        return True

    return _rewritten(rng, folder, Encoding.SET, change)


@message("any value, with a value listed")
def _listed(rng: np.random.Generator, folder: Path) -> bool:
    done: list[int] = []

    def change(cell: dict[str, Any], place: int) -> bool:
        if done or not cell["any"]:
            return False
        cell["values"] = ["hint"]
        done.append(place)
        return True

    return _rewritten(rng, folder, Encoding.SET, change)


@message("bucket numbers with gaps")
def _gaps(rng: np.random.Generator, folder: Path) -> bool:
    manifest = ReleaseFolder(folder).manifest
    if manifest.form != "bucketized":
        return False
    frames = {path: pl.read_parquet(path) for path in _files(folder, "parquet")}
    highest = max(int(frame["bucket"].max()) for frame in frames.values())  # type: ignore[arg-type]
    if highest == 0:
        return False
    for path, frame in frames.items():
        name = path.relative_to(folder).parts[0].removesuffix(".parquet")
        fields = manifest.tables[name]
        moved = pl.when(pl.col("bucket") == highest).then(highest + 777).otherwise(pl.col("bucket"))
        frame = frame.with_columns(moved.alias("bucket"))
        write_parquet(frame, path)
        texts = pl.DataFrame([print_cells(one, frame[one.name]).alias(one.name) for one in fields])
        write_csv(blanks_spelled_out(texts, fields), Path(str(path).replace(".parquet", ".csv")))
    return True


@message("quotes that no cell needs")
def _quotes(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "csv"))
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [place for place in range(1, len(lines) - 1) if lines[place] and '"' not in lines[place]]
    if not rows:
        return False
    row = int(rng.choice(rows))
    first, comma, others = lines[row].partition(",")
    if not first:
        return False
    lines[row] = f'"{first}"{comma}{others}'
    path.write_text("\n".join(lines), encoding="utf-8")
    return True


@message("a line that ends in another way")
def _line_end(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "csv"))
    lines = path.read_bytes().split(b"\n")
    row = int(rng.integers(1, len(lines) - 1))
    lines[row] += b"\r"
    path.write_bytes(b"\n".join(lines))
    return True


@message("a byte order mark")
def _mark(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "csv"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    return True


@message("Parquet metadata")
def _metadata(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    pl.read_parquet(path).write_parquet(path, compression="zstd", metadata={"hint": "row 3"})
    return True


@message("a Parquet column that the text lacks")
def _column(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    pl.read_parquet(path).with_row_index("index").write_parquet(path, compression="zstd")
    return True


@message("Parquet row groups")
def _row_groups(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    frame = pl.read_parquet(path)
    if len(frame) < 2:
        return False
    frame.write_parquet(path, compression="zstd", row_group_size=1)
    return True


@message("bytes inside a Parquet file")
def _bytes(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[: -8 - length] + b"row 3 is Anna" + content[-8 - length :])
    return True


def footer_with(content: bytes, extra: bytes, writer: bytes = b"") -> bytes:
    """A Parquet file with more fields at the end of its footer, and the name of another writer if one is given."""
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    if writer:
        place = footer.rfind(b"Polars")
        footer = footer[: place - 1] + bytes([len(writer)]) + writer + footer[place + footer[place - 1] :]
    footer = footer[:-1] + extra + b"\0"
    return content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


OTHER_POLARS = b"Polars (python) version 1.2.3 (build 00)"
_ANNA = b"\x0drow 3 is Anna"


@message("a field of the Parquet footer that the format lacks")
def _footer_field(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    # Text (kind 8) in field 100, whose number is written in full as a zigzag varint.
    path.write_bytes(footer_with(path.read_bytes(), b"\x08\xc8\x01" + _ANNA, OTHER_POLARS))
    return True


@message("a field of the Parquet footer that is there twice")
def _footer_twice(rng: np.random.Generator, folder: Path) -> bool:
    path = _any(rng, _files(folder, "parquet"))
    content = path.read_bytes()
    # The writer's name (field 6) once more; readers keep the last one.
    last = b"\x08\x0c" + bytes([len(OTHER_POLARS)]) + OTHER_POLARS
    path.write_bytes(footer_with(content, b"\x08\x0c" + _ANNA + last))
    return True


@message("a title that holds a table")
def _title(rng: np.random.Generator, folder: Path) -> bool:
    return _restated(folder, title="Stays. " + "Anna is 31 and has flu; " * 20)


@message("a title of several lines")
def _title_lines(rng: np.random.Generator, folder: Path) -> bool:
    return _restated(folder, title="Stays\nAnna")


@message("a method that does not exist")
def _method(rng: np.random.Generator, folder: Path) -> bool:
    return _restated(folder, algorithm="mondrian, and row 3 is Anna")


@message("a method of another form")
def _method_form(rng: np.random.Generator, folder: Path) -> bool:
    form = ReleaseFolder(folder).manifest.form
    return _restated(folder, algorithm="mondrian" if form != "grouped" else "anatomy")


def _restated(folder: Path, **stated: Any) -> bool:
    """What the publisher states, changed in the description and in the README alike."""
    manifest = ReleaseFolder(folder).manifest
    for name in ("datapackage.json", "README.txt"):
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for key, new in stated.items():
            old = getattr(manifest, key)
            text = text.replace(json.dumps(old), json.dumps(new)) if name.endswith("json") else text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    return True


@message("a file beside the tables")
def _file(rng: np.random.Generator, folder: Path) -> bool:
    (folder / str(rng.choice(["names.csv", ".hint", "linkage.parquet", "report.json"]))).write_text("Anna\n")
    return True


@message("a folder beside the tables")
def _folder(rng: np.random.Generator, folder: Path) -> bool:
    (folder / "Anna is row 3").mkdir()
    return True


@message("a link to another place")
def _link(rng: np.random.Generator, folder: Path) -> bool:
    os.symlink("/", folder / "more")
    return True


@message("a README that lies elsewhere")
def _elsewhere(rng: np.random.Generator, folder: Path) -> bool:
    path, elsewhere = folder / "README.txt", folder.with_name("elsewhere.txt")
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    os.symlink(elsewhere, path)
    return True


def _described(folder: Path, change: Callable[[dict[str, Any]], object], **style: Any) -> bool:
    path = folder / "datapackage.json"
    package = json.loads(path.read_text(encoding="utf-8"))
    change(package)
    written = {"ensure_ascii": False, "indent": 2, **style}
    path.write_text(json.dumps(package, **written) + "\n", encoding="utf-8")
    return True


@message("a key of the description that nobody reads")
def _key(rng: np.random.Generator, folder: Path) -> bool:
    def change(package: dict[str, Any]) -> None:
        block = package["lookalike"]
        table = block["tables"][0]
        places = [package, block, block["promises"][0], block["dummies"], table, table["columns"][0]]
        places[int(rng.integers(len(places)))]["hint"] = [1, 0, 1]

    return _described(folder, change)


@message("a resource that is none")
def _resource(rng: np.random.Generator, folder: Path) -> bool:
    return _described(folder, lambda package: package["resources"].append({"name": "names", "path": "names.csv"}))


@message("rows inside the description")
def _inline(rng: np.random.Generator, folder: Path) -> bool:
    return _described(folder, lambda package: package["resources"][0].update(data=[{"age": 31}]))


@message("another description")
def _words(rng: np.random.Generator, folder: Path) -> bool:
    return _described(folder, lambda package: package.update(description="Anna is in row 3."))


@message("white space in the description")
def _spaces(rng: np.random.Generator, folder: Path) -> bool:
    return _described(folder, lambda package: None, indent=3)


@message("the description's keys in another order")
def _order(rng: np.random.Generator, folder: Path) -> bool:
    return _described(folder, lambda package: package.update(profile=package.pop("profile")))


@message("README with more to say")
def _readme(rng: np.random.Generator, folder: Path) -> bool:
    path = folder / "README.txt"
    path.write_text(path.read_text(encoding="utf-8") + "Row 3 is Anna.\n", encoding="utf-8")
    return True


@message("a comment in the schema")
def _comment(rng: np.random.Generator, folder: Path) -> bool:
    path = folder / "schema.yaml"
    path.write_text(path.read_text(encoding="utf-8") + "# row 3 is Anna\n", encoding="utf-8")
    return True


@message("a comment in views or matrices")
def _other_comment(rng: np.random.Generator, folder: Path) -> bool:
    paths = [*folder.glob("views.sql"), *folder.glob("matrix-*.csv")]
    for path in paths[:1]:
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}-- Anna\n" if path.suffix == ".sql" else text.replace("\n", "\r\n", 1), newline="")
    return bool(paths)


@message("a sentence that does not fit its promise")
def _sentence(rng: np.random.Generator, folder: Path) -> bool:
    stated = ReleaseFolder(folder).manifest.promises[0].sentence
    told = "Nobody can learn anything about anybody."
    for name in ("datapackage.json", "README.txt"):
        path = folder / name
        path.write_text(path.read_text(encoding="utf-8").replace(stated, told), encoding="utf-8")
    return True


@message("no promise at all")
def _no_promise(rng: np.random.Generator, folder: Path) -> bool:
    path = folder / "README.txt"
    lines = path.read_text(encoding="utf-8").split("\n")
    stated = [f"  {promise.sentence} ({promise.text})" for promise in ReleaseFolder(folder).manifest.promises]
    kept = [line for line in lines if line not in stated[1:]]
    path.write_text("\n".join("  Nothing." if line == stated[0] else line for line in kept), encoding="utf-8")

    def change(package: dict[str, Any]) -> None:
        package["lookalike"]["promises"] = []
        package["description"] = ""

    return _described(folder, change)
