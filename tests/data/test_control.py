"""Control groups: who is drawn, who is refused, and how their values are read through the table's domains."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from lookalike.data.control import (
    HeldOut,
    as_plain_release,
    check_apart,
    encode_control,
    hold_out,
    leave_out,
    nobody,
    read_share,
    take_rows,
)
from lookalike.data.microdata import Microdata, Table, texts_of
from lookalike.data.schema import Attribute, Kind, Role, Schema
from lookalike.errors import DataError, RecipeError, SchemaError
from lookalike.randomness import Randomness
from tests.audit.making import COLOURS, TREE, whole_numbers, words

SCHEMA = Schema.of(qi=["age", "job"], sensitive=["s"], categorical=["job", "s"])


def people(ages: list[int], jobs: list[int], values: list[int], *more: object) -> Table:
    named = ["clerk", "cook", "nurse", "smith"]
    return Table((whole_numbers("age", ages), words("job", jobs, named), whole_numbers("s", values), *more))  # type: ignore[arg-type]


def test_a_share_is_told_from_a_file() -> None:
    assert read_share("0.25") == read_share(0.25) == read_share("25 %") == Fraction(1, 4)
    assert read_share("people.csv") is None
    assert read_share(Path("0.1")) is None
    assert read_share(people([1], [0], [0])) is None
    for wrong in ("0", "1", "-0.1", 2):
        with pytest.raises(RecipeError, match="share between 0 and 1"):
            read_share(wrong)


def test_persons_are_held_out_with_all_their_rows() -> None:
    owners = np.repeat(np.arange(20), 3)
    table = people([20 + n % 30 for n in range(60)], [n % 4 for n in range(60)], [n % 3 for n in range(60)])
    table = Table((*table.columns, whole_numbers("who", owners)))
    schema = Schema.of(qi=["age", "job"], sensitive=["s"], person="who", categorical=["job", "s"])
    rest, held = hold_out(table, schema, Fraction(1, 5), Randomness(1).uniforms(60))
    assert (held.n_rows, len(held.rows), held.people.n_rows, rest.n_rows) == (60, 12, 12, 48)
    assert len(np.unique(owners[held.rows])) == 4
    assert not set(owners[held.rows].tolist()) & set(np.delete(owners, held.rows).tolist())
    assert "12 rows of 60" in held.note
    again, _ = hold_out(table, schema, Fraction(1, 5), Randomness(1).uniforms(60))
    assert (again["age"].codes == rest["age"].codes).all()


def test_everybody_is_as_likely_to_be_held_out() -> None:
    table = people(list(range(10)), [0] * 10, [0] * 10)
    times = np.zeros(10)
    for seed in range(400):
        times[hold_out(table, SCHEMA, Fraction(3, 10), Randomness(seed).uniforms(10))[1].rows] += 1
    assert times.sum() == 1200
    assert times.min() > 80
    assert times.max() < 160


def test_a_side_without_people_is_refused() -> None:
    table = people([1, 2, 3], [0, 1, 2], [0, 0, 1])
    for share in (Fraction(1, 10), Fraction(19, 20)):
        with pytest.raises(DataError, match="one side without people"):
            hold_out(table, SCHEMA, share, Randomness(1).uniforms(3))


def test_nothing_is_left_of_a_value_that_only_others_have() -> None:
    table = people([30, 40, 50], [0, 1, 2], [0, 1, 2])
    part = take_rows(table, np.array([0, 2]))
    assert part["age"].values.tolist() == [30, 50]
    assert list(part["job"].values) == ["clerk", "nurse"]
    assert [texts_of(one.values, one.type)[one.codes[1]] for one in part.columns] == ["50", "nurse", "2"]
    missing = take_rows(people([-1, 4, 5], [-1, 1, 2], [0, 0, 0]), np.array([0, 1]))
    assert missing["age"].n_missing == missing["job"].n_missing == 1


def test_rows_that_were_held_out_are_found_again() -> None:
    table = people(list(range(10)), [0] * 10, [0] * 10)
    rest, held = hold_out(table, SCHEMA, Fraction(3, 10), Randomness(1).uniforms(10))
    again, theirs = leave_out(table, held.rows, held.n_rows)
    assert (again["age"].values == rest["age"].values).all()
    assert (theirs["age"].values == held.people["age"].values).all()
    with pytest.raises(DataError, match="the table that the release was made from"):
        leave_out(take_rows(table, np.arange(9)), held.rows, held.n_rows)
    assert isinstance(held, HeldOut)


def test_a_person_in_both_is_refused() -> None:
    table, others = people([1, 2], [0, 1], [0, 1]), people([7, 8], [2, 3], [0, 1])
    table = Table((*table.columns, whole_numbers("who", [1, 2])))
    others = Table((*others.columns, whole_numbers("who", [2, 3])))
    schema = Schema.of(qi=["age", "job"], sensitive=["s"], person="who", categorical=["job", "s"])
    with pytest.raises(DataError, match='1 person of the control group is in the table as well, by column "who"'):
        check_apart(table, others, schema)


def test_the_same_people_are_refused_by_their_records() -> None:
    """All records of the table are different, so two of a hundred are more than the one that may be."""
    ages = list(range(100))
    table = people(ages, [n % 4 for n in ages], [0] * 100)
    for n_same in (1, 2):
        mixed = people(ages[:n_same] + [100 + n for n in ages[n_same:]], [n % 4 for n in ages], [0] * 100)
        if n_same == 1:
            check_apart(table, mixed, SCHEMA)
        else:
            with pytest.raises(DataError, match="2 records of 100 .* may be the same people"):
                check_apart(table, mixed, SCHEMA)
    with pytest.raises(DataError, match="same people"):
        check_apart(table, table, SCHEMA)


def test_records_that_are_alike_by_chance_are_not() -> None:
    rng = np.random.default_rng(3)
    drawn = [
        people(
            rng.integers(20, 40, 2000).tolist(), rng.integers(0, 4, 2000).tolist(), rng.integers(0, 5, 2000).tolist()
        )
        for _ in range(2)
    ]
    check_apart(*drawn, SCHEMA)
    # Nearly all records have a twin here, so equal records say nothing. Under more columns they do.
    ids = [whole_numbers("height", rng.integers(0, 2000, 2000).tolist()) for _ in range(2)]
    first, second = (Table((*table.columns, one)) for table, one in zip(drawn, ids, strict=True))
    fuller = Schema.of(qi=["age", "job", "height"], sensitive=["s"], categorical=["job", "s"])
    check_apart(first, second, fuller)
    with pytest.raises(DataError, match="where 0 % would be by chance"):
        check_apart(first, take_rows(first, np.arange(200)), fuller)


def test_a_control_group_needs_the_columns_of_the_table() -> None:
    with pytest.raises(SchemaError, match="in the control group"):
        check_apart(people([1], [0], [0]), Table((whole_numbers("age", [1]),)), SCHEMA)


def test_numbers_lie_between_and_other_values_are_nobodys() -> None:
    data = Microdata.encode(people([10, 20, 30], [0, 1, 0], [0, 1, 0]), SCHEMA)
    others = people([5, 15, 20, -1], [0, 1, 2, -1], [1, 0, 2, 1])
    control, notes = encode_control(others, data)
    wide = control.domains.quasi[0]
    assert wide.values.tolist() == [5, 10, 15, 20, 30]
    assert control.quasi[:3, 0].tolist() == [0, 2, 3]
    assert control.quasi[3, 0] == nobody(wide), "the table has no missing age"
    job = data.domains.quasi[1]
    assert control.domains.quasi[1] is job
    assert control.quasi[:, 1].tolist() == [0, 1, nobody(job), nobody(job)]
    assert control.sensitive[2, 0] == nobody(data.domains.sensitive[0])
    assert len(notes) == 1
    assert notes[0].startswith("2 records of 4 of the control group have a value of")
    assert '"job"' in notes[0]


def test_missing_values_are_those_of_the_table() -> None:
    data = Microdata.encode(people([10, -1, 30], [0, -1, 1], [0, 1, 0]), SCHEMA)
    control, notes = encode_control(people([-1, 20], [-1, 1], [0, 0]), data)
    assert control.quasi[0].tolist() == [4 - 1, data.domains.quasi[1].missing_code]
    assert control.domains.quasi[0].values.tolist() == [10, 20, 30]
    assert notes == ()


def test_a_number_column_of_words_is_refused() -> None:
    data = Microdata.encode(people([10, 20], [0, 1], [0, 1]), SCHEMA)
    wrong = Table((words("age", [0], ["old"]), words("job", [0], ["clerk"]), whole_numbers("s", [0])))
    with pytest.raises(DataError, match='"age" of the control group holds other values'):
        encode_control(wrong, data)


def test_taxonomies_orders_and_blocks_are_those_of_the_table() -> None:
    attributes = (
        Attribute(name="colour", role=Role.QUASI, taxonomy=TREE),
        Attribute(name="size", role=Role.QUASI, kind=Kind.ORDERED, order=("small", "middle", "large")),
        Attribute(name="pay", role=Role.SENSITIVE, prepare={"round": 10}),
    )

    def made(colours: list[int], sizes: list[int], pay: list[int]) -> Table:
        listed = ["large", "middle", "small"]
        return Table((words("colour", colours, COLOURS), words("size", sizes, listed), whole_numbers("pay", pay)))

    data = Microdata.encode(made([0, 1, 2, 3, 4, 5], [0, 1, 2, 0, 1, 2], [10, 22, 30, 41, 50, 60]), Schema(attributes))
    control, _ = encode_control(made([5, 0], [2, 0], [24, 99]), data)
    texts = [domain.texts for domain in data.domains.all]
    assert [texts[0][code] for code in control.quasi[:, 0]] == ["sky", "blue"]
    assert [texts[1][code] for code in control.quasi[:, 1]] == ["small", "large"]
    assert texts[2][control.sensitive[0, 0]] == texts[2][data.sensitive[1, 0]]
    assert control.sensitive[1, 0] == nobody(data.domains.sensitive[0])


def test_a_plain_table_becomes_a_release_of_single_values() -> None:
    data = Microdata.encode(people([10, 20, 30], [0, 1, 0], [0, 1, 0]), SCHEMA)
    made = people([10, 25, 30, 40], [0, 1, 2, 1], [0, 1, 0, 1])
    wide, release, notes = as_plain_release(made, data)
    assert release.n_rows == 3, "nobody in the table is a nurse"
    assert "1 synthetic record" in notes[0]
    values = wide.domains.quasi[0].values
    assert values.tolist() == [10, 20, 25, 30, 40]
    assert values[wide.quasi[:, 0]].tolist() == [10, 20, 30]
    assert values[release.extents[0].lows].tolist() == [10, 25, 40]  # type: ignore[union-attr]
