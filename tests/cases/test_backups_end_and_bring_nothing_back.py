"""A backup is whole, can be put back on either database until it ends, and never brings back what was erased since."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from retentia import Memory, Scope
from retentia.errors import BackupDamaged, InvalidInput, StoreBehindLedger
from retentia.lifecycle.backup import read_manifest, restore
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
OTHER = Scope("globex", "bert")
SECRET = "Zwetschgenkuchenrezept"


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "erased.ledger"


@pytest.fixture
def opened(store_url: str, ledger: Path) -> Callable[[], Memory]:
    return lambda: Memory.open(store_url, embedder=FakeEmbedder(), worker=False, ledger=ledger)


def fill(memory: Memory) -> str:
    memory.add(["It rains", "The boiler is broken"], scope=ME)
    memory.add("Bert likes tea", scope=OTHER)
    secret = memory.add({"role": "user", "content": f"my {SECRET}", "key": "m1"}, scope=ME).id
    memory.remember("Anna likes rye bread", "preference", scope=ME)
    memory.drain()
    return secret


@pytest.mark.parametrize("target", ["sqlite", "empty_postgres"])
def test_what_was_backed_up_is_found_again_wherever_it_is_put(
    opened: Callable[[], Memory], ledger: Path, tmp_path: Path, target: str, request: pytest.FixtureRequest
) -> None:
    with opened() as memory:
        fill(memory)
        made = memory.backup(tmp_path / "backup.zip")
        expected = {scope: memory.stats(scope=scope).records for scope in (ME, OTHER)}
        best = memory.recall("rye bread", scope=ME, min_relevance=0).hits
    url = f"sqlite:///{tmp_path / 'restored.db'}"
    if target == "empty_postgres":
        url = str(request.getfixturevalue("second_postgres_url"))
    assert restore(tmp_path / "backup.zip", url) == made == read_manifest(tmp_path / "backup.zip")
    with Memory.open(url, embedder=FakeEmbedder(), worker=False, ledger=ledger) as again:
        assert {scope: again.stats(scope=scope).records for scope in (ME, OTHER)} == expected
        found = again.recall("rye bread", scope=ME, min_relevance=0).hits
        assert [(hit.record, hit.score) for hit in found] == [(hit.record, pytest.approx(hit.score)) for hit in best]
        again.add("and life goes on", scope=ME)


def test_what_was_erased_since_is_erased_again(opened: Callable[[], Memory], ledger: Path, tmp_path: Path) -> None:
    with opened() as memory:
        secret = fill(memory)
        made = memory.backup(tmp_path / "backup.zip")
        receipt = memory.erase(secret, scope=ME)
        assert receipt.backup_until == made.expires_at
    restored = tmp_path / "restored.db"
    restore(tmp_path / "backup.zip", restored)
    options = {"embedder": FakeEmbedder(), "worker": False, "ledger": ledger}
    with pytest.raises(StoreBehindLedger):
        Memory.open(restored, **options)
    with Memory.open(restored, **options, replay_erasures=True) as again:
        assert again.replayed == 1
        assert len(again.messages(scope=ME)) == 2
        failed = again.add([{"role": "user", "content": f"my {SECRET}", "key": "m1"}, "hello"], scope=ME).failed
        assert [one.code for one in failed] == ["erased_earlier"]
    for file in tmp_path.glob("restored.db*"):
        assert SECRET.encode() not in file.read_bytes(), file.name


def test_a_backup_holds_nothing_that_was_erased_before_it(opened: Callable[[], Memory], tmp_path: Path) -> None:
    with opened() as memory:
        memory.erase(fill(memory), scope=ME)
        memory.backup(tmp_path / "backup.zip")
    restore(tmp_path / "backup.zip", tmp_path / "restored.db")
    assert SECRET.encode() not in (tmp_path / "restored.db").read_bytes()


def test_an_expired_backup_is_refused(opened: Callable[[], Memory], tmp_path: Path) -> None:
    with opened() as memory:
        fill(memory)
        made = memory.backup(tmp_path / "backup.zip", keep_for=timedelta(days=1))
        with pytest.raises(InvalidInput, match="kept for some time"):
            memory.backup(tmp_path / "other.zip", keep_for=timedelta(0))
    with pytest.raises(InvalidInput, match="expired on"):
        restore(tmp_path / "backup.zip", tmp_path / "restored.db", now=made.expires_at)


def test_a_flipped_byte_is_noticed_wherever_it_matters(opened: Callable[[], Memory], tmp_path: Path) -> None:
    with opened() as memory:
        fill(memory)
        made = memory.backup(tmp_path / "backup.zip")
    whole = (tmp_path / "backup.zip").read_bytes()
    refused = 0
    for at in range(0, len(whole), len(whole) // 40):
        changed = bytearray(whole)
        changed[at] ^= 0x55
        (tmp_path / "changed.zip").write_bytes(changed)
        restored = tmp_path / f"restored-{at}.db"
        try:
            assert restore(tmp_path / "changed.zip", restored) == made  # a date in the archive says nothing
        except (BackupDamaged, InvalidInput):
            refused += 1
            assert not restored.exists()
    assert refused >= 35


def test_bad_places_and_files_are_refused_with_a_reason(opened: Callable[[], Memory], tmp_path: Path) -> None:
    with opened() as memory:
        fill(memory)
        memory.backup(tmp_path / "backup.zip")
        with pytest.raises(InvalidInput, match="there already"):
            memory.backup(tmp_path / "backup.zip")
    restore(tmp_path / "backup.zip", tmp_path / "restored.db")
    with pytest.raises(InvalidInput, match="not empty"):
        restore(tmp_path / "backup.zip", tmp_path / "restored.db")
    with pytest.raises(InvalidInput, match="there is no backup"):
        restore(tmp_path / "nothing.zip", tmp_path / "new.db")
    (tmp_path / "text").write_text("no archive")
    with pytest.raises(BackupDamaged):
        restore(tmp_path / "text", tmp_path / "new.db")
