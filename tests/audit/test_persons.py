"""Promises about persons with several rows, held against brute force, worked by hand, and with something wrong."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lookalike.audit import verify
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata, Table
from lookalike.data.persons import chance_of_value
from lookalike.data.release import Withheld
from lookalike.data.schema import Schema
from lookalike.errors import DataError
from lookalike.models import parse_model
from lookalike.pipeline.run import standard_measures
from tests.audit.making import bucketized, check, grouped, moved, number_table, whole_numbers
from tests.examples import examples
from tests.oracles.persons import classes_of, is_split, judge, look_at, share_of_draws
from tests.strategies import microdatas

MODELS = (
    "k-anonymity:2",
    "k-anonymity:3",
    "l-diversity:2",
    "l-diversity:1.5",
    "l-diversity:2,kind=distinct",
    "l-diversity:2,kind=entropy",
    "l-diversity:2,kind=recursive,c=3/2",
    "alpha-k:0.75,k=2",
    "beta-likeness:1",
    "beta-likeness:1/2,bound=basic",
    "beta-likeness:2,negative=1",
    "delta-disclosure:1",
    "f-privacy:theta=1,base=1/4",
    "t-closeness:1/4",
    "t-closeness:1/2,distance=kl",
    "rho-privacy:1/3,rho2=2/3",
)


def told(data: Microdata, release: Any, models: Any, record_of_row: Any, **known: Any) -> Any:
    promises = []
    for text in models:
        model = parse_model(text)
        promises.append(Promise(model, None if model.about_identity else data.domains.sensitive[0].name))
    return verify(data, release, promises, record_of_row=record_of_row, **known)


def verdict(audit: Any, model: str) -> Any:
    return next(one for one in audit.verdicts if str(one.promise if hasattr(one, "promise") else one.model) == model)


@st.composite
def released(draw: st.DrawFn) -> tuple[Microdata, Any, Any]:
    """A tiny table of persons with several rows, a release of any groups or buckets, and its record map."""
    data = draw(microdatas(min_rows=2, max_rows=9, n_sensitive=st.just(1)))
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    persons = rng.integers(0, draw(st.integers(1, data.n_rows)), data.n_rows)
    persons = np.unique(persons, return_inverse=True)[1].reshape(-1).astype(np.int32)
    assume(len(np.unique(persons)) < data.n_rows)
    if draw(st.booleans()):
        data = replace(data, quasi=data.quasi[np.unique(persons, return_index=True)[1]][persons])
    data = replace(data, persons=persons)
    groups = rng.integers(0, draw(st.integers(1, 3)), data.n_rows)
    if draw(st.booleans()):
        # Equal rows of a person stay together.
        for record in range(data.n_rows):
            same = (persons == persons[record]) & (data.quasi == data.quasi[record]).all(axis=1)
            groups[record] = groups[int(np.flatnonzero(same)[0])]
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    order = rng.permutation(data.n_rows)
    if draw(st.booleans()):
        return data, bucketized(data, groups, rng.permutation(data.n_rows), order), order
    return data, grouped(data, groups, order), order


class TestBruteForce:
    @settings(max_examples=examples(250), deadline=None)
    @given(made=released(), known=st.booleans())
    def test_every_model(self, made: Any, known: bool) -> None:
        data, release, order = made
        audit = told(data, release, MODELS, order, number_known=known)
        if is_split(data, classes_of(release, order.tolist())):
            assert not check(audit, "rows of a person").passed
            assert not any(one.passed for one in audit.verdicts)
            return
        seen = look_at(data, release, order.tolist(), 0)
        for text, one in zip(MODELS, audit.verdicts, strict=True):
            wanted = judge(parse_model(text), data, seen, 0, number_known=known or release.form == "bucketized")
            assert one.passed == wanted, (text, one, seen)

    @settings(max_examples=examples(120), deadline=None)
    @given(made=released())
    def test_without_the_record_map_nothing_false_passes(self, made: Any) -> None:
        data, release, order = made
        with_map, without = (told(data, release, MODELS, known) for known in (order, None))
        for one, other in zip(with_map.verdicts, without.verdicts, strict=True):
            assert one.passed or not other.passed

    @settings(max_examples=examples(200))
    @given(
        values=st.lists(st.integers(0, 2), min_size=1, max_size=8),
        n_taken=st.integers(1, 8),
    )
    def test_chance_of_a_value(self, values: list[int], n_taken: int) -> None:
        n_taken = min(n_taken, len(values))
        chance = chance_of_value(len(values), values.count(0), n_taken) if 0 in values else Fraction(0)
        assert chance == share_of_draws(values, 0, n_taken)

    def test_rows_spread_over_classes_show_no_more_than_together(self) -> None:
        """The inequality that the module states, for all small classes: any split of c rows over two of them."""
        sizes = [(n_rows, n_with) for n_rows in range(1, 8) for n_with in range(n_rows + 1)]
        for (w, n_v), (x, n_x) in product(sizes, repeat=2):
            for c in range(1, min(w, x) + 1):
                limit = max(_chance(w, n_v, c), _chance(x, n_x, c))
                for first in range(c + 1):
                    none = (1 - _chance(w, n_v, first)) * (1 - _chance(x, n_x, c - first))
                    assert 1 - none <= limit


def _chance(n_rows: int, n_with: int, n_taken: int) -> Fraction:
    return chance_of_value(n_rows, n_with, n_taken) if n_with and n_taken else Fraction(0)


class TestExampleD:
    """Section 2 of the specification: eight rows of five persons, in two classes."""

    FLU, HIV, COLD = range(3)
    PERSONS = (0, 0, 0, 1, 2, 2, 3, 4)
    VALUES = (FLU, HIV, FLU, COLD, FLU, COLD, HIV, FLU)

    @pytest.fixture
    def data(self) -> Microdata:
        # Ages differ within a class, so that equal rows of a person say nothing here.
        made = number_table(np.array([[30, 31, 32, 33, 40, 41, 42, 43]]).T, self.VALUES)
        return replace(made, persons=np.array(self.PERSONS, dtype=np.int32))

    @pytest.fixture
    def release(self, data: Microdata) -> Any:
        return grouped(data, [0, 0, 0, 0, 1, 1, 1, 1], np.arange(8))

    def test_table(self, data: Microdata) -> None:
        assert data.prior(0).tolist() == [3, 2, 2]
        assert data.n_persons == 5
        assert replace(data, persons=None).prior(0).tolist() == [4, 2, 2]

    def test_by_rows(self, data: Microdata, release: Any) -> None:
        audit = told(replace(data, persons=None), release, ["k-anonymity:4", "beta-likeness:0,bound=basic"], None)
        assert all(one.passed for one in audit.verdicts)

    def test_by_persons(self, data: Microdata, release: Any) -> None:
        audit = told(data, release, ["k-anonymity:4", "k-anonymity:2"], np.arange(8))
        assert [one.passed for one in audit.verdicts] == [False, True]
        assert audit.verdicts[0].reached == 2
        seen = look_at(data, release, range(8), 0)
        assert [one.n_persons for one in seen] == [2, 3]
        half, third = Fraction(1, 2), Fraction(1, 3)
        assert seen[0].by_persons == {self.FLU: half, self.HIV: half, self.COLD: half}
        assert seen[1].by_persons == {self.FLU: 2 * third, self.HIV: third, self.COLD: third}

    def test_beta_of_hiv(self, data: Microdata) -> None:
        """(1/2 - 2/5) / (2/5): everything but the first class and HIV is below that."""
        release = grouped(data, [0, 0, 0, 0, 1, 1, 1, 1], np.arange(8))
        audit = told(data, release, ["beta-likeness:1,bound=basic"], np.arange(8), number_known=False)
        assert audit.verdicts[0].reached == Fraction(1, 4)

    def test_somebody_who_knows_of_three_visits(self, data: Microdata, release: Any) -> None:
        several = look_at(data, release, range(8), 0)[0].several
        assert several == {self.FLU: 1, self.HIV: Fraction(3, 4), self.COLD: Fraction(3, 4)}
        for known, ell in ((True, Fraction(1)), (False, Fraction(3, 2))):
            audit = told(data, release, ["l-diversity:1.5"], np.arange(8), number_known=known)
            assert audit.verdicts[0].reached == ell
            assert audit.verdicts[0].passed is not known


class TestEqualRowsInSeveralClasses:
    """Three rows of one person, each in a bucket of three values: each bucket says 1/3, together they say more."""

    @pytest.fixture
    def data(self) -> Microdata:
        quasi = [[50], [50], [50], [1], [2], [3], [4], [5], [6]]
        made = number_table(quasi, [0, 1, 2, 1, 2, 0, 2, 0, 1])
        return replace(made, persons=np.array([0, 0, 0, 1, 2, 3, 4, 5, 6], dtype=np.int32))

    BUCKETS = (0, 1, 2, 0, 0, 1, 1, 2, 2)

    def test_what_a_reader_believes(self, data: Microdata) -> None:
        """Every way to hand out the values of each bucket: in 19 of 27 the person has value 0 in some row."""
        worlds = [*product(range(3), repeat=3)]
        assert Fraction(sum(0 in world for world in worlds), len(worlds)) == Fraction(19, 27)

    @pytest.mark.parametrize("known", [True, False])
    def test_the_audit_refuses_it(self, data: Microdata, known: bool) -> None:
        release = bucketized(data, self.BUCKETS, np.arange(9), np.arange(9))
        audit = told(data, release, ["l-diversity:3", "k-anonymity:2"], np.arange(9), number_known=known)
        assert "equal quasi-identifiers of 1 person are in several buckets" in check(audit, "rows of a person").detail
        assert not check(audit, "rows of a person").passed
        assert not any(one.passed for one in audit.verdicts)

    def test_without_the_map_it_is_open(self, data: Microdata) -> None:
        release = bucketized(data, self.BUCKETS, np.arange(9), np.arange(9))
        assert not any(one.passed for one in told(data, release, ["l-diversity:3"], None).verdicts)

    def test_groups_that_overlap(self, data: Microdata) -> None:
        """A person's equal rows fit both groups and lie in both."""
        made = number_table([[5], [5], [1], [9], [2], [8]], [0, 1, 1, 0, 2, 2])
        made = replace(made, persons=np.array([0, 0, 1, 2, 3, 4], dtype=np.int32))
        release = grouped(made, [0, 1, 0, 1, 0, 1], np.arange(6))
        audit = told(made, release, ["k-anonymity:3", "l-diversity:2"], np.arange(6))
        assert not check(audit, "rows of a person").passed
        assert not any(one.passed for one in audit.verdicts)
        assert not told(made, release, ["k-anonymity:3"], None).passed

    def test_different_rows_in_several_groups_are_counted(self, data: Microdata) -> None:
        made = number_table([[1], [9], [1], [9]], [0, 1, 1, 0])
        made = replace(made, persons=np.array([0, 0, 1, 2], dtype=np.int32))
        audit = told(made, grouped(made, [0, 1, 0, 1], np.arange(4)), ["k-anonymity:2"], np.arange(4))
        assert audit.passed
        assert "1 of 3 persons have rows in several groups" in check(audit, "rows of a person").detail


class TestPlanted:
    """An honest release by persons, with one thing wrong."""

    N_PERSONS, N_EACH = 40, 3

    @pytest.fixture
    def data(self) -> Microdata:
        rng = np.random.default_rng(7)
        owners = np.repeat(np.arange(self.N_PERSONS), self.N_EACH)
        quasi = np.column_stack((owners, rng.integers(0, 3, len(owners))))
        made = number_table(quasi, rng.permutation(np.arange(len(owners)) % 30))
        return replace(made, persons=owners.astype(np.int32))

    @pytest.fixture
    def groups(self, data: Microdata) -> Any:
        """Ten persons with consecutive numbers per group."""
        assert data.persons is not None
        return data.persons // 10

    @pytest.fixture
    def order(self, data: Microdata) -> Any:
        return np.random.default_rng(8).permutation(data.n_rows)

    ASKED = ("k-anonymity:10", "l-diversity:2")

    def hold(self, data: Microdata, groups: Any, order: Any, **changed: Any) -> Any:
        release = replace(grouped(data, groups, order), **changed)
        return told(data, release, self.ASKED, order)

    def test_honest(self, data: Microdata, groups: Any, order: Any) -> None:
        assert self.hold(data, groups, order).passed

    def test_one_row_moved_to_another_group(self, data: Microdata, groups: Any, order: Any) -> None:
        """The row no longer fits its group's cells."""
        release = grouped(data, groups, order)
        moved_row = release.group_of_row.copy()
        moved_row[0] = (moved_row[0] + 1) % 4
        audit = told(data, replace(release, group_of_row=moved_row), self.ASKED, order)
        assert not check(audit, "record map").passed
        assert not audit.passed

    def test_an_equal_row_moved_to_another_group_that_is_widened_for_it(
        self, data: Microdata, groups: Any, order: Any
    ) -> None:
        data = replace(data, quasi=data.quasi * np.array([1, 0], dtype=np.int32))
        assert self.hold(data, groups, order).passed
        moved_record = groups.copy()
        moved_record[0] = 3
        audit = self.hold(data, moved_record, order)
        assert check(audit, "record map").passed
        assert "1 person" in check(audit, "rows of a person").detail
        assert not audit.passed

    def test_rows_of_a_person_doubled_in_place_of_anothers(self, data: Microdata, groups: Any, order: Any) -> None:
        release = grouped(data, groups, order)
        assert data.persons is not None
        rows = np.arange(data.n_rows)
        mine, other = (np.flatnonzero(data.persons[order] == person) for person in (0, 1))
        rows[other] = mine
        audit = told(data, moved(release, rows), self.ASKED, order[rows])
        assert not check(audit, "values kept").passed
        assert "a record twice" in check(audit, "record map").detail
        assert not audit.passed

    @pytest.mark.parametrize("fault", ["shifted", "short", "beyond"])
    def test_wrong_record_map(self, data: Microdata, groups: Any, order: Any, fault: str) -> None:
        release = grouped(data, groups, order)
        wrong = {"shifted": np.roll(order, 1), "short": order[1:], "beyond": order + 1}[fault]
        audit = told(data, release, self.ASKED, wrong)
        assert not check(audit, "record map").passed
        assert not audit.passed

    def test_ten_rows_of_one_person(self, data: Microdata, groups: Any, order: Any) -> None:
        """The group has ten rows, and one person."""
        assert data.persons is not None
        persons = data.persons.copy()
        persons[:30] = 0
        data = replace(data, persons=np.unique(persons, return_inverse=True)[1].reshape(-1).astype(np.int32))
        audit = self.hold(data, groups, order)
        assert [one.passed for one in audit.verdicts] == [False, False]
        assert audit.verdicts[0].reached == 1

    def test_values_swapped_so_that_too_many_persons_have_one(self, data: Microdata, groups: Any, order: Any) -> None:
        """Six of ten persons get the value in one row each: 20 % of the rows, 60 % of the persons."""
        assert data.persons is not None
        sensitive = data.sensitive.copy()
        firsts = np.unique(data.persons, return_index=True)[1]
        sensitive[firsts[:6], 0] = 0
        data = replace(data, sensitive=sensitive)
        by_rows = told(replace(data, persons=None), grouped(data, groups, order), ["l-diversity:2"], None)
        assert by_rows.passed
        for known in (True, False):
            audit = told(data, grouped(data, groups, order), ["l-diversity:2"], order, number_known=known)
            assert [one.passed for one in audit.verdicts] == [False]

    def test_row_left_out_and_put_back(self, data: Microdata, groups: Any, order: Any) -> None:
        release = grouped(data, groups, order)
        counts = (np.bincount(data.sensitive[order[-1:], 0], minlength=data.domains.sensitive[0].n_codes),)
        kept = replace(moved(release, np.arange(data.n_rows - 1)), withheld=Withheld(suppressed=counts, n_suppressed=1))
        # One of three rows of a person is left out: the persons of its group stay ten.
        assert told(data, kept, self.ASKED, order[:-1]).passed
        audit = told(data, replace(release, withheld=kept.withheld), self.ASKED, order)
        assert not check(audit, "number of rows").passed

    def test_a_person_in_two_households(self) -> None:
        table = Table(
            (
                whole_numbers("age", [1, 2, 3, 4]),
                whole_numbers("p", [1, 1, 2, 3]),
                whole_numbers("h", [1, 2, 2, 1]),
                whole_numbers("s", [1, 2, 3, 4]),
            )
        )
        with pytest.raises(DataError, match="households"):
            Microdata.encode(table, Schema.of(qi=["age"], sensitive=["s"], person="p", household="h"))

    def test_households_are_named_where_they_are_counted(self) -> None:
        table = Table(
            (
                whole_numbers("age", [1, 9, 1, 9]),
                whole_numbers("p", [1, 2, 3, 4]),
                whole_numbers("h", [1, 1, 2, 3]),
                whole_numbers("s", [1, 2, 3, 4]),
            )
        )
        data = Microdata.encode(table, Schema.of(qi=["age"], sensitive=["s"], person="p", household="h"))
        audit = told(data, grouped(data, [0, 1, 0, 1], np.arange(4)), ["k-anonymity:2"], np.arange(4))
        assert audit.passed
        found = check(audit, "rows of a person").detail
        assert "1 of 3 households have rows in several groups" in found
        assert "several rows of a household" in found
        assert "4 records of 3 households (0 suppressed, 0 made up); promises count households;" in str(audit)

    def test_a_limit_for_households_is_none_for_their_members(self) -> None:
        """One household of six with the same value, and two of one person each."""
        table = Table(
            (
                whole_numbers("age", [1] * 8),
                whole_numbers("p", list(range(8))),
                whole_numbers("h", [0] * 6 + [1, 2]),
                whole_numbers("s", [9] * 6 + [1, 2]),
            )
        )
        data = Microdata.encode(table, Schema.of(qi=["age"], sensitive=["s"], person="p", household="h"))
        made = grouped(data, [0] * 8, np.arange(8))
        measures = standard_measures()
        audit = told(data, made, ["l-diversity:3"], np.arange(8), measures=measures, number_known=False)
        assert audit.passed
        levels = {line.model: line.reached for line in audit.measured}
        assert (levels["k-anonymity"], levels["k-anonymity (persons)"]) == (3, 8)
        assert (levels["l-diversity"], levels["l-diversity (persons)"]) == (3, Fraction(4, 3))
