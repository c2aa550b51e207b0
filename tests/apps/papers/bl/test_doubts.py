"""Tables like the paper's: they have the printed shares, and what is counted and drawn on them is what is said."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.apps.papers.bl import doubts
from lookalike.apps.papers.bl.methods import AS_PRINTED, BETAS, DEFAULT, PRINTED, likeness
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.journal import Journal
from lookalike.data.contracts import Promise
from lookalike.data.release import Grouped
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

STORED = Path(__file__).parents[4] / "docs" / "reproduction"


@pytest.mark.parametrize("evenness", [0.05, 1, 20, 1000])
def test_drawn_shares_are_the_printed_ones_and_lie_between_them(evenness: float) -> None:
    for seed in range(20):
        counts = doubts.draw_counts(evenness, np.random.default_rng(seed))
        assert len(counts) == 50
        assert counts[0] == counts.min() == 1009
        assert counts[1] == counts.max() == 24201
        assert abs(int(counts.sum()) - 500_000) <= 25


@pytest.mark.parametrize("beta", BETAS)
def test_groups_counted_without_records_are_those_that_burel_makes(beta: int) -> None:
    data = Datasets().census(3_000, DEFAULT)
    promises = settle([Promise(parse_model(likeness(beta)))], data)
    method = parse_algorithm(str(AS_PRINTED[PRINTED]))
    release, _ = method.anonymize(data, require(promises, data), Randomness(0), silent)
    assert isinstance(release, Grouped)
    assert doubts.count_groups(data.counts(0), beta) == int(release.group_of_row.max()) + 1


def test_drawn_values_depend_on_quasi_identifiers_as_strongly_as_asked() -> None:
    data = Datasets().census(5_000, DEFAULT)
    found = []
    for strength in (0.0, 0.5, 0.99):
        drawn = doubts.draw_dependent(data, strength, 0)
        assert (drawn.quasi == data.quasi).all()
        n_values = data.domains.sensitive[0].n_codes
        shares = drawn.counts(0)[:n_values] / data.n_rows
        assert 0.001 < shares.min() < 0.003
        assert shares.max() < 0.05
        found.append(abs(float(np.corrcoef(drawn.sensitive[:, 0], drawn.quasi[:, 0])[0, 1])))
    assert found[0] < 0.05
    assert all(less + 0.1 < more for less, more in pairwise(found))


def test_what_the_verdicts_cite_was_measured() -> None:
    """The reasons in figure 5a say: groups fall on such tables, and LMondrian loses less at every strength."""
    groups = Journal(STORED / "bl-groups.points").rows
    assert len(groups) == 4
    assert all(row["share"] >= 90 for row in groups)
    losses = {(row["series"], row["strength"]): row["ail"] for row in Journal(STORED / "bl-dependence.points").rows}
    assert len(losses) == 20
    for (series, strength), loss in losses.items():
        if series.startswith("BUREL"):
            assert losses[series.replace("BUREL", "LMondrian"), strength] < loss
