"""`la.spark`: publish a Spark DataFrame. The rows stay with the executors; what comes back is a release folder.

import lookalike as la
la.spark.publish(frame, qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:10", out="/shared/release")
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookalike.audit import Audit
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm
from lookalike.data.schema import Schema
from lookalike.pipeline.backends.spark import SparkBackend
from lookalike.pipeline.parts.publish import PART_ROWS, PartedPublication, publish_in_parts
from lookalike.pipeline.parts.verify import verify_in_parts
from lookalike.pipeline.recipe import ModelLike, Recipe, as_algorithm, as_promises, as_schema
from lookalike.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["PartedPublication", "publish", "read", "verify"]


def publish(
    frame: DataFrame,
    *,
    out: str | Path,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    model: ModelLike | Iterable[ModelLike],
    algorithm: Algorithm | str | None = None,
    schema: Schema | str | Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    carry: Iterable[str] = (),
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int = PART_ROWS,
    missing: Collection[str] = (),
    is_text: bool = False,
    source: str = "the table",
    progress: Progress = silent,
) -> PartedPublication:
    """Publish the rows of a DataFrame so that they keep every promise in `model`, and write them to the folder `out`.

    As `lookalike.publish`, but in parts: executors anonymise, write and audit about `part_rows` records at a time, and
    `out` must be a folder that the driver and all executors see under one name. `is_text`: all columns are texts of a
    file without types, and are typed by what they look like.
    """
    recipe = Recipe(
        schema=as_schema(schema, qi, sensitive, carry, numeric, categorical),
        promises=as_promises(model),
        algorithm=as_algorithm(algorithm),
        adversary=adversary,
        seed=seed,
    )
    return publish_in_parts(
        SparkBackend(frame, is_text=is_text),
        recipe,
        out,
        title=title or "Anonymised table",
        recipient=recipient,
        overwrite=overwrite,
        part_rows=part_rows,
        options=("--backend", "spark"),
        missing=missing,
        source=source,
        progress=progress,
    )


def verify(
    frame: DataFrame,
    release: str | Path | PartedPublication,
    *,
    model: ModelLike | Iterable[ModelLike] = (),
    missing: Collection[str] = (),
    is_text: bool = False,
    source: str = "the table",
    progress: Progress = silent,
) -> Audit:
    """Audit a release in parts again, against the DataFrame it was made from: grouped and perturbed releases.

    Without `model` the release is held to what it promises itself.
    """
    folder = release.folder if isinstance(release, PartedPublication) else Path(release)
    return verify_in_parts(
        SparkBackend(frame, is_text=is_text),
        folder,
        as_promises(model),
        missing=missing,
        source=source,
        progress=progress,
    )


def read(publication: PartedPublication | str | Path, spark: Any = None, table: str = "release") -> DataFrame:
    """A published table as a DataFrame."""
    from pyspark.sql import SparkSession

    folder = publication.folder if isinstance(publication, PartedPublication) else Path(publication)
    session = spark or SparkSession.active()
    return session.read.parquet(str((folder / f"{table}.parquet").resolve()))
