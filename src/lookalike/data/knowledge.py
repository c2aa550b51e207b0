"""Common knowledge: what everybody knows about people of some kind, as rules that an audit can use.

    knowledge: 1
    rules:
    - who: {sex: male}
      never: {diagnosis: childbirth}
    - who: {age: {to: 14}}
      never: {diagnosis: [childbirth, prostate disorder]}

`who` names conditions that must all hold: one value, several, or a range with `from` and `to` (both included). `never`
names values that such people do not have; where it names several columns, they have none of them. A value may be a
group of the column's taxonomy. A rule with a quasi-identifier under `never` (nobody of 40 is retired) tells an attacker
nothing, since quasi-identifiers are known anyway; it keeps made-up examples plausible.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.data.microdata import Codes, Domain, Domains, Microdata, parse_number
from lookalike.data.schema import NUMBER_LIKE, Kind, ValueType
from lookalike.errors import DataError, counted, quoted
from lookalike.untrusted import BadYaml, load_yaml, read_text

_FORMAT = "1"
_MOST_RULES = 1000
_MICROSECONDS_OF_DAY = 86_400_000_000
_WHO, _NEVER = "who", "never"
_EXAMPLE = "{who: {sex: male}, never: {diagnosis: childbirth}}"


@dataclass(frozen=True)
class Condition:
    """Values of one column: those listed, or those from `low` to `high`."""

    column: str
    values: tuple[str, ...] = ()
    low: str | None = None
    high: str | None = None

    @property
    def is_range(self) -> bool:
        return self.low is not None or self.high is not None

    def __str__(self) -> str:
        if not self.is_range:
            return f"{self.column} {' or '.join(self.values)}"
        if self.low is None:
            return f"{self.column} up to {self.high}"
        return f"{self.column} from {self.low}" + ("" if self.high is None else f" to {self.high}")

    def to_plain(self) -> Any:
        if not self.is_range:
            return self.values[0] if len(self.values) == 1 else list(self.values)
        ends = {"from": self.low, "to": self.high}
        return {key: end for key, end in ends.items() if end is not None}

    def find_codes(self, domain: Domain) -> NDArray[np.bool_]:
        """[codes] which values of the domain it names; a missing value is in no condition."""
        found = np.zeros(domain.n_codes + 1, dtype=bool)
        texts = domain.texts[: len(domain.values)]
        if self.is_range:
            found[: len(texts)] = self._find_inside(domain, texts)
            return found
        is_number = domain.type in NUMBER_LIKE
        named = {_place_text(domain, texts, value) for value in self.values if is_number} - {None}
        for code, text in enumerate(texts):
            # 30 and 30.0 are one number.
            found[code] = text in self.values or (bool(named) and _place_text(domain, texts, text) in named)
        if domain.taxonomy is not None:
            for node, label in enumerate(domain.taxonomy.labels):
                if label in self.values:
                    found[int(domain.taxonomy.firsts[node]) : int(domain.taxonomy.lasts[node]) + 1] = True
        if domain.has_missing:
            found[domain.missing_code] = False
        return found

    def _find_inside(self, domain: Domain, texts: Sequence[str]) -> list[bool]:
        """Which values lie between the ends."""
        low, high = (
            None if end is None else _place_end(domain, texts, end, self.column, is_last=is_last)
            for end, is_last in ((self.low, False), (self.high, True))
        )
        if low is not None and high is not None and low > high:
            raise DataError(f"A rule has {self}: the first end is above the last. Swap them.")
        places = [_place_text(domain, texts, text) for text in texts]
        return [
            place is not None and (low is None or low <= place) and (high is None or place <= high) for place in places
        ]


def _place_end(domain: Domain, texts: Sequence[str], text: str, column: str, *, is_last: bool) -> float:
    place = _place_text(domain, texts, text)
    if place is None:
        dates = domain.type in (ValueType.DATE, ValueType.DATETIME)
        how = "Write dates as 2020-01-31." if dates else "Name a value of its order, or a number."
        raise DataError(f"A rule has {quoted(text)} as an end of {quoted(column)}, which has no such order. {how}")
    if is_last and domain.type is ValueType.DATETIME and len(text) == len("2020-01-31"):
        # A day as the last one counts to its end.
        return place + _MICROSECONDS_OF_DAY - 1
    return place


def _place_text(domain: Domain, texts: Sequence[str], text: str) -> float | None:
    """Where a value is in its column's order; None: nowhere."""
    if domain.kind is Kind.ORDERED:
        return float(texts.index(text)) if text in texts else None
    if domain.type not in NUMBER_LIKE and domain.type is not ValueType.STRING:
        return None
    try:
        place = parse_number(text, domain.type)
    except ValueError:
        return None
    return place if math.isfinite(place) else None


@dataclass(frozen=True)
class Rule:
    """People of whom all of `who` holds never have a value of `never`."""

    who: tuple[Condition, ...]
    never: tuple[Condition, ...]

    def __str__(self) -> str:
        """
        >>> str(Rule((Condition("sex", ("male",)),), (Condition("diagnosis", ("childbirth",)),)))
        'sex male: never diagnosis childbirth'
        """
        return f"{', '.join(map(str, self.who))}: never {', '.join(map(str, self.never))}"

    def to_plain(self) -> dict[str, Any]:
        return {
            _WHO: {one.column: one.to_plain() for one in self.who},
            _NEVER: {one.column: one.to_plain() for one in self.never},
        }


@dataclass(frozen=True)
class Knowledge:
    """Rules that everybody knows to be true."""

    rules: tuple[Rule, ...]

    @classmethod
    def load(cls, path: str | Path) -> Knowledge:
        """Read a rules file."""
        try:
            text = read_text(Path(path))
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise DataError(f"Cannot read the rules {path}: {reason}.") from None
        return cls.from_yaml(text, str(path))

    @classmethod
    def from_yaml(cls, text: str, source: str = "the rules") -> Knowledge:
        try:
            loaded = load_yaml(text, as_text=True)
        except BadYaml as error:
            raise DataError(f"{source} is not valid YAML{error.place}: {error}.") from None
        if not isinstance(loaded, dict) or set(loaded) - {"knowledge", "rules"} or not loaded.get("rules"):
            raise DataError(f"{source} must be a mapping with knowledge: 1 and a list called rules, as {_EXAMPLE}.")
        if loaded.get("knowledge", _FORMAT) != _FORMAT:
            raise DataError(f"{source} has version {loaded['knowledge']} of rules, and this version reads {_FORMAT}.")
        listed = loaded["rules"]
        if not isinstance(listed, list) or len(listed) > _MOST_RULES:
            raise DataError(f"{source}: rules must be a list of at most {_MOST_RULES:,} rules.")
        return cls(tuple(_read_rule(one, f"{source}, rule {number}") for number, one in enumerate(listed, 1)))

    def to_plain(self) -> dict[str, Any]:
        return {"knowledge": 1, "rules": [rule.to_plain() for rule in self.rules]}

    def to_yaml(self) -> str:
        import yaml

        return yaml.safe_dump(self.to_plain(), sort_keys=False, allow_unicode=True, default_flow_style=None)


def as_knowledge(given: Knowledge | str | Path | None) -> Knowledge | None:
    """Rules however they are given: read already, or the path of a file."""
    return given if given is None or isinstance(given, Knowledge) else Knowledge.load(given)


def _read_rule(entry: object, where: str) -> Rule:
    if not isinstance(entry, dict) or set(entry) != {_WHO, _NEVER}:
        raise DataError(
            f"{where}: a rule has who and never, as {{who: {{sex: male}}, never: {{diagnosis: childbirth}}}}."
        )
    return Rule(*(_read_conditions(entry[part], f"{where}, {part}") for part in (_WHO, _NEVER)))


def _read_conditions(entry: object, where: str) -> tuple[Condition, ...]:
    if not isinstance(entry, dict) or not entry:
        raise DataError(f"{where}: it must name columns and values, as {{sex: male}}.")
    return tuple(_read_condition(str(column), given, where) for column, given in entry.items())


def _read_condition(column: str, given: object, where: str) -> Condition:
    if isinstance(given, Mapping):
        ends = {key: given[key] for key in ("from", "to") if isinstance(given.get(key), str)}
        if not ends or set(given) - set(ends):
            raise DataError(f"{where}: a range of {quoted(column)} is written {{from: 0, to: 14}}, or with one end.")
        return Condition(column, low=ends.get("from"), high=ends.get("to"))
    listed = given if isinstance(given, list) else [given]
    values = [value for value in listed if isinstance(value, str) and value]
    if not values or len(values) < len(listed):
        raise DataError(f"{where}: {quoted(column)} needs a value, a list of values or a range.")
    return Condition(column, tuple(values))


@dataclass(frozen=True, eq=False)
class Kinds:
    """The people of a table by what the rules say of them."""

    kind_of_record: NDArray[np.int64]
    possible: tuple[NDArray[np.bool_], ...]
    """By sensitive column, [kinds, codes]: whether people of the kind may have the value."""
    rules: tuple[Rule, ...]
    """Those that speak of this table."""
    notes: tuple[str, ...]
    """Rules, or values in them, that have no effect, and why."""

    @property
    def n_kinds(self) -> int:
        return 1 + int(self.kind_of_record.max(initial=-1))

    def allow(self, rows: Codes) -> NDArray[np.bool_]:
        """[kinds, rows] whether people of a kind may have all sensitive values of a row."""
        found = np.ones((self.n_kinds, len(rows)), dtype=bool)
        for column, allowed in enumerate(self.possible):
            found &= allowed[:, rows[:, column]]
        return found


def sort_into_kinds(knowledge: Knowledge, data: Microdata) -> Kinds:
    """What each record's quasi-identifiers rule out; raises `DataError` where a record contradicts a rule."""
    quasi = {domain.name: place for place, domain in enumerate(data.domains.quasi)}
    sensitive = {domain.name: place for place, domain in enumerate(data.domains.sensitive)}
    used: list[Rule] = []
    notes: list[str] = []
    idle: list[int] = []
    masks = [np.zeros((data.n_rows, 0), dtype=bool)]
    forbidden: list[tuple[NDArray[np.bool_], ...]] = []
    for number, rule in enumerate(knowledge.rules, 1):
        unknown = [one.column for one in rule.who if one.column not in quasi]
        if unknown:
            notes.append(
                f"Rule {number} ({rule}) is not used: {quoted(unknown[0])} is no quasi-identifier of the release, so "
                "an attacker is not taken to know it."
            )
            continue
        never = [one for one in rule.never if one.column in sensitive]
        if not never:
            idle += [] if any(one.column in quasi for one in rule.never) else [number]
            continue
        holds = np.ones(data.n_rows, dtype=bool)
        for one in rule.who:
            place = quasi[one.column]
            codes = one.find_codes(data.domains.quasi[place])
            if not codes.any():
                notes.append(f"Rule {number} ({rule}): no value of {quoted(one.column)} is meant by it.")
            holds &= codes[data.quasi[:, place]]
        values = tuple(np.zeros(domain.n_codes, dtype=bool) for domain in data.domains.sensitive)
        wrong = np.zeros(data.n_rows, dtype=bool)
        for one in never:
            place = sensitive[one.column]
            codes = one.find_codes(data.domains.sensitive[place])[: len(values[place])]
            domain = data.domains.sensitive[place]
            missing = [value for value in one.values if not _names(domain, one.column, value)]
            if one.is_range and not codes.any():
                notes.append(f"Rule {number} ({rule}): no value of {quoted(one.column)} is meant by it.")
            if missing:
                notes.append(
                    f"Rule {number} ({rule}): {quoted(one.column)} has no value {', '.join(map(quoted, missing))}."
                )
            values[place][codes] = True
            wrong |= holds & codes[data.sensitive[:, place]]
        if wrong.any():
            raise DataError(
                f"Rule {number} ({rule}) is not true of this table: {counted(int(wrong.sum()), 'record')} contradict "
                "it. Correct the rule, or the records."
            )
        used.append(rule)
        masks.append(holds.reshape(-1, 1))
        forbidden.append(values)
    if idle:
        listed = ", ".join(map(str, idle))
        notes.append(f"Not used, since the release lacks their columns: rule{'s' * (len(idle) > 1)} {listed}.")
    distinct, kind_of_record = np.unique(np.hstack(masks), axis=0, return_inverse=True)
    possible = []
    for place, domain in enumerate(data.domains.sensitive):
        allowed = np.ones((len(distinct), domain.n_codes), dtype=bool)
        for rule_place, values in enumerate(forbidden):
            allowed[np.ix_(distinct[:, rule_place], values[place])] = False
        possible.append(allowed)
    return _merge(Kinds(kind_of_record.reshape(-1).astype(np.int64), tuple(possible), tuple(used), tuple(notes)))


def _merge(kinds: Kinds) -> Kinds:
    """Kinds with the same possible values are one."""
    n_kinds = kinds.n_kinds
    flat = np.hstack([np.zeros((n_kinds, 0), dtype=bool), *(one[:n_kinds] for one in kinds.possible)])
    _, firsts, places = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    return Kinds(
        places.reshape(-1)[kinds.kind_of_record].astype(np.int64),
        tuple(one[firsts] for one in kinds.possible),
        kinds.rules,
        kinds.notes,
    )


def _names(domain: Domain, column: str, value: str) -> bool:
    """Whether a value, or a group of values, of the column has this name."""
    return bool(Condition(column, (value,)).find_codes(domain).any())


def break_rules(knowledge: Knowledge, domains: Domains, quasi: Codes, sensitive: Codes) -> NDArray[np.bool_]:
    """[people] who have a value that some rule rules out, in a quasi-identifier or a sensitive column."""
    columns = {domain.name: (domain, codes) for domain, codes in zip(domains.quasi, quasi.T, strict=True)}
    columns |= {domain.name: (domain, codes) for domain, codes in zip(domains.sensitive, sensitive.T, strict=True)}
    broken = np.zeros(len(quasi), dtype=bool)

    def meets(one: Condition) -> NDArray[np.bool_]:
        domain, codes = columns[one.column]
        found: NDArray[np.bool_] = one.find_codes(domain)[np.minimum(codes, domain.n_codes)]
        return found

    for rule in knowledge.rules:
        if any(one.column not in columns for one in rule.who):
            continue
        holds = np.logical_and.reduce([meets(one) for one in rule.who])
        for one in rule.never:
            if one.column in columns:
                broken |= holds & meets(one)
    return broken
