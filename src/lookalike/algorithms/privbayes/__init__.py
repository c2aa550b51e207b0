"""PrivBayes: synthetic records under differential privacy.

    structure (0.3 epsilon) -> noisy tables (0.7 epsilon) -> records drawn from them

Another promise than the models': it is about what replacing any one record would change, not about probabilities in a
person's sensitive value, and it is a property of this procedure, not of the records it gives, so no audit can check it.
Roles make no difference: every column is treated alike. docs/synthesis.md accounts for every sensitivity.

Deviations from the paper, and why: noise is discrete and choices are exact, since floats leak; domains come from the
schema, since values read from the table leak; parents are limited column by column (budget.py).
Cost: a scan of n records for each pair of a column and parents that is scored, and O(n d) to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

from lookalike.algorithms.privbayes.budget import Budget, Shape, shape_for
from lookalike.algorithms.privbayes.network import grow_network, list_measured_sets, measure
from lookalike.algorithms.shared.drawing import Cells
from lookalike.algorithms.shared.synthesis import DECLARED, OBSERVED, Learned, Synthesizer
from lookalike.data.parameters import Choice, Exact, Whole, component_text
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class LearnedNetwork(Learned):
    """A Bayesian network with its noisy tables."""

    spent: Budget
    shape: Shape
    """How many parents a column could have, and how large a table was worth its noise."""

    @property
    def budget(self) -> Budget:
        return self.spent

    def describe(self) -> str:
        return f"degree {self.shape.degree}, {super().describe()}"

    def to_plain(self) -> dict[str, Any]:
        return {"degree": self.shape.degree, "most_cells": self.shape.most_cells}


@dataclass(frozen=True)
class PrivBayes(Synthesizer):
    """Synthetic records from a Bayesian network under differential privacy.

    >>> str(PrivBayes("1.5", theta=6))
    'privbayes:1.5,theta=6'
    """

    name: ClassVar[str] = "privbayes"
    epsilon: Exact = Exact(low="0.000001", high=1_000_000)
    """Replacing one record changes the probability of any output by a factor of e^epsilon at most."""
    degree: Whole = Whole(low=0, default=10)
    """The most parents of a column; `theta` mostly allows fewer."""
    theta: Exact = Exact(above=0, default=Fraction(4))
    """A table is made only if its average count is at least so many times the average noise."""
    structure: Exact = Exact(above=0, below=1, default=Fraction(3, 10))
    """The part of epsilon that finds the structure; the tables get the rest."""
    bins: Whole = Whole(low=2, high=10_000, default=128)
    """The most parts that a range of numbers or dates is cut into."""
    domains: Choice = Choice(OBSERVED, DECLARED, default=OBSERVED)
    """observed: values that no schema declares are read from the table, and said; declared: they are refused."""

    def __str__(self) -> str:
        return component_text(self)

    @property
    def privacy(self) -> tuple[Fraction, Fraction]:
        return self.epsilon, Fraction(0)

    @property
    def columns_as(self) -> tuple[int, str]:
        return self.bins, self.domains

    def learn(
        self, cells: Cells, sizes: Sequence[int], rng: Randomness, progress: Progress, most_records: int = 1
    ) -> LearnedNetwork:
        """Spends at most `structure` * epsilon on the structure, and the rest on the tables.

        Epsilon is that of a person. A person's records are replaced one after the other, and each replacement changes
        probabilities by the factor of one record: with c records, each may spend epsilon / c.
        """
        epsilon = self.epsilon / most_records
        if not sizes:
            nothing = Budget(epsilon, Fraction(0), 0, Fraction(0), 0)
            return LearnedNetwork(network=(), tables=(), spent=nothing, shape=Shape(0, 0))
        for_tables = epsilon * (1 - self.structure)
        shape = shape_for(sizes, len(cells), for_tables, self.theta, self.degree)
        # Without parents there is nothing to choose, and the tables get everything.
        n_choices = len(sizes) - 1 if shape.degree else 0
        for_structure = epsilon - for_tables if n_choices else Fraction(0)
        budget = Budget(epsilon, for_structure, n_choices, epsilon - for_structure, 0)
        network = grow_network(cells, sizes, shape, budget.per_choice, rng.child("structure"), progress)
        sets = list_measured_sets(network)
        budget = replace(budget, n_tables=len(sets))
        tables = measure(cells, sizes, sets, budget.noise, rng.child("noise"), progress)
        return LearnedNetwork(network=network, tables=tables, spent=budget, shape=shape)
