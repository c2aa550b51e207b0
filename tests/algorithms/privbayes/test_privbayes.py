"""The whole method: what it spends, what it keeps with much budget, that it survives little, and odd tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.algorithms.privbayes import LearnedNetwork, PrivBayes
from lookalike.algorithms.shared.synthesis import Synthesized
from lookalike.apps.samples import census, census_schema
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import RecipeError, SchemaError
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import column_of, microdatas

LETTERS = "abcdefghij"


def letters(*columns: np.ndarray, values: str = LETTERS) -> Microdata:
    """Columns of declared letters; the last is sensitive."""
    roles = [Role.QUASI] * (len(columns) - 1) + [Role.SENSITIVE] if len(columns) > 1 else [Role.QUASI]
    attributes = [
        Attribute(name=f"c{place}", role=role, kind=Kind.CATEGORICAL, values=tuple(values))
        for place, role in enumerate(roles)
    ]
    table = [
        column_of(f"c{place}", [values[code] for code in column], ValueType.STRING)
        for place, column in enumerate(columns)
    ]
    return Microdata.encode(Table(tuple(table)), Schema(tuple(attributes)))


def codes_of(data: Microdata) -> np.ndarray:
    return np.concatenate([data.quasi, data.sensitive, data.carried], axis=1)


def learned(made: Synthesized) -> LearnedNetwork:
    assert isinstance(made.learned, LearnedNetwork)
    return made.learned


def made_of(data: Microdata, epsilon: str, seed: int = 1, **options: object) -> Synthesized:
    return PrivBayes(epsilon, **options).synthesize(data, Randomness(seed))  # type: ignore[arg-type]


def noisy_copies(n: int, flips: float, n_columns: int = 3) -> Microdata:
    rng = np.random.default_rng(7)
    first = rng.integers(0, 4, n) * (rng.random(n) < 0.7)
    others = [np.where(rng.random(n) < flips, rng.integers(0, 4, n), first) for _ in range(n_columns - 1)]
    return letters(first, *others, values="abcd")


@pytest.mark.parametrize("epsilon", ["0.001", "1.386", "50"])
@pytest.mark.parametrize("structure", ["0.3", "0.5"])
def test_the_parts_spend_the_whole_and_no_more(epsilon: str, structure: str) -> None:
    made = made_of(noisy_copies(500, 0.3, 5), epsilon, structure=structure)
    budget = learned(made).budget
    assert budget.structure + budget.tables == budget.epsilon == Fraction(epsilon)
    assert budget.n_choices * budget.per_choice + budget.n_tables * budget.per_table == Fraction(epsilon)
    assert budget.structure == (Fraction(epsilon) * Fraction(structure) if learned(made).shape.degree else 0)
    assert budget.n_tables == len(made.tables)
    # Replacing a record moves every table's counts by 2 in sum at most: all noise together spends at most this.
    assert budget.n_tables * 2 / budget.noise <= budget.tables


def test_with_the_same_degree_everywhere_a_table_less_is_taken_for_every_parent() -> None:
    made = made_of(noisy_copies(3000, 0.3, 6), "20", degree=2)
    assert learned(made).shape.degree == 2
    assert [len(parents) for _, parents in made.network] == [0, 1, 2, 2, 2, 2]
    assert len(made.tables) == 6 - 2


def test_a_huge_epsilon_reproduces_marginals_and_dependence() -> None:
    data = noisy_copies(20_000, 0.1)
    made = made_of(data, "1000")
    before, after = codes_of(data), codes_of(made.data)
    for one in range(3):
        for other in range(3):
            joint = [np.bincount(codes[:, one] * 4 + codes[:, other], minlength=16) for codes in (before, after)]
            assert np.abs(joint[0] - joint[1]).max() < 400  # 2 % of the rows; chance alone gives about 70


def test_the_usual_epsilon_keeps_strong_dependence_and_finds_who_belongs_together() -> None:
    rng = np.random.default_rng(3)
    pairs = [rng.integers(0, 3, 20_000) for _ in range(2)]
    data = letters(pairs[0], pairs[1], pairs[0], pairs[1], values="abc")
    made = made_of(data, "1.386", degree=1)
    codes = codes_of(made.data)
    assert (codes[:, 0] == codes[:, 2]).mean() > 0.97
    assert (codes[:, 1] == codes[:, 3]).mean() > 0.97
    assert abs((codes[:, 0] == codes[:, 1]).mean() - 1 / 3) < 0.05


def test_a_tiny_epsilon_gives_noise_that_says_nothing_about_the_table() -> None:
    always_a = letters(np.zeros(200, dtype=int), np.zeros(200, dtype=int))
    seen = np.zeros(10)
    for seed in range(60):
        made = made_of(always_a, "0.000001", seed)
        assert learned(made).shape.degree == 0
        assert made.data.n_rows == 200
        seen += np.bincount(codes_of(made.data).ravel(), minlength=10)
    assert seen[0] / seen.sum() < 0.25
    assert (seen > 0).all()


def test_values_that_nobody_has_can_be_drawn() -> None:
    made = made_of(letters(np.zeros(50, dtype=int)), "0.5")
    assert made.data.domains.quasi[0].values.tolist() == list(LETTERS)
    assert len(np.unique(made.data.quasi)) > 1


@settings(max_examples=examples(60))
@given(microdatas(max_rows=40), st.sampled_from(["0.01", "1", "100"]), st.integers(0, 9))
def test_any_table_gives_records_over_its_columns(data: Microdata, epsilon: str, seed: int) -> None:
    """Missing values, trees, orders, decimals, a single row, carried columns."""
    made = made_of(data, epsilon, seed)
    assert [domain.name for domain in made.data.domains.all] == [domain.name for domain in data.domains.all]
    assert {name for name, _ in made.network} == {domain.name for domain in data.domains.all}
    assert made.data.n_rows == made.n_records == data.n_rows
    for domain, original, codes in zip(made.data.domains.all, data.domains.all, codes_of(made.data).T, strict=True):
        assert 0 <= codes.min() <= codes.max() < domain.n_codes
        assert domain.has_missing == original.has_missing
        if domain.kind is Kind.NUMERIC and len(domain.values):
            assert original.low <= domain.values.min() <= domain.values.max() <= original.high
        elif domain.kind is not Kind.NUMERIC:
            assert domain.texts == original.texts
    placed: set[str] = set()
    for name, parents in made.network:
        assert {*parents} <= placed
        placed.add(name)


def test_what_is_missing_stays_as_frequent_and_where_it_was() -> None:
    cells: list[object] = [None if row % 4 == 0 else row % 4 for row in range(4000)]
    texts: list[object] = ["none" if cell is None else "some" for cell in cells]
    table = Table((column_of("x", cells, ValueType.INTEGER), column_of("y", texts, ValueType.STRING)))
    made = made_of(Microdata.encode(table, Schema.of(qi=["x"], sensitive=["y"])), "100")
    assert made.missing_as_observed == ("x",)
    missing = made.data.quasi[:, 0] == made.data.domains.quasi[0].missing_code
    assert missing.mean() == pytest.approx(0.25, abs=0.04)
    assert (missing == (made.data.sensitive[:, 0] == 0)).mean() > 0.99


def test_one_column_and_columns_of_one_value() -> None:
    alone = made_of(letters(np.arange(40) % 3), "2")
    assert alone.network == (("c0", ()),)
    assert (learned(alone).budget.structure, learned(alone).budget.tables) == (0, 2)
    table = Table(tuple(column_of(name, ["same"] * 5, ValueType.STRING) for name in ("x", "y")))
    same = made_of(Microdata.encode(table, Schema.of(qi=["x"], sensitive=["y"])), "2")
    assert not codes_of(same.data).any()
    assert (same.tables, learned(same).budget.structure + learned(same).budget.tables) == ((), 0)
    assert same.network == (("x", ()), ("y", ()))


def test_a_column_of_one_value_takes_no_budget_and_no_parents_from_others() -> None:
    rng = np.random.default_rng(3)
    first = rng.integers(0, 3, 5000)
    table = Table(
        (
            column_of("x", first.tolist(), ValueType.INTEGER),
            column_of("same", [1] * 5000, ValueType.INTEGER),
            column_of("y", first.tolist(), ValueType.INTEGER),
        )
    )
    made = made_of(Microdata.encode(table, Schema.of(qi=["x", "same", "y"])), "5", degree=1)
    assert [len(names) for names in made.tables] == [2]
    assert (made.data.quasi[:, 0] == made.data.quasi[:, 2]).mean() > 0.98


def test_declared_means_no_value_and_no_gap_is_read_from_the_table() -> None:
    whole = made_of(letters(np.arange(60) % 10, np.arange(60) % 7), "1", domains="declared")
    assert whole.missing_as_observed is None
    assert not whole.undeclared
    assert all(domain.has_missing for domain in whole.data.domains.all)
    undeclared = Table((column_of("x", ["a", "b"], ValueType.STRING),))
    with pytest.raises(SchemaError, match="does not declare the values of 1 column"):
        made_of(Microdata.encode(undeclared, Schema.of(qi=["x"])), "1", domains="declared")


def test_how_many_different_numbers_the_table_has_is_not_told() -> None:
    attribute = Attribute(name="age", role=Role.QUASI, kind=Kind.NUMERIC, low=0, high=9)
    sizes = set()
    for ages in ([1, 2, 3, 4, 5, 6], [5, 5, 5, 5, 5, 5]):
        data = Microdata.encode(Table((column_of("age", ages, ValueType.INTEGER),)), Schema((attribute,)))
        method = PrivBayes("0.001", bins=2, domains="declared")
        sizes.add(method.synthesize(data, Randomness(1), rows=1).data.domains.quasi[0].size)
    assert len(sizes) == 1


def test_what_is_public_is_all_that_shapes_the_work() -> None:
    """Two tables with the same number of records and the same declared domains are planned alike."""
    rng = np.random.default_rng(1)
    first = made_of(letters(*rng.integers(0, 10, (3, 900))), "3", domains="declared")
    second = made_of(letters(*np.zeros((3, 900), dtype=int)), "3", domains="declared")
    assert learned(first).shape == learned(second).shape
    assert [domain.texts for domain in first.data.domains.all] == [domain.texts for domain in second.data.domains.all]


def test_a_seed_repeats_and_no_seed_does_not() -> None:
    data = noisy_copies(300, 0.3)
    one, again = made_of(data, "1", 5), made_of(data, "1", 5)
    assert one.network == again.network
    assert np.array_equal(codes_of(one.data), codes_of(again.data))
    free = [PrivBayes(1).synthesize(data, Randomness()) for _ in range(2)]
    assert not np.array_equal(codes_of(free[0].data), codes_of(free[1].data))


def test_rows_are_as_many_as_asked_for() -> None:
    data = noisy_copies(100, 0.3)
    assert PrivBayes(1).synthesize(data, Randomness(1), rows=7).data.n_rows == 7
    with pytest.raises(RecipeError, match="at least 1"):
        PrivBayes(1).synthesize(data, Randomness(1), rows=0)


def test_wide_columns_get_no_table_that_is_not_worth_its_noise() -> None:
    data = Microdata.encode(census(10_000, seed=1), census_schema())
    made = made_of(data, "1.386")
    sizes = {domain.name: domain.n_codes for domain in made.data.domains.all}
    assert sizes["Age"] == 79
    for names in made.tables:
        assert len(names) == 1 or np.prod([sizes[name] for name in names]) <= learned(made).shape.most_cells
    assert learned(made).shape.degree >= 2
    assert learned(made).budget.n_tables <= 8


def test_progress_is_told() -> None:
    said: list[tuple[str, float]] = []
    PrivBayes(5).synthesize(
        noisy_copies(500, 0.3), Randomness(1), lambda step, share, note="": said.append((step, share))
    )
    assert list(dict.fromkeys(step for step, _ in said)) == ["structure", "tables", "records"]
    assert said[-1] == ("records", 1.0)
    assert all(0 <= share <= 1 for _, share in said)


@pytest.mark.parametrize(
    "wrong",
    [{"epsilon": 0}, {"epsilon": "x"}, {"epsilon": 1, "theta": 0}, {"epsilon": 1, "structure": 1},
     {"epsilon": 1, "bins": 1}, {"epsilon": 1, "degree": -1}, {"epsilon": 1, "domains": "guessed"}],
)  # fmt: skip
def test_parameters_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RecipeError, match="privbayes: "):
        PrivBayes(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("most_records", [1, 2, 7])
def test_a_person_with_several_records_spends_epsilon_and_no_more(most_records: int) -> None:
    data = noisy_copies(500, 0.3, 5)
    made = PrivBayes("1.3").synthesize(data, Randomness(1), most_records=most_records)
    budget = learned(made).budget
    of_record = Fraction("1.3") / most_records
    assert budget.structure + budget.tables == budget.epsilon == of_record
    assert budget.n_choices * budget.per_choice + budget.n_tables * budget.per_table == of_record
    # Replacing all records of a person moves a table's counts by twice as many in sum.
    spent = budget.n_tables * 2 * most_records / budget.noise + most_records * budget.structure
    assert spent <= Fraction("1.3")
    assert made.most_records == most_records


def test_noisy_counts_are_private_exactly_for_a_person_with_several_records() -> None:
    """Likelihood ratios over every outcome near two tables that differ in the three records of one person."""
    made = PrivBayes("1.3").synthesize(letters(np.array([0] * 9 + [1] * 4)), Randomness(1), most_records=3)
    scale = float(learned(made).budget.noise)

    def logarithm(outcome: int, count: int) -> float:
        return -abs(outcome - count) / scale

    ratios = [
        logarithm(one, 9) + logarithm(other, 4) - logarithm(one, 9 - 3) - logarithm(other, 4 + 3)
        for one in range(-40, 60)
        for other in range(-40, 60)
    ]
    assert 1.3 * 0.999 < max(ratios) <= 1.3
    assert -1.3 <= min(ratios) < -1.3 * 0.999
