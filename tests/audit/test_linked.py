"""Linked rows: the audit passes honest releases and catches what was moved, swapped or merged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lookalike as la
from lookalike.audit import Audit, verify
from lookalike.audit.linked import NO_MAP, number_sequences
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Grouped, LinkedRows
from lookalike.files.releases.read import ReleaseFolder
from lookalike.files.releases.write import write_release
from lookalike.models import parse_model
from tests.examples import examples

MODELS = tuple(
    Promise(parse_model(text), column) for text, column in (("k-anonymity:3", None), ("l-diversity:1.4", "s"))
)


def visits(n_persons: int, seed: int, n_values: int = 8) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = 1 + rng.poisson(1.2, n_persons)
    numbers[: min(4, n_persons)] = 3
    owners = np.repeat(np.arange(n_persons), numbers)
    frame = pl.DataFrame(
        {
            "p": owners,
            "age": rng.integers(20, 80, n_persons)[owners],
            "sex": np.array(["F", "M"])[rng.integers(0, 2, n_persons)][owners],
            "place": rng.integers(0, 9, len(owners)),
            "s": rng.integers(0, n_values, len(owners)),
        }
    )
    return frame.sample(fraction=1.0, shuffle=True, seed=seed)


class Case:
    """A linked release with its original."""

    def __init__(self, n_persons: int = 60, seed: int = 1) -> None:
        made = la.publish(
            visits(n_persons, seed),
            qi=["age", "sex", "place"],
            sensitive="s",
            person="p",
            rows="linked",
            model=["k-anonymity:3", "l-diversity:1.4"],
            algorithm="groups:effort=fast",
            seed=seed,
        ).made
        self.data: Microdata = made.data  # type: ignore[attr-defined]
        self.release: Grouped = made.release  # type: ignore[attr-defined]
        self.rows: np.ndarray = made.record_map.record_of_row  # type: ignore[attr-defined]

    @property
    def linked(self) -> LinkedRows:
        assert self.release.linked is not None
        return self.release.linked

    def audit(self, release: Grouped | None = None, *, with_map: bool = True) -> Audit:
        record_of_row = self.rows if with_map else None
        return verify(self.data, release or self.release, MODELS, record_of_row=record_of_row)

    def with_numbers(self, numbers: np.ndarray) -> Grouped:
        return replace(self.release, linked=replace(self.linked, person_of_row=numbers))

    def group_of_number(self) -> dict[int, int]:
        """The unit of the first visit of each person number."""
        firsts = np.flatnonzero(self.linked.visit_of_row == 1)
        return {int(self.linked.person_of_row[row]): int(self.release.group_of_row[row]) for row in firsts}


@pytest.fixture(scope="module")
def case() -> Case:
    return Case()


def failing(audit: Audit) -> set[str]:
    return {check.name for check in audit.checks if check.blocks} | {
        str(verdict.promise) for verdict in audit.verdicts if not verdict.passed
    }


@settings(max_examples=examples(15))
@given(n_persons=st.integers(20, 90), seed=st.integers(0, 10_000))
def test_honest_releases_pass_with_the_map_and_without(n_persons: int, seed: int) -> None:
    case = Case(n_persons, seed)
    assert case.audit().passed
    assert case.audit(with_map=False).passed


def test_sizes_are_counted_in_persons(case: Case) -> None:
    """By hand from the frame: persons per sequence of cells."""
    verdict = case.audit(with_map=False).verdicts[0]
    sequences: dict[int, list[tuple[int, int]]] = {}
    for number, visit, unit in zip(
        case.linked.person_of_row.tolist(),
        case.linked.visit_of_row.tolist(),
        case.release.group_of_row.tolist(),
        strict=True,
    ):
        sequences.setdefault(number, []).append((visit, unit))
    sizes = [list(sequences.values()).count(own) for own in sequences.values()]
    assert verdict.reached == min(sizes) >= 3


def two_numbers_of_different_groups(case: Case) -> tuple[int, int]:
    groups = case.group_of_number()
    lengths = np.bincount(case.linked.person_of_row)
    first = next(number for number in groups if lengths[number] > 1)
    other = next(n for n in groups if groups[n] != groups[first] and lengths[n] == lengths[first])
    return first, other


@pytest.mark.parametrize("with_map", [True, False])
def test_numbers_of_two_persons_swapped_in_one_visit(case: Case, with_map: bool) -> None:
    first, other = two_numbers_of_different_groups(case)
    numbers = case.linked.person_of_row.copy()
    for number, becomes in ((first, other), (other, first)):
        numbers[(case.linked.person_of_row == number) & (case.linked.visit_of_row == 2)] = becomes
    found = case.audit(case.with_numbers(numbers), with_map=with_map)
    assert not found.passed
    assert "linked rows" in failing(found)
    assert not found.verdicts[0].passed


def test_numbers_swapped_within_a_group_are_caught_by_the_map(case: Case) -> None:
    """The files still say nothing false about sizes; that a number stands for one person is what the map shows."""
    groups = case.group_of_number()
    lengths = np.bincount(case.linked.person_of_row)
    first = next(number for number in groups if lengths[number] > 1)
    other = next(n for n in groups if n != first and groups[n] == groups[first])
    numbers = case.linked.person_of_row.copy()
    for number, becomes in ((first, other), (other, first)):
        numbers[(case.linked.person_of_row == number) & (case.linked.visit_of_row == 2)] = becomes
    found = case.audit(case.with_numbers(numbers))
    (check,) = (check for check in found.checks if check.name == "linked rows")
    assert not check.passed
    assert check.detail == "2 person numbers stand for rows of several persons"
    assert not any(verdict.passed for verdict in found.verdicts)


@pytest.mark.parametrize("with_map", [True, False])
def test_a_number_that_two_persons_share(case: Case, with_map: bool) -> None:
    first, other = two_numbers_of_different_groups(case)
    numbers = np.where(case.linked.person_of_row == other, first, case.linked.person_of_row)
    found = case.audit(case.with_numbers(numbers), with_map=with_map)
    assert "linked rows" in failing(found)
    assert not any(verdict.passed for verdict in found.verdicts)


@pytest.mark.parametrize("with_map", [True, False])
def test_a_person_with_two_numbers(case: Case, with_map: bool) -> None:
    """Rows split over two numbers look like two persons."""
    first, _ = two_numbers_of_different_groups(case)
    numbers, visits = case.linked.person_of_row.copy(), case.linked.visit_of_row.copy()
    moved = (numbers == first) & (visits == 2)
    numbers[moved], visits[moved] = numbers.max() + 1, 1
    release = replace(case.release, linked=LinkedRows(numbers, visits))
    found = case.audit(release, with_map=with_map)
    assert "linked rows" in failing(found)
    assert not any(verdict.passed for verdict in found.verdicts)


@pytest.mark.parametrize("with_map", [True, False])
def test_a_visit_moved_to_another_group(case: Case, with_map: bool) -> None:
    first, other = two_numbers_of_different_groups(case)
    units = case.release.group_of_row.copy()
    second = case.linked.visit_of_row == 2
    (mine,), (theirs,) = (np.flatnonzero(second & (case.linked.person_of_row == n)) for n in (first, other))
    units[mine] = units[theirs]
    found = case.audit(replace(case.release, group_of_row=units), with_map=with_map)
    assert not found.passed
    assert not found.verdicts[0].passed


@pytest.mark.parametrize("with_map", [True, False])
def test_a_group_with_too_few_persons(case: Case, with_map: bool) -> None:
    """A group parted in two: cells are still true of everybody, and one part has fewer persons."""
    groups = case.group_of_number()
    sizes = np.bincount(list(groups.values()))
    unit = next(group for group in set(groups.values()) if sizes[group] < 6)
    alone = next(number for number in groups if groups[number] == unit)
    units, extents = case.release.group_of_row.copy(), list(case.release.extents)
    rows = np.flatnonzero(case.linked.person_of_row == alone)
    n_units = int(units.max()) + 1
    # Units of this person alone; the cell of the first column is wider, and so another one.
    from lookalike.data.release import Ranges, take

    for place, held in enumerate(extents):
        extents[place] = take(held, np.concatenate([np.arange(n_units), units[rows]]))
    ages = extents[0]
    assert isinstance(ages, Ranges)
    domain = case.data.domains.quasi[0]
    lows, highs = ages.lows.copy(), ages.highs.copy()
    lows[n_units:], highs[n_units:] = 0, domain.n_codes - 1
    extents[0] = Ranges.of(domain, lows, highs)
    units[rows] = n_units + np.arange(len(rows))
    found = case.audit(replace(case.release, group_of_row=units, extents=tuple(extents)), with_map=with_map)
    assert found.verdicts[0].reached == 1
    assert not found.verdicts[0].passed


def test_values_of_two_persons_swapped_between_visits(case: Case) -> None:
    """A person's sequence of values is published whole: one made up of two persons' is refused."""
    second = np.flatnonzero(case.linked.visit_of_row == 2)
    values = case.release.sensitive.copy()
    mine = second[0]
    theirs = next(row for row in second if values[row, 0] != values[mine, 0])
    values[[mine, theirs]] = values[[theirs, mine]]
    found = case.audit(replace(case.release, sensitive=values))
    assert not found.passed


def test_visit_numbers_must_count(case: Case) -> None:
    visits = case.linked.visit_of_row.copy()
    visits[visits == 2] = 3
    found = case.audit(replace(case.release, linked=replace(case.linked, visit_of_row=visits)))
    assert "linked rows" in failing(found)


@pytest.fixture(scope="module")
def large() -> Case:
    return Case(400, 7)


@pytest.mark.parametrize("with_map", [True, False])
@pytest.mark.parametrize("column", ["input order", "age", "first value"])
def test_numbers_that_follow_something(large: Case, column: str, with_map: bool) -> None:
    case = large
    assert case.data.persons is not None
    owners = case.data.persons[case.rows]
    firsts = np.unique(case.data.persons, return_index=True)[1]
    keys = {
        "input order": firsts,
        "age": case.data.quasi[firsts, 0],
        "first value": case.data.sensitive[firsts, 0],
    }[column]
    number_of_person = np.empty(len(firsts), dtype=np.int64)
    number_of_person[np.argsort(keys, kind="stable")] = 1 + np.arange(len(firsts))
    numbers = number_of_person[owners]
    order = np.lexsort((case.linked.visit_of_row, numbers))
    release = replace(
        case.release,
        group_of_row=case.release.group_of_row[order],
        sensitive=case.release.sensitive[order],
        carried=case.release.carried[order],
        linked=LinkedRows(numbers[order], case.linked.visit_of_row[order]),
    )
    record_of_row = case.rows[order] if with_map else None
    found = verify(case.data, release, MODELS, record_of_row=record_of_row)
    assert "person numbers" in failing(found)


def test_rows_in_the_order_of_the_input(large: Case) -> None:
    """Numbers are random, and the rows stand as in the original."""
    order = np.argsort(large.rows, kind="stable")
    release = replace(
        large.release,
        group_of_row=large.release.group_of_row[order],
        sensitive=large.release.sensitive[order],
        carried=large.release.carried[order],
        linked=LinkedRows(large.linked.person_of_row[order], large.linked.visit_of_row[order]),
    )
    found = verify(large.data, release, MODELS, record_of_row=large.rows[order])
    assert "row order" in failing(found)


def test_without_persons_in_the_original_nothing_is_decided(case: Case) -> None:
    alone = replace(case.data, persons=None, visits=None)
    found = verify(alone, case.release, MODELS)
    assert "linked rows" in failing(found)
    assert "--person COLUMN" in str(found)


def test_too_many_pairs_are_left_open(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lookalike.audit.linked._PAIRS", 3)
    found = case.audit(with_map=False)
    assert not found.passed
    assert {verdict.detail for verdict in found.verdicts} == {NO_MAP}
    assert case.audit().passed


def test_sequences_are_numbered_by_their_items() -> None:
    items, starts = np.array([5, 5, 5, 5, 6, 5]), np.array([0, 2, 4, 5, 6])
    by_length = [ids.tolist() for ids in number_sequences(items, starts)]
    assert [len({*ids}) for ids in by_length] == [2, 3]
    first, second, third, fourth = by_length[-1]
    assert first == second
    assert len({first, third, fourth}) == 3


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """visits.csv with a linked release and its private folder, ordered by a column that is not published."""
    here = tmp_path_factory.mktemp("linked")
    table = visits(80, 3).with_columns(day=pl.int_range(0, pl.len()).shuffle(seed=1))
    table.write_csv(here / "visits.csv")
    made = la.publish(
        here / "visits.csv",
        qi=["age", "sex", "place"],
        sensitive="s",
        person="p",
        rows="linked",
        order="day",
        model="k-anonymity:3",
        algorithm="groups:effort=fast",
    )
    made.write(here / "release", private=True, report="brief")
    return here


@pytest.mark.parametrize("private", [True, False])
def test_a_folder_is_audited_by_persons(published: Path, private: bool) -> None:
    found = la.verify(
        published / "visits.csv",
        published / "release",
        private=published / "release PRIVATE" if private else None,
    )
    assert found.passed
    assert {"linked rows", "person numbers"} <= {check.name for check in found.checks if check.passed}
    assert found.n_persons == 80


def test_files_say_what_the_release_says(published: Path) -> None:
    opened = la.open_release(published / "release")
    linked = opened.release.linked  # type: ignore[union-attr]
    assert linked is not None
    (frame,) = opened.tables.values()
    assert frame.columns[:2] == ["person", "visit"]
    assert frame["person"].to_list() == linked.person_of_row.tolist()
    assert opened.manifest.format == 3
    assert opened.columns == ["age", "sex", "place", "s"]
    counts = opened.counts("s")["published"].sum()
    assert counts == len(frame) == opened.sample(1)[0].height


def test_numbers_with_gaps_are_no_plain_numbering(published: Path, tmp_path: Path) -> None:
    """Gaps could carry a message: numbers of a folder run from 1 on."""
    opened = ReleaseFolder(published / "release")
    release = la.open_release(published / "release").release
    assert isinstance(release, Grouped)
    assert release.linked is not None
    doubled = replace(release, linked=replace(release.linked, person_of_row=2 * release.linked.person_of_row))
    write_release(tmp_path / "gaps", doubled, manifest=opened.manifest)
    found = la.verify(published / "visits.csv", tmp_path / "gaps")
    (check,) = (check for check in found.checks if check.name == "table files")
    assert not check.passed
    assert "person numbers are not numbered one after the other" in check.detail


@pytest.mark.parametrize("seed", range(6))
def test_histories_with_the_same_values_do_not_fail_the_tests_of_order(seed: int) -> None:
    """Four persons per group, all columns constant, the same values for everybody in another order."""
    rng = np.random.default_rng(seed)
    rows = [
        (person, 20 + 3 * person, person % 2, value)
        for person in range(20)
        for value in rng.permutation(["flu", "HIV", "cold", "asthma", "cancer"]).tolist()
    ]
    rng.shuffle(rows)  # type: ignore[arg-type]
    table = pl.DataFrame(rows, schema=["p", "age", "sex", "s"], orient="row")
    for draw in range(20):
        made = la.publish(
            table,
            qi=["age", "sex"],
            sensitive="s",
            person="p",
            rows="linked",
            model="k-anonymity:4",
            algorithm="groups:effort=fast",
            seed=draw,
        )
        assert made.audit.passed
