from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lookalike.errors import Infeasible, RecipeError
from lookalike.models import parse_model
from lookalike.models.f_privacy import FPrivacy
from tests.models.building import categories, exposure_of


def test_the_level_is_a_share_of_the_ceiling() -> None:
    exposure = exposure_of([[2, 2], [1, 5]])
    level = FPrivacy(ceilings={"a": "0.8"}).level(exposure)
    assert (level.value, level.unit) == (Fraction(5, 6), 1)
    level = FPrivacy(ceilings={"a": "0.4"}).level(exposure)
    assert (level.value, level.unit) == (Fraction(5, 4), 0)
    assert not FPrivacy(ceilings={"a": "0.4"}).holds(level)
    assert level.detail == "highest certainty as a share of its ceiling"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("caps.yaml", 'flu: 0.3\nHIV: 0.05\n"007": 0.1\ntrue: 0.2\n'),
        ("caps.yml", "{flu: 0.3, HIV: 0.05, 007: 0.1, true: 0.2}"),
        ("caps.csv", "value,ceiling\nflu,0.3\nHIV, 0.05\n007,1/10\ntrue,0.2\n"),
        ("plain.CSV", "flu,0.3\nHIV,0.05\n007,0.1\ntrue,0.2\n"),
    ],
)
def test_files_are_read_as_written(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    expected = FPrivacy(ceilings={"flu": "0.3", "HIV": "1/20", "007": "0.1", "true": "0.2"})
    assert FPrivacy(file=path) == expected
    read = parse_model(f"f-privacy:file={path}")
    assert read == expected
    # The model carries its ceilings from then on, and no path.
    assert str(read) == "f-privacy:ceilings=007:0.1|HIV:0.05|flu:0.3|true:0.2"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("caps.yaml", "flu: [", "is not valid YAML"),
        ("caps.yaml", "- flu", "must map values to ceilings"),
        ("caps.yaml", "", "must map values to ceilings"),
        ("caps.yaml", "flu: much", 'the ceiling of "flu" must be a number above 0 and at most 1'),
        ("caps.csv", "flu,0.3\nflu,0.4\n", "names a value twice"),
        ("caps.csv", "flu\n", "two columns on every line"),
        ("caps.csv", "flu,1.2\n", 'the ceiling of "flu" must be a number above 0 and at most 1'),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecipeError, match=message):
        FPrivacy(file=path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="cannot read .*none.yaml: No such file"):
        FPrivacy(file=tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "0 of them are given"),
        ({"theta": 1, "ceilings": {"a": 1}}, "2 of them are given"),
        ({"base": "0.1", "ceilings": {"a": 1}}, "base belongs to theta"),
        ({"theta": 0, "base": 0}, "both 0"),
        ({"theta": -1}, "theta is -1"),
        ({"theta": 1, "base": "1.1"}, "base is 1.1"),
        ({"ceilings": {"a": 0}}, 'the ceiling of "a" must be a number above 0'),
        ({"ceilings": {}}, "at least one value"),
        ({"ceilings": "a:0.1|a:0.2"}, "each value once"),
        ({"ceilings": "a"}, 'the ceiling of "a" must be a number'),
    ],
)
def test_parts_that_do_not_fit_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        FPrivacy(**settings)  # type: ignore[arg-type]


def test_named_values_must_exist() -> None:
    model = FPrivacy(ceilings={"HIV": "0.1"})
    for read in (
        lambda: model.requirement(np.array([1, 1]), categories(2), 0),
        lambda: model.level(exposure_of([[1, 1]])),
        lambda: model.check_eligible(np.array([1, 1]), categories(2)),
    ):
        with pytest.raises(RecipeError, match='"HIV", which column "diagnosis" does not have'):
            read()


def test_unnamed_values_follow_the_star_or_are_free() -> None:
    prior = np.array([1, 1, 2])
    assert FPrivacy(ceilings={"b": "0.5"}).requirement(prior, categories(3), 0).ceilings == (1, Fraction(1, 2), 1)
    starred = FPrivacy(ceilings={"b": "0.5", "*": "0.75"}).requirement(prior, categories(3), 0)
    assert starred.ceilings == (Fraction(3, 4), Fraction(1, 2), Fraction(3, 4))
    assert starred.min_size == 2


def test_invented_values_without_a_base_are_beyond_any_ceiling() -> None:
    model = FPrivacy(theta=2, base=0)
    level = model.level(exposure_of([[1, 1]], prior=[4, 0]))
    assert not model.holds(level)


def test_ceilings_by_how_sensitive_a_value_is(tmp_path: Path) -> None:
    prior = np.array([10, 40, 50])
    model = FPrivacy(ceilings={"a": "high", "b": "medium", "*": "none"})
    assert model.requirement(prior, categories(3), 0).ceilings == (
        Fraction(2, 10) + Fraction(1, 50),
        Fraction(1),
        Fraction(1),
    )
    assert str(model) == "f-privacy:ceilings=*:none|a:high|b:medium"
    assert parse_model(str(model)) == model
    path = tmp_path / "caps.yaml"
    path.write_text('a: high\n"*": 0.9\n')
    assert FPrivacy(file=path) == FPrivacy(ceilings={"a": "high", "*": "0.9"})
    # A certainty of 1/5 is below the ceiling of 0.22 for a.
    assert FPrivacy(ceilings={"a": "high"}).level(exposure_of([[1, 4], [1, 4]])).value <= 1
    with pytest.raises(RecipeError, match="or high, medium or none"):
        FPrivacy(ceilings={"a": "very high"})


def test_values_with_too_low_a_ceiling_are_named_if_the_user_named_them() -> None:
    prior, column = np.array([30, 30, 40]), categories(3)
    with pytest.raises(Infeasible) as refused:
        FPrivacy(ceilings={"a": "0.2", "c": "0.39", "*": "0.5"}).check_eligible(prior, column)
    assert '2 values of "s"' in str(refused.value) or "2 values" in str(refused.value)
    assert 'in the whole table: "a", "c".' in str(refused.value)
    assert refused.value.nearest == "f-privacy:ceilings=*:0.5|a:0.3|c:0.4"
    with pytest.raises(Infeasible, match="in the whole table. The nearest"):
        FPrivacy(ceilings={"a": 1, "*": "0.29"}).check_eligible(prior, column)


def test_a_ceiling_of_one_is_pointed_out() -> None:
    prior, column = np.array([30, 30, 40, 0]), categories(4)
    assert FPrivacy(ceilings={"a": "0.4", "*": "0.9"}).cautions(prior, column) == []
    (said,) = FPrivacy(ceilings={"a": "0.4"}).cautions(prior, column)
    assert said.startswith("2 values of")
    assert "none of the others" in said
