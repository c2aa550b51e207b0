"""What someone may have meant who writes a promise in another way than lookalike does.

    k=5   k:5   k5   5-anonymity   kanonymity:5   K-Anonymity:5   k-anonymity(k=5)   ->  k-anonymity:5
    k-anonymity:5,l-diversity:3                                                      ->  two promises

A promise decides what is protected, so nothing is guessed: the error says what to write. Names come from the models
themselves: the name, its last word, and the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lookalike.data.contracts import PrivacyModel
from lookalike.data.parameters import as_fraction, number_text, parse_component
from lookalike.errors import RecipeError, quoted

Models = Mapping[str, type[PrivacyModel]]

_VALUE = r"(?P<value>(?:\d+(?:\.\d+)?|\.\d+)(?:/\d+)?\s*%?)"
_WORD = r"(?P<name>[^\W\d_][^\W\d]*(?:[ _-]+[^\W\d]+)*)"
_FORMS = (
    # k=5, k:5, k5, k 5, k(5), K-Anonymity:5
    re.compile(rf"{_WORD}[\s:=<>(\[-]*{_VALUE}\s*[)\]]?"),
    # k-anonymity(k=5), l-diversity:l:3
    re.compile(rf"{_WORD}[\s:=(\[]+[^\W\d]+\s*[:=]\s*{_VALUE}\s*[)\]]?"),
    # 5-anonymity, 3 diversity
    re.compile(rf"{_VALUE}[\s_-]*{_WORD}"),
)
_BETWEEN = re.compile(r"\s*[,;+&]\s*|\s+and\s+|(?<=[\d%)\]])\s+(?=[^\W\d])")
_DIFFERENTIAL = ("epsilon", "eps", "dp", "differentialprivacy", "epsilondp")


def find_meant(text: str, models: Models) -> list[str]:
    """The promises that a text seems to mean, as lookalike writes them; none if that is not clear.

    >>> from lookalike.models import MODELS
    >>> find_meant("k=5, l-diversity 3", MODELS), find_meant("5-anonymity", MODELS), find_meant("town", MODELS)
    (['k-anonymity:5', 'l-diversity:3'], ['k-anonymity:5'], [])
    """
    names = _name_models(models)
    single = text.strip() if _is_promise(text, models) else _spell_promise(text.strip(), names, models)
    if single is not None:
        return [single]
    found: list[str] = []
    for piece in _BETWEEN.split(text.strip()):
        if found and _is_promise(f"{found[-1]},{piece}", models):
            found[-1] += f",{piece}"
            continue
        spelled = piece if _is_promise(piece, models) else _spell_promise(piece, names, models)
        if spelled is None:
            return []
        found.append(spelled)
    return found


def explain_spelling(text: str, models: Models) -> str | None:
    """What to write instead of a text that is no promise, in sentences; None if that is not clear.

    Raises what is wrong with the promise that is meant, if something is.
    """
    if _fold(re.split(r"[\d:=(]", text)[0]) in _DIFFERENTIAL:
        return (
            f"{quoted(text)} is no promise of a release. Differential privacy is one of synthetic data: lookalike "
            "synthesize --epsilon 1 (in Python: synthesize(..., epsilon=1))."
        )
    if re.fullmatch(_VALUE, text.strip()):
        return f"{quoted(text)} names no model. Write the name of the model before the number, as k-anonymity:5."
    found = find_meant(text, models)
    if not found:
        return None
    if len(found) > 1:
        return explain_several(text, found)
    parse_component(_drop_column(found[0]), "model", models)
    return f"{quoted(text)} is not how a promise is written. Write {found[0]}."


def explain_refused(text: str, refused: RecipeError, models: Models) -> str:
    """What is wrong with a promise whose model is known, and what to write where that is clear."""
    found = find_meant(text, models)
    if len(found) > 1:
        return explain_several(text, found)
    if found and found[0] != text.strip() and _is_promise(found[0], models):
        return f"{refused} Write {found[0]}."
    return str(refused)


def explain_several(text: str, found: Iterable[str]) -> str:
    """What to write instead of several promises in one text."""
    listed = list(found)
    options = " ".join(f"--model {quoted(one) if ' ' in one else one}" for one in listed)
    return (
        f"{quoted(text)} holds several promises. Give each by itself: {options} "
        f"(in Python: model=[{', '.join(quoted(one) for one in listed)}])."
    )


def _name_models(models: Models) -> dict[str, str]:
    """Every word that names one model, without signs and in lower case, and the name of the model."""
    named: dict[str, str] = {}
    last: dict[str, list[str]] = {}
    for name, kind in models.items():
        named.setdefault(_fold(kind.letter), name)
        last.setdefault(_fold(name.rpartition("-")[2]), []).append(name)
    for word, of in last.items():
        if len(of) == 1:
            named.setdefault(word, of[0])
    return {**named, **{_fold(name): name for name in models}}


def _fold(word: str) -> str:
    return re.sub(r"[\W_]", "", word).casefold()


def _spell_promise(piece: str, names: Mapping[str, str], models: Models) -> str | None:
    """One promise as lookalike writes it; a column may be before it."""
    for place in (0, *(match.end() for match in re.finditer("[=:]", piece))):
        column = piece[: max(place - 1, 0)].strip()
        if place and not column:
            continue
        for form in _FORMS:
            found = form.fullmatch(piece[place:].strip())
            name = None if found is None else names.get(_fold(found["name"]))
            if found is not None and name is not None:
                spelled = f"{name}:{_spell_number(found['value'])}"
                return f"{column}={spelled}" if column and not models[name].about_identity else spelled
    return None


def _spell_number(text: str) -> str:
    if not text.endswith("%"):
        return text.strip()
    return number_text(as_fraction(text.removesuffix("%").strip()) / 100)


def _is_promise(text: str, models: Models) -> bool:
    """Whether a text is a promise as it stands."""
    without = _drop_column(text)
    if without.partition(":")[0].strip() not in models:
        return False
    try:
        parse_component(without, "model", models)
    except RecipeError:
        return False
    return True


def _drop_column(text: str) -> str:
    """A promise without the column before its model."""
    column, equals, _ = text.partition(":")[0].rpartition("=")
    return text[len(column) + len(equals) :]
