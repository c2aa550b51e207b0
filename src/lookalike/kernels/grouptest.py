"""Does a set of records satisfy a `GroupRule`? Exact: integers in 128 bits, floats only where logarithms force them,
and then rounded to the safe side.

Cost: one pass over the members for each requirement, and a sort of the values met where their order matters. What a
group lacks is known from sums over the whole table, so a column may have as many values as rows.
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
_SMALL = 32
# Above this, distances are worked out in floats: integers of 64 bits would not hold them.
_LARGEST_EXACT = 4e18
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


class Tally(NamedTuple):
    """Scratch space of one thread: all zero between tests."""

    counts: NDArray[np.int64]
    """[M] members of each code."""
    touched: NDArray[np.int64]
    """[M] the codes met."""
    nodes: NDArray[np.int64]
    """[3, T] members below each taxonomy node, what its children have too many of, and the nodes met."""
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
        # A value with a floor that is not met breaks it.
        n_met = np.int64(0)
        for place in range(n_touched):
            code = tally.touched[place]
            n_met += rule.values[index, code]["floor_num"] > 0
            if not at_most(
                rule.values[index, code]["floor_num"], size, tally.counts[code], rule.values[index, code]["floor_den"]
            ):
                return False
        if n_met < rule.settings[index]["n_floors"]:
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
def _sort_touched(tally, n_touched):  # type: ignore[no-untyped-def]
    """The codes met in their order; most groups are small, and insertion is quickest for them."""
    if n_touched > _SMALL:
        tally.touched[:n_touched].sort()
        return
    for place in range(1, n_touched):
        code, hole = tally.touched[place], place
        while hole > 0 and tally.touched[hole - 1] > code:
            tally.touched[hole] = tally.touched[hole - 1]
            hole -= 1
        tally.touched[hole] = code


@inner
def _first_passing(values, size, wanted, begin, end):  # type: ignore[no-untyped-def]
    """The first code from `begin` on whose running count times `size` is at least `wanted`; `end` if none before is.

    Where values hardly repeat, counts rise evenly and the first guess is near: the search widens from there.
    """
    low, high = begin, end
    if low >= high or values[low]["running"] * size >= wanted:
        return low
    first, last = values[low]["running"] * size, values[high]["running"] * size
    if last <= wanted:
        guess = high - 1
    else:
        guess = low + np.int64((high - low) * (np.float64(wanted - first) / np.float64(last - first)))
    step = np.int64(1)
    guess = min(max(guess, low + 1), high - 1)
    if guess <= low:
        return high
    if values[guess]["running"] * size >= wanted:
        high = guess
        while high - step > low and values[high - step]["running"] * size >= wanted:
            high -= step
            step *= 2
        low = max(low, high - step)
    else:
        low = guess
        while low + step < high and values[low + step]["running"] * size < wanted:
            low += step
            step *= 2
        high = min(high, low + step)
    # What is at `low` does not pass, what is at `high` does or is the end.
    while high - low > 1:
        middle = (low + high) // 2
        if values[middle]["running"] * size >= wanted:
            high = middle
        else:
            low = middle
    return high


@inner
def _windows_hold(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    """Whether no stretch of near values, from one that is met to the last within its reach, holds too many members."""
    if rule.settings[index]["has_windows"] == 0:
        return True
    _sort_touched(tally, n_touched)
    last, held = np.int64(0), np.int64(0)
    for first in range(n_touched):
        code = tally.touched[first]
        while last < n_touched and tally.touched[last] <= rule.values[index, code]["reach"]:
            held += tally.counts[tally.touched[last]]
            last += 1
        if not at_most(held, rule.settings[index]["window_den"], rule.settings[index]["window_num"], size):
            return False
        held -= tally.counts[code]
    return True


@inner
def _move_equal(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    # What the group lacks differs by its count in the table: all of it, less that of the values met.
    moved = rule.values[index, rule.settings[index]["n_codes"] - 1]["running"] * size
    for place in range(n_touched):
        code = tally.touched[place]
        expected = rule.values[index, code]["prior"] * size
        moved += abs(expected - tally.counts[code] * rule.total) - expected
    return moved


@inner
def _move_in_order(rule, index, size, total, tally, n_touched):  # type: ignore[no-untyped-def]
    """The ordered distance in integers, or in floats if size and total are floats.

    Between two values met, the group's running sum stands still while the table's grows: split where it passes.
    """
    values, last = rule.values[index], rule.settings[index]["n_codes"] - 1
    _sort_touched(tally, n_touched)
    begin = min(tally.touched[0], last)
    held = size * 0
    moved = size * values[begin]["below"]
    for place in range(n_touched):
        held += tally.counts[tally.touched[place]]
        end = last
        if place + 1 < n_touched:
            end = min(tally.touched[place + 1], last)
        low = _first_passing(values, size, held * total, begin, end)
        moved += held * total * (low - begin) - size * (values[low]["below"] - values[begin]["below"])
        moved += size * (values[end]["below"] - values[low]["below"]) - held * total * (end - low)
        begin = end
    return moved


@inner
def _move_by_tree(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    # Of children that the group lacks none has too many members: only the nodes above what it has move anything.
    n_met = np.int64(0)
    for place in range(n_touched):
        code = tally.touched[place]
        node = rule.values[index, code]["node"]
        while node >= 0:
            if tally.nodes[0, node] == 0:
                tally.nodes[2, n_met] = node
                n_met += 1
            tally.nodes[0, node] += tally.counts[code]
            node = rule.nodes[index, node]["parent"]
    tally.nodes[2, :n_met].sort()
    moved = np.int64(0)
    for place in range(n_met - 1, -1, -1):
        node = tally.nodes[2, place]
        lacking = rule.nodes[index, node]["prior"] * size - tally.nodes[0, node] * rule.total
        surplus, parent = tally.nodes[1, node], rule.nodes[index, node]["parent"]
        moved += rule.nodes[index, node]["height"] * min(lacking + surplus, surplus)
        if parent >= 0 and lacking < 0:
            tally.nodes[1, parent] -= lacking
    for place in range(n_met):
        tally.nodes[0, tally.nodes[2, place]] = tally.nodes[1, tally.nodes[2, place]] = 0
    return moved


@inner
def _moves_hold(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    """Whether the earth mover's distance, times (total * size) and its largest value, is within the bound."""
    total, kind = rule.total, rule.settings[index]["distance"]
    if kind == _EQUAL:
        moved, scale = _move_equal(rule, index, size, tally, n_touched), np.int64(2)
    elif kind == _HIERARCHICAL:
        moved, scale = _move_by_tree(rule, index, size, tally, n_touched), rule.nodes[index, 0]["height"]
    else:
        scale = rule.settings[index]["n_codes"] - 1
        most = np.float64(scale) * np.float64(total) * np.float64(size)
        if most > _LARGEST_EXACT:
            moved_part = _move_in_order(rule, index, np.float64(size), np.float64(total), tally, n_touched) / most
            bound = rule.settings[index]["bound_num"] / rule.settings[index]["bound_den"]
            return moved_part <= bound - _GUARD
        moved = _move_in_order(rule, index, size, np.int64(total), tally, n_touched)
    return at_most(
        moved,
        rule.settings[index]["bound_den"],
        rule.settings[index]["bound_num"],
        max(scale, 1) * total * size,
    )


@inner
def _divergence(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    """Kullback-Leibler (table against group) or Jensen-Shannon divergence in bits."""
    result, met, n_met = 0.0, 0.0, np.int64(0)
    for place in range(n_touched):
        code = tally.touched[place]
        share = rule.values[index, code]["prior"] / rule.total
        here = tally.counts[code] / size
        met += share
        n_met += share > 0.0
        if rule.settings[index]["distance"] == _KL:
            if share > 0.0:
                result += share * np.log2(share / here)
        else:
            mean = (share + here) / 2.0
            if share > 0.0:
                result += share * np.log2(share / mean) / 2.0
            result += here * np.log2(here / mean) / 2.0
    if rule.settings[index]["distance"] == _KL:
        return np.inf if n_met < rule.settings[index]["n_held"] else result
    # A value that the group lacks adds half its share.
    whole = rule.values[index, rule.settings[index]["n_codes"] - 1]["running"] / rule.total
    return result + (whole - met) / 2.0


@inner
def _closeness_holds(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    kind = rule.settings[index]["distance"]
    if kind == 0:
        return True
    if kind in (_KL, _JS):
        return (
            _divergence(rule, index, size, tally, n_touched)
            <= rule.settings[index]["bound_num"] / rule.settings[index]["bound_den"] - _GUARD
        )
    return _moves_hold(rule, index, size, tally, n_touched)


@inner
def is_tally_allowed(rule, index, size, tally, n_touched):  # type: ignore[no-untyped-def]
    """Whether a group of `size` records with the counts of the tally may stand under one requirement."""
    return (
        _shares_hold(rule, index, size, tally, n_touched)
        and _diversity_holds(rule, index, size, tally, n_touched)
        and _windows_hold(rule, index, size, tally, n_touched)
        and _closeness_holds(rule, index, size, tally, n_touched)
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


@entry("GroupRule, i4[:,:]r, i8[:], i8[:], Tally")
def are_groups_allowed(rule, sensitive, members, starts, tally):  # type: ignore[no-untyped-def]
    """Whether all groups members[starts[g]:starts[g + 1]] are allowed."""
    for group in range(len(starts) - 1):
        if not is_group_allowed(rule, sensitive, members, starts[group], starts[group + 1], tally):
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
