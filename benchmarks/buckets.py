"""Bucket sizes: what each method loses, how long the search takes, and a million rows from file to folder.

    python benchmarks/buckets.py --data folder      on the largest CSV file of a folder
    python benchmarks/buckets.py                    on a generated census-shaped table
    python benchmarks/buckets.py --million          also a million rows, read, bucketized, audited and written
    python benchmarks/buckets.py --queries          also the error of counts, with records at random and similar ones

Ceilings are min(1, theta * share + 0.02), sizes up to 50. The figures of Anatomy are what buckets of l = 1 / (least
ceiling) records would lose; such an l is not eligible where the most frequent value is more frequent than 1/l, and then
the figure is hypothetical (in brackets).
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
from foundation import schema_for
from numpy.typing import NDArray
from runs import resampled, tables_in

from lookalike.algorithms import parse_algorithm
from lookalike.algorithms.optimal_buckets import all_sizes
from lookalike.algorithms.shared.bucket_sizes import Part, Range, loss_of, many_sizes, smallest_size, two_sizes
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized
from lookalike.data.schema import Schema
from lookalike.files.tables import read_columns
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

THETAS = (2, 4, 8, 16, 32)
LARGEST = 50
Counts = NDArray[np.int64]


def family(counts: Counts, theta: int) -> list[Fraction]:
    n_rows = int(counts.sum())
    return [min(Fraction(1), theta * Fraction(int(count), n_rows) + Fraction(1, 50)) for count in counts]


def sizes_part(table: Path, seconds: float) -> None:
    frame = pl.read_csv(table)
    print(
        f"{'MSBS':12} {'theta':>5} {'optimal':>9} {'multi':>8} {'two':>8} {'anatomy':>10} {'gap':>6}  tests: full  none"
    )
    for column in ("occupation", "education"):
        counts = np.sort(frame[column].value_counts()["count"].to_numpy()).astype(np.int64)
        n_rows = int(counts.sum())
        for theta in THETAS:
            ceilings = family(counts, theta)
            tried = Range.between(smallest_size(ceilings, 1), LARGEST, ceilings)
            two, none = two_sizes(counts, tried), two_sizes(counts, tried, "none")
            assert two is not None
            assert none is not None
            many = many_sizes(Part(n_rows, 1, counts), tried)
            solved = all_sizes(counts, tried, seconds=seconds)
            best = loss_of(min(solved.parts or many.parts, many.parts, key=loss_of))
            ell = max(math.ceil(1 / ceiling) for ceiling in ceilings)
            anatomy = f"{n_rows // ell * (ell - 1) ** 2 / (n_rows - 1):.2f}"
            eligible = int(counts.max()) * ell <= n_rows
            figures = [loss / (n_rows - 1) for loss in (best, loss_of(many.parts), loss_of(two.parts))]
            assert figures == sorted(figures)
            shown = [f"{column:12} {theta:5} {figures[0]:9.3f} {figures[1]:8.3f} {figures[2]:8.3f}"]
            shown.append(f"{anatomy if eligible else f'({anatomy})':>10} {1 - solved.bound / best:6.1%}")
            print(*shown, f"{two.tests:12,} {none.tests:9,}", flush=True)


def times_part() -> None:
    rng = np.random.default_rng(1)
    print(f"\n{'values':>6} {'rows':>12} {'two-size s':>10} {'tests':>7}")
    for n_values, n_rows in ((50, 10_000), (50, 1_000_000), (50, 100_000_000), (800, 1_000_000), (3200, 1_000_000)):
        counts = 1 + (rng.dirichlet(np.ones(n_values)) * n_rows).astype(np.int64)
        ceilings = family(counts, 4)
        best = math.inf
        for _ in range(3):
            begin = time.process_time()
            found = two_sizes(counts, Range.between(smallest_size(ceilings, 1), LARGEST, ceilings))
            best = min(best, time.process_time() - begin)
        print(f"{n_values:6} {n_rows:12,} {best:10.3f} {found.tests if found else 0:7,}", flush=True)


_WHOLE = """
import resource, sys, time
import lookalike as la
path, schema, model, algorithm, out = sys.argv[1:]
begin = time.perf_counter()
made = la.publish(path, schema=schema, model=model, algorithm=algorithm)
made.write(out)
used = resource.getrusage(resource.RUSAGE_SELF)
print(f"{algorithm:24} {model:18} {time.perf_counter() - begin:7.1f} {used.ru_utime + used.ru_stime:7.1f} "
      f"{used.ru_maxrss / 1024:6.0f}  {'passed' if made.audit.passed else 'FAILED'}")
"""


def million_part(table: Path, schema: Path, folder: Path) -> None:
    print(f"\n{'a million rows':24} {'promise':18} {'wall s':>7} {'CPU s':>7} {'MB':>6}  audit")
    for number, (algorithm, model) in enumerate(
        (("two-size", "l-diversity:5"), ("anatomy", "l-diversity:5"), ("multi-size", "f-privacy:theta=8"))
    ):
        words = [sys.executable, "-c", _WHOLE, str(table), str(schema), model, algorithm, str(folder / str(number))]
        subprocess.run(words, check=True)


def queries_part(table: Path, schema: Path, queries: int) -> None:
    """Mean error of counts of random sets of values of three quasi-identifiers and of sensitive values."""
    loaded = Schema.load(schema)
    data = Microdata.encode(read_columns(table, loaded), loaded)
    print(f"\n{'counts':24} {'promise':18} {'mean error':>10} {'median':>7} {'CPU s':>6}")
    for model in ("l-diversity:5", "f-privacy:theta=8"):
        requirements = require(settle([Promise(parse_model(model))], data), data)
        for text in ("two-size", "two-size:assign=similar", "multi-size", "multi-size:assign=similar"):
            begin = time.process_time()
            release, _ = parse_algorithm(text).anonymize(data, requirements, Randomness(1), silent)
            spent = time.process_time() - begin
            assert isinstance(release, Bucketized)
            errors = _errors(release, data, queries)
            print(f"{text:24} {model:18} {np.mean(errors):10.1%} {np.median(errors):7.1%} {spent:6.1f}", flush=True)


def _errors(release: Bucketized, data: Microdata, queries: int, attributes: int = 3, selected: float = 0.05) -> Counts:
    rng = np.random.default_rng(3)
    sizes = np.bincount(release.bucket_of_quasi)
    share, n_values = selected ** (1 / (attributes + 1)), data.domains.sensitive[0].n_codes
    errors = []

    def some(n_codes: int) -> NDArray[np.bool_]:
        chosen = np.zeros(n_codes, dtype=bool)
        chosen[rng.choice(n_codes, math.ceil(n_codes * share), replace=False)] = True
        return chosen

    for _ in range(queries):
        listed, true = np.ones(release.n_rows, dtype=bool), np.ones(data.n_rows, dtype=bool)
        for attr in rng.choice(data.quasi.shape[1], attributes, replace=False):
            chosen = some(data.domains.quasi[attr].n_codes)
            listed &= chosen[release.quasi[:, attr]]
            true &= chosen[data.quasi[:, attr]]
        values = some(n_values)
        actual = np.count_nonzero(true & values[data.sensitive[:, 0]])
        if actual >= 20:
            rows = np.bincount(release.bucket_of_quasi[listed], minlength=len(sizes))
            held = np.bincount(release.bucket_of_sensitive[values[release.sensitive[:, 0]]], minlength=len(sizes))
            errors.append(abs((rows * held / sizes).sum() - actual) / actual)
    return np.array(errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--million", action="store_true", help="also a million rows resampled from the largest")
    parser.add_argument("--queries", type=int, default=0, help="also the error of so many counts")
    parser.add_argument("--seconds", type=float, default=60, help="for each integer program")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = tables_in(options.data, folder, options.sizes)[-1]
        sizes_part(table, options.seconds)
        times_part()
        schema = schema_for(table, folder)
        if options.queries:
            queries_part(table, schema, options.queries)
        if options.million:
            million_part(resampled(table, folder), schema, folder)


if __name__ == "__main__":
    main()
