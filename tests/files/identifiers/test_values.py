from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lookalike as la
from lookalike.data.microdata import Microdata
from lookalike.data.schema import Attribute, Kind, Role, Schema, ValueType
from lookalike.errors import RecipeError
from lookalike.files.identifiers.values import examine_column, find_identifiers, is_shown, refuse_identifiers

SECRET = "ann.secret@example.org"
GIVEN = (
    "Anna Bernd Clara Daniel Emma Felix Greta Hans Ida Jakob Karin Lena Martin Nora Otto Paula Ruth Simon Tina Ulrich"
)


def texts(*values: str) -> Any:
    return np.array(sorted(values), dtype=object)


def people(**columns: list[Any]) -> Any:
    import polars as pl

    n_rows = 40
    usual = {"age": [20 + row % 5 for row in range(n_rows)], "ill": ["ab"[row % 2] for row in range(n_rows)]}
    return pl.DataFrame({**usual, **columns})


def test_each_kind_is_counted_once_per_value() -> None:
    values = texts(f"{SECRET} or {SECRET}", "call +41 44 668 18 00", f"{SECRET}, +41 44 668 18 01", "fine")
    assert find_identifiers(values, ValueType.STRING) == ({"e-mail addresses": 2, "phone numbers": 2}, 3)


def test_names_need_a_good_part_of_the_column() -> None:
    named = [f"{given} Keller" for given in GIVEN.split()]
    assert find_identifiers(texts(*named), ValueType.STRING)[1] == len(named)
    assert find_identifiers(texts(*named[:2], *(f"ward {number}" for number in range(40))), ValueType.STRING)[0] == {}
    assert find_identifiers(texts(*GIVEN.split()), ValueType.STRING)[0] == {"names of persons": 18}
    assert find_identifiers(texts(*GIVEN.split()[:5]), ValueType.STRING)[0] == {}
    titled = [f"seen by Dr. {name} today" for name in ("Keller", "Moser", "Huber")]
    assert find_identifiers(texts(*titled, *"abcdef"), ValueType.STRING)[0] == {"names of persons": 3}


def test_numbers_hold_cards_and_nothing_else() -> None:
    cards = np.array([4111111111111111, 4012888888881881, 5555555555554444])
    assert find_identifiers(cards, ValueType.INTEGER)[0] == {"payment card numbers": 3}
    assert find_identifiers(np.arange(4111111111110000, 4111111111110999), ValueType.INTEGER)[0] == {}
    assert find_identifiers(np.array([41446681800, 78051120]), ValueType.INTEGER)[0] == {}
    assert find_identifiers(np.array([1.5, 2.5]), ValueType.NUMBER)[0] == {}


@pytest.mark.parametrize(
    "roles",
    [{"qi": ["age"], "carry": ["note"]}, {"qi": ["age"], "sensitive": ["note"]}, {"qi": ["age", "note"]}],
)
def test_identifiers_are_refused_in_every_role_and_never_shown(roles: Any) -> None:
    table = people(note=[SECRET if row == 7 else "fine" for row in range(40)])
    with pytest.raises(RecipeError, match="--keep-identifiers note") as refused:
        la.publish(table, model="k-anonymity:2", algorithm="mondrian", **roles)
    assert "1 of its 2 different values hold e-mail addresses" in str(refused.value)
    assert "ann" not in str(refused.value)
    assert "example" not in str(refused.value)


def test_a_statement_publishes_them_and_is_repeated(tmp_path: Path) -> None:
    table = people(note=[SECRET if row == 7 else "fine" for row in range(40)])
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "ill", "carry": ["note"], "model": "k-anonymity:2"}
    made = la.publish(table, keep_identifiers=["note"], carry_anyway=["note"], algorithm="mondrian", **asked)
    assert any("you state that they identify nobody" in note for note in made.notes)
    made.write(tmp_path / "release")
    for name in ("README.txt", "report.html"):
        assert "states that they identify nobody" in (tmp_path / "release" / name).read_text()
    assert la.verify(table, tmp_path / "release").passed
    again = Schema.load(tmp_path / "release" / "schema.yaml")
    assert again["note"].keep_identifiers
    assert not again["ill"].keep_identifiers
    assert la.publish(table, schema=again, model="k-anonymity:2", algorithm="mondrian").audit.passed


def test_releases_in_parts_and_synthetic_records_refuse_them_too(tmp_path: Path) -> None:
    table = people(note=[SECRET if row == 7 else "fine" for row in range(40)])
    asked: dict[str, Any] = {"qi": ["age"], "sensitive": "ill", "carry": ["note"]}
    with pytest.raises(RecipeError, match="--keep-identifiers note"):
        la.publish(table, model="k-anonymity:2", part_rows=1000, out=tmp_path / "release", **asked)
    with pytest.raises(RecipeError, match="--keep-identifiers note"):
        la.synthesize(table, epsilon=1, **asked)


def test_quasi_identifiers_that_hide_values_get_a_caution() -> None:
    values = texts(SECRET, "bob@example.org")
    plain = Attribute(name="mail", role=Role.QUASI)
    grouped = Attribute(name="mail", role=Role.QUASI, kind=Kind.CATEGORICAL, taxonomy={"prefixes": [1]})
    assert is_shown(plain, ValueType.STRING)
    assert not is_shown(grouped, ValueType.STRING)
    assert not is_shown(plain, ValueType.INTEGER)
    found = examine_column(grouped, ValueType.STRING, values, shown=False)
    assert found is not None
    assert found.sentence.startswith('The quasi-identifier "mail" holds identifiers')


def test_what_became_other_is_not_published_and_not_refused() -> None:
    mails = ["fine" if row < 38 else f"p{row}@example.org" for row in range(40)]
    read = la.read_table(people(note=mails))
    kept = Schema((Attribute(name="note", role=Role.QUASI, taxonomy={"frequent": 5}),))
    assert refuse_identifiers(Microdata.encode(read, kept).domains) == ()
