"""The pictures in the documents: one for each method and attack, and five diagrams, as the scripts draw them today."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from lookalike.algorithms import ALGORITHMS, SYNTHESIZERS
from lookalike.attacks import ATTACKS
from lookalike.evaluation import charts

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(DOCS))
        yield {
            "algorithms": importlib.import_module("make_algorithm_pictures"),
            "attacks": importlib.import_module("make_attack_pictures"),
            "diagrams": importlib.import_module("make_diagrams"),
        }


def test_everything_has_a_picture(scripts: dict[str, ModuleType]) -> None:
    assert list(scripts["algorithms"].SHOWN) == list(ALGORITHMS)
    assert {"privbayes", *scripts["algorithms"].SYNTHESIZERS} == set(SYNTHESIZERS)
    assert list(scripts["attacks"].PICTURES) == list(ATTACKS)


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("algorithms", "mondrian-strict"),
        ("algorithms", "freeform"),
        ("algorithms", "two-size"),
        ("algorithms", "perturbation"),
        ("attacks", "repeated-values"),
        ("attacks", "composition"),
    ],
)
def test_pictures_say_what_the_methods_do(kind: str, name: str, scripts: dict[str, ModuleType]) -> None:
    """Titles with their figures, legends, tiles and ends of axes, as in the file."""
    drawn = ElementTree.fromstring(charts.svg(scripts[kind].picture(name)))
    kept = ElementTree.parse(DOCS / kind / f"{name}.svg").getroot()
    assert list(drawn.itertext()) == list(kept.itertext()), f"run python docs/make_{kind[:-1]}_pictures.py"


@pytest.mark.parametrize("name", ["packages", "publish", "forms", "audit", "parts"])
def test_diagrams_are_as_the_script_draws_them(name: str, scripts: dict[str, ModuleType]) -> None:
    drawn = scripts["diagrams"].DIAGRAMS[name]()
    assert (DOCS / "diagrams" / f"{name}.svg").read_text("utf-8") == drawn, "run python docs/make_diagrams.py"


def test_every_diagram_is_shown_and_needs_nothing_from_elsewhere(scripts: dict[str, ModuleType]) -> None:
    pages = "".join(page.read_text("utf-8") for page in DOCS.glob("*.md"))
    files = sorted((DOCS / "diagrams").iterdir())
    assert [file.stem for file in files] == sorted(scripts["diagrams"].DIAGRAMS)
    for file in files:
        assert f"](diagrams/{file.name})" in pages
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not any(word in text for word in ("http", "href", "<style", "<script", "url("))
