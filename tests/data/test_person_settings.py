"""Settings of persons: what means nothing is refused, and what a release states is read back as it was."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.data.person_settings import KEPT, PersonSettings, StatedPersons
from lookalike.errors import RecipeError


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"rows": "two"}, "rows must be one of"),
        ({"keep": "best", "rows": "one"}, "keep must be one of"),
        ({"contribution": 0}, "1 or more, not 0"),
        ({"contribution": 3, "rows": "one"}, "Leave one"),
        ({"contribution": 1, "rows": "linked"}, "link nothing"),
        ({"keep": "first"}, "Add --rows one or --contribution"),
    ],
)
def test_settings_that_contradict_themselves(settings: dict[str, object], said: str) -> None:
    with pytest.raises(RecipeError, match=said):
        PersonSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "flag"),
    [
        ({"rows": "one"}, "--rows"),
        ({"rows": "linked"}, "--rows"),
        ({"contribution": 2}, "--contribution"),
        ({"number_known": False}, "--number-of-rows"),
    ],
)
def test_settings_of_persons_need_persons(settings: dict[str, object], flag: str) -> None:
    with pytest.raises(RecipeError, match=f"{flag} is about the rows of one person.*--person COLUMN"):
        PersonSettings(**settings).check(person=False)  # type: ignore[arg-type]


def test_rows_are_not_persons_where_a_column_says_whose_they_are() -> None:
    PersonSettings(rows_are_persons=True).check(person=False)
    with pytest.raises(RecipeError, match="Leave out one of the two"):
        PersonSettings(rows_are_persons=True).check(person=True)


@st.composite
def statements(draw: st.DrawFn) -> StatedPersons:
    if draw(st.booleans()):
        return StatedPersons(settings=PersonSettings(rows_are_persons=True))
    person, household = draw(st.sampled_from([("id", None), (None, "home"), ("id", "home")]))
    rows = draw(st.sampled_from(("apart", "one")))
    contribution = None if rows == "one" else draw(st.none() | st.integers(1, 9))
    cut = rows == "one" or contribution is not None
    keep = draw(st.sampled_from(KEPT)) if cut else "random"
    known = draw(st.booleans())
    settings = PersonSettings(rows=rows, keep=keep, contribution=contribution, number_known=known)
    return StatedPersons(person=person, household=household, settings=settings)


@given(statements())
def test_a_statement_is_read_back_as_it_was(stated: StatedPersons) -> None:
    assert StatedPersons.from_plain(json.loads(json.dumps(stated.to_plain()))) == stated
    assert all(sentence.endswith(".") for sentence in stated.sentences())
    salted = replace(stated, settings=replace(stated.settings, salt="0123456789abcdef" * 2))
    assert salted.without_salt() == stated


@given(statements())
def test_the_command_says_the_same(stated: StatedPersons) -> None:
    flags = stated.flags()
    if stated.unit == "row":
        assert flags == ["--rows-are-persons"]
        return
    said = dict(zip(flags[::2], flags[1::2], strict=True))
    assert said.get("--person") == stated.person
    assert said.get("--household") == stated.household
    assert said.get("--rows", "apart") == stated.settings.rows
    assert said.get("--contribution") == (stated.settings.contribution and str(stated.settings.contribution))
    assert (said.get("--number-of-rows") == "unknown") is not stated.settings.number_known


@pytest.mark.parametrize(
    "change",
    [
        {"salt": "abc"},
        {"salt": "0" * 32},
        {"salt": "a message of thirty-two letters!"},
        {"more": 1},
        {"number_known": "yes"},
        {"person": None},
        {"person": 3},
        {"rows": "linked by name"},
        {"contribution": True},
        {"contribution": -1},
        {"keep": "first"},
    ],
)
def test_other_statements_are_refused(change: dict[str, object]) -> None:
    """A salt has no room for a message, and nothing unknown is read past."""
    plain = {"person": "id", "rows": "apart", "keep": "random", "number_known": True}
    assert StatedPersons.from_plain(plain).person == "id"
    with pytest.raises((ValueError, TypeError)):
        StatedPersons.from_plain(plain | change)
