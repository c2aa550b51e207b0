"""t-closeness: what a person can be narrowed down to is distributed nearly as the whole table.

Five distances between the table P and a unit Q:

    equal         earth mover's, every value equally far from every other
    ordered       earth mover's, values in their order, neighbours 1 / (values - 1) apart; missing is the last value
    hierarchical  earth mover's over the column's taxonomy
    kl            KL(P || Q) in bits; infinite if a unit lacks a value of the table
    js            Jensen-Shannon divergence in bits

Earth mover's distances are rational and compared exactly. The divergences are floats; a unit within 1e-9 of t is
decided with as many digits as it takes, ties included. Costs one or two passes over the exposure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Level, PrivacyModel, Slider
from lookalike.data.exposure import Exposure, counted_exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Choice, Exact, number_text
from lookalike.data.release import Grouped
from lookalike.data.requirement import Distance, Requirement
from lookalike.data.schema import NUMBER_LIKE, Kind
from lookalike.data.taxonomy import Taxonomy
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import RecipeError, counted, quoted
from lookalike.models.shared.exact import LogTerm, just_above, sign_of, three_decimals_up
from lookalike.models.shared.exposures import (
    exact_integers,
    in_blocks,
    largest_ratio,
    sensitive_column,
    unit_sums,
)
from lookalike.models.shared.model import MANY_VALUES, WrittenModel


def equal_moves(exposure: Exposure) -> NDArray[Any]:
    """The equal distance of each unit, times rows of the table, times its size."""
    prior, weights, sizes = _widen(exposure, room=1)
    gains = _gains(weights, prior[exposure.values], sizes[exposure.unit_of_entry], exposure.n_records)
    return unit_sums(gains, exposure.starts)


def ordered_moves(exposure: Exposure) -> NDArray[Any]:
    """The ordered distance of each unit, times rows of the table, its size, and the number of values less one.

    Between two values that a unit holds its running sum stands still while the table's grows: split at the crossing.
    Segment e holds the codes from entry e's code to the next one (or to the last code but one).
    """
    n_codes, n_records = len(exposure.prior), exposure.n_records
    values, prior, weights, sizes = _sort_entries(exposure, room=n_codes)
    # running[code]: records of the table up to and with that code; below[code]: sum of running before that code.
    running = np.cumsum(exposure.prior)
    below = np.concatenate((np.zeros(1, dtype=prior.dtype), np.cumsum(running.astype(prior.dtype))))
    unit_of_entry, starts = exposure.unit_of_entry, exposure.starts
    totals = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights)))
    held = totals[1:] - totals[starts[:-1]][unit_of_entry]
    ends = np.append(values[1:], n_codes - 1)
    ends[starts[1:][np.diff(starts) > 0] - 1] = n_codes - 1
    begins = np.minimum(values, n_codes - 1)
    size = sizes[unit_of_entry]
    # The table's running sum passes the unit's share at the first code with running * size >= held * n_records.
    crossing = np.searchsorted(running, (-((-held * n_records) // size)).astype(np.int64))
    middle = np.clip(crossing, begins, ends)
    under = held * n_records * (middle - begins) - size * (below[middle] - below[begins])
    over = size * (below[ends] - below[middle]) - held * n_records * (ends - middle)
    sums = unit_sums(under + over, starts)
    occupied = np.flatnonzero(np.diff(starts) > 0)
    firsts = np.minimum(values[starts[occupied]], n_codes - 1)
    sums[occupied] += sizes[occupied] * below[firsts]
    return sums


def hierarchical_moves(exposure: Exposure, tree: Taxonomy) -> NDArray[Any]:
    """The hierarchical distance of each unit, times rows of the table, its size, and the height of the tree.

    Walks from the deepest nodes up; the entries of a node are side by side, because a node is a run of codes.
    """
    height = int(tree.heights[0])
    values, prior, weights, sizes = _sort_entries(exposure, room=max(height, 1))
    n_units, n_records = exposure.n_units, exposure.n_records
    depths = np.zeros(len(tree.labels), dtype=np.int64)
    for node in range(1, len(tree.labels)):
        depths[node] = depths[tree.parents[node]] + 1
    running = np.concatenate((np.zeros(1, dtype=prior.dtype), np.cumsum(prior)))
    shares = running[tree.lasts + 1] - running[tree.firsts]
    units, nodes = exposure.unit_of_entry, tree.leaf_nodes[values].astype(np.int64)
    sums = np.zeros(n_units, dtype=weights.dtype)
    for depth in range(int(depths.max()), 0, -1):
        units, nodes, weights = _merge_neighbours(units, nodes, weights)
        here = np.flatnonzero(depths[nodes] == depth)
        parents = tree.parents[nodes[here]].astype(np.int64)
        steps = (tree.heights[parents] - tree.heights[nodes[here]]).astype(np.int64)
        gains = _gains(weights[here], shares[nodes[here]], sizes[units[here]], n_records)
        np.add.at(sums, units[here], gains * steps)
        nodes = nodes.copy()
        nodes[here] = parents
    return sums


def kullback_leibler_bits(exposure: Exposure) -> NDArray[np.float64]:
    """KL(table || unit) of each unit; infinite where a unit lacks a value of the table."""
    priors, sizes = exposure.prior[exposure.values], exposure.sizes[exposure.unit_of_entry]
    shares = priors / exposure.n_records
    held = priors > 0
    terms = np.zeros(len(shares))
    terms[held] = shares[held] * np.log2(shares[held] / (exposure.weights[held] / sizes[held]))
    bits = _float_sums(terms, exposure)
    n_held = np.bincount(exposure.unit_of_entry[held], minlength=exposure.n_units)
    bits[n_held < np.count_nonzero(exposure.prior)] = np.inf
    return bits


def jensen_shannon_bits(exposure: Exposure) -> NDArray[np.float64]:
    """JS divergence of each unit; what a unit lacks adds half its share."""
    shares = exposure.prior[exposure.values] / exposure.n_records
    beliefs = exposure.weights / exposure.sizes[exposure.unit_of_entry]
    middle = shares + beliefs
    held = shares > 0
    terms = beliefs * np.log2(2 * beliefs / middle) - shares
    terms[held] += shares[held] * np.log2(2 * shares[held] / middle[held])
    return (_float_sums(terms, exposure) + 1) / 2


def kullback_leibler_terms(prior: list[int], counts: dict[int, int]) -> list[LogTerm]:
    """KL(table || unit) in nats as a sum of logarithms; the unit holds every value of the table."""
    total, size = sum(prior), sum(counts.values())
    return [
        (Fraction(number, total), Fraction(number * size, total * counts[code]))
        for code, number in enumerate(prior)
        if number
    ]


def jensen_shannon_terms(prior: list[int], counts: dict[int, int]) -> list[LogTerm]:
    """JS divergence in nats as a sum of logarithms."""
    total, size = sum(prior), sum(counts.values())
    terms = []
    for code, number in enumerate(prior):
        share, belief = Fraction(number, total), Fraction(counts.get(code, 0), size)
        for part in (share, belief):
            if part:
                terms.append((part / 2, 2 * part / (share + belief)))
    return terms


def _gains(weights: NDArray[Any], priors: NDArray[Any], sizes: NDArray[Any], n_records: int) -> NDArray[Any]:
    return np.asarray(np.maximum(weights * n_records - priors * sizes, 0))


def _widen(exposure: Exposure, room: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Prior, weights and sizes as integers wide enough for products with the table's rows, times `room`."""
    bound = 4 * int(exposure.sizes.max(initial=1)) * exposure.n_records * room
    wide = [exact_integers(numbers, bound) for numbers in (exposure.prior, exposure.weights, exposure.sizes)]
    return wide[0], wide[1], wide[2]


def _sort_entries(exposure: Exposure, room: int) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Codes, prior, weights and sizes, wide; the entries of each unit by code."""
    prior, weights, sizes = _widen(exposure, room)
    keys = exposure.unit_of_entry * len(prior) + exposure.values
    values = exposure.values.astype(np.int64)
    if np.any(keys[1:] < keys[:-1]):
        order = np.argsort(keys)
        values, weights = values[order], weights[order]
    return values, prior, weights, sizes


def _merge_neighbours(
    units: NDArray[np.int64], nodes: NDArray[np.int64], weights: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Neighbours of the same unit and node made one."""
    if len(units) == 0:
        return units, nodes, weights
    firsts = np.flatnonzero(np.append(True, (units[1:] != units[:-1]) | (nodes[1:] != nodes[:-1])))
    return units[firsts], nodes[firsts], np.add.reduceat(weights, firsts)


def _float_sums(terms: NDArray[np.float64], exposure: Exposure) -> NDArray[np.float64]:
    # Summed unit by unit: differences of one long running sum would lose the last digits.
    return np.asarray(np.bincount(exposure.unit_of_entry, weights=terms, minlength=exposure.n_units), dtype=np.float64)


_GUARD = 1e-9
_LARGE_GROUP = 50
"""Groups of more records than this say little about anybody in them."""

_DISTANCES = ("equal", "ordered", "hierarchical", "kl", "js")


@dataclass(frozen=True)
class TCloseness(WrittenModel):
    """The distribution in every unit is at most t away from the table's.

    >>> model = TCloseness("0.2", distance="ordered")
    >>> str(model), model.t
    ('t-closeness:0.2,distance=ordered', Fraction(1, 5))
    """

    name: ClassVar[str] = "t-closeness"
    letter: ClassVar[str] = "t"
    scale = "t"
    by_distribution = True
    slider: ClassVar[Slider | None] = Slider(
        "What is known of a group is near what is known of all, within t", 0.02, 1, 0.01, 0.2
    )

    t: Exact = Exact(low=0)
    """Largest distance from the table's distribution; at most 1 for every distance but kl."""
    distance: Choice = Choice(*_DISTANCES, default="equal")
    """equal, ordered (numeric or ordered columns), hierarchical (needs a taxonomy), kl or js."""

    def __post_init__(self) -> None:
        if self.distance != "kl" and self.t > 1:
            raise RecipeError(
                f"t-closeness: t is {number_text(self.t)}. It must be a number at least 0 and at most 1: this distance "
                "is never larger."
            )

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        return wording.sentence(
            wording.say(
                "t-closeness.promise" if wording.unit is None else "t-closeness.promise_units",
                column=wording.name(column),
                t=wording.number(self.t),
                distance=wording.say(f"t-closeness.{self.distance}"),
            )
        )

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        """Always, if the column has the distance: the whole table as one group is at distance 0."""
        self._check_column(column)

    def _check_column(self, column: Domain | None) -> Domain:
        column = sensitive_column(self, column)
        if self.distance == "hierarchical" and column.taxonomy is None:
            raise RecipeError(
                f"{self} needs a taxonomy and column {quoted(column.name)} has none. Give it one in the schema "
                "(taxonomy: {tree: ...} or {file: ...}), or take distance=equal."
            )
        if self.distance == "ordered" and not _has_order(column):
            raise RecipeError(
                f"{self} needs values with an order and column {quoted(column.name)} is {column.kind}. Declare it "
                "ordered with an order in the schema (or numeric), or take distance=equal."
            )
        return column

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        column = self._check_column(column)
        tree = column.taxonomy if self.distance == "hierarchical" else None
        return Requirement(column=index, distance=Distance[self.distance.upper()], bound=self.t, tree=tree)

    def level(self, exposure: Exposure) -> Level:
        column = self._check_column(exposure.column)
        if exposure.n_units == 0:
            return Level(Fraction(0), None, "nothing is published")
        if self.distance == "kl":
            return self._measure_divergence(exposure, kullback_leibler_bits, kullback_leibler_terms)
        if self.distance == "js":
            return self._measure_divergence(exposure, jensen_shannon_bits, jensen_shannon_terms)
        if self.distance == "equal":
            scale, moved = 1, in_blocks(exposure, equal_moves)
        elif self.distance == "ordered":
            scale, moved = len(exposure.prior) - 1, in_blocks(exposure, ordered_moves)
        else:
            assert column.taxonomy is not None
            scale = int(column.taxonomy.heights[0])
            moved = in_blocks(exposure, partial(hierarchical_moves, tree=column.taxonomy))
        unit = largest_ratio(moved, np.maximum(exposure.sizes, 1))
        whole = max(scale, 1) * exposure.n_records * max(int(exposure.sizes[unit]), 1)
        return Level(Fraction(int(moved[unit]), max(whole, 1)), unit)

    def _measure_divergence(
        self,
        exposure: Exposure,
        bits_of: Callable[[Exposure], NDArray[np.float64]],
        terms_of: Callable[[list[int], dict[int, int]], list[LogTerm]],
    ) -> Level:
        """The largest divergence; a value next to t is moved to the side of t where it truly is."""
        bits = in_blocks(exposure, bits_of)
        unit = int(np.argmax(bits))
        worst = max(float(bits[unit]), 0.0)
        guard = _GUARD * max(1.0, float(self.t))
        if worst > float(self.t) + guard or worst < float(self.t) - guard:
            return Level(worst, unit)
        prior = exposure.prior.tolist()
        decided: dict[tuple[bytes, bytes], bool] = {}
        for place in np.flatnonzero(np.abs(bits - float(self.t)) <= guard).tolist():
            values, weights, _ = exposure.unit(place)
            key = (values.tobytes(), weights.tobytes())
            if key not in decided:
                terms = terms_of(prior, dict(zip(values.tolist(), weights.tolist(), strict=True)))
                # Natural logarithms throughout, so t bits are t * ln 2.
                decided[key] = sign_of(Fraction(0), [*terms, (-self.t, Fraction(2))]) <= 0
            if not decided[key]:
                return Level(max(worst, just_above(self.t)), place)
        return Level(worst if worst <= self.t else self.t, unit)

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return (cls(1),)

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        if np.count_nonzero(prior) > MANY_VALUES:
            return ()
        size = min(_LARGE_GROUP, max(1, int(prior.sum()) // 2))
        least = cls(three_decimals_up(least_distance(prior, column, size)))
        return [(least, f"the least t that a group of up to {counted(size, 'record')} can keep")]

    def highest_belief(self, share: Fraction) -> Fraction | None:
        """Where all values are equally far apart, none gains more than t; between near values more may move."""
        return min(share + self.t, Fraction(1)) if self.distance == "equal" else None

    def holds(self, level: Level) -> bool:
        return not math.isnan(level.value) and level.value <= self.t


def _has_order(column: Domain) -> bool:
    """Numbers, dates and declared orders; also numbers under a taxonomy whose leaves stand by size."""
    if column.kind in (Kind.NUMERIC, Kind.ORDERED):
        return True
    return column.type in NUMBER_LIKE and bool(np.all(column.values[1:] > column.values[:-1]))


def least_distance(prior: NDArray[np.int64], column: Domain, most_records: int) -> Fraction:
    """The least t that any group of up to so many records can keep (all values equally far apart).

    Of the groups of one size, that with the shares of the table, rounded by the largest remainders, is nearest.
    """
    least = Fraction(1)
    n_records = int(prior.sum())
    for size in range(1, most_records + 1):
        whole, rest = np.divmod(prior * size, n_records)
        whole[np.argsort(-rest, kind="stable")[: size - int(whole.sum())]] += 1
        codes = np.repeat(np.arange(len(prior), dtype=np.int32), whole)
        group = counted_exposure(
            np.zeros(size, dtype=np.int64),
            codes,
            1,
            adversary=READS_RELEASE,
            form=Grouped.form,
            column=column,
            prior=prior,
        )
        least = min(least, Fraction(TCloseness(1).level(group).value))
    return least
