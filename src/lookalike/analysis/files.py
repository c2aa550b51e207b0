"""Drawn tables as files: one for all worlds, or one each; nothing is overwritten, and no file is left half done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl

from lookalike.analysis.plain import Plain
from lookalike.errors import DataError, RecipeError, quoted
from lookalike.progress import Progress, silent

PLACE = "{world}"
WORLD = "world"

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], None]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".parquet": lambda frame, path: frame.write_parquet(path),
}


def write_worlds(
    plain: Plain, out: str, worlds: int, seed: int | None = None, progress: Progress = silent
) -> list[Path]:
    """Write the worlds and give the paths.

    With {world} in the name there is a file for each, numbered from 1; otherwise one file with a first column `world`.
    """
    write = _WRITERS.get(Path(out).suffix.lower())
    if write is None:
        raise RecipeError(f"{out} should end in .csv or .parquet, which says how the tables are written.")
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
    """Under another name first: who finds the file finds all of it."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        write(frame, unfinished)
        # A link fails where a file has come up in the meantime; a rename would replace it.
        os.link(unfinished, path)
    except FileExistsError:
        raise RecipeError(f"{path} exists already. Name another file, or remove it first.") from None
    except OSError as error:
        raise DataError(f"Cannot write {path}: {error.strerror or 'the disk refuses'}.") from None
    finally:
        unfinished.unlink(missing_ok=True)
