"""Singling out, linkability and inference on census records, with a control group of as many others.

    python benchmarks/three_risks.py --data FILE            census100k.csv; about a quarter of an hour
    python benchmarks/three_risks.py --data FILE --quick    one method per table

Table (A) and control group (B) are disjoint random draws of 10,000 records. Seconds are of the processor.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from lookalike.algorithms import parse_algorithm
from lookalike.attacks import parse_attack
from lookalike.data.adversary import READS_RELEASE
from lookalike.data.contracts import Promise, Residual, Target
from lookalike.data.control import encode_control, take_rows
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Schema
from lookalike.files.tables import read_columns
from lookalike.metrics import METRICS
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness

KNOWN = ["age", "gender", "education", "marital", "race", "workclass", "country"]
SECRET = "occupation"
N_RECORDS = 10_000

SINGLING_OUT = [("groups", "k-anonymity:10"), ("mondrian", "k-anonymity:10"), ("mondrian-strict", "k-anonymity:10")]
INFERENCE = [
    ("groups", "k-anonymity:2"),
    ("groups", "k-anonymity:10"),
    ("mondrian", "k-anonymity:10"),
    ("groups", "l-diversity:10"),
    ("groups", "beta-likeness:3"),
]
OTHER_FORMS = [
    ("heterogeneous", "l-diversity:10"),
    ("anatomy", "l-diversity:10"),
    ("perturbation", "beta-likeness:3"),
]


def draw(data: Path, seed: int) -> tuple[Microdata, Microdata]:
    """The table and the control group."""
    codes = [name for name in (*KNOWN, SECRET) if name not in ("age", "education")]
    schema = Schema.of(qi=KNOWN, sensitive=[SECRET], numeric=["age", "education"], categorical=codes)
    table: Table = read_columns(data, schema)
    order = np.random.default_rng(seed).permutation(table.n_rows)
    mine, theirs = (take_rows(table, np.sort(order[first : first + N_RECORDS])) for first in (0, N_RECORDS))
    encoded = Microdata.encode(mine, schema)
    control, notes = encode_control(theirs, encoded)
    for note in notes:
        sys.stdout.write(f"{note}\n")
    return encoded, control


def release(data: Microdata, control: Microdata, method: str, promise: str) -> Target:
    """A release with exact ends."""
    promises = settle([Promise(parse_model(promise))], data)
    algorithm = parse_algorithm(method).facing(READS_RELEASE)
    made, _ = algorithm.anonymize(data, require(promises, data), Randomness(1), silent)
    return Target(release=made, original=data, promises=promises, algorithm=algorithm, control=control)


def show(*cells: object) -> None:
    sys.stdout.write(" | ".join(f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in cells) + "\n")
    sys.stdout.flush()


def describe(found: Residual) -> tuple[object, ...]:
    control = found.control_share
    residual = "" if found.uncut is None else f"{found.uncut:.3f} [{found.low:.3f}, {found.high:.3f}]"
    return found.kind or "", found.n, found.share, "" if control is None else control, residual


def attack(target: Target, text: str) -> tuple[Residual, dict[str, float], float]:
    begin = time.process_time()
    (finding,) = parse_attack(text).run(target, Randomness(1), silent)
    assert finding.residual is not None
    return finding.residual, finding.figures, time.process_time() - begin


def gcp(target: Target) -> float:
    return float(METRICS["gcp"]().measure(target.original, target.release))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    data, control = draw(given.data, given.seed)

    show("singling out, predicates ends", "kind", "predicates", "in A", "in B", "R", "GCP", "seconds")
    for method, promise in SINGLING_OUT[: 1 if given.quick else None]:
        target = release(data, control, method, promise)
        show(method, *describe((found := attack(target, "singling-out:kind=ends"))[0]), gcp(target), found[2])
        steps = {"age": 5, "education": 2}
        rounded = replace(target, release=round_ends(target.release, Ends.read(steps))[0])
        show(
            f"{method}, rounded",
            *describe((found := attack(rounded, "singling-out:kind=ends"))[0]),
            gcp(rounded),
            found[2],
        )
        show(f"{method}, best kind", *describe((found := attack(target, "singling-out"))[0]), "", found[2])

    show("inference, reader", "kind", "guesses", "in A", "in B", "R", "B fits no row", "seconds")
    targets = {}
    for method, promise in INFERENCE[: 1 if given.quick else None]:
        targets[method, promise] = target = release(data, control, method, promise)
        found = attack(target, "inference:attacker=reader")
        show(f"{method}, {promise}", *describe(found[0]), 1 - found[1]["fits some row, control group"], found[2])
    if given.quick:
        return
    show("all three, other forms", "kind", "guesses", "in A", "in B", "R", "seconds")
    for method, promise in OTHER_FORMS:
        targets[method, promise] = release(data, control, method, promise)
    for (method, promise), target in targets.items():
        for text in ("singling-out", "linkability", "inference"):
            found = attack(target, text)
            show(f"{method}, {promise}, {text}", *describe(found[0]), found[2])


if __name__ == "__main__":
    main()
