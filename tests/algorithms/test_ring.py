"""Rings: neighbours of different values, and values that move by one offset."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookalike.algorithms.ring import Ring, _eligible, _ring
from lookalike.algorithms.shared.axes import axes_of
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Matched
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema, ValueType
from lookalike.errors import RecipeError, Unsupported
from lookalike.metrics import METRICS
from lookalike.models import parse_model
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import column_of
from tests.worlds import Tape, tiny_table

PARTS = pytest.mark.parametrize("parts", ["grown", "merged"])


def made(data: Microdata, *models: str, seed: int = 3, parts: str = "grown"):  # type: ignore[no-untyped-def]
    promises = settle([Promise(parse_model(model)) for model in models], data)
    return (*Ring(parts=parts).anonymize(data, require(promises, data), Randomness(seed), silent), promises)


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    return Microdata.encode(table, Schema.of(qi=table.names[:-1], sensitive=table.names[-1:]))


def is_eligible(values: np.ndarray, degree: int) -> bool:
    return bool(np.bincount(values).max() <= len(values) // degree)


def gcp_of(data: Microdata, release: Matched) -> float:
    return METRICS["gcp"]().measure(data, release)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.integers(0, 8), min_size=2, max_size=45), st.integers(2, 5), st.integers(0, 99))
def test_any_neighbours_on_a_ring_have_different_values(codes: list[int], degree: int, seed: int) -> None:
    values = np.array(codes, dtype=np.int32)
    assume(is_eligible(values, degree))
    data = tiny_table("".join(chr(97 + code) for code in codes), [*range(len(codes))])
    ring = _ring(axes_of(data), np.random.default_rng(seed).permutation(len(codes)), values, degree)
    assert sorted(ring.tolist()) == list(range(len(codes)))
    for start in range(len(ring)):
        assert len(set(values[ring[(start + np.arange(degree)) % len(ring)]].tolist())) == degree


def test_parts_with_too_frequent_values_are_joined() -> None:
    values = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 2], dtype=np.int32)
    parts = _eligible(np.split(np.arange(12), 4), values, 3)
    assert [len(part) for part in parts] == [9, 3]
    values[9:] = 0
    assert [len(part) for part in _eligible(np.split(np.arange(12), 4), values, 2)] == [6, 6]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=9), st.integers(1, 4))
def test_merged_parts_are_diverse_and_have_every_record_once(codes: list[list[int]], degree: int) -> None:
    values = np.array([code for part in codes for code in part], dtype=np.int32)
    assume(is_eligible(values, degree))
    parts = _eligible(np.split(np.arange(len(values)), np.cumsum([len(part) for part in codes])[:-1]), values, degree)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(values)))
    assert all(is_eligible(values[part], degree) for part in parts)


@PARTS
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abcdefgh")), min_size=6, max_size=40), st.integers(2, 4))
def test_any_table_that_is_diverse_enough_passes_its_audit(
    parts: str, records: list[tuple[int, str]], ell: int
) -> None:
    data = tiny_table("".join(value for _, value in records), [point for point, _ in records])
    assume(data.counts(0).max() <= data.n_rows // ell)
    release, linkage, promises = made(data, f"l-diversity:{ell}", parts=parts)
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed
    for rows in np.split(linkage.graph.rows, linkage.graph.starts[1:-1]):
        assert len(set(release.sensitive[rows, 0].tolist())) == len(rows) == ell


@PARTS
def test_everybody_sees_l_different_values(parts: str) -> None:
    data = census_data(500)
    release, linkage, promises = made(data, "l-diversity:4", parts=parts)
    for rows in np.split(linkage.graph.rows, linkage.graph.starts[1:-1]):
        assert len(set(release.sensitive[rows, 0].tolist())) == 4
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed


@PARTS
def test_without_values_to_keep_apart_everybody_has_k_rows(parts: str) -> None:
    data = census_data(203)
    release, linkage, promises = made(data, "k-anonymity:5", parts=parts)
    assert np.diff(linkage.graph.starts).tolist() == [5] * 203
    assert pipeline.verify(data, release, promises, graph=linkage.graph).passed


def test_grown_parts_lose_less_than_merged_ones() -> None:
    data = census_data(2_000)
    for model in ("l-diversity:2", "l-diversity:6"):
        grown, merged = (gcp_of(data, made(data, model, parts=parts)[0]) for parts in ("grown", "merged"))
        assert grown < merged


def test_larger_parts_before_merging_lose_more() -> None:
    with pytest.raises(RecipeError, match="needs parts=merged"):
        Ring(part=50)
    data = census_data(400)
    wide, narrow = Ring(parts="merged", part=50), Ring(parts="merged")
    requirements = require(settle([Promise(parse_model("l-diversity:3"))], data), data)
    losses = [gcp_of(data, each.anonymize(data, requirements, Randomness(1), silent)[0]) for each in (narrow, wide)]
    assert losses[0] < losses[1]


class Offset(Tape):
    """Every offset is this one."""

    def child(self, *label: str | int) -> Offset:
        return Offset(self.script, self.asked, (*self.path, *label))

    def integers(self, bound: int, count: int) -> np.ndarray:
        return np.full(count, self.asked[("offset",)])


def test_over_all_offsets_every_edge_is_the_true_one_once() -> None:
    data = tiny_table("abcdefab", [1, 2, 3, 4, 5, 6, 9, 11])
    requirement = Requirement(column=0, ceilings=(Fraction(1, 3),) * 6)
    true: Counter[tuple[int, int]] = Counter()
    for offset in range(3):
        tape = Offset({}, {("offset",): offset})
        _, linkage = Ring().anonymize(data, [requirement], tape, silent)  # type: ignore[arg-type]
        true.update((int(record), row) for row, record in enumerate(linkage.record_of_row))
        edges = [
            (record, int(row))
            for record, rows in enumerate(np.split(linkage.graph.rows, linkage.graph.starts[1:-1]))  # type: ignore[union-attr]
            for row in rows
        ]
    assert true == dict.fromkeys(edges, 1)


def test_what_a_ring_cannot_keep_is_refused() -> None:
    with pytest.raises(Unsupported, match="through l-diversity"):
        made(tiny_table("aaaabc", [1, 2, 3, 4, 5, 6]), "beta-likeness:0.2,bound=basic")
    cells = ["a", "b", "c", "d"] * 5
    table = Table(tuple(column_of(name, cells, ValueType.STRING) for name in ("town", "illness", "income")))
    data = Microdata.encode(table, Schema.of(qi=["town"], sensitive=["illness", "income"]))
    with pytest.raises(Unsupported, match="one sensitive column"):
        made(data, "l-diversity:2")
