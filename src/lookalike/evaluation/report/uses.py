"""What a release is useful for, and what not: sentences by stated rules, one set for the owner and one for everybody.

The owner's follow from what was measured on the original:

    column         useful if its shares are `ok` (`before_after`); not if `blurred` or `gone`
    two columns    as a table of the two, by the same words
    counts         useful if half of the answers are off by at most 10 %; not if by more than 25 %
    predictions    where the original predicts a column clearly better than guessing: useful if what learns from the
                   release is right at most 5 percent points less often

Everybody's follow from what the release shows: its form, and the loss of each column where it is published

    counts         by a column that is exact or sensitive: exact, but for redrawn values
    columns        by ranges if the mean loss is at most 10 %; not if it is more than 50 %

Nobody's: decisions about a single person, and linking with other tables.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.data.cell_kinds import EXACT
from lookalike.data.release import Bucketized, Perturbed
from lookalike.evaluation.before_after import BLURRED, GONE, OK
from lookalike.evaluation.evaluate import Answered, Evaluation
from lookalike.evaluation.report.basis import Basis
from lookalike.evaluation.report.short_lists import clip, join_some

_GOOD, _POOR, _AS_RIGHT = 0.10, 0.25, 0.05
_FINE_LOSS, _GREAT_LOSS = 0.10, 0.50
_PREDICTED = re.compile(r"(.*) predicted rightly \(guessing: ([\d.]+)\)", re.DOTALL)
"""What the metric about predictions says of a column, and how often a guess is right."""


@dataclass(frozen=True)
class Uses:
    """What a release serves, in sentences."""

    useful: tuple[str, ...]
    not_useful: tuple[str, ...]
    rule: str
    """What decided."""


def list_uses(basis: Basis, evaluation: Evaluation | None) -> Uses:
    never = ["decisions about a single person", _warn_of_reading(basis)]
    if evaluation is None:
        good, bad, rule = _by_release(basis)
    else:
        good, bad, rule = _by_scores(evaluation)
    return Uses(tuple(good), (*bad, *filter(None, never)), rule)


def _warn_of_reading(basis: Basis) -> str:
    """What must not be taken as it stands."""
    names = [domain.name for domain in basis.domains.sensitive]
    if basis.form == Perturbed.form:
        return f"reading single values of {join_some(names)}: they were redrawn at random"
    if basis.form == Bucketized.form and names:
        return f"reading off who has which {join_some(names)}: the two tables are joined by estimates"
    return ""


def _by_release(basis: Basis) -> tuple[list[str], list[str], str]:
    sensitive = [domain.name for domain in basis.domains.sensitive]
    carried = [domain.name for domain in basis.domains.carried]
    quasi = [domain.name for domain in basis.domains.quasi]
    plain = [name for name in quasi if basis.cells.get(name) == EXACT]
    exact = basis.form in (Bucketized.form, Perturbed.form)
    redrawn = basis.form == Perturbed.form
    counted = [*(quasi if exact else plain), *(() if redrawn else sensitive), *carried]
    good, bad = [], []
    if counted:
        good.append(f"exact counts by {join_some(counted)}")
    if redrawn and sensitive:
        good.append(f"estimated counts by {join_some(sensitive)}")
    if not exact:
        loss, quasi = basis.loss_by_column, [name for name in quasi if name not in plain]
        fine = [name for name in quasi if loss.get(name, 1.0) <= _FINE_LOSS]
        fair = [name for name in quasi if _FINE_LOSS < loss.get(name, -1.0) <= _GREAT_LOSS]
        coarse = [name for name in quasi if loss.get(name, 0.0) > _GREAT_LOSS]
        unsaid = [name for name in quasi if name not in loss]
        if fine:
            good.append(f"counts by narrow ranges of {join_some(fine)}")
        if fair:
            good.append(f"counts by wide ranges of {join_some(fair)}")
        if unsaid:
            good.append(f"counts by ranges of {join_some(unsaid)}, as wide as the cells are")
        if coarse:
            bad.append(f"questions about {join_some(coarse)}: mostly blurred")
        if quasi:
            bad.append(f"exact values of {join_some(quasi)}")
    if sensitive:
        good.append("tables of several columns as estimates with intervals (lookalike query)")
    return good, bad, "By what the release shows: how accurate answers are is measured for the publisher alone."


def _by_scores(evaluation: Evaluation) -> tuple[list[str], list[str], str]:
    good: list[str] = []
    bad: list[str] = []
    found = None if evaluation.before_after is None else evaluation.before_after.round()
    if found is not None:
        columns = {word: [one.column for one in found.columns if one.word == word] for word in (OK, BLURRED, GONE)}
        if columns[OK]:
            good.append(f"counts by one column: {join_some(columns[OK])}")
        if columns[BLURRED]:
            bad.append(f"exact distributions of {join_some(columns[BLURRED])}: blurred")
        if columns[GONE]:
            bad.append(f"{join_some(columns[GONE])}: the distribution is gone")
        pairs = {word: [f"{one.one} with {one.other}" for one in found.named(word)] for word in (OK, BLURRED, GONE)}
        if pairs[OK]:
            good.append(f"tables of two columns: {_list_pairs(pairs[OK], len(found.pairs))}")
        for word in (BLURRED, GONE):
            if pairs[word]:
                bad.append(f"tables of two columns, {word}: {_list_pairs(pairs[word], len(found.pairs))}")
    good += [_describe_answers(line.columns, line.selectivity, line.median) for line in _best(evaluation)]
    bad += [_describe_answers(line.columns, line.selectivity, line.median) for line in _worst(evaluation)]
    for is_good, said in _describe_predictions(evaluation):
        (good if is_good else bad).append(said)
    rule = "By measured errors: counts count as useful up to a median error of 10 %, as not useful beyond 25 %."
    return good, bad, rule


def _describe_predictions(evaluation: Evaluation) -> list[tuple[bool, str]]:
    """Whether a machine that learns from the release predicts columns nearly as well, where they can be predicted."""
    said = []
    for line in () if evaluation.fidelity is None else evaluation.fidelity.lines:
        found = _PREDICTED.fullmatch(line.what)
        if found is None or line.original - float(found[2]) <= _AS_RIGHT:
            continue
        share = f"right {100 * line.release:.0f} % of the time instead of {100 * line.original:.0f} %"
        said.append((line.original - line.release <= _AS_RIGHT, f"predicting {clip(found[1])}: {share}"))
    return said


def _best(evaluation: Evaluation) -> list[Answered]:
    """Of the kinds of queries that are answered well, those for the fewest people, by number of columns."""
    fit = [line for line in evaluation.answers if line.n_queries and line.median <= _GOOD]
    return [min(same, key=lambda line: line.selectivity) for same in _by_columns(fit)]


def _worst(evaluation: Evaluation) -> list[Answered]:
    """Of those that are answered badly, those for the most people, by number of columns."""
    unfit = [line for line in evaluation.answers if line.n_queries and line.median > _POOR]
    return [max(same, key=lambda line: line.selectivity) for same in _by_columns(unfit)]


def _by_columns(lines: Sequence[Answered]) -> list[list[Answered]]:
    return [[line for line in lines if line.columns == n] for n in sorted({line.columns for line in lines})]


def _describe_answers(columns: int, selectivity: float, median: float) -> str:
    which = "1 column" if columns == 1 else f"{columns} columns"
    return f"counts of about {100 * selectivity:.0f} % of the records by {which}: median error {100 * median:.0f} %"


def _list_pairs(pairs: Sequence[str], total: int) -> str:
    if len(pairs) == total and total > 1:
        return f"all {total}"
    return join_some(pairs) if len(pairs) <= 2 else f"{len(pairs)} of {total} ({pairs[0]}, ...)"
