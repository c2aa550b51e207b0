"""A promise to start with: whatever is recommended here can be published, since one group of all records keeps it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.advising.bearing import (
    BETAS,
    MANY_VALUES,
    Counts,
    belief,
    keeps_minor,
    most_groups,
    sensible_beta,
    strongest,
)
from lookalike.contracts import Promise
from lookalike.errors import RecipeError, counted, quoted
from lookalike.microdata import Domain
from lookalike.models import KAnonymity, LDiversity, TCloseness

USUAL_K = 5
USUAL_T = "0.2"
USUAL_L = 5
FEW_GROUPS = 10
"""A promise about values that leaves room for fewer groups than this is not recommended."""


@dataclass(frozen=True)
class Start:
    """What to promise first."""

    promises: tuple[Promise, ...]
    reasons: tuple[str, ...]
    """One a promise, and one for each column that gets none."""

    @property
    def sentence(self) -> str:
        options = " ".join(f"--model {shlex.quote(str(promise))}" for promise in self.promises)
        return f"To start with: {options}"


def promise_to_start_with(n_rows: int, columns: Sequence[tuple[Counts, Domain]]) -> Start:
    """k-anonymity for the persons, and a promise about the values of each sensitive column that has several."""
    k = min(USUAL_K, n_rows)
    promises = [Promise(KAnonymity(k))]
    reasons = [
        f"k-anonymity:{k}: nobody is linked to a row with a chance above 1 in {k}; at most "
        f"{counted(n_rows // k, 'group')}. The largest k is {n_rows:,}, one group of all records."
    ]
    for prior, column in columns:
        promise, reason = _about_values(prior, column)
        promises += [] if promise is None else [promise]
        reasons.append(reason)
    return Start(tuple(promises), tuple(reasons))


def _about_values(prior: Counts, column: Domain) -> tuple[Promise | None, str]:
    n_records, present = int(prior.sum()), np.flatnonzero(prior)
    if len(present) < 2:
        return None, f"No promise about {quoted(column.name)}: it has one value, which every reader learns."
    crowded = f"{quoted(column.name)} has {counted(len(present), 'value')}"
    if len(present) <= MANY_VALUES:
        beta = sensible_beta(prior, column)
        requirement = beta.requirement(prior, column, 0)
        n_groups = most_groups(requirement, prior)
        crowded += f", and {beta} allows {counted(n_groups, 'group')} at most"
    if len(present) <= MANY_VALUES and n_groups >= min(FEW_GROUPS, n_records // 2):
        rarest, commonest = present[np.argmin(prior[present])], np.argmax(prior)
        beliefs = [belief(requirement, prior, column, int(code)) for code in dict.fromkeys((rarest, commonest))]
        first, *rest = [one for one in beliefs if one is not None]
        reason = f"{', '.join([first.sentence, *(one.sentence_after_another for one in rest)])}."
        if not keeps_minor(beta, prior, column):
            reason += " Even so, a value that fewer than half of the persons have may become more likely than not."
        elif beta.beta != BETAS[0]:
            reason += " A larger beta would let a value become more likely than not."
        return Promise(beta, column.name), f"{beta}: {reason}"
    try:
        close = TCloseness(USUAL_T, distance="ordered")
        close.check_eligible(prior, column)
        return Promise(
            close, column.name
        ), f"{close}: {crowded}; its values have an order, so shifts along it are bounded."
    except RecipeError:
        diverse = strongest(LDiversity(USUAL_L), prior, column)
        return Promise(
            diverse, column.name
        ), f"{diverse}: {crowded}. Group its values into classes for a better promise."
