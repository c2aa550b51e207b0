"""Who is counted when a release is read back: what it states of persons, and the salt that only its owner has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import lookalike as la
from lookalike.errors import DataError
from lookalike.files.releases.private import private_folder, read_salt


@pytest.mark.parametrize("settings", [{"rows": "one"}, {"contribution": 2}])
@pytest.mark.parametrize("seed", [None, 3])
def test_the_salt_of_drawn_rows_is_in_no_published_file(
    tmp_path: Path, settings: dict[str, object], seed: int | None
) -> None:
    """In a table sorted by diagnosis it would say which of a person's rows is published."""
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 40)
    table = pl.DataFrame(
        {"patient": np.repeat(np.arange(40), 3), "age": np.repeat(ages, 3), "s": rng.integers(0, 9, 120)}
    ).sort("s")
    asked = {"qi": ["age"], "sensitive": "s", "person": "patient", "model": "k-anonymity:4"}
    made = la.publish(table, seed=seed, **asked, **settings)
    folder = tmp_path / "release"
    made.write(folder, report="brief")
    salt = read_salt(private_folder(folder))
    assert salt == made.made.recipe.persons.salt
    assert salt is not None
    for path in folder.rglob("*"):
        assert salt.encode() not in path.read_bytes()
    assert la.verify(table, folder, private=private_folder(folder)).passed
    with pytest.raises(DataError, match="--private"):
        la.verify(table, folder)


def test_owners_measure_and_attack_with_the_folder_beside_the_release(tmp_path: Path) -> None:
    """An audit names the private folder; measuring finds it where the release was written, and only if it belongs."""
    table = pl.DataFrame({"patient": np.arange(60) % 20, "age": (np.arange(60) % 20) * 3, "s": np.arange(60) % 7})
    asked = {"qi": ["age"], "sensitive": "s", "person": "patient", "model": "k-anonymity:4"}
    for name in ("one", "other"):
        la.publish(table, rows="one", **asked).write(tmp_path / name, report="brief")
    assert la.measure(table, tmp_path / "one")["gcp"] > 0
    assert la.attack(table, tmp_path / "one", attacks=["linkage"]).made
    private_folder(tmp_path / "other").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="--private"):
        la.measure(table, tmp_path / "other")
    assert la.measure(table, tmp_path / "other", private=tmp_path / "elsewhere")["gcp"] > 0
    private_folder(tmp_path / "one").rename(private_folder(tmp_path / "other"))
    with pytest.raises(DataError, match="belongs to another release"):
        la.measure(table, tmp_path / "other")
