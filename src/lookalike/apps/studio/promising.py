"""What a promise allows on this table, at once: the sentence, the beliefs it leaves, and whether it can be kept."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lookalike.apps.studio.workspace import Project
from lookalike.errors import Infeasible, LookalikeError
from lookalike.evaluation.advise.promises import belief_in_extremes
from lookalike.models import MODELS, describe_models, parse_model, parse_promise
from lookalike.models.shared.model import example_of
from lookalike.pipeline.recipe import require, settle


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


def what_it_allows(project: Project, text: str) -> dict[str, Any]:
    """One promise, as one writes it: in a sentence, with the beliefs it leaves, or why it cannot be kept."""
    try:
        data = project.microdata()
        promises = settle([parse_promise(text)], data)
        requirements = require(promises, data)
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
