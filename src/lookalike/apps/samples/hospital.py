"""An invented hospital: one row per patient, correlated as in life.

Age decides nearly everything: sex, occupation and diagnosis depend on it; diagnoses also on sex and season (influenza
in winter, childbirth only for women of 15 to 50, prostate disorders only for men above 45), the stay on the diagnosis.
Places are of very unequal size, weekends are quiet, and some zip codes and occupations are missing.
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from lookalike.apps.samples.drawing import Rows, Weights, column, curve, draw, draw_given, generator
from lookalike.data.microdata import Table
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType

_FIRST_DAY, _LAST_DAY = datetime.date(2023, 1, 1), datetime.date(2024, 12, 31)
_AGES = np.arange(100)
_LONGEST_STAY = 60
_MISSING_OCCUPATION, _MISSING_ZIP = 0.03, 0.025

_AGE_CURVE = [
    (0, 2.2),
    (1, 1.2),
    (4, 0.6),
    (10, 0.4),
    (17, 0.7),
    (30, 1.1),
    (42, 0.9),
    (55, 1.3),
    (70, 1.9),
    (80, 1.8),
    (90, 0.6),
    (99, 0.05),
]
_WOMEN_CURVE = [(0, 0.45), (14, 0.47), (20, 0.6), (30, 0.66), (38, 0.6), (48, 0.48), (65, 0.45), (80, 0.54), (99, 0.75)]
_WEEKDAYS = (1.2, 1.15, 1.1, 1.05, 1.0, 0.65, 0.6)
_MONTHS = (1.15, 1.12, 1.05, 0.98, 0.97, 0.95, 0.92, 0.9, 0.96, 1.0, 1.04, 1.1)
_SEASON_OF_MONTH = np.array([0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 0])

_TOWNS_OF_REGION = {
    "010": ("13", "20", "40", "60", "85"),
    "014": ("20", "40", "53"),
    "018": ("10", "30", "40", "50", "76"),
    "019": ("01", "02", "30", "60", "70"),
    "021": ("08", "09", "15", "18", "19", "28", "30", "38", "39", "49"),
    "023": ("01", "60"),
    "024": ("46", "53", "58", "72"),
    "027": ("03", "20", "40", "46"),
    "030": ("38", "60", "79"),
    "031": ("01", "03"),
}
_REGION_SIZE = {"021": 6.0, "018": 2.6, "019": 2.4, "024": 2.0, "027": 1.8, "010": 1.7, "031": 1.3}
_RURAL = frozenset({"014", "023", "030"})


class _Occupation(NamedTuple):
    group: str
    size: float
    ages: tuple[int, int]
    """From when to when; fades in and out over some years."""
    women: float
    rural: float = 1.0


_OCCUPATIONS = {
    "preschool child": _Occupation("not in work", 400, (0, 5), 0.5),
    "pupil": _Occupation("not in work", 400, (6, 17), 0.5),
    "student": _Occupation("not in work", 16, (18, 25), 0.52, 0.5),
    "homemaker": _Occupation("not in work", 7, (23, 66), 0.9, 1.2),
    "unemployed": _Occupation("not in work", 5, (20, 62), 0.45),
    "retired": _Occupation("not in work", 400, (66, 99), 0.5),
    "accountant": _Occupation("office", 4, (24, 64), 0.55, 0.6),
    "lawyer": _Occupation("office", 1.2, (27, 68), 0.45, 0.5),
    "manager": _Occupation("office", 5, (30, 66), 0.4, 0.7),
    "office clerk": _Occupation("office", 9, (20, 64), 0.7),
    "software developer": _Occupation("office", 4, (22, 60), 0.25, 0.4),
    "nurse": _Occupation("services", 5, (21, 63), 0.86),
    "teacher": _Occupation("services", 5, (24, 64), 0.74),
    "sales assistant": _Occupation("services", 7, (18, 63), 0.62),
    "cook": _Occupation("services", 3, (18, 60), 0.42),
    "cleaner": _Occupation("services", 3, (20, 65), 0.75),
    "driver": _Occupation("manual", 4, (20, 65), 0.08),
    "electrician": _Occupation("manual", 2, (18, 62), 0.04),
    "construction worker": _Occupation("manual", 4, (18, 60), 0.05, 1.3),
    "factory worker": _Occupation("manual", 6, (18, 62), 0.35, 1.3),
    "farmer": _Occupation("manual", 1, (18, 70), 0.3, 6.0),
}


class _Diagnosis(NamedTuple):
    group: str
    size: float
    ages: list[tuple[float, float]]
    stay: float
    """Mean number of days."""
    women: float = 0.5
    seasons: tuple[float, float, float, float] = (1, 1, 1, 1)
    """Winter, spring, summer, autumn."""


_OLD = [(35.0, 0.0), (50, 0.25), (65, 1.0), (80, 1.6), (99, 1.6)]
_ADULT = [(12.0, 0.0), (20, 0.9), (45, 1.0), (65, 0.5), (85, 0.1)]
_DIAGNOSES = {
    "hypertension": _Diagnosis("heart and circulation", 13, [(18, 0), (30, 0.2), (50, 0.8), (65, 1.0), (99, 0.8)], 3),
    "heart failure": _Diagnosis("heart and circulation", 5, _OLD, 8, 0.48, (1.2, 1, 0.9, 1)),
    "heart attack": _Diagnosis("heart and circulation", 3.5, _OLD, 6, 0.36),
    "atrial fibrillation": _Diagnosis("heart and circulation", 3.5, _OLD, 3.5, 0.45),
    "stroke": _Diagnosis("heart and circulation", 3.5, _OLD, 10),
    "influenza": _Diagnosis(
        "lungs", 9, [(0, 1.6), (5, 1.0), (30, 0.5), (65, 0.8), (99, 1.2)], 4, 0.5, (3.2, 0.7, 0.05, 0.5)
    ),
    "pneumonia": _Diagnosis(
        "lungs", 6, [(0, 1.3), (5, 0.6), (30, 0.3), (65, 0.9), (99, 1.8)], 7, 0.47, (1.6, 1, 0.6, 0.9)
    ),
    "asthma": _Diagnosis("lungs", 5, [(1, 0.6), (6, 1.6), (16, 1.0), (40, 0.5), (80, 0.3)], 3, 0.52, (1, 1.4, 0.8, 1)),
    "chronic bronchitis": _Diagnosis("lungs", 3, _OLD, 6, 0.45, (1.5, 1, 0.7, 0.9)),
    "gastroenteritis": _Diagnosis("digestion", 5, [(0, 2.4), (5, 1.2), (20, 0.6), (60, 0.5), (99, 0.8)], 3, 0.52),
    "appendicitis": _Diagnosis("digestion", 3, [(3, 0), (10, 2.0), (20, 1.8), (40, 0.8), (80, 0.3)], 3.5, 0.44),
    "gallstones": _Diagnosis("digestion", 3, [(15, 0), (35, 1.0), (60, 1.2), (90, 0.8)], 4, 0.66),
    "diabetes": _Diagnosis("metabolism", 6, [(2, 0.1), (12, 0.4), (35, 0.5), (60, 1.2), (99, 1.0)], 5, 0.46),
    "kidney failure": _Diagnosis("kidneys and urinary tract", 2, _OLD, 8, 0.46),
    "kidney stones": _Diagnosis("kidneys and urinary tract", 2.5, _ADULT, 2.5, 0.36, (0.8, 1, 1.4, 1)),
    "prostate disorder": _Diagnosis("kidneys and urinary tract", 5, [(45, 0), (46, 0.3), (65, 1.3), (99, 1.2)], 4, 0.0),
    "childbirth": _Diagnosis(
        "pregnancy",
        38,
        [(14, 0), (15, 0.02), (20, 0.35), (30, 1.0), (38, 0.5), (44, 0.06), (50, 0.01), (51, 0)],
        3,
        1.0,
    ),
    "arm fracture": _Diagnosis(
        "injury", 4, [(1, 0.4), (8, 2.0), (20, 0.8), (50, 0.5), (99, 0.8)], 2.5, 0.45, (1, 0.9, 1.3, 0.9)
    ),
    "hip fracture": _Diagnosis("injury", 3.5, [(55, 0), (70, 0.7), (85, 2.4), (99, 3.0)], 11, 0.68, (1.2, 1, 0.9, 1)),
    "breast cancer": _Diagnosis("cancer", 2.5, [(25, 0), (45, 1.0), (65, 1.4), (99, 1.0)], 6, 0.98),
    "lung cancer": _Diagnosis("cancer", 2, _OLD, 9, 0.42),
    "colon cancer": _Diagnosis("cancer", 2, _OLD, 10, 0.46),
    "depression": _Diagnosis("mind", 4.5, _ADULT, 16, 0.63, (1.1, 1, 0.9, 1.1)),
    "alcohol dependence": _Diagnosis("mind", 2.5, _ADULT, 9, 0.28),
    "schizophrenia": _Diagnosis("mind", 1, _ADULT, 21, 0.42),
    "hepatitis C": _Diagnosis("infection", 1, _ADULT, 5, 0.38),
    "HIV infection": _Diagnosis("infection", 0.8, _ADULT, 7, 0.28),
}


def hospital(rows: int = 1000, seed: int = 1) -> Table:
    """A hospital's table of any size; the same seed gives the same rows.

    >>> hospital(50, seed=7).names[:4]
    ['patient_id', 'age', 'sex', 'zip code']
    """
    rng = generator(rows, seed)
    ages = draw(rng, curve(_AGE_CURVE, _AGES), rows)
    women = curve(_WOMEN_CURVE, _AGES)
    sexes = draw_given(rng, np.column_stack([women, 1 - women]), ages)
    zips, sizes = _places()
    places = draw(rng, sizes, rows)
    days = draw(rng, _day_weights(), rows)
    rural = np.array([zip[:3] in _RURAL for zip in zips])[places]
    occupations = draw_given(rng, _occupation_weights(), (ages * 2 + sexes) * 2 + rural)
    diagnoses = draw_given(rng, _diagnosis_weights(), (ages * 2 + sexes) * 4 + _SEASON_OF_MONTH[_months()][days])
    stays = draw_given(rng, _stay_weights(), diagnoses * 2 + (ages >= 75))
    zip_missing = rng.random(rows) < _MISSING_ZIP
    # A small child's occupation is never in doubt.
    occupation_missing = (rng.random(rows) < _MISSING_OCCUPATION) & (ages > 5)
    numbers = np.argsort(rng.random(rows), kind="stable")
    width = max(6, len(str(rows)))
    columns = (
        column("patient_id", ValueType.STRING, [f"P{number:0{width}d}" for number in range(1, rows + 1)], numbers),
        column("age", ValueType.INTEGER, _AGES, ages),
        column("sex", ValueType.STRING, ("female", "male"), sexes),
        column("zip code", ValueType.STRING, zips, places, zip_missing),
        column("admission_date", ValueType.DATE, _days().astype(np.int64), days),
        column("occupation", ValueType.STRING, tuple(_OCCUPATIONS), occupations, occupation_missing),
        column("diagnosis", ValueType.STRING, tuple(_DIAGNOSES), diagnoses),
        column("length_of_stay", ValueType.INTEGER, np.arange(_LONGEST_STAY + 1), stays),
    )
    return Table(columns, source=f"hospital sample ({rows:,} rows, seed {seed})")


def hospital_schema() -> Schema:
    """The roles, kinds and taxonomies that suit the table."""
    quasi, text = Role.QUASI, ValueType.STRING
    occupations = {"tree": {"any occupation": _group({name: part.group for name, part in _OCCUPATIONS.items()})}}
    diagnoses = {"tree": {"any diagnosis": _group({name: part.group for name, part in _DIAGNOSES.items()})}}
    return Schema(
        (
            Attribute(name="patient_id", role=Role.IDENTIFIER, type=text),
            Attribute(name="age", role=quasi, kind=Kind.NUMERIC, type=ValueType.INTEGER, low=0, high=99),
            Attribute(name="sex", role=quasi, kind=Kind.CATEGORICAL, type=text, values=("female", "male")),
            Attribute(name="zip code", role=quasi, kind=Kind.CATEGORICAL, type=text, taxonomy={"prefixes": [3, 2]}),
            Attribute(
                name="admission_date",
                role=quasi,
                kind=Kind.NUMERIC,
                type=ValueType.DATE,
                low=_FIRST_DAY.isoformat(),
                high=_LAST_DAY.isoformat(),
            ),
            Attribute(name="occupation", role=quasi, kind=Kind.CATEGORICAL, type=text, taxonomy=occupations),
            Attribute(name="diagnosis", role=Role.SENSITIVE, kind=Kind.CATEGORICAL, type=text, taxonomy=diagnoses),
            Attribute(
                name="length_of_stay",
                role=Role.CARRIED,
                kind=Kind.NUMERIC,
                type=ValueType.INTEGER,
                # The patients are invented: nobody knows how long any of them stayed.
                carry_anyway=True,
            ),
        )
    )


def _group(group_of: dict[str, str]) -> dict[str, list[str]]:
    return {
        group: [name for name, other in group_of.items() if other == group]
        for group in dict.fromkeys(group_of.values())
    }


@lru_cache
def _places() -> tuple[list[str], Weights]:
    zips, sizes = list[str](), list[float]()
    for region, towns in _TOWNS_OF_REGION.items():
        shares = [1 / (rank + 1.5) for rank in range(len(towns))]
        zips += [region + town for town in towns]
        sizes += [_REGION_SIZE.get(region, 0.8) * share / sum(shares) for share in shares]
    return zips, np.array(sizes)


def _days() -> np.ndarray[tuple[int], np.dtype[np.datetime64]]:
    return np.arange(np.datetime64(_FIRST_DAY), np.datetime64(_LAST_DAY) + 1)


def _months() -> Rows:
    return _days().astype("datetime64[M]").astype(np.int64) % 12


@lru_cache
def _day_weights() -> Weights:
    # 1 January 1970 was a Thursday.
    weekdays = (_days().astype(np.int64) + 3) % 7
    weights: Weights = np.array(_WEEKDAYS)[weekdays] * np.array(_MONTHS)[_months()]
    return weights


@lru_cache
def _occupation_weights() -> Weights:
    """One line for each age, sex and whether the place is rural."""
    weights = np.zeros((len(_AGES), 2, 2, len(_OCCUPATIONS)))
    for code, part in enumerate(_OCCUPATIONS.values()):
        first, last = part.ages
        fade = 0.5 if last < 18 else 4.0 if part.group == "not in work" else 6.0
        alive = curve([(first - min(fade, 2), 0), (first, 1), (last, 1), (last + fade, 0)], _AGES)
        # Children are pupils: nobody below 18 works, and nobody of working age is one.
        alive = np.where(_AGES < 18, alive if last < 18 else 0, alive if last >= 18 else 0)
        for sex, share in enumerate((part.women, 1 - part.women)):
            for rural, factor in enumerate((1.0, part.rural)):
                weights[:, sex, rural, code] = part.size * alive * share * factor
    return weights.reshape(-1, len(_OCCUPATIONS))


@lru_cache
def _diagnosis_weights() -> Weights:
    """One line for each age, sex and season."""
    weights = np.zeros((len(_AGES), 2, 4, len(_DIAGNOSES)))
    for code, part in enumerate(_DIAGNOSES.values()):
        by_age = part.size * curve(part.ages, _AGES)
        for sex, share in enumerate((part.women, 1 - part.women)):
            for season, factor in enumerate(part.seasons):
                weights[:, sex, season, code] = by_age * share * factor
    return weights.reshape(-1, len(_DIAGNOSES))


@lru_cache
def _stay_weights() -> Weights:
    """One line for each diagnosis and whether the patient is old: a hump with a long tail."""
    lengths = np.arange(_LONGEST_STAY + 1)
    means = [part.stay * factor for part in _DIAGNOSES.values() for factor in (1.0, 1.3)]
    return np.array([(lengths + 0.3) * np.exp(-2 * lengths / mean) for mean in means])
