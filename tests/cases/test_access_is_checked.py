"""Reports of memories reached by who had no right to them, and what must happen instead: every call is checked."""

import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from retentia import Document, Memory, Principal, Scope, Session, ToolCall
from retentia.acting import ActingMemory
from retentia.errors import AccessDenied, InvalidFilter, InvalidInput, NotFound
from retentia.store import records

ALICE, BOB = Scope("acme", "alice"), Scope("acme", "bob")
NEIGHBOURS = [
    (Scope("acme", "user_1"), Scope("acme", "user_10")),
    (Scope("acme", "a%"), Scope("acme", "abc")),
    (Scope("acme", "a_b"), Scope("acme", "axb")),
    (Scope("acme", "a:b"), Scope("acme", "a")),
    (Scope("acme", "a/b"), Scope("acme", "a", "b")),
    (Scope("acme", "anna"), Scope("acme-corp", "anna")),
    (Scope("acme", "anna", "personal"), Scope("acme", "anna", "work")),
    (Scope("acme", "anna", agent="coder"), Scope("acme", "anna", agent="coder2")),
]
READS: dict[str, Callable[[ActingMemory, Scope], object]] = {
    "recall": lambda acting, scope: acting.recall("baseball", scope=scope),
    "context": lambda acting, scope: acting.context("baseball", scope=scope),
    "get": lambda acting, scope: acting.get("00000000-0000-7000-8000-000000000000", scope=scope),
    "messages": lambda acting, scope: acting.messages(scope=scope),
    "records": lambda acting, scope: acting.records(scope=scope),
    "sessions": lambda acting, scope: acting.sessions(scope=scope),
    "stats": lambda acting, scope: acting.stats(scope=scope),
}
WRITES: dict[str, Callable[[ActingMemory, Scope], object]] = {
    "add": lambda acting, scope: acting.add("mine now", scope=scope),
    "add_to_sessions": lambda acting, scope: acting.add_to_sessions([("s", "mine now")], scope=scope),
    "log_tool_call": lambda acting, scope: acting.log_tool_call(ToolCall(name="search", result="x"), scope=scope),
    "add_document": lambda acting, scope: acting.add_document(Document(text="mine now"), scope=scope),
    "remember": lambda acting, scope: acting.remember("mine now", scope=scope),
    "erase": lambda acting, scope: acting.erase("00000000-0000-7000-8000-000000000000", scope=scope),
}


def agent_of(scope: Scope) -> Principal:
    """Return an agent that owns exactly this scope."""
    return Principal(
        id="key-1", role="agent", tenant=scope.tenant, user=scope.user, space=scope.space, agent=scope.agent
    )


def texts(memory: Memory, scope: Scope) -> list[str]:
    return sorted(record.text for record in memory.records(scope=scope).records)


def test_erasing_an_agents_own_leaves_what_the_users_agents_share(memory: Memory) -> None:
    """letta#1917: deleting an agent deleted the shared blocks."""
    shared, one, other = (Scope("acme", "anna", agent=agent) for agent in ("", "a", "b"))
    kept = memory.add("Anna prefers short answers", scope=shared).id
    own = memory.add("Agent a answers with patches", scope=one).id
    acting = memory.acting_as(agent_of(one))
    with pytest.raises(AccessDenied):
        acting.erase(kept, scope=one)
    with pytest.raises(AccessDenied):
        acting.erase([own, kept], scope=one)
    assert acting.erase(own, scope=one).removed["message"] == 1
    assert memory.acting_as(agent_of(other)).get(kept, scope=other).text == "Anna prefers short answers"


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS, ids=str)
def test_a_name_that_looks_alike_opens_nothing(memory: Memory, one: Scope, other: Scope) -> None:
    """CVE-2026-71433, langgraphjs#2721: a prefix or a wildcard reached the neighbour; empty means all I may see."""
    memory.add("The blue bicycle is mine", scope=one)
    memory.add("The red bicycle is mine", scope=other)
    memory.drain()
    acting = memory.acting_as(agent_of(one))
    assert [hit.text for hit in acting.recall("whose bicycle", scope=one)] == ["The blue bicycle is mine"]
    for call in (*READS.values(), *WRITES.values()):
        with pytest.raises(AccessDenied):
            call(acting, other)
    with pytest.raises(AccessDenied):
        acting.recall("whose bicycle", scope=one, also=[other])
    assert acting.scopes(one.tenant) == [one]


def test_no_verb_shows_or_changes_another_users_memory(memory: Memory) -> None:
    """mem0#1805: one of several channels was not filtered."""
    memory.add("Charlie likes apples", scope=ALICE)
    theirs = [
        memory.add("Charlie likes baseball", scope=BOB).id,
        memory.remember("Charlie loves baseball", "fact", scope=BOB).id,
        memory.add_document(Document(text="Charlie plays baseball on Sundays."), scope=BOB).id,
        memory.log_tool_call(ToolCall(name="search", arguments={"q": "baseball"}, result="won"), scope=BOB).id,
    ]
    memory.drain()
    before = memory.stats(scope=BOB).records
    acting = memory.acting_as(agent_of(ALICE))
    for call in (*READS.values(), *WRITES.values()):
        with pytest.raises(AccessDenied):
            call(acting, BOB)
    assert memory.stats(scope=BOB).records == before
    assert {hit.text for hit in acting.recall("Charlie", scope=ALICE, min_relevance=0)} == {"Charlie likes apples"}
    for record_id in theirs:
        with pytest.raises(NotFound):
            acting.get(record_id, scope=ALICE)
        assert acting.erase(record_id, scope=ALICE).missing == (record_id,)
        assert memory.get(record_id, scope=BOB).id == record_id
    refused = [entry for entry in memory.audit_log("acme") if entry.refused]
    assert len(refused) == len(READS) + len(WRITES)
    assert {entry.scope_id for entry in refused} != {0}


def test_an_unknown_scope_is_refused_and_never_means_all(memory: Memory) -> None:
    """cognee#3520, #1193: an unknown dataset searched all."""
    memory.add("Alice's mother is Mary", scope=ALICE)
    memory.add("Alice's mother is Jane", scope=BOB)
    memory.drain()
    acting = memory.acting_as(agent_of(ALICE))
    assert [hit.text for hit in acting.recall("Who is Alice's mother?", scope=ALICE)] == ["Alice's mother is Mary"]
    with pytest.raises(AccessDenied):
        acting.recall("Who is Alice's mother?", scope=Scope("acme", "nobody"))
    with pytest.raises(AccessDenied):
        acting.recall("Who is Alice's mother?", scope=ALICE, also=[Scope("acme", "nobody")])
    with pytest.raises(InvalidInput):
        memory.recall("Who is Alice's mother?", scope=ALICE, also=[Scope("other", "alice")])
    stranger = Scope("acme", "stranger")
    assert memory.acting_as(agent_of(stranger)).recall("Who is Alice's mother?", scope=stranger).hits == ()
    assert stranger not in memory.scopes("acme")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"id": "key-1"},
        {"id": "key-1", "role": "agent"},
        {"id": "key-1", "role": "root", "tenant": "acme", "user": "anna"},
        {"id": "", "role": "agent", "tenant": "acme", "user": "anna"},
        {"id": "owner", "role": "agent", "tenant": "acme", "user": "anna"},
        {"id": "anna@example.org", "role": "person", "tenant": "acme", "user": "anna"},
        {"id": "key-1", "role": "agent", "tenant": "acme"},
        {"id": "key-1", "role": "agent", "tenant": "", "user": "anna"},
        {"id": "key-1", "role": "person", "tenant": "acme", "user": "anna", "agent": "coder"},
        {"id": "key-1", "role": "support", "tenant": "acme", "expires_at": "2100"},
        {"id": "key-1", "role": "support", "tenant": "acme", "reason": "T-1"},
        {"id": "key-1", "role": "support", "tenant": "acme", "reason": "Anna is ill again", "expires_at": "2100"},
        {"id": "key-1", "role": "support", "tenant": "acme", "user": "anna", "reason": "T-1", "expires_at": "2100"},
        {"id": "key-1", "role": "auditor", "tenant": "acme", "user": "anna"},
    ],
)
def test_a_principal_has_no_default_identity_and_no_default_role(given: dict[str, Any]) -> None:
    """cognee#3084: every tenant fell back to the same user and password."""
    with pytest.raises((TypeError, InvalidInput)):
        Principal(**given)


def test_every_verb_that_touches_a_memory_takes_its_scope_by_name_and_without_a_default(memory: Memory) -> None:
    """LongMemory#97: a query without a user returned all users."""
    acting = memory.acting_as(agent_of(ALICE))
    for name in {*READS, *WRITES, "grant"}:
        scope = inspect.signature(getattr(acting, name)).parameters["scope"]
        assert (scope.kind, scope.default) == (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty), name
    with pytest.raises(TypeError):
        acting.recall("anything")  # type: ignore[call-arg]


def test_a_foreign_row_from_the_index_is_not_shown_and_is_logged(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """powercontext#1109: the index returned another user's id, and a malformed filter let everything through."""
    memory.add("Charlie likes apples", scope=ALICE)
    theirs = memory.add("Charlie likes baseball", scope=BOB).id
    memory.drain()
    foreign = memory.get(theirs, scope=BOB)
    fetch = records.fetch

    def confused(*args: Any) -> dict[bytes, Any]:
        return dict.fromkeys(fetch(*args), foreign)

    acting = memory.acting_as(agent_of(ALICE))
    monkeypatch.setattr(records, "fetch", confused)
    with pytest.raises(AccessDenied):
        acting.recall("What does Charlie like?", scope=ALICE)
    monkeypatch.undo()
    entry = memory.audit_log("acme")[0]
    assert (entry.refused, entry.records) == (True, (foreign.id,))
    with pytest.raises(InvalidFilter):
        acting.recall("Charlie", scope=ALICE, where={"tag": {"nin": "not a list"}})


def test_principals_at_once_on_one_memory_do_not_change_places(memory: Memory) -> None:
    """graphiti#1659: a shared driver was left pointing at the group of the last write."""
    people = [Scope("acme", f"user_{number}") for number in range(6)]

    def live(scope: Scope) -> list[str]:
        acting = memory.acting_as(agent_of(scope))
        for round_ in range(3):
            acting.add(f"note {round_} of {scope.user}", scope=scope)
            assert {hit.record.scope for hit in acting.recall("note", scope=scope, min_relevance=0)} == {scope}
        return [record.text for record in acting.records(scope=scope).records]

    with ThreadPoolExecutor(6) as pool:
        for scope, found in zip(people, pool.map(live, people), strict=True):
            assert sorted(found) == [f"note {round_} of {scope.user}" for round_ in range(3)]
    assert memory.verify_audit("acme").is_sound


def test_a_session_may_be_a_principals(memory: Memory) -> None:
    chat = Session(memory.acting_as(agent_of(ALICE)), "monday", scope=ALICE)
    chat.append("The dentist moved to Friday")
    assert [message.text for message in chat.messages()] == ["The dentist moved to Friday"]
    assert "dentist" in chat.context("When is the dentist?").text()
    with pytest.raises(AccessDenied):
        Session(memory.acting_as(agent_of(ALICE)), "monday", scope=BOB).messages()


def test_erasing_in_one_space_leaves_every_other_space(memory: Memory) -> None:
    """remembra#2: a clean-up of one project wiped personal namespaces."""
    work, personal = Scope("acme", "anna", "work"), Scope("acme", "anna", "personal")
    mine = memory.add("The release is on Monday", scope=work).id
    theirs = memory.add("The dentist is on Monday", scope=personal).id
    acting = memory.acting_as(agent_of(work))
    assert acting.erase([mine, theirs], scope=work).missing == (theirs,)
    assert texts(memory, personal) == ["The dentist is on Monday"]
    assert texts(memory, work) == []


def test_a_purpose_does_not_see_another_purpose_without_a_grant(memory: Memory) -> None:
    """None of the others isolates by purpose: work must not see what is personal, of the same user."""
    work, personal = Scope("acme", "anna", "work"), Scope("acme", "anna", "personal")
    memory.add("Anna is allergic to nuts", scope=personal)
    memory.add("Anna leads the Atlas project", scope=work)
    memory.drain()
    acting = memory.acting_as(agent_of(work))
    assert [hit.text for hit in acting.recall("Anna", scope=work, min_relevance=0)] == ["Anna leads the Atlas project"]
    with pytest.raises(AccessDenied):
        acting.recall("What is Anna allergic to?", scope=personal)
    memory.grant(scope=personal, to=work, expires_at="2100")
    found = acting.recall("Anna", scope=work, also=[personal], min_relevance=0)
    assert {(hit.record.scope.space, hit.text) for hit in found} == {
        ("work", "Anna leads the Atlas project"),
        ("personal", "Anna is allergic to nuts"),
    }
    other = memory.acting_as(replace(agent_of(work), agent="another"))
    with pytest.raises(AccessDenied):
        other.recall("What is Anna allergic to?", scope=personal)
