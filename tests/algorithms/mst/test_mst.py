"""The whole method: what it promises and spends, what it keeps with much budget, odd tables, and what is missing."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms import parse_algorithm, parse_synthesizer
from lookalike.algorithms.mst import MST, LearnedTree
from lookalike.algorithms.mst.estimate import estimate_tables
from lookalike.algorithms.mst.tree import Measured, Merging, Tree
from lookalike.algorithms.shared.synthesis import Synthesized
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import MissingPart, RecipeError, SchemaError, Unsupported
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import column_of, microdatas


def letters(*columns: np.ndarray, values: str = "abcd") -> Microdata:
    """Columns of declared letters."""
    attributes = [
        Attribute(name=f"c{place}", role=Role.QUASI, kind=Kind.CATEGORICAL, values=tuple(values))
        for place in range(len(columns))
    ]
    table = [
        column_of(f"c{place}", [values[code] for code in column], ValueType.STRING)
        for place, column in enumerate(columns)
    ]
    return Microdata.encode(Table(tuple(table)), Schema(tuple(attributes)))


def noisy_copies(n: int, flips: float) -> Microdata:
    rng = np.random.default_rng(7)
    first = rng.integers(0, 4, n) * (rng.random(n) < 0.7)
    others = [np.where(rng.random(n) < flips, rng.integers(0, 4, n), first) for _ in range(2)]
    return letters(first, *others)


def made_of(data: Microdata, epsilon: str, seed: int = 1, **options: object) -> Synthesized:
    pytest.importorskip("mbi")
    return MST(epsilon, **options).synthesize(data, Randomness(seed))  # type: ignore[arg-type]


def learned(made: Synthesized) -> LearnedTree:
    assert isinstance(made.learned, LearnedTree)
    return made.learned


def test_a_huge_epsilon_reproduces_marginals_and_dependence_and_a_seed_repeats() -> None:
    data = noisy_copies(20_000, 0.1)
    made = made_of(data, "1000")
    before, after = data.quasi, made.data.quasi
    for one in range(3):
        single = [np.bincount(codes[:, one], minlength=4) for codes in (before, after)]
        assert np.abs(single[0] - single[1]).max() < 400  # 2 % of the rows; chance alone gives about 70
    for one, other in ((pair[0], pair[1]) for pair in made.tables):
        columns = [int(one[1:]), int(other[1:])]
        joint = [np.bincount(codes[:, columns] @ [4, 1], minlength=16) for codes in (before, after)]
        assert np.abs(joint[0] - joint[1]).max() < 400
    assert sorted(name for name, _ in made.network) == ["c0", "c1", "c2"]
    assert len(made.tables) == 2
    again, other = made_of(data, "1000"), made_of(data, "1000", 2)
    assert np.array_equal(made.data.quasi, again.data.quasi)
    assert not np.array_equal(made.data.quasi, other.data.quasi)
    budget = learned(made).budget
    assert (budget.epsilon, budget.delta) == (1000, Fraction(1, 10**9))
    assert budget.spent <= budget.rho
    assert made.to_plain()["budget"]["choices"] == 2


def test_rare_values_are_merged_and_drawn_evenly() -> None:
    rng = np.random.default_rng(2)
    data = letters(rng.choice(10, 4000, p=[0.5, 0.49, *[0.01 / 8] * 8]), values="abcdefghij")
    made = made_of(data, "0.1")
    assert sum(learned(made).merged) == 8
    shares = np.bincount(made.data.quasi[:, 0], minlength=10) / 4000
    assert shares[:2] == pytest.approx([0.5, 0.49], abs=0.1)
    assert made.network == (("c0", ()),)


def test_a_tiny_epsilon_gives_noise_that_says_nothing_about_the_table() -> None:
    always_a = letters(np.zeros(200, dtype=int))
    seen = np.zeros(4)
    for seed in range(12):
        seen += np.bincount(made_of(always_a, "0.001", seed).data.quasi[:, 0], minlength=4)
    assert seen[0] / seen.sum() < 0.75
    assert (seen > 0).all()


def test_columns_of_one_value_and_gaps() -> None:
    cells: list[object] = [None if row % 4 == 0 else row % 4 for row in range(2000)]
    same: list[object] = ["same"] * 2000
    table = Table((column_of("x", cells, ValueType.INTEGER), column_of("y", same, ValueType.STRING)))
    made = made_of(Microdata.encode(table, Schema.of(qi=["x"], sensitive=["y"])), "50")
    missing = made.data.quasi[:, 0] == made.data.domains.quasi[0].missing_code
    assert missing.mean() == pytest.approx(0.25, abs=0.05)
    assert made.network == (("x", ()), ("y", ()))
    alone = Microdata.encode(Table((column_of("y", same, ValueType.STRING),)), Schema.of(qi=["y"]))
    nothing = made_of(alone, "1", bins=3)
    assert (nothing.tables, nothing.data.n_rows) == ((), 2000)


def test_declared_means_no_value_and_no_gap_is_read_from_the_table() -> None:
    made = made_of(letters(np.arange(60) % 4), "1", domains="declared")
    assert made.missing_as_observed is None
    assert all(domain.has_missing for domain in made.data.domains.all)
    undeclared = Table((column_of("x", ["a", "b"], ValueType.STRING),))
    with pytest.raises(SchemaError, match="does not declare the values of 1 column"):
        made_of(Microdata.encode(undeclared, Schema.of(qi=["x"])), "1", domains="declared")


def test_the_model_reconciles_tables_that_contradict_each_other() -> None:
    """A column counted twice: the fit weighs both counts by their noise, and all counts add up to the records."""
    pytest.importorskip("mbi")
    mergings = [Merging(np.array([0, 1]), 2), Merging(np.array([0, 1, 1]), 2)]
    columns = [Measured((0,), np.array([60.0, 40.0]), np.ones(2)), Measured((1,), np.array([50.0, 50.0]), np.ones(2))]
    pairs = [Measured((0, 1), np.array([[30.0, 20.0], [20.0, 30.0]]), np.full((2, 2), 1e6))]
    (table,) = estimate_tables(Tree(mergings, columns, pairs), 100, silent)
    assert table.columns == (0, 1)
    assert table.counts.shape == (2, 3)
    assert table.counts.sum() == pytest.approx(100)
    assert table.counts.sum(axis=1) == pytest.approx([60, 40], abs=0.1)
    assert table.counts.sum(axis=0) == pytest.approx([50, 25, 25], abs=0.1)


@pytest.mark.slow
@settings(max_examples=examples(6), deadline=None)
@given(microdatas(max_rows=30), st.sampled_from(["0.1", "100"]))
def test_any_table_gives_records_over_its_columns(data: Microdata, epsilon: str) -> None:
    """Missing values, trees, orders, decimals, a single row, carried columns."""
    made = made_of(data, epsilon)
    assert [domain.name for domain in made.data.domains.all] == [domain.name for domain in data.domains.all]
    assert {name for name, _ in made.network} == {domain.name for domain in data.domains.all}
    assert made.data.n_rows == made.n_records == data.n_rows
    codes = np.concatenate([made.data.quasi, made.data.sensitive, made.data.carried], axis=1)
    for domain, column in zip(made.data.domains.all, codes.T, strict=True):
        assert 0 <= column.min() <= column.max() < domain.n_codes


def test_delta_must_be_below_one_in_the_number_of_records() -> None:
    with pytest.raises(RecipeError, match=r"delta is 0\.01. It must be below 1 / 200"):
        made_of(letters(np.zeros(200, dtype=int)), "1", delta="0.01")


def test_without_mbi_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mbi", None)
    with pytest.raises(MissingPart, match=r"mst needs the package mbi .* pip install 'lookalike\[pgm\]'"):
        MST(1).synthesize(letters(np.zeros(20, dtype=int)), Randomness(1))


def test_importing_mbi_changes_no_setting_of_jax() -> None:
    jax = pytest.importorskip("mbi") and sys.modules["jax"]
    made_of(letters(np.arange(60) % 4), "1")
    assert not jax.config.jax_enable_x64


def test_publish_sends_it_elsewhere_and_texts_are_read() -> None:
    with pytest.raises(Unsupported, match="mst promises differential privacy, not a model .* --algorithm mst"):
        parse_algorithm("mst:1")
    assert parse_synthesizer("mst:delta=1e-12", {"epsilon": "2", "bins": 9}) == MST(2, delta="1e-12", bins=9)
    with pytest.raises(RecipeError, match="epsilon is given twice"):
        parse_synthesizer("mst:1", {"epsilon": 1})
    with pytest.raises(RecipeError, match="no parameter|unknown parameter|theta"):
        parse_synthesizer("mst:1", {"theta": 1})


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": "x"},
        {"epsilon": 1, "delta": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "bins": 1},
    ],
)
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="mst: "):
        MST(**wrong)  # type: ignore[arg-type]
