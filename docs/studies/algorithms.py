"""Which method serves which model, and what each loses and takes: the tables of docs/algorithms.md.

    python docs/studies/algorithms.py                       prints both
    python docs/studies/algorithms.py --rows 2000 --seed 1

Each method publishes the sample of hospital stays under a promise it is for. Losses compare within one promise only.
Seconds are of the method alone, the second of two runs, so that nothing is compiled meanwhile.
"""

from __future__ import annotations

import argparse
import time

from lookalike.algorithms import ALGORITHMS, parse_algorithm
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Schema
from lookalike.metrics import METRICS
from lookalike.models import MODELS, parse_model
from lookalike.pipeline.recipe import refusal, required, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from lookalike.samples import hospital

USUAL = {
    "k-anonymity": "k-anonymity:3",
    "k-concealment": "k-concealment:3",
    "alpha-k": "alpha-k:0.5,k=3",
    "l-diversity": "l-diversity:3",
    "t-closeness": "t-closeness:0.4",
    "beta-likeness": "beta-likeness:3",
    "delta-disclosure": "delta-disclosure:3",
    "f-privacy": "f-privacy:theta=4",
    "rho-privacy": "rho-privacy:rho1=0.2,rho2=0.6",
}
"""A promise of each model, as it is usually made."""
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


def served(name: str, data: Microdata) -> list[str]:
    """The models that a method serves."""
    method = ALGORITHMS[name]()
    found = []
    for model in MODELS:
        promises = settle([Promise(parse_model(USUAL[model]))], data)
        requirements = required(promises, data)
        if refusal(method, method.adversary, promises, requirements, data.domains) is None:
            found.append(model)
    return found


def row(name: str, data: Microdata) -> str:
    """The beginning of a method's line in the overview: name, form, models, strongest adversary."""
    method = ALGORITHMS[name]()
    models = served(name, data)
    said = "all" if len(models) == len(MODELS) else ", ".join(models)
    strongest = method.facing(KNOWS_METHOD).adversary
    return f"| [{name}](algorithms/{name}.md) | {method.form} | {said} | `{strongest}` |"


def measured(name: str, promise: str, data: Microdata, seed: int) -> str:
    """A line of the second table: promise, method, loss, seconds."""
    promises = settle([Promise(parse_model(promise))], data)
    requirements = required(promises, data)
    method = parse_algorithm(name)
    for _ in range(2):
        begin = time.perf_counter()
        release, _ = method.anonymize(data, requirements, Randomness(seed), silent)
        seconds = time.perf_counter() - begin
    metric = LOSS.get(release.form)
    loss = "" if metric is None else f"{metric} {METRICS[metric]().measure(release, data):.3f}"
    return f"| {promise} | {name} | {loss} | {seconds:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    data = stays(options.rows)
    print("| method | form | models | strongest adversary |\n|---|---|---|---|")
    for name in ALGORITHMS:
        print(row(name, data))
    print("\n| promise | method | loss | seconds |\n|---|---|---|---|")
    wanted = [(promise, name) for name in ALGORITHMS for promise in MEASURED.get(name, ["l-diversity:5"])]
    for promise in dict.fromkeys(promise for promise, _ in wanted):
        for name in (name for other, name in wanted if other == promise):
            print(measured(name, promise, data, options.seed))


if __name__ == "__main__":
    main()
