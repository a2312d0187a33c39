"""What was learned goes with the words it was learned from, comes back with its history, and moves as it stands."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from retentia import Memory, Scope
from retentia.learn.apply import Taught
from retentia.lifecycle.backup import restore
from retentia.model.candidate import Candidate, Manner
from retentia.model.claim import Change
from retentia.model.ids import RecordId
from retentia.model.learned import Learned
from retentia.model.provenance import Trust
from retentia.model.record import Kind, Status
from retentia.model.retention import months_after
from retentia.model.time import Moment
from retentia.store import schema
from retentia.testing import FakeEmbedder
from retentia.testing_store import FixedClock

ME = Scope("acme", "anna")
ELSEWHERE = Scope("globex", "anna")
SENTINEL = "Zwetschgenbaum"
FIRST = f"I live in LVIV near the {SENTINEL}."
DAY = 86_400.0
KEY = "a phrase for backups"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_store(store_url: str, tmp_path: Path, clock: FixedClock) -> Callable[..., Memory]:
    def opened(**options: Any) -> Memory:
        given = {"ledger": tmp_path / "erased.ledger", **options}
        return Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock, **given)

    return opened


@pytest.fixture
def memory(open_store: Callable[..., Memory]) -> Iterator[Memory]:
    with open_store() as opened:
        yield opened


def say(memory: Memory, text: str, attribute: str, value: str, scope: Scope = ME, **more: Any) -> Learned:
    """Say something as the assistant, from which rules learn nothing, and learn it as the person's word."""
    at = text.index(value)
    said = memory.add({"role": "assistant", "content": text}, scope=scope)
    given = {"kind": Kind.FACT, "subject": "user", "attribute": attribute, "value": value, **more}
    candidate = Candidate(message_id=RecordId(said.id), start=0, end=len(text), **given)
    assert at >= 0
    occurred = memory.messages(scope=scope)[-1].occurred or Moment.at(0)
    taught = Taught(candidate=candidate, text=text, at=occurred, trust=Trust.PERSON, author="anna")
    return memory.facts.learn([taught], scope=scope)[0]


def rows_of(memory: Memory, *tables: str, scope: Scope = ME) -> list[int]:
    with memory._database.read(scope.tenant) as transaction:
        return [
            transaction.number(
                select(func.count())
                .select_from(schema.metadata.tables[name])
                .where(schema.metadata.tables[name].c.tenant == scope.tenant)
            )
            for name in tables
        ]


def standing(memory: Memory, scope: Scope = ME) -> list[tuple[Any, ...]]:
    """Tell how everything stands that was ever believed or proposed."""
    return [
        (
            one.claim.attribute,
            one.value,
            one.record.text,
            one.record.status,
            one.record.valid_from,
            one.record.valid_to,
            one.record.retracted_at,
            one.record.body,
        )
        for one in memory.facts.history(scope=scope)
    ]


def test_a_fact_of_two_messages_quotes_the_one_that_is_left(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    first = say(memory, FIRST, "home", "LVIV").candidate.message_id
    clock.advance(seconds=DAY)
    second = say(memory, "Yes, Lviv is where I live.", "home", "Lviv").candidate.message_id
    memory.drain()
    receipt = memory.erase([first], scope=ME)
    (home,) = memory.facts.get("home", scope=ME)
    assert (home.value, home.record.text) == ("Lviv", "Yes, Lviv is where I live.")
    assert [source.id for source in home.record.sources] == [second]
    assert home.record.valid_from == clock.now
    assert first not in str(home.record)
    memory.drain()
    assert memory.recall(SENTINEL, scope=ME).hits == ()
    assert home.id in [hit.record.id for hit in memory.recall("Lviv", scope=ME, kinds=["fact"])]
    if (tmp_path / "memory.db").exists():
        assert receipt.pending == ""
        for file in tmp_path.iterdir():
            assert SENTINEL.encode() not in file.read_bytes(), file.name
    memory.erase([second], scope=ME)
    assert memory.facts.history(scope=ME) == []
    assert rows_of(memory, "item", "claim", "revision", "derived_from", "passage", "vector") == [0] * 6


def test_losing_the_later_message_leaves_the_fact_as_it_was(memory: Memory, clock: FixedClock) -> None:
    say(memory, FIRST, "home", "LVIV")
    before = standing(memory)
    clock.advance(seconds=DAY)
    second = say(memory, "Yes, Lviv is where I live.", "home", "Lviv").candidate.message_id
    memory.erase([second], scope=ME)
    assert standing(memory) == before


def test_what_no_message_is_left_to_say_goes(memory: Memory) -> None:
    first = say(memory, FIRST, "home", "LVIV")
    other = memory.add({"role": "assistant", "content": "Noted, thank you."}, scope=ME).id
    with memory._database.write("acme") as transaction:
        edge = {"child_kind": "item", "parent_kind": "message", "start": 0, "end": 5, "role": "evidence"}
        edge |= {"tenant": "acme", "child_id": bytes.fromhex(str(first.record_id).replace("-", ""))}
        transaction.insert_new(schema.derived_from, {**edge, "parent_id": bytes.fromhex(other.replace("-", ""))})
    memory.erase([first.candidate.message_id], scope=ME)
    assert memory.facts.history(scope=ME) == []


def test_what_the_person_commanded_stays_when_a_message_that_says_it_too_goes(memory: Memory) -> None:
    memory.facts.set("home", "Lviv", scope=ME)
    said = say(memory, FIRST, "home", "LVIV").candidate.message_id
    memory.erase([said], scope=ME)
    assert memory.facts.profile(scope=ME).values() == {"home": ["Lviv"]}


def test_erasing_what_took_the_place_of_a_fact_leaves_no_trace_in_its_history(
    memory: Memory, clock: FixedClock
) -> None:
    say(memory, "I live in Lviv.", "home", "Lviv")
    clock.advance(seconds=DAY)
    moved = say(memory, f"I live in {SENTINEL}.", "home", SENTINEL)
    (old,) = [one for one in memory.facts.history("home", scope=ME) if one.value == "Lviv"]
    assert [(change.change, change.cause) for change in old.changes] == [(Change.SUPERSEDED, moved.record_id)]
    memory.erase([moved.candidate.message_id], scope=ME)
    (old,) = memory.facts.history("home", scope=ME)
    assert [(change.change, change.cause) for change in old.changes] == [(Change.SUPERSEDED, None)]
    assert memory.facts.profile(scope=ME).values() == {}
    then = Moment.at(old.record.valid_from or 0)
    assert memory.facts.profile(scope=ME, as_of=then).values() == {"home": ["Lviv"]}


def changing(memory: Memory, clock: FixedClock, scope: Scope = ME) -> None:
    """Learn things that stand in every way they can."""
    say(memory, "I live in Lviv.", "home", "Lviv", scope)
    say(memory, "I am Alice and a nurse.", "name", "Alice", scope)
    say(memory, "I am Alice and a nurse.", "role", "nurse", scope)
    clock.advance(seconds=DAY)
    say(memory, "Alex, not Alice.", "name", "Alex", scope, is_correction=True, corrects="Alice")
    say(memory, "I live in Kyiv now.", "home", "Kyiv", scope)
    say(memory, "I might try Python.", "uses", "Python", scope, manner=Manner.POSSIBLE)
    maybe = say(memory, "I might try Rust.", "uses", "Rust", scope, manner=Manner.POSSIBLE)
    memory.facts.reject(str(maybe.record_id), scope=scope)
    clock.advance(seconds=DAY)
    say(memory, "I still live in Kyiv.", "home", "Kyiv", scope)
    memory.facts.confirm(memory.facts.get("role", scope=scope)[0].id, scope=scope)


def test_what_is_removed_and_restored_is_believed_as_before_with_its_history(memory: Memory, clock: FixedClock) -> None:
    changing(memory, clock)
    before, history = standing(memory), [one.changes for one in memory.facts.history(scope=ME)]
    profile = memory.facts.profile(scope=ME).values()
    planned = memory.plan_forgetting(everything=True, scope=ME)
    removed = memory.forget(planned, undo_for=timedelta(days=7))
    assert memory.facts.history(scope=ME) == []
    assert memory.facts.inbox(scope=ME) == []
    memory.reindex()
    memory.keeping.restore(removed.id, scope=ME)
    assert standing(memory) == before
    assert [one.changes for one in memory.facts.history(scope=ME)] == history
    assert memory.facts.profile(scope=ME).values() == profile
    assert [one.belief.value for one in memory.facts.inbox(scope=ME)] == ["Python"]


def test_what_is_purged_from_the_bin_takes_its_history_along(memory: Memory, clock: FixedClock) -> None:
    changing(memory, clock)
    memory.forget(memory.plan_forgetting(everything=True, scope=ME), undo_for=timedelta(days=7))
    clock.advance(seconds=8 * DAY)
    memory.keeping.purge()
    assert rows_of(memory, "item", "claim", "revision", "derived_from", "bin_record") == [0] * 5


def test_an_export_brings_beliefs_as_they_stand(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    changing(memory, clock)
    memory.export(tmp_path / "all.jsonl", scope=ME)
    memory.import_export(tmp_path / "all.jsonl", scope=ELSEWHERE)
    assert standing(memory, ELSEWHERE) == standing(memory)
    assert memory.facts.profile(scope=ELSEWHERE).values() == memory.facts.profile(scope=ME).values()
    assert [one.belief.value for one in memory.facts.inbox(scope=ELSEWHERE)] == ["Python"]
    memory.drain()
    for scope in (ME, ELSEWHERE):
        answers = [hit.text for hit in memory.recall("Where do I live?", scope=scope, kinds=["fact"], min_relevance=0)]
        assert "I live in Kyiv now." in answers
        assert not {"I live in Lviv.", "I might try Python.", "I might try Rust."} & set(answers)
    memory.import_export(tmp_path / "all.jsonl", scope=ELSEWHERE)
    assert standing(memory, ELSEWHERE) == standing(memory)


def test_a_restored_backup_believes_the_same(
    open_store: Callable[..., Memory], clock: FixedClock, tmp_path: Path
) -> None:
    clock.now = time.time_ns() // 1000  # a backup ends by the real clock
    with open_store() as memory:
        changing(memory, clock)
        memory.backup(tmp_path / "backup.zip", key=KEY)
        before, history = standing(memory), memory.facts.history(scope=ME)
    url = f"sqlite:///{tmp_path / 'restored.db'}"
    restore(tmp_path / "backup.zip", url, key=KEY)
    ledger = tmp_path / "erased.ledger"
    with Memory.open(url, embedder=FakeEmbedder(), worker=False, clock=clock, ledger=ledger, key=KEY) as restored:
        assert standing(restored) == before
        assert restored.facts.history(scope=ME) == history


def test_under_a_hold_what_was_learned_is_in_custody_and_in_no_answer(memory: Memory, clock: FixedClock) -> None:
    changing(memory, clock)
    memory.hold(scope=ME, reason="case 17")
    memory.forget(memory.plan_forgetting(everything=True, scope=ME))
    assert memory.facts.profile(scope=ME).values() == {}
    assert memory.facts.history(scope=ME) == []
    assert memory.facts.inbox(scope=ME) == []
    kept = [one.content for one in memory.custody(tenant="acme", content=True, reason="case-17") if one.content]
    assert "I live in Kyiv now." in [one["text"] for one in kept if one.get("valid_from")]
    assert rows_of(memory, "item", "claim", "revision") == [0] * 3


def test_personal_data_in_what_was_learned_is_known(memory: Memory) -> None:
    learned = say(memory, "Write to anna@example.org.", "email", "anna@example.org")
    assert str(learned.record_id) in memory.personal_records("email", scope=ME)


def test_what_nobody_confirmed_is_not_kept_for_ever(memory: Memory, clock: FixedClock) -> None:
    maybe = say(memory, "I might try Python.", "uses", "Python", manner=Manner.POSSIBLE)
    (waiting,) = memory.facts.inbox(scope=ME)
    assert waiting.id == maybe.record_id
    assert waiting.belief.record.status is Status.CANDIDATE
    assert waiting.belief.record.expires_at == months_after(clock.now, 12)


def test_indexing_anew_changes_nothing_that_is_believed(memory: Memory, clock: FixedClock) -> None:
    changing(memory, clock)
    before, tables = standing(memory), ("claim", "revision", "passage")
    counted = rows_of(memory, *tables)
    memory.reindex()
    assert standing(memory) == before
    assert rows_of(memory, *tables) == counted
    say(memory, "I live in Odesa.", "home", "Odesa")
    assert memory.facts.profile(scope=ME).values()["home"] == ["Odesa"]
    memory.drain()
    assert [finding for finding in memory.doctor() if finding.check in {"index", "orphans", "claims"}] == []
    found = memory.recall("Python Rust", scope=ME, kinds=["fact"], min_relevance=0).hits
    assert not {"I might try Python.", "I might try Rust."} & {hit.text for hit in found}
