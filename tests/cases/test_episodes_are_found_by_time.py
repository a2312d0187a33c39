"""What happened last month, what is still open, how things are done: the verbs of episodic and procedural memory."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Message, Principal, Scope
from retentia.errors import AccessDenied, Conflict, InvalidInput, NotFound
from retentia.model.claim import Change
from retentia.model.time import Moment
from retentia.testing import FakeEmbedder

NOW = Moment.parse("2026-05-13T10:00:00Z").start
SAID = [
    ("2026-03-02T09:00:00Z", "We decided to use Postgres for the events, because everybody knows it."),
    ("2026-04-14T09:00:00Z", "We decided to use ClickHouse for the events, because the weekly report took 40 seconds."),
    ("2026-04-20T09:00:00Z", "We decided to move the stand-up to nine."),
    ("2026-05-04T09:00:00Z", "I'll send the report by Friday."),
    ("2026-05-12T09:00:00Z", "I'll call the plumber tomorrow."),
    ("2026-05-12T10:00:00Z", "I promise to water the plants."),
]


@pytest.fixture
def memory(store_url: str, scope: Scope) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=lambda: NOW) as opened:
        opened.add([Message(role="user", content=text, at=at) for at, text in SAID], scope=scope)
        yield opened


def found(memory: Memory, scope: Scope, query: str = "", **how: object) -> list[str]:
    return [one.text for one in memory.episodes.search_episodes(query, scope=scope, **how)]  # type: ignore[arg-type]


CLICKHOUSE, STANDUP = SAID[1][1], SAID[2][1]


@pytest.mark.parametrize(
    "question",
    [
        "What did we decide last month?",
        "What happened in April?",
        "Was haben wir letzten Monat entschieden?",
        "Що ми вирішили минулого місяця?",
    ],
)
def test_what_was_decided_last_month_is_all_of_that_month_and_nothing_else(
    memory: Memory, scope: Scope, question: str
) -> None:
    assert found(memory, scope, question) == [STANDUP, CLICKHOUSE]


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("last month", [STANDUP, CLICKHOUSE]),
        ("im März", [SAID[0][1]]),
        ("минулого місяця", [STANDUP, CLICKHOUSE]),
        ("am letzten Dienstag", [SAID[5][1], SAID[4][1]]),
        ("2026-03", [SAID[0][1]]),
        (("2026-04-20", None), [SAID[5][1], SAID[4][1], SAID[3][1], STANDUP]),
        ((None, "2026-04"), [SAID[0][1]]),
        ("last year", []),
    ],
)
def test_a_time_can_be_given_as_a_phrase_or_as_bounds(
    memory: Memory, scope: Scope, when: object, expected: list[str]
) -> None:
    assert found(memory, scope, when=when) == expected


def test_a_phrase_that_names_no_time_is_refused(memory: Memory, scope: Scope) -> None:
    with pytest.raises(InvalidInput):
        memory.episodes.search_episodes(when="soonish", scope=scope)


def test_a_decision_is_found_by_meaning_within_its_time_with_its_reason(memory: Memory, scope: Scope) -> None:
    answer = memory.episodes.search_episodes("which database for the events last month", scope=scope)
    assert answer[0].text == CLICKHOUSE
    assert SAID[0][1] not in [one.text for one in answer]
    assert answer[0].record.body["reasons"] == ["the weekly report took 40 seconds"]


def test_a_topic_wants_all_its_words_in_any_form(memory: Memory, scope: Scope) -> None:
    assert found(memory, scope, topic="weekly reports") == [CLICKHOUSE]
    assert found(memory, scope, topic="report") == [SAID[3][1], CLICKHOUSE]
    assert found(memory, scope, topic="zeppelin") == []


def test_kinds_named_by_the_question_are_the_kinds_of_the_answer(memory: Memory, scope: Scope) -> None:
    assert set(found(memory, scope, "What did I promise?")) == {text for _, text in SAID[3:]}
    assert set(found(memory, scope, "Welche Entscheidungen gab es?")) == {text for _, text in SAID[:3]}


def test_what_waits_or_was_thrown_out_is_in_no_episode(memory: Memory, scope: Scope) -> None:
    (first, *_) = memory.episodes.search_episodes(when="last month", scope=scope)
    memory.facts.reject(first.id, scope=scope)
    assert found(memory, scope, when="last month") == [CLICKHOUSE]


def test_importance_narrows(memory: Memory, scope: Scope) -> None:
    memory.remember("The data centre burned down", "event", scope=scope, importance="high", at="2026-04-02")
    assert found(memory, scope, "What happened last month?", importance="high") == ["The data centre burned down"]
    assert found(memory, scope, "the data centre fire", importance="low") == []


def test_open_items_tell_what_is_overdue_and_what_is_due_next(memory: Memory, scope: Scope) -> None:
    """SPEC E2: overdue is derived from the time, never stored."""
    report, plumber, plants = memory.episodes.list_open_items(scope=scope)
    assert (report.what, report.owner, report.status, report.due and report.due.iso()) == (
        "send the report", "user", "overdue", "2026-05-08",
    )  # fmt: skip
    assert (plumber.what, plumber.status, plumber.due and plumber.due.iso()) == (
        "call the plumber",
        "open",
        "2026-05-13",
    )
    assert (plants.status, plants.due) == ("open", None)
    early = memory.episodes.list_open_items(scope=scope, now="2026-05-05")
    assert {one.status for one in early} == {"open"}


def test_a_closed_commitment_is_open_no_more_and_keeps_its_history_and_evidence(memory: Memory, scope: Scope) -> None:
    report = memory.episodes.list_open_items(scope=scope)[0]
    sent = memory.add("It went out this morning.", scope=scope).id
    closed = memory.episodes.close(report.id, scope=scope, evidence=sent, expected_version=report.record.version)
    assert (closed.status, closed.evidence) == ("done", sent)
    assert [one.what for one in memory.episodes.list_open_items(scope=scope)] == [
        "call the plumber",
        "water the plants",
    ]
    assert {one.what: one.status for one in memory.episodes.commitments(scope=scope)}["send the report"] == "done"
    assert report.record.text in found(memory, scope, "What did I promise?")
    with pytest.raises(InvalidInput, match="closed already"):
        memory.episodes.close(report.id, scope=scope)
    memory.erase(sent, scope=scope)
    again = {one.id: one for one in memory.episodes.commitments(scope=scope)}[report.id]
    assert (again.status, again.evidence) == ("done", None)


def test_closing_refuses_what_is_no_commitment_what_is_elsewhere_and_what_was_changed(
    memory: Memory, scope: Scope
) -> None:
    (decision, *_) = memory.episodes.search_episodes(when="last month", scope=scope)
    report = memory.episodes.list_open_items(scope=scope)[0]
    with pytest.raises(InvalidInput, match="only commitments"):
        memory.episodes.close(decision.id, scope=scope)
    with pytest.raises(InvalidInput, match="done"):
        memory.episodes.close(report.id, scope=scope, how="maybe")
    with pytest.raises(NotFound):
        memory.episodes.close(report.id, scope=Scope("acme", "bob"))
    with pytest.raises(InvalidInput):
        memory.episodes.close(report.id, scope=scope, evidence="0" * 32)
    with pytest.raises(Conflict):
        memory.episodes.close(report.id, scope=scope, expected_version=7)
    assert memory.episodes.close(report.id, scope=scope, how="dropped").status == "dropped"
    (change,) = [one.change for one in memory.changes(scope=scope) if one.record_id == report.id]
    assert change == Change.CLOSED


def test_procedures_come_with_their_task_the_most_specific_first(memory: Memory, scope: Scope) -> None:
    """SPEC P1: given when a matching task appears."""
    memory.add("Always answer briefly.", scope=scope)
    memory.remember("Use British spelling", "procedure", scope=scope)
    when_reviewing = memory.add("When you review code, list security issues first.", scope=scope)
    assert [one.candidate.kind for one in when_reviewing.learned] == ["procedure"]
    everywhere = {"Always answer briefly.", "Use British spelling"}
    for_review = memory.episodes.procedures_for("Please review the code of this pull request", scope=scope)
    assert "security issues" in for_review[0].text
    assert {one.text for one in for_review[1:]} == everywhere
    assert {one.text for one in memory.episodes.procedures_for("Book a table for two", scope=scope)} == everywhere


def test_all_that_is_remembered_is_listed_kind_by_kind_in_pages(memory: Memory, scope: Scope) -> None:
    memory.add("I live in Lviv.", scope=scope)
    memory.add("My friend Jack hates football.", scope=scope)
    whole = memory.episodes.list_what_you_remember(scope=scope, token_budget=10_000)
    assert whole.cursor == ""
    assert list(whole.by_kind()) == ["fact", "preference", "commitment", "decision"]
    assert [one.says for one in whole.by_kind()[whole[0].kind]] == ["home: Lviv", "friend: Jack"]
    assert "Jack, dislikes: football" in [one.says for one in whole]
    assert all(one.sources and one.status == "stated" and one.review_at for one in whole)
    assert whole.kept == {"message": len(SAID) + 2, "tool_call": 0, "document": 0}
    pages, cursor = [], "go"
    while cursor:
        page = memory.episodes.list_what_you_remember(
            scope=scope, after="" if cursor == "go" else cursor, limit=3, token_budget=40
        )
        assert len(page) == 1 or page.tokens <= 40
        pages += [one.id for one in page]
        cursor = page.cursor
    assert pages == [one.id for one in whole]


def test_an_agent_uses_the_episodes_of_its_scope_and_a_stranger_none(memory: Memory, scope: Scope) -> None:
    agent = memory.acting_as(Principal(id="key-1", role="agent", tenant="acme", user="anna"))
    report = agent.episodes.list_open_items(scope=scope)[0]
    agent.episodes.close(report.id, scope=scope, author="anna")
    (entry,) = [one for one in memory.changes(scope=scope) if one.record_id == report.id]
    assert entry.author == "key-1"
    stranger = memory.acting_as(Principal(id="key-2", role="agent", tenant="acme", user="bob"))
    for call in (
        lambda: stranger.episodes.search_episodes("report", scope=scope),
        lambda: stranger.episodes.list_open_items(scope=scope),
        lambda: stranger.episodes.procedures_for("report", scope=scope),
        lambda: stranger.episodes.list_what_you_remember(scope=scope),
        lambda: stranger.episodes.close(report.id, scope=scope),
    ):
        with pytest.raises(AccessDenied):
            call()


def test_a_grant_for_commitments_opens_those_and_no_decision(memory: Memory, scope: Scope) -> None:
    memory.grant(scope=scope, to="key-2", kinds=["commitment"], rights=["read"], expires_at="2100-01-01")
    other = memory.acting_as(Principal(id="key-2", role="agent", tenant="acme", user="bob"))
    assert len(other.episodes.list_open_items(scope=scope)) == 3
    with pytest.raises(AccessDenied):
        other.episodes.search_episodes("report", scope=scope)
