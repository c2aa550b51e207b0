"""Where compiled kernels are kept, and for how long."""

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lookalike.kernels import remove_damaged, remove_unused_caches

A_DAY = 24 * 60 * 60
FIND = "import lookalike.kernels as kernels; print(kernels.cache_folder(), kernels.cache_folder().exists())"


def make_cache(root: Path, name: str, days: int) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "kernel.nbc").write_bytes(b"code")
    os.utime(folder, (time.time(), time.time() - days * A_DAY))
    return folder


def find_cache(code: str = FIND, **environment: str) -> tuple[Path, bool]:
    """The cache of a fresh process, and whether it exists there."""
    clean = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, check=True).stdout
    folder, exists = said.split()
    return Path(folder), exists == "True"


def test_only_caches_of_other_versions_that_nobody_uses_are_removed(tmp_path):
    unused = make_cache(tmp_path, "kernels-0123456789abcdef", days=31)
    used = make_cache(tmp_path, "kernels-fedcba9876543210", days=29)
    foreign = make_cache(tmp_path, "kernels-by-hand", days=400)
    link = tmp_path / "kernels-aaaaaaaaaaaaaaaa"
    link.symlink_to(foreign)
    remove_unused_caches(tmp_path, now=time.time())
    assert sorted(tmp_path.iterdir()) == sorted([used, foreign, link])
    assert not unused.exists()
    assert (foreign / "kernel.nbc").exists()


def test_a_new_version_removes_unused_caches_and_runs_keep_their_own(tmp_path):
    root = tmp_path / "lookalike"
    unused = make_cache(root, "kernels-0123456789abcdef", days=31)
    folder, _ = find_cache(XDG_CACHE_HOME=str(tmp_path))
    assert folder.parent == root
    assert not unused.exists()
    os.utime(folder, (time.time(), time.time() - 31 * A_DAY))
    assert find_cache(XDG_CACHE_HOME=str(tmp_path)) == (folder, True)
    assert time.time() - folder.stat().st_mtime < A_DAY


@pytest.mark.parametrize("named", ["", "caches"])
def test_an_empty_or_relative_path_is_no_cache_root(named, tmp_path):
    folder, exists = find_cache(XDG_CACHE_HOME=named, HOME=str(tmp_path))
    assert folder.parent == tmp_path / ".cache" / "lookalike"
    assert exists


def test_the_cache_is_closed_to_others_whatever_the_umask(tmp_path):
    folder, _ = find_cache(f"import os; os.umask(0)\n{FIND}", XDG_CACHE_HOME=str(tmp_path))
    assert folder.stat().st_mode & 0o777 == folder.parent.stat().st_mode & 0o777 == 0o700


def test_a_cache_that_others_could_write_to_is_emptied(tmp_path):
    folder, _ = find_cache(XDG_CACHE_HOME=str(tmp_path))
    (folder / "planted.nbi").write_bytes(b"code")
    folder.chmod(0o777)
    assert find_cache(XDG_CACHE_HOME=str(tmp_path)) == (folder, True)
    assert not (folder / "planted.nbi").exists()
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o777])
def test_the_cache_of_another_user_is_neither_used_nor_copied(mode, tmp_path):
    folder, _ = find_cache(XDG_CACHE_HOME=str(tmp_path))
    (folder / "planted.nbi").write_bytes(b"code")
    folder.chmod(mode)
    owned = "import lookalike.kernels as kernels\n"
    as_user = "import pathlib; stat = pathlib.Path.stat\n" + (
        "class Owned:\n"
        "    def __init__(self, found): self.found = found\n"
        "    st_uid = 4321\n"
        "    def __getattr__(self, name): return getattr(self.found, name)\n"
        "pathlib.Path.stat = lambda self, **more: Owned(stat(self, **more))\n"
    )
    read = "f = kernels.cache_folder(); print(f, (f / 'planted.nbi').exists())"
    used, planted = find_cache(as_user + owned + read, XDG_CACHE_HOME=str(tmp_path))
    assert used != folder
    assert not planted
    assert (folder / "planted.nbi").exists()


def test_without_a_home_kernels_are_compiled_for_the_run(tmp_path):
    homeless = "import pathlib\ndef home(): raise RuntimeError('no home')\npathlib.Path.home = home\n"
    folder, exists = find_cache(homeless + FIND, XDG_CACHE_HOME="")
    assert exists
    assert not folder.exists()
    kept, _ = find_cache(homeless + FIND, XDG_CACHE_HOME=str(tmp_path))
    assert kept.parent == tmp_path / "lookalike"


def test_kernels_whose_files_were_cut_short_are_removed(tmp_path):
    inside = tmp_path / "kernels"
    inside.mkdir()
    whole, cut = pickle.dumps("code"), pickle.dumps("code")[:-1]
    for name, index, code in (("a", whole, whole), ("b", b"", whole), ("c", whole, cut), ("d", whole, b"")):
        (inside / f"{name}-1.py311.nbi").write_bytes(index)
        (inside / f"{name}-1.py311.1.nbc").write_bytes(code)
    remove_damaged(tmp_path)
    assert sorted(path.name for path in inside.glob("*.nbi")) == ["a-1.py311.nbi"]
    assert sorted(path.name for path in inside.glob("*.nbc")) == ["a-1.py311.1.nbc", "b-1.py311.1.nbc"]


def test_a_named_folder_has_one_cache_per_version_and_environment(tmp_path):
    folder, _ = find_cache(NUMBA_CACHE_DIR=str(tmp_path))
    assert folder.parent == tmp_path
    assert find_cache(NUMBA_CACHE_DIR=str(folder)) == (folder, False)
    others = [
        "import numba; numba.__version__ = '0'",
        "import llvmlite.binding; llvmlite.binding.get_host_cpu_name = lambda: 'another'",
    ]
    names = {find_cache(f"{other}\n{FIND}", NUMBA_CACHE_DIR=str(tmp_path))[0].name for other in others}
    assert len({folder.name} | names) == 3


def test_a_cache_that_cannot_be_written_to_is_copied_for_the_run_and_the_copy_removed(tmp_path):
    folder, _ = find_cache(XDG_CACHE_HOME=str(tmp_path))
    (folder / "kernel.nbc").write_bytes(b"code")
    read_only = "import os; os.access = lambda *_: False\n"
    read = "import lookalike.kernels as kernels; f = kernels.cache_folder(); print(f, (f / 'kernel.nbc').exists())"
    copy, copied = find_cache(read_only + read, XDG_CACHE_HOME=str(tmp_path))
    assert copied
    assert copy != folder
    assert not copy.exists()
