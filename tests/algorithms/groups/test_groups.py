"""The groups engine: sizes, seeds, swaps, and that cells and threads do not matter."""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms.groups import EFFORTS, Groups, free
from lookalike.algorithms.groups.free import Box, choose_box_size
from lookalike.algorithms.groups.sizes import even_sizes, plan_sizes, quotas_in_turn, rooms_for
from lookalike.algorithms.mondrian import Mondrian
from lookalike.algorithms.shared.axes import axes_of, rule_of
from lookalike.apps.samples import census
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import cover
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError
from lookalike.kernels.improving import anneal_pass, swap_pass
from lookalike.metrics.shared.cells import certainty_penalty
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require as required_by
from lookalike.pipeline.recipe import settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import microdatas


def census_data(rows: int) -> Microdata:
    table = census(rows, seed=6)
    names = table.names
    schema = Schema.of(qi=names[:-1], sensitive=names[-1:], categorical=[*names[3:], names[1]])
    return Microdata.encode(table, schema)


def required(data: Microdata, *models: str) -> tuple[Requirement, ...]:
    promises = settle([Promise(parse_model(model)) for model in models], data)
    return required_by(promises, data)


def numbered(cell: Box) -> np.ndarray:
    """The group of each record of a cell that is the whole table."""
    groups = cell.groups()
    found = np.empty(len(cell.rows), dtype=np.int64)
    found[np.concatenate(groups)] = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
    return found


def loss_of(data: Microdata, groups: np.ndarray) -> float:
    """The loss summed over records and attributes, by the metric's own code."""
    n_groups = int(groups.max()) + 1
    sizes = np.bincount(groups, minlength=n_groups)
    return sum(
        float((certainty_penalty(domain, cover(domain, data.quasi[:, attr], groups, n_groups)) * sizes).sum())
        for attr, domain in enumerate(data.domains.quasi)
    )


@settings(max_examples=examples(40), deadline=None)
@given(data=microdatas(min_rows=6), size=st.integers(2, 5), seed=st.integers(0, 5))
def test_the_loss_that_swaps_save_is_the_loss_that_is_measured(data: Microdata, size: int, seed: int) -> None:
    requirements = (Requirement(min_size=size),)
    cell = Box(data, axes_of(data), rule_of(data, requirements), requirements, np.arange(data.n_rows), Randomness(seed))
    cell.seed(lambda: np.zeros(data.n_rows, dtype=np.int64))
    n_groups = len(cell.layout.starts) - 1
    order, bounds = np.arange(n_groups), np.array([0, n_groups])
    shared = (cell.axes, cell.limits, cell.sensitive, cell.layout, order, bounds)
    for move in (
        lambda: anneal_pass(*shared, 0.5, 30, np.array([seed], dtype=np.uint64), cell.scratch, cell.tally),
        lambda: swap_pass(*shared, cell.scratch, cell.tally),
    ):
        before = loss_of(data, numbered(cell))
        assert cell.loss() == pytest.approx(before, abs=1e-6)
        saved = move()
        after = loss_of(data, numbered(cell))
        assert before - after == pytest.approx(saved, abs=1e-6)
        assert sorted(cell.layout.members.tolist()) == list(range(data.n_rows))


@pytest.mark.slow
def test_best_swaps_never_cost() -> None:
    data = census_data(600)
    requirements = required(data, "l-diversity:5")
    cell = Box(data, axes_of(data), rule_of(data, requirements), requirements, np.arange(600), Randomness(2))
    cell.seed(lambda: np.zeros(600, dtype=np.int64))
    before = cell.loss()
    told: list[float] = []
    cell.improve(EFFORTS["fast"], lambda share, loss: told.append(loss), lambda: False)
    assert cell.loss() < 0.9 * before
    assert told[-1] == pytest.approx(cell.loss())


def test_a_stopped_search_leaves_a_valid_state() -> None:
    data = census_data(600)
    requirements = required(data, "l-diversity:5")
    cell = Box(data, axes_of(data), rule_of(data, requirements), requirements, np.arange(600), Randomness(2))
    cell.seed(lambda: np.zeros(600, dtype=np.int64))
    looks = iter(range(100))
    cell.improve(EFFORTS["best"], lambda share, loss: None, lambda: next(looks) >= 3)
    assert len(np.unique(numbered(cell))) == 120


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "share"),
    [("k-anonymity:5", 0.9), ("l-diversity:6", 0.5), ("beta-likeness:3", 1.0), ("t-closeness:0.3", 0.9)],
)
def test_it_loses_less_than_mondrian(model: str, share: float) -> None:
    data = census_data(2500)
    requirements = required(data, model)
    losses = []
    for algorithm in (Groups(), Mondrian()):
        groups, _ = algorithm.partition(data, requirements, Randomness(4), silent)
        losses.append(loss_of(data, groups))
    assert losses[0] <= share * losses[1]


def test_cells_and_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    data = census_data(2000)
    requirements = required(data, "l-diversity:4")
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr("os.cpu_count", lambda cores=cores: cores)
        found.append(Groups(effort="fast", cell=300).partition(data, requirements, Randomness(9), silent))
    assert all((groups == found[0][0]).all() and number == found[0][1] for groups, number in found)


def test_groups_have_the_least_sizes_that_the_promise_allows() -> None:
    data = census_data(1003)
    for model in ("k-anonymity:10", "l-diversity:10"):
        groups, n_groups = Groups(effort="fast").partition(data, required(data, model), Randomness(1), silent)
        assert n_groups == 100
        assert set(np.bincount(groups).tolist()) <= {10, 11}


def test_even_sizes() -> None:
    assert even_sizes(23, 5).tolist() == [6, 6, 6, 5]
    assert even_sizes(3, 5).tolist() == [3]


def test_sizes_follow_ceilings() -> None:
    """Rare values need large groups; the others need not share them."""
    counts = np.array([60, 60, 60, 15, 5])
    ceilings = [min(Fraction(1), Fraction(2 * int(number), 200)) for number in counts]
    plan = plan_sizes([counts], [ceilings], 1)
    assert plan is not None
    assert plan.allotment is not None
    assert int(plan.sizes.sum()) == 200
    assert len(np.unique(plan.sizes)) > 1
    quotas = quotas_in_turn(plan.sizes, plan.allotment, len(counts))
    assert (quotas.sum(axis=0) == counts).all()
    assert (quotas.sum(axis=1) == plan.sizes).all()
    for size, quota in zip(plan.sizes, quotas, strict=True):
        assert (quota <= rooms_for(int(size), ceilings)).all()


def test_ceilings_that_allow_even_sizes_get_them() -> None:
    counts = np.full(12, 10)
    plan = plan_sizes([counts], [[Fraction(1, 5)] * 12], 1)
    assert plan is not None
    assert plan.sizes.tolist() == [5] * 24


def test_cells_hold_a_bounded_number_of_groups() -> None:
    assert choose_box_size(10_000, [Requirement(min_size=10)]) == 3500
    assert choose_box_size(1_000_000, [Requirement(min_size=20)]) == 16_000
    assert choose_box_size(1_000_000, [Requirement(column=0, ceilings=(Fraction(1, 5),))]) == 8000
    assert choose_box_size(10_000, [Requirement(column=0, ceilings=(Fraction(1, 5), Fraction(1, 150)))]) == 1200


@pytest.mark.slow
def test_a_search_by_the_clock_ends_in_time_and_keeps_the_promise() -> None:
    data = census_data(1500)
    requirements = required(data, "l-diversity:5")
    Groups(effort="fast").partition(data, requirements, Randomness(1), silent)  # compiles
    for mode in ("free", "strict"):
        told: list[float] = []
        begin = time.monotonic()

        def listen(step: str, share: float, note: str = "", told: list[float] = told) -> None:
            told.append(share)

        groups, n_groups = Groups(mode=mode, effort=1).partition(data, requirements, Randomness(1), listen)
        assert 0.8 < time.monotonic() - begin < 20
        assert n_groups == 300
        assert max(told) <= 1.0


@pytest.mark.parametrize("mode", ["free", "strict"])
def test_a_listener_can_stop_the_search(mode: str) -> None:
    data = census_data(2500)
    requirements = required(data, "l-diversity:5")
    told: list[float] = []

    def stop_soon(step: str, share: float, note: str = "") -> bool:
        told.append(share)
        return len(told) >= 2

    groups, _ = Groups(mode=mode, effort="best").partition(data, requirements, Randomness(1), stop_soon)
    assert len(told) < 60
    values = data.sensitive[:, 0]
    for group in range(int(groups.max()) + 1):
        counts = np.bincount(values[groups == group])
        assert counts.max() * 5 <= counts.sum()


@pytest.mark.parametrize("effort", ["quick", "0", "-3", "nan"])
def test_efforts_that_mean_nothing_are_refused(effort: str) -> None:
    with pytest.raises(RecipeError, match=r"fast, balanced, best or a number above 0"):
        Groups(effort=effort)
    assert str(Groups(effort="2.5")) == "groups:effort=2.5"


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("in_turn", [False, True])
@pytest.mark.parametrize("model", ["t-closeness:0.3,distance=ordered", "l-diversity:3,band=40", "l-diversity:3"])
def test_columns_of_more_values_than_a_cell_counts(
    model: str, in_turn: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nearly every record has its own number: cells number the values that they have, and the promise is kept."""
    if in_turn:
        monkeypatch.setattr(free, "_MOST_QUOTAS", 0)
    draw = np.random.default_rng(seed)
    frame = pl.DataFrame({"age": draw.integers(20, 60, 1500), "pay": np.round(draw.uniform(0, 2000, 1500), 2)})
    made = la.publish(frame, qi=["age"], sensitive="pay", model=model, algorithm="groups:effort=fast", seed=1)
    assert made.audit.passed
    assert made.losses["gcp"] < 0.2
    if "band" in model:
        release = made.release
        pay = release.domains.sensitive[0].values[release.sensitive[:, 0]]
        for group in np.unique(release.group_of_row):
            own = np.sort(pay[release.group_of_row == group])
            for begin in own:
                inside = np.count_nonzero((own >= begin) & (np.round(own - begin, 2) <= 40))
                assert 3 * inside <= len(own)
