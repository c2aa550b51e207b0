"""What attacks achieve and take: all of them on 45,000 records, and those that scale on up to a million.

    python benchmarks/attacks.py --data folder      on the CSV files (census10k.csv ...) in a folder
    python benchmarks/attacks.py                    on generated census-shaped tables
    python benchmarks/attacks.py --million          naive Bayes and linkage also on a million rows

First every attack with its own defaults on releases of the largest table's first records. Kernels are compiled on a
small table before; wall and CPU seconds are those of the attack alone. Then naive Bayes and linkage by the number of
rows, and the power of the rows that their time grows with.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
from foundation import schema_for
from runs import resampled, tables_in

import lookalike as la
from lookalike.attacks import ATTACKS, parse_attack
from lookalike.data.contracts import Finding, Target
from lookalike.progress import silent
from lookalike.randomness import Randomness

METHODS = (
    "greedy-grouping",
    "random-grouping",
    "symmetric-grouping",
    "mondrian",
    "groups",
    "anatomy",
    "two-size",
    "heterogeneous",
)
SCALING = ("naive-bayes", "linkage")
WARM = 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--records", type=int, default=45_000)
    parser.add_argument("--model", default="l-diversity:6")
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        frame = pl.read_csv(tables[-1])
        print(f"{'method':20} {'attack':16} {'wall s':>7} {'CPU s':>7} {'right':>7} {'honest':>7}  affected")
        for method in options.methods:
            for _ in attacked(target_of(frame.head(WARM), schema, options.model, method)):
                pass
            total_wall, total_cpu = 0.0, 0.0
            for attack, findings, wall, cpu in attacked(
                target_of(frame.head(options.records), schema, options.model, method)
            ):
                total_wall, total_cpu = total_wall + wall, total_cpu + cpu
                print(f"{method:20} {attack:16} {wall:7.2f} {cpu:7.2f} {figures(findings)}", flush=True)
            print(f"{method:20} {'all':16} {total_wall:7.2f} {total_cpu:7.2f}", flush=True)
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print(f"\n{'rows':>9} " + " ".join(f"{name + ' s':>13}" for name in SCALING))
        print_scaling(tables, schema, options.model)


def target_of(frame: pl.DataFrame, schema: Path, model: str, method: str) -> Target:
    made = la.publish(frame, schema=schema, model=model, algorithm=method).made
    return Target(release=made.release, original=made.data, promises=made.promises, algorithm=made.algorithm)


def attacked(target: Target) -> Iterator[tuple[str, list[Finding], float, float]]:
    """Each attack that applies, what it found, and its wall and CPU seconds."""
    for name in ATTACKS:
        attack = parse_attack(name)
        if attack.refuses(target) is None:
            wall, cpu = time.perf_counter(), time.process_time()
            findings = attack.run(target, Randomness(1), silent)
            yield name, findings, time.perf_counter() - wall, time.process_time() - cpu


def figures(findings: list[Finding]) -> str:
    """The best guesses of an attack, against the best of those who only read."""
    scored = [(found.score.share, found) for found in findings if found.score is not None]
    if not scored:
        return ""
    share, best = max(scored, key=lambda one: one[0])
    affected = "" if best.n_affected is None else f"{best.n_affected:,}"
    return f"{share:7.1%} {max(best.baselines.values(), default=0.0):7.1%}  {affected}"


def print_scaling(tables: list[Path], schema: Path, model: str) -> None:
    points = []
    for table in tables:
        target = target_of(pl.read_csv(table), schema, model, "mondrian")
        seconds = []
        for name in SCALING:
            begin = time.process_time()
            parse_attack(name).run(target, Randomness(1), silent)
            seconds.append(time.process_time() - begin)
        points.append((target.original.n_rows, seconds))
        print(f"{points[-1][0]:9,} " + " ".join(f"{one:13.2f}" for one in seconds), flush=True)
    (few, small), (many, large) = points[0], points[-1]
    for name, first, last in zip(SCALING, small, large, strict=True):
        print(f"{name}: time grows as rows^{math.log(last / first) / math.log(many / few):.2f}")


if __name__ == "__main__":
    main()
