"""SABRE: the bound on what a group may be away, buckets within it, and groups that keep t-closeness."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.sabre import Drawn, Sabre, close_buckets, cost, spread
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Distance, Requirement
from lookalike.data.taxonomy import Taxonomy
from lookalike.errors import Infeasible, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import microdatas

TREE = Taxonomy.from_paths(
    [
        ("a", "ab", "any"),
        ("b", "ab", "any"),
        ("c", "cde", "any"),
        ("d", "de", "cde", "any"),
        ("e", "de", "cde", "any"),
    ]
)
TREE_DISTANCES = {(0, 1): (1, 3), (3, 4): (1, 3), (2, 4): (2, 3), (0, 4): (3, 3)}


def earth_movers(first: np.ndarray, second: np.ndarray, distance: Distance) -> Fraction:
    """Between counts of the same five values."""
    gaps = [
        Fraction(int(one), int(first.sum())) - Fraction(int(other), int(second.sum()))
        for one, other in zip(first, second, strict=True)
    ]
    if distance is Distance.EQUAL:
        return sum((abs(gap) for gap in gaps), Fraction(0)) / 2
    if distance is Distance.ORDERED:
        return sum((abs(sum(gaps[:place])) for place in range(1, len(gaps))), Fraction(0)) / (len(gaps) - 1)
    # Over a tree: what each node passes on to its parent, by the difference of heights.
    total = Fraction(0)
    for node in range(1, len(TREE.labels)):
        inside = sum(gaps[TREE.firsts[node] : TREE.lasts[node] + 1], Fraction(0))
        total += abs(inside) * (int(TREE.heights[TREE.parents[node]]) - int(TREE.heights[node]))
    return total / (2 * int(TREE.heights[0]))


@settings(max_examples=examples(300), deadline=None)
@given(
    counts=st.lists(st.integers(1, 12), min_size=5, max_size=5),
    distance=st.sampled_from([Distance.EQUAL, Distance.ORDERED, Distance.HIERARCHICAL]),
    bound=st.fractions(0, 1, max_denominator=20),
    seed=st.integers(0, 2**16),
)
def test_no_group_is_farther_than_its_draws_allow(
    counts: list[int], distance: Distance, bound: Fraction, seed: int
) -> None:
    numbers = np.array(counts)
    requirement = Requirement(column=0, distance=distance, bound=bound, tree=TREE)
    buckets = close_buckets(numbers, requirement, bound)
    assert sorted(value for bucket in buckets for value in bucket) == [0, 1, 2, 3, 4]
    assert sum(cost(bucket, numbers, requirement) for bucket in buckets) <= bound
    drawing = Drawn(buckets, numbers, requirement, 1)
    assert drawing.measure_move(drawing.sizes(numbers)) <= bound
    rng = np.random.default_rng(seed)
    records = rng.permutation(np.repeat(np.arange(5), numbers))
    group = np.bincount(records[: rng.integers(1, len(records) + 1)], minlength=5)
    draws = drawing.sizes(group)
    assert earth_movers(group, numbers, distance) <= drawing.measure_move(draws)
    assert drawing.is_fine(draws) == (drawing.measure_move(draws) <= bound)


@pytest.mark.parametrize(("ends", "expected"), TREE_DISTANCES.items())
def test_spreads_over_a_tree(ends: tuple[int, int], expected: tuple[int, int]) -> None:
    requirement = Requirement(column=0, distance=Distance.HIERARCHICAL, tree=TREE)
    assert spread([*range(ends[0], ends[1] + 1)], 5, requirement) == Fraction(*expected)


@settings(max_examples=examples(60), deadline=None)
@given(
    data=microdatas(min_rows=3, max_rows=60, n_sensitive=st.just(1)),
    model=st.sampled_from(["t-closeness:0.3", "t-closeness:0.1", "t-closeness:0.25,distance=ordered"]),
    retrieve=st.sampled_from(["cuts", "curve"]),
    k=st.sampled_from([1, 4]),
)
def test_groups_keep_the_promise(data: Microdata, model: str, retrieve: str, k: int) -> None:
    try:
        promises = settle([Promise(parse_model(text)) for text in (model, f"k-anonymity:{k}")], data)
        requirements = require(promises, data)
    except (Infeasible, Unsupported):
        return
    release, linkage = Sabre(retrieve=retrieve).anonymize(data, requirements, Randomness(1), silent)
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed
