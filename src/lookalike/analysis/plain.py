"""Plain tables from a release folder alone, for tools that want a value in every cell, and results of several.

Files are one for all worlds, or one each; nothing is overwritten, and no file is left half done. Results are pooled by
Rubin's rules. Each of m worlds gives an estimate q with its variance u. The pooled estimate is their mean. Its variance
has two parts, what a table of this size leaves open (W, the mean of u) and what the release leaves open (B, the
variance of q):

    T = W + (1 + 1/m) B,     degrees of freedom  v = (m - 1) / lambda^2,     lambda = (1 + 1/m) B / T

With the degrees of freedom v_c that the analysis of a whole table would have, Barnard's and Rubin's correction for
small tables applies: 1 / (1/v + 1/v_o), v_o = (v_c + 1) / (v_c + 3) * v_c * (1 - lambda). Intervals are Student's t.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.intervals import LEVEL
from lookalike.analysis.levels import cut_prefixes
from lookalike.analysis.worlds import WorldModel
from lookalike.data.release import Bucketized, Grouped, Perturbed, Release
from lookalike.data.worlds import pick_dummies
from lookalike.errors import RecipeError, counted, quoted
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.plain import check_plain_target, value_frame, write_plain
from lookalike.files.releases.read import Unwritten, find_release
from lookalike.files.tables.handing_back import POLARS, check_library, hand_back
from lookalike.files.urls import local_path
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

_WORLDS = 5
"""How many worlds are drawn by default; enough to see how far results differ between them."""

_FROM_CELLS = (
    "Quasi-identifiers are drawn from their cells by what the whole release makes likely; the other columns are as "
    "published."
)
_SAID = {
    Bucketized.form: (
        "Sensitive values are dealt within buckets by what the whole release makes likely; every table has the "
        "published counts."
    ),
    Perturbed.form: "Sensitive values are drawn back through the published matrix; the other columns are as published.",
}


def sample(
    folder: str | Path | Unwritten,
    *,
    worlds: int = _WORLDS,
    seed: int | None = None,
    frames: str | None = None,
    progress: Progress = silent,
) -> list[Any]:
    """Plain tables that a release may come from: `worlds` of them, each with the columns and types of the original.

    No row of them is about a person. Do what you want to do with each table, then `pool` the results: how far they
    differ tells how much the release leaves open. A seed only repeats a draw; it gives nothing away.

    `folder` may be what `publish` gave, which is read as its folder would be. `frames`: the library of the tables
    ("polars", "pandas" or "arrow"); by default that of the table that was published, and Polars for a folder.
    """
    library = check_library(frames or str(getattr(folder, "library", POLARS)))
    return [hand_back(world, library) for world in Plain.of(folder).draw(worlds, seed, progress)]


@dataclass(frozen=True, eq=False)
class Plain:
    """A release folder that plain tables are drawn from."""

    release: Release

    @classmethod
    def of(cls, folder: str | Path | Unwritten) -> Plain:
        return cls(read_alone(find_release(folder)))

    @property
    def columns(self) -> list[str]:
        return [*self._numbers, *(domain.name for domain in self.release.domains.all)]

    @property
    def _numbers(self) -> dict[str, NDArray[np.int64]]:
        """Numbers of persons and visits of linked rows, as the release names them."""
        found: dict[str, NDArray[np.int64]] = {}
        linked = self.release.linked if isinstance(self.release, Grouped) else None
        taken = {domain.name for domain in self.release.domains.all}
        for name, numbers in (
            ()
            if linked is None
            else (
                ("person", linked.person_of_row),
                ("visit", linked.visit_of_row),
            )
        ):
            while name in taken:
                name += "_"
            found[name] = numbers
        return found

    @property
    def n_people(self) -> int:
        """Rows of every table."""
        return self.release.n_rows - self.release.withheld.n_dummies

    @property
    def notes(self) -> list[str]:
        """How the tables are drawn, and what they lack, in sentences."""
        cut = [rule.describe() for rule in cut_prefixes(self.release)]
        notes = [_SAID.get(self.release.form, _FROM_CELLS)]
        withheld = self.release.withheld
        if made_up := withheld.n_dummies:
            how = "taken away at random" if withheld.indistinguishable else "set aside"
            notes.append(f"{counted(made_up, 'made-up record')} {'is' if made_up == 1 else 'are'} {how}.")
        if left_out := withheld.n_suppressed:
            verb = "was" if left_out == 1 else "were"
            notes.append(f"{counted(left_out, 'record')} of the original {verb} left out of the release.")
        return [*notes, *cut]

    def draw(self, worlds: int, seed: int | None, progress: Progress = silent) -> Iterator[pl.DataFrame]:
        """One table after the other."""
        if worlds < 1:
            raise RecipeError(f"worlds is {worlds}. Draw one world or more.")
        rng = Randomness(seed)
        progress("fitting", 0.0)
        model, cuts, numbers = WorldModel.of(self.release), cut_prefixes(self.release), self._numbers
        for world in range(worlds):
            progress("drawing", world / worlds)
            drawing = rng.child("world", world)
            rows = model.draw_rows(drawing)
            frame = value_frame(self.release.domains, rows)
            for cut in cuts:
                frame = frame.with_columns(cut.apply(frame.get_column(cut.column)))
            frame = frame.select(*(pl.Series(name, each) for name, each in numbers.items()), pl.all())
            if self.release.withheld.n_dummies:
                frame = frame.filter(pl.Series(~pick_dummies(self.release, rows, drawing)))
            yield frame
        progress("drawing", 1.0)


_PLACE = "{world}"
_WORLD = "world"


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
    each = _PLACE in out
    paths = [local_path(out.replace(_PLACE, str(world + 1))) for world in range(worlds if each else 1)]
    for path in paths:
        check_plain_target(path)
        if not path.parent.is_dir():
            raise RecipeError(f"There is no folder {path.parent}. Make it first, or name another file.")
    if not each and _WORLD in plain.columns:
        raise RecipeError(
            f"The release has a column {quoted(_WORLD)} of its own. Write one file each: put {_PLACE} into the name."
        )
    drawn: Iterable[pl.DataFrame] = plain.draw(worlds, seed, progress)
    if not each:
        numbered = (
            frame.select(pl.lit(number, dtype=pl.Int64).alias(_WORLD), pl.all())
            for number, frame in enumerate(drawn, start=1)
        )
        drawn = [pl.concat(numbered)]
    for path, frame in zip(paths, drawn, strict=True):
        write_plain(frame, path, safe_csv=safe_csv)
    return paths


Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pooled:
    """One result from several worlds. Arrays have the shape of one world's estimates."""

    estimate: Numbers
    within: Numbers
    """Mean variance inside a world."""
    between: Numbers
    """Variance of the estimates from world to world."""
    variance: Numbers
    """Both, with what few worlds add."""
    share_open: Numbers
    """The share of the variance that the release adds (lambda)."""
    degrees: Numbers
    """Degrees of freedom; infinite where the worlds agree and the table is large."""
    n_worlds: int

    @property
    def error(self) -> Numbers:
        """The standard error."""
        return np.sqrt(self.variance)

    def interval(self, level: float = LEVEL) -> tuple[Numbers, Numbers]:
        """Where the true figure lies with about that probability."""
        from scipy.stats import t

        if not 0 < level < 1:
            raise RecipeError(f"level is {level}. It must lie between 0 and 1, for example 0.95.")
        reach = t.ppf(0.5 + level / 2, self.degrees) * self.error
        return self.estimate - reach, self.estimate + reach

    def __repr__(self) -> str:
        return f"<pooled from {self.n_worlds} worlds: {np.array2string(self.estimate, precision=4, threshold=8)}>"


def pool(estimates: Any, variances: Any, *, degrees: float | None = None) -> Pooled:
    """Pool results of several worlds: first axis worlds, the rest (coefficients) as you have them.

    `variances` are squared standard errors. `degrees` are those of the analysis of one whole table (rows less
    coefficients), for the correction that small tables need; without them the table counts as large.

    >>> pooled = pool([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> float(pooled.estimate), float(pooled.within), float(pooled.between)
    (2.0, 1.0, 1.0)
    """
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if q.shape != u.shape or q.ndim == 0:
        raise RecipeError(
            f"estimates have shape {q.shape} and variances {u.shape}. Give both with one entry a world along the first "
            "axis."
        )
    if len(q) < 2:
        raise RecipeError("One world says nothing about how far worlds differ. Draw two or more, better five.")
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise RecipeError("Estimates must be finite, and variances finite and not negative.")
    if degrees is not None and not degrees > 0:
        raise RecipeError(f"degrees is {degrees}. Give the rows less the coefficients of one world's analysis.")
    m = len(q)
    within, between = u.mean(axis=0), q.var(axis=0, ddof=1)
    added = (1 + 1 / m) * between
    variance = within + added
    share = np.divide(added, variance, where=variance > 0, out=np.zeros_like(variance))
    with np.errstate(divide="ignore"):
        freedom = (m - 1) / share**2
        if degrees is not None:
            of_table = (degrees + 1) / (degrees + 3) * degrees * (1 - share)
            freedom = 1 / (1 / freedom + 1 / of_table)
    return Pooled(q.mean(axis=0), within, between, variance, share, freedom, m)
