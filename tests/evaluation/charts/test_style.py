"""Letters, colours and shapes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lookalike.evaluation.charts.style import COLOURS, SHADES, WALL, clean, looks_of, measure_text, shade_of, shorten


def test_letters_are_as_wide_as_those_of_helvetica() -> None:
    assert measure_text("Will", 10) == (944 + 3 * 222) / 100
    assert measure_text("0123456789", 10) == 55.6
    assert measure_text("\u65e5\u672c", 10) == 20


@given(text=st.text(max_size=300), most=st.floats(20, 300))
def test_what_is_shortened_fits_and_begins_alike(text: str, most: float) -> None:
    shown = shorten(text, most)
    assert measure_text(shown) <= most
    assert shown == text or (shown[-1] == "\u2026" and text.startswith(shown[:-1]))


def test_the_second_time_around_looks_are_hollow() -> None:
    looks = list(looks_of([f"series {turn}" for turn in range(20)]).values())
    assert len(set(looks[:16])) == 16
    assert [look.hollow for look in looks] == [False] * 8 + [True] * 8 + [False] * 4


def test_every_series_has_its_look() -> None:
    looks = looks_of([f"series {turn}" for turn in range(12)], ["series 3"])
    assert len({look for name, look in looks.items() if name != "series 3"}) == 11
    assert looks["series 3"].shape == WALL
    assert [look.colour for look in looks.values()][:8] == list(COLOURS)


def test_shades_go_from_light_to_dark() -> None:
    assert [shade_of(share) for share in (-1, 0, 1, 2)] == ["#DCE9F5", "#DCE9F5", "#003A66", "#003A66"]
    assert shade_of(0.5) < shade_of(0.1)
    assert len(SHADES) == 2


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    """Found by hand: an escape character in a value ended the whole process."""
    assert clean("\x00red\x1b[0m\ud800\ufffe\uffff") == "\ufffdred\ufffd[0m\ufffd\ufffd\ufffd"
    assert clean("\u00e9 \u65e5\u672c \U0001f600\u2028") == "\u00e9 \u65e5\u672c \U0001f600\u2028"
    assert clean("a\tb\r\nc") == "a b  c"
