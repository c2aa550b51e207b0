"""A release in an analyst's hands, whatever its form. The original is not needed, and would not be there.

release = lookalike.open_release("release")
release.counts("diagnosis", where={"age": (30, 40)})
release.count({"diagnosis": "HIV", "sex": "F"}).interval()
release.mean("age", {"diagnosis": "HIV"})
release.query("SELECT COUNT(*) WHERE age > 40 AND diagnosis = 'HIV'")
release.sample(worlds=5)

Conditions become codes of the release's columns, and `counts` answers them: the same estimator that measures query
errors while a release is made. A cross table is one query per line. Cost: O(lines x distinct rows of the columns asked
about).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.columns import hand_back_tables, list_columns
from lookalike.analysis.conditions import Where, check_values, satisfies
from lookalike.analysis.counts import (
    Estimate,
    Queries,
    count_rows,
    distinct_rows,
    estimate_counts,
    independent,
)
from lookalike.analysis.intervals import LEVEL, Answers
from lookalike.analysis.measuring import (
    COUNT,
    MEAN,
    QUANTILE,
    TOTAL,
    Asked,
    as_statistic,
    check_weight,
    measure,
    name_figures,
    type_figures,
)
from lookalike.analysis.plain import Plain
from lookalike.analysis.statistics import Figures
from lookalike.data.microdata import Codes, Domain
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Release
from lookalike.errors import RecipeError, counted, quoted, unknown_name
from lookalike.files.releases.alone import read_alone
from lookalike.files.releases.cells import value_series
from lookalike.files.releases.describe import PublishedManifest, named_matrices
from lookalike.files.releases.read import Unwritten, find_release
from lookalike.files.tables.handing_back import ARROW, PANDAS, POLARS, check_library, hand_back

_BASELINE = "baseline"
_METHODS = {
    **dict.fromkeys((Grouped.form, Matched.form), ("weighted", "uniform", _BASELINE)),
    Bucketized.form: ("buckets", _BASELINE),
    Perturbed.form: ("reconstruction", _BASELINE),
}
"""How counts of each form can be estimated; the first is the default."""
_MOST_LINES = 100_000
_MOST_MASKED = 1 << 26
"""Codes of all queries that are answered in one go: 64 MB of masks."""

Wanted = Mapping[str, NDArray[np.bool_]]
"""The codes that are wanted, by column: [codes], or [queries, codes]."""


class _Side(NamedTuple):
    """Columns of one table that show a value in each row."""

    domains: tuple[Domain, ...]
    codes: Codes

    def places(self, names: Iterable[str]) -> list[int]:
        return [place for place, domain in enumerate(self.domains) if domain.name in names]

    def count_rows(self, wanted: Wanted, n_queries: int) -> NDArray[np.int64]:
        """The rows that satisfy the conditions on these columns."""
        return count_rows([_mask(domain, wanted, n_queries) for domain in self.domains], self.codes, n_queries)

    def combinations(self, names: Sequence[str], wanted: Wanted) -> Codes:
        """The combinations of some columns that occur where the conditions on this side hold, in order."""
        kept = np.ones(len(self.codes), dtype=bool)
        for place in self.places(wanted):
            kept &= wanted[self.domains[place].name][self.codes[:, place]]
        return distinct_rows(self.codes[kept][:, self.places(names)])[0]


def open_release(folder: str | Path | Unwritten, *, frames: str | None = None) -> PublishedRelease:
    """A release folder, to be analysed; every file is read once.

    What `publish` gave is read as its folder would be, without one being written. `frames`: the library that tables,
    counts and samples come in ("polars", "pandas" or "arrow"); by default that of the table that was published, and
    Polars for a folder.
    """
    library = check_library(frames or str(getattr(folder, "library", POLARS)))
    found = find_release(folder)
    return PublishedRelease(found.manifest, found.frames, read_alone(found), library)


@dataclass(frozen=True, eq=False)
class PublishedRelease:
    """A release that was opened: exact columns are counted, the rest is estimated."""

    manifest: PublishedManifest
    tables: dict[str, pl.DataFrame]
    """The tables as published."""
    release: Release
    """The same in codes."""
    library: str = POLARS
    """The library of the frames that are handed out."""

    def __repr__(self) -> str:
        domains, what = self.release.domains, counted(self.release.n_rows, "row")
        if isinstance(self.release, Bucketized):
            what += f" in {counted(len(np.unique(self.release.bucket_of_quasi)), 'bucket')}"
            changed, how = domains.sensitive + domains.carried, "apart"
        elif isinstance(self.release, Perturbed):
            changed, how = domains.sensitive, "redrawn"
        else:
            changed, how = domains.quasi, "generalised"
        names = ", ".join(domain.name for domain in changed)
        return f"<{self.manifest.title}: {what}, {names} {how} by {self.manifest.algorithm}>"

    def to_polars(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The published table, generalised cells as text; a mapping of tables where there are several.

        `bounds` adds what cells allow: `age_low` and `age_high` of numbers, dates and ordered values, `sex_values` (a
        list) of others, and `age_missing` where a cell may hide a missing value. `midpoints` adds `age_mid`, halfway
        between the ends. `groups` adds the number of the group: rows whose cells are the same.
        """
        return self._frames(POLARS, bounds=bounds, midpoints=midpoints, groups=groups)

    def to_pandas(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The same as frames of pandas (`to_polars`); needs pandas and nothing else."""
        return self._frames(PANDAS, bounds=bounds, midpoints=midpoints, groups=groups)

    def to_arrow(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The same as Arrow tables (`to_polars`); needs pyarrow."""
        return self._frames(ARROW, bounds=bounds, midpoints=midpoints, groups=groups)

    def frame(self, *, bounds: bool = False, midpoints: bool = False, groups: bool = False) -> Any:
        """The same in the library that this release hands out (`to_polars`)."""
        return self._frames(self.library, bounds=bounds, midpoints=midpoints, groups=groups)

    def _frames(self, library: str, **asked: bool) -> Any:
        return hand_back_tables(list_columns(self.manifest.tables, self.tables, self.release, **asked), library)

    @property
    def methods(self) -> tuple[str, ...]:
        """How counts can be estimated; the first is the default."""
        return _METHODS[self.release.form]

    @property
    def columns(self) -> list[str]:
        """The columns that can be counted or be a condition."""
        return [domain.name for domain in self.release.domains.all]

    @property
    def notes(self) -> list[str]:
        """What to keep in mind about counts, in sentences."""
        notes = []
        if made_up := self.manifest.n_dummies:
            verb = "is" if made_up == 1 else "are"
            left = "taken out of each value in proportion" if self.release.withheld.dummies else "included in counts"
            notes.append(f"{counted(made_up, 'record')} in this release {verb} made up, and {left}.")
        if left_out := self.manifest.n_suppressed:
            verb = "was" if left_out == 1 else "were"
            notes.append(f"{counted(left_out, 'record')} of the original {verb} left out of this release.")
        unit = None if self.manifest.persons is None else self.manifest.persons.counted
        if unit is not None:
            notes.append(
                f"Counts are numbers of rows, not of {unit.noun}s: a {unit.noun} may have several rows. Errors and "
                f"intervals take rows to be independent, which rows of one {unit.noun} are not."
            )
        return notes

    def count(self, where: Where, *, method: str | None = None) -> Estimate:
        """How many people satisfy every condition.

        `baseline` takes sensitive values to be independent of everything else: the rows that match, times the share
        that the sensitive values have in the whole table. It does not look at the sensitive values of those rows.
        """
        method = method or self.methods[0]
        if method not in self.methods:
            raise RecipeError(unknown_name("method", method, self.methods))
        wanted = self._find_wanted(where)
        release = self._about(wanted)
        queries = _queries(release, wanted, 1)
        n_rows = int(self._exact[0].count_rows(wanted, 1)[0])
        if method == _BASELINE:
            return Estimate(float(independent(queries, release)[0]), math.nan, n_rows, method)
        answers = estimate_counts(queries, release, "uniform" if method == "uniform" else "weighted")
        count, error, least, most = (float(figure[0]) for figure in answers.figures)
        return Estimate(count, error, n_rows, method, least, most, answers.law)

    def counts(self, column: str, where: Where | None = None, *, clip: bool = False, level: float = LEVEL) -> Any:
        """How many people have each value of a column, among those that satisfy the conditions; see `crosstab`."""
        return self.crosstab((), column, where, clip=clip, level=level)

    def crosstab(
        self,
        rows: str | Iterable[str],
        column: str,
        where: Where | None = None,
        *,
        clip: bool = False,
        level: float = LEVEL,
    ) -> Any:
        """How many people have each combination of values, among those that satisfy the conditions.

        `published` is how many rows show the combination; it is left out where no row of the release does.
        `estimate` has no bias. That of a perturbed release may be negative where few rows were counted; with `clip` it
        is called `clipped`: negative numbers are set to 0 and the rest scaled to the rows.
        `error` is the standard error, and the true count lies from `low` to `high` with about the probability `level`.
        """
        names = [rows, column] if isinstance(rows, str) else [*rows, column]
        if len(set(names)) != len(names):
            raise RecipeError("A column is named twice. Cross different columns.")
        self._check_columns(names)
        wanted = self._find_wanted(where or {})
        lines = self._lines(names, wanted)
        n_rows, published, answers = self._answer(names, lines, wanted)
        figures: dict[str, NDArray[Any]] = {} if published is None else {"published": published}
        figures["clipped" if clip else "estimate"] = self._clip(names, lines, answers) if clip else answers.counts
        figures["error"] = answers.errors
        figures["low"], figures["high"] = answers._replace(most=np.minimum(answers.most, n_rows)).intervals(level)
        frame = {name: self._values[name].gather(codes) for name, codes in zip(names, lines.T, strict=True)}
        for name, numbers in figures.items():
            # Under names that no column has.
            while name in frame:
                name += "_"
            frame[name] = pl.Series(numbers)
        return hand_back(pl.DataFrame(frame), self.library)

    def total(
        self,
        column: str,
        where: Where | None = None,
        *,
        by: str | Iterable[str] = (),
        weight: str | None = None,
        level: float = LEVEL,
    ) -> Any:
        """The sum of a column's values among people who satisfy the conditions; missing values are left out.

        A `Statistic`, or with `by` a frame: one line per combination of values of these columns. `weight` names a
        published column that says how many people a record stands for.
        """
        return self._measure((Asked(TOTAL, column),), where, by, weight, level)

    def mean(
        self,
        column: str,
        where: Where | None = None,
        *,
        by: str | Iterable[str] = (),
        weight: str | None = None,
        level: float = LEVEL,
    ) -> Any:
        """The mean of a column's values (`total`)."""
        return self._measure((Asked(MEAN, column),), where, by, weight, level)

    def quantile(
        self,
        column: str,
        share: float = 0.5,
        where: Where | None = None,
        *,
        by: str | Iterable[str] = (),
        weight: str | None = None,
        level: float = LEVEL,
    ) -> Any:
        """The least value at or below which that share of the people lies; 0.5 is the median (`total`)."""
        return self._measure((Asked(QUANTILE, column, share),), where, by, weight, level)

    def query(self, sql: str, *, level: float = LEVEL, weight: str | None = None) -> Any:
        """Figures in SQL. One is an `Estimate` (of a count) or a `Statistic`; several, or GROUP BY, give a frame.

        SELECT COUNT(*), SUM(column), AVG(column), MEDIAN(column), QUANTILE(column, 0.9) [, columns]
        [WHERE conditions joined by AND; OR between conditions on one column] [GROUP BY columns]

        With `weight`, a published column, every record counts as often as it says.
        """
        # The parser is loaded by those who use it.
        from lookalike.analysis.sql import parse

        question = parse(sql, self.columns)
        if question.asked != (Asked(COUNT),) or weight is not None:
            return self._measure(question.asked, question.where, question.group_by, weight, level)
        if not question.group_by:
            return self.count(question.where)
        return self.crosstab(question.group_by[:-1], question.group_by[-1], question.where, level=level)

    def _measure(
        self, asked: Sequence[Asked], where: Where | None, by: str | Iterable[str], weight: str | None, level: float
    ) -> Any:
        names = [by] if isinstance(by, str) else list(by)
        if len(set(names)) != len(names):
            raise RecipeError("A column is named twice. Group by different columns.")
        columns = {one.column for one in asked if one.column is not None}
        self._check_columns((*names, *sorted(columns)))
        wanted = self._find_wanted(where or {})
        weights = check_weight(self.release, weight)
        lines = self._lines(names, wanted) if names else np.zeros((1, 0), dtype=np.int32)
        single = {name: np.arange(len(self._values[name])) == lines[:, [at]] for at, name in enumerate(names)}
        release, each = self._about({*names, *wanted, *columns, *weights}), {**wanted, **single}
        method = self.methods[0]
        found: dict[str, Any] = {
            name: self._values[name].gather(codes) for name, codes in zip(names, lines.T, strict=True)
        }
        for one, heads in zip(asked, name_figures(asked), strict=True):
            if one == Asked(COUNT) and not weights:
                n_rows, _, answers = self._answer(names, lines, wanted)
                low, high = answers._replace(most=np.minimum(answers.most, n_rows)).intervals(level)
                figures = Figures(answers.counts, answers.errors, low, high, answers.least, answers.most)
            else:
                figures = measure(one, release, each, len(lines), weights, level)
            typed = type_figures(one, release, figures)
            if not names and len(asked) == 1:
                return as_statistic(one, typed, level, method)
            for head, field in zip(heads, ("values", "errors", "low", "high"), strict=True):
                # Under names that no column has.
                while head in found:
                    head += "_"
                found[head] = typed[field]
        return hand_back(pl.DataFrame(found), self.library)

    def sample(self, worlds: int = 5, seed: int | None = None) -> list[Any]:
        """Plain tables that the release may come from, with the columns and types of the original; see `pool`."""
        return [hand_back(world, self.library) for world in Plain(self.release).draw(worlds, seed)]

    def _check_columns(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self.columns:
                raise RecipeError(unknown_name("column", name, self.columns))

    def _about(self, names: Iterable[str]) -> Release:
        """The release with these of its carried columns among those that are as exact, so that counts know them.

        Others stay out: errors are those of the same release without them.
        """
        release, domains = self.release, self.release.domains
        asked = [place for place, domain in enumerate(domains.carried) if domain.name in names]
        carried, codes = tuple(domains.carried[place] for place in asked), release.carried[:, asked]
        if isinstance(release, Perturbed):
            domains = replace(domains, quasi=domains.quasi + carried)
            return replace(release, domains=domains, quasi=np.hstack((release.quasi, codes)))
        domains = replace(domains, sensitive=domains.sensitive + carried)
        return replace(release, domains=domains, sensitive=np.hstack((release.sensitive, codes)))

    @cached_property
    def _exact(self) -> tuple[_Side, ...]:
        """Columns whose values are the people's own, table by table. No count exceeds the rows that match on the
        first."""
        release = self._about(self.columns)
        quasi, sensitive = release.domains.quasi, _Side(release.domains.sensitive, release.sensitive)
        if isinstance(release, Bucketized):
            return _Side(quasi, release.quasi), sensitive
        return (_Side(quasi, release.quasi),) if isinstance(release, Perturbed) else (sensitive,)

    @cached_property
    def _shown(self) -> tuple[_Side, ...]:
        """Columns that show a value in each row, be it the person's own or a redrawn one, table by table."""
        if not isinstance(self.release, Perturbed):
            return self._exact
        (exact,) = self._exact
        domains = exact.domains + self.release.domains.sensitive
        return (_Side(domains, np.hstack((exact.codes, self.release.sensitive))),)

    @cached_property
    def _values(self) -> dict[str, pl.Series]:
        """The values of each column in the order of their codes, missing last where it occurs."""
        return {
            domain.name: value_series(domain, np.arange(domain.n_codes, dtype=np.int32))
            for domain in self.release.domains.all
        }

    def _find_wanted(self, where: Where) -> Wanted:
        if not isinstance(where, Mapping):
            raise RecipeError(
                'Conditions are given by column, as in {"age": (60, 70)}, not as a value of type '
                f'{type(where).__name__}. Those in words go to query: query("SELECT COUNT(*) WHERE age > 60").'
            )
        self._check_columns(where)
        for name, wanted in where.items():
            check_values(self._values[name], wanted)
        return {name: satisfies(self._values[name], wanted).to_numpy().astype(bool) for name, wanted in where.items()}

    def _lines(self, names: Sequence[str], wanted: Wanted) -> Codes:
        """[lines, names] the combinations that are asked for, in order.

        Of exact columns those that occur; of the others every value that a row may stand for.
        """
        order: list[str] = []
        axes: list[NDArray[Any]] = []
        for side in self._exact:
            if places := side.places(names):
                order += [side.domains[place].name for place in places]
                axes.append(side.combinations(names, wanted))
        for name in names:
            if name not in order:
                possible = self._find_possible(name)
                order.append(name)
                axes.append(np.flatnonzero(wanted.get(name, possible) & possible)[:, None])
        n_lines = math.prod(map(len, axes))
        if n_lines > _MOST_LINES:
            raise RecipeError(
                f"That is {n_lines:,} combinations of values, each to be estimated. Cross fewer columns, or ask for "
                f"a range of {quoted(max(names, key=lambda name: len(self._values[name])))}."
            )
        line_of = np.indices(list(map(len, axes))).reshape(len(axes), n_lines)
        crossed = np.hstack([codes[chosen] for codes, chosen in zip(axes, line_of, strict=True)])
        lines = crossed[:, [order.index(name) for name in names]]
        return np.asarray(lines[np.lexsort(lines.T[::-1])])

    def _find_possible(self, name: str) -> NDArray[np.bool_]:
        """The codes of a column that is not exact; values that are never drawn occur nowhere."""
        for domain, randomizer, _ in named_matrices(self.release):
            if domain.name == name:
                return np.asarray(randomizer.weights.any(axis=1))
        return np.ones(len(self._values[name]), dtype=bool)

    def _answer(
        self, names: Sequence[str], lines: Codes, wanted: Wanted
    ) -> tuple[NDArray[np.int64], NDArray[np.int64] | None, Answers]:
        """For each line the rows that match on exact columns, the rows that show it (None if none do), the answers."""
        asked = {*names, *wanted}
        release = self._about(asked)
        shown = next((side for side in self._shown if len(side.places(asked)) == len(asked)), None)
        n_codes = sum(len(self._values[name]) for name in asked)
        step = max(_MOST_MASKED // max(n_codes, 1), 1)
        found = []
        for start in range(0, max(len(lines), 1), step):
            part = lines[start : start + step]
            single = {name: np.arange(len(self._values[name])) == part[:, [at]] for at, name in enumerate(names)}
            each = {**wanted, **single}
            answers = estimate_counts(_queries(release, each, len(part)), release)
            n_rows = self._exact[0].count_rows(each, len(part))
            published = n_rows if shown is None else shown.count_rows(each, len(part))
            found.append((n_rows, published, *answers.figures))
        n_rows, published, counts, errors, least, most = (
            np.concatenate(figures) for figures in zip(*found, strict=True)
        )
        together = Answers(counts, errors, least, most, answers.law)
        return n_rows, None if shown is None else published, together

    def _clip(self, names: Sequence[str], lines: Codes, answers: Answers) -> NDArray[np.float64]:
        """Estimates without negative ones, with the sum that they had in each combination of exact columns."""
        exact = [at for at, name in enumerate(names) if any(side.places([name]) for side in self._exact)]
        group = distinct_rows(lines[:, exact])[1]
        clipped = np.maximum(answers.counts, 0.0)
        sums, wanted = (np.maximum(np.bincount(group, one), 0.0) for one in (clipped, answers.counts))
        return np.asarray(clipped * np.divide(wanted, sums, where=sums > 0, out=np.zeros_like(sums))[group])


def _queries(release: Release, wanted: Wanted, n_queries: int) -> Queries:
    sides = (release.domains.quasi, release.domains.sensitive)
    return Queries(*(tuple(_mask(domain, wanted, n_queries) for domain in side) for side in sides))


def _mask(domain: Domain, wanted: Wanted, n_queries: int) -> NDArray[np.bool_]:
    """[queries, codes] what is wanted of a column; everything where nothing is said."""
    return np.broadcast_to(wanted.get(domain.name, np.ones(1, dtype=bool)), (n_queries, domain.n_codes))
