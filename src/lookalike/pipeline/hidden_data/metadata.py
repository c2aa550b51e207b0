"""What tools write into Parquet files besides the table: a list of keys, each with what its value may be.

Each value must say what the columns of the file say anyway, or name a version, in the one way in which the tool writes
it. Every other key and every other value could hold anything, and is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lookalike.data.microdata import Table
from lookalike.pipeline.hidden_data.arrow import ZONE, find_embedded_problem
from lookalike.untrusted import load_json

_VERSION = r"v?\d{1,4}(?:\.\d{1,4}){1,3}(?:[-.]?(?:a|b|rc|dev|post|SNAPSHOT)\.?\d{0,4})?"
_WRITERS = re.compile(
    r"(?:parquet-cpp(?:-arrow)?|parquet-mr|parquet-rs|parquet-go|Polars(?: \(python\))?|DuckDB|fastparquet-python|"
    rf"impala|Trino|Presto|Arrow2|cuDF)(?: version {_VERSION})?(?: \(build [0-9a-f]{{0,40}}\))?"
)
_PANDAS_TYPES = re.compile(
    r"bool|u?int(?:8|16|32|64)|float(?:16|32|64)|unicode|string|object|mixed|empty|bytes|date|datetime|datetimetz|"
    r"categorical|decimal|time"
)
_NUMPY_TYPES = re.compile(
    r"object|str|string|bool|boolean|category|u?int(?:8|16|32|64)|U?Int(?:8|16|32|64)|[fF]loat(?:16|32|64)|"
    r"string\[(?:python|pyarrow)\]|datetime64\[(?:s|ms|us|ns)\]|date32\[day\]\[pyarrow\]|"
    r"timestamp\[(?:s|ms|us|ns)(?:, tz=UTC)?\]\[pyarrow\]|"
    r"(?:large_string|string|bool|double|float|u?int(?:8|16|32|64))\[pyarrow\]"
)
_SPARK_TYPES = re.compile(
    r"string|boolean|byte|short|integer|long|float|double|date|timestamp|timestamp_ntz|decimal\(\d{1,2},\d{1,2}\)"
)


@dataclass(frozen=True)
class ParquetFacts:
    """What a Parquet file is known to hold."""

    columns: Sequence[str]
    table: Table

    @property
    def n_rows(self) -> int:
        return len(self.table.columns[0].codes)


def is_known_writer(text: str) -> bool:
    """Whether a file names a common tool and its version as what wrote it, and nothing else."""
    return _WRITERS.fullmatch(text) is not None


def metadata_problem(key: str, value: bytes, facts: ParquetFacts) -> str | None:
    """What is wrong with a pair of metadata; None if a common tool writes it so."""
    allows = _ALLOWS.get(key)
    if allows is None:
        return f"has metadata that no common tool writes: {json.dumps(key[:40])}"
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return f"has metadata {json.dumps(key)} that is no text"
    try:
        fine = allows(text, facts)
    except (ValueError, KeyError, TypeError, AttributeError):
        fine = False
    return None if fine else f"has metadata {json.dumps(key)} that says more than the names and types of its columns"


def _is_version(text: str, facts: ParquetFacts) -> bool:
    return re.fullmatch(_VERSION, text) is not None


def _is_zone(text: str, facts: ParquetFacts) -> bool:
    return ZONE.fullmatch(text) is not None


def _is_arrow(text: str, facts: ParquetFacts) -> bool:
    def known(key: str, value: bytes) -> str | None:
        return "holds itself" if key == "ARROW:schema" else metadata_problem(key, value, facts)

    return find_embedded_problem(text.encode(), facts.columns, known) is None


def _parse_plain_json(text: str) -> Any:
    """What a JSON text says; ValueError unless it is spelled as programs spell it, without keys twice."""
    found = load_json(text)
    for separators in ((", ", ": "), (",", ":")):
        if text in (json.dumps(found, separators=separators, ensure_ascii=ascii) for ascii in (True, False)):
            return found
    raise ValueError(text)


def _is_spark(text: str, facts: ParquetFacts) -> bool:
    found = _parse_plain_json(text)
    return (
        list(found) == ["type", "fields"]
        and found["type"] == "struct"
        and [field["name"] for field in found["fields"]] == list(facts.columns)
        and all(
            list(field) == ["name", "type", "nullable", "metadata"]
            and _SPARK_TYPES.fullmatch(field["type"])
            and isinstance(field["nullable"], bool)
            and field["metadata"] == {}
            for field in found["fields"]
        )
    )


def _is_pandas(text: str, facts: ParquetFacts) -> bool:
    found = _parse_plain_json(text)
    allowed = {"index_columns", "column_indexes", "columns", "attributes", "creator", "pandas_version"}
    creator = found.get("creator", {"library": "pyarrow", "version": "1.0"})
    return (
        set(found) <= {*allowed, "partition_columns"}
        and not found.get("attributes")
        and not found.get("partition_columns")
        and set(creator) == {"library", "version"}
        and creator["library"] in ("pyarrow", "fastparquet")
        and _is_version(creator["version"], facts)
        and (found["pandas_version"] is None or _is_version(found["pandas_version"], facts))
        and len(found["column_indexes"]) <= 1
        and all(_is_pandas_column(one, None, facts) for one in found["column_indexes"])
        and [one.get("field_name", one["name"]) for one in found["columns"]] == list(facts.columns)
        and all(_is_pandas_column(one, name, facts) for one, name in zip(found["columns"], facts.columns, strict=True))
        and _is_pandas_index(found["index_columns"], facts)
    )


def _is_pandas_index(index: list[Any], facts: ParquetFacts) -> bool:
    plain = {"kind": "range", "name": None, "start": 0, "stop": facts.n_rows, "step": 1}
    named = len(set(map(str, index))) == len(index) and all(one in facts.columns for one in index)
    return index == [plain] or named


def _is_pandas_column(about: dict[str, Any], name: str | None, facts: ParquetFacts) -> bool:
    return (
        set(about) <= {"name", "field_name", "pandas_type", "numpy_type", "metadata"}
        and about["name"] in (None, name)
        and about.get("field_name") in (None, name)
        and _PANDAS_TYPES.fullmatch(about["pandas_type"]) is not None
        and _NUMPY_TYPES.fullmatch(about["numpy_type"]) is not None
        and _is_pandas_detail(about["metadata"], name, facts)
    )


def _is_pandas_detail(detail: dict[str, Any] | None, name: str | None, facts: ParquetFacts) -> bool:
    if detail is None or detail == {"encoding": "UTF-8"}:
        return True
    if set(detail) == {"timezone"}:
        return _is_zone(detail["timezone"], facts)
    if set(detail) == {"precision", "scale"}:
        return all(type(number) is int and 0 <= number <= 76 for number in detail.values())
    if set(detail) != {"num_categories", "ordered"} or name is None or not isinstance(detail["ordered"], bool):
        return False
    # Categories that no row has are kept in the file.
    column = facts.table[name]
    used = np.unique(column.codes)
    shown = int(np.count_nonzero(used < len(column.values)))
    # An empty text is a category, and is read as missing.
    return detail["num_categories"] in range(shown, len(used) + 1)


_ALLOWS: dict[str, Callable[[str, ParquetFacts], bool]] = {
    "ARROW:schema": _is_arrow,
    "pandas": _is_pandas,
    "org.apache.spark.version": _is_version,
    "org.apache.spark.timeZone": _is_zone,
    "org.apache.spark.sql.parquet.row.metadata": _is_spark,
    "writer.model.name": lambda text, facts: text in ("avro", "example", "protobuf", "spark", "thrift"),
    "writer.date.proleptic": lambda text, facts: text in ("true", "false"),
    "writer.time.zone": _is_zone,
    "duckdb_version": _is_version,
}
