"""Loss, CPU seconds and memory of the methods whose rows have extents of their own, and of strict groups beside them.

    python benchmarks/matched.py --data folder          on the CSV files (census10k.csv ...) in a folder
    python benchmarks/matched.py                        on generated census-shaped tables
    python benchmarks/matched.py --million              also on a million rows: the largest table, resampled
    python benchmarks/matched.py --spans 78,1,16,...    with these spans of the seven quasi-identifiers
    python benchmarks/matched.py --walks                all ten matchings of a random 10-regular graph on a million
    python benchmarks/matched.py --data folder --reference discont.csv
                                                        only `ring`, against figures of the authors' NH in that file

Each line is a process of its own (`runs.py`); every release is audited. The matchers that look at all pairs run on
tables of up to 20,000 rows only.
"""

from __future__ import annotations

import argparse
import csv
import resource
import tempfile
from pathlib import Path

import numpy as np
import yaml
from foundation import QUASI, schema_for
from runs import print_growth, print_heading, print_line, resampled, run, tables_in

PAIRS_UP_TO = 20_000
RINGS = ("ring", "ring:parts=merged")
AUTHORS_SPANS = "78,1,16,5,8,9,82"
"""What the code of the reference divides losses by, whatever the tables hold."""
LINES = (
    ("heterogeneous", "l-diversity:10", None),
    ("heterogeneous:matcher=greedy", "l-diversity:10", PAIRS_UP_TO),
    ("heterogeneous:matcher=sorted", "l-diversity:10", PAIRS_UP_TO),
    ("heterogeneous:matcher=hungarian", "l-diversity:10", PAIRS_UP_TO),
    ("ring", "l-diversity:10", None),
    ("groups:mode=strict", "l-diversity:10", None),
    ("heterogeneous", "l-diversity:5", None),
    ("ring", "l-diversity:5", None),
    ("heterogeneous", "beta-likeness:3,bound=basic", None),
    ("heterogeneous:matcher=hungarian", "beta-likeness:3,bound=basic", PAIRS_UP_TO),
    ("heterogeneous:buckets=equal", "beta-likeness:3,bound=basic", PAIRS_UP_TO),
    ("freeform", "k-anonymity:10", None),
    ("freeform:matcher=greedy", "k-anonymity:10", PAIRS_UP_TO),
)


def with_spans(schema: Path, spans: list[int]) -> None:
    """Declare how wide each quasi-identifier is, whatever the tables hold."""
    described = yaml.safe_load(schema.read_text(encoding="utf-8"))
    for column, span in zip(described["columns"][: len(QUASI)], spans, strict=True):
        domain = column["domain"]
        column["domain"] = (
            {"low": domain["low"], "high": domain["low"] + span} if "low" in domain else {"size": span + 1}
        )
    schema.write_text(yaml.safe_dump(described), encoding="utf-8")


def walks(n_vertices: int = 1_000_000, degree: int = 10) -> None:
    from lookalike.algorithms.shared.method import disjoint_assignments
    from lookalike.randomness import Randomness

    rng = np.random.default_rng(1)
    disjoint_assignments(np.array([[0, 1], [1, 0]], dtype=np.int32), Randomness(1), 2)  # compiles
    edges = np.stack([rng.permutation(n_vertices) for _ in range(degree)], axis=1).astype(np.int32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = disjoint_assignments(edges, Randomness(1), degree)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    complete = all(len(np.unique(matching)) == n_vertices for matching in found)
    print(f"{degree} disjoint matchings of {n_vertices:,} vertices: {spent:.1f} CPU s, complete: {complete}")


def read_reference(path: Path) -> dict[tuple[str, str], dict[str, float]]:
    """The figures of NH for each table and l."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["system"] == "NH" and row["model"] == "l-diversity":
                figures = found.setdefault((row["dataset"], row["param"].removeprefix("l=")), {})
                figures[row["metric"]] = float(row["value"])
    return dict(sorted(found.items(), key=lambda item: (item[0][0], int(item[0][1]))))


def compare_rings(folder: Path, schema: Path, reference: Path) -> None:
    """A row of a Markdown table for each table and l of the reference; losses above those of NH are marked."""
    print("| table | l | NH | ring | ring:parts=merged | NH, CPU s | ring, CPU s |")
    print("|---|---|---|---|---|---|---|")
    for (name, ell), authors in read_reference(reference).items():
        ours = [run(folder / f"{name}.csv", schema, f"l-diversity:{ell}", "reads-release", each) for each in RINGS]
        if not all(found["passed"] for found in ours):
            raise SystemExit(f"{name}, l = {ell}: a release does not pass its audit")
        theirs = authors["gcp_as_coded"]
        losses = (f"{found['gcp']:.4f}{' (more)' if found['gcp'] > theirs else ''}" for found in ours)
        seconds = f"{authors['time_s_cpu_O2']:.2f} | {ours[0]['cpu']:.2f}"
        print(f"| {name} | {ell} | {theirs:.4f} | {' | '.join(losses)} | {seconds} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--spans", help="spans of the seven quasi-identifiers, parted by commas")
    parser.add_argument("--algorithm", help="only lines that begin so")
    parser.add_argument("--model", help="only models that begin so")
    parser.add_argument("--walks", action="store_true", help="only the random walks")
    parser.add_argument("--reference", type=Path, help="CSV file with figures of NH; needs --data with its tables")
    options = parser.parse_args()
    if options.reference and not options.data:
        parser.error("--reference needs --data: the folder with the tables that its figures are of")
    if options.walks:
        walks()
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        spans = options.spans or (AUTHORS_SPANS if options.reference else None)
        if spans:
            with_spans(schema, [int(span) for span in spans.split(",")])
        if options.reference:
            compare_rings(options.data, schema, options.reference)
            return
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print_heading(f"{'algorithm':34} {'model':28}")
        for algorithm, model, most_rows in LINES:
            if not algorithm.startswith(options.algorithm or "") or not model.startswith(options.model or ""):
                continue
            points = []
            for table in tables:
                with table.open("rb") as lines:
                    n_rows = sum(1 for _ in lines) - 1
                if most_rows is None or n_rows <= most_rows:
                    found = run(table, schema, model, "reads-release", algorithm)
                    print_line(f"{algorithm:34} {model:28}", table, found)
                    if "infeasible" not in found:
                        points.append(found)
            print_growth(points)


if __name__ == "__main__":
    main()
