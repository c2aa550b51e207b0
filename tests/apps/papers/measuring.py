"""What tests of experiments share: a tiny bench on stand-ins, and results made up by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice

from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Experiment, Results, Row, Size

TINY = Size("tiny", rows=400, most_rows=800, repetitions=1, queries=60)


@lru_cache(maxsize=1)
def stand_ins() -> Datasets:
    return Datasets()


def measured(experiment: Experiment, most: int | None = None) -> list[Row]:
    """What an experiment measures in tiny size; at most so many rows."""
    rows: Iterator[Row] = experiment.measure(Bench(stand_ins(), TINY))
    return list(islice(rows, most))


def has_figures(experiment: Experiment, rows: Sequence[Row]) -> None:
    """Every row tells where it belongs, every number is finite, and every figure has something to show."""
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


def altered(results: Results, series: str, y: str, change: Callable[[float, int], float]) -> Results:
    """The same with one series' figure changed, by the value and the number of the point."""
    rows, place = [], 0
    for row in results.rows:
        if row["series"] == series and y in row:
            row, place = {**row, y: change(row[y], place)}, place + 1
        rows.append(row)
    assert place
    return Results(tuple(rows))


def shown(experiment: Experiment, results: Results) -> dict[str, bool]:
    return {shape.claim: bool(shape.test(results)) for shape in experiment.shapes}


def missing(experiment: Experiment, results: Results) -> list[str]:
    """Claims that these results do not show."""
    return [claim for claim, holds in shown(experiment, results).items() if not holds]
