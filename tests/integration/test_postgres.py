"""PostgreSQL: the wall between tenants, and what is said when the server does not do as asked."""

import os
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from psycopg import sql

from forks import Child
from mounts import mounted, resize
from postgres_server import GUARDED, OWNER, PASSWORD, SUPERUSER, PostgresServer
from retentia.diagnose.doctor import examine
from retentia.errors import (
    InvalidScope,
    MissingExtra,
    StoreBusy,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from retentia.model.scope import Scope
from retentia.store import jobs, scopes, sessions
from retentia.store.database import Database, Transaction
from retentia.store.open import dialect_of, open_database
from retentia.store.schema import TENANT_TABLES
from retentia.testing_store.rows import write_message

ACME, CORP = Scope("acme", "ann"), Scope("acme-corp", "bob")


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    with closing(open_database(postgres_url)) as database:
        yield database


@pytest.fixture
def name(postgres_url: str) -> str:
    """Name the database that the test uses, to reach it past the store."""
    return postgres_url.partition("@/")[2].partition("?")[0]


def say(database: Database, scope: Scope, text: str = "hello", *, seq: int = 1) -> None:
    with database.write(scope.tenant) as transaction:
        scope_id = scopes.ensure(transaction, scope)
        session_id = sessions.ensure(transaction, scope_id, "s")
        write_message(transaction, scope_id, session_id, seq, text)
        jobs.enqueue(transaction, "embed", scope_id, [])


def raw(transaction: Transaction, statement: str) -> list[tuple[object, ...]]:
    """Run SQL that names no tenant, as a fault of ours would."""
    driver = transaction.connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver.execute(statement.encode()).fetchall()


def tenants_seen(transaction: Transaction) -> set[object]:
    return {row[0] for table in TENANT_TABLES for row in raw(transaction, f"SELECT tenant FROM {table.name}")}


class TestRowLevelSecurity:
    def test_a_statement_that_forgets_the_tenant_still_sees_only_its_own(self, database: Database) -> None:
        for scope in (ACME, CORP):
            say(database, scope)
        for tenant, seen in (("acme", {"acme"}), ("acme-corp", {"acme-corp"}), ("acm", set()), ("", set())):
            with database.read(tenant) as transaction:
                assert tenants_seen(transaction) == seen
            with database.write(tenant) as transaction:
                assert tenants_seen(transaction) == seen

    def test_a_connection_that_names_no_tenant_sees_and_changes_nothing(
        self, database: Database, postgres_server: PostgresServer, name: str
    ) -> None:
        say(database, ACME)
        with postgres_server.connect(name, user=OWNER) as connection:
            assert connection.execute("SELECT count(*) FROM message").fetchone() == (0,)
            assert connection.execute("UPDATE message SET text = 'x'").rowcount == 0
            assert connection.execute("DELETE FROM scope").rowcount == 0
            connection.execute("SET app.tenant = 'other'")
            assert connection.execute("SELECT count(*) FROM message").fetchone() == (0,)
            connection.execute("SET app.tenant = 'acme'")
            assert connection.execute("SELECT count(*) FROM message").fetchone() == (1,)

    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT INTO scope (tenant, scope_id, version, created_at) VALUES ('acme-corp', 1, 0, 0) RETURNING 1",
            "UPDATE message SET tenant = 'acme-corp' RETURNING 1",
        ],
    )
    def test_rows_cannot_be_given_to_another_tenant(self, database: Database, statement: str) -> None:
        say(database, ACME)
        with pytest.raises(StoreReadOnly, match="row-level security"), database.write("acme") as transaction:
            raw(transaction, statement)

    def test_a_pooled_connection_forgets_the_tenant_after_success_and_after_errors(self, database: Database) -> None:
        say(database, ACME)
        with pytest.raises(ZeroDivisionError), database.write("acme"):
            raise ZeroDivisionError
        with pytest.raises(StoreReadOnly, match="read-only"), database.read("acme") as transaction:
            scopes.ensure(transaction, Scope("acme", "new"))
        with pytest.raises(psycopg.errors.UndefinedTable), database.write("acme") as transaction:
            raw(transaction, "SELECT * FROM nowhere")
        assert database._engine.pool.status().count("Connections in pool: 1")  # one connection did all this
        with database._engine.connect() as connection:
            driver = connection.connection.driver_connection
            assert driver.execute("SELECT current_setting('app.tenant', true)").fetchone() == ("",)
            assert driver.execute("SELECT count(*) FROM message").fetchone() == (0,)

    def test_threads_of_many_tenants_never_see_each_other(self, database: Database) -> None:
        def work(number: int) -> set[object]:
            scope = Scope(f"tenant {number % 5}", "ann")
            say(database, scope, seq=number)
            with database.read(scope.tenant) as transaction:
                return tenants_seen(transaction) - {scope.tenant}

        with ThreadPoolExecutor(8) as pool:
            assert set().union(*pool.map(work, range(40))) == set()

    def test_a_tenant_without_a_name_or_with_nul_reaches_nothing(self, database: Database) -> None:
        with database.read("") as transaction:
            assert raw(transaction, "SELECT current_setting('app.tenant')") == [("",)]
        with pytest.raises(InvalidScope), database.read("a\0'; SET app.tenant = 'acme"):
            pass


class TestErrors:
    def test_a_wrong_password_is_told_without_any_password(self, postgres_server: PostgresServer) -> None:
        for password in ("Geh3im", ""):
            with pytest.raises(StoreUnavailable, match="check the user and the password") as refused:
                open_database(postgres_server.url("postgres", user=GUARDED, password=password))
            error: BaseException | None = refused.value
            while error is not None:
                assert "Geh3im" not in f"{error}{error!r}"
                error = error.__cause__ or error.__context__

    def test_the_right_password_opens(self, postgres_server: PostgresServer, name: str) -> None:
        dialect = dialect_of(postgres_server.url(name, user=GUARDED, password=PASSWORD))
        engine = dialect.connect()
        with engine.connect() as connection:
            assert dialect.size_bytes(connection) > 1_000_000
        engine.dispose()

    @pytest.mark.parametrize(
        ("url", "said"),
        [
            ("postgresql://ann@127.0.0.1:1/memory", r"127\.0\.0\.1:1/memory: is the server running"),
            ("postgresql://ann@nowhere.invalid/memory", "is the server running"),
            ("postgresql://ann@/memory?host=/nowhere", "is the server running"),
            ("postgresql://ann@127.0.0.1:1/memory?sslmode=maybe", "sslmode"),
        ],
    )
    def test_an_unreachable_server_is_named(self, url: str, said: str) -> None:
        with pytest.raises(StoreUnavailable, match=said):
            open_database(url)

    def test_a_missing_database_or_role_is_named_with_how_to_create_it(self, postgres_server: PostgresServer) -> None:
        with pytest.raises(StoreUnavailable, match="createdb"):
            open_database(postgres_server.url("nowhere"))
        with pytest.raises(StoreUnavailable, match="createuser"):
            open_database(postgres_server.url("postgres", user="nobody"))

    def test_a_database_that_cannot_hold_every_script_is_refused(
        self, postgres_server: PostgresServer, second_postgres_url: str
    ) -> None:
        other = second_postgres_url.partition("@/")[2].partition("?")[0]
        postgres_server.drop_database(other)
        made = "CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0 OWNER {}"
        postgres_server.run(sql.SQL(made).format(sql.Identifier(other), sql.Identifier(OWNER)))
        with pytest.raises(StoreUnavailable, match=r"LATIN1.*UTF8"):
            open_database(second_postgres_url)

    def test_a_role_without_rights_is_told_who_can_grant_them(
        self, postgres_server: PostgresServer, database: Database, name: str, empty_postgres_url: str
    ) -> None:
        say(database, ACME)
        with pytest.raises(StoreReadOnly, match="grant"):
            open_database(postgres_server.url(name, user=GUARDED, password=PASSWORD))
        with pytest.raises(StoreReadOnly, match="grant"):
            open_database(empty_postgres_url.replace(OWNER, f"{GUARDED}:{PASSWORD.replace(' ', '%20')}", 1))

    def test_a_server_that_takes_no_writes_is_told(self, postgres_server: PostgresServer, name: str) -> None:
        url = postgres_server.url(name, query={"options": "-c default_transaction_read_only=on"})
        with closing(open_database(url)) as database:
            with database.read("acme") as transaction:
                assert scopes.view(transaction, ACME) == []
            with pytest.raises(StoreReadOnly, match="connect to the primary"):
                say(database, ACME)

    def test_too_many_connections_are_told(self, postgres_server: PostgresServer, name: str) -> None:
        postgres_server.run("CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
        try:
            with pytest.raises(StoreBusy, match="max_connections"):
                open_database(postgres_server.url(name, user="crowded"))
        finally:
            postgres_server.run("DROP ROLE crowded")

    def test_a_connection_closed_while_it_waited_costs_nothing(
        self, postgres_server: PostgresServer, database: Database, name: str
    ) -> None:
        say(database, ACME)
        cut_connections(postgres_server, name)
        say(database, ACME, seq=2)
        cut_connections(postgres_server, name)
        with database.read("acme") as transaction:
            assert len(scopes.view(transaction, ACME)) == 1

    def test_a_connection_lost_in_a_transaction_is_told_and_leaves_nothing(
        self, postgres_server: PostgresServer, database: Database, name: str
    ) -> None:
        with pytest.raises(StoreUnavailable, match=r"try again|repeat the call"):
            say_while_cut(postgres_server, database, name)
        with database.read("acme") as transaction:
            assert scopes.view(transaction, ACME) == []

    def test_waiting_for_a_lock_ends_with_a_name(self, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("retentia.store.postgres._LOCK_WAIT", "50ms")
        say(database, ACME)
        with database.write("acme") as holder:
            scopes.ensure(holder, ACME)
            with ThreadPoolExecutor(1) as pool, pytest.raises(StoreBusy, match="try again"):
                pool.submit(say, database, ACME, seq=2).result()

    def test_of_two_that_wait_for_each_other_one_goes_on(self, database: Database) -> None:
        both = [Scope("acme", "ann"), Scope("acme", "bob")]
        meeting = threading.Barrier(2)

        def lock(first: Scope, second: Scope) -> StoreError | None:
            try:
                with database.write("acme") as transaction:
                    scopes.ensure(transaction, first)
                    meeting.wait(10)
                    scopes.ensure(transaction, second)
            except StoreError as error:
                return error
            return None

        for scope in both:
            say(database, scope)
        with ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lock, both, both[::-1]))
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", "StoreBusy"]

    def test_a_statement_that_takes_too_long_is_told(self, postgres_server: PostgresServer, name: str) -> None:
        url = postgres_server.url(name, query={"options": "-c statement_timeout=50"})
        with (
            closing(open_database(url)) as database,
            pytest.raises(StoreBusy, match="statement_timeout"),
            database.read("acme") as transaction,
        ):
            raw(transaction, "SELECT pg_sleep(5)")

    def test_a_full_disk_is_told_and_nothing_is_half_written(
        self, postgres_server: PostgresServer, second_postgres_url: str
    ) -> None:
        other = second_postgres_url.partition("@/")[2].partition("?")[0]
        with mounted("tmpfs", "-o", f"size=24m,mode=0700,uid={postgres_server.uid()}") as folder:
            made = "CREATE TABLESPACE small OWNER {} LOCATION {}"
            postgres_server.run(sql.SQL(made).format(sql.Identifier(OWNER), sql.Literal(str(folder))))
            try:
                move = sql.SQL("ALTER DATABASE {} SET TABLESPACE small").format(sql.Identifier(other))
                postgres_server.run(move)
                with closing(open_database(second_postgres_url)) as database:
                    with pytest.raises(StoreFull, match="free some space"):
                        fill(database, megabytes=24)
                    with database.read("acme") as transaction:
                        assert scopes.view(transaction, ACME) == []
                    resize(folder, "64m")
                    say(database, ACME)
            finally:
                postgres_server.drop_database(other)
                postgres_server.run("DROP TABLESPACE small")

    def test_without_the_driver_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(MissingExtra, match=r"retentia\[postgres\]"):
            open_database("postgresql://ann@localhost/memory")


class TestUse:
    def test_writers_of_different_scopes_do_not_wait_for_each_other(self, database: Database) -> None:
        for user in ("ann", "bob"):
            say(database, Scope("acme", user))
        with database.write("acme") as transaction:
            scopes.ensure(transaction, Scope("acme", "ann"))
            with ThreadPoolExecutor(1) as pool:
                pool.submit(say, database, Scope("acme", "bob"), seq=2).result(10)

    def test_a_forked_child_uses_connections_of_its_own(self, database: Database) -> None:
        say(database, ACME)
        child = Child(lambda _report: say(database, CORP))
        assert child.status() == 0
        say(database, ACME, seq=2)
        with database.read("acme-corp") as transaction:
            assert len(scopes.view(transaction, CORP)) == 1

    def test_what_the_index_is_loaded_from_stays_in_its_rows(self, database: Database) -> None:
        with database.read("") as transaction:
            stored = raw(
                transaction,
                "SELECT attname FROM pg_attribute WHERE attstorage = 'm' AND NOT attisdropped "
                "AND attrelid IN ('passage'::regclass, 'vector'::regclass)",
            )
        assert {attribute for (attribute,) in stored} == {"stems", "grams", "vector"}

    def test_reclaiming_says_what_may_remain(self, database: Database) -> None:
        say(database, ACME)
        said = database.reclaim()
        assert "VACUUM FULL" in said
        assert "write-ahead log" in said


def cut_connections(server: PostgresServer, name: str) -> None:
    with server.connect("postgres") as connection:
        query = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s"
        assert connection.execute(query, [name]).fetchall()


def say_while_cut(server: PostgresServer, database: Database, name: str) -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, ACME)
        cut_connections(server, name)
        sessions.ensure(transaction, scope_id, "s")


def fill(database: Database, *, megabytes: int) -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, ACME)
        session_id = sessions.ensure(transaction, scope_id, "s")
        for seq in range(megabytes):
            write_message(transaction, scope_id, session_id, seq, os.urandom(1_000_000).hex())  # compresses to a half


def test_the_doctor_warns_of_a_role_that_row_level_security_does_not_bind(
    postgres_server: PostgresServer, postgres_url: str, name: str
) -> None:
    unbound = sql.Identifier(f"unbound_{os.getpid()}")
    postgres_server.run(sql.SQL("CREATE ROLE {} LOGIN BYPASSRLS IN ROLE {}").format(unbound, sql.Identifier(OWNER)))
    try:
        for user in (SUPERUSER, f"unbound_{os.getpid()}"):
            with closing(open_database(postgres_server.url(name, user=user))) as database:
                (finding,) = [finding for finding in examine(database) if finding.check == "role"]
            assert finding.level == "warning"
            assert repr(user) in finding.text
            assert "NOBYPASSRLS" in finding.remedy
    finally:
        postgres_server.run(sql.SQL("DROP ROLE {}").format(unbound))
    with closing(open_database(postgres_url)) as database:
        assert [finding for finding in examine(database) if finding.check == "role"] == []
