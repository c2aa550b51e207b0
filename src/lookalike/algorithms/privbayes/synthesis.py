"""Synthetic records in memory, ready to be written, and what is promised about them in sentences.

Another promise than `publish` makes, and no release: there is no audit, since the promise is one about the procedure.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from lookalike.algorithms.privbayes.method import PrivBayes, Synthesized
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import number_text
from lookalike.errors import counted, quoted


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


def describe_cautions(made: Synthesized, untyped: Sequence[str], seed: int | None) -> list[str]:
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
