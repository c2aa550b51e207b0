"""Schemes made of releases: they part the groups again, and name nothing that few records have."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from lookalike.algorithms import ALGORITHMS
from lookalike.algorithms.mondrian_strict import StrictMondrian
from lookalike.data.contracts import Promise
from lookalike.data.ends import Ends, round_ends
from lookalike.data.microdata import Microdata
from lookalike.data.scheme import Cell, Cut
from lookalike.errors import Infeasible, Unsupported
from lookalike.files.schemes import parse_scheme, scheme_text
from lookalike.files.tables import read_columns
from lookalike.models import parse_model
from lookalike.pipeline.recipe import Recipe, prepare, refuse_scheme
from lookalike.pipeline.run import MadeWhole, run
from lookalike.pipeline.schemes import make_scheme
from tests.strategies import microdatas


def make(data: Microdata, *models: str, seed: int = 1) -> MadeWhole:
    promises = tuple(Promise(parse_model(text)) for text in models)
    # Cells follow groups as far as their ends are published: exactly here.
    recipe = Recipe(
        schema=data.schema,
        promises=promises,
        algorithm=StrictMondrian(),
        seed=seed,
        for_scheme=True,
        ends=Ends(exact=True),
    )
    return run(prepare(recipe, data))


@settings(suppress_health_check=list(HealthCheck), max_examples=60, deadline=None)
@given(microdatas(min_rows=4, max_rows=40), st.integers(1, 4))
def test_cells_of_a_scheme_part_the_groups_of_its_release(data: Microdata, k: int) -> None:
    try:
        made = make(data, f"k-anonymity:{k}")
        scheme = make_scheme(made)
    except Infeasible:
        assume(False)
    again = parse_scheme(scheme_text(scheme))
    assert again.parts == scheme.parts
    groups = made.release.group_of_row
    table = Microdata.encode(as_table(data), scheme.schema)
    cells = scheme.locate(table).cell_of_record[made.record_map.record_of_row]
    places = scheme.locate(table).places
    inside = (places[cells] == 0).all(axis=1)
    # Records whose values the scheme names lie in the cell of their group, and groups in their own cells.
    named = all(
        len(axis.values) == len(domain.values)
        for axis, domain in zip(scheme.axes, data.domains.quasi, strict=True)
        if not axis.is_numeric
    )
    assume(named)
    pairs = {(group, cell) for group, cell in zip(groups[inside].tolist(), cells[inside].tolist(), strict=True)}
    assert len(pairs) == len({group for group, _ in pairs}) == len({cell for _, cell in pairs})


def as_table(data: Microdata) -> Any:
    from lookalike.files.releases.plain import plain_frame

    return read_columns(plain_frame(data), data.schema)


def patients(n_rows: int = 400, seed: int = 1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    zips = ["12205", "12207", "12301", "13001"]
    return pl.DataFrame(
        {
            "age": draw.integers(18, 91, n_rows),
            "sex": draw.choice(["F", "M"], n_rows),
            "zip": draw.choice(zips, n_rows),
            "diagnosis": draw.choice(["flu", "cold", "HIV", "asthma"], n_rows),
        }
    )


def publish(frame: pl.DataFrame, model: str = "k-anonymity:10", **asked: Any) -> MadeWhole:
    columns: dict[str, Any] = {"qi": ["age", "sex", "zip"], "sensitive": "diagnosis", "categorical": ["zip"], **asked}
    recipe = Recipe.of(model=model, algorithm="mondrian-strict", seed=3, for_scheme=True, **columns)
    return run(prepare(recipe, read_columns(frame, recipe.schema)))


def test_a_scheme_says_what_its_release_says() -> None:
    made = publish(patients())
    scheme = make_scheme(made)
    assert scheme.promises == ("k-anonymity:10",)
    assert scheme.made_by == "mondrian-strict"
    assert scheme.n_cells == len(np.unique(made.release.group_of_row))
    sizes = np.bincount(made.release.group_of_row)
    # Numbers of records are rounded down to multiples of k.
    assert sorted(count or 0 for count in scheme.records) == sorted(int(size) // 10 * 10 for size in sizes)
    age = scheme.schema["age"]
    assert (age.low, age.high) == (18, 90)
    assert age.others
    # The domain's end as declared, where it is declared.
    declared = replace_domain(patients())
    assert (declared.schema["age"].low, declared.schema["age"].high) == (0, 120)


def replace_domain(frame: pl.DataFrame) -> Any:
    schema = (
        "lookalike: 1\ncolumns:\n- {name: age, role: quasi-identifier, kind: numeric, domain: {low: 0, high: 120}}\n"
    )
    from lookalike.data.schema import Schema

    return make_scheme(publish(frame, schema=Schema.from_yaml(schema)))


def test_values_of_few_records_are_not_named() -> None:
    frame = patients()
    rare = frame.with_columns(zip=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("99999")).otherwise(pl.col("zip")))
    by_prefix = (
        "lookalike: 1\ncolumns:\n- {name: zip, role: quasi-identifier, type: string, taxonomy: {prefixes: [3, 2]}}\n"
    )
    from lookalike.data.schema import Schema

    scheme = make_scheme(publish(rare, schema=Schema.from_yaml(by_prefix)))
    assert "99999" not in scheme_text(scheme)
    assert "12205" in scheme_text(scheme)


def incomes(n_rows: int, top: float, bottom: str) -> pl.DataFrame:
    """Incomes to the cent and dates of birth, the highest income and the first date as asked for."""
    draw = np.random.default_rng(7)
    income = np.sort(draw.uniform(1_000, 9_000, n_rows).round(2))
    days = draw.integers(0, 9_000, n_rows)
    born = [str(np.datetime64("1980-01-01") + np.timedelta64(int(day), "D")) for day in days]
    income[-1], born[int(days.argmin())] = top, bottom
    return pl.DataFrame(
        {"income": income, "born": born, "diagnosis": draw.choice(["flu", "cold", "HIV"], n_rows)}
    ).with_columns(pl.col("born").str.to_date())


def test_a_scheme_says_no_more_than_the_ends_that_its_release_shows() -> None:
    """Tables with one release have one scheme: nobody's income or date of birth is in it."""
    texts, shown, values = [], [], set()
    for top, bottom in ((41_234.56, "1931-03-17"), (41_238.91, "1931-03-18")):
        frame = incomes(500, top, bottom)
        made = publish(frame, qi=["income", "born"], categorical=[])
        texts.append(scheme_text(make_scheme(made)))
        shown.append([(extents.low_points.tolist(), extents.high_points.tolist()) for extents in made.release.extents])  # type: ignore[union-attr]
        values |= {*map(str, frame["income"].to_list()), *map(str, frame["born"].to_list())}
    assert shown[0] == shown[1]
    assert texts[0] == texts[1]
    scheme = parse_scheme(texts[0])
    assert len(scheme.parts) > 20
    # A grid of weeks or months meets dates by chance, a grid of tens no income.
    points = [part.start for part in scheme.parts if isinstance(part, Cut) and part.column == "income"]
    income = scheme.schema["income"]
    assert not values & {*map(str, points), str(income.low), str(income.high)}
    assert "1931-03-17" not in texts[0]
    assert "1931-03-18" not in texts[1]


def test_groups_between_which_rounding_leaves_no_cut_are_one_cell() -> None:
    made = publish(incomes(500, 41_234.56, "1931-03-17"), qi=["income"], categorical=[], model="k-anonymity:3")
    coarse = replace(
        made,
        release=round_ends(made.release, Ends(steps=(("income", "500"),)))[0],
    )
    scheme = make_scheme(coarse)
    points = [part.start for part in scheme.parts if isinstance(part, Cut)]
    assert 5 < len(points) < scheme_size(made)
    assert all(isinstance(point, float) and point % 500 == 0 for point in points)
    assert sum(count or 0 for count in scheme.records) <= 500


def scheme_size(made: MadeWhole) -> int:
    return len(np.unique(made.release.group_of_row))


def test_cuts_are_round_numbers() -> None:
    starts = [part.start for part in make_scheme(publish(patients(60))).parts if isinstance(part, Cut)]
    assert any(isinstance(start, int) and start % 5 == 0 for start in starts)


def test_by_persons_and_with_missing_values() -> None:
    frame = patients().with_columns(
        patient=pl.int_range(pl.len()) // 3,
        age=pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col("age")),
    )
    scheme = make_scheme(publish(frame, person="patient", model="k-anonymity:4"))
    assert scheme.schema.person is not None
    assert scheme.schema["age"].missing
    assert any(part == Cut("age", "(missing)") for part in scheme.parts)


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_methods_whose_cells_overlap_are_refused(name: str) -> None:
    method = ALGORITHMS[name]()
    if method.cells_apart:
        refuse_scheme(method)
        assert name == "mondrian-strict"
        return
    with pytest.raises(Unsupported, match=f"release by {name}.*Use --algorithm mondrian-strict"):
        refuse_scheme(method)


def test_a_method_is_chosen_whose_cells_do_not_overlap() -> None:
    recipe = Recipe.of(model="k-anonymity:5", qi=["age", "sex"], for_scheme=True)
    prepared = prepare(recipe, read_columns(patients(), recipe.schema))
    assert prepared.algorithm.name == "mondrian-strict"
    assert any("mondrian-strict was chosen" in note for note in prepared.notes)


def test_one_group_is_one_cell() -> None:
    scheme = make_scheme(publish(patients(12), model="k-anonymity:12"))
    assert scheme.parts == (Cell(12),)


def test_a_column_may_name_no_value() -> None:
    frame = patients(12).with_columns(zip=pl.int_range(pl.len()).cast(pl.String))
    scheme = make_scheme(publish(frame, model="k-anonymity:12"))
    assert scheme.schema["zip"].values == ()
    table = Microdata.encode(read_columns(frame, scheme.schema), scheme.schema)
    assert scheme.locate(table).n_cells == 1
    assert not scheme.locate(table).n_outside
