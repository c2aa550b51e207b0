"""Skewed tables: what strict methods lose and take where values are zipf distributed, and how good the sizes are.

    python benchmarks/sizes.py --data folder    the quasi-identifiers of a folder's largest CSV
    python benchmarks/sizes.py                  those of a generated census-shaped table

Sensitive values are drawn again: value r has a share proportional to 1 / r^s. The first table compares the loss that
planning minimises with the bound of the linear program (below 0 where sizes between the candidates are better), and
the CPU seconds that planning takes. The second publishes: each line is a process of its own (`runs.py`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from numpy.typing import NDArray
from runs import print_heading, print_line, run, tables_in

from lookalike.algorithms.groups.linear_programs import fractions_of_groups
from lookalike.algorithms.groups.sizes import candidates_for, loss_of_group, plan_sizes

N_ROWS = 10_000
SHAPES = ((50, 0.9), (200, 0.9), (200, 0.75), (200, 0.5), (50, 0.5), (50, 0.0))
METHODS = ("groups", "heterogeneous")
MODELS = ("l-diversity:10", "beta-likeness:3", "beta-likeness:1")


def zipf_counts(n_values: int, exponent: float) -> NDArray[np.int64]:
    shares = 1 / np.arange(1, n_values + 1) ** exponent
    counts = np.floor(shares / shares.sum() * N_ROWS).astype(np.int64)
    counts[0] += N_ROWS - counts.sum()
    return counts


def sizes_part() -> None:
    print(f"{'values':>6} {'s':>5} {'beta':>4} {'groups':>7} {'largest':>7} {'above bound':>11} {'CPU s':>6}")
    for n_values, exponent in SHAPES:
        counts = zipf_counts(n_values, exponent)
        for beta in (1, 3):
            ceilings = [min(Fraction(1), (1 + beta) * Fraction(int(number), N_ROWS)) for number in counts]
            begin = time.process_time()
            plan = plan_sizes([counts], [ceilings], 1)
            spent = time.process_time() - begin
            assert plan is not None
            loss = loss_of_group([ceilings])
            wanted = fractions_of_groups([counts], [ceilings], candidates_for([counts], [ceilings], 1), loss)
            assert wanted is not None
            bound = sum(loss(size) * share for size, share in wanted.items())
            gap = sum(loss(size) for size in plan.sizes.tolist()) / bound - 1
            shown = f"{n_values:6} {exponent:5} {beta:4} {len(plan.sizes):7,} {int(plan.sizes.max()):7}"
            print(f"{shown} {gap:11.2%} {spent:6.2f}", flush=True)


def published_part(source: Path, folder: Path, methods: list[str]) -> None:
    frame = pl.read_csv(source).head(N_ROWS)
    print_heading(f"{'method':14} {'model':16}")
    for n_values, exponent in SHAPES:
        values = np.repeat(np.arange(n_values), zipf_counts(n_values, exponent))
        np.random.default_rng(0).shuffle(values)
        table = folder / f"zipf{exponent}of{n_values}.csv"
        frame.with_columns(pl.Series(frame.columns[-1], values)).write_csv(table)
        schema = schema_for(table, folder)
        for model in MODELS:
            for method in methods:
                print_line(f"{method:14} {model:16}", table, run(table, schema, model, "knows-method", method))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--method", nargs="*", default=METHODS, help="methods to publish with")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes_part()
        published_part(tables_in(options.data, folder, [N_ROWS])[-1], folder, list(options.method))


if __name__ == "__main__":
    main()
