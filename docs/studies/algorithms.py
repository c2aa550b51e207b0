"""What each method loses and how long it takes: the second table of docs/algorithms.md.

    python docs/studies/algorithms.py                       prints it
    python docs/studies/algorithms.py --rows 2000 --seed 1

Each method publishes the sample of hospital stays under a promise it is for. Losses compare within one promise only.
CPU seconds are of the method alone, the second of two runs, so that nothing is compiled meanwhile.
"""

from __future__ import annotations

import argparse
import time

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.metrics import METRICS
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import hospital

MEASURED = {
    "freeform": ["k-anonymity:5"],
    "sabre": ["t-closeness:0.3"],
    "tmondrian": ["t-closeness:0.3"],
    "lmondrian": ["beta-likeness:4"],
    "dmondrian": ["beta-likeness:4"],
    "perturbation": ["beta-likeness:4"],
    "groups": ["k-anonymity:5", "l-diversity:5", "t-closeness:0.3", "beta-likeness:4"],
    "mondrian": ["k-anonymity:5", "l-diversity:5", "t-closeness:0.3", "beta-likeness:4"],
    "heterogeneous": ["l-diversity:5", "beta-likeness:4"],
    "burel": ["l-diversity:5", "beta-likeness:4"],
}
LOSS = {"grouped": "gcp", "matched": "gcp", "bucketized": "msbs"}


def stays(rows: int) -> Microdata:
    return Microdata.encode(hospital(rows), Schema.of(qi=["age", "sex", "zip code"], sensitive=["diagnosis"]))


def measured(name: str, promise: str, data: Microdata, seed: int) -> str:
    """A line of the second table: promise, method, loss, seconds."""
    promises = settle([Promise(parse_model(promise))], data)
    requirements = require(promises, data)
    method = parse_algorithm(name)
    for _ in range(2):
        begin = time.process_time()
        release, _ = method.anonymize(data, requirements, Randomness(seed), silent)
        seconds = time.process_time() - begin
    metric = LOSS.get(release.form)
    loss = "" if metric is None else f"{metric} {METRICS[metric]().measure(data, release):.3f}"
    return f"| {promise} | {name} | {loss} | {seconds:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data = stays(options.rows)
    print("| promise | method | loss | seconds |\n|---|---|---|---|")
    wanted = [(promise, name) for name in ALGORITHMS for promise in MEASURED.get(name, ["l-diversity:5"])]
    for promise in dict.fromkeys(promise for promise, _ in wanted):
        for name in (name for other, name in wanted if other == promise):
            print(measured(name, promise, data, options.seed))


if __name__ == "__main__":
    main()
