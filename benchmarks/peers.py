"""Loss and CPU seconds at the promises that ARX, ANJANA and anonypy were measured at, on the same census tables.

    python benchmarks/peers.py --data folder                           on census10k.csv (and --large: census100k.csv)
    python benchmarks/peers.py --data folder --reference folder        beside arx.csv and peers.csv in that folder
    python benchmarks/peers.py                                         on a generated census-shaped table

Every figure is that of one `lookalike publish --report brief` in a process of its own, after one run that compiles:
reading, anonymizing, audit and writing. CPU seconds are user and system time. The default method and Mondrian are
measured. Losses use the domains observed in the largest census table of the folder.
"""

from __future__ import annotations

import argparse
import csv
import json
import tempfile
from pathlib import Path

from foundation import COMMAND, generated, schema_for, timed

PROMISES = {
    "k=10": (("k-anonymity:10",), ("k-anonymity", "k=10")),
    "distinct l=5": (("l-diversity:5,kind=distinct",), ("distinct-l-diversity", "l=5")),
    "distinct l=10": (("l-diversity:10,kind=distinct",), ("distinct-l-diversity", "l=10")),
    "t=0.2": (("t-closeness:0.2,distance=equal",), ("equal-distance-t-closeness", "t=0.2")),
    "beta=3": (("beta-likeness:3",), ("enhanced-beta-likeness", "beta=3")),
    "k=10, distinct l=5": (("k-anonymity:10", "l-diversity:5,kind=distinct"), ("l-diversity", "k=10;l=5")),
    "k=5, distinct l=5": (("k-anonymity:5", "l-diversity:5,kind=distinct"), ("l-diversity", "k=5;l=5")),
    "k=10, t=0.2": (("k-anonymity:10", "t-closeness:0.2,distance=equal"), ("t-closeness", "k=10;t=0.2")),
}
"""Our promises, and the model and parameter by which the references name them."""
METHODS = ("", "mondrian")
"""The default, which takes its time, and the fast one."""


def publish(
    table: Path, schema: Path, models: tuple[str, ...], method: str, folder: Path
) -> tuple[float, float, float, str]:
    words = ["publish", str(table), "--schema", str(schema), "--report", "brief", "--no-pdf"]
    words += [word for model in models for word in ("--model", model)]
    words += ["--algorithm", method] if method else []
    run = timed([*COMMAND, *words, "--out", str(folder / "out"), "--overwrite", "--json"])
    told = json.loads(run.output)
    dropped = told["suppressed"] / told["audit"]["records"]
    return float(told["loss"]["gcp"]), dropped, run.cpu, str(told["algorithm"])


def read_peers(folder: Path) -> dict[tuple[str, str, str], dict[str, dict[str, float]]]:
    """By model, parameter and table: by system and its settings, the metrics."""
    found: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
    for file in ("arx.csv", "peers.csv"):
        with (folder / file).open(encoding="utf-8", newline="") as rows:
            for row in csv.DictReader(rows):
                model = row["model"]
                for _, key in PROMISES.values():
                    if model == key[0] and (row["param"] + ";").startswith(key[1] + ";"):
                        system = f"{row['system']} {row['param'][len(key[1]) :].strip(';')}".strip()
                        metrics = found.setdefault((*key, row["dataset"]), {}).setdefault(system, {})
                        try:
                            metrics[row["metric"]] = float(row["value"])
                        except ValueError:
                            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with census10k.csv and census100k.csv")
    parser.add_argument("--reference", type=Path, help="folder with arx.csv and peers.csv")
    parser.add_argument("--large", action="store_true", help="also the 100,000 rows")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.data:
            tables = [options.data / f"census{size}.csv" for size in ("10k", "100k")]
        else:
            tables = generated(folder, [10_000, 100_000])
        schema = schema_for(tables[-1], folder)
        peers = read_peers(options.reference) if options.reference else {}
        for method in METHODS:  # compiles
            publish(tables[0], schema, PROMISES["k=10"][0], method, folder)
        print(f"{'promise':20} {'table':12} {'software':60} {'GCP':>7} {'tight':>7} {'dropped':>8} {'CPU s':>7}")
        for table in tables if options.large else tables[:1]:
            for promise, (models, key) in PROMISES.items():
                for method in METHODS:
                    loss, dropped, cpu, used = publish(table, schema, models, method, folder)
                    row = f"{promise:20} {table.stem:12} {'lookalike ' + used:60} {loss:7.4f} {'':7} {dropped:8.1%}"
                    print(f"{row} {cpu:7.1f}", flush=True)
                for system, metrics in peers.get((*key, table.stem), {}).items():
                    loss = metrics.get("gcp", float("nan"))
                    tight = metrics.get("gcp_class_tight", metrics.get("gcp_kept_rows", float("nan")))
                    rows = 100_000 if table.stem == "census100k" else 10_000
                    dropped = metrics.get("suppressed_fraction", 1 - metrics.get("rows_out", rows) / rows)
                    cpu = metrics.get("cpu_s", metrics.get("cpu_seconds", float("nan")))
                    print(
                        f"{promise:20} {table.stem:12} {system:60} {loss:7.4f} {tight:7.4f} {dropped:8.1%} {cpu:7.1f}"
                    )


if __name__ == "__main__":
    main()
