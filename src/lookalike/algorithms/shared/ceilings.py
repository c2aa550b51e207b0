"""What ceilings on values ask of a group: several promises together, and the least number of records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Microdata
from lookalike.data.requirement import Requirement
from lookalike.errors import Unsupported, quoted


def least_ceilings(
    method: str, data: Microdata, requirements: Sequence[Requirement]
) -> tuple[NDArray[np.int32], list[Fraction], int]:
    """The values that ceilings are on, the least ceiling of each, and the least number of records.

    Without any promise about values all records count as having one value, without a ceiling.
    """
    about_values = [requirement for requirement in requirements if requirement.column is not None]
    columns = sorted({requirement.column or 0 for requirement in about_values})
    least = max([1, *(requirement.min_size for requirement in requirements)])
    if len(columns) > 1:
        names = " and ".join(quoted(data.domains.sensitive[column].name) for column in columns)
        raise Unsupported(f"{method} keeps ceilings on one sensitive column, not on {names} together. Use groups.")
    if not columns:
        return np.zeros(data.n_rows, dtype=np.int32), [Fraction(1)], least
    whole = [Fraction(1)] * data.domains.sensitive[columns[0]].n_codes
    given = [requirement.ceilings for requirement in about_values if requirement.ceilings is not None]
    return data.sensitive[:, columns[0]], [min(shares) for shares in zip(whole, *given, strict=True)], least


def least_room(data: Microdata, requirements: Sequence[Requirement]) -> int:
    """The least number of records of which one may have some value with a ceiling: l for l-diversity.

    Where only some values have ceilings, a group without them may be as small as a single record; where groups are
    small would then tell who has no such value. Methods that cut or grow ask for this size by itself.
    """
    rooms = [1]
    for requirement in requirements:
        if requirement.column is not None and requirement.ceilings is not None:
            occurs = data.prior(requirement.column) > 0
            held = (
                bound for bound, is_met in zip(requirement.ceilings, occurs, strict=True) if is_met and 0 < bound < 1
            )
            rooms.append(math.ceil(1 / max(held, default=1)))
    return max(rooms)
