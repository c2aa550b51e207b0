"""A page for every model, method, attack and metric, with what a reader looks for, and true."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lookalike.algorithms import ALGORITHMS, SYNTHESIZERS, describe_algorithms
from lookalike.attacks import ATTACKS, describe_attacks
from lookalike.data.parameters import describe
from lookalike.metrics import FIDELITY, METRICS, QUERIES
from lookalike.models import MODELS, describe_models, parse_model
from tests.docs.pages import (
    DOCS,
    blocks_of,
    headings_of,
    script,
    sections_of,
)

MODEL_HEADINGS = (
    "Promise",
    "What it does not promise",
    "Definition",
    "Paper",
    "Parameters",
    "Example",
    "Eligibility",
    "Cost",
    "Notes",
)
METRIC_HEADINGS = ("What it says", "What it does not say", "Definition", "Paper", "Example", "Cost")
ALGORITHM_HEADINGS = (
    "Promise",
    "What it does not promise",
    "How it works",
    "Paper",
    "Parameters",
    "Example",
    "Cost",
)
ATTACK_HEADINGS = ("What it shows", "What it does not show", "How it works", "Paper", "Parameters", "Example", "Cost")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_page(name: str) -> None:
    page = DOCS / "models" / f"{name}.md"
    assert tuple(headings_of(page)) == (name, *MODEL_HEADINGS)
    rows = {row["name"]: row for row in describe_models()}
    text = page.read_text(encoding="utf-8")
    for parameter in rows[name]["parameters"]:
        assert f"| `{parameter['name']}` |" in text
    assert any(block.kind == "python" for block in blocks_of(page))
    for picture in (f"{name}.svg", f"{name}-loss.svg"):
        assert f"]({picture})" in text
        assert (page.parent / picture).is_file()
    assert f"(models/{name}.md)" in (DOCS / "choose-a-promise.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("model", "share", "belief"),
    [
        ("k-anonymity:10", 0.01, 1),
        ("alpha-k:alpha=0.2,k=5", 0.3, None),
        ("l-diversity:5", 0.01, 0.2),
        ("l-diversity:5,kind=distinct", 0.01, 0.999999),
        ("t-closeness:0.1", 0.01, 0.11),
        ("beta-likeness:3", 0.01, 0.04),
        ("beta-likeness:3", 0.3, 0.3 * (1 - math.log(0.3))),
        ("beta-likeness:3,bound=basic", 0.3, 1),
        ("delta-disclosure:1.5", 0.01, 0.01 * math.exp(1.5)),
        ("delta-disclosure:1.5", 0.5, 1 - 0.5 * math.exp(-1.5)),
        ("f-privacy:theta=2", 0.01, 0.04),
        ("rho-privacy:rho1=0.01,rho2=0.1", 0.02, 1),
    ],
)
def test_pictures_of_models_show_what_the_models_allow(model: str, share: float, belief: float | None) -> None:
    found = script("make_model_pictures").largest_belief(parse_model(model), share)
    assert found == (None if belief is None else pytest.approx(belief, abs=2e-6))


def test_hiv_and_flu_are_believed_as_the_table_says() -> None:
    text = (DOCS / "choose-a-promise.md").read_text(encoding="utf-8")
    number = r"([\d.]+)"
    line = rf"^\| `(\S+)` \| {number} % \| {number} times \| {number} % \| {number} times \|$"
    rows = re.findall(line, text, re.MULTILINE)
    assert len(rows) >= 7
    most = script("make_model_pictures").largest_belief
    for model, *printed in rows:
        for share, percent, times in zip((0.001, 0.1), printed[::2], printed[1::2], strict=True):
            belief = most(parse_model(model), share)
            assert float(percent) == pytest.approx(100 * belief, rel=0.011), model
            assert float(times) == pytest.approx(belief / share, rel=0.011), model


def test_every_model_is_pictured() -> None:
    assert set(script("make_model_pictures").MODELS) == set(MODELS)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_has_a_page(name: str) -> None:
    rows = {row["name"]: row for row in describe_algorithms()}
    check_page_of(DOCS / "algorithms" / f"{name}.md", ALGORITHM_HEADINGS, rows[name])


@pytest.mark.parametrize("name", [name for name in SYNTHESIZERS if name != "privbayes"])
def test_every_other_synthesizer_has_a_page(name: str) -> None:
    """What all of them promise, and PrivBayes, are in docs/synthesis.md."""
    (row,) = (row for row in describe(SYNTHESIZERS) if row["name"] == name)
    check_page_of(DOCS / "algorithms" / f"{name}.md", ALGORITHM_HEADINGS, row)
    assert f"(algorithms/{name}.md)" in (DOCS / "synthesis.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_has_a_page(name: str) -> None:
    rows = {row["name"]: row for row in describe_attacks()}
    check_page_of(DOCS / "attacks" / f"{name}.md", ATTACK_HEADINGS, rows[name])
    assert f"| [{name}](attacks/{name}.md) |" in (DOCS / "attacks.md").read_text(encoding="utf-8")


def check_page_of(page: Path, headings: tuple[str, ...], row: dict[str, Any]) -> None:
    """Its name, the usual sections first and in order, a picture, its parameters, an example that runs."""
    text = page.read_text(encoding="utf-8")
    sections = sections_of(page)
    assert headings_of(page)[0] == row["name"]
    assert tuple(sections)[: len(headings)] == headings
    assert all(sections.values())
    assert f"]({row['name']}.svg)" in text
    picture = ElementTree.parse(page.with_suffix(".svg"))
    assert any(words.strip() for words in picture.getroot().itertext())
    named = re.findall(r"^\| `(\w+)` \|", sections["Parameters"], re.MULTILINE)
    assert sorted(named) == sorted(parameter["name"] for parameter in row["parameters"])
    assert named or sections["Parameters"] == "None."
    assert "```python" in sections["Example"]


@pytest.mark.parametrize("family", ["models", "algorithms", "attacks", "metrics"])
def test_pages_of_a_family_are_those_of_its_members(family: str) -> None:
    pages = script("make_indexes").pages_of(family)
    assert sorted(page.stem for page in (DOCS / family).glob("*.md")) == sorted(pages)


def test_methods_keep_what_their_pages_say() -> None:
    indexes = script("make_indexes")
    stays = indexes.stays()
    for row in describe_algorithms():
        name = row["name"]
        promise = sections_of(DOCS / "algorithms" / f"{name}.md")["Promise"]
        linked = re.findall(r"\(\.\./models/([\w-]+)\.md\)", promise)
        served = indexes.served(name, stays)
        assert sorted(linked) == sorted(served) or ("[every model]" in promise and served == list(MODELS)), name
        assert f"`{row['adversary']}`" in promise, name


@pytest.mark.parametrize("name", [*METRICS, *FIDELITY, *QUERIES])
def test_every_metric_has_a_page(name: str) -> None:
    page = DOCS / "metrics" / f"{name}.md"
    assert tuple(headings_of(page)) == (name, *METRIC_HEADINGS)
    assert f"]({name}.svg)" in page.read_text(encoding="utf-8")
    assert (page.parent / f"{name}.svg").is_file()
    assert any(block.kind == "python" for block in blocks_of(page))
    overview = DOCS / "metrics.md"
    assert name in headings_of(overview)
    assert f"| [{name}](metrics/{name}.md) |" in overview.read_text(encoding="utf-8")
