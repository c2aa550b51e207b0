"""What somebody who knows BUREL learns from its groups, and what weakens that.

    python docs/studies/burel.py                    on generated census-shaped tables
    python docs/studies/burel.py --data folder      the later parts on the CSV files of a folder

Three parts, printed as Markdown and shown in docs/algorithms/burel.md: Bayes on tiny tables over every world and
many random choices; how many exchanges of values inside groups of a table of usual size the method gives away; and
what each way of retrieval loses.
"""

from __future__ import annotations

import argparse
import itertools
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.burel import Burel
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.value_buckets import curve_keys
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.files.tables import read_table
from lookalike.kernels.hilbert import retrieve
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import census

CASES = (("aaaabb", "cuts"), ("aaaabb", "curve"), *(("aaaaaabbb", way) for way in ("curve", "random:2", "random:3")))
"""Groups of aab, by cuts only where the table can be halved; windows only where they do not hold everybody."""
HONEST = 1 / 3
"""Whoever only reads the release believes b of anybody with 1/3."""
CLEARLY = 0.02
"""Random choices are sampled, so a belief counts as above 1/3 from this far on."""

Partition = frozenset[frozenset[int]]
Partitions = NDArray[np.int64]
"""A number for each run, the same for the same groups."""


class Learnt(NamedTuple):
    worst: float
    """The strongest belief in b, of anybody after any release that is not very rare."""
    above: float
    """How often the belief in b is clearly above what the group's counts say."""
    guessed: float
    """How often the likelier value of a record is its own."""


def method(way: str) -> Burel:
    kind, _, window = way.partition(":")
    # Without the split, which looks at values: this is about retrieval.
    return Burel(retrieve=kind, split="no", **({"window": int(window)} if window else {}))


def worlds(values: str) -> list[str]:
    return sorted({"".join(order) for order in itertools.permutations(values)})


def tiny_table(world: str, places: list[int]) -> Microdata:
    columns = (_column("place", places, ValueType.INTEGER), _column("value", list(world), ValueType.STRING))
    return Microdata.encode(Table(columns), Schema.of(qi=["place"], sensitive=["value"]))


def runs(way: str, data: Microdata, samples: int, rng: np.random.Generator) -> Partitions:
    """What comes out of one world, for as many random choices."""
    n_rows, bucket_of_record = data.n_rows, data.sensitive[:, 0].astype(np.int64)
    if way == "cuts":
        requirement = Requirement(column=0, ceilings=(Fraction(2, 3), Fraction(1, 3)))
        groups, _ = method(way).partition(data, [requirement], Randomness(1), silent)
        return _numbers(groups[np.newaxis])
    retrieval, keys, axes = method(way), curve_keys(data), axes_of(data)
    window = 1 if way == "curve" else int(retrieval.window)
    order = np.lexsort((keys, bucket_of_record))
    n_groups = n_rows // 3
    starts, turns = np.array([0, 2 * n_groups, n_rows]), np.array([[2, 1]] * n_groups)
    found = np.empty((samples, n_rows), dtype=np.int32)
    words = rng.integers(0, 1 << 62, (samples, n_groups, 1, 2)).astype(np.uint64)
    ranks = rng.random((samples, n_rows)) if way.startswith("random") else np.empty((samples, 0))
    for run in range(samples):
        retrieve(axes, keys[order], order, starts, turns, words[run], window, ranks[run], found[run])
    return _numbers(found)


def learn(values: str, way: str, places: list[int], samples: int) -> Learnt:
    rng = np.random.default_rng(len(way))
    each = [(world, runs(way, tiny_table(world, places), samples, rng)) for world in worlds(values)]
    names, flat = np.unique(np.concatenate([numbers for _, numbers in each]), return_inverse=True)
    weight, joint = np.zeros(len(names)), np.zeros((len(names), len(values)))
    for (world, numbers), releases in zip(each, np.split(flat, len(each)), strict=True):
        times = np.bincount(releases, minlength=len(names)) / len(numbers)
        weight += times
        joint += times[:, np.newaxis] * np.array([value == "b" for value in world])
    beliefs = joint / weight[:, np.newaxis]
    share = (weight / weight.sum())[:, np.newaxis] / len(values)
    usual = weight > weight.sum() / 1000
    return Learnt(
        float(beliefs[usual].max()),
        float((share * (beliefs > HONEST + CLEARLY)).sum()),
        float((share * np.maximum(beliefs, 1 - beliefs)).sum()),
    )


def tiny_part(tables: int, samples: int) -> Iterator[list[str]]:
    for values, way in CASES:
        places = [sorted(random.Random(table).sample(range(100), len(values))) for table in range(tables)]
        found = [learn(values, way, one, samples) for one in places]
        above, guessed = (sum(one[place] for one in found) / tables for place in (1, 2))
        yield [values, way, f"{max(one.worst for one in found):.2f}", _percent(above), _percent(guessed)]


def given_away(data: Microdata, requirements: tuple[Requirement, ...], swaps: int, split: str = "yes") -> float:
    """By cuts, whose only random choice is among equal records: the share of exchanges of two values inside a group
    after which the same method makes other groups, so that whoever knows it can rule the exchange out."""
    burel, rng = Burel(split=split), np.random.default_rng(5)
    groups, n_groups = burel.partition(data, requirements, Randomness(1), silent)
    made = _groups(groups)
    seen = 0
    for _ in range(swaps):
        members = np.flatnonzero(groups == rng.integers(n_groups))
        values = data.sensitive[members, 0]
        first = int(rng.integers(len(members)))
        others = np.flatnonzero(values != values[first])
        if not len(others):
            continue
        pair = members[[first, int(rng.choice(others))]]
        exchanged = data.sensitive.copy()
        exchanged[pair] = exchanged[pair[::-1]]
        again, _ = burel.partition(replace(data, sensitive=exchanged), requirements, Randomness(1), silent)
        seen += _groups(again) != made
    return seen / swaps


def losses(data: Microdata, requirements: tuple[Requirement, ...]) -> Iterator[list[str]]:
    for way in ("cuts", "curve", "random:2", "random:4", "random:16", "random:64"):
        release, _ = method(way).anonymize(data, requirements, Randomness(1), silent)
        yield [way, f"{pipeline.measure(data, release)[0]['gcp']:.3f}"]
    safe, _ = Groups(mode="strict").anonymize(data, requirements, Randomness(1), silent)
    yield ["groups:mode=strict, which is safe", f"{pipeline.measure(data, safe)[0]['gcp']:.3f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--tables", type=int, default=5, help="tiny tables to average over")
    parser.add_argument("--samples", type=int, default=20_000, help="random choices tried in each world")
    parser.add_argument("--swaps", type=int, default=300)
    parser.add_argument("--rows", type=int, default=10_000, help="of the generated table")
    options = parser.parse_args()
    heads = ["values", "retrieve", "worst belief", "beliefs above 1/3", "right guesses"]
    print_table(heads, tiny_part(options.tables, options.samples))
    files = sorted(options.data.glob("*.csv"), key=lambda path: path.stat().st_size) if options.data else []
    for table in [read_table(file) for file in files] or [census(options.rows, seed=3)]:
        names = table.names
        schema = Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]])
        data = Microdata.encode(table, schema)
        requirements = require(settle([Promise(BetaLikeness(3))], data), data)
        shares = [_percent(given_away(data, requirements, options.swaps, split)) for split in ("yes", "no")]
        print(f"{data.n_rows:,} records: by cuts {shares[0]} of {options.swaps} exchanges lead to other groups, "
              f"{shares[1]} without the split\n")  # fmt: skip
        print_table(["retrieve, split=no", "GCP"], losses(data, requirements))


def print_table(heads: list[str], rows: Iterator[list[str]]) -> None:
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)
    print()


def _groups(group_of_record: NDArray[np.int32]) -> Partition:
    members: dict[int, set[int]] = defaultdict(set)
    for record, group in enumerate(group_of_record.tolist()):
        members[group].add(record)
    return frozenset(map(frozenset, members.values()))


def _numbers(group_of_record: NDArray[np.int32]) -> Partitions:
    """One bit a pair of records: are they together?"""
    pairs = list(itertools.combinations(range(group_of_record.shape[1]), 2))
    together = np.stack([group_of_record[:, one] == group_of_record[:, other] for one, other in pairs], axis=1)
    return together.astype(np.int64) @ (1 << np.arange(len(pairs), dtype=np.int64))


def _column(name: str, cells: list[Any], type: ValueType) -> Column:
    values, codes = np.unique(np.array(cells, dtype=object), return_inverse=True)
    return Column(name, type, codes.astype(np.int32), values if type is ValueType.STRING else values.astype(np.int64))


def _percent(share: Fraction | float) -> str:
    return f"{float(share):.1%}".replace("%", " %")


if __name__ == "__main__":
    main()
