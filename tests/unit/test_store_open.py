"""What a store may be called, and what is said about names that are none."""

from pathlib import Path

import pytest

from retentia.errors import InvalidInput
from retentia.store.database import Dialect
from retentia.store.open import dialect_of
from retentia.store.postgres import PostgresDialect
from retentia.store.sqlite import SqliteDialect


def path_of(dialect: Dialect) -> Path:
    assert isinstance(dialect, SqliteDialect)
    return dialect.path


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("sqlite:///memory.db", "memory.db"),
        ("sqlite:///folder/memory.db", "folder/memory.db"),
        ("SQLite:///memory.db", "memory.db"),
        ("memory.db", "memory.db"),
        ("Speicher für Jürgen #1 100%.db", "Speicher für Jürgen #1 100%.db"),
        ("пам'ять.db", "пам'ять.db"),
        (Path("memory.db"), "memory.db"),
        (Path("what?.db"), "what?.db"),
    ],
)
def test_a_relative_name_is_a_file_in_the_present_folder(url: str | Path, expected: str) -> None:
    assert path_of(dialect_of(url)) == Path.cwd() / expected


@pytest.mark.parametrize("url", ["sqlite:////tmp/a b/memory.db", "/tmp/a b/memory.db", Path("/tmp/a b/memory.db")])
def test_an_absolute_name_is_that_file(url: str | Path) -> None:
    assert path_of(dialect_of(url)) == Path("/tmp/a b/memory.db")


@pytest.mark.parametrize("url", ["~/memory.db", "sqlite:///~/memory.db", Path("~/memory.db")])
def test_a_tilde_is_the_home_folder(url: str | Path) -> None:
    assert path_of(dialect_of(url)) == Path.home() / "memory.db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann@db.example:6432/memory",
        "postgresql://ann:p%40ss@db.example:6432/memory",
        "postgres://ann@db.example:6432/memory",
        "postgresql+psycopg://ann@db.example:6432/memory",
        "postgresql://ann@db.example:6432/memory?sslmode=require",
    ],
)
def test_a_server_is_known_by_its_scheme(url: str) -> None:
    dialect = dialect_of(url)
    assert isinstance(dialect, PostgresDialect)
    assert dialect.place == "db.example:6432/memory"


@pytest.mark.parametrize(
    "url",
    [
        "",
        ".",
        ":memory:",
        "sqlite://",
        "sqlite:///",
        "sqlite:memory.db",
        "sqlite://memory.db",
        "sqlite:///:memory:",
        "sqlite:///memory.db?mode=ro",
        "sqlite:///file:memory.db",
        "file:memory.db",
        "mysql://localhost/memory",
        "https://example.org/memory.db",
        "redis://localhost",
        "nul\0.db",
        "~nobody-of-this-name/memory.db",
        "postgresql://",
        "postgresql://localhost",
        "postgresql://localhost:port/memory",
    ],
)
def test_what_is_no_store_is_refused_with_what_to_write(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        dialect_of(url)
    assert len(str(refused.value)) > 40


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:Geh3im@s@db.example/memory",
        "postgresql://ann:Geh3im@s:x@db.example:y/memory",
        "postgresql://ann:Geh3im@db.example:y/memory",
        "postgresql://ann:Geh3im#s@db.example/",
        "postgresql://ann:Geh3im@",
    ],
)
def test_a_password_that_breaks_the_url_is_not_repeated(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        dialect_of(url)
    error: BaseException | None = refused.value
    while error is not None:
        assert "Geh3im" not in f"{error}{error!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
