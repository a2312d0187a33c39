"""Messages that are pinned after they were said."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Scope
from retentia.errors import InvalidInput, NotFound
from retentia.working.context import ContextSettings
from retentia.working.settings import WorkingSettings
from retentia.working.window import WindowSettings

ANNA = Scope("acme", "anna")
SHORT = WorkingSettings(context=ContextSettings(window=WindowSettings(history_size=4, pinned_count=0)))


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False, working=SHORT) as opened:
        yield opened


def shown_as(memory: Memory, record_id: str) -> list[str]:
    made = memory.context("What now?", scope=ANNA, budget=2000)
    return [one.part for one in made.manifest if one.id == record_id]


def test_a_pinned_message_stays_in_every_context_until_it_is_unpinned(memory: Memory) -> None:
    first = memory.add("The door code is on the fridge", scope=ANNA).id
    memory.add([f"Something about day {day}" for day in range(40)], scope=ANNA)
    memory.checkpoint(scope=ANNA)
    assert shown_as(memory, first) == []
    assert memory.pin(first, scope=ANNA).pinned
    assert memory.messages(scope=ANNA)[0].pinned
    assert shown_as(memory, first) == ["pinned"]
    assert not memory.pin(first, scope=ANNA, pinned=False).pinned
    assert shown_as(memory, first) == []


def test_only_messages_of_the_scope_are_pinned(memory: Memory) -> None:
    note = memory.remember("Anna likes tea", scope=ANNA).id
    other = memory.add("I like coffee", scope=Scope("acme", "bob")).id
    with pytest.raises(InvalidInput, match="is a note, only messages are pinned"):
        memory.pin(note, scope=ANNA)
    with pytest.raises(NotFound):
        memory.pin(other, scope=ANNA)
    assert not memory.messages(scope=Scope("acme", "bob"))[0].pinned
