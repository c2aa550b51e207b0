"""Answers to count queries: to the printed digit, against counting row by row, and without bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.analysis.counts import Queries, estimate_counts, independent, true_counts
from lookalike.data.microdata import Domain, Microdata
from lookalike.data.release import Bucketized, Grouped, Matched, Perturbed, Randomizer, Ranges, Release
from lookalike.data.schema import Kind
from lookalike.errors import RecipeError
from lookalike.metrics.query_error import RangeWorkload, SubsetWorkload, draw_queries, judge_answers
from tests.attacks.planting import FORMS, target_of
from tests.audit.making import bucketized, grouped, mixed_table, mixing_matrix, number_table, perturbed, random_groups
from tests.examples import examples
from tests.strategies import microdatas


def some_queries(data: Microdata, n_queries: int, rng: np.random.Generator) -> Queries:
    """Random sets of codes; some columns are not asked about."""
    queries = Queries.everything(data.domains, n_queries)
    for mask in queries.quasi + queries.sensitive:
        mask[:] = rng.random(mask.shape) < rng.choice([0.2, 0.6, 1.0], n_queries)[:, None]
    return queries


def counted_by_hand(queries: Queries, quasi: Any, sensitive: Any) -> list[int]:
    return [
        sum(
            all(mask[query, code] for mask, code in zip(queries.quasi, known, strict=True))
            and all(mask[query, code] for mask, code in zip(queries.sensitive, values, strict=True))
            for known, values in zip(quasi.tolist(), sensitive.tolist(), strict=True)
        )
        for query in range(len(queries))
    ]


@given(microdatas(max_rows=25), st.integers(0, 99))
@settings(max_examples=examples(40), deadline=None)
def test_true_counts_are_those_of_every_row(data: Microdata, seed: int) -> None:
    queries = some_queries(data, 70, np.random.default_rng(seed))
    assert true_counts(queries, data).tolist() == counted_by_hand(queries, data.quasi, data.sensitive)


def test_a_range_counts_whole_numbers() -> None:
    """Ages 20 to 29, three of the values wanted, 25 to 34 asked for: 3 x 5/10."""
    data = number_table([[20], [22], [29], [25], [34], [34]], [1, 1, 1, 0, 0, 0])
    release = grouped(data, [0, 0, 0, 0, 1, 1], np.arange(6))
    queries = Queries.everything(data.domains, 1)
    queries.quasi[0][0] = (data.domains.quasi[0].values >= 25) & (data.domains.quasi[0].values <= 34)
    queries.sensitive[0][0] = data.domains.sensitive[0].values == 1
    answers = estimate_counts(queries, release, "uniform")
    assert answers.counts[0] == pytest.approx(1.5)
    truth = judged_alone(answers.counts[0], 2)
    assert truth == pytest.approx(0.25)


def judged_alone(count: float, truth: int) -> float:
    return abs(count - truth) / truth


def share_by_hand(domain: Domain, extents: Any, unit: int, wanted: Any) -> float:
    """The part of a cell that is wanted, value by value."""
    if not isinstance(extents, Ranges):
        members = extents.members[extents.starts[unit] : extents.starts[unit + 1]]
        return float(np.mean([wanted[code] for code in members]))
    codes = list(range(extents.lows[unit], extents.highs[unit] + 1))
    if domain.kind is Kind.NUMERIC and domain.taxonomy is None and codes:
        values = domain.values.tolist()
        numbers = list(range(values[codes[0]], values[codes[-1]] + 1))

        def is_wanted(number: int) -> bool:
            """Between two wanted values, all are wanted."""
            if number in values:
                return bool(wanted[values.index(number)])
            after = next(place for place, value in enumerate(values) if value > number)
            return bool(wanted[after - 1] and wanted[after])

        held = [is_wanted(number) for number in numbers]
    else:
        held = [bool(wanted[code]) for code in codes]
    if extents.missing[unit]:
        held.append(bool(wanted[domain.missing_code]))
    return float(np.mean(held))


@pytest.mark.parametrize("seed", range(6))
def test_uniform_estimates_are_products_of_shares(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = mixed_table(rng, 60, n_ages=50)
    release = grouped(data, random_groups(rng, 60, 4), rng.permutation(60))
    queries = some_queries(data, 80, rng)
    expected = np.zeros(len(queries))
    for query in range(len(queries)):
        for row, unit in enumerate(release.group_of_row.tolist()):
            if queries.sensitive[0][query, release.sensitive[row, 0]]:
                expected[query] += np.prod(
                    [
                        share_by_hand(domain, extents, unit, mask[query])
                        for domain, extents, mask in zip(
                            data.domains.quasi, release.extents, queries.quasi, strict=True
                        )
                    ]
                )
    assert estimate_counts(queries, release, "uniform").counts == pytest.approx(expected)


@pytest.mark.parametrize("inside", ["uniform", "weighted"])
@pytest.mark.parametrize("form", FORMS)
def test_queries_about_nothing_count_everybody(form: str, inside: str) -> None:
    rng = np.random.default_rng(4)
    data = mixed_table(rng, 120, n_values=6, carried=False)
    values = rng.permutation(np.arange(120) % 6).astype(np.int32)
    data = Microdata(data.schema, data.domains, data.quasi, values[:, None], data.carried)
    release = target_of(form, data, rng).release
    answers = estimate_counts(Queries.everything(data.domains, 3), release, inside)
    assert answers.counts == pytest.approx([120] * 3)
    assert answers.errors == pytest.approx([0] * 3, abs=1e-6)


@pytest.mark.parametrize("inside", ["uniform", "weighted"])
@given(data=microdatas(max_rows=30), seed=st.integers(0, 99))
@settings(max_examples=examples(15), deadline=None)
def test_parts_of_a_whole_add_up(inside: str, data: Microdata, seed: int) -> None:
    """Whatever a column's values are divided into, the answers add up, as long as no range is torn in a gap."""
    rng = np.random.default_rng(seed)
    release = grouped(data, random_groups(rng, data.n_rows, 3), rng.permutation(data.n_rows))
    queries = some_queries(data, 10, rng)
    halves = [Queries(queries.quasi, tuple(mask.copy() for mask in queries.sensitive)) for _ in range(2)]
    side = rng.random(queries.sensitive[0].shape) < 0.5
    halves[0].sensitive[0][:] &= side
    halves[1].sensitive[0][:] &= ~side
    whole = estimate_counts(queries, release, inside).counts
    assert sum(estimate_counts(half, release, inside).counts for half in halves) == pytest.approx(whole)


def test_weights_use_what_is_certain() -> None:
    """Nine of ten groups hold USA alone; in {Peru, USA} one of each is certain and the rest is mostly from the USA."""
    data = number_table([[place] for place in range(100)], [0] * 100)
    country = np.ones((100, 1), dtype=np.int32)
    country[99] = 0
    words = mixed_table(np.random.default_rng(1), 100, missing=False).domains.quasi[1]
    domains = data.domains.__class__((words,), data.domains.sensitive, ())
    data = Microdata(data.schema, domains, country, data.sensitive, data.carried)
    release = grouped(data, np.arange(100) // 10, np.arange(100))
    queries = Queries.everything(domains, 1)
    queries.quasi[0][0] = np.arange(words.n_codes) == 0
    assert estimate_counts(queries, release, "uniform").counts[0] == pytest.approx(5.0)
    # One is certain; 8 more of its group are spread by weights 1 + 4 and 90 + 1 + 4.
    assert estimate_counts(queries, release).counts[0] == pytest.approx(1 + 8 * 5 / 100)


def repeated(make: Any, queries: Queries, truth_of: Any, n_times: int, inside: str = "uniform") -> tuple[Any, Any, Any]:
    """Mean of estimate - truth, the standard error of that mean, and how often the error held it."""
    misses, held = [], []
    for turn in range(n_times):
        rng = np.random.default_rng(turn)
        data, release = make(rng)
        answers = estimate_counts(queries, release, inside)
        miss = answers.counts - truth_of(data)
        misses.append(miss)
        held.append(np.abs(miss) <= 1.96 * answers.errors + 0.5)
    return np.mean(misses, axis=0), np.std(misses, axis=0) / np.sqrt(n_times), np.mean(held, axis=0)


def test_estimates_from_groups_have_no_bias_where_values_are_uniform() -> None:
    """Cells are as declared, and values inside them uniform: the assumption of the estimator."""
    base = number_table([[age] for age in range(40)] * 3, [0, 1, 2] * 40)
    queries = Queries.everything(base.domains, 3)
    for query, (low, high) in enumerate([(3, 12), (18, 33), (0, 25)]):
        codes = np.arange(40)
        queries.quasi[0][query] = (codes >= low) & (codes <= high)
    queries.sensitive[0][:, 2] = False
    lows = np.repeat(np.array([0, 10, 20, 30], dtype=np.int32), 30)

    def make(rng: np.random.Generator) -> tuple[Microdata, Release]:
        quasi = (lows + rng.integers(0, 10, 120)).astype(np.int32)[:, None]
        data = Microdata(base.schema, base.domains, quasi, base.sensitive, base.carried)
        ends = np.array([0, 10, 20, 30], dtype=np.int32)
        extents = (Ranges.of(base.domains.quasi[0], ends, ends + 9),)
        release = Grouped(
            domains=base.domains,
            extents=extents,
            group_of_row=(lows // 10).astype(np.int32),
            sensitive=data.sensitive,
            carried=data.carried,
        )
        return data, release

    bias, error, held = repeated(make, queries, lambda data: true_counts(queries, data), 400)
    assert (np.abs(bias) <= 4 * error + 1e-9).all()
    assert (held > 0.9).all()


def test_estimates_from_buckets_have_no_bias_where_values_are_dealt_at_random() -> None:
    base = number_table([[age] for age in range(60)], [number % 5 for number in range(60)])
    buckets = np.arange(60) // 5
    rng = np.random.default_rng(2)
    queries = some_queries(base, 4, rng)
    release = bucketized(base, buckets, np.arange(60), np.arange(60))

    def make(rng: np.random.Generator) -> tuple[Microdata, Release]:
        places = np.concatenate([5 * bucket + rng.permutation(5) for bucket in range(12)])
        return Microdata(base.schema, base.domains, base.quasi, base.sensitive[places], base.carried), release

    bias, error, held = repeated(make, queries, lambda data: true_counts(queries, data), 600)
    assert (np.abs(bias) <= 4 * error + 1e-9).all()
    assert (held > 0.9).all()


def test_estimates_from_redrawn_values_have_no_bias() -> None:
    rng = np.random.default_rng(5)
    base = number_table(rng.integers(0, 9, (300, 2)), rng.integers(0, 4, 300))
    queries = draw_queries(RangeWorkload(columns=1, selectivity=0.3), base, 6, rng).queries
    truth = true_counts(queries, base)

    def make(rng: np.random.Generator) -> tuple[Microdata, Release]:
        return base, perturbed(rng, base, [mixing_matrix(4, keep=4, total=10)], rng.permutation(300))

    bias, error, held = repeated(make, queries, lambda _: truth, 300)
    assert (np.abs(bias) <= 4 * error + 1e-9).all()
    assert ((held > 0.88) & (held <= 1)).all()


def test_records_made_up_are_taken_out() -> None:
    data = number_table([[1], [2], [3], [4]], [0, 0, 1, 1])
    release = grouped(data, [0, 0, 0, 0], np.arange(4))
    from dataclasses import replace

    from lookalike.data.release import Withheld

    padded = replace(release, withheld=Withheld(dummies=(np.array([1, 0]),), n_dummies=1))
    queries = Queries.everything(data.domains, 2)
    queries.sensitive[0][:] = np.eye(2, dtype=bool)
    assert estimate_counts(queries, padded).counts == pytest.approx([1, 2])


def test_independent_sides() -> None:
    data = number_table([[1], [1], [2], [2]], [0, 0, 1, 1])
    queries = Queries.everything(data.domains, 1)
    queries.quasi[0][0] = [True, False]
    queries.sensitive[0][0] = [True, False]
    assert true_counts(queries, data).tolist() == [2]
    assert independent(queries, data).tolist() == [1.0]


@pytest.mark.parametrize("form", [Bucketized.form, Perturbed.form, Matched.form, Grouped.form])
def test_blocks_do_not_change_answers(form: str) -> None:
    """More queries than are answered side by side, in any order."""
    rng = np.random.default_rng(8)
    data = number_table(rng.integers(0, 12, (60, 3)), rng.permutation(np.arange(60) % 6))
    release = target_of(form, data, rng).release
    asked = draw_queries(SubsetWorkload(columns=2, selectivity=0.5), data, 150, rng)
    together = estimate_counts(asked.queries, release)
    some = rng.permutation(150)[:20]
    alone = estimate_counts(asked.queries[some], release)
    assert alone.counts == pytest.approx(together.counts[some])
    assert alone.errors == pytest.approx(together.errors[some])
    assert judge_answers(asked, together).relative == pytest.approx(np.abs(together.counts - asked.truth) / asked.truth)


def test_values_that_are_never_drawn_count_nothing() -> None:
    rng = np.random.default_rng(8)
    data = number_table(rng.integers(0, 9, (40, 1)), np.repeat([0, 1, 2, 2], 10))
    weights = np.array([[2, 1, 0], [1, 2, 0], [0, 0, 0]])
    release = Perturbed(
        domains=data.domains,
        quasi=data.quasi,
        sensitive=data.sensitive % 2,
        carried=data.carried,
        randomizers=(Randomizer(weights, 3),),
    )
    queries = Queries.everything(data.domains, 3)
    queries.sensitive[0][:] = np.eye(3, dtype=bool)
    counts = estimate_counts(queries, release).counts
    assert counts[:2].sum() == pytest.approx(40)
    assert counts[2] == 0


def test_unknown_assumptions_about_cells_are_refused() -> None:
    data = number_table([[1], [2]], [0, 1])
    with pytest.raises(RecipeError, match="weighted"):
        estimate_counts(Queries.everything(data.domains, 1), grouped(data, [0, 0], np.arange(2)), "wieghted")


def test_nobody_need_have_the_outermost_leaves_of_a_node() -> None:
    data = mixed_table(np.random.default_rng(1), 60, carried=False)
    release = grouped(data, np.zeros(60, dtype=int), np.arange(60))
    colour = data.domains.quasi[2]
    queries = Queries.everything(data.domains, colour.n_codes)
    queries.quasi[2][:] = np.eye(colour.n_codes, dtype=bool)
    assert estimate_counts(queries, release).counts == pytest.approx([60 / colour.n_codes] * colour.n_codes)


@pytest.mark.parametrize("form", FORMS)
def test_a_few_queries_are_summed_up_by_numpy_as_by_the_kernel(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    data = number_table(rng.integers(0, 12, (60, 3)), rng.permutation(np.arange(60) % 6))
    target = target_of(form, data, rng)
    queries = some_queries(data, 9, rng)
    found = []
    for few in (-1, 10**9):
        monkeypatch.setattr("lookalike.analysis.counts._FEW", few)
        found.append(estimate_counts(queries, target.release))
    assert np.allclose(found[0].counts, found[1].counts, rtol=1e-12, atol=1e-9)
    assert np.allclose(found[0].errors, found[1].errors, rtol=1e-9, atol=1e-9)
