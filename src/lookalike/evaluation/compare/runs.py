"""Which runs there are, and the result of each.

A task is one promise with one algorithm: every promise with every algorithm asked for, or with the few that suit it.
What cannot be run is settled here, before anything long begins, and says why: a promise that no release can keep, an
algorithm that does not serve a promise. What someone asked for is never dropped; an algorithm that nobody asked for
and that does not fit is not tried.

A run is plain data that goes through a pipe, into a file and into a table. No record is in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.data.contracts import EVERY_MODEL, Algorithm, Attack, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import LINKED, PersonSettings, Unit
from lookalike.data.wording import Wording
from lookalike.errors import Infeasible, RecipeError
from lookalike.evaluation.compare.sweeps import settings, split_promises
from lookalike.evaluation.plain import spell_infinity
from lookalike.models import MODELS
from lookalike.models.shared.spelling import explain_several, find_meant
from lookalike.pipeline.recipe import ModelLike, find_refusal, parse_promises, refuse_persons, require, settle

DONE = "done"
AUDIT_FAILED = "audit failed"
"""A release was made and does not keep its promise: a fault of the method or of the software, never a result."""
INFEASIBLE = "infeasible"
"""No release, or none of this method, can keep the promise."""
UNFIT = "unfit"
"""The algorithm does not serve the promise."""
FAULT = "fault"
"""The run ended without an answer."""
NOT_RUN = "not run"
"""Stopped before its turn."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One promise, or several together, kept by one algorithm; and what that cost."""

    promise: str
    """As one writes it, with its columns."""
    meaning: tuple[str, ...] = ()
    """What is promised, in plain sentences."""
    algorithm: str
    adversary: str
    """Whom the promise holds against."""
    status: str
    reason: str = ""
    """Why there is no release to speak of."""
    nearest: str | None = None
    """For a promise that cannot be kept: the nearest that can, where that is known."""
    form: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    """Losses, levels reached over all columns, the best attack, seconds: by name."""
    levels: dict[str, dict[str, float]] = field(default_factory=dict)
    """Levels by sensitive column; those about identity under an empty name."""
    attacks: tuple[dict[str, Any], ...] = ()
    not_made: dict[str, str] = field(default_factory=dict)
    """Attacks that do not apply, with the reason."""
    seconds: dict[str, float] = field(default_factory=dict)
    """By step, checking and attacking included."""

    @property
    def name(self) -> str:
        return f"{self.promise}, {self.algorithm}"

    def short_promise(self, sensitive: Sequence[str]) -> str:
        """The promise without the name of the column, where there is only one."""
        if len(sensitive) != 1:
            return self.promise
        return " + ".join(part.removeprefix(f"{sensitive[0]}=") for part in self.promise.split(" + "))

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON, which has no infinity."""
        plain: dict[str, Any] = spell_infinity(asdict(self))
        return plain

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> Run:
        """A run as it was; KeyError, TypeError or ValueError if it is none."""
        known = {one.name: plain[one.name] for one in fields(cls)}
        known["meaning"], known["attacks"] = tuple(known["meaning"]), tuple(known["attacks"])
        known["figures"] = {name: float(value) for name, value in known["figures"].items()}
        known["levels"] = {
            column: {name: float(value) for name, value in levels.items()} for column, levels in known["levels"].items()
        }
        return cls(**known)


ModelsLike = ModelLike | Iterable[ModelLike]
"""A promise, or several that must hold together."""

ALL = "all"
"""In place of an algorithm: every one there is."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run to make."""

    promises: tuple[Promise, ...]
    algorithm: Algorithm
    adversary: str
    attacks: tuple[Attack, ...]
    seed: int | None
    persons: PersonSettings = field(default_factory=PersonSettings)
    unit: Unit | None = None
    """What promises count in place of rows."""
    known: tuple[str, ...] = ()
    """The quasi-identifiers by name."""

    @property
    def promise(self) -> str:
        return promise_text(self.promises)

    @property
    def _wording(self) -> Wording:
        return Wording(form=self.algorithm.form, adversary=self.adversary, known=self.known, unit=self.unit)

    def run(self, status: str, reason: str = "", **more: object) -> Run:
        """The result, with what is known of every run."""
        known = {
            "promise": self.promise,
            "meaning": tuple(promise.sentence(self._wording) for promise in self.promises),
            "algorithm": str(self.algorithm),
            "adversary": self.adversary,
            "status": status,
            "reason": reason,
        }
        return Run(**known | more)  # type: ignore[arg-type]


def promise_text(promises: Sequence[Promise]) -> str:
    return " + ".join(map(str, promises))


def alternatives(models: Iterable[ModelsLike]) -> list[tuple[Promise, ...]]:
    """Every promise to compare; a text may sweep parameters and join promises by a plus sign."""
    found: list[tuple[Promise, ...]] = []
    for model in [models] if isinstance(models, str) else models:
        if isinstance(model, str):
            parts = split_promises(model, MODELS)
            for part in parts:
                if len(meant := find_meant(part, MODELS)) > 1:
                    raise RecipeError(f"{explain_several(part, meant)} To hold both at once, write {'+'.join(meant)}.")
            swept = [settings(part, MODELS) for part in parts]
            found += [parse_promises(list(chosen)) for chosen in itertools.product(*swept)]
        else:
            found.append(parse_promises(model))
    if not found:
        raise RecipeError("No promise is given. Name at least one to compare, for example --model l-diversity:2,5,10.")
    return list(dict.fromkeys(found))


def parse_algorithms(algorithms: Iterable[Algorithm | str]) -> list[Algorithm]:
    """The algorithms asked for; a text may sweep parameters or ask for all. None: those that suit each promise."""
    found: dict[str, Algorithm] = {}
    for one in [algorithms] if isinstance(algorithms, str) else algorithms:
        if one == ALL:
            parsed = [kind() for kind in ALGORITHMS.values()]
        elif isinstance(one, str):
            parsed = [parse_algorithm(text) for text in settings(one, ALGORITHMS)]
        else:
            parsed = [one]
        found.update((str(algorithm), algorithm) for algorithm in parsed)
    return list(found.values())


def choose_algorithms(promises: Sequence[Promise]) -> list[Algorithm]:
    """The algorithms for promises that no algorithm was named for, in the order of the table."""
    models = {EVERY_MODEL, *(promise.model.name for promise in promises)}
    return [kind() for kind in ALGORITHMS.values() if not models.isdisjoint(kind.suits)]


def plan(
    data: Microdata,
    models: Iterable[ModelsLike],
    algorithms: Iterable[Algorithm | str],
    attacks: tuple[Attack, ...],
    adversary: str,
    seed: int | None,
    persons: PersonSettings | None = None,
) -> list[Task | Run]:
    """Tasks, and in their places what cannot be run, as results already."""
    asked = parse_algorithms(algorithms)
    together = "all rows" if persons is not None and persons.rows == LINKED else "one row"
    unit = None if data.persons is None else Unit(data.schema.unit_name, together)
    known = tuple(domain.name for domain in data.domains.quasi)
    wording = Wording(adversary=adversary, known=known, unit=unit)
    planned: dict[tuple[str, str], Task | Run] = {}
    for alternative in alternatives(models):
        promises = settle(alternative, data)
        try:
            requirements = require(promises, data)
        except Infeasible as error:
            planned[promise_text(promises), "any"] = Run(
                promise=promise_text(promises),
                meaning=tuple(promise.sentence(wording) for promise in promises),
                algorithm="any",
                adversary=adversary,
                status=INFEASIBLE,
                reason=str(error),
                nearest=error.nearest,
            )
            continue
        candidates = [one.facing(adversary) for one in asked or choose_algorithms(promises)]
        refusals = [
            find_refusal(one, adversary, promises, requirements, data.domains)
            or refuse_persons(one, promises, data, adversary)
            for one in candidates
        ]
        for algorithm, reason in zip(candidates, refusals, strict=True):
            if reason is not None and not asked and not all(refusals):
                continue
            task = Task(
                promises=promises,
                algorithm=algorithm,
                adversary=adversary,
                attacks=attacks,
                seed=seed,
                persons=persons or PersonSettings(),
                unit=unit,
                known=known,
            )
            refused = reason and f"{reason[:1].upper()}{reason[1:].rstrip('.')}."
            planned[task.promise, str(algorithm)] = task if refused is None else task.run(UNFIT, refused)
    return list(planned.values())
