"""How cells of quasi-identifiers are published: exact, in intervals with true or rounded ends, in sets."""

from __future__ import annotations

import lookalike as la
from lookalike.apps.samples import hospital
from lookalike.data.cell_kinds import describe_cells


def kinds(**settings: object) -> dict[str, str]:
    asked = {"model": "k-anonymity:5", **settings}
    made = la.publish(hospital(300, seed=5), qi=["age", "sex", "zip code"], sensitive="diagnosis", seed=1, **asked)
    return describe_cells(made.release)


def test_intervals_end_in_values_unless_they_are_rounded() -> None:
    assert kinds(ends="exact")["age"] == "ends"
    assert kinds(ends={"age": 5})["age"] == "rounded"


def test_sets_list_values() -> None:
    assert kinds()["zip code"] in ("listed", "ends")
    assert kinds()["sex"] in ("listed", "exact")


def test_buckets_show_exact_values() -> None:
    assert set(kinds(model="l-diversity:3", algorithm="anatomy").values()) == {"exact"}
