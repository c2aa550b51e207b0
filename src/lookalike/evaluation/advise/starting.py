"""A promise to start with: whatever is recommended here can be published, since one group of all records keeps it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.data.contracts import Promise
from lookalike.data.microdata import Domain
from lookalike.errors import RecipeError, counted, quoted
from lookalike.evaluation.advise.bearing import (
    BETAS,
    MANY_VALUES,
    Counts,
    belief,
    keeps_minor,
    most_groups,
    sensible_beta,
    strongest,
)
from lookalike.models import BetaLikeness, KAnonymity, LDiversity, TCloseness

_USUAL_K = 5
_USUAL_T = "0.2"
_USUAL_L = 5
_FEW_GROUPS = 10
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
    k = min(_USUAL_K, n_rows)
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
    """beta-likeness where it leaves room for groups; else closeness along an order, or diversity."""
    n_records, n_values = int(prior.sum()), int(np.count_nonzero(prior))
    if n_values < 2:
        return None, f"No promise about {quoted(column.name)}: it has one value, which every reader learns."
    crowded = f"{quoted(column.name)} has {counted(n_values, 'value')}"
    if n_values <= MANY_VALUES:
        beta = sensible_beta(prior, column)
        n_groups = most_groups(beta.requirement(prior, column, 0), prior)
        if n_groups >= min(_FEW_GROUPS, n_records // 2):
            return Promise(beta, column.name), f"{beta}: {_why(beta, prior, column)}"
        crowded += f", and {beta} leaves {counted(n_groups, 'group')} at most"
    try:
        close = TCloseness(_USUAL_T, distance="ordered")
        close.check_eligible(prior, column)
    except RecipeError:
        diverse = strongest(LDiversity(_USUAL_L), prior, column)
        reason = f"{diverse}: {crowded}. Group the values into classes for a better promise."
        return Promise(diverse, column.name), reason
    return Promise(close, column.name), f"{close}: {crowded}. Its values have an order: it bounds shifts along it."


def _why(beta: BetaLikeness, prior: Counts, column: Domain) -> str:
    requirement, present = beta.requirement(prior, column, 0), np.flatnonzero(prior)
    extremes = dict.fromkeys((int(present[np.argmin(prior[present])]), int(np.argmax(prior))))
    first, *rest = [one for code in extremes if (one := belief(requirement, prior, column, code)) is not None]
    reason = f"{', '.join([first.sentence, *(one.sentence_after_another for one in rest)])}."
    if not keeps_minor(beta, prior, column):
        return f"{reason} Even so, a value that at most half of the persons have may become more likely than not."
    if beta.beta != BETAS[0]:
        return f"{reason} A larger beta would let a value become more likely than not."
    return reason
