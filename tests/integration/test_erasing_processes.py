"""Erasing, forgetting and backing up in several processes at once, some of them killed: what is erased stays erased."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

import pytest

from forks import Child
from retentia import Memory, Scope, Source
from retentia.errors import NotFound
from retentia.lifecycle.backup import restore
from retentia.lifecycle.erase import Erasure
from retentia.lifecycle.ledger import Ledger
from retentia.model.ids import id_text
from retentia.store import erasures
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ME = Scope("acme", "anna")
OTHER = Scope("acme", "bert")
SENTINEL = "Zwetschgenkuchenrezept"


def opened(path: Path) -> Memory:
    return Memory.open(path, embedder=FakeEmbedder(), worker=False)


def say(memory: Memory, count: int, *, scope: Scope = ME, text: str = SENTINEL) -> list[str]:
    said = [{"role": "user", "content": f"{text} {number} " * 8, "key": f"{text}-{number}"} for number in range(count)]
    return list(memory.add(said, scope=scope, session=f"about {text}").ids)


def files_with(folder: Path, text: str) -> list[str]:
    return [file.name for file in folder.rglob("*") if file.is_file() and text.encode() in file.read_bytes()]


def check_agreement(path: Path) -> None:
    """Nothing is under way, the store has applied all of its ledger, and the ledger is whole."""
    with opened(path) as memory:
        with memory._database.read("") as transaction:
            assert erasures.unfinished(transaction) == []
            assert memory._ledger.applied(transaction).seq == len(memory.ledger_entries())
            assert memory._database.dialect.integrity_problems(transaction.connection) == []
        assert memory._ledger.behind() == ([], [])


VICTIM = """
import sys
from datetime import timedelta
from pathlib import Path
from retentia import Memory, Scope
from retentia.lifecycle.backup import restore
from retentia.testing import FakeEmbedder
path, act, me = Path(sys.argv[1]), sys.argv[2], Scope("acme", "anna")
if act == "restore":
    print("go", flush=True)
    restore(path.parent / "backup.zip", path.parent / "restored.db")
    sys.exit()
with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
    planned = memory.plan_forgetting(about="Zwetschgenkuchenrezept", scope=me)
    print("go", flush=True)
    if act == "backup":
        memory.backup(path.parent / "made.zip")
    elif act == "erase":
        for record_id in planned.ids:
            memory.erase(record_id, scope=me)
    elif act == "remove":
        memory.forget(planned, undo_for=timedelta(days=7))
    elif act == "restore removed":
        memory.keeping.restore(memory.keeping.removed(scope=me)[0].id, scope=me)
    elif act == "purge":
        memory.forget(memory.plan_forgetting(everything=True, scope=me))
    else:
        memory.forget(planned)
"""


def run_and_kill(path: Path, act: str, after: float) -> None:
    victim = subprocess.Popen([sys.executable, "-c", VICTIM, str(path), act], stdout=subprocess.PIPE)
    assert victim.stdout is not None
    assert victim.stdout.readline() == b"go\n"
    time.sleep(after)
    victim.kill()
    victim.wait()
    victim.stdout.close()
    with closing(sqlite3.connect(path)) as connection:  # half a minute later
        connection.execute("UPDATE reader SET lease_until = 0")
        connection.commit()


@pytest.mark.parametrize("act", ["erase", "forget"])
@pytest.mark.parametrize("number", range(7))
def test_killed_at_any_time_it_is_whole_or_finished_by_the_next(tmp_path: Path, act: str, number: int) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        memory.add("The weather is fine", scope=OTHER)
        say(memory, 150)
        memory.drain()
    run_and_kill(path, act, random.Random(number).uniform(0, 0.12))
    check_agreement(path)
    with opened(path) as memory:
        left = memory.plan_forgetting(about=SENTINEL, scope=ME)
        assert act == "erase" or len(left.ids) in (0, 150)  # all or nothing
        named = {record for entry in memory.ledger_entries() for record in entry.records}
        assert named.isdisjoint(record.replace("-", "") for record in left.ids)
        assert len(named) + len(left.ids) == 150
        again = memory.forget(left)
        assert again.pending == ""
    assert files_with(tmp_path, SENTINEL) == []
    check_agreement(path)


@pytest.mark.parametrize("act", ["remove", "restore removed", "purge"])
@pytest.mark.parametrize("number", range(6))
def test_killed_while_it_removes_restores_or_purges_it_is_whole_or_did_not_happen(
    tmp_path: Path, act: str, number: int
) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        ids = say(memory, 150)
        memory.drain()
        before = memory.messages(scope=ME, session=f"about {SENTINEL}")
        if act != "remove":
            memory.forget(memory.plan_forgetting(everything=True, scope=ME), undo_for=timedelta(days=7))
    run_and_kill(path, act, random.Random(number).uniform(0, 0.12))
    check_agreement(path)
    with opened(path) as memory:
        living = memory.stats(scope=ME).records["message"]
        assert (living, memory.stats(scope=ME).in_bin) in (
            {(0, 0), (0, 150)} if act == "purge" else {(150, 0), (0, 150)}
        )
        for one in memory.keeping.removed(scope=ME):
            memory.keeping.restore(one.id, scope=ME)
        if after := memory.messages(scope=ME, session=f"about {SENTINEL}"):
            assert after == before
            assert len(memory.recall(SENTINEL, scope=ME, limit=150, min_relevance=0)) == 150
            memory.forget(memory.plan_forgetting(about=SENTINEL, scope=ME))
        assert memory.verify_erasure("acme", ids, texts=[SENTINEL]).is_clean
        assert memory.verify_audit("acme").is_sound
    assert files_with(tmp_path, SENTINEL) == []


@pytest.mark.parametrize("act", ["backup", "restore"])
@pytest.mark.parametrize("number", range(4))
def test_a_killed_backup_or_restore_leaves_nothing_that_counts(tmp_path: Path, act: str, number: int) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        say(memory, 400)
        memory.backup(tmp_path / "backup.zip")
    run_and_kill(path, act, random.Random(number).uniform(0, 0.1))
    check_agreement(path)
    if (tmp_path / "made.zip").exists():
        restore(tmp_path / "made.zip", tmp_path / "other.db")
    for left in tmp_path.glob(".retentia-work-*"):
        os.utime(left, (0, 0))
    with opened(path) as memory:
        memory.backup(tmp_path / "next.zip")  # which clears what the killed one left
        assert memory.forget(memory.plan_forgetting(everything=True, scope=ME)).pending == ""
    assert list(tmp_path.glob(".retentia-work-*")) == []
    restored = tmp_path / "restored.db"
    if not restored.exists() or not len(restored.read_bytes()):
        restore(tmp_path / "backup.zip", restored)
    assert {name.split(".")[0] for name in files_with(tmp_path, SENTINEL)} <= {"restored", "other"}


def eraser(path: Path, scope: Scope, ids: list[str]) -> Callable[[Callable[[str], None]], None]:
    def erase(report: Callable[[str], None]) -> None:
        with opened(path) as memory:
            for record_id in ids:
                receipt = memory.erase(record_id, scope=scope)
                report(json.dumps([record_id, receipt.records, receipt.missing, receipt.ledger_seq]))

    return erase


def test_four_processes_erase_in_one_store_and_a_killed_one_holds_up_nobody(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        mine, others = say(memory, 60), say(memory, 60, scope=OTHER)
        doomed = say(memory, 200, scope=Scope("acme", "carl"))
    children = [
        Child(eraser(path, ME, mine)),
        Child(eraser(path, ME, mine[::-1])),  # the same records, from the other end
        Child(eraser(path, OTHER, others)),
    ]
    victim = Child(eraser(path, Scope("acme", "carl"), doomed))
    victim.kill_after(12)
    assert victim.status() == -signal.SIGKILL
    told = [[json.loads(line) for line in child.reported] for child in children]
    assert [child.status() for child in children] == [0, 0, 0]
    # Who erased a record is told so, with the line of the ledger; the other is told that it was not there.
    for record_id in mine:
        answers = [answer for some in told[:2] for answer in some if answer[0] == record_id]
        assert sorted(len(records) for _, records, _, _ in answers) == [0, 1]
        assert all((seq is not None) == bool(records) for _, records, _, seq in answers)
        assert all((missing == [record_id]) != bool(records) for _, records, missing, _ in answers)
    check_agreement(path)
    with opened(path) as memory:
        named = {record for entry in memory.ledger_entries() for record in entry.records}
        assert {record.replace("-", "") for record in [*mine, *others]} <= named
        assert memory.plan_forgetting(about=SENTINEL, scope=ME).ids == ()
        memory.forget(memory.plan_forgetting(everything=True, scope=Scope("acme", "carl")))
    assert files_with(tmp_path, SENTINEL) == []


@pytest.mark.parametrize("has_ledger", [True, False])
def test_several_erase_the_same_records_at_once_on_postgres(
    tmp_path: Path, postgres_url: str, has_ledger: bool
) -> None:
    ledger = tmp_path / "ledger" if has_ledger else None

    def connected() -> Memory:
        return Memory.open(postgres_url, embedder=FakeEmbedder(), worker=False, ledger=ledger)

    with connected() as memory:
        ids, others = say(memory, 25), say(memory, 25, scope=OTHER)

    def erase(scope: Scope, mine: list[str]) -> list[Erasure]:
        with connected() as memory:
            return [memory.erase(record_id, scope=scope) for record_id in mine]

    with ThreadPoolExecutor(3) as pool:
        running = [pool.submit(erase, ME, ids), pool.submit(erase, ME, ids[::-1]), pool.submit(erase, OTHER, others)]
        receipts = [receipt for one in running for receipt in one.result(60)]
    for record_id in [*ids, *others]:
        assert sum(record_id in receipt.records for receipt in receipts) == 1
        assert sum(record_id in receipt.missing for receipt in receipts) == (record_id in ids)
    with connected() as memory:
        assert memory.stats(scope=ME).records["message"] == memory.stats(scope=OTHER).records["message"] == 0
        named = [record for entry in memory.ledger_entries() for record in entry.records]
        assert len(named) == (50 if has_ledger else 0)
        assert memory.verify_erasure("acme", [*ids, *others]).is_clean


def test_two_processes_remove_restore_and_erase_the_same_and_none_is_lost_or_twice(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        ids = say(memory, 30)
        doomed = say(memory, 10, text="doomed")
        memory.drain()

    def undo_and_redo(report: Callable[[str], None]) -> None:
        with opened(path) as memory:
            for number in range(15):
                planned = memory.plan_forgetting(ids=[ids[number], ids[29 - number]], scope=ME)
                removal = memory.forget(planned, undo_for=timedelta(days=7))
                for one in memory.keeping.removed(scope=ME) if removal.id else []:
                    with suppress(NotFound):  # the other one was quicker
                        memory.keeping.restore(one.id, scope=ME)
                report("done")

    children = [Child(undo_and_redo), Child(undo_and_redo)]
    with opened(path) as memory:
        for record_id in doomed:
            assert memory.erase(record_id, scope=ME).records == (record_id,)
    assert [len(child.reported.readlines()) for child in children] == [15, 15]
    assert [child.status() for child in children] == [0, 0]
    check_agreement(path)
    with opened(path) as memory:
        for one in memory.keeping.removed(scope=ME):
            memory.keeping.restore(one.id, scope=ME)
        assert [one.id for one in memory.messages(scope=ME, session=f"about {SENTINEL}")] == ids
        assert memory.stats(scope=ME).in_bin == 0
        assert memory.verify_erasure("acme", doomed, texts=["doomed"]).is_clean
        assert memory.verify_audit("acme").is_sound


def test_purge_and_restore_at_once_on_postgres_leave_each_record_either_gone_or_there(postgres_url: str) -> None:
    clock = FixedClock()

    def connected(at: FixedClock) -> Memory:
        return Memory.open(postgres_url, embedder=FakeEmbedder(), worker=False, clock=at)

    with connected(clock) as memory:
        ids = say(memory, 20)
        removals = [
            memory.forget(memory.plan_forgetting(ids=[one], scope=ME), undo_for=timedelta(days=7)).id for one in ids
        ]
    ahead = FixedClock(clock.now + 8 * 86_400_000_000)  # another machine, whose clock is far ahead

    def purge() -> int:
        with connected(ahead) as memory:
            return memory.keeping.purge()

    def bring_back() -> set[str]:
        back: set[str] = set()
        with connected(clock) as memory:
            for one in removals:
                with suppress(NotFound):
                    back.update(memory.keeping.restore(one, scope=ME))
        return back

    with ThreadPoolExecutor(2) as pool:
        purging, restoring = pool.submit(purge), pool.submit(bring_back)
        purged, back = purging.result(60), restoring.result(60)
    with connected(clock) as memory:
        assert {one.id for one in memory.messages(scope=ME, session=f"about {SENTINEL}")} == back
        assert purged + len(back) == 20
        assert memory.verify_erasure("acme", sorted(set(ids) - back)).is_clean


@pytest.mark.parametrize("work", ["ingest", "drain", "reindex", "reembed", "backup"])
def test_erasing_while_another_process_works_leaves_nothing(tmp_path: Path, work: str) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        ids = say(memory, 120)
        say(memory, 400, scope=OTHER, text="neighbour")
        if work in ("reembed", "backup"):
            memory.drain()

    def busy(report: Callable[[str], None]) -> None:
        with opened(path) as memory:
            report("begun")
            match work:
                case "ingest":
                    for number in range(12):
                        say(memory, 100, scope=OTHER, text=f"bulk{number}")
                case "drain":
                    memory.drain()
                case "reindex":
                    for _ in range(4):
                        memory.reindex()
                case "reembed":
                    memory.reembed(FakeEmbedder(name="another"))
                case "backup":
                    for number in range(6):
                        memory.backup(tmp_path / f"{number}.zip")
            report("done")

    child = Child(busy)
    assert child.reported.readline() == "begun\n"
    with opened(path) as memory:
        for number in range(0, 120, 10):
            memory.erase(ids[number : number + 10], scope=ME)
    child.reported.read()
    assert child.status() == 0
    with Memory.open(path, embedder=None, worker=False) as memory:
        memory.erase(ids, scope=ME)
        assert memory.verify_erasure("acme", ids, texts=[SENTINEL]).is_clean
    for made in tmp_path.glob("*.zip"):  # each is consistent: it opens, and replays what was erased since
        target = tmp_path / f"from-{made.stem}.db"
        restore(made, target)
        with Memory.open(
            target, embedder=FakeEmbedder(), worker=False, ledger=f"{path}.ledger", replay_erasures=True
        ) as again:
            assert sum(again.stats(scope=ME).records.values()) == 0
            assert again.stats(scope=OTHER).records["message"] == 400
    assert files_with(tmp_path, SENTINEL) == []


def test_the_late_vector_of_an_erased_record_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    erasing = opened(path)
    ids = say(erasing, 3)

    class Slow(FakeEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            assert erasing.erase(ids[1], scope=ME).records == (ids[1],)
            return super().embed(texts)

    with Memory.open(path, embedder=Slow(), worker=False) as memory:
        memory.drain()
        assert memory.verify_erasure("acme", [ids[1]]).is_clean
    erasing.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM vector").fetchone() == (2,)


def test_a_reader_in_another_process_makes_it_pending_and_the_next_opening_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retentia.store.sqlite._RECLAIM_MS", 50)
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        ids = say(memory, 5)
    reading = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sqlite3;c=sqlite3.connect({str(path)!r},isolation_level=None);c.execute('BEGIN');"  # noqa: ISC004
            "c.execute('SELECT * FROM message').fetchall();print('go',flush=True);input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert reading.stdout is not None
    assert reading.stdin is not None
    assert reading.stdout.readline() == b"go\n"
    with opened(path) as memory:
        receipt = memory.erase(ids, scope=ME)
        assert "older snapshot" in receipt.pending
        found = memory.verify_erasure("acme", ids, erasure=receipt.id)
        assert found.is_pending
        assert not found.is_clean
        with pytest.raises(NotFound):
            memory.get(ids[0], scope=ME)
        reading.communicate(b"\n")
    with opened(path) as memory:
        found = memory.verify_erasure("acme", ids, erasure=receipt.id, texts=[SENTINEL])
        assert found.is_clean
    assert files_with(tmp_path, SENTINEL) == []


def test_opening_or_verifying_a_store_twice_in_a_process_loses_nothing(tmp_path: Path) -> None:
    """POSIX drops a process's locks with any descriptor that is closed; another process then removed the log."""
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        ids = say(memory, 1)
        memory.verify_erasure("acme", ids, texts=["x"])
        opened(path).close()
        memory.erase(ids, scope=ME)
        code = f"from retentia import Memory; Memory.open({str(path)!r}, embedder=None, worker=False).close()"
        subprocess.run([sys.executable, "-c", code], check=True)
        memory.add("durable", scope=ME)
        with closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT text FROM message").fetchall() == [("durable",)]


def test_a_process_that_holds_the_ledger_and_hangs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as memory:
        first, second = say(memory, 2)
        memory.erase(first, scope=ME)
        store = memory._ledger.store

    def hang(report: Callable[[str], None]) -> None:
        with Ledger.open(Path(f"{path}.ledger"), store).appending():
            report("held")
            time.sleep(60)

    holder = Child(hang)
    assert holder.reported.readline() == "held\n"
    monkeypatch.setattr("retentia.lifecycle.store_ledger._PATIENCE_SECONDS", 0.2)
    with opened(path) as memory:  # reading goes on
        assert len(memory.messages(scope=ME, session=f"about {SENTINEL}")) == 1
        with pytest.raises(Exception, match="another process holds the ledger"):
            memory.erase(second, scope=ME)
        os.kill(holder.process, signal.SIGKILL)
        assert holder.status() == -signal.SIGKILL
        assert memory.erase(second, scope=ME).records == (second,)
    check_agreement(path)


def test_what_an_agent_derived_from_what_is_shared_goes_with_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    agent = Scope("acme", "anna", agent="bot")
    with opened(path) as memory:
        (shared,) = say(memory, 1)
        cited = [Source(kind="message", id=shared, start=0, end=4)]
        fact = memory.remember(f"The bot knows the {SENTINEL}", "fact", scope=agent, sources=cited).id
        planned = memory.plan_forgetting(everything=True, scope=ME)
        assert (planned.ids, planned.along) == ((shared,), (fact,))
        backup = memory.backup(tmp_path / "backup.zip", keep_for=timedelta(days=1))
        receipt = memory.forget(planned)
        assert set(receipt.records) == {shared, fact}
        assert receipt.backup_until == backup.expires_at
        assert id_text(bytes.fromhex(memory.ledger_entries()[-1].id.replace("-", ""))) == receipt.id
    assert [name for name in files_with(tmp_path, SENTINEL) if not name.endswith(".zip")] == []


def test_an_agent_forgets_what_is_its_own_and_nothing_that_is_shared(tmp_path: Path) -> None:
    agent = Scope("acme", "anna", agent="bot")
    with opened(tmp_path / "memory.db") as memory:
        (shared,), (own,) = say(memory, 1), say(memory, 1, scope=agent)
        for conditions in ({"everything": True}, {"about": SENTINEL}, {"within": timedelta(hours=1)}):
            planned = memory.plan_forgetting(scope=agent, **conditions)  # type: ignore[arg-type]
            assert planned.ids == (own,)
            assert planned.related == ()
        assert memory.plan_forgetting(ids=[shared], scope=agent).ids == ()
        assert memory.erase(shared, scope=agent).missing == (shared,)
        assert memory.get(shared, scope=agent).id == shared
