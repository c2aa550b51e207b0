"""Build wheel and sdist, show that a build can be repeated to the byte, and install both where nothing else is.

    python scripts/check_dist.py [FOLDER]      leaves the two files in FOLDER (default: dist)

Built is the tree as it is, then a copy of it elsewhere, with other times and file modes: both must give the same bytes.
So must a wheel that is built from the sdist, which shows that nothing is missing there. Then the wheel is installed in
an environment of its own, with what it says it needs and nothing else, and publishes the bundled sample.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile")


def run(*command: str | Path, cwd: Path = ROOT) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(str(part) for part in command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def built(tree: Path, folder: Path) -> dict[str, Path]:
    """The wheel and the sdist of a source tree."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, tree)
    return {"wheel": next(folder.glob("*.whl")), "sdist": next(folder.glob("*.tar.gz"))}


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def copied(folder: Path) -> Path:
    """The files that belong to the project, elsewhere, with other times and modes."""
    tree = folder / "elsewhere"
    listed = run("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in filter(None, listed):
        if (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
            os.chmod(tree / name, 0o600)
            os.utime(tree / name, (1e9, 1e9))
    return tree


def demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise SystemExit(otherwise)


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        first, second = built(ROOT, folder / "first"), built(copied(folder), folder / "second")
        for kind, path in first.items():
            same = digest(path) == digest(second[kind])
            demand(same, f"The {kind} built from a copy of the tree differs: the build cannot be repeated.")
        with tarfile.open(first["sdist"]) as archive:
            archive.extractall(folder, filter="data")
            n_sources = len(archive.getnames())
        unpacked = folder / first["sdist"].name.removesuffix(".tar.gz")
        again = built(unpacked, folder / "third")["wheel"]
        same = digest(again) == digest(first["wheel"])
        demand(same, "The wheel built from the sdist differs: the sdist lacks something.")
        clean = folder / "clean"
        venv.create(clean, with_pip=True)
        python, command = clean / "bin" / "python", clean / "bin" / "lookalike"
        run(python, *PIP, first["wheel"], cwd=folder)
        run(python, "-m", "pip", "check", cwd=folder)
        run(command, "demo", "--out", folder / "demo", cwd=folder)
        demand((folder / "demo" / "datapackage.json").is_file(), "The installed wheel did not publish the sample.")
        run(python, *PIP, "--no-deps", "--force-reinstall", first["sdist"], cwd=folder)
        version = run(command, "--version", cwd=folder).strip()
        with zipfile.ZipFile(first["wheel"]) as archive:
            n_files = len(archive.namelist())
        target.mkdir(exist_ok=True)
        print(f"{version}: built three times, the same bytes; installed from wheel and sdist in a clean environment")
        for kind, path in first.items():
            shutil.copy(path, target)
            number = n_files if kind == "wheel" else n_sources
            print(f"  {path.name}  {number} files, {path.stat().st_size:,} bytes, sha256 {digest(path)}")


if __name__ == "__main__":
    main()
