"""Whole runs that are killed, starved and refused, each checked for what it leaves. Run as a script.

    python tests/faults/runs.py --count 1000 [--seed N] [--only publish]       (`make faults`)

After every fault: the target is not there, or the earlier one to the byte, or a new one that passes its audit; the
original is as it was; nothing that others may read is left; the next run works and leaves nothing else behind. Prints
how many faults of each kind were survived, by kind and by command.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.injection import Ending, Fault, in_fork

QI = ["--qi", "age,sex", "--sensitive", "diagnosis"]
ASKED = [*QI, "--model", "k-anonymity:3", "--algorithm", "mondrian"]
KINDS = ("kill at a moment", "kill at a time", "no room", "no room for a file", "input/output error", "read-only")


@dataclass(frozen=True)
class Scenario:
    """A command and what it makes, both in the folder of a trial."""

    words: Callable[[Path], list[str]]
    target: str
    overwrites: bool = False
    is_release: bool = True


def _publish(*more: str) -> Callable[[Path], list[str]]:
    return lambda home: ["publish", str(home / "people.csv"), *ASKED, "--out", str(home / "out" / "release"), *more]


SCENARIOS = {
    "publish": Scenario(_publish(), "release"),
    "publish --overwrite": Scenario(_publish("--overwrite"), "release", overwrites=True),
    "publish --private --overwrite": Scenario(_publish("--private", "--overwrite"), "release", overwrites=True),
    "publish in parts": Scenario(lambda home: ["(parts)"], "release", overwrites=True),
    "studio export": Scenario(lambda home: ["(export)"], "release", overwrites=True),
    "sample": Scenario(
        lambda home: ["sample", str(home / "earlier"), "--worlds", "1", "--out", str(home / "out" / "drawn.csv")],
        "drawn.csv",
        is_release=False,
    ),
    "synthesize": Scenario(
        lambda home: [
            "synthesize", str(home / "people.csv"), *QI, "--epsilon", "2", "--out", str(home / "out" / "made.csv"),
        ],
        "made.csv",
        is_release=False,
    ),
}  # fmt: skip


def run(words: list[str], home: Path) -> int:
    """The command, or what has no command."""
    os.environ["TMPDIR"] = tempfile.tempdir = str(home / "tmp")
    if words[0].startswith("("):
        return _without_command(words[0], home)
    from lookalike.cli import main

    try:
        main(words, "lookalike")
    except SystemExit as done:
        return int(done.code or 0)


def _without_command(what: str, home: Path) -> int:
    from lookalike.errors import LookalikeError

    try:
        if what == "(export)":
            from lookalike.studio.exporting import export_to
            from lookalike.studio.jobs import Job

            job = Job(1, "people", "publish", {}, home / "job", state="done")
            export_to(job, home / "out" / "release", overwrite=True)
        else:
            import polars as pl

            from lookalike.backends.local import LocalBackend
            from lookalike.contracts import Promise
            from lookalike.distribution.publishing import publish_in_parts
            from lookalike.models import KAnonymity
            from lookalike.pipeline import Recipe
            from lookalike.schema import Schema

            recipe = Recipe(
                schema=Schema.of(qi=["age", "sex"], sensitive=["diagnosis"]), promises=(Promise(KAnonymity(3)),)
            )
            frame = pl.read_csv(home / "people.csv")
            publish_in_parts(LocalBackend(frame), recipe, home / "out" / "release", overwrite=True, part_rows=1000)
    except LookalikeError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    return 0


class Trials:
    """A folder with an original and an earlier release, copied for every trial."""

    def __init__(self, root: Path, rows: int, rng: random.Random) -> None:
        self.root, self.rng, self.moments = root, rng, dict[str, int]()
        self.seconds: dict[str, float] = {}
        self.counts: Counter[str] = Counter()
        self.model = root / "model"
        for name in ("out", "tmp", "job"):
            (self.model / name).mkdir(parents=True)
        from lookalike.samples import hospital, to_csv

        to_csv(hospital(rows, seed=4), self.model / "people.csv")
        self.measure("publish", self.model)
        os.rename(self.model / "out" / "release", self.model / "earlier")
        shutil.copytree(self.model / "earlier", self.model / "job" / "release")

    def _do(self, words: list[str], home: Path, fault: Fault | None = None) -> Ending:
        ending = in_fork(lambda: run(words, home), fault or Fault(), home / "out")
        assert fault is not None or ending.code == 0, (words, ending)
        return ending

    def home(self, scenario: Scenario) -> Path:
        home = self.root / "trial"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(self.model, home)
        if scenario.overwrites:
            shutil.copytree(home / "earlier", home / "out" / "release")
        return home

    def measure(self, name: str, home: Path | None = None) -> None:
        """How often and how long a calm run touches the folder."""
        scenario = SCENARIOS[name]
        home, began = home or self.home(scenario), time.monotonic()
        self.moments[name] = self._do(scenario.words(home), home).touches
        self.seconds[name] = time.monotonic() - began

    def trial(self, name: str, kind: str) -> None:
        if name not in self.moments:
            self.measure(name)
        scenario = SCENARIOS[name]
        home = self.home(scenario)
        before, original = _content(home / "out" / scenario.target), (home / "people.csv").read_bytes()
        fault = self._fault(kind, name)
        if kind == "read-only":
            (home / "out").chmod(0o500)
        ending = self._do(scenario.words(home), home, fault)
        (home / "out").chmod(0o700)
        told = f"{name}, {kind}, {fault}: {ending}"
        assert ending.was_killed or ending.code in (0, 2), told
        assert "Traceback" not in ending.said, told
        assert (home / "people.csv").read_bytes() == original, told
        self._check_left(home, scenario, told)
        after = _content(home / "out" / scenario.target)
        state = "as it was" if after == before else "new"
        assert ending.code != 0 or state == "new", told
        assert ending.code != 2 or "Error: " in ending.said, told
        if state == "new":
            self._check_whole(home, scenario, told)
        self._repeat(home, scenario, state, told)
        self.counts[f"{kind}: survived"] += 1
        self.counts[f"{name}: {'killed' if ending.was_killed else 'refused' if ending.code else 'done'}, {state}"] += 1

    def _fault(self, kind: str, name: str) -> Fault:
        moment = self.rng.randint(1, self.moments[name])
        if kind == "kill at a moment":
            return Fault(kill_at=moment)
        if kind == "kill at a time":
            return Fault(kill_after=self.rng.uniform(0, 1.1 * self.seconds[name]))
        if kind == "no room for a file":
            return Fault(most_bytes=int(10 ** self.rng.uniform(1, 5)))
        if kind == "read-only":
            return Fault(powerless=True)
        return Fault(refuse_at=moment, error=errno.ENOSPC if kind == "no room" else errno.EIO)

    def _check_left(self, home: Path, scenario: Scenario, told: str) -> None:
        """Nothing but the target, its private part, and hidden folders that are closed to others."""
        for path in (home / "out").iterdir():
            known = path.name in (scenario.target, f"{scenario.target} PRIVATE")
            assert known or (path.name.startswith(".") and path.stat().st_mode & 0o077 == 0), (path, told)
        private = home / "out" / f"{scenario.target} PRIVATE"
        assert not private.exists() or private.stat().st_mode & 0o077 == 0, told
        assert all(path.stat().st_mode & 0o077 == 0 for path in (home / "tmp").iterdir()), told

    def _check_whole(self, home: Path, scenario: Scenario, told: str) -> None:
        target = home / "out" / scenario.target
        if not scenario.is_release:
            files = [target] if target.is_file() else sorted(target.glob("*.csv"))
            original = len((home / "people.csv").read_bytes().splitlines())
            assert files, told
            assert all(len(path.read_bytes().splitlines()) == original for path in files), told
            return
        listed = json.loads((target / "datapackage.json").read_text())["lookalike"]["files"]
        found = sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file())
        assert found == sorted(listed), told
        self._do(["audit", str(home / "people.csv"), str(target)], home)

    def _repeat(self, home: Path, scenario: Scenario, state: str, told: str) -> None:
        target = home / "out" / scenario.target
        if target.exists() and not scenario.overwrites:
            shutil.rmtree(target) if target.is_dir() else target.unlink()
        again = in_fork(lambda: run(scenario.words(home), home), Fault(), home / "out")
        assert again.code == 0, (told, again)
        left = [path.name for path in (home / "out").iterdir() if path.name.startswith(".")]
        assert not left, (told, left)


def _content(path: Path) -> dict[str, bytes] | None:
    if not path.exists():
        return None
    files = [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return {str(file.relative_to(path.parent)): file.read_bytes() for file in files}


def _load() -> None:
    """What every fork needs, without any work by Polars."""
    os.environ |= {"LOOKALIKE_REPORT": "brief", "LOOKALIKE_PDF": "0", "OPENBLAS_NUM_THREADS": "1"}
    import polars  # noqa: F401

    import lookalike.charts
    import lookalike.cli
    import lookalike.packages.private
    import lookalike.packages.reading
    import lookalike.pipeline
    import lookalike.publication
    import lookalike.reopening
    import lookalike.report
    import lookalike.tables  # noqa: F401


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--count", type=int, default=1000)
    asked.add_argument("--rows", type=int, default=60)
    asked.add_argument("--seed", type=int, default=None)
    asked.add_argument("--kinds", default=",".join(KINDS))
    asked.add_argument("--only", action="append", choices=list(SCENARIOS))
    chosen = asked.parse_args()
    seed = chosen.seed if chosen.seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"{chosen.count} faults, --seed {seed}", flush=True)
    _load()
    rng = random.Random(seed)
    names, kinds = chosen.only or list(SCENARIOS), chosen.kinds.split(",")
    with tempfile.TemporaryDirectory(prefix="lookalike-faults-") as root:
        trials = Trials(Path(os.path.realpath(root)), chosen.rows, rng)
        for place in range(chosen.count):
            # Every kind with every command in turn.
            trials.trial(names[place % len(names)], kinds[place // len(names) % len(kinds)])
            if (place + 1) % 10 == 0:
                print(f"{place + 1:6} survived so far", flush=True)
    for what, count in sorted(trials.counts.items()):
        print(f"{count:6} {what}")


if __name__ == "__main__":
    main()
