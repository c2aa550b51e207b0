"""What figures 8 and 9 of BL rest on: reconstructed counts, printed chances to keep a value, and turns of an error."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.analysis.counts import estimate_counts
from lookalike.apps.papers.bl.methods import DEFAULT
from lookalike.apps.papers.bl.queries import clip_answers, find_alphas, turns
from lookalike.apps.papers.datasets import Datasets
from lookalike.apps.papers.experiments import Bench, Results, Size
from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.schema import Schema, ValueType
from lookalike.metrics.query_error import RangeWorkload


def test_reconstructed_counts_stay_within_what_the_quasi_identifiers_select() -> None:
    bench = Bench(Datasets(None), Size("tiny", rows=1200, most_rows=800, repetitions=1, queries=40))
    data = bench.datasets.census(1000, DEFAULT)
    made = bench.publish(data, "beta-likeness:2", "perturbation", 1)
    asked = bench.draw_queries(RangeWorkload(3, 0.05), data, seed=1, n_queries=200)
    plain, within = estimate_counts(asked.queries, made.release).counts, clip_answers(asked, made).counts
    selected = np.array(
        [
            np.all([mask[query, data.quasi[:, place]] for place, mask in enumerate(asked.queries.quasi)], axis=0).sum()
            for query in range(len(asked.truth))
        ]
    )
    assert (plain < 0).any()
    assert (plain > selected).any()
    assert np.allclose(within, np.clip(plain, 0, selected))


def test_a_larger_beta_can_keep_rare_values_less() -> None:
    """Fifty values in arithmetic progression, the most frequent 24 times as frequent as the rarest."""
    counts = np.round(np.linspace(100, 2400, 50)).astype(int)
    codes = np.repeat(np.arange(50, dtype=np.int32), counts)
    columns = (
        Column("place", ValueType.INTEGER, np.zeros(len(codes), dtype=np.int32), np.array([1])),
        Column("value", ValueType.INTEGER, codes, np.arange(50)),
    )
    data = Microdata.encode(Table(columns), Schema.of(qi=["place"], sensitive=["value"]))
    least = {beta: min(find_alphas(data, beta)) for beta in (1, 2, 3, 4, 5)}
    assert least[4] == pytest.approx(0.072, abs=0.001)
    assert least[5] == pytest.approx(0.070, abs=0.001)
    assert 0 < least[1] < least[2] < least[3] < least[4] > least[5]


@pytest.mark.parametrize(
    ("errors", "holds"),
    [
        ([[1, 1.2], [2, 2.1], [0.8, 0.9]], True),
        ([[2, 2.1], [1, 1.1], [2, 2.1]], True),
        ([[1, 1.2], [2, 2.1], [1.9, 2.05]], False),
        ([[1, 1], [2, 2], [3, 3]], False),
        ([[3, 3], [2, 2], [1, 1]], False),
        ([[1, 2]], False),
    ],
)
def test_an_error_turns_if_it_rises_and_falls_beyond_the_repetitions(errors: list[list[float]], holds: bool) -> None:
    rows = (
        {"lambda": at, "series": "BUREL", "repetition": repetition, "error": error}
        for at, some in enumerate(errors)
        for repetition, error in enumerate(some)
    )
    assert turns("lambda", "BUREL")(Results(tuple(rows))).holds is holds
