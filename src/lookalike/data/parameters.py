"""Parameters of models and algorithms: fields that read numbers exactly, check their range and print back as text.

A parameter is a descriptor on a frozen dataclass: it takes whatever a user may write and keeps the exact value, so
`TCloseness("0.2").t` is 1/5 and a type checker knows both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import MISSING
from fractions import Fraction
from typing import Any, Generic, TypeVar

from lookalike.data.notation import Number, as_fraction, number_text, split, unescaped
from lookalike.errors import RecipeError, quoted, unknown_name

Kept = TypeVar("Kept")
Given = TypeVar("Given")


class Parameter(Generic[Kept, Given]):
    """A field that keeps what `read` makes of the value given."""

    def __init__(self, *, default: Any = MISSING) -> None:
        self.default = default
        self.field = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.field = name

    def __get__(self, model: object | None, owner: type | None = None) -> Kept:
        if model is not None:
            kept: Kept = model.__dict__[self.field]
            return kept
        if self.default is MISSING:
            # How a dataclass learns that a field has no default.
            raise AttributeError(self.field)
        default: Kept = self.default
        return default

    def __set__(self, model: object, value: Given) -> None:
        model.__dict__[self.field] = self.read(value, f"{getattr(model, 'name', '')}: {self.field}")

    def read(self, value: Given, where: str) -> Kept:
        raise NotImplementedError


class _Bounded:
    """A range of numbers, both ends included unless `above` or `below` leave one out."""

    def __init__(
        self, low: Number | None, high: Number | None, above: Number | None, below: Number | None, *, whole: bool
    ) -> None:
        self._low = None if low is None else as_fraction(low)
        self._high = None if high is None else as_fraction(high)
        self._above = None if above is None else as_fraction(above)
        self._below = None if below is None else as_fraction(below)
        self._whole = whole

    def read(self, value: object, where: str) -> Fraction:
        try:
            number = as_fraction(value)
        except (ValueError, ArithmeticError):
            raise RecipeError(f"{where} is {quoted(str(value))}. It must be {self}.") from None
        inside = (
            (self._low is None or number >= self._low)
            and (self._high is None or number <= self._high)
            and (self._above is None or number > self._above)
            and (self._below is None or number < self._below)
            and (not self._whole or number.denominator == 1)
        )
        if not inside:
            raise RecipeError(f"{where} is {number_text(number)}. It must be {self}.")
        return number

    def __str__(self) -> str:
        limits = [
            f"{word} {number_text(limit)}"
            for word, limit in (
                ("at least", self._low),
                ("above", self._above),
                ("at most", self._high),
                ("below", self._below),
            )
            if limit is not None
        ]
        return " ".join(["a whole number" if self._whole else "a number", " and ".join(limits)]).strip()


class Exact(Parameter[Fraction, Number]):
    """A number, kept as a fraction."""

    def __init__(
        self,
        *,
        low: Number | None = None,
        high: Number | None = None,
        above: Number | None = None,
        below: Number | None = None,
        default: Any = MISSING,
    ) -> None:
        super().__init__(default=default)
        self._range = _Bounded(low, high, above, below, whole=False)

    def read(self, value: Number, where: str) -> Fraction:
        return self._range.read(value, where)


class OptionalExact(Parameter[Fraction | None, Number | None]):
    """A number that may be left out, kept as a fraction."""

    def __init__(self, *, low: Number | None = None, high: Number | None = None, above: Number | None = None) -> None:
        super().__init__(default=None)
        self._range = _Bounded(low, high, above, None, whole=False)

    def read(self, value: Number | None, where: str) -> Fraction | None:
        return None if value is None else self._range.read(value, where)


class Whole(Parameter[int, Number]):
    """A whole number, kept as such."""

    def __init__(self, *, low: int, high: int | None = None, default: Any = MISSING) -> None:
        super().__init__(default=default)
        self._range = _Bounded(low, high, None, None, whole=True)

    def read(self, value: Number, where: str) -> int:
        return int(self._range.read(value, where))


class Choice(Parameter[str, str]):
    """One of a few words."""

    def __init__(self, *words: str, default: str) -> None:
        super().__init__(default=default)
        self.words = words

    def read(self, value: str, where: str) -> str:
        if value not in self.words:
            raise RecipeError(f"{where}: {unknown_name('choice', str(value), self.words)}")
        return value


class ChoiceOrNumber(Parameter[str, Number]):
    """One of a few words, or a number above zero, kept as text."""

    def __init__(self, *words: str, default: str) -> None:
        super().__init__(default=default)
        self.words = words
        self._range = _Bounded(None, None, 0, None, whole=False)

    def read(self, value: Number, where: str) -> str:
        if value in self.words:
            return str(value)
        try:
            return number_text(self._range.read(value, where))
        except RecipeError:
            known = ", ".join(self.words)
            raise RecipeError(f"{where} is {quoted(str(value))}. It must be {known} or a number above 0.") from None


class Values(Parameter[tuple[str, ...] | None, str | Iterable[str] | None]):
    """Some values of the sensitive column, as the table writes them; as one text, parted by bars."""

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: str | Iterable[str] | None, where: str) -> tuple[str, ...] | None:
        if value is None:
            return None
        names = [unescaped(part) for part in split(value, "|")] if isinstance(value, str) else [*map(str, value)]
        if not names or "" in names or len(set(names)) != len(names):
            raise RecipeError(f"{where} must name at least one value, and each value once: {self.field}=flu|cold.")
        return tuple(sorted(names))
