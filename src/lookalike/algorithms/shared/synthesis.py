"""What synthesizers share: from a table to public columns, from noisy tables to records, and what is promised of them.

A synthesizer adds the part between, which alone looks at records and spends the budget (`learn`). Its promise is
differential privacy for one record replaced, or for all records of a person: a property of the procedure, not of the
records it gives, so no audit can check it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np

from lookalike.algorithms.shared.drawing import Cells, Link, NoisyTable, draw_records
from lookalike.algorithms.shared.public_columns import PublicColumn, public_column, require_declared
from lookalike.data.microdata import Domain, Domains, Microdata, read_only
from lookalike.data.parameters import number_text
from lookalike.errors import RecipeError, counted, quoted
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

OBSERVED, DECLARED = "observed", "declared"


class Budget(Protocol):
    """What each part of the work spends."""

    def to_plain(self) -> dict[str, Any]: ...


@dataclass(frozen=True, kw_only=True)
class Learned:
    """All that was learned from the records under the budget. As private as the synthetic records."""

    network: Sequence[Link]
    """Columns in the order in which they are drawn, each with its parents."""
    tables: Sequence[NoisyTable]
    """Counts with noise."""

    @property
    def budget(self) -> Budget:
        raise NotImplementedError

    def describe(self) -> str:
        """What was made, in a few words."""
        return counted(len(self.tables), "noisy table")

    def to_plain(self) -> dict[str, Any]:
        """What only this method has to say, for JSON."""
        return {}


@dataclass(frozen=True, kw_only=True)
class Synthesized:
    """Synthetic records, and what was done to get them. What was learned is as private as the records."""

    data: Microdata
    """The records; nobody of the table is behind one."""
    learned: Learned
    """Network, tables and budget; columns are numbers."""
    network: tuple[tuple[str, tuple[str, ...]], ...]
    """Columns in the order in which they were drawn, each with its parents."""
    tables: tuple[tuple[str, ...], ...]
    """The sets of columns whose counts were taken, with noise."""
    n_records: int
    """Of the table; taken as public."""
    most_records: int | None
    """The most records of a person, where the promise is about persons; None: it is about one record."""
    undeclared: tuple[str, ...]
    """Columns whose values were read from the table: the promise does not cover which values there are."""
    missing_as_observed: tuple[str, ...] | None
    """Columns that can be missing because someone's is; None if every column can be, whatever the table has."""

    def to_plain(self) -> dict[str, Any]:
        return {
            "budget": self.learned.budget.to_plain(),
            **self.learned.to_plain(),
            "network": [{"column": column, "parents": list(parents)} for column, parents in self.network],
            "tables": [list(names) for names in self.tables],
            "records": self.n_records,
            "records_per_person": self.most_records,
            "read_from_table": {
                "values": list(self.undeclared),
                "missing": None if self.missing_as_observed is None else list(self.missing_as_observed),
            },
        }


class Synthesizer:
    """A method that draws synthetic records under differential privacy, with its settings."""

    name: ClassVar[str]

    @property
    def privacy(self) -> tuple[Fraction, Fraction]:
        """Epsilon and delta: replacing one record, or all records of a person, changes no probability by more than a
        factor of e^epsilon, and delta."""
        raise NotImplementedError

    @property
    def columns_as(self) -> tuple[int, str]:
        """Into how many parts a range is cut, and whether values may be read from the table."""
        raise NotImplementedError

    @classmethod
    def refusal(cls) -> str:
        """Why `publish` does not take it, and what does."""
        return (
            f"{cls.name} promises differential privacy, not a model of releases: it draws synthetic records, and no "
            "audit can hold them against a model. Use lookalike synthesize DATA --epsilon E --out FILE.csv"
            f"{'' if cls.name == DEFAULT else f' --algorithm {cls.name}'}."
        )

    def prepare(self) -> None:
        """Refuse at once, before a table is read, if something is missing on this machine."""

    def learn(
        self, cells: Cells, sizes: Sequence[int], rng: Randomness, progress: Progress, most_records: int = 1
    ) -> Learned:
        """All that looks at records, and all that spends. Every column has at least two cells.

        Replacing `most_records` records at once changes probabilities no more than `privacy` says.
        """
        raise NotImplementedError

    def synthesize(
        self,
        data: Microdata,
        rng: Randomness,
        progress: Progress = silent,
        *,
        rows: int | None = None,
        most_records: int | None = None,
    ) -> Synthesized:
        """So many synthetic records (as many as the table has, unless said) over the same columns.

        `most_records` is how many records a person has at most, as was settled without a look at the table; the promise
        is then about persons.
        """
        if rows is not None and rows < 1:
            raise RecipeError(f"rows is {rows}. It must be a whole number at least 1.")
        self.prepare()
        bins, domains = self.columns_as
        strict = domains == DECLARED
        columns = [public_column(domain, bins, may_be_missing=strict) for domain in data.domains.all]
        if strict:
            require_declared(columns)
        # A column with one cell has nothing to tell and needs no table.
        varied = [place for place, column in enumerate(columns) if column.size > 1]
        sizes = [columns[place].size for place in varied]
        learned = self.learn(_cells(data, columns, varied), sizes, rng, progress, most_records or 1)
        drawn = np.zeros((rows or data.n_rows, len(columns)), dtype=np.int64)
        drawn[:, varied] = draw_records(
            learned.network, learned.tables, sizes, len(drawn), rng.child("records"), progress
        )
        progress("records", 1.0)
        names = [columns[place].name for place in varied]
        return Synthesized(
            data=_as_microdata(data, columns, drawn, rng.child("values")),
            learned=learned,
            network=(
                *((names[link.column], tuple(names[parent] for parent in link.parents)) for link in learned.network),
                *((column.name, ()) for column in columns if column.size <= 1),
            ),
            tables=tuple(tuple(names[column] for column in table.columns) for table in learned.tables),
            n_records=data.n_rows,
            most_records=most_records,
            undeclared=tuple(column.name for column in columns if not column.declared),
            missing_as_observed=None if strict else tuple(column.name for column in columns if column.has_missing),
        )


DEFAULT = "privbayes"
"""The synthesizer where none is named."""


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
    method: Synthesizer
    notes: tuple[str, ...]
    untyped: tuple[str, ...] = ()
    """Columns whose type or kind the schema does not declare: it was read from the cells of the table."""
    library: str = "polars"
    """The library of the frame that it hands out: that of the table it was made from."""

    @property
    def data(self) -> Microdata:
        """The synthetic records, in codes."""
        return self.made.data

    @property
    def epsilon(self) -> Fraction:
        return self.method.privacy[0]

    @property
    def delta(self) -> Fraction:
        """0 where the promise has none."""
        return self.method.privacy[1]

    @property
    def promise(self) -> str:
        """What is promised, about what, and what was taken as public, in sentences."""
        uncovered = _describe_uncovered(self.made, self.untyped)
        return "\n".join(
            (_promise(self.epsilon, self.delta, self.made.most_records), _public(self.made, self.untyped), *uncovered)
        )

    def frame(self) -> Any:
        """The synthetic records as a data frame of the library that the table came in: pandas, Arrow, else Polars."""
        from lookalike.files.tables.handing_back import hand_back

        return hand_back(self._plain_frame(), self.library)

    def _plain_frame(self) -> Any:
        from lookalike.files.releases.plain import plain_frame

        return plain_frame(self.data)

    def write(self, file: str | Path, *, safe_csv: bool = False) -> None:
        """Write the records as CSV or Parquet, by the ending of the name; an existing file is refused.

        `safe_csv` puts an apostrophe before cells of a CSV file that a spreadsheet would compute.
        """
        from lookalike.files.releases.plain import write_plain
        from lookalike.files.urls import local_path

        write_plain(self._plain_frame(), local_path(file), safe_csv=safe_csv)

    def to_plain(self) -> dict[str, Any]:
        plain = self.made.to_plain()
        plain["read_from_table"]["types"] = list(self.untyped)
        return {
            "rows": self.data.n_rows,
            "method": str(self.method),
            "promise": "differential privacy",
            "neighbours": "one record replaced"
            if self.made.most_records is None
            else "the records of one person replaced",
            "epsilon": float(self.epsilon),
            "delta": float(self.delta),
            **plain,
        }

    def __str__(self) -> str:
        rows = counted(self.data.n_rows, "synthetic record")
        return f"{rows} by {self.method}; {self.made.learned.describe()}\n{self.promise}"

    def _repr_html_(self) -> str:
        said = html.escape(str(self)).replace("\n", "<br>")
        return f"<p>{said}</p>{self._plain_frame().head(8)._repr_html_()}"


def _promise(epsilon: Fraction, delta: Fraction, most_records: int | None) -> str:
    replaced = "Had any one record been another one"
    if most_records is not None:
        limit = counted(most_records, "record")
        replaced = f"Had all records of any one person been others, at most {limit} per person"
    factor = f"{math.exp(epsilon):,.4g}" if epsilon < 20 else f"e^{float(epsilon):g}"
    named = f"epsilon = {number_text(epsilon)}"
    changed = f"no output would be more than {factor} times as likely, or as unlikely"
    if delta:
        named += f" and delta = {float(delta):g}"
        changed = (
            f"no set of outputs would be more than {factor} times as likely, plus {float(delta):g}, nor as unlikely"
        )
    return (
        f"Promise: differential privacy with {named}. {replaced}, {changed}. "
        "It is not a promise of any model of `lookalike models`, and it cannot be checked from the records: it is a "
        "property of how they were made."
    )


def _public(made: Synthesized, untyped: Sequence[str]) -> str:
    of_columns = "the names of the columns, their declared types" if untyped else "the names and types of the columns"
    gaps = "" if made.missing_as_observed is None else ", and which columns have missing values"
    of_persons = "" if made.most_records is None else ", and how many of them each person has"
    return (
        f"Taken as public: that there are {counted(made.n_records, 'record')}{of_persons}, {of_columns}, the declared "
        f"values{gaps}."
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
    if len(made.network) > 1 and not any(parents for _, parents in made.network):
        said.append(
            "Every column was drawn by itself: with this epsilon no table of two columns is worth its noise. How "
            "columns go together is lost."
        )
    if seed is not None:
        said.append("A seed was given: anyone who knows it can take the noise off. Leave it out for real records.")
    return said
