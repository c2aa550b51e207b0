"""Groups that are runs of the records in an order by quasi-identifiers.

    greedy-grouping      grow a group until it may stand, then start the next
    random-grouping      the same, but a coin may make a group grow on although it need not
    symmetric-grouping   halve the list again and again while both halves may stand

Cormode, Srivastava, Li, Li, "Minimizing minimality and maximizing utility: analyzing method-based attacks on anonymized
data" (PVLDB 2010). They are here as subjects of the attack that the paper is about (`attacks/minimality.py`): the
first can be attacked well, the second less, the last hardly. Groups are published generalised, or as two tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from lookalike.algorithms.order_runs.runs import Grown, Growth, Halving, Rules, in_order
from lookalike.algorithms.shared.method import Method
from lookalike.data.contracts import Promise, Replay
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Choice, Exact
from lookalike.data.release import Bucketized, Grouped, Linkage, Release
from lookalike.data.requirement import Requirement
from lookalike.errors import RecipeError, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_READER = "The promise holds against who reads the release."


@dataclass(frozen=True)
class Runs(Method):
    """A method that cuts the ordered records into groups; how is said by `grown`."""

    name: ClassVar[str]

    order: Choice = Choice("lexicographic", "hilbert", default="lexicographic")
    """By the first quasi-identifier, then the second and so on; or along a Hilbert curve through all of them."""
    recode: Choice = Choice("generalise", "permute", default="generalise")
    """generalise: rows of a group share their cells; permute: two tables, joined by the group's number."""
    anatomize: Choice = Choice("false", "true", default="false")
    """With recode=permute: whether large groups are divided by values; symmetric-grouping only."""

    def __post_init__(self) -> None:
        if self.anatomize == "true" and self.recode != "permute":
            raise RecipeError(f"{self.name}: anatomize=true is heard with recode=permute only. Add it.")

    @property
    def form(self) -> str:
        return Bucketized.form if self.recode == "permute" else Grouped.form

    def grown(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        """The runs of the order; fails closed."""
        raise NotImplementedError

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Release, Linkage]:
        from lookalike.algorithms.shared.buckets import permuted
        from lookalike.algorithms.shared.method import generalised

        progress("grouping", 0.0)
        rules = Rules.of(data, requirements)
        found = self.grown(data, rules, rng)
        group_of_record, n_groups, remarks = found.group_of_record(), found.n_groups, found.remarks
        progress("grouping", 1.0, counted(n_groups, "group"))
        if self.anatomize == "true":
            from lookalike.algorithms.order_runs.anatomizing import divided_by_values

            group_of_record, n_groups = divided_by_values(
                data, requirements, rules, group_of_record, n_groups, rng.child("anatomize"), progress
            )
        made: tuple[Release, Linkage]
        if self.recode == "permute":
            made = permuted(data, group_of_record, n_groups, rng)
        else:
            made = generalised(data, group_of_record, n_groups, rng)
        return made[0], replace(made[1], remarks=remarks)


@dataclass(frozen=True)
class Growing(Runs):
    """Groups that grow along the order until they may stand."""

    tail: Choice = Choice("merge", "suppress", default="merge")
    """What becomes of the records left at the end: merged into the group before, or suppressed and declared."""

    def __post_init__(self) -> None:
        if self.anatomize == "true":
            raise RecipeError(
                f"{self.name}: anatomize does not repair its groups. Whoever knows the method knows in which part of a "
                "group the rare values are, and parts of parts tell more. Use symmetric-grouping:recode=permute,"
                "anatomize=true, or anatomy."
            )
        super().__post_init__()

    @property
    def again(self) -> Fraction:
        """The probability that a group grows on although it need not."""
        return Fraction(0)

    def grown(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        return self._growth(data, rules, rng).run(data, rng.child("coins"), self.tail, self.name)

    def replay(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> Replay | None:
        return self._growth(data, Rules.of(data, requirements), rng)

    def _growth(self, data: Microdata, rules: Rules, rng: Randomness) -> Growth:
        order = in_order(data, self.order, rng.child("ties"))
        return Growth(rules, order, rules.least, rules.step, self.again, self.tail == "merge")


@dataclass(frozen=True)
class GreedyGrouping(Growing):
    """Groups that grow along an order and close as soon as they may; to be attacked.

    >>> str(GreedyGrouping(recode="permute"))
    'greedy-grouping:recode=permute'
    """

    name: ClassVar[str] = "greedy-grouping"

    def cautions(self) -> list[str]:
        return [
            "greedy-grouping closes a group at the first moment at which it may. Whoever knows that and everybody's "
            "quasi-identifiers knows that no shorter run would have done, and may believe a value up to 2.7 times as "
            f"much as promised, of small groups even for certain. {_READER} Use groups or symmetric-grouping otherwise."
        ]


@dataclass(frozen=True)
class RandomGrouping(Growing):
    """Greedy grouping, but a coin may make a group grow on although it need not.

    >>> str(RandomGrouping(p="0.65"))
    'random-grouping:p=0.65'
    """

    name: ClassVar[str] = "random-grouping"

    p: Exact = Exact(low=0, below=1, default=Fraction(1, 2))
    """The probability that a group which may stand grows on; 0 is greedy grouping."""

    @property
    def again(self) -> Fraction:
        return self.p

    def cautions(self) -> list[str]:
        return [
            "random-grouping blurs when a group was closed, but a group that is as full of a value as it may be still "
            f"tells whoever knows the method that the value is rather among its first records. {_READER} Use groups or "
            "symmetric-grouping otherwise."
        ]


@dataclass(frozen=True)
class SymmetricGrouping(Runs):
    """Halves of the ordered records, halved again while both may stand: nearly nothing for the minimality attack.

    >>> str(SymmetricGrouping(order="hilbert"))
    'symmetric-grouping:order=hilbert'
    """

    name: ClassVar[str] = "symmetric-grouping"

    def cautions(self) -> list[str]:
        return [
            "Whoever knows the method may believe a value with 1/(l - 1/2) instead of 1/l, because a group tells that "
            f"its halves could not stand. {_READER}"
        ]

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        if self.anatomize == "true" and not requirement.only_ceilings:
            return "anatomize keeps the number of records and ceilings on values, no more"
        return None

    def grown(self, data: Microdata, rules: Rules, rng: Randomness) -> Grown:
        return self._halving(data, rules, rng).run(data, self.name)

    def replay(self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness) -> Replay | None:
        # Buckets inside of groups do not say which records shared a group.
        return None if self.anatomize == "true" else self._halving(data, Rules.of(data, requirements), rng)

    def _halving(self, data: Microdata, rules: Rules, rng: Randomness) -> Halving:
        return Halving(rules, in_order(data, self.order, rng.child("ties")), rules.least)
