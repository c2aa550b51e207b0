"""Noise and choices that are differentially private on a real machine, not only on paper.

Floats leak: the gaps between them show through Laplace noise, and a probability that underflows makes an output
impossible for one table and possible for its neighbour. So nothing here is a float that decides an outcome. Every draw
compares uniform whole numbers with whole numbers, and a coin that shows heads with probability exp(-x) is flipped by
von Neumann's trick, after Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020),
section 5. What is drawn has exactly the distribution that it is said to have, as far as ChaCha20 is random.
How long a draw takes is not hidden.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.parameters import Number, as_fraction
from lookalike.errors import RecipeError
from lookalike.randomness import Randomness

GRID = 1 << 32
"""Exponents of the exponential mechanism are whole multiples of 1/GRID."""
_FLOAT_MARGIN = 1.0 - 2.0**-20
"""Scores are floats, and their errors far below a millionth of the sensitivity; that much budget is kept back."""
_LARGEST_EXPONENT = 2.0**62
_SCALE_GRID = 1 << 20
_PLACES = Decimal("1e-12")
_SPREAD_GRID, _LARGEST_SPREAD, _LARGEST_ROOT = 1 << 21, 1 << 24, 1 << 31


def coins(rng: Randomness, numerators: NDArray[np.int64], denominator: int) -> NDArray[np.bool_]:
    """Heads with probability exp(-numerator / denominator), exactly, one coin for each numerator (0 or more)."""
    heads = _coins_below_one(rng, numerators % denominator, denominator)
    # exp(-(q + r)) is q coins of exp(-1) and one of exp(-r), all heads; most fall out at once.
    wholes = numerators // denominator
    turn = 0
    while (alive := np.flatnonzero(heads & (wholes > turn))).size:
        heads[alive] = _coins_below_one(rng, np.ones(alive.size, dtype=np.int64), 1)
        turn += 1
    return heads


def _coins_below_one(rng: Randomness, numerators: NDArray[np.int64], denominator: int) -> NDArray[np.bool_]:
    """The same for exponents from 0 to 1.

    With g = numerator / denominator, go on with probability g, then g/2, then g/3 ...; the coin shows heads if an even
    number of turns went on: (1 - g) + (g^2/2 - g^3/6) + ... = exp(-g).
    """
    heads = np.ones(len(numerators), dtype=np.bool_)
    alive = np.arange(len(numerators))
    turn = 1
    while alive.size:
        alive = alive[rng.integers(denominator * turn, alive.size) < numerators[alive]]
        heads[alive] = ~heads[alive]
        turn += 1
    return heads


def noise_scale(epsilon: Fraction, sensitivity: int) -> Fraction:
    """The scale of discrete Laplace noise that makes counts epsilon-private: sensitivity / epsilon, rounded up."""
    return Fraction(-((-sensitivity * _SCALE_GRID / epsilon) // 1), _SCALE_GRID)


def discrete_laplace(rng: Randomness, scale: Fraction, count: int) -> NDArray[np.int64]:
    """Whole numbers z with probability proportional to exp(-|z| / scale), exactly.

    Added to counts that differ by `s` in sum between neighbouring tables it gives s / scale differential privacy.
    """
    above, below = scale.numerator, scale.denominator
    drawn = np.empty(0, dtype=np.int64)
    while len(drawn) < count:
        # U + above * V is geometric: U by rejection, V as the number of exp(-1) coins before the first tail.
        parts = rng.integers(above, 2 * (count - len(drawn)) + 16)
        parts = parts[_coins_below_one(rng, parts, above)]
        sizes = (parts + above * _heads_in_a_row(rng, len(parts))) // below
        negative = rng.integers(2, len(sizes)) == 1
        kept = ~(negative & (sizes == 0))
        drawn = np.concatenate([drawn, np.where(negative, -sizes, sizes)[kept]])
    return drawn[:count]


def _heads_in_a_row(rng: Randomness, count: int) -> NDArray[np.int64]:
    rows = np.zeros(count, dtype=np.int64)
    alive = np.arange(count)
    while alive.size:
        alive = alive[_coins_below_one(rng, np.ones(alive.size, dtype=np.int64), 1)]
        rows[alive] += 1
    return rows


@dataclass(frozen=True)
class DiscreteGaussian:
    """Whole numbers z with probability proportional to exp(-z^2 / (2 variance)), exactly.

    Added to counts that change by whole numbers, of which the squares add up to at most s, it gives
    s / (2 variance) zero-concentrated differential privacy: Canonne, Kamath and Steinke (NeurIPS 2020).

    The variance is spread * center, and center a whole multiple of 1/parts. As in that paper, a draw from the
    discrete Laplace distribution of scale `spread` is kept with probability exp(-(|z| - center)^2 / (2 variance)). That
    gives the same distribution for every spread; one near the standard deviation keeps most draws.
    """

    spread: int
    units: int
    """The center, in parts."""
    parts: int

    @classmethod
    def at_least(cls, variance: Fraction) -> DiscreteGaussian:
        """The one with this variance, rounded up to numbers that a machine word has room for: by a millionth, and to no
        less than a millionth."""
        spread = math.isqrt(int(variance)) + 1
        if spread > _LARGEST_SPREAD:
            raise RecipeError(
                f"The noise for this budget would have a standard deviation above {_LARGEST_SPREAD:,}. Raise epsilon, "
                "or leave out columns."
            )
        parts = max(_SPREAD_GRID >> spread.bit_length(), 1)
        return cls(spread, max(math.ceil(variance * parts / spread), 1), parts)

    @property
    def variance(self) -> Fraction:
        return Fraction(self.spread * self.units, self.parts)

    def draw(self, rng: Randomness, count: int) -> NDArray[np.int64]:
        drawn = np.empty(0, dtype=np.int64)
        while len(drawn) < count:
            tried = discrete_laplace(rng, Fraction(self.spread), 2 * (count - len(drawn)) + 16)
            # Beyond the limit the square would not fit into a word. So far out lies nothing: with chance e^-100 a draw
            # that is then kept with chance e^-5000.
            sizes = np.minimum(np.abs(tried), _LARGEST_ROOT // self.parts)
            off = (sizes * self.parts - self.units) ** 2
            drawn = np.concatenate([drawn, tried[coins(rng, off, 2 * self.spread * self.units * self.parts)]])
        return drawn[:count]


def exponents(scores: NDArray[np.float64], epsilon: Fraction, sensitivity: float) -> NDArray[np.int64]:
    """The exponents of the exponential mechanism in units of 1/GRID: epsilon * score / (2 * sensitivity), rounded down.

    Between neighbouring tables each moves by at most epsilon / 2: rounding may add a unit and the float arithmetic of
    the scores another, so the slope is lowered by that much. An epsilon too small for the grid gives a blind choice.
    """
    slope = max(float(epsilon / 2 * GRID) * _FLOAT_MARGIN - 2.0, 0.0)
    return np.floor(np.minimum(scores / sensitivity * slope, _LARGEST_EXPONENT)).astype(np.int64)


def choose(rng: Randomness, weights: NDArray[np.int64]) -> int:
    """An index with probability proportional to exp(weight / GRID), exactly: the exponential mechanism.

    A candidate is drawn blindly and kept by a coin of exp(its distance to the best).
    """
    shortfalls = weights.max() - weights
    while True:
        drawn = rng.integers(len(weights), len(weights))
        kept = np.flatnonzero(coins(rng, shortfalls[drawn], GRID))
        if kept.size:
            return int(drawn[kept[0]])


def epsilon_of_beta(beta: Number) -> Fraction:
    """ln(1 + beta), rounded down to twelve places: the epsilon that is compared with beta-likeness.

    >>> float(epsilon_of_beta(3))
    1.386294361119
    """
    try:
        exact = as_fraction(beta)
    except (ValueError, ArithmeticError):
        exact = Fraction(0)
    if exact <= 0:
        raise RecipeError(f"beta is {beta}. It must be a number above 0.")
    with localcontext() as context:
        context.prec = 400
        logarithm = (1 + Decimal(exact.numerator) / Decimal(exact.denominator)).ln()
        return Fraction(logarithm.quantize(_PLACES, rounding=ROUND_FLOOR))
