"""Groups that are runs of the records in an order by quasi-identifiers.

    greedy-grouping      grow a group until it may stand, then start the next
    random-grouping      the same, but a coin may make a group grow on although it need not
    symmetric-grouping   halve the list again and again while both halves may stand

Cormode, Srivastava, Li, Li, "Minimizing minimality and maximizing utility: analyzing method-based attacks on anonymized
data" (PVLDB 2010). They are here as subjects of the attack that the paper is about (`attacks/minimality/`): the
first can be attacked well, the second less, the last hardly. Groups are published generalised, or as two tables.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.anatomy import Anatomy
from lookalike.algorithms.shared.buckets import Asked, at_random, publish_buckets
from lookalike.algorithms.shared.method import Method, least_ceilings, publish_groups
from lookalike.algorithms.shared.value_buckets import curve_keys
from lookalike.data.contracts import Replay
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice
from lookalike.data.release import Bucketized, Grouped, RecordMap, Release
from lookalike.data.requirement import GroupRule, Requirement
from lookalike.errors import RecipeError, Unsupported, counted
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

Places = NDArray[np.int64]

_WORDS = 1 << 64
READER = "The promise holds against someone who reads the release."


def in_order(data: Microdata, order: str, rng: Randomness) -> Places:
    """Records by quasi-identifiers, or along a Hilbert curve; equal ones in random order."""
    shuffled = rng.permutation(data.n_rows)
    # The last key is the first to decide.
    keys = [*data.quasi[shuffled].T[::-1]]
    if order == "hilbert":
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
        from lookalike.algorithms.shared.axes import roomy_rule_of

        rule = roomy_rule_of(data, requirements)
        only_ceilings = all(requirement.only_ceilings for requirement in requirements)
        return cls(rule, rule.min_size, rule.min_size if only_ceilings else 1)

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
        groups[self.order[: self.starts[-1]]] = np.repeat(np.arange(self.n_groups), np.diff(self.starts))
        return groups


@dataclass(frozen=True, eq=False)
class _Growth:
    """Runs that grow by steps until they may stand, and then on while a coin says so. Fits `contracts.Replay`."""

    rules: Rules
    order: Places
    least: int
    step: int
    again: Fraction
    tail_is_merged: bool

    def run(self, data: Microdata, coins: Randomness, method: str) -> Grown:
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
        if not self.tail_is_merged:
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


@dataclass(frozen=True)
class Runs(Method):
    """A method that cuts the ordered records into groups; how is said by `grow`."""

    name: ClassVar[str]

    order: Choice = Choice("lexicographic", "hilbert", default="lexicographic")
    """By the first quasi-identifier, then the second and so on; or along a Hilbert curve through all of them."""
    recode: Choice = Choice("generalise", "permute", default="generalise")
    """generalise: rows of a group share their cells; permute: two tables, joined by the group's number."""
    anatomize: Choice = Choice("false", "true", default="false")
    """With recode=permute: whether large groups are divided by values; symmetric-grouping only."""

    def __post_init__(self) -> None:
        if self.anatomize == "true" and self.recode != "permute":
            raise RecipeError(f"{self.name}: anatomize=true has no effect without recode=permute. Add it.")

    @property
    def form(self) -> str:
        return Bucketized.form if self.recode == "permute" else Grouped.form

    def grow(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        """The runs of the order; fails closed."""
        raise NotImplementedError

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, RecordMap]:
        progress("grouping", 0.0)
        rules = Rules.of(data, requirements)
        found = self.grow(data, rules, rng)
        group_of_record, n_groups, remarks = found.group_of_record(), found.n_groups, found.remarks
        progress("grouping", 1.0, counted(n_groups, "group"))
        if self.anatomize == "true":
            group_of_record, n_groups = divide_by_values(
                data, requirements, rules, group_of_record, n_groups, rng.child("anatomize"), progress
            )
        made: tuple[Release, RecordMap]
        if self.recode == "permute":
            made = publish_buckets(data, group_of_record, n_groups, rng)
        else:
            made = publish_groups(data, group_of_record, n_groups, rng)
        return made[0], replace(made[1], remarks=remarks)


@dataclass(frozen=True)
class Growing(Runs):
    """Groups that grow along the order until they may stand."""

    kernels: ClassVar[Collection[str]] = ("growing.grow", "growing.merge_back")
    tail: Choice = Choice("merge", "suppress", default="merge")
    """What becomes of the records left at the end: merged into the group before, or suppressed and declared."""

    def __post_init__(self) -> None:
        if self.anatomize == "true":
            raise RecipeError(
                f"{self.name}: anatomize does not repair its groups. Anyone who knows the method knows in which part "
                f"of a "
                "group the rare values are, and parts of parts tell more. Use symmetric-grouping:recode=permute,"
                "anatomize=true, or anatomy."
            )
        super().__post_init__()

    @property
    def again(self) -> Fraction:
        """The probability that a group grows on although it need not."""
        return Fraction(0)

    def grow(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        return self._growth(data, rules, rng).run(data, rng.child("coins"), self.name)

    def replay(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> Replay | None:
        return self._growth(data, Rules.of(data, requirements), rng)

    def _growth(self, data: Microdata, rules: Rules, rng: Randomness) -> _Growth:
        order = in_order(data, self.order, rng.child("ties"))
        return _Growth(rules, order, rules.least, rules.step, self.again, self.tail == "merge")


def divide_by_values(
    data: Microdata,
    requirements: Sequence[Requirement],
    rules: Rules,
    group_of_record: NDArray[np.int32],
    n_groups: int,
    rng: Randomness,
    progress: Progress,
) -> tuple[NDArray[np.int32], int]:
    """Groups of at least twice the least size, divided; one whose parts would not keep every promise stays whole."""
    from lookalike.kernels.grouptest import is_group_allowed, tally_for

    values, ceilings, _ = least_ceilings("anatomize", data, requirements)
    tally = tally_for(rules.rule)
    divided = np.empty_like(group_of_record)
    n_parts = 0
    by_group = np.split(np.argsort(group_of_record, kind="stable"), np.cumsum(np.bincount(group_of_record))[:-1])
    for group, members in enumerate(by_group):
        part_of_member, n_here = np.zeros(len(members), dtype=np.int64), 1
        if len(members) >= 2 * rules.least:
            try:
                found, n_found = _anatomize(values[members], ceilings, rules.least, rng.child(group))
            except Unsupported:
                found, n_found = part_of_member, 1
            ordered = members[np.argsort(found, kind="stable")]
            ends = np.cumsum([0, *np.bincount(found)])
            if all(
                is_group_allowed(rules.rule, data.sensitive, ordered, ends[part], ends[part + 1], tally)
                for part in range(n_found)
            ):
                part_of_member, n_here = found, n_found
        divided[members] = n_parts + part_of_member
        n_parts += n_here
        progress("anatomize", (group + 1) / n_groups)
    return divided, n_parts


def _anatomize(
    values: NDArray[np.int32], ceilings: Sequence[Fraction], least: int, rng: Randomness
) -> tuple[NDArray[np.int64], int]:
    # A value without a ceiling may be as frequent as it likes: each record counts as its own value.
    is_free = np.array([bound == 1 for bound in ceilings])[values]
    named = np.where(is_free, len(ceilings) + np.arange(len(values)), values)
    _, value_of_member = np.unique(named, return_inverse=True)
    value_of_member = value_of_member.reshape(-1).astype(np.int64)
    asked = Asked(np.bincount(value_of_member), [Fraction(1, least)], least, has_values=True)
    slots, _ = Anatomy().slots(asked, rng.child("sizes"), silent)
    return at_random(value_of_member, slots, rng.child("records")), slots.n_buckets
