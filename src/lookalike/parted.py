"""`la.publish_in_parts`: a table of this machine cut into parts, and a folder of files for each published table.

import lookalike as la
la.publish_in_parts("stays", qi=["age", "sex"], sensitive="diagnosis", model="l-diversity:10", out="release")
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Algorithm
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.files.releases.plain import plain_frame
from lookalike.files.tables import read_columns
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.parts.publish import PART_ROWS, PartedPublication
from lookalike.pipeline.parts.publish import publish_in_parts as publish
from lookalike.pipeline.recipe import ModelLike, Recipe, as_algorithm, as_promises, as_schema
from lookalike.progress import Progress, silent


def publish_in_parts(
    table: Any,
    *,
    out: str | Path,
    model: ModelLike | Iterable[ModelLike],
    algorithm: Algorithm | str | None = None,
    schema: Schema | str | Path | None = None,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    carry: Iterable[str] = (),
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    adversary: str = READS_RELEASE,
    seed: int | None = None,
    title: str | None = None,
    recipient: str | None = None,
    overwrite: bool = False,
    part_rows: int = PART_ROWS,
    progress: Progress = silent,
    **reading: Any,
) -> PartedPublication:
    """Publish a table about `part_rows` records at a time, and write it to the folder `out`.

    As `lookalike.publish`, with the methods that a cluster has (`lookalike.spark`): each published table is a folder of
    part files, and the report is the brief one.
    """
    given = as_schema(schema, qi, sensitive, carry, numeric, categorical)
    promises, chosen = as_promises(model), as_algorithm(algorithm)
    read = read_columns(table, given, progress=progress, **reading)
    data = Microdata.encode(read, given)
    made = publish(
        LocalBackend(plain_frame(data)),
        Recipe(schema=data.schema, promises=promises, algorithm=chosen, adversary=adversary, seed=seed),
        out,
        title=title or "Anonymised table",
        recipient=recipient,
        overwrite=overwrite,
        part_rows=part_rows,
        options=("--part-rows", str(part_rows)),
        source=read.source,
        progress=progress,
    )
    return replace(made, notes=tuple(dict.fromkeys((*read.notes, *made.notes))))
