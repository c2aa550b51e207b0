"""What models ask of a sensitive column, and the words for it: designated values, implied sizes, the reader.

Messages name columns, parameters and counts. Values appear only where the user wrote them into a model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import PrivacyModel
from lookalike.data.microdata import Domain
from lookalike.errors import Infeasible, RecipeError, counted, quoted

_READS_ALL = "Someone who reads the release and knows a person's quasi-identifiers"
_READERS = {
    "matched": (
        "Someone who knows a person's quasi-identifiers and the rows that the publisher drew that person's row from"
    ),
    "perturbed": "Someone who reads the row of a person and knows how often each value occurs in the whole table",
}
_EXCEPT = {"matched": "; counting all rows that fit the person can give other figures"}


def said(form: str | None, predicate: str) -> str:
    """What holds for the reader whom a promise is about, in a release of that form (None: not decided yet).

    The rows of a matched release are equally likely only among those that the publisher drew from; of a perturbed one
    a reader finds the row itself, and draws conclusions from its value.

    >>> said("grouped", "learns nothing")
    "Someone who reads the release and knows a person's quasi-identifiers learns nothing."
    """
    return f"{_READERS.get(form or '', _READS_ALL)} {predicate}{_EXCEPT.get(form or '', '')}."


def hidden_among(k: int, form: str | None) -> str:
    """What it means to be one of k in a release of that form."""
    chance = f"(1 chance in {k} at most)"
    if form == "grouped":
        return f"cannot tell that person's row from at least {counted(k - 1, 'other')} {chance}"
    if form == "matched":
        return f"cannot tell that row from at least {counted(k - 1, 'other')} {chance}"
    return f"cannot tell which of at least {counted(k, 'record')} holds that person's sensitive values {chance}"


def column_text(column: str | None) -> str:
    """The column in a sentence."""
    return "the sensitive column" if column is None else quoted(column)


def sensitive_column(model: PrivacyModel, column: Domain | None) -> Domain:
    """The column that the model is held to; refused if there is none."""
    if column is None:
        raise RecipeError(f"{model} speaks of a sensitive column and none is named. Name one (--sensitive COLUMN).")
    return column


def codes_of(model: PrivacyModel, names: Iterable[str], column: Domain) -> list[int]:
    """The codes of values that a model names."""
    code_of = {text: code for code, text in enumerate(column.texts)}
    for name in names:
        if name not in code_of:
            raise RecipeError(
                f"{model.name} names the value {quoted(name)}, which column {quoted(column.name)} does not have. "
                "Write it exactly as the table does, or declare it in the schema (domain: values)."
            )
    return [code_of[name] for name in names]


def designated(model: PrivacyModel, names: Sequence[str] | None, column: Domain) -> list[int]:
    """The codes that a model speaks of: those named, or all."""
    return list(range(column.n_codes)) if names is None else codes_of(model, names, column)


def any_value(names: Sequence[str] | None) -> str:
    """
    >>> any_value(None), any_value(["HIV", "flu"])
    ('any value', 'any of the 2 designated values')
    """
    if names is None:
        return "any value"
    return "the designated value" if len(names) == 1 else f"any of the {len(names)} designated values"


def least_size(ceilings: Iterable[Fraction], prior: NDArray[np.int64]) -> int:
    """The least size of a group that ceilings allow: some value has a row, which is no more than its ceiling."""
    highest = max(
        (share for share, number in zip(ceilings, prior.tolist(), strict=True) if number), default=Fraction(1)
    )
    return math.ceil(1 / highest) if highest > 0 else 1


def enough_records(model: PrivacyModel, size: int, n_records: int, nearest: str) -> None:
    """Refuses groups larger than the table."""
    if n_records < size:
        raise Infeasible(
            f"{model} asks for groups of at least {counted(size, 'record')}, and the table has {n_records:,}.", nearest
        )
