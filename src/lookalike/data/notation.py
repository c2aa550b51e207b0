"""How models and algorithms are written, `name:value,key=value`, and back from the dataclasses they become.

    k-anonymity:10          beta-likeness:3,bound=basic          mondrian:cuts=1,choose=widest

After the name and a colon stand parameters, parted by commas. The first may be bare: it is the first field. The others
are key=value; a backslash before a comma, a bar or a colon takes it as part of a value. Numbers are exact from the
moment they are read: a float counts as the decimal it prints as (0.1 is 1/10).
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import numbers
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import MISSING
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeVar

from lookalike.deprecations import current
from lookalike.errors import RecipeError, quoted, unknown_name

Number = int | float | str | Decimal | Fraction

_Part = TypeVar("_Part")
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
        return Fraction(int(above), _positive(int(below)))
    try:
        decimal = Decimal(text)
    except InvalidOperation:
        raise ValueError("not a number") from None
    if not decimal.is_finite() or abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError("not a finite number of reasonable size")
    return Fraction(decimal)


def _positive(denominator: int) -> int:
    if denominator <= 0:
        raise ValueError("a denominator must be positive")
    return denominator


def number_text(value: Fraction) -> str:
    """The number as exact text: a decimal if it has an end, else a/b.

    >>> number_text(Fraction(1, 8)), number_text(Fraction(1, 3)), number_text(Fraction(12))
    ('0.125', '1/3', '12')
    """
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    places = max(twos, fives)
    if rest != 1:
        return f"{value.numerator}/{value.denominator}"
    if places == 0:
        return str(value.numerator)
    digits = str(abs(value.numerator) * 10**places // value.denominator).rjust(places + 1, "0")
    return f"{'-' if value < 0 else ''}{digits[:-places]}.{digits[-places:]}"


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


def part_text(part: Any) -> str:
    """A part as one writes it: a lone required parameter bare, then what differs from the default."""
    fields = [field for field in dataclasses.fields(part) if field.init]
    required = [field.name for field in fields if field.default is MISSING]
    parts = []
    for field in fields:
        value = getattr(part, field.name)
        if field.name in required or value != field.default:
            bare = required == [field.name]
            parts.append(value_text(value) if bare else f"{field.name}={value_text(value)}")
    return f"{part.name}:{','.join(parts)}" if parts else str(part.name)


def value_text(value: object) -> str:
    """A parameter's value as text that reads back as the same value."""
    if isinstance(value, tuple):
        return "|".join(
            escaped_name(entry) if isinstance(entry, str) else f"{escaped_name(entry[0])}:{value_text(entry[1])}"
            for entry in value
        )
    return number_text(value) if isinstance(value, Fraction) else str(value)


def meanings(part: type) -> dict[str, str]:
    """The first line of the docstring under each field. Read from the source, so only on demand."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
    except (OSError, TypeError, SyntaxError):
        return {}
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        is_text = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
            found[field.target.id] = str(below.value.value).strip().split("\n")[0]  # type: ignore[attr-defined]
    return found


def read_part(text: str, kind: str, table: Mapping[str, type[_Part]], structured: Collection[str] = ()) -> _Part:
    """The part that the text describes, among those of the table.

    Parameters in `structured` keep their escapes: they take their values apart themselves.
    """
    name, _, rest = text.strip().partition(":")
    name = current(kind, name)
    if name not in table:
        raise RecipeError(unknown_name(kind, name, table))
    part_type = table[name]
    known = list(inspect.signature(part_type).parameters)
    given: dict[str, str] = {}
    for place, part in enumerate(split(rest, ",") if rest.strip() else []):
        key, equals, value = part.partition("=")
        key = _OTHER_SPELLINGS.get(key.strip(), key.strip())
        if not equals:
            if place:
                raise RecipeError(
                    f"{quoted(text)}: {quoted(part)} has no name. Only the first value may be bare; write key=value."
                )
            if not known:
                raise RecipeError(f"{name} takes no parameters. Leave out {quoted(part)}.")
            key, value = known[0], part
        key = current(f"{name} parameter", key)
        if key not in known:
            raise RecipeError(f"{name}: {unknown_name('parameter', key, known)}")
        if key in given:
            raise RecipeError(f"{name}: {key} is given twice. Give it once.")
        given[key] = value.strip()
    return _made(part_type, name, given, structured)


def _made(part_type: type[_Part], name: str, given: Mapping[str, str], structured: Collection[str]) -> _Part:
    parameters = inspect.signature(part_type).parameters
    absent = [key for key, parameter in parameters.items() if parameter.default is parameter.empty and key not in given]
    if absent:
        asked = ",".join([*(f"{key}={value}" for key, value in given.items()), *(f"{key}=VALUE" for key in absent)])
        raise RecipeError(f"{name} needs {' and '.join(absent)}. Write {name}:{asked}.")
    return part_type(**{key: value if key in structured else unescaped(value) for key, value in given.items()})


def describe(table: Mapping[str, type]) -> list[dict[str, Any]]:
    """One plain row a part: name, what it is, and its parameters with default and meaning."""
    rows = []
    for name, part in table.items():
        said = {field: text for owner in reversed(part.__mro__) for field, text in meanings(owner).items()}
        parameters = [
            {
                "name": key,
                "default": None if parameter.default in (parameter.empty, None) else value_text(parameter.default),
                "required": parameter.default is parameter.empty,
                "meaning": said.get(key, ""),
            }
            for key, parameter in inspect.signature(part).parameters.items()
        ]
        about = (part.__doc__ or "").strip().split("\n")[0]
        rows.append({"name": name, "meaning": about, "parameters": parameters})
    return rows
