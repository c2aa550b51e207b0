"""What to pick today: experiments of no paper, which judge nothing and say how promises differ."""

from __future__ import annotations

from lookalike.apps.papers import PAPERS, find, today
from tests.apps.papers.measuring import is_planned, measured, planned


def test_they_belong_to_no_paper_and_judge_nothing() -> None:
    assert find(["today"]) == list(today.EXPERIMENTS)
    for experiment in today.EXPERIMENTS:
        assert experiment.paper not in {paper.letters for paper in PAPERS}
        assert experiment.claims == ()
        assert experiment.title
        assert experiment.setting
        assert experiment.differs


def test_both_are_measured_beside_the_original_and_a_blind_guess() -> None:
    for experiment in today.EXPERIMENTS:
        points = planned(experiment)
        x = experiment.figures[0].x
        assert len({point[x] for point in points}) == 3
        for at in {point[x] for point in points}:
            series = [point["series"] for point in points if point[x] == at]
            assert series[0] == "groups"
            assert series[-2:] == ["original", "most frequent value"]


def test_a_release_is_queried_learned_from_and_attacked() -> None:
    by_l = today.EXPERIMENTS[1]
    (row, *_) = rows = measured(by_l, most=2)
    is_planned(by_l, rows)
    assert row["series"] == "groups"
    assert row["largest_share"] <= 50
    assert 0 < row["gcp"] < 1
    assert all(0 <= row[name] <= 100 for name in ("prediction", "naive_bayes"))
    assert {figure.y for figure in by_l.figures} <= set(row)
