"""Which promises a sensitive column can support, what certainty each leaves, and which promise to start with.

Which parameters to show is the models' own (`proposals`): the strongest that can be kept or, of models that can always
be kept by one group of all records, one that still allows groups of some use. Ceilings come from their requirements.
Whatever is recommended to start with can be published,
since one group of all records keeps it.
"""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.microdata import Domain
from lookalike.data.parameters import number_text
from lookalike.data.persons import total_of
from lookalike.data.requirement import Requirement
from lookalike.data.schema import ValueType
from lookalike.errors import RecipeError, counted, quoted
from lookalike.evaluation.inspect.suggestions import names_category
from lookalike.models import MODELS
from lookalike.models.beta_likeness import USUAL_BETAS, BetaLikeness, keeps_minor, sensible_beta
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.l_diversity import LDiversity
from lookalike.models.shared.model import MANY_VALUES, strongest
from lookalike.models.t_closeness import TCloseness

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Belief:
    """How far the certainty in one value may rise."""

    value: str
    share: Fraction
    """Of the whole table: what everybody believes beforehand."""
    ceiling: Fraction

    @property
    def least_group(self) -> int:
        """A group that has the value at all has at least so many records."""
        return math.ceil(1 / self.ceiling)

    @property
    def sentence(self) -> str:
        return f"the certainty in {quoted(self.value)} may rise from {self._rise}"

    @property
    def sentence_after_another(self) -> str:
        return f"that in {quoted(self.value)} from {self._rise}"

    @property
    def _rise(self) -> str:
        return f"{_percent(self.share)} to at most {_percent_at_most(self.ceiling)}"


@dataclass(frozen=True)
class Bearable:
    """A model with a parameter that the column can support."""

    model: PrivacyModel
    meaning: str
    """Why this parameter: the largest, the least, or a sensible one."""
    rarest: Belief | None
    """The rarest value under it; None: the model says nothing about single values."""
    commonest: Belief | None
    most_groups: int | None
    """No release that keeps it has more groups; None: it sets no such bound. Real releases have far fewer."""

    @property
    def sentence(self) -> str:
        said = [f"{self.model}: {self.meaning}"]
        if self.rarest is not None and self.commonest is not None:
            said.append(self.rarest.sentence)
            if self.most_groups is not None:
                said[-1] += f" (in groups of {self.rarest.least_group:,} or more)"
            if self.commonest != self.rarest:
                said.append(self.commonest.sentence_after_another)
        return f"{', '.join(said)}."


@dataclass(frozen=True)
class ColumnBearing:
    """Which promises one sensitive column can support."""

    column: str
    n_values: int
    """Values that occur."""
    rarest: str
    rarest_share: Fraction
    commonest: str
    commonest_share: Fraction
    models: tuple[Bearable, ...]

    @property
    def sentence(self) -> str:
        if self.n_values == 1:
            return f"{quoted(self.column)} has one value, {quoted(self.commonest)}: there is nothing to hide in it."
        return (
            f"{quoted(self.column)} has {counted(self.n_values, 'value')}, from {quoted(self.rarest)} "
            f"({_percent(self.rarest_share)}) to {quoted(self.commonest)} ({_percent(self.commonest_share)})."
        )


def what_it_bears(prior: Counts, column: Domain) -> ColumnBearing:
    """What each model proposes for it, and what that leaves of its rarest and its commonest value."""
    n_records = total_of(prior)
    n_values, (rarest, commonest) = int(np.count_nonzero(prior)), _find_extremes(prior)
    return ColumnBearing(
        column=column.name,
        n_values=n_values,
        rarest=column.texts[rarest],
        rarest_share=Fraction(int(prior[rarest]), n_records),
        commonest=column.texts[commonest],
        commonest_share=Fraction(int(prior[commonest]), n_records),
        models=tuple(
            _bearable(model, meaning, prior, column)
            for kind in MODELS.values()
            for model, meaning in kind.proposals(prior, column)
        ),
    )


def belief_in_extremes(
    model: PrivacyModel | None, requirement: Requirement, prior: Counts, column: Domain
) -> tuple[Belief, ...]:
    """What a model, or the requirement alone, leaves of the rarest and of the commonest value (once if they are one).

    Empty if it says nothing about single values.
    """
    found = []
    for code in dict.fromkeys(_find_extremes(prior)):
        share = Fraction(int(prior[code]), total_of(prior))
        highest = None if model is None else model.highest_belief(share)
        if highest is None and requirement.ceilings is not None:
            highest = requirement.ceilings[code]
        if highest is not None:
            found.append(Belief(column.texts[code], share, min(highest, Fraction(1))))
    return tuple(found)


def _find_extremes(prior: Counts) -> tuple[int, int]:
    """The rarest value that occurs, and the commonest."""
    present = np.flatnonzero(prior)
    return int(present[np.argmin(prior[present])]), int(np.argmax(prior))


def _bearable(model: PrivacyModel, meaning: str, prior: Counts, column: Domain) -> Bearable:
    requirement = model.requirement(prior, column, 0)
    beliefs = belief_in_extremes(model, requirement, prior, column)
    bounded = requirement.min_size > 1 or requirement.floors is not None
    n_groups = most_groups(requirement, prior) if bounded else None
    return Bearable(model, meaning, beliefs[0] if beliefs else None, beliefs[-1] if beliefs else None, n_groups)


def most_groups(requirement: Requirement, prior: Counts) -> int:
    """Groups have a least size, and where a value has a floor every group has a record of it."""
    n_groups = total_of(prior) // requirement.min_size
    for floor, number in zip(requirement.floors or (), prior.tolist(), strict=False):
        if floor > 0:
            n_groups = min(n_groups, number)
    return max(n_groups, 1)


_USUAL_K = 5
_USUAL_T = "0.2"
_USUAL_L = 5
_LEAST_ORDERED = 3
"""Two values have no distances to speak of."""
_FEW_GROUPS = 10
"""A promise about values that leaves room for fewer groups than this is not recommended."""


@dataclass(frozen=True)
class Start:
    """What to promise first."""

    promises: tuple[Promise, ...]
    reasons: tuple[str, ...]
    """One a promise, and one for each column that gets none."""
    options: tuple[str, ...] = ()
    """What the promises were worked out for, as options of `publish`: whom they count, and which rows are published."""

    @property
    def sentence(self) -> str:
        models = (word for promise in self.promises for word in ("--model", str(promise)))
        return f"To start with: {shlex.join((*self.options, *models))}"


def promise_to_start_with(
    n_rows: int, columns: Sequence[tuple[Counts, Domain]], options: tuple[str, ...] = ()
) -> Start:
    """k-anonymity for the persons, and a promise about the values of each sensitive column that has several."""
    k = min(_USUAL_K, n_rows)
    promises = [Promise(KAnonymity(k))]
    reasons = [
        f"k-anonymity:{k}: nobody is linked to a row with a chance above 1 in {k}. The largest k is {n_rows:,}, one "
        "group of all records."
    ]
    for prior, column in columns:
        promise, reason = _about_values(prior, column)
        promises += [] if promise is None else [promise]
        reasons.append(reason)
    return Start(tuple(promises), tuple(reasons), options)


def _about_values(prior: Counts, column: Domain) -> tuple[Promise | None, str]:
    """Closeness along the order of numbers; beta-likeness where it leaves room for groups; else diversity."""
    n_records, n_values = total_of(prior), int(np.count_nonzero(prior))
    if n_values < 2:
        return None, f"No promise about {quoted(column.name)}: it has one value, which every reader learns."
    crowded = f"{quoted(column.name)} has {counted(n_values, 'value')}"
    close = _find_closeness(prior, column)
    if close is not None:
        return Promise(close, column.name), (
            f"{close}: {crowded} in an order. A reader can tell little more about where a person lies along it than "
            "the whole table says. It bounds no single value: choose beta-likeness if one of them would harm."
        )
    if n_values <= MANY_VALUES:
        beta = sensible_beta(prior, column)
        n_groups = most_groups(beta.requirement(prior, column, 0), prior)
        if n_groups >= min(_FEW_GROUPS, n_records // 2):
            return Promise(beta, column.name), f"{beta}: {_why(beta, prior, column)}"
        crowded += f", and {beta} leaves {counted(n_groups, 'group')} at most"
    diverse = strongest(LDiversity(_USUAL_L), prior, column)
    reason = f"{diverse}: {crowded}. Group the values into classes for a better promise."
    return Promise(diverse, column.name), reason


def _find_closeness(prior: Counts, column: Domain) -> TCloseness | None:
    """Closeness along the order of the values, if they have one that means something: three or more, and no codes."""
    if int(np.count_nonzero(prior)) < _LEAST_ORDERED:
        return None
    if column.attribute.order is None and column.type is ValueType.INTEGER and names_category(column.name):
        return None
    try:
        close = TCloseness(_USUAL_T, distance="ordered")
        close.check_eligible(prior, column)
    except RecipeError:
        return None
    return close


def alternatives_to(start: Start, columns: Sequence[tuple[Counts, Domain]]) -> list[tuple[Promise, ...]]:
    """Other promises worth a trial: persons alone, and each model that is usual for values, of all columns at once."""
    persons = start.promises[:1]
    found = [persons]
    protected = [(prior, column) for prior, column in columns if int(np.count_nonzero(prior)) > 1]
    if not protected:
        return []
    for propose in (_propose_closeness, _propose_likeness, _propose_diversity):
        promises = (*persons, *(Promise(propose(prior, column), column.name) for prior, column in protected))
        if promises not in found:
            found.append(promises)
    return [promises for promises in found if promises != start.promises]


def _propose_closeness(prior: Counts, column: Domain) -> PrivacyModel:
    return _find_closeness(prior, column) or TCloseness(_USUAL_T)


def _propose_likeness(prior: Counts, column: Domain) -> PrivacyModel:
    return sensible_beta(prior, column)


def _propose_diversity(prior: Counts, column: Domain) -> PrivacyModel:
    return strongest(LDiversity(_USUAL_L), prior, column)


def _why(beta: BetaLikeness, prior: Counts, column: Domain) -> str:
    first, *rest = belief_in_extremes(None, beta.requirement(prior, column, 0), prior, column)
    reason = f"{', '.join([first.sentence, *(one.sentence_after_another for one in rest)])}."
    if not keeps_minor(beta, prior, column):
        return f"{reason} Even so, a value that at most half of the persons have may become more likely than not."
    if beta.beta != USUAL_BETAS[0]:
        return f"{reason} A larger beta would let a value become more likely than not."
    return reason


def _percent(share: Fraction) -> str:
    """
    >>> _percent(Fraction(1, 3)), _percent(Fraction(4, 1000)), _percent(Fraction(1, 250_000))
    ('33.3 %', '0.4 %', '0.0004 %')
    """
    return _three_digits(share, round)


def _percent_at_most(share: Fraction) -> str:
    """Rounded up, so that "at most" stays true; also for shares far below a percent.

    >>> _percent_at_most(Fraction(1, 3)), _percent_at_most(Fraction(1, 4)), _percent_at_most(Fraction(1, 700_000))
    ('33.4 %', '25 %', '0.000143 %')
    """
    return _three_digits(share, math.ceil)


def _three_digits(share: Fraction, rounded: Callable[[Fraction], int]) -> str:
    if share == 0:
        return "0 %"
    exponent = math.floor(math.log10(share.numerator) - math.log10(share.denominator)) - 2
    unit = Fraction(10) ** exponent
    return f"{number_text(rounded(share / unit) * unit * 100)} %"


def to_plain(content: Any) -> Any:
    """Promises as text, other dataclasses as mappings with their sentences, tuples as lists, fractions exactly."""
    if isinstance(content, Promise | PrivacyModel):
        return str(content)
    if dataclasses.is_dataclass(content):
        names = [field.name for field in dataclasses.fields(content)]
        names += [name for name in ("sentence", "helps", "loss") if hasattr(content, name)]
        return {name: to_plain(getattr(content, name)) for name in names}
    if isinstance(content, tuple):
        return [to_plain(entry) for entry in content]
    if isinstance(content, Fraction):
        return number_text(content)
    return content
