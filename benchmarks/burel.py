"""Loss and CPU seconds of BUREL, by cuts and along the curve, beside the Mondrians of its paper and SABRE.

    python benchmarks/burel.py --data folder            on the CSV files (census10k.csv ...) in a folder
    python benchmarks/burel.py                          on generated census-shaped tables
    python benchmarks/burel.py --million                also on a million rows: the largest table, resampled
    python benchmarks/burel.py --close                  t-closeness: SABRE beside tMondrian

Each line is a process of its own (`runs.py`). Losses use the domains observed in the largest table. Every release is
audited.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from foundation import schema_for
from runs import resampled, run, tables_in

BETAS = (1, 2, 3, 4, 5)
METHODS = (
    "burel",
    "burel:retrieve=curve",
    "burel:retrieve=window",
    "burel:retrieve=curve,fill=1",
    "lmondrian",
    "dmondrian",
)
CLOSE = ("0.1", "0.2", "0.3")
CLOSE_METHODS = ("sabre", "sabre:retrieve=curve", "tmondrian")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--bound", default="enhanced", choices=["enhanced", "basic"])
    parser.add_argument("--beta", type=int, nargs="+", default=BETAS)
    parser.add_argument("--close", action="store_true", help="t-closeness instead of beta-likeness")
    parser.add_argument("--method", nargs="+")
    options = parser.parse_args()
    promises = [f"t-closeness:{t}" for t in CLOSE]
    if not options.close:
        promises = [f"beta-likeness:{beta},bound={options.bound}" for beta in options.beta]
    methods = options.method or (CLOSE_METHODS if options.close else METHODS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tables = tables_in(options.data, folder, options.sizes)
        schema = schema_for(tables[-1], folder)
        if options.million:
            tables.append(resampled(tables[-1], folder))
        print(f"{'table':16} {'promise':32} {'method':28} {'GCP':>7} {'AIL':>7} {'CPU s':>7}  audit")
        for table in tables:
            for promise in promises:
                for method in methods:
                    found = run(table, schema, promise, "reads-release", method)
                    passed = "passed" if found["passed"] else "FAILED"
                    losses = f"{found['gcp']:7.4f} {found['ail']:7.4f} {found['cpu']:7.2f}"
                    print(f"{table.name:16} {promise:32} {method:28} {losses}  {passed}", flush=True)


if __name__ == "__main__":
    main()
