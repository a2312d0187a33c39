"""What a machine removes, and what someone forgets with a time to undo it, can be restored until it is purged."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from retentia import Document, Memory, Scope, Source, ToolCall
from retentia.cli.main import cli
from retentia.errors import Conflict, ErasedEarlier, InvalidInput, NotFound, QuotaExceeded
from retentia.lifecycle.backup import restore
from retentia.lifecycle.erase import Eraser
from retentia.lifecycle.policy import restorable_for
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.model.record import Kind
from retentia.model.retention import months_after
from retentia.store import erasures
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock
from summarisers import Telling

SENTINEL = "Zwetschgenkuchenrezept"
ME = Scope("acme", "anna")
AGENT = Scope("acme", "anna", agent="bot")
OTHER = Scope("acme", "bert")
WEEK = timedelta(days=7)
DAY = 86_400_000_000
KINDS = (Kind.MESSAGE, Kind.TOOL_CALL, Kind.DOCUMENT, Kind.FACT)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_store(store_url: str, tmp_path: Path, clock: FixedClock) -> Callable[..., Memory]:
    """Open one store again and again, with a ledger of its own on both databases."""

    def opened(**options: Any) -> Memory:
        given = {"ledger": tmp_path / "erased.ledger", **options}
        return Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock, **given)

    return opened


@pytest.fixture
def memory(open_store: Callable[..., Memory]) -> Iterator[Memory]:
    with open_store() as opened:
        yield opened


def tell(memory: Memory, scope: Scope = ME) -> list[str]:
    """Say the sentinel through every kind of record; return the ids."""
    said = memory.add({"role": "user", "content": f"My {SENTINEL}", "key": "m1"}, scope=scope, session="kitchen")
    called = memory.log_tool_call(
        ToolCall(name="search", result={"found": SENTINEL}, key="c1"), scope=scope, session="kitchen"
    )
    document = memory.add_document(Document(text=f"All about {SENTINEL}", key="d1"), scope=scope)
    fact = memory.remember(
        f"Anna owns the {SENTINEL}", "fact", scope=scope, sources=[Source(kind="message", id=said.id, start=0, end=2)]
    )
    memory.drain()
    return [said.id, called.id, document.id, fact.id]


def everything(memory: Memory, scope: Scope = ME) -> list[object]:
    found = [record for kind in KINDS for record in memory.records(scope=scope, kind=kind).records]
    return [*found, *((one.name, one.id, one.messages) for one in memory.sessions(scope=scope))]


def forget_all(memory: Memory, scope: Scope = ME, **conditions: Any) -> str:
    planned = memory.plan_forgetting(scope=scope, **(conditions or {"everything": True}))
    return memory.forget(planned, undo_for=WEEK).id


def is_in_files(folder: Path) -> bool:
    return any(SENTINEL.encode() in file.read_bytes() for file in folder.glob("memory.db*"))


def test_what_is_removed_is_out_of_every_read(memory: Memory, tmp_path: Path) -> None:
    memory.add("The weather is fine", scope=ME, session="today")
    ids = tell(memory)
    receipt = memory.forget(memory.plan_forgetting(about=SENTINEL, scope=ME), undo_for=WEEK)
    assert set(receipt.records) == set(ids)
    assert receipt.restorable_until == receipt.at + 7 * DAY
    assert [hit.text for hit in memory.recall(SENTINEL, scope=ME, min_relevance=0)] == ["The weather is fine"]
    assert SENTINEL not in memory.context("What about my recipe?", scope=ME, session="kitchen").text()
    for record_id in ids:
        with pytest.raises(NotFound):
            memory.get(record_id, scope=ME)
    stats = memory.stats(scope=ME)
    assert (sum(stats.records.values()), stats.passages, stats.in_bin) == (1, 1, 4)
    assert [one.name for one in memory.sessions(scope=ME)] == ["today"]
    memory.export(tmp_path / "living.jsonl", scope=ME)
    assert SENTINEL not in (tmp_path / "living.jsonl").read_text("utf-8")
    assert memory.personal_data(scope=ME) == {}


def test_restoring_brings_back_exactly_what_went(memory: Memory) -> None:
    tell(memory)
    memory.add(["one", f"two {SENTINEL}", "three"], scope=ME, session="kitchen")
    memory.drain()
    before, found = everything(memory), memory.recall(SENTINEL, scope=ME, min_relevance=0)
    removal = forget_all(memory, about=SENTINEL)
    assert len(everything(memory)) == 3
    restored = memory.keeping.restore(removal, scope=ME)
    assert len(restored) == 5
    assert everything(memory) == before
    memory.drain()
    again = memory.recall(SENTINEL, scope=ME, min_relevance=0)
    assert [(hit.id, hit.score) for hit in again] == [(hit.id, hit.score) for hit in found]
    assert memory.keeping.removed(scope=ME) == []
    with pytest.raises(NotFound):
        memory.keeping.restore(removal, scope=ME)


def test_what_is_restored_is_found_before_any_job_ran(memory: Memory) -> None:
    ids = tell(memory)
    removal = forget_all(memory)
    memory.keeping.restore(removal, scope=ME)
    assert {hit.id for hit in memory.recall(SENTINEL, scope=ME, min_relevance=0)} == set(ids)


def test_a_session_goes_on_where_it_was_while_all_of_it_lies_in_the_bin(memory: Memory) -> None:
    first = memory.add(["one", "two"], scope=ME, session="talk").ids
    removal = forget_all(memory)
    assert memory.sessions(scope=ME) == []
    memory.add("three", scope=ME, session="talk")
    memory.keeping.restore(removal, scope=ME)
    assert [(one.seq, one.text) for one in memory.messages(scope=ME, session="talk")] == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]
    assert memory.messages(scope=ME, session="talk")[0].id == first[0]


def test_the_listing_tells_what_when_and_why_and_what_it_says_only_when_asked(
    memory: Memory, clock: FixedClock
) -> None:
    ids = tell(memory)
    removal = forget_all(memory)
    (shown,) = memory.keeping.removed(scope=ME)
    assert (shown.id, shown.cause, shown.scope, shown.records) == (removal, "forget", ME, ())
    assert (shown.removed_at, shown.purge_at) == (clock.now, clock.now + 7 * DAY)
    assert dict(shown.counts) == {"message": 1, "tool_call": 1, "document": 1, "fact": 1}
    assert memory.keeping.removed(scope=OTHER) == memory.keeping.removed(scope=AGENT) == []
    before = memory.audit_head("acme").seq
    (whole,) = memory.keeping.removed(scope=ME, content=True)
    assert {record.id for record in whole.records} == set(ids)
    assert all(SENTINEL in record.text for record in whole.records if record.kind is not Kind.TOOL_CALL)
    entry = memory.audit_log("acme")[0]
    assert (entry.action, set(entry.records), entry.seq) == ("read", set(ids), before + 1)


def test_after_its_time_it_is_purged_with_every_byte(
    open_store: Callable[..., Memory], clock: FixedClock, tmp_path: Path
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        receipt = memory.forget(memory.plan_forgetting(everything=True, scope=ME), undo_for=WEEK)
        clock.now += 7 * DAY - 1
        assert memory.keeping.purge() == 0
        held = memory.verify_erasure("acme", ids, erasure=receipt.id)
        assert (held.is_clean, held.rows["bin_record"]) == (False, 4)
        clock.now += 1
        with pytest.raises(NotFound):
            memory.keeping.restore(receipt.id, scope=ME)
        assert memory.keeping.removed(scope=ME) == []
        assert memory.keeping.purge() == 4
        assert memory.keeping.purge() == 0
        assert memory.verify_erasure("acme", ids, erasure=receipt.id, texts=[SENTINEL, "kitchen"]).is_clean
        assert memory.stats(scope=ME).in_bin == 0
        assert not is_in_files(tmp_path)
        with pytest.raises(ErasedEarlier):
            memory.add({"role": "user", "content": "x", "key": "m1"}, scope=ME, session="kitchen")


def test_the_removal_job_ten_times_is_audited_and_restorable_until_the_purge(memory: Memory, clock: FixedClock) -> None:
    memory.keeping.set_schedule({"rule": [{"name": "short", "expires_after_months": 1}]}, tenant="acme")
    removed: dict[str, str] = {}
    for number in range(10):
        said = memory.add(f"message {number}", scope=ME, session="long").id
        clock.now = months_after(clock.now, 1) + 1
        assert memory.keeping.expire().removed["message"] == 1
        (entry, *_) = memory.audit_log("acme", limit=1)
        assert (entry.by, entry.action, entry.records) == ("retention", "remove", (said,))
        (latest, *_) = memory.keeping.removed(scope=ME)
        assert (latest.cause, dict(latest.counts), latest.removed_at) == ("retention", {"message": 1}, clock.now)
        assert latest.purge_at == clock.now + restorable_for() // timedelta(microseconds=1)
        assert memory.keeping.restore(latest.id, scope=ME) == (said,)
        assert memory.get(said, scope=ME).expires_at == months_after(clock.now, 1)
        removed[said] = forget_all(memory)
        memory.keeping.purge()
    assert len(memory.keeping.removed(scope=ME)) == 1  # the others' time was over with the next month
    clock.now += 8 * DAY
    memory.keeping.purge()
    purged = {record for one in memory.audit_log("acme") if one.action == "purge" for record in one.records}
    assert purged == removed.keys()
    assert memory.verify_audit("acme").is_sound


def test_a_project_is_removed_with_a_count_before_an_exact_scope_and_a_way_back(memory: Memory) -> None:
    project = [{"role": "user", "content": f"x{number}", "metadata": {"project": "x"}} for number in range(3)]
    memory.add([*project, {"role": "user", "content": "mine", "metadata": {"project": "y"}}], scope=ME)
    memory.add(project, scope=OTHER)
    planned = memory.plan_forgetting(where={"project": "x"}, scope=ME)
    assert dict(planned.counts) == {"message": 3}
    assert memory.stats(scope=ME).records["message"] == 4
    removal = memory.forget(planned, undo_for=timedelta(hours=1))
    assert [one.text for one in memory.messages(scope=ME)] == ["mine"]
    assert len(memory.messages(scope=OTHER)) == 3
    assert len(memory.keeping.restore(removal.id, scope=ME)) == 3
    assert [one.text for one in memory.messages(scope=ME)] == ["x0", "x1", "x2", "mine"]


def test_with_a_window_of_nothing_what_expires_is_erased_at_once(memory: Memory, clock: FixedClock) -> None:
    said = memory.add("old", scope=ME).id
    clock.now = months_after(clock.now, 12) + 1
    assert memory.keeping.expire(undo_for=timedelta(0)).removed["message"] == 1
    assert memory.keeping.removed(scope=ME) == []
    assert memory.verify_erasure("acme", [said]).is_clean


@pytest.mark.parametrize("window", [timedelta(0), timedelta(days=-1), timedelta(days=40_000)])
def test_a_window_that_is_none_is_refused(memory: Memory, window: timedelta) -> None:
    tell(memory)
    with pytest.raises(InvalidInput):
        memory.forget(memory.plan_forgetting(everything=True, scope=ME), undo_for=window)
    assert sum(memory.stats(scope=ME).records.values()) == 4


@pytest.mark.parametrize("how", ["by id", "of everything", "of its topic", "of the person"])
def test_erasing_what_lies_in_the_bin_purges_it_at_once(memory: Memory, tmp_path: Path, how: str) -> None:
    ids = tell(memory)
    removal = forget_all(memory)
    match how:
        case "by id":
            receipt = memory.erase(ids, scope=ME)
            assert (set(receipt.records), receipt.missing, receipt.removed["bin"]) == (set(ids), (), 4)
        case "of everything":
            planned = memory.plan_forgetting(everything=True, scope=ME)
            assert (planned.ids, set(planned.binned)) == ((), set(ids))
            assert set(memory.forget(planned).records) == set(ids)
        case "of its topic":
            memory.forget(memory.plan_forgetting(about=SENTINEL, scope=ME))
        case _:
            memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
            assert memory.scopes("acme") == []
    assert memory.keeping.removed(scope=ME) == []
    assert memory.verify_erasure("acme", ids, texts=[SENTINEL, "kitchen"]).is_clean
    assert not is_in_files(tmp_path)
    with pytest.raises(NotFound):
        memory.keeping.restore(removal, scope=ME)


def test_a_topic_purges_from_the_bin_only_what_says_it(memory: Memory) -> None:
    memory.add(["I met Olena", "I met Anton"], scope=ME)
    removal = forget_all(memory)
    planned = memory.plan_forgetting(about="Olena", scope=ME)
    assert len(planned.binned) == 1
    memory.forget(planned)
    memory.keeping.restore(removal, scope=ME)
    assert [one.text for one in memory.messages(scope=ME)] == ["I met Anton"]


def test_what_was_derived_from_an_erased_source_goes_from_the_bin_with_it(memory: Memory) -> None:
    source, _, _, fact = tell(memory)
    forget_all(memory, ids=[fact])
    planned = memory.plan_forgetting(ids=[source], scope=ME)
    assert (planned.ids, planned.binned) == ((source,), (fact,))
    receipt = memory.erase(source, scope=ME)
    assert set(receipt.records) == {source, fact}
    assert memory.keeping.removed(scope=ME) == []
    assert memory.verify_erasure("acme", [source, fact]).is_clean


def test_a_fact_of_two_sources_gets_both_back(memory: Memory) -> None:
    one, two = memory.add(["one", "two"], scope=ME).ids
    cited = [Source(kind="message", id=said, start=0, end=3) for said in (one, two)]
    fact = memory.remember("both", "fact", scope=ME, sources=cited).id
    first = forget_all(memory, ids=[one])
    assert [source.id for source in memory.get(fact, scope=ME).sources] == [two]  # type: ignore[attr-defined]
    second = forget_all(memory, ids=[two])  # the fact is known from nothing else now
    with pytest.raises(NotFound):
        memory.get(fact, scope=ME)
    memory.keeping.restore(first, scope=ME)
    memory.keeping.restore(second, scope=ME)
    assert {source.id for source in memory.get(fact, scope=ME).sources} == {one, two}  # type: ignore[attr-defined]


def test_what_is_known_only_from_another_removal_comes_back_after_that(memory: Memory) -> None:
    source, _, _, fact = tell(memory)
    of_the_fact = forget_all(memory, ids=[fact])
    of_the_source = forget_all(memory, ids=[source])
    with pytest.raises(Conflict, match=of_the_source):
        memory.keeping.restore(of_the_fact, scope=ME)
    memory.keeping.restore(of_the_source, scope=ME)
    memory.keeping.restore(of_the_fact, scope=ME)
    assert [one.id for one in memory.get(fact, scope=ME).sources] == [source]  # type: ignore[attr-defined]


def test_what_an_agent_derived_from_what_is_shared_goes_and_comes_back_with_it(memory: Memory) -> None:
    shared = memory.add(f"My {SENTINEL}", scope=ME).id
    cited = [Source(kind="message", id=shared, start=0, end=4)]
    fact = memory.remember("The bot knows", "fact", scope=AGENT, sources=cited).id
    removal = forget_all(memory)
    with pytest.raises(NotFound):
        memory.get(fact, scope=AGENT)
    assert memory.keeping.removed(scope=ME)[0].reaches in ((ME, AGENT), (AGENT, ME))
    with pytest.raises(NotFound):
        memory.keeping.restore(removal, scope=AGENT)
    memory.keeping.restore(removal, scope=ME)
    assert memory.get(fact, scope=AGENT).scope == AGENT


@pytest.mark.parametrize("has_ledger", [True, False])
def test_the_same_source_read_again_brings_nothing_back_while_it_lies_in_the_bin(
    open_store: Callable[..., Memory], tmp_path: Path, has_ledger: bool
) -> None:
    with open_store(**({} if has_ledger else {"ledger": None})) as memory:
        tell(memory)
        memory.export(tmp_path / "all.jsonl", scope=ME)
        before = everything(memory)
        removal = forget_all(memory)
        with pytest.raises(ErasedEarlier):
            memory.add({"role": "user", "content": "x", "key": "m1"}, scope=ME, session="kitchen")
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text="x", key="d1"), scope=ME)
        memory.add({"role": "user", "content": "x", "key": "m1"}, scope=ME, session="elsewhere")
        memory.import_export(tmp_path / "all.jsonl", scope=ME)
        assert sum(memory.stats(scope=ME).records.values()) == 1
        memory.erase(memory.messages(scope=ME, session="elsewhere")[0].id, scope=ME)
        memory.keeping.restore(removal, scope=ME)
        assert everything(memory) == before


def test_what_is_said_anew_stays_beside_what_is_restored(memory: Memory) -> None:
    first = memory.remember("likes tea", scope=ME).id
    removal = forget_all(memory)
    second = memory.remember("likes tea", scope=ME).id
    memory.keeping.restore(removal, scope=ME)
    assert {one.id for one in memory.records(scope=ME, kind="note").records} == {first, second}
    assert memory.remember("likes tea", scope=ME).id == second


def test_a_hold_keeps_what_is_purged_from_the_bin(memory: Memory, clock: FixedClock, tmp_path: Path) -> None:
    ids = tell(memory)
    forget_all(memory)
    hold = memory.hold(scope=ME, reason="case 17")
    assert (hold.records, hold.in_custody, hold.in_bin) == (0, 0, 4)
    clock.now += 8 * DAY
    assert memory.keeping.purge() == 4
    assert {one.id for one in memory.custody(tenant="acme")} == set(ids)
    shown = memory.custody(tenant="acme", content=True, reason="case-17")
    assert {str(one.content["session_name"]) for one in shown if one.content and "session_id" in one.content} == {
        "kitchen"
    }
    assert memory.release(hold.id, tenant="acme").purged == 4
    assert memory.verify_erasure("acme", ids, texts=[SENTINEL]).is_clean
    assert not is_in_files(tmp_path)


def test_the_preview_says_that_a_hold_keeps_what_goes_from_the_bin(memory: Memory) -> None:
    tell(memory)
    forget_all(memory)
    memory.add("one more", scope=ME)
    memory.hold(scope=ME, reason="case 17")
    planned = memory.plan_forgetting(everything=True, scope=ME)
    assert planned.kept == memory.forget(planned).kept == {"case 17": 5}


def test_a_person_whose_bin_is_not_empty_keeps_the_name_of_its_scope(memory: Memory) -> None:
    tell(memory)
    empty = memory.plan_forgetting_person("anna", tenant="acme")
    removal = forget_all(memory)
    memory._eraser.drop_empty("acme", "anna")
    assert memory.scopes("acme") == [ME]
    memory.keeping.restore(removal, scope=ME)
    assert len(memory.forget_person(empty)[0].records) == 4


def test_the_quota_counts_the_bin_and_growth_tells_it_apart(memory: Memory) -> None:
    memory.add(["one", "two"], scope=ME)
    memory.keeping.set_quota(tenant="acme", max_records=2)
    forget_all(memory)
    with pytest.raises(QuotaExceeded):
        memory.add("three", scope=ME)
    (month,) = memory.keeping.growth("acme")
    assert (month.records, month.bytes, month.in_bin) == (0, 0, 2)
    memory.forget(memory.plan_forgetting(everything=True, scope=ME))
    memory.add("three", scope=ME)


def test_the_doctor_tells_what_should_have_been_purged(memory: Memory, clock: FixedClock) -> None:
    tell(memory)
    forget_all(memory)
    assert [one.level for one in memory.doctor() if one.check == "bin"] == ["ok"]
    clock.now += 8 * DAY
    assert [one.level for one in memory.doctor() if one.check == "bin"] == ["warning"]
    memory.keeping.purge()
    assert [one for one in memory.doctor() if one.check in ("bin", "orphans", "unindexed")] == []


def test_a_summary_tells_only_of_what_is_there(open_store: Callable[..., Memory]) -> None:
    with open_store(summariser=Telling()) as memory:
        ids = [memory.add(f"m{number}", scope=ME, session="long").id for number in range(40)]
        memory.drain()

        def told() -> set[str]:
            return {word for one in memory.history(scope=ME, session="long").summaries for word in one.text.split()}

        before = told()
        assert "m3" in before
        removal = forget_all(memory, ids=[ids[3]])
        assert not told()
        memory.drain()
        assert told() == before - {"m3"}
        memory.keeping.restore(removal, scope=ME)
        memory.drain()
        assert told() == before


def test_a_worker_purges_by_itself(open_store: Callable[..., Memory], clock: FixedClock) -> None:
    with open_store() as memory:
        tell(memory)
        forget_all(memory)
    clock.now += 8 * DAY
    with open_store() as memory:
        memory._workers.embedding._sweep_when_due()
        assert memory.stats(scope=ME).in_bin == 0


def test_the_policy_says_how_long_the_bin_keeps(memory: Memory) -> None:
    (layer,) = (one for one in memory.keeping.policy("acme") if one.name == "Bin")
    assert "30 days" in layer.retention
    assert restorable_for() == timedelta(days=30)


@pytest.mark.parametrize("then", ["nothing", "restored", "purged"])
@pytest.mark.parametrize("made", ["before", "after"])
def test_a_restored_backup_is_where_the_store_was(
    open_store: Callable[..., Memory], clock: FixedClock, tmp_path: Path, made: str, then: str
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        if made == "before":
            memory.backup(tmp_path / "one.zip")
        removal = forget_all(memory)
        if made == "after":
            memory.backup(tmp_path / "one.zip")
        if then == "restored":
            memory.keeping.restore(removal, scope=ME)
        if then == "purged":
            clock.now += 8 * DAY
            memory.keeping.purge()
        expected, in_bin = everything(memory), memory.stats(scope=ME).in_bin
    again = tmp_path / "again"
    again.mkdir()
    restore(tmp_path / "one.zip", again / "memory.db", now=clock.now)
    ledger = tmp_path / "erased.ledger"
    with Memory.open(
        again / "memory.db",
        embedder=FakeEmbedder(),
        worker=False,
        clock=clock,
        ledger=ledger,
        replay_erasures=then == "purged",
    ) as memory:
        assert everything(memory) == expected
        assert memory.stats(scope=ME).in_bin == in_bin
        if then == "purged":
            assert memory.verify_erasure("acme", ids, texts=[SENTINEL]).is_clean
        if then == "nothing":
            assert set(memory.keeping.restore(removal, scope=ME)) == set(ids)


class Killed(BaseException):
    """The process dies here."""


def _die(*_: object, **__: object) -> None:
    raise Killed


KILLS: dict[str, tuple[object, str]] = {
    "before anything": (Eraser, "write_line"),
    "before the rows go": (Eraser, "_finish_begun"),
    "after the line": (StoreLedger, "note_applied"),
    "at the very end": (Eraser, "let_go"),
}


@pytest.mark.parametrize("kill", KILLS)
def test_a_removal_that_was_killed_is_whole_or_did_not_happen(open_store: Callable[..., Memory], kill: str) -> None:
    with open_store() as memory:
        ids = tell(memory)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(*KILLS[kill], _die)
            with pytest.raises(Killed):
                forget_all(memory)
    with open_store() as memory:
        found = {hit.id for hit in memory.recall(SENTINEL, scope=ME, min_relevance=0)}
        assert found == (set(ids) if kill.startswith("before") else set())
        for one in memory.keeping.removed(scope=ME):
            memory.keeping.restore(one.id, scope=ME)
        assert {hit.id for hit in memory.recall(SENTINEL, scope=ME, min_relevance=0)} == set(ids)
        assert memory._ledger.behind() == ([], [])


@pytest.mark.parametrize("kill", [one for one in KILLS if one != "at the very end"])
def test_a_restoring_that_was_killed_is_whole_or_did_not_happen(open_store: Callable[..., Memory], kill: str) -> None:
    with open_store() as memory:
        tell(memory)
        before = everything(memory)
        removal = forget_all(memory)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(*KILLS[kill], _die)
            with pytest.raises(Killed):
                memory.keeping.restore(removal, scope=ME)
    with open_store() as memory:
        if kill.startswith("before"):
            assert everything(memory) == []
            memory.keeping.restore(removal, scope=ME)
        assert everything(memory) == before
        assert memory.keeping.removed(scope=ME) == []


PURGE_KILLS: dict[str, tuple[object, str]] = {
    "before removing": (Eraser, "_carry_out"),
    "before the line": (Eraser, "_write_line"),
    "before the bytes go": (Eraser, "_reclaim"),
    "at the very end": (erasures, "finish"),
}


@pytest.mark.parametrize("kill", PURGE_KILLS)
def test_a_purge_that_was_killed_is_finished_by_whoever_opens_next(
    open_store: Callable[..., Memory], clock: FixedClock, tmp_path: Path, kill: str
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        removal = forget_all(memory)
        clock.now += 8 * DAY
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(*PURGE_KILLS[kill], _die)
            with pytest.raises(Killed):
                memory.keeping.purge()
    clock.now -= 8 * DAY  # also by a process whose clock is behind
    with open_store() as memory:
        with pytest.raises(NotFound):
            memory.keeping.restore(removal, scope=ME)
        assert memory.verify_erasure("acme", ids, texts=[SENTINEL]).is_clean
        assert not is_in_files(tmp_path)


def test_removing_and_restoring_on_the_command_line(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")

    def said(*arguments: str, code: int = 0) -> str:
        options = ["--store", store, "--embedder", "none"]
        result = CliRunner().invoke(cli, [*arguments, *options])
        assert result.exit_code == code, result.output
        return result.output

    said("remember", f"the {SENTINEL}")
    done = json.loads(said("forget", "--everything", "--yes", "--undo-for", "7d", "--json"))
    assert done["restorable_until"] - done["at"] == 7 * DAY
    assert SENTINEL not in said("removed")
    assert SENTINEL in said("removed", "--content")
    (shown,) = json.loads(said("removed", "--json"))
    assert (shown["id"], shown["cause"], shown["counts"]) == (done["id"], "forget", {"note": 1})
    assert "1 were removed before" in said("forget", "--everything", "--dry-run")
    assert len(json.loads(said("restore-removed", done["id"], "--json"))["restored"]) == 1
    assert SENTINEL in said("recall", SENTINEL)
    said("hold", "set", "--reason", "case 17")
    assert "retentia restore-removed" in said("forget", "--everything", "--yes", "--undo-for", "2w")
    assert "erased" in said("forget", "--everything", "--yes")
    assert SENTINEL not in said("custody")
    said("custody", "--content", code=1)
    assert SENTINEL in said("custody", "--content", "--reason", "case-17")
    kept = json.loads(said("custody", "--content", "--reason", "case-17", "--json"))
    assert kept[0]["content"]["text"] == f"the {SENTINEL}"
    log = json.loads(said("audit", "list", "--json"))
    assert [(one["action"], one["reason"]) for one in log if one["action"] in ("custody", "hold")] == [
        ("custody", "case-17"),
        ("custody", "case-17"),
        ("custody", ""),
        ("hold", ""),
    ]
