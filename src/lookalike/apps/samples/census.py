"""A stand-in for the CENSUS extract that the papers measure on: whole-number codes, the same numbers of values.

    Age 79 (15..93), Gender 2, Education 17, Marital 6, Race 9, Work class 10, Country 83 | Occupation 51

Education and marital status follow age and gender, work class follows age and education, country follows race, and
occupation follows education, gender and age while its overall shares run from 0.17 % to 7.5 %. `occupation` may
instead be uniform or zipfian and then depends on nothing. No person is behind it: label results "stand-in".
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from lookalike.apps.samples.drawing import Weights, column, curve, draw, draw_given, generator
from lookalike.data.microdata import Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import RecipeError, quoted

_AGES = np.arange(15, 94)
_N_EDUCATIONS, _N_OCCUPATIONS, _N_COUNTRIES = 17, 51, 83
_MARITAL = ("never married", "married", "married, spouse absent", "separated", "divorced", "widowed")
_N_WORK_CLASSES = 10
_VALUES = {
    "Age": (15, 79),
    "Gender": (0, 2),
    "Education": (0, _N_EDUCATIONS),
    "Marital": (0, 6),
    "Race": (0, 9),
    "Work class": (0, _N_WORK_CLASSES),
    "Country": (0, _N_COUNTRIES),
    "Occupation": (0, _N_OCCUPATIONS),
}
"""The least value of each column, and how many there are."""
_LEAST_SHARE, _GREATEST_SHARE = 0.0017, 0.075

_AGE_CURVE = [(15, 1.5), (20, 1.75), (35, 1.9), (45, 1.6), (60, 1.0), (75, 0.65), (85, 0.25), (93, 0.06)]
_WOMEN_CURVE = [(15, 0.49), (40, 0.505), (65, 0.54), (80, 0.62), (93, 0.72)]
_RACES = np.array([0.755, 0.12, 0.035, 0.03, 0.02, 0.015, 0.012, 0.008, 0.005])
_BORN_HERE = np.array([0.95, 0.93, 0.85, 0.35, 0.3, 0.4, 0.45, 0.6, 0.7])
_MEAN_EDUCATION = [(15, 5.0), (18, 8.5), (25, 10.0), (45, 10.2), (60, 9.0), (75, 7.6), (93, 6.2)]
_HIGHEST_EDUCATION = [(15, 8.0), (18, 10.0), (22, 13.0), (25, 14.0), (29, 16.0)]
_MARITAL_CURVES = {
    "never married": [(15, 99.0), (19, 92.0), (25, 55.0), (32, 25.0), (45, 10.0), (93, 6.0)],
    "married": [(15, 0.5), (19, 6.0), (25, 38.0), (32, 60.0), (50, 70.0), (65, 66.0), (80, 40.0), (93, 18.0)],
    "married, spouse absent": [(15, 0.1), (25, 1.5), (50, 1.2), (93, 1.5)],
    "separated": [(15, 0.1), (25, 2.0), (45, 3.0), (93, 0.8)],
    "divorced": [(15, 0.05), (22, 2.0), (35, 10.0), (50, 14.0), (70, 7.0), (93, 3.0)],
    "widowed": [(15, 0.02), (40, 0.8), (55, 3.5), (70, 16.0), (80, 35.0), (93, 60.0)],
}
_AGE_BANDS = np.array([18, 22, 26, 35, 45, 55, 65])


def census(rows: int, seed: int = 1, occupation: str = "census") -> Table:
    """A census-shaped table of any size; `occupation` is census, uniform, or zipf with its exponent (zipf:0.5).

    >>> census(10, seed=3).names
    ['Age', 'Gender', 'Education', 'Marital', 'Race', 'Work class', 'Country', 'Occupation']
    """
    free_shares = _free_shares(occupation)
    rng = generator(rows, seed)
    ages = draw(rng, _age_weights(), rows)
    genders = draw_given(rng, _gender_weights(), ages)
    educations = draw_given(rng, _education_weights().reshape(-1, _N_EDUCATIONS), ages * 2 + genders)
    maritals = draw_given(rng, _marital_weights(), ages * 2 + genders)
    races = draw(rng, _RACES, rows)
    work_classes = draw_given(rng, _work_class_weights(), ages * _N_EDUCATIONS + educations)
    countries = draw_given(rng, _country_weights(), races)
    if free_shares is None:
        cells = (np.searchsorted(_AGE_BANDS, _AGES, side="right")[ages] * 2 + genders) * _N_EDUCATIONS + educations
        occupations = draw_given(rng, _occupation_weights(), cells)
    else:
        occupations = draw(rng, free_shares, rows)
    drawn = (ages, genders, educations, maritals, races, work_classes, countries, occupations)
    columns = [
        column(name, ValueType.INTEGER, first + np.arange(size), codes)
        for (name, (first, size)), codes in zip(_VALUES.items(), drawn, strict=True)
    ]
    return Table(tuple(columns), source=f"census stand-in ({rows:,} rows, seed {seed}, occupation {occupation})")


def census_schema() -> Schema:
    """Seven quasi-identifiers and the occupation, with the domains that the papers measure loss against."""
    attributes = []
    for name, (first, size) in _VALUES.items():
        role = Role.SENSITIVE if name == "Occupation" else Role.QUASI
        domain: dict[str, Any] = {"kind": Kind.CATEGORICAL, "size": size}
        if name in ("Age", "Education"):
            domain = {"kind": Kind.NUMERIC, "low": first, "high": first + size - 1}
        attributes.append(Attribute(name=name, role=role, type=ValueType.INTEGER, **domain))
    return Schema(tuple(attributes))


def occupation_shares() -> Weights:
    """The share of each occupation code: falling by a constant factor, in an order that mixes great and small."""
    ranks = np.arange(_N_OCCUPATIONS)
    by_rank = _GREATEST_SHARE * (_LEAST_SHARE / _GREATEST_SHARE) ** (ranks / (_N_OCCUPATIONS - 1))
    inner = by_rank[1:-1]
    by_rank[1:-1] = inner * (1 - _GREATEST_SHARE - _LEAST_SHARE) / inner.sum()
    return by_rank[(ranks * 20 + 7) % _N_OCCUPATIONS]


def _free_shares(occupation: str) -> Weights | None:
    """The shares of occupations that depend on nothing; None: those of the census."""
    kind, _, exponent = occupation.partition(":")
    if occupation == "census":
        return None
    if occupation == "uniform":
        return np.ones(_N_OCCUPATIONS)
    try:
        skew = float(exponent)
    except ValueError:
        skew = -1.0
    if kind != "zipf" or not 0 <= skew <= 100:
        raise RecipeError(
            f"The distribution of occupations is {quoted(occupation)}; wanted: census, uniform, or zipf with an "
            "exponent from 0 to 100, such as zipf:0.5."
        )
    return np.asarray(np.arange(1, _N_OCCUPATIONS + 1) ** -skew, dtype=np.float64)


def _age_weights() -> Weights:
    return curve(_AGE_CURVE, _AGES)


def _gender_weights() -> Weights:
    women = curve(_WOMEN_CURVE, _AGES)
    return np.column_stack([1 - women, women])


@lru_cache
def _education_weights() -> Weights:
    """[age, gender, education]: a bell around the mean of the age, peaks at the usual degrees, none before its time."""
    levels = np.arange(_N_EDUCATIONS)
    popularity = np.ones(_N_EDUCATIONS)
    popularity[[9, 10, 13]] = 3.0, 1.6, 1.8
    popularity[[0, 1, 15, 16]] = 0.6, 0.6, 0.5, 0.4
    weights = np.empty((len(_AGES), 2, _N_EDUCATIONS))
    for gender in range(2):
        lead = np.where(_AGES > 50, -0.5, 0.3) * gender
        distance = levels - (curve(_MEAN_EDUCATION, _AGES) + lead)[:, np.newaxis]
        weights[:, gender] = popularity * np.exp(-(distance**2) / 18)
    weights[np.broadcast_to(levels > curve(_HIGHEST_EDUCATION, _AGES)[:, np.newaxis, np.newaxis], weights.shape)] = 0
    weights /= weights.sum(axis=2, keepdims=True)
    return weights


@lru_cache
def _marital_weights() -> Weights:
    """One line for each age and gender: women marry two years earlier and are widowed far more often."""
    weights = np.empty((len(_AGES), 2, len(_MARITAL)))
    for code, status in enumerate(_MARITAL):
        for gender, years in enumerate((-1, 1)):
            weights[:, gender, code] = curve(_MARITAL_CURVES[status], _AGES + years)
    weights[:, :, _MARITAL.index("widowed")] *= np.array([0.35, 1.3])
    return weights.reshape(-1, len(_MARITAL))


@lru_cache
def _work_class_weights() -> Weights:
    """One line for each age and education.

    Codes: private, self-employed, own company, federal, state, local, unpaid in the family, armed forces, not working,
    never worked.
    """
    schooling = np.arange(_N_EDUCATIONS) / (_N_EDUCATIONS - 1)
    weights = np.empty((len(_AGES), _N_EDUCATIONS, _N_WORK_CLASSES))
    working = curve([(15, 0.25), (20, 0.8), (25, 1.0), (55, 0.95), (63, 0.6), (70, 0.18), (93, 0.02)], _AGES)
    per_class = [66 - 14 * schooling, 6 + 0 * schooling, 1.5 + 4 * schooling, 2 + 3 * schooling, 2 + 6 * schooling]
    per_class += [4 + 9 * schooling, 0.5 - 0.3 * schooling, 0.8 + 0 * schooling]
    for code, shares in enumerate(per_class):
        weights[:, :, code] = working[:, np.newaxis] * shares
    owners = curve([(15, 0.1), (30, 0.8), (50, 1.3), (75, 2.0)], _AGES)
    weights[:, :, 1:3] *= owners[:, np.newaxis, np.newaxis]
    weights[:, :, 7] *= curve([(17, 0), (20, 3), (30, 1.2), (45, 0.2), (60, 0)], _AGES)[:, np.newaxis]
    weights[:, :, 8] = 90 * (1.05 - working)[:, np.newaxis]
    weights[:, :, 9] = (curve([(15, 25), (20, 6), (30, 1.5)], _AGES))[:, np.newaxis] * (1.2 - schooling)
    return weights.reshape(-1, _N_WORK_CLASSES)


@lru_cache
def _country_weights() -> Weights:
    """One line for each race: most were born here (code 0), the rest in countries that differ by race."""
    abroad = np.arange(_N_COUNTRIES - 1)
    weights = np.empty((len(_RACES), _N_COUNTRIES))
    for race, here in enumerate(_BORN_HERE):
        shares = 1.0 / ((abroad + 9 * race) % len(abroad) + 1)
        weights[race] = np.concatenate([[here], (1 - here) * shares / shares.sum()])
    return weights


@lru_cache
def _occupation_weights() -> Weights:
    """One line for each age band, gender and education.

    Each occupation has an education, an age and a share of men that it prefers; the lines are then fitted so that the
    occupations' shares in the whole population are exactly `occupation_shares`.
    """
    people = (_age_weights()[:, np.newaxis] * _gender_weights())[:, :, np.newaxis] * _education_weights()
    bands = np.searchsorted(_AGE_BANDS, _AGES, side="right")
    crowd = np.zeros((len(_AGE_BANDS) + 1, 2, _N_EDUCATIONS))
    np.add.at(crowd, bands, people / people.sum())
    codes = np.arange(_N_OCCUPATIONS)
    wanted_education = 14.5 - 11 * codes / (_N_OCCUPATIONS - 1) + 0.6 * (codes * 7 % 5 - 2)
    wanted_age = 28 + 5 * (codes * 5 % 7)
    men = 0.12 + 0.076 * (codes * 13 % 11)
    middle_ages = np.array([16.5, 20, 24, 30, 40, 50, 60, 74])
    by_education = 0.12 + np.exp(-(((np.arange(_N_EDUCATIONS)[:, np.newaxis] - wanted_education) / 3) ** 2) / 2)
    by_age = 0.2 + np.exp(-(((middle_ages[:, np.newaxis] - wanted_age) / 18) ** 2) / 2)
    by_gender = np.stack([men, 1 - men])
    liking = by_age[:, np.newaxis, np.newaxis] * by_gender[:, np.newaxis] * by_education
    weights: Weights = liking.reshape(-1, _N_OCCUPATIONS)
    shares = occupation_shares()
    for _ in range(200):
        weights = weights / weights.sum(axis=1, keepdims=True)
        weights = weights * (shares / (crowd.ravel() @ weights))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights
