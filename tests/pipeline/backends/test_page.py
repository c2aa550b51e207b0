"""The page about Spark, run on a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from lookalike.algorithms import ALGORITHMS
from lookalike.apps.samples import hospital, to_csv
from lookalike.data.contracts import Undivided
from tests.docs.pages import DOCS, blocks_of, sections_of
from tests.docs.test_examples import run_console

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGE = DOCS / "spark.md"


def test_what_the_page_shows_works(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    to_csv(hospital(500, seed=1), tmp_path / "patients.csv")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"spark": spark}
    for block in blocks_of(PAGE):
        if block.kind == "python":
            # Executors have their own folders: here paths must be whole.
            text = block.text.replace('"patients.csv"', f'"{tmp_path / "patients.csv"}"')
            exec(compile("\n" * block.line + text, "spark.md", "exec", dont_inherit=True), names)
        elif block.kind == "console":
            run_console(block.text.replace("patients", f"{tmp_path}/patients"), "spark.md", typed=False)
    assert names["made"].audit.passed
    assert (tmp_path / "by-command" / "report.html").exists()


def test_the_page_names_every_method_where_it_belongs() -> None:
    text = sections_of(PAGE)["Why the promise holds for the whole"]
    able, unable = text.split("Other methods are refused", 1)
    for name, kind in ALGORITHMS.items():
        is_refused = isinstance(kind().in_parts, Undivided)
        assert (f"`{name}`" in unable) == is_refused, name
        assert (f"`{name}`" in able) != is_refused, name
