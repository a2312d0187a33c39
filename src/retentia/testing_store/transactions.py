# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of transactions: all or nothing, one snapshot, and errors that cost nothing but themselves."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from retentia.model.scope import Scope
from retentia.store import generations, scopes, sessions
from retentia.store.database import Database, Transaction
from retentia.store.schema import message, scope
from retentia.testing_store.rows import write_message

MINE = Scope("acme", "ann")


class TransactionsContract:
    """Transactions on one database."""

    def test_an_error_leaves_nothing_half_written(self, database: Database) -> None:
        with pytest.raises(ZeroDivisionError):
            _write_and_fail(database)
        with database.read("acme") as transaction:
            assert scopes.find(transaction, MINE) is None
            assert _count(transaction) == 0

    def test_the_database_works_on_after_errors_of_every_sort(self, database: Database) -> None:
        for _ in range(40):  # more than any pool has connections
            with pytest.raises(KeyError), database.write("acme"):
                raise KeyError
            with pytest.raises(KeyError), database.read("acme"):
                raise KeyError
            with pytest.raises(IntegrityError):
                _write_twice_at_one_place(database)
        with database.write("acme") as transaction:
            scopes.ensure(transaction, MINE)
        with database.read("acme") as transaction:
            assert scopes.find(transaction, MINE) is not None
            assert _count(transaction) == 0

    def test_a_reader_keeps_its_snapshot_while_others_write(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id = scopes.ensure(transaction, MINE)
            session_id = sessions.ensure(transaction, scope_id, "s")
        with database.read("acme") as reader:
            before = _count(reader), scopes.view(reader, MINE)
            with ThreadPoolExecutor(1) as pool:
                pool.submit(_write_one, database, scope_id, session_id).result()
            assert (_count(reader), scopes.view(reader, MINE)) == before
        with database.read("acme") as reader:
            assert _count(reader) == 1

    def test_what_is_not_committed_is_not_seen(self, database: Database) -> None:
        written, seen = threading.Event(), threading.Event()

        def write() -> None:
            with database.write("acme") as transaction:
                scopes.ensure(transaction, MINE)
                written.set()
                seen.wait(10)

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            assert written.wait(10)
            with database.read("acme") as transaction:
                assert scopes.find(transaction, MINE) is None
            seen.set()
            writing.result()

    def test_a_row_is_inserted_once_however_many_try(self, database: Database) -> None:
        def insert(number: int) -> bool:
            with database.write("acme") as transaction:
                values = {"scope_id": 7, "user": f"u{number}", "version": 0, "created_at": 0}
                return transaction.insert_new(scope, {"tenant": "acme", **values})

        with ThreadPoolExecutor(6) as pool:
            assert sorted(pool.map(insert, range(6))) == [False] * 5 + [True]

    def test_the_size_on_disk_is_known(self, database: Database) -> None:
        with database.read("acme") as transaction:
            assert database.size_bytes(transaction) > 10_000

    def test_a_sound_database_has_no_problems(self, database: Database) -> None:
        with database.read("acme") as transaction:
            assert database.dialect.integrity_problems(transaction.connection) == []

    def test_settings_are_remembered_and_replaced(self, database: Database) -> None:
        with database.write("acme") as transaction:
            assert generations.read_setting(transaction, "colour") is None
            generations.write_setting(transaction, "colour", "red")
            generations.write_setting(transaction, "colour", "блакитний")
        with database.read("umbrella") as transaction:
            assert generations.read_setting(transaction, "colour") == "блакитний"


def _write_and_fail(database: Database) -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, MINE)
        write_message(transaction, scope_id, sessions.ensure(transaction, scope_id, "s"), 1)
        scopes.record_change(transaction, scope_id, [])
        raise ZeroDivisionError


def _write_twice_at_one_place(database: Database) -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, MINE)
        for _ in range(2):
            write_message(transaction, scope_id, b"s" * 16, 1)


def _write_one(database: Database, scope_id: int, session_id: bytes) -> None:
    with database.write("acme") as transaction:
        write_message(transaction, scope_id, session_id, 1)
        scopes.record_change(transaction, scope_id, [])


def _count(transaction: Transaction) -> int:
    counted = select(func.count()).select_from(message).where(message.c.tenant == transaction.tenant)
    return transaction.number(counted)
