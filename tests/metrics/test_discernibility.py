"""Discernibility."""

from __future__ import annotations

import math

import numpy as np

from lookalike.data.release import Perturbed, Randomizer
from lookalike.metrics.discernibility import Discernibility
from tests.metrics.making import twelve


def test_forms_without_groups_have_no_such_figure() -> None:
    data = twelve()
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive,
        carried=data.carried,
        randomizers=(Randomizer(np.array([[1, 0], [0, 1]]), 1),),
    )
    assert math.isnan(Discernibility().measure(data, release))
