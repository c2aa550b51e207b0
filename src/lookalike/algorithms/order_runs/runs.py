"""The order of the records, and its runs: grown, or halved. Each can be played again by whoever knows it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.ceilings import least_room
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.errors import Unsupported, counted
from lookalike.randomness import Randomness

Places = NDArray[np.int64]

_WORDS = 1 << 64


def in_order(data: Microdata, order: str, rng: Randomness) -> Places:
    """Records by quasi-identifiers, or along a Hilbert curve; equal ones in random order."""
    shuffled = rng.permutation(data.n_rows)
    # The last key is the first to decide.
    keys = [*data.quasi[shuffled].T[::-1]]
    if order == "hilbert":
        from lookalike.algorithms.shared.value_buckets import curve_keys

        keys.append(curve_keys(data)[shuffled])
    return shuffled[np.lexsort(keys)]


@dataclass(frozen=True, eq=False)
class Rules:
    """What a run must satisfy, for the kernels; the least number of records, and by how many it grows."""

    rule: GroupRule
    least: int
    step: int

    @classmethod
    def of(cls, data: Microdata, requirements: Sequence[Requirement]) -> Rules:
        from lookalike.algorithms.shared.axes import rule_of

        rule = rule_of(data, requirements)
        least = max(rule.min_size, least_room(data, requirements))
        only_ceilings = all(requirement.only_ceilings for requirement in requirements)
        return cls(rule._replace(min_size=least), least, least if only_ceilings else 1)

    def counts(self) -> Places:
        """Scratch space for running counts."""
        return np.zeros(self.rule.values.shape, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Grown:
    """Runs of an order: run g is starts[g]:starts[g + 1]; records after the last are left out."""

    order: Places
    starts: Places
    remarks: tuple[str, ...] = ()

    @property
    def n_groups(self) -> int:
        return len(self.starts) - 1

    def group_of_record(self) -> NDArray[np.int32]:
        groups = np.full(len(self.order), -1, dtype=np.int32)
        groups[self.order[: self.starts[-1]]] = np.repeat(
            np.arange(self.n_groups, dtype=np.int32), np.diff(self.starts)
        )
        return groups


@dataclass(frozen=True, eq=False)
class Growth:
    """Runs that grow by steps until they may stand, and then on while a coin says so. Fits `contracts.Replay`."""

    rules: Rules
    order: Places
    least: int
    step: int
    again: Fraction
    tail_is_merged: bool

    def run(self, data: Microdata, coins: Randomness, tail: str, method: str) -> Grown:
        from lookalike.kernels.grouptest import tally_for
        from lookalike.kernels.growing import grow, merge_back

        rule, counts, tally = self.rules.rule, self.rules.counts(), tally_for(self.rules.rule)
        n_tests = data.n_rows // self.step
        starts = np.zeros(n_tests + 2, dtype=np.int64)
        again = np.uint64(min(math.ceil(self.again * _WORDS), _WORDS - 1))
        words = coins.words(n_tests + 1)
        n_runs = int(grow(rule, data.sensitive, self.order, self.step, words, again, starts, counts, tally))
        n_left = data.n_rows - int(starts[n_runs])
        if n_left == 0:
            return Grown(self.order, starts[: n_runs + 1])
        if tail == "suppress":
            if n_runs == 0:
                raise Unsupported(f"{method}: no run of the records may stand, so all would be suppressed. Use groups.")
            remark = f"{counted(n_left, 'record')} at the end of the order made no group and were suppressed."
            return Grown(self.order, starts[: n_runs + 1], (remark,))
        kept = int(merge_back(rule, data.sensitive, self.order, starts, n_runs, counts, tally))
        if kept < 0:
            raise Unsupported(f"{method}: not even all records as one group keep every promise. Ask for less.")
        remark = (
            f"{counted(n_left, 'record')} at the end of the order made no group and were merged into the group before, "
            f"which has {counted(data.n_rows - int(starts[kept]), 'record')} now."
        )
        return Grown(self.order, np.append(starts[: kept + 1], data.n_rows), (remark,) if n_runs else ())

    def part_of_place(self, size: int) -> Places:
        return np.arange(size) // self.step

    def weights(self, rows: NDArray[np.int32], dealings: Places) -> NDArray[np.float64]:
        from lookalike.kernels.grouptest import tally_for
        from lookalike.kernels.growing import growth_weights

        weights = np.empty(len(dealings))
        rule, again = self.rules.rule, float(self.again)
        growth_weights(rule, rows, dealings, self.step, again, weights, self.rules.counts(), tally_for(rule))
        return weights


@dataclass(frozen=True, eq=False)
class Halving:
    """Runs that are halved while both halves may stand. Fits `contracts.Replay`."""

    rules: Rules
    order: Places
    least: int
    step: int = 0
    again: Fraction = Fraction(0)
    tail_is_merged: bool = False

    def run(self, data: Microdata, method: str) -> Grown:
        from lookalike.kernels.grouptest import allowed, tally_for
        from lookalike.kernels.growing import halve

        rule, tally = self.rules.rule, tally_for(self.rules.rule)
        n_rows = data.n_rows
        if not allowed(rule, data.sensitive, self.order, 0, n_rows, tally):
            raise Unsupported(f"{method}: not even all records as one group keep every promise. Ask for less.")
        starts = np.zeros(n_rows // self.least + 2, dtype=np.int64)
        stack = np.zeros((n_rows.bit_length() + 3, 2), dtype=np.int64)
        n_runs = int(halve(rule, data.sensitive, self.order, starts, stack, tally))
        return Grown(self.order, starts[: n_runs + 1])

    def part_of_place(self, size: int) -> Places:
        if size // 2 < self.least:
            return np.zeros(size, dtype=np.int64)
        return (np.arange(size) >= (size + 1) // 2).astype(np.int64)

    def weights(self, rows: NDArray[np.int32], dealings: Places) -> NDArray[np.float64]:
        from lookalike.kernels.grouptest import tally_for
        from lookalike.kernels.growing import halving_weights

        weights = np.empty(len(dealings))
        rule = self.rules.rule
        halving_weights(rule, rows, dealings, weights, self.rules.counts(), tally_for(rule))
        return weights
