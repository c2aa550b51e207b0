"""One run: publish in memory, read what the audit measured, attack, and keep the numbers. Nothing else leaves.

The levels are those of the independent audit, measured for every model whatever was promised, so that runs with
different promises can be held side by side.
"""

from __future__ import annotations

from typing import Any

from lookalike.attacks.run import attack_target
from lookalike.audit import Audit
from lookalike.audit.verdicts import without_letter
from lookalike.data.contracts import Target
from lookalike.data.microdata import Table
from lookalike.data.schema import Schema
from lookalike.errors import AuditFailed, Infeasible, LookalikeError
from lookalike.evaluation.compare.runs import AUDIT_FAILED, DONE, FAULT, INFEASIBLE, UNFIT, Run, Task
from lookalike.memory import forget_peak, is_scarce, peak_megabytes
from lookalike.metrics.query_error import MedianQueryError
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.pipeline.run import MadeWhole, Stopwatch, run, standard_measures
from lookalike.randomness import Randomness


def execute(task: Task, table: Table, schema: Schema) -> Run:
    """Make the run. Whatever happens is a result: the others go on."""
    recipe = Recipe(
        schema=schema,
        promises=task.promises,
        algorithm=task.algorithm,
        adversary=task.adversary,
        seed=task.seed,
        persons=task.persons,
    )
    forget_peak()
    try:
        return _measure_run(task, run(prepare(recipe, table)))
    except AuditFailed as error:
        return task.run(AUDIT_FAILED, str(error))
    except Infeasible as error:
        return task.run(INFEASIBLE, str(error), nearest=error.nearest)
    except LookalikeError as error:
        return task.run(UNFIT, str(error))
    except Exception as error:
        if isinstance(error, MemoryError) or is_scarce():
            return task.run(FAULT, "The machine's memory is not enough. Compare fewer at once (--jobs 1).")
        # Which fault, but not what it says: a message from below could quote the data.
        return task.run(FAULT, f"A fault of the software ({type(error).__name__}). Please report it.")


def _measure_run(task: Task, outcome: MadeWhole) -> Run:
    watch = Stopwatch()
    watch.seconds |= outcome.seconds
    levels = _levels_of(outcome.audit)
    with watch.step("measure"):
        figures = {**outcome.losses, **_find_worst(levels)}
        if errors := MedianQueryError().errors(outcome.data, outcome.release):
            figures |= {MedianQueryError.name: errors.median, "query_coverage": errors.coverage}
    with watch.step("attack"):
        made, not_made = _run_attacks(task, outcome)
    shares = [one["accuracy"] for one in made if one["accuracy"] is not None and one["column"] is not None]
    if shares:
        figures["attack"] = max(shares)
    figures["suppressed"] = float(outcome.release.withheld.n_suppressed)
    figures["seconds"] = round(outcome.seconds["anonymize"], 3)
    if (peak := peak_megabytes()) is not None:
        figures["peak_mb"] = peak
    return task.run(
        DONE,
        adversary=outcome.adversary,
        form=outcome.release.form,
        figures=figures,
        levels=levels,
        attacks=tuple(made),
        not_made=not_made,
        seconds={step: round(spent, 3) for step, spent in watch.seconds.items()},
    )


def _levels_of(audit: Audit) -> dict[str, dict[str, float]]:
    """What the release reaches, by column and name; a level that the form does not have is left out."""
    found: dict[str, dict[str, float]] = {}
    names = {without_letter(str(model)): model.level_name for model in standard_measures()}
    for verdict in audit.measured:
        if verdict.reached is not None and (name := names.get(verdict.model)):
            found.setdefault(verdict.column or "", {})[name] = float(verdict.reached)
    for levels in found.values():
        # Simple l-diversity is one over the highest certainty, exactly.
        if levels.get("l"):
            levels["largest_belief"] = 1 / levels["l"]
    return found


def _find_worst(levels: dict[str, dict[str, float]]) -> dict[str, float]:
    """Each level over all columns: that of the column that is protected least."""
    found: dict[str, float] = {}
    safer = {model.level_name for model in standard_measures() if model.rises}
    for by_name in levels.values():
        for name, level in by_name.items():
            least = min if name in safer else max
            found[name] = least(found.get(name, level), level)
    return found


def _run_attacks(task: Task, outcome: MadeWhole) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Every attack that applies, from outside: as someone who has the release and no private part of it."""
    target = Target(
        release=outcome.release,
        original=outcome.data,
        promises=outcome.promises,
        algorithm=outcome.algorithm,
        # To count persons, not to find anybody.
        record_of_row=None if outcome.data.persons is None else outcome.record_map.record_of_row,
        adversary=outcome.adversary,
    )
    made: list[dict[str, Any]] = []
    not_made: dict[str, str] = {}
    for attack in task.attacks:
        if (reason := attack.refuses(target)) is not None:
            not_made[str(attack)] = reason
            continue
        try:
            made += [attacked.to_plain() for attacked in attack_target(target, [attack], Randomness(task.seed)).made]
        except LookalikeError as error:
            not_made[str(attack)] = str(error)
    return made, not_made
