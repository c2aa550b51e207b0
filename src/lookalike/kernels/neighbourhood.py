"""A few groups at a time, in a form in which trying a swap costs a few operations.

A neighbourhood is a handful of groups that lie near each other. For every group and attribute it keeps the two least
and two greatest codes, the number of missing values, and the count of each category, so that the loss of a group with
one record exchanged is known without looking at its members. Sensitive values are counted likewise, against ceilings
already multiplied out for the group's size. They are numbered anew in each neighbourhood, so their number in the table
does not matter. Building one costs O(records x attributes + groups x values that its records have).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, inner
from lookalike.kernels.axes import NODE, SET, measure
from lookalike.kernels.grouptest import is_tally_allowed


class Layout(NamedTuple):
    """The groups of a cell: group g holds members[starts[g]:starts[g + 1]]. Sizes never change, members do."""

    members: NDArray[np.int64]
    starts: NDArray[np.int64]


class _Near(NamedTuple):
    """The state of C groups with P places in all."""

    groups: NDArray[np.int64]
    """[C] groups of the layout"""
    places: NDArray[np.int64]
    """[P] where in `members`"""
    group_of: NDArray[np.int64]
    """[P] which of the C groups"""
    firsts: NDArray[np.int64]
    """[C + 1] the places of each group"""
    codes: NDArray[np.int64]
    """[P, d] categories, renumbered within the neighbourhood; elsewhere 1 for a missing value"""
    points: NDArray[np.float64]
    """[P, d] where a value lies, scaled so that a difference is a loss; leaf codes under a taxonomy"""
    bounds: NDArray[np.float64]
    """[C, d, 4] least, second least, greatest and second greatest point"""
    numbers: NDArray[np.int64]
    """[C, d] different categories; elsewhere missing values"""
    counts: NDArray[np.int64]
    """[C, L] members of each category, attribute after attribute"""
    offsets: NDArray[np.int64]
    """[d] where an attribute's categories begin in `counts`"""
    sensitive: NDArray[np.int64]
    """[P, S] values, renumbered within the neighbourhood"""
    values: NDArray[np.int64]
    """[S, N] the code in the cell of each of these numbers"""
    n_values: NDArray[np.int64]
    """[S]"""
    tallies: NDArray[np.int64]
    """[C, S, N] members of each sensitive value"""
    size_class: NDArray[np.int64]
    """[C] which of the rule's rooms are the group's: the most that the ceilings allow"""
    losses: NDArray[np.float64]
    """[C]"""
    savings: NDArray[np.float64]
    """[P] what the group would lose less without the record"""


class Scratch(NamedTuple):
    """Space that neighbourhoods share, by code: when a category was last met, and its number there."""

    met: NDArray[np.int64]
    """[d, codes]"""
    number: NDArray[np.int64]
    """[d, codes]"""
    stamp: NDArray[np.int64]
    """[1]"""
    met_values: NDArray[np.int64]
    """[S, M] the same of sensitive values"""
    number_of_value: NDArray[np.int64]
    """[S, M]"""


declare("Layout", Layout, "i8[:] i8[:]")
declare("Scratch", Scratch, "i8[:,:] i8[:,:] i8[:] i8[:,:] i8[:,:]")


@inner
def _renumber(axes, scratch, members, places, codes, points, offsets):  # type: ignore[no-untyped-def]
    """Fill `codes`, `points` and `offsets`; returns the number of categories of all attributes."""
    total = np.int64(0)
    scratch.stamp[0] += 1
    stamp = scratch.stamp[0]
    for attr in range(axes.codes.shape[1]):
        offsets[attr] = total
        attribute = axes.attributes[attr]
        kind, scale = attribute["kind"], 0.0
        if attribute["span"] > 0.0:
            scale = attribute["weight"] / attribute["span"]
        found = np.int64(0)
        for place in range(len(places)):
            code = np.int64(axes.codes[members[places[place]], attr])
            points[place, attr] = 0.0
            if kind == SET:
                if scratch.met[attr, code] != stamp:
                    scratch.met[attr, code] = stamp
                    scratch.number[attr, code] = found
                    found += 1
                codes[place, attr] = scratch.number[attr, code]
            elif kind == NODE:
                codes[place, attr], points[place, attr] = 0, code
            elif code == attribute["missing"]:
                codes[place, attr] = 1
            else:
                codes[place, attr], points[place, attr] = 0, scale * axes.points[attribute["points"] + code]
        total += found
    return total


@inner
def _extent_loss(axes, attr, low, high, number):  # type: ignore[no-untyped-def]
    """The loss by record of an extent: a set's by the number of its categories, else by its ends and missing values."""
    attribute = axes.attributes[attr]
    if attribute["span"] <= 0.0:
        return 0.0
    if attribute["kind"] == SET:
        return attribute["weight"] * max(number - 1, 0) / attribute["span"]
    if high < low:
        return 0.0
    if attribute["kind"] == NODE:
        return measure(axes, attr, np.int64(low), np.int64(high), np.int64(0), np.int64(0))
    return attribute["weight"] if number > 0 else high - low


@inner
def _enter(axes, near, group):  # type: ignore[no-untyped-def]
    """Recompute the bounds, counts, loss and savings of one group from its members."""
    n_attrs = near.codes.shape[1]
    bounds, numbers, counts = near.bounds[group], near.numbers[group], near.counts[group]
    for entry in range(len(counts)):
        counts[entry] = 0
    for attr in range(n_attrs):
        bounds[attr, 0] = bounds[attr, 1] = np.inf
        bounds[attr, 2] = bounds[attr, 3] = -np.inf
        numbers[attr] = 0
    for place in range(near.firsts[group], near.firsts[group + 1]):
        for attr in range(n_attrs):
            if axes.attributes[attr]["kind"] == SET:
                entry = near.offsets[attr] + near.codes[place, attr]
                numbers[attr] += counts[entry] == 0
                counts[entry] += 1
            elif near.codes[place, attr] == 1:
                numbers[attr] += 1
            else:
                point = near.points[place, attr]
                if point < bounds[attr, 0]:
                    bounds[attr, 1], bounds[attr, 0] = bounds[attr, 0], point
                elif point < bounds[attr, 1]:
                    bounds[attr, 1] = point
                if point > bounds[attr, 2]:
                    bounds[attr, 3], bounds[attr, 2] = bounds[attr, 2], point
                elif point > bounds[attr, 3]:
                    bounds[attr, 3] = point
    loss = 0.0
    for attr in range(n_attrs):
        loss += _extent_loss(axes, attr, bounds[attr, 0], bounds[attr, 2], numbers[attr])
    size = near.firsts[group + 1] - near.firsts[group]
    near.losses[group] = size * loss
    for place in range(near.firsts[group], near.firsts[group + 1]):
        near.savings[place] = near.losses[group] - size * _loss_without(axes, near, group, place)


@inner
def _loss_without(axes, near, group, leaving):  # type: ignore[no-untyped-def]
    """The loss by record of a group without one of its places."""
    total = 0.0
    for attr in range(near.codes.shape[1]):
        bounds, number, gone = near.bounds[group, attr], near.numbers[group, attr], near.codes[leaving, attr]
        if axes.attributes[attr]["kind"] == SET:
            number -= near.counts[group, near.offsets[attr] + gone] == 1
            total += _extent_loss(axes, attr, 0.0, 0.0, number)
            continue
        low, high, point = bounds[0], bounds[2], near.points[leaving, attr]
        if gone == 1:
            number -= 1
        else:
            low = bounds[1] if point == low else low
            high = bounds[3] if point == high else high
        total += _extent_loss(axes, attr, low, high, number)
    return total


@inner
def loss_with(axes, near, group, leaving, coming, enough):  # type: ignore[no-untyped-def]
    """The loss by record of a group with one place's record gone and another place's record in.

    Stops adding up once the loss is `enough`: then it is too much anyway.
    """
    total = 0.0
    for attr in range(near.codes.shape[1]):
        gone, come, number = near.codes[leaving, attr], near.codes[coming, attr], near.numbers[group, attr]
        if axes.attributes[attr]["kind"] == SET:
            if gone != come:
                offset = near.offsets[attr]
                number -= near.counts[group, offset + gone] == 1
                number += near.counts[group, offset + come] == 0
            total += axes.attributes[attr]["weight"] * (number - 1) / max(axes.attributes[attr]["span"], 1e-9)
        else:
            bounds = near.bounds[group, attr]
            low, high, point = bounds[0], bounds[2], near.points[leaving, attr]
            if gone == 1:
                number -= 1
            else:
                low = bounds[1] if point == low else low
                high = bounds[3] if point == high else high
            if come == 1:
                number += 1
            else:
                point = near.points[coming, attr]
                low, high = min(low, point), max(high, point)
            total += _extent_loss(axes, attr, low, high, number)
        if total >= enough:
            return total
    return total


@inner
def _renumber_values(scratch, sensitive, members, places, own, values, n_values):  # type: ignore[no-untyped-def]
    """Fill `own`, `values` and `n_values`; `scratch` has its stamp from `_renumber`."""
    stamp = scratch.stamp[0]
    for column in range(sensitive.shape[1]):
        found = np.int64(0)
        for place in range(len(places)):
            code = np.int64(sensitive[members[places[place]], column])
            if scratch.met_values[column, code] != stamp:
                scratch.met_values[column, code] = stamp
                scratch.number_of_value[column, code] = found
                values[column, found] = code
                found += 1
            own[place, column] = scratch.number_of_value[column, code]
        n_values[column] = found


@inner
def may_exchange(limits, near, group, leaving, coming, tally):  # type: ignore[no-untyped-def]
    """Whether a group still keeps the rule with one record exchanged."""
    same = True
    for column in range(near.sensitive.shape[1]):
        gone, come = near.sensitive[leaving, column], near.sensitive[coming, column]
        if gone != come:
            same = False
            room = limits.rooms[near.size_class[group], column, near.values[column, come]]
            if near.tallies[group, column, come] + 1 > room:
                return False
    if same or limits.only_ceilings:
        return True
    begin, end = near.firsts[group], near.firsts[group + 1]
    for index in range(len(limits.group_rule.settings)):
        column = limits.group_rule.settings[index]["column"]
        counts, values, codes = near.tallies[group, column], near.values[column], limits.codes[column]
        gone, come = near.sensitive[leaving, column], near.sensitive[coming, column]
        n_touched = np.int64(0)
        if near.n_values[column] <= end - begin:
            counts[gone] -= 1
            counts[come] += 1
            for value in range(near.n_values[column]):
                if counts[value] > 0:
                    code = codes[values[value]]
                    tally.touched[n_touched] = code
                    tally.counts[code] = counts[value]
                    n_touched += 1
            counts[gone] += 1
            counts[come] -= 1
        else:
            for place in range(begin, end):
                value = come if place == leaving else near.sensitive[place, column]
                code = codes[values[value]]
                if tally.counts[code] == 0:
                    tally.touched[n_touched] = code
                    n_touched += 1
                tally.counts[code] += 1
        fine = is_tally_allowed(limits.group_rule, index, end - begin, tally, n_touched)
        for place in range(n_touched):
            tally.counts[tally.touched[place]] = 0
        if not fine:
            return False
    return True


@inner
def gather(axes, limits, sensitive, layout, groups, scratch):  # type: ignore[no-untyped-def]
    """The neighbourhood of the given groups."""
    n_groups, n_attrs, n_columns = len(groups), axes.codes.shape[1], sensitive.shape[1]
    firsts = np.zeros(n_groups + 1, dtype=np.int64)
    for group in range(n_groups):
        size = layout.starts[groups[group] + 1] - layout.starts[groups[group]]
        firsts[group + 1] = firsts[group] + size
    n_places = firsts[n_groups]
    places, group_of = np.empty(n_places, dtype=np.int64), np.empty(n_places, dtype=np.int64)
    own = np.empty((n_places, n_columns), dtype=np.int64)
    for group in range(n_groups):
        for place in range(firsts[group], firsts[group + 1]):
            places[place] = layout.starts[groups[group]] + place - firsts[group]
            group_of[place] = group
    codes, offsets = np.empty((n_places, n_attrs), dtype=np.int64), np.empty(n_attrs, dtype=np.int64)
    points = np.empty((n_places, n_attrs))
    n_categories = _renumber(axes, scratch, layout.members, places, codes, points, offsets)
    values, n_values = np.empty((n_columns, n_places), dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
    _renumber_values(scratch, sensitive, layout.members, places, own, values, n_values)
    most_values = np.int64(1)
    for column in range(n_columns):
        most_values = max(most_values, n_values[column])
    size_class = np.empty(n_groups, dtype=np.int64)
    for group in range(n_groups):
        size_class[group] = limits.size_class[firsts[group + 1] - firsts[group]]
    near = _Near(
        groups,
        places,
        group_of,
        firsts,
        codes,
        points,
        np.empty((n_groups, n_attrs, 4)),
        np.empty((n_groups, n_attrs), dtype=np.int64),
        np.empty((n_groups, n_categories + 1), dtype=np.int64),
        offsets,
        own,
        values,
        n_values,
        np.zeros((n_groups, n_columns, most_values), dtype=np.int64),
        size_class,
        np.empty(n_groups, dtype=np.float64),
        np.empty(n_places, dtype=np.float64),
    )
    for place in range(n_places):
        for column in range(n_columns):
            near.tallies[group_of[place], column, own[place, column]] += 1
    for group in range(n_groups):
        _enter(axes, near, group)
    return near


@inner
def exchange(axes, near, layout, first, second):  # type: ignore[no-untyped-def]
    """Swap the records of two places and bring both groups up to date."""
    here, there = near.places[first], near.places[second]
    layout.members[here], layout.members[there] = layout.members[there], layout.members[here]
    for attr in range(near.codes.shape[1]):
        near.codes[first, attr], near.codes[second, attr] = near.codes[second, attr], near.codes[first, attr]
        kept_point = near.points[first, attr]
        near.points[first, attr], near.points[second, attr] = near.points[second, attr], kept_point
    group, other = near.group_of[first], near.group_of[second]
    for column in range(near.sensitive.shape[1]):
        here, there = near.sensitive[first, column], near.sensitive[second, column]
        near.sensitive[first, column], near.sensitive[second, column] = there, here
        # Values are counted as they move: there may be far more of them than members.
        near.tallies[group, column, here] -= 1
        near.tallies[group, column, there] += 1
        near.tallies[other, column, there] -= 1
        near.tallies[other, column, here] += 1
    _enter(axes, near, group)
    _enter(axes, near, other)
