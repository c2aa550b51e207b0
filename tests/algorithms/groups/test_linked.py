"""Linked rows: groups of whole persons, held against a brute-force reading of the published frame."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.algorithms import ALGORITHMS
from lookalike.algorithms.groups import Groups
from lookalike.algorithms.groups.linked import BandTable, Histories
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.person_settings import PersonSettings
from lookalike.data.persons import rank_rows
from lookalike.data.requirement import Requirement
from lookalike.data.schema import Schema
from lookalike.errors import Infeasible, RecipeError, Unsupported
from lookalike.files.releases.write import frames
from lookalike.files.tables import read_table
from lookalike.models import parse_model
from lookalike.pipeline.recipe import Recipe, prepare, require, settle
from lookalike.pipeline.run import MadeWhole, run
from lookalike.progress import silent
from lookalike.randomness import Randomness
from tests.examples import examples
from tests.strategies import microdatas

_VALUES = 12


@st.composite
def histories(draw: st.DrawFn) -> Microdata:
    """Persons with several visits: some columns are constant per person, others vary, rows come in any order."""
    data = draw(microdatas(min_rows=6, max_rows=60, n_sensitive=st.just(1)))
    seed = draw(st.integers(0, 1000))
    rng = np.random.default_rng(seed)
    domain = data.domains.sensitive[0]
    spread = replace(domain, values=np.arange(_VALUES), has_missing=False, size=_VALUES, taxonomy=None)
    values = rng.integers(0, _VALUES, (data.n_rows, 1)).astype(np.int32)
    owners = rng.integers(0, draw(st.integers(2, data.n_rows - 1)), data.n_rows)
    if draw(st.booleans()):
        owners[: data.n_rows // 3] = 0
    persons = np.unique(owners, return_inverse=True)[1].reshape(-1).astype(np.int32)
    assume(len(np.unique(persons)) < data.n_rows)
    quasi = data.quasi.copy()
    constant = rng.random(quasi.shape[1]) < 0.5
    firsts = np.unique(persons, return_index=True)[1]
    quasi[:, constant] = quasi[firsts][persons][:, constant]
    domains = replace(data.domains, sensitive=(spread,))
    return replace(data, domains=domains, sensitive=values, quasi=quasi, persons=persons)


def publish(data: Microdata, *models: str, seed: int = 3) -> MadeWhole:
    recipe = Recipe(
        schema=Schema.of(data.schema, person="whose row it is"),
        promises=tuple(Promise(parse_model(model)) for model in models),
        algorithm=ALGORITHMS["groups"](effort="fast"),  # type: ignore[call-arg]
        seed=seed,
        persons=PersonSettings(rows="linked"),
    )
    return run(prepare(recipe, data))


def read_by_hand(made: MadeWhole) -> dict[object, dict[int, list[tuple[int, int]]]]:
    """Per sequence of cells the persons who have it, each with visit number and record."""
    frame = frames(made.release)["release"]
    names = [domain.name for domain in made.release.domains.quasi]
    rows = defaultdict[int, list[tuple[int, int, tuple[str, ...]]]](list)
    # Domains of the strategy may be called person or visit: the numbers come first.
    people, visits = (frame.to_series(place).to_list() for place in (0, 1))
    for row, record in enumerate(made.record_map.record_of_row.tolist()):
        cells = tuple(repr(frame[name][row]) for name in names)
        rows[people[row]].append((visits[row], record, cells))
    classes = defaultdict[object, dict[int, list[tuple[int, int]]]](dict)
    for number, own in rows.items():
        own.sort()
        classes[tuple(cells for _, _, cells in own)][number] = [(visit, record) for visit, record, _ in own]
    return classes


def check_by_hand(data: Microdata, made: MadeWhole, k: int, ceilings: dict[int, Fraction]) -> None:
    assert data.persons is not None
    places = rank_rows(data.persons, np.arange(data.n_rows))
    seen = list[int]()
    for members in read_by_hand(made).values():
        assert len(members) >= k
        for rows in members.values():
            owner = {int(data.persons[record]) for _, record in rows}
            assert len(owner) == 1
            seen += owner
            assert [visit for visit, _ in rows] == [*range(1, len(rows) + 1)]
            assert [int(places[record]) + 1 for _, record in rows] == [visit for visit, _ in rows]
        for code, ceiling in ceilings.items():
            having = [any(data.sensitive[record, 0] == code for _, record in rows) for rows in members.values()]
            assert Fraction(sum(having), len(members)) <= ceiling
    assert sorted(seen) == sorted({*data.persons.tolist()})
    assert made.release.n_rows + made.release.withheld.n_suppressed == data.n_rows


@settings(max_examples=examples(60))
@given(data=histories(), k=st.integers(2, 4))
def test_every_class_has_enough_persons(data: Microdata, k: int) -> None:
    assume(data.n_persons >= k)
    check_by_hand(data, publish(data, f"k-anonymity:{k}"), k, {})


@settings(max_examples=examples(60))
@given(data=histories(), model=st.sampled_from(("l-diversity:2", "beta-likeness:4", "l-diversity:1.5")))
def test_beliefs_in_values_of_any_visit_stay_below_their_ceilings(data: Microdata, model: str) -> None:
    try:
        made = publish(data, model)
    except Infeasible:
        assume(False)
    bounds = require(settle((Promise(parse_model(model)),), data), data)[0].ceilings
    assert bounds is not None
    check_by_hand(data, made, 1, dict(enumerate(bounds)))


@settings(max_examples=examples(30))
@given(data=histories(), seed=st.integers(0, 99))
def test_groups_by_size_look_at_no_value(data: Microdata, seed: int) -> None:
    """Against an attacker who knows the method: any other dealing of values gives the same cells and numbers.

    What is assumed: the order of a person's rows does not depend on values (`test_orders_...`).
    """
    assume(data.n_persons >= 2)
    assert data.persons is not None
    visits = rank_rows(data.persons, np.arange(data.n_rows)).astype(np.int32)
    shuffled = replace(data, sensitive=np.random.default_rng(seed).permutation(data.sensitive))
    requirements = [Requirement(min_size=2)]
    made = [
        Groups(mode="strict").anonymize(replace(one, visits=visits), requirements, Randomness(5), silent)
        for one in (data, shuffled)
    ]
    assert np.array_equal(*(record_map.record_of_row for _, record_map in made))
    assert np.array_equal(*(release.group_of_row for release, _ in made))  # type: ignore[union-attr]


def test_orders_that_may_depend_on_values_are_refused_against_who_knows_the_method() -> None:
    asked = ASKED | {"model": "k-anonymity:2", "adversary": "knows-method", "seed": 1}
    with pytest.raises(Unsupported, match="numbered by the order of the table"):
        la.publish(EXAMPLE, **asked)
    with pytest.raises(Unsupported, match='an order by "ward"'):
        la.publish(EXAMPLE, order="ward", **asked)
    dated = EXAMPLE.with_columns(day=pl.Series([2, 1, 3, 1, 2, 1, 2, 2, 1, 1, 1]))
    made = la.publish(dated, order="day", **(asked | {"qi": ["age", "ward", "day"]}))
    assert made.audit.passed
    assert made.adversary == "knows-method"
    strict = la.publish(EXAMPLE, algorithm="groups:mode=strict", **(asked | {"adversary": "reads-release"}))
    assert strict.adversary == "reads-release"


EXAMPLE = pl.DataFrame(
    {
        "patient": ["a", "a", "b", "b", "b", "c", "c", "d", "d", "e", "f"],
        "age": [30, 30, 34, 34, 34, 71, 71, 78, 78, 50, 51],
        "ward": ["n", "s", "n", "n", "s", "s", "s", "s", "n", "n", "n"],
        "diagnosis": ["flu", "cold", "HIV", "flu", "cold", "asthma", "flu", "cold", "HIV", "flu", "cold"],
    }
)
ASKED = {"qi": ["age", "ward"], "sensitive": "diagnosis", "person": "patient", "rows": "linked"}


def test_a_worked_example() -> None:
    """Bands 1 and 2-3 leave out one visit: the third of b. Pairs are e and f, a and b, c and d."""
    made = la.publish(EXAMPLE, model="k-anonymity:2", seed=5, **ASKED)
    assert made.audit.n_suppressed == 1
    assert made.frame().columns == ["person", "visit", "age", "ward", "diagnosis"]
    histories = made.frame().group_by("person", maintain_order=True).agg("visit", "age", "ward", "diagnosis")
    assert sorted(histories.select("age", "ward", "diagnosis").rows()) == [
        (["30..34", "30..34"], ["n", "*"], ["HIV", "flu"]),
        (["30..34", "30..34"], ["n", "*"], ["flu", "cold"]),
        (["50..51"], ["n"], ["cold"]),
        (["50..51"], ["n"], ["flu"]),
        (["71..78", "71..78"], ["s", "*"], ["asthma", "flu"]),
        (["71..78", "71..78"], ["s", "*"], ["cold", "HIV"]),
    ]
    assert [visit for visits in histories["visit"] for visit in visits] == made.frame()["visit"].to_list()
    assert made.frame()["person"].is_sorted()


def test_a_person_has_every_value_of_the_published_visits() -> None:
    """By rows each value would be a half at most; by persons both members of a group have flu."""
    table = pl.DataFrame({"patient": [1, 1, 2, 2], "age": [30, 30, 31, 31], "diagnosis": ["flu", "cold", "HIV", "flu"]})
    asked = {"qi": ["age"], "sensitive": "diagnosis", "person": "patient", "rows": "linked"}
    with pytest.raises(Infeasible):
        la.publish(table, model="diagnosis=l-diversity:2", **asked)


@given(lengths=st.lists(st.integers(1, 9), min_size=3, max_size=14), least=st.integers(1, 5))
def test_bands_leave_out_as_few_visits_as_they_can(lengths: list[int], least: int) -> None:
    """Every way to part the numbers of visits into runs, by brute force."""
    assume(max(lengths) > 1)
    owners = np.repeat(np.arange(len(lengths)), lengths).astype(np.int32)
    table = pl.DataFrame({"age": [20] * len(owners), "s": ["x"] * len(owners), "p": owners})
    recipe = Recipe.of(
        model="k-anonymity:1", qi=["age"], sensitive="s", person="p", persons=PersonSettings(rows="linked")
    )
    data = prepare(recipe, read_table(table)).data
    occurring = sorted({*lengths})
    fewest = None
    for cuts in product((False, True), repeat=len(occurring) - 1):
        runs = [[occurring[0]]]
        for cut, length in zip(cuts, occurring[1:], strict=True):
            runs = [*runs, [length]] if cut else [*runs[:-1], [*runs[-1], length]]
        bands = [[length for length in lengths if length in run] for run in runs]
        if all(len(band) >= least for band in bands):
            n_cut = sum(sum(band) - min(band) * len(band) for band in bands)
            fewest = n_cut if fewest is None else min(fewest, n_cut)
    found = BandTable.of(Histories(data, [Requirement(min_size=least)])).best(least)
    if fewest is None:
        assert found is None
        return
    assert found is not None
    members = [[length for length in lengths if band.shortest <= length <= band.longest] for band in found]
    assert all(len(band) >= least for band in members)
    assert sorted(length for band in members for length in band) == sorted(lengths)
    assert sum(sum(band) - min(band) * len(band) for band in members) == fewest


def test_a_table_with_one_row_per_person_is_published_as_ever() -> None:
    table = EXAMPLE.unique("patient", keep="first", maintain_order=True)
    linked = la.publish(table, model="k-anonymity:2", seed=5, **ASKED)
    apart = la.publish(table, model="k-anonymity:2", seed=5, **(ASKED | {"rows": "apart"}))
    assert linked.frame().equals(apart.frame())
    assert linked.release.linked is None  # type: ignore[union-attr]


def test_person_numbers_are_drawn_anew_and_evenly() -> None:
    drawn = defaultdict[int, list[int]](list)
    data = made_data()
    for seed in range(120):
        made = publish(data, "k-anonymity:2", seed=seed)
        linked = made.release.linked  # type: ignore[union-attr]
        assert linked is not None
        owners = data.persons[made.record_map.record_of_row]  # type: ignore[index]
        for owner, number in {*zip(owners.tolist(), linked.person_of_row.tolist(), strict=True)}:
            drawn[owner].append(number)
    # Of 6 numbers each is drawn 20 times in 120 runs, give or take; chance stays below 45.
    for numbers in drawn.values():
        counts = np.bincount(numbers, minlength=7)[1:]
        assert counts.sum() == 120
        assert counts.min() > 3
        assert counts.max() < 45


def made_data() -> Microdata:
    made = la.publish(EXAMPLE, model="k-anonymity:2", seed=5, **ASKED)
    return made.made.data  # type: ignore[attr-defined]


def test_visits_are_ordered_by_a_column() -> None:
    day = [2, 1, 3, 1, 2, 1, 2, 2, 1, 1, 1]
    table = EXAMPLE.with_columns(pl.Series("day", day))
    made = la.publish(table, model="k-anonymity:2", order="day", seed=1, **ASKED)
    rows = made.frame().group_by("person").agg("diagnosis").get_column("diagnosis").to_list()
    assert ["cold", "flu"] in rows  # a, by day
    assert ["flu", "cold"] in rows  # b: days 1 and 2; day 3 is left out
    assert ["HIV", "cold"] in rows  # d
    with pytest.raises(RecipeError, match="column to order by"):
        la.publish(read_table(EXAMPLE), model="k-anonymity:2", order="nothing", seed=1, **ASKED)


def test_only_groups_links_rows() -> None:
    for name in sorted(set(ALGORITHMS) - {"groups"}):
        with pytest.raises((Unsupported, Infeasible)):
            la.publish(EXAMPLE, model="k-anonymity:2", algorithm=name, **ASKED)
    with pytest.raises(Unsupported, match="use groups"):
        la.publish(EXAMPLE, model="k-anonymity:2", algorithm="mondrian", **ASKED)
    with pytest.raises(Unsupported, match="numbers of different values"):
        la.publish(EXAMPLE, model="l-diversity:2,kind=distinct", algorithm="groups", **ASKED)
    with pytest.raises(RecipeError, match="--person COLUMN"):
        la.publish(EXAMPLE, model="k-anonymity:2", **(ASKED | {"person": None}))


def test_somebody_with_a_tenth_of_all_rows() -> None:
    rng = np.random.default_rng(3)
    owners = np.concatenate([np.zeros(100, dtype=np.int64), 1 + rng.integers(0, 400, 900)])
    table = pl.DataFrame(
        {
            "person": owners,
            "age": rng.integers(0, 90, 1000),
            "sex": rng.integers(0, 2, 1000),
            "s": rng.integers(0, 9, 1000),
        }
    )
    made = la.publish(
        table,
        qi=["age", "sex"],
        sensitive="s",
        person="person",
        rows="linked",
        model="k-anonymity:10",
        algorithm="groups:effort=fast",
        seed=1,
    )
    check_by_hand(made.made.data, made.made, 10, {})  # type: ignore[attr-defined,arg-type]
