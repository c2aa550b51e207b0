"""Finds experiments by name, runs them and writes, for each, `NAME.csv`, `NAME.json` (verdicts) and its pictures."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.apps.papers import bl, bl_queries, ff, gb, hg, hg_queries, ma
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import FULL, QUICK, Bench, Experiment, Figure, Results, Row
from lookalike.errors import DataError, RecipeError, unknown_name
from lookalike.evaluation import charts
from lookalike.progress import Progress, silent

EXPERIMENTS: tuple[Experiment, ...] = (
    *bl.EXPERIMENTS,
    *bl_queries.EXPERIMENTS,
    *gb.EXPERIMENTS,
    *ma.EXPERIMENTS,
    *hg.EXPERIMENTS,
    *hg_queries.EXPERIMENTS,
    *ff.EXPERIMENTS,
)


def find(names: Iterable[str]) -> list[Experiment]:
    """The experiments that show these figures; a paper's letters (hg) name all of its own, `all` every one."""
    known = {name: [experiment] for experiment in EXPERIMENTS for name in experiment.names}
    papers = sorted({experiment.paper.casefold() for experiment in EXPERIMENTS})
    many = {paper: [one for one in EXPERIMENTS if one.paper.casefold() == paper] for paper in papers}
    named = {**known, **many, "all": EXPERIMENTS}
    found: list[Experiment] = []
    for name in names:
        if name.casefold() not in named:
            raise RecipeError(unknown_name("experiment", name, list(named)))
        found += named[name.casefold()]
    return list(dict.fromkeys(found))


@dataclass(frozen=True)
class Reproduced:
    """What came of an experiment."""

    experiment: Experiment
    results: Results
    data: str
    """Where the records came from: a census extract, or a stand-in."""
    size: str
    verdicts: tuple[tuple[str, bool], ...]
    """Each claim, and whether it shows."""

    @property
    def holds(self) -> bool:
        return all(shown for _, shown in self.verdicts)

    def to_plain(self) -> dict[str, Any]:
        """What was measured, on what."""
        made = self.experiment
        return {"experiment": list(made.names), "title": made.title, "data": self.data, "size": self.size}

    def __str__(self) -> str:
        lines = [f"{', '.join(self.experiment.names)}: {self.experiment.title} ({self.data}, {self.size})"]
        lines += [f"  {'shows' if shown else 'DOES NOT SHOW'}: {claim}" for claim, shown in self.verdicts]
        return "\n".join(lines)


def reproduce(
    names: Iterable[str],
    *,
    data: str | Path | None = None,
    full: bool = False,
    out: str | Path | None = None,
    progress: Progress = silent,
) -> list[Reproduced]:
    """Run experiments; with `out`, write each one's results and pictures as soon as it is done."""
    folder = None if data is None else Path(data)
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder} is no folder. Name the one with census*.csv, or leave out --data for stand-ins.")
    chosen = find(names)
    target = None if out is None else Path(out)
    if target is not None:
        if target.exists() and not target.is_dir():
            raise DataError(f"{target} is a file. Name a folder for results and figures.")
        target.mkdir(parents=True, exist_ok=True)
    datasets = Datasets(folder)
    done = []
    bench = Bench(datasets, FULL if full else QUICK)
    for number, experiment in enumerate(chosen):
        rows: list[Row] = []
        for row in experiment.measure(bench):
            rows.append(row)
            progress(experiment.name, number / len(chosen), f"{len(rows)} measured")
        results = Results(tuple(rows))
        verdicts = tuple((shape.claim, bool(shape.test(results))) for shape in experiment.shapes)
        label = "stand-in" if experiment.stand_in else datasets.label
        done.append(Reproduced(experiment, results, label, bench.size.name, verdicts))
        if target is not None:
            _write(done[-1], target)
    progress("experiments", 1.0)
    return done


def _write(one: Reproduced, folder: Path) -> None:
    """Results as CSV, verdicts as JSON, a picture for each figure."""
    names = list(dict.fromkeys(name for row in one.results.rows for name in row))
    with (folder / f"{one.experiment.name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(one.results.rows)
    told = {
        **one.to_plain(),
        "setting": one.experiment.setting,
        "reports": one.experiment.reports,
        "differs": one.experiment.differs,
        "repetitions": 1 + max((int(row["repetition"]) for row in one.results.rows), default=0),
        "shows": dict(one.verdicts),
    }
    (folder / f"{one.experiment.name}.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    for figure in one.experiment.figures:
        charts.write_svg(draw_figure(figure, one), folder / f"{figure.name}.svg")


def draw_figure(figure: Figure, one: Reproduced) -> charts.Chart:
    """Means over repetitions, with the least and the greatest of them; what is 0 has no place on a logarithmic axis."""
    rows = [
        {"series": series, figure.x: at, figure.y: sum(values) / len(values), "low": min(values), "high": max(values)}
        for series in one.results.series
        for at, values in one.results.values(figure.x, figure.y, series).items()
    ]
    return charts.lines(
        rows,
        figure.x,
        figure.y,
        "series",
        title=f"{figure.name.upper()}: {one.experiment.title} ({one.data})",
        x_title=figure.x_title,
        y_title=figure.y_title,
        log_x=figure.log_x,
        log_y=figure.log_y,
        low="low",
        high="high",
    )
