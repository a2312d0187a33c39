"""Several processes on one SQLite file: no lock error, no lost row, whoever is killed or forked meanwhile."""

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import func, select

from forks import Child, fork, status_of
from retentia.errors import StoreBusy, StoreUnavailable
from retentia.model.scope import Scope
from retentia.store import records, scopes, sessions
from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.store.records import View
from retentia.store.sqlite import SqliteDialect
from retentia.store.turnstile import Turnstile
from retentia.testing_store.rows import write_message

MINE = Scope("acme", "ann")
WRITES = 250


def writer(path: Path, name: str, writes: int) -> Callable[[Callable[[str], None]], None]:
    def write(report: Callable[[str], None]) -> None:
        database = open_database(path)
        for number in range(writes):
            write_one(database, f"{name} {number}", session=name)
            report(f"{number}")
        database.close()

    return write


def reader(path: Path, until: int) -> Callable[[Callable[[str], None]], None]:
    """Read until so many writes are seen; each read must see as many messages as versions, and never fewer."""

    def read(report: Callable[[str], None]) -> None:
        database = open_database(path)
        before = version = 0
        while version < until:
            with database.read("acme") as transaction:
                seen = scopes.view(transaction, MINE)
                version = seen[0].version if seen else 0
                counted = select(func.count()).select_from(records.message).where(records.message.c.tenant == "acme")
                assert transaction.number(counted) == version >= before
            before = version
            time.sleep(0.02)
        database.close()

    return read


def write_one(database: Database, text: str, *, session: str = "s") -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, MINE)
        session_id = sessions.ensure(transaction, scope_id, session)
        seq = sessions.take_numbers(transaction, scope_id, session_id, 1)
        written = write_message(transaction, scope_id, session_id, seq, text)
        scopes.record_change(transaction, scope_id, [written])


def texts_in(database: Database) -> set[str]:
    with database.read("acme") as transaction:
        scope_id = scopes.view(transaction, MINE)[0].scope_id
        session_id = sessions.find(transaction, scope_id, "s")
        assert session_id is not None
        return {said.text for said in records.session_messages(transaction, View({scope_id: MINE}), session_id)}


def texts_of(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return {text for (text,) in connection.execute("SELECT text FROM message")}


def test_four_writers_two_readers_and_one_killed_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    writers = [Child(writer(path, f"writer{number}", WRITES)) for number in range(4)]
    victim = Child(writer(path, "victim", 10 * WRITES))
    readers = [Child(reader(path, 4 * WRITES)) for _ in range(2)]
    kept = victim.kill_after(30)
    assert victim.status() == -signal.SIGKILL
    for child in [*writers, *readers]:
        child.reported.read()
        assert child.status() == 0
    texts = texts_of(path)
    assert {f"writer{name} {number}" for name in range(4) for number in range(WRITES)} <= texts
    assert {f"victim {number}" for number in range(kept)} <= texts
    assert kept <= len(texts) - 4 * WRITES <= kept + 1  # the last one may be durable and not yet acknowledged


def test_a_new_store_is_made_once_by_processes_that_open_it_at_once(tmp_path: Path) -> None:
    def open_it(_report: Callable[[str], None]) -> None:
        database = open_database(tmp_path / "memory.db")
        write_one(database, f"process {os.getpid()}")
        database.close()

    children = [Child(open_it) for _ in range(6)]
    assert [child.status() for child in children] == [0] * 6
    assert texts_of(tmp_path / "memory.db") == {f"process {child.process}" for child in children}


def test_a_writer_waits_for_another_and_gives_up_with_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    open_database(path).close()
    monkeypatch.setattr("retentia.store.sqlite._BUSY_MS", 50)
    with (
        closing(Database(SqliteDialect(path))) as database,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy, match="try again"), database.write("acme"):
            pass
        other.execute("COMMIT")
        with database.write("acme") as transaction:
            scopes.ensure(transaction, MINE)


def test_erased_bytes_are_gone_at_once_or_said_to_be_pending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retentia.store.sqlite._RECLAIM_MS", 50)
    path = tmp_path / "memory.db"
    with closing(open_database(path)) as database:
        write_one(database, "ZX-9137-KIWI")
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM message").fetchall()
            with database.write("acme") as transaction:
                transaction.run(records.message.delete().where(records.message.c.tenant == "acme"))
            assert "older snapshot" in database.reclaim()
            reader.execute("COMMIT")
        assert database.reclaim() == ""
        for file in tmp_path.iterdir():
            assert b"ZX-9137-KIWI" not in file.read_bytes()


class TestFork:
    def test_a_child_loses_no_row_when_its_parent_closes_the_store(self, tmp_path: Path) -> None:
        path = tmp_path / "memory.db"
        to_child, from_parent = os.pipe()
        to_parent, from_child = os.pipe()
        database = open_database(path)
        write_one(database, "parent")

        def child() -> None:
            write_one(database, "child, the store open in both")
            os.write(from_child, b".")
            os.read(to_child, 1)
            write_one(database, "child, the parent has closed it")
            database.close()

        process = fork(child)
        os.read(to_parent, 1)
        write_one(database, "parent, after the fork")
        database.close()  # the last connection would empty and remove the log
        with closing(open_database(path)) as again:
            write_one(again, "parent, opened again")
        os.write(from_parent, b".")
        assert status_of(process) == 0
        for end in (to_child, from_parent, to_parent, from_child):
            os.close(end)
        assert texts_of(path) == {
            "parent",
            "child, the store open in both",
            "parent, after the fork",
            "parent, opened again",
            "child, the parent has closed it",
        }

    def test_forking_waits_for_the_transactions_of_other_threads(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "memory.db")
        inside, forking = threading.Event(), threading.Event()

        def write() -> None:
            with database.write("acme") as transaction:
                scopes.ensure(transaction, MINE)
                inside.set()
                forking.wait(10)

        def child() -> None:
            write_one(database, "from the child")  # neither the writer's place nor its lock was inherited
            database.close()

        writing = threading.Thread(target=write)
        writing.start()
        inside.wait(10)
        threading.Timer(0.1, forking.set).start()
        assert status_of(fork(child)) == 0
        writing.join()
        assert texts_in(database) == {"from the child"}
        database.close()

    def test_a_child_of_a_fork_inside_a_transaction_is_refused_and_the_parent_is_not(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "memory.db")

        def child() -> None:
            with pytest.raises(StoreUnavailable, match="spawn"):
                write_one(database, "from the child")

        with database.write("acme") as transaction:
            scopes.ensure(transaction, MINE)
            process = fork(child)
        assert status_of(process) == 0
        write_one(database, "from the parent")
        assert texts_in(database) == {"from the parent"}
        database.close()

    def test_forking_does_not_wait_for_ever(self, tmp_path: Path) -> None:
        database = open_database(tmp_path / "memory.db")
        patient = Turnstile(database._engine, one_writer=True, patience_seconds=0.05)
        inside, over = threading.Event(), threading.Event()

        def stay() -> None:
            with patient.passing(write=False):
                inside.set()
                over.wait(10)

        def child() -> None:
            with pytest.raises(StoreUnavailable), patient.passing(write=False):
                pass

        staying = threading.Thread(target=stay)
        staying.start()
        inside.wait(10)
        assert status_of(fork(child)) == 0
        over.set()
        staying.join()
        with patient.passing(write=True):
            pass
        database.close()
