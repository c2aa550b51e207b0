"""The role that a column most likely has: a suggestion with its reason, never a decision.

Names are read as words in several languages, values are looked at, and so are the other columns: `status` and `time`
are a study's in a table about health, many neighbours with the same few values are answers to a questionnaire, and what
follows from a quasi-identifier is known to anyone who knows that one. Where nothing speaks for another role a column is
taken as known to outsiders: a quasi-identifier too many costs detail, one too few costs a person's privacy.
Cost: linear in columns and in rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lookalike.data.column_names import (
    OUTSIDE,
    PERSONS,
    SENSITIVE,
    find_word,
    may_name_persons,
    numbers_persons,
    numbers_records,
    words_of,
)
from lookalike.data.microdata import Column, Table
from lookalike.data.person_columns import has_whole_numbers
from lookalike.data.schema import NUMBER_LIKE, Role, ValueType
from lookalike.errors import counted, quoted
from lookalike.evaluation.inspect import vocabulary
from lookalike.evaluation.inspect.contents import recognise_values
from lookalike.evaluation.inspect.dependencies import Follows, find_followers
from lookalike.files.identifiers.patterns import name_kinds
from lookalike.files.identifiers.values import find_identifiers

_ENOUGH_ROWS = 50
"""In smaller tables values may differ by chance, so distinctness says nothing."""
_FEW_ROWS = 50
"""In larger tables two values name or number nobody, whatever the name says (has a mobile phone)."""
MOSTLY = 0.95
_DATES = (ValueType.DATE, ValueType.DATETIME)
_NUMBERS = (ValueType.INTEGER, ValueType.NUMBER)
_LEAST_ABOUT_HEALTH = 2
_LEAST_OF_A_STUDY = 4
_LEAST_CLINICAL, _CLINICAL_SHARE = 4, 0.25
_LEAST_ALIKE = 5
"""So many neighbours with the same few values are a questionnaire."""
_LEAST_NUMBERED = 8
"""So many columns with the same name up to a number are a series."""
_FEW_ANSWERS = 15
_LEAST_SPREAD, _LEAST_SPREAD_OF_THOUSANDS = 100, 20
"""The largest survey weight is more than so many times the least, and no body is; nor so many times where the mean is a
thousand or more, as of newborns in grams."""
_LEAST_TIMES, _MOST_OUTCOMES = 20, 5
"""Different times, and outcomes, of a study that follows people."""
_LEAST_NUMBERS, _LEAST_NUMBERS_SHARE = 100, 0.2
"""Different values, and their share of the rows, with which a name in "id" numbers cases rather than a few places."""
_LEAST_FREE_VALUES, _FREE_LENGTH, _FREE_ALONE = 50, 30, 0.8
"""Of free text: different values, their length on average, and the share of them that only one row has."""
_CLOCK = re.compile("[0-9]{1,3}:[0-5][0-9](?::[0-5][0-9])?(?:[.,][0-9]+)?")
_FLAG = re.compile("[A-Z0-9]{3,6}FL")
_UNLIKE = "make it a quasi-identifier if someone outside could know it"


@dataclass(frozen=True)
class _Around:
    """What the other columns of the table say about one."""

    about_health: bool = False
    """Whether several columns are about illness or examinations."""
    is_clinical: bool = False
    """Whether a large part of the columns is."""
    follows_people: bool = False
    """Whether a time and an outcome are side by side, as where a study follows people until something happens."""
    about_bodies: bool = False
    """Whether a column is about height or the like: a weight is then a body's."""
    alike: Mapping[str, str] = field(default_factory=dict)
    """For a column that is one of many: what they are, in words."""


@dataclass(frozen=True)
class Roles:
    """The suggested roles of a table's columns."""

    by_column: Mapping[str, tuple[Role, str]]
    """For each column its role and the reason."""
    follows: tuple[Follows, ...]
    """Columns that follow from a quasi-identifier."""
    held: Mapping[str, tuple[dict[str, int], int]] = field(default_factory=dict)
    """For each column that identifiers were looked for in: how many values hold each kind, and how many any."""

    def __getitem__(self, name: str) -> tuple[Role, str]:
        return self.by_column[name]


def suggest_roles(table: Table, units: Sequence[str] = ()) -> Roles:
    """The roles of all columns, each in the light of the others.

    `units` number persons or households: what is constant for a person does not follow from a quasi-identifier.
    """
    around = _look_around(table.columns)
    held: dict[str, tuple[dict[str, int], int]] = {}
    roles = {column.name: suggest_role(column, around, held) for column in table.columns}
    quasi = [name for name, (role, _) in roles.items() if role is Role.QUASI and name not in units]
    # What the name says is not to be learned stays sensitive; a guess gives way.
    guessed = [
        name
        for name, (role, reason) in roles.items()
        if name not in units and (role in (Role.QUASI, Role.CARRIED) or (role is Role.SENSITIVE and _UNLIKE in reason))
    ]
    follows = find_followers(table.columns, quasi, guessed)
    for found in follows:
        said = f"it {found.relation}, so someone who knows {quoted(found.of)} knows it too"
        roles[found.column] = Role.QUASI, f"{said}; leave it out if {quoted(found.of)} is enough"
    return Roles(roles, follows, held)


def suggest_role(
    column: Column, around: _Around = _Around(), held: dict[str, tuple[dict[str, int], int]] | None = None
) -> tuple[Role, str]:
    """The role and the reason. The first rule that applies decides, from the surest to the safe choice.

    `held` receives what identifiers the values hold, where they were looked for.
    """
    if looks := recognise_values(column):
        return Role.IDENTIFIER, f"its values look like {looks}"
    words = words_of(column.name)
    is_yes_or_no = len(column.values) <= 2 and len(column.codes) > _FEW_ROWS
    is_constant = len(column.values) == 1 and not column.n_missing and len(column.codes) > 1
    if not is_yes_or_no and (word := _names_or_numbers(column, words, is_constant)):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    if reason := _hold_identifiers(column, {} if held is None else held):
        return Role.IDENTIFIER, reason
    if word := _weighs_persons(column, words, around):
        return Role.IDENTIFIER, (
            f"{quoted(word)} in its name and its values say that it is a survey weight, the number of people that a "
            "row stands for: it describes the sample and can single rows out, so leave it out, or carry it knowingly"
        )
    # The date of a diagnosis is a date that others may know, not a diagnosis.
    if column.type not in _DATES and (found := _by_subject(column, words, around)):
        return found
    if not is_constant and _numbers_cases(column):
        return Role.IDENTIFIER, 'it ends in "id" and has a number for every few rows, as cases or families have'
    if word := find_word(words, OUTSIDE):
        return Role.QUASI, f"{quoted(word)} in its name says what others may know about a person"
    if not is_constant and (word := _names_nobody_else(words)):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    return _by_values(column, words, around)


def _names_or_numbers(column: Column, words: frozenset[str], is_constant: bool) -> str | None:
    """The word that says: a contact, a personal number, or a person who is named or numbered (patient id)."""
    named = find_word(words, vocabulary.NAMES)
    if named and find_word(words, vocabulary.NAMED_THINGS):
        # The name of a clinic is nobody's; that of a patient of a clinic is.
        named = named if find_word(words, PERSONS) or find_word(words, vocabulary.NAMED_PERSONS) else None
    called = numbers_records(column.name) or named
    person = numbers_persons(column.name) or (called and find_word(words, PERSONS))
    if found := find_word(words, vocabulary.NAMING) or person:
        # The state of an address is a state.
        is_part = found.startswith("addr") and find_word(words, OUTSIDE) is not None
        return None if is_part else found
    if named and find_word(words, vocabulary.NAMED_PERSONS) and not is_constant:
        return named
    # "subject", "patient", "id": whose row it is, or which, however often it repeats. Subjects of a school have names.
    parts = re.findall(r"[a-z]+", column.name.casefold())
    if may_name_persons(column.name) and len(column.values) > 1 and _are_numbers(column) and not parts[0].endswith("s"):
        return str(parts[0])
    return None


def _hold_identifiers(column: Column, held: dict[str, tuple[dict[str, int], int]]) -> str:
    """Why a column cannot be published as it is: some of its values hold identifiers. Empty: none do."""
    counts, n_holding = held[column.name] = find_identifiers(column.values, column.type)
    if not counts:
        return ""
    return (
        f"{n_holding:,} of its {counted(len(column.values), 'value')} "
        f"{'holds' if n_holding == 1 else 'hold'} {name_kinds(list(counts))}, and publishing is refused while they do: "
        "remove them from the values to publish the others"
    )


def _are_numbers(column: Column) -> bool:
    if column.type in NUMBER_LIKE:
        return has_whole_numbers(column)
    return all(any(map(str.isdigit, str(value))) for value in column.values[:1000])


def _names_nobody_else(words: frozenset[str]) -> str | None:
    return None if find_word(words, vocabulary.NAMED_THINGS) else find_word(words, vocabulary.NAMES)


def _weighs_persons(column: Column, words: frozenset[str], around: _Around) -> str | None:
    """The word that says that a column of numbers weighs persons, if its values can be such weights."""
    if column.type not in _NUMBERS or len(column.values) < 3 or float(column.values[0]) < 0:
        return None
    if word := find_word(words, vocabulary.SURVEY_WEIGHTS):
        return word
    word = find_word(words, vocabulary.WEIGHTS)
    if word is None or find_word(words, "birth* body* baby infant mother* kg lb lbs pounds grams lean muscle tumor*"):
        return None
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    values = column.values.astype(np.float64)
    spread = values[-1] / values[values > 0][0] if values[-1] > 0 else 0.0
    mean = float(np.average(values, weights=counts))
    is_share = column.type is ValueType.NUMBER and 0.8 <= mean <= 1.25
    is_spread = spread > _LEAST_SPREAD or (spread > _LEAST_SPREAD_OF_THOUSANDS and mean >= 1000)
    return word if len(values) > 20 and (is_spread or (is_share and not around.about_bodies)) else None


def _by_subject(column: Column, words: frozenset[str], around: _Around) -> tuple[Role, str] | None:
    """What the name is about: something not to be learned, a finding, a study."""
    if column.type in _NUMBERS and (word := find_word(words, vocabulary.CARED)):
        return Role.CARRIED, f"{quoted(word)} in its name says how often someone used health care; {_UNLIKE}"
    word = find_word(words, vocabulary.EXAMINED)
    if word and not find_word(words, OUTSIDE) and not find_word(words, SENSITIVE):
        return Role.CARRIED, (
            f"{quoted(word)} in its name says that it was measured or given in an examination or a study, which "
            f"others rarely know; {_UNLIKE}"
        )
    if _FLAG.fullmatch(column.name):
        return Role.CARRIED, f"its name is that of a flag in the data of a clinical trial; {_UNLIKE}"
    listed = (SENSITIVE, vocabulary.HEALTH, vocabulary.MONEY, vocabulary.CONDUCT, vocabulary.OPINIONS)
    found = (find_word(words, words_about) for words_about in listed)
    if word := next(filter(None, found), None):
        return Role.SENSITIVE, f"{quoted(word)} in its name says what outsiders should not learn about a person"
    return None


def _by_values(column: Column, words: frozenset[str], around: _Around) -> tuple[Role, str]:
    n_rows, n_distinct = len(column.codes), len(column.values)
    n_present = n_rows - column.n_missing
    share = n_distinct / n_present if n_present else 0.0
    if n_distinct == 0:
        return Role.CARRIED, "it is empty"
    if n_distinct == 1 and n_present == n_rows and n_rows > 1:
        return Role.CARRIED, "it has the same value in every row and tells nobody apart"
    if share > 0.5 and n_rows > 1 and column.type not in _DATES and (word := numbers_records(column.name)):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it numbers records, and its values hardly repeat"
    has_several = n_distinct > 2 or n_rows <= _FEW_ROWS
    if column.type in _NUMBERS and has_several and (word := find_word(words, vocabulary.MEASURED)):
        return Role.CARRIED, (
            f"{quoted(word)} in its name says that it is a measurement, which others rarely know; {_UNLIKE}"
        )
    if around.about_health and column.type not in _DATES and (word := _whole_word(column.name, vocabulary.STUDIED)):
        return Role.CARRIED, f"{quoted(word)} is a time or an outcome in a table about health; {_UNLIKE}"
    followed = f"{vocabulary.FOLLOWED_FOR} {vocabulary.FOLLOWED_TO}"
    if around.follows_people and column.type in _NUMBERS and (word := _whole_word(column.name, followed)):
        return Role.CARRIED, f"{quoted(word)} is a time or an outcome in a study that follows people; {_UNLIKE}"
    if around.about_health and _is_measured(column, words):
        return Role.CARRIED, f"its numbers with decimals look like measurements in a table about health; {_UNLIKE}"
    if column.name in around.alike:
        return Role.CARRIED, f"{around.alike[column.name]}, which others rarely know; {_UNLIKE}"
    if (around.is_clinical or around.follows_people) and n_distinct == 2 and not _tell_what_others_know(column):
        where = "a table about health" if around.is_clinical else "a study that follows people"
        return Role.SENSITIVE, (
            f"its two values look like a finding in {where}, which outsiders should not learn; {_UNLIKE}"
        )
    if column.question:
        return Role.QUASI, "its texts look like dates, which others may know; say first how they are written"
    if n_rows > _ENOUGH_ROWS and column.type is ValueType.STRING and share >= MOSTLY and not _is_clock(column):
        return Role.IDENTIFIER, "it is text, and nearly every row has its own"
    if _is_free_text(column):
        return Role.IDENTIFIER, "it is free text, which may say anything about a person"
    if n_rows > _ENOUGH_ROWS and column.type is ValueType.INTEGER and share == 1:
        return Role.IDENTIFIER, "its whole numbers are all different"
    if n_rows > _ENOUGH_ROWS and share >= MOSTLY:
        return Role.QUASI, (
            "nearly every row has its own value, so someone who knows it knows the row; make it carried only if nobody "
            "outside can know it"
        )
    return Role.QUASI, f"it has {counted(n_distinct, 'value')} and nothing tells that others cannot know it"


def _numbers_cases(column: Column) -> bool:
    """Whether the name ends in id and the values are many: a few places may be numbered, not hundreds."""
    parts = re.findall(r"[a-z]+", column.name.casefold())
    n_enough = max(_LEAST_NUMBERS, _LEAST_NUMBERS_SHARE * (len(column.codes) - column.n_missing))
    return len(parts) > 1 and parts[-1] in ("id", "ids") and len(column.values) >= n_enough


def _is_clock(column: Column) -> bool:
    """Whether its texts are times of day or durations (08:15, 02:55:10)."""
    return all(_CLOCK.fullmatch(str(text)) for text in column.values[:1000])


def _is_free_text(column: Column) -> bool:
    """Whether it holds sentences that hardly repeat; a usual text such as "none" may."""
    if column.type is not ValueType.STRING or len(column.values) < _LEAST_FREE_VALUES:
        return False
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    if np.count_nonzero(counts == 1) < _FREE_ALONE * len(column.values):
        return False
    looked_at = column.values[:: -(-len(column.values) // 1000)]
    return float(np.mean([len(str(text)) for text in looked_at])) >= _FREE_LENGTH


def _tell_what_others_know(column: Column) -> bool:
    """Whether it has dates, or texts that say what others may know (married and not married)."""
    texts = column.values if column.type is ValueType.STRING else ()
    return column.type in _DATES or any(find_word(words_of(str(text)), OUTSIDE) for text in texts)


def _is_measured(column: Column, words: frozenset[str]) -> bool:
    """Whether it has many numbers with decimals that are not of a body that one can see."""
    if column.type is not ValueType.NUMBER or len(column.values) <= _FEW_ANSWERS:
        return False
    if find_word(words, vocabulary.BODIES) or find_word(words, vocabulary.WEIGHTS):
        return False
    return bool(np.any(column.values != np.floor(column.values)))


def _whole_word(name: str, listed: str) -> str | None:
    """The word, if the name is nothing else but for digits."""
    parts = re.findall(r"[a-z]+", name.casefold())
    return find_word(frozenset(["".join(parts)]), listed) if parts else None


def _look_around(columns: Sequence[Column]) -> _Around:
    words = [words_of(column.name) for column in columns]
    about_health = sum(
        bool(find_word(each, vocabulary.HEALTH) or find_word(each, vocabulary.EXAMINED)) for each in words
    )
    follows_people = _follow_people(columns)
    about_studies = sum(_whole_word(column.name, vocabulary.STUDIED) is not None for column in columns)
    is_about_health = about_health >= _LEAST_ABOUT_HEALTH and about_health + about_studies >= _LEAST_OF_A_STUDY
    is_trial = any(find_word(each, vocabulary.TREATED) for each in words)
    return _Around(
        is_about_health,
        about_health >= max(_LEAST_CLINICAL, (0 if is_trial else _CLINICAL_SHARE) * len(columns)),
        follows_people,
        any(find_word(each, vocabulary.BODIES) for each in words),
        {**_find_questionnaires(columns), **_find_series(columns)},
    )


def _follow_people(columns: Sequence[Column]) -> bool:
    """Whether a column of times and one of outcomes are there."""
    numbers = [column for column in columns if column.type in _NUMBERS]
    times = [one for one in numbers if _whole_word(one.name, vocabulary.FOLLOWED_FOR) is not None]
    outcomes = [one for one in numbers if _whole_word(one.name, vocabulary.FOLLOWED_TO) is not None]
    return any(len(one.values) >= _LEAST_TIMES for one in times) and any(
        2 <= len(one.values) <= _MOST_OUTCOMES for one in outcomes
    )


def _find_questionnaires(columns: Sequence[Column]) -> dict[str, str]:
    """Neighbours with the same few values, more than two: for each what it is."""
    found: dict[str, str] = {}
    run: list[Column] = []
    for column in (*columns, None):
        if column is not None and run and _answers_of(column) == _answers_of(run[-1]) is not None:
            run.append(column)
            continue
        if len(run) >= _LEAST_ALIKE:
            n_values = len(run[0].values)
            reason = f"it is one of {len(run)} columns in a row with the same {n_values} values, as answers are"
            found |= dict.fromkeys((each.name for each in run), reason)
        run = [] if column is None else [column]
    return found


def _answers_of(column: Column) -> tuple[str, ...] | None:
    """The values of a column that may hold answers; None where they are too few or too many."""
    if column.type in _DATES or not 2 < len(column.values) <= _FEW_ANSWERS:
        return None
    if column.type in _NUMBERS:
        return str(float(column.values[0])), str(float(column.values[-1]))
    return tuple(map(str, column.values))


def _find_series(columns: Sequence[Column]) -> dict[str, str]:
    """Columns whose names differ in a number only and whose values are alike: for each what it is."""
    kinds = {
        column.name: (re.sub(r"\d+", "#", column.name), column.type, values)
        for column in columns
        if re.search(r"\d", column.name) and (values := _values_in_series(column)) is not None
    }
    counts = Counter(kinds.values())
    return {
        name: f"it is one of {counts[kind]} columns that are numbered alike, as measurements and answers are"
        for name, kind in kinds.items()
        if counts[kind] >= _LEAST_NUMBERED
    }


def _values_in_series(column: Column) -> tuple[str, ...] | None:
    """The values if they are few, or nothing if they are many numbers; None for dates and many texts."""
    if len(column.values) <= _FEW_ANSWERS:
        return None if column.type in _DATES else tuple(map(str, column.values))
    return () if column.type in _NUMBERS else None
