"""Families: every member is in a file named as on the command line, and a family's folder holds nothing else."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from lookalike.algorithms import ALGORITHMS, SYNTHESIZERS
from lookalike.attacks import ATTACKS
from lookalike.data.contracts import PrivacyModel
from lookalike.metrics import FIDELITY, METRICS, QUERIES
from lookalike.models import MODELS, parse_model

FAMILIES: dict[str, dict[str, Any]] = {
    "models": dict(MODELS),
    "algorithms": {**ALGORITHMS, **SYNTHESIZERS},
    "attacks": dict(ATTACKS),
    "metrics": {**METRICS, **FIDELITY, **QUERIES},
}


@pytest.mark.parametrize(("family", "name"), [(family, name) for family in FAMILIES for name in FAMILIES[family]])
def test_a_member_is_in_the_file_of_its_name(family: str, name: str) -> None:
    member = FAMILIES[family][name]
    assert member.name == name
    assert member.__module__.split(".")[1:3] == [family, name.replace("-", "_")]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_folder_holds_members_and_shared_only(family: str) -> None:
    folder = Path(str(importlib.import_module(f"lookalike.{family}").__file__)).parent
    found = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    members = {name.replace("-", "_") for name in FAMILIES[family]}
    assert found - {"__init__", "shared"} == members | ({"run"} if family == "attacks" else set())


def test_every_model_keeps_the_protocol() -> None:
    texts = ["k-anonymity:2", "k-concealment:2", "alpha-k:alpha=0.5,k=2", "l-diversity:2", "t-closeness:0.5"]
    texts += ["beta-likeness:1", "delta-disclosure:1", "f-privacy:theta=2", "rho-privacy:rho1=0.2,rho2=0.5"]
    models = [parse_model(text) for text in texts]
    assert [model.name for model in models] == list(MODELS)
    for model in models:
        assert isinstance(model, PrivacyModel)
        assert model.name in MODELS
        sentence = model.promise(None if model.about_identity else "main diagnosis")
        assert sentence.endswith(".")
        assert model.about_identity or "main diagnosis" in sentence
        assert model.about_identity or model.refuses_form("grouped") is None
