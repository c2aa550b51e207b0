"""The values below the nodes of a taxonomy, for a reader who has the release and not the original.

A tree names its leaves. A rule (intervals, prefixes, dates) does not: its leaves are values of the original, and the
release shows only those that stand in it ungeneralised. Whole numbers and days below a node can be listed all the same;
below a prefix that no value in the release has, the prefix itself stands in for the value.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from lookalike.data.microdata import parse_number
from lookalike.data.schema import ValueType
from lookalike.data.taxonomy import ROOT, Taxonomy, build
from lookalike.errors import DataError, quoted

_WHOLE = re.compile(r"(-?\d+)-(-?\d+)")
_HALF_OPEN = re.compile(r"\[(.+), (.+)\)")
_YEAR = re.compile(r"(\d{4})(s?)")
_MOST_LISTED = 200_000
_POINTS = 10
"""Numbers that stand for an interval of fractions."""


def taxonomy_over(
    spec: Mapping[str, Any], labels: Iterable[str], type: ValueType, column: str, *, with_missing: bool
) -> Taxonomy:
    """The taxonomy of a published column over the values that can be below the labels that it shows."""
    shown = sorted(set(labels))
    form = next((form for form in _LISTED if form in spec), None)
    if form is None:
        return build(spec, [], [], column=column, with_missing=with_missing)
    values = _LISTED[form](shown, spec, type)
    if len(values) > _MOST_LISTED:
        raise DataError(
            f"Column {quoted(column)}: more than {_MOST_LISTED:,} values are possible below the nodes of its taxonomy, "
            "too many to draw from."
        )
    texts = list(values)
    return build(spec, list(values.values()), texts, column=column, with_missing=with_missing)


def _numbers(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """Whole numbers of every interval; of intervals of fractions some numbers inside."""
    found: dict[str, Any] = {}
    whole: set[int] = set()
    for label in shown:
        if inside := _WHOLE.fullmatch(label):
            low, high = int(inside[1]), int(inside[2])
            if len(whole) <= _MOST_LISTED:
                whole.update(range(low, min(high, low + _MOST_LISTED + 1) + 1))
        elif inside := _HALF_OPEN.fullmatch(label):
            start, end = float(inside[1]), float(inside[2])
            points = [start + (end - start) * step / _POINTS for step in range(_POINTS)]
            # One that is not whole: the rule writes intervals of whole numbers in another way.
            points.append(start + min(end - start, 1.0) / 2)
            found |= {_plain(point): float(_plain(point)) for point in points}
        elif label != ROOT:
            number = parse_number(label, ValueType.NUMBER)
            if type is ValueType.INTEGER:
                whole.add(int(number))
            else:
                found[label] = number
    return {str(number): number for number in sorted(whole)} | dict(sorted(found.items(), key=lambda pair: pair[1]))


def _plain(point: float) -> str:
    return np.format_float_positional(float(f"{point:.12g}"), trim="-")


def _prefixes(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """Values that are shown; and prefixes that have none of them below."""
    levels = spec["prefixes"] if isinstance(spec["prefixes"], list) else [spec["prefixes"]]

    def kept(label: str) -> int | None:
        """How many characters a node keeps; None for a value."""
        stars = "*" * len(label)
        return min((level for level in levels if level < len(label) and label[level:] == stars[level:]), default=None)

    leaves = {label: label for label in shown if label != ROOT and kept(label) is None}
    for label in sorted(set(shown) - set(leaves) - {ROOT}, key=lambda label: -(kept(label) or 0)):
        start = label[: kept(label)]
        if not any(leaf.startswith(start) and len(leaf) == len(label) for leaf in leaves):
            leaves[label] = label
    return leaves or dict.fromkeys(shown, ROOT)


def _days(shown: Sequence[str], spec: Mapping[str, Any], type: ValueType) -> dict[str, Any]:
    """The days of all years that are shown, as far as they lie below a label."""

    def as_text(day: datetime.date) -> str:
        return f"{day}T00:00:00" if type is ValueType.DATETIME else day.isoformat()

    years: set[int] = set()
    found: dict[str, Any] = {}
    for label in shown:
        start = _YEAR.match(label)
        if start is None:
            continue
        years.update(range(int(start[1]), int(start[1]) + (10 if start[2] else 1)))
        if "-W" in label:
            years.update((int(start[1]) - 1, int(start[1]) + 1))
        try:
            moment = datetime.datetime.fromisoformat(label)
        except ValueError:
            continue
        if len(label) >= len("2024-01-01") and "W" not in label:
            found[label] = moment if type is ValueType.DATETIME else moment.date()
    days = [
        datetime.date(year, 1, 1) + datetime.timedelta(days=place)
        for year in sorted(years)
        if 1 <= year < datetime.MAXYEAR
        for place in range((datetime.date(year + 1, 1, 1) - datetime.date(year, 1, 1)).days)
    ]
    if not days:
        return found or dict.fromkeys(shown, datetime.date.min)
    tree = build({"dates": spec["dates"]}, days, [as_text(day) for day in days], column="dates", with_missing=False)
    wanted = [tree.node(label) for label in shown if label != ROOT]
    below = {place for node in wanted if node is not None for place in range(tree.firsts[node], tree.lasts[node] + 1)}
    by_text = {as_text(day): day for day in days}
    found |= {text: by_text[text] for place, text in enumerate(tree.leaves) if place in below}
    return dict(sorted(found.items()))


_LISTED: dict[str, Callable[[Sequence[str], Mapping[str, Any], ValueType], dict[str, Any]]] = {
    "intervals": _numbers,
    "prefixes": _prefixes,
    "dates": _days,
}
