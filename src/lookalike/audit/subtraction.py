"""What follows about paths from groups that are added to and subtracted from each other.

Every class of every release shows the sum of its paths. Two things follow in whole numbers:

    differences   a class that holds another one (of any release) less that one is a sum of the other paths, and so on
                  with what was found this way: two persons who left one after the other are found together
    solutions     paths on which every solution of all these equations agrees, by Gaussian elimination over a large
                  prime: the numbers of values on them are known, whatever they are elsewhere

A path that is known is never overlooked: a solution of the equations without right-hand side, drawn at random, has a
zero there. That it has one elsewhere by chance has a probability below 1e-18, and then a release is refused that need
not be. Elimination takes the column with the fewest entries and subtracts shorter rows from longer ones, so that two
releases cost O(n log n); where more releases fill the rows up, it stops after `_MOST_STEPS` and says so.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lookalike.randomness import Randomness

_PRIME = (1 << 61) - 1
_MOST_STEPS = 20_000_000
_MOST_SETS = 200_000

Counts = dict[int, int]
"""How many persons have each value; values that nobody has are left out."""


@dataclass
class Sums:
    """Sets of paths, each with the numbers of values on it."""

    held: dict[frozenset[int], Counts] = field(default_factory=dict)
    contradicted: set[int] = field(default_factory=set)
    """Paths about which releases contradict each other."""
    complete: bool = True
    """Whether everything was worked out within the limits."""

    def add(self, members: frozenset[int], counts: Counts) -> bool:
        """Whether it is new; what is in the sets already must agree."""
        if not members:
            return False
        if any(count < 0 for count in counts.values()):
            self.contradicted |= members
            return False
        known = self.held.setdefault(members, counts)
        if known is not counts and known != counts:
            self.contradicted |= members
        return known is counts


def subtract_all(classes: Iterable[tuple[frozenset[int], Counts]]) -> Sums:
    """All that follows from the sums of these classes, classes themselves included."""
    sums = Sums()
    for members, counts in classes:
        sums.add(members, {value: count for value, count in counts.items() if count})
    _solve(sums)
    _subtract_held(sums)
    return sums


def _subtract_held(sums: Sums) -> None:
    """Sets less the sets that they hold, until nothing new is found."""
    sets_of: dict[int, list[frozenset[int]]] = defaultdict(list)
    for members in sums.held:
        for path in members:
            sets_of[path].append(members)
    waiting = sorted(sums.held, key=len)
    while waiting:
        one = waiting.pop()
        rarest = min(one, key=lambda path: len(sets_of[path]))
        pairs = [(one, other) for other in sets_of[rarest] if len(other) > len(one) and one < other]
        near = {other for path in one for other in sets_of[path] if len(other) < len(one) and other < one}
        pairs += [(other, one) for other in sorted(near, key=sorted)]
        for inner, outer in pairs:
            counts = dict(sums.held[outer])
            for value, count in sums.held[inner].items():
                counts[value] = counts.get(value, 0) - count
            rest = outer - inner
            if sums.add(rest, {value: count for value, count in counts.items() if count}):
                if len(sums.held) > _MOST_SETS:
                    sums.complete = False
                    return
                for path in rest:
                    sets_of[path].append(rest)
                waiting.append(rest)


@dataclass
class _Row:
    terms: dict[int, int]
    """By path, its factor."""
    sums: Counts

    def subtract(self, other: _Row, factor: int) -> int:
        """Take off another row, so many times; the number of steps."""
        for mine, theirs in ((self.terms, other.terms), (self.sums, other.sums)):
            for key, number in theirs.items():
                left = (mine.get(key, 0) - factor * number) % _PRIME
                if left:
                    mine[key] = left
                else:
                    mine.pop(key, None)
        return len(other.terms) + len(other.sums)


def _solve(sums: Sums) -> None:
    """Add the paths on which all solutions agree, each as a set by itself."""
    rows = [_Row(dict.fromkeys(members, 1), dict(counts)) for members, counts in sums.held.items()]
    firsts = [min(members) for members in sums.held]
    rows_of: dict[int, set[int]] = defaultdict(set)
    for number, row in enumerate(rows):
        for path in row.terms:
            rows_of[path].add(number)
    solved: list[tuple[int, _Row]] = []
    queue = [(len(found), path) for path, found in rows_of.items()]
    heapq.heapify(queue)
    n_steps = 0
    while queue:
        size, path = heapq.heappop(queue)
        if size != len(rows_of[path]) or not size:
            continue
        chosen = min(rows_of[path], key=lambda number: (len(rows[number].terms), number))
        row, touched = rows[chosen], {*rows[chosen].terms}
        inverse = pow(row.terms[path], -1, _PRIME)
        for number in rows_of[path] - {chosen}:
            other = rows[number]
            n_steps += other.subtract(row, other.terms[path] * inverse % _PRIME)
            for changed in row.terms:
                (rows_of[changed].add if changed in other.terms else rows_of[changed].discard)(number)
            if not other.terms and other.sums:
                sums.contradicted.add(firsts[number])
        for member in row.terms:
            rows_of[member].discard(chosen)
        solved.append((path, row))
        for member in touched:
            heapq.heappush(queue, (len(rows_of[member]), member))
        if n_steps > _MOST_STEPS:
            sums.complete = False
            return
    _substitute(sums, solved, [*rows_of])


def _substitute(sums: Sums, solved: Sequence[tuple[int, _Row]], paths: Sequence[int]) -> None:
    """From the last row solved to the first: a solution of the equations, and one of those without right-hand side."""
    weights = (int(word) % (_PRIME - 1) + 1 for word in Randomness(0).words(len(paths)))
    done = {path for path, _ in solved}
    free = {path: weight for path, weight in zip(paths, weights, strict=False) if path not in done}
    values: dict[int, Mapping[int, int]] = {}
    for path, row in reversed(solved):
        inverse = pow(row.terms[path], -1, _PRIME)
        rest, found = 0, dict(row.sums)
        for other, factor in row.terms.items():
            if other == path:
                continue
            rest += factor * free[other]
            for value, number in values.get(other, {}).items():
                found[value] = (found.get(value, 0) - factor * number) % _PRIME
        free[path] = -rest * inverse % _PRIME
        values[path] = {value: number * inverse % _PRIME for value, number in found.items() if number}
        if not free[path]:
            # A number below zero is a large one here.
            signed = ((value, (number + _PRIME // 2) % _PRIME - _PRIME // 2) for value, number in values[path].items())
            sums.add(frozenset((path,)), dict(signed))
