from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.files.identifiers.patterns import (
    find_patterns,
    is_address,
    is_ahv,
    is_card,
    is_codice_fiscale,
    is_cpf,
    is_dni,
    is_iban,
    is_nhs,
    is_personnummer,
    is_phone,
    is_ssn,
)

HELD = [
    ("write to ann.lee+x@example.co.uk please", "e-mail addresses"),
    ("GB82 WEST 1234 5698 7654 32", "IBANs"),
    ("account CH9300762011623852957.", "IBANs"),
    ("de89370400440532013000", "IBANs"),
    ("4111 1111 1111 1111", "payment card numbers"),
    ("378282246310005", "payment card numbers"),
    ("+41 44 668 18 00", "phone numbers"),
    ("call +1 (0) 212 555 0173 now", "phone numbers"),
    ("0049 30 123456", "phone numbers"),
    ("(212) 555-0173", "phone numbers"),
    ("044 668 18 00", "phone numbers"),
    ("0171-1234567", "phone numbers"),
    ("(089) 123456", "phone numbers"),
    ("089 / 12 34 56", "phone numbers"),
    ("06 12 34 56 78", "phone numbers"),
    ("06.12.34.56.78", "phone numbers"),
    ("212.555.0173", "phone numbers"),
    ("1-800-555-0199 ext. 12", "phone numbers"),
    ("555-223-4567x123", "phone numbers"),
    ("07700 900123", "phone numbers"),
    ("020 7946 0958", "phone numbers"),
    ("078-05-1120", "social security numbers"),
    ("756.9217.0769.85", "social insurance numbers"),
    ("19811218-9876", "personal numbers"),
    ("529.982.247-25", "personal numbers"),
    ("943 476 5919", "health service numbers"),
    ("12345678Z", "identity numbers"),
    ("RSSMRA85T10A562S", "identity numbers"),
    ("from 192.168.7.23", "IP addresses"),
    ("2001:db8:85a3::8a2e:370:7334", "IP addresses"),
    ("see https://example.org/ann", "web addresses"),
    ("via 00:1A:2B:3C:4D:5E", "device addresses"),
    ("00-1a-2b-3c-4d-5e", "device addresses"),
    ("550e8400-e29b-41d4-a716-446655440000", "UUIDs"),
    ("12 Main Street", "street addresses"),
    ("742 Evergreen Terrace Apt. 3", "street addresses"),
    ("Bahnhofstrasse 12a", "street addresses"),
    ("5 rue de la Paix", "street addresses"),
    ("Calle Mayor 3", "street addresses"),
]

HARMLESS = """
E11.9;ICD F32.1;J45.909;A-1234-56;4006381333931;978-3-16-148410-0;978-0030119194;02139;02139-4307;8004;SW1A 1AA
2024-03-01;01/02/2024;2024-03-01T10:11:12;10:11:12;1.2.3;1.0.0.2;10.15.7.1;3.14159;12345678;0012345678;00-12-34
1-2-3;100-200;5 to 10;55-64;>= 65;50,000 - 59,999;C++;@home;user@;a@b;12345678A;GB82 WEST 1234 5698 7654 33
4111 1111 1111 1112;0000 0000 0000 0000;900-12-3456;666-12-3456;123-00-4567;756.9217.0769.84;19811318-9876
12:30:45:99;aa:bb;00:00:00:00:00:00;00:1A-2B:3C:4D:5E
Main Street;3rd place
2 weeks ago;10-12-14-16-18;May;Grace;Paris;male;Private;self-employed;n/a;ABC-123;LOT 2024/17;000-000-0000
"""


@pytest.mark.parametrize(("text", "kind"), HELD)
def test_identifiers_are_found_in_texts(text: str, kind: str) -> None:
    assert list(find_patterns(pl.Series([text]))) == [kind]


@pytest.mark.parametrize("text", [text for text in HARMLESS.replace("\n", ";").split(";") if text])
def test_codes_dates_and_versions_are_none(text: str) -> None:
    assert find_patterns(pl.Series([text])) == {}


def test_a_check_digit_that_fits_by_chance_needs_company() -> None:
    by_chance = [*map(str, range(4111111111111000, 4111111111111099)), "4111111111111111"]
    shares = sum(map(is_card, by_chance)) / len(by_chance)
    assert 0 < shares < 0.5
    assert find_patterns(pl.Series(by_chance), numbers=True) == {}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("4111 1111 1111 1111", "payment card numbers"),
        ("378282246310005", "payment card numbers"),
        ("756.9217.0769.85", "social insurance numbers"),
        ("943 476 5919", "health service numbers"),
        ("192.168.7.23", "IP addresses"),
        ("2001:db8:85a3::8a2e:370:7334", "IP addresses"),
    ],
)
def test_one_among_many_notes_is_found(text: str, kind: str) -> None:
    notes = [f"the patient came {days} days later" for days in range(300)]
    held = find_patterns(pl.Series([*notes, f"see {text} today"]))
    assert [(name, int(found.sum())) for name, found in held.items() if name == kind] == [(kind, 1)]


def test_order_numbers_among_notes_are_no_cards() -> None:
    orders = [f"order 41111111111{number:05d} sent" for number in range(40)]
    assert find_patterns(pl.Series([*orders, *["none"] * 10])) == {}


def test_a_few_street_addresses_among_other_texts_are_places() -> None:
    assert find_patterns(pl.Series(["12 Main Street", *[f"ward {number}" for number in range(9)]])) == {}


@given(st.text(alphabet="0123456789", min_size=15, max_size=15))
def test_exactly_one_check_digit_makes_a_card(start: str) -> None:
    number = "4" + start[:14]
    assert sum(is_card(number + digit) for digit in "0123456789") == (len(set(number)) > 1 or 0)


@given(st.integers(0, 10**20 - 1), st.integers(0, 97))
def test_changing_an_iban_breaks_it(account: int, change: int) -> None:
    plain = f"{account:018d}"[:18]
    rest = 98 - int(f"{plain}131400") % 97
    assert is_iban(f"DE{rest:02d}{plain}")
    other = (rest + change) % 98
    assert is_iban(f"DE{other:02d}{plain}") == (other % 97 == rest % 97)


def test_each_check_tells_right_from_wrong() -> None:
    checks = [
        (is_ahv, "756.9217.0769.85", "756.9217.0769.86"),
        (is_cpf, "529.982.247-25", "529.982.247-26"),
        (is_nhs, "943 476 5919", "943 476 5918"),
        (is_dni, "12345678Z", "12345678A"),
        (is_dni, "X1234567L", "X1234567M"),
        (is_codice_fiscale, "RSSMRA85T10A562S", "RSSMRA85T10A562T"),
        (is_personnummer, "811218-9876", "811218-9877"),
        (is_ssn, "078-05-1120", "000-05-1120"),
        (is_phone, "+41 44 668 18 00", "+41 44"),
        (is_address, "8.8.4.44", "1.2.3.4"),
    ]
    assert [(check(right), check(wrong)) for check, right, wrong in checks] == [(True, False)] * len(checks)
