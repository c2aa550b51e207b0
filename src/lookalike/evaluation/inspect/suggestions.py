"""What a column most likely is, from its name and its values: its role, whether its numbers are codes, and which
hierarchy would suit it. A suggestion with its reason, never a decision.

Names are read as words in several languages. Where nothing speaks for another role a column is taken as known to
outsiders: a quasi-identifier too many costs detail, one too few costs a person's privacy. The kind itself is
`microdata.guess_kind`, so that inspecting a table and publishing it never disagree.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

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
_PERSONS = """
    patient* person* user customer* client* member* employee* subject* participant* staff kunde* kunden versicherten*
    mitarbeiter* student pupil citizen paciente paziente cliente employe* insured applicant donor respondent
"""
_NUMBERING = """
    id ids identifier identifiant number no nr num nummer numero kennung key index idx row rowid record recordid ref
    reference uid pid code matricule
"""
_NAMES = "name names nom nombre nome naam"
_SENSITIVE = """
    diagnos* disease* illness* sickness krankheit* *krankheit erkrankung* maladie* enfermedad* malattia* ziekte* icd hiv
    aids condition conditions symptom* drug drugs medication* medicament* medikament* arzneimittel prescription*
    salary salaries salaryclass income* wage wages gehalt* lohn* einkommen* salaire* salario* sueldo* stipendio ingresos
    revenu* earnings result results testresult* befund* treatment* therapy therapie* behandlung* tratamiento*
    traitement* trattamento* procedure* surgery causeofdeath disability behinderung* allergy allergies genotype genetic*
    sexualorientation crime offence offense conviction* debt debts creditscore vote
"""
_OUTSIDE = """
    age alter edad eta leeftijd idade agegroup birth* dob born geburt* naissance datedenaissance nacimiento
    fechadenacimiento nascita datadinascita sex gender geschlecht sexe sexo sesso geslacht genero zip zipcode* postal*
    postcode* postleitzahl plz codepostal codigopostal city town village ort wohnort stadt ville ciudad citta gemeinde
    municipality place location state province county region* bundesland kanton canton district* departement provincia
    country countries land pays pais paese nation nationalit* nacionalidad nazionalita citizenship staatsangehorigkeit
    race ethnic* rasse herkunft origin birthplace marital* maritalstatus familienstand civilstatus etatcivil estadocivil
    statocivile education* bildung* school schooling degree studies educacion job jobs occupation* profession* beruf*
    metier trabajo profesion ocupacion professione employer workclass admission* visit* discharge* arrival aufnahme*
    aufnahmedatum entlassung* date religion* konfession language* sprache height weight grosse groesse gewicht hair eyes
    household* children kinder
"""
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
    named = _find_word(words, _NAMES) and _find_word(words, _PERSONS)
    if word := _find_word(words, _NAMING) or _numbers_person(words) or named:
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    # The date of a diagnosis is a date that others may know, not a diagnosis.
    if column.type not in _DATES and (word := _find_word(words, _SENSITIVE)):
        return Role.SENSITIVE, f"{quoted(word)} in its name says what outsiders should not learn about a person"
    if word := _find_word(words, _OUTSIDE):
        return Role.QUASI, f"{quoted(word)} in its name says what others may know about a person"
    if word := _find_word(words, _NAMES):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it names a person"
    return _by_values(column, words)


def _numbers_person(words: frozenset[str]) -> str | None:
    return _numbers_records(words) and _find_word(words, _PERSONS)


def _numbers_records(words: frozenset[str]) -> str | None:
    """A number of children is a count, not a number that someone bears."""
    return None if "numberof" in words else _find_word(words, _NUMBERING)


def words_of(name: str) -> frozenset[str]:
    """The words of a column's name, and neighbours written as one.

    >>> sorted(words_of("zipCode"))
    ['code', 'zip', 'zipcode']
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    plain = unicodedata.normalize("NFKD", spaced.casefold()).encode("ascii", "ignore").decode()
    parts = re.findall(r"[a-z]+", plain)
    joined = {"".join(parts[start : start + length]) for length in (1, 2, 3) for start in range(len(parts))}
    return frozenset(joined)


def _find_word(words: frozenset[str], listed: str) -> str | None:
    """The first word (in order of the alphabet) that the list has."""
    whole, beginnings, ends = _entries(listed)
    found = (word for word in words if word in whole or word.startswith(beginnings) or word.endswith(ends))
    return min(found, default=None)


@cache
def _entries(listed: str) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    """The entries of a list: whole words, beginnings of words, ends of words."""
    entries = listed.split()
    beginnings = tuple(entry[:-1] for entry in entries if entry.endswith("*"))
    ends = tuple(entry[1:] for entry in entries if entry.startswith("*"))
    return frozenset(entries), beginnings, ends


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
    if share > 0.5 and n_rows > 1 and column.type not in _DATES and (word := _numbers_records(words)):
        return Role.IDENTIFIER, f"{quoted(word)} in its name says that it numbers records, and its values hardly repeat"
    if column.type in _NUMBERS and (word := _find_word(words, _MEASURED)):
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


def repeating_persons(column: Column) -> str | None:
    """A note if a column numbers persons and one of them has several rows."""
    counts = np.bincount(column.codes, minlength=len(column.values) + 1)[: len(column.values)]
    if not _numbers_person(words_of(column.name)) or not counts.size or counts.max() < 2:
        return None
    return (
        f"Column {quoted(column.name)} has values in more than one row. If they are the same persons, every model "
        "counts a person once for each row; keep one row a person to promise what it says."
    )


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
