"""Parameters of models: fields that read numbers exactly, check their range and print back as text.

A parameter is a descriptor on a frozen dataclass: it takes whatever a user may write and keeps the exact value, so
`TCloseness("0.2").t` is 1/5 and a type checker knows both sides. `model_text` writes a model as `parsing` reads it.
In text, a comma ends a parameter and a bar or colon parts names; a backslash before such a sign takes it as it is.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Iterable
from dataclasses import MISSING
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

from lookalike.errors import RecipeError, quoted, unknown_name
from lookalike.models.exact import Number, as_fraction, number_text

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

    def __init__(self, *, low: int) -> None:
        super().__init__()
        self._range = _Bounded(low, None, None, None, whole=True)

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


def split(text: str, sign: str) -> list[str]:
    r"""The parts between signs that no backslash precedes; backslashes stay.

    >>> split(r"a\,b,c", ",")
    ['a\\,b', 'c']
    """
    parts, escaped = [""], False
    for character in text:
        if character == sign and not escaped:
            parts.append("")
            continue
        parts[-1] += character
        escaped = character == "\\" and not escaped
    return parts


def unescaped(text: str) -> str:
    plain, escaped = "", False
    for character in text:
        escaped = character == "\\" and not escaped
        plain += "" if escaped else character
    return plain


def escaped_name(name: str) -> str:
    return "".join("\\" + character if character in "\\,|:" else character for character in name)


def model_text(model: Any) -> str:
    """The model as one writes it: the letter bare if nothing else is required, then what differs from the default."""
    fields = [field for field in dataclasses.fields(model) if field.init]
    required = [field.name for field in fields if field.default is MISSING]
    parts = []
    for field in fields:
        value = getattr(model, field.name)
        if field.name in required or value != field.default:
            bare = required == [field.name]
            parts.append(value_text(value) if bare else f"{field.name}={value_text(value)}")
    return f"{model.name}:{','.join(parts)}"


def value_text(value: object) -> str:
    """A parameter's value as text that reads back as the same value."""
    if isinstance(value, tuple):
        return "|".join(
            escaped_name(entry) if isinstance(entry, str) else f"{escaped_name(entry[0])}:{number_text(entry[1])}"
            for entry in value
        )
    return number_text(value) if isinstance(value, Fraction) else str(value)


def meanings(model: type) -> dict[str, str]:
    """The first line of the docstring under each field. Read from the source, so only on demand."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(model))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = str(below.value.value).strip().split("\n")[0]  # type: ignore[attr-defined]
    return found


class WrittenModel:
    """What all models share: how they print, and that they read every form unless they say otherwise."""

    name: ClassVar[str]
    about_identity: ClassVar[bool] = False

    def __str__(self) -> str:
        return model_text(self)

    def refuses_form(self, form: str) -> str | None:
        return None
