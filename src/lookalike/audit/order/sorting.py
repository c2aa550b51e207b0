"""Is the order of published rows a sort by something that is not published?

A table that is sorted by what it shows says nothing that it does not show. So the rows are first parted into blocks
that published columns explain: columns by which the table is sorted, one after the other, and groups whose rows stand
together. Within blocks the order must be a shuffle. The input order and every column of the original are tried:

    follow   rows against the mean rank of the records that may be theirs: pairs in the wrong order, within blocks
    match    within groups, the value of each row against that of the record of the same rank in the column

The number of inversions of a shuffled multiset is a product of q-numbers, so its moments are known exactly (MacMahon);
matches are sums over a permutation of numbers in [0, 1] (Chatterjee 2007), and groups that match throughout are
independent events with known probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.reading import Ints, count_ids, means_by_id
from lookalike.audit.tail_bounds import independent_events

_MOST_ROWS = 100_000
"""Of longer tables so many rows are looked at; a part of a shuffle is a shuffle."""
_MOST_IN_OWN_ORDER = 16
"""A column with so few values may be sorted by any order of them; with more, that order could say something."""


@dataclass(frozen=True)
class Sign:
    """One comparison, and how unlikely it is under a shuffle."""

    words: str
    chance: float
    remedy: str = "Shuffle the rows"


@dataclass(frozen=True, eq=False)
class Shown:
    """A published column: its name, a number for the content of each row, whether it is a value and not a cell."""

    name: str
    codes: NDArray[Any]
    is_value: bool = False


@dataclass(frozen=True, eq=False)
class Arrangement:
    """How far published columns explain the order of the rows."""

    block_of_row: Ints
    """Rising from row to row."""
    sorted_by: tuple[str, ...]
    by_values: bool
    """Whether values of rows explain some of it."""


@dataclass(frozen=True, eq=False)
class Members:
    """Groups of records and rows whose values may be compared rank by rank; -1: a record of none."""

    group_of_record: Ints
    value_of_record: Ints
    group_of_row: Ints
    value_of_row: Ints


@dataclass(frozen=True, eq=False)
class OrderedTable:
    """A published table as far as its order goes."""

    shown: list[Shown]
    content: Ints
    """Equal for rows that no reader can tell apart."""
    item_of_record: Ints
    """What a record may be behind; -1: not known."""
    item_of_row: Ints
    members: Members | None = None
    group_of_row: Ints | None = None
    """Groups that may be together."""


def arrangement(columns: Sequence[Shown], n_rows: int, group_of_row: Ints | None = None) -> Arrangement:
    """The blocks that a sort by published columns leaves, and groups of rows that are together."""
    found = Arrangement(np.zeros(n_rows, dtype=np.int64), (), False)
    found = _extend_arrangement(found, columns)
    if group_of_row is not None and n_rows:
        runs = _runs(found.block_of_row, group_of_row)
        n_pairs = len(np.unique(np.column_stack((found.block_of_row, group_of_row)), axis=0))
        if int(runs[-1]) + 1 == n_pairs <= n_rows // 2 and n_pairs > int(found.block_of_row[-1]) + 1:
            found = Arrangement(runs, (*found.sorted_by, "groups"), found.by_values)
            found = _extend_arrangement(found, columns)
    return found


def _extend_arrangement(found: Arrangement, columns: Sequence[Shown]) -> Arrangement:
    left = list(columns)
    while True:
        inside = found.block_of_row[1:] == found.block_of_row[:-1]
        for column in left:
            before, after = column.codes[:-1][inside], column.codes[1:][inside]
            rises, falls = after > before, after < before
            if rises.any() != falls.any() or (rises.any() and _in_own_order(found.block_of_row, column.codes)):
                break
        else:
            return found
        left.remove(column)
        blocks = _runs(found.block_of_row, column.codes)
        found = Arrangement(blocks, (*found.sorted_by, column.name), found.by_values or column.is_value)


def _in_own_order(blocks: Ints, codes: NDArray[Any]) -> bool:
    """Whether a column of few values is sorted within all blocks by one order of its values, whatever that is."""
    from graphlib import CycleError, TopologicalSorter

    starts = np.flatnonzero(np.diff(_runs(blocks, codes), prepend=-1))
    if len(starts) > len(codes) // 2 or len(np.unique(codes[starts])) > _MOST_IN_OWN_ORDER:
        return False
    run_codes, run_blocks = codes[starts], blocks[starts]
    inside = run_blocks[1:] == run_blocks[:-1]
    order: TopologicalSorter[Any] = TopologicalSorter()
    for before, after in np.unique(np.column_stack((run_codes[:-1], run_codes[1:]))[inside], axis=0).tolist():
        order.add(after, before)
    try:
        order.prepare()
    except CycleError:
        return False
    return True


def _runs(*columns: NDArray[Any]) -> Ints:
    """Numbers of the runs of rows that agree in all columns."""
    changes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    return np.cumsum(changes)


def n_arrangements(content_of_row: Ints) -> float:
    """The logarithm of how many orders of these rows a reader can tell apart."""
    counts = np.unique(content_of_row, return_counts=True)[1]
    return math.lgamma(len(content_of_row) + 1) - float(_log_factorials(counts).sum())


def _log_factorials(counts: Ints) -> NDArray[np.float64]:
    """Logarithms of factorials. SciPy has them too, but takes longer to load than a small audit to make."""
    values, place = np.unique(counts, return_inverse=True)
    logs = np.array([math.lgamma(value + 1) for value in values.tolist()], dtype=np.float64)
    return logs[place.reshape(-1)]


def follow_signs(
    words: str, rank_of_record: Ints, item_of_record: Ints, item_of_row: Ints, blocks: Ints
) -> Iterator[Sign]:
    """Rows against the mean rank of the records of their item (-1: a record of none), within blocks."""
    means, counts = means_by_id(item_of_record, rank_of_record, count_ids(item_of_row, item_of_record))
    known = np.flatnonzero(counts[item_of_row] > 0)
    return follow_rows(words, means[item_of_row[known]], blocks[known])


def follow_rows(words: str, score_of_row: NDArray[Any], blocks: Ints, what: str = "rows") -> Iterator[Sign]:
    """Rows against their own scores, within blocks."""
    if len(score_of_row) > _MOST_ROWS:
        taken = np.random.default_rng(len(score_of_row)).choice(len(score_of_row), _MOST_ROWS, replace=False)
        score_of_row, blocks = score_of_row[np.sort(taken)], blocks[np.sort(taken)]
    scores = np.unique(score_of_row, return_inverse=True)[1].reshape(-1).astype(np.int64)
    keys = blocks * (1 + int(scores.max(initial=0))) + scores
    sizes, ties = (np.unique(some, return_counts=True)[1].astype(np.int64) for some in (blocks, keys))
    # Pairs of rows of one block with different scores.
    pairs = int((sizes * (sizes - 1) // 2).sum() - (ties * (ties - 1) // 2).sum())
    if pairs:
        n_inverted = inversions(keys)
        extreme = min(n_inverted, pairs - n_inverted)
        yield Sign(f"{what} follow {words}", 2 * fewest_inversions(extreme, sizes, ties))


def inversions(keys: Ints) -> int:
    """How many pairs are in falling order.

    >>> inversions(np.array([2, 0, 1, 1]))
    3
    """
    ranks = np.unique(keys, return_inverse=True)[1].reshape(-1).astype(np.int64)
    total = 0
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        # Rows with the same higher bits are together, in their own order.
        ones = (ranks >> bit) & 1
        higher = ranks >> (bit + 1)
        before = np.cumsum(ones) - ones
        first = np.searchsorted(higher, higher)
        total += int((before - before[first])[ones == 0].sum())
        ranks = ranks[np.argsort(higher * 2 + ones, kind="stable")]
    return total


def fewest_inversions(seen: int, sizes: Ints, ties: Ints) -> float:
    """A bound on the probability that shuffles of blocks, with tied rows, have so few pairs in falling order.

    E q^I is a product of q-numbers [j] / j over the rows of each block, divided by the same over each tie.
    """
    spread = _cubes(sizes) - _cubes(ties)
    if spread <= 0:
        return 1.0
    places = np.arange(1, int(sizes.max()) + 1, dtype=np.float64)
    more = _reaching(sizes, len(places)) - _reaching(ties, len(places))

    def log_bounds(rates: NDArray[np.float64]) -> NDArray[np.float64]:
        numbers = np.log(np.expm1(-rates[:, None] * places) / (places * np.expm1(-rates)[:, None]))
        found: NDArray[np.float64] = np.einsum("rp,p->r", numbers, more) + rates * seen
        return found

    rates = np.sort(
        np.concatenate((np.geomspace(0.3, 60.0, 40) / math.sqrt(spread / 72), np.geomspace(1e-3, 50.0, 30)))
    )
    # Convex in the rate: the least is beside the least of every eighth.
    near = _BETWEEN * int(log_bounds(rates[::_BETWEEN]).argmin())
    return math.exp(min(0.0, float(log_bounds(rates[max(near - _BETWEEN + 1, 0) : near + _BETWEEN]).min())))


_BETWEEN = 8


def _reaching(counts: Ints, most: int) -> NDArray[np.float64]:
    """How many are at least 1, at least 2, ..."""
    return np.cumsum(np.bincount(counts, minlength=most + 1)[:0:-1])[::-1].astype(np.float64)


def _cubes(counts: Ints) -> float:
    return float((counts * (counts - 1.0) * (2 * counts + 5)).sum())


def line_up(members: Members, ranks: Ints, least: int = 1) -> tuple[Ints, Ints]:
    """Records by their ranks and rows as they are published, group by group.

    Groups with other numbers of rows than of records are left out, and those of fewer than `least`.
    """
    n_groups = count_ids(members.group_of_record, members.group_of_row)
    real = np.flatnonzero(members.group_of_record >= 0)
    sizes = np.bincount(members.group_of_row, minlength=n_groups)
    whole = (np.bincount(members.group_of_record[real], minlength=n_groups) == sizes) & (sizes >= least)
    real, rows = real[whole[members.group_of_record[real]]], np.flatnonzero(whole[members.group_of_row])
    records = real[np.lexsort((ranks[real], members.group_of_record[real]))]
    return records, rows[np.argsort(members.group_of_row[rows], kind="stable")]


def expected_matches(members: Members, records: Ints, rows: Ints) -> float:
    """Over groups and values: how many records have it, times how many rows show it, over the rows of the group."""
    width = count_ids(members.value_of_record, members.value_of_row)
    owned, n_owned = _tally(members.group_of_record[records] * width + members.value_of_record[records])
    shown, n_shown = _tally(members.group_of_row[rows] * width + members.value_of_row[rows])
    sizes = np.bincount(members.group_of_row[rows])
    return float((n_shown * _look_up(shown, owned, n_owned) / sizes[shown // width]).sum())


def _tally(keys: Ints) -> tuple[Ints, Ints]:
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, counts.astype(np.int64)


def _look_up(wanted: Ints, keys: Ints, counts: Ints) -> Ints:
    """The count of each key that is wanted; 0 for one that is not there."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, counts[place], 0)


def match_signs(words: str, rank_of_record: Ints, members: Members) -> Iterator[Sign]:
    """Within groups, values of rows against those of the records in the order of a column, from both ends."""
    for side, ranks in (("", rank_of_record), ("reversed ", -rank_of_record)):
        records, rows = line_up(members, ranks, least=2)
        if len(rows):
            yield from _match_signs(f"{side}{words}", ranks, members, records, rows)


def _match_signs(words: str, ranks: Ints, members: Members, records: Ints, rows: Ints) -> Iterator[Sign]:
    groups = np.unique(members.group_of_row[rows], return_inverse=True)[1].reshape(-1)
    owned, shown = members.value_of_record[records], members.value_of_row[rows]
    width = count_ids(owned, shown)
    # Records with the same rank stand for each other: a place holds each of their values with its share.
    ties = _runs(groups, ranks[records])
    shares = _look_up(ties * width + shown, *_tally(ties * width + owned)) / np.bincount(ties)[ties]
    yield Sign(
        f"values follow {words}", permutation_tail(float(shares.sum()), expected_matches(members, records, rows))
    )
    # Groups in which every place shows a value of its records: independent events under a shuffle.
    same, ways = _compare_values(groups, groups, owned, shown)
    holds, fitting = _compare_values(groups, ties, owned, shown)
    chances = np.exp(np.minimum(fitting - ways, 0.0))
    tested = same & (chances < 1 - 1e-12)
    if tested.any():
        found = independent_events(float(np.count_nonzero(holds & tested)), chances[tested])
        yield Sign(f"values of whole groups follow {words}", found.at_least)


def _compare_values(groups: Ints, blocks: Ints, owned: Ints, shown: Ints) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """By group, whether each of its blocks shows the values of its records; and in how many orders, as a logarithm."""
    width = count_ids(owned, shown)
    of_records, n_owned = _tally(blocks * width + owned)
    of_rows, n_shown = _tally(blocks * width + shown)
    group_of_block = groups[np.unique(blocks, return_index=True)[1]]
    wrong = _look_up(of_rows, of_records, n_owned) != n_shown
    orders = np.bincount(group_of_block, weights=_log_factorials(np.bincount(blocks)))
    orders -= np.bincount(group_of_block[of_records // width], weights=_log_factorials(n_owned))
    return np.bincount(group_of_block[of_rows // width], weights=wrong) == 0, orders


def permutation_tail(seen: float, mean: float) -> float:
    """A bound on the probability that a sum over a random permutation of numbers in [0, 1] is so large."""
    over = seen - mean
    return math.exp(-over * over / (4 * mean + 2 * over)) if over > 1e-9 else 1.0
