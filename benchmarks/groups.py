"""Loss, CPU seconds and memory of `groups` for the usual promises, and how time and memory grow with rows.

    python benchmarks/groups.py --data folder          on census10k.csv and census100k.csv (and others) in a folder
    python benchmarks/groups.py                        on generated census-shaped tables

Each line is a process of its own, after one that compiles. CPU seconds are those of the step that makes the groups,
user and system time of all threads. Losses use the domains observed in the largest table. Every release is audited.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from foundation import generated, schema_for

MODELS = (
    "k-anonymity:10",
    "l-diversity:5",
    "l-diversity:10",
    "beta-likeness:3,bound=basic",
    "beta-likeness:3",
    "t-closeness:0.2",
)

# Run in a process of its own: publish, and print what it took.
_RUN = """
import dataclasses, json, resource, sys
from lookalike import pipeline
from lookalike.algorithms import parse_algorithm
from lookalike.errors import Infeasible
from lookalike.models import parse_promise
from lookalike.publication import read_columns
from lookalike.schema import Schema

def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

path, schema_file, model, algorithm = sys.argv[1:]
schema = Schema.load(schema_file)
table = read_columns(path, schema)
chosen = parse_algorithm(algorithm)
spent = []
class Timed(type(chosen)):
    def anonymize(self, *arguments):
        begin = cpu()
        made = super().anonymize(*arguments)
        spent.append(cpu() - begin)
        return made
timed = Timed(**{field.name: getattr(chosen, field.name) for field in dataclasses.fields(chosen)})
recipe = pipeline.Recipe(schema=schema, promises=(parse_promise(model),), algorithm=timed, seed=1)
try:
    outcome = pipeline.run(recipe, table)
except Infeasible as refusal:
    print(json.dumps({"rows": table.n_rows, "infeasible": str(refusal)}))
    sys.exit()
print(json.dumps({"rows": table.n_rows, "gcp": outcome.losses["gcp"], "cpu": spent[0],
    "wall": outcome.seconds["anonymize"], "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    "passed": outcome.audit.passed}))
"""


def run(table: Path, schema: Path, model: str, algorithm: str) -> dict[str, float]:
    words = [sys.executable, "-c", _RUN, str(table), str(schema), model, algorithm]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SystemExit(f"{table.name} {model}\n{result.stderr}")
    found: dict[str, float] = json.loads(result.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--effort", default="balanced")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = sorted(options.data.glob("*.csv"), key=lambda path: path.stat().st_size) if options.data else []
        tables = tables or generated(folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        algorithm = f"groups:effort={options.effort}"
        for model in MODELS:
            run(tables[0], schema, model, algorithm)  # compiles
        print(f"{'model':30} {'table':20} {'GCP':>7} {'CPU s':>7} {'wall s':>7} {'MB':>6}  audit")
        for model in MODELS:
            points = []
            for table in tables:
                found = run(table, schema, model, algorithm)
                if "infeasible" in found:
                    print(f"{model:30} {table.name:20} {found['infeasible']}")
                    continue
                points.append(found)
                print(
                    f"{model:30} {table.name:20} {found['gcp']:7.4f} {found['cpu']:7.2f} {found['wall']:7.2f} "
                    f"{found['mb']:6.0f}  {'passed' if found['passed'] else 'FAILED'}"
                )
            small, large = min(points, key=lambda one: one["rows"]), max(points, key=lambda one: one["rows"])
            if large["rows"] > small["rows"]:
                growth = math.log(large["rows"] / small["rows"])
                time, memory = (math.log(large[key] / small[key]) / growth for key in ("cpu", "mb"))
                print(f"{'':30} time grows as rows^{time:.2f}, memory as rows^{memory:.2f}")


if __name__ == "__main__":
    main()
