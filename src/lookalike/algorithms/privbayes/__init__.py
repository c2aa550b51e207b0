"""PrivBayes: synthetic records under differential privacy.

    structure (0.3 epsilon) -> noisy tables (0.7 epsilon) -> records drawn from them

Another promise than the models': it is about what replacing any one record would change, not about beliefs in a
person's sensitive value, and it is a property of this procedure, not of the records it gives, so no audit can check it.
Roles make no difference: every column is treated alike. docs/synthesis.md accounts for every sensitivity.

Deviations from the paper, and why: noise is discrete and choices are exact, since floats leak; domains come from the
schema, since values read from the table leak; parents are limited column by column (mechanisms.py).
Cost: a scan of n records for each pair of a column and parents that is scored, and O(n d) to draw.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from lookalike.algorithms.privbayes.mechanisms import Budget, Shape, epsilon_of_beta, shape_for
from lookalike.algorithms.privbayes.network import (
    Cells,
    Link,
    NoisyTable,
    draw_records,
    grow_network,
    list_measured_sets,
    measure,
)
from lookalike.algorithms.privbayes.public_columns import PublicColumn, public_column, require_declared
from lookalike.data.microdata import Domain, Domains, Microdata, read_only
from lookalike.data.parameters import Choice, Exact, Whole, component_text, number_text
from lookalike.errors import RecipeError, counted, quoted
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

__all__ = ["PrivBayes", "Synthesis", "Synthesized", "describe_cautions", "epsilon_of_beta"]

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
        network, tables, budget, shape = self._learn(_cells(data, columns, varied), sizes, rng, progress)
        drawn = np.zeros((rows or data.n_rows, len(columns)), dtype=np.int64)
        drawn[:, varied] = draw_records(network, tables, sizes, len(drawn), rng.child("records"), progress)
        progress("records", 1.0)
        names = [columns[place].name for place in varied]
        return Synthesized(
            data=_as_microdata(data, columns, drawn, rng.child("values")),
            budget=budget,
            shape=shape,
            network=(
                *((names[link.column], tuple(names[parent] for parent in link.parents)) for link in network),
                *((column.name, ()) for column in columns if column.size <= 1),
            ),
            tables=tuple(tuple(names[column] for column in table.columns) for table in tables),
            n_records=data.n_rows,
            undeclared=tuple(column.name for column in columns if not column.declared),
            missing_as_observed=None if strict else tuple(column.name for column in columns if column.has_missing),
        )

    def _learn(
        self, cells: Cells, sizes: Sequence[int], rng: Randomness, progress: Progress
    ) -> tuple[Sequence[Link], Sequence[NoisyTable], Budget, Shape]:
        """All that looks at records, and all that spends: at most `structure` * epsilon, and the rest."""
        if not sizes:
            return (), (), Budget(self.epsilon, Fraction(0), 0, Fraction(0), 0), Shape(0, 0)
        for_tables = self.epsilon * (1 - self.structure)
        shape = shape_for(sizes, len(cells), for_tables, self.theta, self.degree)
        # Without parents there is nothing to choose, and the tables get everything.
        n_choices = len(sizes) - 1 if shape.degree else 0
        for_structure = self.epsilon - for_tables if n_choices else Fraction(0)
        budget = Budget(self.epsilon, for_structure, n_choices, self.epsilon - for_structure, 0)
        network = grow_network(cells, sizes, shape, budget.per_choice, rng.child("structure"), progress)
        sets = list_measured_sets(network)
        budget = replace(budget, n_tables=len(sets))
        return network, measure(cells, sizes, sets, budget.noise, rng.child("noise"), progress), budget, shape


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
        *(read_only(part) for part in np.split(codes, [first, second], axis=1)),
    )


@dataclass(frozen=True)
class Synthesis:
    """Synthetic records in memory, ready to be written, with the promise they were made under."""

    made: Synthesized
    method: PrivBayes
    notes: tuple[str, ...]
    untyped: tuple[str, ...] = ()
    """Columns whose type or kind the schema does not declare: it was read from the cells of the table."""

    @property
    def data(self) -> Microdata:
        """The synthetic records, in codes."""
        return self.made.data

    @property
    def epsilon(self) -> Fraction:
        return self.method.epsilon

    @property
    def promise(self) -> str:
        """What is promised, about what, and what was taken as public, in sentences."""
        uncovered = _describe_uncovered(self.made, self.untyped)
        return "\n".join((_promise(self.epsilon), _public(self.made, self.untyped), *uncovered))

    def frame(self) -> Any:
        """The synthetic records as a Polars data frame."""
        from lookalike.files.releases.plain import plain_frame

        return plain_frame(self.data)

    def write(self, file: str | Path, *, safe_csv: bool = False) -> None:
        """Write the records as CSV or Parquet, by the ending of the name; an existing file is refused.

        `safe_csv` puts an apostrophe before cells of a CSV file that a spreadsheet would compute.
        """
        from lookalike.files.releases.plain import write_plain
        from lookalike.files.urls import local_path

        write_plain(self.frame(), local_path(file), safe_csv=safe_csv)

    def to_plain(self) -> dict[str, Any]:
        plain = self.made.to_plain()
        plain["read_from_table"]["types"] = list(self.untyped)
        return {
            "rows": self.data.n_rows,
            "method": str(self.method),
            "promise": "differential privacy",
            "neighbours": "one record replaced",
            **plain,
        }

    def __str__(self) -> str:
        tables = counted(len(self.made.tables), "noisy table")
        rows = counted(self.data.n_rows, "synthetic record")
        return f"{rows} by {self.method}; degree {self.made.shape.degree}, {tables}\n{self.promise}"

    def _repr_html_(self) -> str:
        said = html.escape(str(self)).replace("\n", "<br>")
        return f"<p>{said}</p>{self.frame().head(8)._repr_html_()}"


def _promise(epsilon: Fraction) -> str:
    factor = f"{math.exp(epsilon):,.4g}" if epsilon < 20 else f"e^{float(epsilon):g}"
    return (
        f"Promise: differential privacy with epsilon = {number_text(epsilon)}. Had any one record been another one, no "
        f"output would be more than {factor} times as likely, or as unlikely. It is not a promise of any model of "
        "`lookalike models`, and it cannot be checked from the records: it is a property of how they were made."
    )


def _public(made: Synthesized, untyped: Sequence[str]) -> str:
    of_columns = "the names of the columns, their declared types" if untyped else "the names and types of the columns"
    gaps = "" if made.missing_as_observed is None else ", and which columns have missing values"
    return (
        f"Taken as public: that there are {counted(made.n_records, 'record')}, {of_columns}, the declared values{gaps}."
    )


def _describe_uncovered(made: Synthesized, untyped: Sequence[str]) -> list[str]:
    values, types = (", ".join(map(quoted, names)) for names in (made.undeclared, untyped))
    said = []
    if values:
        said.append(
            f"Not covered: which values occur in {values}. They were read from the table, so a value that one person "
            "has is there because of that person. The promise holds only if they are public anyway."
        )
    if types:
        said.append(
            f"Not covered: the types of {types}. They were read from the cells of the table, and one person's cell can "
            "change them. The promise holds only if they are public anyway."
        )
    return said


def describe_cautions(made: Synthesized, untyped: Sequence[str], seed: int | None) -> list[str]:
    values, types = (", ".join(map(quoted, names)) for names in (made.undeclared, untyped))
    said = []
    if values:
        said.append(f"Declare the values of {values} in a schema, or the promise does not cover which of them occur.")
    if types:
        said.append(f"Declare type and kind of {types} in a schema, or the promise does not cover what they are.")
    if made.shape.degree == 0 and len(made.network) > 1:
        said.append(
            "Every column was drawn by itself: with this epsilon no table of two columns is worth its noise. How "
            "columns go together is lost."
        )
    if seed is not None:
        said.append("A seed was given: whoever knows it can take the noise off. Leave it out for real records.")
    return said
