"""How much of a table's use is left in its release: one comparison, line by line, original / release / lost.

Beside the lines: each column before and after, and which tables of two columns may be trusted (`before_after`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lookalike.data.contracts import Compared
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.errors import MissingPart
from lookalike.evaluation.before_after import BeforeAfter, compare_before_after
from lookalike.metrics import FIDELITY
from lookalike.progress import Progress, silent


@dataclass(frozen=True)
class Fidelity:
    """What a release kept of its original, as a table to work with."""

    lines: tuple[Compared, ...]
    notes: tuple[str, ...] = ()
    before_after: BeforeAfter | None = None
    """Each column before and after, and whether the table of each pair of columns may be trusted."""

    def __getitem__(self, metric: str) -> float:
        """The mean of what was lost over the lines of a metric."""
        lost = [line.lost for line in self.lines if line.metric == metric]
        if not lost:
            raise KeyError(metric)
        return sum(lost) / len(lost)

    def __str__(self) -> str:
        width = max((len(line.what) for line in self.lines), default=0)
        head = f"{'':{width}}  original  release     lost"
        rows = (
            f"{line.what:{width}}  {line.original:8.3f} {line.release:8.3f} {line.lost:8.3f}" for line in self.lines
        )
        return "\n".join((head, *rows))

    def to_plain(self) -> dict[str, Any]:
        return {
            "lines": [
                {name: getattr(line, name) for name in ("metric", "what", "original", "release", "lost")}
                for line in self.lines
            ],
            "notes": list(self.notes),
            **({} if self.before_after is None else self.before_after.to_plain()),
        }


def compare(original: Microdata, release: Release, seed: int = 0, progress: Progress = silent) -> Fidelity:
    """All lines; those that need scikit-learn are left out where it is missing, and a note says so."""
    lines: list[Compared] = []
    missing: dict[str, None] = {}
    for place, kind in enumerate(FIDELITY.values()):
        progress("comparing", place / (len(FIDELITY) + 1))
        try:
            lines += kind().compare(original, release, seed)
        except MissingPart as absent:
            missing[f"Not run: prediction test. {absent}"] = None
    progress("comparing", len(FIDELITY) / (len(FIDELITY) + 1))
    before_after = compare_before_after(original, release)
    progress("comparing", 1.0)
    noun = original.schema.unit_name
    about = [] if original.persons is None else [f"Rows are compared, not {noun}s: a {noun} counts once for each row."]
    return Fidelity(tuple(lines), (*about, *missing, *before_after.notes), before_after)
