"""Mondrian: cuts where one expects them."""

from __future__ import annotations

import pytest

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.mondrian import Mondrian
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Ranges, Sets
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.tables import census_data, groups, microdata


def test_even_halves_of_a_line() -> None:
    data = microdata(age=list(range(8)))
    assert groups(data, Mondrian(), "k-anonymity:2") == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert groups(data, Mondrian(choose="widest"), "k-anonymity:2") == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_categories_are_cut_between_values() -> None:
    data = microdata(city=["a"] * 3 + ["b"] * 5)
    assert groups(data, Mondrian(), "k-anonymity:3") == [[0, 1, 2], [3, 4, 5, 6, 7]]


def test_taxonomies_are_cut_between_children_and_publish_nodes() -> None:
    data = microdata(zip=["111", "112", "121", "122", "211", "212", "221", "222"])
    assert groups(data, Mondrian(), "k-anonymity:2") == [[0, 1], [2, 3], [4, 5], [6, 7]]
    promises = settle([Promise(parse_model("k-anonymity:4"))], data)
    release, _ = Mondrian().anonymize(data, require(promises, data), Randomness(1), silent)
    tree, extents = data.domains.quasi[0].taxonomy, release.extents[0]
    assert tree is not None
    assert isinstance(extents, Ranges)
    labels = {tree.labels[tree.lowest_common(low, high)] for low, high in zip(extents.lows, extents.highs, strict=True)}
    assert labels == {"1**", "2**"}


def test_missing_values_are_kept_apart_when_the_promise_allows() -> None:
    data = microdata(age=[1, 2, 3, None, None, None])
    assert groups(data, Mondrian(), "k-anonymity:3") == [[0, 1, 2], [3, 4, 5]]
    release, _ = Mondrian().anonymize(
        data, require((Promise(parse_model("k-anonymity:4")),), data), Randomness(1), silent
    )
    extents = release.extents[0]
    assert isinstance(extents, Ranges)
    assert extents.missing.tolist() == [True]
    assert (int(extents.lows[0]), int(extents.highs[0])) == (0, 2)


def test_sets_hold_just_the_values_that_occur() -> None:
    data = microdata(city=["a", "b", "c", "c"])
    release, _ = Mondrian().anonymize(
        data, require((Promise(parse_model("k-anonymity:2")),), data), Randomness(1), silent
    )
    extents = release.extents[0]
    assert isinstance(extents, Sets)
    assert sorted(extents.members.tolist()) == [0, 1, 2]


def test_other_positions_are_tried_when_the_median_breaks_the_promise() -> None:
    """The right half has one value of s: only a cut left of the median leaves two diverse parts."""
    data = microdata(age=list(range(8)), s=["x", "y", "x", "y", "y", "y", "y", "y"])
    assert len(groups(data, Mondrian(cuts=1, choose="widest"), "l-diversity:2,kind=distinct")) == 1
    assert groups(data, Mondrian(cuts=7, choose="widest"), "l-diversity:2,kind=distinct")[0] == [0, 1]


def test_gain_loses_less_than_widest_on_census_data() -> None:
    table = census(4000, seed=2)
    names = table.names
    schema = Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]])
    data = Microdata.encode(table, schema)
    requirements = require((Promise(parse_model("k-anonymity:10")),), data)
    losses = [
        pipeline.measure(data, Mondrian(choose=way).anonymize(data, requirements, Randomness(4), silent)[0])[0]["gcp"]
        for way in ("gain", "widest")
    ]
    assert losses[0] < 0.95 * losses[1]


def test_parameters_are_checked_and_written_back() -> None:
    assert str(parse_algorithm("mondrian:cuts=3,choose=widest")) == "mondrian:cuts=3,choose=widest"
    assert str(Mondrian()) == "mondrian"
    with pytest.raises(RecipeError, match="cuts"):
        Mondrian(cuts=0)
    with pytest.raises(RecipeError, match="gain"):
        Mondrian(choose="random")
    with pytest.raises(RecipeError, match='Did you mean "mondrian"'):
        parse_algorithm("mondrain")


@pytest.mark.parametrize(
    ("method", "model"),
    [("lmondrian", "beta-likeness:2"), ("dmondrian", "beta-likeness:2"), ("tmondrian", "t-closeness:0.3")],
)
def test_adapted_mondrians_serve_their_own_promise_only(method: str, model: str) -> None:
    data = census_data(400)
    (promise,) = settle([Promise(parse_model(model))], data)
    (requirement,) = require([promise], data)
    algorithm = parse_algorithm(method)
    assert algorithm.refuses(promise, requirement) is None
    release, linkage = algorithm.anonymize(data, [requirement], Randomness(1), silent)
    assert pipeline.verify(data, release, [promise], graph=linkage.graph).passed
    (other,) = settle([Promise(parse_model("l-diversity:2"))], data)
    assert algorithm.refuses(other, requirement) is not None
