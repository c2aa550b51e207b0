"""The tree of errors and the wording that every message shares."""

from __future__ import annotations

import pytest

from lookalike import errors
from lookalike.errors import Infeasible, LookalikeError, RecipeError, Unsupported, counted, quoted, unknown_name


def test_one_except_clause_catches_everything_the_library_refuses() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert len(kinds) == 8
    assert all(issubclass(kind, LookalikeError) for kind in kinds)
    assert issubclass(Unsupported, RecipeError)
    assert not issubclass(LookalikeError, ValueError)


def test_the_drawn_tree_names_every_class() -> None:
    drawn = {line.split()[0] for line in (errors.__doc__ or "").splitlines() if line.startswith("  ")}
    defined = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert drawn == defined


def test_infeasible_says_the_nearest_that_can_be_kept() -> None:
    with_hint = Infeasible("5-diversity cannot be kept.", "l-diversity:3")
    assert with_hint.nearest == "l-diversity:3"
    assert str(with_hint) == "5-diversity cannot be kept. The nearest that can: l-diversity:3."
    without = Infeasible("Nothing can be kept.")
    assert (without.nearest, str(without)) == (None, "Nothing can be kept.")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("agee", ' Did you mean "age"?'),
        ("AGE", ' Did you mean "age"?'),
        ("zipcode", ' Did you mean "zip code"?'),
        ("qqqqq", ""),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(name: str, hint: str) -> None:
    said = unknown_name("column", name, ["age", "zip code", "sex"])
    assert said == f'There is no column "{name}".{hint} Known: age, zip code, sex.'


def test_several_near_names_are_all_offered() -> None:
    said = unknown_name("column", "date", ["date1", "date2", "other"])
    assert '"date1"' in said
    assert " or " in said


def test_long_lists_of_known_names_are_cut() -> None:
    said = unknown_name("column", "x", [f"column {number}" for number in range(100)])
    assert "column 39" in said
    assert "column 40" not in said
    assert "... and 60 more" in said


def test_where_nothing_is_known_the_message_says_so() -> None:
    assert unknown_name("model", "x", []) == 'There is no model "x". No model is known here.'


def test_quoted_names_stay_on_one_line_and_short() -> None:
    assert quoted("two\nlines\tand  spaces") == '"two lines and spaces"'
    assert quoted("x" * 80) == '"' + "x" * 80 + '"'
    assert quoted("x" * 500) == '"' + "x" * 77 + '..."'
    assert quoted(" ") == '" "'


def test_counts_read_as_english() -> None:
    assert counted(0, "row") == "0 rows"
    assert counted(1, "class", "classes") == "1 class"
    assert counted(1234567, "row") == "1,234,567 rows"
