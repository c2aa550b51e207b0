"""What a classifier and a regression learn from plain tables drawn from releases: the table of docs/plain-tables.md.

    python docs/studies/plain_tables.py                     prints the table
    python docs/studies/plain_tables.py --rows 5000 --worlds 5

Each method publishes the hospital sample; from its folder alone worlds are drawn, and on each the same two things are
done as on the original: a random forest learns to predict the diagnosis, and a logistic regression estimates how the
odds of a disease of heart and circulation go with age and sex. Predictions are tested on patients of another
draw, whom no release has seen. "independent columns" is the original with every column shuffled on its own.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.ensemble import RandomForestClassifier

import lookalike as la
from lookalike.files.releases.cells import type_values
from lookalike.samples import hospital

QUASI, SENSITIVE = ("age", "sex"), "diagnosis"
PROMISE = "l-diversity:4"
METHODS = (
    ("groups", PROMISE),
    ("mondrian", PROMISE),
    ("anatomy", PROMISE),
    ("anatomy:assign=similar", PROMISE),
    ("two-size:assign=similar", "f-privacy:theta=4,base=0.02"),
    ("perturbation", "beta-likeness:4"),
)
CIRCULATORY = ("hypertension", "heart failure", "heart attack", "atrial fibrillation", "stroke")

Numbers = NDArray[np.float64]


class Fit(NamedTuple):
    """What is learnt from one table."""

    right: float
    """Share of predictions of strangers that are right."""
    coefficients: Numbers
    """Log odds for ten years of age, and for men."""
    variances: Numbers


class Result(NamedTuple):
    name: str
    promise: str
    right: float
    odds: Numbers
    low: Numbers
    high: Numbers


def table(rows: int, seed: int | None = None) -> pl.DataFrame:
    """The hospital sample as a frame."""
    drawn = hospital(rows) if seed is None else hospital(rows, seed=seed)
    columns = []
    for name in (*QUASI, SENSITIVE):
        column = drawn[name]
        values = type_values(column.values, column.type)
        known = pl.concat([values, pl.Series([None], dtype=values.dtype)])
        columns.append(known.gather(column.codes.astype(np.uint32)).alias(name))
    return pl.DataFrame(columns)


def known(frame: pl.DataFrame) -> Numbers:
    """Age in tens of years around 50, and whether male."""
    return np.column_stack(((frame["age"].to_numpy() - 50) / 10, (frame["sex"] == "male").to_numpy())).astype(float)


def logistic(x: Numbers, y: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Coefficients without the intercept, and their variances, by maximum likelihood."""
    x = np.column_stack((np.ones(len(x)), x))

    def loss(b: Numbers) -> tuple[float, Numbers]:
        scores = x @ b
        return float(np.logaddexp(0, scores).sum() - scores[y].sum()), x.T @ (1 / (1 + np.exp(-scores)) - y)

    found = minimize(loss, np.zeros(x.shape[1]), jac=True).x
    p = 1 / (1 + np.exp(-(x @ found)))
    return found[1:], np.diag(np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x))[1:]


def learnt(frame: pl.DataFrame, strangers: pl.DataFrame) -> Fit:
    leaf = max(10, len(frame) // 50)
    forest = RandomForestClassifier(50, min_samples_leaf=leaf, random_state=0)
    forest.fit(known(frame), frame[SENSITIVE].to_numpy())
    right = float((forest.predict(known(strangers)) == strangers[SENSITIVE].to_numpy()).mean())
    return Fit(right, *logistic(known(frame), frame[SENSITIVE].is_in(CIRCULATORY).to_numpy()))


def pooled(name: str, promise: str, fits: Sequence[Fit], level: float = 0.95) -> Result:
    """One result of all worlds."""
    together = la.pool([fit.coefficients for fit in fits], [fit.variances for fit in fits])
    right = float(np.mean([fit.right for fit in fits]))
    return Result(name, promise, right, np.exp(together.estimate), *map(np.exp, together.interval(level)))


def released(original: pl.DataFrame, strangers: pl.DataFrame, method: str, promise: str, worlds: int) -> Result:
    """Publish, forget the original, draw, learn."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "release"
        la.publish(original, qi=QUASI, sensitive=SENSITIVE, model=promise, algorithm=method, seed=1).write(folder)
        drawn = la.sample(folder, worlds=worlds, seed=1)
    return pooled(method, promise, [learnt(frame, strangers) for frame in drawn])


def shuffled(original: pl.DataFrame, seed: int) -> pl.DataFrame:
    return pl.DataFrame([original[name].shuffle(seed=seed + place) for place, name in enumerate(original.columns)])


def results(rows: int, worlds: int, methods: Sequence[tuple[str, str]] = METHODS) -> list[Result]:
    original, strangers = table(rows), table(rows, seed=97)
    whole = learnt(original, strangers)
    found = [pooled("the original", "", [whole, whole])]
    found += [released(original, strangers, method, promise, worlds) for method, promise in methods]
    apart = [learnt(shuffled(original, 10 * world), strangers) for world in range(worlds)]
    return [*found, pooled("independent columns", "", apart)]


def markdown(found: Sequence[Result]) -> str:
    lines = [
        "| table | promise | predicted rightly | odds for ten years of age | odds for men |",
        "|---|---|---|---|---|",
    ]
    for one in found:
        odds = " | ".join(
            f"{one.odds[at]:.2f} ({one.low[at]:.2f} to {one.high[at]:.2f})" for at in range(len(one.odds))
        )
        lines.append(f"| {one.name} | {one.promise} | {100 * one.right:.1f} % | {odds} |")
    return "\n".join(lines)


def main(given: Sequence[str] | None = None) -> Any:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--worlds", type=int, default=5)
    options = parser.parse_args(given)
    print(markdown(results(options.rows, options.worlds)))


if __name__ == "__main__":
    main()
