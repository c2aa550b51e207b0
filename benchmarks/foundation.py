"""What the foundation costs: start-up, reading, Mondrian, audit, writing, and how time and memory grow with rows.

    make bench                      on generated census-shaped tables
    make bench DATA=folder          on every census*.csv in a folder (8 coded columns, `occupation` sensitive)

Every figure is of a process of its own, after one run that compiles the kernels. CPU seconds are user and system time
of that process; wall time stands beside them. Losses of files in a folder use the domains observed in the largest one.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import yaml

from lookalike.files.tables import read_table
from lookalike.samples import census, to_csv

COMMAND = [sys.executable, "-m", "lookalike"]
QUASI = ("age", "gender", "education", "marital", "race", "workclass", "country")
NUMBERS = ("age", "education")
MODELS = ("k-anonymity:10", "l-diversity:5", "beta-likeness:3", "t-closeness:0.2")


@dataclass(frozen=True)
class Run:
    cpu: float
    wall: float
    output: str


def timed(words: list[str]) -> Run:
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if result.returncode:
        raise SystemExit(f"{' '.join(words)}\n{result.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(cpu, time.perf_counter() - begin, result.stdout)


def start_up() -> None:
    for what, words in (
        ("import lookalike", [sys.executable, "-c", "import lookalike"]),
        ("lookalike --help", [*COMMAND, "--help"]),
    ):
        runs = [timed(words) for _ in range(5)]
        print(f"{what:24} {min(run.wall for run in runs):6.2f} s (best of 5)")


def schema_for(largest: Path, folder: Path) -> Path:
    """A schema that declares the domains of the largest table, so that losses of all tables compare."""
    table = read_table(largest)
    columns: list[dict[str, object]] = []
    for name in QUASI:
        values = table[name].values
        if name in NUMBERS:
            domain: dict[str, object] = {"low": int(values[0]), "high": int(values[-1])}
            columns.append({"name": name, "role": "quasi-identifier", "kind": "numeric", "domain": domain})
        else:
            domain = {"size": len(values)}
            columns.append({"name": name, "role": "quasi-identifier", "kind": "categorical", "domain": domain})
    columns.append({"name": "occupation", "role": "sensitive", "kind": "categorical"})
    path = folder / "schema.yaml"
    path.write_text(yaml.safe_dump({"lookalike": 1, "columns": columns}), encoding="utf-8")
    return path


def publish(table: Path, schema: Path, model: str, algorithm: str, folder: Path) -> tuple[Run, dict[str, object]]:
    words = ["publish", str(table), "--schema", str(schema), "--model", model, "--algorithm", algorithm]
    run = timed([*COMMAND, *words, "--out", str(folder / "out"), "--overwrite", "--json"])
    return run, json.loads(run.output)


def generated(folder: Path, sizes: list[int]) -> list[Path]:
    paths = []
    for rows in sizes:
        paths.append(folder / f"census{rows}.csv")
        to_csv(census(rows, seed=1), paths[-1])
        text = paths[-1].read_text(encoding="utf-8")
        header, rest = text.split("\n", 1)
        paths[-1].write_text(header.casefold().replace("work class", "workclass") + "\n" + rest, encoding="utf-8")
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with census*.csv")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = sorted(options.data.glob("census*.csv"), key=lambda path: path.stat().st_size) if options.data else []
        tables = tables or generated(folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        start_up()
        publish(tables[0], schema, MODELS[0], "mondrian", folder)  # compiles
        print(f"\n{'table':20} {'model':18} {'algorithm':16} {'GCP':>7} {'CPU s':>7} {'wall s':>7} {'MB':>7}")
        points = []
        for table in tables:
            for model in MODELS:
                for algorithm in ("mondrian", "mondrian-strict"):
                    run, summary = publish(table, schema, model, algorithm, folder)
                    loss, peak = summary["loss"]["gcp"], summary["peak_mb"]  # type: ignore[index]
                    print(
                        f"{table.name:20} {model:18} {algorithm:16} "
                        f"{loss:7.4f} {run.cpu:7.2f} {run.wall:7.2f} {peak:7.0f}"
                    )
                    if (model, algorithm) == (MODELS[0], "mondrian"):
                        points.append((summary["rows"], summary["seconds"]["anonymize"], peak))  # type: ignore[index]
        if len(points) > 1:
            (few, short, small), (many, long, large) = points[0], points[-1]
            growth = math.log(many / few)  # type: ignore[operator]
            print(
                f"\n{few:,} to {many:,} rows: anonymize grows as rows^{math.log(long / short) / growth:.2f}, "
                f"peak memory as rows^{math.log(large / small) / growth:.2f}"
            )


if __name__ == "__main__":
    main()
