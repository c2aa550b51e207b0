"""Exact Bayes on tiny tables: every world, and every random choice of a method that depends on values or columns."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema, ValueType
from tests.strategies import column_of

Path = tuple[str | int, ...]
Script = Mapping[Path, np.ndarray]
Choices = Callable[[Path, int, str], Iterator[np.ndarray] | None]
"""For a place where a permutation of so many is drawn, and the world: those to go through, each as likely; or None."""


NUMBERS = "numbers"
"""Ends the path of a place where a whole number below a bound is drawn; its choices are arrays of one number."""


class Tape:
    """Randomness played from a script; what is not scripted leaves things in order. Notes what it is asked for."""

    def __init__(self, script: Script, asked: dict[Path, int], path: Path = ()) -> None:
        self.script, self.asked, self.path = script, asked, path

    def child(self, *label: str | int) -> Tape:
        return Tape(self.script, self.asked, (*self.path, *label))

    def permutation(self, count: int) -> np.ndarray:
        self.asked[self.path] = count
        return self.script.get(self.path, np.arange(count)).copy()

    def integers(self, bound: int, count: int) -> np.ndarray:
        self.asked[(*self.path, NUMBERS)] = bound
        return np.full(count, self.script.get((*self.path, NUMBERS), np.zeros(1))[0], dtype=np.int64)

    def words(self, count: int) -> np.ndarray:
        return np.arange(1, count + 1, dtype=np.uint64)

    def shuffle(self, values: np.ndarray) -> np.ndarray:
        return values[self.permutation(len(values))]


def tiny_table(world: str, points: list[int]) -> Microdata:
    """Records at points of a line, with one letter each for sensitive value."""
    columns = column_of("x", points, ValueType.INTEGER), column_of("s", list(world), ValueType.STRING)
    return Microdata.encode(Table(columns), Schema.of(qi=["x"], sensitive=["s"]))


def worlds(values: str) -> list[str]:
    """Every way to give the values to the records."""
    return sorted(set(map("".join, itertools.permutations(values))))


def orders_within_values(values: str) -> Iterator[np.ndarray]:
    """Permutations, one for each way in which the records of every value can be ordered."""
    of_value = [[place for place, value in enumerate(values) if value == one] for one in sorted(set(values))]
    for orders in itertools.product(*map(itertools.permutations, of_value)):
        yield np.array([place for order in orders for place in order])


def all_orders(count: int) -> Iterator[np.ndarray]:
    return map(np.array, itertools.permutations(range(count)))


def exact_posteriors(
    values: str, points: list[int], publish: Callable[[Microdata, Any, str], Hashable | None], choices: Choices
) -> dict[tuple[Any, int, str], Fraction]:
    """P(record has value | release) for every release that can come out; None of `publish` is a refusal."""
    weight: dict[Hashable, Fraction] = defaultdict(Fraction)
    joint: dict[tuple[Hashable, int, str], Fraction] = defaultdict(Fraction)
    for world in worlds(values):
        data = tiny_table(world, points)
        asked: dict[Path, int] = {}
        if publish(data, Tape({}, asked), world) is None:
            continue
        options = []
        for path, count in asked.items():
            orders = choices(path, count, world)
            if orders is not None:
                options.append([(path, order) for order in orders])
        chance = Fraction(1)
        for ways in options:
            chance /= len(ways)
        for script in itertools.product(*options):
            release = publish(data, Tape(dict(script), {}), world)
            weight[release] += chance
            for record, value in enumerate(world):
                joint[release, record, value] += chance
    return {key: part / weight[key[0]] for key, part in joint.items()}
