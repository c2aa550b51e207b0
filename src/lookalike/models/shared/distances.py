"""How far the beliefs of each unit are from the whole table: earth mover's distances in integers, divergences in bits.

An earth mover's distance comes as one integer a unit, over a known denominator, so the largest is found exactly:

    equal         every move costs 1: the sum of all gains
    ordered       a move over one value costs 1 / (values - 1): the gaps between the two running sums
    hierarchical  a move costs the height of the lowest common node over the height of the tree

A unit's gain at a node is g = max(0, belief - share). Of the flow that a node settles, its children bring the sum of
their gains and it passes its own gain on; hence the hierarchical distance is the sum over all nodes below the root of
g(node) * (height of parent - height of node) / height of root. Absent values need no entry anywhere: all sums run over
the values that a unit holds, whatever the size of the domain.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.exposure import Exposure
from lookalike.data.taxonomy import Taxonomy
from lookalike.models.shared.exact import LogTerm
from lookalike.models.shared.extremes import exact_integers, unit_sums


def equal_moves(exposure: Exposure) -> NDArray[Any]:
    """The equal distance of each unit, times rows of the table, times its size."""
    prior, weights, sizes = _wide(exposure, room=1)
    gains = _gains(weights, prior[exposure.values], sizes[exposure.unit_of_entry], exposure.n_records)
    return unit_sums(gains, exposure.starts)


def ordered_moves(exposure: Exposure) -> NDArray[Any]:
    """The ordered distance of each unit, times rows of the table, its size, and the number of values less one.

    Between two values that a unit holds its running sum stands still while the table's grows: split at the crossing.
    Segment e holds the codes from entry e's code to the next one (or to the last code but one).
    """
    n_codes, n_records = len(exposure.prior), exposure.n_records
    values, prior, weights, sizes = _sorted_entries(exposure, room=n_codes)
    # running[code]: records of the table up to and with that code; below[code]: sum of running before that code.
    running = np.cumsum(exposure.prior)
    below = np.concatenate((np.zeros(1, dtype=prior.dtype), np.cumsum(running.astype(prior.dtype))))
    unit_of_entry, starts = exposure.unit_of_entry, exposure.starts
    totals = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights)))
    held = totals[1:] - totals[starts[:-1]][unit_of_entry]
    ends = np.append(values[1:], n_codes - 1)
    ends[starts[1:][np.diff(starts) > 0] - 1] = n_codes - 1
    begins = np.minimum(values, n_codes - 1)
    size = sizes[unit_of_entry]
    # The table's running sum passes the unit's share at the first code with running * size >= held * n_records.
    crossing = np.searchsorted(running, (-((-held * n_records) // size)).astype(np.int64))
    middle = np.clip(crossing, begins, ends)
    under = held * n_records * (middle - begins) - size * (below[middle] - below[begins])
    over = size * (below[ends] - below[middle]) - held * n_records * (ends - middle)
    sums = unit_sums(under + over, starts)
    occupied = np.flatnonzero(np.diff(starts) > 0)
    firsts = np.minimum(values[starts[occupied]], n_codes - 1)
    sums[occupied] += sizes[occupied] * below[firsts]
    return sums


def hierarchical_moves(exposure: Exposure, tree: Taxonomy) -> NDArray[Any]:
    """The hierarchical distance of each unit, times rows of the table, its size, and the height of the tree.

    Walks from the deepest nodes up; the entries of a node stand side by side, because a node is a run of codes.
    """
    height = int(tree.heights[0])
    values, prior, weights, sizes = _sorted_entries(exposure, room=max(height, 1))
    n_units, n_records = exposure.n_units, exposure.n_records
    depths = np.zeros(len(tree.labels), dtype=np.int64)
    for node in range(1, len(tree.labels)):
        depths[node] = depths[tree.parents[node]] + 1
    running = np.concatenate((np.zeros(1, dtype=prior.dtype), np.cumsum(prior)))
    shares = running[tree.lasts + 1] - running[tree.firsts]
    units, nodes = exposure.unit_of_entry, tree.leaf_nodes[values].astype(np.int64)
    sums = np.zeros(n_units, dtype=weights.dtype)
    for depth in range(int(depths.max()), 0, -1):
        units, nodes, weights = _merged(units, nodes, weights)
        here = np.flatnonzero(depths[nodes] == depth)
        parents = tree.parents[nodes[here]].astype(np.int64)
        steps = (tree.heights[parents] - tree.heights[nodes[here]]).astype(np.int64)
        gains = _gains(weights[here], shares[nodes[here]], sizes[units[here]], n_records)
        np.add.at(sums, units[here], gains * steps)
        nodes = nodes.copy()
        nodes[here] = parents
    return sums


def kullback_leibler_bits(exposure: Exposure) -> NDArray[np.float64]:
    """KL(table || unit) of each unit; infinite where a unit lacks a value of the table."""
    priors, sizes = exposure.prior[exposure.values], exposure.sizes[exposure.unit_of_entry]
    shares = priors / exposure.n_records
    held = priors > 0
    terms = np.zeros(len(shares))
    terms[held] = shares[held] * np.log2(shares[held] / (exposure.weights[held] / sizes[held]))
    bits = _float_sums(terms, exposure)
    n_held = np.bincount(exposure.unit_of_entry[held], minlength=exposure.n_units)
    bits[n_held < np.count_nonzero(exposure.prior)] = np.inf
    return bits


def jensen_shannon_bits(exposure: Exposure) -> NDArray[np.float64]:
    """JS divergence of each unit; what a unit lacks adds half its share."""
    shares = exposure.prior[exposure.values] / exposure.n_records
    beliefs = exposure.weights / exposure.sizes[exposure.unit_of_entry]
    middle = shares + beliefs
    held = shares > 0
    terms = beliefs * np.log2(2 * beliefs / middle) - shares
    terms[held] += shares[held] * np.log2(2 * shares[held] / middle[held])
    return (_float_sums(terms, exposure) + 1) / 2


def kullback_leibler_terms(prior: list[int], counts: dict[int, int]) -> list[LogTerm]:
    """KL(table || unit) in nats as a sum of logarithms; the unit holds every value of the table."""
    total, size = sum(prior), sum(counts.values())
    return [
        (Fraction(number, total), Fraction(number * size, total * counts[code]))
        for code, number in enumerate(prior)
        if number
    ]


def jensen_shannon_terms(prior: list[int], counts: dict[int, int]) -> list[LogTerm]:
    """JS divergence in nats as a sum of logarithms."""
    total, size = sum(prior), sum(counts.values())
    terms = []
    for code, number in enumerate(prior):
        share, belief = Fraction(number, total), Fraction(counts.get(code, 0), size)
        for part in (share, belief):
            if part:
                terms.append((part / 2, 2 * part / (share + belief)))
    return terms


def _gains(weights: NDArray[Any], priors: NDArray[Any], sizes: NDArray[Any], n_records: int) -> NDArray[Any]:
    return np.asarray(np.maximum(weights * n_records - priors * sizes, 0))


def _wide(exposure: Exposure, room: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Prior, weights and sizes as integers wide enough for products with the table's rows, times `room`."""
    bound = 4 * int(exposure.sizes.max(initial=1)) * exposure.n_records * room
    return (
        exact_integers(exposure.prior, bound),
        exact_integers(exposure.weights, bound),
        exact_integers(exposure.sizes, bound),
    )


def _sorted_entries(
    exposure: Exposure, room: int
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes, prior, weights and sizes, wide; the entries of each unit by code."""
    prior, weights, sizes = _wide(exposure, room)
    keys = exposure.unit_of_entry * len(prior) + exposure.values
    values = exposure.values.astype(np.int64)
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys)
        values, weights = values[order], weights[order]
    return values, prior, weights, sizes


def _merged(
    units: NDArray[np.int64], nodes: NDArray[np.int64], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Neighbours of the same unit and node made one."""
    if len(units) == 0:
        return units, nodes, weights
    firsts = np.flatnonzero(np.append(True, (units[1:] != units[:-1]) | (nodes[1:] != nodes[:-1])))
    return units[firsts], nodes[firsts], np.add.reduceat(weights, firsts)


def _float_sums(terms: NDArray[np.float64], exposure: Exposure) -> NDArray[np.float64]:
    # Summed unit by unit: differences of one long running sum would lose the last digits.
    return np.asarray(np.bincount(exposure.unit_of_entry, weights=terms, minlength=exposure.n_units), dtype=np.float64)
