"""Backups that are damaged, hostile or badly placed, and full disks: a name for each, and nothing left over."""

import json
import os
import stat
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mounts import mounted
from retentia import Memory, Scope
from retentia.errors import BackupDamaged, InvalidInput, RetentiaError, StoreFull
from retentia.lifecycle import backup
from retentia.lifecycle.backup import restore
from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.store.schema import TENANT_TABLES, metadata
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")


def opened(path: Path) -> Memory:
    return Memory.open(path, embedder=FakeEmbedder(), worker=False)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    with opened(tmp_path / "memory.db") as memory:
        memory.add([f"text {number} " * 50 for number in range(200)], scope=ME)
        memory.drain()
        memory.backup(tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def changed(made: Path, *, store: bytes | None = None, **manifest: object) -> Path:
    """Make an archive as an attacker would, with other fields or another store."""
    with zipfile.ZipFile(made) as archive:
        said = json.loads(archive.read("manifest.json")) | manifest
        store = archive.read("store.db") if store is None else store
    target = made.with_name("changed.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(said))
        archive.writestr("store.db", store)
    return target


def check_refused(path: Path, *errors: type[Exception]) -> None:
    before = sorted(path.parent.iterdir())
    with pytest.raises(errors):
        restore(path, path.parent / "restored.db")
    assert sorted(path.parent.iterdir()) == before


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.7, 0.99, 0.9999])
def test_a_truncated_archive_is_refused(made: Path, share: float) -> None:
    made.write_bytes(made.read_bytes()[: int(made.stat().st_size * share)])
    check_refused(made, BackupDamaged)


@pytest.mark.parametrize(
    "manifest",
    [
        {"size": 1 << 60},
        {"size": "large"},
        {"expires_at": "never"},
        {"expires_at": None},
        {"version": 1.0},
        {"more": 1},
        {"sha256": "0" * 64},
        {"is_encrypted": True},
    ],
)
def test_a_manifest_that_lies_is_refused(made: Path, manifest: dict[str, object]) -> None:
    check_refused(changed(made, **manifest), BackupDamaged, RetentiaError)


def test_a_bomb_does_not_fill_the_disk(made: Path) -> None:
    bomb = bytes(64 << 20)
    check_refused(changed(made, store=bomb), BackupDamaged)  # more than the manifest says
    check_refused(changed(made, store=bomb, size=len(bomb)), BackupDamaged)  # nor is it a database
    with zipfile.ZipFile(made.with_name("long.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", bomb)
        archive.writestr("store.db", b"")
    check_refused(made.with_name("long.zip"), BackupDamaged)


def test_what_does_not_fit_is_refused_before_it_is_unpacked(made: Path) -> None:
    store = b"SQLite format 3\x00" + bytes(64 << 20)
    bomb = changed(made, store=store, size=len(store))
    with mounted("tmpfs", "-o", "size=4m") as small:
        with pytest.raises(StoreFull, match="less free"):
            restore(bomb, small / "restored.db")
        assert list(small.iterdir()) == []


@pytest.mark.parametrize("name", ["/tmp/retentia-evil", "../evil", "store.db/../../evil", "store.db/"])
def test_a_member_that_names_another_place_is_not_written_there(made: Path, name: str) -> None:
    target = made.with_name("evil.zip")
    with zipfile.ZipFile(made) as archive, zipfile.ZipFile(target, "w") as evil:
        evil.writestr("manifest.json", archive.read("manifest.json"))
        evil.writestr(name, archive.read("store.db"))
    check_refused(target, BackupDamaged)
    assert not Path("/tmp/retentia-evil").exists()
    assert not (made.parent.parent / "evil").exists()


def test_a_member_that_is_a_link_is_read_as_bytes_and_refused(made: Path) -> None:
    target = made.with_name("link.zip")
    with zipfile.ZipFile(made) as archive, zipfile.ZipFile(target, "w") as evil:
        evil.writestr("manifest.json", archive.read("manifest.json"))
        link = zipfile.ZipInfo("store.db")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        evil.writestr(link, b"/etc/passwd")
    check_refused(target, BackupDamaged)


def test_members_beside_the_store_are_left_in_the_archive(made: Path) -> None:
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("../../beside", b"x")
    restore(made, made.with_name("restored.db"))
    assert not (made.parent.parent.parent / "beside").exists()


def test_a_store_that_someone_else_has_open_is_not_replaced(made: Path) -> None:
    with opened(made.with_name("other.db")) as other:
        other.add("here first", scope=ME)
        with pytest.raises(InvalidInput, match="not empty"):
            restore(made, made.with_name("other.db"))
        assert other.messages(scope=ME)[0].text == "here first"


def test_bad_places_are_named(made: Path) -> None:
    folder = made.parent
    (folder / "dangling.zip").symlink_to(folder / "nowhere")
    with opened(folder / "memory.db") as memory:
        for place in (made, folder, folder / "dangling.zip"):
            with pytest.raises(InvalidInput, match="there already"):
                memory.backup(place)
        with pytest.raises(InvalidInput, match="no folder"):
            memory.backup(folder / "missing" / "backup.zip")
        before = len(memory.ledger_entries())
        with pytest.raises(RetentiaError):
            memory.backup(made.with_name("x" * 300))
        assert len(memory.ledger_entries()) <= before + 1
        memory.backup(folder / "Größe und 北京 .zip")
    with pytest.raises(InvalidInput, match="no folder"):
        restore(made, folder / "missing" / "restored.db")
    assert restore(folder / "Größe und 北京 .zip", folder / "ein Ort.db").size


def test_a_full_disk_leaves_no_part_of_a_backup(made: Path) -> None:
    with mounted("tmpfs", "-o", "size=300k") as small, opened(made.with_name("memory.db")) as memory:
        with pytest.raises(StoreFull, match="no backup"):
            memory.backup(small / "backup.zip")
        assert list(small.iterdir()) == []
        memory.add("life goes on", scope=ME)


def test_a_disk_that_fills_while_restoring_leaves_nothing(made: Path) -> None:
    size = backup.read_manifest(made).size
    with mounted("tmpfs", "-o", f"size={size + (200 << 10)}") as small:
        with pytest.raises(StoreFull):
            restore(made, small / "restored.db")
        assert list(small.iterdir()) == []


def test_a_disk_without_links_gets_its_backup_too(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with opened(made.with_name("fat.db")) as memory:
        (first,) = memory.add("hello", scope=ME).ids
        memory.backup(made.with_name("fat.zip"))
        assert memory.erase(first, scope=ME).ledger_seq == 2
    restore(made.with_name("fat.zip"), made.with_name("restored.db"))


def test_a_backup_while_others_write_is_one_moment(made: Path) -> None:
    folder, over = made.parent, threading.Event()
    with opened(folder / "memory.db") as memory:

        def write() -> None:
            while not over.is_set():
                memory.add(["a pair", "of messages"], scope=Scope("acme", "bert"))

        writing = threading.Thread(target=write)
        writing.start()
        for number in range(3):
            memory.backup(folder / f"{number}.zip")
        over.set()
        writing.join()
    for number in range(3):
        restore(folder / f"{number}.zip", folder / f"{number}.db")
        with Memory.open(
            folder / f"{number}.db", embedder=None, worker=False, ledger=folder / "memory.db.ledger"
        ) as again:
            assert again.stats(scope=Scope("acme", "bert")).records["message"] % 2 == 0
            assert [one for one in again.doctor() if one.level == "fault"] == []


def rows_of(database: Database) -> Iterator[tuple[str, list[tuple[object, ...]]]]:
    with database.read("acme") as transaction:
        for name, table in metadata.tables.items():
            if name not in ("schema_migration", "due", "reader", "notice"):  # who has a store open has not its copy
                mine = table.select().where(table.c.tenant == "acme") if table in TENANT_TABLES else table.select()
                found = [tuple(row) for row in transaction.connection.execute(mine)]
                yield name, sorted(found, key=repr)


def test_from_sqlite_to_postgres_and_back_every_row_is_the_same(tmp_path: Path, postgres_url: str) -> None:
    hostile = ["\u202e כן", "a\\b'c\"d", "\ud83d half", "nul \0 here", "👨‍👩‍👧 " * 5, "é ≠ é", "\x1f\x7f\u0085"]
    ledger = tmp_path / "memory.db.ledger"
    with opened(tmp_path / "memory.db") as memory:
        memory.add([{"role": "user", "content": text, "metadata": {"t": text}} for text in hostile], scope=ME)
        memory.remember("a fact", "fact", scope=ME, metadata={"n": 1.5, "big": 2**60})
        memory.drain()
        memory.erase(memory.add({"role": "user", "content": "gone", "key": "k"}, scope=ME).id, scope=ME)
        memory.backup(tmp_path / "first.zip")
        expected = dict(rows_of(memory._database))
    restore(tmp_path / "first.zip", postgres_url)
    with Memory.open(postgres_url, embedder=FakeEmbedder(), worker=False, ledger=ledger) as there:
        there.backup(tmp_path / "second.zip")
    restore(tmp_path / "second.zip", tmp_path / "back.db")
    database = open_database(tmp_path / "back.db")
    found = dict(rows_of(database))
    database.close()
    settings = found.pop("setting"), expected.pop("setting")
    assert found == expected
    assert {name for name, _ in settings[0]} == {name for name, _ in settings[1]}
