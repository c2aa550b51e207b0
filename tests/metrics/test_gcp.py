"""GCP: the figure of the paper."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from lookalike.data.release import Matched, cover
from lookalike.metrics.gcp import GlobalCertaintyPenalty
from tests.metrics.making import data_of, quasi

# HG Table 1: eight people, and the originals behind each published row.
AGES = [59, 57, 39, 28, 41, 37, 40, 53]
SALARIES = [25, 27, 47, 41, 20, 59, 35, 34]
BEHIND = [[0, 1, 7], [0, 1, 7], [2, 3, 5], [3, 4, 5], [0, 4, 6], [2, 3, 5], [2, 4, 6], [1, 6, 7]]


def test_gcp_of_the_heterogeneous_papers_table() -> None:
    data = data_of(quasi("age"), quasi("salary"), age=list(AGES), salary=list(SALARIES))
    rows = np.repeat(np.arange(8), 3)
    originals = np.array(BEHIND).ravel()
    extents = tuple(
        cover(domain, data.quasi[originals, attr], rows, 8) for attr, domain in enumerate(data.domains.quasi)
    )
    empty = np.zeros((8, 0), dtype=np.int32)
    release = Matched(domains=data.domains, extents=extents, sensitive=empty, carried=empty)
    assert GlobalCertaintyPenalty().measure(data, release) == pytest.approx(float(Fraction(149, 372)), abs=1e-15)
