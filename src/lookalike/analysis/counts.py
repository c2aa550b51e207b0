"""Answers to count queries: true ones from the original, estimates from each form of release.

    Grouped, Matched   a row counts with the share of its cells' values that is wanted, column by column
    Bucketized         bucket by bucket: rows that match on one side times the share that matches on the other
    Perturbed          rows count with the weight that the inverse of the matrix gives their published value
    independent        the two sides without any link: matching rows of one times the share of the other

`spreading` says how likely the values inside a cell are, `linking` what buckets say beyond dealing at random, and
`intervals` how far the truth may be from an answer. Made-up records are taken out of each value in proportion.
Quasi-identifiers that no query asks about have no part in an answer or in its error.

The variance of an answer from generalised cells is the sum of

    chance        of records that are in a cell or beside it, each for itself
    inside        of the records of one unit, which deviate together
    misfit        of the weights of each column (`spreading`)
    uniform       what the answer differs from the one of an even spread, squared
    association   of values that go with their quasi-identifiers inside cells as they do between them

each times a number that was fitted to releases of several tables and methods (`_CHANCE` and what follows).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.analysis.intervals import LEVEL, Answers, Law
from lookalike.analysis.linking import Links
from lookalike.analysis.spreading import Masks, Numbers, cells_of, n_certain
from lookalike.data.microdata import Codes, Domains, Microdata
from lookalike.data.reconstruct import Reconstruction
from lookalike.data.release import Bucketized, Extents, Grouped, Matched, Perturbed, Ranges, Release
from lookalike.errors import RecipeError, unknown_name
from lookalike.progress import available_threads

QUERY_KERNELS = ("counting.sum_entries",)
"""What many queries run compiled."""


@dataclass(frozen=True, eq=False)
class Queries:
    """So many conjunctions over the columns of a table. A column that a query does not ask about has all its codes."""

    quasi: tuple[Masks, ...]
    """[queries, codes] for each quasi-identifier: the codes that are wanted."""
    sensitive: tuple[Masks, ...]

    @classmethod
    def everything(cls, domains: Domains, n_queries: int) -> Queries:
        """Queries that ask about nothing yet."""
        sides = (domains.quasi, domains.sensitive)
        return cls(*(tuple(np.ones((n_queries, each.n_codes), dtype=bool) for each in side) for side in sides))

    def __len__(self) -> int:
        return len((self.quasi + self.sensitive)[0])

    def __getitem__(self, chosen: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Queries:
        return Queries(tuple(mask[chosen] for mask in self.quasi), tuple(mask[chosen] for mask in self.sensitive))

    @classmethod
    def join(cls, parts: Iterable[Queries]) -> Queries:
        sides = zip(*((part.quasi, part.sensitive) for part in parts), strict=True)
        return cls(*(tuple(map(np.concatenate, zip(*side, strict=True))) for side in sides))


@dataclass(frozen=True)
class Estimate:
    """An estimated count.

    >>> print(Estimate(1234.4, 56.0, 5000, "reconstruction"))
    1,234 (95 %: 1,125 to 1,344; reconstruction over 5,000 rows)
    """

    unclipped: float
    """What the estimator says. It has no bias, and may lie below 0 or above the number of rows."""
    error: float
    """Its standard error."""
    n_rows: int
    """Rows that satisfy the conditions on exact columns; no count can be larger."""
    method: str
    least: float = 0.0
    """Rows that satisfy all conditions for certain."""
    most: float = math.inf
    """Rows that may satisfy them."""
    law: Law = Law.EXACT

    @property
    def value(self) -> float:
        """The estimate, within what is possible."""
        return min(max(self.unclipped, self.least), self._most)

    @property
    def _most(self) -> float:
        return max(min(self.most, float(self.n_rows)), self.least)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """From which count to which the truth lies with about that probability, within what is possible."""
        counts, errors, least, most = np.array([[self.unclipped], [self.error], [self.least], [self._most]])
        low, high = Answers(counts, errors, least, most, self.law).intervals(level)
        return float(low[0]), float(high[0])

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        rows = f"{self.method} over {self.n_rows:,} rows"
        if math.isnan(self.error):
            return f"{self.value:,.0f} ({rows}; its error is not known)"
        low, high = self.interval()
        return f"{self.value:,.0f} ({LEVEL:.0%}: {low:,.0f} to {high:,.0f}; {rows})".replace("%:", " %:")


Places = NDArray[np.int64]
_INSIDE = ("weighted", "uniform")
_CHANCE, _UNITS, _UNIFORM = 0.45, 0.037, 0.05
"""What the parts of a variance count. Chance counts less than once, since cells hold the ends of their records for
certain."""
_MOVED, _MOVED_IF_HIDDEN = 0.5, 0.4
_ASSOCIATION, _ASSOCIATION_IF_HIDDEN = 0.3, 1.2
_ANY, _ANY_IF_HIDDEN = 0.05, 0.28
"""How far answers move towards the association that is seen between cells, and what the squares of that one and of any
other count; and how much more where groups hide it (`_find_hidden`)."""
_NATURAL, _SPREAD_OUT = 1.6, 1.0
_MOST_SORTED = 20_000
_MORE_IF_MATCHED = 1.3
"""A row with cells of its own stands among records of other values, so cells hide more than those of groups."""
_ROUNDING, _HAIR = 0.25, 1e-9
_LEAST_BEHIND = 5
"""So many records are taken to be behind each row of a matched release, if no set lists more values: fewer would
put all of them at the ends of ranges."""
_BLOCK = 64
"""Queries answered side by side."""
_FEW = 20_000
"""Units times queries up to which NumPy sums up, instead of a kernel."""


def count_rows(masks: Sequence[Masks], codes: Codes, n_queries: int) -> NDArray[np.int64]:
    """How many rows have a wanted code in every column, for each query."""
    asked = _places_asked(masks)
    if not asked:
        return np.full(n_queries, len(codes), dtype=np.int64)
    layout = _Layout.of(*distinct_rows(codes[:, asked]), codes[:, :0])
    queries = Queries(tuple(masks[place] for place in asked), ())
    return np.rint(layout.sum_queries(queries, None, ())[:, 0]).astype(np.int64)


def true_counts(queries: Queries, data: Microdata) -> NDArray[np.int64]:
    return count_rows(queries.quasi + queries.sensitive, np.hstack((data.quasi, data.sensitive)), len(queries))


def independent(queries: Queries, source: Microdata | Release) -> Numbers:
    """Answers if quasi-identifiers and sensitive values had been published apart, without any link."""

    def count(asked: Queries) -> Numbers:
        if isinstance(source, Microdata):
            return true_counts(asked, source).astype(np.float64)
        return np.maximum(estimate_counts(asked, source).counts, 0.0)

    nothing = Queries.everything(source.domains, len(queries))
    about_quasi = count(Queries(queries.quasi, nothing.sensitive))
    return about_quasi * count(Queries(nothing.quasi, queries.sensitive)) / np.maximum(count(nothing), 1.0)


def estimate_counts(queries: Queries, release: Release, inside: str = "weighted") -> Answers:
    """What the release answers, by the estimator of its form.

    `inside` says what is assumed inside cells (`spreading`): `weighted`; or `uniform` as in the papers, and as there
    answers do not follow association.
    """
    if inside not in _INSIDE:
        raise RecipeError(unknown_name("assumption about cells", inside, _INSIDE))
    if isinstance(release, Bucketized):
        return _from_buckets(queries, release, inside)
    if isinstance(release, Perturbed):
        return _from_redrawn(queries, release)
    return _from_extents(queries, release, inside)


def _places_asked(masks: Sequence[Masks]) -> list[int]:
    return [place for place, mask in enumerate(masks) if mask.dtype != bool or not mask.all()]


def _about_quasi(queries: Queries) -> tuple[list[int], Queries]:
    """The quasi-identifiers that any query asks about, at least one, and the queries about them."""
    asked = _places_asked(queries.quasi) or [0]
    return asked, Queries(tuple(queries.quasi[place] for place in asked), ())


def _without_made_up(masks: tuple[Masks, ...], release: Release) -> Sequence[Numbers | Masks]:
    """Weights of values: a value of which so many records are made up counts that much less."""
    dummies = release.withheld.dummies
    if not dummies:
        # Numbers are made of them block by block: there may be as many values as rows.
        return masks
    weights = [mask.astype(np.float64) for mask in masks]
    if weights:
        published = np.bincount(release.sensitive[:, 0], minlength=max(masks[0].shape[1], len(dummies[0])))
        made_up = np.zeros(len(published))
        made_up[: len(dummies[0])] = dummies[0]
        # Rows that were made up may have a value that no record has, and that queries therefore do not know.
        weights[0] = np.pad(weights[0], ((0, 0), (0, len(published) - masks[0].shape[1])))
        weights[0] *= 1.0 - made_up / np.maximum(published, 1)
    return weights


def _bounds(least: Numbers, most: Numbers, release: Release) -> tuple[Numbers, Numbers]:
    """Between what the truth lies if any of the rows may be made up."""
    made_up = release.withheld.n_dummies
    return np.maximum(least - made_up, 0.0), most + made_up if made_up else most


def _from_extents(queries: Queries, release: Grouped | Matched, inside: str) -> Answers:
    n_rows, n_behind = count_behind(release)
    asks_values = bool(_places_asked(queries.sensitive))
    weights = _without_made_up(queries.sensitive, release)
    asked, queries = _about_quasi(queries)
    columns = [cells_of(release.domains.quasi[place], release.extents[place], n_rows, n_behind) for place in asked]
    cells, cell_of_unit = distinct_rows(np.stack([column.cell_of_unit for column in columns], axis=1))
    layout = _Layout.of(cells, cell_of_unit[release.unit_of_row], release.sensitive)
    uniform = layout.sum_queries(queries, columns, weights)[:, 0]
    columns = [column.weigh() for column in columns]
    hidden = _find_hidden(release) if asks_values else 0.0
    sums, moved, modelled = layout.sum_with_misfit(queries, columns, weights, hidden)
    certain, possible = sums[:, 3], sums[:, 4]
    counts = uniform if inside == "uniform" else sums[:, 0] + moved
    chance = np.maximum(sums[:, 1] - sums[:, 2], 0.0)
    variance = _CHANCE * chance + _UNITS * sums[:, 5] + _UNIFORM * (sums[:, 0] - uniform) ** 2 + modelled
    if inside == "uniform":
        variance += (uniform - sums[:, 0] - moved) ** 2
    # Where records count with numbers (`linear`), some of them negative, the first two may be equal by chance.
    is_open = (possible - certain > _HAIR) | (chance > _HAIR)
    errors = np.where(is_open, np.sqrt(np.maximum(variance, 0.0) + _ROUNDING), 0.0)
    return Answers(counts, errors, *_bounds(certain, possible, release))


def count_behind(release: Grouped | Matched) -> tuple[Places, Places]:
    """The rows that show the cells of each unit, and the records that are behind it."""
    n_rows = np.bincount(release.unit_of_row, minlength=len(release.extents[0]))
    if not isinstance(release, Matched):
        return n_rows, n_rows
    # As many records as rows stand behind each row, but how many is not told: so many at least.
    most = max(int(n_certain(extents).max(initial=1)) for extents in release.extents)
    return n_rows, np.full(len(n_rows), max(most, _LEAST_BEHIND))


def _find_hidden(release: Grouped | Matched) -> float:
    """From 0 to 1, or a little more: how far cells hide which values go with which quasi-identifiers.

    Near records have a value in common more often than any two: much more often where values follow from
    quasi-identifiers. Where a promise spreads the values of near records out, rows of one group (of a matched release:
    rows next to each other in the order of their cells) do not, and then little of that shows between cells.
    """
    value_of_row = distinct_rows(release.sensitive)[1]
    overall = _pairs(np.bincount(value_of_row)) / max(_pairs(np.array([release.n_rows])), 1.0)
    if isinstance(release, Matched):
        # Published rows have no order of their own, so the first ones are as good as any.
        some = slice(0, _MOST_SORTED)
        keys = [key[some] for extents in release.extents for key in _find_ends(extents)]
        in_order = value_of_row[some][np.lexsort(keys[::-1])]
        near = float((in_order[1:] == in_order[:-1]).mean()) if len(in_order) > 1 else 0.0
    else:
        in_group = release.unit_of_row.astype(np.int64) * (int(value_of_row.max(initial=0)) + 1) + value_of_row
        sizes = np.bincount(release.unit_of_row)
        near = _pairs(np.unique(in_group, return_counts=True)[1]) / max(_pairs(sizes), 1.0)
    if overall == 0:
        return 0.0
    found = min(max((_NATURAL - near / overall) / (_NATURAL - _SPREAD_OUT), 0.0), 1.0)
    return found * _MORE_IF_MATCHED if isinstance(release, Matched) else found


def _pairs(sizes: NDArray[np.int64]) -> float:
    return float((sizes * (sizes - 1.0)).sum())


def _find_ends(extents: Extents) -> tuple[NDArray[Any], NDArray[Any]]:
    if isinstance(extents, Ranges):
        return extents.lows, extents.highs
    return extents.members[extents.starts[:-1]], extents.members[extents.starts[1:] - 1]


def _from_redrawn(queries: Queries, release: Perturbed) -> Answers:
    redrawn = _places_asked(queries.sensitive)
    weights = []
    for place in redrawn:
        # A query about all values needs no way back: every row counts once.
        mask = queries.sensitive[place]
        back = mask.astype(np.float64) @ Reconstruction(release.randomizers[place]).inverse
        weights.append(np.where(mask.all(axis=1, keepdims=True), 1.0, back))
    asked, queries = _about_quasi(queries)
    layout = _Layout.of(*distinct_rows(release.quasi[:, asked]), release.sensitive[:, redrawn])
    sums = layout.sum_queries(queries, None, weights)
    errors = np.sqrt(np.maximum(sums[:, 1] - sums[:, 0], 0.0))
    matching = sums[:, 3]
    known = np.clip(sums[:, 0], 0.0, matching)
    least, most = np.where(errors > 0, 0.0, known), np.where(errors > 0, matching, known)
    return Answers(sums[:, 0], errors, *_bounds(least, most, release), Law.EXACT)


def _from_buckets(queries: Queries, release: Bucketized, inside: str) -> Answers:
    from lookalike.kernels.counting import sum_by_bucket

    both = np.concatenate((release.bucket_of_quasi, release.bucket_of_sensitive))
    numbers = np.unique(both, return_inverse=True)[1].reshape(-1).astype(np.int64)
    of_quasi, of_sensitive = numbers[: release.n_rows], numbers[release.n_rows :]
    n_buckets = int(numbers.max(initial=-1)) + 1
    in_turn, values_in_turn = np.argsort(of_quasi, kind="stable"), np.argsort(of_sensitive, kind="stable")
    bucket_of_cell, bucket_of_value = of_quasi[in_turn], of_sensitive[values_in_turn]
    combinations, joint = distinct_rows(release.sensitive)
    weights = _without_made_up(queries.sensitive, release)
    asked, queries = _about_quasi(queries)
    cells, values = np.ascontiguousarray(release.quasi[in_turn][:, asked]), joint[values_in_turn]
    offsets = _offsets([mask.shape[1] for mask in queries.quasi])
    links = Links(of_sensitive, joint, n_buckets, len(combinations))
    found = np.zeros((4, len(queries)))

    def work(block: Places, columns: Places) -> None:
        masks = [mask[block] for mask in queries.quasi]
        of_values = _joint_weights(weights, combinations, block)
        sums, by_value = np.zeros((7, len(block))), np.zeros((2, len(combinations), len(block)))
        # Lines of a cross table want few rows each: buckets without any of them add nothing.
        matching = np.ones(len(cells), dtype=bool)
        for place in columns:
            matching &= masks[place].any(axis=0)[cells[:, place]]
        touched = np.bincount(bucket_of_cell[matching], minlength=n_buckets) > 0
        rows, entries = touched[bucket_of_cell], touched[bucket_of_value]
        sum_by_bucket(
            np.concatenate([mask.T.astype(np.float64) for mask in masks]), offsets, columns,
            cells[rows], _starts(bucket_of_cell, touched), values[entries], _starts(bucket_of_value, touched),
            of_values, sums, by_value,
        )  # fmt: skip
        moved, added = links.follow(of_values, by_value, sums)
        if inside == "uniform":
            moved, added = np.zeros(len(block)), added + moved**2
        found[:, block] = sums[0] + moved, np.sqrt(sums[1] + added), sums[5], sums[6]

    _in_blocks(work, queries)
    return Answers(found[0], found[1], *_bounds(found[2], found[3], release), Law.DEALT)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Units (combinations of cells) and entries (a unit with a combination of sensitive values, and how often)."""

    cells: NDArray[np.int32]
    """[units, columns]"""
    starts: NDArray[np.int64]
    """The entries of unit u are starts[u]:starts[u + 1]."""
    value_of_entry: NDArray[np.int64]
    counts: NDArray[np.int64]
    values: Codes
    """[combinations, sensitive columns]"""

    @classmethod
    def of(cls, cells: NDArray[Any], unit_of_row: NDArray[Any], sensitive: Codes) -> _Layout:
        values, value_of_row = distinct_rows(sensitive)
        keys, counts = np.unique(unit_of_row.astype(np.int64) * len(values) + value_of_row, return_counts=True)
        starts = np.searchsorted(keys // len(values), np.arange(len(cells) + 1))
        return cls(np.ascontiguousarray(cells, dtype=np.int32), starts, keys % len(values), counts, values)

    def sum_queries(self, queries: Queries, columns: Sequence[Any] | None, weights: Any) -> Numbers:
        """[queries, 4] sums of the kernel; without `columns` cells are codes, and a mask is their shares."""
        found = np.zeros((len(queries), 4))

        def work(block: Places, asked: Places) -> None:
            shares = self._shares(queries, columns, block)
            sums = np.zeros((4, len(block)))
            nothing = np.zeros((2, 0, len(block))), np.zeros((0, len(block)))
            self._sum_entries(shares, asked, _joint_weights(weights, self.values, block), sums, *nothing)
            found[block] = sums.T

        _in_blocks(work, queries)
        return found

    def sum_with_misfit(
        self, queries: Queries, columns: Sequence[Any], weights: Any, hidden: float
    ) -> tuple[Numbers, Numbers, Numbers]:
        """[queries, 6] sums of the kernel, how far association moves them, and the variance of that and of misfit."""
        found, moved, modelled = np.zeros((len(queries), 6)), np.zeros(len(queries)), np.zeros(len(queries))

        def work(block: Places, asked: Places) -> None:
            shares = self._shares(queries, columns, block)
            sums, by_value = np.zeros((6, len(block))), np.zeros((2, len(self.values), len(block)))
            reach = np.zeros((sum(map(len, shares)), len(block)))
            of_values = _joint_weights(weights, self.values, block)
            self._sum_entries(shares, asked, of_values, sums, by_value, reach)
            found[block] = sums.T
            offsets = _offsets([len(one) for one in shares])
            parts = [
                columns[place].misfit(
                    queries.quasi[place][block],
                    shares[place],
                    reach[offsets[place] : offsets[place] + len(shares[place])],
                )
                for place in asked.tolist()
            ]
            seen, any_other = self._drift(by_value, of_values)
            moved[block] = (_MOVED + _MOVED_IF_HIDDEN * hidden) * seen
            of_seen, of_any = _ASSOCIATION + _ASSOCIATION_IF_HIDDEN * hidden, _ANY + _ANY_IF_HIDDEN * hidden
            modelled[block] = sum(parts) + of_seen * seen**2 + of_any * any_other

        _in_blocks(work, queries)
        return found, moved, modelled

    def _shares(self, queries: Queries, columns: Sequence[Any] | None, block: Places) -> list[Numbers]:
        if columns is None:
            return [_as_numbers(mask[block]).T for mask in queries.quasi]
        return [column.shares(mask[block]).T for column, mask in zip(columns, queries.quasi, strict=True)]

    def _sum_entries(
        self,
        shares: list[Numbers],
        columns: Places,
        of_values: Numbers,
        sums: Numbers,
        by_value: Numbers,
        by_cell: Numbers,
    ) -> None:
        """Fill the last three as the kernel does; a few queries need none, and need not load one."""
        if len(self.cells) * sums.shape[1] > _FEW:
            from lookalike.kernels.counting import sum_entries

            sum_entries(
                np.ascontiguousarray(np.concatenate(shares)), _offsets([len(one) for one in shares]), columns,
                self.cells, self.starts, self.value_of_entry, self.counts, of_values, sums, by_value, by_cell,
            )  # fmt: skip
            return
        of_column = {column: shares[column][self.cells[:, column]] for column in columns.tolist()}
        share = np.ones((len(self.cells), sums.shape[1]))
        for one in of_column.values():
            share *= one
        weight, counts = of_values[self.value_of_entry], self.counts[:, None]
        unit = np.repeat(np.arange(len(self.cells)), np.diff(self.starts))
        mass, square = np.zeros_like(share), np.zeros_like(share)
        np.add.at(mass, unit, counts * weight)
        np.add.at(square, unit, counts * weight * weight)
        sums[:3] += [(mass * share).sum(axis=0), (square * share).sum(axis=0), (square * share * share).sum(axis=0)]
        if len(sums) == 4:
            sums[3] += (np.bincount(unit, self.counts, len(self.cells))[:, None] * share).sum(axis=0)
        else:
            sums[3] += (mass * (share >= 1.0)).sum(axis=0)
            sums[4] += (mass * (share > 0.0)).sum(axis=0)
            sums[5] += (mass * mass * share * (1.0 - share)).sum(axis=0)
        if by_value.shape[1]:
            share_of_entry = share[unit]
            np.add.at(by_value[0], self.value_of_entry, counts * share_of_entry)
            np.add.at(by_value[1], self.value_of_entry, counts * share_of_entry * (1.0 - share_of_entry))
        if len(by_cell):
            offsets = _offsets([len(one) for one in shares])
            for column in of_column:
                reach = mass.copy()
                for another, one in of_column.items():
                    if another != column:
                        reach *= one
                np.add.at(by_cell, offsets[column] + self.cells[:, column], reach)

    def _drift(self, by_value: Numbers, of_values: Numbers) -> tuple[Numbers, Numbers]:
        """[queries] by how much association inside cells would move answers: the one between cells; any, squared.

        Between cells those with a value match with odds that differ by a factor from all records' odds; inside cells
        they may do so, too.
        """
        n_of_value = np.bincount(self.value_of_entry, self.counts, len(self.values))[:, None]
        overall = by_value[0].sum(axis=0) / max(float(n_of_value.sum()), 1.0)
        likely = (by_value[0] + overall) / (n_of_value + 1.0)
        odds, open_rows = _log_odds(likely) - _log_odds(overall), by_value[1]
        all_open = np.maximum(open_rows.sum(axis=0), _HAIR)
        # Nothing of this moves the number of all records: the mean is taken out.
        odds = odds - (odds * open_rows).sum(axis=0) / all_open
        weights = of_values - (of_values * open_rows).sum(axis=0) / all_open
        seen = np.asarray((of_values * odds * open_rows).sum(axis=0))
        return seen, np.asarray(((weights * open_rows) ** 2).sum(axis=0))


def _log_odds(share: Numbers) -> Numbers:
    share = np.clip(share, 1e-9, 1 - 1e-9)
    return np.asarray(np.log(share / (1 - share)))


def _as_numbers(mask: Masks) -> Numbers:
    return mask.astype(np.float64)


def distinct_rows(codes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The different rows in their order, and which of them each row is."""
    if codes.shape[1] == 0:
        return np.zeros((1, 0), dtype=np.int32), np.zeros(len(codes), dtype=np.int64)
    spans = [int(codes[:, column].max(initial=0)) + 1 for column in range(codes.shape[1])]
    key = np.zeros(len(codes), dtype=np.int64)
    if np.prod([float(span) for span in spans]) >= 2.0**62:
        rows, number = np.unique(codes, axis=0, return_inverse=True)
        return rows, number.reshape(-1).astype(np.int64)
    for column, span in enumerate(spans):
        key = key * span + codes[:, column]
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return codes[first], number.reshape(-1).astype(np.int64)


def _joint_weights(weights: Any, values: Codes, chosen: NDArray[np.int64]) -> Numbers:
    """[combinations, queries] the product of the weights of a combination's values."""
    found = np.ones((len(values), len(chosen)))
    for column, weight in enumerate(weights):
        found *= np.asarray(weight[chosen], dtype=np.float64).T[values[:, column]]
    return found


def _starts(bucket_of_row: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Where each bucket that is kept starts among the rows of those buckets."""
    sizes = np.bincount(bucket_of_row, minlength=len(kept))[kept]
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def _offsets(lengths: list[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths)[:-1])).astype(np.int64)


def _in_blocks(work: Callable[[Places, Places], None], queries: Queries) -> None:
    """Work on all queries, those that ask about the same columns together.

    `work` gets the queries to answer side by side, and the quasi-identifiers that any of them asks about.
    """
    asked = np.stack([~mask.all(axis=1) for mask in queries.quasi], axis=1)
    order = np.lexsort(asked.T)
    blocks = [order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK)]
    with ThreadPoolExecutor(max_workers=available_threads()) as pool:
        list(pool.map(lambda block: work(block, np.flatnonzero(asked[block].any(axis=0))), blocks))
