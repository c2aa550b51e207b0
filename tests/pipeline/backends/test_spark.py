"""The same release on one machine and on a cluster, to the byte; executors that are lost; work that fails."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.mondrian import Mondrian
from lookalike.apps.samples import hospital, to_csv
from lookalike.data.frequent_values import set_cells
from lookalike.data.person_settings import PersonSettings
from lookalike.data.schema import Schema
from lookalike.errors import DataError, LookalikeError, RecipeError, Unsupported
from lookalike.models import parse_promise
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.backends.spark import SparkBackend, _in_words
from lookalike.pipeline.parts.cut import cut, cutting_for
from lookalike.pipeline.parts.survey import survey
from lookalike.pipeline.recipe import Recipe, require, settle
from lookalike.publication import Publication
from lookalike.publication.in_parts import publish_in_parts
from lookalike.randomness import Randomness
from tests.apps.cli.running import lookalike

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

N_ROWS, PART_ROWS = 4000, 1000
SCHEMA = set_cells(
    Schema.of(qi=["age", "sex", "zip code", "admission_date"], sensitive=["diagnosis"], carry=["length_of_stay"]),
    carry_anyway="length_of_stay",
)


@pytest.fixture(scope="module")
def stays(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Hospital stays with types, dates and missing values among them."""
    path = tmp_path_factory.mktemp("stays") / "stays.csv"
    to_csv(hospital(N_ROWS, seed=3), path)
    return pl.read_csv(path, try_parse_dates=True)


@pytest.fixture(scope="module")
def on_spark(spark: SparkSession, stays: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> DataFrame:
    path = tmp_path_factory.mktemp("parquet") / "stays.parquet"
    stays.write_parquet(path, row_group_size=700)
    return spark.read.parquet(str(path)).repartition(3)


def recipe_of(algorithm: str | Any, promise: str, schema: Schema = SCHEMA, **more: Any) -> Recipe:
    method = parse_algorithm(algorithm) if isinstance(algorithm, str) else algorithm
    return Recipe(schema=schema, promises=(parse_promise(promise),), algorithm=method, seed=5, **more)


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def cuts_for(frame: pl.DataFrame, recipe: Recipe) -> Any:
    backend = LocalBackend(frame)
    seen = survey(backend, recipe.schema)
    promises = settle(recipe.promises, seen.data)
    assert recipe.algorithm is not None
    method = recipe.algorithm.facing(recipe.adversary)
    backend.encode(seen.names, seen.coding)
    rules, cutting = require(promises, seen.data), cutting_for(method, recipe.adversary)
    return cut(backend, seen, promises, rules, cutting, recipe.adversary, PART_ROWS, Randomness(1))[0]


PLAIN = Schema.of(qi=["age", "sex", "zip code"], sensitive=["diagnosis"])
CASES = [
    ("groups:effort=fast", "l-diversity:3", SCHEMA, {}),
    ("groups:effort=fast", "l-diversity:2", PLAIN, {"adversary": "knows-method"}),
    ("mondrian", "t-closeness:0.4", SCHEMA, {}),
    ("burel", "beta-likeness:3", SCHEMA, {}),
    ("anatomy", "l-diversity:3", SCHEMA, {}),
    ("two-size:assign=similar", "l-diversity:3", SCHEMA, {}),
    ("heterogeneous", "l-diversity:3", PLAIN, {}),
    ("heterogeneous", "l-diversity:2", PLAIN, {"adversary": "knows-method"}),
    ("perturbation", "beta-likeness:3", PLAIN, {}),
]


@pytest.mark.parametrize(("algorithm", "promise", "schema", "more"), CASES)
def test_spark_and_one_machine_agree_to_the_byte(
    algorithm: str,
    promise: str,
    schema: Schema,
    more: dict[str, Any],
    stays: pl.DataFrame,
    on_spark: DataFrame,
    tmp_path: Path,
) -> None:
    recipe = recipe_of(algorithm, promise, schema, **more)
    cuts = cuts_for(stays, recipe)
    assert cuts.n_parts >= 2
    here = publish_in_parts(LocalBackend(stays), recipe, tmp_path / "here", fragments=cuts)
    there = publish_in_parts(SparkBackend(on_spark), recipe, tmp_path / "there", fragments=cuts)
    assert here.audit.passed
    assert str(there) == str(here)
    assert digests(tmp_path / "there") == digests(tmp_path / "here")


def test_cells_are_limited_and_rare_values_merged_alike(
    stays: pl.DataFrame, on_spark: DataFrame, tmp_path: Path
) -> None:
    schema = set_cells(SCHEMA, {"zip code": 60}, longest_set=3)
    recipe = recipe_of("mondrian", "k-anonymity:20", schema)
    cuts = cuts_for(stays, recipe)
    publish_in_parts(LocalBackend(stays), recipe, tmp_path / "here", fragments=cuts)
    publish_in_parts(SparkBackend(on_spark), recipe, tmp_path / "there", fragments=cuts)
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
    cells = pl.read_parquet(tmp_path / "here" / "release.parquet" / "*.parquet")["zip code"]
    assert cells.struct.field("any").any()
    assert set(cells.struct.field("values").list.len().unique()) <= {0, 1, 2, 3}
    assert "(other)" in cells.struct.field("values").explode().to_list()


def test_identifiers_in_values_are_refused_on_spark(spark: SparkSession, stays: pl.DataFrame, tmp_path: Path) -> None:
    noted = stays.head(400).with_columns(note=pl.lit("ask ann@example.org"))
    noted.write_parquet(tmp_path / "noted.parquet")
    recipe = recipe_of("mondrian", "k-anonymity:5", Schema.of(qi=["age"], carry=["note"]))
    with pytest.raises(RecipeError, match="--keep-identifiers note"):
        publish_in_parts(SparkBackend(spark.read.parquet(str(tmp_path / "noted.parquet"))), recipe, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("settings", [{}, {"contribution": 2}, {"rows": "one"}])
def test_persons_are_counted_and_drawn_alike(
    settings: dict[str, Any], spark: SparkSession, stays: pl.DataFrame, tmp_path: Path
) -> None:
    """Patients with several stays: the same rows are drawn and the same persons counted wherever rows lie."""
    many = stays.with_columns(patient=pl.Series([f"p{(row * 7) % 1700}" for row in range(N_ROWS)]))
    many.write_parquet(tmp_path / "stays.parquet", row_group_size=700)
    frame = spark.read.parquet(str(tmp_path / "stays.parquet")).repartition(3)
    recipe = recipe_of(
        "mondrian", "k-anonymity:5", Schema.of(SCHEMA, person="patient"), persons=PersonSettings(**settings)
    )
    cuts = cuts_for(stays, recipe_of("mondrian", "k-anonymity:5"))
    here = publish_in_parts(LocalBackend(many), recipe, tmp_path / "here", fragments=cuts)
    there = publish_in_parts(SparkBackend(frame), recipe, tmp_path / "there", fragments=cuts)
    assert here.audit.passed
    assert here.audit.n_persons == (1700 if settings.get("rows") != "one" else None)
    assert here.n_rows == {"contribution": 3400, "rows": 1700}.get(next(iter(settings), ""), N_ROWS)
    assert str(there) == str(here)
    assert digests(tmp_path / "there") == digests(tmp_path / "here")
    if not settings:
        # And where the cluster decides about the cuts itself.
        alone = la.publish(
            frame,
            schema=recipe.schema,
            model=["k-anonymity:5", "l-diversity:2"],
            algorithm="mondrian",
            part_rows=PART_ROWS,
            out=tmp_path / "alone",
        )
        assert alone.n_parts >= 2
        assert alone.audit.passed
        assert alone.audit.n_persons == 1700


def test_persons_who_repeat_unsaid_are_refused_alike(spark: SparkSession, stays: pl.DataFrame, tmp_path: Path) -> None:
    many = stays.select("age", "sex", "zip code", "diagnosis")[[(row * 7) % 1700 for row in range(N_ROWS)]]
    many = many.with_columns(id=pl.Series([str((row * 7) % 1700) for row in range(N_ROWS)]))
    many.write_parquet(tmp_path / "stays.parquet")
    frame = spark.read.parquet(str(tmp_path / "stays.parquet")).repartition(3)
    said = []
    for backend in (LocalBackend(many), SparkBackend(frame)):
        with pytest.raises(RecipeError, match='"id" repeats: 4,000 rows, 1,700 different values') as refusal:
            publish_in_parts(backend, recipe_of("mondrian", "k-anonymity:5", PLAIN), tmp_path / "release")
        said.append(str(refusal.value))
    assert said[0] == said[1]


def test_a_published_frame_can_be_read_by_spark_and_audited_elsewhere(
    spark: SparkSession, stays: pl.DataFrame, on_spark: DataFrame, tmp_path: Path
) -> None:
    seen: list[tuple[str, float]] = []
    made = la.publish(
        on_spark,
        schema=PLAIN,
        model=["k-anonymity:4", "l-diversity:3"],
        algorithm="mondrian",
        out=tmp_path / "release",
        part_rows=PART_ROWS,
        progress=lambda step, share, note="": seen.append((step, share)),
    )
    assert isinstance(made, Publication)
    assert made.n_parts >= 3
    assert {step for step, _ in seen} >= {"survey", "cut", "parts", "write"}
    assert la.spark.read(made).count() == N_ROWS
    stays.write_csv(tmp_path / "original.csv")
    reached = {verdict.model: verdict.reached for verdict in made.audit.verdicts}
    for audit in (la.verify(tmp_path / "original.csv", tmp_path / "release"), la.spark.verify(on_spark, made)):
        assert audit.passed
        assert {verdict.model: verdict.reached for verdict in audit.verdicts} == reached


def test_guests_are_sent_to_the_executors(
    guest: None, spark: SparkSession, stays: pl.DataFrame, tmp_path: Path
) -> None:
    stays.write_parquet(original := tmp_path / "stays.parquet")
    for words in (["at-most:0.6", "--algorithm", "one-group"], ["k-anonymity:5", "--algorithm", "mondrian"]):
        out = tmp_path / words[0].partition(":")[0]
        columns = ("--qi", "age,sex", "--sensitive", "diagnosis", "--part-rows", "1000")
        said = lookalike("publish", original, *columns, "--backend", "spark", "--model", *words, "--out", out, "--json")
        assert said.returncode == 0, said.stderr
        assert 0 <= json.loads(said.stdout)["loss"]["even_rows"] <= 1
        assert la.spark.verify(str(original), out).passed


@pytest.mark.parametrize(
    "said", ["ModuleNotFoundError: No module named 'own.guests'", "Can't pickle <class '__main__.AtMost'>: it is not"]
)
def test_what_executors_lack_is_named(said: str) -> None:
    with pytest.raises(
        LookalikeError, match=r"executors cannot import (own|__main__)\. Put a class of your own into one"
    ):
        raise _in_words(said, "PYTHON_EXCEPTION")


@dataclass(frozen=True)
class Interrupted(Mondrian):
    """Mondrian on a machine that fails while it works."""

    name: ClassVar[str] = "mondrian"
    marker: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        return "mondrian"

    def partition(self, *arguments: Any, **more: Any) -> Any:
        self.fail()
        return super().partition(*arguments, **more)

    def fail(self) -> None:
        """The first to come here takes its executor with it: the process above this one's parent."""
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        daemon = int(Path(f"/proc/{os.getppid()}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(daemon, signal.SIGKILL)
        time.sleep(60)


@dataclass(frozen=True)
class Failing(Interrupted):
    def fail(self) -> None:
        raise RuntimeError("a fault nobody foresaw, with a value: 4711")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux only: finds the executor by /proc")
def test_a_lost_executor_changes_nothing(stays: pl.DataFrame, on_spark: DataFrame, tmp_path: Path) -> None:
    whole = recipe_of("mondrian", "l-diversity:3")
    cuts = cuts_for(stays, whole)
    publish_in_parts(LocalBackend(stays), whole, tmp_path / "calm", fragments=cuts)
    marker = tmp_path / "killed"
    broken = recipe_of(Interrupted(marker=str(marker)), "l-diversity:3")
    publish_in_parts(SparkBackend(on_spark), broken, tmp_path / "stormy", fragments=cuts)
    assert marker.exists()
    assert digests(tmp_path / "stormy") == digests(tmp_path / "calm")


def test_work_that_fails_leaves_what_was_there_and_says_no_value(
    stays: pl.DataFrame, on_spark: DataFrame, tmp_path: Path
) -> None:
    publish_in_parts(LocalBackend(stays), recipe_of("mondrian", "l-diversity:3"), tmp_path / "release")
    before = digests(tmp_path)
    with pytest.raises(LookalikeError, match="nothing is written") as caught:
        publish_in_parts(
            SparkBackend(on_spark), recipe_of(Failing(), "l-diversity:3"), tmp_path / "release", overwrite=True
        )
    assert "4711" not in str(caught.value)
    assert digests(tmp_path) == before


def test_columns_of_every_type_are_read_as_anywhere_else(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(0, 400).selectExpr(
        "cast(id % 7 as byte) as small",
        "cast(id % 5 as decimal(5,2)) / 4 as price",
        "cast(id % 3 as float) / 3 as single",
        "if(id % 11 = 0, double('NaN'), id % 6 / 2) as real",
        "timestamp_seconds(1700000000 + id % 4 * 3600) as moment",
        "cast(timestamp_seconds(1700000000 + id % 4 * 60) as timestamp_ntz) as local",
        "date_add(date'2024-01-01', cast(id % 9 as int)) as day",
        "if(id % 13 = 0, null, id % 2 = 0) as yes",
        "cast(null as string) as nothing",
        "concat('v', id % 3) as ill",
    )
    rows.write.parquet(str(tmp_path / "original"))
    frame = spark.read.parquet(str(tmp_path / "original"))
    qi = [name for name in frame.columns if name != "ill"]
    made = la.publish(
        frame, qi=qi, sensitive="ill", model="l-diversity:2", algorithm="mondrian", out=tmp_path / "release"
    )
    original = pl.read_parquet(tmp_path / "original" / "*.parquet")
    audit = la.verify(original, tmp_path / "release")
    assert audit.passed, str(audit)
    assert made.audit.n_rows == 400


def test_what_spark_cannot_do_is_refused_with_the_reason(
    spark: SparkSession, on_spark: DataFrame, tmp_path: Path
) -> None:
    for algorithm, reason in (("ring", "on one ring"), ("groups:effort=3", "by seconds")):
        with pytest.raises(Unsupported, match=reason):
            la.publish(on_spark, schema=PLAIN, model="l-diversity:3", algorithm=algorithm, out=tmp_path / "x")
    lists = spark.createDataFrame([([1, 2], "a")], "age array<int>, ill string")
    with pytest.raises(DataError, match="array<int>"):
        la.publish(lists, qi=["age"], sensitive="ill", model="k-anonymity:2", out=tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_frames_that_are_not_of_spark_are_refused_in_words(stays: pl.DataFrame, tmp_path: Path) -> None:
    """Before, pyspark stopped with a bare assertion, or with whatever it found missing."""
    with pytest.raises(RecipeError, match="this is a DataFrame in memory. Write it to a Parquet file"):
        la.publish(stays, schema=SCHEMA, model="k-anonymity:5", backend="spark", out=tmp_path / "release")
