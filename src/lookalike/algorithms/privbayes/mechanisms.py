"""Noise and choices that are differentially private on a real machine, not only on paper, and the budget they spend.

Floats leak: the gaps between them show through Laplace noise, and a probability that underflows makes an output
impossible for one table and possible for its neighbour. So nothing here is a float that decides an outcome. Every draw
compares uniform whole numbers with whole numbers, and a coin that shows heads with probability exp(-x) is flipped by
von Neumann's trick, after Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (NeurIPS 2020),
section 5. What is drawn has exactly the distribution that it is said to have, as far as ChaCha20 is random.
How long a draw takes is not hidden.

epsilon = structure + tables. The structure is found in d - 1 choices of equal budget, and the tables share the rest
evenly. Budgets add up (sequential composition): every part looks at all records. A table is useful if its average count
is at least `theta` times the average noise, 2 * tables / epsilon, that a cell gets. So it may have
n * epsilon / (2 * tables * theta) cells. The budget looks at no record: sizes of domains and the number of records are
all it knows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from itertools import takewhile

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
_COUNTS_SENSITIVITY = 2
"""Replacing one record takes one from a cell and gives one to another: counts of a table change by 2 in sum."""
_MOST_CELLS = 1 << 18
"""No table is larger, however generous the budget: it must fit the machine."""
_MOST_CANDIDATES = 20_000
"""More pairs of a column and parents are not scored; the degree is lowered instead."""
_PLACES = Decimal("1e-12")


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


@dataclass(frozen=True)
class Shape:
    """What may be built with a budget: parents for each column up to `degree`, tables up to `most_cells`."""

    degree: int
    most_cells: int


@dataclass(frozen=True)
class Budget:
    """What each part of the work spends."""

    epsilon: Fraction
    """The whole."""
    structure: Fraction
    """For the structure; 0 where there is nothing to choose."""
    n_choices: int
    tables: Fraction
    """For the tables of counts."""
    n_tables: int

    @property
    def per_choice(self) -> Fraction:
        return self.structure / self.n_choices if self.n_choices else Fraction(0)

    @property
    def per_table(self) -> Fraction:
        return self.tables / self.n_tables if self.n_tables else Fraction(0)

    @property
    def noise(self) -> Fraction:
        """The scale of the noise on each count."""
        return noise_scale(self.per_table, _COUNTS_SENSITIVITY) if self.n_tables else Fraction(0)


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


def useful_cells(n_rows: int, epsilon: Fraction, n_tables: int, theta: Fraction) -> int:
    """How many cells a table may have to be useful."""
    return min(int(n_rows * epsilon / (_COUNTS_SENSITIVITY * n_tables * theta)), _MOST_CELLS)


def shape_for(sizes: Sequence[int], n_rows: int, epsilon: Fraction, theta: Fraction, most_parents: int) -> Shape:
    """The degree and the size of tables that `epsilon`, the budget of the tables, is worth.

    The published rule is for two values a column: the largest k for which all d - k tables of 2^(k+1) cells are useful.
    Here it holds with the k + 1 largest domains in place of 2^(k+1). Where one wide column would forbid what narrow
    ones can have, each column gets the parents that it has room for, up to the k of the narrowest; then no table need
    be part of another, and the budget is planned for d of them.
    """
    d = len(sizes)
    narrow, wide = sorted(sizes), sorted(sizes, reverse=True)
    degrees = range(min(d - 1, most_parents) + 1)
    allowed = list(takewhile(lambda k: k <= 1 or d * math.comb(d - 1, k) <= _MOST_CANDIDATES, degrees))
    even = max(
        (k for k in allowed if math.prod(wide[: k + 1]) <= useful_cells(n_rows, epsilon, d - k, theta)), default=0
    )
    room = useful_cells(n_rows, epsilon, d, theta)
    mixed = max((k for k in allowed if math.prod(narrow[: k + 1]) <= room), default=0)
    if mixed > even:
        return Shape(mixed, room)
    return Shape(even, useful_cells(n_rows, epsilon, d - even, theta))
