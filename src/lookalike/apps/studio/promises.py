"""What a promise allows on this table, which methods serve it, and what each trades for what."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from fractions import Fraction
from typing import Any

from lookalike.algorithms import ALGORITHMS, describe_algorithms, parse_algorithm
from lookalike.apps.studio.workspace import Project
from lookalike.data.contracts import Algorithm, Promise
from lookalike.data.microdata import Microdata
from lookalike.data.parameters import value_text
from lookalike.data.person_settings import LINKED, Unit
from lookalike.data.requirement import Requirement
from lookalike.data.wording import Wording
from lookalike.errors import Infeasible, LookalikeError, RecipeError, Unsupported
from lookalike.evaluation.advise.promises import belief_in_extremes, promise_to_start_with
from lookalike.evaluation.compare.runs import choose_algorithms, promise_text
from lookalike.evaluation.tradeoff import vary_promises
from lookalike.models import MODELS, describe_models, parse_model, parse_promise
from lookalike.models.shared.model import example_of
from lookalike.pipeline.recipe import Recipe, find_refusal, prepare, refuse_persons, require, settle

_FORMS = {
    "grouped": "One table of ranges and sets. People of a group look alike; diagnoses and other sensitive values stay "
    "exact. The easiest to read.",
    "matched": "One table in which every row has its own ranges, so less is lost; rows overlap, and counts need a "
    "little more care.",
    "bucketized": "Two tables joined by a bucket number. What may be known about people stays exact; whose value is "
    "whose within a bucket nobody can tell. It does not hide who is in the table.",
    "perturbed": "One exact table in which sensitive values were redrawn at random. Single values say little; counts "
    "over many rows are reconstructed. It does not hide who is in the table.",
}
_FACTORS = (Fraction(1, 2), Fraction(1), Fraction(2))


def describe_promises(project: Project) -> list[dict[str, Any]]:
    """The models in plain words: those with a slider first; the others are written by hand."""
    meanings = {row["name"]: row for row in describe_models()}
    return [
        {
            "name": name,
            "meaning": meanings[name]["meaning"],
            "about_identity": kind.about_identity,
            "slider": None
            if kind.slider is None
            else {
                **asdict(kind.slider),
                "text": kind.slider.text(name, "{value}"),
                "rises": parse_model(kind.slider.text(name)).rises,
            },
            "needs_sensitive": not kind.about_identity,
            "example": example_of(kind),
            "parameters": [{"name": one["name"], "meaning": one["meaning"]} for one in meanings[name]["parameters"]],
        }
        for name, kind in sorted(MODELS.items(), key=lambda item: item[1].slider is None)
    ]


def recommend_start(project: Project) -> dict[str, Any] | None:
    """The promises to start with, as `inspect` recommends them, and why; None where nothing can be promised yet."""
    try:
        data = project.selected()
    except LookalikeError:
        return None
    columns = [(data.prior(index), domain) for index, domain in enumerate(data.domains.sensitive)]
    start = promise_to_start_with(data.n_persons, columns)
    return {"models": [str(promise) for promise in start.promises], "reasons": list(start.reasons)}


def what_it_allows(project: Project, text: str) -> dict[str, Any]:
    """One promise, as one writes it: in a sentence, with the probabilities it leaves, or why it cannot be kept."""
    try:
        data = project.selected()
        promises = settle([parse_promise(text)], data)
        requirements = require(promises, data)
        _refuse_unserved(promises, requirements, data, project.adversary)
    except LookalikeError as error:
        nearest = error.nearest if isinstance(error, Infeasible) else None
        return {"model": text, "feasible": False, "reason": str(error), "nearest": nearest}
    known = "all rows" if project.persons.rows == LINKED else "one row"
    unit = None if data.persons is None else Unit(data.schema.unit_name, known)
    names = tuple(column.name for column in data.domains.quasi)
    wording = Wording(adversary=project.adversary, known=names, unit=unit)
    sentences, beliefs, cautions = [], [], list[str]()
    for promise, requirement in zip(promises, requirements, strict=True):
        sentences.append(promise.sentence(wording))
        if promise.column is None:
            continue
        index = data.domains.sensitive_index(promise.column)
        domain, prior = data.domains.sensitive[index], data.prior(index)
        for found in belief_in_extremes(promise.model, requirement, prior, domain):
            beliefs.append(
                {
                    "column": promise.column,
                    "value": found.value,
                    "share": float(found.share),
                    "ceiling": float(found.ceiling),
                    "sentence": f"{found.sentence[:1].upper()}{found.sentence[1:]}.",
                }
            )
        cautions += promise.model.cautions(prior, domain)
    return {
        "model": text,
        "feasible": True,
        "promises": [str(promise) for promise in promises],
        "sentences": sentences,
        "beliefs": beliefs,
        "cautions": cautions,
    }


def _refuse_unserved(
    promises: Sequence[Promise], requirements: Sequence[Requirement], data: Microdata, adversary: str
) -> None:
    """Raise `Unsupported` if no method keeps such a promise for persons who have several rows."""
    methods = (kind().facing(adversary) for kind in ALGORITHMS.values())
    reasons = [_refuse(one, promises, requirements, data, adversary) for one in methods]
    said = [reason for reason in reasons if reason is not None]
    if len(said) == len(reasons):
        raise Unsupported(f"{said[0][:1].upper()}{said[0][1:]}.")


def _refuse(
    algorithm: Algorithm,
    promises: Sequence[Promise],
    requirements: Sequence[Requirement],
    data: Microdata,
    adversary: str,
) -> str | None:
    """Why a method cannot keep these promises for persons with several rows, apart or linked, or None."""
    reason = refuse_persons(algorithm, promises, data, adversary)
    return reason or (None if data.visits is None else algorithm.refuses_linked_rows(requirements))


def forget_broken(project: Project) -> None:
    """What was promised before may no longer fit."""
    try:
        if project.models:
            check_models(project, project.models, project.adversary)
    except LookalikeError:
        project.models = ()


def check_models(project: Project, models: Sequence[str], adversary: str) -> None:
    data = project.selected()
    promises = settle([parse_promise(text) for text in models], data)
    _refuse_unserved(promises, require(promises, data), data, adversary)


def describe_methods(project: Project) -> dict[str, Any]:
    """Every method with its form, what that form trades, and why it cannot serve the promise, if it cannot."""
    if not project.models:
        raise RecipeError("No promise is chosen yet. Choose one first.")
    recipe = Recipe.of(
        schema=project.schema, model=project.models, adversary=project.adversary, persons=project.drawn()
    )
    prepared = prepare(recipe, project.microdata())
    data, recommended = prepared.data, prepared.algorithm
    rows = []
    for row in describe_algorithms():
        algorithm = ALGORITHMS[row["name"]]().facing(project.adversary)
        reason = find_refusal(algorithm, project.adversary, prepared.promises, prepared.requirements, data.domains)
        reason = reason or _refuse(algorithm, prepared.promises, prepared.requirements, data, project.adversary)
        rows.append(
            {
                "name": row["name"],
                "meaning": row["meaning"],
                "form": algorithm.form,
                "trade": _FORMS[algorithm.form],
                "refused": reason,
                "recommended": row["name"] == recommended.name,
                "parameters": row["parameters"],
            }
        )
    return {
        "methods": rows,
        "recommended": recommended.name,
        "chosen": project.algorithm,
        "settings": _settings(project.algorithm),
    }


def _settings(text: str | None) -> dict[str, str]:
    """The settings of the chosen method that are not the usual ones, as one writes them."""
    if text is None:
        return {}
    algorithm: Any = parse_algorithm(text)
    usual: Any = type(algorithm)()
    return {
        field.name: value_text(getattr(algorithm, field.name))
        for field in fields(algorithm)
        if getattr(algorithm, field.name) != getattr(usual, field.name)
    }


def what_to_compare(project: Project) -> dict[str, Any]:
    """A comparison to begin with: the promise, a weaker and a stronger one, by the methods that suit it."""
    found = describe_methods(project)
    data = project.selected()
    promises = settle([parse_promise(text) for text in project.models], data)
    texts = []
    for _, variant in vary_promises(promises, _FACTORS):
        with suppress(Infeasible):
            require(variant, data)
            texts.append(promise_text(variant))
    usual = {algorithm.name for algorithm in choose_algorithms(promises)}
    usable = [row for row in found["methods"] if row["refused"] is None]
    return {"models": texts, "methods": [{**row, "usual": row["name"] in usual} for row in usable]}
