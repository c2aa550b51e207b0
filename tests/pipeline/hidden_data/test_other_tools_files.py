"""What files of other tools hold besides their table: what common tools write passes, everything else is refused."""

from __future__ import annotations

import base64
import bz2
import gzip
import json
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from lookalike.data.microdata import Table
from lookalike.files.tables.read import read_table
from lookalike.pipeline.hidden_data.archives import examine_packing
from lookalike.pipeline.hidden_data.excel import examine_workbook
from lookalike.pipeline.hidden_data.metadata import ParquetFacts, is_known_writer, metadata_problem
from lookalike.pipeline.hidden_data.other_tools import examine_container
from lookalike.pipeline.hidden_data.parquet import read_footer
from tests.files.tables.workbook_files import write_workbook

SECRET = "the third row is Anna"
FRAME = pl.DataFrame(
    {
        "age": ["[20, 40)", "[40, 60)", "*"] * 10,
        "weight": [60.5, 72.0, 81.5] * 10,
        "children": [0, 1, 2] * 10,
        "insured": [True, False, True] * 10,
    }
).with_columns(
    pl.col("age").cast(pl.Categorical).alias("class"),
    pl.lit("2024-01-05").str.to_date().alias("day"),
    pl.lit("2024-01-05").str.to_date().cast(pl.Datetime("us", "UTC")).alias("moment"),
)
INSIDE = "how {} keeps its values inside (other data may be hidden there)"


def problems(path: Path) -> dict[str, str]:
    found = examine_container(path, read_table(path))
    if all(check.passed for check in found.checks):
        assert found.not_checked, "what is not looked through is named"
    return {check.name: check.detail for check in found.checks if not check.passed}


def as_arrow(table: pa.Table, path: Path, **more: object) -> None:
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, **more)


PARQUET_WRITERS: dict[str, Callable[[Path], object]] = {
    "Polars": FRAME.write_parquet,
    "Polars in row groups": lambda path: FRAME.write_parquet(path, row_group_size=7),
    "Arrow": lambda path: pq.write_table(FRAME.to_arrow(), path),
    "Arrow without its own schema": lambda path: pq.write_table(FRAME.to_arrow(), path, store_schema=False),
    "pandas": lambda path: FRAME.to_pandas().to_parquet(path),
    "pandas without index": lambda path: FRAME.to_pandas().to_parquet(path, index=False),
    "pandas, types that may be missing": lambda path: FRAME.to_pandas().convert_dtypes().to_parquet(path),
    "pandas, types of Arrow": lambda path: FRAME.to_pandas().convert_dtypes(dtype_backend="pyarrow").to_parquet(path),
    "rewritten by Arrow": lambda path: pq.write_table(pq.read_table(_written(path)), path),
}
ARROW_WRITERS: dict[str, Callable[[Path], object]] = {
    "Polars": FRAME.write_ipc,
    "Polars, packed": lambda path: FRAME.write_ipc(path, compression="zstd"),
    "Arrow": lambda path: as_arrow(FRAME.to_arrow(), path),
    "Arrow in batches": lambda path: as_arrow(FRAME.to_arrow(), path, max_chunksize=7),
    "pandas": lambda path: as_arrow(pa.Table.from_pandas(FRAME.to_pandas()), path),
    "Feather": lambda path: pyarrow.feather.write_feather(FRAME.to_arrow(), str(path)),
}


def _written(path: Path) -> Path:
    FRAME.to_pandas().to_parquet(path)
    return path


@pytest.mark.parametrize("writer", PARQUET_WRITERS)
def test_parquet_files_of_common_tools_pass(writer: str, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    PARQUET_WRITERS[writer](path)
    assert problems(path) == {}
    assert examine_container(path, read_table(path)).not_checked == (INSIDE.format("other.parquet"),)


@pytest.mark.parametrize("writer", ARROW_WRITERS)
def test_arrow_files_of_common_tools_pass(writer: str, tmp_path: Path) -> None:
    path = tmp_path / "other.arrow"
    ARROW_WRITERS[writer](path)
    assert problems(path) == {}
    assert examine_container(path, read_table(path)).not_checked == (INSIDE.format("other.arrow"),)


@pytest.mark.parametrize("key", ["hint", "pandas", "ARROW:schema", "writer.date", "org.apache.spark.version"])
def test_metadata_that_holds_something_else_is_refused(key: str, tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(FRAME.to_arrow().replace_schema_metadata({key: SECRET}), path)
    assert "metadata" in problems(path)["file metadata"]
    as_arrow(FRAME.to_arrow().replace_schema_metadata({key: SECRET}), path)
    assert "file metadata" in problems(path)


def noted_column(table: pa.Table) -> pa.Table:
    first, *others = table.schema
    return table.cast(pa.schema([first.with_metadata({"note": SECRET}), *others]))


def test_metadata_of_columns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(noted_column(FRAME.to_arrow()), path)
    assert '"ARROW:schema" that says more' in problems(path)["file metadata"]
    as_arrow(noted_column(FRAME.to_arrow()), path)
    assert "metadata of a column" in problems(path)["file metadata"]
    FRAME.with_columns(pl.col("age").cast(pl.Enum(["*", "[20, 40)", "[40, 60)", SECRET]))).write_parquet(path)
    assert '"ARROW:schema" that says more' in problems(path)["file metadata"]


def test_categories_that_no_row_has_are_refused(tmp_path: Path) -> None:
    path, frame = tmp_path / "other.parquet", FRAME.to_pandas()
    frame["class"] = frame["class"].cat.add_categories([SECRET])
    frame.to_parquet(path)
    assert SECRET.encode() in path.read_bytes()
    assert '"pandas" that says more' in problems(path)["file metadata"]
    frame["class"] = frame["class"].cat.remove_unused_categories()
    frame.to_parquet(path)
    assert problems(path) == {}


def pairs_of(path: Path) -> tuple[Mapping[str, bytes], ParquetFacts]:
    footer = read_footer(path)
    return dict(footer.metadata), ParquetFacts([str(column[2]) for column in footer.columns[1:]], read_table(path))


def test_every_single_change_of_what_pandas_writes_is_refused(tmp_path: Path) -> None:
    """A text or number anywhere in the description, a key more, a key twice, and other white space."""
    path = tmp_path / "other.parquet"
    FRAME.to_pandas().to_parquet(path)
    pairs, facts = pairs_of(path)
    honest = json.loads(pairs["pandas"])
    assert metadata_problem("pandas", pairs["pandas"], facts) is None
    n_tried = 0

    def tried(changed: object) -> None:
        nonlocal n_tried
        n_tried += 1
        text = changed if isinstance(changed, str) else json.dumps(changed)
        assert metadata_problem("pandas", text.encode(), facts) is not None, text

    def walk(node: object, put: Callable[[object], object]) -> None:
        if isinstance(node, dict):
            tried(put({**node, "note": SECRET}))
            for key, below in node.items():
                walk(below, lambda changed, key=key, node=node: put({**node, key: changed}))
        elif isinstance(node, list):
            tried(put([*node, SECRET]))
            for place, below in enumerate(node):
                walk(below, lambda changed, place=place, node=node: put([*node[:place], changed, *node[place + 1 :]]))
        else:
            tried(put(SECRET))
            tried(put(20240105))

    walk(honest, lambda changed: changed)
    text = pairs["pandas"].decode()
    tried(text.replace("{", "{ ", 1))
    tried(text[:-1] + ', "pandas_version": "3.1.1"}')
    assert n_tried > 80


def test_every_byte_that_is_changed_in_a_schema_of_arrow_is_noticed_or_changes_a_type(tmp_path: Path) -> None:
    """By far most changes are refused; the rest are layout, other types and settings, never a text."""
    path = tmp_path / "other.parquet"
    pq.write_table(FRAME.to_arrow(), path)
    pairs, facts = pairs_of(path)
    schema = base64.b64decode(pairs["ARROW:schema"])
    passed = [
        place
        for place in range(len(schema))
        if metadata_problem(
            "ARROW:schema",
            base64.b64encode(schema[:place] + bytes([schema[place] ^ 0x55]) + schema[place + 1 :]),
            facts,
        )
        is None
    ]
    assert len(passed) < len(schema) / 10
    for more in (schema + b"Anna", schema[:-1], b"", b"\xff" * 8, b"\xff\xff\xff\xff" + b"\x7f" * 400):
        assert metadata_problem("ARROW:schema", base64.b64encode(more), facts) is not None


def test_bytes_between_the_batches_of_an_arrow_file_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "other.arrow"
    table = FRAME.to_arrow()
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for first, length in ((0, 7), (7, 13), (20, 10)):
            writer.write_batch(table.slice(first, length).combine_chunks().to_batches()[0])
    assert "uneven sizes" in problems(path)["file metadata"]
    as_arrow(table, path)
    content = path.read_bytes()
    length = int.from_bytes(content[-10:-6], "little")
    path.write_bytes(content[: -10 - length] + b"Anna" + content[-10 - length :])
    assert "belong to no column" in problems(path)["file metadata"]
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_batch(table.combine_chunks().to_batches()[0], custom_metadata={"note": SECRET})
    assert "metadata in a batch" in problems(path)["file metadata"]
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert "stream of Arrow" in problems(path)["file metadata"]


def test_what_else_parquet_files_keep_is_refused(tmp_path: Path) -> None:
    path, table = tmp_path / "other.parquet", FRAME.to_arrow()
    with pq.ParquetWriter(path, table.schema) as writer:
        for first, length in ((0, 7), (7, 13), (20, 10)):
            writer.write_table(table.slice(first, length), row_group_size=length)
    assert "row groups of uneven sizes" in problems(path)["file metadata"]
    pq.write_table(table, path)
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[: -8 - length] + b"Anna" + content[-8 - length :])
    assert "4 bytes that belong to no column" in problems(path)["file metadata"]


@pytest.mark.parametrize(
    ("writer", "known"),
    [
        ("parquet-cpp-arrow version 26.0.1", True),
        ("parquet-mr version 1.12.3 (build f8dced182c4c1fbdec6ccb3185537b5a01e6ed6b)", True),
        ("Polars (python) version 2.1.0 (build 7f902bd3ffd27ff82d14278a09a295ff2f7aed92)", True),
        ("DuckDB version v1.1.0 (build fa5c2fe15f)", True),
        ("fastparquet-python version 2024.2.0 (build 0)", True),
        ("", False),
        (SECRET, False),
        ("parquet-mr version 1.12.3 (build Anna)", False),
    ],
)
def test_only_names_of_tools_and_versions_pass_as_names_of_tools(writer: str, known: bool) -> None:
    assert is_known_writer(writer) == known


def test_a_tool_that_nobody_knows_is_named(tmp_path: Path) -> None:
    path = tmp_path / "other.parquet"
    pq.write_table(FRAME.to_arrow(), path)
    content = path.read_bytes()
    known = read_footer(path).written_by.encode()
    path.write_bytes(content.replace(known, SECRET.ljust(len(known))[: len(known)].encode()))
    assert problems(path) == {}
    assert any(SECRET in said for said in examine_container(path, read_table(path)).not_checked)


def test_a_folder_holds_one_file_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    FRAME.write_parquet(folder / "part-0.parquet")
    (folder / "_SUCCESS").touch()
    assert problems(folder) == {}
    (folder / ".hint").write_text(SECRET)
    assert problems(folder) == {"files": '".hint" is no part of the table. Remove it'}
    (folder / ".hint").unlink()
    (folder / SECRET).mkdir()
    assert "names of folders" in problems(folder)["files"]
    (folder / SECRET).rmdir()
    (folder / "_SUCCESS").write_text(SECRET)
    assert "no part of the table" in problems(folder)["files"]
    (folder / "_SUCCESS").unlink()
    FRAME.head(3).write_parquet(folder / "people-aged-61.parquet")
    assert "divided into 2 files" in problems(folder)["files"]


def test_a_folder_of_one_file_below_a_folder_that_names_a_column_is_refused(tmp_path: Path) -> None:
    below = tmp_path / "other" / "exact=61"
    below.mkdir(parents=True)
    FRAME.write_parquet(below / "part-0.parquet")
    assert "names of folders" in problems(tmp_path / "other")["files"]


def test_pandas_columns_that_have_a_name_of_their_own_are_refused(tmp_path: Path) -> None:
    path, frame = tmp_path / "other.parquet", FRAME.to_pandas()
    frame.columns = pd.Index(frame.columns, name=SECRET)
    frame.to_parquet(path)
    assert '"pandas" that says more' in problems(path)["file metadata"]
    frame = FRAME.to_pandas()
    frame.attrs["note"] = SECRET
    frame.to_parquet(path)
    assert problems(path) != {}


CSV = b"age,job\n" + b"[20,clerk\n" * 5 + b"*,cook\n" * 5


def zipped(path: Path, change: Callable[[zipfile.ZipFile], object] = lambda archive: None, **how: int) -> Path:
    with zipfile.ZipFile(path, "w", **how) as archive:
        archive.writestr("other.csv", CSV)
        change(archive)
    return path


def named_by_gzip(path: Path, name: str, content: bytes = CSV) -> Path:
    with path.open("wb") as file, gzip.GzipFile(filename=name, mode="wb", fileobj=file) as packed:
        packed.write(content)
    return path


HONEST_PACKINGS: dict[str, Callable[[Path], object]] = {
    "gzip": lambda path: path.write_bytes(gzip.compress(CSV * 10_000)),
    "gzip with a name": lambda path: named_by_gzip(path, "other.csv"),
    "bzip2": lambda path: path.write_bytes(bz2.compress(CSV)),
    "xz": lambda path: path.write_bytes(lzma.compress(CSV)),
    "zstd": lambda path: path.write_bytes(pa.compress(CSV, codec="zstd", asbytes=True)),
    "zstd in many blocks": lambda path: path.write_bytes(
        pa.compress(np.random.default_rng(1).bytes(10).hex().encode() + CSV * 50_000, codec="zstd", asbytes=True)
    ),
    "zip": zipped,
    "zip, deflated": lambda path: zipped(path, compression=zipfile.ZIP_DEFLATED),
}


@pytest.mark.parametrize("packing", HONEST_PACKINGS)
def test_packed_tables_pass_and_are_named_as_packed(packing: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    HONEST_PACKINGS[packing](path)
    found = examine_packing(path)
    assert found.problem is None
    assert found.name == ("other.csv" if "name" in packing or "zip," in packing or packing == "zip" else "")
    says = examine_container(path, _any_table())
    assert says.not_checked[0] == INSIDE.format("other")


def _any_table() -> Table:
    return read_table(FRAME)


def commented(archive: zipfile.ZipFile) -> None:
    archive.comment = SECRET.encode()


def remarked(archive: zipfile.ZipFile) -> None:
    archive.infolist()[0].comment = SECRET.encode()


def with_extra(archive: zipfile.ZipFile) -> None:
    archive.infolist()[0].extra = b"\x41\x41\x05\x00Anna!"


def zipped_under(path: Path, name: str) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, CSV)


def deflated_with_more(path: Path) -> None:
    """Bytes behind the end of a packed file that still count as packed."""
    zipped(path, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(path) as archive:
        (member,) = archive.infolist()
        start, end = 30 + len("other.csv"), 30 + len("other.csv") + member.compress_size
    content = path.read_bytes()
    longer = (member.compress_size + 4).to_bytes(4, "little")
    head, tail = bytearray(content[:end]), bytearray(content[end:])
    head[18:22], tail[20:24] = longer, longer
    directory = int.from_bytes(tail[-6:-2], "little") + 4
    tail[-6:-2] = directory.to_bytes(4, "little")
    path.write_bytes(bytes(head) + b"Anna" + bytes(tail))
    assert start < end


PLANTED_PACKINGS: dict[str, Callable[[Path], object]] = {
    "a hidden file more": lambda path: zipped(path, lambda archive: archive.writestr(".original.csv", SECRET)),
    "a file of a desktop": lambda path: zipped(path, lambda archive: archive.writestr("__MACOSX/o.csv", SECRET)),
    "a folder": lambda path: zipped(path, lambda archive: archive.writestr("Anna/", "")),
    "a comment": lambda path: zipped(path, commented),
    "a comment of a file": lambda path: zipped(path, remarked),
    "more about a file": lambda path: zipped(path, with_extra),
    "a long name": lambda path: zipped_under(path, "Anna" * 30 + ".csv"),
    "bytes before the archive": lambda path: path.write_bytes(
        b"PK\x03\x04" + SECRET.encode() + zipped(path).read_bytes()
    ),
    "bytes within a packed file": deflated_with_more,
    "a long name in gzip": lambda path: named_by_gzip(path, "Anna" * 30),
    "a comment in gzip": lambda path: path.write_bytes(
        b"\x1f\x8b\x08\x10" + bytes(6) + SECRET.encode() + b"\0" + gzip.compress(CSV)[10:]
    ),
    "a second stream in gzip": lambda path: path.write_bytes(gzip.compress(CSV) + gzip.compress(b"")),
    "zeros behind gzip": lambda path: path.write_bytes(gzip.compress(CSV) + bytes(5)),
    "a second stream in bzip2": lambda path: path.write_bytes(bz2.compress(CSV) + bz2.compress(b"")),
    "a second stream in xz": lambda path: path.write_bytes(lzma.compress(CSV) + lzma.compress(b"")),
    "zeros behind xz": lambda path: path.write_bytes(lzma.compress(CSV) + bytes(8)),
    "a frame to be skipped in zstd": lambda path: path.write_bytes(
        pa.compress(CSV, codec="zstd", asbytes=True) + b"\x50\x2a\x4d\x18\x04\0\0\0Anna"
    ),
}


@pytest.mark.parametrize("plant", PLANTED_PACKINGS)
def test_what_is_packed_besides_the_table_is_refused(plant: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    PLANTED_PACKINGS[plant](path)
    assert examine_packing(path).problem is not None
    assert not examine_container(path, _any_table()).checks[0].passed


ROWS = [
    ["age", "job"],
    *([("[20, 40)", "[40, 60)")[place % 2], ("cook", "smith")[place % 3 == 0]] for place in range(30)),
]
_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">{}</cp:coreProperties>'
)
SHEET, BOOK, SHARED = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "xl/sharedStrings.xml"


def reworked(path: Path, changes: Mapping[str, Callable[[str], str]], sheets: int = 1) -> Path:
    """A plain workbook with some of its parts changed; parts that it does not have are changed from nothing."""
    write_workbook(path, {"table": ROWS, **{f"more {place}": [["x"]] for place in range(1, sheets)}})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    parts |= {name: change(parts.get(name, "")) for name, change in changes.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def put(name: str, old: str, new: str) -> dict[str, Callable[[str], str]]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return {name: change}


def shared(more: str = "") -> dict[str, Callable[[str], str]]:
    """Texts kept once for all cells, as most tools keep them."""
    texts = list(dict.fromkeys(cell for row in ROWS for cell in row))

    def cells(sheet: str) -> str:
        for place, text in enumerate(texts):
            sheet = sheet.replace(f't="inlineStr"><is><t>{text}</t></is>', f't="s"><v>{place}</v>')
        return sheet

    items = "".join(f"<si><t>{text}</t></si>" for text in texts)
    return {SHEET: cells, SHARED: lambda text: f"<sst {_MAIN}>{items}{more}</sst>"}


HONEST_WORKBOOKS: dict[str, Mapping[str, Callable[[str], str]]] = {
    "plain": {},
    "shared texts": shared(),
    "an author": {"docProps/core.xml": lambda text: _CORE.format("<dc:creator>Ben</dc:creator>")},
    "widths of columns": put(SHEET, "<sheetData>", '<cols><col min="1" max="1" width="20"/></cols><sheetData>'),
    "a header that looks different": put(SHEET, '<row r="1">', '<row r="1" ht="30">'),
}


@pytest.mark.parametrize("kind", HONEST_WORKBOOKS)
def test_plain_workbooks_pass(kind: str, tmp_path: Path) -> None:
    path = reworked(tmp_path / "other.xlsx", HONEST_WORKBOOKS[kind])
    found = examine_container(path, read_table(path))
    assert [check.detail for check in found.checks if not check.passed] == []
    assert "other data may be hidden there" in found.not_checked[0]
    assert any('"Ben"' in said for said in found.not_checked) == (kind == "an author")


FOURTH = '<c r="B4" t="inlineStr"><is><t>cook</t></is></c>'
PLANTED_WORKBOOKS: dict[str, Mapping[str, Callable[[str], str]]] = {
    "a comment": {"xl/comments1.xml": lambda text: f"<comments {_MAIN}><t>{SECRET}</t></comments>"},
    "a picture": {"xl/media/image1.png": lambda text: SECRET},
    "own properties": {"docProps/custom.xml": lambda text: f"<Properties>{SECRET}</Properties>"},
    "a sheet that the book does not list": {"xl/worksheets/sheet2.xml": lambda text: f"<worksheet {_MAIN}/>"},
    "a name": put(BOOK, "</sheets>", f"</sheets><definedNames><definedName>{SECRET}</definedName></definedNames>"),
    "a title": {"docProps/core.xml": lambda text: _CORE.format(f"<dc:title>{SECRET}</dc:title>")},
    "a long author": {"docProps/core.xml": lambda text: _CORE.format(f"<dc:creator>{SECRET * 9}</dc:creator>")},
    "a remark": put(SHEET, "<sheetData>", f"<sheetData><!-- {SECRET} -->"),
    "an instruction": put(SHEET, "<sheetData>", f"<sheetData><?{SECRET}?>"),
    "a text that no cell shows": shared(f"<si><t>{SECRET}</t></si>"),
    "a text kept twice": shared("<si><t>cook</t></si>"),
    "a page header": put(SHEET, "</sheetData>", f"</sheetData><headerFooter><a>{SECRET}</a></headerFooter>"),
    "a formula": put(SHEET, FOURTH, f'<c r="B4" t="str"><f>"{SECRET}"</f><v>cook</v></c>'),
    "a cell in another style": put(SHEET, FOURTH, FOURTH.replace("<c ", '<c s="1" ')),
    "a cell kept in another way": put(SHEET, FOURTH, '<c r="B4" t="str"><v>cook</v></c>'),
    "a text in two pieces": put(SHEET, FOURTH, '<c r="B4" t="inlineStr"><is><r><t>co</t></r><r><t>ok</t></r></is></c>'),
    "a row of another height": put(SHEET, '<row r="5">', '<row r="5" ht="16">'),
    "a text between cells": put(SHEET, FOURTH, FOURTH + SECRET),
    "white space between cells": put(SHEET, FOURTH, FOURTH + " "),
    "an attribute more": put(SHEET, FOURTH, FOURTH.replace("<c ", f'<c note="{SECRET}" ')),
    "letters as numbers": put(SHEET, FOURTH, FOURTH.replace("cook", "&#99;ook")),
    "spans that are none": put(SHEET, '<row r="5">', f'<row r="5" spans="{SECRET}">'),
    "a huge part": put(BOOK, "<sheets>", f"<a>{'Anna ' * 20_000}</a><sheets>"),
}


@pytest.mark.parametrize("plant", PLANTED_WORKBOOKS)
def test_what_a_workbook_holds_besides_its_table_is_refused(plant: str, tmp_path: Path) -> None:
    path = reworked(tmp_path / "other.xlsx", PLANTED_WORKBOOKS[plant])
    assert examine_workbook(path).problem is not None
    assert not examine_container(path, _any_table()).checks[0].passed


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_hidden_sheets_are_refused(state: str, tmp_path: Path) -> None:
    path = reworked(tmp_path / "other.xlsx", put(BOOK, 'name="more 1"', f'name="more 1" state="{state}"'), sheets=2)
    assert problems(path) == {"sheets": "1 sheet besides the table"}


def test_numbers_in_a_workbook_are_written_in_one_way(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "other.xlsx", {"table": [["age"], *([30 + place % 2] for place in range(20))]})
    assert problems(path) == {}
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content.replace(b"<v>30</v>", b"<v>30.0</v>", 1))
    assert "same content in different ways" in problems(path)["sheets"]


def test_a_workbook_with_a_comment_of_its_archive_is_refused(tmp_path: Path) -> None:
    path = reworked(tmp_path / "other.xlsx", {})
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = SECRET.encode()
    assert "has a comment" in problems(path)["sheets"]
