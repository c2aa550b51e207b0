"""What metrics that learn share: trees of scikit-learn, from how many rows they learn, and how small leaves may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import MissingPart

Ints = NDArray[np.int64]
MOST_ROWS = 20_000
"""Rows of a side that are learned from at most."""


def least_leaf(n_rows: int) -> int:
    """Ten rows and a fiftieth of all: smaller leaves remember rows, also those of held-out records."""
    return max(10, n_rows // 50)


def import_trees() -> tuple[Any, Any]:
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingPart(
            "This metric needs scikit-learn, which is missing. Install it: pip install 'lookalike[attacks]'."
        ) from None
    return DecisionTreeClassifier, RandomForestClassifier
