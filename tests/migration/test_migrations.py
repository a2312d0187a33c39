"""Migrations lead to the declared schema, all or nothing, whoever opens the store at the same time."""

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import Engine, Inspector, inspect, text
from sqlalchemy.exc import DBAPIError

from forks import Child
from retentia.errors import MigrationChanged, NewerSchema
from retentia.model.scope import Scope
from retentia.store import migrate, scopes
from retentia.store.database import Database
from retentia.store.open import dialect_of, open_database
from retentia.store.schema import TENANT_TABLES, metadata

MINE = Scope("acme", "ann")
FILES = migrate.migrations


@pytest.fixture(params=["sqlite", "empty_postgres"])
def new_url(request: pytest.FixtureRequest) -> str:
    """Name a database without any table, on each of the databases."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def other_url(new_url: str, request: pytest.FixtureRequest) -> str:
    """Name a second one beside it."""
    if new_url.startswith("sqlite"):
        return new_url.replace("memory.db", "other.db")
    return str(request.getfixturevalue("second_postgres_url"))


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    engine = dialect_of(url).connect()
    yield engine
    engine.dispose()


def described(inspector: Inspector, table: str) -> dict[str, object]:
    columns = {
        column["name"]: (
            str(column["type"]),
            getattr(column["type"], "collation", None),
            column["nullable"],
            column["default"],
        )
        for column in inspector.get_columns(table)
    }
    indexes = {
        index["name"]: (index["column_names"], bool(index["unique"]), _texts(index.get("dialect_options", {})))
        for index in inspector.get_indexes(table)
        if not index.get("duplicates_constraint")
    }
    unique = {
        constraint["name"]: tuple(constraint["column_names"]) for constraint in inspector.get_unique_constraints(table)
    }
    return {
        "columns": list(columns.items()),
        "primary key": inspector.get_pk_constraint(table)["constrained_columns"],
        "indexes": indexes,
        "unique": unique,
        "foreign keys": inspector.get_foreign_keys(table),
        "checks": inspector.get_check_constraints(table),
    }


def _texts(options: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in options.items()}


def schema_of(url: str) -> dict[str, object]:
    with engine_of(url) as engine, engine.connect() as connection:
        inspector = inspect(connection)
        tables = sorted(set(inspector.get_table_names()) - {"schema_migration"})
        found: dict[str, object] = {table: described(inspector, table) for table in tables}
        if connection.dialect.name == "sqlite":
            rows = connection.execute(text("SELECT name, wr FROM pragma_table_list WHERE schema = 'main'")).all()
            found["without rowid"] = {row.name: row.wr for row in rows if row.name in tables}
    return found


def test_a_migrated_database_is_the_declared_one(new_url: str, other_url: str) -> None:
    open_database(new_url).close()
    with engine_of(other_url) as engine:
        metadata.create_all(engine)
    migrated, declared = schema_of(new_url), schema_of(other_url)
    assert set(migrated) >= set(metadata.tables)
    for table, expected in declared.items():
        assert migrated[table] == expected, table
    assert migrated.keys() == declared.keys()


def test_opening_again_changes_nothing(new_url: str) -> None:
    with closing(open_database(new_url)) as database, database.write("acme") as transaction:
        scopes.ensure(transaction, MINE)
    before = schema_of(new_url)
    with closing(open_database(new_url)) as database, database.read("acme") as transaction:
        assert scopes.find(transaction, MINE) is not None
    assert schema_of(new_url) == before


def test_processes_that_open_a_new_store_at_once_make_it_once(new_url: str) -> None:
    def open_it(_report: object) -> None:
        with closing(open_database(new_url)) as database, database.write("acme") as transaction:
            scopes.ensure(transaction, MINE)

    children = [Child(open_it) for _ in range(4)]
    assert [child.status() for child in children] == [0] * 4
    with engine_of(new_url) as engine, engine.connect() as connection:
        applied = connection.execute(text("SELECT name FROM schema_migration")).scalars().all()
    assert applied == [name for name, _ in FILES(dialect_of(new_url).name)]


def test_threads_that_open_a_new_store_at_once_make_it_once(new_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        for database in pool.map(lambda _: open_database(new_url), range(4)):
            database.close()


def test_an_edited_migration_is_refused(new_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    open_database(new_url).close()
    monkeypatch.setattr(migrate, "migrations", lambda name: [(file, sql + "-- edited\n") for file, sql in FILES(name)])
    with pytest.raises(MigrationChanged, match="0001_initial"):
        open_database(new_url)


def test_a_newer_store_is_refused(new_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_one_more(monkeypatch, "CREATE TABLE later (id INTEGER);\n")
    open_database(new_url).close()
    monkeypatch.undo()
    with pytest.raises(NewerSchema, match="9000_more"):
        open_database(new_url)


def test_a_later_migration_keeps_the_rows(new_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_database(new_url)) as database, database.write("acme") as transaction:
        scopes.ensure(transaction, MINE)
    with_one_more(
        monkeypatch, "ALTER TABLE scope ADD COLUMN colour TEXT;\n\nCREATE INDEX by_colour ON scope (colour);\n"
    )
    with closing(open_database(new_url)) as database, database.read("acme") as transaction:
        assert scopes.find(transaction, MINE) is not None
    with engine_of(new_url) as engine:
        assert "by_colour" in {index["name"] for index in inspect(engine).get_indexes("scope")}


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "old"])
def test_a_migration_that_fails_half_way_leaves_the_old_state(
    new_url: str, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    if not is_new:
        open_database(new_url).close()
    before = schema_of(new_url)
    with_one_more(monkeypatch, "CREATE TABLE later (id INTEGER);\n\nINSERT INTO nowhere VALUES (1);\n")
    with pytest.raises(DBAPIError, match="nowhere"):
        open_database(new_url)
    assert schema_of(new_url) == before
    monkeypatch.undo()
    open_database(new_url).close()


def test_an_up_to_date_store_opens_while_another_process_writes(new_url: str) -> None:
    opened = threading.Event()

    def open_it() -> None:
        open_database(new_url).close()
        opened.set()

    with closing(open_database(new_url)) as database, database.write("acme") as transaction:
        scopes.ensure(transaction, MINE)
        thread = threading.Thread(target=open_it)
        thread.start()
        assert opened.wait(10)
        thread.join()


def with_one_more(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(migrate, "migrations", lambda name: [*FILES(name), ("9000_more.sql", sql)])


def test_row_level_security_binds_exactly_the_tables_with_personal_data(empty_postgres_url: str) -> None:
    database: Database = open_database(empty_postgres_url)
    with database.read("") as transaction:
        rows = transaction.rows(
            text(
                "SELECT relname, relrowsecurity, relforcerowsecurity, qual, with_check, cmd, permissive, roles::text "
                "FROM pg_class LEFT JOIN pg_policies ON tablename = relname "
                "WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            )
        )
    database.close()
    wall = "(tenant = NULLIF(current_setting('app.tenant'::text, true), ''::text))"
    bound = (True, True, wall, None, "ALL", "PERMISSIVE", "{public}")
    assert {row.relname: tuple(row)[1:] for row in rows if row.relrowsecurity} == {
        table.name: bound for table in TENANT_TABLES
    }
    assert {row.relname for row in rows if not row.relrowsecurity} == {
        "due",
        "erasure",
        "generation",
        "notice",
        "reader",
        "setting",
        "schema_migration",
        "tombstone",
    }
