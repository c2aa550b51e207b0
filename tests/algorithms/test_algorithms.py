"""Algorithms are where somebody who knows their name looks for them."""

from __future__ import annotations

import pytest

from lookalike.algorithms import ALGORITHMS
from lookalike.algorithms.privbayes import PrivBayes


@pytest.mark.parametrize("name", [*ALGORITHMS, "privbayes"])
def test_an_algorithm_lives_in_a_module_of_its_name(name: str) -> None:
    kind = ALGORITHMS.get(name, PrivBayes)
    assert name.replace("-", "_") in kind.__module__.split(".")
