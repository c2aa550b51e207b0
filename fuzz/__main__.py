"""Drive targets with Atheris: `python -m fuzz [--seconds 60] [--keep DIR] [target ...]`.

Each target runs in a process of its own, so that a crash of native code or a hang counts as a fault and ends nothing
else. Prints for each the inputs tried and the faults found, keeps one input of every fault, and exits 1 if it met any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from fuzz.targets import NAMES
from fuzz.targets import target as loaded

_MOST_MEGABYTES = 4096
_HANGS_AFTER = 30


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Try hostile input on every door.")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"of {', '.join(NAMES)}; all if none is named")
    parser.add_argument("--seconds", type=int, default=60, help="for each target (default: 60)")
    parser.add_argument("--keep", type=Path, default=Path("fuzz/found"), help="where inputs that are faults go")
    parser.add_argument("--only", help=argparse.SUPPRESS)
    parser.add_argument("--place", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        _work(asked.only, asked.place, asked.seconds, asked.keep)
        return
    unknown = sorted(set(asked.targets) - set(NAMES))
    if unknown:
        parser.error(f"there is no target {unknown[0]}. Known: {', '.join(NAMES)}")
    asked.keep.mkdir(parents=True, exist_ok=True)
    found = 0
    print(f"{'target':12} {'inputs tried':>12} {'faults':>7}", flush=True)
    for name in asked.targets or NAMES:
        n_inputs, faults = _driven(name, asked.seconds, asked.keep)
        found += len(faults)
        print(f"{name:12} {n_inputs:>12,} {len(faults):>7}", *(f"\n    {fault}" for fault in faults), flush=True)
    sys.exit(found > 0)


def _driven(name: str, seconds: int, keep: Path) -> tuple[int, list[str]]:
    """Inputs tried and faults found, over as many processes as it takes to fill the time."""
    with tempfile.TemporaryDirectory(prefix="lookalike-fuzz-") as folder:
        place = Path(folder)
        command = [sys.executable, "-m", "fuzz", "--only", name, "--place", folder, "--seconds", str(seconds)]
        threads = {**os.environ, "POLARS_MAX_THREADS": "1"}
        with (place / "log").open("wb") as log:
            done = subprocess.run([*command, "--keep", str(keep)], stdout=log, stderr=log, env=threads, check=False)
        told = json.loads((place / "told.json").read_text()) if (place / "told.json").exists() else {}
        faults = list(told.get("faults", []))
        if done.returncode:
            ended = sorted(path.name for path in keep.glob(f"{name}-*-*"))
            last = (place / "log").read_text(errors="replace").splitlines()[-1:]
            faults.append(f"ended with {done.returncode}: {' '.join(ended[-1:] or last)}")
        return int(told.get("inputs", 0)), faults


def _work(name: str, place: Path, seconds: int, keep: Path) -> None:
    import atheris

    with atheris.instrument_imports(include=["lookalike"]):
        target = loaded(name)
        from fuzz.judging import Fault
    corpus, words = place / "corpus", place / "words"
    corpus.mkdir()
    for number, seed in enumerate(target.SEEDS):
        (corpus / f"seed-{number}").write_bytes(seed)
    words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.WORDS))
    told: dict[str, object] = {"inputs": 0, "faults": []}
    faults: dict[tuple[str, str], str] = {}
    n_inputs = 0

    def tell() -> None:
        told.update(inputs=n_inputs, faults=list(faults.values()))
        unfinished = place / "told.part"
        unfinished.write_text(json.dumps(told))
        os.replace(unfinished, place / "told.json")

    def once(data: bytes) -> None:
        nonlocal n_inputs
        n_inputs += 1
        try:
            target.run(data)
        except Fault as fault:
            if fault.key not in faults:
                faults[fault.key] = str(fault)
                (keep / f"{name}-{len(faults)}").write_bytes(data)
                tell()
        if n_inputs % 50 == 0:
            tell()

    options = [
        f"-max_total_time={seconds}",
        f"-timeout={_HANGS_AFTER}",
        f"-rss_limit_mb={_MOST_MEGABYTES}",
        "-max_len=8192",
    ]
    options += (
        [f"-artifact_prefix={keep}/{name}-", f"-dict={words}"] if target.WORDS else [f"-artifact_prefix={keep}/{name}-"]
    )
    atheris.Setup([sys.argv[0], *options, str(corpus)], once)
    atheris.Fuzz()


def _escaped(word: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word)


if __name__ == "__main__":
    main()
