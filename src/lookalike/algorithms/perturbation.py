"""Perturbation: exact quasi-identifiers, and every sensitive value kept or drawn anew by a published matrix.

Value i of m is kept with probability alpha_i, else drawn evenly from all m. What a reader can learn of a
person whose row is found is bounded by how much likelier a value leads to what is published than the others do:

    gamma_i = f_i / p_i * (1 - p_i) / (1 - f_i)          for a share p_i and a ceiling f_i
    alpha_i = (m * gamma_i * C - 1) / (m - 1),           C = 1 / (gamma_max + m - 1)

A frequent value can have a gamma so large that others get a negative alpha, and then the ceilings are exceeded; large
gammas are lowered until the smallest alpha is at least `kappa` times what it would be if all had the least gamma.

That reader takes every person's value for its own draw from the table's shares. One who knows the exact counts
learns a little about a person from all other rows too: exchanging the values of two persons changes the probability of
what is published by a factor of g^2 at most, g being the odds of a value against another to lead to itself. In strict
mode all gammas are the square root of the least, which keeps every ceiling against that reader.

Probabilities are whole numbers over a power of two, drawn exactly, and the ceilings are tested exactly at the end.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.shared.method import Method
from lookalike.data.adversary import KNOWS_METHOD, READS_RELEASE
from lookalike.data.contracts import Boxes, Promise
from lookalike.data.microdata import Codes, Domains, Microdata
from lookalike.data.parameters import Choice, Exact
from lookalike.data.release import Perturbed, Randomizer, RecordMap
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported, quoted
from lookalike.progress import Progress
from lookalike.randomness import Randomness

_BITS = 32
ONE = 1 << _BITS
"""Probabilities to keep a value are whole numbers over this."""
_SHRINKS = 1 << 20


@dataclass(frozen=True)
class Perturbation(Method):
    """Exact quasi-identifiers; sensitive values redrawn by a published matrix, from which counts are reconstructed.

    >>> str(Perturbation(kappa="0.25"))
    'perturbation:kappa=0.25'
    """

    name: ClassVar[str] = "perturbation"
    suits: ClassVar[Collection[str]] = ("beta-likeness", "delta-disclosure", "f-privacy", "rho-privacy")
    in_parts: ClassVar[Boxes] = Boxes(
        "The matrix follows from the counts of the whole table and is the same in all parts. Every value is redrawn by "
        "itself, so it does not matter with which others.",
        blind=True,
        keep_promises=False,
    )
    form: ClassVar[str] = Perturbed.form

    mode: Choice = Choice("auto", "free", "strict", default="auto")
    """free: against someone who reads the release; strict: also against someone who knows the method and every
    count.
    """
    kappa: Exact = Exact(low=0, high=1, default=Fraction(1, 2))
    """How much of the rarest values' chance to be kept is defended against a frequent value's; not in strict mode."""

    @property
    def adversary(self) -> str:
        return KNOWS_METHOD if self.mode == "strict" else READS_RELEASE

    def facing(self, adversary: str) -> Self:
        if self.mode != "auto":
            return self
        return replace(self, mode="strict" if adversary == KNOWS_METHOD else "free")

    def refuses(self, promise: Promise, requirement: Requirement) -> str | None:
        if requirement.column is None:
            return "it publishes quasi-identifiers as they are, so it hides nobody among others"
        if not replace(requirement, floors=None).only_ceilings:
            return (
                "it serves promises that bound the certainty about a value: simple l-diversity, beta-likeness, "
                "F'-privacy"
            )
        if self.mode == "strict" and not promise.model.value_by_value:
            return (
                "against someone who knows the method it bounds the certainty about each value by itself, not in "
                "several together"
            )
        return None

    def refuses_columns(self, domains: Domains) -> str | None:
        if len(domains.sensitive) != 1:
            names = ", ".join(quoted(domain.name) for domain in domains.sensitive)
            return (
                f"it redraws one sensitive column, and there are {len(domains.sensitive)}: {names}. A reader "
                "who finds a person's row would combine them. Name one, or use groups."
            )
        if domains.carried:
            names = ", ".join(quoted(domain.name) for domain in domains.carried)
            return (
                "it publishes rows with their exact quasi-identifiers, so anyone who finds a person reads what "
                f"the row carries: {names}. Leave it out, make it a quasi-identifier, or use groups."
            )
        return None

    def make_release(
        self, data: Microdata, requirements: Sequence[Requirement], rng: Randomness, progress: Progress
    ) -> tuple[Perturbed, RecordMap]:
        if (reason := self.refuses_columns(data.domains)) is not None:
            raise Unsupported(f"{self.name}: {reason}")
        progress("perturb", 0.0, "matrix")
        bounds = Bounds.of(data.prior(0), requirements)
        keeps = bounds.find_keeps(
            strict_alphas(bounds) if self.mode == "strict" else alphas(bounds, self.kappa), self.mode
        )
        progress("perturb", 0.2, "draws")
        drawn = redraw(data.sensitive[:, 0], bounds, keeps, rng.child("draws"))
        progress("perturb", 0.8, "row order")
        record_of_row = rng.child("row order").permutation(data.n_rows)
        release = Perturbed(
            domains=data.domains,
            quasi=data.quasi[record_of_row],
            sensitive=drawn[record_of_row, np.newaxis],
            carried=data.carried[record_of_row],
            randomizers=(matrix(bounds, keeps),),
        )
        progress("perturb", 1.0)
        return release, RecordMap(record_of_row)


@dataclass(frozen=True)
class Bounds:
    """The values that occur, how often, and between what a reader's certainty in each must stay."""

    n_codes: int
    values: list[int]
    counts: list[int]
    ceilings: list[Fraction]
    floors: list[Fraction]

    @classmethod
    def of(cls, counts: NDArray[np.int64], requirements: Sequence[Requirement]) -> Bounds:
        values = np.flatnonzero(counts).tolist()
        if len(values) < 2:
            raise Unsupported(
                "perturbation needs at least two sensitive values; with one there is nothing to hide it among. "
                "Publish nothing about the column, or widen the table."
            )
        bounds = cls(
            n_codes=len(counts),
            values=values,
            counts=[int(counts[value]) for value in values],
            ceilings=[
                min([Fraction(1), *(rule.ceilings[value] for rule in requirements if rule.ceilings is not None)])
                for value in values
            ],
            floors=[
                max([Fraction(0), *(rule.floors[value] for rule in requirements if rule.floors is not None)])
                for value in values
            ],
        )
        if all(ceiling == 1 for ceiling in bounds.ceilings) and not any(bounds.floors):
            raise Unsupported(
                "The promise allows certainty about every value of this table, so there is nothing to redraw values "
                "for. Promise more: a smaller beta, theta or base, or a larger l."
            )
        if any(
            not low < share < high
            for low, share, high in zip(bounds.floors, bounds.shares, bounds.ceilings, strict=True)
        ):
            raise Unsupported(
                "The promise allows a value no more certainty than its share in the table, so what perturbation "
                "publishes "
                "would be noise alone. Promise a little less, or use groups."
            )
        return bounds

    @property
    def n_values(self) -> int:
        return len(self.values)

    @property
    def shares(self) -> list[Fraction]:
        total = sum(self.counts)
        return [Fraction(count, total) for count in self.counts]

    def gammas(self) -> list[Fraction | None]:
        """The odds of each ceiling against the odds of the share; None where there is no ceiling."""
        return [
            None if ceiling >= 1 else ceiling / share * (1 - share) / (1 - ceiling)
            for ceiling, share in zip(self.ceilings, self.shares, strict=True)
        ]

    def falls(self) -> list[Fraction | None]:
        """As `gammas` for floors: the odds of the share against those of the floor."""
        return [
            None if floor <= 0 else share / floor * (1 - floor) / (1 - share)
            for floor, share in zip(self.floors, self.shares, strict=True)
        ]

    def find_keeps(self, wanted: Sequence[Fraction], mode: str) -> list[int]:
        """Probabilities to keep each value, over `ONE`: those wanted, or all lowered until every bound holds."""
        holds = self.hold_against_counts if mode == "strict" else self.hold
        tenable, untenable = 0, _SHRINKS + 1
        while untenable - tenable > 1:
            middle = _SHRINKS if untenable > _SHRINKS else (tenable + untenable) // 2
            keeps = [math.floor(alpha * middle / _SHRINKS * ONE) for alpha in wanted]
            if holds(keeps):
                tenable = middle
            else:
                untenable = middle
        keeps = [math.floor(alpha * tenable / _SHRINKS * ONE) for alpha in wanted]
        if min(keeps) <= 0 or not holds(keeps):
            raise Unsupported(
                "The promise leaves so little room that what perturbation publishes would be noise alone. Promise a "
                "little less, or use groups."
            )
        return keeps

    def hold(self, keeps: Sequence[int]) -> bool:
        """Whether every posterior stays within its bounds: Bayes, exactly.

        A published value r leaves value c with the weight of c leading to r; that of c to itself is the largest, and
        otherwise it is the same whatever r, so the least and the most likely r decide.
        """
        m = self.n_values
        away = [(ONE - keep) * count for keep, count in zip(keeps, self.counts, strict=True)]
        totals = [sum(away) + m * keep * count for keep, count in zip(keeps, self.counts, strict=True)]
        (least, second_least), (second_most, most) = sorted(totals)[:2], sorted(totals)[-2:]
        for place, (floor, ceiling) in enumerate(zip(self.floors, self.ceilings, strict=True)):
            own, total = away[place] + m * keeps[place] * self.counts[place], totals[place]
            low = Fraction(away[place], second_most if total == most else most)
            high = Fraction(away[place], second_least if total == least else least)
            if max(high, Fraction(own, total)) > ceiling or min(low, Fraction(own, total)) < floor:
                return False
        return True

    def hold_against_counts(self, keeps: Sequence[int]) -> bool:
        """Whether every bound holds against a reader who knows the exact counts, by exchanging two persons' values."""
        m = self.n_values
        # X / Y: a value leads to itself with probability X, to any given other with probability Y.
        odds = [Fraction(ONE - keep + m * keep, ONE - keep) for keep in keeps]
        swap = max(odds) ** 2
        allowed = (bound for bound in (*self.gammas(), *self.falls()) if bound is not None)
        return all(swap <= bound for bound in allowed)


def legal_gammas(gammas: Sequence[Fraction | None], kappa: Fraction) -> list[Fraction]:
    """Gammas with the large ones lowered, so that no value's alpha falls below `kappa` of what the least gamma gives.

    >>> [round(float(gamma), 6) for gamma in legal_gammas([None, Fraction(19, 9), Fraction(19, 9)], Fraction(1, 2))]
    [2.985816, 2.111111, 2.111111]
    """
    m = len(gammas)
    least = min(gamma for gamma in gammas if gamma is not None)
    floor = kappa * (least - 1) / (least + m - 1)
    cap = m * least / (1 + (m - 1) * floor) - m + 1
    return [cap if gamma is None else min(gamma, cap) for gamma in gammas]


def alphas(bounds: Bounds, kappa: Fraction) -> list[Fraction]:
    """The chance of each value to be kept as it is, rather than drawn from all."""
    gammas = bounds.gammas()
    if not any(gammas):
        # Floors alone: what they allow bounds how much likelier a value may lead to itself.
        gammas = bounds.falls()
    gammas_kept = legal_gammas(gammas, kappa)
    m, scale = len(gammas_kept), 1 / (max(gammas_kept) + len(gammas_kept) - 1)
    return [(m * gamma * scale - 1) / (m - 1) for gamma in gammas_kept]


def strict_alphas(bounds: Bounds) -> list[Fraction]:
    """One chance for all values: that of the square root of the least gamma (rounded down)."""
    least = min(bound for bound in (*bounds.gammas(), *bounds.falls()) if bound is not None)
    root = Fraction(math.isqrt(math.floor(least * ONE * ONE)), ONE)
    return [max(root - 1, Fraction(0)) / (root + bounds.n_values - 1)] * bounds.n_values


def matrix(bounds: Bounds, keeps: Iterable[int]) -> Randomizer:
    """The published matrix. Values that do not occur are never drawn; their columns draw evenly."""
    m = bounds.n_values
    weights = np.zeros((bounds.n_codes, bounds.n_codes), dtype=np.int64)
    weights[bounds.values, :] = ONE
    for value, keep in zip(bounds.values, keeps, strict=True):
        weights[bounds.values, value] = ONE - keep
        weights[value, value] += m * keep
    return Randomizer(weights, m * ONE)


def redraw(codes: Codes, bounds: Bounds, keeps: Sequence[int], rng: Randomness) -> Codes:
    """Each value kept with its own chance, else drawn evenly: independently, and with exactly these probabilities."""
    keep_of_code = np.zeros(bounds.n_codes, dtype=np.uint64)
    keep_of_code[bounds.values] = keeps
    is_kept = (rng.child("keep").words(len(codes)) >> np.uint64(64 - _BITS)) < keep_of_code[codes]
    others = np.asarray(bounds.values, dtype=np.int32)[rng.child("value").integers(bounds.n_values, len(codes))]
    return np.where(is_kept, codes, others)
