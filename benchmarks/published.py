"""HG as published beside what the authors' programs reached: loss, bucket size, certainty and CPU seconds.

    python benchmarks/published.py --data folder --reference discont.csv            GR at 10,000 records
    python benchmarks/published.py --data folder --reference discont.csv --method GR SG HG NH BUREL
    python benchmarks/published.py --reference discont.csv --uses                   what their releases are good for

The reference is a CSV file with the columns system, model, param, dataset, n, metric and value, or a folder that has it
as discont.csv. Losses divide by the domains of the paper's table 10, as in the authors' programs. Of NH and BUREL only
loss and time are compared. Under
beta-likeness HG is there twice: with records that fill buckets at random, as printed, and in order, as the authors'
program fills them (ordered). "tau" has the threshold, ours by a formula of our own; "part" so many slots of each bucket
matched together. `--uses` measures nothing of ours. It lists, for the releases of the authors' programs, the median
error of count queries about three columns (selectivity 0.1) and how often naive Bayes is right: as their own evaluation
has it, and as the paper's text says.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import FULL, Bench, Named
from lookalike.apps.papers.hg.methods import (
    AS_PROGRAMMED,
    BUREL,
    DIVERSE,
    IN_ORDER,
    LIKE,
    NH,
    RING,
    TABLE_10,
    WITH_THRESHOLD,
    in_parts,
    measure,
)
from lookalike.data.microdata import Microdata

Reference = dict[tuple[str, str, str, str], dict[str, float]]
"""By system, model, parameter and table: its metrics."""
LOSSES = ("gcp_real_rows_only", "gcp_mean3", "gcp_as_coded")
CERTAINTIES = ("orig_side_max_confidence", "max_confidence")
TIMES = ("time_s_cpu_main_thread", "time_s_cpu_O2", "cpu_s_process_run1")
USES = (
    ("rq_median_l3_s0.1_as_coded", "rq_median_l3_s0.1_as_coded_run1"),
    ("rq_median_l3_s0.1_sets_only_published_sv", "rq_median_l3_s0.1_sets_only"),
    ("nb_acc_as_coded",),
    ("nb_acc_paper_text_published_sv", "nb_acc_paper_text"),
    ("nb_laplace_acc_as_coded",),
    ("nb_laplace_acc_paper_text_published_sv", "nb_laplace_acc_paper_text"),
)
"""As their evaluation has it: with how many matches of a row have a value, which no recipient knows. By the text: all
values inside a cell alike."""
BETAS = ("orig_side_max_beta", "max_beta_measured")


def read_reference(path: Path) -> Reference:
    path = path / "discont.csv" if path.is_dir() else path
    found: Reference = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            try:
                value = float(row["value"])
            except ValueError:
                continue
            found[row["system"], row["model"], row["param"], row["dataset"]][row["metric"]] = value
    return found


def table_of(datasets: Datasets, name: str) -> Microdata | None:
    rows = {"1k": 1_000, "10k": 10_000, "100k": 100_000}.get(name.removeprefix("census"))
    if rows is not None:
        return datasets.census(rows, sizes=TABLE_10)
    if name == "uniform10k":
        return datasets.uniform(10_000, sizes=TABLE_10)
    if name.startswith("zipf10k_"):
        return datasets.zipf(int(name.removeprefix("zipf10k_")) / 10, 10_000, sizes=TABLE_10)
    return None


def methods_of(system: str, model: str, mode: str, value: str) -> dict[str, Named]:
    """What a line of the reference is compared with, by what is printed after its promise."""
    if system not in DIVERSE:
        known: dict[str, Named] = {"NH": RING[NH], "BUREL": BUREL}
        return {"": known[system]} if system in known and not mode else {}
    if mode == "threshold":
        return {" tau": WITH_THRESHOLD[f"{system}t"]}
    if mode == "p":
        return {f" part {value}": in_parts({system: DIVERSE[system]}, int(value))[f"{system}p"]}
    if model == "l-diversity":
        return {"": DIVERSE[system]}
    return {"": LIKE[system], **({" ordered": AS_PROGRAMMED[IN_ORDER]} if system == "HG" else {})}


def first(metrics: dict[str, float], names: tuple[str, ...]) -> str:
    return next((f"{metrics[name]:.4g}" for name in names if name in metrics), "")


def list_uses(reference: Reference) -> None:
    """Query errors and right guesses of naive Bayes on the authors' releases, in per cent."""
    print(f"{'':47} {'query error, %':>20} {'naive Bayes, %':>20} {'Laplace, %':>20}")
    print(f"{'method':6} {'promise':28} {'table':11}" + f" {'theirs':>9} {'by text':>10}" * 3)
    for (system, model, parameter, name), metrics in sorted(reference.items()):
        told = [first(metrics, names) for names in USES]
        if any(told):
            line = "".join(
                f" {100 * float(one):{width}.1f}" if one else " " * (width + 1)
                for one, width in zip(told, (9, 10) * 3, strict=True)
            )
            print(f"{system:6} {f'{model}, {parameter}':28.28} {name:11}{line}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data", type=Path, help="folder with census*.csv, uniform10k.csv, zipf10k_*.csv; not needed for --uses"
    )
    parser.add_argument("--reference", type=Path, required=True, help="what the authors' programs reached, as CSV")
    parser.add_argument("--method", nargs="+", default=["GR"], help="GR, SG, HG, NH, BUREL")
    parser.add_argument(
        "--uses", action="store_true", help="list query errors and naive Bayes on the authors' releases"
    )
    options = parser.parse_args()
    if options.uses:
        list_uses(read_reference(options.reference))
        return
    if options.data is None:
        parser.error("--data is needed, except for --uses.")
    bench = Bench(Datasets(options.data), FULL)
    print(
        f"{'method':6} {'promise':28} {'table':11} {'GCP':>7} {'theirs':>7} {'certainty':>9} {'theirs':>7} "
        f"{'beta':>6} {'theirs':>7} {'matches':>7} {'theirs':>7} {'CPU s':>6} {'theirs':>7}"
    )
    for (system, model, parameter, name), metrics in sorted(read_reference(options.reference).items()):
        promised, _, extra = parameter.partition(";")
        key, _, value = promised.partition("=")
        mode, _, setting = extra.partition("=")
        data = table_of(bench.datasets, name)
        if system not in options.method or not value.isdigit() or data is None:
            continue
        # The authors' BUREL was built for the enhanced bound.
        bound = ",bound=basic" if key == "beta" and system != "BUREL" else ""
        for more, method in methods_of(system, model, mode, setting).items():
            made = measure(bench.publish(data, f"{model}:{value}{bound}", method, 0))
            print(
                f"{system:6} {f'{model}:{value}{more}':28.28} {name:11} {made['gcp']:7.4f} {first(metrics, LOSSES):>7} "
                f"{made['certainty'] / 100:9.3f} {first(metrics, CERTAINTIES):>7} {made['reached_beta']:6.3g} "
                f"{first(metrics, BETAS):>7} {made['matches']:7} {first(metrics, ('matches_per_row',)):>7} "
                f"{made['seconds']:6.2f} {first(metrics, TIMES):>7}",
                flush=True,
            )


if __name__ == "__main__":
    main()
