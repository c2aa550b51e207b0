"""Loss, CPU seconds and memory of `groups` for the usual promises, and how time and memory grow with rows.

    python benchmarks/groups.py --data folder          on the CSV files (census10k.csv ...) in a folder
    python benchmarks/groups.py                        on generated census-shaped tables
    python benchmarks/groups.py --million              also on a million rows: the largest table, resampled

Each line is a process of its own (`runs.py`). Losses use the domains observed in the largest table. Every release is
audited. In the million, records are drawn from the largest table with replacement and ages moved by up to three years,
within the ages that occur.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from foundation import schema_for
from runs import print_growth, print_heading, print_line, resampled, run, tables_in

MODELS = (
    ("k-anonymity:10", "reads-release"),
    ("l-diversity:5", "reads-release"),
    ("l-diversity:10", "reads-release"),
    ("beta-likeness:3,bound=basic", "reads-release"),
    ("beta-likeness:3", "reads-release"),
    ("t-closeness:0.2", "reads-release"),
    ("l-diversity:5", "knows-method"),
    ("l-diversity:10", "knows-method"),
    ("beta-likeness:3,bound=basic", "knows-method"),
    ("t-closeness:0.2", "knows-method"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--effort", default="balanced")
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--model", help="only models that begin so")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print_heading(f"{'model':28} {'adversary':13}")
        for model, adversary in MODELS:
            if options.model and not model.startswith(options.model):
                continue
            points = []
            for table in tables:
                found = run(table, schema, model, adversary, f"groups:effort={options.effort}")
                print_line(f"{model:28} {adversary:13}", table, found)
                if "infeasible" not in found:
                    points.append(found)
            print_growth(points)


if __name__ == "__main__":
    main()
