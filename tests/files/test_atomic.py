"""Hidden folders: who is at work is left alone, what the dead left is cleared up, nothing else is touched."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from lookalike.apps.samples import hospital
from lookalike.data.release import RecordMap
from lookalike.errors import DataError, RecipeError
from lookalike.files.atomic import ASIDE, cannot_write, clear_leftovers, hide_beside, place_folder
from lookalike.files.releases import private
from lookalike.files.releases.private import check_belongs, private_folder
from lookalike.files.releases.write import errors_of_the_system
from lookalike.publication import publish
from tests.files.releases.release_forms import write_private


def _left(home: Path, name: str, mode: int = 0o700) -> Path:
    folder = home / name
    folder.mkdir()
    (folder / "half.csv").write_text("half")
    folder.chmod(mode)
    return folder


def test_a_run_that_lives_is_left_alone(tmp_path: Path) -> None:
    with hide_beside(tmp_path / "out") as mine:
        with hide_beside(tmp_path / "out") as other:
            assert mine != other
            clear_leftovers(tmp_path / "out")
            assert mine.is_dir()
        assert mine.is_dir()
        assert not other.exists()
    assert list(tmp_path.iterdir()) == []


def test_only_leftovers_of_this_target_are_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / "thesis.doc").write_text("years of work")
    _left(tmp_path, ".out.abcdefg1.part")
    kept = {
        _left(tmp_path, ".out.v2.abcdefg1.part"),
        _left(tmp_path, ".other.abcdefg1.part"),
        _left(tmp_path, ".out.too-long-a-name.part"),
        _left(tmp_path, ".out.abcdefg2.part", mode=0o755),
    }
    link = tmp_path / ".out.abcdefg3.part"
    link.symlink_to(elsewhere)
    clear_leftovers(tmp_path / "out")
    assert set(tmp_path.iterdir()) == {*kept, link, elsewhere}
    assert (elsewhere / "thesis.doc").exists()


def test_what_was_set_aside_is_put_back_unless_there_is_a_newer_one(tmp_path: Path) -> None:
    _left(_left(tmp_path, ".out.abcdefg1.part"), ASIDE)
    clear_leftovers(tmp_path / "out")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "half.csv"]
    _left(_left(tmp_path, ".out.abcdefg1.part"), ASIDE)
    (tmp_path / "out" / "half.csv").write_text("newer")
    clear_leftovers(tmp_path / "out")
    assert (tmp_path / "out" / "half.csv").read_text() == "newer"
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_said_in_words_also_if_polars_met_it(tmp_path: Path, number: int) -> None:
    with (
        pytest.raises(RecipeError, match=r"no room left to write to .* What was there before is unchanged"),
        place_folder(tmp_path / "out", marker="m", overwrite=False),
        errors_of_the_system(),
    ):
        raise pl.exceptions.ComputeError(f"parquet: underlying IO error: whatever (os error {number})")
    assert list(tmp_path.iterdir()) == []
    assert "Permission denied. Choose" in str(
        cannot_write(tmp_path, PermissionError(errno.EACCES, "Permission denied"))
    )


def test_a_release_without_its_private_part_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = publish(hospital(30, seed=2), qi=["age", "sex"], sensitive="diagnosis", model="k-anonymity:3")

    def full(release: Path) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(private, "_digest", full)
    with pytest.raises(RecipeError, match="written and whole, but its private part is not. There is no room"):
        made.write(tmp_path / "out", private=True)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_private_part_knows_its_release(tmp_path: Path) -> None:
    release = tmp_path / "out"
    release.mkdir()
    (release / "release.parquet").write_bytes(b"one")
    write_private(release, RecordMap(np.arange(3)))
    check_belongs(private_folder(release), release)
    (release / "release.parquet").write_bytes(b"another")
    with pytest.raises(DataError, match="belongs to another release"):
        check_belongs(private_folder(release), release)
    (private_folder(release) / "private.json").write_text('{"lookalike": {"private": 1, "files": []}}')
    check_belongs(private_folder(release), release)
