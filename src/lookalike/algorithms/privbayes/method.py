"""PrivBayes: synthetic records under differential privacy.

    structure (0.3 epsilon) -> noisy tables (0.7 epsilon) -> records drawn from them

Another promise than the models': it is about what replacing any one record would change, not about beliefs in a
person's sensitive value, and it is a property of this procedure, not of the records it gives, so no audit can check it.
Roles make no difference: every column is treated alike. docs/synthesis.md accounts for every sensitivity.

Deviations from the paper, and why: noise is discrete and choices are exact (mechanisms.py), since floats leak; domains
come from the schema, since values read from the table leak; parents are limited column by column (budget.py).
Cost: a scan of n records for each pair of a column and parents that is scored, and O(n d) to draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from lookalike.algorithms.privbayes.budget import Budget, Shape, shape_for
from lookalike.algorithms.privbayes.network import Cells, Link, grow_network
from lookalike.algorithms.privbayes.public_columns import PublicColumn, public_column, require_declared
from lookalike.algorithms.privbayes.tables import NoisyTable, draw_records, list_measured_sets, measure
from lookalike.data.microdata import Codes, Domain, Domains, Microdata
from lookalike.data.parameters import Choice, Exact, Whole, component_text
from lookalike.errors import RecipeError
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

_OBSERVED, _DECLARED = "observed", "declared"


@dataclass(frozen=True, kw_only=True)
class Synthesized:
    """Synthetic records, and what was done to get them. Budget, network and tables are as private as the records."""

    data: Microdata
    """The records; nobody of the table stands behind one."""
    budget: Budget
    shape: Shape
    """How many parents a column could have, and how large a table was worth its noise."""
    network: tuple[tuple[str, tuple[str, ...]], ...]
    """Columns in the order in which they were drawn, each with its parents."""
    tables: tuple[tuple[str, ...], ...]
    """The sets of columns whose counts were taken, with noise."""
    n_records: int
    """Of the table; taken as public."""
    undeclared: tuple[str, ...]
    """Columns whose values were read from the table: the promise does not cover which values there are."""
    missing_as_observed: tuple[str, ...] | None
    """Columns that can be missing because somebody's is; None if every column can be, whatever the table has."""

    def to_plain(self) -> dict[str, Any]:
        budget = self.budget
        return {
            "epsilon": float(budget.epsilon),
            "budget": {
                "structure": float(budget.structure),
                "choices": budget.n_choices,
                "tables": float(budget.tables),
                "noise_scale": float(budget.noise),
            },
            "degree": self.shape.degree,
            "most_cells": self.shape.most_cells,
            "network": [{"column": column, "parents": list(parents)} for column, parents in self.network],
            "tables": [list(names) for names in self.tables],
            "records": self.n_records,
            "read_from_table": {
                "values": list(self.undeclared),
                "missing": None if self.missing_as_observed is None else list(self.missing_as_observed),
            },
        }


@dataclass(frozen=True)
class PrivBayes:
    """Synthetic records from a Bayesian network under differential privacy.

    >>> str(PrivBayes("1.5", theta=6))
    'privbayes:1.5,theta=6'
    """

    name: ClassVar[str] = "privbayes"
    instead: ClassVar[str] = (
        "privbayes promises differential privacy, not a model of releases: it draws synthetic records, and no audit "
        "can hold them against a model. Use lookalike synthesize DATA --epsilon E --out FILE.csv."
    )
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
    domains: Choice = Choice(_OBSERVED, _DECLARED, default=_OBSERVED)
    """observed: values that no schema declares are read from the table, and said; declared: they are refused."""

    def __str__(self) -> str:
        return component_text(self)

    def synthesize(
        self, data: Microdata, rng: Randomness, progress: Progress = silent, *, rows: int | None = None
    ) -> Synthesized:
        """So many synthetic records (as many as the table has, unless said) over the same columns."""
        if rows is not None and rows < 1:
            raise RecipeError(f"rows is {rows}. It must be a whole number at least 1.")
        strict = self.domains == _DECLARED
        columns = [public_column(domain, self.bins, may_be_missing=strict) for domain in data.domains.all]
        if strict:
            require_declared(columns)
        # A column with one cell has nothing to tell and needs no table.
        varied = [place for place, column in enumerate(columns) if column.size > 1]
        sizes = [columns[place].size for place in varied]
        learned = self._learn(_cells(data, columns, varied), sizes, rng, progress)
        drawn = np.zeros((rows or data.n_rows, len(columns)), dtype=np.int64)
        drawn[:, varied] = draw_records(
            learned.network, learned.tables, sizes, len(drawn), rng.child("records"), progress
        )
        progress("records", 1.0)
        names = [columns[place].name for place in varied]
        return Synthesized(
            data=_as_microdata(data, columns, drawn, rng.child("values")),
            budget=learned.budget,
            shape=learned.shape,
            network=(
                *((names[link.column], tuple(names[parent] for parent in link.parents)) for link in learned.network),
                *((column.name, ()) for column in columns if column.size <= 1),
            ),
            tables=tuple(tuple(names[column] for column in table.columns) for table in learned.tables),
            n_records=data.n_rows,
            undeclared=tuple(column.name for column in columns if not column.declared),
            missing_as_observed=None if strict else tuple(column.name for column in columns if column.has_missing),
        )

    def _learn(self, cells: Cells, sizes: Sequence[int], rng: Randomness, progress: Progress) -> _Learned:
        """All that looks at records, and all that spends: at most `structure` * epsilon, and the rest."""
        if not sizes:
            return _Learned((), (), Budget(self.epsilon, Fraction(0), 0, Fraction(0), 0), Shape(0, 0))
        for_tables = self.epsilon * (1 - self.structure)
        shape = shape_for(sizes, len(cells), for_tables, self.theta, self.degree)
        # Without parents there is nothing to choose, and the tables get everything.
        n_choices = len(sizes) - 1 if shape.degree else 0
        for_structure = self.epsilon - for_tables if n_choices else Fraction(0)
        per_choice = for_structure / n_choices if n_choices else Fraction(0)
        network = grow_network(cells, sizes, shape, per_choice, rng.child("structure"), progress)
        sets = list_measured_sets(network)
        budget = Budget(self.epsilon, for_structure, n_choices, self.epsilon - for_structure, len(sets))
        tables = measure(cells, sizes, sets, budget.noise, rng.child("noise"), progress)
        return _Learned(network, tuple(tables), budget, shape)


@dataclass(frozen=True, eq=False)
class _Learned:
    network: tuple[Link, ...]
    tables: tuple[NoisyTable, ...]
    budget: Budget
    shape: Shape


def _cells(data: Microdata, columns: Sequence[PublicColumn], varied: Sequence[int]) -> Cells:
    codes = np.concatenate([data.quasi, data.sensitive, data.carried], axis=1)
    cells = np.empty((data.n_rows, len(varied)), dtype=np.int64, order="F")
    for place, column in enumerate(varied):
        cells[:, place] = columns[column].cell_of_code[codes[:, column]]
    return cells


def _as_microdata(data: Microdata, columns: Sequence[PublicColumn], drawn: Cells, rng: Randomness) -> Microdata:
    domains: list[Domain] = []
    codes = np.empty(drawn.shape, dtype=np.int32)
    for place, column in enumerate(columns):
        domain, codes[:, place] = column.draw(drawn[:, place], rng.child(place))
        domains.append(domain)
    first = len(data.domains.quasi)
    second = first + len(data.domains.sensitive)
    return Microdata(
        data.schema,
        Domains(tuple(domains[:first]), tuple(domains[first:second]), tuple(domains[second:])),
        _read_only(codes[:, :first]),
        _read_only(codes[:, first:second]),
        _read_only(codes[:, second:]),
    )


def _read_only(codes: Codes) -> Codes:
    own = np.ascontiguousarray(codes)
    own.setflags(write=False)
    return own
