"""Skewness, and homogeneity where both are alike: the examples of the literature, all forms, weak and safe releases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lookalike.attacks import parse_attack
from lookalike.data.contracts import Target
from lookalike.errors import Unsupported
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, in_groups, table
from tests.audit.making import bucketized, matched, mixing_matrix, perturbed


def test_skewness_of_the_rare_disease() -> None:
    """One of ten in a group has what one of a thousand has: 10 %, a hundredfold rise."""
    values = np.concatenate(([0], 1 + np.arange(999) % 9))
    groups = np.concatenate(([0], np.arange(999) // 9 % 111))
    groups[1:10] = 0
    data = table(groups, values)
    finding = attacked("skewness", in_groups(data, groups))
    assert finding.figures["highest rise"] == pytest.approx(0.1 / 0.001)
    assert finding.n_affected == np.count_nonzero(groups == 0)
    assert "100 times" in finding.sentence


def test_skewness_succeeds_on_a_weak_release_and_not_on_a_safe_one() -> None:
    values = np.repeat(np.arange(20), 10)
    data = table(np.arange(200), values)
    weak = attacked("skewness:5", in_groups(data, np.arange(200) // 20))
    safe = attacked("skewness:5", in_groups(data, np.tile(np.arange(10), 20)))
    assert weak.figures["highest rise"] == pytest.approx(10)
    assert (weak.n_affected, weak.succeeds) == (200, True)
    assert safe.figures["highest rise"] == pytest.approx(1)
    assert (safe.n_affected, safe.succeeds) == (0, False)


@pytest.mark.parametrize("form", ["bucketized", "matched", "perturbed"])
def test_other_forms(form: str) -> None:
    data = table([1, 2, 3, 4], [0, 0, 1, 2])
    rng = np.random.default_rng(1)
    release: Any
    if form == "bucketized":
        release = bucketized(data, [0, 0, 1, 1], [3, 0, 2, 1], [1, 0, 3, 2])
    elif form == "matched":
        release, _ = matched(data, [[0, 1], [0, 1], [2, 3], [2, 3]], [0, 1, 2, 3], [2, 0, 1, 3])
    else:
        release = perturbed(rng, data, [mixing_matrix(3, 100, 100)], [0, 1, 2, 3])
    target = Target(release=release, original=data)
    assert attacked("homogeneity", target).n_affected == (4 if form == "perturbed" else 2)
    assert attacked("skewness:1.5", target).figures["highest rise"] == (4 if form == "perturbed" else 2)


@pytest.mark.parametrize("name", ["homogeneity", "skewness"])
def test_without_a_sensitive_column_there_is_nothing_to_guess(name: str) -> None:
    from lookalike.data.microdata import Microdata, Table
    from lookalike.data.schema import Schema
    from tests.audit.making import grouped, whole_numbers

    data = Microdata.encode(Table((whole_numbers("age", [1, 2]),)), Schema.of(qi=["age"]))
    target = Target(release=grouped(data, [0, 0], [1, 0]), original=data)
    with pytest.raises(Unsupported, match="no sensitive column"):
        parse_attack(name).run(target, Randomness(1), silent)
