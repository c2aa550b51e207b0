"""Promises under common knowledge, held against listing all assignments of people to rows on tiny tables."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.audit import examine
from lookalike.audit.conditioning import BY_ASSIGNMENTS, BY_ROWS, condition, share_rows
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Promise
from lookalike.data.knowledge import Kinds, Knowledge, sort_into_kinds
from lookalike.data.microdata import Microdata
from lookalike.models import parse_model
from tests.audit.making import bucketized, grouped, mixed_table, mixing_matrix, perturbed, ring
from tests.examples import examples
from tests.oracles.containment import classes, fits
from tests.oracles.promises import judged
from tests.oracles.truthful import prior

MODELS = ("k-anonymity:2", "k-anonymity:3", "l-diversity:2", "l-diversity:3", "beta-likeness:1", "alpha-k:0.75,k=2")


def promises_of(data: Microdata, texts: Any = MODELS) -> list[Promise]:
    models = [parse_model(text) for text in texts]
    return [Promise(model, None if model.about_identity else data.domains.sensitive[0].name) for model in models]


class TestShares:
    @settings(max_examples=examples(300), deadline=None)
    @given(data=st.data())
    def test_against_all_assignments(self, data: st.DataObject) -> None:
        people = data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
        n_people = sum(people)
        cuts = sorted(data.draw(st.lists(st.integers(1, max(1, n_people)), max_size=3)))
        ends = sorted({0, n_people, *cuts})
        rows = [after - before for before, after in zip(ends, ends[1:], strict=False)]
        able = [data.draw(st.lists(st.booleans(), min_size=len(people), max_size=len(people))) for _ in rows]
        kinds = [kind for kind, number in enumerate(people) for _ in range(number)]
        types = [number for number, count in enumerate(rows) for _ in range(count)]
        wanted = np.zeros((len(people), len(rows)), dtype=np.int64)
        n_assignments = 0
        for order in permutations(range(n_people)):
            if all(able[types[row]][kinds[person]] for person, row in enumerate(order)):
                n_assignments += 1
                for person, row in enumerate(order):
                    wanted[kinds[person], types[row]] += 1
        found = share_rows(tuple(people), tuple(rows), tuple(map(tuple, able)))
        if not n_assignments:
            assert found is None
            return
        assert found == tuple(tuple(Fraction(int(count), n_assignments) for count in line) for line in wanted)

    def test_the_one_woman_of_a_group_has_the_childbirth(self) -> None:
        """Four men, one woman; one childbirth that only she can have, four rows that anybody can."""
        found = share_rows((4, 1), (1, 4), ((False, True), (True, True)))
        assert found == ((0, 4), (1, 0))

    def test_large_classes_are_counted_or_given_up(self) -> None:
        assert share_rows((500, 500), (100, 900), ((False, True), (True, True)))[1][0] == 100
        many = tuple((place % 5 != 0, place % 5 != 1, place % 5 != 2, place % 5 != 3) for place in range(5))
        assert share_rows((50,) * 4, (40,) * 5, many) is None


@st.composite
def ruled(draw: st.DrawFn, forms: tuple[str, ...]) -> tuple[Any, ...]:
    """A tiny table, rules that are true of it, a release, its graph and record map."""
    rng = np.random.default_rng(draw(st.integers(0, 100_000)))
    n_rows = draw(st.integers(2, 8))
    data = mixed_table(rng, n_rows, n_ages=6, n_values=3, missing=False, carried=False)
    illness = data.domains.sensitive[0]
    # Rules by job: what nobody with the job has. Some are true.
    job = next(place for place, domain in enumerate(data.domains.quasi) if domain.name == "job")
    rules = []
    for code, text in enumerate(data.domains.quasi[job].texts):
        own = set(data.sensitive[data.quasi[:, job] == code, 0].tolist())
        lacking = [one for value, one in enumerate(illness.texts) if value not in own]
        if lacking and draw(st.booleans()):
            rules.append(f"- {{who: {{job: {text}}}, never: {{illness: [{', '.join(lacking)}]}}}}")
    text = "knowledge: 1\nrules:\n" + "\n".join(rules or ["- {who: {job: nobody}, never: {illness: s00}}"])
    kinds = sort_into_kinds(Knowledge.from_yaml(text), data)
    groups = np.unique(rng.integers(0, draw(st.integers(1, 2)), n_rows), return_inverse=True)[1].reshape(-1)
    order, form = rng.permutation(n_rows), draw(st.sampled_from(forms))
    if form == "matched":
        release, graph = ring(rng, data, draw(st.integers(1, n_rows)))
        return data, kinds, release, graph, order
    if form == "bucketized":
        return data, kinds, bucketized(data, groups, rng.permutation(n_rows), order), None, order
    return data, kinds, grouped(data, groups, order), None, order


def can(kinds: Kinds, data: Microdata, release: Any, record: int, row: int) -> bool:
    return bool(kinds.possible[0][kinds.kind_of_record[record], release.sensitive[row, 0]])


def by_rows(data: Any, kinds: Kinds, release: Any, graph: Any) -> list[list[list[int]]]:
    """For each record the rows left in each unit that is looked at for it."""
    found = []
    for record in range(data.n_rows):
        if release.form == "matched":
            units = [graph.rows[graph.starts[record] : graph.starts[record + 1]].tolist()]
        elif release.form == "bucketized":
            same = (release.quasi == data.quasi[record]).all(axis=1)
            own = set(release.bucket_of_quasi[same].tolist())
            units = [np.flatnonzero(release.bucket_of_sensitive == bucket).tolist() for bucket in sorted(own)]
        else:
            names = classes(release)
            held = {names[row] for row in range(release.n_rows) if fits(release, data, record, row)}
            units = [[row for row in range(release.n_rows) if names[row] == name] for name in held]
        left = [[row for row in unit if can(kinds, data, release, record, row)] for unit in units]
        found.append([unit for unit in left if unit])
    return found


@settings(max_examples=examples(200), deadline=None)
@given(made=ruled(("grouped", "matched", "bucketized")))
def test_impossible_rows_are_removed(made: Any) -> None:
    data, kinds, release, graph, _ = made
    examined = examine(data, release, promises_of(data), graph=graph)
    if not kinds.rules:
        assert condition(examined, kinds) == ()
        return
    left = by_rows(data, kinds, release, graph)
    units = [unit for record in left for unit in record]
    for one in condition(examined, kinds):
        if one.way != BY_ROWS:
            continue
        by_identity = one.promise.model.about_identity
        column, shares = (None, [data.n_rows]) if by_identity else (data.domains.sensitive[0], prior(data, 0))

        def count(unit: list[int], by_identity: bool = by_identity) -> Any:
            return {0: len(unit)} if by_identity else Counter(release.sensitive[unit, 0].tolist())

        wanted = judged(one.promise.model, [*map(count, units)], shares, column)
        assert one.verdict.passed == wanted.holds, one
        broken = sum(
            any(not judged(one.promise.model, [count(unit)], shares, column).holds for unit in record)
            for record in left
        )
        assert one.n_broken == broken


@settings(max_examples=examples(150), deadline=None)
@given(made=ruled(("grouped", "bucketized")))
def test_impossible_assignments_are_removed(made: Any) -> None:
    """Every order of a class's rows among its people that contradicts no rule, listed one by one."""
    data, kinds, release, graph, order = made
    examined = examine(data, release, promises_of(data), graph=graph, adversary=KNOWS_METHOD)
    if not kinds.rules:
        return
    names = release.bucket_of_sensitive.tolist() if release.form == "bucketized" else classes(release)
    members: dict[Any, list[int]] = {}
    rows_of: dict[Any, list[int]] = {}
    for row, name in enumerate(names):
        rows_of.setdefault(name, []).append(row)
        members.setdefault(name, []).append(int(order[row]))
    seen: dict[int, list[dict[int, Fraction]]] = {}
    chance: dict[int, list[Fraction]] = {}
    for name, people in members.items():
        # Readers of a bucket see the kinds of its people, and not who of equal people is in which bucket.
        of_row: list[Counter[int]] = [Counter() for _ in people]
        total = 0
        for dealt in permutations(rows_of[name]):
            if all(can(kinds, data, release, person, row) for person, row in zip(people, dealt, strict=True)):
                total += 1
                for place, row in enumerate(dealt):
                    of_row[place][row] += 1
        for person, counts in zip(people, of_row, strict=True):
            beliefs: dict[int, Fraction] = {}
            for row, number in counts.items():
                value = int(release.sensitive[row, 0])
                beliefs[value] = beliefs.get(value, Fraction(0)) + Fraction(number, total)
            seen.setdefault(person, []).append(beliefs)
            chance.setdefault(person, []).append(Fraction(max(counts.values()), total))
    shares = [Fraction(number, data.n_rows) for number in prior(data, 0)]
    for one in condition(examined, kinds, order):
        if one.way != BY_ASSIGNMENTS:
            continue
        model = one.promise.model
        if model.name == "k-anonymity":
            fails = [person for person, found in chance.items() if max(found) * model.k > 1]
        elif model.name == "l-diversity":
            fails = [p for p, found in seen.items() if any(max(one.values()) > 1 / model.ell for one in found)]
        elif model.name == "beta-likeness":
            fails = [
                person
                for person, found in seen.items()
                if any(
                    not judged(model, [scaled(beliefs)], prior(data, 0), data.domains.sensitive[0]).holds
                    for beliefs in found
                )
            ]
        else:
            continue
        assert one.verdict.passed == (not fails), (one, fails)
        if release.form == "grouped":
            assert one.n_broken == len(fails)
    assert sum(shares) == 1


def scaled(beliefs: dict[int, Fraction]) -> dict[int, int]:
    """The same probabilities as whole numbers."""
    common = np.lcm.reduce([belief.denominator for belief in beliefs.values()])
    return {value: int(belief * int(common)) for value, belief in beliefs.items()}


def test_redrawn_values_are_weighed_among_possible_ones() -> None:
    """Bayes by hand: two jobs, and a value that one of them never has."""
    rng = np.random.default_rng(4)
    data = mixed_table(rng, 40, missing=False, n_values=3, carried=False)
    job = next(place for place, domain in enumerate(data.domains.quasi) if domain.name == "job")
    sensitive = np.where(data.quasi[:, [job]] == 0, data.sensitive % 2, data.sensitive).astype(np.int32)
    data = replace(data, sensitive=sensitive)
    text = f"rules:\n- {{who: {{job: {data.domains.quasi[job].texts[0]}}}, never: {{illness: s02}}}}"
    kinds = sort_into_kinds(Knowledge.from_yaml(text), data)
    matrix = mixing_matrix(3, 4, 10)
    release = perturbed(rng, data, [matrix], rng.permutation(40))
    ceiling = Fraction(0)
    for kind in range(2):
        counts = np.where(kinds.possible[0][kind], prior(data, 0), 0)
        for shown in range(3):
            joint = matrix.weights[shown] * counts
            ceiling = max(ceiling, Fraction(int(joint.max()), int(joint.sum())))
    (one,) = condition(examine(data, release, promises_of(data, ("l-diversity:1",))), kinds)
    assert one.verdict.reached == 1 / ceiling
    assert one.verdict.passed


def test_what_is_not_decided_does_not_pass() -> None:
    rng = np.random.default_rng(1)
    data = mixed_table(rng, 12, missing=False, carried=False)
    job = next(place for place, domain in enumerate(data.domains.quasi) if domain.name == "job")
    own = set(data.sensitive[data.quasi[:, job] == 0, 0].tolist())
    lacking = next(text for code, text in enumerate(data.domains.sensitive[0].texts) if code not in own)
    text = f"rules:\n- {{who: {{job: {data.domains.quasi[job].texts[0]}}}, never: {{illness: {lacking}}}}}"
    kinds = sort_into_kinds(Knowledge.from_yaml(text), data)
    release = grouped(data, np.zeros(12, dtype=int), np.arange(12))
    asked = promises_of(data, ("t-closeness:0.9", "delta-disclosure:3"))
    for one in condition(examine(data, release, asked), kinds):
        assert one.n_broken is None
        assert not one.verdict.passed
        assert one.verdict.detail.startswith("not decided")
    several = replace(data, persons=np.array([0, 0, *range(1, 11)], dtype=np.int32))
    examined = examine(several, release, promises_of(several, ("k-anonymity:2",)), record_of_row=np.arange(12))
    found = condition(examined, kinds)
    assert [one.verdict.passed for one in found] == [False, None]
    assert all("one row" in one.verdict.detail for one in found)


def test_without_the_map_overlapping_groups_are_not_shown() -> None:
    rng = np.random.default_rng(1)
    data = mixed_table(rng, 12, missing=False, carried=False)
    kinds = Kinds(np.zeros(12, dtype=np.int64), (np.ones((1, 4), dtype=bool),), (object(),), ())  # type: ignore[arg-type]
    release = grouped(data, np.arange(12) % 2, np.arange(12))
    if all(sum(fits(release, data, record, row) for row in range(12)) == 6 for record in range(12)):
        pytest.skip("the groups do not overlap")
    examined = examine(data, release, promises_of(data, ("k-anonymity:2",)), adversary=KNOWS_METHOD)
    by_assignments = condition(examined, kinds)[1]
    assert by_assignments.verdict.is_open
    assert condition(examined, kinds, np.arange(12))[1].verdict.passed
