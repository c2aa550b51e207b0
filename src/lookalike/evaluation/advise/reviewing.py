"""Advice after the fact, from a finished run and without trials: what was reached beyond what was asked, and the costs.

It says nothing that the release and its audit do not show: losses by column, levels reached, and what the shares of
sensitive values allow. So a report may print it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from lookalike.data.contracts import Level, PrivacyModel, Promise
from lookalike.data.microdata import Domain
from lookalike.errors import LookalikeError, quoted
from lookalike.evaluation.advise.promises import Counts, to_plain
from lookalike.evaluation.advise.trials import ColumnCost, column_of, possible_changes, rank_costs
from lookalike.models.shared.exact import three_decimals_down, three_decimals_up
from lookalike.models.shared.model import strongest
from lookalike.pipeline.run import MadeWhole

_THOUSANDTH = Fraction(1, 1000)
_STEP = Fraction(9, 10)
_NEVER_SAID = 0.01
"""A column that loses less than this share of its domain is not worth a word."""


@dataclass(frozen=True)
class Reached:
    """A promise, what the release keeps of it, and how much more the table could support."""

    promise: Promise
    reached: Promise | None
    """The strongest form of the promise that this very release keeps, if it is stronger than what was asked."""
    next: Promise | None
    """The next stronger one that the table can support."""
    limit: Promise | None
    """The strongest that any release of this table can keep; None: there is no limit but one group of all records."""
    on_a_scale: bool = True
    """Whether stronger and weaker forms of the promise can be told apart by what was measured."""

    @property
    def sentence(self) -> str:
        if not self.on_a_scale:
            return f"{self.promise} was asked, and the release keeps it."
        said = f"{self.promise} was asked"
        said += f", and the release keeps {self.reached.model}" if self.reached else ", and the release keeps just that"
        if self.next is not None:
            said += f"; a stronger one to try is {self.next.model}"
            if self.limit is not None and self.limit != self.next:
                said += f", and no release of this table can keep more than {self.limit.model}"
        elif self.limit is not None:
            said += "; no release of this table can keep more"
        return f"{said}."


@dataclass(frozen=True)
class Suggestion:
    """A change that would be worth a trial. In words only: a schema can name files, which are nobody's business."""

    column: str
    what: str


@dataclass(frozen=True)
class Review:
    """What to know after publishing, and what to try next time."""

    promises: tuple[Reached, ...]
    columns: tuple[ColumnCost, ...]
    """The costliest first; empty where quasi-identifiers are published exactly."""
    worth_a_trial: tuple[Suggestion, ...]
    """Changes of the costliest column."""

    @property
    def sentences(self) -> tuple[str, ...]:
        said = [reached.sentence for reached in self.promises]
        if self.columns:
            said.append(f"{self.columns[0].sentence[:-1]}: no other column costs as much.")
        if self.worth_a_trial:
            listed = "; ".join(change.what for change in self.worth_a_trial)
            name = quoted(self.worth_a_trial[0].column)
            said.append(f"Worth a trial (lookalike inspect --advise shows what it would save): {name} {listed}.")
        return tuple(said)

    def to_plain(self) -> dict[str, Any]:
        return {
            "promises": [
                {
                    "promise": str(reached.promise),
                    **{name: to_plain(getattr(reached, name)) for name in ("reached", "next", "limit")},
                    "sentence": reached.sentence,
                }
                for reached in self.promises
            ],
            "columns": to_plain(self.columns),
            "worth_a_trial": to_plain(self.worth_a_trial),
            "sentences": list(self.sentences),
        }


def review(made: MadeWhole) -> Review:
    """What the release reached, what cost most, and what would be worth a trial."""
    columns = rank_costs(made.loss_by_column) if any(made.loss_by_column.values()) else []
    suggestions: list[Suggestion] = []
    if len(columns) > 1 and columns[0].loss >= _NEVER_SAID:
        domain = next(domain for domain in made.data.domains.quasi if domain.name == columns[0].column)
        changes = possible_changes(domain.attribute, column_of(domain))
        suggestions = [Suggestion(domain.name, change.what) for change in changes]
    return Review(
        tuple(_review_promise(made, promise) for promise in made.promises), tuple(columns), tuple(suggestions)
    )


def _review_promise(made: MadeWhole, promise: Promise) -> Reached:
    prior, domain = _prior(made, promise)
    verdict = next(
        found for found in made.audit.verdicts if found.model == str(promise.model) and found.column == promise.column
    )
    if promise.model.scale is None or verdict.reached is None:
        return Reached(promise, None, None, None, on_a_scale=False)
    kept = find_kept(promise.model, verdict.reached)
    limit = None
    if promise.model.rises:
        limit = strongest(_with(promise.model, Fraction(made.data.n_persons + 1)), prior, domain)
    further = _find_stronger(kept, prior, domain)
    return Reached(
        promise,
        None if kept == promise.model else Promise(kept, promise.column),
        None if further is None else Promise(further, promise.column),
        None if limit is None else Promise(limit, promise.column),
    )


def _prior(made: MadeWhole, promise: Promise) -> tuple[Counts, Domain | None]:
    if promise.column is None:
        return made.data.prior(None), None
    index = made.data.domains.sensitive_index(promise.column)
    return made.data.prior(index), made.data.domains.sensitive[index]


def _with(model: PrivacyModel, parameter: Fraction) -> PrivacyModel:
    """The model with another parameter on the scale of its levels."""
    assert model.scale is not None
    value = int(parameter) if parameter.denominator == 1 else parameter
    return replace(model, **{model.scale: value})  # type: ignore[type-var]


def find_kept(model: PrivacyModel, reached: Fraction | float) -> PrivacyModel:
    """The model with the strongest parameter of three decimals that a level keeps; itself if none is stronger."""
    if isinstance(reached, float) and not math.isfinite(reached):
        return model
    level = Fraction(reached)
    if model.rises:
        whole = Fraction(model.asked).denominator == 1
        candidates = [Fraction(math.floor(level)) if whole else three_decimals_down(level)]
    else:
        candidates = [three_decimals_up(level), three_decimals_up(level) + _THOUSANDTH]
    for parameter in candidates:
        stronger = parameter > model.asked if model.rises else parameter < model.asked
        if not stronger:
            break
        try:
            candidate = _with(model, parameter)
        except LookalikeError:
            continue
        if candidate.holds(Level(reached)):
            return candidate
    return model


def _find_stronger(model: PrivacyModel, prior: Counts, column: Domain | None) -> PrivacyModel | None:
    """A step stronger, if the table can support it: chances and bounds of nine tenths, k and l by at least one."""
    asked = Fraction(model.asked)
    parameter = Fraction(math.ceil(max(asked + 1, asked / _STEP))) if model.rises else three_decimals_up(asked * _STEP)
    if not model.rises and (parameter >= asked or parameter <= 0):
        return None
    wanted = _with(model, parameter)
    found = strongest(wanted, prior, column)
    if found == wanted:
        return wanted
    stronger = Fraction(found.asked) > asked if model.rises else Fraction(found.asked) < asked
    return found if stronger else None
