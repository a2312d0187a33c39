"""The record of a session: at a checkpoint, at its end, after a crash, and when the next session begins."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from forks import Child
from retentia import Kind, Memory, Scope
from retentia.errors import InvalidInput
from retentia.jobs.summarise import queue_summary
from retentia.model.provenance import Source
from retentia.session import Session
from retentia.store import jobs
from retentia.testing_store import FixedClock
from retentia.working.opening import OpeningPolicy
from retentia.working.settings import WorkingSettings
from retentia.working.summary import SummaryPolicy
from summarisers import Telling

ANNA = Scope("acme", "anna")
SAID = (
    "I want to move our shop to a new database before the summer.",
    "Which ones have you looked at?",
    "We decided to use ClickHouse, because the reports took 40 seconds.",
    "Good, I will write the migration plan by Friday.",
    "The booth number is 5C12. We still have to book the hotel in Stuttgart.",
)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        yield memory


def talk(memory: Memory, session: str, texts: tuple[str, ...] = SAID) -> list[str]:
    said = [{"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(texts)]
    return list(memory.add(said, scope=ANNA, session=session).ids)


def test_a_checkpoint_records_topic_decisions_and_open_items_with_their_messages(memory: Memory) -> None:
    ids = talk(memory, "monday")
    record = memory.checkpoint(scope=ANNA, session="monday")
    assert record is not None
    assert (record.session, record.scope, record.messages, record.made_by) == ("monday", ANNA, 5, "extractive")
    assert record.topic == SAID[0]
    assert [(one.text, one.message_id) for one in record.decisions] == [(SAID[2], ids[2])]
    assert "We still have to book the hotel in Stuttgart." in [one.text for one in record.open_items]
    assert "5C12" in record.summary
    assert record.ended_at is None
    assert memory.session_record(scope=ANNA, session="monday") == record


def test_a_session_that_ended_says_so_and_goes_on_when_something_is_said(memory: Memory, clock: FixedClock) -> None:
    session = Session(memory, "monday", scope=ANNA)
    talk(memory, "monday")
    ended = session.end()
    assert ended is not None
    assert ended.ended_at == clock.now
    clock.advance(seconds=60)
    session.append("One more thing: the hotel is booked.")
    record = session.record()
    assert record is not None
    assert record.ended_at is None
    assert record.messages == 5
    again = session.end()
    assert again is not None
    assert (again.messages, again.ended_at) == (6, clock.now)


def test_what_was_learned_in_a_session_is_named_in_its_record(memory: Memory) -> None:
    ids = talk(memory, "monday")
    source = Source(kind="message", id=ids[2], start=0, end=10)  # type: ignore[arg-type]
    fact = memory.remember("The shop uses ClickHouse", Kind.FACT, scope=ANNA, sources=[source]).id
    record = memory.checkpoint(scope=ANNA, session="monday")
    assert record is not None
    assert fact in record.learned
    kept = {one.id for one in memory.records(scope=ANNA, kind=Kind.DECISION).records}
    assert kept <= set(record.learned)


@pytest.mark.parametrize(("end", "kind"), [(False, jobs.CHECKPOINT), (True, jobs.CLOSE)])
def test_a_checkpoint_that_someone_else_has_queued_is_waited_for(memory: Memory, end: bool, kind: str) -> None:
    talk(memory, "monday", SAID[:2])
    assert memory.checkpoint(scope=ANNA, session="monday") is not None
    talk(memory, "monday", SAID[2:])
    queued = queue_summary(memory._database, ANNA, "monday", kind)
    assert queue_summary(memory._database, ANNA, "monday", kind) == queued
    record = memory.checkpoint(scope=ANNA, session="monday", end=end)
    assert record is not None
    assert (record.messages, record.ended_at is not None) == (5, end)
    assert not memory.jobs(tenant="acme")


def test_a_session_without_messages_has_no_record(memory: Memory) -> None:
    assert memory.checkpoint(scope=ANNA, session="never held") is None
    assert memory.session_records(scope=ANNA) == []


def test_an_erased_message_takes_the_record_along_until_the_next_checkpoint(memory: Memory) -> None:
    ids = talk(memory, "monday")
    memory.checkpoint(scope=ANNA, session="monday")
    memory.erase(ids[4], scope=ANNA)
    assert memory.session_record(scope=ANNA, session="monday") is None
    record = memory.checkpoint(scope=ANNA, session="monday")
    assert record is not None
    assert "5C12" not in record.summary
    assert record.messages == 4


def test_a_failing_summariser_loses_nothing_and_the_record_comes_later(store_url: str, clock: FixedClock) -> None:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock, summariser=Telling(failures=1)) as memory:
        talk(memory, "monday")
        assert memory.checkpoint(scope=ANNA, session="monday", end=True) is None
        assert len(memory.messages(scope=ANNA, session="monday")) == 5
        clock.advance(seconds=60)
        memory.drain()
        record = memory.session_record(scope=ANNA, session="monday")
        assert record is not None
        assert record.ended_at is not None


def test_sessions_that_fell_silent_are_closed_by_the_sweep_once(memory: Memory, clock: FixedClock) -> None:
    talk(memory, "monday")
    talk(memory, "tuesday", SAID[:2])
    clock.advance(seconds=29 * 60)
    worker = memory._workers.summarising
    worker._sweep_when_due()
    assert memory.jobs(tenant="acme") == []
    clock.advance(seconds=2 * 60)
    worker._next_sweep = 0
    worker._sweep_when_due()
    assert [job.kind for job in memory.jobs(tenant="acme")] == [jobs.CLOSE, jobs.CLOSE]
    memory.drain()
    assert {one.session for one in memory.session_records(scope=ANNA)} == {"monday", "tuesday"}
    worker._next_sweep = 0
    worker._sweep_when_due()
    assert memory.jobs(tenant="acme") == []


def test_idle_sessions_stay_open_where_that_is_switched_off(sqlite_url: str, clock: FixedClock) -> None:
    for working in (WorkingSettings(idle_minutes=None), WorkingSettings(summary=SummaryPolicy(kind="off"))):
        with Memory.open(sqlite_url, embedder=None, worker=False, clock=clock, working=working) as memory:
            talk(memory, "monday")
            clock.advance(seconds=3600)
            memory._workers.summarising._sweep_when_due()
            assert memory.jobs(tenant="acme") == []


def test_a_killed_process_loses_no_message_and_the_sweeper_of_the_next_closes_its_session(tmp_path: Path) -> None:
    """MemPalace PR#1738: the hook at the end of a session does not run on a crash."""
    path = tmp_path / "memory.db"

    def crash(report: Callable[[str], None]) -> None:
        memory = Memory.open(path, embedder=None)
        for number in range(3):
            memory.add(f"turn {number}: the ferry leaves at nine", scope=ANNA, session="crashed")
            report(str(number))
        os.kill(os.getpid(), signal.SIGKILL)

    child = Child(crash)
    assert len(list(child.reported)) == 3
    assert child.status() == -signal.SIGKILL
    clock = FixedClock()
    with Memory.open(path, embedder=None, worker=False, clock=clock) as memory:
        clock.now = memory.sessions(scope=ANNA)[0].last_at + 31 * 60_000_000
        assert len(memory.messages(scope=ANNA, session="crashed")) == 3
        memory._workers.summarising._sweep_when_due()
        memory.drain()
        record = memory.session_record(scope=ANNA, session="crashed")
        assert record is not None
        assert (record.messages, record.ended_at) == (3, clock.now)


def test_the_next_session_begins_with_what_the_policy_loads_and_nothing_by_itself(
    memory: Memory, clock: FixedClock
) -> None:
    for number in range(9):
        talk(memory, f"day {number}", (f"Today we talk about the garden, part {number}.", "Fine."))
        memory.checkpoint(scope=ANNA, session=f"day {number}", end=True)
        clock.advance(seconds=86_400)
    talk(memory, "database")
    memory.checkpoint(scope=ANNA, session="database", end=True)
    memory.remember("Anna prefers short answers", Kind.PREFERENCE, scope=ANNA)
    memory.remember("Anna lives in Kyiv", Kind.FACT, scope=ANNA, importance="high")
    plain = memory.context("Good morning!", scope=ANNA, session="new")
    assert not [one for one in plain.manifest if one.part == "profile"]
    opening = memory.opening(scope=ANNA)
    assert [one.text for one in opening.profile] == ["Anna lives in Kyiv", "Anna prefers short answers"]
    assert [one.session for one in opening.sessions] == ["day 7", "day 8", "database"]
    assert "We still have to book the hotel in Stuttgart." in [one.text for one in opening.open_items]
    assert 0 < opening.tokens <= 600
    asked = memory.opening(scope=ANNA, request="What about part 3 of the garden?")
    assert "day 3" in [one.session for one in asked.sessions]
    assert "day 2" not in [one.session for one in asked.sessions]  # only the last seven are considered
    context = memory.context("Good morning!", scope=ANNA, session="new", opening=opening)
    text = context.text()
    assert "Anna lives in Kyiv" in text
    assert "book the hotel" in text
    assert len(context.manifest) == len({one.id for one in context.manifest})


def test_an_opening_stays_within_its_tokens_and_says_how_much_was_left_out(memory: Memory) -> None:
    for number in range(30):
        memory.remember(f"Fact number {number} about a long list of things that Anna once said", Kind.FACT, scope=ANNA)
    opening = memory.opening(scope=ANNA, policy=OpeningPolicy(tokens=60))
    assert opening.tokens <= 60
    assert 0 < len(opening.profile) < 20
    assert opening.left_out > 0
    with pytest.raises(InvalidInput):
        OpeningPolicy(tokens=-1)


def test_a_request_that_is_already_the_last_message_is_shown_once(memory: Memory) -> None:
    talk(memory, "monday")
    memory.add("Which booth do we have?", scope=ANNA, session="monday")
    context = memory.context("Which booth do we have?", scope=ANNA, session="monday")
    assert context.text().count("Which booth do we have?") == 1


def test_a_change_of_mind_stands_behind_the_decision_that_it_changes(memory: Memory) -> None:
    said = (
        "We decided to render invoices with WeasyPrint, because we know it.",
        "It makes the image 90 MB larger.",
        "Actually no, let's use Typst instead, it is one binary of 30 MB.",
        "Fine.",
        "Actually, my name is Alex, not Alice.",
    )
    ids = talk(memory, "invoices", said)
    record = memory.checkpoint(scope=ANNA, session="invoices")
    assert record is not None
    assert [(one.text, one.message_id) for one in record.decisions] == [(said[0], ids[0]), (said[2], ids[2])]
