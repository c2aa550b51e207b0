"""CPU seconds of `lookalike inspect` on wide tables, and how many lines it prints.

python benchmarks/wide.py                      500, 1,000 and 2,000 columns of 1,000 rows
python benchmarks/wide.py --columns 100 4000

Whole commands are measured, importing included. Half of the columns are numbered alike, half have names of their own,
and the numbers are random.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def write_table(path: Path, n_rows: int, n_columns: int) -> None:
    rng = np.random.default_rng(0)
    names = [f"item{place}" if place % 2 else f"c{chr(97 + place % 26)}_{place}" for place in range(n_columns)]
    cells = rng.integers(0, rng.integers(2, 30, n_columns), (n_rows, n_columns))
    rows = "\n".join(",".join(map(str, row)) for row in cells.tolist())
    path.write_text(f"{','.join(names)}\n{rows}\n")


def measure_command(*words: str) -> tuple[float, int]:
    """CPU seconds of a command, and the lines that it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-m", "lookalike", *words], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, len(done.stdout.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--columns", type=int, nargs="+", default=[8, 500, 1000, 2000])
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for n_columns in asked.columns:
            path = Path(folder) / f"{n_columns}.csv"
            write_table(path, asked.rows, n_columns)
            seconds, lines = measure_command("inspect", str(path))
            whole, _ = measure_command("inspect", str(path), "--json")
            print(
                f"{n_columns:6,} columns  {seconds:6.2f} CPU seconds, {lines:4} lines   --json {whole:6.2f} CPU s",
                flush=True,
            )


if __name__ == "__main__":
    main()
