"""What all models share: how they print, and what holds of a model that does not say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level, PrivacyModel, Promise, Slider
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Whole, component_text, parse_component
from lookalike.data.persons import total_of
from lookalike.data.requirement import Requirement
from lookalike.errors import Infeasible, RecipeError, quoted, unknown_name
from lookalike.models.shared.exposures import EXACT_QUASI, enough_records
from lookalike.models.shared.spelling import Models, explain_refused, explain_spelling

MANY_VALUES = 1000
"""Of columns with more values than this, shares of single values mean little, and their ceilings take long."""


class WrittenModel:
    """The base of every model."""

    name: ClassVar[str]
    letter: ClassVar[str]
    about_identity: ClassVar[bool] = False
    by_possible: ClassVar[bool] = False
    slider: ClassVar[Slider | None] = None
    example: ClassVar[str] = ""
    whole: ClassVar[bool] = False

    @property
    def scale(self) -> str | None:
        return None

    @property
    def rises(self) -> bool:
        return False

    @property
    def level_name(self) -> str:
        return self.letter

    @property
    def level_title(self) -> str:
        return f"{self.level_name} reached"

    @property
    def asked(self) -> Fraction | float:
        assert self.scale is not None, "A model whose levels are on no scale says itself what was asked."
        return Fraction(getattr(self, self.scale))

    @property
    def value_by_value(self) -> bool:
        return False

    @property
    def by_distribution(self) -> bool:
        return False

    @property
    def by_share(self) -> bool:
        return not self.about_identity

    def __str__(self) -> str:
        return component_text(self)

    def cautions(self, prior: NDArray[np.int64], column: Domain | None) -> list[str]:
        return []

    def highest_belief(self, share: Fraction) -> Fraction | None:
        return None

    @classmethod
    def measures(cls) -> Sequence[PrivacyModel]:
        return ()

    @classmethod
    def proposals(cls, prior: NDArray[np.int64], column: Domain) -> Sequence[tuple[PrivacyModel, str]]:
        return ()

    def refuses_form(self, form: str) -> str | None:
        return None


class SizeModel(WrittenModel):
    """The base of models that count the rows a person may be behind."""

    about_identity: ClassVar[bool] = True
    whole: ClassVar[bool] = True
    scale = "k"
    rises = True
    k: Whole

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        n_records = total_of(prior)
        enough_records(str(self), self.k, prior, f"{self.name}:{max(n_records, 1)}")

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        return Requirement(min_size=self.k)

    def holds(self, level: Level) -> bool:
        return level.value >= self.k

    def refuses_form(self, form: str) -> str | None:
        return EXACT_QUASI if form == "perturbed" else None


def example_of(kind: type[PrivacyModel]) -> str:
    """The model as one might write it: its example, its slider's usual number, or else its name."""
    return kind.example or (kind.name if kind.slider is None else kind.slider.text(kind.name))


def strongest(model: PrivacyModel, prior: NDArray[np.int64], column: Domain | None) -> PrivacyModel:
    """The model if the table can keep it, else the nearest that it names itself."""
    try:
        model.check_eligible(prior, column)
    except Infeasible as refused:
        return read_model(refused.nearest or str(model), {model.name: type(model)})
    return model


def read_model(text: str, models: Models) -> PrivacyModel:
    """The model that the text describes, among those of the table."""
    return parse_component(text, "model", models)


def read_promise(text: str, models: Models) -> Promise:
    """The promise that the text describes: a model, or column=model."""
    text = text.strip()
    if _model_name(text) in models:
        try:
            return Promise(read_model(text, models))
        except RecipeError as refused:
            raise RecipeError(explain_refused(text, refused, models)) from None
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
    # Nothing fits: complain about what is where a model should.
    if said := explain_spelling(text, models):
        raise RecipeError(said)
    before, _, last = text.partition(":")[0].rpartition("=")
    is_number = last.strip().replace(".", "", 1).isdigit()
    raise RecipeError(unknown_name("model", (before if before and is_number else last).strip(), models))


def _model_name(text: str) -> str:
    return text.partition(":")[0].strip()
