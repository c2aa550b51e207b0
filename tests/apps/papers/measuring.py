"""What tests of experiments share: a tiny bench on invented records, and results made up by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from lookalike.apps.papers.claims import Verdict
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Paper, Results, Row, Size

TINY = Size("tiny", rows=400, most_rows=800, repetitions=1, queries=60)


@lru_cache(maxsize=1)
def stand_ins() -> Datasets:
    return Datasets()


def measured(experiment: Experiment, most: int | None = None) -> list[Row]:
    """What an experiment measures in tiny size; at most so many rows."""
    rows: Iterator[Row] = experiment.measure(Bench(stand_ins(), TINY))
    return list(islice(rows, most))


def planned(experiment: Experiment, most: int | None = None) -> list[Row]:
    """The points of an experiment in tiny size, of which nothing is measured."""
    rows: Iterator[Row] = experiment.measure(Bench(stand_ins(), TINY, is_planning=True))
    return list(islice(rows, most))


def is_planned(experiment: Experiment, rows: Sequence[Row]) -> None:
    """Planning names the points that were measured, in the same order."""
    points = planned(experiment, len(rows))
    assert len(points) == len(rows)
    for point, row in zip(points, rows, strict=True):
        assert point == {name: row[name] for name in point}


def has_figures(experiment: Experiment, rows: Sequence[Row]) -> None:
    """Every row says where it belongs, every number is finite, and every figure has something to show."""
    assert rows
    for row in rows:
        assert row["series"]
        assert row["repetition"] == 0
        assert all(math.isfinite(number) for number in row.values() if isinstance(number, int | float))
    for figure in experiment.figures:
        assert any(figure.x in row and row.get(figure.y) is not None for row in rows)


def made_up(x: str, points: Sequence[float], figures: Mapping[str, Mapping[str, Sequence[float]]]) -> Results:
    """Results from figures by name, each with the values of every series at every point."""
    rows: list[Row] = []
    for y, by_series in figures.items():
        for series, values in by_series.items():
            for point, value in zip(points, values, strict=True):
                rows.append({x: point, "series": series, "repetition": 0, y: value})
    return Results(tuple(rows))


def repeated(results: Results, *factors: float, y: str = "seconds") -> Results:
    """The same several times over, a figure multiplied by each of some factors: what intervals are made of."""
    rows = [
        {**row, "repetition": repetition, **({y: factor * row[y]} if y in row else {})}
        for repetition, factor in enumerate(factors)
        for row in results.rows
    ]
    return Results(tuple(rows))


def altered(results: Results, series: str, y: str, change: Callable[[float, int], float]) -> Results:
    """The same with one series' figure changed, by the value and the number of the point."""
    rows, place = [], 0
    for row in results.rows:
        if row["series"] == series and y in row:
            row, place = {**row, y: change(row[y], place)}, place + 1
        rows.append(row)
    assert place
    return Results(tuple(rows))


def shown(experiment: Experiment, results: Results) -> dict[str, bool | None]:
    """Each claim with a test, by what it says: whether it holds (None: undecided)."""
    return {claim.says: claim.test(results).holds for claim in experiment.claims if claim.test is not None}


def missing(experiment: Experiment, results: Results) -> list[str]:
    """Claims that these results do not show: refuted or undecided."""
    return [says for says, holds in shown(experiment, results).items() if not holds]


def is_complete(experiment: Experiment) -> None:
    """Every claim says where it stands and what, no claim occurs twice, and each failure would have its reason."""
    assert experiment.claims or "judges no claim" in experiment.differs
    assert len({(claim.where, claim.says) for claim in experiment.claims}) == len(experiment.claims)
    for claim in experiment.claims:
        assert claim.where
        assert claim.says
        assert claim.why, claim.says
        assert claim.fails in (Verdict.NO_DATA, Verdict.AGAINST, Verdict.OPEN)
        assert claim.test is None or claim.judged == claim.judged.strip()
    assert experiment.title
    assert experiment.setting


def tells_its_story(paper: Paper) -> None:
    """A paper has every part of its story, each short, and a reason for everything open or not counted."""
    for part in (paper.claimed, paper.holds, paper.fails, paper.instead):
        assert 5 <= len(part.split()) <= 70, part
    for claim in paper.claims:
        assert claim.test is None
        assert claim.where
        assert claim.says
        assert claim.why
    for statement in paper.statements:
        assert statement.where
        assert statement.says
        assert statement.because
