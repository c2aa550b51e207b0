"""Estimated against true risk in the population: random samples of a table that is taken as the whole population.

    python benchmarks/population.py --data FOLDER     census100k.csv of a folder
    python benchmarks/population.py                   a generated census-shaped table of 100,000 people
    python benchmarks/population.py --draws 10

Each sample is read by its quasi-identifiers as they are, the sparsest classes that there can be. `risk`: the mean of
1 / F over the people of the sample, where F is how many of the population have the same values (a journalist's mean,
a marketer's rate). `alone`: how many of the people who are unique in the sample are unique in the population. Means
of several draws. The last column is the error of Ewens-Pitman's risk: on all quasi-identifiers more than 15 % is a
failure.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.attacks.shared.population import MU_ARGUS, PITMAN, EwensPitman, MuArgus, estimate_population
from lookalike.audit.reading import joint_ids
from lookalike.data.microdata import Table
from lookalike.files.tables import read_table
from lookalike.samples import census

Ints = NDArray[np.int64]
FRACTIONS = (0.01, 0.05, 0.1, 0.2)
ALLOWED = 0.15


def classes_of(table: Table, names: list[str]) -> Ints:
    return joint_ids(tuple(table[name].codes for name in names), table.n_rows)


def alone_in_population(model: Any) -> float:
    """Pr(F = 1 | f = 1)."""
    if isinstance(model, MuArgus):
        return model.fraction
    assert isinstance(model, EwensPitman)
    # No further draw falls into the class: a product over draws, as a sum of logarithms.
    drawn = np.arange(model.n_unseen) + model.n_persons + model.theta
    return float(np.exp(np.log1p(-(1 - model.alpha) / drawn).sum()))


def measure(classes: Ints, fraction: float, seed: int) -> list[float]:
    """risk and alone: true, Ewens-Pitman, mu-Argus."""
    n_people = len(classes)
    drawn = np.random.default_rng(seed).permutation(n_people)[: round(fraction * n_people)]
    in_population = np.bincount(classes)
    in_sample = np.bincount(classes[drawn], minlength=len(in_population))
    seen = in_sample > 0
    f, whole = in_sample[seen].astype(np.int64), in_population[seen]
    risks, alone = [float(f @ (1 / whole)) / len(drawn)], [float((whole[f == 1] == 1).mean())]
    for estimator in (PITMAN, MU_ARGUS):
        model, instead = estimate_population(f, len(drawn), n_people, estimator)
        assert instead is None, instead
        risks.append(float(f @ model.risks(f)) / len(drawn))
        alone.append(alone_in_population(model))
    return [*risks, *alone]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with census100k.csv")
    parser.add_argument("--draws", type=int, default=3, help="samples per line (3 by default)")
    options = parser.parse_args()
    begin = time.process_time()
    table = read_table(options.data / "census100k.csv") if options.data else census(100_000, seed=1)
    *names, _ = table.names
    figures = [f"{name:>6} {'EP':>6} {'mu-A':>6}" for name in ("risk", "alone")]
    print("   ".join((f"{'columns':>7} {'fraction':>8}", *figures, "error")))
    failed = False
    for columns, fractions in ((names, FRACTIONS), (names[:4], FRACTIONS[:1])):
        classes = classes_of(table, columns)
        for fraction in fractions:
            found = np.mean([measure(classes, fraction, seed) for seed in range(options.draws)], axis=0)
            error = found[1] / found[0] - 1
            failed |= columns is names and abs(error) > ALLOWED
            shown = "   ".join(" ".join(f"{number:6.3f}" for number in part) for part in (found[:3], found[3:]))
            print(f"{len(columns):7} {fraction:8.2f}   {shown}   {error:+6.1%}")
    print(f"{time.process_time() - begin:.0f} CPU seconds")
    if failed:
        sys.exit(f"Ewens-Pitman is more than {ALLOWED:.0%} off the truth.")


if __name__ == "__main__":
    main()
