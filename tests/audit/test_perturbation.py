"""Perturbed releases class by class: the original is no draw from a matrix, and true draws are never refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from lookalike.audit import audit_part, join_audits, verify
from lookalike.audit.perturbation import Choices, movement
from lookalike.audit.verdicts import UNDECIDED
from lookalike.data.release import Randomizer
from tests.audit.making import check, mixing_matrix, moved, number_table, perturbed
from tests.audit.planting.parts import part_of
from tests.audit.planting.rooms import chosen_to_keep

N_ROWS = 240


def in_classes(rng, n_rows, size, n_values):
    """A table in which every combination of quasi-identifiers occurs `size` times."""
    values = np.concatenate((np.arange(n_values), rng.integers(0, n_values, n_rows - n_values)))
    return number_table((np.arange(n_rows) // size)[:, None], rng.permutation(values))


def as_is(data, matrix, order):
    """The original itself, shuffled, said to be redrawn."""
    release = perturbed(np.random.default_rng(0), data, [matrix], order)
    return replace(release, sensitive=data.sensitive[order])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("matrix", [mixing_matrix(4, 1, 4), mixing_matrix(4, 4, 10), mixing_matrix(4, 7, 10)])
def test_the_original_is_not_taken_for_a_draw(size, matrix):
    rng = np.random.default_rng(size)
    data = in_classes(rng, N_ROWS, size, 4)
    honest = perturbed(rng, data, [matrix], rng.permutation(N_ROWS))
    assert check(verify(data, honest, []), 'values of "s" redrawn').passed
    caught = check(verify(data, as_is(data, matrix, rng.permutation(N_ROWS)), []), 'values of "s" redrawn')
    assert caught.blocks
    assert str(N_ROWS) not in caught.detail


def test_values_exchanged_by_a_rule_are_no_draw():
    """Under a matrix that draws evenly, shifted values have the right shares and are the original all the same."""
    rng = np.random.default_rng(3)
    data = in_classes(rng, 400, 2, 4)
    release = as_is(data, mixing_matrix(4, 1, 4), rng.permutation(400))
    shifted = replace(release, sensitive=(release.sensitive + 1) % 4)
    assert check(verify(data, shifted, []), 'values of "s" redrawn').blocks


def test_carried_values_part_the_classes():
    """Rows that agree in quasi-identifiers and differ in what they carry are told apart by it."""
    from tests.audit.making import mixed_table

    rng = np.random.default_rng(4)
    data = mixed_table(rng, 300, missing=False, n_ages=2)
    release = as_is(data, mixing_matrix(4, 4, 10), rng.permutation(300))
    assert check(verify(data, replace(release, carried=release.carried), []), "values of").blocks


def test_few_rows_say_that_they_could_not_tell():
    data = in_classes(np.random.default_rng(5), 6, 2, 2)
    found = check(verify(data, as_is(data, mixing_matrix(2, 1, 2), np.arange(6)), []), "values of")
    assert found.status == UNDECIDED
    assert not found.passed
    assert not found.blocks
    assert "too few rows to tell: 6 rows" in found.detail


@pytest.mark.slow
def test_honest_draws_are_not_refused():
    rng = np.random.default_rng(6)
    for _ in range(300):
        n_values, n_rows = int(rng.integers(2, 6)), int(rng.choice([10, 60, 300]))
        data = in_classes(rng, n_rows, int(rng.integers(1, 9)), n_values)
        columns = [rng.multinomial(12, rng.dirichlet([1.0] * n_values)) for _ in range(n_values)]
        matrix = Randomizer(np.array(columns, dtype=np.int64).T.copy(), 12)
        audit = verify(data, perturbed(rng, data, [matrix], rng.permutation(n_rows)), [])
        assert not check(audit, "values of").blocks


@pytest.mark.parametrize("values", [[0, 0, 1], [0, 1, 2], [0, 0, 0], [2, 2, 1]])
def test_bounds_lie_above_the_exact_chances(values):
    shares = np.array([[0.5, 0.2, 0.1], [0.25, 0.7, 0.3], [0.25, 0.1, 0.6]])
    before, classes = np.array(values), np.zeros(3, dtype=np.int64)
    chance_of, bounds = {}, {}
    for drawn in product(range(3), repeat=3):
        chance = float(np.prod([shares[after, value] for after, value in zip(drawn, values, strict=True)]))
        found = movement(classes, classes, before, np.array(drawn), shares)
        kept = sum(min(drawn.count(value), values.count(value)) for value in set(values))
        assert found.kept.seen == kept
        chance_of[kept] = chance_of.get(kept, 0.0) + chance
        bounds[kept] = found.kept.at_least, found.kept.at_most
    for kept, (at_least, at_most) in bounds.items():
        assert at_least >= sum(chance for other, chance in chance_of.items() if other >= kept) - 1e-12
        assert at_most >= sum(chance for other, chance in chance_of.items() if other <= kept) - 1e-12


def test_parts_are_added_up():
    """What is too little to tell in two tables by themselves is told in both together."""
    rng = np.random.default_rng(7)
    shares = mixing_matrix(4, 1, 4).weights / 4
    parts = []
    for number in range(2):
        values = rng.integers(0, 4, 10)
        parts.append(movement(np.arange(10), np.arange(10), values, values, shares))
        assert parts[number].chance > 1e-9
    assert (parts[0] + parts[1]).chance < 1e-9
    both = parts[0] + parts[1]
    assert both.n_rows == 20
    assert both.kept.seen == 20


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("published", [True, False])
def test_people_who_were_chosen_to_keep_their_value_are_noticed(size, published):
    """By a column that is published, and by one that is not."""
    rng = np.random.default_rng([size, published])
    n_rows, matrix = 800, mixing_matrix(4, 5, 11)
    ages, values = (np.arange(n_rows) // size)[:, None], rng.integers(0, 4, n_rows)
    data, names = number_table(ages, values), {"name": rng.permutation(n_rows // size)[ages[:, 0]].astype(np.int32)}
    column = ages[:, 0] if published else names["name"]
    order = rng.permutation(n_rows)
    honest = perturbed(rng, data, [matrix], order)
    assert check(verify(data, honest, [], unpublished=names), "values of").passed
    chosen = replace(honest, sensitive=chosen_to_keep(rng, data, matrix, column)[order])
    assert check(verify(data, chosen, [], unpublished=names), "values of").blocks
    assert check(verify(data, chosen, [], unpublished={}), "values of").blocks == published


def test_people_who_were_chosen_for_one_value_and_passed_over_for_another_are_noticed():
    rng = np.random.default_rng(8)
    n_rows, matrix = 800, mixing_matrix(4, 5, 11)
    data = number_table(np.arange(n_rows)[:, None] % 2, rng.integers(0, 4, n_rows))
    data = number_table(np.column_stack((np.arange(n_rows), data.quasi[:, 0])), data.sensitive[:, 0])
    order = rng.permutation(n_rows)
    column = (data.quasi[:, 1] + data.sensitive[:, 0]) % 2
    chosen = replace(perturbed(rng, data, [matrix], order), sensitive=chosen_to_keep(rng, data, matrix, column)[order])
    assert check(verify(data, chosen, []), "values of").blocks


def test_what_is_too_little_to_tell_in_a_part_is_told_by_all():
    rng = np.random.default_rng(9)
    n_rows, matrix = 800, mixing_matrix(4, 5, 11)
    data = number_table(np.column_stack((np.arange(n_rows), rng.integers(0, 2, n_rows))), rng.integers(0, 4, n_rows))
    chosen = replace(
        perturbed(rng, data, [matrix], np.arange(n_rows)), sensitive=chosen_to_keep(rng, data, matrix, data.quasi[:, 1])
    )
    audits = []
    for rows in np.split(rng.permutation(n_rows), 20):
        audits.append(audit_part(part_of(data, np.sort(rows)), moved(chosen, rows), []))
        assert not check(audits[-1].audit, "values of").blocks
    assert check(join_audits(audits).audit, "values of").blocks


@pytest.mark.parametrize("classes", [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 1]])
def test_numbers_of_choices_have_a_mean_of_at_most_one(classes):
    """All ways to draw the values of four people, each with its probability."""
    classes, before = np.array(classes), np.array([0, 1, 0, 2])
    shares = np.array([[0.6, 0.1, 0.3], [0.3, 0.7, 0.2], [0.1, 0.2, 0.5]])
    choices = Choices([classes, classes % 2], [np.arange(4)])
    mean, most = 0.0, 0.0
    for after in product(range(3), repeat=4):
        chance = float(np.prod(shares[list(after), before]))
        numbers = np.exp(movement(classes, classes, before, np.array(after), shares, choices).chosen)
        mean, most = mean + chance * numbers, max(most, float(numbers.max()))
    assert (mean <= 1 + 1e-12).all()
    assert most > 1.5
