"""The Mondrian of the experiment: groups keep the promise, it loses more than the printed one, no registry has it."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.apps.papers.bl.narrowest_mondrian import NarrowestMondrian
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data
from tests.strategies import column_of


def test_it_keeps_the_promise_and_loses_more_than_the_printed_one() -> None:
    data = census_data(4000)
    promises = settle([Promise(parse_model("beta-likeness:4"))], data)
    requirements = require(promises, data)
    losses = []
    for method in (parse_algorithm("lmondrian"), NarrowestMondrian()):
        release, record_map = method.anonymize(data, requirements, Randomness(1), silent)
        assert pipeline.verify(data, release, promises, graph=record_map.graph).passed
        losses.append(pipeline.measure(data, release)[0]["ail"])
    assert losses[0] < losses[1]


def test_it_halves_the_narrowest_attribute_until_it_is_a_point_and_then_the_next() -> None:
    """Both span their domain; of two equally wide ones the first is cut, and then it is the narrower."""
    schema = Schema.of(qi=["x", "y"], sensitive=["s"])
    columns = (
        column_of("x", [0, 1, 0, 1, 0, 1, 0, 10], ValueType.INTEGER),
        column_of("y", [0, 1, 2, 3, 4, 5, 6, 7], ValueType.INTEGER),
        column_of("s", list("abababab"), ValueType.STRING),
    )
    data = Microdata.encode(Table(columns), schema)
    groups, n_groups = NarrowestMondrian().partition(data, [Requirement(min_size=2)], Randomness(1), silent)
    assert n_groups == 4
    by_x = {frozenset(data.quasi[groups == group, 0].tolist()) for group in range(n_groups)}
    assert by_x == {frozenset({0}), frozenset({1}), frozenset({1, 2})}
    assert np.bincount(groups).tolist() == [2] * 4


def test_it_is_in_no_registry() -> None:
    assert NarrowestMondrian.name not in ALGORITHMS
    with pytest.raises(RecipeError):
        parse_algorithm(NarrowestMondrian.name)
    refusal = NarrowestMondrian().refuses(Promise(parse_model("l-diversity:2")), Requirement(min_size=2))
    assert refusal == "it serves beta-likeness only"
