"""How much of a table's use is left in its release, read back from where it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.evaluation.fidelity import Fidelity, compare
from lookalike.progress import Progress, silent
from lookalike.publication import Publication
from lookalike.reopening import reopen


def fidelity(
    release: Publication | str | Path,
    original: Any = None,
    *,
    schema: Schema | str | Path | None = None,
    suppressed: int = 0,
    seed: int = 0,
    progress: Progress = silent,
    **reading: Any,
) -> Fidelity:
    """Compare a release with its original: counts, pairs, correlations, a machine that tells them apart, predictions.

    `release` is what `publish` gave, or a folder (or another tool's table) together with the original. Distances are
    exact expectations; what needs chance (worlds drawn from the release, trees) takes it from `seed`.
    """
    if isinstance(release, Publication):
        return compare(release.release, release.outcome.data, seed, progress)
    if original is None:
        raise RecipeError("A release folder is compared with its original. Name the original as well.")
    loaded = Schema.load(schema) if isinstance(schema, str | Path) else schema
    reopened = reopen(original, release, loaded, suppressed=suppressed, progress=progress, **reading)
    found = compare(reopened.release, reopened.data, seed, progress)
    return Fidelity(found.lines, (*reopened.notes, *found.notes))
