"""The notebooks run, and what is stored in them is what their code gives."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def refresh() -> ModuleType:
    spec = importlib.util.spec_from_file_location("refresh", NOTEBOOKS[0].parent / "refresh.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_stored_outputs_are_those_of_the_code(page: Path, refresh: ModuleType, tmp_path: Path) -> None:
    stored = nbformat.read(page, as_version=4)
    assert refresh.texts(refresh.executed(page, tmp_path)) == refresh.texts(stored), "run make notebooks"


@pytest.mark.parametrize("page", NOTEBOOKS, ids=lambda page: page.stem)
def test_stored_notebooks_show_something_and_tell_nothing_of_the_machine(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.*])/(?:home|root|work|tmp|usr|var|etc|opt|mnt|Users)/", text)
    assert not re.search(r"\b[A-Z]:\\\\|0x[0-9a-f]{6,}", text)
    cells = nbformat.read(page, as_version=4).cells
    outputs = [output for cell in cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
    pictures = [output.data["image/svg+xml"] for output in outputs if "image/svg+xml" in output.get("data", {})]
    assert pictures
    assert all(picture.startswith("<svg") for picture in pictures)
    assert not any("timing" in str(cell.metadata) or "execution" in str(cell.metadata) for cell in cells)


def test_pictures_on_other_pages_are_those_of_the_notebooks(refresh: ModuleType) -> None:
    for file, (stem, cell) in refresh.SHOWN.items():
        stored = nbformat.read(NOTEBOOKS[0].parent / f"{stem}.ipynb", as_version=4)
        assert file.read_text(encoding="utf-8").strip() == refresh.picture(stored, cell).strip(), "run make notebooks"


def test_there_are_two_notebooks() -> None:
    assert [page.stem for page in NOTEBOOKS] == ["analyst", "hospital-release"]
