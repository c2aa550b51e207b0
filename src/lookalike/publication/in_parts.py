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
from lookalike.data.statement import Statement
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
    stated: Statement | None = None,
    overwrite: bool = False,
    part_rows: int | None = None,
    options: Sequence[str] = (),
    notes: Sequence[str] = (),
    fragments: Fragments | None = None,
    header: Sequence[str] = (),
    progress: Progress = silent,
) -> Publication:
    """Part by part. `notes`: what reading the table had to say; `options`, `fragments`: those of `run_in_parts`.

    `header`: all columns of the table; those of the back end, if left out.
    """
    from lookalike.evaluation import report as reports
    from lookalike.files.atomic import check_target
    from lookalike.files.releases.describe import DESCRIPTOR
    from lookalike.files.releases.parts import complete
    from lookalike.files.releases.write import new_release
    from lookalike.pipeline.parts.publish import run_in_parts

    stated = stated or Statement()
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
            published = [attribute.name for attribute in recipe.schema.published]
            removed = tuple(name for name in header or backend.names if name not in published)
            stated = replace(stated, date=stated.day)
            public = reports.Basis.of(made, removed=removed).public()
            complete(building, made.parts, made.bare)
            building.add({reports.AUDIT: reports.audit_json(public)})
            digests = building.describe(reports.describe_release(made, stated), reports.REPORTS)
            building.add(reports.report_documents(reports.Report.on(public, stated, digests=digests)))
            files = building.names
    seconds, said = {**made.seconds, **watch.seconds}, tuple(dict.fromkeys((*notes, *made.notes)))
    return Publication(replace(made, seconds=seconds, notes=said), stated, removed, folder, tuple(files))


def open_backend(
    table: Any,
    recipe: Recipe,
    backend: str | None,
    part_rows: int | None,
    goes_to: str | Path | None,
    progress: Progress,
    reading: dict[str, Any],
) -> tuple[Backend, Recipe, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Where the table lies, the recipe for it, what reading had to say, the options that name it, all columns."""
    if isinstance(table, Backend):
        return table, recipe, (), ("--backend", SPARK), tuple(table.names)
    if backend == SPARK or is_spark_frame(table):
        from lookalike.spark import open_table

        opened = open_table(table, **reading)
        return opened, recipe, (), ("--backend", SPARK), tuple(opened.names)
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
    settled_recipe = replace(recipe, schema=Schema(tuple(settled)))
    return lies_at, settled_recipe, said, ("--part-rows", str(part_rows)), tuple(read.all_names)


def is_spark_frame(table: object) -> bool:
    """A data frame of Spark, also over Spark Connect; told by its name, so that nobody loads Spark for it."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"
