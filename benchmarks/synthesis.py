"""How far synthetic records are from the table, and what they take.

    python benchmarks/synthesis.py [--rows 10000 50000] [--epsilon 0.1 1 10] [--runs 5]

On generated census-shaped tables. Error is the total variation distance between the shares of two columns' combinations
in the table and in the synthetic records, the mean over all pairs of columns, then mean and largest over the runs. For
comparison: the same after shuffling each column by itself (exact shares, no dependence), and after drawing records
of the table again with replacement (chance alone).
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms.privbayes import PrivBayes
from lookalike.data.microdata import Microdata
from lookalike.randomness import Randomness
from lookalike.samples import census, census_schema


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--epsilon", nargs="+", default=["0.1", "0.5", "1.386", "5", "50"])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(f"{'rows':>8} {'epsilon':>11} {'error':>7} {'largest':>8} {'seconds':>8}  degree")
    for rows in options.rows:
        data = Microdata.encode(census(rows), census_schema())
        table = codes_of(data)
        for epsilon in options.epsilon:
            begin = time.perf_counter()
            made = [PrivBayes(epsilon).synthesize(data, Randomness(run)) for run in range(options.runs)]
            seconds = (time.perf_counter() - begin) / options.runs
            # Codes can be compared only where every declared number occurs in the table.
            assert [domain.texts for domain in made[0].data.domains.all] == [
                domain.texts for domain in data.domains.all
            ]
            errors = [distance(table, codes_of(one.data)) for one in made]
            line = f"{rows:8} {epsilon:>11} {np.mean(errors):7.3f} {max(errors):8.3f} {seconds:8.2f}"
            print(f"{line}  {made[0].shape.degree}", flush=True)
        generator = np.random.default_rng(1)
        apart = np.column_stack([generator.permutation(column) for column in table.T])
        print(f"{rows:8} {'shuffled':>11} {distance(table, apart):7.3f}")
        print(f"{rows:8} {'drawn again':>11} {distance(table, table[generator.integers(0, rows, rows)]):7.3f}")


def codes_of(data: Microdata) -> NDArray[np.int32]:
    return np.concatenate([data.quasi, data.sensitive], axis=1)


def distance(table: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Mean over pairs of columns of the total variation distance."""
    distances = []
    for first, second in itertools.combinations(range(table.shape[1]), 2):
        width = int(max(table[:, second].max(), other[:, second].max())) + 1
        ids = [codes[:, first].astype(np.int64) * width + codes[:, second] for codes in (table, other)]
        size = int(max(numbers.max() for numbers in ids)) + 1
        shares = [np.bincount(numbers, minlength=size) / len(numbers) for numbers in ids]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(distances))


if __name__ == "__main__":
    main()
