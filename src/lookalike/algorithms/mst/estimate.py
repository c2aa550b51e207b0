"""The graphical model that fits all noisy tables best, by Private-PGM (package mbi), and its tables.

Noisy tables contradict each other: a column's counts differ from the sums of its pairs. Private-PGM finds, among all
distributions with this tree, the one whose tables are nearest to the measured ones, weighted by their noise. It sees
nothing but noisy counts and the public number of records, so it costs no privacy, whatever JAX does with floats.

mbi and JAX are loaded here only, and on request only. Both warn at import about settings of the whole process (floats
of 32 bits, a cache of compiled programs). Those are the caller's, and stay: 64 bits are asked for here alone.
Cost: JAX compiles the steps for each new tree, which takes seconds; then O(cells) for each of some thousand steps.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from lookalike.algorithms.mst.tree import Tree
from lookalike.algorithms.shared.drawing import NoisyTable
from lookalike.errors import MissingPart
from lookalike.progress import Progress

_STEPS = 5000
_TOLERANCE = 1e-6
"""Stop early once fifty steps improve the fit by less than this share, twice in a row."""


def load_mbi() -> tuple[Any, Any]:
    """JAX and mbi, or an error that says how to install them."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module("jax"), importlib.import_module("mbi")
    except ImportError as error:
        raise MissingPart(
            "mst needs the package mbi (Private-PGM), which is missing. Install it: pip install 'lookalike[pgm]'."
        ) from error


def estimate_tables(tree: Tree, n_rows: int, progress: Progress) -> list[NoisyTable]:
    """A table for each measured pair, and for each column that is in none, over the values before merging."""
    jax, mbi = load_mbi()
    sizes = [merging.n_merged for merging in tree.mergings]
    wanted = [pair.columns for pair in tree.pairs]
    wanted += [(column,) for column in range(len(sizes)) if not any(column in pair for pair in wanted)]
    progress("model", 0.0)
    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        domain = mbi.Domain(tuple(range(len(sizes))), sizes)
        measurements = []
        for one in (*tree.columns, *tree.pairs):
            # Noise differs from cell to cell where values were merged; scaled to one deviation, as mbi wants it.
            scale = np.sqrt(one.variances.min() / one.variances).ravel()
            query = mbi.marginal_loss.WeightedQuery(scale) if (scale < 1).any() else mbi.DatavectorQuery()
            deviation = float(np.sqrt(one.variances.min()))
            measurements.append(mbi.LinearMeasurement(one.counts.ravel() * scale, one.columns, deviation, query))
        model = mbi.estimation.MirrorDescent().estimate(
            domain, measurements, known_total=float(n_rows), iters=_STEPS, tol=_TOLERANCE
        )
        found = [np.asarray(model.project(columns).datavector(flatten=False)) for columns in wanted]
    progress("model", 1.0)
    return [
        NoisyTable(columns, _unmerge(np.maximum(counts, 0.0), columns, tree))
        for columns, counts in zip(wanted, found, strict=True)
    ]


def _unmerge(counts: Any, columns: Sequence[int], tree: Tree) -> Any:
    """Counts over the values before merging: those of merged values are the same for each of them."""
    for axis, column in enumerate(columns):
        merging = tree.mergings[column]
        shape = [1] * len(columns)
        shape[axis] = -1
        counts = np.take(counts, merging.merged, axis=axis) * merging.weights.reshape(shape)
    return counts
