"""Releases in parts audited again, part by part: what the audit of the whole says, and no promise taken on trust."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.apps.samples.census import census
from lookalike.data.schema import Schema
from lookalike.errors import DataError, RecipeError, Unsupported
from lookalike.models import parse_promise
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts.verify import verify_in_parts
from lookalike.pipeline.recipe import Recipe
from lookalike.publication.in_parts import publish_in_parts
from tests.audit.planting.messages import MESSAGES

SCHEMA = Schema.of(
    qi=["Age", "Education", "Marital"], sensitive=["Occupation"], categorical=["Marital"], numeric=["Education"]
)


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return pl.DataFrame({column.name: column.values[column.codes] for column in census(4000, seed=2).columns})


def published(people: pl.DataFrame, folder: Path, algorithm: str, promise: str) -> Path:
    recipe = Recipe(schema=SCHEMA, promises=(parse_promise(promise),), algorithm=parse_algorithm(algorithm), seed=6)
    made = publish_in_parts(LocalBackend(people), recipe, folder, part_rows=1000)
    assert made.n_parts >= 3
    return folder


@pytest.mark.parametrize(("algorithm", "promise"), [("mondrian", "l-diversity:4"), ("perturbation", "beta-likeness:4")])
def test_in_parts_and_as_a_whole_audits_agree(
    algorithm: str, promise: str, people: pl.DataFrame, tmp_path: Path
) -> None:
    folder = published(people, tmp_path / "release", algorithm, promise)
    in_parts = verify_in_parts(LocalBackend(people.sample(fraction=1.0, shuffle=True, seed=1)), folder)
    whole = la.verify(people, folder)
    assert in_parts.passed
    assert whole.passed
    for one, other in zip(in_parts.verdicts, whole.verdicts, strict=True):
        assert (one.model, one.reached, one.passed) == (other.model, other.reached, other.passed)
    assert in_parts.to_plain()["exact_columns"] == whole.to_plain()["exact_columns"]
    assert in_parts.grounds == whole.grounds
    files = {"files", "description", "stated promises", "table files"}
    assert {check.name for check in in_parts.checks if check.passed} >= files
    stronger = verify_in_parts(LocalBackend(people), folder, [parse_promise("l-diversity:30")])
    assert not stronger.passed


def test_another_table_or_a_changed_release_is_noticed(people: pl.DataFrame, tmp_path: Path) -> None:
    folder = published(people, tmp_path / "release", "mondrian", "l-diversity:4")
    other = people.with_columns(pl.col("Occupation").shuffle(seed=1))
    assert not verify_in_parts(LocalBackend(other), folder).passed
    with pytest.raises(DataError, match="fit no row|no record of the original fits"):
        verify_in_parts(LocalBackend(people.with_columns(pl.col("Age") + 200)), folder)
    part = folder / "release.csv" / "part-00000.csv"
    part.write_bytes(part.read_bytes().replace(b"\n", b" \n", 1))
    with pytest.raises(DataError, match="not the part that was published"):
        verify_in_parts(LocalBackend(people), folder)


def test_what_parts_cannot_tell_is_left_to_one_machine(people: pl.DataFrame, tmp_path: Path) -> None:
    for algorithm in ("anatomy", "heterogeneous"):
        folder = published(people, tmp_path / algorithm, algorithm, "l-diversity:4")
        with pytest.raises(Unsupported, match="while it is made"):
            verify_in_parts(LocalBackend(people), folder)
    la.publish(people, schema=SCHEMA, model="k-anonymity:4", algorithm="mondrian").write(tmp_path / "whole")
    with pytest.raises(RecipeError, match="not in parts"):
        verify_in_parts(LocalBackend(people), tmp_path / "whole")


@pytest.mark.parametrize("kind", ["Parquet metadata", "quotes that no cell needs", "a file beside the tables"])
def test_messages_in_the_files_are_noticed_part_by_part(kind: str, people: pl.DataFrame, tmp_path: Path) -> None:
    folder = published(people, tmp_path / "release", "mondrian", "l-diversity:4")
    assert MESSAGES[kind](np.random.default_rng(1), folder)
    audit = verify_in_parts(LocalBackend(people), folder)
    assert not audit.passed
    # Parts with other digests may be out of order, which the description is failed for.
    failed = {check.name for check in audit.checks if not check.passed} - {"description"}
    assert failed
    assert failed <= {"files", "table files"}
