"""The ledger keeps every line, in order, and notices when one was changed."""

import json
import multiprocessing
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentia.errors import LedgerDamaged, LedgerMissing, StoreUnavailable
from retentia.lifecycle.ledger import Ledger

STORE = "0123"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db.ledger"


def append(ledger: Ledger, *names: str) -> None:
    with ledger.appending() as log:
        for name in names:
            log.append(at=1, kind="erasure", id=name, records=("ab", "cd"), scopes=(7,))


def names_in(ledger: Ledger) -> list[str]:
    return [entry.id for entry in ledger.entries()]


def test_what_is_appended_is_read_back_in_order(path: Path) -> None:
    ledger = Ledger.create(path, STORE)
    append(ledger, "first", "second")
    append(Ledger.open(path, STORE), "third")
    entries = Ledger.open(path, STORE).entries()
    assert [(entry.seq, entry.id) for entry in entries] == [(1, "first"), (2, "second"), (3, "third")]
    assert (entries[0].records, entries[0].scopes) == (("ab", "cd"), (7,))


def test_the_file_is_readable_by_its_owner_alone(path: Path) -> None:
    Ledger.create(path, STORE)
    assert path.stat().st_mode & 0o777 == 0o600


def test_whoever_begins_a_ledger_second_opens_the_first_ones(path: Path) -> None:
    first = Ledger.create(path, STORE)
    append(first, "one")
    second = Ledger.create(path, STORE)
    assert names_in(second) == ["one"]
    assert second.keyed("a", "b") == first.keyed("a", "b") != first.keyed("ab")
    assert list(path.parent.iterdir()) == [path]


def test_a_ledger_of_another_store_is_refused(path: Path) -> None:
    Ledger.create(path, STORE)
    with pytest.raises(LedgerDamaged, match="not the ledger of this store"):
        Ledger.open(path, "other")


def test_a_ledger_that_is_gone_is_named_with_the_remedy(path: Path) -> None:
    with pytest.raises(LedgerMissing, match="retentia ledger renew"):
        Ledger.open(path, STORE)


def test_a_folder_in_its_place_is_explained(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be used"):
        Ledger.open(path, STORE)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_changed_byte_of_a_whole_line_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger"
    append(Ledger.create(path, STORE), "first", "second")
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 2))
    raw[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(raw)
    with pytest.raises(LedgerDamaged):
        Ledger.open(path, STORE).entries()


def test_a_missing_line_in_the_middle_is_noticed(path: Path) -> None:
    append(Ledger.create(path, STORE), "first", "second", "third")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    with pytest.raises(LedgerDamaged, match="line 3"):
        Ledger.open(path, STORE).entries()


def test_a_line_that_was_never_finished_is_as_if_it_had_not_been_begun(path: Path) -> None:
    ledger = Ledger.create(path, STORE)
    append(ledger, "first", "second")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert names_in(ledger) == ["first"]
    append(ledger, "again")
    assert names_in(ledger) == ["first", "again"]
    assert all(json.loads(line) for line in path.read_bytes().splitlines())


def _append_many(path: str, name: str) -> None:
    ledger = Ledger.create(Path(path), STORE)
    for number in range(25):
        append(ledger, f"{name} {number}")


def test_processes_that_append_at_once_lose_no_line(path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_append_many, args=(os.fspath(path), name)) for name in ("one", "two", "three")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    names = names_in(Ledger.open(path, STORE))
    assert sorted(names) == sorted(f"{name} {number}" for name in ("one", "two", "three") for number in range(25))
