"""Releases read without their original: what their cells may hide, by what they say themselves."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import Domain, ExactCells, ExtentCells, Ranges, Release
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import DataError
from lookalike.files.releases.alone import MOST_POINTS, read_alone, taxonomy_over
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from tests.examples import examples
from tests.files.releases.release_forms import FORMS, MANIFEST, clinic_release, column, make_release, releases


def shown(release: Release) -> list[tuple[str, list[Any]]]:
    """What each cell of a release is called, by column: exact values, and the ends or texts of extents."""
    told = []
    for table in release.tables():
        for cells in table.columns:
            if isinstance(cells, ExactCells):
                texts = (*cells.domain.texts, None)
                told.append((cells.domain.name, [texts[code] for code in cells.codes]))
            elif isinstance(cells, ExtentCells):
                told.append((cells.domain.name, [_held(cells, unit) for unit in cells.unit_of_row]))
    return told


def _held(cells: ExtentCells, unit: int) -> set[str]:
    extents, domain = cells.extents, cells.domain
    if isinstance(extents, Ranges):
        codes = list(range(extents.lows[unit], extents.highs[unit] + 1))
        codes += [domain.missing_code] if extents.missing[unit] else []
    else:
        codes = extents.members[extents.starts[unit] : extents.starts[unit + 1]].tolist()
    return {domain.texts[code] for code in codes}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_release_is_read_without_its_original(form: str, tmp_path: Path, data: st.DataObject) -> None:
    _, release = data.draw(releases(form))
    folder = tmp_path / "release"
    write_release(folder, release, documents={}, manifest=MANIFEST, overwrite=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lookalike.files.releases.alone.MOST_POINTS", 200)
        alone = read_alone(ReleaseFolder(folder))
    assert alone.form == ReleaseFolder(folder).manifest.form == form
    assert alone.n_rows == release.n_rows
    exact = [(name, cells) for name, cells in shown(release) if not isinstance(cells[0], set)]
    assert [(name, cells) for name, cells in shown(alone) if not isinstance(cells[0], set)] == exact
    for (name, cells), (_, original) in zip(shown(alone), shown(release), strict=True):
        (domain,) = (domain for domain in alone.domains.all if domain.name == name)
        if isinstance(cells[0], set) and domain.taxonomy is None and len(domain.values) <= 250:
            # What is in the cell may be drawn, unless the column never names it.
            for mine, theirs in zip(cells, original, strict=True):
                assert mine & theirs or not mine


def domain_of(attribute: Attribute, type: ValueType, cells: list[Any], groups: list[int], tmp_path: Path) -> Domain:
    table = Table(
        (column(attribute.name, type, cells), column("s", ValueType.STRING, list("ab" * len(cells))[: len(cells)]))
    )
    data = Microdata.encode(table, Schema((attribute, Attribute(name="s", role=Role.SENSITIVE))))
    release = make_release("grouped", data, np.array(groups), np.arange(len(cells)))
    write_release(tmp_path / "release", release, documents={}, manifest=MANIFEST)
    return read_alone(ReleaseFolder(tmp_path / "release")).domains.quasi[0]


QI = Attribute(name="q", role=Role.QUASI)


def test_intervals_hold_every_whole_number_and_day(tmp_path: Path) -> None:
    ages = domain_of(QI, ValueType.INTEGER, [20, 24, 30, None], [0, 0, 1, 1], tmp_path)
    assert ages.values.tolist() == list(range(20, 31))
    assert ages.has_missing
    days = [datetime.date(2024, 2, 27), datetime.date(2024, 3, 2)]
    born = domain_of(QI, ValueType.DATE, days, [0, 0], tmp_path / "days")
    assert born.texts == ("2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01", "2024-03-02")


def test_fractions_lie_on_a_grid_as_fine_as_they_are_written(tmp_path: Path) -> None:
    found = domain_of(QI, ValueType.NUMBER, [1.5, 2.25, 2.0], [0, 0, 1], tmp_path)
    assert found.texts[:3] == ("1.5", "1.51", "1.52")
    assert found.texts[-1] == "2.25"
    assert len(found.values) == 76


def test_moments_lie_on_the_coarsest_unit_that_fits(tmp_path: Path) -> None:
    moments = [datetime.datetime(2024, 1, 1, 8), datetime.datetime(2024, 1, 1, 9, 30)]
    found = domain_of(QI, ValueType.DATETIME, moments, [0, 0], tmp_path)
    assert len(found.values) == 91
    assert found.texts[1] == "2024-01-01T08:01:00"


def test_very_wide_columns_are_thinned_but_keep_their_ends(tmp_path: Path) -> None:
    cells = [3, 7, 2**40, 2**62 + 1]
    found = domain_of(QI, ValueType.INTEGER, cells, [0, 0, 1, 1], tmp_path)
    assert set(cells) <= set(found.values.tolist())
    assert len(found.values) <= MOST_POINTS + 5


def test_any_value_is_one_that_the_column_shows(tmp_path: Path) -> None:
    found = domain_of(QI, ValueType.STRING, ["a", "b", "c", "a", "b"], [0, 0, 0, 1, 1], tmp_path)
    # A cell with every value of the original is a star: c is never named.
    assert found.texts == ("a", "b")


def test_leaves_of_rules() -> None:
    prefixes = taxonomy_over(
        {"prefixes": [3, 2]}, ["02108", "021**", "02***", "013**", "*"], ValueType.STRING, "zip", with_missing=True
    )
    # 013** has no value below it, so it stands for itself.
    assert prefixes.leaves == ("013**", "02108", "(missing)")
    numbers = taxonomy_over(
        {"intervals": [5, 10]}, ["0-4", "12", "20-29"], ValueType.INTEGER, "age", with_missing=False
    )
    assert numbers.leaves == (*map(str, range(5)), "12", *map(str, range(20, 30)))
    fractions = taxonomy_over({"intervals": [0.5]}, ["[1, 1.5)", "2.25"], ValueType.NUMBER, "dose", with_missing=False)
    assert all(1 <= float(leaf) < 1.5 for leaf in fractions.leaves[:-1])
    assert fractions.node("[1, 1.5)") is not None
    months = taxonomy_over(
        {"dates": ["month", "year"]}, ["2024-02", "2023-05-06", "*"], ValueType.DATE, "day", with_missing=False
    )
    assert len(months.leaves) == 30
    assert months.leaves[0] == "2023-05-06"
    assert months.labels[months.parents[months.node("2024-02-29")]] == "2024-M02"
    weeks = taxonomy_over({"dates": ["week"]}, ["2025-W01"], ValueType.DATE, "day", with_missing=False)
    assert weeks.leaves == tuple(str(datetime.date(2024, 12, 30) + datetime.timedelta(days=n)) for n in range(7))


def test_too_many_leaves_are_refused() -> None:
    with pytest.raises(DataError, match="too many"):
        taxonomy_over({"intervals": [10**7]}, ["0-9999999"], ValueType.INTEGER, "income", with_missing=False)


def test_a_column_that_the_manifest_does_not_have_is_damage(tmp_path: Path) -> None:
    _, release = clinic_release("grouped")
    write_release(tmp_path / "release", release, documents={}, manifest=MANIFEST)
    schema = tmp_path / "release" / "schema.yaml"
    schema.write_text(schema.read_text("utf-8").replace("name: born", "name: burn"), "utf-8")
    with pytest.raises(DataError, match="burn"):
        read_alone(ReleaseFolder(tmp_path / "release"))
