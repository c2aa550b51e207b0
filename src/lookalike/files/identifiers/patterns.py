"""Texts that point to one person or one device: e-mail and street addresses, phone numbers, IBANs, cards and the like.

Each kind has a pattern and, where the numbers have one, a check: the sum of digits of an IBAN (ISO 7064), of a payment
card (Luhn), of national numbers with their own check. A pattern without a check must have a form that little else
has: a phone number begins with + or 00 or an area code in brackets, or is grouped as phone numbers are; a social
security number is grouped 3-2-4 and in the ranges that were given out. So diagnosis codes, product numbers, zip codes,
dates, versions such as 1.2.3 and plain whole numbers are none of these.

A text may hold one as a part ("call +41 44 668 18 00"), or be one. Cost: linear in the length of the texts, which are
searched by Polars, all at once; only what fits a pattern is checked one by one.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Pattern:
    """One kind of identifier and how it is recognised."""

    name: str
    """In the plural, as in a message."""
    expression: str
    """For Polars: without look-around. The first group, if there is one, is what is checked."""
    check: Callable[[str], bool] | None = None
    in_numbers: bool = False
    """Whether a column of whole numbers may hold them."""
    least_share: float = 0.0
    """So many of the values at least must hold one: of kinds that other texts look like now and then."""
    least_sound: float = 0.0
    """So many of the texts that fit the pattern must pass the check. One digit in ten fits by chance, so few order
    numbers do; of the card numbers in notes nearly all do, however few notes have one."""


def _is_email(text: str) -> bool:
    local, _, host = text.partition("@")
    return ".." not in text and not local.startswith(".") and not host.startswith(("-", "."))


def is_iban(text: str) -> bool:
    """Whether a text is an IBAN, by length and check digits.

    >>> is_iban("GB82 WEST 1234 5698 7654 32"), is_iban("GB83 WEST 1234 5698 7654 32")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    if not 15 <= len(plain) <= 34 or _IBAN_LENGTHS.get(plain[:2]) != len(plain):
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


_LENGTHS = """
    AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18
    FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21
    MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25
    SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20
"""
_IBAN_LENGTHS = {entry[:2]: int(entry[2:]) for entry in _LENGTHS.split()}


def _luhn(digits: str) -> bool:
    places = [int(digit) for digit in reversed(digits)]
    return (sum(places[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in places[1::2])) % 10 == 0


def is_card(text: str) -> bool:
    """Whether a text is the number of a payment card: a range that is in use, its length, and the check digit.

    >>> is_card("4111 1111 1111 1111"), is_card("4111 1111 1111 1112"), is_card("0000 0000 0000 0000")
    (True, False, False)
    """
    digits = re.sub(r"[ -]", "", text)
    if not digits.isdigit() or len(set(digits)) < 2:
        return False
    four = int(digits[:4])
    fits = {
        13: digits[0] == "4",
        15: digits[:2] in ("34", "37"),
        16: digits[0] == "4" or 5100 <= four <= 5599 or 2221 <= four <= 2720 or four == 6011 or 6440 <= four <= 6599,
        19: digits[0] == "4" or 6440 <= four <= 6599,
    }
    return fits.get(len(digits), False) and _luhn(digits)


def is_address(text: str) -> bool:
    """Whether a text is an IP address that a device may have (version 4 or 6).

    >>> is_address("192.168.7.23"), is_address("2001:db8::8a2e:370:7334"), is_address("1.2.3.400"), is_address("::")
    (True, True, False, False)
    """
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    # Versions of software are small numbers, as in 1.0.0.2 or 10.15.7.1.
    is_version = found.version == 4 and all(int(part) < 20 for part in text.split("."))
    return not (is_version or found.is_unspecified or found.is_loopback or found.is_multicast)


def is_phone(text: str) -> bool:
    """Whether a text that is grouped as phone numbers are has as many digits as they have.

    >>> is_phone("+41 44 668 18 00"), is_phone("(212) 555-0173"), is_phone("1-2-3")
    (True, True, False)
    """
    digits = re.sub(r"\D", "", text)
    return 8 <= len(digits) <= 15 and len(set(digits)) > 2


def _is_device(text: str) -> bool:
    """Whether a text is the address of a network card, with one kind of separator and not all digits alike.

    >>> _is_device("00:1A:2B:3C:4D:5E"), _is_device("00:00:00:00:00:00"), _is_device("00:1A-2B:3C:4D:5E")
    (True, False, False)
    """
    return len(set(re.findall("[:-]", text))) == 1 and len(set(text.casefold())) > 2


def is_ssn(text: str) -> bool:
    """Whether a text is a social security number of the USA by its ranges."""
    area, group, serial = (int(part) for part in text.split("-"))
    return 0 < area < 900 and area != 666 and group > 0 and serial > 0


def is_ahv(text: str) -> bool:
    """Whether a text is a Swiss social insurance number (756, with the check digit of EAN-13)."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    return (sum(digits[0:12:2]) + 3 * sum(digits[1:12:2]) + digits[12]) % 10 == 0


def is_personnummer(text: str) -> bool:
    """Whether a text is a Swedish personal number: a date of birth, a number and Luhn's digit."""
    digits = re.sub(r"\D", "", text)[-10:]
    return 1 <= int(digits[2:4]) <= 12 and 1 <= int(digits[4:6]) <= 31 and _luhn(digits)


def is_cpf(text: str) -> bool:
    """Whether a text is a Brazilian CPF, by both check digits."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    if len(set(digits)) < 2:
        return False
    for place in (9, 10):
        total = sum(digit * weight for digit, weight in zip(digits, range(place + 1, 1, -1), strict=False))
        if (10 * total) % 11 % 10 != digits[place]:
            return False
    return True


def is_nhs(text: str) -> bool:
    """Whether a text is a number of the English health service, by its check digit."""
    digits = [int(letter) for letter in text if letter.isdigit()]
    rest = 11 - sum(digit * weight for digit, weight in zip(digits, range(10, 1, -1), strict=False)) % 11
    return rest % 11 == digits[9] and rest != 10 and len(set(digits)) > 2


def is_dni(text: str) -> bool:
    """Whether a text is a Spanish DNI or NIE, by its letter."""
    number, letter = text[:-1].replace("-", "").upper(), text[-1].upper()
    number = number.replace("X", "0").replace("Y", "1").replace("Z", "2")
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == letter


_ODD_VALUES = "1 0 5 7 9 13 15 17 19 21 2 4 18 20 11 3 6 8 12 14 16 10 22 25 24 23"


def is_codice_fiscale(text: str) -> bool:
    """Whether a text is an Italian codice fiscale, by its last letter."""
    odd = _ODD_VALUES.split()
    total = 0
    for place, letter in enumerate(text[:15].upper()):
        value = int(letter) if letter.isdigit() else ord(letter) - ord("A")
        total += int(odd[value]) if place % 2 == 0 else value
    return chr(total % 26 + ord("A")) == text[15].upper()


_EDGE, _END = r"(?:^|[^0-9A-Za-z+._/-])", r"(?:[^0-9A-Za-z_]|$)"
"""What may be before and after a number, so that it is no part of a longer one."""

_STREETS = (
    r"(?i:\d{1,6}[a-z]?,? (?:[\w.'-]+ ){1,5}(?:st|street|ave?|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|way|ct"
    r"|court|pl|place|sq|square|ter|terrace|cir|circle|hwy|highway|pkwy|parkway|close|crescent|trail|loop)\b\.?.*"
    r"|\d{1,6} [\w.' -]+,? (?:apt\.?|suite|unit|flat) ?\w?\d+.*"
    r"|(?:[\w.'-]+ ){0,4}[\w.'-]*(?:str\.|stra\u00dfe|strasse|weg|gasse|platz|allee|ring|ufer|straat|laan|gata|vej)"
    r" ?\d{1,4} ?[a-z]?\b.*"
    r"|\d{1,4},? ?(?:bis )?(?:rue|avenue|boulevard|chemin|place|all\u00e9e|impasse) [\w.' -]+?"
    r"|(?:rue|avenue|chemin|via|viale|piazza|corso|calle|avenida|plaza|rua) [\w.' -]+?,? \d{1,4}\w?)"
)
"""A street with the number of a house, as a whole: a street alone is where many live."""

_PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "e-mail addresses",
        r"(?i)(?:^|[^a-z0-9._%+-])([a-z0-9._%+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,18})",
        _is_email,
    ),
    Pattern(
        "IBANs", rf"(?i){_EDGE}([a-z]{{2}}[0-9]{{2}}(?: ?[a-z0-9]{{4}}){{2,7}}(?: ?[a-z0-9]{{1,4}})?){_END}", is_iban
    ),
    Pattern(
        "payment card numbers",
        rf"{_EDGE}([2-6][0-9]{{3}}(?:[ -]?[0-9]{{4}}){{3}}|3[47][0-9]{{2}}[ -]?[0-9]{{6}}[ -]?[0-9]{{5}}){_END}",
        is_card,
        in_numbers=True,
        least_sound=0.5,
    ),
    Pattern(
        "phone numbers",
        rf"{_EDGE}((?:\+[1-9][0-9]{{0,2}}[ ./-]?|00[1-9][0-9]{{0,2}}[ ./-])"
        rf"(?:\(0\))?[ ./-]?[0-9]{{1,4}}(?:[ ./-]?[0-9]{{2,5}}){{1,4}}){_END}",
        is_phone,
    ),
    Pattern(
        "phone numbers",
        rf"{_EDGE}(\([0-9]{{2,5}}\) ?[0-9]{{3,4}}[ -][0-9]{{3,5}}|\(0[0-9]{{1,4}}\) ?[0-9]{{5,8}}"
        rf"|(?:1[ .-])?[2-9][0-9]{{2}}[.-][2-9][0-9]{{2}}[.-][0-9]{{4}}(?: ?(?:x|ext\.?) ?[0-9]{{1,6}})?"
        rf"|0[1-9][0-9]{{1,3}}[ /][0-9]{{3}} ?[0-9]{{2}} ?[0-9]{{2}}|0[1-9](?:[ .-][0-9]{{2}}){{4}}"
        rf"|0[1-9][0-9]{{1,4}}(?: ?/ ?[0-9]{{5,8}}|-[0-9]{{6,8}}| ?/ ?[0-9]{{2,3}}(?: [0-9]{{2,3}}){{1,3}})"
        rf"|0[1-9][0-9]{{2,3}} [0-9]{{6,7}}|0[1-9][0-9]{{1,3}} [0-9]{{3,4}} [0-9]{{3,4}}){_END}",
        is_phone,
    ),
    Pattern("social security numbers", rf"{_EDGE}([0-9]{{3}}-[0-9]{{2}}-[0-9]{{4}}){_END}", is_ssn),
    Pattern(
        "social insurance numbers",
        rf"{_EDGE}(756[. ]?[0-9]{{4}}[. ]?[0-9]{{4}}[. ]?[0-9]{{2}}){_END}",
        is_ahv,
        in_numbers=True,
        least_sound=0.5,
    ),
    Pattern(
        "personal numbers", rf"{_EDGE}((?:19|20)?[0-9]{{6}}[+-][0-9]{{4}}){_END}", is_personnummer, least_sound=0.5
    ),
    Pattern("personal numbers", rf"{_EDGE}([0-9]{{3}}\.[0-9]{{3}}\.[0-9]{{3}}-[0-9]{{2}}){_END}", is_cpf),
    Pattern("health service numbers", rf"{_EDGE}([0-9]{{3}} [0-9]{{3}} [0-9]{{4}}){_END}", is_nhs, least_sound=0.5),
    Pattern("identity numbers", rf"(?i){_EDGE}((?:[0-9]|[XYZ]-?)[0-9]{{7}}-?[A-Z]){_END}", is_dni, least_sound=0.5),
    Pattern(
        "identity numbers",
        rf"(?i){_EDGE}([A-Z]{{6}}[0-9]{{2}}[A-EHLMPR-T][0-9]{{2}}[A-Z][0-9]{{3}}[A-Z]){_END}",
        is_codice_fiscale,
    ),
    Pattern("IP addresses", rf"{_EDGE}((?:[0-9]{{1,3}}\.){{3}}[0-9]{{1,3}}){_END}", is_address, least_sound=0.5),
    Pattern(
        "IP addresses",
        r"(?i)(?:^|[\s\[(,;])((?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4})(?:[\s\]),;%/]|$)",
        is_address,
        least_sound=0.5,
    ),
    Pattern(
        "device addresses", r"(?i)(?:^|[^0-9a-f:-])((?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2})(?:[^0-9a-f:-]|$)", _is_device
    ),
    Pattern("UUIDs", r"(?i)(?:^|[^0-9a-z-])([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:[^0-9a-z-]|$)"),
    Pattern("street addresses", f"^(?:{_STREETS})$", least_share=0.2),
    Pattern("web addresses", r"(?i)((?:https?|ftp)://[^\s/$.?#][^\s]{3,}|\bwww\.[a-z0-9-]+\.[a-z]{2,18})"),
)
"""From the surest to the least sure; a name may stand more than once."""


def _find_pattern(pattern: Pattern, texts: pl.Series) -> NDArray[np.bool_]:
    """Which of the texts hold one; none where too few do."""
    found = texts.str.extract(pattern.expression, 1) if pattern.check else texts.str.contains(pattern.expression)
    held = np.asarray((found.is_not_null() if pattern.check else found).to_numpy(), dtype=bool)
    n_fitting = int(held.sum())
    if pattern.check is not None:
        for place in np.flatnonzero(held).tolist():
            held[place] = pattern.check(found[place])
    n_held = int(held.sum())
    is_enough = n_held >= pattern.least_share * len(texts) and n_held >= pattern.least_sound * n_fitting
    return held if is_enough else np.zeros(len(texts), dtype=bool)


def find_patterns(texts: pl.Series, *, numbers: bool = False) -> dict[str, NDArray[np.bool_]]:
    """By kind which texts hold one, of kinds that enough of them hold; `numbers`: they are whole numbers."""
    held: dict[str, NDArray[np.bool_]] = {}
    for pattern in _PATTERNS:
        if numbers and not pattern.in_numbers:
            continue
        found = _find_pattern(pattern, texts)
        if found.any():
            held[pattern.name] = held.get(pattern.name, np.zeros(len(texts), dtype=bool)) | found
    return held


def name_kinds(kinds: Sequence[str]) -> str:
    """
    >>> name_kinds(["IBANs"]), name_kinds(["e-mail addresses", "IBANs", "names of persons"])
    ('IBANs', 'e-mail addresses, IBANs and names of persons')
    """
    *first, last = kinds
    return f"{', '.join(first)} and {last}" if first else last
