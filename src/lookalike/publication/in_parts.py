"""Tables that are published part by part, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike.data.frequent_values import describe_frequent
from lookalike.data.microdata import Microdata
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.schema import Schema
from lookalike.data.total_rows import note_totals
from lookalike.errors import RecipeError
from lookalike.files.tables import read_columns
from lookalike.pipeline.backends import SPARK, Backend, Fragments
from lookalike.pipeline.recipe import Recipe
from lookalike.pipeline.run import Stopwatch
from lookalike.progress import Progress, silent
from lookalike.publication.result import Publication

_PART_ROWS, LEAST_PART = 100_000, 1_000
"""Records of a part: about so many, if nothing is said, and never fewer."""


def publish_in_parts(
    backend: Backend,
    recipe: Recipe,
    out: str | Path | None,
    *,
    title: str = "Anonymised table",
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
    options: Sequence[str] = (),
    notes: Sequence[str] = (),
    fragments: Fragments | None = None,
    progress: Progress = silent,
) -> Publication:
    """Part by part. `notes`: what reading the table had to say; `options`, `fragments`: those of `run_in_parts`."""
    from lookalike.evaluation import report as reports
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.releases.parts import complete
    from lookalike.files.releases.write import new_release
    from lookalike.pipeline.parts.publish import run_in_parts

    if out is None:
        raise RecipeError("A table that is published in parts is written as it is made. Say where to: out=FOLDER.")
    n_rows = _PART_ROWS if part_rows is None else part_rows
    if n_rows < LEAST_PART:
        raise RecipeError(f"Parts of {n_rows:,} records are too small. Give at least {LEAST_PART:,} (--part-rows).")
    folder = Path(out)
    check_target(folder, marker=DESCRIPTOR, overwrite=overwrite)
    watch = Stopwatch()
    with new_release(folder, overwrite=overwrite, progress=progress) as building:
        made = run_in_parts(
            recipe,
            backend,
            building.folder,
            part_rows=n_rows,
            options=options,
            fragments=fragments,
            progress=progress,
        )
        with watch.step("write"):
            public = reports.Basis.of(made).public()
            complete(building, made.parts, made.bare)
            report = reports.Report.on(public, title, recipient=recipient)
            building.add({reports.AUDIT: reports.audit_json(public), **reports.report_documents(report)})
            files = building.describe(reports.describe_release(made, title))
    seconds, said = {**made.seconds, **watch.seconds}, tuple(dict.fromkeys((*notes, *made.notes)))
    return Publication(replace(made, seconds=seconds, notes=said), title, recipient, folder, tuple(files))


def open_backend(
    table: Any,
    recipe: Recipe,
    backend: str | None,
    part_rows: int | None,
    goes_to: str | Path | None,
    progress: Progress,
    reading: dict[str, Any],
) -> tuple[Backend, Recipe, tuple[str, ...], tuple[str, ...]]:
    """Where the table lies, the recipe for it, what reading it had to say, and the options that name the way."""
    if isinstance(table, Backend):
        return table, recipe, (), ("--backend", SPARK)
    if backend == SPARK or is_spark_frame(table):
        from lookalike.spark import open_table

        return open_table(table, **reading), recipe, (), ("--backend", SPARK)
    from lookalike.files.releases.cells import column_entries
    from lookalike.files.releases.plain import plain_frame
    from lookalike.pipeline.backends.local import LocalBackend
    from lookalike.pipeline.series.registry import warn_of_known

    read = read_columns(table, recipe.schema, progress=progress, **reading)
    refuse_repeated(read, recipe.schema, recipe.persons)
    # The back end holds the values as they are; they are made coarser where columns are surveyed.
    prepare = {attribute.name: attribute.prepare for attribute in recipe.schema.attributes}
    exact = Schema(tuple(replace(attribute, prepare=None) for attribute in recipe.schema.attributes))
    data = Microdata.encode(read, exact)
    settled = (replace(attribute, prepare=prepare[attribute.name]) for attribute in data.schema.attributes)
    # Identifiers of persons stay with their rows, to be counted; they are not published.
    whole = {unit.name for unit in (recipe.schema.unit, recipe.schema.person) if unit is not None}
    # Values that became "(other)" stay as they are until they are counted.
    whole |= {domain.name for domain in data.domains.quasi if domain.n_outside}
    as_read = [
        column_entries(read[name].values, read[name].type).gather(read[name].codes).alias(name)
        for name in sorted(whole)
    ]
    lies_at = LocalBackend(plain_frame(data).with_columns(as_read), source=read.source)
    unit = "row" if data.persons is None else data.schema.unit_name
    said = (
        *warn_of_known(goes_to, read, data),
        *read.notes,
        *note_totals(read),
        *describe_frequent(recipe.schema, data.domains.quasi, unit),
    )
    return lies_at, replace(recipe, schema=Schema(tuple(settled))), said, ("--part-rows", str(part_rows))


def is_spark_frame(table: object) -> bool:
    """A data frame of Spark, also over Spark Connect; told by its name, so that nobody loads Spark for it."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"
