"""The package root: what it offers, what it loads, how fast it loads."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lookalike as la


def test_every_name_offered_is_there_and_nothing_else() -> None:
    assert sorted(la.__all__) == sorted(set(la._HOMES) - {"spark"})
    assert la.spark.__name__ == "lookalike.spark"
    for name in la.__all__:
        assert getattr(la, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        la.anonymise


@pytest.mark.parametrize(
    "statement",
    [
        "import lookalike",
        "import lookalike; lookalike.KAnonymity(5); lookalike.publish",
        "from lookalike.apps.cli import main",
    ],
)
def test_heavy_libraries_stay_out(statement: str) -> None:
    heavy = [
        "polars",
        "pandas",
        "pyarrow",
        "numba",
        "scipy",
        "pyspark",
        "fastapi",
        "starlette",
        "pydantic",
        "uvicorn",
        "httpx",
        "jinja2",
        "rich",
        "sqlglot",
        "jax",
        "mbi",
    ]
    script = f"{statement}\nimport sys\nprint([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_help_and_import_do_not_even_load_numpy() -> None:
    """What keeps both under a third of a second."""
    for statement in ("import lookalike", "from lookalike.apps.cli import main"):
        script = f"{statement}\nimport sys\nprint('numpy' in sys.modules)"
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        assert result.stdout.strip() == "False", statement
