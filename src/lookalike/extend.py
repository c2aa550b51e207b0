"""Everything you need to add a model, a method, an attack, a metric or a format from your own file.

    from lookalike.extend import WrittenMetric, register_metric


    @register_metric
    @dataclass(frozen=True)
    class LargestGroup(WrittenMetric):
        \"\"\"The number of rows in the largest group.\"\"\"

        name = "largest_group"

        def measure(self, original, release):
            return float(np.bincount(release.group_of_row).max()) if release.form == "grouped" else float("nan")

The other families work the same way: a frozen dataclass with a base class, a name, and the few methods that the base
leaves open.

    register_model      WrittenModel   letter, scale (or asked), promise, check_eligible, requirement, level, holds
    register_algorithm  Grouping       partition; or Method: form, make_release
    register_attack     WrittenAttack  run
    register_metric     WrittenMetric  measure; or MeanOverRows, whose figures are joined over the parts of a release
    register_format     Format         name, endings, scan (not a dataclass)

Everything else (sliders, remedies, titles, how parts are joined) is a class attribute with a default; `PrivacyModel`,
`Algorithm`, `Attack` and `Metric` say what each means. Once registered, the class is known to `publish`, `compare`,
reports and the studio. LOOKALIKE_EXTEND=my_file.py makes it known to the command line; it takes files and modules,
separated by commas.

The registries map names to classes: `del METRICS["largest_group"]` removes one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from lookalike.algorithms import ALGORITHMS
from lookalike.algorithms.shared.method import GROUPS_IN_BOXES, Grouping, Method
from lookalike.attacks import ATTACKS
from lookalike.attacks.shared.attack import WrittenAttack, majority, needs_sensitive, score_guesses
from lookalike.attacks.shared.consequence import Consequence, Result
from lookalike.attacks.shared.whereabouts import Whereabouts, honest_guesses
from lookalike.data.contracts import (
    DOMAINS,
    EVERY_MODEL,
    NEEDS,
    ORIGINAL,
    RELEASE,
    Algorithm,
    Attack,
    Boxes,
    Compared,
    Finding,
    Level,
    Metric,
    PrivacyModel,
    Promise,
    Score,
    Slices,
    Slider,
    Target,
    Undivided,
)
from lookalike.data.exposure import Exposure
from lookalike.data.families import load_guests
from lookalike.data.guests import check_attributes, guard_methods, name_guest
from lookalike.data.microdata import Domain, Domains, Microdata
from lookalike.data.parameters import Choice, ChoiceOrNumber, Exact, OptionalExact, Values, Whole
from lookalike.data.release import FORMS, Bucketized, Grouped, Matched, Perturbed, RecordMap, Release
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import Infeasible, LookalikeError, RecipeError, Unsupported, quoted
from lookalike.files.tables.formats import FORMATS, Asked, Format, register_format
from lookalike.metrics import FIDELITY, METRICS, QUERIES
from lookalike.metrics.shared.metric import MeanOverRows, WrittenMetric
from lookalike.models import MODELS
from lookalike.models.shared.exposures import highest_beliefs, lowest_beliefs
from lookalike.models.shared.model import WrittenModel, example_of, read_model
from lookalike.progress import Progress
from lookalike.randomness import Randomness

__all__ = [
    "ALGORITHMS",
    "ANY_RELEASE",
    "ATTACKS",
    "DOMAINS",
    "EVERY_MODEL",
    "FIDELITY",
    "FORMATS",
    "GROUPS_IN_BOXES",
    "METRICS",
    "MODELS",
    "ORIGINAL",
    "RELEASE",
    "Algorithm",
    "Asked",
    "Attack",
    "Boxes",
    "Bucketized",
    "Choice",
    "ChoiceOrNumber",
    "Compared",
    "Consequence",
    "Domain",
    "Domains",
    "Exact",
    "Exposure",
    "Finding",
    "Format",
    "Grouped",
    "Grouping",
    "Infeasible",
    "Level",
    "RecordMap",
    "Matched",
    "MeanOverRows",
    "Method",
    "Metric",
    "Microdata",
    "OptionalExact",
    "Perturbed",
    "PrivacyModel",
    "Progress",
    "Promise",
    "Randomness",
    "RecipeError",
    "Release",
    "Requirement",
    "Result",
    "Score",
    "Slices",
    "Slider",
    "Target",
    "Undivided",
    "Unsupported",
    "Values",
    "Whereabouts",
    "Whole",
    "Wording",
    "WrittenAttack",
    "WrittenMetric",
    "WrittenModel",
    "highest_beliefs",
    "honest_guesses",
    "load_guests",
    "lowest_beliefs",
    "majority",
    "needs_sensitive",
    "register_algorithm",
    "register_attack",
    "register_format",
    "register_metric",
    "register_model",
    "score_guesses",
]

_Kind = TypeVar("_Kind", bound=type[Any])
_NAME = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


def register_model(kind: _Kind) -> _Kind:
    """Add a model; it is written `name:parameter` from then on."""
    _check(kind, "model", PrivacyModel, MODELS)
    if kind.asked is WrittenModel.asked and kind.scale is WrittenModel.scale:
        raise RecipeError(
            f"The model {kind.name} does not say what was asked. Set `scale` (the name of the parameter that levels "
            "are values of), or define `asked`."
        )
    if isinstance(kind.scale, str) and kind.scale not in {field.name for field in fields(kind)}:
        raise RecipeError(f"The model {kind.name} has no parameter {quoted(kind.scale)}. Set `scale` to one it has.")
    if kind.example or kind.slider is not None:
        for text in {example_of(kind), *([kind.slider.text(kind.name)] if kind.slider is not None else [])}:
            _read_back(kind, text)
    MODELS[kind.name] = kind
    return kind


def register_algorithm(kind: _Kind) -> _Kind:
    """Add a method; where none is named, it is tried after those that were there before."""
    _check(kind, "algorithm", Algorithm, ALGORITHMS)
    _check_usual(kind, "algorithm")
    ALGORITHMS[kind.name] = kind
    return kind


def register_attack(kind: _Kind) -> _Kind:
    """Add an attack; reports and `lookalike attack` make it from then on."""
    _check(kind, "attack", Attack, ATTACKS)
    _check_usual(kind, "attack")
    ATTACKS[kind.name] = kind
    return kind


def register_metric(kind: _Kind, *, on_request: bool = False) -> _Kind:
    """Add a metric, measured of every release; `on_request`: of those that are compared with their original alone."""
    _check(kind, "metric", Metric, {**METRICS, **FIDELITY, **QUERIES})
    _check_usual(kind, "metric")
    if kind.needs not in NEEDS:
        raise RecipeError(
            f"The metric {kind.name} needs {quoted(str(kind.needs))}. Set `needs` to one of {', '.join(NEEDS)}."
        )
    if kind.joins and (kind.of_part is WrittenMetric.of_part or kind.join is WrittenMetric.join):
        raise RecipeError(f"The metric {kind.name} joins parts. Define `of_part` and `join`, or leave out `joins`.")
    (FIDELITY if on_request else METRICS)[kind.name] = kind
    return kind


def _check(kind: Any, family: str, contract: type, registry: Mapping[str, Any]) -> None:
    """Refuse a class without its own name, or without what the contract asks for; guard any other."""
    name = getattr(kind, "name", None)
    if not isinstance(kind, type):
        raise RecipeError(f"{kind!r} cannot be registered: it is no class. Register the class, not an object of it.")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise RecipeError(
            f"{kind.__qualname__} cannot be registered. Give it a `name` of lower-case "
            "letters, digits and single hyphens or underscores, such as k-anonymity."
        )
    taken = registry.get(name)
    if taken is not None and name_guest(taken, family) != name_guest(kind, family):
        raise RecipeError(f"The {family} name {name} is already taken ({taken.__module__}). Choose another name.")
    if not is_dataclass(kind) or not kind.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise RecipeError(f"The {family} {name} must be a frozen dataclass. Put @dataclass(frozen=True) above it.")
    wanted = {*contract.__annotations__, *(member for member in vars(contract) if not member.startswith("_"))}
    open_still = {member for member in dir(kind) if getattr(getattr(kind, member, None), "__isabstractmethod__", False)}
    lacking = sorted({member for member in wanted if not hasattr(kind, member)} | open_still)
    if lacking:
        raise RecipeError(
            f"The {family} {name} lacks {', '.join(lacking)}. Add what is missing; `lookalike.data.contracts."
            f"{contract.__name__}` says what each means."
        )
    check_attributes(kind, contract, name_guest(kind, family))
    guard_methods(kind, contract, family)


def _check_usual(kind: Any, family: str) -> None:
    """Refuse a class that cannot be taken as it is: lists and reports take every member without parameters."""
    try:
        made = kind()
    except Exception as error:
        raise RecipeError(
            f"The {family} {kind.name} cannot be created without parameters ({error}). Give them defaults."
        ) from error
    unknown = sorted({*([made.form] if family == "algorithm" else made.forms or ())} - {*FORMS})
    if unknown:
        raise RecipeError(f"The {family} {kind.name} has the form {quoted(unknown[0])}. Use one of {', '.join(FORMS)}.")


def _read_back(kind: Any, text: str) -> None:
    try:
        read_model(text, {kind.name: kind})
    except LookalikeError as error:
        raise RecipeError(f"The example {text} of the model {kind.name} cannot be read: {error}") from None
