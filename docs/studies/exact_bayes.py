"""What readers of tiny tables can believe: every way to give the values to the records is gone through.

The first part of `adversaries.py`.
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from printing import percent, say, show

from lookalike.algorithms.groups import EFFORTS, Run
from lookalike.algorithms.groups.free import free_groups
from lookalike.algorithms.groups.strict import strict_groups
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.models.l_diversity import LDiversity
from lookalike.randomness import Randomness

MODES = ("free", "strict")

World = str
"""A way to give the values to the records: the value of each record, one letter each."""
Seen = frozenset[tuple[frozenset[int], str]]
"""What is published, and more: who is in which group, and the values of the group without their order."""
Path_ = tuple[str | int, ...]
Script = dict[Path_, NDArray[np.int64]]


class Case(NamedTuple):
    values: str
    ell: int
    tables: int = 3
    """How many tables to average over: records at random places on a line."""


CASES = (
    Case("aabbcc", 2),
    Case("aabbcd", 2),
    Case("aabcde", 2),
    Case("aaabcd", 2),
    Case("aabbcc", 3),
    Case("aabcde", 3),
    Case("abcdef", 3, tables=1),
)
LARGE_CASES = (Case("aabbccd", 2, tables=1),)
CASES_BY_SEEDS = (Case("aabbcc", 2), Case("aaabcd", 2))
SEED_NUMBERS = (1, 4, 16, 64)


@dataclass(frozen=True)
class Beliefs:
    """What an adversary who knows the method believes after each release that can come out."""

    weights: dict[Seen, int]
    """In how many of the equally likely runs the release comes out."""
    counts: dict[Seen, list[Counter[str]]]
    """In how many of these each record has each value."""

    @classmethod
    def after(cls, runs: Iterable[tuple[World, Seen]]) -> Beliefs:
        weights: dict[Seen, int] = {}
        counts: dict[Seen, list[Counter[str]]] = {}
        for world, release in runs:
            weights[release] = weights.get(release, 0) + 1
            records = counts.setdefault(release, [Counter() for _ in world])
            for record, value in enumerate(world):
                records[record][value] += 1
        return cls(weights, counts)

    def posteriors(self, release: Seen) -> list[dict[str, Fraction]]:
        """Of each record: how likely each value is, given the release."""
        weight = self.weights[release]
        return [{value: Fraction(count, weight) for value, count in one.items()} for one in self.counts[release]]

    def learn(self, ell: int) -> Learnt:
        """Summed up over all releases, weighted by how likely they are."""
        worst, above, guessed = Fraction(0), Fraction(0), Fraction(0)
        total = sum(self.weights.values())
        for release, weight in self.weights.items():
            strongest = [max(one.values()) for one in self.posteriors(release)]
            part = Fraction(weight, total * len(strongest))
            worst = max(worst, *strongest)
            above += part * sum(belief > Fraction(1, ell) for belief in strongest)
            guessed += part * sum(strongest)
        return Learnt(worst, above, guessed)


class Learnt(NamedTuple):
    worst: Fraction
    """The strongest belief about anybody after any release."""
    above: Fraction
    """How often the strongest belief about a record is above 1/l."""
    guessed: Fraction
    """How often the likeliest value of a record is its true one."""

    def __str__(self) -> str:
        return f"{self.worst}; {percent(self.above)}; {percent(self.guessed)}"

    @classmethod
    def over(cls, tables: Sequence[Learnt]) -> Learnt:
        above, guessed = (sum((one[place] for one in tables), Fraction(0)) / len(tables) for place in (1, 2))
        return cls(max(one.worst for one in tables), above, guessed)


def worlds_of(values: str) -> list[World]:
    return sorted(set(map("".join, itertools.permutations(values))))


def places_of(n_records: int, table: int) -> list[int]:
    return sorted(random.Random(table).sample(range(100), n_records))


def tiny_table(world: World, places: Sequence[int]) -> Microdata:
    columns = (_column("place", places, ValueType.INTEGER), _column("value", list(world), ValueType.STRING))
    return Microdata.encode(Table(columns), Schema.of(qi=["place"], sensitive=["value"]))


def required(data: Microdata, ell: int) -> tuple[Requirement, ...]:
    return (LDiversity(ell).requirement(data.counts(0), data.domains.sensitive[0], 0),)


def seen(groups: Iterable[NDArray[np.int64]], world: World) -> Seen:
    return frozenset(
        (frozenset(members.tolist()), "".join(sorted(world[member] for member in members))) for members in groups
    )


def seeded_runs(mode: str, values: str, ell: int, places: Sequence[int], seeds: int) -> Iterator[tuple[World, Seen]]:
    """What comes out for every world and every seed."""
    engine = free_groups if mode == "free" else strict_groups
    for world in worlds_of(values):
        data = tiny_table(world, places)
        requirements = required(data, ell)
        for seed in range(seeds):
            yield world, seen(engine(data, requirements, 0, EFFORTS["fast"], _run_with(Randomness(seed))), world)


def strict_runs(values: str, ell: int, places: Sequence[int]) -> Iterator[tuple[World, Seen]]:
    """What comes out of strict for every world and every random choice, each as likely as the other.

    The counts are those of the whole table, so every world has as many choices.
    """
    for world in worlds_of(values):
        data = tiny_table(world, places)
        requirements = required(data, ell)
        asked: dict[Path_, int] = {}
        strict_groups(data, requirements, 0, EFFORTS["fast"], _run_with(Tape({}, asked)))
        for script in scripts(asked, world):
            groups = strict_groups(data, requirements, 0, EFFORTS["fast"], _run_with(Tape(script, {})))
            yield world, seen(groups, world)


def scripts(asked: dict[Path_, int], world: World) -> Iterator[Script]:
    """Every combination of the random choices that matter.

    Of the order in which a cell's records are dealt out only the order within each value matters. What is drawn later
    looks at columns that come in every order; there the script stays empty, as if the adversary knew it.
    """
    options: list[list[tuple[Path_, NDArray[np.int64]]]] = []
    for path, count in asked.items():
        if path[-1] == "blocks":
            if count != len(world):
                raise ValueError("all choices are gone through only where the table is a single cell")
            options.append([(path, order) for order in orders_within_values(world)])
        elif "block" in path and path[-2] == "columns":
            options.append([(path, np.array(order)) for order in itertools.permutations(range(count))])
    for chosen in itertools.product(*options):
        yield dict(chosen)


def orders_within_values(world: World) -> Iterator[NDArray[np.int64]]:
    records = [[record for record, value in enumerate(world) if value == one] for one in sorted(set(world))]
    for orders in itertools.product(*map(itertools.permutations, records)):
        yield np.array([record for order in orders for record in order])


class Tape:
    """Randomness played from a script; what is not scripted leaves things in order. Notes what it is asked for."""

    def __init__(self, script: Script, asked: dict[Path_, int], path: Path_ = ()) -> None:
        self.script, self.asked, self.path = script, asked, path

    def child(self, *label: str | int) -> Tape:
        return Tape(self.script, self.asked, (*self.path, *label))

    def permutation(self, count: int) -> NDArray[np.int64]:
        self.asked[self.path] = count
        return self.script.get(self.path, np.arange(count)).copy()

    def integers(self, bound: int, count: int) -> NDArray[np.int64]:
        return np.zeros(count, dtype=np.int64)


def exact_bayes(cases: Sequence[Case], seeds: int, jobs: int) -> list[list[str]]:
    """One line a case: free and strict with these seeds, and strict with every random choice."""
    tasks = [
        (how, case, places_of(len(case.values), table), seeds)
        for case in cases
        for how in ("free", "strict", "every choice")
        for table in range(case.tables)
    ]
    found: dict[tuple[Case, str], list[Learnt]] = {}
    # The longest first, so that no process is left with a long one at the end.
    tasks.sort(key=lambda task: -len(worlds_of(task[1].values)))
    for task, learnt in zip(tasks, _in_processes(_learnt_in_case, tasks, jobs), strict=True):
        found.setdefault((task[1], task[0]), []).append(learnt)
    rows = []
    for case in cases:
        free, few, every = (Learnt.over(found[case, how]) for how in ("free", "strict", "every choice"))
        row = [str(case.ell), case.values, str(len(worlds_of(case.values))), str(case.tables)]
        rows.append(row + [str(one) for one in (free, few, every)])
    return rows


def by_seeds(cases: Sequence[Case], numbers: Sequence[int], jobs: int) -> list[list[str]]:
    """How what is learnt, on one table a case, changes with the number of seeds."""
    tasks = [(mode, case, tuple(numbers)) for case in cases for mode in MODES]
    found = dict(zip(tasks, _in_processes(_learnt_by_seeds, tasks, jobs), strict=True))
    return [
        [str(case.ell), case.values, str(number), *(str(found[mode, case, tuple(numbers)][place]) for mode in MODES)]
        for case in cases
        for place, number in enumerate(numbers)
    ]


def _learnt_in_case(task: tuple[str, Case, list[int], int]) -> Learnt:
    how, case, places, seeds = task
    if how == "every choice":
        return Beliefs.after(strict_runs(case.values, case.ell, places)).learn(case.ell)
    return Beliefs.after(seeded_runs(how, case.values, case.ell, places, seeds)).learn(case.ell)


def _learnt_by_seeds(task: tuple[str, Case, tuple[int, ...]]) -> list[Learnt]:
    mode, case, numbers = task
    most = max(numbers)
    runs = list(seeded_runs(mode, case.values, case.ell, places_of(len(case.values), 0), most))
    return [
        Beliefs.after(run for place, run in enumerate(runs) if place % most < number).learn(case.ell)
        for number in numbers
    ]


def _run_with(rng: Any) -> Run:
    return Run(rng, map, lambda share, loss: None, lambda: False)


def _column(name: str, cells: Sequence[Any], type: ValueType) -> Column:
    values, codes = np.unique(np.array(cells, dtype=object), return_inverse=True)
    return Column(name, type, codes.astype(np.int32), values if type is ValueType.STRING else values.astype(np.int64))


def _in_processes(work: Callable[[Any], Any], tasks: Sequence[Any], jobs: int) -> list[Any]:
    if jobs == 1:
        return [work(task) for task in tasks]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(work, tasks))


def show_exact(options: argparse.Namespace) -> None:
    begin = time.monotonic()
    cases = (*CASES, *LARGE_CASES) if options.large else CASES
    say("Exact Bayes. In each cell: worst belief; beliefs above 1/l; guessed right.\n")
    few = f"strict, {options.seeds} seeds"
    header = ["l", "values", "worlds", "tables", f"free, {options.seeds} seeds", few, "strict, every choice"]
    show(header, exact_bayes(cases, options.seeds, options.jobs))
    say("The same by the number of seeds, on one table each.\n")
    show(["l", "values", "seeds", *MODES], by_seeds(CASES_BY_SEEDS, SEED_NUMBERS, options.jobs))
    say(f"This part took {time.monotonic() - begin:.0f} s.\n")
