"""Coarsening: values of a column that is published as it is become blocks before anything else looks at them.

    {round: 1000}                  numbers nearest to the same multiple, halves up; by: floor rounds down; origin: 0
    {top: 90000, bottom: 500}      all numbers from 90000 on are one block, and all up to 500; also with round
    {width: [0, 18, 65]}           blocks between cuts, the lower end included
    {prefix: 3}                    text by its first characters (021**)
    {dates: month}                 dates by day, week, month, quarter, year or decade
    {groups: {North: [A, B]}}      named sets; what is not listed stays (others: keep) or is one block (others: merge)
    {level: 1}                     the column's taxonomy: the largest nodes with at most so many levels below them

Blocks do not overlap and hold every value, so a promise about them is about the blocks: what someone believes of a
block. Ends are worked out in exact fractions of the decimals that the table shows. Blocks depend on what is declared
and on the value alone, never on other values; only blocks that occur are values of the column.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.errors import DataError, SchemaError, counted, quoted, unknown_name

_NEAREST, _FLOOR = "nearest", "floor"
_KEEP, _MERGE = "keep", "merge"
_RULES = ("round", "top", "bottom", "width", "prefix", "dates", "groups", "level")
_DETAILS = {"origin": "round", "by": "round", "others": "groups"}
KEYS = (*_RULES, *_DETAILS)
_TOGETHER = {"round", "top", "bottom"}
_UNITS = ("day", "week", "month", "quarter", "year", "decade")
_BLOCKS = 50
_LESS, _AT_MOST, _AT_LEAST = "<", "<=", ">="


def join_ends(low: str, high: str) -> str:
    """Two ends as the cells of a release write a range of them: no spreadsheet takes it for a date or a formula."""
    return f"[{low}..{high}]" if low.startswith("-") else f"{low}..{high}"


@dataclass(frozen=True)
class Block:
    """A stretch of numbers. Without an end it goes on for ever."""

    low: Fraction | None
    high: Fraction | None
    low_included: bool = True
    high_included: bool = False

    def print(self, text_of: Callable[[Fraction], str], *, whole: bool) -> str:
        """As the cells of a release show it.

        >>> plain = lambda end: str(end)
        >>> Block(Fraction(55, 2), Fraction(65, 2)).print(plain, whole=True), Block(None, Fraction(0)).print(
        ...     plain, whole=False
        ... )
        ('28..32', '<0')
        """
        if self.high is None:
            assert self.low is not None
            return f"{_AT_LEAST}{text_of(self.low)}"
        if self.low is None:
            return f"{_AT_MOST if self.high_included else _LESS}{text_of(self.high)}"
        if self.low == self.high:
            return text_of(self.low)
        if not whole:
            brackets = "[" if self.low_included else "(", "]" if self.high_included else ")"
            return f"{brackets[0]}{text_of(self.low)}, {text_of(self.high)}{brackets[1]}"
        low = math.ceil(self.low) if self.low_included else math.floor(self.low) + 1
        high = math.floor(self.high) if self.high_included else math.ceil(self.high) - 1
        if low == high:
            return text_of(Fraction(low))
        return join_ends(text_of(Fraction(low)), text_of(Fraction(high)))


@dataclass(frozen=True)
class Coarsening:
    """How one column is made coarser, as declared."""

    column: str
    declared: Mapping[str, Any]

    def __post_init__(self) -> None:
        given = self.declared
        if not isinstance(given, Mapping) or not given:
            raise SchemaError(f"{self._where} must be a mapping such as {{round: 1000}} or {{top: 90}}.")
        for key in given:
            if key not in KEYS:
                raise SchemaError(f"{self._where}: {unknown_name('setting', str(key), KEYS)}")
            if key in _DETAILS and _DETAILS[key] not in given:
                raise SchemaError(f"{self._where}: {key} belongs to {_DETAILS[key]}, which is not given.")
        rules = [rule for rule in _RULES if rule in given]
        if len(rules) > 1 and not set(rules) <= _TOGETHER:
            raise SchemaError(
                f"{self._where}: {' and '.join(rules)} do not go together. Only round, top and bottom can be combined."
            )
        checks = {"width": self._check_cuts, "prefix": self._check_prefix, "dates": self._check_dates}
        checks |= {"groups": self._check_groups, "level": self._check_level, "round": self._check_round}
        for rule in rules:
            checks.get(rule, lambda: None)()

    @property
    def _where(self) -> str:
        return f"Column {quoted(self.column)}: prepare"

    def _check_round(self) -> None:
        if self._number("round") <= 0:
            raise SchemaError(f"{self._where}: round must be a number above 0, as in round: 1000.")
        if self.declared.get("by", _NEAREST) not in (_NEAREST, _FLOOR):
            raise SchemaError(f"{self._where}: by must be {_NEAREST} or {_FLOOR}, not {self.declared['by']!r}.")
        self._number("origin")

    def _check_cuts(self) -> None:
        cuts = self.declared["width"]
        if not isinstance(cuts, list | tuple) or not cuts:
            raise SchemaError(f"{self._where}: width must be a list of cuts, as in width: [0, 18, 65].")

    def _check_prefix(self) -> None:
        length = self.declared["prefix"]
        if not isinstance(length, int) or isinstance(length, bool) or length < 1:
            raise SchemaError(f"{self._where}: prefix must be a number of characters, 1 or more, not {length!r}.")

    def _check_dates(self) -> None:
        unit = str(self.declared["dates"])
        if unit not in _UNITS:
            raise SchemaError(f"{self._where}: {unknown_name('unit of dates', unit, _UNITS)}")

    def _check_groups(self) -> None:
        groups = self.declared["groups"]
        if (
            not isinstance(groups, Mapping)
            or not groups
            or not all(isinstance(one, list | tuple) for one in groups.values())
        ):
            raise SchemaError(f"{self._where}: groups must be a mapping such as {{North: [A, B], South: [C]}}.")
        members = [str(member) for group in groups.values() for member in group]
        if len(set(members)) != len(members):
            raise SchemaError(f"{self._where}: groups name a value twice. Put each value into one group.")
        if self.declared.get("others", _KEEP) not in (_KEEP, _MERGE):
            raise SchemaError(f"{self._where}: others must be {_KEEP} or {_MERGE}, not {self.declared['others']!r}.")

    def _check_level(self) -> None:
        level = self.declared["level"]
        if not isinstance(level, int) or isinstance(level, bool) or level < 1:
            raise SchemaError(f"{self._where}: level must be a whole number from 1, not {level!r}.")

    def _number(self, key: str, default: object = 0) -> Fraction:
        given = self.declared.get(key, default)
        try:
            return Fraction(str(given))
        except (ValueError, ZeroDivisionError):
            raise SchemaError(f"{self._where}: {key} must be a number, not {given!r}.") from None

    @property
    def uses_taxonomy(self) -> bool:
        return "level" in self.declared

    @property
    def is_of_numbers(self) -> bool:
        """Whether blocks are stretches of numbers, or of dates between cuts."""
        return bool(_TOGETHER & set(self.declared)) or "width" in self.declared

    @property
    def is_of_dates(self) -> bool:
        return "dates" in self.declared

    def describe(self) -> str:
        """In a sentence, after "is published".

        >>> Coarsening("pay", {"round": 1000, "top": 90000}).describe()
        'rounded to the nearest multiple of 1000; 90000 and more is one value'
        """
        given, said = self.declared, []
        if "round" in given:
            way = "down to a" if given.get("by") == _FLOOR else "to the nearest"
            origin = f", counted from {given['origin']}" if given.get("origin") else ""
            said.append(f"rounded {way} multiple of {given['round']}{origin}")
        if "width" in given:
            said.append(f"in blocks with cuts at {', '.join(map(str, given['width']))}")
        if "bottom" in given:
            said.append(f"{given['bottom']} and less is one value")
        if "top" in given:
            said.append(f"{given['top']} and more is one value")
        if "prefix" in given:
            said.append(f"by its first {counted(given['prefix'], 'character')}")
        if "dates" in given:
            said.append(f"by {given['dates']}")
        if "groups" in given:
            kept = "one value" if given.get("others") == _MERGE else "kept"
            said.append(f"in {counted(len(given['groups']), 'group')} of values, all others {kept}")
        if "level" in given:
            said.append(f"as nodes of its taxonomy with at most {counted(given['level'], 'level')} below them")
        return "; ".join(said)

    def block_of(self, parse: Callable[[str], Fraction]) -> Callable[[Fraction], Block]:
        """What block each number is in; `parse` reads declared numbers as positions among the column's values."""
        try:
            top, bottom = (
                None if key not in self.declared else parse(str(self.declared[key])) for key in ("top", "bottom")
            )
            cuts = [parse(str(cut)) for cut in self.declared.get("width", ())]
        except (ValueError, ZeroDivisionError):
            raise SchemaError(f"{self._where}: top, bottom and width must be values as the column has them.") from None
        if sorted(set(cuts)) != cuts:
            raise SchemaError(f"{self._where}: width must rise from cut to cut.")
        if top is not None and bottom is not None and top <= bottom:
            raise SchemaError(f"{self._where}: top must be above bottom.")
        step, origin = self._number("round"), self._number("origin")
        shift = Fraction(0) if self.declared.get("by") == _FLOOR else Fraction(1, 2)

        def block(number: Fraction) -> Block:
            if cuts:
                place = sum(cut <= number for cut in cuts)
                return Block(cuts[place - 1] if place else None, cuts[place] if place < len(cuts) else None)
            if top is not None and number >= top:
                return Block(top, None)
            if bottom is not None and number <= bottom:
                return Block(None, bottom, high_included=True)
            if not step:
                return Block(number, number, high_included=True)
            low = (math.floor((number - origin) / step + shift) - shift) * step + origin
            high = low + step
            is_cut = bottom is not None and low <= bottom
            return Block(bottom if is_cut else low, high if top is None else min(high, top), low_included=not is_cut)

        return block

    def label_numbers(
        self,
        numbers: Sequence[Fraction],
        parse: Callable[[str], Fraction],
        text_of: Callable[[Fraction], str],
        *,
        whole: bool,
    ) -> list[str]:
        """The block of each number, as it prints. The numbers rise, so the blocks come in their order."""
        block_of = self.block_of(parse)
        return [block_of(number).print(text_of, whole=whole) for number in numbers]

    def sort_labels(self, labels: Sequence[str]) -> list[str]:
        """Blocks in their order, as far as they say it themselves.

        >>> Coarsening("pay", {"round": 10, "top": 200}).sort_labels([">=200", "105..114", "[-5..4]", "95..104"])
        ['[-5..4]', '95..104', '105..114', '>=200']
        """
        return sorted(labels, key=_place_of) if self.is_of_numbers else sorted(labels)

    def label_texts(self, texts: Sequence[str], other: str) -> list[str]:
        """The block of each text: its first characters, or its group; `other` for all without one, if these merge."""
        if "prefix" in self.declared:
            length = self.declared["prefix"]
            return [text[:length] + "*" * max(len(text) - length, 0) for text in texts]
        groups = self.declared["groups"]
        group_of = {str(member): str(name) for name, members in groups.items() for member in members}
        others = other if self.declared.get("others") == _MERGE else None
        clashing = [text for text in texts if text not in group_of and text in groups and others is None]
        if clashing:
            raise DataError(
                f"{self._where}: {counted(len(clashing), 'value')} of the column not in any group has the name of a "
                "group. Rename the group."
            )
        return [group_of.get(text, others or text) for text in texts]


def sensible_step(numbers: NDArray[Any]) -> Fraction:
    """A step for rounding: 1, 2 or 5 with zeros, about a fiftieth of the stretch that nine of ten values lie in.

    >>> import numpy as np
    >>> sensible_step(np.arange(0, 100_000)), sensible_step(np.arange(0, 10) / 10)
    (Fraction(1000, 1), Fraction(1, 100))
    """
    low, high = (float(end) for end in np.quantile(numbers.astype(np.float64), (0.05, 0.95)))
    wanted = (high - low) / _BLOCKS
    if not wanted > 0:
        return Fraction(1)
    power = Fraction(10) ** math.floor(math.log10(wanted))
    return max(leading * power for leading in (1, 2, 5) if leading * power <= Fraction(wanted))


def suggest_rounding(name: str, numbers: NDArray[Any], *, are_dates: bool) -> str:
    """How to say on the command line that a column is to be published coarser.

    >>> import numpy as np
    >>> suggest_rounding("salary", np.arange(0, 100_000), are_dates=False)
    '--round salary=1000'
    """
    if are_dates:
        return f"--coarsen {shlex.quote(f'{name}=dates:month')}"
    step = sensible_step(numbers)
    shown = str(step) if step.denominator == 1 else np.format_float_positional(float(step), trim="-")
    return f"--round {shlex.quote(f'{name}={shown}')}"


def _place_of(label: str) -> tuple[int, Fraction | str]:
    """Where a block of numbers or days stands among others: by its lower end."""
    if label.startswith(_LESS):
        return 0, Fraction(0)
    if label.startswith(_AT_LEAST):
        return 2, Fraction(0)
    low = label.lstrip("[(").rstrip("])").partition("..")[0].partition(", ")[0]
    try:
        return 1, Fraction(low)
    except ValueError:
        return 1, low


def parse_coarsening(text: str) -> tuple[str, object]:
    """RULE:VALUE, as the command line takes it, as an entry of `prepare`.

    >>> parse_coarsening("round:1000"), parse_coarsening("width:0|18|65"), parse_coarsening("groups:North=A|B;South=C")
    (('round', 1000), ('width', [0, 18, 65]), ('groups', {'North': ['A', 'B'], 'South': ['C']}))
    """
    rule, sign, given = text.partition(":")
    if not sign or not given or rule not in KEYS:
        shown = "round:1000, top:90, width:0|18|65, prefix:3, dates:month, groups:North=A|B;South=C or level:1"
        raise SchemaError(f"A way to make a column coarser is written as {shown}, not {quoted(text)}.")
    if rule == "width":
        return rule, [_plain(cut) for cut in given.split("|")]
    if rule == "groups":
        pairs = [group.partition("=") for group in given.split(";")]
        return rule, {name: members.split("|") for name, _, members in pairs}
    return rule, _plain(given)


def print_coarsening(declared: Mapping[str, Any]) -> str:
    """An entry of `prepare` as one types it; `parse_rules` reads it again.

    >>> print_coarsening({"round": 1000, "top": 90000}), print_coarsening({"groups": {"North": ["A", "B"]}})
    ('round:1000, top:90000', 'groups:North=A|B')
    """
    said = []
    for rule, given in declared.items():
        if rule == "groups":
            given = ";".join(f"{name}={'|'.join(map(str, members))}" for name, members in given.items())
        elif rule == "width":
            given = "|".join(map(str, given))
        said.append(f"{rule}:{given}")
    return ", ".join(said)


def parse_rules(text: str) -> dict[str, object] | None:
    """Several rules with commas between them; None if there are none.

    >>> parse_rules("round:1000, top:90000"), parse_rules(" ")
    ({'round': 1000, 'top': 90000}, None)
    """
    return dict(parse_coarsening(rule.strip()) for rule in text.split(",") if rule.strip()) or None


def _plain(text: str) -> int | str:
    """Whole numbers as such; other numbers stay text, so that no digit is lost."""
    try:
        return int(text)
    except ValueError:
        return text
