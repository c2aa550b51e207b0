"""How models and algorithms are written: `name:value,key=value`, and back from the frozen dataclasses they become.

    k-anonymity:10          beta-likeness:3,bound=basic          mondrian:cuts=1,choose=widest

The first bare value is the first field. Numbers are decimal text and become exact fractions; commas inside brackets or
quotes do not separate.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

from lookalike.errors import RecipeError, quoted, unknown_name

_Part = TypeVar("_Part")
_SEPARATOR = re.compile(r""",(?![^\[]*\])(?=(?:[^"]*"[^"]*")*[^"]*$)""")


@dataclasses.dataclass(frozen=True)
class Written:
    """A name with its parameters, still as text."""

    name: str
    bare: str | None
    settings: Mapping[str, str]


def split(text: str) -> Written:
    """
    >>> split("beta-likeness:3,bound=basic")
    Written(name='beta-likeness', bare='3', settings={'bound': 'basic'})
    """
    name, _, rest = text.strip().partition(":")
    bare: str | None = None
    settings: dict[str, str] = {}
    for place, part in enumerate(_SEPARATOR.split(rest) if rest.strip() else ()):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            if place or not key:
                raise RecipeError(f"{quoted(text)}: {quoted(part)} is not of the form key=value.")
            bare = key
        elif key in settings:
            raise RecipeError(f"{quoted(text)}: {key} is given twice.")
        else:
            settings[key] = value.strip('"')
    return Written(name.strip(), bare, settings)


def build(kind: str, table: Mapping[str, type[_Part]], text: str) -> _Part:
    """The dataclass that `text` names in `table`, with its parameters."""
    written = split(text)
    if written.name not in table:
        raise RecipeError(unknown_name(kind, written.name, table))
    chosen = table[written.name]
    names = [field.name for field in parameters(chosen)]
    values: dict[str, str] = {}
    if written.bare is not None:
        if not names:
            raise RecipeError(f"{written.name} takes no parameters; leave out {quoted(written.bare)}.")
        values[names[0]] = written.bare
    for key, value in written.settings.items():
        if key not in names:
            raise RecipeError(f"{written.name}: {unknown_name('parameter', key, names)}")
        if key in values:
            raise RecipeError(f"{quoted(text)}: {key} is given twice.")
        values[key] = value
    types = {field.name: str(field.type) for field in parameters(chosen)}
    converted = {key: _convert(value, types[key], f"{written.name}: {key}") for key, value in values.items()}
    try:
        return chosen(**converted)
    except TypeError:
        lacking = [field.name for field in parameters(chosen) if _required(field) and field.name not in values]
        raise RecipeError(
            f"{written.name} needs {' and '.join(lacking)}: write {written.name}:{lacking[0]}=..."
        ) from None


def parameters(part: Any) -> tuple[dataclasses.Field[Any], ...]:
    """The parameters that a user may write."""
    return tuple(field for field in dataclasses.fields(part) if field.init)


def as_text(part: Any) -> str:
    """The shortest text that `build` turns into an equal part: parameters at their defaults are left out."""
    written = []
    for place, field in enumerate(parameters(part)):
        value = getattr(part, field.name)
        if not _required(field) and value == field.default:
            continue
        written.append(_text(value) if place == 0 and _required(field) else f"{field.name}={_text(value)}")
    return f"{part.name}:{','.join(written)}" if written else str(part.name)


def exact_text(value: Fraction) -> str:
    """A fraction as a finite decimal if it is one, else as a/b.

    >>> exact_text(Fraction(1, 4)), exact_text(Fraction(1, 3)), exact_text(Fraction(7))
    ('0.25', '1/3', '7')
    """
    denominator = value.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    if denominator != 1:
        return f"{value.numerator}/{value.denominator}"
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
    return f"{Decimal((value * 10**digits).numerator).scaleb(-digits):f}"


def exact(value: object, what: str) -> Fraction:
    """A number given as int, float, Decimal, Fraction or text, exactly as it is written (0.1 is 1/10).

    >>> exact(0.1, "t"), exact("1e-3", "t")
    (Fraction(1, 10), Fraction(1, 1000))
    """
    try:
        if isinstance(value, float):
            return Fraction(repr(value))
        if isinstance(value, int | Fraction | Decimal | str) and not isinstance(value, bool):
            return Fraction(value)
        raise ValueError
    except (ValueError, ZeroDivisionError, OverflowError):
        raise RecipeError(f"{what} must be a number such as 3 or 0.25, not {quoted(str(value))}.") from None


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return exact_text(value) if isinstance(value, Fraction) else str(value)


def _convert(value: str, annotation: str, where: str) -> Any:
    """Whole numbers and yes/no are read here; anything else a part reads for itself."""
    if annotation == "int":
        number = exact(value, where)
        if number.denominator != 1:
            raise RecipeError(f"{where} must be a whole number, not {value}.")
        return int(number)
    if annotation == "bool":
        if value not in ("yes", "no", "true", "false"):
            raise RecipeError(f"{where} must be yes or no, not {quoted(value)}.")
        return value in ("yes", "true")
    return value
