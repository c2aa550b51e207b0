from __future__ import annotations

import math
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.data.schema import ValueType
from lookalike.errors import Infeasible, RecipeError
from lookalike.models.l_diversity import LDiversity
from tests.examples import examples
from tests.models.building import categories, exposure_of, numbers, weighed


def test_levels_of_one_table_in_five_readings() -> None:
    exposure = exposure_of([[3, 1, 1, 0], [2, 2, 0, 2]])
    assert LDiversity(2).level(exposure).value == Fraction(5, 3)
    assert LDiversity(2, kind="distinct").level(exposure).value == 3
    entropy = LDiversity(2, kind="entropy").level(exposure)
    assert (float(entropy.value), entropy.unit) == (pytest.approx(2.5865, abs=1e-4), 0)
    recursive = LDiversity(2, kind="recursive", c=2).level(exposure)
    assert (recursive.value, recursive.unit) == (Fraction(3, 2), 0)
    binary = LDiversity(2, kind="binary", subset="b|d").level(exposure)
    assert (binary.value, binary.unit) == (Fraction(3, 2), 1)
    assert LDiversity(2, subset="b|d").level(exposure).value == 3


def test_too_few_values_have_no_c() -> None:
    level = LDiversity(3, kind="recursive", c=100).level(exposure_of([[2, 2, 0], [1, 1, 1]]))
    assert (level.value, level.unit) == (math.inf, 0)
    assert not LDiversity(3, kind="recursive", c=100).holds(level)


def test_values_that_never_occur_are_bounded_already() -> None:
    level = LDiversity(9, subset="c").level(exposure_of([[2, 2, 0]]))
    assert LDiversity(9, subset="c").holds(level)
    assert level.unit is None


def test_many_units_at_equality_hold() -> None:
    counts = np.tile(np.array([[1, 1, 1, 0], [0, 2, 2, 2], [4, 0, 4, 4]]), (500, 1))
    exposure = weighed(counts.tolist(), counts.sum(axis=0).tolist(), form="grouped")
    model = LDiversity(3, kind="entropy")
    assert model.level(exposure).value == 3
    assert model.holds(model.level(exposure))


@pytest.mark.parametrize("ell", ["3", "2.5", "8/3"])
def test_entropy_levels_next_to_l_fall_on_the_true_side(ell: str) -> None:
    """Counts whose entropy is searched to be as near to ln l as counts allow."""
    model = LDiversity(ell, kind="entropy")
    wanted = math.log(model.ell)
    for size in (10**6, 10**9):
        low, high = 0, size // 3
        while low < high:
            middle = (low + high) // 2
            parts = [middle, (size - middle) // 2, size - middle - (size - middle) // 2]
            if -sum(part / size * math.log(part / size) for part in parts if part) >= wanted:
                high = middle
            else:
                low = middle + 1
        for least in (low - 1, low, low + 1):
            parts = [least, (size - least) // 2, size - least - (size - least) // 2]
            exact = entropy_digits(parts) - log_digits(model.ell)
            level = model.level(weighed([parts], [1, 1, 1], form="grouped"))
            assert model.holds(level) == (exact >= 0)


def log_digits(value: Fraction) -> Fraction:
    context = Context(prec=80)
    return Fraction(context.ln(Decimal(value.numerator))) - Fraction(context.ln(Decimal(value.denominator)))


def entropy_digits(parts: list[int]) -> Fraction:
    size = sum(parts)
    return log_digits(Fraction(size)) - sum(Fraction(part, size) * log_digits(Fraction(part)) for part in parts)


def test_binary_ceilings_share_one_over_l() -> None:
    model = LDiversity(4, kind="binary", subset="a|b")
    requirement = model.requirement(np.array([1, 3, 20]), categories(3), 0)
    assert requirement.ceilings == (Fraction(1, 16), Fraction(3, 16), 1)
    assert requirement.min_size == 1


def test_requirements_of_the_other_kinds() -> None:
    prior = np.array([4, 3, 3])
    assert LDiversity(3, kind="distinct").requirement(prior, categories(3), 1).distinct == 3
    entropy = LDiversity("2.5", kind="entropy").requirement(prior, categories(3), 1)
    assert (entropy.column, entropy.entropy, entropy.min_size) == (1, Fraction(5, 2), 3)
    assert LDiversity(2, kind="recursive", c="1.5").requirement(prior, None, 1).recursive == (Fraction(3, 2), 2)
    assert LDiversity(3).requirement(prior, None, 0).only_ceilings


def test_nothing_published_betrays_nothing() -> None:
    nothing = weighed([], [1, 1], form="grouped")
    for model in (
        LDiversity(5),
        LDiversity(5, kind="distinct"),
        LDiversity(5, kind="entropy"),
        LDiversity(2, kind="recursive", c=1),
    ):
        assert model.holds(model.level(nothing))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ell": "0.5"}, "ell is 0.5"),
        ({"ell": "2.5", "kind": "distinct"}, "must be whole for kind=distinct"),
        ({"ell": 2, "kind": "recursive"}, "kind=recursive needs c"),
        ({"ell": 2, "c": 2}, "kind=simple takes no c"),
        ({"ell": 2, "kind": "recursive", "c": 0}, "c is 0. It must be a number above 0"),
        ({"ell": 2, "kind": "binary"}, "needs the positive values"),
        ({"ell": 2, "kind": "entropy", "subset": "a"}, "takes no subset"),
    ],
)
def test_parts_that_do_not_fit_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        LDiversity(**settings)  # type: ignore[arg-type]


def test_designated_values_must_exist() -> None:
    with pytest.raises(RecipeError, match='names the value "HIV", which column "diagnosis" does not have'):
        LDiversity(2, subset="HIV").requirement(np.array([1, 1]), categories(2), 0)


@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_no_stretch_of_the_band_s_width_has_more_than_the_level_says(data: st.DataObject) -> None:
    """Against every stretch that begins at a value, or ends at one: no other one can hold more."""
    values = sorted(data.draw(st.sets(st.integers(-50, 50), min_size=2, max_size=9)))
    band = data.draw(st.fractions(0, 60, max_denominator=4))
    missing = data.draw(st.booleans())
    n_codes = len(values) + missing
    counts = st.lists(st.integers(0, 3), min_size=n_codes, max_size=n_codes).filter(any)
    groups = data.draw(st.lists(counts, min_size=1, max_size=4))
    level = LDiversity(2, band=band).level(exposure_of(groups, numbers(values, missing=missing)))
    shares = []
    for group in groups:
        held = dict(zip(values, group, strict=False))
        begins = [begin for value in values for begin in (value, value - band)]
        inside = [sum(held[value] for value in values if begin <= value <= begin + band) for begin in begins]
        shares.append(Fraction(max(*inside, *group[len(values) :]), sum(group)))
    assert level.value == 1 / max(shares)
    assert level.unit is not None
    assert shares[level.unit] == max(shares)


def test_band_of_zero_is_the_simple_kind() -> None:
    exposure = exposure_of([[3, 1, 1, 0], [2, 2, 0, 2]], numbers([1, 2, 5, 9]))
    assert LDiversity(2, band=0).level(exposure).value == LDiversity(2).level(exposure).value


def test_bands_are_exact_decimals() -> None:
    """0.4 - 0.1 is 0.3, though not in binary: both ends count."""
    column = replace(numbers([1, 4]), type=ValueType.NUMBER, values=np.array([0.1, 0.4]))
    exposure = exposure_of([[1, 1]], column)
    assert LDiversity(2, band="0.3").level(exposure).value == 1
    assert LDiversity(2, band="0.29").level(exposure).value == 2


def test_bands_of_dates_are_days_and_of_moments_too() -> None:
    days = replace(numbers([0, 30]), type=ValueType.DATE)
    moments = replace(numbers([0, 30 * 86_400_000_000]), type=ValueType.DATETIME)
    for column in (days, moments):
        exposure = exposure_of([[1, 1]], column)
        assert [LDiversity(2, band=band).level(exposure).value for band in (29, 30)] == [2, 1]


def test_bands_need_numbers_and_the_simple_kind() -> None:
    with pytest.raises(RecipeError, match="needs a column of numbers or dates"):
        LDiversity(2, band=1).level(exposure_of([[1, 1]], categories(2)))
    for wrong in ({"kind": "entropy"}, {"subset": "a"}):
        with pytest.raises(RecipeError, match="simple kind for all values"):
            LDiversity(2, band=1, **wrong)


def test_a_table_whose_values_lie_in_one_band_is_refused_with_the_nearest_l() -> None:
    prior, column = np.array([4, 4, 2]), numbers([10, 12, 50])
    with pytest.raises(Infeasible, match=r"range of width 5 has 80 % .* nearest .*l-diversity:1,band=5"):
        LDiversity(2, band=5).check_eligible(prior, column)
    LDiversity(2, band=1).check_eligible(prior, column)


def test_numbers_near_each_other_get_a_caution_with_a_way_out() -> None:
    near = numbers(sorted([*range(0, 4000, 10), *range(1, 4000, 10)]))
    (said,) = LDiversity(3).cautions(np.ones(800, dtype=np.int64), near)
    assert "l-diversity:3,band=50" in said
    assert "--round salary=50" in said
    prior = np.ones(41, dtype=np.int64)
    assert LDiversity(3).cautions(prior, numbers([*range(20, 61)])) == []
    assert LDiversity(3, band=5).cautions(np.ones(800, dtype=np.int64), near) == []
    assert LDiversity(3).cautions(np.ones(3, dtype=np.int64), categories(3)) == []
