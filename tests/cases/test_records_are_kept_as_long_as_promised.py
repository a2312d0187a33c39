"""Records go when the schedule says, not before, and never when someone was promised otherwise."""

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from retentia import Importance, Memory, Message, Scope, Source
from retentia.errors import Conflict, InvalidInput, NotFound, QuotaExceeded
from retentia.lifecycle.erase import Erasure
from retentia.lifecycle.retention import expire_all
from retentia.model.ids import RecordId
from retentia.model.message import Document, ToolCall
from retentia.model.retention import months_after, shipped_schedule
from retentia.store import jobs
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

START = 1_750_000_000_000_000
ONE_MONTH: Mapping[str, object] = {"rule": [{"name": "short", "expires_after_months": 1}]}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START)


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as opened:
        yield opened


def later(clock: FixedClock, months: int) -> None:
    clock.now = months_after(clock.now, months) + 1


def test_every_record_gets_its_dates_at_birth(memory: Memory, scope: Scope) -> None:
    ids = [
        memory.add("hello", scope=scope).id,
        memory.log_tool_call(ToolCall(name="search"), scope=scope).id,
        memory.add_document(Document(text="a page"), scope=scope).id,
    ]
    for record_id in ids:
        record = memory.get(record_id, scope=scope)
        assert (record.review_at, record.expires_at) == (None, months_after(START, 12))
    routine = memory.get(memory.remember("likes tea", scope=scope).id, scope=scope)
    assert (routine.review_at, routine.expires_at) == (months_after(START, 11), months_after(START, 12))
    dear = memory.get(memory.remember("signed", "decision", scope=scope, importance="high").id, scope=scope)
    assert (dear.review_at, dear.expires_at) == (months_after(START, 24), None)


def test_what_has_expired_is_erased_with_everything_derived_and_nothing_else(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    old = memory.add("old news from anna@example.org", scope=scope).id
    dear = memory.remember("the contract was signed", scope=scope, importance=Importance.HIGH).id
    memory.drain()
    later(clock, 6)
    young = memory.add("young news", scope=scope).id
    assert memory.keeping.expire().removed == {}
    later(clock, 6)
    done = memory.keeping.expire()
    assert done.removed["message"] == 1
    assert done.removed["personal_data"] == 1
    assert memory.keeping.expire().removed == {}
    with pytest.raises(NotFound):
        memory.get(old, scope=scope)
    assert memory.get(dear, scope=scope).text == "the contract was signed"
    assert memory.get(young, scope=scope).text == "young news"
    assert old not in {hit.id for hit in memory.recall("news", scope=scope, min_relevance=0)}


def test_a_kept_record_stays_until_then_or_for_ever(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    ids = memory.add(["one", "two", "three"], scope=scope).ids
    assert memory.keep(ids[0], scope=scope, forever=True).expires_at is None
    assert memory.keep(ids[1], scope=scope, until="2027").expires_at == 1_798_761_600_000_000
    later(clock, 13)
    memory.keeping.expire()
    assert [record.id for record in memory.messages(scope=scope)] == list(ids[:2])
    later(clock, 24)
    memory.keeping.expire()
    assert [record.id for record in memory.messages(scope=scope)] == [ids[0]]


def test_keeping_says_what_is_wrong(memory: Memory, scope: Scope) -> None:
    record_id = memory.add("one", scope=scope).id
    with pytest.raises(InvalidInput, match="until=… or forever=True"):
        memory.keep(record_id, scope=scope)
    with pytest.raises(InvalidInput, match="until=… or forever=True"):
        memory.keep(record_id, scope=scope, until="2030", forever=True)
    with pytest.raises(InvalidInput, match="a time to come"):
        memory.keep(record_id, scope=scope, until="2001")
    with pytest.raises(NotFound):
        memory.keep(record_id, scope=Scope("acme", "bo"), forever=True)


def test_nobody_is_promised_to_keep_what_is_being_erased(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    record_id = memory.add("one", scope=scope).id
    later(clock, 13)
    refused: list[str] = []

    def erase(of: Scope, ids: Any) -> Erasure:
        with pytest.raises(Conflict) as error:
            memory.keep(record_id, scope=scope, forever=True)
        refused.append(error.value.code)
        return memory._eraser.erase(of, ids)

    expire_all(memory._database, erase)
    assert refused == ["conflict"]
    assert memory.messages(scope=scope) == []


def test_a_run_that_was_killed_is_finished_by_the_next(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.add(["one", "two"], scope=scope)
    later(clock, 13)

    def killed(of: Scope, ids: Any) -> Erasure:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        expire_all(memory._database, killed)
    assert len(memory.messages(scope=scope)) == 2
    assert memory.keeping.expire().removed["message"] == 2


def test_a_run_does_a_bounded_amount_and_the_next_goes_on(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.add([f"message {number}" for number in range(7)], scope=scope)
    later(clock, 13)
    counts = [expire_all(memory._database, memory._eraser.erase, limit=3).removed.get("message", 0) for _ in range(4)]
    assert counts == [3, 3, 1, 0]


def test_runs_at_the_same_time_erase_no_record_twice(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.add([f"message {number}" for number in range(20)], scope=scope)
    later(clock, 13)
    erased: list[int] = []
    threads = [
        threading.Thread(target=lambda: erased.append(memory.keeping.expire().removed.get("message", 0)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(erased) <= 20  # less where one run finished what another one had begun, which then counts nothing
    assert memory.messages(scope=scope) == []


def test_a_source_stays_while_something_lives_that_is_derived_from_it(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    source = memory.add("We signed with supplier X, because of the warranty", scope=scope).id
    derived = memory.remember(
        "Supplier X because of the warranty",
        "decision",
        scope=scope,
        importance="high",
        sources=[Source(kind="message", id=RecordId(source))],
    ).id
    later(clock, 13)
    done = memory.keeping.expire()
    assert (done.removed, done.postponed) == ({}, 1)
    assert memory.get(derived, scope=scope).text.startswith("Supplier X")
    assert memory.get(source, scope=scope).expires_at == months_after(clock.now, 1)
    memory.erase(derived, scope=scope)
    later(clock, 1)
    assert memory.keeping.expire().removed["message"] == 1


def test_what_is_due_for_review_is_listed_the_longest_first(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    first = memory.remember("likes tea", scope=scope).id
    later(clock, 1)
    second = memory.remember("likes coffee", scope=scope).id
    memory.add("said, and not for review", scope=scope)
    assert memory.due_for_review(scope=scope) == []
    later(clock, 11)
    assert [record.id for record in memory.due_for_review(scope=scope)] == [first, second]
    assert [record.id for record in memory.due_for_review(scope=scope, limit=1)] == [first]
    memory.keep(first, scope=scope, forever=True)
    assert [record.id for record in memory.due_for_review(scope=scope)] == [second]
    assert memory.due_for_review(scope=Scope("acme", "bo")) == []


def test_a_tenant_has_its_own_schedule_for_what_it_writes_from_then_on(
    memory: Memory, scope: Scope, clock: FixedClock
) -> None:
    before = memory.add("before", scope=scope).id
    memory.keeping.set_schedule(ONE_MONTH, tenant="acme")
    after = memory.add("after", scope=scope).id
    elsewhere = memory.add("elsewhere", scope=Scope("other", "anna")).id
    assert memory.get(before, scope=scope).expires_at == months_after(START, 12)
    assert memory.get(after, scope=scope).expires_at == months_after(START, 1)
    assert memory.get(elsewhere, scope=Scope("other", "anna")).expires_at == months_after(START, 12)
    assert memory.keeping.set_schedule(None, tenant="acme") == shipped_schedule()
    with pytest.raises(InvalidInput):
        memory.keeping.set_schedule({"rule": []}, tenant="acme")


def test_an_expiry_is_in_the_audit_log_by_ids_only(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    record_id = memory.add("a secret plan", scope=scope).id
    later(clock, 13)
    memory.keeping.expire()
    entry = memory.audit_log("acme")[0]
    assert (entry.by, entry.action, entry.records) == ("retention", "remove", (record_id,))
    assert memory.verify_audit("acme").is_sound


def test_a_worker_expires_by_itself_also_without_an_embedder(store_url: str, scope: Scope, clock: FixedClock) -> None:
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        memory.add("one", scope=scope)
    later(clock, 13)
    with Memory.open(store_url, embedder=None, worker=False, clock=clock) as memory:
        memory._workers.embedding._sweep_when_due()
        assert memory.messages(scope=scope) == []


def test_an_export_keeps_the_dates_and_forever_stays_forever(
    memory: Memory, scope: Scope, clock: FixedClock, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ids = memory.add(["one", "two"], scope=scope).ids
    memory.keep(ids[0], scope=scope, forever=True)
    path = tmp_path_factory.mktemp("export") / "all.jsonl"
    memory.export(path, scope=scope)
    later(clock, 6)
    other = Scope("acme", "bo")
    memory.import_export(path, scope=other)
    found = {record.text: record.expires_at for record in memory.messages(scope=other)}
    assert found == {"one": None, "two": months_after(START, 12)}


def test_an_old_record_that_is_imported_without_dates_is_kept_from_the_import_on(memory: Memory, scope: Scope) -> None:
    lines = [
        {"kind": "note", "text": "an old note", "recorded_at": START - 10**15},
        {"kind": "note", "text": "a dated one", "recorded_at": START - 10**15, "expires_at": START + 7},
    ]
    old, dated = (memory.get(record_id, scope=scope) for record_id in memory.import_records(lines, scope=scope).ids)
    assert (old.recorded_at, old.expires_at) == (START - 10**15, months_after(START, 12))
    assert dated.expires_at == START + 7


def test_a_quota_refuses_what_is_too_much_and_says_what_to_do(memory: Memory, scope: Scope) -> None:
    memory.add(["one", "two"], scope=scope)
    memory.keeping.set_quota(tenant="acme", max_records=3)
    memory.add("three", scope=Scope("acme", "anna", "work"))
    with pytest.raises(QuotaExceeded, match=r"4 records, the quota allows 3; forget something with `retentia forget`"):
        memory.add("four", scope=scope)
    memory.add("of someone else", scope=Scope("acme", "bo"))
    memory.erase(memory.messages(scope=scope)[0].id, scope=scope)
    memory.add("four", scope=scope)
    memory.keeping.set_quota(tenant="acme", max_bytes=15)
    with pytest.raises(QuotaExceeded, match="bytes"):
        memory.add("more than fits", scope=scope)
    memory.keeping.set_quota(tenant="acme")
    memory.add("no limit any more", scope=scope)
    assert memory.keeping.quota("acme").is_set is False


def test_what_a_quota_refuses_leaves_nothing_behind(memory: Memory, scope: Scope) -> None:
    memory.keeping.set_quota(tenant="acme", max_records=1)
    with pytest.raises(QuotaExceeded):
        memory.add(["one", "two"], scope=scope)
    assert memory.stats(scope=scope).passages == 0
    with memory._database.read("acme") as transaction:
        assert jobs.count_unfinished(transaction) == 0


def test_growth_is_told_by_month_and_person(memory: Memory, scope: Scope, clock: FixedClock) -> None:
    memory.add(["four", "four"], scope=scope)
    later(clock, 1)
    memory.add(Message(role="user", content="Олена"), scope=Scope("acme", "anna", "work"))
    memory.add("six...", scope=Scope("acme", "bo"))
    memory.add("not mine", scope=Scope("other", "anna"))
    found = [(one.user, one.month, one.records, one.bytes) for one in memory.keeping.growth("acme")]
    assert found == [("anna", "2025-06", 2, 8), ("anna", "2025-07", 1, 10), ("bo", "2025-07", 1, 6)]
    assert {one.user for one in memory.keeping.growth("acme", user="bo")} == {"bo"}


def test_the_log_of_an_expiry_counts_and_quotes_nobody(
    memory: Memory, scope: Scope, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    memory.add("a secret plan", scope=scope)
    later(clock, 13)
    with caplog.at_level("INFO", logger="retentia.retention"):
        memory.keeping.expire()
    assert "'message': 1" in caplog.text
    assert "plan" not in caplog.text
    assert "anna" not in json.dumps(caplog.text)
