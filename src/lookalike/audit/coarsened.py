"""Is every value of the original in the block that the release declares for it? By the auditor's own means.

Blocks are read off what is printed, and worked out from what is declared by other formulas than those that made them:
two values share a block if and only if they share a key, and a block of numbers holds its values. What the release
shows of blocks is compared with the original by the other checks. Costs a pass over the different values.
"""

from __future__ import annotations

import bisect
import datetime
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.audit.verdicts import Check
from lookalike.data.microdata import Column, Domain, Microdata, Table, texts_of
from lookalike.data.schema import ValueType
from lookalike.data.taxonomy import Taxonomy, build
from lookalike.errors import counted, quoted

_NAME = "values made coarser as declared"
_MOMENTS = {ValueType.DATE: "datetime64[D]", ValueType.DATETIME: "datetime64[us]"}
_RANGE = re.compile(r"(?P<open>[\[(]?)(?P<low>[^,()\[\]]+?)(?:\.\.|, )(?P<high>[^,()\[\]]+?)(?P<close>[\])]?)")


def check_coarsening(table: Table, data: Microdata, kept: NDArray[np.int64] | None = None) -> tuple[Check, ...]:
    """One check of all columns that were made coarser; none if there are none. `kept`: the table's rows in `data`."""
    said, passed = [], True
    columns = zip((*data.domains.sensitive, *data.domains.carried), (*data.sensitive.T, *data.carried.T), strict=True)
    for domain, codes in columns:
        if domain.attribute.prepare is None:
            continue
        column = table[domain.name]
        values = column.codes if kept is None else column.codes[kept]
        wrong = _count_wrong(domain, column, values, codes)
        passed &= wrong == 0
        blocks = f"{counted(len(domain.values), 'block')} of {quoted(domain.name)}"
        said.append(
            f"{blocks} hold their values and no others" if not wrong else f"{counted(wrong, 'value')} of {blocks}"
        )
    return (Check(_NAME, passed, "; ".join(said) + ("" if passed else " are not as declared")),) if said else ()


def _count_wrong(domain: Domain, column: Column, values: NDArray[Any], codes: NDArray[Any]) -> int:
    """Values of the original whose block is not the declared one."""
    pairs = np.unique(np.column_stack((values, codes)), axis=0).tolist()
    missing = len(column.values)
    texts = texts_of(column.values, column.type)
    key_of = _keys_of(domain, column, texts)
    wrong = {value for value, code in pairs if (value == missing) != (code == len(domain.values))}
    block_of_key: dict[Any, int] = {}
    key_of_block: dict[int, Any] = {}
    for value, code in pairs:
        if value == missing or value in wrong:
            continue
        key = key_of(value)
        if (
            block_of_key.setdefault(key, code) != code
            or key_of_block.setdefault(code, key) != key
            or not _holds(domain, column, texts[value], domain.texts[code], key)
        ):
            wrong.add(value)
    return len(wrong)


def _keys_of(domain: Domain, column: Column, texts: list[str]) -> Callable[[int], Any]:
    """What two values have in common if and only if they are in one block."""
    rule: Mapping[str, Any] = domain.attribute.prepare or {}
    if "level" in rule:
        return _nodes_of(domain, column, texts, int(rule["level"])).__getitem__
    if "groups" in rule:
        members = {str(one): ("group", name) for name, listed in rule["groups"].items() for one in listed}
        merged = rule.get("others") == "merge"
        return lambda value: members.get(texts[value], "others" if merged else ("own", texts[value]))
    if "prefix" in rule:
        length = int(rule["prefix"])
        return lambda value: (texts[value][:length], len(texts[value]))
    if "dates" in rule:
        days: list[datetime.date] = column.values.astype(_MOMENTS[column.type]).tolist()
        return lambda value: _calendar(days[value])[str(rule["dates"])]
    return _numbers_of(rule, column, texts)


def _calendar(day: datetime.date) -> dict[str, Any]:
    return {
        "day": (day.year, day.month, day.day),
        "week": tuple(day.isocalendar())[:2],
        "month": 12 * day.year + day.month,
        "quarter": 4 * day.year + (day.month - 1) // 3,
        "year": day.year,
        "decade": day.year // 10,
    }


def _numbers_of(rule: Mapping[str, Any], column: Column, texts: list[str]) -> Callable[[int], Any]:
    read = _reader_of(column)
    step, origin = Fraction(str(rule.get("round", 0))), Fraction(str(rule.get("origin", 0)))
    down = rule.get("by") == "floor"
    cuts = [read(str(cut)) for cut in rule.get("width", ())]

    def key(value: int) -> Any:
        number = read(texts[value])
        if cuts:
            return bisect.bisect_right(cuts, number)
        if "top" in rule and number >= read(str(rule["top"])):
            return "top"
        if "bottom" in rule and number <= read(str(rule["bottom"])):
            return "bottom"
        if not step:
            return number
        # Halves go up: half a step more, then down.
        return (2 * (number - origin) + (0 if down else step)) // (2 * step)

    return key


def _reader_of(column: Column) -> Callable[[str], Fraction]:
    """Numbers as their decimals, dates and moments as microseconds."""
    if column.type not in _MOMENTS:
        return Fraction
    begin = datetime.datetime(1970, 1, 1)
    return lambda text: Fraction((datetime.datetime.fromisoformat(text) - begin) // datetime.timedelta(microseconds=1))


def _nodes_of(domain: Domain, column: Column, texts: list[str], level: int) -> list[str]:
    """The node of the declared taxonomy that each value is published as."""
    values = column.values.astype(_MOMENTS.get(column.type, column.values.dtype)).tolist()
    tree: Taxonomy = build(domain.attribute.taxonomy or {}, values, texts, column=column.name, with_missing=False)
    leaf_of = {leaf: int(node) for leaf, node in zip(tree.leaves, tree.leaf_nodes, strict=True)}
    depth_below = [0] * len(tree.labels)
    for node in range(len(tree.labels) - 1, 0, -1):
        above = int(tree.parents[node])
        depth_below[above] = max(depth_below[above], depth_below[node] + 1)
    found = []
    for text in texts:
        node = leaf_of[text]
        while tree.parents[node] >= 0 and depth_below[tree.parents[node]] <= level:
            node = int(tree.parents[node])
        found.append(tree.labels[node])
    return found


def _holds(domain: Domain, column: Column, text: str, label: str, key: Any) -> bool:
    """Whether a printed block holds a value, as far as it says what it holds."""
    rule: Mapping[str, Any] = domain.attribute.prepare or {}
    if "level" in rule:
        return bool(label == key)
    if "groups" in rule:
        named = [str(name) for name, members in rule["groups"].items() if text in map(str, members)]
        return label == (named[0] if named else text) or (not named and rule.get("others") == "merge")
    if "prefix" in rule:
        return text.startswith(label.rstrip("*")) or text == label
    if not {"round", "top", "bottom", "width"} & set(rule):
        return True
    try:
        return _is_inside(_reader_of(column), text, label)
    except ValueError:
        # No block of numbers reads so.
        return False


def _is_inside(read: Callable[[str], Fraction], text: str, label: str) -> bool:
    number = read(text)
    for sign, is_inside in (("<=", number.__le__), (">=", number.__ge__), ("<", number.__lt__)):
        if label.startswith(sign):
            return bool(is_inside(read(label[len(sign) :])))
    ends = _RANGE.fullmatch(label)
    if ends is None:
        return number == read(label)
    low, high = read(ends["low"]), read(ends["high"])
    above = number > low if ends["open"] == "(" else number >= low
    return above and (number < high if ends["close"] == ")" else number <= high)
