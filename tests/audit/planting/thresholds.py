"""Every model, set so that a release keeps it by nothing and so that it breaks it by next to nothing.

What a release reaches is worked out by the oracle. A promise at exactly that level must be kept (for models that
bound strictly, broken), and one step beyond it must be broken (kept). Irrational levels are rounded to thirty digits,
down and up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from lookalike.data.schema import Kind
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.t_closeness import TCloseness
from tests.oracles.promises import LONG, Unit, beliefs, judged

STEP = Fraction(1, 10**12)
_FINE = Decimal(10) ** -30


class Edge(NamedTuple):
    """A kind of promise with its parameter on both sides of what is reached; None: there is no such side."""

    kind: str
    kept: Any
    broken: Any


def about_identity(reached: int, concealed: int) -> Iterator[Edge]:
    yield Edge("k-anonymity", KAnonymity(reached), KAnonymity(reached + 1))
    yield Edge("k-concealment", KConcealment(concealed), KConcealment(concealed + 1))


def about_values(
    rng: np.random.Generator, units: Sequence[Unit], prior: Sequence[int], column: Any, *, counted: bool
) -> Iterator[Edge]:
    """Every model over a sensitive column; `counted`: units are counts of rows."""
    n_codes = len(prior)
    tops = [max(beliefs(unit, n_codes)[code] for unit in units) for code in range(n_codes)]
    occurring = [code for code in range(n_codes) if prior[code]]

    def level(model: Any) -> Any:
        return judged(model, units, prior, column).level

    if counted:
        least, top = min(sum(unit.values()) for unit in units), max(tops)
        yield Edge("alpha-k", AlphaK(alpha=top, k=least), AlphaK(alpha=top - STEP, k=least))
        yield Edge("alpha-k", None, AlphaK(alpha=1, k=least + 1))
    subset = [column.texts[code] for code in rng.choice(occurring, int(rng.integers(1, 3)))]
    subset = sorted(set(subset))
    for kind, more in (("simple", {}), ("simple", {"subset": subset}), ("binary", {"subset": subset})):
        name = f"l-diversity {kind}{' of some values' if more and kind == 'simple' else ''}"
        reached = level(LDiversity(1, kind=kind, **more))
        if reached != math.inf:
            yield Edge(name, LDiversity(reached, kind=kind, **more), LDiversity(reached + STEP, kind=kind, **more))
    distinct = level(LDiversity(1, kind="distinct"))
    yield Edge("l-diversity distinct", LDiversity(distinct, kind="distinct"), LDiversity(distinct + 1, kind="distinct"))
    low, high = _around(level(LDiversity(1, kind="entropy")))
    yield Edge("l-diversity entropy", LDiversity(max(low, 1), kind="entropy"), LDiversity(high, kind="entropy"))
    ell = int(rng.integers(1, max(int(distinct), 1) + 1))
    c = level(LDiversity(ell, kind="recursive", c=1))
    if c != math.inf:
        strict, loose = (LDiversity(ell, kind="recursive", c=number) for number in (c, c + STEP))
        yield Edge("l-diversity recursive", loose, strict)
    yield from _closeness(level, column)
    yield from _likeness(level)
    delta = level(DeltaDisclosure(1))
    if isinstance(delta, Decimal):
        low, high = _around(delta)
        yield Edge("delta-disclosure", DeltaDisclosure(high), DeltaDisclosure(low) if low > 0 else None)
    else:
        yield Edge("delta-disclosure", None, DeltaDisclosure(1000))
    code = int(rng.choice(occurring))
    if tops[code]:
        text = column.texts[code]
        edges = [FPrivacy(ceilings={text: share}) for share in (tops[code], tops[code] - STEP)]
        yield Edge("f-privacy", *edges)
    rho1 = Fraction(int(rng.integers(1, max(sum(prior), 2))), max(sum(prior), 2))
    rho2 = level(RhoPrivacy(rho1=rho1, rho2=1))
    if rho2 - STEP > rho1:
        yield Edge("rho-privacy", *(RhoPrivacy(rho1=rho1, rho2=share) for share in (rho2, rho2 - STEP)))


def _closeness(level: Any, column: Any) -> Iterator[Edge]:
    ways = ["equal", "kl", "js"]
    if column.taxonomy is not None:
        ways.append("hierarchical")
    elif column.kind is not Kind.CATEGORICAL:
        ways.append("ordered")
    for distance in ways:
        found = level(TCloseness(1, distance=distance))
        name = f"t-closeness {distance}"
        if isinstance(found, Fraction):
            broken = TCloseness(found - STEP, distance=distance) if found >= STEP else None
            yield Edge(name, TCloseness(found, distance=distance), broken)
        elif found.is_finite():
            low, high = _around(found)
            kept = TCloseness(high, distance=distance) if high <= 1 or distance == "kl" else None
            yield Edge(name, kept, TCloseness(low, distance=distance) if low > 0 else None)
        else:
            yield Edge(name, None, TCloseness(10**6, distance=distance))


def _likeness(level: Any) -> Iterator[Edge]:
    for bound in ("basic", "enhanced"):
        found = level(BetaLikeness(1, bound=bound))
        if found != math.inf:
            broken = BetaLikeness(found - STEP, bound=bound) if found >= STEP else None
            yield Edge(f"beta-likeness {bound}", BetaLikeness(found, bound=bound), broken)
        else:
            yield Edge(f"beta-likeness {bound}", None, BetaLikeness(10**6, bound=bound))


def falling(units: Sequence[Unit], prior: Sequence[int]) -> Iterator[Edge]:
    """The negative bounds of beta-likeness, at the fall that is reached."""
    total, n_codes = sum(prior), len(prior)
    kept = min(
        beliefs(unit, n_codes)[code] * total / prior[code] for unit in units for code in range(n_codes) if prior[code]
    )
    if 0 < kept < 1:
        for form, fall in (("ratio", 1 / kept - 1), ("relative", 1 - kept)):
            both = [
                BetaLikeness(10**6, bound="basic", negative=number, negative_form=form)
                for number in (fall, fall - STEP)
                if number > 0
            ]
            yield Edge(f"beta-likeness negative {form}", both[0], both[1] if len(both) > 1 else None)


def _around(number: Decimal) -> tuple[Fraction, Fraction]:
    """The nearest fractions of thirty digits below and above; a whole number that is met exactly is the lower one."""
    if LONG.abs(LONG.subtract(number, number.to_integral_value())) < Decimal(10) ** -40:
        whole = Fraction(int(number.to_integral_value()))
        return whole, whole + STEP
    low, high = (number.quantize(_FINE, rounding=way, context=LONG) for way in (ROUND_FLOOR, ROUND_CEILING))
    return Fraction(low), Fraction(high)
