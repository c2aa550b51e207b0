"""Moves that lower the loss of groups without breaking a rule: random swaps that cool down, and best swaps.

Both start from a state that keeps the rule and make only swaps that keep it, so every state on the way can be
published and there are no dead ends. A swap can gain at most what both groups save by letting their record go; pairs
that cannot reach what is wanted are not looked at further.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner
from lookalike.kernels.neighbourhood import exchange, gather, loss_with, may_exchange

_LEAST_GAIN = 1e-9


class Limits(NamedTuple):
    """A rule with its ceilings multiplied out for the sizes that occur."""

    group_rule: tuple  # type: ignore[type-arg]
    only_ceilings: bool
    size_class: NDArray[np.int64]
    """[largest size + 1] the class of each size"""
    rooms: NDArray[np.int64]
    """[classes, S, M] the most members that a value of the cell may have"""
    codes: NDArray[np.int64]
    """[S, M] the code in the table of each value of the cell"""


declare("Limits", Limits, "GroupRule b1 i8[:] i8[:,:,:] i8[:,:]")


@inner
def _best_partner(axes, limits, near, first, tally):  # type: ignore[no-untyped-def]
    """The place whose record `first` should be swapped with, and the gain; -1 if there is none."""
    group = near.group_of[first]
    size = near.firsts[group + 1] - near.firsts[group]
    best, partner = _LEAST_GAIN, np.int64(-1)
    for second in range(len(near.places)):
        other = near.group_of[second]
        if other == group or near.savings[first] + near.savings[second] <= best:
            continue
        enough = (near.losses[group] + near.savings[second] - best) / size
        loss = loss_with(axes, near, group, first, second, enough)
        if loss >= enough:
            continue
        other_size = near.firsts[other + 1] - near.firsts[other]
        gain = near.losses[group] - size * loss
        enough = (near.losses[other] + gain - best) / other_size
        # Not the gain but the sum that was cut short is compared: rounding must not let a half-counted loss through.
        loss = loss_with(axes, near, other, second, first, enough)
        if loss >= enough:
            continue
        gain += near.losses[other] - other_size * loss
        if may_exchange(limits, near, group, first, second, tally) and may_exchange(
            limits, near, other, second, first, tally
        ):
            best, partner = gain, np.int64(second)
    return best, partner


@entry("Axes, Limits, i4[:,:]r, Layout, i8[:], i8[:], Scratch, Tally")
def swap_pass(axes, limits, sensitive, layout, order, bounds, scratch, tally):  # type: ignore[no-untyped-def]
    """Best swaps in every neighbourhood order[bounds[c]:bounds[c + 1]] of groups; returns the loss saved."""
    saved = 0.0
    for chunk in range(len(bounds) - 1):
        near = gather(axes, limits, sensitive, layout, order[bounds[chunk] : bounds[chunk + 1]], scratch)
        for first in range(len(near.places)):
            if near.savings[first] <= _LEAST_GAIN:
                continue
            gain, partner = _best_partner(axes, limits, near, first, tally)
            if partner >= 0:
                exchange(axes, near, layout, first, partner)
                saved += gain
    return saved


@entry("Axes, Limits, i4[:,:]r, Layout, i8[:], i8[:], Scratch")
def total_loss(axes, limits, sensitive, layout, order, bounds, scratch):  # type: ignore[no-untyped-def]
    """The loss of all groups, summed over their records."""
    total = 0.0
    for chunk in range(len(bounds) - 1):
        near = gather(axes, limits, sensitive, layout, order[bounds[chunk] : bounds[chunk + 1]], scratch)
        for group in range(len(near.losses)):
            total += near.losses[group]
    return total


@inner
def next_word(state):  # type: ignore[no-untyped-def]
    """The next word of a small generator (SplitMix64); `state` [1] comes from the run's own random stream."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@entry("Axes, Limits, i4[:,:]r, Layout, i8[:], i8[:], f8, i8, u8[:], Scratch, Tally")
def anneal_pass(axes, limits, sensitive, layout, order, bounds, heat, tries, state, scratch, tally):  # type: ignore[no-untyped-def]
    """Random swaps in every neighbourhood, `tries` for each record; one that costs up to heat * (-ln u) is made.

    Returns the loss saved (it may be negative). The rule is kept throughout.
    """
    saved = 0.0
    for chunk in range(len(bounds) - 1):
        near = gather(axes, limits, sensitive, layout, order[bounds[chunk] : bounds[chunk + 1]], scratch)
        n_places = np.uint64(len(near.places))
        for _ in range(tries * len(near.places)):
            word = next_word(state)
            first = np.int64((word >> np.uint64(32)) % n_places)
            second = np.int64((word & np.uint64(0xFFFFFFFF)) % n_places)
            group, other = near.group_of[first], near.group_of[second]
            # Two records that neither group would be better off without: nothing to gain.
            if group == other or near.savings[first] + near.savings[second] <= _LEAST_GAIN:
                continue
            uniform = ((next_word(state) >> np.uint64(11)) + np.uint64(1)) / 9007199254740993.0
            worst = -heat * np.log(uniform)
            size, other_size = near.firsts[group + 1] - near.firsts[group], near.firsts[other + 1] - near.firsts[other]
            enough = (near.losses[group] + near.savings[second] + worst) / size
            loss = loss_with(axes, near, group, first, second, enough)
            if loss >= enough:
                continue
            gain = near.losses[group] - size * loss
            enough = (near.losses[other] + gain + worst) / other_size
            loss = loss_with(axes, near, other, second, first, enough)
            if loss >= enough:
                continue
            if may_exchange(limits, near, group, first, second, tally) and may_exchange(
                limits, near, other, second, first, tally
            ):
                saved += gain + near.losses[other] - other_size * loss
                exchange(axes, near, layout, first, second)
    return saved
