"""What files of other tools hold besides their table: what common tools write passes, everything else is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from lookalike.packages.containers import examine_container
from lookalike.packages.footers import read_footer
from lookalike.packages.tool_metadata import ParquetFacts, is_known_writer, metadata_problem
from lookalike.tables.reading import read_table

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
