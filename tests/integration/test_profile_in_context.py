"""What is believed of a person in the prompt: each thing once, with its status, and nothing that is not believed."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Scope, Session
from retentia.testing import FakeEmbedder
from retentia.working.context import ContextSettings
from retentia.working.settings import WorkingSettings
from retentia.working.strategy import Strategy

ANNA = Scope("acme", "anna")
FACTS = Strategy.of(["facts", "semantic", "summary"])


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as opened:
        yield opened


def prompt(memory: Memory, request: str, session: str = "next", **how: object) -> str:
    return memory.context(request, scope=ANNA, session=session, strategy=FACTS, **how).text()  # type: ignore[arg-type]


def test_a_fact_is_shown_in_few_words_with_its_status_and_its_source(memory: Memory) -> None:
    said = memory.add("Hi there, my name is Alex and I live in Lviv.", scope=ANNA, session="first").id
    text = prompt(memory, "Plan a trip")
    assert "| name: Alex\n" in text
    assert "| home: Lviv\n" in text
    assert f"fact, stated, from {said[-8:]}" in text
    assert text.count("Lviv") == 1, "the message that says nothing else is not quoted beside it"


def test_what_is_proposed_rejected_ended_or_retracted_is_in_no_prompt(memory: Memory) -> None:
    memory.add("My name is Alice and I live in Berlin.", scope=ANNA, session="first")
    memory.add("Actually my name is Alex, not Alice.", scope=ANNA, session="first")
    memory.add("I moved to Lviv.", scope=ANNA, session="first")
    memory.facts.set("speaks", "French", scope=ANNA)
    (french,) = memory.facts.get("speaks", scope=ANNA)
    memory.facts.reject(french.id, scope=ANNA)
    memory.facts.set("employer", "Acme", scope=ANNA)
    (acme,) = memory.facts.get("employer", scope=ANNA)
    memory.facts.retract(acme.id, scope=ANNA)
    opening = memory.opening(scope=ANNA)
    assert {str(one.body["value"]) for one in opening.profile if one.kind == "fact"} == {"Alex", "Lviv"}
    assert "French" not in prompt(memory, "Write a letter")
    assert "Acme" not in prompt(memory, "Write a letter")


def test_what_the_window_shows_word_for_word_is_not_told_again_as_a_fact(memory: Memory) -> None:
    session = Session(memory, "live", scope=ANNA)
    session.append("My name is Alex.")
    session.append("We decided to use ClickHouse, because the weekly report took 40 seconds.")
    session.append("Always answer briefly.")
    for request in ("What is my name?", "Which database did we decide to use?", "Answer me briefly"):
        text = session.context(request, budget=2000, strategy=FACTS).text()
        said = text.replace(f"Current request:\n{request}", "")
        assert [said.count(word) for word in ("Alex", "ClickHouse", "briefly")] == [1, 1, 1], said


def test_what_the_window_shows_no_more_is_told_as_a_fact(memory: Memory) -> None:
    session = Session(memory, "live", scope=ANNA)
    session.append("My name is Alex.")
    text = session.context("Hello", budget=2000, strategy=FACTS).text()
    assert "name: Alex" not in text
    assert "name: Alex" in prompt(memory, "Hello", session="another")


def test_a_profile_that_a_provider_caches_stays_as_it_is_when_the_window_moves(store_url: str) -> None:
    settings = WorkingSettings(context=ContextSettings(layout="cache"))
    with Memory.open(store_url, embedder=None, worker=False, working=settings) as memory:
        session = Session(memory, "live", scope=ANNA)
        session.append("My name is Alex.")
        first = session.context("Hello", budget=3000, strategy=FACTS)
        session.append("The weather is nice.")
        second = session.context("Hello again", budget=3000, strategy=FACTS)
        assert "name: Alex" in first.text()
        assert [turn.text for turn in first.turns[: first.cacheable_turns]] == [
            turn.text for turn in second.turns[: first.cacheable_turns]
        ]


def test_procedures_for_the_task_come_first_and_those_for_other_tasks_stay_away(memory: Memory) -> None:
    memory.add("Always answer briefly.", scope=ANNA, session="first")
    memory.add("When you review code, list security issues first.", scope=ANNA, session="first")
    memory.add("I live in Lviv.", scope=ANNA, session="first")
    reviewing = memory.opening(scope=ANNA, request="Please review this code")
    assert "security issues" in reviewing.profile[0].text
    booking = memory.opening(scope=ANNA, request="Book a table")
    assert not any("security issues" in one.text for one in booking.profile)
    assert any("briefly" in one.text for one in booking.profile)


def test_what_matters_is_marked_where_the_person_has_not_confirmed_it(memory: Memory) -> None:
    memory.add("I live in Lviv. The flat has two rooms.", scope=ANNA, session="first")
    memory.add("My name is Alex.", scope=ANNA, session="first")
    (name,) = memory.facts.get("name", scope=ANNA)
    memory.facts.confirm(name.id, scope=ANNA)
    text = prompt(memory, "Send the parcel to my home in Lviv", consequential=True)
    lines = text.splitlines()
    home = lines[lines.index("| home: Lviv") - 1]
    assert "stated; not confirmed, ask before acting on it" in home
    assert "confirmed, from" in lines[lines.index("| name: Alex") - 1]
    assert "ask before" not in prompt(memory, "Send the parcel to my home in Lviv")
    recalled = memory.context("parcel to my home in Lviv", scope=ANNA, session="next", consequential=True).text()
    assert "ask before acting on it" in recalled


def test_a_message_that_says_more_than_the_profile_is_still_recalled(memory: Memory) -> None:
    memory.add("I live in Lviv. The flat has two rooms and a balcony.", scope=ANNA, session="first")
    assert "balcony" in prompt(memory, "Does the flat in Lviv have a balcony?")
