"""Homogeneity: groups of one value, weak and safe releases; other forms are in test_skewness."""

from __future__ import annotations

import numpy as np
import pytest

from tests.attacks.targets import attacked, in_groups, table


def test_a_group_of_one_value_is_homogeneous() -> None:
    data = table(range(8), [0, 0, 0, 1, 0, 1, 1, 2])
    finding = attacked("homogeneity", in_groups(data, [0, 0, 0, 1, 1, 1, 1, 1]))
    assert finding.n_affected == 3
    assert finding.score is not None
    assert (finding.score.n_right, finding.score.n_guesses) == (3, 3)
    assert finding.figures["highest certainty"] == 1
    assert finding.figures["mean highest certainty"] == pytest.approx((3 + 5 * 3 / 5) / 8)
    assert "3 of 8 persons" in finding.sentence


def test_homogeneous_from_a_share_on() -> None:
    data = table(range(8), [0, 0, 0, 1, 0, 1, 1, 2])
    target = in_groups(data, [0, 0, 0, 0, 1, 1, 1, 1])
    assert attacked("homogeneity", target).n_affected == 0
    assert attacked("homogeneity:0.75", target).n_affected == 4
    assert attacked("homogeneity:0.5", target).n_affected == 8


def test_homogeneity_succeeds_on_a_weak_release_and_not_on_a_safe_one() -> None:
    values = np.repeat([0, 1, 2], 20)
    data = table(range(60), values)
    weak = attacked("homogeneity", in_groups(data, values))
    safe = attacked("homogeneity", in_groups(data, np.tile(np.arange(20), 3)))
    assert weak.succeeds is True
    assert safe.succeeds is False
    assert safe.n_affected == 0
