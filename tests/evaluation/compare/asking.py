"""A small table of people, comparisons of it, and what two of them have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

import lookalike as la
from lookalike.evaluation.compare import Comparison, Run

MODELS = ["l-diversity:2,3", "beta-likeness:3"]
ALGORITHMS = ["mondrian", "anatomy"]


def people(n_rows: int = 120, seed: int = 5) -> pl.DataFrame:
    """Values that no figure could be mistaken for."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "height": 7310000 + rng.integers(0, 40, n_rows),
            "town": [f"Xyzzyville{code}" for code in rng.integers(0, 4, n_rows)],
            "illness": [f"Plughitis{code}" for code in rng.integers(0, 6, n_rows)],
        }
    )


def compared(data: Any = None, **changed: Any) -> Comparison:
    asked: dict[str, Any] = {
        "qi": ["height", "town"],
        "sensitive": "illness",
        "models": MODELS,
        "algorithms": ALGORITHMS,
        "seed": 3,
        "jobs": 1,
    }
    return la.compare(people() if data is None else data, **{**asked, **changed})


def timeless(comparison: Comparison) -> list[Run]:
    """Runs without what differs from time to time."""
    return [
        replace(
            run,
            seconds={},
            figures={name: value for name, value in run.figures.items() if name not in ("seconds", "peak_mb")},
        )
        for run in comparison.runs
    ]
