"""What can go wrong, as a tree, and the wording of it.

    LookalikeError
      SchemaError      a column is missing, doubled, or has no role
      DataError        a value does not fit its domain or taxonomy, or a file cannot be read
      RecipeError      a parameter is out of range, or parts do not fit together
        Unsupported    this algorithm cannot serve this model, and why
      Infeasible       no release can keep the promise; says the best in reach
      AuditFailed      a release was made but does not verify; nothing is written
      MissingPart      an optional part is not installed; says what to install

A message names the thing, the value met, the value wanted and what to do.
No message shows a record's values: errors and logs are not a side door for the data.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence


class LookalikeError(Exception):
    """Anything this library refuses, said in words a user can act on."""


class SchemaError(LookalikeError):
    """A column is missing, doubled, or has no role."""


class DataError(LookalikeError):
    """A value does not fit its domain or taxonomy, or a file cannot be read."""


class RecipeError(LookalikeError):
    """A parameter is out of range, or parts do not fit together."""


class Unsupported(RecipeError):
    """This algorithm cannot serve this model."""


class Infeasible(LookalikeError):
    """No release can keep the promise; `nearest` names one that can."""

    def __init__(self, message: str, nearest: str | None = None) -> None:
        super().__init__(message if nearest is None else f"{message} The nearest that can: {nearest}.")
        self.nearest = nearest


class AuditFailed(LookalikeError):
    """A release was made but does not verify; nothing is written."""


class MissingPart(LookalikeError):
    """An optional part is not installed."""


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """The sentence for a name nobody knows: the nearest ones first, then all of them.

    >>> unknown_name("column", "agee", ["age", "sex"])
    'There is no column "agee". Did you mean "age"? Known: age, sex.'
    """
    names = list(known)
    several = [piece.strip() for piece in re.split(r"[,;|]|\s+", name) if piece.strip()]
    if what == "column" and len(several) > 1 and set(several) <= set(names):
        listed = ", ".join(quoted(one) for one in several)
        return f"{quoted(name)} names several columns. Write {','.join(several)} (in Python: [{listed}])."
    alike = [other for other in names if _fold(other) == _fold(name)]
    near = alike or difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if not near and name:
        near = [other for other in names if name.casefold() in other.casefold() or other.casefold() in name.casefold()]
    hint = f" Did you mean {' or '.join(quoted(other) for other in near[:3])}?" if near else ""
    shown = names if len(names) <= 40 else [*names[:40], f"... and {len(names) - 40} more"]
    listing = f" Known: {', '.join(shown)}." if names else f" No {what} is known here."
    return f"There is no {what} {quoted(name)}.{hint}{listing}"


def _fold(name: str) -> str:
    """A name without case, spaces and signs; of one that has nothing else, the name."""
    return re.sub(r"[\W_]", "", name).casefold() or name


def unread_format(source: str, found: object, known: Sequence[int], writer: object = None) -> str:
    """The sentence for a file whose format is none of the known ones; `writer` is the version that wrote it, if known.

    >>> unread_format("x", 3, (1, 2), "0.9.0")
    'x has format 3; this version of lookalike reads 1 and 2. Version 0.9.0 wrote it: install that or a later one.'
    """
    reads = " and ".join(", ".join(map(str, known)).rsplit(", ", 1))
    said = f"{source} has format {quoted(str(found))[1:-1]}; this version of lookalike reads {reads}."
    if type(found) is not int or found < max(known):
        return f"{said} No version writes that: the file is damaged, get it again."
    if isinstance(writer, str) and re.fullmatch(r"\d{1,4}(\.\d{1,4}){0,3}[a-z0-9.+]{0,12}", writer):
        return f"{said} Version {writer} wrote it: install that or a later one."
    return f"{said} A newer one wrote it: install the newest lookalike."


def explain_damage(what: str) -> DataError:
    """The error for a release folder that lacks something: a file was lost, or cut off."""
    return DataError(f"{what}. The release is damaged: get it again.")


def explain_change(what: str) -> DataError:
    """The error for a release folder that says what no release says: someone changed it."""
    return DataError(f"{what}. The release was changed: get it again.")


def quoted(name: str) -> str:
    """A name as it is shown in a message: one line, never endless."""
    flat = " ".join(name.split()) if name.strip() else name
    return f'"{flat[:77]}..."' if len(flat) > 80 else f'"{flat}"'


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
