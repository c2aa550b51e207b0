"""Runs the notebooks and stores what came out: `python notebooks/refresh.py`.

They are stored with their outputs, so that they can be read where nobody runs them. A test runs them too and compares.
What differs between two runs of the same code (times, counters, memory addresses) is not stored.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent
SHOWN = {FOLDER.parent / "docs" / "beliefs.svg": ("hospital-release", "belief")}
"""Pictures that other pages show: from which notebook, and which cell."""


def notebooks() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def executed(path: Path, folder: Path) -> Any:
    """The notebook with fresh outputs, run in that folder by the Python that runs this."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    )
    client.execute()
    for number, cell in enumerate((cell for cell in notebook.cells if cell.cell_type == "code"), 1):
        cell.execution_count = number
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def texts(notebook: Any) -> list[tuple[str, str]]:
    """What each code cell printed or showed, as text, by the cell's name."""
    return [
        (
            cell.id,
            "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs),
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def picture(notebook: Any, name: str) -> str:
    """The picture that the cell of that name shows."""
    cell = next(cell for cell in notebook.cells if cell.id == name)
    return str(
        next(output.data["image/svg+xml"] for output in cell.outputs if "image/svg+xml" in output.get("data", {}))
    )


if __name__ == "__main__":
    # No notebook shows what a full report takes its time for.
    os.environ.setdefault("LOOKALIKE_REPORT", "brief")
    for page in notebooks():
        with tempfile.TemporaryDirectory() as scratch:
            nbformat.write(executed(page, Path(scratch)), page)
    for file, (stem, cell_name) in SHOWN.items():
        file.write_text(
            picture(nbformat.read(FOLDER / f"{stem}.ipynb", as_version=4), cell_name) + "\n", encoding="utf-8"
        )
