"""Which text columns hold levels that have an order, and which order that most likely is.

As text, levels are published as sets in which distant ones mix; with an order they are ranges, and distances between
sensitive levels mean something. What is found is a question to the user, never an answer: an order is declared in the
schema. Levels are recognised by numbers or bands that their texts begin with (1. Never, 20-29, < 5), by words for
schools and degrees, and by scales (low, medium, high).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lookalike.data.column_names import find_word, words_of
from lookalike.data.microdata import Column, Table
from lookalike.data.schema import Kind, Role, Schema, ValueType
from lookalike.errors import quoted

_FEWEST, _MOST = 3, 40
_ABOUT_SCHOOL = (
    "edu educ education* bildung* schooling degree qualification* highestqualification diploma ausbildung studies"
)
_SCHOOLS = (
    "none no nothing without noschool noqualification illiterate",
    "preschool kindergarten nursery",
    "primary elementary basic grundschule belowcollege somehighschool lesshighschool lesshs below",
    "middle lower lowersecondary hauptschule secondary gcse junior mittelschule",
    "upper uppersecondary highschool hs hsgrad highschoolgraduate ged abitur matura alevel high hsgraduate",
    "vocational trade apprenticeship technical certificate lehre postsecondary",
    "college somecollege assoc associate* associates foundation partcollege",
    "bachelor bachelors ba bsc undergraduate degree collegegrad collegegraduate university",
    "postgraduate graduate grad advanced master masters ma msc mba magister diplom profschool professional",
    "doctor doctorate doctoral phd promotion",
)
_HIGH_SCHOOL = 4
_PARTLY = "less less* lt below under some drop dropout without incomplete part"
_SCALES = (
    "never rarely seldom sometimes occasionally often frequently usually mostly always",
    "none verylow low medium moderate middle average high veryhigh",
    "terrible verybad bad poor fair average good better verygood best excellent outstanding",
    "stronglydisagree disagree neutral agree stronglyagree",
    "none no mild light minor moderate medium severe heavy critical",
    "tiny small medium large huge",
    "young middle old elderly",
    "unhappy neutral happy",
    "never former current",
)


@dataclass(frozen=True)
class LevelOrder:
    """A text column that holds levels, and the order that they may have."""

    column: str
    order: tuple[str, ...]
    snippet: str
    """The column as a schema file writes it."""

    @property
    def sentence(self) -> str:
        return (
            f"{quoted(self.column)} seems to hold levels. As text they are published as sets, in which distant levels "
            "mix. If this is their order, write it into the schema, or put another or a taxonomy there:"
        )

    @property
    def lines(self) -> list[str]:
        return [self.sentence, *(f"  {line}" for line in self.snippet.splitlines()[2:])]


def find_orders(table: Table, schema: Schema) -> tuple[LevelOrder, ...]:
    """The quasi-identifiers and sensitive columns that seem to hold levels, and have neither order nor taxonomy."""
    found = []
    for attribute in schema.attributes:
        if attribute.role not in (Role.QUASI, Role.SENSITIVE) or attribute.order is not None or attribute.taxonomy:
            continue
        order = guess_order(table[attribute.name])
        if order is not None:
            ordered = replace(attribute, kind=Kind.ORDERED, order=order)
            found.append(LevelOrder(attribute.name, order, Schema((ordered,)).to_yaml()))
    return tuple(found)


def guess_order(column: Column) -> tuple[str, ...] | None:
    """The values in the order that they most likely have; None where nothing speaks for levels."""
    if column.type is not ValueType.STRING or not _FEWEST <= len(column.values) <= _MOST:
        return None
    texts = [str(value) for value in column.values]
    return _by_numbers(texts) or _by_scale(texts) or _by_school(column.name, texts)


def _by_numbers(texts: Sequence[str]) -> tuple[str, ...] | None:
    """By the number that every text begins with, or its bound: 1. Never; 20-29; < 5; 75+; Under 2,600."""
    places = []
    for text in texts:
        found = re.match(
            r"\s*(<|>|under|over|below|above|less than|more than|up to|unter|ueber)?=?\s*(\d[\d,]*\.?\d*)",
            text,
            re.I,
        )
        if found is None:
            return None
        side = {"<": -1, "u": -1, "b": -1, "l": -1, ">": 1, "o": 1, "a": 1, "m": 1}.get(
            (found[1] or " ")[0].casefold(), 0
        )
        places.append((float(found[2].replace(",", "").rstrip(".")), side))
    has_words = any(re.search(r"[^\d\s.,]", text) for text in texts)
    if not has_words or len(set(places)) < len(places):
        return None
    return tuple(text for _, text in sorted(zip(places, texts, strict=True)))


def _by_scale(texts: Sequence[str]) -> tuple[str, ...] | None:
    plain = ["".join(re.findall("[a-z]+", text.casefold())) for text in texts]
    for scale in _SCALES:
        words = scale.split()
        if len(set(plain)) == len(plain) and all(text in words for text in plain):
            return tuple(text for _, text in sorted(zip(map(words.index, plain), texts, strict=True)))
    return None


def _by_school(name: str, texts: Sequence[str]) -> tuple[str, ...] | None:
    """By schools and degrees, if the name speaks of education or nearly all values do."""
    ranks = [_rank_of_school(text) for text in texts]
    known = [rank for rank in ranks if rank is not None]
    about_school = find_word(words_of(name), _ABOUT_SCHOOL) is not None
    if len(set(known)) < _FEWEST - 1 or len(known) < (0.4 if about_school else 0.8) * len(texts):
        return None
    # Values that say nothing stand last, for the user to place.
    keys = [(len(_SCHOOLS) if rank is None else rank, text) for rank, text in zip(ranks, texts, strict=True)]
    return tuple(text for _, text in sorted(keys))


def _rank_of_school(text: str) -> float | None:
    """The highest level whose word the text has, or just below it; a grade by its number ("9th") is before the end of
    high school."""
    words = words_of(text)
    if re.fullmatch(r"\s*\d{1,2}(?:st|nd|rd|th)(?:\W+\d{1,2}(?:st|nd|rd|th))?(?:\W+grade)?\s*", text, re.I):
        return 2 if int(re.findall(r"\d+", text)[0]) < 7 else 3
    if find_word(words, "hs hsgrad highschool*"):
        # Whose graduates have no university degree.
        return _HIGH_SCHOOL - 0.5 if find_word(words, _PARTLY) else _HIGH_SCHOOL
    for rank in reversed(range(len(_SCHOOLS))):
        if find_word(words, _SCHOOLS[rank]):
            return rank - 0.5 if rank and find_word(words, _PARTLY) else rank
    return None
