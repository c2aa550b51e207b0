"""Finds experiments by name, runs them, judges claims and writes results.

For each experiment there are `NAME.csv` (all measurements), `NAME.json` (claims with verdicts and evidence) and a
picture per figure; `NAME.points` has what was measured so far, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.apps.papers import bl, ff, gb, hg, ma, today
from lookalike.apps.papers.claims import Judged, judge
from lookalike.apps.papers.datasets import Datasets, Source
from lookalike.apps.papers.experiments import FULL, QUICK, Bench, Experiment, Figure, Paper, Results
from lookalike.apps.papers.journal import Journal, Row
from lookalike.errors import DataError, RecipeError, unknown_name
from lookalike.evaluation import charts
from lookalike.progress import Progress, silent
from lookalike.version import __version__

PAPERS: tuple[Paper, ...] = (bl.PAPER, gb.PAPER, ma.PAPER, hg.PAPER, ff.PAPER)
EXPERIMENTS: tuple[Experiment, ...] = (
    *bl.EXPERIMENTS,
    *gb.EXPERIMENTS,
    *ma.EXPERIMENTS,
    *hg.EXPERIMENTS,
    *ff.EXPERIMENTS,
    *today.EXPERIMENTS,
)
_SETTINGS = "run.json"
AGAIN = "seed-1"
"""A folder inside of results: some of the experiments, measured once more with `--seed 1`."""


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
    """The results of an experiment."""

    experiment: Experiment
    results: Results
    sources: tuple[Source, ...]
    """Where its records came from."""
    size: str
    judged: tuple[Judged, ...]

    @property
    def data(self) -> str:
        return "; ".join(source.text for source in self.sources)

    def to_plain(self) -> dict[str, Any]:
        """What was measured, on what, and the verdict on each claim."""
        made = self.experiment
        return {
            "experiment": list(made.names),
            "title": made.title,
            "data": self.data,
            "invented": any(source.invented for source in self.sources),
            "stands_in": any(source.stands_in for source in self.sources),
            "size": self.size,
            "claims": [
                {
                    "where": one.claim.where,
                    "says": one.claim.says,
                    "judged": one.claim.judged,
                    "verdict": str(one.verdict),
                    "evidence": one.evidence,
                    "reason": one.reason,
                }
                for one in self.judged
            ],
            "infeasible": self.results.infeasible,
        }

    def __str__(self) -> str:
        lines = [f"{', '.join(self.experiment.names)}: {self.experiment.title} ({self.data}; {self.size} size)"]
        lines += [f"  {one.verdict}: {one.claim.says}" for one in self.judged]
        return "\n".join(lines)


def reproduce(
    names: Iterable[str],
    *,
    data: str | Path | None = None,
    full: bool = False,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress = silent,
) -> list[Reproduced]:
    """Run experiments; with `out`, points are kept as they are measured and a stopped run goes on from there."""
    folder = None if data is None else Path(data)
    if folder is not None and not folder.is_dir():
        raise DataError(f"{folder} is no folder. Name the one with census*.csv, or leave out --data for invented data.")
    chosen = find(names)
    bench = Bench(Datasets(folder), FULL if full else QUICK, seed)
    target = None if out is None else _open(Path(out), bench)
    clock = _Clock(bench, chosen)
    done = []
    for experiment in chosen:
        bench.journal = Journal(None if target is None else target / f"{experiment.name}.points")
        bench.datasets.used.clear()
        rows: list[Row] = []
        for row in experiment.measure(bench):
            rows.append(row)
            progress(experiment.name, *clock.tick(experiment, row))
        done.append(_conclude(experiment, Results(tuple(rows)), tuple(bench.datasets.used.values()), bench.size.name))
        if target is not None:
            _write(done[-1], target)
    progress("experiments", 1.0)
    return done


def judge_again(folder: Path) -> list[Reproduced]:
    """Judge what an earlier run measured by the claims as they are now: verdicts and pictures are written anew.

    What was measured once more with another seed, in the folder `seed-1` inside, is judged with it.
    """
    done = []
    for experiment in EXPERIMENTS:
        points, told = folder / f"{experiment.name}.points", folder / f"{experiment.name}.json"
        if points.exists() and told.exists():
            was = json.loads(told.read_text(encoding="utf-8"))
            texts = was["data"].split("; ") if was["data"] else []
            sources = tuple(Source(text, was["invented"], was["stands_in"]) for text in texts)
            second = folder / AGAIN / points.name
            again = Results(tuple(Journal(second).rows)) if second.exists() else None
            done.append(_conclude(experiment, Results(tuple(Journal(points).rows)), sources, was["size"], again))
            _write(done[-1], folder)
    return done


def _conclude(
    experiment: Experiment, results: Results, sources: tuple[Source, ...], size: str, again: Results | None = None
) -> Reproduced:
    """What the measurements of an experiment say about its claims."""
    invented = any(source.invented for source in sources)
    other = "Measured on other records than the paper's." if any(source.stands_in for source in sources) else ""
    limits = " ".join(filter(None, (other, experiment.limits)))
    judged = tuple(judge(claim, results, limits, invented=invented, again=again) for claim in experiment.claims)
    return Reproduced(experiment, results, sources, size, judged)


class _Clock:
    """How far a run is, and how long it takes yet: by what points of the same series took so far."""

    def __init__(self, bench: Bench, chosen: Sequence[Experiment]) -> None:
        bench.is_planning = True
        self._left = {one.name: [row["series"] for row in one.measure(bench)] for one in chosen}
        bench.is_planning = False
        self._n_points = sum(map(len, self._left.values()))
        self._taken: dict[tuple[str, str], list[float]] = {}
        self._last = time.perf_counter()

    def tick(self, experiment: Experiment, row: Row) -> tuple[float, str]:
        """The share that is done once this row is, and what is left, in words."""
        now = time.perf_counter()
        self._taken.setdefault((experiment.name, row["series"]), []).append(now - self._last)
        self._last = now
        left = self._left[experiment.name]
        if row["series"] in left:
            left.remove(row["series"])
        n_left = sum(map(len, self._left.values()))
        said = f"{self._n_points - n_left} of {self._n_points} points, {_format_minutes(self._estimate())} left"
        return 1 - n_left / max(1, self._n_points), said

    def _estimate(self) -> float:
        """Seconds for the points that are left; those of series that were not met take as long as others do."""
        everything = [seconds for some in self._taken.values() for seconds in some]
        usual = sum(everything) / len(everything)
        total = 0.0
        for name, many in self._left.items():
            for series in many:
                known = self._taken.get((name, series))
                total += sum(known) / len(known) if known else usual
        return total


def _format_minutes(seconds: float) -> str:
    """A time in words.

    >>> _format_minutes(20), _format_minutes(100), _format_minutes(9000)
    ('less than a minute', 'about 2 min', 'about 2 h 30 min')
    """
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    return f"about {minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"about {minutes} min"


def _open(target: Path, bench: Bench) -> Path:
    """A folder for results: new, or that of a run with the same settings, which goes on."""
    if target.exists() and not target.is_dir():
        raise DataError(f"{target} is a file. Name a folder for results and figures.")
    target.mkdir(parents=True, exist_ok=True)
    folder = bench.datasets.folder
    files = [] if folder is None else sorted(path.name for path in folder.iterdir() if path.is_file())
    settings = {"size": bench.size.name, "seed": bench.seed, "data": files, "version": __version__}
    told = target / _SETTINGS
    if told.exists() and json.loads(told.read_text(encoding="utf-8")) != settings:
        raise DataError(
            f"{target} has results of another run ({told.name} says which: size, seed, data, version). Name another "
            "folder with --out."
        )
    told.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
    return target


def _write(one: Reproduced, folder: Path) -> None:
    """Measurements as CSV, verdicts as JSON, a picture for each figure."""
    names = list(dict.fromkeys(name for row in one.results.rows for name in row))
    with (folder / f"{one.experiment.name}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(one.results.rows)
    plain = {
        **one.to_plain(),
        "setting": one.experiment.setting,
        "differs": one.experiment.differs,
        "repetitions": 1 + max((int(row["repetition"]) for row in one.results.rows), default=0),
    }
    (folder / f"{one.experiment.name}.json").write_text(json.dumps(plain, indent=2) + "\n", encoding="utf-8")
    for figure in one.experiment.figures:
        charts.write_svg(draw_figure(figure, one), folder / f"{figure.name}.svg")


def draw_figure(figure: Figure, one: Reproduced) -> charts.Chart:
    """Means over repetitions, with the least and the greatest of them; numbers that the paper prints as points."""
    rows = [
        {"series": series, figure.x: at, figure.y: sum(values) / len(values), "low": min(values), "high": max(values)}
        for series in one.results.series
        for at, values in one.results.values(figure.x, figure.y, series).items()
    ]
    points = [{"series": f"{each.series} (printed)", figure.x: each.x, figure.y: each.y} for each in figure.printed]
    return charts.lines(
        rows,
        figure.x,
        figure.y,
        "series",
        points=points,
        title=_title_of(figure, one.experiment),
        x_title=figure.x_title,
        y_title=figure.y_title,
        log_x=figure.log_x,
        log_y=figure.log_y,
        low="low",
        high="high",
        whole_x=all(float(row[figure.x]).is_integer() for row in [*rows, *points]),
    )


def _title_of(figure: Figure, experiment: Experiment) -> str:
    """With the number that the figure has in the paper, if it has one."""
    paper, _, number = figure.name.partition("-")
    if number[:1].isdigit():
        return f"{paper.upper()}, figure {number.replace('-', ', ')}: {experiment.title}"
    return f"{experiment.title[0].upper()}{experiment.title[1:]}"
