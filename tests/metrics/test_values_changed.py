"""values_changed: worked out from the matrix, a mean over records and columns, and no figure for other forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.algorithms.perturbation import Perturbation
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Grouped, Perturbed, Randomizer
from lookalike.data.schema import Schema, ValueType
from lookalike.metrics.values_changed import ValuesChanged
from lookalike.models import parse_model
from lookalike.pipeline.recipe import require, settle
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.files.releases.release_forms import make_release
from tests.strategies import column_of
from tests.worlds import tiny_table


def perturbed(data: Microdata, *matrices: list[list[int]]) -> Perturbed:
    """With the values as they are: the matrices alone count, [published, original] and so each column adds up."""
    randomizers = tuple(Randomizer(np.array(weights), sum(row[0] for row in weights)) for weights in matrices)
    return Perturbed(
        domains=data.domains, quasi=data.quasi, sensitive=data.sensitive, carried=data.carried, randomizers=randomizers
    )


def test_the_share_is_a_mean_over_records() -> None:
    """Of three a and one b: a stays with 3/4, b with 1/4, so 3/4 * 1/4 + 1/4 * 3/4 are expected to change."""
    data = tiny_table("aaab", [0, 1, 2, 3])
    release = perturbed(data, [[3, 3], [1, 1]])
    assert ValuesChanged().measure(data, release) == pytest.approx(3 / 8)
    assert ValuesChanged().of_part(data, release) == (pytest.approx(4 * 3 / 8), 4)


def test_columns_count_alike() -> None:
    cells = {"age": [1, 2, 3, 4], "illness": [*"abab"], "drug": [*"xxyy"]}
    types = {"age": ValueType.INTEGER, "illness": ValueType.STRING, "drug": ValueType.STRING}
    table = Table(tuple(column_of(name, cells[name], types[name]) for name in cells))
    data = Microdata.encode(table, Schema.of(qi=["age"], sensitive=["illness", "drug"]))
    unchanged, mixed = [[2, 0], [0, 2]], [[1, 1], [1, 1]]
    assert ValuesChanged().measure(data, perturbed(data, unchanged, unchanged)) == 0
    assert ValuesChanged().measure(data, perturbed(data, unchanged, mixed)) == pytest.approx(1 / 4)
    assert ValuesChanged().measure(data, perturbed(data, mixed, mixed)) == pytest.approx(1 / 2)


def test_as_many_values_change_as_it_says() -> None:
    data = tiny_table("aaabbc" * 500, [*range(3000)])
    requirements = require(settle([Promise(parse_model("beta-likeness:1"))], data), data)
    release, linkage = Perturbation().anonymize(data, requirements, Randomness(2), silent)
    changed = (release.sensitive[:, 0] != data.sensitive[linkage.record_of_row, 0]).mean()
    assert ValuesChanged().measure(data, release) == pytest.approx(changed, abs=5 * 0.5 / math.sqrt(3000))
    assert changed > 0


def test_other_forms_have_no_figure() -> None:
    data = tiny_table("aabb", [0, 1, 2, 3])
    release = make_release(Grouped.form, data, np.array([0, 0, 1, 1]), np.arange(4))
    assert math.isnan(ValuesChanged().measure(data, release))
    assert ValuesChanged.forms == {Perturbed.form}
