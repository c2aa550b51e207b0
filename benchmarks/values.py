"""What is noticed in the values of tables, and what a limit to the values of a cell costs and saves.

python benchmarks/values.py alarms FOLDER    identifiers, missing codes and totals in all tables of a folder
python benchmarks/values.py sizes            file sizes and loss of a column with a long tail, by limit

`alarms` prints every column in which something is found, with counts and never a value: whether an alarm is false is
for a reader of the table to say. FOLDER has CSV, Parquet or pickled data frames (`*.pkl.compress`, as packages of R's
data sets have them; unpickle only what you trust). `sizes` publishes 20,000 invented people in 2,000 towns, most of
them small.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

import lookalike as la
from lookalike.data.microdata import Table
from lookalike.data.suspect_codes import count_values, find_codes
from lookalike.data.total_rows import find_totals
from lookalike.errors import LookalikeError
from lookalike.files.identifiers.values import find_identifiers

_MOST_ROWS, _MOST_COLUMNS = 300_000, 1_000


def tables_of(folder: Path) -> Iterator[tuple[str, Table]]:
    """Every table that can be read, and its name."""
    for path in sorted(folder.rglob("*")):
        try:
            if path.name.endswith(".pkl.compress"):
                import joblib

                frame = joblib.load(path)
                if not hasattr(frame, "columns") or len(frame) > _MOST_ROWS or frame.shape[1] > _MOST_COLUMNS:
                    continue
                yield str(path.relative_to(folder)), la.read_table(frame)
            elif path.suffix in (".csv", ".parquet"):
                yield str(path.relative_to(folder)), la.read_table(path)
        except (LookalikeError, ValueError, TypeError, AttributeError, ImportError):
            continue


def print_alarms(folder: Path) -> None:
    n_tables = n_columns = 0
    alarms, seconds = (
        {"identifiers": 0, "codes": 0, "totals": 0},
        dict.fromkeys(("identifiers", "codes", "totals"), 0.0),
    )
    for name, table in tables_of(folder):
        n_tables, n_columns = n_tables + 1, n_columns + len(table.columns)
        for column in table.columns:
            begin = time.process_time()
            kinds, _ = find_identifiers(column.values, column.type)
            seconds["identifiers"] += time.process_time() - begin
            if kinds:
                alarms["identifiers"] += 1
                print(f"identifiers  {name}  {column.name}  {kinds} of {len(column.values)} values")
            begin = time.process_time()
            codes = find_codes(column, count_values(column))
            seconds["codes"] += time.process_time() - begin
            for code in codes:
                alarms["codes"] += 1
                print(
                    f"code         {name}  {code.column}  {code.text}  {code.n_rows} of {table.n_rows} rows, {code.why}"
                )
        begin = time.process_time()
        totals = find_totals(table)
        seconds["totals"] += time.process_time() - begin
        if totals is not None:
            alarms["totals"] += 1
            print(f"total        {name}  {totals.label}  rows {totals.rows[:3]} of {table.n_rows}, sums {totals.sums}")
    print(f"{n_tables:,} tables, {n_columns:,} columns: alarms {alarms}")
    print("CPU seconds:", {what: round(spent, 2) for what, spent in seconds.items()})


def draw_people(n_rows: int, n_towns: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    shares = 1 / np.arange(1, n_towns + 1)
    towns = rng.choice(n_towns, n_rows, p=shares / shares.sum())
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n_rows),
            "sex": rng.choice(["female", "male"], n_rows),
            "town": [f"town number {town}" for town in towns],
            "diagnosis": rng.choice([f"diagnosis {place}" for place in range(40)], n_rows),
        }
    )


def print_sizes(n_rows: int, n_towns: int, model: str, algorithm: str) -> None:
    people = draw_people(n_rows, n_towns)
    print("setting              loss  loss of town  rows with *  longest cell      CSV bytes  Parquet bytes  CPU s")
    settings = [{"longest_set": limit} for limit in (0, 20, 50, 100, 200)] + [{"frequent": {"town": 50}}]
    for setting in settings:
        begin = time.process_time()
        made = la.publish(
            people,
            qi=["age", "sex", "town"],
            sensitive="diagnosis",
            model=model,
            algorithm=algorithm,
            seed=1,
            **setting,  # type: ignore[arg-type]
        )
        with tempfile.TemporaryDirectory() as here:
            folder = Path(here) / "release"
            made.write(folder, report="brief")
            cells = pl.read_csv(folder / "release.csv", infer_schema=False)["town"]
            sizes = [(folder / f"release.{ending}").stat().st_size for ending in ("csv", "parquet")]
        longest, wide = int(cells.str.len_chars().max() or 0), float((cells == "*").mean() or 0.0)
        print(
            f"{setting!s:<20.20} {made.losses['gcp']:.4f} {made.made.loss_by_column['town']:>12.4f} {wide:>12.1%}"
            f" {longest:>13,} {sizes[0]:>14,} {sizes[1]:>14,} {time.process_time() - begin:>6.1f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("alarms", "sizes"))
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--towns", type=int, default=2_000)
    parser.add_argument("--model", default="t-closeness:0.1")
    parser.add_argument("--algorithm", default="mondrian")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.what == "sizes":
        print_sizes(given.rows, given.towns, given.model, given.algorithm)
    elif given.folder is None:
        parser.error("alarms needs the folder of the tables")
    else:
        print_alarms(given.folder)


if __name__ == "__main__":
    main()
