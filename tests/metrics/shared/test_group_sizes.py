"""Groups as a reader can tell them apart, and metrics where persons have several rows."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, Sets
from lookalike.metrics import FIDELITY, METRICS
from lookalike.metrics.accuracy_loss import _hold_out
from lookalike.metrics.shared.group_sizes import group_sizes
from lookalike.metrics.shared.losses import public_losses
from lookalike.metrics.shared.metric import title_metric
from lookalike.pipeline.run import measure
from lookalike.randomness import Randomness
from tests.audit.making import grouped, number_table
from tests.metrics.making import twelve


def test_sets_tell_groups_apart_by_their_members() -> None:
    data = twelve()
    sets = Sets(np.array([0, 2, 3, 5]), np.array([0, 1, 4, 0, 1], dtype=np.int32))
    release = Grouped(
        domains=data.domains,
        extents=(sets,),
        group_of_row=np.repeat(np.arange(3, dtype=np.int32), 4),
        sensitive=data.sensitive,
        carried=data.carried,
    )
    assert sorted(group_sizes(release).tolist()) == [4, 8]


SIZES = {"average_group_size", "discernibility", "msbs"}


def visits() -> Microdata:
    """Five persons: three rows, one, two, one and one."""
    data = number_table([[30]] * 4 + [[40]] * 4, [0, 1, 0, 2, 0, 2, 1, 0])
    return replace(data, persons=np.array([0, 0, 0, 1, 2, 2, 3, 4], dtype=np.int32))


def test_sizes_are_numbers_of_different_persons() -> None:
    data = visits()
    release = grouped(data, [0] * 4 + [1] * 4, np.arange(8))
    losses, _ = measure(data, release, {2: 1, 3: 1})
    assert losses["average_group_size"] == 5 / 2
    assert losses["discernibility"] == 4 + 9
    assert losses["msbs"] == (1 + 4) / 4
    by_rows, _ = measure(replace(data, persons=None), release)
    assert by_rows["average_group_size"] == 4
    # Every published cell counts alike, anyone who it belongs to.
    assert losses["gcp"] == by_rows["gcp"]


def test_sizes_are_left_out_where_nobody_knows_whose_rows_are_in_a_group() -> None:
    data = visits()
    losses, _ = measure(data, grouped(data, [0] * 4 + [1] * 4, np.arange(8)))
    assert not SIZES & set(losses)


@pytest.mark.parametrize("name", [*METRICS, *FIDELITY])
def test_every_metric_counts_persons_or_says_that_it_counts_rows(name: str) -> None:
    kind = {**METRICS, **FIDELITY}[name]
    data = visits()
    found = kind().measure(data, grouped(data, [0] * 4 + [1] * 4, np.arange(8)))
    title = title_metric(kind, "person")
    assert title.endswith(", by persons" if name in SIZES else ", by rows")
    assert math.isnan(found) if name in SIZES else title_metric(kind) == title.removesuffix(", by rows")
    assert title_metric(kind, "household").endswith("by households") == (name in SIZES)


def test_sizes_by_persons_are_not_published() -> None:
    data = visits()
    losses = dict.fromkeys(METRICS, 0.5)
    public, _ = public_losses(losses, {"q0": 0.5}, data.domains, "grouped", 0, {}, by_persons=True)
    assert not SIZES & set(public)
    assert "gcp" in public
    assert set(public_losses(losses, {"q0": 0.5}, data.domains, "grouped", 0, {})[0]) >= SIZES


def test_a_person_is_either_learned_from_or_predicted() -> None:
    rng = np.random.default_rng(2)
    data = number_table(rng.integers(0, 9, (300, 1)), rng.integers(0, 3, 300))
    data = replace(data, persons=np.sort(rng.integers(0, 40, 300)).astype(np.int32))
    held, kept = _hold_out(data, Randomness(5))
    assert data.persons is not None
    assert len(held) > 20
    assert len(kept) > 150
    assert not set(data.persons[held].tolist()) & set(data.persons[kept].tolist())


def test_a_publication_measures_sizes_by_persons() -> None:
    persons = np.repeat(np.arange(40), 3)
    columns = {"person": persons, "age": 20 + persons, "illness": np.tile(np.arange(6), 20)}
    named = {"qi": ["age"], "sensitive": "illness", "model": "k-anonymity:5", "algorithm": "mondrian"}
    made = la.publish(pl.DataFrame(columns), person="person", **named)
    by_rows = la.publish(pl.DataFrame(columns).drop("person"), **named)
    assert made.losses["average_group_size"] == 5
    assert by_rows.losses["average_group_size"] <= 9
    assert made.losses["gcp"] > by_rows.losses["gcp"]
