"""What is asked of a column, checked, and the answers by line: total, mean, quantile, with or without sample weights.

A sample weight says how many people of a population a record stands for. It must be published as it is: a range of
weights, or one that was redrawn, would make every answer a guess about two things at once.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lookalike.analysis.statistics import Column, Figures, Group, Wanted, find_means, find_quantiles, find_totals
from lookalike.data.microdata import Domain
from lookalike.data.release import Grouped, Matched, Perturbed, Ranges, Release
from lookalike.data.schema import ValueType
from lookalike.errors import RecipeError, counted, quoted, unknown_name
from lookalike.files.releases.cells import type_values

_NUMBERS = frozenset({ValueType.INTEGER, ValueType.NUMBER})
_DAYS = frozenset({ValueType.DATE, ValueType.DATETIME})
_MOST_LINES = 2_000
COUNT, TOTAL, MEAN, QUANTILE = "count", "sum", "avg", "quantile"


@dataclass(frozen=True)
class Asked:
    """A figure that is asked for."""

    what: str
    column: str | None = None
    """None: all records."""
    share: float = 0.5
    """Of a quantile: which part of the records lies at or below it."""

    def __post_init__(self) -> None:
        if self.what == QUANTILE and not 0 < self.share < 1:
            raise RecipeError(
                f"A quantile needs a share between 0 and 1, such as 0.9, and got {self.share:g}. The least and the "
                "greatest value of a release belong to single records; ask for 0.01 or 0.99."
            )

    @property
    def label(self) -> str:
        """The name of its column in an answer with several figures."""
        if self.column is None:
            return self.what
        if self.what == QUANTILE:
            return f"median_{self.column}" if self.share == 0.5 else f"quantile_{self.share:g}_{self.column}"
        return f"{self.what}_{self.column}"


@dataclass(frozen=True)
class Statistic:
    """An estimated total, mean or quantile.

    >>> print(Statistic("avg_age", 41.5, 0.5, 40.4, 42.6, 20.0, 80.0, 0.95, "weighted"))
    41.5 (95 %: 40.4 to 42.6; weighted)
    """

    name: str
    value: Any
    """A number, or a date; None where no record is left."""
    error: float
    """Its standard error; of dates in days or microseconds."""
    low: Any
    """From here to `high` the truth lies with about the probability `level`."""
    high: Any
    least: Any
    """From here to `most` it lies for certain."""
    most: Any
    level: float
    method: str

    def __float__(self) -> float:
        return float("nan") if self.value is None else float(self.value)

    def __str__(self) -> str:
        if self.value is None:
            return f"no value ({self.method})"
        value, low, high = (write_number(one) for one in (self.value, self.low, self.high))
        return f"{value} ({self.level * 100:g} %: {low} to {high}; {self.method})"


def write_number(value: Any) -> str:
    """A figure with as many digits as help: whole ones from 1,000 on."""
    if value is None:
        return "(missing)"
    if isinstance(value, datetime.date):
        return value.isoformat()
    digits = 0 if abs(value) >= 1000 else 2 if abs(value) >= 1 else 4
    text = f"{value:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def check_weight(release: Release, name: str | None) -> Mapping[str, NDArray[np.float64]]:
    """The numbers of a column of sample weights, by its name; nothing without one."""
    if name is None:
        return {}
    domains = {domain.name: domain for domain in release.domains.all}
    if name not in domains:
        raise RecipeError(
            f"{unknown_name('column', name, domains)} Weights can be used if the release publishes them: --carry "
            f"{quoted(name)} when it is made."
        )
    domain = domains[name]
    if isinstance(release, Grouped | Matched) and domain in release.domains.quasi:
        raise RecipeError(
            f"{quoted(name)} is published in ranges, so no record's weight is known. Weights must be exact."
        )
    if isinstance(release, Perturbed) and domain in release.domains.sensitive:
        raise RecipeError(
            f"{quoted(name)} was redrawn at random, so no record's weight is known. Weights must be exact."
        )
    numbers = _read_numbers(domain, _NUMBERS, "be a weight")
    if (numbers < 0).any():
        raise RecipeError(f"{quoted(name)} has negative values, so it is no sample weight.")
    return {name: np.nan_to_num(numbers)}


def _read_numbers(domain: Domain, types: frozenset[ValueType], purpose: str) -> NDArray[np.float64]:
    if domain.type not in types or domain.attribute.prepare is not None:
        held = "blocks of values" if domain.attribute.prepare is not None else f"{domain.type.value} values"
        other = f" Dates have a quantile: MEDIAN({domain.name})." if domain.type in _DAYS else ""
        raise RecipeError(
            f"{quoted(domain.name)} holds {held}, which cannot {purpose}.{other} How often each occurs is answered by "
            "SELECT COUNT(*) with GROUP BY."
        )
    numbers = domain.values.astype(np.float64)
    return np.append(numbers, np.nan) if domain.has_missing else numbers


def _find_column(release: Release, asked: Asked) -> Column | None:
    """The column of a figure, with the numbers of its codes."""
    if asked.column is None:
        return None
    domain = next(domain for domain in release.domains.all if domain.name == asked.column)
    if asked.what == COUNT:
        numbers = np.zeros(domain.n_codes)
        numbers[domain.missing_code :] = np.nan
        return Column(domain.name, numbers, False, np.ones(domain.n_codes, dtype=np.int64))
    what = {TOTAL: "be added up", MEAN: "be averaged", QUANTILE: "be put in order as numbers"}[asked.what]
    numbers = _read_numbers(domain, _NUMBERS | _DAYS if asked.what == QUANTILE else _NUMBERS, what)
    generalised, codes = _list_codes(release, domain)
    return Column(domain.name, numbers, generalised, np.bincount(codes, minlength=len(numbers))[: len(numbers)])


def _list_codes(release: Release, domain: Domain) -> tuple[bool, NDArray[Any]]:
    """Whether a column is generalised, and the codes that it shows: the ends of cells, or values."""
    if isinstance(release, Grouped | Matched):
        if domain in release.domains.quasi:
            extents = release.extents[release.domains.quasi.index(domain)]
            if isinstance(extents, Ranges):
                some = extents.highs >= extents.lows
                return True, np.concatenate((extents.lows[some], extents.highs[some]))
            return True, extents.members
    elif domain in release.domains.quasi:
        return False, release.quasi[:, release.domains.quasi.index(domain)]
    for domains, codes in ((release.domains.sensitive, release.sensitive), (release.domains.carried, release.carried)):
        if domain in domains:
            return False, codes[:, domains.index(domain)]
    raise AssertionError(domain.name)


def measure(
    asked: Asked,
    release: Release,
    wanted: Wanted,
    n_lines: int,
    weights: Mapping[str, NDArray[np.float64]],
    level: float,
) -> Figures:
    """One figure for each line."""
    if n_lines > _MOST_LINES:
        raise RecipeError(
            f"That is {counted(n_lines, 'line')}, each with a distribution to be estimated. Group by fewer columns, or "
            "ask for a part of their values."
        )
    column, group = _find_column(release, asked), Group(release, wanted, n_lines, weights)
    if asked.what == QUANTILE and column is not None:
        return find_quantiles(column, asked.share, group, level)
    if asked.what == MEAN and column is not None:
        return find_means(column, group, level)
    if asked.what == COUNT and column is not None:
        group = Group(release, {**wanted, column.name: _and(wanted.get(column.name), column.known)}, n_lines, weights)
        column = None
    return find_totals(column, group, level)


def _and(mask: NDArray[np.bool_] | None, known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return known if mask is None else mask & known


def type_figures(asked: Asked, release: Release, figures: Figures) -> dict[str, pl.Series]:
    """Values, errors and ends as a frame has them: null where no record is left, dates as dates."""
    type = next((domain.type for domain in release.domains.all if domain.name == asked.column), ValueType.NUMBER)
    found: dict[str, pl.Series] = {}
    for name, numbers in zip(Figures._fields, figures, strict=True):
        lacks = ~np.isfinite(numbers)
        if asked.what == QUANTILE and type in _DAYS and name != "errors":
            series = type_values(np.where(lacks, 0, numbers).astype(np.int64), type)
        else:
            series = pl.Series(np.where(lacks, 0.0, numbers) + 0.0)
        found[name] = pl.select(pl.when(pl.Series(~lacks)).then(series)).to_series()
    return found


def as_statistic(asked: Asked, typed: Mapping[str, pl.Series], level: float, method: str) -> Statistic:
    value, error, low, high, least, most = (typed[name][0] for name in Figures._fields)
    error = float("nan") if error is None else error
    return Statistic(asked.label, value, error, low, high, least, most, level, method)


def name_figures(asked: Sequence[Asked]) -> list[tuple[str, str, str, str]]:
    """The names of value, error, low and high in a frame: short ones if there is one figure only."""
    if len(asked) == 1:
        return [("estimate", "error", "low", "high")]
    return [(one.label, f"{one.label}_error", f"{one.label}_low", f"{one.label}_high") for one in asked]
