"""A census-shaped table on Spark: time against rows and against executors, memory of all processes, loss against local.

    python benchmarks/spark.py                                   1M, 3M and 10M rows on 2 executors
    python benchmarks/spark.py --rows 1000000 --executors 1 2    time against executors
    python benchmarks/spark.py --local                           also one million rows on one machine, for its loss

Each run is a process of its own with a cluster of its own on this machine (`local-cluster`, one core an executor, bound
to loopback). Memory is the sum over the driver, Java and Python processes at its highest, looked at four times a
second; what they share counts several times. `cpu s/M` is what all of them computed, which other work on the machine
does not change much, for a million rows. Ratios on one machine are what the figures are good for.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl

import lookalike as la
from lookalike.samples import census, census_schema

MODEL = "l-diversity:10"


def make(folder: Path, rows: int) -> Path:
    """The table as a folder of Parquet files of a million rows each."""
    target = folder / f"census-{rows}"
    if not target.exists():
        target.mkdir()
        for number, start in enumerate(range(0, rows, 1_000_000)):
            part = census(min(1_000_000, rows - start), seed=number + 1)
            columns = {column.name: column.values[column.codes] for column in part.columns}
            pl.DataFrame(columns).write_parquet(target / f"{number:03d}.parquet")
    return target


def children(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [process for child in task.read_text().split() for process in children(int(child))]
        except OSError:
            continue
    return found


def used(pid: int) -> tuple[int, dict[int, float]]:
    """Bytes of a process and all that it started, and the seconds that each has computed."""
    total, seconds = 0, {}
    for process in children(pid):
        try:
            total += int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
            seconds[process] = (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue
    return total, seconds


def run(table: Path, executors: int, algorithm: str, out: Path) -> dict[str, Any]:
    """One publication in a process of its own."""
    arguments = [sys.executable, __file__, "--one", str(table), str(executors), algorithm, str(out)]
    peak, computed = 0, dict[int, float]()
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        done = threading.Event()

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.25):
                size, seconds = used(process.pid)
                peak = max(peak, size)
                computed.update(seconds)

        watcher = threading.Thread(target=watch)
        watcher.start()
        said, _ = process.communicate()
        done.set()
        watcher.join()
    if process.returncode:
        raise SystemExit(f"The run on {table.name} failed.")
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return {**found, "peak_gb": peak / 1e9, "computed": sum(computed.values())}


def one(table: str, executors: int, algorithm: str, out: str) -> None:
    from lookalike.pipeline.backends.spark_sessions import session

    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_LOCAL_HOSTNAME": "127.0.0.1"}
    begin = time.perf_counter()
    cluster = session(
        {
            "spark.master": f"local-cluster[{executors},1,2048]",
            "spark.driver.memory": "2g",
            "spark.executor.memory": "2048m",
            "spark.local.dir": str(Path(out).parent / "scratch"),
        }
    )
    started = time.perf_counter()
    made = la.publish(
        cluster.read.parquet(table), schema=census_schema(), model=MODEL, algorithm=algorithm, out=out, overwrite=True
    )
    done = time.perf_counter()
    cluster.stop()
    found = {
        "start": started - begin,
        "wall": done - started,
        "gcp": made.losses["gcp"],
        "passed": made.audit.passed,
        "parts": made.n_parts,
        "seconds": made.seconds,
    }
    print(json.dumps(found))


def local_loss(folder: Path, algorithm: str) -> None:
    import lookalike as la

    begin = time.perf_counter()
    made = la.publish(make(folder, 1_000_000) / "000.parquet", schema=census_schema(), model=MODEL, algorithm=algorithm)
    print(
        f"one machine, 1,000,000 rows: loss {made.losses['gcp']:.4f} in {time.perf_counter() - begin:.0f} s (no files)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[1_000_000, 3_000_000, 10_000_000])
    parser.add_argument("--executors", type=int, nargs="*", default=[2])
    parser.add_argument("--algorithm", default="groups")
    parser.add_argument("--local", action="store_true", help="also one million rows on one machine")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        table, executors, algorithm, out = options.one
        one(table, int(executors), algorithm, out)
        return
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        if options.local:
            local_loss(folder, options.algorithm)
        titles = (("rows", 11), ("executors", 9), ("parts", 6), ("wall s", 8), ("s/M rows", 9), ("cpu s/M", 8))
        print(*(f"{title:>{width}}" for title, width in (*titles, ("GB", 6), ("loss", 8))), " audit", flush=True)
        for executors in options.executors:
            for rows in options.rows:
                found = run(make(folder, rows), executors, options.algorithm, folder / "release")
                steps = ", ".join(f"{step} {seconds:.0f} s" for step, seconds in found["seconds"].items())
                print(
                    f"{rows:11,} {executors:9} {found['parts']:6} {found['wall']:8.1f} "
                    f"{found['wall'] / rows * 1e6:9.1f} {found['computed'] / rows * 1e6:8.1f} "
                    f"{found['peak_gb']:6.2f} {found['gcp']:8.4f}  "
                    f"{'passed' if found['passed'] else 'FAILED'}  {steps}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
