"""What an audit says: checks of the release itself, a verdict for each promise, and how they print.

Counts only: no check, verdict or message carries a record's values. An audit passes when every check that decides
passed and every verdict passed; a check that was not run says so and is never taken for a pass.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from lookalike.audit.exposures import part
from lookalike.audit.reading import Ints
from lookalike.data.adversary import KNOWS_METHOD
from lookalike.data.contracts import Level, PrivacyModel, Promise
from lookalike.data.exposure import Exposure
from lookalike.data.person_settings import Unit
from lookalike.data.release import Matched
from lookalike.data.wording import Wording
from lookalike.errors import counted

_PASSED = "passed"
FAILED = "failed"
NOT_RUN = "not run"
UNDECIDED = "could not tell"
NO_FAULT = "no fault found"
"""Passed or could not tell: which of the two depends on the original, so a published audit does not say."""
OPEN = "not shown"


@dataclass(frozen=True)
class Check:
    """One precondition of the release."""

    name: str
    passed: bool
    detail: str
    status: str = ""
    """passed, failed, not run or could not tell."""
    decides: bool = True
    """Whether the audit can only pass if this passed. What other checks imply does not decide by itself."""

    def __post_init__(self) -> None:
        if not self.status:
            object.__setattr__(self, "status", _PASSED if self.passed else FAILED)

    @classmethod
    def not_run(cls, name: str, detail: str, *, decides: bool) -> Check:
        return cls(name, False, detail, NOT_RUN, decides)

    @classmethod
    def undecided(cls, name: str, detail: str) -> Check:
        """A test of chance on a table too small for it: neither a proof nor a fault."""
        return cls(name, False, detail, UNDECIDED, decides=False)

    @property
    def blocks(self) -> bool:
        """Whether this keeps the audit from passing."""
        return self.status == FAILED or (self.status == NOT_RUN and self.decides)

    def to_plain(self) -> dict[str, Any]:
        return {"name": self.name, "passed": self.passed, "status": self.status, "detail": self.detail}


@dataclass(frozen=True)
class Verdict:
    """One model held against the release."""

    promise: str
    """In one plain sentence."""
    model: str
    """As one writes it."""
    column: str | None
    letter: str
    asked: Fraction | float | None
    reached: Fraction | float | None
    """None where there is nothing to measure (see detail)."""
    passed: bool | None
    """None: measured, but nobody asked for it."""
    detail: str = ""
    unit_size: int | None = None
    """Rows in the unit that decides."""
    failing_units: int | None = None
    """Units that break the promise; None where they were not counted."""
    failing_records: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether nothing was found wrong and the promise is not shown either. It does not pass."""
        return self.passed is False and self.detail.startswith(OPEN)

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name, value in vars(self).items():
            plain |= _plain_number(name, value) if name in ("asked", "reached") else {name: value}
        return plain

    def failing_text(self, noun: str = "record") -> str:
        """How much of the release breaks the promise, where that was counted; `noun`: what sizes are numbers of."""
        if not self.failing_units:
            return ""
        records = "" if self.failing_records is None else f" with {counted(self.failing_records, noun)}"
        return f"broken in {counted(self.failing_units, 'unit')}{records}"


@dataclass(frozen=True)
class ExactColumn:
    """A published column of plain values that is no quasi-identifier, and how many rows it singles out."""

    name: str
    role: str
    n_unique: int
    """Rows whose value no other row has: an attacker who knows the value finds the row."""
    n_rows: int

    def __str__(self) -> str:
        return f"{self.name} ({self.role}) singles out {self.n_unique:,} of {counted(self.n_rows, 'row')}"

    def to_plain(self) -> dict[str, Any]:
        return {"column": self.name, "role": self.role, "singled_out": self.n_unique, "rows": self.n_rows}


@dataclass(frozen=True, kw_only=True)
class Grounds:
    """What an audit of files rests on: whose column roles, what is only stated, what was not looked at."""

    publishers_roles: bool
    """Whether the roles of the columns are the publisher's own; otherwise the verifier gave them."""
    stated: tuple[str, ...] = ()
    """What the publisher states and no file can show."""
    not_checked: tuple[str, ...] = ()
    """What the release has and the audit did not look into."""
    normalised: tuple[str, ...] = ()
    """How cells of another tool's notation were read."""
    exact: tuple[ExactColumn, ...] = ()

    def to_plain(self) -> dict[str, Any]:
        return {
            "column_roles": "publisher" if self.publishers_roles else "verifier",
            "stated_not_checked": list(self.stated),
            "not_checked": list(self.not_checked),
            "normalised": list(self.normalised),
            "exact_columns": [column.to_plain() for column in self.exact],
        }

    def lines(self) -> list[str]:
        """For people; empty where there is nothing to say."""
        titled = (
            ("Stated by the publisher, not checked", self.stated),
            ("Not checked", self.not_checked),
            ("Normalised before reading", self.normalised),
            ("Exact columns that are no quasi-identifiers", [str(column) for column in self.exact]),
        )
        return [f"{title}: {'; '.join(said)}." for title, said in titled if said]


@dataclass(frozen=True)
class Audit:
    """A release held against its promises."""

    form: str
    adversary: str
    level: str
    """What stands for a person: group, bucket, posterior; for matched releases A (graph given) or B (not given)."""
    checks: tuple[Check, ...]
    verdicts: tuple[Verdict, ...]
    measured: tuple[Verdict, ...]
    """Levels that were measured without being asked for."""
    n_records: int
    n_rows: int
    n_suppressed: int
    n_dummies: int
    n_persons: int | None = None
    """How many persons the records belong to; None: every record is a person."""
    unit: Unit = field(default_factory=Unit)
    """What is counted where `n_persons` is known."""
    knows_carried: tuple[str, ...] = ()
    """Carried columns that the attacker knows of a person besides the quasi-identifiers."""
    grounds: Grounds | None = None
    """None where a release was audited as it was made, and nothing was read from files."""
    notes: tuple[str, ...] = ()
    """What reading the tables had to say."""

    @property
    def passed(self) -> bool:
        return not any(check.blocks for check in self.checks) and all(verdict.passed for verdict in self.verdicts)

    def to_plain(self) -> dict[str, Any]:
        """Ready for JSON: numbers as decimal text, and as a fraction where the decimals do not end."""
        return {
            "passed": self.passed,
            "form": self.form,
            "adversary": self.adversary,
            **({"knows_carried": list(self.knows_carried)} if self.knows_carried else {}),
            "level": self.level,
            "records": self.n_records,
            **({} if self.n_persons is None else {"persons": self.n_persons}),
            "rows": self.n_rows,
            "suppressed": self.n_suppressed,
            "dummies": self.n_dummies,
            "checks": [check.to_plain() for check in self.checks],
            "verdicts": [verdict.to_plain() for verdict in self.verdicts],
            "measured": [verdict.to_plain() for verdict in self.measured],
            **({} if self.grounds is None else self.grounds.to_plain()),
        }

    def __str__(self) -> str:
        lines = [self._headline()]
        for rows in self._tables():
            lines += ["", *_text_table(rows)]
        if self.grounds is not None and (said := self.grounds.lines()):
            lines += ["", *said]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self._headline())}</b></p>", *map(_html_table, self._tables())]
        parts += [f"<p>{html.escape(line)}</p>" for line in (() if self.grounds is None else self.grounds.lines())]
        return "".join(parts)

    def _headline(self) -> str:
        word = "The audit passed" if self.passed else "The audit FAILED"
        failed = [verdict for verdict in self.verdicts if not verdict.passed]
        if failed and all(verdict.is_open for verdict in failed) and not any(check.blocks for check in self.checks):
            word = "The audit did NOT PASS, because what is promised is not shown"
        if self.passed and not self.verdicts:
            word = "The release is a faithful one, and no promise was held against it"
        if self.grounds is not None and self.grounds.publishers_roles:
            word += " under the publisher's own column roles"
        # No file shows how a release was made, so none shows what it tells an attacker who knows the method.
        is_stated = self.grounds is not None and self.adversary == KNOWS_METHOD
        stated = " (stated by the publisher, not checked)" if is_stated else ""
        knows = f" who also knows {' and '.join(self.knows_carried)}" if self.knows_carried else ""
        of_persons = counting = ""
        if self.n_persons is not None:
            of_persons, counting = (
                f" of {counted(self.n_persons, self.unit.noun)}",
                f"; promises count {self.unit.noun}s",
            )
        return (
            f"{word}: {self.form} release, {self.n_rows:,} rows for {self.n_records:,} records{of_persons} "
            f"({self.n_suppressed:,} suppressed, {self.n_dummies:,} made up){counting}; adversary "
            f"{self.adversary}{knows}{stated}."
        )

    def _tables(self) -> Iterator[list[tuple[str, ...]]]:
        """The checks, and what was asked and measured if anything was, as texts below a head."""
        yield [("check", "", "detail"), *((check.name, check.status, check.detail) for check in self.checks)]
        noun = "record" if self.n_persons is None else self.unit.noun
        words = {True: _PASSED, False: FAILED, None: "measured"}
        rows = [
            (
                verdict.model if verdict.column is None else f"{verdict.column}: {verdict.model}",
                "" if verdict.passed is None else format_number(verdict.asked),
                format_number(verdict.reached),
                OPEN if verdict.is_open else words[verdict.passed],
                "; ".join(filter(None, (verdict.detail, verdict.failing_text(noun)))),
            )
            for verdict in (*self.verdicts, *self.measured)
        ]
        if rows:
            yield [("promise", "asked", "reached", "", "detail"), *rows]


def format_number(number: Fraction | float | None) -> str:
    """A number for people: all decimals if they end, six significant digits if not.

    >>> format_number(Fraction(1, 8)), format_number(Fraction(1, 3)), format_number(Fraction(5)), format_number(None)
    ('0.125', '0.333333', '5', '-')
    """
    if number is None or (isinstance(number, float) and math.isnan(number)):
        return "-"
    if isinstance(number, float):
        return f"{number:.6g}"
    return _ending_decimals(number) or f"{float(number):.6g}"


def _ending_decimals(number: Fraction) -> str | None:
    """The decimal text of a fraction whose decimals end soon, or None."""
    for places in range(19):
        scaled = number * 10**places
        if scaled.denominator == 1:
            digits = f"{abs(scaled.numerator):0{places + 1}d}"
            text = digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"
            return text if number >= 0 else f"-{text}"
    return None


def _plain_number(name: str, number: Fraction | float | None) -> dict[str, str | None]:
    if number is None or (isinstance(number, float) and math.isnan(number)):
        return {name: None}
    if isinstance(number, float):
        return {name: repr(number)}
    number = Fraction(number)
    text = _ending_decimals(number)
    if text is not None:
        return {name: text}
    return {name: repr(float(number)), f"{name}_exact": f"{number.numerator}/{number.denominator}"}


def _text_table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _html_table(rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    head, *others = rows
    return f"<table>{line(head, 'th')}{''.join(line(row, 'td') for row in others)}</table>"


NOTHING = "nothing is published"
_LOOKS = 2000
"""How many parts of an exposure are looked at to count the units that fail."""


def judge_promise(promise: Promise, exposure: Exposure) -> Verdict:
    """The verdict, with the number of units that break the promise."""
    verdict = judge_level(promise, exposure)
    failing = np.zeros(0, dtype=np.int64) if verdict.passed else _failing_units(promise.model, exposure)
    return replace(
        verdict,
        failing_units=None if failing is None else len(failing),
        failing_records=None if failing is None else _records_in(exposure, failing),
    )


def judge_level(promise: Promise, exposure: Exposure) -> Verdict:
    """The verdict by the level alone."""
    level = promise.model.level(exposure)
    return _verdict_by(promise, exposure, level, promise.model.holds(level))


def measure_level(promise: Promise, exposure: Exposure | str) -> Verdict:
    """The level of a model that nobody asked for, or the reason why there is none."""
    if isinstance(exposure, str):
        verdict = verdict_of(promise, None, exposure, None)
    else:
        verdict = _verdict_by(promise, exposure, promise.model.level(exposure), None)
    return replace(verdict, model=without_letter(str(promise.model)), asked=None)


def _verdict_by(promise: Promise, exposure: Exposure, level: Level, passed: bool | None) -> Verdict:
    # Probabilities of someone who knows numbers of rows lie behind the classes, and have no sizes.
    known = level.unit is not None and exposure.counts_rows and level.unit < (exposure.n_classes or exposure.n_units)
    return replace(
        verdict_of(promise, passed, level.detail, exposure.form),
        reached=_make_exact(level.value),
        unit_size=int(exposure.sizes[level.unit]) if known else None,
    )


def verdict_of(promise: Promise, passed: bool | None, detail: str, form: str | None) -> Verdict:
    """What is said without a level of a promise about a release of that form; the detail says why there is none."""
    model = promise.model
    return Verdict(
        promise=promise.sentence(Wording(form=form)),
        model=str(model),
        column=promise.column,
        letter=model.letter,
        asked=_make_exact(model.asked),
        reached=None,
        passed=passed,
        detail=detail,
    )


def without_letter(model: str) -> str:
    """A model's text without the parameter that nobody asked for.

    >>> without_letter("l-diversity:1,kind=distinct"), without_letter("t-closeness:1")
    ('l-diversity (kind=distinct)', 't-closeness')
    """
    name, _, parameters = model.partition(":")
    rest = parameters.partition(",")[2]
    return f"{name} ({rest.replace(',', ', ')})" if rest else name


def _make_exact(number: Fraction | float) -> Fraction | float:
    return number if isinstance(number, Fraction | float) else Fraction(number)


def _failing_units(model: PrivacyModel, exposure: Exposure) -> Ints | None:
    """Units that break the promise by themselves, by halving; None if that takes too many looks."""
    failing: list[int] = []
    stack = [np.arange(exposure.n_units)]
    for _ in range(_LOOKS):
        if not stack:
            return np.array(failing, dtype=np.int64)
        units = stack.pop()
        if model.holds(model.level(part(exposure, units))):
            continue
        if len(units) == 1:
            failing.append(int(units[0]))
        else:
            stack += [units[: len(units) // 2], units[len(units) // 2 :]]
    return None


def _records_in(exposure: Exposure, units: Ints) -> int | None:
    if exposure.form == Matched.form:
        return len(units)
    if exposure.n_classes is not None and (units >= exposure.n_classes).any():
        return None
    return int(exposure.sizes[units].sum()) if exposure.counts_rows else None
