"""Ten random series of 50 people who come and go, in frozen cells and without the rule, read together by attackers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.algorithms.shared.fixed_cells import FixedCells
from lookalike.attacks.composition import Composition
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise, Target
from lookalike.data.microdata import Microdata
from lookalike.data.release import Release
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.data.scheme import Scheme
from lookalike.files.tables import read_columns
from lookalike.pipeline.series.frozen import NEVER, FrozenRows, frozen_test, plan_batch
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.data.test_scheme import AGE, SEX

SCHEME = Scheme(
    schema=Schema((AGE, SEX, Attribute(name="diagnosis", role=Role.SENSITIVE))),
    promises=("l-diversity:2",),
    starts={"age": (50,)},
)
PROMISES = (Promise(la.KAnonymity(2)), Promise(la.LDiversity(2), "diagnosis"))
N_PERSONS, N_BATCHES = 50, 6


def people(seed: int) -> tuple[Microdata, np.ndarray]:
    """Fifty people, and in which of the batches each is in the table."""
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "age": draw.integers(18, 91, N_PERSONS),
            "sex": draw.choice(["F", "M"], N_PERSONS),
            "diagnosis": draw.choice(["flu", "cold", "HIV", "asthma"], N_PERSONS),
        }
    )
    data = Microdata.encode(read_columns(frame, SCHEME.schema), SCHEME.schema)
    comes, goes = draw.integers(0, N_BATCHES, N_PERSONS), draw.integers(2, N_BATCHES + 3, N_PERSONS)
    batches = np.arange(N_BATCHES)[:, None]
    return data, (comes <= batches) & (batches < goes)


def release_of(data: Microdata, published: np.ndarray, seed: int) -> Release:
    """These rows in the cells of the scheme, whatever they promise."""
    chosen = data.take(np.flatnonzero(published)).as_part_of_itself()
    method = FixedCells().over(SCHEME)
    release, _ = method.anonymize(
        chosen, [la.KAnonymity(1).requirement(chosen.prior(None), None, None)], Randomness(seed), silent
    )
    return release


def play_frozen(data: Microdata, present: np.ndarray) -> list[np.ndarray]:
    """Which rows each release has by the rule."""
    keeps = frozen_test(data, PROMISES, READS_RELEASE)
    cells = SCHEME.locate(data).cell_of_record.astype(np.int64)
    block, left, shown = np.full(N_PERSONS, NEVER), np.zeros(N_PERSONS, dtype=bool), []
    for here in present:
        known = np.flatnonzero(here | (block != NEVER))
        rows = FrozenRows(cell=cells[known], block=block[known], present=here[known], left=left[known])
        plan = plan_batch(rows, lambda members, known=known: keeps(known[members]))
        block[known], left[known] = plan.block, left[known] | plan.leaves
        published = np.zeros(N_PERSONS, dtype=bool)
        published[known[plan.published]] = True
        shown.append(published)
    return shown


def subtract(data: Microdata, shown: list[np.ndarray]) -> int:
    """How many people are in a set of rows with one history that does not keep the promises: what subtraction tells."""
    keeps = frozen_test(data, PROMISES, READS_RELEASE)
    cells = SCHEME.locate(data).cell_of_record
    histories = np.unique(np.column_stack([cells, *shown]), axis=0, return_inverse=True)[1].reshape(-1)
    ever = np.any(shown, axis=0)
    groups = [np.flatnonzero(ever & (histories == one)) for one in np.unique(histories[ever])]
    return sum(len(group) for group in groups if not keeps(group))


def intersect(data: Microdata, shown: list[np.ndarray], seed: int) -> int:
    """How many people the composition attack leaves one value for, over all pairs of releases."""
    n_certain = 0
    for first, second in zip(shown, shown[1:], strict=False):
        both = first & second
        if not both.any():
            continue
        target = Target(
            release=release_of(data, first, seed),
            original=replace(data.take(np.flatnonzero(both)), whole=None),
            promises=(),
            others=(release_of(data, second, seed),),
        )
        (finding,) = Composition().run(target, Randomness(1), silent)
        n_certain += int(finding.figures["records left with one value"])
    return n_certain


@pytest.mark.parametrize("seed", range(10))
def test_frozen_cells_withstand_subtraction_and_composition(seed: int) -> None:
    data, present = people(seed)
    shown = play_frozen(data, present)
    assert np.any(shown)
    assert subtract(data, shown) == 0
    assert intersect(data, shown, seed) == 0


def test_without_the_rule_the_same_series_give_people_away() -> None:
    broken = 0
    for seed in range(10):
        data, present = people(seed)
        broken += subtract(data, list(present)) > 0
    assert broken == 10
