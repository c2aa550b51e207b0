"""Invented tables to try things on: a hospital and a census, of any size.

A small hospital table comes with the package. It is exactly what `hospital()` draws by default.
`python -m lookalike.samples hospital --rows 5000 --seed 1 --out file.csv` writes a sample as CSV.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from lookalike.apps.samples.census import census, census_schema
from lookalike.apps.samples.drawing import to_csv
from lookalike.apps.samples.hospital import hospital, hospital_schema
from lookalike.errors import LookalikeError, RecipeError

__all__ = [
    "census",
    "census_schema",
    "hospital",
    "hospital_schema",
    "main",
    "sample_knowledge",
    "sample_schema",
    "sample_table",
    "to_csv",
]


def sample_table() -> Path:
    """Where the hospital table lies that comes with the package (CSV)."""
    return Path(str(resources.files("lookalike.apps.samples") / "hospital.csv"))


def sample_schema() -> Path:
    """Where the schema of that table lies (YAML)."""
    return Path(str(resources.files("lookalike.apps.samples") / "hospital-schema.yaml"))


def sample_knowledge() -> Path:
    """Where the rules of common knowledge about that table lie (YAML)."""
    return Path(str(resources.files("lookalike.apps.samples") / "hospital-knowledge.yaml"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code: 0 written, 2 refused."""
    parser = argparse.ArgumentParser(prog="python -m lookalike.samples", description="Write an invented table.")
    parser.add_argument("sample", choices=["hospital", "census"])
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--occupation", default="census", help="census sample: census, uniform or zipf:EXPONENT")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    parser.add_argument("--schema", type=Path, help="also write the matching schema to this file")
    parser.add_argument("--knowledge", type=Path, help="hospital: also write rules of common knowledge to this file")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.sample == "hospital":
            table, schema = hospital(chosen.rows, chosen.seed), hospital_schema()
        else:
            table, schema = census(chosen.rows, chosen.seed, chosen.occupation), census_schema()
        _check_target(chosen.out)
        to_csv(table, chosen.out)
        if chosen.schema is not None:
            chosen.schema.write_text(schema.to_yaml(), encoding="utf-8")
        if chosen.knowledge is not None:
            if chosen.sample != "hospital":
                raise RecipeError("There are rules for the hospital alone. Leave --knowledge out.")
            chosen.knowledge.write_text(sample_knowledge().read_text(encoding="utf-8"), encoding="utf-8")
    except (LookalikeError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _check_target(path: Path) -> None:
    """Only a sample is written over: a table of that name may be the only copy of someone's data."""
    if not path.exists():
        return
    headers = {
        ",".join(attribute.name for attribute in schema.attributes) for schema in (hospital_schema(), census_schema())
    }
    with path.open("rb") as file:
        first = file.readline(1000).decode("utf-8", "replace").strip()
    if first not in headers:
        raise RecipeError(f"{path} exists and is no sample, so it is not overwritten. Choose another name.")
