r"""Several settings in one text: `l-diversity:2,5,10`, `beta-likeness:1..5`, `mondrian:cuts=1,9`.

A value without a name belongs to the parameter before it (at the beginning: to the first one), so several values in a
row are a sweep of that parameter. `a..b` stands for a, a + 1, up to b; `a..b..step` for another step. Two swept
parameters give every combination. A text with neither is itself: nothing that means one setting means several here.
A backslash before the dots takes them as part of a value.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from fractions import Fraction

from lookalike.data.parameters import as_fraction, number_text, split
from lookalike.errors import RecipeError, quoted

MOST = 200
"""More settings than anybody compares at once: a slip of the pen."""

_NUMBER = r"\d+(?:\.\d+)?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")


def settings(text: str, names: Collection[str]) -> list[str]:
    """Every setting that a text stands for; `names` are those of the parts it may begin with.

    >>> settings("l-diversity:2,5,kind=entropy", ["l-diversity"])
    ['l-diversity:2,kind=entropy', 'l-diversity:5,kind=entropy']
    >>> settings("town=t-closeness:0.1..0.3..0.1", ["t-closeness"])
    ['town=t-closeness:0.1', 'town=t-closeness:0.2', 'town=t-closeness:0.3']
    """
    divided = _split_parameters(text, names)
    if divided is None or not divided[1].strip():
        return [text.strip()]
    head, rest = divided
    parameters: list[tuple[str, list[str]]] = []
    for part in split(rest, ","):
        key, equals, value = part.partition("=")
        if equals:
            parameters.append((f"{key.strip()}=", _values(value.strip(), text)))
        elif parameters:
            parameters[-1][1].extend(_values(part.strip(), text))
        else:
            parameters.append(("", _values(part.strip(), text)))
    chosen = itertools.product(*([f"{key}{value}" for value in values] for key, values in parameters))
    found = [f"{head}:{','.join(one)}" for one in itertools.islice(chosen, MOST + 1)]
    if len(found) > MOST:
        raise RecipeError(f"{quoted(text)} stands for more than {MOST} settings. Name fewer, or take larger steps.")
    return list(dict.fromkeys(found))


def split_promises(text: str, names: Collection[str]) -> list[str]:
    """The promises that must hold at once, separated by a plus sign before a model.

    >>> split_promises("k-anonymity:5 + l-diversity:3", ["k-anonymity", "l-diversity"])
    ['k-anonymity:5', 'l-diversity:3']
    """
    known = "|".join(map(re.escape, names))
    found: list[str] = []
    for part in re.split(rf"\+(?=(?:[^+:]*=)?\s*(?:{known})\s*(?:[:+]|$))", text):
        if found and _split_parameters(found[-1], names) is None:
            # What is before this plus sign promises nothing: it is the beginning of a column's name.
            found[-1] += f"+{part}"
        else:
            found.append(part)
    return [part.strip() for part in found]


def split_components(text: str, names: Collection[str]) -> list[str]:
    """Parts that are in one text, separated by commas; a comma between parameters, or values of one, parts nothing.

    >>> split_components("mondrian:cuts=1,9,groups", ["mondrian", "groups"])
    ['mondrian:cuts=1,9', 'groups']
    """
    found: list[str] = []
    for part in split(text, ","):
        begins = part.partition(":")[0].strip() in names
        if begins or not found or ":" not in found[-1]:
            found.append(part.strip())
        else:
            found[-1] += f",{part}"
    return found


def _split_parameters(text: str, names: Collection[str]) -> tuple[str, str] | None:
    """What is before the parameters, and the parameters; None if no known name is there.

    A column may be before the name, as `models.parsing` reads it.
    """
    begins = [place + 1 for place, character in enumerate(text) if character == "="]
    for begin in (0, *reversed(begins)):
        name, _, rest = text[begin:].partition(":")
        if name.strip() in names:
            return f"{text[:begin].lstrip()}{name.strip()}", rest
    return None


def _values(text: str, whole: str) -> list[str]:
    found = _RANGE.fullmatch(text)
    if found is None:
        return [text]
    low, high = as_fraction(found[1]), as_fraction(found[2])
    step = as_fraction(found[3]) if found[3] else Fraction(1)
    if step == 0 or high < low:
        raise RecipeError(f"{quoted(whole)}: {quoted(text)} leads nowhere. Write low..high or low..high..step.")
    count = (high - low) // step + 1
    if count > MOST:
        raise RecipeError(f"{quoted(whole)} stands for more than {MOST} settings. Name fewer, or take larger steps.")
    return [number_text(low + place * step) for place in range(count)]
