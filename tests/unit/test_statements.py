import re
from typing import Any

import pytest

from retentia.learn.relations import shipped_relations
from retentia.learn.statements import read_statement, read_statements
from retentia.model.ids import RecordId
from retentia.model.record import Kind

LONELY = ("The Heart Is a Lonely Hunter", "author", "Carson McCullers")
STATED = [
    ("Anna works for Acme.", ("Anna", "employer", "Acme")),
    ("Anna is responsible for the ledger", ("Anna", "responsible_for", "ledger")),
    ("Billing depends on Ledger.", ("Billing", "depends_on", "Ledger")),
    ("Ledger is part of the Finance Platform.", ("Ledger", "part_of", "Finance Platform")),
    ("Ledger is maintained by Team Blue.", ("Team Blue", "maintains", "Ledger")),
    ("Anna is CTO at X", ("X", "cto", "Anna")),
    ("Tom is the head of sales", ("sales", "head", "Tom")),
    ("Anna's manager is Tom.", ("Anna", "manager", "Tom")),
    ("The head of state of Freedonia is Rufus T. Firefly.", ("Freedonia", "head_of_state", "Rufus T. Firefly")),
    ("The author of The Heart Is a Lonely Hunter is Carson McCullers.", LONELY),
    ("Our Mutual Friend was written by Charles Dickens.", ("Our Mutual Friend", "author", "Charles Dickens")),
    ("“Dune” was written by Frank Herbert.", ("Dune", "author", "Frank Herbert")),
    ("Anna works for Acme since 2020.", ("Anna", "employer", "Acme")),
    ("Noel died in the city of Washington, D.C..", ("Noel", "place_of_death", "Washington, D.C.")),
    ("Tim was born in the city of Paris, but grew up in Rome.", ("Tim", "birthplace", "Paris")),
    ("Anna works for Acme and lives in Berlin.", ("Anna", "employer", "Acme")),
    ("Tim works for Simon and the Waves", ("Tim", "employer", "Simon and the Waves")),
    ("Anna arbeitet bei Acme und wohnt in Bonn.", ("Anna", "employer", "Acme")),
    ("Daphne du Maurier speaks the language of English.", ("Daphne du Maurier", "speaks", "English")),
    ("Paul I of Russia is a citizen of Russia", ("Paul I of Russia", "citizenship", "Russia")),
    ("Rex is a dog.", ("Rex", "is_a", "dog")),
    ("The mascot of Acme is Otto.", ("Acme", "mascot", "Otto")),
    ("Anna's favourite colour is green.", ("Anna", "favourite_colour", "green")),
    ("Billing hängt von Ledger ab.", ("Billing", "depends_on", "Ledger")),
    ("Anna ist für Ledger verantwortlich.", ("Anna", "responsible_for", "Ledger")),
    ("Anna arbeitet bei der Firma Acme.", ("Anna", "employer", "Acme")),
    ("Die Hauptstadt von Frankreich ist Paris.", ("Frankreich", "capital", "Paris")),
    ("Anna wurde in Köln geboren.", ("Anna", "birthplace", "Köln")),
    ("Acme wurde von Otto Klein gegründet.", ("Acme", "founder", "Otto Klein")),
    ("Billing залежить від Ledger.", ("Billing", "depends_on", "Ledger")),
    ("Анна відповідає за Ledger.", ("Анна", "responsible_for", "Ledger")),
    ("Столиця України — Київ.", ("України", "capital", "Київ")),
    ("Київ є столицею України.", ("України", "capital", "Київ")),
    ("Анна народилася у Львові.", ("Анна", "birthplace", "Львові")),
]


NOT_STATED = [
    "",
    "   ",
    "Hello there!",
    "Does Anna work for Acme?",
    "If Anna works for Acme, call her.",
    "Anna might be the CEO of Acme.",
    "Anna is not the CTO of X.",
    "Anna said that Tom is the CEO of Acme.",
    "I think Anna is responsible for Ledger.",
    "The CEO of Acme will be Tom.",
    "The former CEO of Acme is Tim.",
    "I work for Acme",
    "She works for Acme.",
    "My manager works for Acme.",
    "The point of this is clear.",
    "Volunteering is a great way to meet people",
    "And, I bought a cross necklace",
    "Contemporary dance is so graceful - it really speaks to me",
    "Hopefully, it leads to good feedback",
    "Young people's resilience is amazing",
    "How can the design be created based on the diagram above",
    "`Anna works for Acme` was code",
    "Anna arbeitet nicht bei Acme.",
    "Vielleicht ist Anna für Ledger verantwortlich.",
    "Mein Chef arbeitet bei Acme.",
    "Ist Anna die Chefin von Acme?",
    "Якщо Анна працює в Acme, подзвони їй.",
    "Анна не працює в Acme.",
    "Моя дружина працює в Acme.",
    "Чи Київ є столицею України?",
    "x" * 5000 + " works for Acme",
]


@pytest.mark.parametrize(("text", "said"), STATED)
def test_a_plain_sentence_states_a_relation(text: str, said: tuple[str, str, str]) -> None:
    found = read_statement(text)
    assert found is not None
    assert (found.subject, found.relation, found.object) == said


@pytest.mark.parametrize("text", NOT_STATED)
def test_what_is_asked_guessed_denied_or_about_the_speaker_states_nothing(text: str) -> None:
    assert read_statement(text) is None


def test_the_places_of_the_two_count_in_the_whole_text() -> None:
    text = "So much for today. Billing depends on Ledger. `Anna works for Acme` was code.\nTom works for Bolt."
    found = list(read_statements(text))
    assert [text[one.subject_start : one.subject_end] for one in found] == ["Billing", "Tom"]
    assert [text[one.object_start : one.object_end] for one in found] == ["Ledger", "Bolt"]
    assert [text[one.start : one.end].rstrip(".") for one in found] == [
        "Billing depends on Ledger",
        "Tom works for Bolt",
    ]


def test_the_dot_of_an_initial_ends_no_sentence() -> None:
    found = list(read_statements("The Witcher was created by T. S. Eliot. John E. Sununu works for Acme."))
    assert [(one.subject, one.object) for one in found] == [("The Witcher", "T. S. Eliot"), ("John E. Sununu", "Acme")]


def test_a_statement_becomes_a_candidate_that_quotes_its_message() -> None:
    text = "Note: Billing depends on Ledger."
    (found,) = read_statements("Well then. " + text.removeprefix("Note: "))
    candidate = found.candidate(RecordId("m1"))
    assert (candidate.kind, candidate.subject, candidate.attribute, candidate.value) == (
        Kind.FACT,
        "Billing",
        "depends_on",
        "Ledger",
    )
    assert (candidate.message_id, candidate.start) == ("m1", len("Well then. "))


def test_a_sentence_that_a_user_adds_is_read() -> None:
    data: dict[str, Any] = {
        "relation": {"steers": {"values": "one", "says": ["{s} (steers|pilots) [the ]{o}"], "nouns": ["pilot"]}},
    }
    relations = shipped_relations().extended(data)
    found = read_statement("Anna pilots the Albatross.", relations)
    assert found is not None
    assert (found.subject, found.relation, found.object) == ("Anna", "steers", "Albatross")
    assert read_statement("Anna pilots the Albatross.") is None


def test_every_shipped_sentence_is_read_as_its_relation() -> None:
    wrong = []
    for relation in shipped_relations().by_name.values():
        for says in relation.says:
            said = _example(says)
            found = read_statement(said)
            if found is None or found.relation != relation.name:
                wrong.append((relation.name, said, found and found.relation))
    assert wrong == []


def _example(says: str) -> str:
    """Write a sentence by a template: the first of alternatives, nothing that may be missing."""
    said = re.sub(r"\w*\[[^\]]*\]", lambda match: match.group().split("[")[0], says)
    said = re.sub(r"\(([^|)]*)[^)]*\)", r"\1", said).replace("*", "")
    return " ".join(said.replace("{s}", "Xaver Berg").replace("{o}", "Yolanda Tal").split())
