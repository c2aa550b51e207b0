"""Compiled inner loops (Numba). Kernels take valid arrays and named tuples of arrays; validation happens above.

Compiled code is cached on disk. Numba notices a change in a kernel's own file but not in another file it calls, so the
cache folder is named after a hash of this folder: any edit, or an upgrade, starts a fresh one. `entry` marks what
Python may call, `inner` the rest.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import numba


def _cache_root() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home()))
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))


def _cache_folder() -> Path:
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    name = f"kernels-{digest.hexdigest()[:16]}"
    folder = _cache_root() / "lookalike" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path("/nonexistent")
    # A shared temporary folder could hold somebody else's code: without a home, compile afresh.
    return folder if os.access(folder, os.W_OK) else Path(tempfile.mkdtemp(prefix="lookalike-kernels-"))


_config: Any = numba.config
if not _config.CACHE_DIR:
    _config.CACHE_DIR = str(_cache_folder())

_njit: Any = numba.njit
entry: Any = _njit(cache=True, nogil=True)
"""A kernel that Python calls: compiled on first use, kept on disk."""
inner: Any = _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A kernel that only kernels call. Without wrappers for Python it compiles in a fraction of the time."""


def is_cold() -> bool:
    """Whether nothing is compiled yet, so that the first use will take its time."""
    folder = Path(str(_config.CACHE_DIR))
    return not any(folder.rglob("*.nbi"))
