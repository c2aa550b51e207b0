"""Columns that were made coarser: the audit works the blocks out again, and notices each one not as declared."""

from __future__ import annotations

import datetime
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.audit.coarsened import check_coarsening
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema
from lookalike.files.tables import read_columns
from tests.data.test_coarsening import rules
from tests.examples import examples

TREE = {"tree": {"Any": {"Heart": ["angina", "murmur"], "Head": ["migraine", "stroke"]}}}
RULES: list[tuple[str, dict[str, Any]]] = [
    ("pay", {"round": 1000, "top": 60000, "bottom": 2000}),
    ("pay", {"round": 500, "by": "floor", "origin": 20}),
    ("pay", {"width": [0, 1000, 20000]}),
    ("day", {"dates": "month"}),
    ("day", {"dates": "week"}),
    ("day", {"top": "2024-03-01"}),
    ("zip", {"prefix": 2}),
    ("zip", {"groups": {"North": ["z10", "z11"]}, "others": "merge"}),
    ("ill", {"level": 1}),
]


def patients(n_rows: int = 60) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": draw.integers(20, 60, n_rows),
            "pay": np.round(draw.uniform(0, 80_000, n_rows), 2),
            "day": [
                datetime.date(2024, 1, 1) + datetime.timedelta(days=int(day)) for day in draw.integers(0, 90, n_rows)
            ],
            "zip": [f"z{code}" for code in draw.integers(10, 40, n_rows)],
            "ill": draw.choice(["angina", "murmur", "migraine", "stroke"], n_rows),
        }
    )


def encoded(column: str, rule: dict[str, Any]) -> tuple[Table, Microdata]:
    schema = Schema.of(qi=["age"], sensitive=[column])
    if "level" in rule:
        schema = schema.replace_attribute(replace(schema[column], taxonomy=TREE))
    schema = Schema.of(schema, coarsen={column: rule})
    table = read_columns(patients(), schema)
    return table, Microdata.encode(table, schema)


@pytest.mark.parametrize(("column", "rule"), RULES)
def test_every_misplaced_value_is_noticed(column: str, rule: dict[str, Any]) -> None:
    table, data = encoded(column, rule)
    (check,) = check_coarsening(table, data)
    assert check.passed, check.detail
    assert column in check.detail
    # Any one record in any other block that occurs.
    n_codes = data.domains.sensitive[0].n_codes
    for record in range(0, data.n_rows, 7):
        codes = data.sensitive.copy()
        codes[record, 0] = (codes[record, 0] + 1) % n_codes
        (check,) = check_coarsening(table, replace(data, sensitive=codes))
        assert not check.passed


@pytest.mark.parametrize(("column", "rule"), RULES)
def test_blocks_of_another_rule_are_noticed(column: str, rule: dict[str, Any]) -> None:
    """What is printed is of a finer or a coarser rule than what is declared."""
    others = [other for name, other in RULES if name == column and other != rule]
    for other in others:
        table, data = encoded(column, other)
        domain = data.domains.sensitive[0]
        claimed = replace(domain, attribute=replace(domain.attribute, prepare=rule))
        domains = replace(data.domains, sensitive=(claimed,))
        (check,) = check_coarsening(table, replace(data, domains=domains))
        assert not check.passed


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(-600, 600), min_size=1, max_size=20), rules(), st.booleans())
def test_honest_blocks_of_numbers_pass(tenths: list[int], rule: dict[str, Any], whole: bool) -> None:
    numbers = tenths if whole else [number / 10 for number in tenths]
    schema = Schema.of(qi=["age"], sensitive="x", coarsen={"x": rule})
    table = read_columns(pl.DataFrame({"age": list(range(len(numbers))), "x": numbers}), schema)
    (check,) = check_coarsening(table, Microdata.encode(table, schema))
    assert check.passed, check.detail


def test_nothing_to_check_where_nothing_was_made_coarser() -> None:
    schema = Schema.of(qi=["age"], sensitive="pay")
    table = read_columns(patients(), schema)
    assert check_coarsening(table, Microdata.encode(table, schema)) == ()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("coarse")
    table = folder / "patients.csv"
    patients(400).write_csv(table)
    rule = {"pay": {"round": 10_000, "top": 70_000}, "zip": {"prefix": 2}}
    la.publish(
        table,
        qi=["age"],
        sensitive="pay",
        carry=["zip"],
        carry_anyway=["zip"],
        coarsen=rule,
        model="t-closeness:0.3,distance=ordered",
        algorithm="mondrian",
    ).write(folder / "release", report="brief", pdf=False)
    return table, folder / "release"


def test_a_release_says_how_it_was_made_coarser_and_is_audited_against_the_original(made: tuple[Path, Path]) -> None:
    table, release = made
    audit = la.verify(table, release)
    assert audit.passed
    assert "values made coarser as declared" in [check.name for check in audit.checks]
    assert 'way of making values coarser of "pay"' in str(audit)
    readme = (release / "README.txt").read_text()
    assert "pay: rounded to the nearest multiple of 10000; 70000 and more is one value." in readme
    assert "rounded to the nearest multiple of 10000" in (release / "report.html").read_text()
    shown = pl.read_csv(release / "release.csv", infer_schema=False)["pay"]
    exact = {str(pay) for pay in patients(400)["pay"]}
    assert not exact & set(shown)
    opened = la.open_release(release)
    counts = opened.counts("pay")
    assert list(counts["pay"])[-1] == ">=70000"
    assert int(counts["published"].sum()) == 400


def test_tampering_with_blocks_or_with_the_declaration_is_caught(made: tuple[Path, Path], tmp_path: Path) -> None:
    table, release = made
    for number, (name, old, new) in enumerate(
        [
            ("release.csv", r'"\[5000, 15000\)"', '"[15000, 25000)"'),
            ("release.csv", r">=70000", ">=80000"),
            ("schema.yaml", "round: 10000", "round: 20000"),
            ("schema.yaml", "top: 70000", "top: 60000"),
            ("schema.yaml", "prefix: 2", "prefix: 1"),
        ]
    ):
        copy = tmp_path / str(number)
        shutil.copytree(release, copy)
        text = (copy / name).read_text()
        changed = re.sub(old, new, text, count=1)
        assert changed != text
        (copy / name).write_text(changed)
        if name == "release.csv":
            frame = pl.read_csv(copy / name, infer_schema=False)
            frame.write_parquet(copy / "release.parquet")
        try:
            audit = la.verify(table, copy)
        except la.LookalikeError:
            continue
        assert not audit.passed, (name, new)


def test_the_manifest_names_no_value_of_the_original(made: tuple[Path, Path]) -> None:
    _, release = made
    said = json.loads((release / "datapackage.json").read_text())
    exact = {str(pay) for pay in patients(400)["pay"]}
    assert not exact & set(re.findall(r"[\d.]+", json.dumps(said)))
