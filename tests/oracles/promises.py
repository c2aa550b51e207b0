"""What a model comes to on units of counts, from its definition alone: fractions, long decimals and brute force.

Nothing of the library's models or audit is used; of a model only its parameters are read. A unit maps codes to whole
weights. Rational levels are fractions; logarithms are decimals of 50 digits, and what agrees in 40 of them is equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

Unit = Mapping[int, int]
Number = Fraction | Decimal | float
LONG = Context(prec=50)
_EQUAL = Decimal(10) ** -40


class Judged(NamedTuple):
    """The level, and whether it keeps the promise."""

    level: Number
    holds: bool


def judged(model: Any, units: Sequence[Unit], prior: Sequence[int], column: Any = None) -> Judged:
    """What a model says of these units; there must be one, and none is empty."""
    with localcontext(LONG):
        return _RULES[model.name](model, units, list(prior), column)


def long(number: Fraction) -> Decimal:
    return LONG.divide(Decimal(number.numerator), Decimal(number.denominator))


def log(number: Fraction) -> Decimal:
    return LONG.subtract(LONG.ln(Decimal(number.numerator)), LONG.ln(Decimal(number.denominator)))


def beliefs(unit: Unit, n_codes: int) -> list[Fraction]:
    size = sum(unit.values())
    return [Fraction(unit.get(code, 0), size) for code in range(n_codes)]


def _not_above(one: Decimal, other: Decimal) -> bool:
    return one <= other or abs(one - other) < _EQUAL


def _size(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    least = Fraction(min(sum(unit.values()) for unit in units))
    return Judged(least, least >= model.k)


def _named(names: Any, column: Any) -> list[int]:
    texts = list(column.texts)
    return list(range(len(texts))) if names is None else [texts.index(name) for name in names]


def _alpha(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    if min(sum(unit.values()) for unit in units) < model.k:
        return Judged(math.inf, False)
    codes = _named(model.subset, column)
    top = max(beliefs(unit, len(prior))[code] for unit in units for code in codes)
    return Judged(top, top <= model.alpha)


def _diversity(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    if model.kind == "distinct":
        least = Fraction(min(sum(count > 0 for count in unit.values()) for unit in units))
        return Judged(least, least >= model.ell)
    if model.kind == "entropy":
        return _entropy(model.ell, units)
    if model.kind == "recursive":
        worst: Number = Fraction(0)
        for unit in units:
            falling = sorted(unit.values(), reverse=True)
            rest = sum(falling[int(model.ell) - 1 :])
            worst = max(worst, Fraction(falling[0], rest) if rest else math.inf)
        return Judged(worst, worst < model.c)
    codes = _named(model.subset, column)
    tops = []
    for unit in units:
        shares = [beliefs(unit, len(prior))[code] for code in codes]
        tops.append(sum(shares) if model.kind == "binary" else max(shares))
    top = max(tops)
    return Judged(1 / top if top else math.inf, top * model.ell <= 1)


def _entropy(ell: Fraction, units: Sequence[Unit]) -> Judged:
    """-sum q ln q >= ln l is l^w * product of c^c <= w^w, in whole numbers."""
    holds, least = True, None
    for unit in units:
        counts = [count for count in unit.values() if count]
        size = sum(counts)
        products = math.prod(count**count for count in counts)
        holds &= ell.numerator**size * products <= ell.denominator**size * size**size
        entropy = sum((-long(Fraction(count, size)) * log(Fraction(count, size)) for count in counts), Decimal(0))
        least = entropy if least is None else min(least, entropy)
    assert least is not None
    return Judged(LONG.exp(least), holds)


def _closeness(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    shares = [Fraction(number, sum(prior)) for number in prior]
    found = [_DISTANCES[model.distance](shares, beliefs(unit, len(prior)), column) for unit in units]
    worst = max(found)
    if isinstance(worst, Decimal):
        return Judged(worst, _not_above(worst, long(model.t)))
    return Judged(worst, worst <= model.t)


def _equal(shares: list[Fraction], seen: list[Fraction], column: Any) -> Fraction:
    return sum((abs(share - belief) for share, belief in zip(shares, seen, strict=True)), Fraction(0)) / 2


def _ordered(shares: list[Fraction], seen: list[Fraction], column: Any) -> Fraction:
    gaps = [sum(shares[: end + 1]) - sum(seen[: end + 1]) for end in range(len(shares) - 1)]
    return sum((abs(gap) for gap in gaps), Fraction(0)) / max(len(shares) - 1, 1)


def _hierarchical(shares: list[Fraction], seen: list[Fraction], column: Any) -> Fraction:
    """Node by node: what some children have too much meets what others have too little."""
    tree = column.taxonomy

    def extra(node: int) -> Fraction:
        first, last = int(tree.firsts[node]), int(tree.lasts[node])
        return sum(shares[first : last + 1], Fraction(0)) - sum(seen[first : last + 1], Fraction(0))

    cost = Fraction(0)
    for node in range(len(tree.labels)):
        children = [other for other in range(1, len(tree.labels)) if int(tree.parents[other]) == node]
        extras = [extra(child) for child in children]
        much, little = sum(part for part in extras if part > 0), -sum(part for part in extras if part < 0)
        cost += Fraction(int(tree.heights[node]), max(int(tree.heights[0]), 1)) * min(much, little)
    return cost


def _leibler(shares: list[Fraction], seen: list[Fraction], column: Any = None) -> Decimal:
    total = Decimal(0)
    for share, belief in zip(shares, seen, strict=True):
        if share and not belief:
            return Decimal("Infinity")
        if share:
            total = LONG.add(total, LONG.multiply(long(share), log(share / belief)))
    return LONG.divide(total, LONG.ln(Decimal(2)))


def _shannon(shares: list[Fraction], seen: list[Fraction], column: Any) -> Decimal:
    middle = [(share + belief) / 2 for share, belief in zip(shares, seen, strict=True)]
    return LONG.divide(LONG.add(_leibler(shares, middle), _leibler(seen, middle)), Decimal(2))


_DISTANCES: dict[str, Callable[..., Fraction | Decimal]] = {
    "equal": _equal,
    "ordered": _ordered,
    "hierarchical": _hierarchical,
    "kl": _leibler,
    "js": _shannon,
}


def _likeness(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    total, worst = sum(prior), Fraction(0)
    for unit in units:
        for code, belief in enumerate(beliefs(unit, len(prior))):
            share = Fraction(prior[code], total)
            if not share:
                if belief:
                    return Judged(math.inf, False)
                continue
            if model.negative is not None:
                floor = share / (1 + model.negative) if model.negative_form == "ratio" else share * (1 - model.negative)
                if belief < floor:
                    return Judged(math.inf, False)
            gain = belief / share - 1
            # certainty <= share * (1 - ln share); equal only where everybody has the value
            if model.bound == "enhanced" and gain > 0 and long(gain) > -log(share):
                return Judged(math.inf, False)
            worst = max(worst, gain)
    return Judged(worst, worst <= model.beta)


def _disclosure(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    total, worst = sum(prior), Decimal(0)
    for unit in units:
        for code, belief in enumerate(beliefs(unit, len(prior))):
            if (prior[code] > 0) != (belief > 0):
                return Judged(math.inf, False)
            if belief:
                worst = max(worst, abs(log(belief * total / prior[code])))
    return Judged(worst, worst < long(model.delta) and abs(worst - long(model.delta)) >= _EQUAL)


_BY_SENSITIVITY = {"high": (2, Fraction(1, 50)), "medium": (8, Fraction(1, 50)), "none": (0, Fraction(1))}


def _own_ceilings(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    named, worst = dict(model.ceilings or ()), Fraction(0)
    for code, number in enumerate(prior):
        share = Fraction(number, sum(prior))
        if model.theta is not None:
            ceiling = min(Fraction(1), model.theta * share + model.base)
        else:
            given = named.get(column.texts[code], named.get("*", Fraction(1)))
            ceiling = given
            if isinstance(given, str):
                theta, base = _BY_SENSITIVITY[given]
                ceiling = min(Fraction(1), theta * share + base)
        for unit in units:
            belief = beliefs(unit, len(prior))[code]
            if belief and not ceiling:
                return Judged(math.inf, False)
            if belief:
                worst = max(worst, belief / ceiling)
    return Judged(worst, worst <= 1)


def _growth(model: Any, units: Sequence[Unit], prior: list[int], column: Any) -> Judged:
    """Every property that at most a share rho1 of the table has: every set of values."""
    total, worst = sum(prior), Fraction(0)
    codes = range(len(prior))
    unlikely = [
        some
        for size in range(len(prior) + 1)
        for some in combinations(codes, size)
        if Fraction(sum(prior[code] for code in some), total) <= model.rho1
    ]
    for unit in units:
        seen = beliefs(unit, len(prior))
        worst = max([worst, *(sum((seen[code] for code in some), Fraction(0)) for some in unlikely)])
    return Judged(worst, worst <= model.rho2)


_RULES: dict[str, Callable[[Any, Sequence[Unit], list[int], Any], Judged]] = {
    "k-anonymity": _size,
    "k-concealment": _size,
    "alpha-k": _alpha,
    "l-diversity": _diversity,
    "t-closeness": _closeness,
    "beta-likeness": _likeness,
    "delta-disclosure": _disclosure,
    "f-privacy": _own_ceilings,
    "rho-privacy": _growth,
}
