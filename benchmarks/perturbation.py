"""What perturbation takes, and how far its counts and those of the baseline are from the truth.

    python benchmarks/perturbation.py --data folder      on the CSV files (census10k.csv ...) in a folder
    python benchmarks/perturbation.py                    on generated census-shaped tables
    python benchmarks/perturbation.py --million          also on a million rows: the largest table, resampled

First CPU seconds of the method, by table. Then queries on the largest table: count the records in ranges of two
quasi-identifiers that have one of a range of sensitive values. Error is |estimate - truth| / truth, the median over
the queries with a truth of at least `--least`; how often a 95 % interval holds the truth; and microseconds a query, by
the number of matching rows. Every release is audited.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from runs import resampled, run, tables_in

import lookalike as la
from lookalike.data.reconstruct import Reconstruction
from lookalike.data.release import Perturbed

MODES = ("free", "strict")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--beta", type=int, nargs="+", default=[1, 2, 3, 4, 5])
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--least", type=int, default=200, help="queries with a smaller count are left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print(f"{'table':16} {'mode':8} {'CPU s':>7} {'MB':>6}  audit")
        for table in tables:
            for mode in MODES:
                found = run(table, schema, "beta-likeness:3", "reads-release", f"perturbation:mode={mode}")
                passed = "passed" if found["passed"] else "FAILED"
                print(f"{table.name:16} {mode:8} {found['cpu']:7.2f} {found['mb']:6.0f}  {passed}", flush=True)
        print(f"\n{'beta':>4} {'mode':8} {'median error':>12} {'baseline':>9} {'covered':>8} {'queries':>8}")
        for beta in options.beta:
            for mode in MODES:
                print(f"{beta:4} {mode:8} {answered(tables[-1], schema, beta, mode, options)}", flush=True)
        print(f"\n{'matching rows':>13} {'microseconds':>12}")
        for rows, seconds in times(tables[-1], schema):
            print(f"{rows:13,} {seconds * 1e6:12.0f}")


def published(table: Path, schema: Path, beta: int, mode: str) -> Perturbed:
    made = la.publish(
        table, schema=schema, model=f"beta-likeness:{beta}", algorithm=f"perturbation:mode={mode}", seed=1
    )
    assert isinstance(made.release, Perturbed)
    return made.release


def answered(table: Path, schema: Path, beta: int, mode: str, options: argparse.Namespace) -> str:
    """Random ranges of two quasi-identifiers and of the sensitive values, each about half of the domain."""
    release = published(table, schema, beta, mode)
    original = pl.read_csv(table)
    true_codes = original[release.domains.sensitive[0].name].to_numpy()
    values = release.domains.sensitive[0].values
    names = [domain.name for domain in release.domains.quasi]
    columns = [original[name].to_numpy() for name in names]
    back = Reconstruction(release.randomizers[0])
    shares = np.bincount(np.searchsorted(values, true_codes), minlength=len(values)) / len(true_codes)
    rng = np.random.default_rng(9)
    errors, plain, covered = [], [], []
    for _ in range(options.queries):
        picked = rng.choice(len(names), 2, replace=False)
        seen, true = np.ones(release.n_rows, dtype=bool), np.ones(release.n_rows, dtype=bool)
        for attr in picked:
            points = release.domains.quasi[attr].values
            low, high = _range(rng, len(points))
            seen &= (release.quasi[:, attr] >= low) & (release.quasi[:, attr] <= high)
            true &= (columns[attr] >= points[low]) & (columns[attr] <= points[high])
        low, high = _range(rng, len(values))
        chosen = (np.arange(len(values)) >= low) & (np.arange(len(values)) <= high)
        truth = int(np.count_nonzero(true & (true_codes >= values[low]) & (true_codes <= values[high])))
        if truth < options.least:
            continue
        estimate, error = back.count(np.bincount(release.sensitive[seen, 0], minlength=len(values)), chosen)
        errors.append(abs(min(max(estimate, 0), seen.sum()) - truth) / truth)
        plain.append(abs(seen.sum() * shares[chosen].sum() - truth) / truth)
        covered.append(abs(estimate - truth) <= 1.96 * error)
    figures = f"{np.median(errors):12.1%} {np.median(plain):9.1%} {np.mean(covered):8.1%}"
    return f"{figures} {len(errors):8}"


def _range(rng: np.random.Generator, size: int) -> tuple[int, int]:
    length = max(1, round(size * rng.uniform(0.3, 0.7)))
    low = int(rng.integers(0, size - length + 1))
    return low, low + length - 1


def times(table: Path, schema: Path) -> list[tuple[int, float]]:
    """Seconds to reconstruct a count from rows that match, which are at hand."""
    release = published(table, schema, 3, "free")
    back = Reconstruction(release.randomizers[0])
    m = len(release.randomizers[0].weights)
    chosen = np.arange(m) < m // 2
    found = []
    rows = 1000
    while rows <= release.n_rows:
        codes = np.ascontiguousarray(release.sensitive[:rows, 0])
        begin, rounds = time.perf_counter(), 200
        for _ in range(rounds):
            back.count(np.bincount(codes, minlength=m), chosen)
        found.append((rows, (time.perf_counter() - begin) / rounds))
        rows *= 10
    return found


if __name__ == "__main__":
    main()
