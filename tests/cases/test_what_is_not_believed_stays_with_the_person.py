"""What was only proposed, rejected or retracted is no business of an agent: no verb of its hands it out (SPEC F2)."""

from collections.abc import Callable

import pytest

from retentia import Memory, Principal, Scope
from retentia.errors import NotFound
from retentia.model.ids import RecordId
from retentia.model.record import ItemRecord
from retentia.working.told import says

PERSON = Principal(id="anna-1", role="person", tenant="acme", user="anna")
AGENT = Principal(id="key-1", role="agent", tenant="acme", user="anna")


def proposed(memory: Memory, scope: Scope) -> RecordId:
    memory.add("I am forced to use Python at work.", scope=scope)
    memory.add("I might move to Graz.", scope=scope)
    return memory.facts.inbox(scope=scope)[0].belief.record.id


def rejected(memory: Memory, scope: Scope) -> RecordId:
    waiting = proposed(memory, scope)
    memory.facts.reject(waiting, scope=scope)
    return waiting


def retracted(memory: Memory, scope: Scope) -> RecordId:
    memory.add("I live in Graz.", scope=scope)
    (home,) = memory.facts.get("home", scope=scope)
    memory.facts.retract(home.record.id, scope=scope)
    return home.record.id


@pytest.mark.parametrize("made", [proposed, rejected, retracted])
def test_an_agent_reads_nothing_that_is_not_believed_and_the_person_reads_it(
    memory: Memory, scope: Scope, made: Callable[[Memory, Scope], RecordId]
) -> None:
    hidden = made(memory, scope)
    kind = memory.get(hidden, scope=scope).kind
    agent, person = memory.acting_as(AGENT), memory.acting_as(PERSON)
    assert hidden not in {one.id for one in agent.records(scope=scope, kind=kind).records}
    with pytest.raises(NotFound):
        agent.get(hidden, scope=scope)
    assert hidden not in {one.id for one in agent.due_for_review(scope=scope)}
    assert person.get(hidden, scope=scope).id == hidden
    assert hidden in {one.id for one in person.records(scope=scope, kind=kind).records}


@pytest.mark.parametrize("made", [proposed, rejected, retracted])
def test_no_context_and_no_opening_shows_what_is_not_believed(
    memory: Memory, scope: Scope, made: Callable[[Memory, Scope], RecordId]
) -> None:
    memory.add("My name is Anna.", scope=scope)
    hidden = memory.get(made(memory, scope), scope=scope)
    assert hidden.id not in [hit.record.id for hit in memory.recall("Graz Python move live", scope=scope)]
    assert isinstance(hidden, ItemRecord)
    opening = [one.id for one in memory.opening(scope=scope).profile]
    context = memory.context("Where do I live, and what do I use?", scope=scope, session="later").text()
    assert opening
    assert hidden.id not in opening
    assert says(hidden) not in context


def test_an_agent_that_was_granted_to_decide_sees_what_waits(memory: Memory, scope: Scope) -> None:
    hidden = proposed(memory, scope)
    memory.grant(scope=scope, to="key-1", rights=["decide"], expires_at="2040-01-01")
    assert memory.acting_as(AGENT).get(hidden, scope=scope).id == hidden
