"""Drawn tables as files: one for all worlds, or one each; nothing is overwritten, and no file is left half done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from lookalike.analysis.plain import Plain
from lookalike.errors import RecipeError, quoted
from lookalike.files.atomic import cannot_write, hidden_beside, sync
from lookalike.files.releases.cells import safe_frame
from lookalike.files.releases.write import errors_of_the_system
from lookalike.files.urls import local_path
from lookalike.progress import Progress, silent

PLACE = "{world}"
WORLD = "world"

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
}


def _write_safely(frame: pl.DataFrame, path: Path) -> None:
    safe_frame(frame).write_csv(path)


def write_worlds(
    plain: Plain,
    out: str,
    worlds: int,
    seed: int | None = None,
    progress: Progress = silent,
    *,
    safe_csv: bool = False,
) -> list[Path]:
    """Write the worlds and give the paths.

    With {world} in the name there is a file for each, numbered from 1; otherwise one file with a first column `world`.
    `safe_csv` puts an apostrophe before cells of a CSV file that a spreadsheet would compute.
    """
    write = _WRITERS.get(local_path(out).suffix.lower())
    if write is None:
        raise RecipeError(f"{out} should end in .csv or .parquet, which says how the tables are written.")
    if safe_csv and Path(out).suffix.lower() == ".csv":
        write = _write_safely
    each = PLACE in out
    paths = [Path(out.replace(PLACE, str(world + 1))) for world in range(worlds if each else 1)]
    for path in paths:
        if path.exists():
            raise RecipeError(f"{path} exists already. Name another file, or remove it first.")
        if not path.parent.is_dir():
            raise RecipeError(f"There is no folder {path.parent}. Make it first, or name another file.")
    if not each and WORLD in plain.columns:
        raise RecipeError(
            f"The release has a column {quoted(WORLD)} of its own. Write one file each: put {PLACE} into the name."
        )
    drawn = plain.drawn(worlds, seed, progress)
    if each:
        for path, frame in zip(paths, drawn, strict=True):
            _written(write, frame, path)
    else:
        numbered = [
            frame.insert_column(0, pl.Series(WORLD, [number], dtype=pl.Int64).new_from_index(0, len(frame)))
            for number, frame in enumerate(drawn, start=1)
        ]
        _written(write, pl.concat(numbered), paths[0])
    return paths


def _written(write: Callable[[pl.DataFrame, Path], None], frame: pl.DataFrame, path: Path) -> None:
    """In a hidden folder first: who finds the file finds all of it."""
    try:
        with hidden_beside(path) as hidden:
            building = hidden / path.name
            with errors_of_the_system():
                write(frame, building)
            sync(building)
            # A link fails where a file has come up in the meantime; a rename would replace it.
            os.link(building, path)
    except FileExistsError:
        raise RecipeError(f"{path} exists already. Name another file, or remove it first.") from None
    except OSError as error:
        raise cannot_write(path.parent, error) from None
