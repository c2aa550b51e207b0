"""Families: members are loaded when asked for, and guests are beside them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from lookalike.data.families import Family


def metrics() -> Family[Any]:
    return Family("lookalike.metrics", "values-changed", "gcp")


def test_a_file_is_named_after_its_member() -> None:
    family: Family[Any] = Family("lookalike.models", "k-anonymity", "l-diversity")
    assert [kind.__name__ for kind in family.values()] == ["KAnonymity", "LDiversity"]
    assert metrics()["gcp"].__name__ == "GlobalCertaintyPenalty"


def test_a_guest_is_found_listed_last_and_taken_out_again() -> None:
    family = metrics()
    family["guest"] = int
    assert family["guest"] is int
    assert list(family) == ["values-changed", "gcp", "guest"]
    assert family.guests == [int]
    del family["guest"]
    assert "guest" not in family
    with pytest.raises(KeyError):
        family["guest"]


def test_a_member_that_was_taken_out_is_unknown_and_can_come_back() -> None:
    family = metrics()
    kind = family.pop("gcp")
    assert len(family) == 1
    family["gcp"] = kind
    assert family["gcp"] is kind
    assert family.guests == []


def test_naming_members_loads_none_of_them() -> None:
    code = (
        "import sys; from lookalike.attacks import ATTACKS; assert 'linkage' in list(ATTACKS);"
        "loaded = {name for name in sys.modules if name.startswith('lookalike.attacks.')};"
        "assert not loaded, loaded; ATTACKS['homogeneity'];"
        "assert 'lookalike.attacks.homogeneity' in sys.modules and 'lookalike.attacks.linkage' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
