"""Models from text: `beta-likeness:3,bound=basic`, and promises: `occupation=beta-likeness:3`.

After the name and a colon stand parameters, parted by commas. The first may be bare: it is the model's own letter.
The others are key=value; a backslash before a comma, a bar or a colon takes it as part of a value.

A promise may begin with a column and an equals sign. Columns may hold spaces and equals signs themselves: the model is
what stands after the last equals sign that a known model name follows (up to its colon or the end of the text).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from lookalike.contracts import PrivacyModel, Promise
from lookalike.errors import RecipeError, quoted, unknown_name
from lookalike.models.parameters import meanings, split, unescaped, value_text

Models = Mapping[str, type[PrivacyModel]]

_OTHER_SPELLINGS = {"l": "ell"}


def read_model(text: str, models: Models) -> PrivacyModel:
    """The model that the text describes, among those of the table."""
    name, _, rest = text.strip().partition(":")
    if name not in models:
        raise RecipeError(unknown_name("model", name, models))
    model = models[name]
    known = list(inspect.signature(model).parameters)
    given: dict[str, str] = {}
    for place, part in enumerate(split(rest, ",") if rest.strip() else []):
        key, equals, value = part.partition("=")
        key = _OTHER_SPELLINGS.get(key.strip(), key.strip())
        if not equals:
            if place:
                raise RecipeError(
                    f"{quoted(text)}: {quoted(part)} has no name. Only the first value may be bare; write key=value."
                )
            key, value = known[0], part
        if key not in known:
            raise RecipeError(f"{name}: {unknown_name('parameter', key, known)}")
        if key in given:
            raise RecipeError(f"{name}: {key} is given twice. Give it once.")
        given[key] = value.strip()
    return _made(model, given)


def _made(model: type[PrivacyModel], given: Mapping[str, str]) -> PrivacyModel:
    parameters = inspect.signature(model).parameters
    absent = [key for key, parameter in parameters.items() if parameter.default is parameter.empty and key not in given]
    if absent:
        asked = ",".join(f"{key}=..." for key in absent)
        raise RecipeError(f"{model.name} needs {', '.join(absent)}. Write {model.name}:{asked}.")
    # Names of values keep their escapes: the parameter that takes them apart also removes them.
    structured = ("subset", "ceilings")
    return model(**{key: value if key in structured else unescaped(value) for key, value in given.items()})


def read_promise(text: str, models: Models) -> Promise:
    """The promise that the text describes: a model, or column=model."""
    text = text.strip()
    if _model_name(text) in models:
        return Promise(read_model(text, models))
    places = [place for place, character in enumerate(text) if character == "="]
    for place in reversed(places):
        if _model_name(text[place + 1 :]) in models:
            model = read_model(text[place + 1 :], models)
            column = text[:place].strip()
            if model.about_identity:
                raise RecipeError(f"{model.name} is about persons, not about a column. Write {model} alone.")
            if not column:
                raise RecipeError(f"{quoted(text)} names no column before the equals sign. Write COLUMN={model}.")
            return Promise(model, column)
    # Nothing fits: complain about what stands where a model should.
    before_colon = text.partition(":")[0]
    raise RecipeError(unknown_name("model", before_colon.rpartition("=")[2].strip(), models))


def _model_name(text: str) -> str:
    return text.partition(":")[0].strip()


def describe(models: Models) -> list[dict[str, Any]]:
    """One plain row a model: name, letter, what it is, and its parameters with default and meaning."""
    rows = []
    for name, model in models.items():
        said = meanings(model)
        parameters = [
            {
                "name": key,
                "default": None if parameter.default in (parameter.empty, None) else value_text(parameter.default),
                "required": parameter.default is parameter.empty,
                "meaning": said.get(key, ""),
            }
            for key, parameter in inspect.signature(model).parameters.items()
        ]
        about = (model.__doc__ or "").strip().split("\n")[0]
        rows.append({"name": name, "letter": model.letter, "meaning": about, "parameters": parameters})
    return rows
