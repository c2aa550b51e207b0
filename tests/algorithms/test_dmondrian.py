"""dmondrian: the delta-disclosure that its halves are tested for, and what that costs."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.dmondrian import DMondrian
from lookalike.algorithms.lmondrian import LMondrian
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data, groups, microdata
from tests.examples import examples
from tests.strategies import microdatas


def test_dmondrian_keeps_a_negative_bound_beside_its_own() -> None:
    data = census_data(300)
    (promise,) = settle([Promise(parse_model("beta-likeness:9,negative=0.1,negative_form=relative"))], data)
    (requirement,) = require([promise], data)
    assert requirement.floors is not None
    tested = DMondrian().adapt(data, requirement)
    assert tested.floors is not None
    assert all(one >= other for one, other in zip(tested.floors, requirement.floors, strict=True))


@settings(max_examples=examples(40), deadline=None)
@given(data=microdatas(min_rows=4, max_rows=60, n_sensitive=st.just(1)), beta=st.sampled_from(["0.5", "1", "3"]))
def test_dmondrian_keeps_a_delta_disclosure_that_implies_its_beta(data: Microdata, beta: str) -> None:
    promises = settle([Promise(parse_model(f"beta-likeness:{beta}"))], data)
    requirements = require(promises, data)
    release, _ = DMondrian().anonymize(data, requirements, Randomness(1), silent)
    shares = data.counts(0) / data.n_rows
    delta = math.log(1 + min(float(beta), -math.log(shares.max())))
    for group in range(int(release.group_of_row.max()) + 1):
        inside = np.bincount(release.sensitive[release.group_of_row == group, 0], minlength=len(shares))
        here = inside / inside.sum()
        assert (np.abs(np.log(here[shares > 0] / shares[shares > 0])) <= delta + 1e-9).all()


def test_every_half_must_have_every_value() -> None:
    """So it stops cutting where lmondrian goes on: a half of y alone keeps beta-likeness, but not its floors."""
    data = microdata(age=[*range(8)], s=[*"xyyyxyyy"])
    model = "beta-likeness:1,bound=basic"
    assert groups(data, DMondrian(), model) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert groups(data, LMondrian(), model) == [[0, 1], [2, 3], [4, 5], [6, 7]]
