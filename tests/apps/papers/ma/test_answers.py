"""Figure 5 of MA: what is measured on a tiny table, and that each claim can hold and can fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lookalike.apps.papers.experiments import Bench, Results
from lookalike.apps.papers.journal import Row
from lookalike.apps.papers.ma.answers import ANSWERS, CLAIMS
from lookalike.apps.papers.ma.data import BOTH, CRAFT, POSITIVES, READINGS, TECH, table
from lookalike.apps.papers.ma.queries import ABOVE, ANATOMY, BASE, BELOW, POINTS, Asked, Releases, all_pairs, name
from tests.apps.papers.measuring import TINY, stand_ins

FACTORS = {
    "RGG": 0.7, "SG": 0.8, "RGG(Ana)": 0.5, "SG(Ana)": 0.6, "GG(el)": 0.9, "RGG generalised": 1.5, "SG generalised": 1.6
}  # fmt: skip
SIZES = {"RGG": 10.0, "SG": 12.0, "RGG(Ana)": 6.1, "SG(Ana)": 8.0}
SAYS = [claim.says for claim in CLAIMS]


def factor(series: str) -> float:
    return {BASE: 1.0, ANATOMY: 0.8}.get(series) or FACTORS[series.partition(", ")[0]]


def holding() -> Results:
    """Figures as the paper reports them."""
    rows: list[Row] = [{"of": "release", "series": ANATOMY, "repetition": 0, "group_size": 6.0, "risk": 1.0}]
    for value in READINGS:
        for method, size in SIZES.items():
            row: Row = {"of": "release", "series": name(method, value), "repetition": 0, "group_size": size}
            if value in POSITIVES and method != "SG(Ana)":
                row["risk"] = 1.05 if method == "SG" else 1.0
            rows.append(row)
    both_kinds = [BASE, ANATOMY, *(name(method, value) for value in READINGS for method in ("RGG", "RGG(Ana)"))]
    for axis, points in POINTS.items():
        for place, point in enumerate(points):
            falling = 100 - 8 * place
            for series, lows in all_pairs().items():
                row = {
                    axis: point,
                    "series": series,
                    "repetition": 0,
                    "count": falling,
                    "error": falling * factor(series),
                }
                for low in lows:
                    row[f"gap to {low}"] = falling * (factor(low) - factor(series))
                    row[f"noise to {low}"] = 0.1
                if series == ANATOMY or series.startswith("RGG(Ana)"):
                    row["whole_groups"] = 50 if series == ANATOMY else 70
                rows.append(row)
            for kind in (ABOVE, BELOW):
                for series in both_kinds:
                    half = 1.0 if series == BASE else 0.9 if series == ANATOMY else 0.45
                    rows.append(
                        {
                            axis: point,
                            "series": f"{series}, {kind}",
                            "repetition": 0,
                            "correlated_error": falling * half,
                        }
                    )
    return Results(tuple(rows))


def verdicts(results: Results) -> list[bool | None]:
    return [claim.test(results).holds for claim in CLAIMS if claim.test is not None]


def changed(change: Callable[[Row], Row]) -> Results:
    return Results(tuple(change(dict(row)) for row in holding().rows))


def with_gap(low: str, high: str, gap: float) -> Callable[[Row], Row]:
    """The change that sets the gap between two methods, for every reading."""

    def change(row: Row) -> Row:
        for value in READINGS:
            one, other = (each if each in (BASE, ANATOMY) else name(each, value) for each in (low, high))
            if row["series"] == other and f"gap to {one}" in row:
                row[f"gap to {one}"] = gap
        return row

    return change


def with_figure(y: str, new: Callable[[float], float], *starts: str) -> Callable[[Row], Row]:
    """The change of a figure in all series that start so."""

    def change(row: Row) -> Row:
        if y in row and row["series"].startswith(starts):
            row[y] = new(row[y])
        return row

    return change


def test_what_the_paper_reports_satisfies_every_claim() -> None:
    assert verdicts(holding()) == [True] * len(CLAIMS)


@pytest.mark.parametrize(
    ("change", "claims"),
    [
        (with_gap("RGG", "SG", 1.0), [0]),
        (with_gap("RGG", BASE, 1.0), [1]),
        (with_gap("RGG(Ana)", "SG(Ana)", 1.0), [2]),
        (with_gap("RGG(Ana)", ANATOMY, 1.0), [3]),
        (with_gap(ANATOMY, BASE, 1.0), [7]),
        (with_gap("RGG(Ana)", "RGG", 1.0), [7]),
        (with_gap("RGG", "GG(el)", 1.0), [13]),
        (with_gap("SG", "SG generalised", 1.0), [19]),
        (with_figure("count", lambda count: 200 - count, BASE), [6]),
        (with_figure("error", lambda error: 0.95 * error, "RGG, ", "SG, "), []),
        (with_figure("error", lambda error: 0.75 * error, "RGG, "), [8]),
        (with_figure("error", lambda error: 1.5 * error, "SG(Ana)"), [8, 17]),
        (with_figure("group_size", lambda size: 9.0, "SG, "), [9]),
        (with_figure("group_size", lambda size: 1.3 * size, "RGG, ", "SG, "), [10]),
        (with_figure("group_size", lambda size: 12.5, "SG(Ana)"), [11, 12]),
        (with_figure("group_size", lambda size: 10, "SG(Ana)"), [11]),
        (with_figure("group_size", lambda size: 6.05, "SG(Ana)"), [11]),
        (with_figure("correlated_error", lambda error: 1.6 * error, "RGG, ", "RGG(Ana)"), [16]),
        (with_figure("risk", lambda risk: 1.5, "RGG, "), [18]),
        (with_figure("risk", lambda risk: 1.2, "SG, "), [18]),
        (with_figure("risk", lambda risk: 2.8, "RGG, "), [18, 21]),
        (with_figure("risk", lambda risk: 2.8, "RGG(Ana)"), [21]),
        (with_figure("whole_groups", lambda share: 40, "RGG(Ana)"), [20]),
    ],
)
def test_a_claim_fails_where_the_figures_do(change: Callable[[Row], Row], claims: list[int]) -> None:
    found = verdicts(changed(change))
    assert [SAYS[place] for place, holds in enumerate(found) if not holds] == [SAYS[claim] for claim in claims]
    assert all(found[claim] is False for claim in claims)


@pytest.mark.parametrize(("axis", "y", "claim"), [("qd", "error", 4), ("sel", "error", 5)])
def test_errors_that_rise_are_seen(axis: str, y: str, claim: int) -> None:
    def change(row: Row) -> Row:
        if axis in row and y in row:
            row[y] = 10 + row[axis]
        return row

    assert verdicts(changed(change))[claim] is False


@pytest.mark.parametrize(("axis", "claim"), [("qd", 14), ("sel", 15)])
def test_errors_of_correlated_queries_that_rise_are_seen(axis: str, claim: int) -> None:
    def change(row: Row) -> Row:
        if axis in row and "correlated_error" in row:
            row["correlated_error"] = 10 + row[axis]
        return row

    found = verdicts(changed(change))
    assert found[claim] is False
    assert found[14 + 15 - claim] is True


def test_readings_that_disagree_and_gaps_within_noise_leave_a_claim_open() -> None:
    def one(row: Row) -> Row:
        if row["series"] == name("SG", TECH):
            row[f"gap to {name('RGG', TECH)}"] = 1.0
        return row

    claim = CLAIMS[0]
    assert claim.test is not None
    found = claim.test(changed(one))
    assert found.holds is None
    assert f"{TECH}: fails" in found.evidence
    assert f"{CRAFT}: holds" in found.evidence
    assert verdicts(changed(with_gap("RGG", BASE, -0.1)))[1] is None


def test_it_measures_the_points_that_it_plans() -> None:
    """The releases, and the first point with all of its series."""
    n_rows = 13 + len(all_pairs()) + 16
    rows = [row for _, row in zip(range(n_rows), ANSWERS.measure(Bench(stand_ins(), TINY)), strict=False)]
    bench = Bench(stand_ins(), TINY, is_planning=True)
    points = [row for _, row in zip(range(n_rows), ANSWERS.measure(bench), strict=False)]
    assert [{key: row[key] for key in point} for point, row in zip(points, rows, strict=True)] == points
    known = [row for row in rows if "infeasible" not in row]
    assert len(known) > n_rows // 2
    assert all(row["error"] > 0 for row in known if "error" in row)
    halved = [row for row in known if row["series"] in (name("SG", TECH), name("SG", CRAFT)) and "risk" in row]
    assert halved
    assert all(row["risk"] <= 6 / 5.5 + 1e-9 for row in halved)


def test_correlated_queries_are_the_furthest_from_independence() -> None:
    bench = Bench(stand_ins(), TINY)
    asked = Asked(Releases(bench, table(bench), 0), "qd", 2)
    assert asked.errors(BASE)[asked.correlated(ABOVE)].max() <= 100
    assert len(asked.correlated(BELOW)) == TINY.queries // 10
    above, below = (asked.drawn.truth[asked.correlated(kind)].mean() for kind in (ABOVE, BELOW))
    assert above > 0
    assert below > 0
    assert 0 <= asked.whole_groups(name("RGG(Ana)", BOTH)) <= 1
