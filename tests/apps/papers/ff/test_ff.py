"""Experiments of FF: what they measure in tiny size, and that each claim can hold and can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookalike.apps.papers import ff
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results
from lookalike.apps.papers.ff.losses import (
    EARLIER,
    EXTRA,
    GROUPS,
    KS,
    LOSSES,
    MATCHED,
    MIP,
    MONDRIAN,
    ONE_RING,
    RING,
    RING_PARTS,
    RINGS,
    lose_as_groups,
    sampling,
)
from lookalike.apps.papers.ff.times import IN_PARTS, MATCHERS, PARTS, TIMES, WHOLE, exponents
from lookalike.apps.papers.ff.times import ONE_RING as WHOLE_RING
from tests.apps.papers.measuring import (
    TINY,
    altered,
    is_complete,
    is_planned,
    made_up,
    measured,
    missing,
    repeated,
    shown,
    stand_ins,
    tells_its_story,
)
from tests.apps.papers.test_run import write_census

LOSS = {
    "Greedy": [0.11, 0.21],
    "SortGreedy": [0.1, 0.2],
    "Hungarian": [0.09, 0.19],
    MONDRIAN: [0.15, 0.3],
    RING: [0.14, 0.3],
}
SMALL = {"Greedy": [0.085, 0.19], "SortGreedy": [0.082, 0.185], "Hungarian": [0.08, 0.18], MIP: [0.08, 0.18]}


@pytest.mark.parametrize("experiment", ff.EXPERIMENTS, ids=lambda experiment: experiment.name)
def test_claims_are_complete(experiment: Experiment) -> None:
    is_complete(experiment)


def test_the_paper_tells_its_story() -> None:
    tells_its_story(ff.PAPER)


def test_losses_by_k_are_measured() -> None:
    methods = {**MATCHED, **EARLIER, **EXTRA}
    rows = measured(LOSSES, most=len(KS) * len(methods) + len(methods))
    is_planned(LOSSES, rows)
    for series in methods:
        losses = [row["census_gcp"] for row in rows if row["series"] == series and "k" in row]
        assert losses == sorted(losses)
        assert 0 < losses[0] < losses[-1] <= 1
    assert {row["rows"] for row in rows if "rows" in row} == {8}
    assert all(row["reached_k"] >= row.get("k", 3) for row in rows)


def test_the_optimum_of_a_few_records_is_the_least() -> None:
    bench = Bench(stand_ins(), TINY)
    data = sampling(bench)("census", 6, 0)
    optimum, *others = (
        bench.publish(data, "k-anonymity:2", algorithm, 0).metric("gcp")
        for algorithm in ("freeform:matcher=exact", *MATCHED.values())
    )
    assert all(optimum <= loss + 1e-4 for loss in others)


@pytest.mark.parametrize(("experiment", "most"), [(RING_PARTS, 6), (TIMES, 4), (PARTS, 4)])
def test_they_measure_what_they_plan(experiment: Experiment, most: int) -> None:
    rows = measured(experiment, most)
    is_planned(experiment, rows)
    assert not any("infeasible" in row for row in rows)


def test_samples_depend_on_repetition_and_seed_alone() -> None:
    first, again, other = (sampling(Bench(stand_ins(), TINY, seed))("census", 50, 0).quasi for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    assert (first != sampling(Bench(stand_ins(), TINY))("census", 50, 1).quasi).any()


def test_adult_is_measured_where_it_can_be_had(tmp_path: Path) -> None:
    record = "{}, {}, 7, HS, {}, Divorced, Job, Wife, White, Female, 0, 0, 40, {}, <=50K"
    lines = [
        record.format(20 + row % 50, f"class {row % 4}", 1 + row % 16, "Cuba" if row % 3 else "Peru")
        for row in range(1200)
    ]
    (tmp_path / "adult.data").write_text("\n".join(lines) + "\n")
    (tmp_path / "adult.test").write_text("\n")
    write_census(tmp_path, 600)
    bench = Bench(Datasets(tmp_path), TINY, is_planning=True)
    assert {row["table"] for row in RING_PARTS.measure(bench)} == {"census", "adult"}
    assert sampling(bench)("adult", 30, 0).n_rows == 30
    rows = list(RING_PARTS.measure(Bench(Datasets(tmp_path), TINY)))
    assert all(0 < row["adult_gcp"] <= 1 for row in rows if row["table"] == "adult")


def test_without_adult_census_is_measured(tmp_path: Path) -> None:
    write_census(tmp_path, 600)
    datasets = Datasets(tmp_path)
    tables = {row["table"] for row in RING_PARTS.measure(Bench(datasets, TINY, is_planning=True))}
    assert tables == ({"census", "adult"} if datasets.has_adult() else {"census"})


def test_groups_of_parts_lose_less_in_smaller_parts() -> None:
    data = sampling(Bench(stand_ins(), TINY))("census", 200, 0)
    small, large, whole = (lose_as_groups(data, least, 0) for least in (5, 40, 200))
    assert 0 < small < large < whole <= 1


def _losses() -> Results:
    tables = ("census", "adult")
    return Results(
        (
            *made_up("k", (2, 3), {f"{table}_gcp": LOSS for table in tables}).rows,
            *made_up("rows", (8, 100), {f"{table}_gcp": LOSS for table in tables}).rows,
            *made_up("small_k", (2, 3), {f"{table}_gcp": SMALL for table in tables}).rows,
        )
    )


def test_claims_about_losses() -> None:
    groups, rings, most, optimum, order = (claim.says for claim in LOSSES.claims)
    holding = _losses()
    assert missing(LOSSES, holding) == []
    assert missing(LOSSES, altered(holding, MONDRIAN, "adult_gcp", lambda loss, _: 0.77 * loss)) == [groups]
    assert missing(LOSSES, altered(holding, RING, "census_gcp", lambda loss, _: 0.75 * loss)) == [rings]
    far = altered(holding, RING, "census_gcp", lambda loss, _: 2 * loss)
    assert missing(LOSSES, far) == [most]
    near = altered(holding, MIP, "adult_gcp", lambda loss, _: 0.9 * loss)
    assert missing(LOSSES, near) == [optimum]
    turned = altered(holding, "SortGreedy", "adult_gcp", lambda loss, place: loss if place >= 4 else loss - 0.015)
    assert missing(LOSSES, turned) == [order]
    assert all(holds is None for holds in shown(LOSSES, Results(())).values())


def test_a_largest_gain_is_tested_on_both_sides() -> None:
    says = LOSSES.claims[2].says
    small = altered(altered(_losses(), "Hungarian", "census_gcp", lambda loss, _: 1.1 * loss), RING, "census_gcp", max)
    for series in ("Greedy", "SortGreedy", "Hungarian"):
        for table in ("census", "adult"):
            small = altered(small, series, f"{table}_gcp", lambda loss, place: 0.14 if place % 2 == 0 else 0.29)
    assert says in missing(LOSSES, small)


def test_adult_may_be_missing() -> None:
    rows = tuple({name: value for name, value in row.items() if name != "adult_gcp"} for row in _losses().rows)
    assert missing(LOSSES, Results(tuple(row for row in rows if "census_gcp" in row))) == []


def test_claims_about_parts_and_rings() -> None:
    losses = {ONE_RING: [0.3, 0.4], RINGS: [0.1, 0.2], GROUPS: [0.15, 0.25]}
    holding = made_up("ring_k", (2, 5), {"census_gcp": losses, "adult_gcp": losses})
    assert missing(RING_PARTS, holding) == []
    assert missing(RING_PARTS, altered(holding, GROUPS, "adult_gcp", lambda *_: 0.5)) == [RING_PARTS.claims[0].says]


def _times(power: float = 2.0) -> Results:
    by_rows = {series: [0.1 * 2 ** (power * step) for step in range(3)] for series in (*MATCHERS, RING)}
    by_k = {series: [0.1, 0.2, 0.4] for series in MATCHERS}
    return repeated(
        Results(
            (
                *made_up("rows", (100, 200, 400), {"seconds": by_rows}).rows,
                *made_up("k", (5, 10, 20), {"seconds": by_k}).rows,
                *made_up("few", (6, 8, 10), {"seconds": {MIP: [0.1, 0.5, 2.0]}}).rows,
            )
        ),
        0.99,
        1.0,
        1.01,
    )


def test_exponents_are_read_from_times() -> None:
    assert exponents(_times(1.5), "rows", "Greedy") == pytest.approx([1.5] * 3)
    assert exponents(_times(), "k", "Hungarian") == pytest.approx([1.0] * 3)
    assert exponents(_times(), "rows", "absent") == []


def test_claims_about_times() -> None:
    mip, orders, no_worse = (claim.says for claim in TIMES.claims)
    assert missing(TIMES, _times()) == []
    assert missing(TIMES, altered(_times(), MIP, "seconds", lambda *_: 0.1)) == [mip]
    assert missing(TIMES, _times(2.5)) == [orders]
    steeper = altered(_times(), RING, "seconds", lambda _, place: 0.1 * 2 ** (place % 3))
    assert missing(TIMES, steeper) == [no_worse]
    slow = altered(_times(), "Hungarian", "seconds", lambda seconds, place: 0.1 * 2 ** (3.5 * (place % 3)))
    assert orders in missing(TIMES, slow)


def test_claims_about_parts() -> None:
    series = [*IN_PARTS, WHOLE, WHOLE_RING]
    times = repeated(
        made_up("rows", (500, 1000), {"seconds": {one: [1.0 + row, 2.0 + row] for row, one in enumerate(series)}}),
        0.99,
        1.01,
    )
    losses = made_up("rows", (500, 1000), {"gcp": {one: [0.1, 0.1] for one in series}})
    holding = Results((*times.rows, *losses.rows))
    (says,) = (claim.says for claim in PARTS.claims)
    assert missing(PARTS, holding) == []
    assert missing(PARTS, altered(holding, WHOLE_RING, "seconds", lambda *_: 0.5)) == [says]
    assert missing(PARTS, altered(holding, WHOLE_RING, "gcp", lambda *_: 0.05)) == [says]
