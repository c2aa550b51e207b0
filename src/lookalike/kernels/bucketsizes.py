"""The best two bucket sizes: every pair of sizes, and of each the first numbers of buckets that hold all values.

For sizes S1 < S2 the numbers (b1, b2) with b1 S1 + b2 S2 = n form one line: every step trades D1 = S2 / gcd small
buckets for D2 = S1 / gcd large ones and costs the same, so the first valid step is the best. A value of count o that
may fill x places of a small bucket and y of a large one is held where min(x b1, o) + min(y b2, o) >= o. That fails on
one run of steps at most, whose ends are quotients; the steps at which both sizes can be filled are an interval.
"""

from __future__ import annotations

import numpy as np

from lookalike.kernels import entry, inner

_NO_PRUNING, _LOSS_PRUNING, _FULL_PRUNING = 0, 1, 2


@inner
def _can_fill(room, counts, n_buckets, size):  # type: ignore[no-untyped-def]
    """Whether the values can fill so many buckets of a size; room is how often each may be in one."""
    total, wanted = np.int64(0), n_buckets * size
    for value in range(len(counts)):
        total += min(room[value] * n_buckets, counts[value])
        if total >= wanted:
            return True
    return total >= wanted


@inner
def _is_valid(room1, room2, counts, first, second, size1, size2):  # type: ignore[no-untyped-def]
    """Whether so many buckets of the two sizes hold all values and can be filled."""
    for value in range(len(counts)):
        if room1[value] * first + room2[value] * second < counts[value]:
            return False
    return _can_fill(room1, counts, first, size1) and _can_fill(room2, counts, second, size2)


@inner
def _start(n_rows, size1, size2):  # type: ignore[no-untyped-def]
    """The least number of large buckets that leaves a multiple of the small size, or -1; and the divisor."""
    divisor, rest = size1, size2
    while rest:
        divisor, rest = rest, divisor % rest
    if n_rows % divisor:
        return np.int64(-1), divisor
    for second in range(size1 // divisor):
        left = n_rows - size2 * second
        if left < 0:
            break
        if left % size1 == 0:
            return np.int64(second), divisor
    return np.int64(-1), divisor


@inner
def _failing_run(x, y, count, b1, b2, d1, d2, last):  # type: ignore[no-untyped-def]
    """The steps 0..last at which a value is not held: first and last of the run; first > last: none."""
    # Held by the small buckets alone up to here, by the large ones alone from there on.
    alone = np.int64(-1)
    if x > 0:
        needed = (count + x - 1) // x
        if b1 >= needed:
            alone = (b1 - needed) // d1
    together = last + 1
    if y > 0:
        needed = (count + y - 1) // y
        together = np.int64(0) if b2 >= needed else (needed - b2 + d2 - 1) // d2
    low, high = alone + 1, min(together - 1, last)
    if low > high:
        return np.int64(1), np.int64(0)
    # Between: at + i * gain >= count.
    at, gain = x * b1 + y * b2, y * d2 - x * d1
    if gain > 0:
        held = (count - at + gain - 1) // gain if count > at else np.int64(0)
        return low, min(high, held - 1)
    if at < count:
        return low, high
    if gain == 0:
        return np.int64(1), np.int64(0)
    held = (at - count) // -gain
    return max(low, held + 1), high


@inner
def _past_runs(step, starts, ends, n_runs):  # type: ignore[no-untyped-def]
    """The first step from `step` on that lies in none of the runs, which are sorted by where they start."""
    for run in range(n_runs):
        if starts[run] > step:
            break
        step = max(step, ends[run] + 1)
    return step


@inner
def _find_first_valid(room1, room2, counts, b1, b2, d1, d2, size1, size2, last, starts, ends):  # type: ignore[no-untyped-def]
    """The first step up to `last` that is valid, or -1; and how many tests that took: of values, or of a step."""
    n_runs = 0
    for value in range(len(counts)):
        start, end = _failing_run(room1[value], room2[value], counts[value], b1, b2, d1, d2, last)
        if start <= end:
            starts[n_runs], ends[n_runs] = start, end
            n_runs += 1
    order = np.argsort(starts[:n_runs])
    starts[:n_runs], ends[:n_runs] = starts[:n_runs][order], ends[:n_runs][order]
    step, tests = _past_runs(np.int64(0), starts, ends, n_runs), np.int64(1)
    if step > last:
        return np.int64(-1), tests
    # Small buckets get fewer and easier to fill with every step.
    tests += 1
    if not _can_fill(room1, counts, b1 - step * d1, size1):
        low, high = step + 1, last + 1
        while low < high:
            middle = (low + high) // 2
            tests += 1
            if _can_fill(room1, counts, b1 - middle * d1, size1):
                high = middle
            else:
                low = middle + 1
        step = _past_runs(low, starts, ends, n_runs)
        if step > last:
            return np.int64(-1), tests
    # Large ones get more and harder to fill, so that no later step will do if this one does not.
    return (step if _can_fill(room2, counts, b2 + step * d2, size2) else np.int64(-1)), tests


@entry("i8[:,:], i8[:], i8[:], i8")
def best_pair(rooms, sizes, counts, pruning):  # type: ignore[no-untyped-def]
    """The best setting of two sizes: (S1, b1, S2, b2, loss, tests); S1 = 0 if none is valid.

    rooms [sizes, values] says how often a value may be in a bucket of each size; sizes are consecutive, small first.
    """
    n_rows = counts.sum()
    starts, ends = np.empty(len(counts), dtype=np.int64), np.empty(len(counts), dtype=np.int64)
    best = np.zeros(6, dtype=np.int64)
    best[4] = np.iinfo(np.int64).max
    # A value without room in the larger size has none in the smaller one either.
    first_large = 0
    if pruning == _FULL_PRUNING:
        while first_large < len(sizes) and (rooms[first_large] == 0).any():
            first_large += 1
    for one in range(len(sizes)):
        size1 = sizes[one]
        # No setting of this size and larger ones can lose less than this size alone.
        if pruning != _NO_PRUNING and n_rows // size1 * (size1 - 1) ** 2 >= best[4]:
            break
        for two in range(max(one + 1, first_large), len(sizes)):
            size2 = sizes[two]
            b2, divisor = _start(n_rows, size1, size2)
            if b2 < 0:
                continue
            b1, d1, d2 = (n_rows - size2 * b2) // size1, size2 // divisor, size1 // divisor
            last = b1 // d1
            loss = b1 * (size1 - 1) ** 2 + b2 * (size2 - 1) ** 2
            dearer = d2 * (size2 - 1) ** 2 - d1 * (size1 - 1) ** 2
            if pruning != _NO_PRUNING:
                if loss >= best[4]:
                    continue
                last = min(last, (best[4] - loss - 1) // dearer)
            if pruning == _FULL_PRUNING:
                step, tests = _find_first_valid(
                    rooms[one], rooms[two], counts, b1, b2, d1, d2, size1, size2, last, starts, ends
                )
                best[5] += tests
            else:
                step = np.int64(-1)
                for candidate in range(last + 1):
                    best[5] += 1
                    first, second = b1 - candidate * d1, b2 + candidate * d2
                    if _is_valid(rooms[one], rooms[two], counts, first, second, size1, size2):
                        step = np.int64(candidate)
                        break
            if step >= 0 and loss + step * dearer < best[4]:
                best[0], best[1], best[2], best[3] = size1, b1 - step * d1, size2, b2 + step * d2
                best[4] = loss + step * dearer
    return best


@entry("i8[:], i8, u8[:]r, i8[:]")
def most_frequent_first(counts, ell, ties, value_of_slot):  # type: ignore[no-untyped-def]
    """Buckets of `ell` different values, always the most frequent of those left; ties by random numbers.

    Sets value_of_slot [records] bucket by bucket and returns how many records are in buckets.
    """
    n_values = len(counts)
    # A heap of values by (count, tie), the largest at the root.
    left, keys, heap = counts.copy(), np.zeros(n_values, dtype=np.uint64), np.empty(n_values, dtype=np.int64)
    size = 0
    for value in range(n_values):
        if left[value] > 0:
            keys[value] = ties[value]
            size = _push(heap, size, value, left, keys)
    taken = np.empty(ell, dtype=np.int64)
    n_slots, draw = np.int64(0), np.int64(n_values)
    while size >= ell:
        for place in range(ell):
            taken[place] = heap[0]
            size = _pop(heap, size, left, keys)
        for value in taken:
            value_of_slot[n_slots] = value
            n_slots += 1
            left[value] -= 1
            if left[value] > 0:
                keys[value] = ties[draw]
                size = _push(heap, size, value, left, keys)
            draw += 1
    return n_slots


@inner
def _before(one, other, left, keys):  # type: ignore[no-untyped-def]
    return left[one] > left[other] or (left[one] == left[other] and keys[one] > keys[other])


@inner
def _push(heap, size, value, left, keys):  # type: ignore[no-untyped-def]
    place = size
    heap[place] = value
    while place > 0:
        above = (place - 1) // 2
        if not _before(heap[place], heap[above], left, keys):
            break
        heap[place], heap[above] = heap[above], heap[place]
        place = above
    return size + 1


@inner
def _pop(heap, size, left, keys):  # type: ignore[no-untyped-def]
    size -= 1
    heap[0] = heap[size]
    place = 0
    while True:
        below = 2 * place + 1
        if below >= size:
            break
        if below + 1 < size and _before(heap[below + 1], heap[below], left, keys):
            below += 1
        if not _before(heap[below], heap[place], left, keys):
            break
        heap[place], heap[below] = heap[below], heap[place]
        place = below
    return size
