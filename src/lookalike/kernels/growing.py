"""Groups that are runs of a list: grown until they may stand, or halved while both halves may; and how likely a group
comes of a dealing of its values, for whoever plays such a method again.

A run is tested from running counts, so growing costs one look at the codes for each test, however long the run.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner
from lookalike.kernels.grouptest import are_counts_allowed, is_group_allowed, is_tally_allowed


@inner
def _stands(rule, counts, size, tally):  # type: ignore[no-untyped-def]
    fine = size >= rule.min_size
    for index in range(len(rule.settings)):
        fine = fine and are_counts_allowed(rule, index, counts[index], size, tally)
    return fine


@entry("GroupRule, i4[:,:]r, i8[:], i8, u8[:]r, u8, i8[:], i8[:,:], Tally")
def grow(rule, sensitive, members, step, words, again, starts, counts, tally):  # type: ignore[no-untyped-def]
    """Cut members into runs, each closed at the first step at which it may stand and its coin does not say go on.

    A coin is a word below `again`, a new one for each test. At the last whole step there is nothing to go on to. Run g
    is starts[g]:starts[g + 1]; members from the last start on are left over. `counts` [R, M] is used and left zero.
    """
    n_runs, place, n_tests = 0, 0, 0
    starts[0] = 0
    while len(members) - place >= step:
        for index in range(len(rule.settings)):
            column = rule.settings[index]["column"]
            for ahead in range(place, place + step):
                counts[index, sensitive[members[ahead], column]] += 1
        place += step
        if not _stands(rule, counts, place - starts[n_runs], tally):
            continue
        is_last = len(members) - place < step
        goes_on = words[n_tests] < again
        n_tests += 1
        if is_last or not goes_on:
            n_runs += 1
            starts[n_runs] = place
            counts[:, :] = 0
    counts[:, :] = 0
    return n_runs


@entry("GroupRule, i4[:,:]r, i8[:], i8[:], i8[:,:], Tally")
def halve(rule, sensitive, members, starts, stack, tally):  # type: ignore[no-untyped-def]
    """Halve the list again and again while both halves may stand; the left half has the odd member.

    Run g is starts[g]:starts[g + 1]. `stack` [depth, 2] is scratch space.
    """
    n_runs, depth = 0, 1
    stack[0, 0], stack[0, 1] = 0, len(members)
    starts[0] = 0
    while depth:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        middle = start + (stop - start + 1) // 2
        if is_group_allowed(rule, sensitive, members, start, middle, tally) and is_group_allowed(
            rule, sensitive, members, middle, stop, tally
        ):
            stack[depth, 0], stack[depth, 1] = middle, stop
            stack[depth + 1, 0], stack[depth + 1, 1] = start, middle
            depth += 2
        else:
            n_runs += 1
            starts[n_runs] = stop
    return n_runs


@inner
def _forget(rule, counts, rows, dealing):  # type: ignore[no-untyped-def]
    for index in range(len(rule.settings)):
        column = rule.settings[index]["column"]
        for row in dealing:
            counts[index, rows[row, column]] = 0


@inner
def _growth_weight(rule, rows, dealing, step, again, counts, tally):  # type: ignore[no-untyped-def]
    size, weight, place = len(dealing), 1.0, 0
    while place < size and weight > 0.0:
        for index in range(len(rule.settings)):
            column = rule.settings[index]["column"]
            for ahead in range(place, place + step):
                counts[index, rows[dealing[ahead], column]] += 1
        place += step
        stands = _stands(rule, counts, place, tally)
        if place == size:
            weight = weight if stands else 0.0
        elif stands:
            weight *= again
    _forget(rule, counts, rows, dealing)
    return weight


@inner
def _growth_weight_of_one(rule, rows, dealing, step, again, tally):  # type: ignore[no-untyped-def]
    """The same under a single requirement: only the codes met so far are looked at."""
    size, weight, place, n_touched = len(dealing), 1.0, 0, 0
    column = rule.settings[0]["column"]
    while place < size and weight > 0.0:
        for ahead in range(place, place + step):
            code = rows[dealing[ahead], column]
            if tally.counts[code] == 0:
                tally.touched[n_touched] = code
                n_touched += 1
            tally.counts[code] += 1
        place += step
        stands = place >= rule.min_size and is_tally_allowed(rule, 0, place, tally, n_touched)
        if place == size:
            weight = weight if stands else 0.0
        elif stands:
            weight *= again
    for touched in range(n_touched):
        tally.counts[tally.touched[touched]] = 0
    return weight


@entry("GroupRule, i4[:,:], i8[:,:], i8, f8, f8[:], i8[:,:], Tally")
def growth_weights(rule, rows, dealings, step, again, weights, counts, tally):  # type: ignore[no-untyped-def]
    """For each dealing [worlds, size] of the rows to the places of a run: again^(shorter runs that might have stood).

    0 for a run that may not stand as a whole.
    """
    for world in range(len(dealings)):
        if dealings.shape[1] % step != 0:
            weights[world] = 0.0
        elif len(rule.settings) == 1:
            weights[world] = _growth_weight_of_one(rule, rows, dealings[world], step, again, tally)
        else:
            weights[world] = _growth_weight(rule, rows, dealings[world], step, again, counts, tally)


@entry("GroupRule, i4[:,:], i8[:,:], f8[:], i8[:,:], Tally")
def halving_weights(rule, rows, dealings, weights, counts, tally):  # type: ignore[no-untyped-def]
    """For each dealing [worlds, size] of the rows: 0 if both halves might have stood, else 1."""
    size = dealings.shape[1]
    middle = (size + 1) // 2
    for world in range(len(dealings)):
        splits = True
        for start, stop in ((0, middle), (middle, size)):
            for index in range(len(rule.settings)):
                column = rule.settings[index]["column"]
                for place in range(start, stop):
                    counts[index, rows[dealings[world, place], column]] += 1
            splits = _stands(rule, counts, stop - start, tally) and splits
            _forget(rule, counts, rows, dealings[world])
        weights[world] = 0.0 if splits else 1.0


@entry("GroupRule, i4[:,:]r, i8[:], i8[:], i8, i8[:,:], Tally")
def merge_back(rule, sensitive, members, starts, n_runs, counts, tally):  # type: ignore[no-untyped-def]
    """How many runs to keep so that all members after them may stand as one more; -1 if not even all together may.

    Members from starts[n_runs] on are left over, and are never a run by themselves.
    """
    stop, kept = len(members), n_runs
    while True:
        start = starts[max(kept - 1, 0)]
        for index in range(len(rule.settings)):
            column = rule.settings[index]["column"]
            for place in range(start, stop):
                counts[index, sensitive[members[place], column]] += 1
        stop, kept = start, kept - 1
        stands = _stands(rule, counts, len(members) - start, tally)
        if stands or kept <= 0:
            counts[:, :] = 0
            return max(kept, 0) if stands else -1


@entry("i8, i8[:,:]")
def deal(seed, dealings):  # type: ignore[no-untyped-def]
    """Fill dealings [worlds, size] with random permutations, for estimates only: SplitMix64, not for releases."""
    n_worlds, size = dealings.shape
    state = np.uint64(seed)
    for world in range(n_worlds):
        for place in range(size):
            state += np.uint64(0x9E3779B97F4A7C15)
            word = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            word = (word ^ (word >> np.uint64(31))) >> np.uint64(32)
            other = np.int64((word * np.uint64(place + 1)) >> np.uint64(32))
            dealings[world, place] = dealings[world, other]
            dealings[world, other] = place
