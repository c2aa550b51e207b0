"""Whole runs that are killed, starved and refused, each checked for what it leaves. Run as a script.

    python tests/faults/runs.py --count 1000 [--jobs 2] [--seed N] [--only publish]      (`make faults`)

After every fault: the target is not there, or the earlier one to the byte, or a new one that passes its audit; the
original is as it was; nothing that others may read is left; the next run works and leaves nothing else behind. Prints
how many faults of each kind were survived, by kind and by command, and ends with 1 if one was not.
"""

from __future__ import annotations

import argparse
import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.injection import Ending, Fault, in_fork
from tests.faults.scenarios import SCENARIOS, Scenario, content_of, run

SMALL_DISK, FEW_ADDRESSES, NO_MEMORY = "a small disk", "few addresses", "memory runs out"
NOT_SURVIVED = "not survived"
KINDS = (
    "kill at a moment",
    "kill at a time",
    "no room",
    "no room for a file",
    SMALL_DISK,
    "input/output error",
    "read-only",
    NO_MEMORY,
    FEW_ADDRESSES,
)


class Trials:
    """A folder with an original and an earlier release, copied for every trial."""

    def __init__(self, root: Path, rows: int, rng: random.Random) -> None:
        self.root, self.rng, self.moments = root, rng, dict[str, int]()
        self.seconds: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.disk: Path | None = None
        self.model = root / "model"
        for name in ("out", "tmp", "job"):
            (self.model / name).mkdir(parents=True)
        from lookalike.apps.samples import hospital, to_csv

        to_csv(hospital(rows, seed=4), self.model / "people.csv")
        for place in ("earlier", "job/release"):
            self.measure("publish", self.model)
            os.rename(self.model / "out" / "release", self.model / place)

    def home(self, scenario: Scenario) -> Path:
        home = self.root / "trial"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.model, home)
        if scenario.earlier is not None:
            shutil.copytree(home / scenario.earlier, home / "out" / scenario.target)
        elif scenario.goes_on and self.rng.random() < 0.5:
            # A database or a comparison that was there before.
            self._calm(scenario, home)
        return home

    def _calm(self, scenario: Scenario, home: Path) -> Ending:
        ending = in_fork(lambda: run(scenario.words(home), home), Fault(), home / "out")
        assert ending.code == 0, (scenario, ending)
        return ending

    def measure(self, name: str, home: Path | None = None) -> None:
        """How often and how long a calm run touches the folder."""
        scenario = SCENARIOS[name]
        home, began = home or self.home(scenario), time.monotonic()
        self.moments[name] = self._calm(scenario, home).touches
        self.seconds[name] = time.monotonic() - began

    def trial(self, name: str, kind: str) -> None:
        if name not in self.moments:
            self.measure(name)
        scenario = SCENARIOS[name]
        home = self.home(scenario)
        target, fault = home / "out" / scenario.target, self._fault(kind, name)
        before, original = scenario.content(target), (home / "people.csv").read_bytes()
        with self._disk(home / "out") if kind == SMALL_DISK else _as_it_is():
            if kind == "read-only":
                (home / "out").chmod(0o500)
            ending = in_fork(lambda: run(scenario.words(home), home), fault, home / "out")
            (home / "out").chmod(0o700)
            told = f"{name}, {kind}, {fault}: {ending}"
            ended = ending.was_killed or (kind == FEW_ADDRESSES and _ends_itself(name, ending.code))
            assert ended or ending.code in (0, 2), told
            assert ended or "Traceback" not in ending.said, told
            assert (home / "people.csv").read_bytes() == original, told
            self._check_left(home, scenario, told)
            after = scenario.content(target)
            state = "as it was" if after == before else "new"
            assert ending.code != 0 or scenario.goes_on or state == "new", told
            assert ending.code != 2 or "Error: " in ending.said, told
            try:
                if state == "new":
                    scenario.whole(home, target)
                self._repeat(home, scenario, told)
            except AssertionError as error:
                raise AssertionError(told) from error
        self.counts[f"{kind}: survived"] += 1
        how = "killed" if ending.was_killed else "ended" if ended else "refused" if ending.code else "done"
        self.counts[f"{name}: {how}, {state}"] += 1

    def _fault(self, kind: str, name: str) -> Fault:
        moment = self.rng.randint(1, max(self.moments[name], 1))
        if kind == "kill at a moment":
            return Fault(kill_at=moment)
        if kind == "kill at a time":
            return Fault(kill_after=self.rng.uniform(0, 1.1 * self.seconds[name]))
        if kind == "no room for a file":
            return Fault(most_bytes=int(10 ** self.rng.uniform(1, 5)))
        if kind == "read-only":
            return Fault(powerless=True)
        if kind == FEW_ADDRESSES:
            return Fault(most_memory=int(10 ** self.rng.uniform(6, 10.5)))
        if kind == SMALL_DISK:
            return Fault()
        errors = {"no room": errno.ENOSPC, NO_MEMORY: 0}
        return Fault(refuse_at=moment, error=errors.get(kind, errno.EIO))

    @contextmanager
    def _disk(self, folder: Path) -> Iterator[None]:
        """Its own file system for the folder, with little room beside what is there; more for the run after it."""
        kept = content_of(folder) or {}
        there = sum(len(content) + 8192 for content in kept.values())
        shutil.copytree(folder, folder.parent / "kept")
        size = there + int(10 ** self.rng.uniform(3.6, 6))
        _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "lookalike-faults", str(folder))
        try:
            shutil.copytree(folder.parent / "kept", folder, dirs_exist_ok=True)
            self.disk = folder
            yield
        finally:
            self.disk = None
            subprocess.run(["umount", str(folder)], check=True)
            shutil.rmtree(folder.parent / "kept")

    def _check_left(self, home: Path, scenario: Scenario, told: str) -> None:
        """Nothing but the target, its private part, and hidden folders that are closed to others."""
        for path in (home / "out").iterdir():
            known = path.name in (scenario.target, f"{scenario.target} PRIVATE", *scenario.beside)
            assert known or (path.name.startswith(".") and path.stat().st_mode & 0o077 == 0), (path, told)
        private = home / "out" / f"{scenario.target} PRIVATE"
        assert not private.exists() or private.stat().st_mode & 0o077 == 0, told
        assert all(path.stat().st_mode & 0o077 == 0 for path in (home / "tmp").iterdir()), told

    def _repeat(self, home: Path, scenario: Scenario, told: str) -> None:
        target = home / "out" / scenario.target
        if self.disk is not None:
            _mount("-o", "remount,size=256m", str(self.disk))
        if target.exists() and scenario.earlier is None and not scenario.goes_on:
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        self._calm(scenario, home)
        scenario.whole(home, target)
        left = [path.name for path in (home / "out").iterdir() if path.name.startswith(".")]
        assert not left, (told, left)


def _ends_itself(name: str, code: int) -> bool:
    """Libraries below Python end the process when they get no memory: like a kill, only by itself.

    Of the processes that `compare` starts the table says so, and it ends with 70.
    """
    return (code < 0 and code != -signal.SIGALRM) or code == _NO_LOADER or (name == "compare" and code == 70)


_NO_LOADER = 127


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


def _can_mount() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            _mount("-t", "tmpfs", "-o", "size=64k", "lookalike-faults", folder)
        except (OSError, subprocess.CalledProcessError):
            return False
        subprocess.run(["umount", folder], check=True)
        return True


def _load() -> None:
    """What every fork needs, without any work by Polars: most of a small run is loading."""
    os.environ |= {"LOOKALIKE_REPORT": "brief", "LOOKALIKE_PDF": "0", "OPENBLAS_NUM_THREADS": "1"}
    import adbc_driver_sqlite.dbapi  # noqa: F401
    import duckdb  # noqa: F401
    import numpy as np
    import polars  # noqa: F401

    import lookalike.apps.cli
    import lookalike.evaluation.charts
    import lookalike.evaluation.report
    import lookalike.files.releases.private
    import lookalike.files.releases.read
    import lookalike.files.tables  # noqa: F401
    from lookalike.kernels.assignment import assign_cheapest

    # The first kernel that is called sets the compiler up.
    assign_cheapest(np.zeros((2, 2)))


def _series(names: list[str], kinds: list[str], places: range, rows: int, seed: str) -> Counter[str]:
    """Every kind with every command in turn."""
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-") as root:
        trials = Trials(Path(os.path.realpath(root)), rows, random.Random(seed))
        for done, place in enumerate(places, start=1):
            name, kind = names[place % len(names)], kinds[place // len(names) % len(kinds)]
            try:
                trials.trial(name, kind)
            except AssertionError as error:
                # The next ones are tried all the same: a night is long.
                trials.counts[f"{kind}: {NOT_SURVIVED}"] += 1
                print(f"NOT SURVIVED, number {place + 1}: {error}", flush=True)
            if done % 50 == 0:
                print(f"{done:6} tried, from number {places.start + 1} on", flush=True)
    return trials.counts


def _dealt(count: int, jobs: int) -> list[range]:
    """Places one after another: each process meets every kind and every command."""
    bounds = [count * job // jobs for job in range(jobs + 1)]
    return [range(start, stop) for start, stop in pairwise(bounds)]


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--count", type=int, default=1000)
    asked.add_argument("--rows", type=int, default=60)
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--jobs", type=int, default=1, help="processes side by side; the seed repeats with as many")
    asked.add_argument("--kinds", default=",".join(KINDS))
    asked.add_argument("--only", action="append", choices=list(SCENARIOS))
    chosen = asked.parse_args()
    if SMALL_DISK in chosen.kinds and not _can_mount():
        print(f"{SMALL_DISK!r} is left out: only root may mount one, and not everywhere", flush=True)
        chosen.kinds = ",".join(kind for kind in chosen.kinds.split(",") if kind != SMALL_DISK)
    seed = chosen.seed if chosen.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"{chosen.count} faults, --seed {seed}", flush=True)
    _load()
    names, kinds = chosen.only or list(SCENARIOS), chosen.kinds.split(",")
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(chosen.jobs, mp_context=get_context("fork")) as pool:
        series = [
            pool.submit(_series, names, kinds, places, chosen.rows, f"{seed} {places.start}")
            for places in _dealt(chosen.count, chosen.jobs)
        ]
        for done in as_completed(series):
            counts += done.result()
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    sys.exit(any(what.endswith(NOT_SURVIVED) for what in counts))


if __name__ == "__main__":
    main()
