"""What a promise allows on this table, at once: the sentence, the beliefs it leaves, and whether it can be kept."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from lookalike.apps.studio.workspace import Project
from lookalike.errors import Infeasible, LookalikeError
from lookalike.evaluation.advise.bearing import belief_in_extremes
from lookalike.models import MODELS, describe_models, parse_promise
from lookalike.pipeline.recipe import required, settle


@dataclass(frozen=True)
class Slider:
    """The one number of a model that a steward moves first."""

    name: str
    """The model's name."""
    title: str
    low: float
    high: float
    step: float
    usual: float
    text: str = "{name}:{value}"
    """How the promise is written."""


SLIDERS = (
    Slider("k-anonymity", "Nobody is found among fewer than k rows", 2, 100, 1, 5),
    Slider("beta-likeness", "No belief grows by more than beta times a value's share", 0.1, 10, 0.1, 3),
    Slider("l-diversity", "No belief in a value is above 1 in l", 2, 50, 1, 4),
    Slider("t-closeness", "What is known of a group is near what is known of all, within t", 0.02, 1, 0.01, 0.2),
    Slider("delta-disclosure", "Beliefs change by a factor of e to the delta at most, up or down", 0.1, 5, 0.1, 1.4),
    Slider("f-privacy", "Every value has a ceiling of its own, theta times what its share suggests", 0.1, 10, 0.1, 2,
           "{name}:theta={value}"),
)  # fmt: skip


EXAMPLES = {
    "k-concealment": "k-concealment:5",
    "alpha-k": "alpha-k:0.5,k=5",
    "rho-privacy": "rho-privacy:0.1,rho2=0.5",
}
"""How models without a slider are written."""


def describe_promises(project: Project) -> list[dict[str, Any]]:
    """The models in plain words, with their sliders; those without one are written by hand."""
    rows = _rows()
    sliders = {slider.name: slider for slider in SLIDERS}
    described = []
    for name in (*sliders, *(name for name in MODELS if name not in sliders)):
        slider = sliders.get(name)
        described.append(
            {
                "name": name,
                "meaning": rows[name]["meaning"],
                "about_identity": MODELS[name].about_identity,
                "slider": None
                if slider is None
                else {
                    "title": slider.title,
                    "low": slider.low,
                    "high": slider.high,
                    "step": slider.step,
                    "usual": slider.usual,
                    "text": slider.text,
                },
                "needs_sensitive": not MODELS[name].about_identity,
                "example": EXAMPLES.get(name) or slider_text(sliders[name], sliders[name].usual),
                "parameters": [{"name": one["name"], "meaning": one["meaning"]} for one in rows[name]["parameters"]],
            }
        )
    return described


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """The same for every table, and read from the models' own sources: worked out once."""
    return {row["name"]: row for row in describe_models()}


def slider_text(slider: Slider, value: float) -> str:
    """The promise as one writes it.

    >>> slider_text(SLIDERS[0], 5.0)
    'k-anonymity:5'
    """
    return slider.text.format(name=slider.name, value=f"{value:g}")


def what_it_allows(project: Project, text: str) -> dict[str, Any]:
    """One promise, as one writes it: in a sentence, with the beliefs it leaves, or why it cannot be kept."""
    try:
        data = project.microdata()
        promises = settle([parse_promise(text)], data)
        requirements = required(promises, data)
    except Infeasible as error:
        return {"model": text, "feasible": False, "reason": str(error), "nearest": error.nearest}
    except LookalikeError as error:
        return {"model": text, "feasible": False, "reason": str(error), "nearest": None}
    sentences, beliefs = [], []
    for promise, requirement in zip(promises, requirements, strict=True):
        sentences.append(promise.model.promise(promise.column))
        if promise.column is None:
            continue
        index = data.domains.sensitive_index(promise.column)
        domain, prior = data.domains.sensitive[index], data.counts(index)
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
    cautions = []
    for promise in promises:
        if promise.column is not None:
            index = data.domains.sensitive_index(promise.column)
            cautions += promise.model.cautions(data.counts(index), data.domains.sensitive[index])
    return {
        "model": text,
        "feasible": True,
        "promises": [str(promise) for promise in promises],
        "sentences": sentences,
        "beliefs": beliefs,
        "cautions": cautions,
    }
