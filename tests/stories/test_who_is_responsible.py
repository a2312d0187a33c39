"""Who is responsible for the component that Billing depends on? Nobody said it in one sentence, and it changes."""

import pytest

from retentia import Memory, Scope
from retentia.learn.chains import Chain
from retentia.testing import FakeEmbedder
from retentia.testing_store import FixedClock

DAY = 86_400.0

STORIES = {
    "en": (
        ["Billing depends on Ledger.", "Anna leads Team Blue.", "Ledger is maintained by Team Blue."],
        ["Eva leads Team Blue."],
        "Who is the head of the team that maintains the component Billing depends on?",
        ["Anna", "Eva"],
    ),
    "de": (
        ["Billing hängt von Ledger ab.", "Anna leitet Blau.", "Blau wartet Ledger."],
        ["Eva leitet Blau."],
        "Wer leitet das Team, das die Komponente wartet, von der Billing abhängt?",
        ["Anna", "Eva"],
    ),
    "uk": (
        ["Billing залежить від Ledger.", "Анна очолює Blue.", "Blue підтримує Ledger."],
        ["Єва очолює Blue."],
        "Хто очолює команду, що підтримує компонент, від якого залежить Billing?",
        ["Анна", "Єва"],
    ),
}


def answered(memory: Memory, question: str, scope: Scope) -> Chain:
    best = memory.facts.chains(question, scope=scope).best
    assert best is not None
    return best


@pytest.mark.parametrize("language", STORIES)
def test_who_is_responsible_is_answered_over_three_steps_and_stays_true(
    store_url: str, anna: Scope, clock: FixedClock, language: str
) -> None:
    first, later, question, (before, after) = STORIES[language]
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as memory:
        for said in first:
            memory.add(said, scope=anna)
        chain = answered(memory, question, anna)
        assert chain.answer == before
        assert [edge.relation for edge in chain.edges] == ["depends_on", "maintains", "head"]
        shown = [memory.get(edge.source, scope=anna).text for edge in chain.edges]
        assert sorted(shown) == sorted(said.rstrip(".") for said in first)

        clock.advance(seconds=DAY)
        for said in later:
            memory.add(said, scope=anna)
        assert answered(memory, question, anna).answer == after


def test_who_is_responsible_is_not_made_up(store_url: str, anna: Scope) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add(["Billing depends on Ledger.", "Maybe Anna is responsible for Ledger."], scope=anna)
        found = memory.facts.chains("Who is responsible for the component that Billing depends on?", scope=anna)
        assert found.chains == ()
        assert found.reason == "no path of known relations explains the question"


def test_what_the_person_said_of_themselves_begins_a_chain(store_url: str, anna: Scope) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add(["I work for Acme.", "The headquarters of Acme is in Hamburg."], scope=anna)
        chain = answered(memory, "Where is the headquarters of the company I work for?", anna)
        assert chain.answer == "Hamburg"
        assert [edge.relation for edge in chain.edges] == ["employer", "headquarters"]
        assert memory.facts.chains("Where is the headquarters of the company Tom works for?", scope=anna).chains == ()
