"""Ends of ranges: rounded outwards, by a step that costs little and that the finished release alone decides."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import date, datetime, timedelta
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms import parse_algorithm
from lookalike.attacks.minimality.exact import enumerate_posteriors
from lookalike.data.ends import Ends, Step, choose_step, find_step, read_step, round_ends, widen
from lookalike.data.microdata import Microdata, Table
from lookalike.data.release import ExtentCells, Grouped, Ranges, cover
from lookalike.data.schema import Attribute, Role, Schema, ValueType
from lookalike.errors import RecipeError
from lookalike.metrics.shared.cells import loss_by_column
from lookalike.models import parse_promise
from lookalike.pipeline.recipe import require, settle
from tests.examples import examples
from tests.files.releases.release_forms import column, held, make_release, microdata
from tests.worlds import tiny_table

numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.decimals(-1000, 1000, places=3).map(float),
    st.floats(-1e6, 1e6, allow_subnormal=False),
)
widths = st.tuples(st.sampled_from([1, 2, 5, 7, 25]), st.sampled_from([1, 10, 1000, 10**6]))


def one_column(type: ValueType, cells: list, **attribute) -> Microdata:
    table = Table((column("x", type, cells),))
    return Microdata.encode(table, Schema((Attribute(name="x", role=Role.QUASI, **attribute),)))


def groups_of(data: Microdata, size: int) -> Ranges:
    """The sorted records in groups of so many neighbours."""
    codes = np.sort(data.quasi[:, 0])
    units = np.arange(len(codes)) // size
    made = cover(data.domains.quasi[0], codes, units, int(units[-1]) + 1)
    assert isinstance(made, Ranges)
    return made


@given(st.lists(numbers, min_size=1, max_size=20), widths)
def test_a_step_finds_the_neighbouring_multiples(points: list[float], width: tuple[int, int]) -> None:
    step = Step(*width)
    given, exact = np.array(points), Fraction(*width)
    for point, low, high in zip(points, step.round_down(given), step.round_up(given), strict=True):
        assert low <= point <= high
        # The multiples themselves, as the nearest floats: none of them lies between the point and the end.
        multiples = [float((Fraction(low) // exact + turn) * exact) for turn in range(-1, 4)]
        assert low in multiples
        assert not any(low < multiple <= point for multiple in multiples)
        assert high == low if point == low else high in multiples


@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=20), st.sampled_from([2, 5, 7, 10, 500]))
def test_whole_numbers_end_one_before_a_multiple(points: list[int], size: int) -> None:
    step = Step(size, is_whole=True)
    given = np.array(points, dtype=np.float64)
    assert step.round_down(given).tolist() == [point // size * size for point in points]
    assert step.round_up(given).tolist() == [point // size * size + size - 1 for point in points]


def test_weeks_begin_on_monday() -> None:
    data = one_column(ValueType.DATE, [date(2024, 1, 3), date(2025, 3, 1)])
    (domain,) = data.domains.quasi
    ranges = widen(domain, groups_of(data, 2), read_step("7d", domain))
    ends = [date(1970, 1, 1) + timedelta(int(day)) for day in (ranges.low_points[0], ranges.high_points[0])]
    assert [day.weekday() for day in ends] == [0, 6]


@settings(max_examples=examples(300))
@given(microdata(), st.integers(1, 4))
def test_rounding_widens_costs_two_per_cent_and_does_not_look_at_values(data: Microdata, size: int) -> None:
    release = make_release(Grouped.form, data, np.arange(data.n_rows) // size, np.arange(data.n_rows))
    rounded, steps = round_ends(release, Ends())
    assert isinstance(rounded, Grouped)
    before, after = loss_by_column(release), loss_by_column(rounded)
    units_before, units_after = release.unit_of_row, rounded.unit_of_row
    for domain, was, is_now in zip(data.domains.quasi, release.extents, rounded.extents, strict=True):
        assert after[domain.name] <= 1.02 * before[domain.name] + 1e-12
        was_held = held(ExtentCells(domain, was, units_before))
        now_held = held(ExtentCells(domain, is_now, units_after))
        if domain.name not in steps:
            assert now_held == was_held
            continue
        assert isinstance(was, Ranges)
        assert isinstance(is_now, Ranges)
        old, new = ({one.name: getattr(part, one.name) for one in fields(Ranges)} for part in (was, is_now))
        old = {name: values[units_before] for name, values in old.items()}
        new = {name: values[units_after] for name, values in new.items()}
        single = old["low_points"] == old["high_points"]
        for name in old:
            assert np.array_equal(old[name][single], new[name][single]), "a range of one number is everybody's"
        assert np.array_equal(old["missing"], new["missing"])
        wide = np.isfinite(old["low_points"]) & ~single
        assert (new["low_points"][wide] <= old["low_points"][wide]).all()
        assert (new["high_points"][wide] >= old["high_points"][wide]).all()
        if domain.declared:
            inside = wide & (old["low_points"] >= domain.low) & (old["high_points"] <= domain.high)
            assert (new["low_points"][inside] >= domain.low).all()
            assert (new["high_points"][inside] <= domain.high).all()
        if domain.type is not ValueType.NUMBER:
            assert (new["low_points"][wide] == np.rint(new["low_points"][wide])).all()
    turned = replace(release, sensitive=release.sensitive[::-1], carried=release.carried[::-1])
    again, same_steps = round_ends(turned, Ends())
    assert same_steps == steps
    assert isinstance(again, Grouped)
    assert np.array_equal(again.group_of_row, rounded.group_of_row)


def test_the_coarsest_step_that_costs_little_is_taken() -> None:
    rng = np.random.default_rng(5)
    data = one_column(ValueType.NUMBER, rng.normal(50, 20, 4000).tolist())
    (domain,) = data.domains.quasi
    ranges, rows = groups_of(data, 400), np.full(10, 400)
    step = choose_step(domain, ranges, rows)
    assert step is not None

    def rise(step: Step) -> float:
        wider = widen(domain, ranges, step)
        return float((wider.high_points - wider.low_points).sum() / (ranges.high_points - ranges.low_points).sum()) - 1

    assert rise(step) <= 0.02 < rise(Step(step.size * 10, step.scale))
    assert step.width >= 0.004 * float((ranges.high_points - ranges.low_points).mean())


def test_times_become_days() -> None:
    rng = np.random.default_rng(6)
    moments = [datetime(2024, 1, 1) + timedelta(seconds=int(second)) for second in rng.integers(0, 366 * 86400, 500)]
    data = one_column(ValueType.DATETIME, moments)
    (domain,) = data.domains.quasi
    step = choose_step(domain, groups_of(data, 250), np.full(2, 250))
    assert step is not None
    assert step.describe(domain.type) == "1d"


def unique_shares(release: pl.DataFrame, names: list[str], original: pl.DataFrame) -> float:
    """The share of ends of ranges that are the value of exactly one person."""
    hits = ends = 0
    for name in names:
        counts = original[name].value_counts()
        alone = set(counts.filter(pl.col("count") == 1)[name].to_list())
        for cell in release[name].unique().to_list():
            low, found, high = cell.strip("[]").partition("..")
            if found:
                ends += 2
                hits += (float(low) in alone) + (float(high) in alone)
    return hits / ends


@pytest.mark.parametrize("algorithm", ["mondrian", "mondrian-strict", "groups", "freeform"])
def test_no_end_is_the_value_of_one_person(algorithm: str) -> None:
    rng = np.random.default_rng(7)
    table = pl.DataFrame(
        {"lab": rng.normal(50, 20, 300), "dose": rng.exponential(3, 300), "ill": rng.choice(["a", "b", "c"], 300)}
    )

    def ends_of_persons(ends: str | None) -> float:
        made = la.publish(
            table, qi=["lab", "dose"], sensitive="ill", model="k-anonymity:5", algorithm=algorithm, ends=ends, seed=3
        )
        assert made.audit.passed
        if ends is None:
            assert set(made.summary()["ends"]) == {"lab", "dose"}
            for found in made.summary()["ends"].values():
                assert found["exact_loss"] < found["loss"] <= 1.02 * found["exact_loss"]
            assert any("--ends exact" in note for note in made.notes)
        return unique_shares(made.frame(), ["lab", "dose"], table)

    assert ends_of_persons("exact") == 1
    assert ends_of_persons(None) == 0


def test_exact_ends_give_what_the_method_made() -> None:
    data = one_column(ValueType.NUMBER, [1.23, 4.56, 7.89, 10.11])
    release = make_release(Grouped.form, data, np.array([0, 0, 1, 1]), np.arange(4))
    assert round_ends(release, Ends.read("exact")) == (release, {})
    assert round_ends(release, Ends.read("x=exact"))[0] is release
    rounded, steps = round_ends(release, Ends.read(["exact", "x=0.5"]))
    assert steps == {"x": Step(1, 2)}
    assert rounded.extents[0].low_points.tolist() == [1.0, 7.5]
    assert rounded.extents[0].high_points.tolist() == [5.0, 10.5]


def test_groups_that_come_to_have_the_same_cells_are_one() -> None:
    data = one_column(ValueType.INTEGER, [1, 8, 2, 9])
    release = make_release(Grouped.form, data, np.array([0, 0, 1, 1]), np.arange(4))
    merged, _ = round_ends(release, Ends.read("x=10"))
    assert isinstance(merged, Grouped)
    assert merged.group_of_row.tolist() == [0, 0, 0, 0]
    assert len(merged.extents[0]) == 1
    assert round_ends(release, Ends.read("x=10"), apart=True) == (release, {})


def test_an_end_does_not_reach_into_another_part() -> None:
    data = one_column(ValueType.INTEGER, [11, 14, 17, 23])
    release = make_release(Grouped.form, data, np.array([0, 0, 1, 1]), np.arange(4))
    rounded, _ = round_ends(release, Ends.read("x=10"), limits=[(0, 1)])
    assert (rounded.extents[0].low_points[0], rounded.extents[0].high_points[0]) == (10, 14)
    assert (rounded.extents[0].lows[0], rounded.extents[0].highs[0]) == (0, 1)


@given(
    st.lists(st.floats(-1e5, 1e5).map(lambda number: round(number, 4)), min_size=4, max_size=60, unique=True),
    st.integers(2, 5),
)
def test_a_reader_finds_a_step_that_gives_the_same_ends(points: list[float], size: int) -> None:
    data = one_column(ValueType.NUMBER, points)
    (domain,) = data.domains.quasi
    exact = groups_of(data, size)
    step = choose_step(domain, exact, np.full(len(exact), size))
    if step is None:
        return
    published = widen(domain, exact, step)
    found = find_step(domain, published)
    assert found is not None
    assert found.width >= step.width
    again = widen(domain, exact, found)
    assert np.array_equal(again.low_points, published.low_points)
    assert np.array_equal(again.high_points, published.high_points)


@pytest.mark.parametrize(
    ("name", "model"),
    [("groups:mode=strict", "l-diversity:2"), ("mondrian", "l-diversity:2"), ("freeform", "k-anonymity:2")],
)
def test_who_knows_the_method_learns_no_more_from_rounded_ends(name: str, model: str) -> None:
    """Of every release with rounded ends: no certainty exceeds the highest certainty of the releases with exact ends.

    World by world: what someone who knows the method believes is a mean over the exact releases that give this one.
    """
    data = tiny_table("ppnnqq", [103, 517, 1011, 1498, 2007, 2503])
    algorithm = parse_algorithm(name)
    requirements = require(settle([parse_promise(model)], data), data)
    seeds = range(8)
    exact = enumerate_posteriors(algorithm, data, requirements, seeds)
    rounded = enumerate_posteriors(algorithm, data, requirements, seeds, ends=Ends())
    assert exact.found
    assert rounded.found.keys() != exact.found.keys()

    def largest(found: dict) -> Fraction:
        return max(
            Fraction(int(row.max()), int(row.sum())) for counts in found.values() for row in counts if row.sum() > 0
        )

    assert sum(counts.sum() for counts in rounded.found.values()) == sum(
        counts.sum() for counts in exact.found.values()
    )
    assert largest(rounded.found) <= largest(exact.found)


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("precise", "Write exact, rounded or COLUMN=STEP"),
        ("agee=5", 'There is no quasi-identifier "agee"'),
        ("age=0", "is no whole number above 0"),
        ("age=2.5", "is no whole number above 0"),
        ("age=week", "is no whole number above 0"),
        ("born=2h", "is no number of days, as in 7d"),
        ("sex=5", "it has no ends"),
    ],
)
def test_what_is_no_step_is_refused(ends: str, said: str) -> None:
    table = pl.DataFrame(
        {"age": [1, 2, 3, 4], "sex": ["f", "m", "f", "m"], "born": [date(2024, 1, day) for day in (1, 2, 3, 4)]}
    )
    with pytest.raises(RecipeError, match=said):
        la.publish(table, qi=["age", "sex", "born"], model="k-anonymity:2", ends=ends)


@pytest.mark.parametrize(
    ("days", "length", "is_named"),
    [
        ([10 * day for day in range(40)], 2, True),
        ([*range(40)], 2, False),
        ([100 * day for day in range(40)], 4, False),
    ],
)
def test_ends_of_few_people_that_stay_exact_are_named(days: list[int], length: int, *, is_named: bool) -> None:
    values = [date(2020, 1, 1) + timedelta(day) for day in days]
    frame = pl.DataFrame({"day": values, "ill": ["a", "b"] * 20})
    made = la.publish(frame, qi="day", sensitive="ill", model=f"k-anonymity:{length}", algorithm="mondrian")
    said = [note for note in made.notes if "--ends day=7d" in note]
    assert len(said) == is_named
    exact = {value.isoformat() for value in values}
    ends = {end for cell in made.frame()["day"] for end in cell.split("..")}
    assert (ends <= exact) == (length == 2)
    assert not any(
        "--ends day" in note
        for note in la.publish(
            frame, qi="day", sensitive="ill", model="k-anonymity:2", algorithm="mondrian", ends="exact"
        ).notes
    )
