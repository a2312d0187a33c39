"""Personal data: each kind is found where it proves itself, and what only resembles it is left alone."""

import pytest

from retentia.evals.personal import load_personal, score_personal
from retentia.security.check_digits import is_iban, is_steuer_id, is_ukrainian_tax_number
from retentia.security.personal import PersonalKind, find_personal, mask_personal

FOUND = [
    ("email", "anna.miller@example.org", "Write to anna.miller@example.org."),
    ("email", "jürgen@beispiel.de", "mailto:jürgen@beispiel.de"),
    ("phone", "+49 170 1234567", "Ruf +49 170 1234567 an"),
    ("phone", "(212) 555-0147", "(212) 555-0147"),
    ("phone", "030/1234567", "Festnetz: 030/1234567"),
    ("phone", "067 123 45 67", "дзвоніть 067 123 45 67"),
    ("phone", "555-0134", "phone: 555-0134"),
    ("iban", "DE89 3704 0044 0532 0130 00", "auf DE89 3704 0044 0532 0130 00 überweisen"),
    ("iban", "gb82west12345698765432", "gb82west12345698765432"),
    ("card", "4111 1111 1111 1111", "card 4111 1111 1111 1111"),
    ("national_id", "86095742719", "Steuer-ID 86095742719"),
    ("national_id", "3184710691", "ІПН 3184710691"),
    ("national_id", "536-22-8726", "536-22-8726"),
    ("address", "Berliner Str. 12, 10115 Berlin", "an Berliner Str. 12, 10115 Berlin."),
    ("address", "221 Baker Street, London NW1 6XE", "at 221 Baker Street, London NW1 6XE"),
    ("address", "вул. Івана Франка, буд. 5, кв. 17", "на вул. Івана Франка, буд. 5, кв. 17"),
    ("ip_address", "203.0.113.42", "from 203.0.113.42."),
    ("ip_address", "2001:db8::ff00:42:8329", "from 2001:db8::ff00:42:8329"),
    ("birth_date", "3. März 1979", "geboren am 3. März 1979"),
    ("birth_date", "1990-07-21", '{"dob": "1990-07-21"}'),
    ("health", "Allergie", "eine Allergie gegen Pollen"),
    ("health", "депресія", "„депресія“"),
    ("name", "Anna Müller", "My name is Anna Müller and I live here"),
    ("name", "Karl von Stein", "Mein Name ist Karl von Stein."),
    ("name", "олена", "мене звати олена"),
]
LEFT_ALONE = [
    "git@github.com:retentia/retentia.git",
    "logo@2x.png",
    "postgres://user@db.example.com/x",
    "@anna said it",
    "Order 4155552671, invoice 0671234567, Bestellnummer 01512345678",
    "2024-01-01 to 2024-12-31, 01.02.2024, 1700000000",
    "DE89370400440532013001",
    "4111 1111 1111 1112",
    "000-12-3456",
    "86095742718",
    "127.0.0.1 and version 1.2.3.4",
    "std::vector, a::b, 12:30:45",
    "Auf Platz 3, am Arbeitsplatz 5 Stunden",
    "Площа квартири 54 метри",
    "Ich heiße Sie willkommen",
    "My name is on the list",
    "The birthday sale ends on 3 May 2024",
]


@pytest.mark.parametrize(("kind", "expected", "text"), FOUND)
def test_a_kind_is_found_with_its_span(kind: str, expected: str, text: str) -> None:
    assert [(one.kind.value, text[one.start : one.end]) for one in find_personal(text)] == [(kind, expected)]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_resembles_personal_data_is_left_alone(text: str) -> None:
    assert [(one.kind.value, text[one.start : one.end]) for one in find_personal(text)] == []


def test_what_is_validated_is_surer_than_what_looks_like_it() -> None:
    (iban,) = find_personal("DE89370400440532013000")
    (phone,) = find_personal("0221 9876543")
    (health,) = find_personal("asthma")
    assert iban.confidence > phone.confidence > health.confidence


def test_a_mask_says_what_was_there_and_keeps_the_rest() -> None:
    text = "My name is Anna, write to anna@example.org!"
    assert mask_personal(text, find_personal(text)) == "My name is [name], write to [email]!"
    assert mask_personal("nothing", ()) == "nothing"


def test_the_labelled_set_is_large_and_has_near_misses_in_three_languages() -> None:
    sentences = load_personal()
    assert len(sentences) >= 150
    assert {one.language for one in sentences} == {"en", "de", "uk"}
    assert sum(not one.stretches for one in sentences) >= 60
    assert {kind for one in sentences for kind, _, _ in one.stretches} == set(PersonalKind)


def test_precision_and_recall_on_the_labelled_set_stay_where_they_were_measured() -> None:
    scores = score_personal(load_personal())
    assert scores["all"].precision >= 0.98
    assert scores["all"].recall >= 0.96
    assert {name: score for name, score in scores.items() if score.precision < 0.9 or score.recall < 0.85} == {}


def test_check_digits_refuse_every_changed_digit() -> None:
    for digits, check in (("86095742719", is_steuer_id), ("3184710691", is_ukrainian_tax_number)):
        assert check(digits)
        changed = [digits[:-1] + str(digit) for digit in range(10) if str(digit) != digits[-1]]
        assert not any(map(check, changed))
    assert is_iban("DE89370400440532013000")
    assert not is_iban("DE89370400440532013003")
    assert not is_iban("DE89ü")


def test_a_megabyte_without_personal_data_and_one_that_provokes_every_pattern_are_looked_through() -> None:
    assert find_personal("just words and more of them. " * 35_000) == ()
    piece = "tel.: 0171 23 my name is Ab 5 St. born 1.1. вул. Аб a@b 1:2:3 1.2.3. DE12 "
    find_personal(piece * (1_000_000 // len(piece)))
