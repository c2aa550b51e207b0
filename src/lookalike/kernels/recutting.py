"""Would Mondrian have cut a group, had its values been dealt otherwise? For whoever plays the method again."""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.axes import sort_by_code
from lookalike.kernels.partition import missing_cut, parts_allowed, share_places, widest_first, width


@inner
def _any_cut(axes, cutting, rule, sensitive, members, ranked, tally):  # type: ignore[no-untyped-def]
    """Whether any cut may be made: which one is taken does not matter here."""
    size = len(members)
    if missing_cut(axes, rule, sensitive, members, 0, size, tally, ranked) >= 0:
        return True
    for attr in ranked:
        sort_by_code(axes, attr, members, 0, size)
        for place in share_places(axes, attr, cutting, members, 0, size):
            if place >= 0 and parts_allowed(rule, sensitive, members, 0, place, size, tally):
                return True
    return False


@entry
def uncut_weights(axes, cutting, rule, rows, dealings, ties, weights, tally):  # type: ignore[no-untyped-def]
    """For each dealing [worlds, size] of the rows: 1 if no cut may be made, else 0.

    `axes` has the codes of the group's records; `ties` [worlds, size] are permutations of them, by which records of
    equal value are divided.
    """
    size, n_attrs = dealings.shape[1], axes.codes.shape[1]
    sensitive, members = np.empty_like(rows), np.arange(size)
    widths = np.empty(n_attrs, dtype=np.float64)
    for attr in range(n_attrs):
        widths[attr] = width(axes, attr, cutting, members, 0, size)
    ranked = widest_first(widths)
    for world in range(len(dealings)):
        for place in range(size):
            sensitive[place] = rows[dealings[world, place]]
            members[place] = ties[world, place]
        weights[world] = 0.0 if _any_cut(axes, cutting, rule, sensitive, members, ranked, tally) else 1.0
