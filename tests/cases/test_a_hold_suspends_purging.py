"""While a scope is held, what is erased in it is hidden as always, and its content is kept until the last release."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from retentia import Document, Memory, Scope, Source, ToolCall
from retentia.cli.main import cli
from retentia.errors import ErasedEarlier, InvalidInput, NotFound
from retentia.lifecycle import erase as erasing
from retentia.lifecycle.backup import restore
from retentia.lifecycle.retention import expire_all
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.model.record import Kind
from retentia.model.retention import months_after
from retentia.store import erasures
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

SENTINEL = "Zwetschgenkuchenrezept"
ME = Scope("acme", "anna")
OTHER = Scope("acme", "bert")


@pytest.fixture
def open_store(store_url: str, tmp_path: Path) -> Callable[..., Memory]:
    """Open one store again and again, with a ledger of its own on both databases."""

    def opened(**options: Any) -> Memory:
        return Memory.open(
            store_url, embedder=FakeEmbedder(), worker=False, ledger=tmp_path / "erased.ledger", **options
        )

    return opened


def tell(memory: Memory, scope: Scope = ME) -> list[str]:
    """Say the sentinel through every kind of record; return the ids."""
    said = memory.add({"role": "user", "content": f"My {SENTINEL}", "key": "m1"}, scope=scope, session="kitchen")
    called = memory.log_tool_call(ToolCall(name="search", result={"found": SENTINEL}, key="c1"), scope=scope)
    document = memory.add_document(Document(text=f"All about {SENTINEL}", key="d1"), scope=scope)
    fact = memory.remember(
        f"Anna owns the {SENTINEL}", "fact", scope=scope, sources=[Source(kind="message", id=said.id, start=0, end=2)]
    )
    memory.drain()
    return [said.id, called.id, document.id, fact.id]


def is_in_files(folder: Path) -> bool:
    return any(SENTINEL.encode() in file.read_bytes() for file in folder.glob("memory.db*"))


def test_what_is_erased_under_a_hold_is_hidden_and_kept(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        memory.add("The weather is fine", scope=ME)
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        assert (hold.records, hold.in_custody) == (5, 0)
        receipt = memory.erase(ids[:3], scope=ME)  # the fact goes along
        assert set(receipt.records) == set(ids)
        assert (receipt.kept, receipt.ledger_seq) == ({"case 17": 4}, 2)
        assert "case 17" in receipt.pending
        assert [hit.text for hit in memory.recall(SENTINEL, scope=ME, min_relevance=0)] == ["The weather is fine"]
        for record_id in ids:
            with pytest.raises(NotFound):
                memory.get(record_id, scope=ME)
        with pytest.raises(ErasedEarlier):
            memory.add_document(Document(text="x", key="d1"), scope=ME)
        assert {(one.id, one.content) for one in memory.custody(tenant="acme")} == {(one, None) for one in ids}
        assert memory.custody(tenant="other") == memory.holds(tenant="other") == []


def test_custody_shows_the_whole_row_to_who_asks_for_it(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids, scope=ME)
        found = {one.id: one for one in memory.custody(tenant="acme", content=True, reason="case-17")}
        message = found[ids[0]]  # type: ignore[index]
        assert (message.kind, message.scope, message.hold) == (Kind.MESSAGE, ME, hold.id)
        assert message.content is not None
        assert (message.content["text"], message.content["session_name"]) == (f"My {SENTINEL}", "kitchen")
        assert message.content["id"] == ids[0].replace("-", "")
        assert all(one.content and SENTINEL in json.dumps(one.content) for one in found.values())


def test_verifying_does_not_call_clean_what_is_in_custody(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        receipt = memory.erase(ids, scope=ME)
        held = memory.verify_erasure("acme", receipt.records, erasure=receipt.id)
        assert (held.is_clean, held.rows, held.in_ledger) == (False, {"custody": 4}, True)
        assert memory.release(hold.id, tenant="acme").purged == 4
        assert memory.verify_erasure("acme", receipt.records, erasure=receipt.id, texts=[SENTINEL]).is_clean
        assert memory.custody(tenant="acme") == memory.holds(tenant="acme") == []


def test_no_byte_is_left_after_the_release(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder=FakeEmbedder(), worker=False) as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids, scope=ME)
        assert is_in_files(tmp_path)
        assert memory.release(hold.id, tenant="acme").pending == ""
        assert not is_in_files(tmp_path)


def test_the_content_stays_until_the_last_hold_is_released(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        ids = tell(memory)
        first = memory.hold(scope=ME, reason="case 17")
        second = memory.hold(scope=ME, reason="case 18")
        receipt = memory.erase(ids, scope=ME)
        assert receipt.kept == {"case 17": 4, "case 18": 4}
        third = memory.hold(scope=ME, reason="case 19")
        assert (third.records, third.in_custody) == (0, 4)
        assert memory.release(first.id, tenant="acme").purged == 0
        assert {one.hold for one in memory.custody(tenant="acme")} == {second.id}
        assert memory.release(third.id, tenant="acme").purged == 0
        assert memory.release(second.id, tenant="acme").purged == 4
        with pytest.raises(NotFound):
            memory.release(second.id, tenant="acme")
        assert memory.custody(tenant="acme") == []


def test_a_hold_is_on_one_scope_of_one_tenant(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        hold = memory.hold(scope=OTHER, reason="case 17")
        receipt = memory.erase(tell(memory), scope=ME)
        assert (receipt.kept, receipt.pending if "sqlite" in str(memory._database.dialect.name) else "") == ({}, "")
        assert memory.custody(tenant="acme") == []
        with pytest.raises(NotFound):
            memory.release(hold.id, tenant="other")
        with pytest.raises(InvalidInput):
            memory.release("x", tenant="acme")
        with pytest.raises(InvalidInput):
            memory.hold(scope=ME, reason=" ")


def test_a_hold_on_what_is_erased_already_holds_nothing_and_says_so(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        memory.erase(tell(memory), scope=ME)
        hold = memory.hold(scope=ME, reason="case 17")
        assert (hold.records, hold.in_custody) == (0, 0)
        assert memory.holds(tenant="acme") == [hold]
        assert memory.release(hold.id, tenant="acme").purged == 0


def test_the_preview_says_what_a_hold_will_keep(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        tell(memory)
        memory.hold(scope=ME, reason="case 17")
        planned = memory.plan_forgetting(about=SENTINEL, scope=ME)
        assert planned.kept == {"case 17": sum(planned.counts.values())} != {"case 17": 0}
        assert memory.forget(planned).kept == planned.kept
        assert memory.plan_forgetting(everything=True, scope=ME).kept == {}


def test_forgetting_a_person_keeps_the_name_of_a_held_scope_until_it_is_released(
    open_store: Callable[..., Memory],
) -> None:
    work = Scope("acme", "anna", "work")
    with open_store() as memory:
        tell(memory)
        memory.add("at work", scope=work)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
        assert memory.scopes("acme") == [ME]
        assert {one.scope for one in memory.custody(tenant="acme")} == {ME}
        assert memory.release(hold.id, tenant="acme").purged == 4
        memory.forget_person(memory.plan_forgetting_person("anna", tenant="acme"))
        assert memory.scopes("acme") == []


def test_what_expires_under_a_hold_is_kept(store_url: str) -> None:
    clock = FixedClock()
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as memory:
        memory.keeping.set_schedule({"rule": [{"name": "short", "expires_after_months": 1}]}, tenant="acme")
        said = memory.add(f"My {SENTINEL}", scope=ME).id
        hold = memory.hold(scope=ME, reason="case 17")
        clock.now = months_after(clock.now, 1) + 1
        assert expire_all(memory._database, memory._eraser.erase).removed["message"] == 1
        assert [one.id for one in memory.custody(tenant="acme")] == [said]
        assert expire_all(memory._database, memory._eraser.erase).removed == {}
        assert memory.release(hold.id, tenant="acme").purged == 1


class Killed(BaseException):
    """The process dies here."""


def _die(*_: object, **__: object) -> None:
    raise Killed


def _after_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    write = erasing.Eraser._write_line

    def write_and_die(*arguments: object) -> None:
        write(*arguments)  # type: ignore[arg-type]
        raise Killed

    monkeypatch.setattr(erasing.Eraser, "_write_line", write_and_die)


KILLS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "before removing": lambda patch: patch.setattr(erasing.Eraser, "_carry_out", _die),
    "before the line": lambda patch: patch.setattr(erasing.Eraser, "_write_line", _die),
    "after the line": _after_the_line,
    "before the bytes go": lambda patch: patch.setattr(erasing.Eraser, "_reclaim", _die),
    "at the very end": lambda patch: patch.setattr(erasures, "finish", _die),
}


@pytest.mark.parametrize("kill", KILLS)
def test_an_erasure_under_a_hold_that_was_killed_is_finished_and_kept(
    open_store: Callable[..., Memory], kill: str
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        memory.hold(scope=ME, reason="case 17")
        with pytest.MonkeyPatch.context() as patch:
            KILLS[kill](patch)
            with pytest.raises(Killed):
                memory.erase(ids, scope=ME)
    with open_store() as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 0
        assert {one.id for one in memory.custody(tenant="acme")} == set(ids)
        assert memory.erase(ids, scope=ME).missing == tuple(ids)


@pytest.mark.parametrize("kill", KILLS)
def test_a_release_that_was_killed_is_finished_by_whoever_opens_next(
    open_store: Callable[..., Memory], kill: str, tmp_path: Path
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids, scope=ME)
        with pytest.MonkeyPatch.context() as patch:
            KILLS[kill](patch)
            with pytest.raises(Killed):
                memory.release(hold.id, tenant="acme")
    with open_store() as memory:
        assert memory.custody(tenant="acme") == memory.holds(tenant="acme") == []
        with memory._database.read("") as transaction:
            assert erasures.unfinished(transaction) == []
        assert not is_in_files(tmp_path)
    with open_store() as memory:
        assert [entry.kind for entry in memory.ledger_entries()] == ["hold", "erasure", "erasure"]


def test_a_restored_backup_still_holds(open_store: Callable[..., Memory], tmp_path: Path) -> None:
    with open_store() as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids[:1], scope=ME)
        memory.backup(tmp_path / "one.zip", keep_for=timedelta(days=1))
        memory.erase(ids[1:], scope=ME)
    again = tmp_path / "again"
    again.mkdir()
    restore(tmp_path / "one.zip", again / "memory.db")
    ledger = tmp_path / "erased.ledger"
    with Memory.open(
        again / "memory.db", embedder=FakeEmbedder(), worker=False, ledger=ledger, replay_erasures=True
    ) as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 0
        assert {one.id for one in memory.custody(tenant="acme")} == set(ids)
        assert memory.release(hold.id, tenant="acme").purged == 4
        assert not is_in_files(again)


def test_a_restored_backup_does_not_bring_back_what_a_release_purged(
    open_store: Callable[..., Memory], tmp_path: Path
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids[:1], scope=ME)
        memory.backup(tmp_path / "one.zip")
        memory.erase(ids[1:], scope=ME)
        memory.release(hold.id, tenant="acme")
    again = tmp_path / "again"
    again.mkdir()
    restore(tmp_path / "one.zip", again / "memory.db")
    ledger = tmp_path / "erased.ledger"
    with Memory.open(
        again / "memory.db", embedder=FakeEmbedder(), worker=False, ledger=ledger, replay_erasures=True
    ) as memory:
        assert sum(memory.stats(scope=ME).records.values()) == 0
        assert memory.custody(tenant="acme") == memory.holds(tenant="acme") == []
        assert not is_in_files(again)


def test_a_backup_from_before_a_hold_learns_of_it_before_anything_is_erased_again(
    open_store: Callable[..., Memory], tmp_path: Path
) -> None:
    with open_store() as memory:
        ids = tell(memory)
        memory.backup(tmp_path / "one.zip")
        hold = memory.hold(scope=ME, reason="case 17")
        memory.erase(ids[:1], scope=ME)
    again = tmp_path / "again"
    again.mkdir()
    restore(tmp_path / "one.zip", again / "memory.db")
    ledger = tmp_path / "erased.ledger"
    with Memory.open(
        again / "memory.db", embedder=FakeEmbedder(), worker=False, ledger=ledger, replay_erasures=True
    ) as memory:
        assert {one.hold for one in memory.custody(tenant="acme")} == {hold.id}
        memory.erase(ids, scope=ME)
        assert {one.id for one in memory.custody(tenant="acme")} == set(ids)
        assert memory.release(hold.id, tenant="acme").purged == 4


def test_a_hold_that_was_killed_after_its_line_is_set_by_whoever_opens_next(open_store: Callable[..., Memory]) -> None:
    with open_store() as memory:
        ids = tell(memory)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(StoreLedger, "note_applied", _die)
            with pytest.raises(Killed):
                memory.hold(scope=ME, reason="case 17")
        assert memory.holds(tenant="acme") == []
    with open_store() as memory:
        (hold,) = memory.holds(tenant="acme")
        memory.erase(ids, scope=ME)
        assert memory.release(hold.id, tenant="acme").purged == 4
    with open_store() as memory:
        assert memory.holds(tenant="acme") == []


def test_holds_on_the_command_line(tmp_path: Path) -> None:
    store = str(tmp_path / "memory.db")

    def said(*arguments: str) -> str:
        options = ["--store", store, "--embedder", "none"]
        result = CliRunner().invoke(cli, [*arguments, *options])
        assert result.exit_code == 0, result.output
        return result.output

    said("remember", f"the {SENTINEL}")
    hold = json.loads(said("hold", "set", "--reason", "case 17", "--json"))
    assert hold["records"] == 1
    assert "it holds nothing" in said("hold", "set", "--reason", "case 18", "--user", "nobody")
    preview = said("forget", "--everything", "--dry-run")
    assert "case 17" in preview
    assert "case 17" in said("forget", "--everything", "--yes")
    assert "case 17" in said("hold", "list")
    assert [one["in_custody"] for one in json.loads(said("hold", "list", "--json"))] == [1, 0]
    assert json.loads(said("hold", "release", hold["id"], "--yes", "--json")) == {"purged": 1, "pending": ""}
    assert not is_in_files(tmp_path)
