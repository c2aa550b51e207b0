"""Freeform: regular graphs, random assignments, the paper's figures and the traps."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike import metrics
from lookalike.algorithms.freeform import Freeform, graphs_of_parts, least_graph
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import MATCHERS
from lookalike.algorithms.shared.method import (
    SlotGraph,
    disjoint_assignments,
    draw_assignment,
    publish_matched,
    slots_of,
)
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import RecipeError, Unsupported
from lookalike.kernels.pairing import repair
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import column_of, microdatas

# The example table of the papers: eight people, three matches each.
AGE, SALARY = [59, 57, 39, 28, 41, 37, 40, 53], [25, 27, 47, 41, 20, 59, 35, 34]
SLOTS = [[0, 1, 7], [0, 1, 7], [2, 3, 5], [3, 4, 5], [0, 4, 6], [2, 3, 5], [2, 4, 6], [1, 6, 7]]


def eight_people() -> Microdata:
    table = Table((column_of("age", AGE, ValueType.INTEGER), column_of("salary", SALARY, ValueType.INTEGER)))
    return Microdata.encode(table, Schema.of(qi=["age", "salary"]))


def loss(data: Microdata, tables: list[np.ndarray]) -> float:
    records = np.concatenate([table.ravel() for table in tables])
    slots = np.concatenate([np.repeat(table[:, 0], table.shape[1]) for table in tables])
    release, _ = publish_matched(data, SlotGraph(records, slots, np.arange(data.n_rows)), Randomness(1))
    return metrics.METRICS["gcp"]().measure(data, release)


def test_the_loss_of_the_papers_example() -> None:
    table = np.array([[slot, *(other for other in members if other != slot)] for slot, members in enumerate(SLOTS)])
    assert loss(eight_people(), [table]) == pytest.approx(float(Fraction(149, 372)))


@pytest.mark.slow
def test_the_optimum_of_the_papers_example_is_no_worse_than_any_matcher() -> None:
    data = eight_people()
    best = loss(data, [least_graph(data, 3, mutual=False)])
    assert best <= float(Fraction(149, 372)) + 1e-9
    mutual = loss(data, [least_graph(data, 3, mutual=True)])
    assert best <= mutual + 1e-9
    for matcher in MATCHERS:
        found = graphs_of_parts(data, 3, matcher, 0, Randomness(2), silent, mutual=False)
        assert loss(data, found) >= best - 1e-9


@settings(max_examples=examples(40), deadline=None)
@given(
    data=microdatas(min_rows=4, max_rows=30),
    size=st.integers(2, 4),
    matcher=st.sampled_from(sorted(MATCHERS)),
    mutual=st.booleans(),
    seed=st.integers(0, 3),
)
def test_every_graph_is_regular_and_holds_its_own_records(
    data: Microdata, size: int, matcher: str, mutual: bool, seed: int
) -> None:
    part = 8 if data.n_rows > 16 else 0
    tables = graphs_of_parts(data, size, matcher, part, Randomness(seed), silent, mutual=mutual)
    assert sorted(np.concatenate([table[:, 0] for table in tables]).tolist()) == list(range(data.n_rows))
    for table in tables:
        assert table.shape[1] >= size
        assert all(len(set(row)) == len(row) for row in table.tolist())
        records, times = np.unique(table, return_counts=True)
        assert (records == table[:, 0]).all()
        assert (times == table.shape[1]).all()
        if mutual:
            pairs = {(int(row[0]), int(other)) for row in table for other in row}
            assert pairs == {(other, one) for one, other in pairs}


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(2, 9), st.integers(1, 6), st.integers(0, 99))
def test_a_regular_graph_comes_apart_into_disjoint_assignments(n_rows: int, degree: int, seed: int) -> None:
    degree = min(degree, n_rows)
    generator = np.random.default_rng(seed)
    names = generator.permutation(n_rows)
    shifts = generator.choice(n_rows, degree, replace=False)
    edges = names[(np.arange(n_rows)[:, None] + shifts) % n_rows].astype(np.int32)
    found = disjoint_assignments(edges, Randomness(seed), degree)
    assert all(sorted(one.tolist()) == list(range(n_rows)) for one in found)
    assert (np.sort(found.T, axis=1) == np.sort(edges, axis=1)).all()


def test_every_edge_is_drawn_equally_often() -> None:
    """Five records, three matches each: drawn uniformly from all perfect matchings an edge would have chance 5/13."""
    edges = np.array([[0, 1, 2], [0, 1, 4], [0, 2, 3], [1, 3, 4], [2, 3, 4]], dtype=np.int32)
    draws = 3000
    times = np.zeros((5, 5))
    for seed in range(draws):
        times[np.arange(5), draw_assignment(edges, Randomness(seed))] += 1
    shares = times[np.repeat(np.arange(5), 3), edges.ravel()] / draws
    assert times.sum() == shares.sum() * draws
    assert np.abs(shares - 1 / 3).max() < 4.5 * np.sqrt(2 / 9 / draws)


def test_stuck_slots_are_repaired() -> None:
    """Slot 2 holds the only record that is left: two others have to pass theirs on."""
    table = np.array([[0, 0], [1, 0], [2, 0]])
    chosen = np.array([1, 0, -1])
    assert repair(np.arange(3), table, 1, np.arange(3), chosen)
    assert sorted(chosen.tolist()) == [0, 1, 2]
    assert (chosen != np.arange(3)).all()


def withstands(edges: np.ndarray, known: dict[int, int]) -> bool:
    """Whether someone who knows the slots of some vertices still has degree - |known| ways for each of the others.

    That is so if what is left of a regular graph [vertices, degree] without the known pairs still holds a regular graph
    of degree - |known|. Symmetric graphs always do; others need not.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n_vertices, degree = edges.shape
    wanted = degree - len(known)
    if wanted < 1:
        return False
    source, sink = 2 * n_vertices, 2 * n_vertices + 1
    left = np.array([vertex for vertex in range(n_vertices) if vertex not in known])
    open_slots = np.setdiff1d(np.arange(n_vertices), np.array([*known.values()], dtype=np.int64))
    tails, heads = np.repeat(left, degree), edges[left].ravel().astype(np.int64)
    kept = np.isin(heads, open_slots)
    tails, heads = tails[kept], heads[kept] + n_vertices
    ends = (
        np.concatenate([tails, np.full(len(left), source), open_slots + n_vertices]),
        np.concatenate([heads, left, np.full(len(open_slots), sink)]),
    )
    capacities = np.concatenate([np.ones(len(tails)), np.full(len(left) + len(open_slots), wanted)]).astype(np.int32)
    network = csr_array((capacities, ends), shape=(sink + 1, sink + 1))
    found = int(maximum_flow(network, source, sink).flow_value)
    return bool(found == wanted * len(left))


def test_a_known_match_can_break_a_graph_that_is_not_reciprocal() -> None:
    slots = [[0, 5, 6], [1, 3, 4], [2, 3, 4], [1, 2, 3], [0, 4, 7], [5, 6, 7], [0, 5, 6], [1, 2, 7]]
    edges = np.array(slots, dtype=np.int32)
    assert not withstands(edges, {4: 0})
    assert withstands(edges, {})


@settings(max_examples=examples(40), deadline=None)
@given(data=microdatas(min_rows=6, max_rows=14), seed=st.integers(0, 5))
def test_a_reciprocal_graph_withstands_a_known_match(data: Microdata, seed: int) -> None:
    (table,) = graphs_of_parts(data, 3, "hungarian", 0, Randomness(seed), silent, mutual=True)
    edges = slots_of(table)
    known = draw_assignment(edges, Randomness(seed))
    assert withstands(edges, {0: int(known[0])})


def test_parts_and_the_audit() -> None:
    table = census(700, seed=3)
    names = table.names
    data = Microdata.encode(table, Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]]))
    promises = settle([Promise(parse_model("k-anonymity:4"))], data)
    requirements = require(promises, data)
    losses = {}
    for text, method in {
        "greedy": Freeform(matcher="greedy"),
        "sorted": Freeform(matcher="sorted"),
        "hungarian": Freeform(matcher="hungarian"),
        "parts": Freeform(matcher="hungarian", part=60),
        "reciprocal": Freeform(reciprocal="yes"),
    }.items():
        release, linkage = method.anonymize(data, requirements, Randomness(4), silent)
        found = pipeline.verify(data, release, promises, graph=linkage.graph)
        assert found.passed, f"{text}\n{found}"
        losses[text] = metrics.METRICS["gcp"]().measure(data, release)
    assert losses["hungarian"] < losses["sorted"] < losses["greedy"]
    assert losses["hungarian"] < losses["parts"] < 1.4 * losses["hungarian"]


def test_what_it_does_not_serve() -> None:
    data = eight_people()
    with pytest.raises(RecipeError, match="16 rows"):
        least_graph(Microdata.encode(census(17, seed=1), Schema.of(qi=["Age"])), 3, mutual=False)
    promise = Promise(parse_model("l-diversity:2"), "salary")
    schema = Schema.of(qi=["age"], sensitive=["salary"])
    recipe = Recipe(schema=schema, promises=(promise,), algorithm=Freeform())
    table = Table((column_of("age", AGE, ValueType.INTEGER), column_of("salary", SALARY, ValueType.INTEGER)))
    with pytest.raises(Unsupported, match="k-anonymity only"):
        pipeline.run(prepare(recipe, table))
    assert axes_of(data).codes.shape == (8, 2)


def test_a_matcher_that_would_not_be_heard_is_refused() -> None:
    with pytest.raises(RecipeError, match="has no effect"):
        Freeform(matcher="greedy", reciprocal="yes")


@pytest.mark.parametrize("mutual", [False, True])
def test_parts_stay_small_where_all_records_are_alike(mutual: bool) -> None:
    table = Table((column_of("age", [40] * 901, ValueType.INTEGER),))
    data = Microdata.encode(table, Schema.of(qi=["age"]))
    tables = graphs_of_parts(data, 3, "hungarian", 50, Randomness(1), silent, mutual=mutual)
    assert max(len(one) for one in tables) <= 50
    assert sum(len(one) % 2 for one in tables) == 1
