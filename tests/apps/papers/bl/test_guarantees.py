"""What BL's claims about guarantees rest on: tiny tables, and posteriors of the printed matrix."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.apps.papers.bl import guarantees
from lookalike.apps.papers.bl.guarantees import find_nervous_certainty, find_worst_posterior
from lookalike.apps.papers.bl.methods import PRINTED
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import QUICK, Bench, Results


@pytest.mark.parametrize(
    ("shares", "beta", "over"),
    [((0.9, 0.05, 0.05), 1, 3.456), ((0.25, 0.25, 0.25, 0.25), 1, 1.0), ((0.2, 0.3, 0.5), 1, None)],
)
def test_the_printed_matrix_breaks_its_promise_where_a_value_is_frequent(
    shares: tuple[float, ...], beta: float, over: float | None
) -> None:
    found = find_worst_posterior(shares, beta)
    assert found <= 1 + 1e-9 if over is None else found == pytest.approx(over, abs=0.001)


@pytest.mark.parametrize("beta", [1, 2, 3, 4, 5])
def test_fifty_values_without_a_frequent_one_keep_it(beta: int) -> None:
    shares = np.linspace(1, 24, 50)
    assert find_worst_posterior(tuple(shares / shares.sum()), beta) <= 1 + 1e-9


def test_who_knows_the_method_is_certain_of_a_value_that_a_third_of_each_group_has() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guarantees, "_TABLES", 1)
        patch.setattr(guarantees, "_RUNS", 20)
        (experiment,) = (one for one in guarantees.EXPERIMENTS if one.name == "bl-minimality")
        found = Results(tuple(experiment.measure(Bench(Datasets(None), QUICK))))
    assert found.means("table", "certainty", PRINTED) == {1: pytest.approx(3.0)}
    assert found.means("table", "above", PRINTED)[1] > 0


@pytest.mark.parametrize(("beta", "certainty"), [(0.5, 0.5), (0.99, 0.5), (1, 1.0), (4, 1.0)])
def test_from_beta_1_on_a_group_of_nervous_diseases_is_allowed(beta: float, certainty: float) -> None:
    assert find_nervous_certainty(beta) == certainty
