"""Which records fit inside which published cells: by NumPy where pairs are few, by kernels where they are many.

An audit of a small table needs no compiled code: it need not wait for a compiler, nor load one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]
_FEW = 1_000_000
"""Pairs that are compared one by one without a kernel."""


class Cells(NamedTuple):
    """Extents of U units on A attributes, as in `kernels.containment`."""

    lows: NDArray[np.int32]
    """[U, A]"""
    highs: NDArray[np.int32]
    """[U, A] below lows: holds no value"""
    missing: NDArray[np.bool_]
    """[U, A] holds a missing value besides"""
    missing_codes: NDArray[np.int32]
    """[A]"""
    starts: _Ints
    """[U, A] where a set with gaps lists its members; starts == ends: every code from low to high"""
    ends: _Ints
    """[U, A]"""
    members: NDArray[np.int32]
    """sorted within each set"""

    def for_kernels(self) -> Any:
        from lookalike.kernels import containment

        return containment.Cells(*self)


def holds_each(cells: Cells, units: _Ints, codes: NDArray[np.int32], records: _Ints) -> NDArray[np.bool_]:
    """[m] whether unit units[pair] holds record records[pair]."""
    if len(units) > _FEW:
        from lookalike.kernels import containment

        held: NDArray[np.bool_] = containment.holds_each(cells.for_kernels(), units, codes, records)
        return held
    return _holds(cells, units, codes, records)


def weight_fitting(
    cells: Cells, units: _Ints, weights: _Ints, starts: _Ints, codes: NDArray[np.int32], records: _Ints, block: _Ints
) -> _Ints:
    """[m] for each of `records` the sum of weights over the items of its block whose unit holds it."""
    owner, items = _pair_up(starts[block[records]], starts[block[records] + 1])
    if owner is None:
        from lookalike.kernels import containment

        sums: _Ints = containment.weight_fitting(cells.for_kernels(), units, weights, starts, codes, records, block)
        return sums
    held = _holds(cells, units[items], codes, records[owner])
    return np.bincount(owner, weights=weights[items] * held, minlength=len(records)).astype(np.int64)


def list_fitting(
    cells: Cells, units: _Ints, item_starts: _Ints, codes: NDArray[np.int32], record_starts: _Ints, limit: int
) -> tuple[_Ints, NDArray[np.int32]]:
    """For each record the items of its block that hold it, ascending: (starts [n + 1], items).

    Records record_starts[b]:record_starts[b + 1] are compared with items item_starts[b]:item_starts[b + 1]. Where
    there are more than `limit` pairs, none is listed and starts[n] is above the limit.
    """
    block = np.repeat(np.arange(len(record_starts) - 1), np.diff(record_starts))
    owner, items = _pair_up(item_starts[block], item_starts[block + 1])
    if owner is None:
        from lookalike.kernels import containment

        listed: tuple[_Ints, NDArray[np.int32]] = containment.list_fitting(
            cells.for_kernels(), units, item_starts, codes, record_starts, limit
        )
        return listed
    held = _holds(cells, units[items], codes, owner)
    starts = np.concatenate(([0], np.cumsum(np.bincount(owner[held], minlength=len(codes))))).astype(np.int64)
    if starts[-1] > limit:
        return np.full(len(codes) + 1, limit + 1), np.zeros(0, dtype=np.int32)
    return starts, items[held].astype(np.int32)


def _pair_up(firsts: _Ints, lasts: _Ints) -> tuple[_Ints | None, _Ints]:
    """Owner u with each of firsts[u]:lasts[u], in order; None and nothing where these are too many pairs."""
    sizes = lasts - firsts
    if sizes.sum() > _FEW:
        return None, sizes[:0]
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return owner, np.arange(len(owner)) + np.repeat(firsts - np.cumsum(sizes) + sizes, sizes)


def _holds(cells: Cells, units: _Ints, codes: NDArray[np.int32], records: _Ints) -> NDArray[np.bool_]:
    n_pairs = len(units)
    # Each set begins at a place of `members`, and its codes rise from there: so do these keys.
    set_starts = np.unique(cells.starts)
    width = np.int64(1 + max(cells.members.max(initial=0), codes.max(initial=0)))
    keys = np.searchsorted(set_starts, np.arange(len(cells.members)), side="right") * width + cells.members
    # Pairs that one attribute keeps apart are not looked at again.
    left = np.arange(len(units))
    for attr in range(codes.shape[1]):
        code, start = codes[records, attr], cells.starts[units, attr]
        inside = (cells.lows[units, attr] <= code) & (code <= cells.highs[units, attr])
        listed = np.flatnonzero(inside & (start < cells.ends[units, attr]))
        fits = inside | (cells.missing[units, attr] & (code == cells.missing_codes[attr]))
        if len(listed):
            wanted = np.searchsorted(set_starts, start[listed], side="right") * width + code[listed]
            fits[listed] = np.isin(wanted, keys)
        left, units, records = left[fits], units[fits], records[fits]
    held = np.zeros(n_pairs, dtype=bool)
    held[left] = True
    return held
