"""How long the studio lets people wait: every page and call outside a run, at 1,000, 10,000 and 100,000 rows.

    python benchmarks/studio.py [--rows 1000 10000 100000] [--times 5]

Starts a real studio, sends it a table, and prints the median and the worst time of each address in milliseconds. The
floor: no page takes more than half a second at 100,000 rows.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from lookalike.samples import hospital, sample_schema, to_csv

FLOOR = 0.5
PAGES = ("columns", "promise", "method", "run", "results", "compare", "export")
CALLS = ("", "/columns", "/preview", "/schema", "/models", "/allows?model=beta-likeness:3", "/methods", "/runs")


@contextmanager
def studio() -> Iterator[httpx.Client]:
    command = [sys.executable, "-m", "lookalike", "studio", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"(http://[\d.:]+)/\?token=(\S+)", process.stdout.readline())
        assert found is not None
        headers = {"Authorization": f"Bearer {found[2]}"}
        with httpx.Client(base_url=found[1], headers=headers, timeout=120) as client:
            yield client
        process.terminate()


def timed(client: httpx.Client, method: str, address: str, times: int, json: object = None) -> tuple[float, float, int]:
    """Median and worst seconds, and the status of the last answer."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        answer = client.request(method, address, json=json)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken), max(taken), answer.status_code


def measured(client: httpx.Client, rows: int, times: int) -> Iterator[tuple[str, float, float, int]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patients.csv"
        to_csv(hospital(rows, seed=1), path)
        began = time.perf_counter()
        answer = client.post("/api/projects/upload", params={"name": path.name}, content=path.read_bytes())
        seconds = time.perf_counter() - began
    project = answer.json()["id"]
    yield "open (upload)", seconds, seconds, answer.status_code
    yield ("PUT schema", *timed(client, "PUT", f"/api/projects/{project}/schema", 2, _schema()))
    promise = {"models": ["beta-likeness:3"]}
    yield ("PUT promise", *timed(client, "PUT", f"/api/projects/{project}/promise", times, promise))
    for call in CALLS:
        yield (f"GET api{call}", *timed(client, "GET", f"/api/projects/{project}{call}", times))
    yield ("page load", *timed(client, "GET", "/", times))
    for page in PAGES:
        yield (f"page {page}", *timed(client, "GET", f"/projects/{project}/{page}", times))
    client.delete(f"/api/projects/{project}")


def _schema() -> dict[str, str]:
    return {"yaml": Path(sample_schema()).read_text(encoding="utf-8")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    with studio() as client:
        for rows in given.rows:
            print(f"\n{rows:,} rows{'':24} median ms  worst ms  status")
            for name, median, worst, status in measured(client, rows, given.times):
                slow = "  slow" if median > FLOOR and not name.startswith(("open", "PUT")) else ""
                print(f"{name:34} {median * 1000:10.0f} {worst * 1000:9.0f}  {status}{slow}")


if __name__ == "__main__":
    main()
