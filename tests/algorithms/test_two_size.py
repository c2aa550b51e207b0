"""two-size: how far sizes reach, pruning that changes nothing, similar records, remarks."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.shared.bucket_sizes import (
    Part,
    Range,
    loss_of,
    ranges,
    smallest_size,
    two_sizes,
)
from lookalike.algorithms.shared.buckets import Asked
from lookalike.algorithms.two_size import TwoSize
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.release import Bucketized
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, Unsupported
from lookalike.models import parse_model
from lookalike.models.f_privacy import FPrivacy
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.algorithms.shared.test_bucket_sizes import candidates, setting, shares, two_sizes_valid
from tests.algorithms.tables import census_data
from tests.examples import examples


@settings(max_examples=examples(300), deadline=None)
@given(drawn=shares, largest=st.integers(2, 10))
def test_pruning_changes_nothing_but_the_number_of_tests(drawn: list[tuple[int, int]], largest: int) -> None:
    counts, ceilings = setting(drawn)
    smallest = smallest_size(ceilings, 1)
    sized = Range.between(smallest, max(smallest, largest), ceilings)
    found = [two_sizes(counts, sized, pruning) for pruning in ("full", "loss", "none")]
    assert len({None if one is None else loss_of(one.parts) for one in found}) == 1
    every = [
        pair[0] * (size1 - 1) ** 2 + pair[1] * (size2 - 1) ** 2
        for size1, size2 in itertools.combinations(sized.sizes.tolist(), 2)
        for pair in candidates(int(counts.sum()), size1, size2)
        if two_sizes_valid(counts, (sized.room(size1), sized.room(size2)), pair, (size1, size2))
    ]
    every += [
        Part(size, int(counts.sum()) // size, counts).loss
        for size in sized.sizes.tolist()
        if counts.sum() % size == 0 and (counts <= sized.room(size) * (int(counts.sum()) // size)).all()
    ]
    assert (None if found[0] is None else loss_of(found[0].parts)) == min(every, default=None)
    if found[0] is not None:
        parts = found[0].parts
        assert sum(part.counts for part in parts).tolist() == counts.tolist()  # type: ignore[union-attr]


def test_sizes_reach_far_enough_by_themselves() -> None:
    """A value that may have 1 % of a bucket needs buckets of 100."""
    counts, ceilings = np.array([500, 495, 5]), [Fraction(7, 10), Fraction(7, 10), Fraction(1, 100)]
    (first, *_) = ranges(ceilings, 1, "auto", 1000)
    found = two_sizes(counts, first)
    assert found is not None
    assert max(part.size for part in found.parts) >= 100
    slots, _ = TwoSize().slots(Asked(counts, ceilings, 1, has_values=True), Randomness(1), silent)
    assert len(slots.value_of_slot) == 1000
    with pytest.raises(Unsupported, match="No bucket sizes up to 20"):
        TwoSize(largest=20).slots(Asked(counts, ceilings, 1, has_values=True), Randomness(1), silent)


@pytest.mark.parametrize("largest", ["0.5", "many", "2.5"])
def test_the_largest_size_is_a_whole_number(largest: str) -> None:
    with pytest.raises(RecipeError, match="largest"):
        parse_algorithm(f"two-size:largest={largest}")


def different_within(release: Bucketized) -> float:
    """How many different quasi-identifiers a bucket has, on average over buckets and columns."""
    pairs = [
        len(np.unique(release.bucket_of_quasi.astype(np.int64) * 1000 + column))
        for column in release.quasi.T.astype(int)
    ]
    return float(np.mean(pairs)) / len(np.unique(release.bucket_of_quasi))


@pytest.mark.parametrize("model", ["l-diversity:5", "f-privacy:theta=8", "k-anonymity:4"])
def test_similar_records_share_buckets_of_the_same_sizes(model: str) -> None:
    data = census_data(1000)
    requirements = require(settle([Promise(parse_model(model))], data), data)
    apart, close = (
        TwoSize(assign=assign).anonymize(data, requirements, Randomness(1), silent)[0]
        for assign in ("random", "similar")
    )
    assert different_within(close) < 0.8 * different_within(apart)
    sizes = [np.sort(np.bincount(release.bucket_of_quasi)).tolist() for release in (apart, close)]
    assert sizes[0] == sizes[1]


def test_sizes_and_single_records_are_remarked() -> None:
    table = census(300, seed=4)
    names = table.names
    recipe = Recipe(
        schema=Schema.of(qi=names[:1], sensitive=names[-1:]),
        promises=(Promise(FPrivacy(theta=60)),),
        algorithm=TwoSize(),
    )
    notes = pipeline.run(prepare(recipe, table)).notes
    assert any(note.startswith("Bucket sizes: ") for note in notes)
    assert any("in their own bucket" in note and "k-anonymity:2" in note for note in notes)
    together = pipeline.run(
        prepare(
            Recipe(
                schema=recipe.schema,
                promises=(*recipe.promises, Promise(parse_model("k-anonymity:2"))),
                algorithm=TwoSize(),
            ),
            table,
        ),
    )
    assert not any("in their own bucket" in note for note in together.notes)
