"""What a column most likely is, from its name and its values: its role, whether its numbers are codes, and which
hierarchy would suit it. A suggestion with its reason, never a decision.

Names are read as words in several languages. Where nothing speaks for another role a column is taken as known to
outsiders: a quasi-identifier too many costs detail, one too few costs a person's privacy. The kind itself is
`microdata.guess_kind`, so that inspecting a table and publishing it never disagree.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from lookalike.data.column_names import (
    OUTSIDE,
    PERSONS,
    SENSITIVE,
    find_word,
    numbers_persons,
    numbers_records,
    words_of,
)
from lookalike.data.microdata import Column
from lookalike.data.schema import Role, ValueType
from lookalike.errors import counted, quoted

_ENOUGH_ROWS = 50
"""In smaller tables values may differ by chance, so distinctness says nothing."""
MOSTLY = 0.95
_LOOKED_AT = 500
_DATES = (ValueType.DATE, ValueType.DATETIME)
_NUMBERS = (ValueType.INTEGER, ValueType.NUMBER)

# A star stands for the rest of a word. Words of several parts are written as one: "zip code" is read as zipcode too.
_NAMING = """
    email mail emailaddress phone telephone tel telefon* telefono telephon* mobile mobilephone handy fax ssn
    socialsecurity* svnr ahv ahvnr iban accountnumber kontonummer creditcard cardnumber passport* reisepass pasaporte
    passeport surname lastname firstname fullname givenname middlename familyname maidenname birthname vorname nachname
    familienname geburtsname prenom nomdefamille apellido apellidos cognome achternaam voornaam username login address
    adresse direccion indirizzo street strasse ip ipaddress uuid guid mrn medicalrecord* nhsnumber patientnumber
    patientennummer steuernummer dni nif codicefiscale bsn cpf licenseplate kennzeichen
"""
_NAMES = "name names nom nombre nome naam"
_MEASURED = """
    lengthofstay los stay duration* dauer verweildauer duree temperature* pressure bloodpressure systolic diastolic
    pulse heartrate glucose cholesterol hemoglobin haemoglobin creatinine score scores dose dosage lab measurement*
    messwert* sensor reading* waittime
"""

_PATTERNS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "UUIDs": re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "bank account numbers": re.compile(r"[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
    "network addresses": re.compile(r"\d{1,3}(?:\.\d{1,3}){3}"),
    "phone numbers": re.compile(
        r"(?!\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$)(?:\+\d[\d\s()./-]{6,18}|\(?\d{2,5}\)?[\s./-]\d{2,4}(?:[\s.-]\d{2,6})+)"
    ),
}


def suggest_role(column: Column) -> tuple[Role, str]:
    """The role and the reason. The first rule that applies decides, from the surest to the safe choice."""
    if pattern := _pattern_of(column):
        return Role.IDENTIFIER, f"its values look like {pattern}"
    words = words_of(column.name)
    # A contact, a personal number, or a person who is named or numbered (patient id).
    called = numbers_records(column.name) or find_word(words, _NAMES)
    named = numbers_persons(column.name) or (called and find_word(words, PERSONS))
    if word := find_word(words, _NAMING) or named:
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    # The date of a diagnosis is a date that others may know, not a diagnosis.
    if column.type not in _DATES and (word := find_word(words, SENSITIVE)):
        return Role.SENSITIVE, f"{quoted(word)} in its name says what outsiders should not learn about a person"
    if word := find_word(words, OUTSIDE):
        return Role.QUASI, f"{quoted(word)} in its name says what others may know about a person"
    if word := find_word(words, _NAMES):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    return _by_values(column, words)


def _pattern_of(column: Column) -> str | None:
    if column.type is not ValueType.STRING or not len(column.values):
        return None
    step = -(-len(column.values) // _LOOKED_AT)
    looked_at = [str(value).strip() for value in column.values[::step]]
    for what, pattern in _PATTERNS.items():
        if sum(pattern.fullmatch(value) is not None for value in looked_at) >= 0.8 * len(looked_at):
            return what
    return None


def _by_values(column: Column, words: frozenset[str]) -> tuple[Role, str]:
    n_rows, n_distinct = len(column.codes), len(column.values)
    n_present = n_rows - column.n_missing
    share = n_distinct / n_present if n_present else 0.0
    if n_distinct == 0:
        return Role.CARRIED, "it is empty"
    if n_distinct == 1 and n_present == n_rows and n_rows > 1:
        return Role.CARRIED, "it has the same value in every row and tells nobody apart"
    if share > 0.5 and n_rows > 1 and column.type not in _DATES and (word := numbers_records(column.name)):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it numbers records, and its values hardly repeat"
    if column.type in _NUMBERS and (word := find_word(words, _MEASURED)):
        return Role.CARRIED, (
            f"{quoted(word)} in its name says that it is a measurement, which others rarely know; make it a "
            "quasi-identifier if somebody outside could know it"
        )
    if n_rows > _ENOUGH_ROWS and column.type is ValueType.STRING and share >= MOSTLY:
        return Role.IDENTIFIER, "it is text, and nearly every row has its own"
    if n_rows > _ENOUGH_ROWS and column.type is ValueType.INTEGER and share == 1:
        return Role.IDENTIFIER, "its whole numbers are all different"
    if n_rows > _ENOUGH_ROWS and share >= MOSTLY:
        return Role.QUASI, (
            "nearly every row has its own value, so who knows it knows the row; make it carried only if nobody "
            "outside can know it"
        )
    return Role.QUASI, f"it has {counted(n_distinct, 'value')} and nothing tells that others cannot know it"


_QUANTITIES = """
    age alter edad year years jahr jahre annee ano birth count counts number size amount total sum days day hours
    minutes weeks months length duration stay score level grade rank height weight income salary wage price cost
    education schooling children quantity anzahl dose rate percent share
"""
_CODES = """
    code codes class type category kind group status sex gender geschlecht race ethnicity marital country state region
    county city zip zipcode postal postalcode postcode plz job occupation profession work diagnosis icd religion
    nationality language sector branch
"""
_SPARSE = 10
_FEW = 200
_WIDE = 20
_DAY = 86_400_000_000


def code_reason(column: Column) -> str:
    """Why whole numbers look like codes whose distances mean nothing; empty if they do not.

    Years, counts and sizes never do. Otherwise the name decides, or few values strewn over a wide range.
    """
    if column.type is not ValueType.INTEGER or len(column.values) < 3:
        return ""
    words = words_of(column.name)
    if words & set(_QUANTITIES.split()) and not words & {"code", "codes", "class", "group", "type"}:
        return ""
    if words & set(_CODES.split()):
        return "its name speaks of a category"
    span = int(column.values[-1]) - int(column.values[0]) + 1
    if len(column.values) <= _FEW and span >= _SPARSE * len(column.values):
        return f"{len(column.values)} values lie strewn over a range of {span:,}"
    return ""


def taxonomy_hint(column: Column) -> Mapping[str, Any] | None:
    """A hierarchy that would suit the values, as a schema writes it; None if none suggests itself."""
    if not len(column.values) or code_reason(column):
        return None
    if column.type is ValueType.STRING:
        return _prefixes(column)
    span = float(column.values[-1]) - float(column.values[0])
    if column.type is ValueType.DATE:
        return {"dates": _date_levels(span)}
    if column.type is ValueType.DATETIME:
        return {"dates": _date_levels(span / _DAY)}
    if column.type is ValueType.INTEGER and len(column.values) > _WIDE:
        narrow = _round_length(span / 10)
        return {"intervals": [narrow, narrow * 5]}
    return None


def _prefixes(column: Column) -> Mapping[str, Any] | None:
    """Codes of equal length, digits at least in part: the nearer the longer their common beginning."""
    texts = [str(value) for value in column.values]
    length = len(texts[0])
    alike = all(len(text) == length and text.isalnum() and text.isascii() for text in texts)
    digits = sum(any(letter.isdigit() for letter in text) for text in texts)
    if len(texts) <= _WIDE // 2 or not 4 <= length <= 8 or not alike or digits < len(texts):
        return None
    levels = [length - 2, length - 3]
    coarsest = {text[: levels[-1]] for text in texts}
    return {"prefixes": levels} if len(coarsest) < len(texts) else None


def _date_levels(days: float) -> list[str]:
    if days <= 62:
        return ["week"]
    if days <= 3 * 366:
        return ["month", "quarter", "year"]
    return ["month", "year"] if days <= 15 * 366 else ["year", "decade"]


def _round_length(length: float) -> int:
    """The least of 1, 2, 5, 10, 20, 50 ... that is not below.

    >>> _round_length(9.9), _round_length(0.3), _round_length(12)
    (10, 1, 20)
    """
    if length <= 1:
        return 1
    power = 10 ** math.floor(math.log10(length))
    return next(int(step * power) for step in (1, 2, 5, 10) if step * power >= length)
