"""symmetric-grouping: halve an order of the records again and again while both halves may stand."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.order_runs import READER, Grown, Places, Rules, Runs, in_order
from lookalike.data.contracts import Promise, Replay, Undivided
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported
from lookalike.randomness import Randomness


@dataclass(frozen=True)
class SymmetricGrouping(Runs):
    """Halves of the ordered records, halved again while both may stand: nearly nothing for the minimality attack.

    >>> str(SymmetricGrouping(order="hilbert"))
    'symmetric-grouping:order=hilbert'
    """

    name: ClassVar[str] = "symmetric-grouping"
    kernels: ClassVar[Collection[str]] = ("grouptest.is_group_allowed", "growing.halve")
    in_parts: ClassVar[Undivided] = Undivided(
        "it halves one order of the whole table; use groups with --adversary knows-method"
    )

    def cautions(self) -> list[str]:
        return [
            "Anyone who knows the method may believe a value with 1/(l - 1/2) instead of 1/l, because a group tells "
            "that "
            f"its halves could not stand. {READER}"
        ]

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        if self.anatomize == "true" and not requirement.only_ceilings:
            return "anatomize keeps the number of records and ceilings on values, no more"
        return None

    def grow(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        return self._halving(data, rules, rng).run(data, self.name)

    def replay(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> Replay | None:
        # Buckets inside of groups do not say which records shared a group.
        return None if self.anatomize == "true" else self._halving(data, Rules.of(data, requirements), rng)

    def _halving(self, data: Microdata, rules: Rules, rng: Randomness) -> _Halving:
        return _Halving(rules, in_order(data, self.order, rng.child("ties")), rules.least)


@dataclass(frozen=True, eq=False)
class _Halving:
    """Runs that are halved while both halves may stand. Fits `contracts.Replay`."""

    rules: Rules
    order: Places
    least: int
    step: int = 0
    again: Fraction = Fraction(0)
    tail_is_merged: bool = False

    def run(self, data: Microdata, method: str) -> Grown:
        from lookalike.kernels.grouptest import is_group_allowed, tally_for
        from lookalike.kernels.growing import halve

        rule, tally = self.rules.rule, tally_for(self.rules.rule)
        n_rows = data.n_rows
        if not is_group_allowed(rule, data.sensitive, self.order, 0, n_rows, tally):
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
