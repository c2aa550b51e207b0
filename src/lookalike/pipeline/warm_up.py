"""Kernels compiled beforehand, side by side. A first run would compile them one after the other, as it meets them.

Processes of their own compile into the cache that every run reads. What they fail to compile, the run compiles itself.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from lookalike.data.requirement import NODE, SETTINGS, VALUE, GroupRule
from lookalike.kernels import cache_folder, compile_kernel, declare, list_compiled, list_kernels
from lookalike.progress import Progress, available_cores, silent

_A_MOMENT = 0.2

declare("SETTINGS", SETTINGS)
declare("VALUE", VALUE)
declare("NODE", NODE)
declare("GroupRule", GroupRule, "i8 i8 SETTINGS[:] VALUE[:,:] NODE[:,:] i8 b1")


def find_missing(kernels: Iterable[str] | None = None) -> list[str]:
    """Those of the kernels (None: of all) that are not compiled yet."""
    compiled = list_compiled()
    return [name for name in (list_kernels() if kernels is None else kernels) if name not in compiled]


def warm_up(kernels: Collection[str] | None = None, progress: Progress = silent) -> int:
    """Compile these kernels (None: all) on all cores, unless the cache has them; how many are compiled now."""
    missing = find_missing(kernels)
    path = os.pathsep.join(place for place in sys.path if place)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache_folder()), "PYTHONPATH": path}
    nobody = subprocess.DEVNULL
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for batch in _divide(missing, available_cores()) if sys.executable else ():
            # -P: a module of some name in the caller's folder must not be taken for one that kernels need.
            command = [sys.executable, "-P", "-m", __name__, *batch]
            with contextlib.suppress(OSError):
                processes.append(subprocess.Popen(command, env=environment, stdin=nobody, stdout=nobody, stderr=nobody))
        while any(process.poll() is None for process in processes):
            n_left = len(find_missing(missing))
            if progress("compile", 1 - n_left / len(missing), f"{len(missing) - n_left} of {len(missing)} inner loops"):
                break
            time.sleep(_A_MOMENT)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return len(missing) - len(find_missing(missing))


def _divide(kernels: Sequence[str], n_processes: int) -> list[list[str]]:
    """Batches that take about as long; kernels of one module share code, so they stay together if they can."""
    modules: dict[str, list[str]] = {}
    for name in kernels:
        modules.setdefault(name.partition(".")[0], []).append(name)
    groups = list(modules.values()) if len(modules) >= n_processes else [[name] for name in kernels]
    batches: list[list[str]] = [[] for _ in range(min(n_processes, len(groups)))]
    for group in sorted(groups, key=_weigh, reverse=True):
        min(batches, key=_weigh).extend(group)
    return batches


def _weigh(kernels: Sequence[str]) -> int:
    """How long kernels take to compile, roughly: the length of the files they are in."""
    modules = {name.partition(".")[0] for name in kernels}
    folder = Path(__file__).parents[1] / "kernels"
    return sum((folder / f"{module}.py").stat().st_size for module in modules)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        compile_kernel(name)
