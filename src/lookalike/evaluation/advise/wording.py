"""Shares as percent in sentences, and plain data for JSON."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from lookalike.data.parameters import number_text


def percent(share: Fraction) -> str:
    """
    >>> percent(Fraction(1, 3)), percent(Fraction(4, 1000)), percent(Fraction(1, 250_000))
    ('33.3 %', '0.4 %', '0.0004 %')
    """
    return _three_digits(share, round)


def percent_at_most(share: Fraction) -> str:
    """Rounded up, so that "at most" stays true; also for shares far below a percent.

    >>> percent_at_most(Fraction(1, 3)), percent_at_most(Fraction(1, 4)), percent_at_most(Fraction(1, 700_000))
    ('33.4 %', '25 %', '0.000143 %')
    """
    return _three_digits(share, math.ceil)


def _three_digits(share: Fraction, rounded: Callable[[Fraction], int]) -> str:
    if share == 0:
        return "0 %"
    exponent = math.floor(math.log10(share.numerator) - math.log10(share.denominator)) - 2
    unit = Fraction(10) ** exponent
    return f"{number_text(rounded(share / unit) * unit * 100)} %"


def to_plain(content: Any) -> Any:
    """Dataclasses as mappings with their sentences, tuples as lists, fractions as exact text."""
    if dataclasses.is_dataclass(content) and not isinstance(content, type):
        fields = {field.name: to_plain(getattr(content, field.name)) for field in dataclasses.fields(content)}
        if isinstance(sentence := getattr(content, "sentence", None), str):
            fields["sentence"] = sentence
        return fields
    if isinstance(content, tuple | list):
        return [to_plain(entry) for entry in content]
    if isinstance(content, Fraction):
        return number_text(content)
    return content
