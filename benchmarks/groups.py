"""Loss, CPU seconds and memory of `groups` for the usual promises, and how time and memory grow with rows.

    python benchmarks/groups.py --data folder          on the CSV files (census10k.csv ...) in a folder
    python benchmarks/groups.py                        on generated census-shaped tables
    python benchmarks/groups.py --million              also on a million rows: the largest table, resampled

Each line is a process of its own, which first publishes some hundred rows so that loading and compiling kernels does
not count. CPU seconds are those of the step that makes the groups, user and system time of all threads. Losses use the
domains observed in the largest table. Every release is audited. In the million, records are drawn from the largest
table with replacement and ages moved by up to three years, within the ages that occur.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from foundation import generated, schema_for

MODELS = (
    ("k-anonymity:10", "reads-release"),
    ("l-diversity:5", "reads-release"),
    ("l-diversity:10", "reads-release"),
    ("beta-likeness:3,bound=basic", "reads-release"),
    ("beta-likeness:3", "reads-release"),
    ("t-closeness:0.2", "reads-release"),
    ("l-diversity:5", "knows-method"),
    ("l-diversity:10", "knows-method"),
    ("beta-likeness:3,bound=basic", "knows-method"),
    ("t-closeness:0.2", "knows-method"),
)
MILLION, LEAST_ROWS = 1_000_000, 10_000

# Run in a process of its own: publish, and print what it took.
_RUN = """
import dataclasses, json, resource, sys
from lookalike import pipeline
from lookalike.algorithms import parse_algorithm
from lookalike.errors import Infeasible
from lookalike.microdata import Table
from lookalike.models import parse_promise
from lookalike.publication import read_columns
from lookalike.schema import Schema

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
some = Table(tuple(dataclasses.replace(column, codes=column.codes[:700]) for column in table.columns))
for warm_up in ("l-diversity:2", model):
    try:
        recipe = pipeline.Recipe(schema=schema, promises=(parse_promise(warm_up),), algorithm=timed, seed=1)
        pipeline.run(recipe, some)
    except Infeasible:
        pass
spent.clear()
recipe = pipeline.Recipe(schema=schema, promises=(promise,), algorithm=timed, adversary=adversary, seed=1)
try:
    outcome = pipeline.run(recipe, table)
except Infeasible as refusal:
    print(json.dumps({"rows": table.n_rows, "infeasible": str(refusal)}))
    sys.exit()
print(json.dumps({"rows": table.n_rows, "gcp": outcome.losses["gcp"], "cpu": spent[0],
    "wall": outcome.seconds["anonymize"], "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "bound": outcome.loss_bound.value, "passed": outcome.audit.passed}))
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


def print_line(model: str, adversary: str, table: Path, found: dict[str, float]) -> None:
    words = f"{model:28} {adversary:13} {table.name:16}"
    if "infeasible" in found:
        print(words, found["infeasible"])
        return
    print(
        f"{words} {found['gcp']:7.4f} {found['bound']:7.4f} {found['cpu']:7.2f} {found['wall']:7.2f} "
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--effort", default="balanced")
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--model", help="only models that begin so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = sorted(options.data.glob("*.csv"), key=lambda path: path.stat().st_size) if options.data else []
        tables = tables or generated(folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print(
            f"{'model':28} {'adversary':13} {'table':16} {'GCP':>7} {'bound':>7} {'CPU s':>7} {'wall s':>7} {'MB':>6}"
            "  audit"
        )
        for model, adversary in MODELS:
            if options.model and not model.startswith(options.model):
                continue
            points = []
            for table in tables:
                found = run(table, schema, model, adversary, f"groups:effort={options.effort}")
                print_line(model, adversary, table, found)
                if "infeasible" not in found:
                    points.append(found)
            print_growth(points)


if __name__ == "__main__":
    main()
