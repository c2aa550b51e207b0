"""The l-diversity family: a person's sensitive value hides among enough others.

With a unit's counts r_1 >= r_2 >= ... >= r_s over its s values and w their sum:

    distinct    s >= l
    simple      r_1 * l <= w, so no certainty exceeds 1/l (the default; for designated values only, if `subset` is
    given)
    entropy     the entropy of the probabilities is at least ln l
    recursive   r_1 < c * (r_l + r_(l+1) + ... + r_s), strictly
    binary      the designated (positive) values together have at most 1/l; the others are free

With a band, the simple kind counts numbers that are near each other as one: no stretch of values of that width,
wherever it begins and both ends included, has more than 1/l of a unit. It is enough to begin it at each value held.

All of them survive the union of groups that satisfy them, so the whole table decides whether they can be kept.
Entropies are floats; a unit within 1e-9 of ln l is decided exactly. Levels cost a pass or a sort of the exposure.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.coarsening import sensible_step, suggest_rounding
from lookalike.data.contracts import Level, PrivacyModel, Slider
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Choice, Exact, OptionalExact, Values, number_text
from lookalike.data.persons import PersonCounts, noun_of, total_of
from lookalike.data.requirement import Requirement, Windows
from lookalike.data.schema import NUMBER_LIKE, Kind, ValueType
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import Infeasible, RecipeError, counted, quoted
from lookalike.models.shared.exact import (
    LogTerm,
    find_largest,
    just_below,
    percent_at_most,
    sign_of,
    three_decimals_down,
)
from lookalike.models.shared.exposures import (
    find_designated,
    highest_beliefs,
    in_blocks,
    largest_ratio,
    sensitive_column,
    unit_sums,
)
from lookalike.models.shared.model import WrittenModel, strongest


def distinct_values(exposure: Exposure) -> NDArray[np.int64]:
    """How many different values each unit holds."""
    return unit_sums((exposure.weights > 0).astype(np.int64), exposure.starts)


def entropies(counts: NDArray[np.int64], unit_of_entry: NDArray[np.int64], n_units: int) -> NDArray[np.float64]:
    """The natural entropy of each unit; minus infinity for a unit without entries, which offers no uncertainty."""
    numbers = counts.astype(np.float64)
    sizes = np.bincount(unit_of_entry, weights=numbers, minlength=n_units)
    beliefs = numbers / sizes[unit_of_entry]
    sums = np.asarray(np.bincount(unit_of_entry, -beliefs * np.log(beliefs), n_units), dtype=np.float64)
    sums[sizes == 0] = -np.inf
    return sums


def entropy_reaches(counts: Iterable[int], ell: Fraction) -> bool:
    """Whether the entropy of the counts is at least ln l, exact.

    >>> entropy_reaches([5, 5, 5], Fraction(3)), entropy_reaches([5, 5, 6], Fraction(3))
    (True, False)
    """
    times = Counter(count for count in counts if count)
    size = sum(count * number for count, number in times.items())
    if size == 0:
        return False
    terms: list[LogTerm] = [(Fraction(-count * number), Fraction(count)) for count, number in times.items()]
    terms += [(Fraction(size), Fraction(size)), (Fraction(-size), ell)]
    return sign_of(Fraction(0), terms) >= 0


def most_frequent_and_rest(exposure: Exposure, ell: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each unit its largest count, and the sum of its counts from the l-th largest on."""
    starts = exposure.starts
    falling = _falling_in_units(exposure)
    running = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(falling)))
    before_rest = np.minimum(starts[:-1] + ell - 1, starts[1:])
    # A running sum that wraps around still has the right differences.
    rests = running[starts[1:]] - running[before_rest]
    tops = running[np.minimum(starts[:-1] + 1, starts[1:])] - running[starts[:-1]]
    return tops, rests


def _falling_in_units(exposure: Exposure) -> NDArray[np.int64]:
    """Weights, each unit's in falling order."""
    weights, units = exposure.weights, exposure.unit_of_entry
    span = int(weights.max(initial=0)) + 1
    if span * max(exposure.n_units, 1) < 2**63:
        # One sort of one key is several times as fast as a sort by two.
        keys = np.sort(units * span + (span - 1 - weights))
        return span - 1 - keys % span
    return weights[np.lexsort((-weights, units))]


_GUARD = 1e-9
_FEW_NUMBERS = 10
"""So few are told apart at a glance; so are more that lie farther apart than a sensible step for rounding."""
_DAY = 86_400_000_000
"""Microseconds."""
_RECURSIVE_C = 2


@dataclass(frozen=True)
class LDiversity(WrittenModel):
    """At least l sensitive values behind every person, in one of five readings.

    >>> str(LDiversity(5, kind="entropy")), str(LDiversity(2, kind="recursive", c="0.5"))
    ('l-diversity:5,kind=entropy', 'l-diversity:2,kind=recursive,c=0.5')
    >>> LDiversity(4).requirement(np.array([3, 3, 6]), None, 0).ceilings
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 4))
    """

    name: ClassVar[str] = "l-diversity"
    letter: ClassVar[str] = "l"
    slider: ClassVar[Slider | None] = Slider("No certainty in a value is above 1 in l", 2, 50, 1, 4)
    whole: ClassVar[bool] = True

    ell: Exact = Exact(low=1)
    """l: how many values, or the inverse of the highest certainty."""
    kind: Choice = Choice("simple", "distinct", "entropy", "recursive", "binary", default="simple")
    """simple, distinct, entropy, recursive (with c) or binary (with subset)."""
    c: OptionalExact = OptionalExact(above=0)
    """Recursive kind: how often the most frequent value may be the rest from the l-th on; not reached."""
    subset: Values = Values()
    """Simple and binary kind: the designated (positive) values, separated by bars."""
    band: OptionalExact = OptionalExact(low=0)
    """Simple kind: numbers (dates: days) that differ by at most so much count as one value."""

    def __post_init__(self) -> None:
        if self.kind in ("distinct", "recursive") and self.ell.denominator != 1:
            raise RecipeError(f"l-diversity: l is {number_text(self.ell)}. It must be whole for kind={self.kind}.")
        if (self.kind == "recursive") != (self.c is not None):
            wrong = "needs c, as in l-diversity:3,kind=recursive,c=2" if self.c is None else "takes no c"
            raise RecipeError(f"l-diversity: kind={self.kind} {wrong}.")
        if self.kind == "binary" and self.subset is None:
            raise RecipeError("l-diversity: kind=binary needs the positive values, as in subset=HIV|hepatitis.")
        if self.kind not in ("simple", "binary") and self.subset is not None:
            raise RecipeError(f"l-diversity: kind={self.kind} takes no subset. It belongs to simple and binary.")
        if self.band is not None and (self.kind != "simple" or self.subset is not None):
            raise RecipeError(
                "l-diversity: band goes with the simple kind for all values, as in l-diversity:3,band=50."
            )

    @property
    def value_by_value(self) -> bool:
        return self.kind == "simple" and self.band is None

    @property
    def by_distribution(self) -> bool:
        return self.kind in ("entropy", "recursive") or self.band is not None

    @property
    def by_share(self) -> bool:
        return False

    @property
    def scale(self) -> str:
        """l; for the recursive kind c, as l is part of the question."""
        return "ell" if self.c is None else "c"

    @property
    def rises(self) -> bool:
        return self.c is None

    @property
    def level_name(self) -> str:
        return "l" if self.kind == "simple" else f"l_{self.kind}"

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return [cls(1, kind=kind) for kind in ("distinct", "simple", "entropy")]

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        beyond = total_of(prior) + 1
        kinds = [strongest(cls(beyond, kind=kind), prior, column) for kind in ("simple", "distinct", "entropy")]
        recursive = largest_recursive(prior, column)
        return [*((model, "the largest l") for model in kinds), (recursive, f"the largest l with c = {_RECURSIVE_C}")]

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        named, share = wording.name(column), wording.percent(1 / self.ell)
        if self.kind == "distinct":
            said = wording.say("l-diversity.distinct", int(self.ell), column=named)
        elif self.kind == "entropy":
            said = wording.say("l-diversity.entropy", column=named, l=wording.number(self.ell))
        elif self.c is not None:
            said = wording.say(
                "l-diversity.recursive",
                column=named,
                c=wording.number(self.c),
                l=wording.number(self.ell),
                l_th=_ordinal(int(self.ell)),
            )
        elif self.band is not None:
            said = wording.say("l-diversity.band", column=named, share=share, width=wording.number(self.band))
        elif self.kind == "binary":
            said = wording.say("l-diversity.binary", column=named, share=share)
        else:
            said = wording.say("l-diversity.frequency", share=share, values=wording.values(column, self.subset))
        return wording.sentence(said)

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        column = sensitive_column(self, column)
        counts = sorted((number for number in prior.tolist() if number), reverse=True)
        n_records = total_of(prior)
        if self.kind == "distinct":
            if len(counts) < self.ell:
                raise Infeasible(
                    f"{self} asks for {counted(int(self.ell), 'value')} in every group, and {quoted(column.name)} has "
                    f"{len(counts)}.",
                    str(replace(self, ell=max(len(counts), 1))),
                )
        elif self.kind == "entropy":
            if not entropy_reaches(counts, self.ell):
                near = math.exp(float(entropies(np.array(counts), np.zeros(len(counts), dtype=np.int64), 1)[0]))
                feasible = find_largest(lambda ell: entropy_reaches(counts, ell), near, Fraction(1))
                raise Infeasible(
                    f"{self} asks for more uncertainty than the whole table has: {quoted(column.name)} is as uncertain "
                    f"as {number_text(feasible)} equally likely values.",
                    str(replace(self, ell=feasible)),
                )
        elif self.c is not None:
            self._check_recursive(counts, column)
        elif self.band is not None:
            self._check_windows(prior, column)
        else:
            codes = find_designated(self, self.subset, column)
            top = (sum if self.kind == "binary" else max)(int(prior[code]) for code in codes)
            if top * self.ell > n_records:
                most = Fraction(n_records, top)
                if most < 1:
                    # Only where persons have several of the values, which count once each.
                    raise Infeasible(
                        f"{self} asks for a certainty of at most {percent_at_most(1 / self.ell)}, and the shares of "
                        f"{noun_of(prior)}s with the designated values of {quoted(column.name)} add up to "
                        f"{percent_at_most(1 / most)} in the whole table, since one {noun_of(prior)} may have several. "
                        "Designate fewer values, or publish one row per person (--rows one).",
                        None,
                    )
                # A whole l is answered with a whole l, unless that is 1, which promises nothing.
                is_whole = self.ell.denominator == 1 and most >= 2
                near_ell = Fraction(math.floor(most)) if is_whole else three_decimals_down(most)
                share, name = percent_at_most(1 / most), quoted(column.name)
                met = f"{'the designated values together have' if self.kind == 'binary' else 'one value has'} "
                met += f"{share} of {name}"
                if isinstance(prior, PersonCounts):
                    which = "the designated values" if self.kind == "binary" else "one value"
                    met = f"{share} of all {prior.noun}s have {which} of {name}"
                asked = percent_at_most(1 / self.ell)
                raise Infeasible(
                    f"{self} asks for a certainty of at most {asked}, and {met} in the whole table.",
                    str(replace(self, ell=near_ell)),
                )

    def _check_windows(self, prior: NDArray[np.int64], column: Domain) -> None:
        assert self.band is not None
        running = np.concatenate(([0], np.cumsum(prior)))
        windows = running[_find_reach(self, self.band, column) + 1] - running[:-1]
        most, n_records = int(windows.max(initial=0)), total_of(prior)
        if most * self.ell > n_records:
            least = Fraction(n_records, most)
            is_whole = self.ell.denominator == 1 and least >= 2
            near_ell = Fraction(math.floor(least)) if is_whole else three_decimals_down(least)
            raise Infeasible(
                f"{self} asks for a certainty of at most {percent_at_most(1 / self.ell)}, and a range of width "
                f"{number_text(self.band)} has {percent_at_most(1 / least)} of {quoted(column.name)} in the whole "
                "table.",
                str(replace(self, ell=near_ell)),
            )

    def _check_recursive(self, counts: list[int], column: Domain) -> None:
        assert self.c is not None
        ell = min(int(self.ell), max(len(counts), 1))
        rest = sum(counts[ell - 1 :])
        top = counts[0] if counts else 0
        if ell == self.ell and top < self.c * rest:
            return
        # Strict, so the next number of three decimals above the quotient.
        least = Fraction(math.floor(Fraction(top, max(rest, 1)) * 1000) + 1, 1000)
        raise Infeasible(
            f"{self} does not hold in the whole table, so it holds in no partition of it: {quoted(column.name)} has "
            f"{counted(len(counts), 'value')}, and its most frequent value is too frequent against the rarer ones.",
            str(replace(self, ell=ell, c=max(self.c, least))),
        )

    def cautions(self, prior: NDArray[np.int64], column: Domain | None) -> list[str]:
        """Numbers that are near each other are different values, and say nearly the same."""
        if self.band is not None or self.subset is not None or column is None or column.kind is not Kind.NUMERIC:
            return []
        numbers = column.points[prior[: len(column.values)] > 0]
        if len(numbers) <= _FEW_NUMBERS or column.type in (ValueType.DATE, ValueType.DATETIME):
            return []
        step = sensible_step(numbers)
        if np.median(np.diff(numbers)) > step:
            return []
        rounded = suggest_rounding(column.name, numbers, are_dates=False)
        band = LDiversity(self.ell, band=step) if self.kind == "simple" else None
        similar = "" if band is None else f"{band} counts those within {number_text(step)} of each other as one; or "
        return [
            f"{self} counts numbers of {quoted(column.name)} that are near each other as different values, so someone "
            f"may learn one to within a little. {similar}publish ranges ({rounded})."
        ]

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        size = math.ceil(self.ell)
        if self.kind == "distinct":
            return Requirement(column=index, min_size=size, distinct=size)
        if self.kind == "entropy":
            return Requirement(column=index, min_size=size, entropy=self.ell)
        if self.c is not None:
            return Requirement(column=index, min_size=size, recursive=(self.c, size))
        if self.band is not None:
            reach = _find_reach(self, self.band, sensitive_column(self, column))
            return Requirement(column=index, min_size=size, windows=Windows(reach, 1 / self.ell))
        if self.subset is None:
            return Requirement(column=index, min_size=size, ceilings=(1 / self.ell,) * len(prior))
        codes = find_designated(self, self.subset, sensitive_column(self, column))
        ceilings = [Fraction(1)] * len(prior)
        positives = sum(int(prior[code]) for code in codes)
        for code in codes:
            # Positive values share the ceiling by how frequent they are: their probabilities then add up to at most
            # 1/l.
            part = Fraction(int(prior[code]), positives) if self.kind == "binary" and positives else Fraction(1)
            ceilings[code] = part / self.ell
        return Requirement(column=index, ceilings=tuple(ceilings), stricter=self.kind == "binary")

    def level(self, exposure: Exposure) -> Level:
        column = sensitive_column(self, exposure.column)
        if exposure.n_units == 0:
            return Level(Fraction(0) if self.c is not None else math.inf, None, "nothing is published")
        if self.kind == "distinct":
            numbers = distinct_values(exposure)
            unit = int(np.argmin(numbers))
            return Level(Fraction(int(numbers[unit])), unit)
        if self.kind == "entropy":
            return self._entropy_level(exposure)
        if self.kind == "recursive":
            return self._recursive_level(exposure)
        if self.band is not None:
            return self._band_level(exposure, _find_reach(self, self.band, column))
        codes = find_designated(self, self.subset, column)
        if self.kind == "binary":
            positive = np.isin(exposure.values, codes)
            sums = unit_sums(np.where(positive, exposure.weights, 0), exposure.starts)
            unit = largest_ratio(sums, np.maximum(exposure.sizes, 1))
            top = Fraction(int(sums[unit]), max(int(exposure.sizes[unit]), 1))
        else:
            highest = highest_beliefs(exposure)
            decisive = max(codes, key=lambda code: highest.beliefs[code])
            top, unit = highest.beliefs[decisive], highest.units[decisive]
        return Level(1 / top, unit) if top else Level(math.inf, None, "no designated value occurs")

    def _band_level(self, exposure: Exposure, reach: NDArray[np.int64]) -> Level:
        """The inverse of the largest share of a unit in any stretch of the band's width."""
        assert self.band is not None
        n_codes, units = len(reach), exposure.unit_of_entry
        order = np.argsort(units * n_codes + exposure.values, kind="stable")
        units, values, weights = units[order], exposure.values[order], exposure.weights[order]
        keys = units * n_codes + values
        ends = np.searchsorted(keys, units * n_codes + reach[values], side="right")
        running = np.concatenate((np.zeros(1, dtype=weights.dtype), np.cumsum(weights)))
        held = running[ends] - running[np.arange(len(values))]
        fullest = largest_ratio(held, exposure.sizes[units])
        top = Fraction(int(held[fullest]), int(exposure.sizes[units[fullest]]))
        return Level(1 / top, int(units[fullest]), f"largest share of a group within {number_text(self.band)}")

    def _entropy_level(self, exposure: Exposure) -> Level:
        """exp of the least entropy; a value next to l is moved to the side of l where it truly is."""
        found = in_blocks(exposure, lambda part: entropies(part.weights, part.unit_of_entry, part.n_units))
        unit = int(np.argmin(found))
        worst, wanted = float(found[unit]), math.log(self.ell.numerator) - math.log(self.ell.denominator)
        if abs(worst - wanted) > _GUARD:
            weights = exposure.unit(unit)[1]
            even = bool((weights == weights[0]).all())
            return Level(Fraction(len(weights)) if even else math.exp(worst), unit)
        decided: dict[tuple[int, ...], bool] = {}
        numbers = distinct_values(exposure)
        tops = np.maximum.reduceat(exposure.weights, exposure.starts[:-1])
        # Units with l equally frequent values reach l exactly, and are what most methods aim at.
        uniform = (numbers == float(self.ell)) & (exposure.sizes % numbers == 0) & (tops == exposure.sizes // numbers)
        for place in np.flatnonzero((found <= wanted + _GUARD) & ~uniform).tolist():
            counts = tuple(sorted(exposure.unit(place)[1].tolist()))
            if counts not in decided:
                decided[counts] = entropy_reaches(counts, self.ell)
            if not decided[counts]:
                return Level(min(math.exp(worst), just_below(self.ell)), place)
        reached = math.exp(worst)
        return Level(reached if reached >= self.ell else self.ell, unit)

    def _recursive_level(self, exposure: Exposure) -> Level:
        """The infimum of the c that are kept; infinite where a unit has fewer than l values."""
        tops, rests = most_frequent_and_rest(exposure, int(self.ell))
        detail = f"c for l = {number_text(self.ell)}: most frequent value over the rest from the l-th on"
        if np.any(rests == 0):
            return Level(math.inf, int(np.argmin(rests)), detail)
        unit = largest_ratio(tops, rests)
        return Level(Fraction(int(tops[unit]), int(rests[unit])), unit, detail)

    def holds(self, level: Level) -> bool:
        return level.value < self.c if self.c is not None else level.value >= self.ell


def _find_reach(model: PrivacyModel, band: Fraction, column: Domain) -> NDArray[np.int64]:
    """For each code the last one whose value is at most `band` larger; what is missing is near nothing else.

    Exact: numbers are the decimals that the table shows, dates are days.
    """
    if column.type not in NUMBER_LIKE or column.taxonomy is not None or column.kind is not Kind.NUMERIC:
        raise RecipeError(
            f"{model} needs a column of numbers or dates, and {quoted(column.name)} is "
            f"{'made coarser' if column.attribute.prepare is not None else column.kind}. Leave band out."
        )
    if column.type is ValueType.NUMBER:
        parts = [text.partition(".") for text in column.texts[: len(column.values)]]
        decimals = max((len(rest) for _, _, rest in parts), default=0)
        places = [int(whole + rest.ljust(decimals, "0")) for whole, _, rest in parts]
        width = math.floor(band * 10**decimals)
    else:
        places = column.values.tolist()
        width = math.floor(band * (_DAY if column.type is ValueType.DATETIME else 1))
    reach = [bisect.bisect_right(places, place + width) - 1 for place in places]
    return np.array([*reach, *([len(places)] if column.has_missing else [])], dtype=np.int64)


def _ordinal(number: int) -> str:
    """
    >>> [_ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
    ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def largest_recursive(prior: NDArray[np.int64], column: Domain) -> LDiversity:
    """The recursive kind gets harder with l, so the largest is found by halving."""
    low, high = 1, int(np.count_nonzero(prior))
    while low < high:
        middle = (low + high + 1) // 2
        asked = LDiversity(middle, kind="recursive", c=_RECURSIVE_C)
        low, high = (middle, high) if strongest(asked, prior, column) == asked else (low, middle - 1)
    return LDiversity(low, kind="recursive", c=_RECURSIVE_C)
