"""Parameters of models and algorithms: fields that read numbers exactly, check their range and print back as text.

A parameter is a descriptor on a frozen dataclass: it takes whatever a user may write and keeps the exact value, so
`TCloseness("0.2").t` is 1/5 and a type checker knows both sides.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import math
import numbers
import re
import textwrap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import MISSING
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from operator import ge, gt, le, lt
from typing import Any, ClassVar, Generic, TypeVar

from lookalike.errors import RecipeError, quoted, unknown_name

Number = int | float | str | Decimal | Fraction

_Component = TypeVar("_Component")
_LARGEST_EXPONENT = 300
_MOST_DIGITS = 1000
_OTHER_SPELLINGS = {"l": "ell"}


def as_fraction(value: object) -> Fraction:
    """The exact value of a number or of its text; ValueError if it is none.

    >>> as_fraction(0.1), as_fraction("1/3"), as_fraction("1e-3")
    (Fraction(1, 10), Fraction(1, 3), Fraction(1, 1000))
    """
    if isinstance(value, bool):
        raise ValueError("a truth value is not a number")
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    text = str(value).strip() if isinstance(value, str | Decimal | numbers.Real) else ""
    if len(text) > _MOST_DIGITS:
        raise ValueError("a number with more digits than anybody means")
    above, slash, below = text.partition("/")
    if slash:
        if int(below) <= 0:
            raise ValueError("a denominator must be positive")
        return Fraction(int(above), int(below))
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None
    if not decimal.is_finite() or abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("not a finite number of reasonable size")
    return Fraction(decimal)


def number_text(value: Fraction) -> str:
    """The number as exact text: a decimal if it has an end, else a/b.

    >>> number_text(Fraction(1, 8)), number_text(Fraction(1, 3)), number_text(Fraction(12))
    ('0.125', '1/3', '12')
    """
    places, rest = 0, value.denominator
    while (shared := math.gcd(rest, 10)) > 1:
        places, rest = places + 1, rest // shared
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


def split(text: str, sign: str) -> list[str]:
    r"""The pieces between signs that no backslash precedes; backslashes stay.

    >>> split(r"a\,b,c", ",")
    ['a\\,b', 'c']
    """
    pieces, escaped = [""], False
    for character in text:
        if character == sign and not escaped:
            pieces.append("")
            continue
        pieces[-1] += character
        escaped = character == "\\" and not escaped
    return pieces


def unescape(text: str) -> str:
    return re.sub(r"\\(.?)", r"\1", text, flags=re.DOTALL)


def escape_name(name: str) -> str:
    return "".join("\\" + character if character in "\\,|:" else character for character in name)


def component_text(component: Any) -> str:
    """A component (a model, an algorithm) as one writes it: a lone required parameter bare, then what differs."""
    fields = [field for field in dataclasses.fields(component) if field.init]
    required = [field.name for field in fields if field.default is MISSING]
    written = []
    for field in fields:
        value = getattr(component, field.name)
        if field.name in required or value != field.default:
            bare = required == [field.name]
            written.append(value_text(value) if bare else f"{field.name}={value_text(value)}")
    return f"{component.name}:{','.join(written)}" if written else str(component.name)


def value_text(value: object) -> str:
    """A parameter's value as text that reads back as the same value."""
    if isinstance(value, tuple):
        return "|".join(
            escape_name(entry) if isinstance(entry, str) else f"{escape_name(entry[0])}:{value_text(entry[1])}"
            for entry in value
        )
    if isinstance(value, str):
        return escape_name(value)
    return number_text(value) if isinstance(value, Fraction) else str(value)


@cache
def meanings(component: type) -> dict[str, str]:
    """The first line of the docstring under each field. Read from the source, so only on demand."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(component))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = str(below.value.value).strip().split("\n")[0]  # type: ignore[attr-defined]
    return found


def parse_component(text: str, kind: str, table: Mapping[str, type[_Component]]) -> _Component:
    """The component that the text describes, among those of the table."""
    name, _, rest = text.strip().partition(":")
    if name not in table:
        raise RecipeError(unknown_name(kind, name, table))
    component = table[name]
    parameters = inspect.signature(component).parameters
    known = list(parameters)
    given: dict[str, str] = {}
    for place, entry in enumerate(split(rest, ",") if rest.strip() else []):
        key, equals, value = entry.partition("=")
        key = _read_key(key.strip(), known)
        if not equals:
            if place:
                if place == 1 and rest.strip().startswith("0,") and entry.strip().isdigit():
                    shown = f"{name}:{rest.strip().replace(',', '.', 1)}"
                    raise RecipeError(f"{quoted(text)} has a decimal comma. Write {shown}.")
                raise RecipeError(
                    f"{quoted(text)}: {quoted(entry)} has no name. Only the first value may be bare; write key=value."
                )
            if not known:
                raise RecipeError(f"{name} takes no parameters. Leave out {quoted(entry)}.")
            key, value = known[0], entry
        if key not in known:
            where = getattr(component, "elsewhere", {}).get(key)
            raise RecipeError(f"{name}: {unknown_name('parameter', key, known)}{f' {where}' if where else ''}")
        if key in given:
            raise RecipeError(f"{name}: {key} is given twice. Give it once.")
        given[key] = value.strip()
    absent = [key for key, parameter in parameters.items() if parameter.default is parameter.empty and key not in given]
    if absent:
        asked = ",".join([*(f"{key}={value}" for key, value in given.items()), *(f"{key}=VALUE" for key in absent)])
        raise RecipeError(f"{name} needs {' and '.join(absent)}. Write {name}:{asked}.")
    escaped = {key for key in given if getattr(inspect.getattr_static(component, key, None), "reads_escapes", False)}
    return component(**{key: value if key in escaped else unescape(value) for key, value in given.items()})


def _read_key(key: str, known: Collection[str]) -> str:
    """A parameter by its name, by another spelling of it, or with hyphens for underscores."""
    spelt = _OTHER_SPELLINGS.get(key, key.replace("-", "_"))
    return spelt if key not in known and spelt in known else key


def describe(table: Mapping[str, type]) -> list[dict[str, Any]]:
    """One plain row per component: name, what it is, and its parameters with default and meaning."""
    rows = []
    for name, component in table.items():
        said = {field: text for owner in reversed(component.__mro__) for field, text in meanings(owner).items()}
        parameters = [
            {
                "name": key,
                "default": None if parameter.default in (parameter.empty, None) else value_text(parameter.default),
                "required": parameter.default is parameter.empty,
                "meaning": said.get(key, ""),
            }
            for key, parameter in inspect.signature(component).parameters.items()
        ]
        about = (component.__doc__ or "").strip().split("\n")[0]
        rows.append({"name": name, "meaning": about, "parameters": parameters})
    return rows


Kept = TypeVar("Kept")
Given = TypeVar("Given")


class Parameter(Generic[Kept, Given]):
    """A field that keeps what `read` makes of the value given."""

    reads_escapes: ClassVar[bool] = False
    """Whether it takes several values out of one text, and removes their escapes by itself."""

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
        return self.read(self.default, f"{getattr(owner, 'name', '')}: {self.field}")

    def __set__(self, model: object, value: Given) -> None:
        model.__dict__[self.field] = self.read(value, f"{getattr(model, 'name', '')}: {self.field}")

    def read(self, value: Given, where: str) -> Kept:
        raise NotImplementedError


class _Bounded(Parameter[Kept, Given]):
    """A number in a range, both ends included unless `above` or `below` leave one out."""

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
        limits = (("at least", low, ge), ("above", above, gt), ("at most", high, le), ("below", below, lt))
        self._limits = [(words, as_fraction(limit), holds) for words, limit, holds in limits if limit is not None]

    def read_number(self, value: object, where: str, *, whole: bool = False) -> Fraction:
        limits = " and ".join(f"{words} {number_text(limit)}" for words, limit, _ in self._limits)
        wanted = f"It must be {'a whole number' if whole else 'a number'} {limits}".rstrip()
        try:
            number = as_fraction(value)
        except (ValueError, ArithmeticError):
            raise RecipeError(f"{where} is {quoted(str(value))}. {wanted}.") from None
        if (whole and number.denominator != 1) or not all(holds(number, limit) for _, limit, holds in self._limits):
            raise RecipeError(f"{where} is {number_text(number)}. {wanted}.")
        return number


class Exact(_Bounded[Fraction, Number]):
    """A number, kept as a fraction."""

    def read(self, value: Number, where: str) -> Fraction:
        return self.read_number(value, where)


class OptionalExact(_Bounded[Fraction | None, Number | None]):
    """A number that may be left out, kept as a fraction."""

    def __init__(self, *, default: Number | None = None, **limits: Number | None) -> None:
        super().__init__(default=default, **limits)

    def read(self, value: Number | None, where: str) -> Fraction | None:
        return None if value is None else self.read_number(value, where)


class Whole(_Bounded[int, Number]):
    """A whole number, kept as such."""

    def read(self, value: Number, where: str) -> int:
        return int(self.read_number(value, where, whole=True))


class OptionalWhole(_Bounded[int | None, Number | None]):
    """A whole number that may be left out."""

    def __init__(self, *, default: Number | None = None, **limits: Number | None) -> None:
        super().__init__(default=default, **limits)

    def read(self, value: Number | None, where: str) -> int | None:
        return None if value is None else int(self.read_number(value, where, whole=True))


class OptionalText(Parameter[str | None, object]):
    """A text that may be left out, such as the name of a file."""

    def __init__(self, *, default: str | None = None) -> None:
        super().__init__(default=default)

    def read(self, value: object, where: str) -> str | None:
        if value is None:
            return None
        if not str(value).strip():
            raise RecipeError(f"{where} is empty. Write {self.field}=VALUE, or leave it out.")
        return str(value)


class Choice(Parameter[str, str]):
    """One of a few words."""

    def __init__(self, *words: str, default: str) -> None:
        super().__init__(default=default)
        self.words = words

    def read(self, value: str, where: str) -> str:
        if value not in self.words:
            raise RecipeError(f"{where}: {unknown_name('choice', str(value), self.words)}")
        return value


class ChoiceOrNumber(_Bounded[str, Number]):
    """One of a few words, or a number above zero, kept as text."""

    def __init__(self, *words: str, default: str) -> None:
        super().__init__(above=0, default=default)
        self.words = words

    def read(self, value: Number, where: str) -> str:
        if value in self.words:
            return str(value)
        try:
            return number_text(self.read_number(value, where))
        except RecipeError:
            known = ", ".join(self.words)
            raise RecipeError(f"{where} is {quoted(str(value))}. It must be {known} or a number above 0.") from None


class Values(Parameter[tuple[str, ...] | None, str | Iterable[str] | None]):
    """Some values of the sensitive column, as the table writes them; as one text, separated by bars."""

    reads_escapes = True

    def __init__(self, *, default: str | Iterable[str] | None = None) -> None:
        super().__init__(default=default)

    def read(self, value: str | Iterable[str] | None, where: str) -> tuple[str, ...] | None:
        if value is None:
            return None
        names = [unescape(name) for name in split(value, "|")] if isinstance(value, str) else [*map(str, value)]
        if not names or "" in names or len(set(names)) != len(names):
            raise RecipeError(f"{where} must name at least one value, and each value once: {self.field}=flu|cold.")
        return tuple(sorted(names))
