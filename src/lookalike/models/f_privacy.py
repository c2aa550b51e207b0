"""F'-privacy: every sensitive value has its own ceiling.

Ceilings come from the family min(1, theta * share + base), from a mapping of values, or from a file of them:

    flu: 0.3          caps.yaml                value,ceiling      caps.csv
    HIV: 0.05                                  flu,0.3
    "*": 0.5                                   HIV,0.05

In place of a number stands how sensitive a value is: high (at most twice its share, plus 2 %), medium (eight times its
share, plus 2 %) or none (no ceiling). `*` stands for every value that is not named; without it these have no ceiling. A
file is read once, when the model is made: afterwards the model carries its ceilings and prints them. The level is the
highest certainty as a share of its ceiling, at most 1 if the promise holds; l-diversity is the case of 1/l for all
values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import InitVar, dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lookalike.data.contracts import Level, Slider
from lookalike.data.exposure import Exposure
from lookalike.data.microdata import Domain
from lookalike.data.parameters import Number, OptionalExact, Parameter, as_fraction, split, unescape
from lookalike.data.requirement import Requirement
from lookalike.data.wording import ANY_RELEASE, Wording
from lookalike.errors import Infeasible, RecipeError, counted, quoted
from lookalike.models.shared.exact import three_decimals_up
from lookalike.models.shared.exposures import (
    codes_of,
    find_shares,
    highest_beliefs,
    least_size,
    sensitive_column,
)
from lookalike.models.shared.model import WrittenModel
from lookalike.untrusted import BadYaml, load_yaml, read_text

_OTHERS = "*"
_STANDARD_BASE = Fraction(1, 50)
_SENSITIVITIES = {
    "high": (Fraction(2), _STANDARD_BASE),
    "medium": (Fraction(8), _STANDARD_BASE),
    "none": (Fraction(0), Fraction(1)),
}
"""Ceilings by how sensitive a value is: theta and base of the family."""
_MOST_NAMED = 5

Ceilings = tuple[tuple[str, Fraction | str], ...]
GivenCeilings = Mapping[str, Number] | Iterable[tuple[str, Number]] | str | None


class _NamedCeilings(Parameter[Ceilings | None, GivenCeilings]):
    """Pairs of value and ceiling, sorted; as one text flu:0.3|HIV:0.05."""

    reads_escapes = True

    def __init__(self) -> None:
        super().__init__(default=None)

    def read(self, value: GivenCeilings, where: str) -> Ceilings | None:
        if value is None:
            return None
        if isinstance(value, str):
            pairs: list[tuple[str, object]] = []
            for part in split(value, "|"):
                name, *ceiling = split(part, ":")
                pairs.append((unescape(name), ceiling[0] if len(ceiling) == 1 else None))
        else:
            pairs = [(str(name), ceiling) for name, ceiling in (value.items() if isinstance(value, Mapping) else value)]
        named = {name: _ceiling(name, ceiling, where) for name, ceiling in pairs}
        if len(named) != len(pairs) or not named:
            raise RecipeError(f"{where} must name at least one value, and each value once: flu:0.3|HIV:0.05.")
        return tuple(sorted(named.items()))


@dataclass(frozen=True)
class FPrivacy(WrittenModel):
    """Belief in a value stays at or below the value's own ceiling.

    >>> FPrivacy(theta=8, base="0.02").requirement(np.array([1, 9]), None, 0).ceilings
    (Fraction(41, 50), Fraction(1, 1))
    >>> str(FPrivacy(ceilings={"HIV": "0.05", "*": 0.5}))
    'f-privacy:ceilings=*:0.5|HIV:0.05'
    """

    name: ClassVar[str] = "f-privacy"
    letter: ClassVar[str] = "f"
    asked = Fraction(1)
    value_by_value = True
    slider: ClassVar[Slider | None] = Slider(
        "Every value has its own ceiling, theta times what its share suggests", 0.1, 10, 0.1, 2, "theta"
    )

    theta: OptionalExact = OptionalExact(low=0)
    """Ceilings are theta times the share, plus base, at most 1."""
    base: OptionalExact = OptionalExact(low=0, high=1)
    """Added to every ceiling of the family; 0.02 if left out."""
    ceilings: _NamedCeilings = _NamedCeilings()
    """A ceiling for each value, as flu:0.3|HIV:0.05; * stands for all others."""
    file: InitVar[str | Path | None] = None
    """A file of ceilings, .yaml or .csv (value, ceiling)."""

    def __post_init__(self, file: str | Path | None) -> None:
        sources = [self.theta is not None, self.ceilings is not None, file is not None]
        if sum(sources) != 1:
            raise RecipeError(
                f"f-privacy takes its ceilings from theta (with base), from ceilings or from file; {sum(sources)} of "
                "them are given. Give one."
            )
        if self.theta is None and self.base is not None:
            raise RecipeError("f-privacy: base belongs to theta. Give theta as well, or leave base out.")
        if self.theta is not None and self.base is None:
            object.__setattr__(self, "base", _STANDARD_BASE)
        if self.theta == 0 and self.base == 0:
            raise RecipeError("f-privacy: theta and base are both 0. A ceiling must be above 0.")
        if file is not None:
            object.__setattr__(self, "ceilings", _read_ceilings(Path(file)))

    def promise(self, column: str | None, wording: Wording = ANY_RELEASE) -> str:
        value = wording.say("f-privacy.value", column=wording.name(column))
        if self.theta is not None and self.base is not None:
            said = wording.say(
                "f-privacy.linear",
                values=value,
                theta=wording.number(self.theta),
                share=wording.share,
                base=f"{wording.number(self.base * 100)} %",
            )
            return wording.sentence(said)
        named = [name for name, _ in self.ceilings or () if name != _OTHERS]
        if len(named) == len(self.ceilings or ()):
            value = wording.say("f-privacy.listed", len(named), column=wording.name(column))
        return wording.sentence(wording.say("f-privacy.ceilings", values=value))

    def check_eligible(self, prior: NDArray[np.int64], column: Domain | None) -> None:
        column = sensitive_column(self, column)
        shares = find_shares(prior)
        ceilings = self._ceilings(shares, column)
        below = [code for code, ceiling in enumerate(ceilings) if ceiling < shares[code]]
        if below:
            given = dict(self.ceilings or ())
            named = [column.texts[code] for code in below if column.texts[code] in given]
            listed = ", ".join(quoted(name) for name in named[:_MOST_NAMED])
            if len(named) > _MOST_NAMED:
                listed += " ..."
            raise Infeasible(
                f"{self.name} gives {counted(len(below), 'value')} of {quoted(column.name)} a ceiling below the share "
                f"that it has in the whole table{f': {listed}' if listed else ''}.",
                str(self._find_nearest(shares, column, below)),
            )

    def cautions(self, prior: NDArray[np.int64], column: Domain | None) -> list[str]:
        ceilings = self._ceilings(find_shares(prior), column)
        open_values = sum(ceiling == 1 and count > 0 for ceiling, count in zip(ceilings, prior.tolist(), strict=True))
        if not open_values:
            return []
        named = ANY_RELEASE.name(column.name if column else None)
        which = "its value" if open_values == 1 else "one of them"
        return [
            f"{counted(open_values, 'value')} of {named} may be held with certainty (a ceiling of 1): "
            f"a record may be published as having {which}, and so as having none of the "
            "others."
        ]

    def _find_nearest(self, shares: list[Fraction], column: Domain, below: list[int]) -> FPrivacy:
        if self.theta is not None:
            # theta is below 1 here; the base that makes up for it is set by the largest share.
            return replace(self, base=three_decimals_up((1 - self.theta) * max(shares)))
        raised = dict(self.ceilings or ())
        for code in below:
            raised[column.texts[code]] = three_decimals_up(shares[code])
        return replace(self, ceilings=raised)

    def _ceilings(self, shares: list[Fraction], column: Domain | None) -> list[Fraction]:
        if self.theta is not None and self.base is not None:
            return [min(Fraction(1), self.theta * share + self.base) for share in shares]
        column = sensitive_column(self, column)
        named = dict(self.ceilings or ())
        others = named.pop(_OTHERS, Fraction(1))
        ceilings = [_of_share(others, share) for share in shares]
        for code, ceiling in zip(codes_of(self, named, column), named.values(), strict=True):
            ceilings[code] = _of_share(ceiling, shares[code])
        return ceilings

    def requirement(self, prior: NDArray[np.int64], column: Domain | None, index: int | None) -> Requirement:
        ceilings = tuple(self._ceilings(find_shares(prior), column))
        return Requirement(column=index, min_size=least_size(ceilings, prior), ceilings=ceilings)

    def level(self, exposure: Exposure) -> Level:
        column = sensitive_column(self, exposure.column)
        highest = highest_beliefs(exposure)
        named = dict(self.ceilings or ())
        codes_of(self, [name for name in named if name != _OTHERS], column)
        worst, unit = Fraction(0), None
        for code, text in enumerate(column.texts):
            share = Fraction(int(exposure.prior[code]), max(exposure.n_records, 1))
            if self.theta is None:
                ceiling = _of_share(named.get(text, named.get(_OTHERS, Fraction(1))), share)
            else:
                ceiling = min(self.theta * share + (self.base or 0), Fraction(1))
            belief = highest.beliefs[code]
            if belief and (ceiling == 0 or belief / ceiling > worst):
                unit = highest.units[code]
                if ceiling == 0:
                    return Level(float("inf"), unit, "a value that the table does not have")
                worst = belief / ceiling
        return Level(worst, unit, "highest certainty as a share of its ceiling")

    def holds(self, level: Level) -> bool:
        return level.value <= 1


def _read_ceilings(path: Path) -> dict[str, Number]:
    """Values and ceilings from a .yaml mapping or a .csv with the columns value and ceiling."""
    try:
        text = read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise RecipeError(f"f-privacy: cannot read {path}: {reason}.") from None
    if path.suffix.lower() == ".csv":
        rows = [row for row in csv.reader(io.StringIO(text)) if row]
        if any(len(row) != 2 for row in rows) or not rows:
            raise RecipeError(f"f-privacy: {path} needs two columns on every line: value,ceiling.")
        if [cell.strip().lower() for cell in rows[0]] == ["value", "ceiling"]:
            rows = rows[1:]
        loaded: object = {name.strip(): ceiling.strip() for name, ceiling in rows}
        if isinstance(loaded, dict) and len(loaded) != len(rows):
            raise RecipeError(f"f-privacy: {path} names a value twice. Keep one line for each value.")
    else:
        try:
            # As text, so that 0.1 is a tenth and a value such as 007 or true stays what is written.
            loaded = load_yaml(text, as_text=True)
        except BadYaml:
            raise RecipeError(f"f-privacy: {path} is not valid YAML. Write one line a value: flu: 0.3") from None
    if not isinstance(loaded, dict) or not loaded:
        raise RecipeError(f"f-privacy: {path} must map values to ceilings, one line a value: flu: 0.3")
    return {str(name): ceiling for name, ceiling in loaded.items()}


def _of_share(ceiling: Fraction | str, share: Fraction) -> Fraction:
    """A ceiling as a number; by how sensitive the value is, if that is what was given."""
    if isinstance(ceiling, Fraction):
        return ceiling
    theta, base = _SENSITIVITIES[ceiling]
    return min(Fraction(1), theta * share + base)


def _ceiling(name: str, value: object, where: str) -> Fraction | str:
    if isinstance(value, str) and value.strip() in _SENSITIVITIES:
        return value.strip()
    try:
        ceiling = as_fraction(value)
    except (ValueError, ArithmeticError):
        ceiling = Fraction(0)
    if not 0 < ceiling <= 1:
        raise RecipeError(
            f"{where}: the ceiling of {quoted(name)} must be a number above 0 and at most 1, or "
            f"{', '.join(list(_SENSITIVITIES)[:-1])} or {list(_SENSITIVITIES)[-1]}."
        )
    return ceiling
