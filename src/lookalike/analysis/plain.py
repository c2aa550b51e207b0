"""Plain tables from a release folder alone, for tools that want a value in every cell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Release
from lookalike.data.worlds import World, draw_world
from lookalike.errors import DataError, RecipeError, counted
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import typed_values
from lookalike.files.releases.describe import PublishedManifest
from lookalike.files.releases.read import ReleaseFolder, release_folder
from lookalike.files.urls import local_path
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

WORLDS = 5
"""How many worlds are drawn unless told; enough to see how far results differ between them."""

_SAID = {
    Grouped.form: "Quasi-identifiers are drawn evenly from their ranges and sets; the other columns are as published.",
    Matched.form: "Quasi-identifiers are drawn evenly from their ranges and sets; the other columns are as published.",
    Bucketized.form: "Sensitive values are dealt at random within buckets; every table has the published counts.",
    Perturbed.form: "Sensitive values are drawn back through the published matrix; the other columns are as published.",
}


def sample(
    folder: str | Path, *, worlds: int = WORLDS, seed: int | None = None, progress: Progress = silent
) -> list[pl.DataFrame]:
    """Plain tables that a release may come from: `worlds` of them, each with the columns and types of the original.

    No row of them is about a person. Do what you want to do with each table, then `pool` the results: how far they
    differ tells how much the release leaves open. A seed only repeats a draw; it gives nothing away.
    """
    return list(Plain.of(folder).drawn(worlds, seed, progress))


class Plain:
    """A release folder that plain tables are drawn from."""

    def __init__(self, release: Release, manifest: PublishedManifest) -> None:
        self.release = release
        self.manifest = manifest

    @classmethod
    def of(cls, folder: str | Path) -> Plain:
        found = release_folder(local_path(folder))
        if found is None:
            raise DataError(f"{folder} is not a release folder of lookalike. Name the folder with datapackage.json.")
        opened = ReleaseFolder(found)
        return cls(read_alone(opened), opened.manifest)

    @property
    def columns(self) -> list[str]:
        return [domain.name for domain in self.release.domains.all]

    @property
    def n_people(self) -> int:
        """Rows of every table."""
        return self.release.n_rows - self.release.withheld.n_dummies

    @property
    def notes(self) -> list[str]:
        """How the tables are drawn, and what they lack, in sentences."""
        notes = [_SAID[self.release.form]]
        withheld = self.release.withheld
        if made_up := withheld.n_dummies:
            how = "taken away at random" if withheld.indistinguishable else "set aside"
            notes.append(f"{counted(made_up, 'made-up record')} {'is' if made_up == 1 else 'are'} {how}.")
        if left_out := withheld.n_suppressed:
            verb = "was" if left_out == 1 else "were"
            notes.append(f"{counted(left_out, 'record')} of the original {verb} left out of the release.")
        return notes

    def drawn(self, worlds: int, seed: int | None, progress: Progress = silent) -> Iterator[pl.DataFrame]:
        """One table after the other."""
        if worlds < 1:
            raise RecipeError(f"worlds is {worlds}. Draw one world or more.")
        rng = Randomness(seed)
        for world in range(worlds):
            progress("drawing", world / worlds)
            yield self._decoded(draw_world(self.release, rng.child("world", world)))
        progress("drawing", 1.0)

    def _decoded(self, world: World) -> pl.DataFrame:
        domains = self.release.domains
        blocks = ((domains.quasi, world.quasi), (domains.sensitive, world.sensitive), (domains.carried, world.carried))
        return pl.DataFrame(
            [value_series(domain, block[:, place]) for listed, block in blocks for place, domain in enumerate(listed)]
        )


def value_series(domain: Domain, codes: Codes) -> pl.Series:
    """Codes as the values that they stand for, missing as null."""
    values = typed_values(domain.values, domain.type)
    known = pl.concat([values, pl.Series([None], dtype=values.dtype)])
    return known.gather(np.minimum(codes, len(domain.values)).astype(np.uint32)).alias(domain.name)
