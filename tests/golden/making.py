"""Makes the golden releases of the version that runs it: `python -m tests.golden.making`, once for every version.

Tests read the folders of all versions ever after and want the same answers, so a folder is never made again: a version
that writes something else gets its own folder. The people in them are made up. What a version says about its own
folders is kept beside them in `answers.json`.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Role, Schema
from lookalike.data.statement import Statement
from lookalike.files.releases.private import private_folder
from lookalike.files.tables import read_columns
from lookalike.models import parse_promise
from lookalike.pipeline.backends.local import LocalBackend
from lookalike.pipeline.recipe import Recipe
from lookalike.publication import in_parts as publishing
from lookalike.version import __version__

GOLDEN = Path(__file__).parent
ORIGINAL, SCHEMA, ANSWERS, COMPARISON = "original.csv", "schema.yaml", "answers.json", "comparison"
ROWS, PART_ROWS = 96, 40
SEED = 20_240_229

SCHEMA_TEXT = """lookalike: 1
columns:
  - {name: patient, role: identifier}
  - {name: "age, in \\"years\\"", role: quasi-identifier, kind: numeric, domain: {low: 0, high: 110}}
  - {name: né|alt, role: quasi-identifier, kind: categorical}
  - {name: zip, role: quasi-identifier, type: string, taxonomy: {prefixes: [2, 1]}}
  - name: ward
    role: quasi-identifier
    taxonomy: {tree: {any: {surgery: [heart, hip], medicine: [lungs, blood, "*"]}}}
  - {name: admitted, role: quasi-identifier}
  - {name: pain, role: quasi-identifier, kind: ordered, order: [none, some, "to bear", much]}
  - {name: diagnosis, role: sensitive}
  - {name: days, role: carried, carry_anyway: true}
"""

# By folder: method, promise, and whether it is made in parts.
RECIPES = {
    "grouped": ("mondrian", "k-anonymity:4", False),
    "matched": ("freeform", "k-anonymity:3", False),
    "bucketized": ("anatomy", "l-diversity:3", False),
    "perturbed": ("perturbation", "beta-likeness:2", False),
    "grouped-in-parts": ("mondrian", "l-diversity:2", True),
    "bucketized-in-parts": ("anatomy", "l-diversity:2", True),
    "perturbed-in-parts": ("perturbation", "beta-likeness:2", True),
}
QUERIES = (
    "SELECT COUNT(*) WHERE diagnosis = 'flu'",
    "SELECT COUNT(*) WHERE admitted >= '2023-06-01' AND diagnosis = 'flu'",
)


def people() -> pl.DataFrame:
    """Nobody's records, with missing values, dates, and names and values that are hard to write down."""
    chance = random.Random(SEED)

    def drawn(draw: Callable[[], Any], gaps: float = 0.0) -> list[Any]:
        return [None if chance.random() < gaps else draw() for _ in range(ROWS)]

    return pl.DataFrame(
        {
            "patient": [f"made-up-{row:03d}" for row in range(ROWS)],
            'age, in "years"': drawn(lambda: chance.randrange(100), 0.05),
            "né|alt": drawn(lambda: chance.choice(["Köln", "a|b", "*", "(missing)", " x", "to"]), 0.1),
            "zip": drawn(lambda: f"0{chance.randrange(40, 60)}"),
            "ward": drawn(lambda: chance.choice(["heart", "hip", "lungs", "blood", "*"])),
            "admitted": drawn(lambda: datetime.date(2023, 1, 1) + datetime.timedelta(chance.randrange(400)), 0.05),
            "pain": drawn(lambda: chance.choice(["none", "some", "to bear", "much"])),
            "diagnosis": drawn(lambda: chance.choice(["flu", "cold", "cough, dry", "gout", "rash"])),
            "days": drawn(lambda: chance.randrange(1, 30), 0.05),
        }
    )


def make(target: Path) -> None:
    """All folders of this version, with the original and the answers."""
    target.mkdir(parents=True)
    people().write_csv(target / ORIGINAL)
    (target / SCHEMA).write_text(SCHEMA_TEXT, encoding="utf-8", newline="\n")
    full = Schema.load(target / SCHEMA)
    for name, (algorithm, promise, in_parts) in RECIPES.items():
        # Perturbed rows show who is who: they carry nothing.
        left_out = (Role.IDENTIFIER, Role.CARRIED) if algorithm == "perturbation" else (Role.IDENTIFIER,)
        schema = Schema(tuple(one for one in full.attributes if one.role not in left_out))
        if in_parts:
            _in_parts(target, name, schema, algorithm, promise)
        else:
            made = la.publish(
                target / ORIGINAL, schema=schema, model=promise, algorithm=algorithm, title=f"Golden {name}", seed=SEED
            )
            made.write(target / name, report="brief", private=name == "matched")
    la.compare(
        target / ORIGINAL, schema=full, models=["k-anonymity:3"], algorithms=["mondrian"], attacks=[], seed=SEED,
        jobs=1, folder=target / COMPARISON,
    )  # fmt: skip
    answers = {name: answered(target, name) for name in RECIPES}
    (target / ANSWERS).write_text(json.dumps(answers, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _in_parts(target: Path, name: str, schema: Schema, algorithm: str, promise: str) -> None:
    """A few rows per part, which is fewer than users may ask for; kinds and types are those that the reader settles."""
    settled = Microdata.encode(read_columns(target / ORIGINAL, schema), schema).schema
    recipe = Recipe(schema=settled, promises=(parse_promise(promise),), algorithm=parse_algorithm(algorithm), seed=SEED)
    backend = LocalBackend(people().select([one.name for one in schema.published]))
    with mock.patch.object(publishing, "LEAST_PART", PART_ROWS):
        publishing.publish_in_parts(
            backend, recipe, target / name, stated=Statement(title=f"Golden {name}"), part_rows=PART_ROWS
        )


def answered(target: Path, name: str) -> dict[str, Any]:
    """What this version says about one of the folders, from its files and the original."""
    original, folder = target / ORIGINAL, target / name
    private = private_folder(folder)
    audit = la.verify(original, folder, private=private if private.exists() else None)
    release = la.open_release(folder)
    return {
        "digest": digest(folder),
        "passed": audit.passed,
        "reached": [str(verdict.reached) for verdict in audit.verdicts],
        "losses": la.measure(original, folder),
        "counts": {sql: release.query(sql).value for sql in QUERIES},
        "sample": _shape(la.sample(folder, worlds=1, seed=SEED)[0]),
    }


def digest(folder: Path) -> str:
    """Of every file's name and bytes."""
    whole = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        whole.update(
            f"{path.relative_to(folder).as_posix()}\n{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
        )
    return whole.hexdigest()


def _shape(frame: pl.DataFrame) -> dict[str, Any]:
    """Draws may differ from version to version; what they are draws of may not."""
    return {"rows": frame.height, "columns": {name: str(type) for name, type in frame.schema.items()}}


if __name__ == "__main__":
    if (GOLDEN / __version__).exists():
        sys.exit(f"{GOLDEN / __version__} is there already. Golden releases of a version are made once.")
    make(GOLDEN / __version__)
