"""Synthetic records under differential privacy, from a table to a file.

import lookalike as la
la.synthesize("patients.csv", schema="schema.yaml", epsilon=1).write("synthetic.csv")

Another promise than `publish` makes, and no release: there is no audit, since the promise is one about the procedure.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lookalike.algorithms.privbayes import PrivBayes, Synthesized, epsilon_of_beta
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import Number, number_text
from lookalike.data.schema import Attribute, Schema
from lookalike.errors import RecipeError, counted, quoted
from lookalike.files.tables import read_columns
from lookalike.pipeline.recipe import as_schema
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness


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
        uncovered = _uncovered(self.made, self.untyped)
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

        write_plain(self.data, local_path(file), safe_csv=safe_csv)

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


def synthesize(
    table: Any,
    *,
    epsilon: Number | None = None,
    beta: Number | None = None,
    method: PrivBayes | None = None,
    qi: Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    schema: Schema | str | Path | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    carry: Iterable[str] = (),
    rows: int | None = None,
    seed: int | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Synthesis:
    """Synthetic records over the columns that have a role, under differential privacy.

    Give `epsilon`, or `beta` for the epsilon that the literature sets beside beta-likeness, ln(1 + beta), or a `method`
    with settings of its own. Roles make no difference here. `rows` is how many records to draw; as many as the table
    has, if left out.
    """
    chosen = _method(epsilon, beta, method)
    given = as_schema(schema, qi, sensitive, carry, numeric, categorical)
    read = read_columns(table, given, progress=progress, **reading)
    data = Microdata.encode(read, given)
    made = chosen.synthesize(data, Randomness(seed), progress, rows=rows)
    untyped = tuple(attribute.name for attribute in given.published if not _is_typed(attribute))
    return Synthesis(made, chosen, (*read.notes, *_cautions(made, untyped, seed)), untyped)


def _is_typed(attribute: Attribute) -> bool:
    return attribute.type is not None and (attribute.kind is not None or attribute.order is not None)


def _method(epsilon: Number | None, beta: Number | None, method: PrivBayes | None) -> PrivBayes:
    if sum(given is not None for given in (epsilon, beta, method)) != 1:
        raise RecipeError("Give one of epsilon, beta and method: how much may one record change?")
    if method is not None:
        return method
    if epsilon is not None:
        return PrivBayes(epsilon)
    assert beta is not None
    return PrivBayes(epsilon_of_beta(beta))


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


def _uncovered(made: Synthesized, untyped: Sequence[str]) -> list[str]:
    said = []
    if made.undeclared:
        names = ", ".join(quoted(name) for name in made.undeclared)
        said.append(
            f"Not covered: which values occur in {names}. They were read from the table, so a value that one person "
            "has is there because of that person. The promise holds only if they are public anyway."
        )
    if untyped:
        names = ", ".join(quoted(name) for name in untyped)
        said.append(
            f"Not covered: the types of {names}. They were read from the cells of the table, and one person's cell can "
            "change them. The promise holds only if they are public anyway."
        )
    return said


def _cautions(made: Synthesized, untyped: Sequence[str], seed: int | None) -> list[str]:
    said = []
    if made.undeclared:
        names = ", ".join(quoted(name) for name in made.undeclared)
        said.append(f"Declare the values of {names} in a schema, or the promise does not cover which of them occur.")
    if untyped:
        names = ", ".join(quoted(name) for name in untyped)
        said.append(f"Declare type and kind of {names} in a schema, or the promise does not cover what they are.")
    if made.shape.degree == 0 and len(made.network) > 1:
        said.append(
            "Every column was drawn by itself: with this epsilon no table of two columns is worth its noise. How "
            "columns go together is lost."
        )
    if seed is not None:
        said.append("A seed was given: whoever knows it can take the noise off. Leave it out for real records.")
    return said
