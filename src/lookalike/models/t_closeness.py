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
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Choice, Exact, number_text
from lookalike.data.requirement import Distance, Requirement
from lookalike.data.schema import NUMBER_LIKE, Kind
from lookalike.errors import RecipeError, quoted
from lookalike.models.shared import distances
from lookalike.models.shared.exact import LogTerm, just_above, sign_of
from lookalike.models.shared.exposures import column_text, said, sensitive_column
from lookalike.models.shared.extremes import in_blocks, largest_ratio
from lookalike.models.shared.model import WrittenModel

_GUARD = 1e-9

_DISTANCES = {
    "equal": Distance.EQUAL,
    "ordered": Distance.ORDERED,
    "hierarchical": Distance.HIERARCHICAL,
    "kl": Distance.KL,
    "js": Distance.JS,
}
_IN_WORDS = {
    "equal": "earth mover's distance, all values equally far apart",
    "ordered": "earth mover's distance along the order of the values",
    "hierarchical": "earth mover's distance over the taxonomy",
    "kl": "Kullback-Leibler divergence in bits",
    "js": "Jensen-Shannon divergence in bits",
}


@dataclass(frozen=True)
class TCloseness(WrittenModel):
    """The distribution in every unit is at most t away from the table's.

    >>> model = TCloseness("0.2", distance="ordered")
    >>> str(model), model.t
    ('t-closeness:0.2,distance=ordered', Fraction(1, 5))
    """

    name: ClassVar[str] = "t-closeness"
    letter: ClassVar[str] = "t"

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

    @property
    def asked(self) -> Fraction:
        return self.t

    def promise(self, column: str | None, form: str | None = None) -> str:
        return said(
            form,
            f"is left with probabilities for {column_text(column)} that differ from its distribution in the whole "
            f"table by at most {number_text(self.t)} ({_IN_WORDS[self.distance]})",
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
        return Requirement(column=index, distance=_DISTANCES[self.distance], bound=self.t, tree=tree)

    def level(self, exposure: Exposure) -> Level:
        column = self._check_column(exposure.column)
        if exposure.n_units == 0:
            return Level(Fraction(0), None, "nothing is published")
        if self.distance == "kl":
            return self._diverged(exposure, distances.kullback_leibler_bits, distances.kullback_leibler_terms)
        if self.distance == "js":
            return self._diverged(exposure, distances.jensen_shannon_bits, distances.jensen_shannon_terms)
        tree = column.taxonomy
        if self.distance == "equal":
            scale, moved = 1, in_blocks(exposure, distances.equal_moves)
        elif self.distance == "ordered":
            scale, moved = len(exposure.prior) - 1, in_blocks(exposure, distances.ordered_moves)
        else:
            assert tree is not None
            scale = int(tree.heights[0])
            moved = in_blocks(exposure, lambda block: distances.hierarchical_moves(block, tree))
        unit = largest_ratio(moved, np.maximum(exposure.sizes, 1))
        whole = max(scale, 1) * exposure.n_records * max(int(exposure.sizes[unit]), 1)
        return Level(Fraction(int(moved[unit]), max(whole, 1)), unit)

    def _diverged(
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

    def holds(self, level: Level) -> bool:
        return not math.isnan(level.value) and level.value <= self.t


def _has_order(column: Domain) -> bool:
    """Numbers, dates and declared orders; also numbers under a taxonomy whose leaves stand by size."""
    if column.kind in (Kind.NUMERIC, Kind.ORDERED):
        return True
    return column.type in NUMBER_LIKE and bool(np.all(column.values[1:] > column.values[:-1]))
