"""Reports of memories that lost what they should keep or kept what they should forget, and what must happen instead."""

import json
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, Table, inspect, select

from retentia import Document, Memory, Principal, Scope, Source, ToolCall
from retentia.acting import ActingMemory
from retentia.errors import ErasedEarlier, NotFound, StoreBehindLedger
from retentia.lifecycle.backup import restore
from retentia.model.record import ITEM_KINDS, Kind
from retentia.model.time import system_clock
from retentia.store.database import Database
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

SENTINEL = "ZX-9137-KIWI"
ANNA, BOB = Scope("acme", "anna"), Scope("acme", "bob")
CODER = Scope("acme", "anna", agent="coder")
SESSION = f"about {SENTINEL}"
OUTSIDE_OF_RECORDS = frozenset({"erasure", "change", "audit_entry", "audit_head"})
SAID = {"role": "user", "content": f"The code is {SENTINEL}, mail zx@example.org", "key": "m1"}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(system_clock())


@pytest.fixture
def reopened(store_url: str, tmp_path: Path, clock: FixedClock) -> Callable[..., Memory]:
    """Open one store again and again, with a ledger of its own on both databases."""

    def opened(url: str | Path = store_url, **options: Any) -> Memory:
        chosen = {"embedder": FakeEmbedder(), "worker": False, "clock": clock, "ledger": tmp_path / "erased.ledger"}
        return Memory.open(url, **{**chosen, **options})

    return opened


def tell(memory: Memory, *, drained: bool = True) -> list[str]:
    """Say the sentinel in every kind of record and beside it; return the ids of what is not derived."""
    said = memory.add(SAID, scope=ANNA, session=SESSION)
    call = ToolCall(name="search", arguments={"q": SENTINEL}, result={SENTINEL: [SENTINEL]}, key="c1")
    called = memory.log_tool_call(call, scope=ANNA, session=SESSION)
    document = memory.add_document(Document(text=f"All about {SENTINEL}. " * 60, title=SENTINEL, key="d1"), scope=ANNA)
    source = Source(kind="message", id=said.id, start=0, end=8)
    tried = {
        "key": f"e {SENTINEL}",
        "task": f"experience: the code is {SENTINEL}",
        "solution": f"use {SENTINEL}",
        "feedback": f"{SENTINEL} works, says zx@example.org",
        "strategy": SENTINEL,
        "reward": 1.0,
        "outcome": "success",
    }
    memory.experience.record(tried, scope=ANNA, session=SESSION, sources=[source])
    memory.tools.register({"name": "find_code", "description": f"Finds {SENTINEL} for zx@example.org"}, scope=ANNA)
    for number, kind in enumerate(sorted(ITEM_KINDS - {Kind.EXPERIENCE, Kind.TOOL})):
        memory.remember(
            f"{kind} {number}: the code is {SENTINEL}", kind, scope=ANNA, sources=[source], metadata={"code": SENTINEL}
        )
    memory.remember(f"The coder uses {SENTINEL}", "procedure", scope=CODER, sources=[source])
    if drained:
        memory.drain()
    (tool,) = memory.records(scope=ANNA, kind=Kind.TOOL).records
    return [said.id, called.id, document.id, tool.id]


def cells(memory: Memory) -> dict[str, list[str]]:
    """Return every row of every table that the database knows, as text, for the tenant where rows have one."""
    found: dict[str, list[str]] = {}
    with memory._database.read("acme") as transaction:
        for name in inspect(transaction.connection).get_table_names():
            table = Table(name, MetaData(), autoload_with=transaction.connection)
            rows = select(table).where(table.c.tenant == "acme") if "tenant" in table.c else select(table)
            found[name] = [_text(row) for row in transaction.rows(rows)]
    return found


def _text(row: Any) -> str:
    return " ".join(cell.decode("latin-1") if isinstance(cell, bytes) else str(cell) for cell in row)


def tables_with_the_sentinel(memory: Memory) -> set[str]:
    return {name for name, rows in cells(memory).items() if any(SENTINEL in row for row in rows)}


def kept(memory: Memory | ActingMemory, scope: Scope) -> dict[str, int]:
    """Count by kind what a scope holds."""
    return {kind: count for kind, count in memory.stats(scope=scope).records.items() if count}


def shown(memory: Memory, scope: Scope = ANNA) -> str:
    """Return what every verb that reads shows of a scope."""
    asked = f"What is the code {SENTINEL}?"
    answers: list[object] = [
        [hit.record for hit in memory.recall(asked, scope=scope, limit=100, min_relevance=0)],
        memory.context("What is the code?", scope=scope, session=SESSION).text(),
        memory.messages(scope=scope, session=SESSION),
        memory.sessions(scope=scope),
        memory.due_for_review(scope=scope),
        memory.personal_data(scope=scope),
        *(memory.records(scope=scope, kind=kind).records for kind in Kind),
        *memory.recall("code", scope=scope, where={"code": SENTINEL}, min_relevance=0),
        memory.plan_forgetting(about=SENTINEL, scope=scope).ids,
        memory.plan_forgetting(everything=True, scope=scope).samples,
    ]
    return repr(answers)


def test_deleting_all_of_one_user_leaves_every_row_of_the_others(memory: Memory) -> None:
    """mem0#3928, #3746, #3785: delete_all of one user dropped the whole collection."""
    others = [BOB, Scope("acme", "annabel"), Scope("acme-corp", "anna")]
    memory.add("I like pizza", scope=ANNA)
    memory.add("I like pizza with peppers", scope=Scope("acme", "anna", "work", "coder"))
    for other in others:
        memory.add("I like pasta", scope=other)
        memory.remember("likes pasta with pesto", "preference", scope=other)
    memory.drain()
    before = [memory.stats(scope=other) for other in others]
    memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
    after = [memory.stats(scope=other) for other in others]
    assert [(one.records, one.passages) for one in after] == [(one.records, one.passages) for one in before]
    for other in others:
        assert "pasta" in memory.recall("What do I like to eat?", scope=other, min_relevance=0)[0].text
    assert memory.recall("pizza", scope=ANNA, min_relevance=0).hits == ()
    assert memory.scopes("acme-corp") == [others[2]]


def test_what_upkeep_removes_in_the_background_is_in_the_audit_log_record_by_record(
    reopened: Callable[..., Memory], clock: FixedClock
) -> None:
    """nowledge-mem#81: background curation deleted rows for good and left no event."""
    with reopened() as memory:
        memory.keeping.set_schedule({"rule": [{"name": "short", "expires_after_months": 1}]}, tenant="acme")
        ids = {memory.add(f"note {number}", scope=ANNA).id for number in range(5)}
        stays = memory.add("the deed of the house", scope=ANNA).id
        memory.keep(stays, scope=ANNA, forever=True)
        clock.advance(seconds=32 * 24 * 3600)
        for _ in range(10):
            memory.keeping.expire()
            memory.reindex()
            memory.drain()
        logged = [entry for entry in memory.audit_log("acme") if entry.action == "remove"]
        assert {record_id for entry in logged for record_id in entry.records} == ids
        assert {(entry.by, entry.role) for entry in logged} == {("retention", "retention")}
        assert sum(entry.count for entry in logged) == len(ids)
        assert [record.id for record in memory.messages(scope=ANNA)] == [stays]


@pytest.mark.parametrize("drained", [True, False], ids=["embedded", "with queued jobs"])
def test_the_sentinel_is_gone_from_every_row_every_byte_and_every_answer(
    reopened: Callable[..., Memory], store_url: str, tmp_path: Path, drained: bool
) -> None:
    """mem0#3245, TrueMemory#685, Cortex#366, world-model-mcp#37, supermemory#195: it was still there somewhere."""
    with reopened() as memory:
        memory.add("The weather is fine", scope=ANNA)
        ids = tell(memory, drained=drained)
        assert SENTINEL in shown(memory)
        assert {"message", "tool_call", "document", "item", "session"} <= tables_with_the_sentinel(memory)
        planned = memory.plan_forgetting(ids=ids, scope=ANNA)
        receipt = memory.forget(planned)
        memory.drain()
        assert set(receipt.records) == {*planned.ids, *planned.along}
        assert len(receipt.records) == len(ids) + len(ITEM_KINDS - {Kind.TOOL}) + 1
        assert tables_with_the_sentinel(memory) == set()
        assert SENTINEL not in shown(memory).replace(f"{SENTINEL}?", "")
        assert SENTINEL not in shown(memory, CODER)
        for record_id in receipt.records:
            for scope in (ANNA, CODER):
                with pytest.raises(NotFound):
                    memory.get(record_id, scope=scope)
        assert memory.verify_erasure("acme", receipt.records, erasure=receipt.id, texts=[SENTINEL]).is_clean
        assert receipt.pending == "" or not store_url.startswith("sqlite")
        if store_url.startswith("sqlite"):
            assert [file.name for file in tmp_path.iterdir() if SENTINEL.encode() in file.read_bytes()] == []
    with reopened() as memory:
        assert kept(memory, ANNA) == {"message": 1}


def test_the_receipt_counts_what_the_tables_lost(reopened: Callable[..., Memory]) -> None:
    """graphiti#1083, #1491: what hung on a deleted episode was left behind as orphans."""
    with reopened() as memory:
        memory.add("The weather is fine, says wx@example.org", scope=ANNA)
        ids = tell(memory)
        before = {name: len(rows) for name, rows in cells(memory).items()}
        receipt = memory.forget(memory.plan_forgetting(ids=ids, scope=ANNA))
        lost = {
            name: before[name] - len(rows)
            for name, rows in cells(memory).items()
            if name not in OUTSIDE_OF_RECORDS and len(rows) < before[name]
        }
        counted: dict[str, int] = {}
        for name, rows in receipt.removed.items():
            table = "item" if name in set(ITEM_KINDS) else name
            counted[table] = counted.get(table, 0) + rows
        assert counted == lost
        found = [finding for finding in memory.doctor() if finding.check != "content"]  # it is not encrypted here
        assert {finding.level for finding in found} == {"ok"}


def test_making_everything_anew_brings_nothing_back(reopened: Callable[..., Memory]) -> None:
    """cognee#3526: after processing again, recall showed what had been forgotten."""
    with reopened() as memory:
        memory.forget(memory.plan_forgetting(ids=tell(memory), scope=ANNA))
        memory.reindex()
        memory.sweep()
        memory.drain()
        memory.reembed(FakeEmbedder(name="another"))
    with reopened(embedder=FakeEmbedder(name="another")) as memory:
        assert tables_with_the_sentinel(memory) == set()
        assert memory.recall(SENTINEL, scope=ANNA, min_relevance=0).hits == ()


def test_taking_the_same_in_again_brings_nothing_back(reopened: Callable[..., Memory], tmp_path: Path) -> None:
    """ai-memory-mcp#1848, stella#671: an archive, or mining the same source again, revived what was forgotten."""
    with reopened() as memory:
        memory.add("The weather is fine", scope=ANNA)
        ids = tell(memory)
        memory.export(tmp_path / "archive.jsonl", scope=ANNA)
        memory.forget(memory.plan_forgetting(ids=ids, scope=ANNA))
        with pytest.raises(ErasedEarlier):
            memory.add(SAID, scope=ANNA, session=SESSION)
        with pytest.raises(ErasedEarlier):
            memory.log_tool_call(ToolCall(name="search", key="c1"), scope=ANNA, session=SESSION)
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text=SENTINEL, key="d1"), scope=ANNA)
        for _ in range(2):
            memory.import_export(tmp_path / "archive.jsonl", scope=ANNA)
            memory.drain()
        assert tables_with_the_sentinel(memory) <= {"session"}
        assert memory.recall(SENTINEL, scope=ANNA, min_relevance=0)[0].text == "The weather is fine"
        assert kept(memory, ANNA) == {"message": 1}


def test_yesterdays_backup_brings_nothing_back(reopened: Callable[..., Memory], tmp_path: Path) -> None:
    with reopened() as memory:
        memory.add("The weather is fine", scope=ANNA)
        ids = tell(memory)
        memory.backup(tmp_path / "yesterday.zip")
        memory.forget(memory.plan_forgetting(ids=ids, scope=ANNA))
    restored = tmp_path / "restored.db"
    restore(tmp_path / "yesterday.zip", restored)
    with pytest.raises(StoreBehindLedger):
        reopened(restored)
    with reopened(restored, replay_erasures=True) as memory:
        assert tables_with_the_sentinel(memory) == set()
        assert kept(memory, ANNA) == {"message": 1}
    assert [one.name for one in tmp_path.glob("restored.db*") if SENTINEL.encode() in one.read_bytes()] == []


def test_nothing_undoes_a_forgetting(reopened: Callable[..., Memory]) -> None:
    """souz#710: deleting was a mark that could be taken back."""
    with reopened() as memory:
        planned = memory.plan_forgetting(ids=tell(memory), scope=ANNA)
        memory.forget(planned)
        for record_id in (*planned.ids, *planned.along):
            with pytest.raises(NotFound):
                memory.keep(record_id, scope=ANNA, forever=True)
        assert set(memory.forget(planned).missing) == set(planned.ids)
        assert tables_with_the_sentinel(memory) == set()


def test_asking_about_a_forgotten_scope_does_not_make_it_anew(memory: Memory, tmp_path: Path) -> None:
    """MemMachine#1576: a search on a deleted project created it again."""
    memory.add("Bob likes tea", scope=BOB)
    ids = tell(memory)
    memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
    person = memory.acting_as(Principal(id="u-1", role="person", tenant="acme", user="anna"))
    for one in (memory, person):
        assert kept(one, ANNA) == {}
        assert one.personal_records("email", scope=ANNA) == []
        assert one.erase(ids, scope=ANNA).missing == tuple(ids)
        assert one.forget(one.plan_forgetting(everything=True, scope=ANNA)).records == ()
        assert one.recall(SENTINEL, scope=ANNA, min_relevance=0).hits == ()
        assert one.context("hello", scope=ANNA).text()
        assert one.messages(scope=ANNA) == one.sessions(scope=ANNA) == one.due_for_review(scope=ANNA) == []
        assert one.records(scope=ANNA).records == ()
        assert one.personal_data(scope=ANNA) == {}
        assert one.export(tmp_path / "empty.jsonl", scope=ANNA, overwrite=True).counts == {}
        assert one.plan_forgetting_person("anna", tenant="acme") == []
        assert one.forget_person([]) == []
        for asked in (
            lambda verb=one.get: verb(ids[0], scope=ANNA),
            lambda verb=one.keep: verb(ids[0], scope=ANNA, forever=True),
        ):
            with pytest.raises(NotFound):
                asked()
    memory.drain()
    assert memory.scopes("acme") == [BOB]


def test_what_only_resembles_is_shown_and_never_deleted(memory: Memory) -> None:
    """hermes#69103, opencode-supermemory#5: forget(query) deleted the likeliest, or said so and deleted nothing."""
    memory.add(["The dog is called Bello", "The cat is called Mia"], scope=ANNA)
    memory.drain()
    planned = memory.plan_forgetting("forget what I said about the hamster", scope=ANNA)
    assert (planned.ids, planned.along, planned.counts) == ((), (), {})
    assert memory.forget(planned).records == ()
    assert len(memory.messages(scope=ANNA)) == 2
    with pytest.raises(AttributeError):
        memory.forget("the dog")  # type: ignore[arg-type]
    assert len(memory.messages(scope=ANNA)) == 2
    gone = memory.messages(scope=ANNA)[0].id
    assert memory.erase(gone, scope=ANNA).records == (gone,)
    again = memory.erase(gone, scope=ANNA)
    assert (again.records, again.missing) == ((), (gone,))


WAYS: Mapping[str, Callable[[Any, str], object]] = {
    "one record": lambda memory, record_id: memory.erase(record_id, scope=ANNA),
    "some records": lambda memory, record_id: _forget(memory, ids=[record_id]),
    "a topic": lambda memory, _: _forget(memory, about="code zx"),
    "a session": lambda memory, _: _forget(memory, session=SESSION),
    "a kind": lambda memory, _: _forget(memory, kinds=["message"], session=SESSION),
    "a filter": lambda memory, _: _forget(memory, where={"tag": "secret"}),
    "a time": lambda memory, _: _forget(memory, within=timedelta(minutes=5)),
    "a sentence": lambda memory, _: _forget(memory, "forget the last hour"),
    "personal data": lambda memory, _: _forget(memory, ids=memory.personal_records("email", scope=ANNA)),
    "everything": lambda memory, _: _forget(memory, everything=True),
    "a person": lambda memory, _: memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme")),
}


def _forget(memory: Any, request: str = "", **wanted: Any) -> object:
    return memory.forget(memory.plan_forgetting(request, scope=ANNA, **wanted))


@pytest.mark.parametrize("who", ["owner", "person"])
@pytest.mark.parametrize("way", WAYS)
def test_there_is_a_way_to_delete_whatever_one_can_name(
    reopened: Callable[..., Memory], clock: FixedClock, way: str, who: str
) -> None:
    """Memori#303, hindsight#1094, nowledge-mem#4, MemMachine#971: there was no way to delete."""
    with reopened() as memory:
        memory.add("Bob likes tea", scope=BOB)
        record_id = memory.add({**SAID, "metadata": {"tag": "secret"}}, scope=ANNA, session=SESSION).id
        memory.drain()
        clock.advance(seconds=60)
        anna = memory.acting_as(Principal(id="u-1", role="person", tenant="acme", user="anna"))
        WAYS[way](memory if who == "owner" else anna, record_id)
        assert tables_with_the_sentinel(memory) == set()
        assert kept(memory, ANNA) == {}
        assert kept(memory, BOB) == {"message": 1}


def test_forgetting_much_takes_as_many_transactions_as_forgetting_little(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MemOS#1103: resetting a user took 142 s for 793 items, one by one."""
    begun: list[str] = []
    write = Database.write

    @contextmanager
    def counted(self: Database, tenant: str) -> Any:
        begun.append(tenant)
        with write(self, tenant) as transaction:
            yield transaction

    monkeypatch.setattr(Database, "write", counted)
    taken = []
    for user, count in (("few", 3), ("many", 793)):
        memory.add([f"note {number} of {user}" for number in range(count)], scope=Scope("acme", user))
        planned = memory.plan_forgetting_person(user, tenant="acme")
        begun.clear()
        assert sum(len(one.records) for one in memory.forget_person(planned)) == count
        taken.append(len(begun))
    assert taken[0] == taken[1]


def test_the_audit_log_of_a_forgetting_quotes_nothing_that_was_forgotten(reopened: Callable[..., Memory]) -> None:
    with reopened() as memory:
        person = memory.acting_as(Principal(id="u-1", role="person", tenant="acme", user="anna"))
        ids = tell(memory)
        person.forget(person.plan_forgetting(ids=ids, scope=ANNA))
        entries = memory.audit_log("acme", scope=ANNA)
        assert [(entry.action, entry.by) for entry in entries] == [("erase", "u-1"), ("read", "u-1")]
        assert SENTINEL not in json.dumps([repr(entry) for entry in entries])
        assert memory.verify_audit("acme").is_sound
