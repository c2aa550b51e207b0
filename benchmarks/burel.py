"""Loss and CPU seconds of BUREL, by cuts and along the curve, beside the Mondrians of its paper and SABRE.

    python benchmarks/burel.py --data folder            on the CSV files (census10k.csv ...) in a folder
    python benchmarks/burel.py                          on generated census-shaped tables
    python benchmarks/burel.py --million                also on a million rows: the largest table, resampled
    python benchmarks/burel.py --close                  t-closeness: SABRE beside tMondrian
    python benchmarks/burel.py --published --data folder
                                                        groups and AIL beside those of the authors' program

Each line is a process of its own (`runs.py`). Losses use the domains observed in the largest table. Every release is
audited.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from foundation import schema_for
from runs import resampled, run, tables_in

from lookalike.apps.papers.bl.methods import DEFAULT, likeness
from lookalike.apps.papers.datasets import QUASI, Datasets
from lookalike.apps.papers.experiments import FULL, Bench

BETAS = (1, 2, 3, 4, 5)
METHODS = (
    "burel",
    "burel:retrieve=curve",
    "burel:retrieve=window",
    "burel:split=no",
    "burel:retrieve=curve,fill=1",
    "burel:retrieve=curve,fill=1,split=no",
    "lmondrian",
    "dmondrian",
)
CLOSE = ("0.1", "0.2", "0.3")
PUBLISHED_GROUPS = {
    ("census10k", QUASI): (38, 20, 54, 15, 23),
    ("uniform10k", QUASI): (196, 260, 445, 320, 320),
    ("census100k", DEFAULT): (304, 163, 164, 155, 48),
}
"""Groups that the authors' program makes without its further split, for beta = 1 to 5."""
PUBLISHED_AIL = {"no": (0.676, 0.579, 0.492, 0.483, 0.550), "yes": (0.677, 0.537, 0.435, 0.404, 0.382)}
"""AIL of the authors' program on census100k with three quasi-identifiers, without and with its further split."""
CLOSE_METHODS = ("sabre", "sabre:retrieve=curve", "tmondrian")


def compare_with_published(data: Path) -> bool:
    """Print the figures of the authors' program beside ours; whether all numbers of groups are theirs."""
    bench = Bench(Datasets(data), FULL)
    same = True
    print(f"{'table':12} {'QIs':>3} {'beta':>4} {'split':>5} {'groups':>7} {'theirs':>7} {'AIL':>6} {'theirs':>7}")
    for (name, columns), numbers in PUBLISHED_GROUPS.items():
        table = bench.datasets.uniform if name.startswith("uniform") else bench.datasets.census
        microdata = table(100_000 if name == "census100k" else 10_000, columns)
        for beta, number in zip(BETAS, numbers, strict=True):
            for split in ("no", "yes"):
                made = bench.publish(microdata, likeness(beta), f"burel:retrieve=curve,fill=1,split={split}", 1)
                n_groups = len(made.release.extents[0])
                same = same and (split == "yes" or n_groups == number)
                their_groups = str(number) if split == "no" else ""
                their_ail = f"{PUBLISHED_AIL[split][beta - 1]:.3f}" if columns is DEFAULT else ""
                print(
                    f"{name:12} {len(columns):3} {beta:4} {split:>5} {n_groups:7} {their_groups:>7} "
                    f"{made.metric('ail'):6.3f} {their_ail:>7}"
                )
    print("Without the split all numbers of groups are theirs." if same else "Numbers of groups DIFFER.")
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with CSV files of 8 coded columns, `occupation` sensitive")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="also on a million rows resampled from the largest")
    parser.add_argument("--bound", default="enhanced", choices=["enhanced", "basic"])
    parser.add_argument("--beta", type=int, nargs="+", default=BETAS)
    parser.add_argument("--close", action="store_true", help="t-closeness instead of beta-likeness")
    parser.add_argument("--method", nargs="+")
    parser.add_argument("--published", action="store_true", help="beside the authors' program; needs --data")
    options = parser.parse_args()
    if options.published:
        if options.data is None:
            parser.error("--published needs --data, the folder with census10k.csv, uniform10k.csv and census100k.csv")
        sys.exit(0 if compare_with_published(options.data) else 1)
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
        print(f"{'table':16} {'promise':32} {'method':36} {'GCP':>7} {'AIL':>7} {'CPU s':>7}  audit")
        for table in tables:
            for promise in promises:
                for method in methods:
                    found = run(table, schema, promise, "reads-release", method)
                    passed = "passed" if found["passed"] else "FAILED"
                    losses = f"{found['gcp']:7.4f} {found['ail']:7.4f} {found['cpu']:7.2f}"
                    print(f"{table.name:16} {promise:32} {method:36} {losses}  {passed}", flush=True)


if __name__ == "__main__":
    main()
