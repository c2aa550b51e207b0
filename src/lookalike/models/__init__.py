"""Privacy models: what a release promises. Each is in the file of its name and fits `contracts.PrivacyModel`.

A model is a frozen dataclass of exact parameters. Most models are ceilings on the certainty in each sensitive value
(l-diversity, alpha-k, beta-likeness, f-privacy, rho-privacy); sizes (k-anonymity), floors (delta-disclosure) and group
tests (t-closeness, other kinds of l-diversity) are the rest.
"""

from __future__ import annotations

from typing import Any

from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.families import Family
from lookalike.data.parameters import describe
from lookalike.models.shared.model import read_model, read_promise

_NAMES = """k-anonymity k-concealment alpha-k l-diversity t-closeness beta-likeness delta-disclosure f-privacy
    rho-privacy"""
MODELS = Family[PrivacyModel](__name__, *_NAMES.split())


def parse_model(text: str) -> PrivacyModel:
    """
    >>> parse_model("beta-likeness:3,bound=basic")
    BetaLikeness(beta=Fraction(3, 1), bound='basic', negative=None, negative_form='ratio')
    """
    return read_model(text, MODELS)


def parse_promise(text: str) -> Promise:
    """
    >>> str(parse_promise("main diagnosis=l-diversity:5"))
    'main diagnosis=l-diversity:5'
    """
    return read_promise(text, MODELS)


def describe_models() -> list[dict[str, Any]]:
    """One plain row per model: name, letter, meaning and parameters."""
    return [{**row, "letter": MODELS[row["name"]].letter} for row in describe(MODELS)]
