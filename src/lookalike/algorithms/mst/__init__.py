"""MST: synthetic records under differential privacy from a tree of pairs and Private-PGM.

    each column -> merge rare values -> choose a tree of pairs -> measure the pairs -> fit a model -> draw records

Promise. Neighbouring tables have the same number of records and differ in one. For any two of them and every set of
outputs, P(one in the set) <= e^epsilon * P(other in the set) + delta. Budgets are counted in zCDP (budget.py), and
each of the three parts that look at records gets a third: the columns, the choices, the pairs.

Assumed: the number of records, and the names, types and domains of columns are public, as for PrivBayes
(shared/public_columns.py); random numbers are random as far as ChaCha20 is. Noise is discrete Gaussian and choices are
exponential, both drawn exactly, in whole numbers (shared/mechanisms.py). How long a run takes is not hidden.

After McKenna, Miklau and Sheldon, "Winning the NIST contest: a scalable and general approach to differentially private
synthetic data" (Journal of Privacy and Confidentiality, 2021). Deviations, and why: a record is replaced, not added or
removed, since the number of records is public here (so sensitivities are 2 instead of 1); noise is discrete, since
floats leak; the model gets the number of records.
Cost: O(n d^2) for the pairs, some seconds to compile the model (estimate.py), O(n d) to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from lookalike.algorithms.mst.budget import ZcdpBudget
from lookalike.algorithms.mst.estimate import estimate_tables, load_mbi
from lookalike.algorithms.mst.tree import link_columns, measure_tree
from lookalike.algorithms.shared.drawing import Cells
from lookalike.algorithms.shared.synthesis import DECLARED, OBSERVED, Learned, Synthesizer
from lookalike.data.parameters import Choice, Exact, Whole, component_text, number_text
from lookalike.errors import RecipeError, counted
from lookalike.progress import Progress
from lookalike.randomness import Randomness


@dataclass(frozen=True, kw_only=True)
class LearnedTree(Learned):
    """A tree of columns with the tables of a fitted model."""

    spent: ZcdpBudget
    merged: Sequence[int]
    """For each column, how many of its values were too rare to measure alone."""

    @property
    def budget(self) -> ZcdpBudget:
        return self.spent

    def describe(self) -> str:
        n_pairs = sum(len(table.columns) > 1 for table in self.tables)
        return f"{counted(n_pairs, 'pair')} measured, {counted(sum(self.merged), 'rare value')} merged"

    def to_plain(self) -> dict[str, Any]:
        return {"merged_values": sum(self.merged)}


@dataclass(frozen=True)
class MST(Synthesizer):
    """Synthetic records from a tree of pairs of columns under differential privacy. Needs the extra `pgm`.

    >>> str(MST("1.5", bins=32))
    'mst:1.5,bins=32'
    """

    name: ClassVar[str] = "mst"
    epsilon: Exact = Exact(low="0.001", high=10_000)
    """Replacing one record changes the probability of any set of outputs by a factor of e^epsilon and delta at most."""
    delta: Exact = Exact(low="1e-100", below=1, default=Fraction(1, 10**9))
    """The probability that is not bounded by the factor. It must be below 1 / records, and should be far below."""
    bins: Whole = Whole(low=2, high=10_000, default=128)
    """The most parts that a range of numbers or dates is cut into."""
    domains: Choice = Choice(OBSERVED, DECLARED, default=OBSERVED)
    """observed: values that no schema declares are read from the table, and said; declared: they are refused."""

    def __str__(self) -> str:
        return component_text(self)

    @property
    def privacy(self) -> tuple[Fraction, Fraction]:
        return self.epsilon, self.delta

    @property
    def columns_as(self) -> tuple[int, str]:
        return self.bins, self.domains

    def prepare(self) -> None:
        load_mbi()

    def learn(
        self, cells: Cells, sizes: Sequence[int], rng: Randomness, progress: Progress, most_records: int = 1
    ) -> LearnedTree:
        """Spends the whole budget; with no column that varies, nothing."""
        if self.delta * len(cells) >= 1:
            raise RecipeError(
                f"mst: delta is {number_text(self.delta)}. It must be below 1 / {len(cells):,}, the number of records: "
                "otherwise a method could publish someone's record and keep the promise."
            )
        budget = ZcdpBudget.of(self.epsilon, self.delta, len(sizes), most_records)
        if not sizes:
            return LearnedTree(network=(), tables=(), spent=budget, merged=())
        tree = measure_tree(cells, sizes, budget, rng, progress)
        tables = estimate_tables(tree, len(cells), progress)
        pairs = [(one.columns[0], one.columns[1]) for one in tree.pairs]
        merged = [
            size - merging.n_merged + 1 if merging.n_merged < size else 0
            for size, merging in zip(sizes, tree.mergings, strict=True)
        ]
        return LearnedTree(network=link_columns(len(sizes), pairs), tables=tables, spent=budget, merged=merged)
