"""`compare`: several promises and algorithms on one table, side by side, and what is worth a choice among them.

import lookalike as la
print(la.compare("patients.csv", qi=["age", "sex"], sensitive="diagnosis", models=["l-diversity:2,5,10"]))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lookalike.attacks import parse_attack
from lookalike.data.adversary import ADVERSARIES, READS_RELEASE
from lookalike.data.contracts import Algorithm, Attack
from lookalike.data.folding import fold_for, fold_texts, made_columns
from lookalike.data.microdata import Microdata, Table
from lookalike.data.person_columns import refuse_repeated
from lookalike.data.person_settings import APART, RANDOM, PersonSettings
from lookalike.data.schema import Schema
from lookalike.errors import RecipeError, counted, unknown_name
from lookalike.evaluation import charts
from lookalike.evaluation.compare import tables
from lookalike.evaluation.compare.folder import (
    FORMAT,
    KIND,
    PICTURE,
    SUMMARY,
    TABLE,
    Kept,
    run_fingerprint,
    table_fingerprint,
)
from lookalike.evaluation.compare.frontier import axis_of, check_axes, frontier, loss_axes, picture, risk_axes
from lookalike.evaluation.compare.processes import execute_all
from lookalike.evaluation.compare.runs import DONE, NOT_RUN, ModelsLike, Run, Task, plan
from lookalike.evaluation.plain import json_text
from lookalike.files.tables import read_columns
from lookalike.pipeline.arguments import explain_arguments
from lookalike.pipeline.recipe import Recipe, select_rows
from lookalike.pipeline.run import compile_kernels
from lookalike.progress import Progress, available_cores, silent
from lookalike.version import __version__

_NOT_EQUAL = (
    "Runs that promise different things, or against different adversaries, are not equal. Figures say what was reached "
    "on this table this time; only the promise holds by itself."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison:
    """Runs side by side, in the order in which they were asked for."""

    runs: tuple[Run, ...]
    made: frozenset[int]
    """Places of the runs that were made this time."""
    reused: frozenset[int]
    """Places of those that were in the folder already. What cannot be run is neither."""
    x: str
    y: str
    sensitive: tuple[str, ...]
    notes: tuple[str, ...]

    @cached_property
    def frontier(self) -> tuple[Run, ...]:
        """The runs that no other beats in both loss (x) and risk (y), from the least loss on."""
        return tuple(frontier(self.runs, loss_axes()[self.x], risk_axes()[self.y]))

    def to_plain(self) -> dict[str, Any]:
        best = self._find_best()
        return {
            "kind": KIND,
            "format": FORMAT,
            "version": __version__,
            "complete": all(run.status != NOT_RUN for run in self.runs),
            "x": self.x,
            "y": self.y,
            "made": len(self.made),
            "reused": len(self.reused),
            "runs": [
                {**run.to_plain(), "frontier": place in best, "reused": place in self.reused}
                for place, run in enumerate(self.runs)
            ],
            "notes": [*self.notes],
        }

    @classmethod
    def from_plain(cls, plain: dict[str, Any], sensitive: tuple[str, ...]) -> Comparison:
        """A comparison as it was; which of its runs were made when is not said."""
        return cls(
            runs=tuple(Run.from_plain(one) for one in plain["runs"]),
            made=frozenset(),
            reused=frozenset(place for place, one in enumerate(plain["runs"]) if one["reused"]),
            x=plain["x"],
            y=plain["y"],
            sensitive=sensitive,
            notes=tuple(plain["notes"]),
        )

    def to_csv(self) -> str:
        return tables.to_csv(self.runs, self._find_best())

    def headings(self) -> tuple[str, ...]:
        return tables.headings(tables.list_columns(self.runs, self.x, self.y))

    def rows(self) -> list[tuple[str, ...]]:
        """As text, one line per run; a star marks the frontier."""
        best, columns = self._find_best(), tables.list_columns(self.runs, self.x, self.y)
        return [tables.row(run, place in best, self.sensitive, columns) for place, run in enumerate(self.runs)]

    def remarks(self) -> list[str]:
        """What the table leaves open: why runs have no figures, and which have no place in the picture."""
        said = [f"{run.name}: {run.status}. {run.reason}".strip() for run in self.runs if run.status != DONE]
        if not any(self._is_placed(run) for run in self.runs):
            return [*said, f"No run has figures for both {self.x} and {self.y}.", _NOT_EQUAL]
        absent = [run.name for run in self.runs if run.status == DONE and not self._is_placed(run)]
        if absent:
            said.append(
                f"Left out of the frontier, as {self.x} or {self.y} says nothing about them: {'; '.join(absent)}."
            )
        attacks = {
            f"{name} was not made on {run.form} releases: {reason}"
            for run in self.runs
            for name, reason in run.not_made.items()
        }
        return [*said, *sorted(attacks), _NOT_EQUAL]

    def chart(self) -> charts.Chart | None:
        """The frontier as a chart (`evaluation.charts` draws it); None if no run has a place in it."""
        return picture(self.runs, self.x, self.y, self.sensitive)

    def _is_placed(self, run: Run) -> bool:
        return loss_axes()[self.x].of(run) is not None and risk_axes()[self.y].of(run) is not None

    def _find_best(self) -> set[int]:
        chosen = {id(run) for run in self.frontier}
        return {place for place, run in enumerate(self.runs) if id(run) in chosen}

    def __str__(self) -> str:
        lines = [self.headings(), *self.rows()]
        widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
        shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([*(line.rstrip() for line in shown), "", *self.remarks()])


@explain_arguments
def compare(
    table: Any,
    *,
    qi: str | Iterable[str] = (),
    sensitive: str | Iterable[str] = (),
    models: Iterable[ModelsLike],
    algorithms: Iterable[Algorithm | str] = (),
    attacks: Iterable[Attack | str] = ("naive-bayes",),
    schema: Schema | str | Path | None = None,
    numeric: str | Iterable[str] = (),
    categorical: str | Iterable[str] = (),
    coarsen: Mapping[str, Mapping[str, Any]] | None = None,
    carry: str | Iterable[str] = (),
    person: str | None = None,
    household: str | None = None,
    rows: str = APART,
    keep: str = RANDOM,
    contribution: int | None = None,
    order: str | None = None,
    fold: str | Iterable[str] = (),
    number_known: bool = True,
    rows_are_persons: bool = False,
    adversary: str = READS_RELEASE,
    x: str | None = None,
    y: str | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    folder: str | Path | None = None,
    progress: Progress = silent,
    **reading: Any,
) -> Comparison:
    """Publish a table in memory under every promise and by every algorithm, and hold the results side by side.

    An entry of `models` is an alternative: a model, its text (which may sweep parameters, as in `"l-diversity:2,5"`,
    and join promises, as in `"k-anonymity:5 + l-diversity:3"`), or a list of models that must hold together. Without
    `algorithms` the few that suit each promise are taken. With a `folder` every finished run is kept there, and runs
    that are there already, of the same table, recipe and version, are not made again. `x` and `y` name the loss and
    the risk that the frontier is drawn by. `jobs` processes work at once; no release is written. `person`, `household`
    and what follows them are as for `publish`; every run has the same rows of each person.
    """
    check_axes(x, y)
    if adversary not in ADVERSARIES:
        raise RecipeError(unknown_name("adversary", adversary, ADVERSARIES))
    if jobs is not None and jobs < 1:
        raise RecipeError(f"jobs is {jobs}. It must be 1 or more.")
    kept = Kept(folder)
    given = Schema.of(
        schema,
        qi=qi,
        sensitive=sensitive,
        carry=carry,
        numeric=numeric,
        categorical=categorical,
        coarsen=coarsen,
        person=person,
        household=household,
    )
    asked = PersonSettings(
        rows=rows,
        keep=keep,
        contribution=contribution,
        order=order,
        fold=fold_texts(fold),
        number_known=number_known,
        rows_are_persons=rows_are_persons,
    )
    named = [attacks] if isinstance(attacks, str) else attacks
    chosen = tuple(parse_attack(one) if isinstance(one, str) else one for one in named)
    read = read_columns(table, given, order=order, made=made_columns(asked.fold), progress=progress, **reading)
    refuse_repeated(read, given, asked)
    # Nothing of it is published: rows of persons are drawn alike every time, so that runs can be reused.
    recipe = Recipe(schema=given, promises=(), adversary=adversary, seed=seed or 0, persons=asked)
    folded = fold_for(given, read, asked)
    microdata, recipe, selected = select_rows(Microdata.encode(folded, given), recipe, folded)
    planned = plan(microdata, models, algorithms, chosen, adversary, seed, recipe.persons)
    given = recipe.schema
    kept.begin()
    fingerprint = table_fingerprint(microdata, recipe.persons)
    runs, made, reused = _carry_out(planned, fingerprint, read, given, kept, jobs, progress)
    notes = [*read.notes, *selected]
    if reused:
        notes.append(f"{counted(len(reused), 'run')} of this table and recipe were there already and not made again.")
    comparison = Comparison(
        runs=runs,
        made=made,
        reused=reused,
        x=axis_of(loss_axes(), x, runs),
        y=axis_of(risk_axes(), y, runs),
        sensitive=tuple(domain.name for domain in microdata.domains.sensitive),
        notes=tuple(notes),
    )
    if kept.folder is not None:
        kept.write(TABLE, comparison.to_csv())
        chart = comparison.chart()
        if chart is not None:
            kept.write(PICTURE, charts.svg(chart))
        summary = json_text(comparison.to_plain())
        kept.write(SUMMARY, f"{summary}\n")
    return comparison


def _carry_out(
    planned: list[Task | Run],
    fingerprint: str,
    table: Table,
    schema: Schema,
    kept: Kept,
    jobs: int | None,
    progress: Progress,
) -> tuple[tuple[Run, ...], frozenset[int], frozenset[int]]:
    """Every run in its place; the places of those made now, and of those that were there already."""
    runs: dict[int, Run] = {}
    made, reused = set[int](), set[int]()
    waiting: list[tuple[int, Task, str]] = []
    for place, one in enumerate(planned):
        if isinstance(one, Run):
            runs[place] = one
            continue
        key = run_fingerprint(fingerprint, one)
        found = kept.find(key)
        if found is None:
            waiting.append((place, one, key))
        else:
            runs[place] = found
            reused.add(place)
    tasks = [task for _, task, _ in waiting]
    total = max(len(tasks), 1)
    # Once, before processes start: each of them would compile the same.
    compile_kernels({task.algorithm for task in tasks}, table.n_rows, progress)
    stopped = progress("compare", 0.0, counted(len(tasks), "run"))
    with closing(
        execute_all([] if stopped else tasks, table, schema, jobs or min(available_cores(), total))
    ) as answers:
        for answer in answers:
            said = f"{len(made)} of {counted(len(tasks), 'run')}"
            if answer is not None:
                place, _, key = waiting[answer[0]]
                runs[place] = answer[1]
                kept.keep(key, answer[1])
                made.add(place)
                said = f"{len(made)} of {len(tasks)}: {answer[1].name}"
            if progress("compare", len(made) / total, said):
                break
    for place, task, _ in waiting:
        runs.setdefault(place, task.run(NOT_RUN, "Stopped before its turn."))
    return tuple(runs[place] for place in range(len(planned))), frozenset(made), frozenset(reused)
