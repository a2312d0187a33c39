"""Reports of agents that worked on stale knowledge or overwrote each other, and what must happen instead."""

import threading
import time

import pytest

from retentia import Memory, Principal, Scope
from retentia.errors import AccessDenied, Conflict, InvalidInput
from retentia.model.feed import Feed
from retentia.model.provenance import Trust
from retentia.store.scopes import CHANGES_KEPT

AGENT = Principal(id="key-1", role="agent", tenant="acme", user="anna")
PERSON = Principal(id="u-1", role="person", tenant="acme", user="anna")


def told(feed: Feed) -> list[tuple[str | None, str, int, str]]:
    return [(one.kind, one.change, one.version, one.author) for one in feed]


def wait_until_logged(memory: Memory) -> None:
    """Wait for own reads, which are logged within a second."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and not any(one.by == "key-1" for one in memory.audit_log("acme")):
        time.sleep(0.02)


def the_home(memory: Memory, scope: Scope) -> str:
    (home,) = memory.facts.get("home", scope=scope)
    return home.id


def test_a_reader_sees_what_was_added_and_changed_since_it_looked_last(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Berlin.", scope=scope)
    first = memory.changes(scope=scope)
    assert told(first) == [("message", "added", 1, "user"), ("fact", "added", 1, "user")]
    assert not memory.changes(scope=scope, after=first.cursor)
    berlin = the_home(memory, scope)
    memory.facts.confirm(berlin, scope=scope)
    assert [(one.record_id, one.change, one.version) for one in memory.changes(scope=scope, after=first.cursor)] == [
        (berlin, "confirmed", 2)
    ]


def test_what_was_erased_is_told_as_gone_and_says_nothing_else(memory: Memory, scope: Scope) -> None:
    said = memory.add("I live in Berlin.", scope=scope).id
    before = memory.changes(scope=scope).cursor
    memory.erase(said, scope=scope)
    gone = memory.changes(scope=scope, after=before)
    assert {(one.kind, one.change, one.at, one.author) for one in gone} == {(None, "gone", None, "")}
    assert said in [one.record_id for one in gone]


def test_pages_of_a_feed_name_every_record_once_whatever_their_size(memory: Memory, scope: Scope) -> None:
    ids = {name for number in range(7) for name in memory.add([f"note {number}", f"more {number}"], scope=scope).ids}
    for limit in (1, 2, 3, 5, 100):
        seen: list[str] = []
        feed = Feed(entries=(), cursor="", more=True)
        while feed.more:
            feed = memory.changes(scope=scope, after=feed.cursor, limit=limit)
            assert len(feed) <= limit
            seen += [one.record_id for one in feed]
        assert sorted(seen) == sorted(ids)


def test_a_record_that_changes_between_two_pages_is_told_again(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Berlin.", scope=scope)
    memory.add("The weather is nice today.", scope=scope)
    page = memory.changes(scope=scope, limit=2)
    assert page.more
    berlin = the_home(memory, scope)
    memory.facts.confirm(berlin, scope=scope)
    rest = memory.changes(scope=scope, after=page.cursor)
    assert [one.change for one in rest if one.record_id == berlin] == ["confirmed"]


def test_a_reader_that_stayed_away_too_long_is_told_so_and_can_go_on(memory: Memory, scope: Scope) -> None:
    memory.add("first", scope=scope)
    cursor = memory.changes(scope=scope).cursor
    for number in range(2 * CHANGES_KEPT):
        memory.remember(f"number {number}", scope=scope)
    late = memory.changes(scope=scope, after=cursor)
    assert (late.is_complete, late.entries) == (False, ())
    memory.remember("one more", scope=scope)
    assert len(memory.changes(scope=scope, after=late.cursor)) == 1


def test_a_cursor_holds_after_the_store_was_opened_again(sqlite_url: str, scope: Scope) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        memory.add("one", scope=scope)
        cursor = memory.changes(scope=scope).cursor
        memory.add("two", scope=scope)
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        assert told(memory.changes(scope=scope, after=cursor)) == [("message", "added", 1, "user")]


@pytest.mark.parametrize("cursor", ["x", "1.2", "1.2.3.4", "1.2.z", "-1.1.1.1"])
def test_what_is_no_cursor_is_refused(memory: Memory, scope: Scope, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        memory.changes(scope=scope, after=cursor)


def test_the_cursor_of_another_memory_gives_no_entries(memory: Memory, scope: Scope) -> None:
    other = Scope("acme", "bob")
    memory.add("I live in Berlin.", scope=scope)
    memory.add("I live in Paris.", scope=other)
    cursor = memory.changes(scope=other).cursor
    assert memory.changes(scope=scope, after=cursor).is_complete is False
    assert memory.changes(scope=Scope("acme", "nobody"), after=cursor).is_complete is False


def test_two_writers_who_read_the_same_version_do_not_overwrite_each_other(memory: Memory, scope: Scope) -> None:
    """SPEC G7: a conflict, not a lost update."""
    memory.add("I live in Berlin.", scope=scope)
    (home,) = memory.facts.get("home", scope=scope)
    results: list[str] = []

    def write(value: str) -> None:
        try:
            memory.facts.correct(home.id, value, scope=scope, author=value, expected_version=home.record.version)
            results.append(value)
        except Conflict:
            results.append("conflict")

    threads = [threading.Thread(target=write, args=(value,)) for value in ("Kyiv", "Lviv")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results.count("conflict") == 1
    (winner,) = [one for one in results if one != "conflict"]
    assert memory.facts.profile(scope=scope).values()["home"] == [winner]


@pytest.mark.parametrize("verb", ["confirm", "reject", "retract"])
def test_a_decision_about_an_older_version_is_a_conflict_and_changes_nothing(
    memory: Memory, scope: Scope, verb: str
) -> None:
    memory.add("I live in Berlin.", scope=scope)
    (home,) = memory.facts.get("home", scope=scope)
    memory.facts.confirm(home.id, scope=scope)
    with pytest.raises(Conflict, match="version 2"):
        getattr(memory.facts, verb)(home.id, scope=scope, expected_version=home.record.version)
    assert memory.facts.get("home", scope=scope)[0].record.version == 2
    assert memory.facts.narrow(home.id, "in winter", scope=scope, expected_version=2).claim.applies_to == "in winter"


def test_setting_a_value_can_expect_what_is_there(memory: Memory, scope: Scope) -> None:
    memory.facts.set("home", "Berlin", scope=scope, expected_version=0)
    with pytest.raises(Conflict):
        memory.facts.set("home", "Paris", scope=scope, expected_version=0)
    memory.facts.set("home", "Paris", scope=scope, expected_version=1)
    with pytest.raises(Conflict):
        memory.facts.set("speaks", "German", scope=scope, expected_version=3)
    assert memory.facts.set("speaks", "German", scope=scope, expected_version=0).record_id
    assert memory.facts.profile(scope=scope).values() == {"home": ["Paris"], "speaks": ["German"]}


def test_what_an_agent_says_of_the_person_is_a_proposal_that_the_agent_does_not_see(
    memory: Memory, scope: Scope
) -> None:
    """What the assistant says never becomes the person's fact, and what is proposed is in no tool of an agent."""
    agent, person = memory.acting_as(AGENT), memory.acting_as(PERSON)
    memory.add("I live in Berlin.", scope=scope)
    agent.facts.set("home", "Paris", scope=scope)
    assert agent.facts.profile(scope=scope).values() == {"home": ["Berlin"]}
    assert [one.value for one in agent.facts.history("home", scope=scope)] == ["Berlin"]
    assert {one.change for one in agent.changes(scope=scope)} == {"added"}
    assert len(agent.changes(scope=scope)) == 2
    with pytest.raises(AccessDenied):
        agent.facts.inbox(scope=scope)
    (proposal,) = person.facts.inbox(scope=scope)
    assert (proposal.belief.value, proposal.belief.record.author) == ("Paris", "key-1")
    assert proposal.belief.record.trust is Trust.AGENT
    assert [one.value for one in proposal.against] == ["Berlin"]
    person.facts.confirm(proposal.id, scope=scope)
    assert agent.facts.profile(scope=scope).values() == {"home": ["Paris"]}


@pytest.mark.parametrize("verb", ["confirm", "reject", "retract", "correct", "narrow"])
def test_an_agent_decides_for_the_person_only_where_it_was_granted(memory: Memory, scope: Scope, verb: str) -> None:
    memory.add("I live in Berlin.", scope=scope)
    (home,) = memory.facts.get("home", scope=scope)
    agent = memory.acting_as(AGENT)
    more = ("Kyiv",) if verb in ("correct", "narrow") else ()
    with pytest.raises(AccessDenied):
        getattr(agent.facts, verb)(home.id, *more, scope=scope)
    assert memory.facts.get("home", scope=scope) == (home,)
    granted = memory.grant(scope=scope, to="key-1", rights=["decide"], expires_at="2100-01-01")
    done = getattr(agent.facts, verb)(home.id, *more, scope=scope, author="somebody else")
    history = memory.facts.history("home", scope=scope)
    assert {change.author for one in history for change in one.changes} == {"key-1"}
    memory.revoke(granted.id, tenant="acme")
    with pytest.raises(AccessDenied):
        getattr(agent.facts, verb)(done.id, *more, scope=scope)
    refusals = [one for one in memory.audit_log("acme", limit=50) if one.refused]
    assert [(one.by, one.action) for one in refusals] == [("key-1", "write")] * 2


def test_support_sees_values_masked_and_changes_nothing(memory: Memory, scope: Scope) -> None:
    memory.facts.set("email", "anna@example.org", scope=scope)
    (known,) = memory.facts.get("email", scope=scope)
    memory.facts.retract(known.id, scope=scope, reason="it is anna.meier@example.org now")
    memory.facts.set("email", "anna.meier@example.org", scope=scope)
    memory.grant(scope=scope, to="sup-1", expires_at="2100-01-01")
    support = memory.acting_as(
        Principal(id="sup-1", role="support", tenant="acme", reason="T-1", expires_at="2100-01-01")
    )
    assert support.facts.profile(scope=scope).values() == {"email": ["[email]"]}
    assert "example.org" not in repr(support.facts.history(scope=scope))
    for call in (
        lambda: support.facts.set("email", "x@example.org", scope=scope),
        lambda: support.facts.retract(known.id, scope=scope),
        lambda: support.facts.inbox(scope=scope),
    ):
        with pytest.raises(AccessDenied):
            call()


def test_what_is_read_and_decided_is_in_the_audit_log_and_the_log_holds_no_content(
    memory: Memory, scope: Scope
) -> None:
    memory.add("I live in Berlin.", scope=scope)
    person = memory.acting_as(PERSON)
    (home,) = person.facts.get("home", scope=scope)
    person.facts.confirm(home.id, scope=scope)
    auditor = memory.acting_as(Principal(id="aud-1", role="auditor", tenant="acme"))
    memory.acting_as(AGENT).facts.profile(scope=scope)
    wait_until_logged(memory)
    told = [(one.by, one.action, home.id in one.records) for one in auditor.audit_log("acme")]
    assert told.count(("u-1", "write", True)) == 1
    assert told.count(("u-1", "read", True)) == 2
    assert told.count(("key-1", "read", True)) == 1
    assert memory.verify_audit("acme").is_sound


def test_a_stranger_reads_and_writes_no_facts(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Berlin.", scope=scope)
    stranger = memory.acting_as(Principal(id="key-2", role="agent", tenant="acme", user="bob"))
    for call in (
        lambda: stranger.facts.profile(scope=scope),
        lambda: stranger.facts.get("home", scope=scope),
        lambda: stranger.facts.history(scope=scope),
        lambda: stranger.facts.set("home", "Paris", scope=scope),
        lambda: stranger.changes(scope=scope),
    ):
        with pytest.raises(AccessDenied):
            call()
    assert memory.facts.profile(scope=scope).values() == {"home": ["Berlin"]}
