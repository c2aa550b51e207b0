"""What protecting persons costs: the same promise by rows, made by the same method, beside the release by persons.

The release by rows is made for this figure alone, from all rows of the table, also those that are left out of the
release by persons; nothing of it is kept. Of a large table both are made for a sample of its persons. The figures say
more than the release does, so only the owner gets them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import PersonSettings
from lookalike.data.release import FORMS, Release
from lookalike.errors import LookalikeError, counted
from lookalike.evaluation.tradeoff import some_records
from lookalike.metrics import METRICS
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import MadeWhole
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness

LARGEST = 100_000
"""Tables with more rows are sampled."""
_SAMPLED = 50_000
"""Rows of the sample, at most."""


@dataclass(frozen=True, kw_only=True)
class AgainstRows:
    """The loss of a release by persons, and of one by rows that keeps the same promises."""

    unit: str
    """What is counted: person or household."""
    measure: str
    """How losses are measured, as METRICS name it."""
    by_units: float
    by_rows: float | None
    """None: no release by rows could be made."""
    reason: str = ""
    """Why not."""
    n_persons: int
    n_rows: int
    n_sampled: int | None = None
    """How many persons both were made for; None: all."""

    def sentence(self) -> str:
        """Both figures, for the owner.

        >>> given = dict(unit="person", measure="gcp", n_persons=5, n_rows=9)
        >>> AgainstRows(by_units=0.21, by_rows=0.134, **given).sentence()
        'Loss (GCP) when persons are protected: 0.2100; when the same promise counts rows: 0.1340.'
        """
        figure = f"{_phrase(self.measure)} when {self.unit}s are protected: {self.by_units:.4f}"
        if self.by_rows is None:
            return f"Loss {figure}. No release that counts rows could be made to compare with: {self.reason}"
        said = f"Loss {figure}; when the same promise counts rows: {self.by_rows:.4f}."
        if self.n_sampled is None:
            return said
        return f"{said} Both were made for a random sample of {counted(self.n_sampled, self.unit)}."

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "counted": self.unit,
            "measure": self.measure,
            f"by_{self.unit}s": self.by_units,
            "by_rows": self.by_rows,
            "sampled": self.n_sampled,
            **({"reason": self.reason} if self.reason else {}),
        }


def _phrase(measure: str) -> str:
    return {"gcp": "(GCP)", "msbs": "(mean squared bucket size in rows)"}.get(measure, f"({measure})")


def compare_with_rows(made: MadeWhole, progress: Progress = silent) -> AgainstRows | None:
    """The loss by persons and by rows; None where each row is a person anyway."""
    table = made.table
    if table.persons is None:
        return None
    reason = made.algorithm.bound_to()
    # A method that is set up for these people has nothing to say about other rows, nor about a sample.
    is_large = table.n_rows > LARGEST and reason is None
    part = some_records(table, _SAMPLED, Randomness(0).child("sample of persons")) if is_large else table
    rows = replace(part, persons=None, individuals=None)
    measure, by_rows = FORMS[made.form].headline[0], None
    by_units = _measure_rows(measure, rows, _make(made, part, made.recipe, progress) if is_large else made.release)
    if reason is None:
        try:
            made_by_rows = _make(made, rows, replace(made.recipe, persons=PersonSettings()), progress)
            by_rows = _measure_rows(measure, rows, made_by_rows)
        except LookalikeError as error:
            reason = str(error)
    return AgainstRows(
        unit=table.schema.unit_name,
        measure=measure,
        by_units=by_units,
        by_rows=by_rows,
        reason=reason or "",
        n_persons=table.n_persons,
        n_rows=table.n_rows,
        n_sampled=part.n_persons if is_large else None,
    )


def _make(made: MadeWhole, data: Microdata, recipe: Recipe, progress: Progress) -> Release:
    """A release of these records by the same method; it is measured and thrown away."""
    prepared = prepare(replace(recipe, algorithm=made.algorithm, seed=None), data)
    return prepared.anonymize(Randomness(), progress)[0]


def _measure_rows(measure: str, rows: Microdata, release: Release) -> float:
    """A loss in which every published row counts alike, so that both releases compare."""
    return float(METRICS[measure]().measure(rows, release))
