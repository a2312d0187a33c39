"""Reports of one person's memories shown to another, and what must happen instead."""

import pytest

from retentia import Document, Memory, Scope, ToolCall
from retentia.errors import InvalidScope, NotFound

NEIGHBOURS = [
    (Scope("acme", "user_1"), Scope("acme", "user_10")),
    (Scope("acme", "a%"), Scope("acme", "abc")),
    (Scope("acme", "a_b"), Scope("acme", "axb")),
    (Scope("acme", "a:b"), Scope("acme", "a")),
    (Scope("acme", "a/b"), Scope("acme", "a", "b")),
    (Scope("acme", "anna"), Scope("acme-corp", "anna")),
    (Scope("acme", "anna"), Scope("ACME", "anna")),
    (Scope("acme", "anna", "personal"), Scope("acme", "anna", "work")),
    (Scope("acme", "anna", agent="coder"), Scope("acme", "anna", agent="coder2")),
]


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS, ids=lambda scope: str(scope))
def test_names_that_look_alike_are_different_scopes(memory: Memory, one: Scope, other: Scope) -> None:
    """CVE-2026-71433, langgraphjs#2721: a prefix or a LIKE wildcard reached the neighbour."""
    memory.add("The blue bicycle is mine", scope=one)
    memory.add("The red bicycle is mine", scope=other)
    memory.drain()
    assert [hit.record.text for hit in memory.recall("whose bicycle", scope=one)] == ["The blue bicycle is mine"]
    assert [hit.record.text for hit in memory.recall("whose bicycle", scope=other)] == ["The red bicycle is mine"]


def test_no_channel_shows_another_user(memory: Memory) -> None:
    """mem0#1805, cognee#3520: one of several channels was not filtered."""
    alice, bob = Scope("acme", "alice"), Scope("acme", "bob")
    memory.add("Charlie likes apples", scope=alice)
    memory.remember("Charlie likes pears", "fact", scope=alice)
    theirs = [
        memory.add("Charlie likes baseball", scope=bob).id,
        memory.remember("Charlie loves baseball", "fact", scope=bob).id,
        memory.add_document(Document(text="Charlie plays baseball on Sundays."), scope=bob).id,
        memory.log_tool_call(ToolCall(name="search", arguments={"q": "Charlie baseball"}, result="won"), scope=bob).id,
    ]
    memory.drain()
    for query in ("What does Charlie like?", "baseball", "Charlie baseball Sundays", "search won"):
        found = memory.recall(query, scope=alice, min_relevance=0, limit=50)
        assert not {hit.id for hit in found} & set(theirs)
    for record_id in theirs:
        with pytest.raises(NotFound):
            memory.get(record_id, scope=alice)
        assert memory.erase(record_id, scope=alice).missing == (record_id,)
        assert memory.get(record_id, scope=bob).id == record_id


def test_a_scope_nobody_wrote_to_is_empty_and_stays_unknown(memory: Memory) -> None:
    """cognee#1193: an unknown dataset searched all; MemMachine#1576: a search created what it looked for."""
    memory.add("Alice's mother is Mary", scope=Scope("acme", "alice"))
    stranger = Scope("acme", "stranger")
    answer = memory.recall("Who is Alice's mother?", scope=stranger)
    assert answer.hits == ()
    assert "nothing was ever remembered" in answer.reason
    assert stranger not in memory.scopes("acme")


def test_every_read_and_write_needs_a_scope(memory: Memory) -> None:
    """LongMemory#97: a query returned all users."""
    with pytest.raises(TypeError):
        memory.recall("anything")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        memory.add("anything")  # type: ignore[call-arg]
    for tenant, user in (("", "anna"), ("acme", ""), (" acme", "anna"), ("acme", "an\nna")):
        with pytest.raises(InvalidScope):
            Scope(tenant, user)


def test_what_agents_share_is_seen_by_each_and_what_is_one_agents_own_is_not(memory: Memory) -> None:
    shared, coder, writer = (Scope("acme", "anna", agent=agent) for agent in ("", "coder", "writer"))
    memory.add("Anna prefers short answers", scope=shared)
    memory.add("The coder answers with patches", scope=coder)
    memory.drain()
    assert len(memory.recall("answers", scope=coder, min_relevance=0)) == 2
    assert [hit.record.text for hit in memory.recall("answers", scope=writer, min_relevance=0)] == [
        "Anna prefers short answers"
    ]
    assert [hit.record.scope for hit in memory.recall("patches", scope=coder, min_relevance=0)][:1] == [coder]


def test_a_small_neighbour_of_a_big_tenant_gets_its_own_best_answers(memory: Memory) -> None:
    """MemOS#2231: the filter came after the search, so a small store got nothing."""
    big, small = Scope("big", "anna"), Scope("small", "anna")
    memory.add([f"Meeting {number} is about the budget of project {number % 7}" for number in range(600)], scope=big)
    memory.add([f"Note {number} is about the budget of the garden" for number in range(12)], scope=small)
    memory.drain()
    found = memory.recall("budget", scope=small, limit=10, min_relevance=0)
    assert len(found) == 10
    assert all("garden" in hit.record.text for hit in found)
