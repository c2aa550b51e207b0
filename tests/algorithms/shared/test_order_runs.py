"""Groups as runs of an order: the paper's examples, where runs close, what becomes of the end, even splits."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.greedy_grouping import GreedyGrouping
from lookalike.algorithms.random_grouping import RandomGrouping
from lookalike.algorithms.shared.order_runs import in_order
from lookalike.algorithms.symmetric_grouping import SymmetricGrouping
from lookalike.data.contracts import Promise, Replayable
from lookalike.data.microdata import Microdata
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.order_groups import BINARY, groups_of, required
from tests.examples import examples
from tests.strategies import microdatas
from tests.worlds import tiny_table

SETTINGS = [
    f"{name}:order={order},recode={recode}{rest}"
    for name, rests in (
        ("greedy-grouping", ("", ",tail=suppress")),
        ("random-grouping", (",p=0.65", ",tail=suppress")),
        ("symmetric-grouping", ("",)),
    )
    for order in ("lexicographic", "hilbert")
    for recode in ("generalise", "permute")
    for rest in rests
] + ["symmetric-grouping:recode=permute,anatomize=true"]
MODELS = [
    "k-anonymity:3",
    "l-diversity:2",
    "l-diversity:2.5",
    "l-diversity:2,kind=distinct",
    "beta-likeness:2",
    "t-closeness:0.3",
    "t-closeness:0.2,distance=ordered",
]


def test_without_a_positive_a_group_still_has_l_records() -> None:
    """Trap 8: binary diversity alone would let a single negative stand."""
    assert groups_of("nnnnnpnnnnnn", GreedyGrouping(), BINARY.format(6)) == ["nnnnnp", "nnnnnn"]
    assert groups_of("nnnnnpnnnnnn", SymmetricGrouping(), BINARY.format(6)) == ["nnnnnp", "nnnnnn"]
    assert groups_of("nnnnn" + "pnnnnnn", GreedyGrouping(), BINARY.format("2.5")) == ["nnn", "nnp", "nnn", "nnn"]


@pytest.mark.slow
@pytest.mark.parametrize("text", SETTINGS)
@settings(max_examples=examples(15), deadline=None)
@given(data=microdatas(min_rows=2, max_rows=40, n_sensitive=st.just(1)), model=st.sampled_from(MODELS))
def test_every_setting_keeps_every_promise(text: str, data: Microdata, model: str) -> None:
    algorithm = parse_algorithm(text)
    promises = settle([Promise(parse_model(model))], data)
    try:
        requirements = required_by(promises, data)
        if algorithm.refuses(promises[0], requirements[0]):
            return
        release, _ = algorithm.anonymize(data, requirements, Randomness(1), silent)
    except (Infeasible, Unsupported):
        return
    assert release.form == algorithm.form
    found = pipeline.verify(data, release, promises)
    assert found.passed, str(found)
    assert release.n_rows + release.withheld.n_suppressed == data.n_rows


def test_equal_records_come_in_random_order_and_others_by_quasi_identifiers() -> None:
    data = tiny_table("abcabc", [2, 1, 1, 1, 1, 0])
    orders = {tuple(in_order(data, "lexicographic", Randomness(seed)).tolist()) for seed in range(200)}
    assert {order[0] for order in orders} == {5}
    assert {order[-1] for order in orders} == {0}
    assert len(orders) == 24


def test_groups_along_the_curve_are_runs_of_it() -> None:
    data = tiny_table("abcabc", [0, 9, 5, 1, 8, 4])
    assert in_order(data, "hilbert", Randomness(1)).tolist() == [0, 3, 5, 2, 4, 1]


def test_anatomizing_is_refused_where_it_does_not_repair() -> None:
    for kind in (GreedyGrouping, RandomGrouping):
        with pytest.raises(RecipeError, match="does not repair"):
            kind(recode="permute", anatomize="true")
    with pytest.raises(RecipeError, match="recode=permute"):
        SymmetricGrouping(anatomize="true")
    with pytest.raises(RecipeError, match="below 1"):
        RandomGrouping(p=1)


def test_replays_are_offered_unless_buckets_hide_the_groups() -> None:
    data = tiny_table("ppnn", [0, 1, 2, 3])
    requirements = required(data, BINARY.format(2))
    for method in (GreedyGrouping(), RandomGrouping(), SymmetricGrouping()):
        assert isinstance(method, Replayable)
        assert method.replay(data, requirements, Randomness(1)) is not None
    assert SymmetricGrouping(recode="permute", anatomize="true").replay(data, requirements, Randomness(1)) is None
