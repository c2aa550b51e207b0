"""Privacy models: what a release promises, each in one file, all under the protocol `contracts.PrivacyModel`.

A model is a frozen dataclass of exact parameters. `MODELS` is the table of them by the name used in text. Most models
are ceilings on the belief in each sensitive value (l-diversity, alpha-k, beta-likeness, f-privacy, rho-privacy); sizes
(k-anonymity), floors (delta-disclosure) and group tests (t-closeness, other kinds of l-diversity) are the rest.
"""

from __future__ import annotations

from typing import Any

from lookalike.data.contracts import PrivacyModel, Promise
from lookalike.data.parameters import describe
from lookalike.models.alpha_k import AlphaK
from lookalike.models.beta_likeness import BetaLikeness
from lookalike.models.delta_disclosure import DeltaDisclosure
from lookalike.models.f_privacy import FPrivacy
from lookalike.models.k_anonymity import KAnonymity
from lookalike.models.k_concealment import KConcealment
from lookalike.models.l_diversity import LDiversity
from lookalike.models.rho_privacy import RhoPrivacy
from lookalike.models.shared.model import read_model, read_promise
from lookalike.models.t_closeness import TCloseness

MODELS: dict[str, type[PrivacyModel]] = {
    "k-anonymity": KAnonymity,
    "k-concealment": KConcealment,
    "alpha-k": AlphaK,
    "l-diversity": LDiversity,
    "t-closeness": TCloseness,
    "beta-likeness": BetaLikeness,
    "delta-disclosure": DeltaDisclosure,
    "f-privacy": FPrivacy,
    "rho-privacy": RhoPrivacy,
}

__all__ = [
    "MODELS",
    "AlphaK",
    "BetaLikeness",
    "DeltaDisclosure",
    "FPrivacy",
    "KAnonymity",
    "KConcealment",
    "LDiversity",
    "RhoPrivacy",
    "TCloseness",
    "describe_models",
    "parse_model",
    "parse_promise",
]


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
    """One plain row a model: name, letter, meaning, and its parameters with default, whether required, and meaning."""
    return [{**row, "letter": MODELS[row["name"]].letter} for row in describe(MODELS)]
