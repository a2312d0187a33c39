"""What may lie where a store is to be opened, and what is said about it. Nothing that is not ours is changed."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from mounts import mounted, remount, resize
from retentia.errors import (
    MigrationChanged,
    NetworkFileSystem,
    NewerSchema,
    NotARetentiaStore,
    RetentiaError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from retentia.model.scope import Scope
from retentia.store import scopes, sessions, sqlite_file
from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.testing_store.rows import write_message, write_messages

MINE = Scope("acme", "ann")
PAGE = 8192


def fill(database: Database, messages: int) -> int:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, MINE)
        session_id = sessions.ensure(transaction, scope_id, "s")
        write_messages(transaction, scope_id, session_id, messages)
    return scope_id


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM message").fetchone()[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def filled(path: Path) -> Path:
    with closing(open_database(path)) as database:
        fill(database, 200)
    return path


@pytest.mark.parametrize("is_there", [False, True])
def test_a_missing_or_empty_file_becomes_a_store(path: Path, is_there: bool) -> None:
    if is_there:
        path.touch()
    with closing(open_database(path)) as database:
        fill(database, 3)
    assert count(path) == 3
    assert path.read_bytes()[68:72] == b"RTNT"
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA page_size").fetchone() == (PAGE,)


@pytest.mark.parametrize("name", ["what?.db", "100%.db", "a b#c.db", "Größe.db", "пам'ять.db", "'; DROP.db"])
def test_a_strange_name_is_the_name_of_the_file(tmp_path: Path, name: str) -> None:
    with closing(open_database(tmp_path / name)) as database:
        fill(database, 1)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_relative_name_stays_the_same_file_when_the_process_moves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with closing(open_database("sqlite:///memory.db")) as database:
        monkeypatch.chdir(tmp_path / "elsewhere")
        with database.read("acme") as one, database.read("acme") as other:
            assert database.size_bytes(one) == database.size_bytes(other) > PAGE
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"Dear diary, today I wrote no database.\n" * 40,
        b"x",
        b"\0" * 4096,
        b"SQLite format 3",
        b"%PDF-1.7\n" + b"\xff" * 200,
    ],
)
def test_a_file_of_another_kind_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(NotARetentiaStore, match=r"memory\.db"):
        open_database(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]


def test_the_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE message (text)")
    before = path.read_bytes()
    with pytest.raises(NotARetentiaStore):
        open_database(path)
    assert path.read_bytes() == before


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotARetentiaStore, match="folder"):
        open_database(tmp_path)


def test_a_pipe_is_refused_without_waiting_for_it(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(NotARetentiaStore, match="pipe"):
        open_database(path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"there is no folder .*missing"):
        open_database(tmp_path / "missing" / "memory.db")
    assert not list(tmp_path.iterdir())


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="there is no folder"):
        open_database(tmp_path / "file" / "memory.db")


def test_a_network_file_system_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = path.parent / "mounts"
    mounts.write_text(f"/dev/root / ext4 rw 0 0\nserver:/home {path.parent.resolve()} nfs4 rw 0 0\n")
    monkeypatch.setattr(sqlite_file, "_MOUNTS", mounts)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(NetworkFileSystem, match=r"nfs4.*postgresql"):
        open_database(path)
    assert not path.exists()


def test_a_newer_store_is_refused_and_left_alone(filled: Path) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("INSERT INTO schema_migration VALUES ('9999_later.sql', 'x', 0)")
        connection.commit()
    with pytest.raises(NewerSchema, match="9999_later"):
        open_database(filled)
    assert count(filled) == 200


def test_an_edited_migration_is_refused(filled: Path) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("UPDATE schema_migration SET sha256 = 'edited'")
        connection.commit()
    with pytest.raises(MigrationChanged, match="0001_initial"):
        open_database(filled)


def test_a_damaged_page_is_told_as_damage(filled: Path) -> None:
    with closing(sqlite3.connect(filled)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'scope'").fetchone()
    with filled.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xa5" * PAGE)
    with closing(open_database(filled)) as database:
        with pytest.raises(StoreCorrupt, match="restore a backup"):
            fill(database, 1)
        with database.read("acme") as transaction:
            assert database.dialect.integrity_problems(transaction.connection)


def test_a_file_cut_short_is_told_as_damage(filled: Path) -> None:
    os.truncate(filled, 2 * PAGE + 100)
    with pytest.raises(StoreCorrupt):
        open_database(filled)


def test_a_file_that_vanishes_while_it_is_open_is_no_traceback_of_the_driver(filled: Path) -> None:
    with closing(open_database(filled)) as database:
        with database.read("acme") as transaction:
            scopes.view(transaction, MINE)
        for file in filled.parent.iterdir():
            file.unlink()
        filled.mkdir()
        with pytest.raises(RetentiaError), database.read("acme"), database.read("acme"):
            pass


WITHOUT_ROOTS_RIGHTS = """
import ctypes, os, sys
if os.geteuid() == 0:  # give up what lets root read and write everything (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)
    for capability in (1, 2):
        assert ctypes.CDLL(None).prctl(24, capability) == 0
os.execv(sys.executable, [sys.executable, "-c", *sys.argv[1:]])
"""
OPEN_EACH = """
import sys
from retentia.store.open import open_database
for path in sys.argv[1:]:
    try:
        open_database(path).close()
        print("opened")
    except Exception as error:
        print(type(error).__name__, error)
"""


def test_missing_rights_are_named(tmp_path: Path) -> None:
    cases = {  # rights of the file and of its folder
        (0o666, 0o777): "opened",
        (0o444, 0o777): r"StoreReadOnly .*memory.db' may not be written",
        (0o000, 0o777): r"StoreUnavailable .*memory.db' may not be read",
        (0o666, 0o555): r"StoreReadOnly the folder .* may not be written",
        (None, 0o555): r"StoreReadOnly the folder .* may not be written",
        (0o666, 0o000): r"StoreUnavailable .*",
    }
    paths = [_place_with_rights(tmp_path / str(number), *rights) for number, rights in enumerate(cases)]
    program = [sys.executable, "-c", WITHOUT_ROOTS_RIGHTS, OPEN_EACH, *map(str, paths)]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stdout.splitlines()
    for path in paths:
        path.parent.chmod(0o777)
    for expected, line in zip(cases.values(), said, strict=True):
        assert re.match(expected, line), line


def _place_with_rights(place: Path, file_mode: int | None, folder_mode: int) -> Path:
    place.mkdir()
    if file_mode is not None:
        open_database(place / "memory.db").close()
        (place / "memory.db").chmod(file_mode)
    place.chmod(folder_mode)
    return place / "memory.db"


def test_a_full_disk_is_told_and_loses_nothing() -> None:
    with mounted("tmpfs", "-o", "size=2m") as folder, closing(open_database(folder / "memory.db")) as database:
        acknowledged = 0
        while acknowledged < 1000 and (error := fill_one_or_fail(database, acknowledged + 1)) is None:
            acknowledged += 1
        assert isinstance(error, StoreFull)
        assert "free some space" in str(error)
        assert acknowledged > 10
        with database.read("acme") as transaction:
            assert database.dialect.integrity_problems(transaction.connection) == []
        assert count(folder / "memory.db") == acknowledged
        resize(folder, "16m")
        fill_one(database, acknowledged + 1)
        assert count(folder / "memory.db") == acknowledged + 1


def test_a_disk_that_is_full_before_the_store_is_made_is_told() -> None:
    with mounted("tmpfs", "-o", "size=64k") as folder:
        (folder / "ballast").write_bytes(b"x" * 40_000)
        with pytest.raises((StoreFull, StoreUnavailable), match="space"):
            open_database(folder / "memory.db")


def test_a_disk_mounted_read_only_is_told() -> None:
    with mounted("tmpfs", "-o", "size=4m") as folder:
        open_database(folder / "memory.db").close()
        remount(folder, "ro")
        with pytest.raises(StoreReadOnly, match="may not be written"):
            open_database(folder / "memory.db")
        with pytest.raises(StoreReadOnly, match="may not be written"):
            open_database(folder / "new.db")


def test_a_store_that_loses_its_right_to_write_while_open_says_so(filled: Path) -> None:
    with closing(open_database(filled)) as database:
        with database.read("acme") as transaction:
            transaction.connection.exec_driver_sql("PRAGMA query_only = ON")
        with pytest.raises(StoreReadOnly, match="permissions"):
            fill_one(database, 900)


def test_an_old_sqlite_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(StoreUnavailable, match="newer Python"):
        open_database(path)


def test_more_readers_at_once_than_connections_are_told_to_try_again(path: Path) -> None:
    with closing(open_database(path)) as database, ExitStack() as readers:
        database._engine.pool._timeout = 0.05
        for _ in range(32):
            readers.enter_context(database.read("acme"))
        with pytest.raises(StoreBusy, match="try again"), database.read("acme"):
            pass


def fill_one(database: Database, seq: int) -> None:
    with database.write("acme") as transaction:
        scope_id = scopes.ensure(transaction, MINE)
        session_id = sessions.ensure(transaction, scope_id, "s")
        write_message(transaction, scope_id, session_id, seq, "x" * 20_000)


def fill_one_or_fail(database: Database, seq: int) -> StoreError | None:
    try:
        fill_one(database, seq)
    except StoreError as error:
        return error
    return None
