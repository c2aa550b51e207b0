"""What carried columns reveal, held against counting by hand, and the audit of an attacker who knows them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit import examine, examine_knowing, join_carried, measure_carried, verify
from lookalike.data.contracts import Promise
from lookalike.data.microdata import Microdata
from lookalike.data.release import Bucketized, Matched, Withheld
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from tests.audit.making import bucketized, grouped, mixed_table, ring
from tests.examples import examples
from tests.oracles.containment import classes, fits
from tests.oracles.promises import judged
from tests.oracles.truthful import prior

MODELS = (
    "k-anonymity:2",
    "k-anonymity:3",
    "l-diversity:2",
    "l-diversity:2,kind=distinct",
    "alpha-k:0.75,k=2",
    "beta-likeness:1",
    "delta-disclosure:1",
    "t-closeness:1/4",
)


def promises_of(data: Microdata, texts: Any = MODELS) -> list[Promise]:
    models = [parse_model(text) for text in texts]
    return [Promise(model, None if model.about_identity else data.domains.sensitive[0].name) for model in models]


@st.composite
def released(draw: st.DrawFn, forms: tuple[str, ...] = ("grouped", "matched", "bucketized")) -> tuple[Any, ...]:
    """A small table with one or two carried columns, a release of it, its graph and its record map."""
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    n_rows = draw(st.integers(2, 11))
    data = mixed_table(rng, n_rows, n_ages=8, n_values=3)
    if draw(st.booleans()):
        # The same column twice, under another name, with other values.
        (bill,) = data.domains.carried
        ward = replace(bill, attribute=replace(bill.attribute, name="ward"))
        other = rng.integers(0, bill.n_codes, (n_rows, 1)).astype(np.int32)
        data = replace(
            data, domains=replace(data.domains, carried=(bill, ward)), carried=np.hstack((data.carried, other))
        )
    groups = rng.integers(0, draw(st.integers(1, 3)), n_rows)
    groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    order, form = rng.permutation(n_rows), draw(st.sampled_from(forms))
    if form == "matched":
        release, graph = ring(rng, data, draw(st.integers(1, n_rows)))
        return data, release, graph, None
    if form == "bucketized":
        return data, bucketized(data, groups, rng.permutation(n_rows), order), None, order
    return data, grouped(data, groups, order), None, order


def units_by_hand(data: Any, release: Any, graph: Any, places: list[int]) -> list[list[int]]:
    """The rows that each class is left with for someone who knows these carried columns; matched: each record."""
    own = [tuple(release.carried[row, places].tolist()) for row in range(len(release.sensitive))]
    if isinstance(release, Matched):
        ends = graph.starts.tolist()
        members = [graph.rows[start:stop].tolist() for start, stop in zip(ends, ends[1:], strict=False)]
        wanted = [tuple(data.carried[record, places].tolist()) for record in range(data.n_rows)]
        return [[row for row in rows if own[row] == wanted[record]] for record, rows in enumerate(members)]
    names = release.bucket_of_sensitive.tolist() if isinstance(release, Bucketized) else classes(release)
    found: dict[Any, list[int]] = {}
    for row, name in enumerate(names):
        found.setdefault((name, own[row]), []).append(row)
    return list(found.values())


class TestBruteForce:
    @settings(max_examples=examples(200), deadline=None)
    @given(made=released())
    def test_promises_on_classes_that_carried_columns_split(self, made: Any) -> None:
        data, release, graph, _ = made
        promises = promises_of(data)
        examined = examine(data, release, promises, graph=graph)
        names = [domain.name for domain in data.domains.carried]
        for places in ([0], [len(names) - 1], [*range(len(names))]):
            audit = examine_knowing(examined, [names[place] for place in places]).audit
            rows = units_by_hand(data, release, graph, places)
            counts = [Counter(release.sensitive[unit, 0].tolist()) for unit in rows]
            for promise, verdict in zip(promises, audit.verdicts, strict=True):
                sizes = [{0: len(unit)} for unit in rows]
                by_identity = promise.model.about_identity
                wanted = judged(
                    promise.model,
                    sizes if by_identity else counts,
                    [data.n_rows] if by_identity else prior(data, 0),
                    None if by_identity else data.domains.sensitive[0],
                )
                assert verdict.passed == wanted.holds, (promise, places, verdict)
            assert audit.knows_carried == tuple(names[place] for place in places)

    @settings(max_examples=examples(200), deadline=None)
    @given(made=released())
    def test_figures_of_every_attacker(self, made: Any) -> None:
        data, release, graph, _ = made
        promises = promises_of(data, ("k-anonymity:2", "l-diversity:2", "beta-likeness:1"))
        risks = measure_carried(examine(data, release, promises, graph=graph))
        names = [domain.name for domain in data.domains.carried]
        assert [risk.columns for risk in risks] == [
            (),
            *((name,) for name in names),
            *([tuple(names)] if len(names) > 1 else []),
        ]
        for risk in risks:
            places = [names.index(name) for name in risk.columns]
            rows = units_by_hand(data, release, graph, places)
            people = [1 if release.form == "matched" else len(unit) for unit in rows]
            counts = [Counter(release.sensitive[unit, 0].tolist()) for unit in rows]
            assert risk.n_persons == data.n_rows
            assert risk.least == min(map(len, rows))
            assert risk.n_alone == sum(len(unit) == 1 for unit in rows)
            sure = [number for number, count in zip(people, counts, strict=True) if len(count) == 1]
            assert risk.n_certain == {"illness": sum(sure)}
            highest = max(Fraction(max(count.values()), count.total()) for count in counts)
            assert risk.highest == {"illness": highest}
            if not risk.columns:
                assert (risk.n_broken, risk.broken) == (0, {})
                continue
            of_promises = []
            for promise in promises:
                seen = [{0: len(unit)} for unit in rows] if promise.model.about_identity else counts
                shares = [data.n_rows] if promise.model.about_identity else prior(data, 0)
                column = None if promise.model.about_identity else data.domains.sensitive[0]
                fails = [not judged(promise.model, [unit], shares, column).holds for unit in seen]
                of_promises.append(fails)
                number = sum(count for count, failed in zip(people, fails, strict=True) if failed)
                assert risk.broken.get(str(promise), 0) == number, promise
            any_fails = [any(fails) for fails in zip(*of_promises, strict=True)]
            assert risk.n_broken == sum(count for count, failed in zip(people, any_fails, strict=True) if failed)

    @settings(max_examples=examples(150), deadline=None)
    @given(made=released())
    def test_candidate_rows_of_every_person(self, made: Any) -> None:
        """Rows that a reader finds who knows the person and the carried values, but not the group."""
        data, release, graph, order = made
        names = [domain.name for domain in data.domains.carried]
        for risk in measure_carried(examine(data, release, promises_of(data, ("k-anonymity:2",)), graph=graph)):
            if not risk.columns:
                assert risk.n_single_candidate is None
                continue
            places = [names.index(name) for name in risk.columns]
            single = certain = 0
            for record in range(data.n_rows):
                if release.form == "matched":
                    rows = graph.rows[graph.starts[record] : graph.starts[record + 1]].tolist()
                elif release.form == "bucketized":
                    own = release.bucket_of_sensitive[order.tolist().index(record)]
                    rows = np.flatnonzero(release.bucket_of_sensitive == own).tolist()
                else:
                    rows = [row for row in range(release.n_rows) if fits(release, data, record, row)]
                rows = [row for row in rows if (release.carried[row] == data.carried[record])[places].all()]
                single += len(rows) == 1
                certain += {*release.sensitive[rows, 0].tolist()} == {int(data.sensitive[record, 0])}
            assert risk.n_single_candidate == single
            assert risk.n_certain_candidates == {"illness": certain}


class TestPersons:
    @settings(max_examples=examples(120), deadline=None)
    @given(made=released(("grouped", "bucketized")), seed=st.integers(0, 10_000))
    def test_persons_with_several_rows(self, made: Any, seed: int) -> None:
        data, release, _, order = made
        rng = np.random.default_rng(seed)
        persons = np.unique(rng.integers(0, max(1, data.n_rows // 2), data.n_rows), return_inverse=True)[1]
        data = replace(data, persons=persons.reshape(-1).astype(np.int32))
        # Rows of different persons never are one person's: no two rows of one agree in everything that is known.
        keys = np.column_stack((data.persons, data.quasi, data.carried[:, :1]))
        repeats = len(np.unique(keys, axis=0)) < data.n_rows
        examined = examine(
            data, release, promises_of(data, ("k-anonymity:2",)), record_of_row=order, number_known=not repeats
        )
        risk = measure_carried(examined)[1]
        found: dict[Any, list[int]] = {}
        for row, name in enumerate(
            release.bucket_of_sensitive.tolist() if isinstance(release, Bucketized) else classes(release)
        ):
            found.setdefault((name, int(release.carried[row, 0])), []).append(int(order[row]))
        owners = [{int(data.persons[record]) for record in records} for records in found.values()]
        assert risk.n_persons == data.n_persons
        if risk.least is None:
            # Equal rows of a person in several groups: no number of persons is known.
            assert repeats
            return
        assert risk.least == min(map(len, owners))
        assert risk.n_alone == len(set().union(*(own for own in owners if len(own) == 1)))
        shared: set[int] = set()
        for own, records in zip(owners, found.values(), strict=True):
            values = {int(data.sensitive[record, 0]) for record in records}
            for value in values:
                holders = {int(data.persons[one]) for one in records if data.sensitive[one, 0] == value}
                if holders == own:
                    shared |= own
                    break
        assert risk.n_certain["illness"] == len(shared)

    def test_a_person_counts_once_however_many_rows_give_them_away(self) -> None:
        """Three persons with two rows each in one group; a carried number that one person has alone, twice."""
        data = mixed_table(np.random.default_rng(5), 6, missing=False)
        bills = np.array([0, 1, 2, 2, 0, 1], dtype=np.int32).reshape(-1, 1)
        data = replace(data, persons=np.array([0, 0, 1, 1, 2, 2], dtype=np.int32), carried=bills)
        order = np.arange(6)
        release = grouped(data, np.zeros(6, dtype=int), order)
        examined = examine(
            data, release, promises_of(data, ("k-anonymity:2",)), record_of_row=order, number_known=False
        )
        risk = measure_carried(examined)[1]
        assert (risk.n_persons, risk.n_single_candidate, risk.n_alone, risk.least) == (3, 1, 1, 1)
        assert risk.broken == {"k-anonymity:2": 1}


def test_rows_that_anybody_sets_aside_are_no_candidates() -> None:
    """A made-up value that no record has: its row hides nobody."""
    data = mixed_table(np.random.default_rng(2), 8, missing=False, n_values=2)
    release = grouped(data, np.zeros(8, dtype=int), np.arange(8))
    illness = data.domains.sensitive[0]
    wider = replace(illness, attribute=replace(illness.attribute, values=("s00", "s01", "s02")))
    wider = replace(wider, values=np.array(["s00", "s01", "s02"], dtype=object))
    data = replace(data, domains=replace(data.domains, sensitive=(wider,)))
    release = replace(
        release,
        domains=data.domains,
        group_of_row=np.append(release.group_of_row, 0).astype(np.int32),
        sensitive=np.vstack((release.sensitive, [[2]])).astype(np.int32),
        carried=np.vstack((release.carried, release.carried[:1])),
        withheld=Withheld(n_dummies=1, dummies=(np.array([0, 0, 1]),)),
    )
    examined = examine(data, release, promises_of(data, ("k-anonymity:2",)))
    assert measure_carried(examined)[0].least == 8


def test_figures_of_parts_add_up() -> None:
    rng = np.random.default_rng(3)
    data = mixed_table(rng, 12, missing=False)
    parts = []
    for half in (np.arange(6), np.arange(6, 12)):
        some = data.as_part_of_itself().take(half)
        release = grouped(some, np.arange(6) % 2, np.arange(6))
        parts.append(measure_carried(examine(some, release, promises_of(data, ("k-anonymity:3",))), candidates=False))
    joined = join_carried(parts)
    for whole, one, other in zip(joined, *parts, strict=True):
        assert whole.n_persons == 12
        assert whole.n_alone == one.n_alone + other.n_alone
        assert whole.least == min(one.least, other.least)
        assert whole.n_broken == one.n_broken + other.n_broken
        assert whole.highest["illness"] == max(one.highest["illness"], other.highest["illness"])
    assert join_carried([]) == ()


def test_a_column_that_is_not_carried_is_refused() -> None:
    data = mixed_table(np.random.default_rng(1), 6)
    examined = examine(data, grouped(data, np.zeros(6, dtype=int), np.arange(6)), promises_of(data))
    with pytest.raises(RecipeError, match="carried column"):
        examine_knowing(examined, ["age"])
    assert verify(data, examined.reading.release, promises_of(data)).knows_carried == ()
