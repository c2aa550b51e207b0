"""One release in a process of its own: what it lost, took and needed.

The process first publishes up to 10,000 rows, so that loading and compiling kernels does not count. CPU seconds are
those of the step that makes the release, user and system time of all threads. Every release is audited.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
from foundation import generated

MILLION, LEAST_ROWS = 1_000_000, 10_000

# Run in a process of its own: publish, and print what it took.
_RUN = """
import dataclasses, json, resource, sys
from lookalike.pipeline import run as pipeline
from lookalike.pipeline.recipe import Recipe, prepare
from lookalike.algorithms import parse_algorithm
from lookalike.errors import Infeasible, Unsupported
from lookalike.data.microdata import Table
from lookalike.models import parse_promise
from lookalike.files.tables import read_columns
from lookalike.data.schema import Schema

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

path, schema_file, model, adversary, algorithm = sys.argv[1:]
schema = Schema.load(schema_file)
table = read_columns(path, schema)
chosen = parse_algorithm(algorithm).facing(adversary)
spent = []
class Timed(type(chosen)):
    def anonymize(self, *arguments):
        begin = cpu()
        made = super().anonymize(*arguments)
        spent.append(cpu() - begin)
        return made
timed = Timed(**{field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)})
promise = parse_promise(model)
some = Table(tuple(dataclasses.replace(column, codes=column.codes[:10_000]) for column in table.columns))
try:
    pipeline.run(prepare(Recipe(schema=schema, promises=(promise,), algorithm=timed, adversary=adversary), some))
except (Infeasible, Unsupported):
    pass
spent.clear()
recipe = Recipe(schema=schema, promises=(promise,), algorithm=timed, adversary=adversary, seed=1)
try:
    outcome = pipeline.run(prepare(recipe, table))
except Infeasible as refusal:
    print(json.dumps({"rows": table.n_rows, "infeasible": str(refusal)}))
    sys.exit()
print(json.dumps({"rows": table.n_rows, "gcp": outcome.losses["gcp"],
    "ail": outcome.losses["ail"], "cpu": spent[0],
    "wall": outcome.seconds["anonymize"], "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "bound": None if outcome.loss_bound is None else outcome.loss_bound.value, "passed": outcome.audit.passed}))
"""


def run(table: Path, schema: Path, model: str, adversary: str, algorithm: str) -> dict[str, float]:
    words = [sys.executable, "-c", _RUN, str(table), str(schema), model, adversary, algorithm]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{table.name} {model}\n{result.stderr}")
    found: dict[str, float] = json.loads(result.stdout)
    return found


def resampled(table: Path, folder: Path) -> Path:
    """A million records like those of a table: drawn again, ages moved a little."""
    frame = pl.read_csv(table).sample(MILLION, with_replacement=True, seed=7)
    moved = frame["age"].to_numpy() + np.random.default_rng(7).integers(-3, 4, MILLION)
    ages = np.clip(moved, frame["age"].min(), frame["age"].max())
    made = folder / "million.csv"
    frame.with_columns(pl.Series("age", ages)).write_csv(made)
    return made


def print_heading(what: str) -> None:
    print(f"{what} {'table':16} {'GCP':>7} {'bound':>7} {'CPU s':>7} {'wall s':>7} {'MB':>6}  audit")


def print_line(what: str, table: Path, found: dict[str, float]) -> None:
    words = f"{what} {table.name:16}"
    if "infeasible" in found:
        print(words, found["infeasible"])
        return
    bound = "" if found["bound"] is None else f"{found['bound']:.4f}"
    print(
        f"{words} {found['gcp']:7.4f} {bound:>7} {found['cpu']:7.2f} {found['wall']:7.2f} "
        f"{found['mb']:6.0f}  {'passed' if found['passed'] else 'FAILED'}",
        flush=True,
    )


def print_growth(points: list[dict[str, float]]) -> None:
    # Small tables are searched for longer, and the time of very small ones says nothing.
    points = [point for point in points if point["rows"] >= LEAST_ROWS]
    if not points:
        return
    small, large = min(points, key=lambda one: one["rows"]), max(points, key=lambda one: one["rows"])
    if large["rows"] > small["rows"]:
        growth = math.log(large["rows"] / small["rows"])
        time, memory = (math.log(large[key] / small[key]) / growth for key in ("cpu", "mb"))
        print(f"{'':28} from {small['rows']:,} rows on, time grows as rows^{time:.2f}, memory as rows^{memory:.2f}")


def tables_in(data: Path | None, folder: Path, sizes: list[int]) -> list[Path]:
    """The CSV files of a folder, by size; generated ones if there is none."""
    found = sorted(data.glob("*.csv"), key=lambda path: path.stat().st_size) if data else []
    return found or generated(folder, sizes)
