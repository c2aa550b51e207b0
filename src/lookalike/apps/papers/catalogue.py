"""All experiments by name."""

from __future__ import annotations

from collections.abc import Iterable

from lookalike.apps.papers import (
    bl,
    bl_closeness,
    bl_queries,
    bl_resistance,
    ff,
    gb,
    gb_searches,
    hg,
    hg_queries,
    ma,
    ma_queries,
)
from lookalike.apps.papers.experiments import Experiment
from lookalike.errors import RecipeError, unknown_name

EXPERIMENTS: tuple[Experiment, ...] = (
    *bl_closeness.EXPERIMENTS,
    *bl.EXPERIMENTS,
    *bl_queries.EXPERIMENTS,
    *bl_resistance.EXPERIMENTS,
    *gb.EXPERIMENTS,
    *gb_searches.EXPERIMENTS,
    *ma.EXPERIMENTS,
    *ma_queries.EXPERIMENTS,
    *hg.EXPERIMENTS,
    *hg_queries.EXPERIMENTS,
    *ff.EXPERIMENTS,
)


def find(names: Iterable[str]) -> list[Experiment]:
    """The experiments that show these figures; a paper's letters (hg) name all of its own, `all` every one."""
    known = {name: experiment for experiment in EXPERIMENTS for name in experiment.names}
    papers = {experiment.paper.casefold() for experiment in EXPERIMENTS}
    found: list[Experiment] = []
    for name in names:
        plain = name.casefold()
        if plain == "all":
            found += EXPERIMENTS
        elif plain in papers:
            found += [experiment for experiment in EXPERIMENTS if experiment.paper.casefold() == plain]
        elif plain in known:
            found.append(known[plain])
        else:
            raise RecipeError(unknown_name("experiment", name, [*known, *sorted(papers), "all"]))
    return list(dict.fromkeys(found))
