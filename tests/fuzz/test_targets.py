"""Every door, with hostile input for a moment, and again with the classics and all input that once was a fault.

`make fuzz` tries far more. A case is a file in tests/fuzz/cases, named by its target and what is hostile about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.judging import SECRET, Fault, tried
from fuzz.targets import NAMES, target
from lookalike.errors import DataError
from tests.examples import examples

CASES = sorted((Path(__file__).parent / "cases").iterdir())
SLOW = {"pages": 2, "databases": 20, "questions": 8, "releases": 8, "commands": 5, "manifests": 10, "delimited": 10}
"""Examples for targets that take some milliseconds each."""


@st.composite
def hostile(draw: st.DrawFn, name: str) -> bytes:
    """Honest input, or a piece of it, with words of its format in the wrong places."""
    data = bytearray(draw(st.sampled_from(target(name).SEEDS)))
    words = st.one_of(st.binary(max_size=4), *([st.sampled_from(target(name).WORDS)] if target(name).WORDS else []))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        data[start:end] = draw(words)
    return bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_input_is_refused_in_a_sentence(name: str) -> None:
    @settings(
        max_examples=examples(SLOW.get(name, 40)), deadline=None, derandomize=True, database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
    )  # fmt: skip
    @given(hostile(name))
    def tries(data: bytes) -> None:
        target(name).run(data)

    tries()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_known_hostile_input_is_no_fault(case: Path) -> None:
    target(case.name.partition("-")[0]).run(case.read_bytes())


def test_the_judge_finds_faults() -> None:
    def fails(error: Exception) -> None:
        raise error

    assert tried(lambda: None)
    assert not tried(lambda: fails(DataError("No.")))
    assert not tried(lambda: fails(DataError(f"No column {SECRET}.")), named=SECRET)
    for error, what in (
        (KeyError("x"), "KeyError"),
        (DataError("x" * 5000), "endless message"),
        (DataError(" "), "empty message"),
        (DataError(f"No {SECRET}."), "a value in a message"),
    ):
        with pytest.raises(Fault, match=what):
            tried(lambda error=error: fails(error))
