"""What tests ask for: an empty place for a store, on SQLite, on a real PostgreSQL, or on both in turn."""

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from model_server import running
from postgres_server import PostgresServer, shared_server
from retentia.store.open import open_database
from retentia.store.schema import metadata
from statement_guard import guarded

pytest.register_assert_rewrite("retentia.testing", "retentia.testing_store")

CONTENT_KEY = "5e" * 32
ALSO_KEYED = frozenset(
    {
        "test_forgetting_shows_first",
        "test_nothing_is_lost",
        "test_index_equals_rows",
        "test_scopes_never_mix",
        "test_embedders_change_safely",
        "test_manifests",
        "test_learned_items_follow_their_sources",
        "test_facts_stay_true",
    }
)

_numbers = itertools.count(1)


@pytest.fixture(scope="session", autouse=True)
def every_statement() -> Iterator[set[str]]:
    """Watch that no statement of any test reaches rows whose tenant it does not name; yield those seen so far."""
    with guarded() as seen:
        yield seen


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """Name a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    """Start, or join, the PostgreSQL server that all test processes share."""
    own = tmp_path_factory.getbasetemp()
    return shared_server(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture
def empty_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """Name a PostgreSQL database of its own, without any table."""
    with _database(postgres_server) as name:
        yield postgres_server.url(name)


@pytest.fixture
def second_postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """Name another one beside it."""
    with _database(postgres_server) as name:
        yield postgres_server.url(name)


@pytest.fixture(scope="session")
def migrated_postgres_url(postgres_server: PostgresServer, _migrated_database: str) -> str:
    """Name a PostgreSQL database with the current schema; rows must be removed again, which `postgres_url` does."""
    return postgres_server.url(_migrated_database)


@pytest.fixture
def postgres_url(postgres_server: PostgresServer, migrated_postgres_url: str, _migrated_database: str) -> Iterator[str]:
    """Name a PostgreSQL database with the current schema and no row, belonging to a role that is no superuser."""
    yield migrated_postgres_url
    # Emptying takes milliseconds, creating takes tenths of a second. It fails if the test left a transaction open.
    everything = "; ".join(f"DELETE FROM {table}" for table in metadata.tables)
    postgres_server.run(f"SET lock_timeout = '5s'; {everything}", database=_migrated_database)


@pytest.fixture
def keyed_url(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Name an empty PostgreSQL store whose content will have keys, in an environment that names its key."""
    monkeypatch.setenv("RETENTIA_KEY", CONTENT_KEY)
    return postgres_url


@pytest.fixture
def store_url(request: pytest.FixtureRequest) -> str:
    """Name an empty store on each of the databases: a test that asks for it runs on both.

    Those of the modules in ALSO_KEYED run a third time, on a PostgreSQL store whose content has keys.
    """
    return str(request.getfixturevalue(f"{request.param}_url"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let tests of a store run on each database."""
    if "store_url" in metafunc.fixturenames:
        keyed = ["keyed"] if metafunc.module.__name__ in ALSO_KEYED else []
        metafunc.parametrize("store_url", ["sqlite", "postgres", *keyed], indirect=True)


@pytest.fixture(scope="session")
def real_model_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Name the address, with /v1, of a real but very small language model: what it says is sound, not sensible."""
    with running(tmp_path_factory.mktemp("model") / "server.log") as address:
        yield f"{address}/v1"


@pytest.fixture(scope="session")
def _migrated_database(postgres_server: PostgresServer) -> Iterator[str]:
    with _database(postgres_server) as name:
        open_database(postgres_server.url(name)).close()
        yield name


@contextmanager
def _database(server: PostgresServer) -> Iterator[str]:
    name = f"test_{os.getpid()}_{next(_numbers)}"
    server.create_database(name)
    yield name
    server.drop_database(name)
