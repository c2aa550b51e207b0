"""Heterogeneous generalisation as published: its buckets, what its draw shows, and that it is never released."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms.groups.columns import Counts
from lookalike.algorithms.heterogeneous.slots import Layout, ascending, descending, pack_values, slots_in_turn
from lookalike.algorithms.shared.axes import axes_of
from lookalike.algorithms.shared.matchers import MATCHERS
from lookalike.apps.papers.hg.published_heterogeneous import (
    HeterogeneousAsPublished,
    _with_copies,
    cut_buckets,
    fewest_first,
    largest_to_pad,
    match_freely,
    mix_columns,
)
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, Unsupported
from lookalike.kernels.matching import row_losses
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.heterogeneous.test_heterogeneous import census_data, made, matched_table, values_seen
from tests.algorithms.heterogeneous.test_slots import A6_B7_D12, BETA_SEVEN_TENTHS
from tests.examples import examples
from tests.worlds import tiny_table

# Size: the printed beta with each policy, and the dummies that all of them need.
TABLE = {
    12: ("3", "17/7", "1", 11),
    11: ("8/3", "15/7", "5/6", 8),
    10: ("7/3", "13/7", "2/3", 5),
    9: ("11/7", "11/7", "1/2", 2),
    8: ("5/3", "9/7", "1/3", 7),
    7: ("4/3", "3/4", "1/6", 3),
    6: ("5/7", "5/7", "5/7", 5),
    5: ("2/3", "2/3", "2/3", 0),
    4: ("1", "5/7", "1/3", 3),
    3: ("2/7", "2/7", "2/7", 2),
    2: ("1/7", "1/7", "1/7", 1),
    1: ("0", "0", "0", 0),
}


def find_printed_beta(layout: Layout, size: int, counts: Counts) -> Fraction:
    """As the paper has it: larger than `attainable_beta` by the share of dummies."""
    spread = np.count_nonzero(layout, axis=0)
    return size / min(Fraction(int(counts[value]), int(spread[value])) for value in np.flatnonzero(counts)) - 1


def attainable_beta(layout: Layout, counts: Counts) -> Fraction:
    """The least beta whose basic bound a layout keeps, dummies published as records of their bucket's values."""
    spread = np.count_nonzero(layout, axis=0)
    whole = Fraction(int(counts.sum()), len(layout))
    return max(whole * int(spread[value]) / int(counts[value]) for value in np.flatnonzero(counts)) - 1


@pytest.mark.parametrize("size", TABLE)
def test_the_25_records(size: int) -> None:
    *betas, dummies = TABLE[size]
    for policy, beta in zip((descending, ascending, pack_values), betas, strict=True):
        layout = policy(A6_B7_D12, size)
        assert (layout.sum(axis=0) == A6_B7_D12).all()
        assert find_printed_beta(layout, size, A6_B7_D12) == Fraction(beta)
        assert len(layout) * size - int(layout.sum()) == dummies


def test_what_the_25_records_attain_with_dummies_published() -> None:
    assert attainable_beta(descending(A6_B7_D12, 6), A6_B7_D12) == Fraction(3, 7)
    assert attainable_beta(ascending(A6_B7_D12, 4), A6_B7_D12) == Fraction(26, 49)
    assert attainable_beta(pack_values(A6_B7_D12, 4), A6_B7_D12) == Fraction(4, 21)
    assert attainable_beta(pack_values(A6_B7_D12, 7), A6_B7_D12) == Fraction(1, 24)


@pytest.mark.parametrize(("policy", "size"), [("descending", 5), ("packed", 10)])
def test_the_published_search_for_beta_seven_tenths(policy: str, size: int) -> None:
    found = largest_to_pad(A6_B7_D12, BETA_SEVEN_TENTHS, [policy], 1)
    assert found is not None
    layout, chosen = found
    assert chosen == size
    assert find_printed_beta(layout, chosen, A6_B7_D12) == Fraction(2, 3)


def test_the_buckets_of_the_15_records() -> None:
    """a3 b3 c3 d2 e2 f2: five buckets, aaa bbb ccc ddf eef."""
    assert fewest_first(np.array([3, 3, 3, 2, 2, 2]), 5).tolist() == [
        [3, 0, 0, 0, 0, 0],
        [0, 3, 0, 0, 0, 0],
        [0, 0, 3, 0, 0, 0],
        [0, 0, 0, 2, 0, 1],
        [0, 0, 0, 0, 2, 1],
    ]


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.integers(1, 8), min_size=2, max_size=12), st.integers(2, 5))
def test_published_buckets_come_out_even(numbers: list[int], ell: int) -> None:
    counts = np.array(numbers)
    size = int(counts.sum()) // ell
    if counts.sum() % ell or counts.max() > size or len(counts) < ell:
        return
    layout = fewest_first(counts, ell)
    assert (layout.sum(axis=0) == counts).all()
    assert (layout.sum(axis=1) == size).all()


def test_the_published_draw_shows_some_people_a_value_twice_and_is_refused() -> None:
    data, method = census_data(600), HeterogeneousAsPublished(matcher="hungarian")
    twice = [seen for seen in values_seen(*made(data, method, "l-diversity:6")) if len(set(seen)) < len(seen)]
    assert len(twice) > 200
    recipe = Recipe(schema=data.schema, promises=(Promise(parse_model("l-diversity:6")),), algorithm=method, seed=1)
    with pytest.raises(Unsupported, match="never released"):
        pipeline.run(prepare(recipe, census(600, seed=6)))


def test_mixed_is_an_assignment_along_edges() -> None:
    slots = matched_table(5, 3)
    given = mix_columns(slots, Randomness(2))
    assert sorted(given.ravel().tolist()) == list(range(15))
    assert all(record in row for row, record in zip(slots.reshape(15, 3).tolist(), given.ravel().tolist(), strict=True))


@settings(max_examples=examples(60), deadline=None)
@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=8),
    st.integers(2, 4),
    st.sampled_from(["greedy", "sorted", "hungarian"]),
    st.integers(0, 99),
)
def test_published_slots_hold_different_values(numbers: list[int], ell: int, matcher: str, seed: int) -> None:
    """Its buckets always leave a matching without a repeat, and greedy matchers find it with repair."""
    values = "".join(letter * number for letter, number in zip("abcdefgh", numbers, strict=False))
    if max(numbers) > len(values) // ell:
        return
    places = np.random.default_rng(seed).integers(0, 9, len(values)).tolist()
    data = tiny_table(values, places)
    method = HeterogeneousAsPublished(matcher=matcher)
    ceilings = (Fraction(1, ell),) * len(numbers)
    _, linkage = method.anonymize(data, [Requirement(column=0, ceilings=ceilings)], Randomness(seed), silent)
    assert linkage.graph is not None
    held: dict[int, list[int]] = defaultdict(list)
    owner = np.repeat(np.arange(data.n_rows), np.diff(linkage.graph.starts))
    for record, row in zip(owner, linkage.graph.rows.tolist(), strict=True):
        held[row].append(int(data.sensitive[record, 0]))
    for inside in held.values():
        assert len(inside) in (ell, ell + 1)
        assert len(set(inside)) == len(inside)


SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("l-diversity:6", {}),
    ("l-diversity:6", {"dummies": "yes"}),
    ("l-diversity:6", {"tau": "0.4"}),
    ("beta-likeness:2,bound=basic", {}),
    ("beta-likeness:2,bound=basic", {"buckets": "packed"}),
    ("beta-likeness:2,bound=basic", {"dummies": "yes"}),
    ("beta-likeness:2,bound=basic", {"dummies": "yes", "fill": "sorted"}),
]


@pytest.mark.parametrize(("model", "settings_of"), SETTINGS)
def test_no_setting_passes_its_audit_and_none_is_released(model: str, settings_of: dict[str, Any]) -> None:
    data, method = census_data(151), HeterogeneousAsPublished(**settings_of)
    promises = settle([Promise(parse_model(model))], data)
    release, linkage = method.anonymize(data, require(promises, data), Randomness(1), silent)
    assert not pipeline.verify(data, release, promises, graph=linkage.graph).passed
    recipe = Recipe(schema=data.schema, promises=tuple(promises), algorithm=method, seed=1)
    with pytest.raises(Unsupported, match="never released"):
        pipeline.run(prepare(recipe, census(151, seed=6)))


@pytest.mark.parametrize(
    ("model", "settings_of", "words"),
    [
        ("l-diversity:6", {"buckets": "packed"}, "leave buckets=packed out"),
        ("beta-likeness:2,bound=basic", {"tau": "0.4"}, "tau is about"),
        ("beta-likeness:2,bound=basic", {"fill": "sorted"}, "fill=sorted is about"),
        ("l-diversity:6", {"fill": "sorted", "dummies": "yes"}, "fill=sorted is about"),
    ],
)
def test_settings_that_have_no_effect_are_refused(model: str, settings_of: dict[str, Any], words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        made(census_data(151), HeterogeneousAsPublished(**settings_of), model)


TWO_RECORDS = pl.DataFrame({"x": [1, 2], "s": ["a", "b"]})


def test_it_is_not_released_even_if_it_happens_to_be_right() -> None:
    with pytest.raises(Unsupported, match="never released"):
        la.publish(TWO_RECORDS, qi=["x"], sensitive="s", model="l-diversity:2", algorithm=HeterogeneousAsPublished())


def test_it_is_not_compared() -> None:
    found = la.compare(
        TWO_RECORDS, qi=["x"], sensitive="s", models="l-diversity:2", algorithms=[HeterogeneousAsPublished()]
    )
    assert found.runs[0].status == "unfit"
    assert "never released" in str(found.runs[0].reason)


def test_unique_dummies_tell_themselves_apart() -> None:
    """403 records in buckets for l = 5: two are made up, with a value that no record has."""
    data = census_data(403)
    release, linkage = made(data, HeterogeneousAsPublished(dummies="yes"), "l-diversity:5")
    assert release.withheld.n_dummies == 2
    assert release.n_rows == 405
    (counts,) = release.withheld.dummies
    assert counts[-1] == 2 == (release.sensitive[:, 0] == len(counts) - 1).sum()
    # Whoever sees one of them has fewer values left to be of.
    assert any(len(set(seen) - {len(counts) - 1}) < 5 for seen in values_seen(release, linkage))


def test_copied_dummies_are_in_buckets_that_hold_their_value() -> None:
    data = census_data(403)
    release, linkage = made(data, HeterogeneousAsPublished(dummies="yes"), "beta-likeness:2,bound=basic")
    assert release.n_rows == 403 + release.withheld.n_dummies
    assert np.count_nonzero(linkage.record_of_row < 0) == release.withheld.n_dummies
    (counts,) = release.withheld.dummies
    assert (np.bincount(release.sensitive[:, 0], minlength=len(counts)) - data.counts(0) == counts).all()


def test_dummies_are_copies_of_different_records() -> None:
    """Many copies of one record would cost every slot that covers one, which is no fault of the paper's."""
    data = census_data(403)
    size = 24
    layout = ascending(data.counts(0), size)
    n_dummies = len(layout) * size - 403
    assert n_dummies > 3
    for fill in ("random", "sorted"):
        everybody, (table,) = _with_copies(data, 0, layout, size, fill, Randomness(1))
        assert everybody.n_rows == table.size == 403 + n_dummies
        assert len(np.unique(everybody.quasi[403:], axis=0)) > n_dummies // 2
        (with_dummies,) = [members for members in table.T if (members >= 403).any()]
        assert set(everybody.sensitive[403:, 0]) <= set(data.sensitive[with_dummies[with_dummies < 403], 0])


def test_in_order_neighbours_share_a_bucket() -> None:
    """As the authors' program fills buckets: the records of a value are sorted first."""
    data = census_data(403)
    layout = ascending(data.counts(0), 20)
    table = _with_copies(data, 0, layout, 20, "sorted", Randomness(1))[1][0]
    place = np.argsort(np.lexsort(data.quasi.T[::-1]))
    for value in np.flatnonzero(layout.astype(bool).sum(axis=0) > 1):
        of_value = [
            place[[one for one in members if one < 403 and data.sensitive[one, 0] == value]] for members in table.T
        ]
        spans = sorted((int(some.min()), int(some.max())) for some in of_value if len(some))
        assert all(before[1] < after[0] for before, after in pairwise(spans))


def test_parts_are_cut_from_every_bucket() -> None:
    data = census_data(120)
    table = np.arange(120).reshape(20, 6)
    parts = cut_buckets(data, 0, table, 8)
    assert [part.shape for part in parts] == [(8, 6), (8, 6), (4, 6)]
    whole = np.concatenate(parts)
    for bucket in range(6):
        assert sorted(whole[:, bucket].tolist()) == table[:, bucket].tolist()
        values = data.sensitive[whole[:, bucket], 0]
        # Each value's records stand together.
        assert np.count_nonzero(np.diff(values)) == len(np.unique(values)) - 1


@pytest.mark.parametrize("matcher", ["greedy", "sorted", "hungarian"])
@pytest.mark.parametrize(
    ("model", "buckets"), [("l-diversity:6", "equal"), ("beta-likeness:3,bound=basic", "ascending")]
)
def test_parts_that_cannot_be_matched_are_joined(matcher: str, model: str, buckets: str) -> None:
    """With parts of two slots values meet themselves; still every row covers one record of each bucket."""
    data = census_data(300)
    method = HeterogeneousAsPublished(matcher=matcher, buckets=buckets, part=2)
    release, linkage = made(data, method, model)
    assert linkage.graph is not None
    assert release.n_rows == 300
    assert len(np.unique(np.diff(linkage.graph.starts))) <= 2


@pytest.mark.parametrize("matcher", ["greedy", "sorted", "hungarian"])
def test_compiled_rounds_lose_as_much_as_rounds_one_by_one(matcher: str) -> None:
    """Ties fall differently, so losses differ a little."""
    data = census_data(240)
    axes, table = axes_of(data), np.arange(240).reshape(12, 20)
    labels = np.arange(240)
    quick = match_freely(matcher, axes, labels, table)
    slow = slots_in_turn(axes, labels, table, MATCHERS[matcher], Randomness(1))
    for slots in (quick, slow):
        for own, of in np.ndindex(20, 20):
            assert sorted(slots[own, :, of].tolist()) == table[:, of].tolist()
    marks = np.empty(int(axes.codes.max()) + 1, dtype=np.int64)
    losses = [
        float(row_losses(axes, np.ascontiguousarray(slots.reshape(240, 20)), marks).mean()) for slots in (quick, slow)
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_likeness_through_diversity() -> None:
    data = census_data(403)
    model = "beta-likeness:60,bound=basic"
    release, _ = made(data, HeterogeneousAsPublished(buckets="through-l", dummies="yes"), model)
    assert release.n_rows >= 403
    with pytest.raises(Infeasible, match="buckets=ascending"):
        made(data, HeterogeneousAsPublished(buckets="through-l"), "beta-likeness:1,bound=basic")
