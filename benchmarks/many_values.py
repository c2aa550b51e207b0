"""Sensitive numbers that hardly repeat: what a whole command takes where a salary is known to the cent.

    python benchmarks/many_values.py                 45,222 generated people, and each promise below
    python benchmarks/many_values.py --rows 10000 --model t-closeness:0.2,distance=ordered --report full

Each line is one `lookalike publish` in a process of its own, from the start of Python to the last file: reading,
search, audit and report. CPU seconds are user and system time of all threads, MB the peak of the resident memory.
Kernels are compiled beforehand (`lookalike warm-up`).
"""

from __future__ import annotations

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from lookalike.samples import census, to_csv

MODELS = (
    "t-closeness:0.2,distance=ordered",
    "t-closeness:0.9",
    "l-diversity:4",
    "l-diversity:4,band=50",
    "beta-likeness:3",
)
QUASI = ("Age", "Gender", "Education", "Marital", "Race")
CATEGORICAL = ("Gender", "Marital", "Race")


def with_salaries(n_rows: int, folder: Path) -> Path:
    """A census-shaped table with a salary to the cent."""
    plain, made = folder / "census.csv", folder / "salaries.csv"
    to_csv(census(n_rows, seed=1), plain)
    cents = np.round(np.exp(np.random.default_rng(5).normal(10.4, 0.6, n_rows)) * 100).astype(int)
    with plain.open(newline="") as source, made.open("w", newline="") as target:
        rows = csv.reader(source)
        writer = csv.writer(target)
        writer.writerow([*next(rows), "salary"])
        writer.writerows([*row, f"{cent // 100}.{cent % 100:02d}"] for row, cent in zip(rows, cents, strict=True))
    print(f"{n_rows:,} rows, {len(np.unique(cents)):,} different salaries\n")
    return made


def publish(table: Path, model: str, algorithm: str | None, report: str, folder: Path) -> tuple[float, float, str]:
    """CPU seconds and peak memory in MB of the command, and what it says of the loss."""
    words = [sys.executable, "-m", "lookalike", "publish", str(table), "--qi", ",".join(QUASI), "--sensitive", "salary"]
    words += ["--categorical", ",".join(CATEGORICAL), "--model", model, "--report", report, "--no-pdf", "--overwrite"]
    words += [] if algorithm is None else ["--algorithm", algorithm]
    with subprocess.Popen(
        [*words, "--out", str(folder / "release")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as run:
        assert run.stdout is not None
        said = run.stdout.read().decode()
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
    lines = [line for line in said.splitlines() if "loss: GCP" in line or line.startswith("Error")]
    shown = lines[0].rpartition("loss: ")[2] if lines else said[-300:]
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=45_222)
    parser.add_argument("--model", nargs="*", default=MODELS)
    parser.add_argument("--algorithm", help="chosen to suit the promise if not given")
    parser.add_argument("--report", choices=("brief", "full"), default="brief")
    options = parser.parse_args()
    subprocess.run([sys.executable, "-m", "lookalike", "warm-up"], check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as name:
        table = with_salaries(options.rows, Path(name))
        print(f"{'promise':36} {'report':6} {'CPU s':>7} {'MB':>6}")
        for model in options.model:
            spent, peak, said = publish(table, model, options.algorithm, options.report, Path(name))
            print(f"{model:36} {options.report:6} {spent:7.1f} {peak:6.0f}  {said}", flush=True)


if __name__ == "__main__":
    main()
