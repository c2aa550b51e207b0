"""Which methods serve the promise, which one is recommended, and what each trades for what."""

from __future__ import annotations

from typing import Any

from lookalike.algorithms import ALGORITHMS, describe_algorithms, parse_algorithm
from lookalike.errors import RecipeError
from lookalike.models import parse_promise
from lookalike.pipeline import Recipe, choose, refusal, required, settle
from lookalike.studio.workspace import Project

FORMS = {
    "grouped": "One table of ranges and sets. People of a group look alike; diagnoses and other sensitive values stay "
    "exact. The easiest to read.",
    "matched": "One table in which every row has ranges of its own, so less is lost; rows overlap, and counts need a "
    "little more care.",
    "bucketized": "Two tables joined by a bucket number. What may be known about people stays exact; whose value is "
    "whose within a bucket nobody can tell. It does not hide who is in the table.",
    "perturbed": "One exact table in which sensitive values were redrawn at random. Single values say little; counts "
    "over many rows are reconstructed. It does not hide who is in the table.",
}


def describe_methods(project: Project) -> dict[str, Any]:
    """Every method with its form, what that form trades, and why it cannot serve the promise, if it cannot."""
    if not project.models:
        raise RecipeError("No promise is chosen yet. Choose one first.")
    data = project.microdata()
    promises = settle([parse_promise(text) for text in project.models], data)
    requirements = required(promises, data)
    recipe = Recipe(schema=project.schema, promises=promises, adversary=project.adversary)
    recommended, _ = choose(recipe, promises, requirements)
    rows = []
    for row in describe_algorithms():
        algorithm = ALGORITHMS[row["name"]]().facing(project.adversary)
        reason = refusal(algorithm, project.adversary, promises, requirements)
        rows.append(
            {
                "name": row["name"],
                "meaning": row["meaning"],
                "form": algorithm.form,
                "trade": FORMS[algorithm.form],
                "refused": reason,
                "recommended": row["name"] == recommended.name,
                "parameters": row["parameters"],
            }
        )
    return {"methods": rows, "recommended": recommended.name, "chosen": project.algorithm}


def check_method(text: str | None) -> str | None:
    """A method as one writes it, or None for the recommended one; raises if there is no such method or setting."""
    return None if not text else str(parse_algorithm(text))
