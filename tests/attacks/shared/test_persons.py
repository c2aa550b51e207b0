"""Attacks on persons who have several rows: each counts persons, by brute force on small tables, or is refused."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.attacks import ATTACKS, parse_attack
from lookalike.attacks.run import attack_target
from lookalike.attacks.shared.persons import are_right, list_known
from lookalike.data.contracts import Finding, Target
from lookalike.data.microdata import Microdata, Table
from lookalike.data.schema import Attribute, Role, Schema
from lookalike.errors import RecipeError
from lookalike.models import parse_model
from lookalike.progress import Progress, silent
from lookalike.randomness import Randomness
from tests.attacks.targets import attacked, promised, table
from tests.audit.making import bucketized, grouped, mixing_matrix, number_table, perturbed, ring, whole_numbers, words
from tests.examples import examples

FLU, HIV, COLD = range(3)
EXAMPLE_D = replace(
    table([30] * 4 + [40] * 4, [FLU, HIV, FLU, COLD, FLU, COLD, HIV, FLU]),
    persons=np.array([0, 0, 0, 1, 2, 2, 3, 4], dtype=np.int32),
)


def in_classes(
    data: Microdata, groups: Any, promise: str | None = None, *, mapped: bool = True, seed: int = 0
) -> Target:
    """The release of a partition, rows shuffled, with the private record map."""
    order = np.random.default_rng(seed).permutation(data.n_rows)
    release = grouped(data, groups, order)
    return Target(release=release, original=data, promises=promised(promise), record_of_row=order if mapped else None)


@pytest.fixture
def example_d() -> Target:
    return in_classes(EXAMPLE_D, [0] * 4 + [1] * 4)


def test_linkage_finds_persons_and_not_rows(example_d: Target) -> None:
    finding = attacked("linkage:threshold=0.4", example_d)
    assert finding.figures["highest prosecutor risk"] == 1 / 2
    assert finding.figures["mean prosecutor risk"] == pytest.approx((2 * 1 / 2 + 3 * 1 / 3) / 5)
    assert finding.n_affected == 2
    assert finding.exposure is not None
    assert finding.exposure.counts_persons
    assert parse_model("k-anonymity:2").level(finding.exposure).value == 2
    by_rows = attacked("linkage", replace(example_d, original=replace(EXAMPLE_D, persons=None)))
    assert by_rows.figures["highest prosecutor risk"] == 1 / 4


def test_beliefs_of_example_d(example_d: Target) -> None:
    homogeneity = attacked("homogeneity", example_d)
    assert homogeneity.figures["highest certainty"] == pytest.approx(2 / 3)
    assert homogeneity.n_affected == 0
    # Three of the four rows of the thirties are one person's, and any three of them hold flu.
    assert homogeneity.figures["persons with a certain value if the number of rows is known"] == 1
    skewness = attacked("skewness:1.2", example_d)
    # HIV and colds of the thirties, and HIV of nobody else: (1/2) / (2/5).
    assert skewness.figures["highest rise"] == pytest.approx(5 / 4)
    assert skewness.n_affected == 2
    assert skewness.figures["highest rise if the number of rows is known"] == pytest.approx((3 / 4) / (2 / 5))


def test_twenty_persons_with_five_rows_each_are_found_with_certainty() -> None:
    """Published by rows: five rows per class, k = 5 and l = 5, and every class is one person."""
    persons = np.repeat(np.arange(20), 5).astype(np.int32)
    data = replace(table(20 + persons, np.tile(np.arange(5), 20)), persons=persons)
    target = in_classes(data, persons, mapped=False)
    finding = attacked("linkage", target)
    assert finding.figures["highest prosecutor risk"] == finding.figures["mean prosecutor risk"] == 1
    assert finding.n_affected == 20
    assert "20 with certainty" in finding.sentence
    homogeneity = attacked("homogeneity", target)
    assert homogeneity.n_affected == 20
    assert homogeneity.score is not None
    assert (homogeneity.score.n_right, homogeneity.score.n_guesses) == (20, 20)
    # By rows the same release looks safe.
    safe = Target(release=target.release, original=replace(data, persons=None))
    assert attacked("linkage", safe).figures["highest prosecutor risk"] == 1 / 5
    assert attacked("homogeneity", safe).n_affected == 0


@st.composite
def visited(draw: st.DrawFn, *, constant: bool = False) -> tuple[Microdata, Any]:
    """Visits of some persons, and a partition of them."""
    n_rows = draw(st.integers(6, 24))
    seed = np.random.default_rng(draw(st.integers(0, 10_000)))
    persons = seed.integers(0, draw(st.integers(2, n_rows - 1)), n_rows)
    persons[:3] = 0, 0, 1
    persons = np.unique(persons, return_inverse=True)[1].reshape(-1).astype(np.int32)
    quasi = seed.integers(0, draw(st.integers(1, 8)), (n_rows, 2))
    if constant:
        quasi = quasi[np.unique(persons, return_index=True)[1]][persons]
    data = number_table(quasi, seed.integers(0, draw(st.integers(2, 5)), n_rows))
    groups = seed.integers(0, draw(st.integers(1, 5)), n_rows)
    return replace(data, persons=persons), np.unique(groups, return_inverse=True)[1].reshape(-1)


def cells_of(target: Target, group: int) -> tuple[Any, ...]:
    return tuple(
        (int(extents.lows[group]), int(extents.highs[group]))
        for extents in target.release.extents  # type: ignore[union-attr]
    )


def list_classes(target: Target) -> list[list[int]]:
    """The records of each class of identical cells."""
    held = defaultdict[Any, list[int]](list)
    assert target.record_of_row is not None
    for row, record in enumerate(target.record_of_row.tolist()):
        held[cells_of(target, int(target.release.group_of_row[row]))].append(record)  # type: ignore[union-attr]
    return list(held.values())


@dataclass
class ByHand:
    """Persons, values and classes as plain sets."""

    classes: list[list[int]]
    owner: list[int]
    value: list[int]

    @classmethod
    def of(cls, target: Target) -> ByHand:
        data = target.original
        assert data.persons is not None
        return cls(list_classes(target), data.persons.tolist(), data.sensitive[:, 0].tolist())

    def persons(self, records: list[int]) -> set[int]:
        return {self.owner[record] for record in records}

    def having(self, records: list[int], value: int) -> set[int]:
        return {self.owner[record] for record in records if self.value[record] == value}

    def belief(self, records: list[int], value: int) -> Fraction:
        return Fraction(len(self.having(records, value)), len(self.persons(records)))

    def by_number(self, records: list[int], value: int, person: int) -> Fraction:
        """Of all ways to take the person's number of rows, those with the value."""
        n_rows, n_with = len(records), [self.value[record] for record in records].count(value)
        taken = [self.owner[record] for record in records].count(person)
        return 1 - Fraction(comb(n_rows - n_with, taken), comb(n_rows, taken))


@settings(max_examples=examples(60))
@given(visited())
def test_linkage_by_brute_force(made: tuple[Microdata, Any]) -> None:
    target = in_classes(*made)
    known = ByHand.of(target)
    risk = {person: Fraction(0) for person in known.owner}
    for records in known.classes:
        for person in known.persons(records):
            risk[person] = max(risk[person], Fraction(1, len(known.persons(records))))
    finding = attacked("linkage:threshold=0.34", target)
    assert finding.figures["highest prosecutor risk"] == float(max(risk.values()))
    assert finding.figures["mean prosecutor risk"] == pytest.approx(float(sum(risk.values()) / len(risk)))
    assert finding.n_affected == sum(share > 0.34 for share in risk.values())
    largest = max(
        Fraction([known.owner[record] for record in records].count(person), len(records))
        for records in known.classes
        for person in known.persons(records)
    )
    assert finding.figures["highest share of a class's rows"] == pytest.approx(float(largest))
    certain = sum(share == 1 for share in risk.values())
    assert finding.figures["unique in the release"] == pytest.approx(certain / len(risk))


@settings(max_examples=examples(60))
@given(visited(), st.sampled_from(["1", "0.75", "0.5"]))
def test_homogeneity_by_brute_force(made: tuple[Microdata, Any], share: str) -> None:
    target = in_classes(*made)
    known = ByHand.of(target)
    caught, certain = set[int](), set[int]()
    highest = Fraction(0)
    for records in known.classes:
        beliefs = [known.belief(records, value) for value in set(known.value)]
        highest = max(highest, *beliefs)
        if max(beliefs) >= Fraction(share):
            caught |= known.persons(records)
        for person in known.persons(records):
            if max(known.by_number(records, value, person) for value in set(known.value)) == 1:
                certain.add(person)
    finding = attacked(f"homogeneity:{share}", target)
    assert finding.n_affected == len(caught)
    assert finding.figures["highest certainty"] == pytest.approx(float(highest))
    assert finding.figures["persons with a certain value if the number of rows is known"] == len(certain)
    assert finding.score is not None
    assert finding.score.n_guesses <= len(caught)
    if share == "1":
        assert finding.score.n_right == finding.score.n_guesses


@settings(max_examples=examples(60))
@given(visited())
def test_skewness_by_brute_force(made: tuple[Microdata, Any]) -> None:
    target = in_classes(*made)
    known = ByHand.of(target)
    everybody, anywhere = known.persons(list(range(len(known.owner)))), list(range(len(known.owner)))
    highest, by_number, affected = 0.0, 0.0, set[int]()
    for records in known.classes:
        for value in {known.value[record] for record in records}:
            share = Fraction(len(known.having(anywhere, value)), len(everybody))
            rise = known.belief(records, value) / share
            highest = max(highest, float(rise))
            if rise > Fraction("1.5"):
                affected |= known.persons(records)
            for person in known.persons(records):
                by_number = max(by_number, float(known.by_number(records, value, person) / share))
    finding = attacked("skewness:1.5", target)
    assert finding.figures["highest rise"] == pytest.approx(highest)
    assert finding.figures["highest rise if the number of rows is known"] == pytest.approx(by_number)
    assert finding.n_affected == len(affected)


def guess_by_hand(target: Target) -> list[int]:
    """Naive Bayes with one more of each, from the cells of the rows."""
    data, release = target.original, target.release
    values = release.sensitive[:, 0].tolist()
    frequency = [values.count(value) for value in range(data.domains.sensitive[0].n_codes)]
    order = sorted(range(len(frequency)), key=lambda value: -frequency[value])
    guesses = []
    for quasi in data.quasi.tolist():
        scores = []
        for value in order:
            score = math.log(frequency[value] / len(values)) if frequency[value] else -math.inf
            for place, code in enumerate(quasi):
                extents: Any = release.extents[place]  # type: ignore[union-attr]
                groups = release.group_of_row.tolist()  # type: ignore[union-attr]
                together = sum(
                    own == value and extents.lows[group] <= code <= extents.highs[group]
                    for own, group in zip(values, groups, strict=True)
                )
                score += math.log((together + 1) / (frequency[value] + data.domains.quasi[place].n_codes))
            scores.append(score)
        guesses.append(next(value for value, score in zip(order, scores, strict=True) if score >= max(scores) - 1e-9))
    return guesses


@settings(max_examples=examples(40))
@given(visited(constant=True))
def test_naive_bayes_by_brute_force(made: tuple[Microdata, Any]) -> None:
    """Every person's rows are alike in quasi-identifiers, so whichever of them is known gives the same guess."""
    target = in_classes(*made)
    known = ByHand.of(target)
    guess_of = dict(zip(known.owner, guess_by_hand(target), strict=True))
    anywhere = list(range(len(known.owner)))
    right = sum(person in known.having(anywhere, guess) for person, guess in guess_of.items())
    finding = attacked("naive-bayes", target)
    assert finding.score is not None
    assert (finding.score.n_right, finding.score.n_guesses) == (right, len(guess_of))
    most = max(len(known.having(anywhere, value)) for value in set(known.value))
    assert finding.baselines["most frequent value"] == pytest.approx(most / len(guess_of))
    assert finding.exposure is None
    assert finding.n_affected is None


@settings(max_examples=examples(40))
@given(visited(), st.integers(0, 99))
def test_corruption_takes_known_persons_out(made: tuple[Microdata, Any], seed: int) -> None:
    target = in_classes(*made, promise="l-diversity:2")
    data, known = target.original, ByHand.of(target)
    finding = attacked("corruption:known=1,repeats=1", target, seed)
    drawn = int(Randomness(seed).child("corruption", 0).permutation(data.n_persons)[0])
    certain, above = set[int](), set[int]()
    for records in known.classes:
        left = known.persons(records) - {drawn}
        for value in set(known.value):
            having = known.having(records, value) - {drawn}
            if left and len(having) == len(left):
                certain |= left
            if left and 2 * len(having) > len(left):
                above |= left
    assert finding.figures["persons with a certain value"] == len(certain)
    assert finding.n_affected == len(above)
    assert finding.score is not None
    assert finding.score.n_guesses == data.n_persons - 1


def test_a_guess_is_right_if_any_row_of_the_person_has_the_value() -> None:
    persons, rows = np.array([0, 0, 1], dtype=np.int32), np.array([0, 1, 2])
    data = replace(table([1, 2, 3], [0, 1, 2]), persons=persons)
    assert are_right(data, 0, np.array([1, 0, 0]), rows).tolist() == [True, True, False]
    assert are_right(data, 0, np.array([-1, 2, 2]), rows).tolist() == [False, False, True]
    assert len(list_known(data)) == 2
    by_rows = replace(data, persons=None)
    assert are_right(by_rows, 0, np.array([1, 1, 2]), rows).tolist() == [False, True, True]
    assert list_known(by_rows).tolist() == [0, 1, 2]


def release_of(form: str) -> Target:
    """Twelve persons with thirty rows, in some form, with a taxonomy for none."""
    rng = np.random.default_rng(4)
    data = number_table(rng.integers(0, 6, (30, 2)), rng.integers(0, 4, 30))
    data = replace(data, persons=np.sort(np.concatenate((np.arange(12), rng.integers(0, 12, 18)))).astype(np.int32))
    order, groups = rng.permutation(30), np.arange(30) % 5
    if form == "grouped":
        return in_classes(data, groups, "l-diversity:2")
    if form == "bucketized":
        other = rng.permutation(30)
        release: Any = bucketized(data, groups, order, other)
        return Target(release=release, original=data, promises=promised("l-diversity:2"), record_of_row=other)
    if form == "matched":
        return Target(release=ring(rng, data, 4)[0], original=data, promises=promised("l-diversity:2"))
    release = perturbed(rng, data, [mixing_matrix(4, 4, 7)], order)
    return Target(release=release, original=data, promises=promised("beta-likeness:3"))


@pytest.mark.parametrize("form", ["grouped", "bucketized", "matched", "perturbed"])
@pytest.mark.parametrize("name", ATTACKS)
def test_every_attack_counts_persons_or_says_why_not(name: str, form: str) -> None:
    target = release_of(form)
    attack, n_persons = parse_attack(name), target.original.n_persons
    reason = attack.refuses(target)
    if reason is not None:
        assert len(reason) > 20
        with pytest.raises(RecipeError):
            attack_target(target, [attack], Randomness(1))
        return
    for finding in attack.run(target, Randomness(1), silent):
        assert "person" in finding.sentence
        # A guess of singling out is a predicate, and there are more of these than people.
        if finding.score is not None and name != "singling-out":
            assert finding.score.n_guesses <= n_persons
        assert (finding.n_affected or 0) <= n_persons
        assert finding.exposure is None or finding.exposure.counts_persons
        assert not any("record" in figure for figure in finding.figures if figure != "contradicted records")
        most = max(
            len(set(target.original.persons[target.original.sensitive[:, 0] == code].tolist()))  # type: ignore[index]
            for code in range(4)
        )
        if "most frequent value" in finding.baselines:
            assert finding.baselines["most frequent value"] == pytest.approx(most / n_persons)


def test_which_attacks_are_made_on_groups_of_persons() -> None:
    found = attack_target(release_of("grouped"), [], Randomness(1))
    made = {attacked.finding.attack for attacked in found.made}
    assert made == {
        "linkage",
        "homogeneity",
        "skewness",
        "naive-bayes",
        "learner",
        "definetti",
        "corruption",
        "singling-out",
        "linkability",
        "inference",
    }
    assert set(found.not_made) == set(ATTACKS) - made


def test_overlapping_groups_without_the_record_map_are_not_counted() -> None:
    data = replace(table([1, 2, 2, 3], [0, 1, 0, 1]), persons=np.array([0, 0, 1, 2], dtype=np.int32))
    target = in_classes(data, [0, 0, 1, 1], mapped=False)
    for name in ("linkage", "homogeneity", "skewness", "corruption"):
        assert "--private" in (parse_attack(name).refuses(target) or "")
        assert parse_attack(name).refuses(in_classes(data, [0, 0, 1, 1])) is None


def test_kinds_are_counted_once_per_person() -> None:
    """Two values of one kind in two rows of one person make the kind no likelier than one does."""
    tree = {"Any": {"nerves": ["0", "1"], "skin": ["2", "3"]}}
    illness = words("s", [0, 1, 2, 0, 2, 3], ["0", "1", "2", "3"])
    schema = Schema(
        (
            Attribute(name="q0", role=Role.QUASI),
            Attribute(name="s", role=Role.SENSITIVE, taxonomy={"tree": tree}),
        )
    )
    data = Microdata.encode(Table((whole_numbers("q0", [1, 1, 1, 2, 2, 2]), illness)), schema)
    data = replace(data, persons=np.array([0, 0, 1, 2, 3, 3], dtype=np.int32))
    finding = attacked("similarity", in_classes(data, [0, 0, 0, 1, 1, 1]))
    # In each class one of two persons has nerves and one has skin; by rows it would be two of three.
    assert finding.figures["highest certainty, level 1"] == pytest.approx(1 / 2)
    assert finding.figures["persons certain of kind"] == 0
    assert finding.baselines["most frequent value"] == pytest.approx(1 / 2)


def test_composition_counts_persons() -> None:
    """Rows of one column in the first release, of the other in the second: each pair of classes shares one row."""
    data = number_table([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 2, 3])
    data = replace(data, persons=np.array([0, 0, 1, 2], dtype=np.int32))
    second = grouped(data, [0, 1, 0, 1], np.array([3, 1, 2, 0]))
    finding = attacked("composition", replace(in_classes(data, [0, 0, 1, 1]), others=(second,)))
    assert finding.score is not None
    assert (finding.score.n_right, finding.score.n_guesses) == (3, 3)
    assert finding.figures["persons left with one value"] == 3
    assert finding.figures["persons left with one value by one release"] == 0
    assert "3 of 3 persons" in finding.sentence


def test_an_attack_of_a_guest_that_knows_no_persons_is_not_made() -> None:
    class CountsRows:
        name: ClassVar[str] = "counts-rows"

        def __str__(self) -> str:
            return self.name

        def refuses(self, target: Target) -> str | None:
            return None

        def run(self, target: Target, rng: Randomness, progress: Progress) -> list[Finding]:
            raise AssertionError

    with pytest.raises(RecipeError, match="persons of this table have several"):
        attack_target(in_classes(EXAMPLE_D, [0] * 4 + [1] * 4), [CountsRows()], Randomness(1))  # type: ignore[list-item]


def test_households_are_named() -> None:
    schema = replace(
        EXAMPLE_D.schema, attributes=(*EXAMPLE_D.schema.attributes, Attribute(name="home", role=Role.HOUSEHOLD))
    )
    target = in_classes(replace(EXAMPLE_D, schema=schema), [0] * 4 + [1] * 4)
    for name in ("linkage", "homogeneity", "skewness", "naive-bayes", "corruption"):
        assert "household" in attacked(name, target).sentence


def linked_visits(n_persons: int = 40) -> Microdata:
    """Two or three visits per person, at rising ages."""
    rng = np.random.default_rng(8)
    persons = np.repeat(np.arange(n_persons), rng.integers(2, 4, n_persons)).astype(np.int32)
    ages = (20 + rng.integers(0, 30, n_persons))[persons] + rng.integers(0, 3, len(persons))
    data = number_table(ages.reshape(-1, 1), rng.integers(0, 6, len(persons)))
    return replace(data, persons=persons)


def test_rows_that_are_linked_are_read_together() -> None:
    """A class is that of persons whose rows show the same cells in the same order."""
    from lookalike.data.contracts import Promise
    from lookalike.data.person_settings import PersonSettings
    from lookalike.pipeline.recipe import Recipe, prepare
    from lookalike.pipeline.run import run

    data = linked_visits()
    schema = replace(data.schema, attributes=(*data.schema.attributes, Attribute(name="person", role=Role.PERSON)))
    data = replace(data, schema=schema)
    recipe = Recipe(
        schema=schema,
        promises=(Promise(parse_model("k-anonymity:4")),),
        persons=PersonSettings(rows="linked"),
        seed=3,
    )
    made = run(prepare(recipe, data))
    release: Any = made.release
    record_of_row = made.record_map.record_of_row
    seen = defaultdict[Any, set[int]](set)
    rows = defaultdict[int, list[tuple[int, int]]](list)
    for row, number in enumerate(release.linked.person_of_row.tolist()):
        rows[number].append((int(release.linked.visit_of_row[row]), row))
    target = Target(release=release, original=made.data, promises=made.promises, record_of_row=record_of_row)
    for visits in rows.values():
        cells = tuple(cells_of(target, int(release.group_of_row[row])) for _, row in sorted(visits))
        seen[cells].add(int(made.data.persons[record_of_row[visits[0][1]]]))  # type: ignore[index]
    least = min(map(len, seen.values()))
    assert least >= 4
    finding = attacked("linkage", target)
    assert finding.figures["highest prosecutor risk"] == 1 / least
    assert "quasi-identifiers of all rows" in finding.sentence
    homogeneity = attacked("homogeneity", target)
    assert (
        homogeneity.figures["highest certainty"]
        == homogeneity.figures["highest certainty if the number of rows is known"]
    )
    for name in ("naive-bayes", "learner", "definetti"):
        assert "one by one" in (parse_attack(name).refuses(target) or "")
    assert "--private" in (parse_attack("linkage").refuses(replace(target, record_of_row=None)) or "")
