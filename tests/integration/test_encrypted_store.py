"""A store at rest tells nothing without its key."""

import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from retentia import Memory, Scope
from retentia.errors import InvalidInput, NotARetentiaStore, StoreBusy, StoreCorrupt, StoreUnavailable, WrongKey
from retentia.lifecycle.backup import restore
from retentia.lifecycle.encrypt import encrypt
from retentia.store.open import dialect_of
from retentia.store.sqlite import SqliteDialect
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
SECRET = "Zwetschgenkuchenrezept"
PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def opened(path: Path, key: str | None = PASSPHRASE) -> Memory:
    return Memory.open(path, embedder=FakeEmbedder(), worker=False, key=key)


@pytest.fixture
def filled(path: Path) -> Iterator[Memory]:
    with opened(path) as memory:
        memory.add([f"my {SECRET}", "it rains"], scope=ME)
        memory.drain()
        yield memory


def test_no_byte_of_any_file_tells_what_was_said(filled: Memory, path: Path) -> None:
    def check() -> None:
        files = sorted(path.parent.glob("memory.db*"))
        assert files
        for file in files:
            raw = file.read_bytes()
            assert not raw.startswith(b"SQLite format 3")
            assert SECRET.encode() not in raw
            assert b"passage" not in raw

    check()
    filled.close()
    check()


@pytest.mark.parametrize("key", [PASSPHRASE, "ab" * 32, "ключ з пробілами"])
def test_it_opens_again_with_the_same_key_only(path: Path, key: str) -> None:
    with opened(path, key) as memory:
        memory.add(f"my {SECRET}", scope=ME)
    with opened(path, key) as memory:
        assert SECRET in memory.recall(SECRET, scope=ME, min_relevance=0).hits[0].text
    with pytest.raises(WrongKey, match="does not open with this key"):
        opened(path, "another key")
    with pytest.raises(NotARetentiaStore, match="give the key if it is encrypted"):
        opened(path, None)


def test_a_plain_store_is_not_opened_with_a_key(path: Path) -> None:
    opened(path, None).close()
    with pytest.raises(WrongKey, match="retentia encrypt"):
        opened(path)
    with pytest.raises(InvalidInput, match="key is empty"):
        opened(path, "")


def test_a_tampered_page_is_noticed(path: Path) -> None:
    with opened(path) as memory:
        memory.add([f"{SECRET} {number}" for number in range(200)], scope=ME)
    raw = bytearray(path.read_bytes())
    for page in range(len(raw) // 3, 2 * len(raw) // 3, 1024):  # what lies in the very middle may be an empty table
        raw[page] ^= 1
    path.write_bytes(raw)
    with pytest.raises((StoreCorrupt, StoreUnavailable, WrongKey)):
        _read_all(path)


def test_erasing_and_backing_up_work_as_ever(filled: Memory, path: Path, tmp_path: Path) -> None:
    made = filled.backup(tmp_path / "backup.zip")
    receipt = filled.erase(filled.messages(scope=ME)[0].id, scope=ME)
    assert (receipt.pending, receipt.backup_until) == ("", made.expires_at)
    assert made.is_encrypted
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert SECRET.encode() not in archive.read("store.db")
    with pytest.raises(WrongKey, match="the backup is encrypted"):
        restore(tmp_path / "backup.zip", tmp_path / "again.db")
    with pytest.raises(WrongKey):
        restore(tmp_path / "backup.zip", tmp_path / "again.db", key="another key")
    (tmp_path / "again.db").unlink(missing_ok=True)
    restore(tmp_path / "backup.zip", tmp_path / "again.db", key=PASSPHRASE)
    assert SECRET.encode() not in (tmp_path / "again.db").read_bytes()
    with Memory.open(
        tmp_path / "again.db",
        embedder=FakeEmbedder(),
        worker=False,
        key=PASSPHRASE,
        ledger=path.with_name("memory.db.ledger"),
        replay_erasures=True,
    ) as again:
        assert [message.text for message in again.messages(scope=ME)] == ["it rains"]


def test_a_backup_of_a_plain_store_can_be_encrypted(path: Path, tmp_path: Path) -> None:
    with opened(path, None) as memory:
        memory.add(f"my {SECRET}", scope=ME)
        assert memory.backup(tmp_path / "backup.zip", key=PASSPHRASE).is_encrypted
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert SECRET.encode() not in archive.read("store.db")


def test_a_plain_store_is_encrypted_in_place(path: Path) -> None:
    with opened(path, None) as memory:
        kept = memory.add([f"my {SECRET}", "it rains"], scope=ME).ids
        memory.drain()
        with pytest.raises(StoreBusy, match="open elsewhere"):
            encrypt(_plain(path), PASSPHRASE)
    encrypt(_plain(path), PASSPHRASE)
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]
    assert SECRET.encode() not in path.read_bytes()
    with opened(path) as memory:
        assert tuple(message.id for message in memory.messages(scope=ME)) == kept
        assert memory.recall("rain", scope=ME, min_relevance=0)
        assert all(finding.level != "fault" for finding in memory.doctor())


def test_a_store_whose_encrypting_fails_stays_what_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(path, None) as memory:
        memory.add(f"my {SECRET}", scope=ME)
    monkeypatch.setattr("retentia.lifecycle.encrypt.copy_store", _fail)
    with pytest.raises(OSError, match="no space"):
        encrypt(_plain(path), PASSPHRASE)
    assert [file.name for file in path.parent.iterdir()] == ["memory.db"]
    with opened(path, None) as memory:
        assert len(memory.messages(scope=ME)) == 1


def test_the_key_comes_from_the_environment_a_file_or_a_command(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(path).close()
    with monkeypatch.context() as patch:
        patch.setenv("RETENTIA_KEY", PASSPHRASE)
        opened(path, None).close()
    file = tmp_path / "key"
    file.write_text(PASSPHRASE + "\n", "utf-8")
    with monkeypatch.context() as patch:
        patch.setenv("RETENTIA_KEY_FILE", str(file))
        opened(path, None).close()
        file.write_text("", "utf-8")
        with pytest.raises(InvalidInput, match="is empty"):
            opened(path, None)
    with monkeypatch.context() as patch:
        patch.setenv("RETENTIA_KEY_COMMAND", f"{sys.executable} -c 'print(\"{PASSPHRASE}\")'")
        opened(path, None).close()
        patch.setenv("RETENTIA_KEY_COMMAND", "false")
        with pytest.raises(InvalidInput, match="run it by hand"):
            opened(path, None)


def test_a_person_encrypts_with_one_command(path: Path) -> None:
    with opened(path, None) as memory:
        memory.add(f"my {SECRET}", scope=ME)
    command = [sys.executable, "-m", "retentia", "encrypt", "--store", str(path)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "RETENTIA_KEY" in refused.stderr
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"RETENTIA_KEY": PASSPHRASE})
    assert "encrypted" in done.stdout
    with closing(sqlite3.connect(path)) as plain, pytest.raises(sqlite3.DatabaseError):
        plain.execute("SELECT * FROM message")
    opened(path).close()


def _read_all(path: Path) -> None:
    with opened(path) as memory:
        memory.recall(SECRET, scope=ME)
        memory.messages(scope=ME)


def _plain(path: Path) -> SqliteDialect:
    dialect = dialect_of(path)
    assert isinstance(dialect, SqliteDialect)
    return dialect


def _fail(*_: object, **__: object) -> None:
    raise OSError("no space left")
