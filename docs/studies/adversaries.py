"""What adversaries learn from releases of `groups`, in both modes.

    python docs/studies/adversaries.py                    both parts, on a generated census-shaped table
    python docs/studies/adversaries.py --data folder      the second part on the CSV files of a folder
    python docs/studies/adversaries.py --part exact       only the first part

The first part is exact Bayes on tiny tables: every way to give the values to the records is gone through. The second is
an attacker who learns from a release of usual size how values go with quasi-identifiers. Tables are printed as Markdown
and shown in docs/studies/adversaries.md.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import Groups
from lookalike.algorithms.groups.effort import EFFORTS, Run
from lookalike.algorithms.groups.free import free_groups
from lookalike.algorithms.groups.strict import strict_groups
from lookalike.errors import Infeasible
from lookalike.metrics import METRICS
from lookalike.microdata import Column, Microdata, Table
from lookalike.models import LDiversity
from lookalike.publication import read_table
from lookalike.randomness import Randomness
from lookalike.release import Extents, Grouped, Ranges
from lookalike.requirement import Requirement
from lookalike.samples import census
from lookalike.schema import Schema, ValueType

MODES = ("free", "strict")

# --- Exact Bayes on tiny tables ---

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

    def learnt(self, ell: int) -> Learnt:
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
        return f"{self.worst}; {_percent(self.above)}; {_percent(self.guessed)}"

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
        return Beliefs.after(strict_runs(case.values, case.ell, places)).learnt(case.ell)
    return Beliefs.after(seeded_runs(how, case.values, case.ell, places, seeds)).learnt(case.ell)


def _learnt_by_seeds(task: tuple[str, Case, tuple[int, ...]]) -> list[Learnt]:
    mode, case, numbers = task
    most = max(numbers)
    runs = list(seeded_runs(mode, case.values, case.ell, places_of(len(case.values), 0), most))
    return [
        Beliefs.after(run for place, run in enumerate(runs) if place % most < number).learnt(case.ell)
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


# --- An attacker who learns ---

SMOOTHING = 1.0
ROUNDS_OF_RELEARNING = 20


@dataclass(frozen=True)
class NaiveBayes:
    log_prior: NDArray[np.float64]
    """[values]"""
    log_likelihoods: list[NDArray[np.float64]]
    """[codes, values] one a quasi-identifier."""

    @classmethod
    def learnt(cls, cells: Sequence[NDArray[np.float64]], values: NDArray[np.float64]) -> NaiveBayes:
        """From units (groups or records): how their weight lies on the codes, and how much of each value they have."""
        likelihoods = []
        for spread in cells:
            together = spread.T @ values + SMOOTHING
            likelihoods.append(np.log(together / together.sum(axis=0)))
        totals = values.sum(axis=0) + SMOOTHING
        return cls(np.log(totals / totals.sum()), likelihoods)

    def log_likelihood(self, quasi: NDArray[np.int32]) -> NDArray[np.float64]:
        """[records, values]"""
        total = np.zeros((len(quasi), len(self.log_prior)))
        for place, table in enumerate(self.log_likelihoods):
            total += table[quasi[:, place]]
        return total


def spread_over_codes(extents: Extents, n_codes: int, missing_code: int) -> NDArray[np.float64]:
    """[units, codes] a weight of 1 a unit, divided evenly among the codes that its cell may stand for."""
    if isinstance(extents, Ranges):
        codes = np.arange(n_codes)
        inside = (extents.lows[:, None] <= codes) & (codes <= extents.highs[:, None])
        if missing_code < n_codes:
            inside[:, missing_code] |= extents.missing
    else:
        inside = np.zeros((len(extents), n_codes), dtype=np.bool_)
        inside[np.repeat(np.arange(len(extents)), extents.sizes), extents.members] = True
    weights: NDArray[np.float64] = inside / inside.sum(axis=1, keepdims=True)
    return weights


@dataclass(frozen=True)
class Attacks:
    """Shares of records whose value is guessed right."""

    any_value: float
    """Learnt from the release; any value of the table may be guessed."""
    in_group: float
    """The same, but told the record's group."""
    relearnt: float
    """Told everybody's quasi-identifiers and groups, and learnt again from what is most plausible so far."""
    in_group_knowing: float
    """Told the record's group, learnt from the original table."""

    @classmethod
    def mean(cls, several: Sequence[Attacks]) -> Attacks:
        return cls(*np.mean([list(vars(one).values()) for one in several], axis=0).tolist())


def exact_cells(data: Microdata) -> list[NDArray[np.float64]]:
    return [np.eye(domain.n_codes)[data.quasi[:, place]] for place, domain in enumerate(data.domains.quasi)]


def exact_values(data: Microdata) -> NDArray[np.float64]:
    return np.eye(data.domains.sensitive[0].n_codes)[data.sensitive[:, 0]]


def attacked(data: Microdata, release: Grouped, group_of_record: NDArray[np.int32]) -> Attacks:
    """How well each attacker guesses the sensitive value of every record of the original."""
    truth, n_values, n_groups = data.sensitive[:, 0], data.domains.sensitive[0].n_codes, len(release.extents[0])
    values_of_group = np.zeros((n_groups, n_values))
    np.add.at(values_of_group, (release.group_of_row, release.sensitive[:, 0]), 1.0)
    cells = [
        spread_over_codes(extents, domain.n_codes, domain.missing_code)
        for extents, domain in zip(release.extents, data.domains.quasi, strict=True)
    ]
    with np.errstate(divide="ignore"):
        log_share = np.log(values_of_group)[group_of_record]

    def right(scores: NDArray[np.float64]) -> float:
        return float(np.mean(scores.argmax(axis=1) == truth))

    reader = NaiveBayes.learnt(cells, values_of_group)
    likelihood = reader.log_likelihood(data.quasi)
    exact = exact_cells(data)
    plausible = likelihood + log_share
    for _ in range(ROUNDS_OF_RELEARNING):
        weights = np.exp(plausible - plausible.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        plausible = NaiveBayes.learnt(exact, weights).log_likelihood(data.quasi) + log_share
    knowing = NaiveBayes.learnt(exact, exact_values(data))
    return Attacks(
        any_value=right(likelihood + reader.log_prior),
        in_group=right(likelihood + log_share),
        relearnt=right(plausible),
        in_group_knowing=right(knowing.log_likelihood(data.quasi) + log_share),
    )


def released(data: Microdata, mode: str, ell: int, seed: int, cell: int = 0) -> tuple[Grouped, NDArray[np.int32]]:
    """A release, and the group of each record. The size of cells is that of the strict mode."""
    algorithm = Groups(mode=mode, cell=cell if mode == "strict" else 0)
    release, linkage = algorithm.anonymize(data, required(data, ell), Randomness(seed), _untold)
    group_of_record = np.empty(data.n_rows, dtype=np.int32)
    group_of_record[linkage.record_of_row] = release.group_of_row
    return release, group_of_record


def _untold(step: str, share: float, note: str = "") -> None:
    """Nobody watches the progress."""


def most_frequent(data: Microdata) -> float:
    return float(data.counts(0).max() / data.n_rows)


def from_original(data: Microdata) -> float:
    """The naive Bayes that learns from the original table, and any value may be guessed."""
    knowing = NaiveBayes.learnt(exact_cells(data), exact_values(data))
    scores = knowing.log_likelihood(data.quasi) + knowing.log_prior
    return float(np.mean(scores.argmax(axis=1) == data.sensitive[:, 0]))


def interval(share: float, n_records: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.959964
    middle = share + z * z / (2 * n_records)
    half = z * math.sqrt(share * (1 - share) / n_records + (z / (2 * n_records)) ** 2)
    return (middle - half) / (1 + z * z / n_records), (middle + half) / (1 + z * z / n_records)


def learning_attacks(data: Microdata, ells: Sequence[int], releases: int, cell: int) -> list[list[str]]:
    rows = []
    for ell, mode in itertools.product(ells, MODES):
        losses, attacks = [], []
        row = [str(ell), mode, "refused", _percent(1 / ell), *[""] * len(fields(Attacks))]
        with suppress(Infeasible):
            for seed in range(1, releases + 1):
                release, group_of_record = released(data, mode, ell, seed, cell)
                losses.append(METRICS["gcp"]().measure(release, data))
                attacks.append(attacked(data, release, group_of_record))
            row[2] = f"{np.mean(losses):.3f}"
            row[4:] = [_with_interval(share, data.n_rows) for share in vars(Attacks.mean(attacks)).values()]
        rows.append(row)
    return rows


def coded_table(table: Table) -> Microdata:
    """All columns quasi-identifiers but the last, which is sensitive; age and education are numbers."""
    *quasi, sensitive = table.names
    categorical = [name for name in table.names if name.casefold() not in ("age", "education")]
    return Microdata.encode(table, Schema.of(qi=quasi, sensitive=[sensitive], categorical=categorical))


# --- Printing ---


def _percent(share: float | Fraction) -> str:
    return f"{100 * float(share):.1f} %"


def _with_interval(share: float, n_records: int) -> str:
    low, high = interval(share, n_records)
    return f"{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _say(text: str = "") -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _show(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    for line in (header, ["-" * width for width in widths], *rows):
        _say("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    _say()


def _show_exact(options: argparse.Namespace) -> None:
    begin = time.monotonic()
    cases = (*CASES, *LARGE_CASES) if options.large else CASES
    _say("Exact Bayes. In each cell: worst belief; beliefs above 1/l; guessed right.\n")
    few = f"strict, {options.seeds} seeds"
    header = ["l", "values", "worlds", "tables", f"free, {options.seeds} seeds", few, "strict, every choice"]
    _show(header, exact_bayes(cases, options.seeds, options.jobs))
    _say("The same by the number of seeds, on one table each.\n")
    _show(["l", "values", "seeds", *MODES], by_seeds(CASES_BY_SEEDS, SEED_NUMBERS, options.jobs))
    _say(f"This part took {time.monotonic() - begin:.0f} s.\n")


def _show_learning(options: argparse.Namespace) -> None:
    paths = sorted(options.data.glob("*.csv")) if options.data else []
    tables = {path.name: read_table(path) for path in paths} or {"stand-in": census(options.rows)}
    for name, table in tables.items():
        data = coded_table(table)
        baselines = [("most frequent value", most_frequent(data)), ("learnt from the original", from_original(data))]
        _say(f"Learning attackers; {name}, {data.n_rows:,} records, mean of {options.releases} releases.\n")
        _show(["guess", "right"], [[said, _with_interval(share, data.n_rows)] for said, share in baselines])
        header = ["l", "mode", "GCP", "1/l", "any value", "in group", "relearnt", "in group, from original"]
        _show(header, learning_attacks(data, options.ell, options.releases, options.cell))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of coded columns, the last one sensitive")
    parser.add_argument("--rows", type=int, default=10_000, help="of the generated table")
    parser.add_argument("--part", choices=("exact", "learning", "both"), default="both")
    parser.add_argument("--seeds", type=int, default=8, help="that the engine may run with, in the exact part")
    parser.add_argument("--large", action="store_true", help="also an exact case of seven records; takes minutes")
    parser.add_argument("--jobs", type=int, default=2, help="processes of the exact part")
    parser.add_argument("--ell", type=int, nargs="+", default=[5, 10], help="of the learning part")
    parser.add_argument("--cell", type=int, default=0, help="least records in a cell of strict, in the learning part")
    parser.add_argument("--releases", type=int, default=3, help="that the learning part averages over")
    options = parser.parse_args()
    if options.part != "learning":
        _show_exact(options)
    if options.part != "exact":
        _show_learning(options)


if __name__ == "__main__":
    main()
