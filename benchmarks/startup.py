"""What the first minute costs: CPU seconds and peak memory of commands, cold and warm, and seconds by kernel.

    python benchmarks/startup.py [--rows 1000] [--times 5] [--kernels]

No report is printed as PDF, which would start a browser. Every command runs in a process of its own; the least CPU
time of all its processes counts, of `times` warm runs. Cold means with an empty cache of compiled kernels. The
yardstick is `import pandas, sklearn` in the same run. `--kernels` compiles every kernel in one process and prints
what each takes by itself, without the kernels that it calls.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lookalike.samples import hospital, sample_schema, to_csv

LOOKALIKE = [sys.executable, "-m", "lookalike"]
WARM_FLOORS = {
    "publish, brief": 2.0,
    "inspect": 1.2,
    "query": 1.2,
    "audit": 1.2,
    "audit, with full report": 1.2,
    "--help": 0.15,
    "import lookalike": 0.1,
}
COLD_FLOORS = {"groups": 36.0, "mondrian": 15.0}
REPORT_FLOOR = 5.0


def cpu_of(command: Iterable[str], **environment: str) -> tuple[float, float]:
    """CPU seconds of a command with all its processes, and the megabytes of the largest."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child = subprocess.Popen(
        list(command), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env={**os.environ, **environment}
    )
    _, status, used = os.wait4(child.pid, 0)
    if status:
        assert child.stderr is not None
        raise SystemExit(f"{' '.join(command)} failed: {child.stderr.read().decode()[-500:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def warm_commands(folder: Path, table: Path) -> dict[str, list[str]]:
    publish = ["publish", str(table), "--schema", str(sample_schema()), "--model", "l-diversity:4", "--no-pdf"]
    publish += ["--overwrite", "--out"]
    release, full = str(folder / "release"), str(folder / "full")
    python = [sys.executable, "-c"]
    yardstick = {"import pandas, sklearn": [*python, "import pandas, sklearn"]}
    if find_spec("pandas") is None or find_spec("sklearn") is None:
        print("The yardstick needs pandas and scikit-learn, which are not installed (make setup installs them).")
        yardstick = {}
    return {
        **yardstick,
        "import lookalike": [*python, "import lookalike"],
        "--help": [*LOOKALIKE, "--help"],
        "publish, brief": [*LOOKALIKE, *publish, release, "--report", "brief"],
        "publish, brief, mondrian": [*LOOKALIKE, *publish, release, "--report", "brief", "--algorithm", "mondrian"],
        "publish, full": [*LOOKALIKE, *publish, full],
        "inspect": [*LOOKALIKE, "inspect", str(table)],
        "query": [*LOOKALIKE, "query", release, "SELECT COUNT(*) FROM release WHERE age > 60"],
        "audit": [*LOOKALIKE, "audit", str(table), release],
        "audit, with full report": [*LOOKALIKE, "audit", str(table), full],
        "attack": [*LOOKALIKE, "attack", release, "--original", str(table)],
    }


def print_kernels() -> None:
    """Compile every kernel anew, and print what Numba's events say of each."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["NUMBA_CACHE_DIR"] = cache
        from numba.core import event

        from lookalike.kernels import compile_kernel, list_kernels
        from lookalike.pipeline.warm_up import find_missing

        own: dict[str, float] = {}
        running: list[list[float]] = []

        class Watch(event.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                running.append([time.process_time(), 0.0])

            def on_end(self, event: Any) -> None:
                begin, within = running.pop()
                taken = time.process_time() - begin
                function = event.data["dispatcher"].py_func
                name = f"{function.__module__.removeprefix('lookalike.kernels.')}.{function.__qualname__}"
                own[name] = own.get(name, 0.0) + taken - within
                if running:
                    running[-1][1] += taken

        event.register("numba:compile", Watch())
        for name in list_kernels():
            compile_kernel(name)
        assert not find_missing()
    library = sum(seconds for name, seconds in own.items() if name.startswith("numba."))
    print(f"\n{sum(own.values()):.1f} CPU seconds in {len(own)} functions, {library:.1f} in Numba's own")
    for name, seconds in sorted(own.items(), key=lambda item: -item[1])[:40]:
        print(f"{seconds:7.2f}  {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--kernels", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        table = folder / "patients.csv"
        to_csv(hospital(asked.rows, seed=1), table)
        commands = warm_commands(folder, table)
        brief = {"groups": commands["publish, brief"], "mondrian": commands["publish, brief, mondrian"]}
        subprocess.run([*LOOKALIKE, "warm-up"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print(f"{'command':28} {'CPU s':>7} {'floor':>6} {'MB':>5}")
        warm = {}
        for name, command in commands.items():
            runs = [cpu_of(command) for _ in range(asked.times)]
            warm[name] = min(seconds for seconds, _ in runs)
            floor = WARM_FLOORS.get(name, "")
            print(f"{name:28} {warm[name]:7.2f} {floor!s:>6} {max(peak for _, peak in runs):5.0f}", flush=True)
        report = warm["publish, full"] - warm["publish, brief"]
        print(
            f"{'full report, on top':28} {report:7.2f} {REPORT_FLOOR if asked.rows <= 1_000 else 2 * REPORT_FLOOR!s:>6}"
        )
        for name, command in brief.items():
            with tempfile.TemporaryDirectory() as cache:
                began = time.perf_counter()
                seconds, _ = cpu_of(command, NUMBA_CACHE_DIR=cache)
                waited = time.perf_counter() - began
            compiling = seconds - warm["publish, brief" if name == "groups" else "publish, brief, mondrian"]
            remark = f"compiling; {waited:.0f} s waited on {len(os.sched_getaffinity(0))} cores"
            print(f"{'cold, ' + name:28} {compiling:7.2f} {COLD_FLOORS[name]!s:>6}       {remark}")
    if asked.kernels:
        print_kernels()


if __name__ == "__main__":
    main()
