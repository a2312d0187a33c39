"""What was erased is gone from every table and every byte, stays gone, and the receipt says so."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from retentia import Document, Memory, Scope, Source, ToolCall
from retentia.errors import ErasedEarlier, LedgerDamaged, LedgerMissing, StoreBehindLedger
from retentia.lifecycle import erase as erasing
from retentia.store import erasures
from retentia.store.schema import passage
from retentia.testing import FakeEmbedder

SENTINEL = "Zwetschgenkuchenrezept"
ME = Scope("acme", "anna")


@pytest.fixture
def open_store(store_url: str, tmp_path: Path) -> Callable[..., Memory]:
    """Open one store again and again, with a ledger of its own on both databases."""

    def opened(**options: bool) -> Memory:
        return Memory.open(
            store_url, embedder=FakeEmbedder(), worker=False, ledger=tmp_path / "erased.ledger", **options
        )

    return opened


def tell_everywhere(memory: Memory) -> list[str]:
    """Say the sentinel through every kind of record; return the ids."""
    said = memory.add(
        [{"role": "user", "content": f"My {SENTINEL} is secret", "key": "m1"}], scope=ME, session=f"about {SENTINEL}"
    )
    called = memory.log_tool_call(
        ToolCall(name="search", arguments={"q": SENTINEL}, result={"found": SENTINEL}, key="c1"), scope=ME
    )
    document = memory.add_document(Document(text=f"All about {SENTINEL}. " * 40, title=SENTINEL, key="d1"), scope=ME)
    note = memory.remember(f"The {SENTINEL} is with the notary", "note", scope=ME, metadata={"what": SENTINEL})
    fact = memory.remember(
        f"Anna owns the {SENTINEL}", "fact", scope=ME, sources=[Source(kind="message", id=said.id, start=0, end=5)]
    )
    memory.drain()
    return [said.id, called.id, document.id, note.id, fact.id]


def test_every_kind_of_record_goes_with_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add("The weather is fine", scope=ME)
        ids = tell_everywhere(memory)
        receipt = memory.erase(ids[:4], scope=ME)
        assert set(receipt.records) == set(ids)  # the fact had no other source
        assert receipt.pending == ""
        for file in tmp_path.iterdir():
            assert SENTINEL.encode() not in file.read_bytes(), file.name
        assert memory.recall(SENTINEL, scope=ME, min_relevance=0).hits[0].text == "The weather is fine"


def test_the_receipt_counts_what_was_removed(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        ids = tell_everywhere(memory)
        receipt = memory.erase([*ids, "01890a5d-ac96-774b-bcce-b302099a8057"], scope=ME)
    assert receipt.missing == ("01890a5d-ac96-774b-bcce-b302099a8057",)
    counted = {name: receipt.removed[name] for name in ("message", "tool_call", "document", "note", "fact")}
    assert counted == {"message": 1, "tool_call": 1, "document": 1, "note": 1, "fact": 1}
    assert receipt.removed["derived_from"] == 1
    assert receipt.removed["session"] == 2
    assert (receipt.tombstones, receipt.ledger_seq) == (3 + len(ids), 1)


def test_the_same_source_brings_nothing_back(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        memory.erase(tell_everywhere(memory), scope=ME)
        again = memory.add(
            [{"role": "user", "content": f"My {SENTINEL} is secret", "key": "m1"}, "and it rains"],
            scope=ME,
            session=f"about {SENTINEL}",
        )
        assert [(failed.position, failed.code) for failed in again.failed] == [(0, "erased_earlier")]
        with pytest.raises(ErasedEarlier):
            memory.log_tool_call(ToolCall(name="search", arguments={}, key="c1"), scope=ME)
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text="x", key="d1"), scope=ME)
        elsewhere = memory.add([{"role": "user", "content": "hello", "key": "m1"}], scope=Scope("acme", "bert"))
        assert not elsewhere.failed


def test_what_the_person_says_anew_is_kept(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        memory.erase(tell_everywhere(memory), scope=ME)
        memory.add(f"My {SENTINEL} may be known now", scope=ME)
        assert SENTINEL in memory.recall(SENTINEL, scope=ME, min_relevance=0).hits[0].text


class Killed(BaseException):
    """The process dies here."""


def _killed_before_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing.Eraser, "_write_line", _die)


def _killed_after_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    write = erasing.Eraser._write_line

    def write_and_die(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        raise Killed

    monkeypatch.setattr(erasing.Eraser, "_write_line", write_and_die)


def _killed_before_removing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing.Eraser, "_carry_out", _die)


def _killed_before_the_bytes_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasing.Eraser, "_reclaim", _die)


def _killed_at_the_very_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasures, "finish", _die)


def _die(*_: object, **__: object) -> None:
    raise Killed


@pytest.mark.parametrize(
    "kill",
    [
        _killed_before_removing,
        _killed_before_the_line,
        _killed_after_the_line,
        _killed_before_the_bytes_go,
        _killed_at_the_very_end,
    ],
)
def test_an_erasure_that_was_killed_is_finished_by_whoever_opens_next(
    open_store: Callable[..., Memory], kill: Callable[[pytest.MonkeyPatch], None]
) -> None:
    with open_store() as memory:
        memory.add("The weather is fine", scope=ME)
        ids = tell_everywhere(memory)
        with pytest.MonkeyPatch.context() as patch:
            kill(patch)
            with pytest.raises(Killed):
                memory.erase(ids, scope=ME)
    with open_store() as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 1
        assert memory.erase(ids, scope=ME).missing == tuple(ids)
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text="x", key="d1"), scope=ME)
        with memory._database.read("") as transaction:
            assert erasures.unfinished(transaction) == []
    with open_store() as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 1


@pytest.fixture
def restored(tmp_path: Path) -> Iterator[tuple[Path, list[str]]]:
    """A SQLite store put back to how it was before an erasure; its ledger knows better."""
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add("The weather is fine", scope=ME)
        ids = tell_everywhere(memory)
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            source.backup(copy)
        memory.erase(ids, scope=ME)
    for old in tmp_path.glob("memory.db-*"):
        old.unlink()
    shutil.copyfile(tmp_path / "copy.db", path)
    (tmp_path / "copy.db").unlink()
    return path, ids


def test_a_restored_store_refuses_to_open_until_the_erasures_are_repeated(restored: tuple[Path, list[str]]) -> None:
    path, ids = restored
    with pytest.raises(StoreBehindLedger, match="retentia ledger replay"):
        Memory.open(path, embedder=FakeEmbedder(), worker=False)
    with Memory.open(path, embedder=FakeEmbedder(), worker=False, replay_erasures=True) as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 1
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text="x", key="d1"), scope=ME)
    with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
        assert memory.erase(ids, scope=ME).missing == tuple(ids)
    for file in path.parent.iterdir():
        assert SENTINEL.encode() not in file.read_bytes(), file.name


def test_a_store_from_before_its_tenant_existed_learns_the_tombstones(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(tmp_path / "copy.db")) as copy:
            source.backup(copy)
        memory.erase(tell_everywhere(memory), scope=ME)
    for old in tmp_path.glob("memory.db-*"):
        old.unlink()
    shutil.copyfile(tmp_path / "copy.db", path)
    memory = Memory.open(path, embedder=FakeEmbedder(), worker=False, replay_erasures=True)
    with memory, pytest.raises(ErasedEarlier):
        memory.add_document(Document(text="x", key="d1"), scope=ME)


def test_a_lost_ledger_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
        memory.erase(tell_everywhere(memory), scope=ME)
    ledger = tmp_path / "memory.db.ledger"
    whole = ledger.read_bytes()
    ledger.write_bytes(whole.splitlines(keepends=True)[0])
    with pytest.raises(LedgerDamaged, match="an older copy"):
        Memory.open(path, embedder=FakeEmbedder(), worker=False)
    ledger.unlink()
    with pytest.raises(LedgerMissing, match="put it back"):
        Memory.open(path, embedder=FakeEmbedder(), worker=False)
    ledger.write_bytes(whole)
    Memory.open(path, embedder=FakeEmbedder(), worker=False).close()


def test_neighbours_are_as_if_the_erased_had_never_been_said(open_store: Callable[..., Memory], tmp_path: Path) -> None:
    def derived(memory: Memory) -> list[tuple[object, ...]]:
        with memory._database.read("acme") as transaction:
            rows = transaction.rows(
                select(passage.c.stems, passage.c.grams, passage.c.flags)
                .where(passage.c.tenant == "acme")
                .order_by(passage.c.seq)
            )
        return [tuple(row) for row in rows]

    said = ["I live in Kyiv", f"My {SENTINEL}", "It rains again"]
    with Memory.open(tmp_path / "never.db", embedder=FakeEmbedder(), worker=False) as never:
        never.add([said[0], said[2]], scope=ME)
        expected = derived(never)
    with open_store() as memory:
        ids = memory.add(said, scope=ME).ids
        memory.erase(ids[1], scope=ME)
        assert derived(memory) == expected


def test_an_export_made_before_brings_nothing_back(open_store: Callable[..., Memory], tmp_path: Path) -> None:
    with open_store() as memory:
        ids = tell_everywhere(memory)
        memory.add("it rains", scope=ME)
        memory.export(tmp_path / "before.jsonl", scope=ME)
        memory.erase(ids, scope=ME)
        restored = memory.import_export(tmp_path / "before.jsonl", scope=ME)
        assert sum(memory.stats(scope=ME).records.values()) == 1, restored
