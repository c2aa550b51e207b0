"""How far synthetic records are from the table, and what they take.

    python benchmarks/synthesis.py [--rows 10000 50000] [--epsilon 0.1 1 10] [--runs 5] [--algorithm privbayes mst]
    python benchmarks/synthesis.py --data census10k.csv --sensitive occupation --algorithm privbayes mst

On generated census-shaped tables, or on a CSV file of which every column is taken. Error is the total variation
distance between the shares of two columns' combinations in the table and in the synthetic records, the mean over all
pairs of columns. Query error is the median relative error of 500 random count queries (ranges or sets of values over
three columns, each about half of the domain, on at least 1 % of the records). Accuracy is that of naive Bayes, and of
a random forest if scikit-learn is installed, trained on synthetic records made from one half of the table to predict
the sensitive column of the other half. All are means over the runs. For comparison: the same for the table itself,
after shuffling each column by itself (exact shares, no dependence), and after drawing records of the table again with
replacement (chance alone).
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lookalike.algorithms import parse_synthesizer
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema
from lookalike.files.tables import read_table
from lookalike.randomness import Randomness
from lookalike.samples import census, census_schema

Codes = NDArray[np.int64]
QUERIES = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sensitive", default="occupation")
    parser.add_argument("--epsilon", nargs="+", default=["0.1", "0.5", "1.386", "5", "50"])
    parser.add_argument("--algorithm", nargs="+", default=["privbayes"])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(
        f"{'rows':>8} {'method':>11} {'epsilon':>8} {'error':>7} {'query':>7} {'bayes':>6} {'trees':>6} {'seconds':>8}"
    )
    for data in [read(options.data, options.sensitive)] if options.data else map(generate, options.rows):
        rows, table = data.n_rows, codes_of(data)
        halves = np.random.default_rng(1).permutation(rows)
        train, test = (data.take(np.sort(half)) for half in np.array_split(halves, 2))
        for name, epsilon in itertools.product(options.algorithm, options.epsilon):
            figures, seconds = [], 0.0
            for run in range(options.runs):
                method = parse_synthesizer(name, {"epsilon": epsilon})
                begin = time.perf_counter()
                made = align(method.synthesize(data, Randomness(run)).data, data)
                seconds += time.perf_counter() - begin
                trained = align(method.synthesize(train, Randomness(run + 1000)).data, data)
                figures.append(measure(table, made, trained, codes_of(test)))
            show(rows, name, epsilon, np.mean(figures, axis=0), seconds / options.runs)
        generator = np.random.default_rng(1)
        apart, apart_train = (shuffle(one, generator) for one in (table, codes_of(train)))
        again = table[generator.integers(0, rows, rows)]
        show(rows, "shuffled", "", measure(table, apart, apart_train, codes_of(test)))
        show(rows, "drawn again", "", measure(table, again, codes_of(train), codes_of(test)))


def show(rows: int, name: str, epsilon: str, figures: NDArray[np.float64], seconds: float | None = None) -> None:
    error, query, bayes, trees = figures
    took = "" if seconds is None else f"{seconds:8.2f}"
    print(f"{rows:8} {name:>11} {epsilon:>8} {error:7.3f} {query:7.3f} {bayes:6.3f} {trees:6.3f} {took}", flush=True)


def read(file: Path, sensitive: str) -> Microdata:
    names = file.open(encoding="utf-8").readline().strip().split(",")
    schema = Schema.of(qi=[name for name in names if name != sensitive], sensitive=[sensitive])
    table: Table = read_table(file)
    return Microdata.encode(table, schema)


def generate(rows: int) -> Microdata:
    return Microdata.encode(census(rows), census_schema())


def codes_of(data: Microdata) -> Codes:
    return np.concatenate([data.quasi, data.sensitive], axis=1).astype(np.int64)


def align(made: Microdata, data: Microdata) -> Codes:
    """Synthetic codes in the codes of the table; a value between two of the table's becomes the nearest."""
    columns = []
    for domain, other, codes in zip(made.domains.all, data.domains.all, codes_of(made).T, strict=True):
        if domain.texts == other.texts:
            columns.append(codes)
        else:
            known = np.asarray(other.values, dtype=np.float64)
            wanted = np.asarray(domain.values, dtype=np.float64)
            columns.append(np.abs(wanted[:, None] - known).argmin(axis=1)[codes])
    return np.column_stack(columns).astype(np.int64)


def shuffle(table: Codes, generator: np.random.Generator) -> Codes:
    return np.column_stack([generator.permutation(column) for column in table.T])


def measure(table: Codes, made: Codes, trained: Codes, test: Codes) -> NDArray[np.float64]:
    sizes = np.maximum(table.max(axis=0), made.max(axis=0)) + 1
    sizes = np.maximum(sizes, np.maximum(trained.max(axis=0), test.max(axis=0)) + 1)
    return np.array(
        [
            distance(table, made),
            query_error(table, made, sizes),
            naive_bayes(trained, test, sizes),
            trees(trained, test),
        ]
    )


def distance(table: Codes, other: Codes) -> float:
    """Mean over pairs of columns of the total variation distance."""
    distances = []
    for first, second in itertools.combinations(range(table.shape[1]), 2):
        width = int(max(table[:, second].max(), other[:, second].max())) + 1
        ids = [codes[:, first] * width + codes[:, second] for codes in (table, other)]
        size = int(max(numbers.max() for numbers in ids)) + 1
        shares = [np.bincount(numbers, minlength=size) / len(numbers) for numbers in ids]
        distances.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(distances))


def query_error(table: Codes, made: Codes, sizes: Codes) -> float:
    generator, errors = np.random.default_rng(2), []
    while len(errors) < QUERIES:
        columns = generator.choice(len(sizes), 3, replace=False)
        inside = [np.ones(len(codes), dtype=bool) for codes in (table, made)]
        for column in columns:
            begin, width = generator.integers(sizes[column]), max(1, sizes[column] // 2)
            asked = (np.arange(sizes[column]) - begin) % sizes[column] < width
            inside = [kept & asked[codes[:, column]] for kept, codes in zip(inside, (table, made), strict=True)]
        true, found = (float(kept.mean()) for kept in inside)
        if true >= 0.01:
            errors.append(abs(found - true) / true)
    return float(np.median(errors))


def naive_bayes(train: Codes, test: Codes, sizes: Codes) -> float:
    """Accuracy for the last column, with one added to every count."""
    logarithms = np.log(np.bincount(train[:, -1], minlength=sizes[-1]) + 1.0)[None, :].repeat(len(test), axis=0)
    for column in range(train.shape[1] - 1):
        counts = np.ones((sizes[column], sizes[-1]))
        np.add.at(counts, (train[:, column], train[:, -1]), 1)
        logarithms += np.log(counts / counts.sum(axis=0))[test[:, column]]
    return float((logarithms.argmax(axis=1) == test[:, -1]).mean())


def trees(train: Codes, test: Codes) -> float:
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError:
        return float("nan")
    learner = RandomForestClassifier(50, min_samples_leaf=5, random_state=1)
    return float((learner.fit(train[:, :-1], train[:, -1]).predict(test[:, :-1]) == test[:, -1]).mean())


if __name__ == "__main__":
    main()
