"""What BL's claims about attacks rest on: the guesses of Naive Bayes."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.apps.papers.bl.attacks import guess_by_bayes
from lookalike.apps.papers.bl.methods import BUREL, DEFAULT, GENERALIZED
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Size


@pytest.mark.parametrize("method", [GENERALIZED[BUREL], "perturbation"])
def test_guesses_are_those_of_the_attack(method: str) -> None:
    bench = Bench(Datasets(None), Size("tiny", rows=1200, most_rows=800, repetitions=1, queries=40))
    data = bench.datasets.census(800, DEFAULT)
    made = bench.publish(data, "beta-likeness:4", method, 0)
    right = 100 * float(np.mean(guess_by_bayes(made) == data.sensitive[:, 0]))
    assert right == pytest.approx(made.guess("classic", 0))
