"""Do rows that stand close to each other come from records that are alike?

An order need not rise to say something: rows of one hospital that are together, ages from the outside in, or chunks
of rows that are sorted each by itself. So the audit bets. It goes through the rows and, before each, spreads a stake
over all rows of the block that are left, more on those that resemble the row before (or the one some places before, or
the last rows together). In a shuffle the next row is any of them with the same probability, so on average nothing is
won. The chance that a bet multiplies its stake by m or more is at most 1/m, for any number of rows (Ville 1939).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.order.sorting import Sign
from lookalike.audit.reading import Ints

Shares = NDArray[np.float64]
"""Of each row (or record, or unit), the probability of each of a few values."""

_STEPS = (1, 2, 3, 4, 5, 6, 7, 8)
"""How many places before a row the one stands that it may resemble; an order dealt into so many piles is seen."""
_LAST = 32
_STAKES = (0.9, 0.5)
"""What is bet on likeness; the rest is spread evenly."""
_MOST_VALUES = 32
_N_BINS = 16
_SPREAD = 0.7
"""How far a bet on a bin reaches over the bins beside it."""
_MOST_ROWS = 50_000
_STRETCHES = 50
"""Of longer tables so many stretches are looked at; some places of a shuffle are a shuffle."""


def pick_rows(n_rows: int) -> Ints:
    """The rows that are looked at, in their order."""
    if n_rows <= _MOST_ROWS:
        return np.arange(n_rows)
    begins = np.linspace(0, n_rows - _MOST_ROWS // _STRETCHES, _STRETCHES).astype(np.int64)
    rows: Ints = np.unique((begins[:, None] + np.arange(_MOST_ROWS // _STRETCHES)).reshape(-1))
    return rows


def classify(ranks: Ints) -> Iterator[tuple[NDArray[np.int64], int, bool]]:
    """Records in a few classes of a column, how many there are, and whether classes beside each other are alike.

    By value, the most frequent ones for themselves; and in bins of equal size.
    """
    values, codes, counts = np.unique(ranks, return_inverse=True, return_counts=True)
    codes = codes.reshape(-1).astype(np.int64)
    if len(values) < 2:
        return
    if len(values) <= _MOST_VALUES:
        yield codes, len(values), False
    elif counts.max() > 2:
        frequent = np.argsort(-counts, kind="stable")[: _MOST_VALUES - 1]
        of_value = np.full(len(values), _MOST_VALUES - 1, dtype=np.int64)
        of_value[frequent] = np.arange(len(frequent))
        yield of_value[codes], _MOST_VALUES, False
    if len(values) > _N_BINS // 2:
        middles = np.cumsum(counts) - (counts + 1) / 2
        yield (middles * _N_BINS / len(ranks)).astype(np.int64)[codes], _N_BINS, True


def shares_of_items(class_of_record: Ints, n_classes: int, item_of_record: Ints, n_items: int) -> Shares:
    """How the records of each item are spread over classes; a record of no item has -1."""
    real = item_of_record >= 0
    keys = item_of_record[real] * n_classes + class_of_record[real]
    counts = np.bincount(keys, minlength=n_items * n_classes).reshape(n_items, n_classes).astype(np.float64)
    shares: Shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return shares


def likeness_signs(words: str, shares: Shares, blocks: Ints, is_ordered: bool, what: str = "rows") -> Iterator[Sign]:
    """Bets that rows resemble those before them; blocks, within which rows are shuffled, rise from row to row."""
    for won in winnings(shares, blocks, is_ordered):
        yield Sign(f"{what} close to each other are alike in {words}", float(np.exp(-max(won, 0.0))))


def winnings(shares: Shares, blocks: Ints, is_ordered: bool) -> Iterator[float]:
    """For each bet the logarithm of what becomes of a stake of 1."""
    n_rows = len(shares)
    base = shares.mean(axis=0) if n_rows else np.zeros(0)
    shares, base = shares[:, base > 0], base[base > 0]
    if len(base) < 2:
        return
    sums = np.concatenate((np.zeros((1, len(base))), np.cumsum(shares, axis=0)))
    ends = np.searchsorted(blocks, blocks, "right")
    n_left = ends - np.arange(n_rows)
    left = (sums[ends] - sums[:-1]) / n_left[:, None]
    reach = _reach(len(base)) if is_ordered else None

    def weigh(likely: Shares) -> Shares:
        return (likely if reach is None else likely @ reach) / base

    places = np.arange(n_rows)
    begins = np.maximum(places - _LAST, 0)
    of_last = weigh((sums[places] - sums[begins] + base) / (places - begins + 1)[:, None])
    on_row, on_any = (_find_stakes(held, weigh(shares), of_last, weigh(base)) for held in (shares, left))
    won = [np.log(((1 - stake) + stake * on_row) / ((1 - stake) + stake * on_any)).sum(axis=1) for stake in _STAKES]
    yield from np.column_stack(won).ravel().tolist()


def _find_stakes(held: Shares, of_rows: Shares, of_last: Shares, of_none: Shares) -> Shares:
    """[bets, rows] what each bet puts on each row: as the row some places before weighs, or the last together."""
    steps = _STEPS[: len(held) - 1]
    stakes = np.empty((len(steps) + 1, len(held)))
    for stake, step in zip(stakes, steps, strict=False):
        np.einsum("rc,c->r", held[:step], of_none, out=stake[:step])
        np.einsum("rc,rc->r", held[step:], of_rows[:-step], out=stake[step:])
    np.einsum("rc,rc->r", held, of_last, out=stakes[-1])
    return stakes


def _reach(n_bins: int) -> Shares:
    reach = np.exp(-np.abs(np.subtract.outer(np.arange(n_bins), np.arange(n_bins))) / _SPREAD)
    rows: Shares = reach / reach.sum(axis=1, keepdims=True)
    return rows
