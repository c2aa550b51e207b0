from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from lookalike.data.microdata import Column, Microdata, Table
from lookalike.data.requirement import Distance
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import RecipeError
from lookalike.models import t_closeness
from lookalike.models.shared.exact import enclosure
from lookalike.models.t_closeness import TCloseness
from tests.models.building import categories, exposure_of, numbers, weighed, with_tree


def test_the_farthest_unit_decides() -> None:
    exposure = exposure_of([[2, 2, 2], [3, 1, 2], [1, 3, 2]])
    level = TCloseness("0.2").level(exposure)
    assert (level.value, level.unit) == (Fraction(1, 6), level.unit)
    assert level.unit in (1, 2)
    assert TCloseness("1/6").holds(level)
    assert not TCloseness("0.1666").holds(level)


def test_missing_is_the_last_of_an_order() -> None:
    column = numbers([1, 2, 3], missing=True)
    exposure = exposure_of([[1, 0, 0, 0]], column, prior=[0, 0, 0, 1])
    assert TCloseness(1, distance="ordered").level(exposure).value == 1
    exposure = exposure_of([[0, 0, 1, 0]], column, prior=[0, 0, 0, 1])
    assert TCloseness(1, distance="ordered").level(exposure).value == Fraction(1, 3)


def test_near_leaves_are_near() -> None:
    column = with_tree([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")])
    model = TCloseness(1, distance="hierarchical")
    near = exposure_of([[2, 0, 1, 1]], column, prior=[1, 1, 1, 1])
    far = exposure_of([[1, 1, 0, 0]], column, prior=[1, 1, 1, 1])
    assert model.level(near).value == Fraction(1, 8)
    assert model.level(far).value == Fraction(1, 2)
    assert model.requirement(np.array([1, 1, 1, 1]), column, 0).tree is column.taxonomy


def test_divergences_that_tie_with_t_hold() -> None:
    # KL((1/2, 1/4, 1/4) || (1/4, 1/4, 1/2)) = 1/2 - 1/4 bits exactly.
    exposure = exposure_of([[1, 1, 2]], prior=[2, 1, 1])
    for t, held in (("0.25", True), ("0.24999999999", False), ("0.2500000000001", True), ("0.249", False)):
        model = TCloseness(t, distance="kl")
        assert model.holds(model.level(exposure)) == held
    # Disjoint halves: JS((1, 0) || (0, 1)) = 1 bit; with half of each in common 1/2.
    apart = exposure_of([[0, 1]], prior=[1, 0])
    model = TCloseness(1, distance="js")
    assert model.holds(model.level(apart))
    half = exposure_of([[0, 1, 1]], prior=[1, 1, 0])
    assert TCloseness("0.5", distance="js").holds(TCloseness("0.5", distance="js").level(half))
    just = TCloseness("0.4999999999999", distance="js")
    assert not just.holds(just.level(half))


def test_divergence_from_itself_is_nothing() -> None:
    exposure = exposure_of([[2, 3, 5], [4, 6, 10]])
    for distance in ("equal", "kl", "js"):
        model = TCloseness(0, distance=distance)
        assert model.holds(model.level(exposure))


def test_a_value_that_is_absent_is_infinitely_far_in_kl() -> None:
    level = TCloseness(100, distance="kl").level(exposure_of([[3, 0], [3, 3]]))
    assert (level.value, level.unit) == (math.inf, 0)


def test_nothing_published_is_no_distance_away() -> None:
    model = TCloseness(0)
    assert model.holds(model.level(weighed([], [1, 1], form="grouped")))


def test_numbers_under_a_taxonomy_keep_their_order() -> None:
    column = Column("salary", ValueType.INTEGER, np.array([0, 1, 2, 3], dtype=np.int32), np.array([5, 12, 18, 33]))
    age = Column("age", ValueType.INTEGER, np.array([0, 1, 2, 3], dtype=np.int32), np.array([1, 2, 3, 4]))
    salary = Attribute(name="salary", role=Role.SENSITIVE, taxonomy={"intervals": [10]})
    schema = Schema((Attribute(name="age", role=Role.QUASI), salary))
    data = Microdata.encode(Table((age, column)), schema)
    domain = data.domains.sensitive[0]
    assert domain.kind is Kind.CATEGORICAL
    for distance in ("ordered", "hierarchical", "equal"):
        TCloseness("0.2", distance=distance).check_eligible(data.counts(0), domain)


@pytest.mark.parametrize("name", [distance.name.lower() for distance in Distance if distance is not Distance.NONE])
def test_requirements_carry_distance_and_bound(name: str) -> None:
    column = numbers([1, 2]) if name == "ordered" else with_tree([("a", "*"), ("b", "*")])
    requirement = TCloseness("0.3", distance=name).requirement(np.array([1, 1]), column, 0)
    assert requirement.distance is Distance[name.upper()]
    assert requirement.bound == Fraction(3, 10)
    assert not requirement.only_ceilings


def test_t_beyond_the_largest_distance_is_a_mistake() -> None:
    with pytest.raises(RecipeError, match="t is 1.5. It must be a number at least 0 and at most 1"):
        TCloseness("1.5")
    assert TCloseness("1.5", distance="kl").t == Fraction(3, 2)


def test_levels_check_the_column_too() -> None:
    with pytest.raises(RecipeError, match="needs values with an order"):
        TCloseness(1, distance="ordered").level(exposure_of([[1, 1]], categories(2)))


@pytest.mark.parametrize("distance", ["kl", "js"])
def test_a_t_next_to_the_divergence_is_decided_by_digits(distance: str) -> None:
    prior, counts = [4, 6], {0: 5, 1: 5}
    terms_of = t_closeness.kullback_leibler_terms if distance == "kl" else t_closeness.jensen_shannon_terms
    nats = enclosure(Fraction(0), terms_of(prior, counts))
    one_bit = enclosure(Fraction(0), [(Fraction(1), Fraction(2))])
    exposure = exposure_of([[5, 5]], prior=prior)
    for t, held in ((nats[0] / one_bit[1], False), (nats[1] / one_bit[0], True)):
        model = TCloseness(t, distance=distance)
        assert model.holds(model.level(exposure)) == held
        assert float(model.level(exposure).value) == pytest.approx(float(t), rel=1e-9)


def test_only_equal_distances_bound_the_belief_in_one_value() -> None:
    """Between neighbours in an order a whole share moves at little cost."""
    assert TCloseness("0.2").highest_belief(Fraction(1, 2)) == Fraction(7, 10)
    assert TCloseness("0.9").highest_belief(Fraction(1, 2)) == 1
    assert TCloseness("0.2", distance="ordered").highest_belief(Fraction(1, 2)) is None
