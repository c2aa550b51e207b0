"""Compiled inner loops (Numba). Kernels take valid arrays and named tuples of arrays; validation happens above.

Compiled code is cached on disk. Numba notices a change in a kernel's own file but not in another file it calls, so the
cache folder is named after a hash of this folder and of what else the code depends on: any edit, an upgrade, another
environment or another processor starts a fresh one, and removes those that no run has used for a month. `entry` marks
what Python may call, `inner` the rest.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import os
import pkgutil
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numba.np.linalg
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]

_UNUSED_SECONDS = 30 * 24 * 60 * 60
_LAST_BYTE = b"."
"""What Numba's files end with: the last instruction of a pickle."""


def _cache_root() -> Path:
    """The user's folder for caches, as their system has it."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    # An empty or a relative path counts as none: it would be a folder of whoever made the current one.
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".cache"


def _name_cache() -> str:
    """A name for all that compiled code depends on: these sources and where they are, Numba, Python, the processor."""
    here = Path(__file__).parent
    depends_on = (numba.__version__, sys.implementation.cache_tag, get_host_cpu_name(), str(here))
    digest = hashlib.sha256("\n".join(depends_on).encode())
    for source in sorted(here.glob("*.py")):
        digest.update(source.read_bytes())
    return f"kernels-{digest.hexdigest()[:16]}"


def _find_cache(named: str) -> Path:
    """The folder of this version in the one that NUMBA_CACHE_DIR names, or in the user's."""
    name = _name_cache()
    if not named:
        return _make_cache_folder(name)
    folder = Path(named) if Path(named).name == name else Path(named) / name
    remove_damaged(folder)
    return folder


def _make_cache_folder(name: str) -> Path:
    """The user's cache. Compiled code is run, so no folder is used that somebody else could have filled."""
    try:
        root = _cache_root() / "lookalike"
    except RuntimeError:
        return _copy_cache(None)
    folder = root / name
    with contextlib.suppress(OSError):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.exists() and _owner_of(folder) == _own_id() and not _is_closed(folder):
            shutil.rmtree(folder)
        if folder.exists():
            os.utime(folder)
        else:
            folder.mkdir(mode=0o700)
            remove_unused_caches(root, now=folder.stat().st_mtime)
    is_trusted = folder.is_dir() and _owner_of(folder) in (_own_id(), 0) and _is_closed(folder)
    if not is_trusted:
        return _copy_cache(None)
    if not os.access(folder, os.W_OK):
        return _copy_cache(folder)
    remove_damaged(folder)
    return folder


def _own_id() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0


def _owner_of(folder: Path) -> int:
    return folder.stat().st_uid


def _is_closed(folder: Path) -> bool:
    """Whether nobody but its owner can write to it. Windows has no such bits; its cache is in the user's profile."""
    return sys.platform == "win32" or not folder.stat().st_mode & 0o022


def _copy_cache(folder: Path | None) -> Path:
    """A cache for this run alone: a copy of one that can only be read (read-only containers), or an empty one."""
    copy = Path(tempfile.mkdtemp(prefix="lookalike-kernels-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    if folder is not None:
        with contextlib.suppress(OSError, shutil.Error):
            shutil.copytree(folder, copy, dirs_exist_ok=True)
    return copy


def remove_damaged(folder: Path) -> None:
    """Remove kernels whose files were cut short, by a full disk or a power failure: they would stop every run."""
    for path in (*folder.glob("*/*.nbi"), *folder.glob("*/*.nbc")):
        with contextlib.suppress(OSError), path.open("rb") as file:
            is_whole = file.seek(0, os.SEEK_END) > 0 and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) == _LAST_BYTE
            if not is_whole:
                # The index goes first: without it the kernel counts as not compiled.
                index = path if path.suffix == ".nbi" else path.with_suffix("").with_suffix(".nbi")
                index.unlink(missing_ok=True)
                path.unlink(missing_ok=True)


def remove_unused_caches(root: Path, now: float) -> None:
    """Remove the kernels of other versions that no run has used for a month; they take some 30 MB per version."""
    for folder in root.iterdir():
        is_ours = re.fullmatch(r"kernels-[0-9a-f]{16}", folder.name) and not folder.is_symlink()
        if is_ours and now - folder.stat().st_mtime > _UNUSED_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


_linalg: Any = numba.np.linalg
if "numba.np.arraymath" not in sys.modules:
    # On its first compilation Numba tries whether SciPy has BLAS, for matrix products. SciPy takes as long to load as
    # Numba, no kernel multiplies matrices, and whoever does is told by Numba when they do.
    _try_blas, _linalg.ensure_blas = _linalg.ensure_blas, lambda: None
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        _linalg.ensure_blas = _try_blas

_config: Any = numba.config
_config.CACHE_DIR = str(_find_cache(_config.CACHE_DIR))

_njit: Any = numba.njit
_types: Any = numba.types
inner: Any = _njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A kernel that only kernels call. Without wrappers for Python it compiles in a fraction of the time."""

_ENTRIES: dict[str, tuple[Any, str]] = {}
_TYPES: dict[str, Any] = {}
_PLAIN = {"b1": "boolean", "i4": "int32", "i8": "int64", "u8": "uint64", "f8": "float64"}


def entry(types: str) -> Callable[[Callable[..., Any]], Any]:
    """A kernel that Python calls: compiled on first use, or beforehand for these types, and kept on disk.

    Types are written as `i8` or `f8[:,:]`, with an r where an array may not be written to; others are declared.
    """

    def mark(function: Callable[..., Any]) -> Any:
        kernel = _njit(cache=True, nogil=True)(function)
        _ENTRIES[f"{function.__module__.rpartition('.')[2]}.{function.__name__}"] = kernel, types
        return kernel

    return mark


def declare(name: str, meaning: Any, fields: str = "") -> None:
    """A name for types of `entry`: the dtype of a record, or a named tuple with the types of its fields."""
    _TYPES[name] = (meaning, fields)


def list_kernels() -> list[str]:
    """Every kernel that Python calls, as module.name; loads all of them, with the types that they declare."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return list(_ENTRIES)


def compile_kernel(name: str) -> None:
    """Compile a kernel for the types it is called with, unless the cache has it."""
    list_kernels()
    kernel, types = _ENTRIES[name]
    kernel.compile(tuple(_type_of(text) for text in types.split(", ")))


def _type_of(text: str) -> Any:
    name, bracket, axes = text.partition("[")
    if name in _PLAIN:
        item = getattr(_types, _PLAIN[name])
    else:
        meaning, fields = _TYPES[name]
        if fields:
            return _types.BaseTuple.from_types([_type_of(field) for field in fields.split()], meaning)
        item = numba.from_dtype(meaning)
    if not bracket:
        return item
    aligned, readonly = name in _PLAIN, axes.endswith("r")
    return _types.Array(item, axes.count(":"), "C", readonly=readonly, aligned=aligned)


def cache_folder() -> Path:
    """Where compiled kernels are kept."""
    return Path(str(_config.CACHE_DIR))


def list_compiled() -> set[str]:
    """The kernels that the cache has; all of them where nothing is compiled (NUMBA_DISABLE_JIT)."""
    if _config.DISABLE_JIT:
        return set(list_kernels())
    return {path.name.rpartition("-")[0] for path in cache_folder().glob("*/*.nbi")}
