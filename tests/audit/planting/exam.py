"""The exam of the audit: releases with one thing changed or none, and an oracle that says what the audit must say.

`make audit-exam` runs thousands and prints what was tried, by kind. A disagreement is told with the seed that makes the
case again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed
from tests.audit.making import as_matched
from tests.audit.planting.cases import FORMS, Case, honest
from tests.audit.planting.plants import PLANTS
from tests.audit.planting.thresholds import Edge, about_identity, about_values, falling
from tests.oracles.containment import classes, fit_table
from tests.oracles.promises import Judged, judged
from tests.oracles.truthful import faults, possible, prior, promised, units

PLANTS_A_CASE = 6


@dataclass
class Marks:
    """What was tried and how the audit did."""

    honest: Counter[str] = field(default_factory=Counter)
    """Releases that keep what they promise, by form: all must pass."""
    kept: Counter[str] = field(default_factory=Counter)
    """Promises at exactly the level that is reached, by model."""
    broken: Counter[str] = field(default_factory=Counter)
    """Promises one step beyond it, by model: all must fail."""
    levels: int = 0
    """Levels that were compared."""
    planted: Counter[str] = field(default_factory=Counter)
    """Changes that are violations, by kind: all must be caught."""
    harmless: Counter[str] = field(default_factory=Counter)
    """Changes that are none: all must pass."""
    undecided: Counter[str] = field(default_factory=Counter)
    """Bucketized releases whose records share quasi-identifiers: the audit's test is a necessary one."""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"honest releases: {self.honest.total():,}, all to pass",
            f"promises at the level reached: {self.kept.total():,}, all to be kept",
            f"promises one step beyond: {self.broken.total():,}, all to be refused",
            f"levels compared with the oracle: {self.levels:,}",
            f"violations planted: {self.planted.total():,}, all to be caught",
            f"harmless changes: {self.harmless.total():,}, all to pass",
            f"not decided by the audit: {self.undecided.total():,}",
            f"disagreements: {len(self.wrong):,}",
        ]
        for title, counts in (("planted", self.planted), ("harmless", self.harmless), ("one step beyond", self.broken)):
            lines += ["", title, *(f"  {number:7,}  {kind}" for kind, number in sorted(counts.items()))]
        return "\n".join([*lines, *self.wrong[:20]])


def edges_of(rng: np.random.Generator, case: Case) -> Iterator[tuple[Promise, Judged, str]]:
    """Promises on both sides of what the release reaches, with what the oracle says of each."""
    release, data, graph = case.release, case.data, case.graph
    if not isinstance(release, Perturbed):
        rows = units(release, data, None, graph)
        if rows:
            least = min(sum(unit.values()) for unit in rows)
            concealed = min(possible(release, data)) if isinstance(release, Matched) else least
            for edge in about_identity(least, concealed):
                reached = Fraction(least if edge.kind == "k-anonymity" else concealed)
                for model in (edge.kept, edge.broken):
                    yield Promise(model), Judged(reached, model is edge.kept), edge.kind
    column = int(rng.integers(len(data.domains.sensitive)))
    domain, shares = data.domains.sensitive[column], prior(data, column)
    found = units(release, data, column, graph)
    if not found:
        return
    edges: list[Edge] = list(about_values(rng, found, shares, domain, counted=not isinstance(release, Perturbed)))
    for edge in (*edges, *falling(found, shares)):
        for model in (edge.kept, edge.broken):
            if model is not None:
                yield Promise(model, domain.name), judged(model, found, shares, domain), edge.kind


def same_level(found: Any, wanted: Any) -> bool:
    """Fractions exactly; logarithms as floats."""
    if isinstance(wanted, Decimal):
        return float(found) == float(wanted) or abs(float(found) - float(wanted)) <= 1e-9 * max(1.0, abs(float(wanted)))
    if isinstance(found, float) and isinstance(wanted, Fraction):
        return found == float(wanted)
    return bool(found == wanted)


def sit(marks: Marks, form: str, seed: int) -> None:
    """One case: the honest release at all edges, then some plants on it."""
    rng = np.random.default_rng([seed, FORMS.index(form)])
    case = honest(rng, form)
    where = f"{form}, seed {seed}"
    assert not list(faults(case.release, case.data, case.graph)), where
    edges = list(edges_of(rng, case))
    audit = verify(case.data, case.release, [promise for promise, _, _ in edges], graph=case.graph)
    marks.honest[form] += 1
    failed = [
        check.name for check in audit.checks if check.decides and not check.passed and "level B" not in check.name
    ]
    if failed:
        marks.wrong.append(f"{where}: an honest release fails {failed}")
    for (promise, (level, holds), kind), verdict in zip(edges, audit.verdicts, strict=True):
        (marks.kept if holds else marks.broken)[kind] += 1
        marks.levels += 1
        if verdict.passed != holds:
            marks.wrong.append(f"{where}: {promise} is {'kept' if holds else 'broken'}, the audit: {verdict.passed}")
        if not same_level(verdict.reached, level):
            marks.wrong.append(f"{where}: {promise} reaches {level}, the audit: {verdict.reached}")
    if isinstance(case.release, Grouped):
        _sit_renamed(marks, case, edges, where)
    kept = [promise for promise, (_, holds), _ in edges if holds]
    if kept:
        chosen = rng.choice(len(kept), min(len(kept), 3), replace=False)
        case = replace(case, promises=tuple(kept[place] for place in chosen))
    if not verify(case.data, case.release, case.promises, graph=case.graph).passed:
        marks.wrong.append(f"{where}: an honest release with promises that it keeps is refused")
    names = rng.permutation(list(PLANTS))
    n_planted = 0
    for name in names.tolist():
        changed = PLANTS[name](rng, case)
        if changed is not None and n_planted < PLANTS_A_CASE:
            n_planted += 1
            hold(marks, changed, name, f"{where}: {name}")


def _sit_renamed(marks: Marks, case: Case, edges: list[tuple[Promise, Judged, str]], where: str) -> None:
    """The rows of groups said to be matched ones: no promise that they break may pass without a graph."""
    broken = [promise for promise, (_, holds), _ in edges if not holds and promise.model.name != "k-concealment"]
    renamed = verify(case.data, as_matched(case.release), broken)
    for promise, verdict in zip(broken, renamed.verdicts, strict=True):
        marks.planted["rows of groups said to be matched"] += 1
        if verdict.passed and fully_parted(case):
            marks.wrong.append(f"{where}: {promise} is broken by groups and passes as a matched release")


def fully_parted(case: Case) -> bool:
    """Whether nobody fits the cells of two groups; otherwise groups that look alike to all are one."""
    fitting = fit_table(case.release, case.data)
    names = classes(case.release)
    return all(len({names[row] for row in np.flatnonzero(fits)}) <= 1 for fits in fitting)


def hold(marks: Marks, case: Case, name: str, where: str) -> None:
    """A changed release: the audit must say what the oracle says."""
    found = list(faults(case.release, case.data, case.graph))
    right = not found and all(promised(case.release, case.data, promise, case.graph).holds for promise in case.promises)
    audit = verify(case.data, case.release, case.promises, graph=case.graph)
    passed = audit.passed
    if not found and any("redrawn" in check.name or "used" in check.name for check in audit.checks if not check.passed):
        # What the oracle does not look at: values that this matrix gives with next to no chance.
        marks.planted[name] += 1
        return
    if isinstance(case.release, Bucketized) and found == ["not everybody has a bucket"] and passed and _shared(case):
        marks.undecided[name] += 1
        return
    (marks.harmless if right else marks.planted)[name] += 1
    if verify(case.data, case.release, (), graph=case.graph).passed == bool(found):
        marks.wrong.append(f"{where}: {found or 'nothing is wrong'}, and the checks by themselves say otherwise")
    if passed != right:
        marks.wrong.append(f"{where}: {'harmless' if right else found or 'a promise is broken'}, the audit: {passed}")


def _shared(case: Case) -> bool:
    """Whether two records have the same quasi-identifiers."""
    return len({tuple(row) for row in case.data.quasi.tolist()}) < case.data.n_rows
