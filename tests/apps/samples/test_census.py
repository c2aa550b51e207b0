"""The census stand-in: cardinalities, extreme shares and correlations."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from lookalike.apps.samples import census, census_schema
from lookalike.apps.samples.census import occupation_shares
from lookalike.data.microdata import Microdata, Table
from lookalike.errors import RecipeError

ROWS = 200_000
CARDINALITIES = {
    "Age": 79,
    "Gender": 2,
    "Education": 17,
    "Marital": 6,
    "Race": 9,
    "Work class": 10,
    "Country": 83,
    "Occupation": 51,
}


@lru_cache
def table() -> Table:
    return census(ROWS, seed=2)


def values(name: str) -> NDArray[np.int64]:
    column = table()[name]
    return column.values[column.codes]


def occupation_counts(occupation: str) -> NDArray[np.int64]:
    return np.bincount(census(ROWS, 4, occupation)["Occupation"].codes, minlength=51)


def test_cardinalities_are_the_papers() -> None:
    assert {column.name: len(column.values) for column in table().columns} == CARDINALITIES
    assert table()["Age"].values[[0, -1]].tolist() == [15, 93]
    assert all(column.values[0] == 0 for column in table().columns if column.name != "Age")


def test_the_schema_declares_the_whole_domains_even_for_few_rows() -> None:
    data = Microdata.encode(census(50), census_schema())
    assert len(data.domains.quasi) == 7
    assert {domain.name: domain.size for domain in data.domains.all if domain.kind == "categorical"} == {
        name: size for name, size in CARDINALITIES.items() if name not in ("Age", "Education")
    }
    assert [(domain.low, domain.high) for domain in data.domains.quasi if domain.kind == "numeric"] == [
        (15, 93),
        (0, 16),
    ]
    assert all(domain.declared for domain in data.domains.all)


def test_occupation_shares_add_up_and_have_the_stated_extremes() -> None:
    shares = occupation_shares()
    assert shares.sum() == pytest.approx(1)
    assert sorted(shares)[0] == pytest.approx(0.0017)
    assert sorted(shares)[-1] == pytest.approx(0.075)
    assert len(set(shares.tolist())) == 51


def test_occupations_are_drawn_with_those_shares_although_they_depend_on_the_person() -> None:
    drawn = np.bincount(table()["Occupation"].codes) / ROWS
    # Four standard deviations of a share of 7.5 % in 200,000 rows.
    assert np.abs(drawn - occupation_shares()).max() < 0.0024
    assert drawn.min() == pytest.approx(0.0017, abs=0.0004)


def test_persons_are_plausible() -> None:
    ages, genders, maritals = values("Age"), values("Gender"), values("Marital")
    educations, occupations = values("Education"), values("Occupation")
    assert educations[ages < 18].max() <= 9
    assert np.mean(maritals[ages < 20] == 0) > 0.9
    assert np.mean(maritals[(ages >= 80) & (genders == 1)] == 5) > 2 * np.mean(
        maritals[(ages >= 80) & (genders == 0)] == 5
    )
    assert np.corrcoef(educations, occupations)[0, 1] < -0.3
    by_gender = [
        np.bincount(occupations[genders == gender], minlength=51) / np.sum(genders == gender) for gender in (0, 1)
    ]
    assert np.abs(by_gender[0] - by_gender[1]).sum() / 2 > 0.2
    assert np.mean(values("Country") == 0) > 0.8
    assert np.mean(values("Work class")[ages > 75] == 8) > 0.8


def test_uniform_occupations() -> None:
    counts = occupation_counts("uniform")
    assert counts.min() > 0.9 * ROWS / 51
    assert counts.max() < 1.1 * ROWS / 51


def test_zipf_occupations_fall_by_the_power_of_their_rank() -> None:
    counts = occupation_counts("zipf:0.9")
    assert counts[0] / counts[9] == pytest.approx(10**0.9, rel=0.1)
    assert occupation_counts("zipf:0.5")[0] < counts[0]


def test_the_distribution_of_occupations_leaves_the_other_columns_alone() -> None:
    first, other = census(500, 9), census(500, 9, "uniform")
    for name in list(CARDINALITIES)[:7]:
        assert np.array_equal(first[name].codes, other[name].codes)


@pytest.mark.parametrize("occupation", ["normal", "zipf", "zipf:x", "zipf:-1", "zipf:nan", "uniform:2"])
def test_unknown_distributions_are_refused(occupation: str) -> None:
    with pytest.raises(RecipeError, match="wanted: census, uniform, or zipf"):
        census(10, occupation=occupation)
