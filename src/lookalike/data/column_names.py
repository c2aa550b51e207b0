"""What the name of a column says: its words in several languages, and whether it numbers persons or households.

A star in a list stands for the rest of a word. Words of several parts are written as one: "zip code" is read as zipcode
too. A name is a hint, never a proof; who uses it says what else must speak for it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

PERSONS = """
    patient* person* user customer* client* member* employee* subject* participant* staff kunde* kunden
    versicherten* mitarbeiter* student pupil citizen paciente paziente cliente employe* insured applicant donor
    respondent
"""
_NUMBERING = """
    id ids identifier identifiant number no nr num nummer numero kennung key index idx row rowid record recordid ref
    reference uid pid code matricule caseid casenumber caseno idno idnum idnumber idcode idnr serial serialno
    serialnumber
"""
_MERELY_NUMBERING = "id ids idno idnum idnumber idcode idnr caseid"
OUTSIDE = """
    age alter edad eta leeftijd idade agegroup birth* dob born geburt* naissance datedenaissance nacimiento
    fechadenacimiento nascita datadinascita sex gender geschlecht sexe sexo sesso geslacht genero zip zipcode*
    postal* postcode* postleitzahl plz codepostal codigopostal city town village ort wohnort stadt ville ciudad
    citta gemeinde municipality place location state province county region* bundesland kanton canton district*
    departement provincia country countries land pays pais paese nation nationalit* nacionalidad nazionalita
    citizenship staatsangehorigkeit race ethnic* rasse herkunft origin birthplace marital* maritalstatus
    familienstand civilstatus etatcivil estadocivil statocivile education* bildung* school schooling degree studies
    educacion job jobs occupation* profession* beruf* metier trabajo profesion ocupacion professione employer
    workclass admission* visit* discharge* arrival aufnahme* aufnahmedatum entlassung* date religion* konfession
    language* sprache height weight grosse groesse gewicht hair eyes household* children kinder kids siblings
    latitude longitude lat lon long precinct neighborhood* neighbourhood* borough urban rural female male married
    single divorced widow* separated partner black white hispanic asian nonwhite minority immigrant* foreign*
    native* veteran* insured insurance* medicaid medicare union employed unemployed unemploy* retired tenure
    experience exper owner* renter homeless* smok* drive* driver* exercise sport* handed* yearsmarried religiousness
    dependents
"""
SENSITIVE = """
    diagnos* disease* illness* sickness krankheit* *krankheit erkrankung* maladie* enfermedad* malattia* ziekte* icd
    hiv aids condition conditions symptom* drug drugs medication* medicament* medikament* arzneimittel prescription*
    salary salaries salaryclass income* wage wages gehalt* lohn* einkommen* salaire* salario* sueldo* stipendio
    ingresos revenu* earnings result results testresult* befund* treatment* therapy therapie* behandlung*
    tratamiento* traitement* trattamento* procedure* surgery causeofdeath disability behinderung* allergy allergies
    genotype genetic* sexualorientation crime offence offense conviction* debt debts creditscore vote
"""

_CODED = """
    rid sid seqn caseid studyid newid recid idnum caseno pnr lopnr hash pseudonym* token case* fallnummer
    email* mail phone* telephone* mobile iban name fullname passport* account* resident* inmate* worker* child* pupil*
    animal* rat rats mouse
"""
"""Of one person, if other columns are constant within their values."""
_OF_SEVERAL = """
    weight* *weight *weights wt *wt *wgt *wght wgts ip ipaddress address* addr adresse* anschrift direccion indirizzo
    street* strasse rue housenumber hausnummer
"""
"""What rows of several persons share: weights of a survey, the address of a family."""
_OWN_NUMBERS = """
    ssn socialsecurity* svnr ahv ahvnr mrn medicalrecord* nhsnumber steuernummer dni nif codicefiscale bsn cpf
    personnummer fodselsnummer cpr usubjid matrikelnummer
"""
_PERSON = (
    "patient(?:en|s)?|pat|pt|person(?:en|s)?|pers|subject|subj|usubj|participant|respondent|proband|client|customer|user|"
    "member|insured|applicant|donor|kunden?|versicherten|paciente|paziente|cliente|citizen|student|pupil|individual"
)
_NUMBER = "ids?|no|nr|num(?:ber|mer|ero)?|key|code|identifier|kennung|pseudonym|ref(?:erence)?|hash"
_NUMBERED_PERSON = re.compile(
    f"(?:{_PERSON})(?:record|study|case|chart|file)?(?:{_NUMBER})|(?:id|no|nr|num)(?:{_PERSON})"
)
_NUMBERED_HOUSEHOLD = re.compile(f"(?:household|haushalts?|hh|foyer|menage|hogar|fam(?:ily|ilien)?)(?:{_NUMBER})")

_HOUSEHOLDS = "household hh haushalt family fam familie famille foyer menage hogar familia"


def numbers_persons(name: str) -> str | None:
    """The word that says that a column numbers persons, or None.

    >>> numbers_persons("patient_id"), numbers_persons("PATNO"), numbers_persons("number of patients")
    ('patientid', 'patno', None)
    """
    words = words_of(name)
    if "numberof" in words:
        return None
    numbered = (word for word in words if _NUMBERED_PERSON.fullmatch(word))
    return find_word(words, _OWN_NUMBERS) or min(numbered, default=None)


def may_name_persons(name: str) -> bool:
    """Whether the name is that of a person, or of any number: the values then say which (subject, id).

    >>> may_name_persons("Subject"), may_name_persons("id"), may_name_persons("region_id")
    (True, True, False)
    """
    parts = re.findall(r"[a-z]+", _spell_plainly(name))
    merely = "".join(parts) in _MERELY_NUMBERING.split()
    return merely or (len(parts) == 1 and re.fullmatch(_PERSON, parts[0]) is not None)


def numbers_records(name: str) -> str | None:
    """The word that says that a column numbers something, or None. A number of children is a count."""
    words = words_of(name)
    return None if "numberof" in words else find_word(words, _NUMBERING)


def numbers_households(name: str) -> str | None:
    """The word that says that a column numbers households, or None.

    >>> numbers_households("household_id"), numbers_households("household size")
    ('householdid', None)
    """
    return min((word for word in words_of(name) if _NUMBERED_HOUSEHOLD.fullmatch(word)), default=None)


def may_name_households(name: str) -> bool:
    """Whether the name is that of a household or a family: the values then say if it is numbered.

    >>> may_name_households("family"), may_name_households("family size")
    (True, False)
    """
    return "".join(re.findall(r"[a-z]+", _spell_plainly(name))) in _HOUSEHOLDS.split()


def may_number_persons(name: str) -> bool:
    """Whether a column with this name is worth a look: does it say whose row it is?"""
    if numbers_persons(name):
        return True
    words = words_of(name)
    if find_word(words, OUTSIDE) or find_word(words, SENSITIVE) or numbers_households(name):
        return False
    return bool(
        numbers_records(name) or find_word(words, PERSONS) or find_word(words, _CODED) or may_name_persons(name)
    )


def is_told_by_name(name: str) -> bool:
    """Whether the name says what a column is, other than whose row: an identifier may be left out for many reasons.

    >>> is_told_by_name("zip code"), is_told_by_name("home address"), is_told_by_name("x17")
    (True, True, False)
    """
    words = words_of(name)
    known = (OUTSIDE, SENSITIVE, _OF_SEVERAL)
    return numbers_households(name) is not None or any(find_word(words, listed) for listed in known)


@lru_cache(maxsize=16_384)
def words_of(name: str) -> frozenset[str]:
    """The words of a column's name, and neighbours written as one.

    >>> sorted(words_of("zipCode"))
    ['code', 'zip', 'zipcode']
    """
    parts = re.findall(r"[a-z]+", _spell_plainly(name))
    joined = {"".join(parts[start : start + length]) for length in (1, 2, 3) for start in range(len(parts))}
    return frozenset(joined)


def _spell_plainly(name: str) -> str:
    """In small letters without accents, with a space where capitals begin a word."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return unicodedata.normalize("NFKD", spaced.casefold()).encode("ascii", "ignore").decode()


def find_word(words: frozenset[str], listed: str) -> str | None:
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
