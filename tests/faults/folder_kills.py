"""Kills at every moment at which `place_folder` touches the disk. Run as a script, in a process that never used Polars.

python folder_kills.py FOLDER         prints {"kills": n, "refusals": n, "old": n, "new": n, "absent": n}
"""

from __future__ import annotations

import errno
import json
import os
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from lookalike.errors import RecipeError
from lookalike.files import atomic
from tests.faults.injection import Ending, Fault, in_fork

MARKER = "marker.json"
FILES = [MARKER, "sub/table.csv", "text.txt"]


def build(target: Path, content: str, *, exchange: bool = True) -> int:
    if not exchange:
        atomic._exchange = lambda first, second: False
    try:
        with atomic.place_folder(target, marker=MARKER, overwrite=True) as building:
            (building / "sub").mkdir()
            for name in FILES[1:]:
                (building / name).write_text(content)
            (building / MARKER).write_text(json.dumps({"lookalike": {"files": FILES}}))
    except RecipeError:
        return 2
    return 0


def content_of(target: Path) -> str:
    """Of a whole folder; fails for one that is not."""
    if not target.exists():
        return "absent"
    assert sorted(path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()) == FILES
    contents = {(target / name).read_text() for name in FILES[1:]}
    assert len(contents) == 1, "a mixture"
    return contents.pop()


def check(home: Path, ending: Ending, earlier: bool, exchange: bool) -> str:
    target, found = home / "out", content_of(home / "out")
    left = [path for path in home.iterdir() if path != target]
    assert all(path.name.startswith(".out.") and path.stat().st_mode & 0o077 == 0 for path in left), left
    assert ending.was_killed or not left or ending.code == 2, left
    assert found != "absent" or not earlier or not exchange, "the earlier release is gone from its place"
    assert ending.code != 0 or found == "new"
    if earlier:
        # The next look at the target puts everything right, also before anything is written.
        atomic.check_target(target, marker=MARKER, overwrite=True)
        assert content_of(target) in ("old", "new")
    assert build(target, "newer") == 0
    assert [path.name for path in home.iterdir()] == ["out"], "leftovers"
    assert content_of(target) == "newer"
    return found


def main(folder: Path) -> None:
    counts: Counter[str] = Counter()
    os.fsync = lambda descriptor: None
    for earlier in (False, True):
        for exchange in (True, False) if earlier else (True,):
            home = folder / f"{earlier}-{exchange}"
            home.mkdir(parents=True)

            def trial(fault: Fault, home: Path = home, earlier: bool = earlier, exchange: bool = exchange) -> Ending:
                if earlier:
                    assert build(home / "out", "old") == 0
                else:
                    remove(home / "out")
                ending = in_fork(lambda: build(home / "out", "new", exchange=exchange), fault, home)
                counts[check(home, ending, earlier, exchange)] += 1
                return ending

            calm = trial(Fault())
            assert (calm.code, calm.touches > 10) == (0, True), calm
            for moment in range(1, calm.touches + 1):
                assert trial(Fault(kill_at=moment)).was_killed
                counts["kills"] += 1
            for moment in range(1, calm.touches):
                error = (errno.ENOSPC, errno.EIO, errno.EROFS)[moment % 3]
                ending = trial(Fault(refuse_at=moment, error=error))
                assert ending.code in (0, 2), ending
                assert "Traceback" not in ending.said, ending
                counts["refusals"] += ending.code == 2
    print(json.dumps(counts))


def remove(target: Path) -> None:
    if target.exists():
        for name in FILES:
            (target / name).unlink()
        (target / "sub").rmdir()
        os.rmdir(target)


if __name__ == "__main__":
    main(Path(os.path.realpath(sys.argv[1])))
