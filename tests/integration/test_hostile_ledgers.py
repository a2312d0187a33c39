"""A ledger that cannot be written, is swapped, lost or very long: nothing is erased without its line."""

import json
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from mounts import mounted, remount
from retentia import Memory, Scope
from retentia.errors import LedgerDamaged, LedgerMissing, StoreUnavailable
from retentia.lifecycle.ledger import Ledger
from retentia.store import erasures
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")


def opened(path: Path, ledger: Path | None = None) -> Memory:
    place = "auto" if ledger is None else ledger
    return Memory.open(path, embedder=FakeEmbedder(), worker=False, ledger=place)


@pytest.fixture
def ids(tmp_path: Path) -> list[str]:
    with opened(tmp_path / "memory.db") as memory:
        return list(memory.add([f"text {number}" for number in range(6)], scope=ME).ids)


def check_nothing_is_under_way(memory: Memory, count: int) -> None:
    assert memory.stats(scope=ME).records["message"] == count
    with memory._database.read("") as transaction:
        assert erasures.unfinished(transaction) == []


@pytest.mark.parametrize("begun", [False, True])
def test_what_cannot_be_named_in_the_ledger_is_not_erased(tmp_path: Path, ids: list[str], begun: bool) -> None:
    path = tmp_path / "memory.db"
    with mounted("tmpfs", "-o", "size=64k") as small:
        ledger = small / "ledger"
        if begun:
            opened(path, ledger).erase(ids[5], scope=ME)
        there = 5 if begun else 6
        with (small / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while ballast.write(b"x" * 4096):
                pass
        with opened(path, ledger) as memory:
            many = [*ids[:5], *memory.add([f"more {number}" for number in range(300)], scope=ME).ids]
            with pytest.raises(StoreUnavailable, match="No space left"):
                memory.erase(many, scope=ME)
            check_nothing_is_under_way(memory, there + 300)
            assert [file.name for file in small.iterdir() if file.name.endswith(".new")] == []
            memory.add("life goes on", scope=ME)
        opened(path, ledger).close()
        (small / "ballast").unlink()
        with opened(path, ledger) as memory:
            assert len(memory.erase(many, scope=ME).records) == 305
            assert [entry.seq for entry in memory.ledger_entries()] == ([1, 2] if begun else [1])


def test_a_ledger_on_a_disk_without_writing_keeps_reading_possible(tmp_path: Path, ids: list[str]) -> None:
    path = tmp_path / "memory.db"
    with mounted("tmpfs", "-o", "size=1m") as small:
        with opened(path, small / "ledger") as memory:
            memory.erase(ids[0], scope=ME)
        remount(small, "ro")
        with opened(path, small / "ledger") as memory:
            with pytest.raises(StoreUnavailable, match="Read-only"):
                memory.erase(ids[1], scope=ME)
            check_nothing_is_under_way(memory, 5)
        remount(small, "rw")
        with opened(path, small / "ledger") as memory:
            assert memory.erase(ids[1], scope=ME).ledger_seq == 2


def test_a_folder_or_a_dangling_link_in_its_place_is_named(tmp_path: Path, ids: list[str]) -> None:
    ledger = tmp_path / "memory.db.ledger"
    with opened(tmp_path / "memory.db") as memory:
        ledger.mkdir()
        with pytest.raises(StoreUnavailable, match="cannot be used"):
            memory.erase(ids[0], scope=ME)
        ledger.rmdir()
        ledger.symlink_to(tmp_path / "nowhere")
        with pytest.raises(LedgerMissing):
            memory.erase(ids[0], scope=ME)
        ledger.unlink()
        check_nothing_is_under_way(memory, 6)
        (tmp_path / "apart").mkdir()
        memory.erase(ids[0], scope=ME)
        ledger.rename(tmp_path / "apart" / "ledger")
        ledger.symlink_to(tmp_path / "apart" / "ledger")  # where it is kept is the owner's business
        assert memory.erase(ids[1], scope=ME).ledger_seq == 2
        ledger.unlink()
        with pytest.raises(LedgerMissing):
            memory.erase(ids[2], scope=ME)
        check_nothing_is_under_way(memory, 4)


def test_a_ledger_that_was_swapped_for_another_history_is_refused(tmp_path: Path, ids: list[str]) -> None:
    path, ledger = tmp_path / "memory.db", tmp_path / "memory.db.ledger"
    with opened(path) as memory:
        memory.erase(ids[0], scope=ME)
    shutil.copyfile(ledger, tmp_path / "older")
    shutil.copyfile(path, tmp_path / "copy.db")
    shutil.copyfile(ledger, tmp_path / "copy.db.ledger")
    with opened(path) as memory:
        memory.erase(ids[1], scope=ME)
    with opened(tmp_path / "copy.db") as copy:  # the same store, going its own way
        copy.erase(ids[2], scope=ME)
        copy.erase(ids[3], scope=ME)
    for other in ("older", "copy.db.ledger"):
        shutil.copyfile(tmp_path / other, ledger)
        with pytest.raises(LedgerDamaged, match="older copy or another one"):
            opened(path)


def test_writes_with_a_key_open_the_ledger_once_and_notice_when_another_is_put_in_its_place(
    tmp_path: Path, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"role": "user", "content": "said with a key"}
    with opened(tmp_path / "other.db") as other:
        other.erase(other.add("something", scope=ME).id, scope=ME)
    with opened(tmp_path / "memory.db") as memory:
        memory.erase(ids[0], scope=ME)
        opening, times = Ledger.open, []
        monkeypatch.setattr(Ledger, "open", lambda path, store: times.append(path) or opening(path, store))
        for number in range(3):
            memory.add({**said, "key": f"{number}"}, scope=ME)
        assert len(times) == 1
        own = tmp_path / "memory.db.ledger"
        own.rename(tmp_path / "aside")
        (tmp_path / "other.db.ledger").rename(own)
        with pytest.raises(LedgerDamaged):
            memory.add({**said, "key": "3"}, scope=ME)
        (tmp_path / "aside").rename(own)
        assert memory.add({**said, "key": "3"}, scope=ME).ids


def test_the_changed_line_is_named_when_the_place_reached_is_gone(tmp_path: Path, ids: list[str]) -> None:
    with opened(tmp_path / "memory.db") as memory:
        for record_id in ids[:4]:
            memory.erase(record_id, scope=ME)
    ledger = tmp_path / "memory.db.ledger"
    lines = ledger.read_bytes().splitlines(keepends=True)
    ledger.write_bytes(b"".join(lines[:2] + lines[3:]))
    with pytest.raises(LedgerDamaged, match="line 3"):
        opened(tmp_path / "memory.db")


def test_a_line_that_was_never_finished_is_passed_over_and_written_over(tmp_path: Path, ids: list[str]) -> None:
    with opened(tmp_path / "memory.db") as memory:
        memory.erase(ids[0], scope=ME)
    with (tmp_path / "memory.db.ledger").open("ab") as file:
        file.write(b'{"seq":2,"at":1,"kind":"eras')
    with opened(tmp_path / "memory.db") as memory:
        assert memory.erase(ids[1], scope=ME).ledger_seq == 2
    assert all(json.loads(line) for line in (tmp_path / "memory.db.ledger").read_bytes().splitlines())


def test_a_ledger_of_many_entries_costs_nothing_to_open(
    tmp_path: Path, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.erase(ids[0], scope=ME)
        with memory._ledger.held() as held:
            assert held is not None
            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", lambda _: None)
                for _ in range(20_000):
                    held.log.append(at=1, kind="erasure", id="x", records=("ab" * 16,), tombstones=("cd" * 32,) * 2)
            with memory._database.write("") as transaction:
                memory._ledger.note_applied(transaction, held.log.end)
    started = time.perf_counter()
    with opened(path) as memory:
        assert memory.erase(ids[1], scope=ME).ledger_seq == 20_002
    quick = time.perf_counter() - started
    started = time.perf_counter()
    with opened(path) as memory:
        assert len(memory.ledger_entries()) == 20_002
    assert quick < (time.perf_counter() - started) * 0.7


def test_an_entry_of_very_many_records_is_written_and_repeated(tmp_path: Path, ids: list[str]) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.erase(ids[0], scope=ME)
        scope_id = memory.ledger_entries()[0].scopes[0]
        with memory._ledger.held() as held:
            assert held is not None
            some = tuple(f"{number:032x}" for number in range(100_000))
            mine = tuple(record_id.replace("-", "") for record_id in ids)
            tenant = held.ledger.keyed("tenant", "acme").hex()
            held.log.append(at=1, kind="erasure", id="x", tenant=tenant, scopes=(scope_id,), records=some + mine)
    with Memory.open(path, embedder=None, worker=False, replay_erasures=True) as memory:
        assert memory.replayed == 5
        check_nothing_is_under_way(memory, 0)
