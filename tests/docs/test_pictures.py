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
from lookalike.samples import hospital

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(DOCS))
        yield {
            "algorithms": importlib.import_module("make_algorithm_pictures"),
            "attacks": importlib.import_module("make_attack_pictures"),
            "twelve": importlib.import_module("twelve"),
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


@pytest.mark.parametrize("name", [*ALGORITHMS, "mst"])
def test_every_method_is_shown_on_the_same_twelve_people(name: str, scripts: dict[str, ModuleType]) -> None:
    twelve = scripts["twelve"]
    page = (DOCS / "algorithms" / f"{name}.md").read_text("utf-8")
    shown = page.partition(twelve.BEGIN)[2].partition(twelve.END)[0]
    people = ["| " + " | ".join(map(str, person)) + " | " for person in twelve.PEOPLE]
    rows = [line for line in shown.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == len(people)
    assert all(row.startswith(person) for row, person in zip(rows, people, strict=True))


@pytest.mark.parametrize("name", ["mondrian", "anatomy", "perturbation"])
def test_twelve_people_come_out_as_the_page_says(name: str, scripts: dict[str, ModuleType]) -> None:
    twelve = scripts["twelve"]
    page = (DOCS / "algorithms" / f"{name}.md").read_text("utf-8")
    assert twelve.BEGIN + twelve.tables(name) + twelve.END in page, "run python docs/twelve.py"


def test_the_cards_of_the_landing_page_are_six_people_of_the_sample_who_keep_the_promise() -> None:
    before, after = (rows_of(DOCS / "assets" / f"{name}.svg") for name in ("before", "after"))
    table = hospital(1_000)
    sample = [
        tuple(str([*table[name].values, "(missing)"][table[name].codes[row]]) for name in ("age", "sex", "zip code"))
        for row in range(1_000)
    ]
    assert len(before) == len(after) == 6
    assert all(sample.count(tuple(row[:3])) == 1 for row in before)
    assert sorted(row[3] for row in before) == sorted(row[3] for row in after)
    (cells,) = {tuple(row[:3]) for row in after}
    low, high = map(int, cells[0].split(".."))
    assert all(low <= int(row[0]) <= high and row[1] == cells[1] and row[2] in cells[2].split("|") for row in before)
    assert all([row[3] for row in after].count(row[3]) <= 2 for row in after)


def rows_of(card: Path) -> list[list[str]]:
    """What the rows of a card say, below its header."""
    texts = [text.text or "" for text in ElementTree.parse(card).getroot().iter() if text.tag.endswith("text")]
    cells = texts[texts.index("diagnosis") + 1 : -1]
    return [cells[start : start + 4] for start in range(0, len(cells), 4)]


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
