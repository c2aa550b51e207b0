"""Does a set of records satisfy a `GroupRule`? Exact: integers in 128 bits, floats only where logarithms force them,
and then rounded to the safe side.

Cost: one pass over the members for each requirement, plus the number of codes where absent values matter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.kernels import declare, entry, inner

# The members of `requirement.Distance`, which stands above this layer.
_EQUAL, _ORDERED, _HIERARCHICAL, _KL, _JS = 1, 2, 3, 4, 5

# How close to a logarithmic bound a float may come before it stops deciding.
_GUARD = 1e-9
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Tally(NamedTuple):
    """Scratch space of one thread: all zero between tests."""

    counts: NDArray[np.int64]
    """[M] members of each code."""
    touched: NDArray[np.int64]
    """[M] the codes met."""
    nodes: NDArray[np.int64]
    """[3, T] surplus, positive and negative flow of each taxonomy node."""
    met: NDArray[np.int64]
    """[numbers of persons, or of persons and values] the stamp of the last test in which a number was met; unlike the
    rest it is not cleared."""
    rows: NDArray[np.int64]
    """[numbers of persons] the records of each person in the last test in which it was met"""
    stamp: NDArray[np.int64]
    """[1] counts the uses of `met`"""


declare("Tally", Tally, "i8[:] i8[:] i8[:,:] i8[:] i8[:] i8[:]")


def tally_for(rule: Any, codes: NDArray[np.int32] | None = None) -> Tally:
    """Scratch space that fits the rule; one about persons needs the codes of the records."""
    n_codes, n_nodes, n_met = rule.values.shape[1], rule.nodes.shape[1], 1
    if rule.persons >= 0 and codes is not None:
        n_met = int(codes[:, rule.persons :].max(initial=0)) + 1
    return Tally(
        np.zeros(n_codes, dtype=np.int64),
        np.zeros(n_codes, dtype=np.int64),
        np.zeros((3, n_nodes), dtype=np.int64),
        np.zeros(n_met, dtype=np.int64),
        np.zeros(n_met, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


@inner
def _product(left, right):  # type: ignore[no-untyped-def]
    """Two nonnegative int64 -> the high and low 64 bits of their product."""
    left_low, left_high = np.uint64(left) & _LOW_HALF, np.uint64(left) >> _HALF
    right_low, right_high = np.uint64(right) & _LOW_HALF, np.uint64(right) >> _HALF
    low = left_low * right_low
    cross = left_low * right_high
    other = left_high * right_low
    middle = (low >> _HALF) + (cross & _LOW_HALF) + (other & _LOW_HALF)
    high = left_high * right_high + (cross >> _HALF) + (other >> _HALF) + (middle >> _HALF)
    return high, (middle << _HALF) | (low & _LOW_HALF)


@entry("i8, i8, i8, i8")
def at_most(first, second, third, fourth):  # type: ignore[no-untyped-def]
    """first * second <= third * fourth, for nonnegative int64, without overflow."""
    high, low = _product(first, second)
    other_high, other_low = _product(third, fourth)
    return high < other_high or (high == other_high and low <= other_low)


@inner
def _shares_hold(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    if rule.settings[index]["has_ceilings"] != 0:
        for place in range(n_touched):
            code = tally.touched[place]
            if not at_most(
                tally.counts[code],
                rule.values[index, code]["ceiling_den"],
                rule.values[index, code]["ceiling_num"],
                size,
            ):
                return False
    if rule.settings[index]["has_floors"] != 0:
        for code in range(rule.settings[index]["n_codes"]):
            if not at_most(
                rule.values[index, code]["floor_num"], size, tally.counts[code], rule.values[index, code]["floor_den"]
            ):
                return False
    return True


@inner
def _most_and_tail(tally, n_touched, ell, size):  # type: ignore[no-untyped-def]
    """The largest count, and the sum of the counts from the ell-th largest on."""
    most, tail = np.int64(0), size
    above, taken = np.int64(1 << 62), np.int64(0)
    while taken < ell - 1:
        # All counts equal to the next lower one go together, as far as they are among the first ell - 1.
        largest, ties = np.int64(0), np.int64(0)
        for place in range(n_touched):
            count = tally.counts[tally.touched[place]]
            if count < above:
                if count > largest:
                    largest, ties = count, np.int64(0)
                ties += count == largest
        ties = min(ties, ell - 1 - taken)
        most, tail, taken, above = max(most, largest), tail - ties * largest, taken + ties, largest
    for place in range(n_touched):
        most = max(most, tally.counts[tally.touched[place]])
    return most, tail


@inner
def _diversity_holds(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    if n_touched < rule.settings[index]["distinct"]:
        return False
    if rule.settings[index]["entropy"] >= 0.0:
        total = 0.0
        even = True
        for place in range(n_touched):
            count = tally.counts[tally.touched[place]]
            total += count * np.log(count)
            even = even and count == tally.counts[tally.touched[0]]
        entropy = np.log(size) - total / size
        if entropy < rule.settings[index]["entropy"] - _GUARD:
            return False
        # Inside the guard band only the even distribution is known to reach the bound exactly.
        if entropy < rule.settings[index]["entropy"] + _GUARD and not even:
            return False
    ell = rule.settings[index]["recursive_ell"]
    if ell > 0:
        if n_touched < ell:
            return False
        most, tail = _most_and_tail(tally, n_touched, ell, size)
        if at_most(rule.settings[index]["recursive_num"], tail, most, rule.settings[index]["recursive_den"]):
            return False
    return True


@inner
def _move_mass(rule, index, size, tally):  # type: ignore[no-untyped-def]
    """Earth mover's distance times (total * size) and its largest value on the same scale, as integers."""
    n_codes, total = rule.settings[index]["n_codes"], rule.total
    moved = np.int64(0)
    if rule.settings[index]["distance"] == _EQUAL:
        for code in range(n_codes):
            moved += abs(rule.values[index, code]["prior"] * size - tally.counts[code] * total)
        return moved, np.int64(2)
    if rule.settings[index]["distance"] == _ORDERED:
        surplus = np.int64(0)
        for code in range(n_codes - 1):
            surplus += rule.values[index, code]["prior"] * size - tally.counts[code] * total
            moved += abs(surplus)
        return moved, np.int64(max(n_codes - 1, 1))
    n_nodes = rule.nodes.shape[1]
    tally.nodes[:, :] = 0
    for code in range(n_codes):
        tally.nodes[0, rule.values[index, code]["node"]] = (
            rule.values[index, code]["prior"] * size - tally.counts[code] * total
        )
    for node in range(n_nodes - 1, -1, -1):
        parent = rule.nodes[index, node]["parent"]
        if parent == -2:
            continue
        moved += rule.nodes[index, node]["height"] * min(tally.nodes[1, node], tally.nodes[2, node])
        if parent >= 0:
            surplus = tally.nodes[0, node]
            tally.nodes[0, parent] += surplus
            tally.nodes[1, parent] += max(surplus, 0)
            tally.nodes[2, parent] += max(-surplus, 0)
    return moved, np.int64(max(rule.nodes[index, 0]["height"], 1))


@inner
def _divergence(rule, index, size, tally):  # type: ignore[no-untyped-def]
    """Kullback-Leibler (table against group) or Jensen-Shannon divergence in bits."""
    result = 0.0
    for code in range(rule.settings[index]["n_codes"]):
        share = rule.values[index, code]["prior"] / rule.total
        here = tally.counts[code] / size
        if rule.settings[index]["distance"] == _KL:
            if share > 0.0:
                if here == 0.0:
                    return np.inf
                result += share * np.log2(share / here)
        else:
            mean = (share + here) / 2.0
            if share > 0.0:
                result += share * np.log2(share / mean) / 2.0
            if here > 0.0:
                result += here * np.log2(here / mean) / 2.0
    return result


@inner
def _closeness_holds(rule, index, size, tally):  # type: ignore[no-untyped-def]
    kind = rule.settings[index]["distance"]
    if kind == 0:
        return True
    if kind in (_KL, _JS):
        return (
            _divergence(rule, index, size, tally)
            <= rule.settings[index]["bound_num"] / rule.settings[index]["bound_den"] - _GUARD
        )
    moved, scale = _move_mass(rule, index, size, tally)
    return at_most(
        moved, rule.settings[index]["bound_den"], rule.settings[index]["bound_num"], scale * rule.total * size
    )


@inner
def is_tally_allowed(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    """Whether a group of `size` records with the counts of the tally may stand under one requirement."""
    return (
        _shares_hold(rule, index, size, tally, n_touched)
        and _diversity_holds(rule, index, size, tally, n_touched)
        and _closeness_holds(rule, index, size, tally)
    )


@inner
def _count_persons(rule, sensitive, members, start, stop, tally):  # type: ignore[no-untyped-def]
    """Distinct persons among members[start:stop], and the most records that one of them has there."""
    tally.stamp[0] += 1
    found, most = np.int64(0), np.int64(0)
    for place in range(start, stop):
        person = sensitive[members[place], rule.persons]
        if tally.met[person] != tally.stamp[0]:
            tally.met[person] = tally.stamp[0]
            tally.rows[person] = 0
            found += 1
        tally.rows[person] += 1
        most = max(most, tally.rows[person])
    return found, most


@inner
def _known_numbers_hold(rule, index, n_rows, most, tally, n_touched):  # type: ignore[no-untyped-def]
    """Whether `most` records drawn from the group show each value with at most its ceiling, and one with its floor.

    The tally has numbers of records. One record is compared exactly; several in floats, and a tie counts as broken.
    """
    if not _shares_hold(rule, index, n_rows, tally, n_touched):
        return False
    if rule.settings[index]["has_ceilings"] == 0:
        return True
    for place in range(n_touched):
        code = tally.touched[place]
        ceiling = rule.values[index, code]["ceiling_num"] / rule.values[index, code]["ceiling_den"]
        if ceiling >= 1.0:
            continue
        count = tally.counts[code]
        if count == 1:
            # most / n_rows, exactly.
            if not at_most(
                most, rule.values[index, code]["ceiling_den"], rule.values[index, code]["ceiling_num"], n_rows
            ):
                return False
            continue
        others = n_rows - count
        none = 1.0
        for taken in range(most):
            if others <= taken:
                none = 0.0
                break
            none *= (others - taken) / (n_rows - taken)
            if 1.0 - none > ceiling:
                break
        if 1.0 - none > ceiling * (1.0 - 1e-12):
            return False
    return True


@inner
def _are_persons_allowed(rule, sensitive, members, start, stop, tally):  # type: ignore[no-untyped-def]
    """As `is_group_allowed`, with distinct persons in place of records."""
    size, most = _count_persons(rule, sensitive, members, start, stop, tally)
    if size < rule.min_size:
        return False
    for index in range(len(rule.settings)):
        column = rule.settings[index]["column"]
        fine = True
        for by_persons in (False, True):
            if not by_persons and (most <= 1 or not rule.number_known):
                continue
            n_touched = np.int64(0)
            tally.stamp[0] += 1
            for place in range(start, stop):
                record = members[place]
                if by_persons:
                    pair = sensitive[record, rule.persons + 1 + index]
                    if tally.met[pair] == tally.stamp[0]:
                        continue
                    tally.met[pair] = tally.stamp[0]
                code = sensitive[record, column]
                if tally.counts[code] == 0:
                    tally.touched[n_touched] = code
                    n_touched += 1
                tally.counts[code] += 1
            if by_persons:
                fine = fine and is_tally_allowed(rule, index, size, tally, n_touched)
            else:
                fine = _known_numbers_hold(rule, index, np.int64(stop - start), most, tally, n_touched)
            for place in range(n_touched):
                tally.counts[tally.touched[place]] = 0
        if not fine:
            return False
    return True


@entry("GroupRule, i4[:,:]r, i8[:], i8, i8, Tally")
def is_group_allowed(rule, sensitive, members, start, stop, tally):  # type: ignore[no-untyped-def]
    """Whether records members[start:stop] may form a group. `tally` is used and left all zero."""
    size = np.int64(stop - start)
    if size < rule.min_size or size < 1:
        return False
    if rule.persons >= 0:
        return _are_persons_allowed(rule, sensitive, members, start, stop, tally)
    for index in range(len(rule.settings)):
        column = rule.settings[index]["column"]
        n_touched = np.int64(0)
        for place in range(start, stop):
            code = sensitive[members[place], column]
            if tally.counts[code] == 0:
                tally.touched[n_touched] = code
                n_touched += 1
            tally.counts[code] += 1
        fine = is_tally_allowed(rule, index, size, tally, n_touched)
        for place in range(n_touched):
            tally.counts[tally.touched[place]] = 0
        if not fine:
            return False
    return True


@entry("GroupRule, i8, i8[:], i8, Tally")
def are_counts_allowed(rule, index, counts, size, tally):  # type: ignore[no-untyped-def]
    """Whether a group of `size` records with these counts [M] may stand under one requirement; `tally` stays zero."""
    n_touched = np.int64(0)
    for code in range(rule.settings[index]["n_codes"]):
        if counts[code] > 0:
            tally.touched[n_touched] = code
            n_touched += 1
            tally.counts[code] = counts[code]
    fine = is_tally_allowed(rule, index, size, tally, n_touched)
    for place in range(n_touched):
        tally.counts[tally.touched[place]] = 0
    return fine
