"""Associations: of known tables, and unchanged in the table itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata
from lookalike.data.release import Matched, Perturbed, Randomizer, Release, cover
from lookalike.metrics.correlation_difference import CorrelationDifference, association
from lookalike.metrics.marginal_distance import MarginalDistance
from lookalike.metrics.pair_distance import PairDistance
from lookalike.metrics.shared.expected import Observed, all_parts
from tests.files.releases.release_forms import FORMS, make_release
from tests.metrics.making import table
from tests.strategies import microdatas


def itself(data: Microdata, form: str) -> Release:
    """A release that says everything."""
    everybody = np.arange(data.n_rows)
    if form == Matched.form:
        cells = zip(data.domains.quasi, data.quasi.T, strict=True)
        extents = tuple(cover(domain, codes, everybody, data.n_rows) for domain, codes in cells)
        return Matched(domains=data.domains, extents=extents, sensitive=data.sensitive, carried=data.carried)
    if form != Perturbed.form:
        return make_release(form, data, everybody, everybody)
    nothing = tuple(Randomizer(np.eye(domain.n_codes, dtype=np.int64), 1) for domain in data.domains.sensitive)
    return Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=data.sensitive, carried=data.carried, randomizers=nothing
    )


@pytest.mark.parametrize("form", FORMS)
@given(st.data())
def test_a_table_is_at_no_distance_from_itself(form: str, data: st.DataObject) -> None:
    original = data.draw(microdatas(min_rows=2, max_rows=30))
    release = itself(original, form)
    assert MarginalDistance().measure(original, release) == pytest.approx(0, abs=1e-9)
    assert PairDistance().measure(original, release) == pytest.approx(0, abs=1e-9)
    assert CorrelationDifference().measure(original, release) == pytest.approx(0, abs=1e-6)


def test_associations() -> None:
    data = table(one=[1, 2, 3, 4], two=[2, 4, 6, 8], place=list("aabb"), s=list("aabb"))
    one, two, place, s = all_parts(data)
    pairs = Observed(data, (one, two, place, s))
    assert association(pairs.pair(0, 1), one, two) == pytest.approx(1)
    assert association(pairs.pair(2, 3), place, s) == pytest.approx(1)
    # Means 1.5 and 3.5 around 2.5: 1 of 1.25 of the spread.
    assert association(pairs.pair(0, 2), one, place) == pytest.approx(math.sqrt(1 / 1.25))
    assert association(pairs.pair(0, 2).T, place, one) == pytest.approx(math.sqrt(1 / 1.25))
    assert association(np.full((4, 2), 1 / 8), one, s) == pytest.approx(0)
    assert association(np.full((2, 2), 1 / 4), place, s) == pytest.approx(0)
