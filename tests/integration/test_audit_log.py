"""The audit log: in one order, never changed, complete, and free of anything that was said."""

import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Delete, Update, delete, update
from sqlalchemy.exc import DBAPIError

import retentia
from forks import Child
from postgres_server import PostgresServer
from retentia import Memory, Principal, Scope
from retentia.errors import AccessDenied, AuditUnavailable, InvalidInput, NotFound, StoreBusy, StoreError
from retentia.security import audit, audit_buffer
from retentia.security.audit import Access, Action, Actor
from retentia.security.audit_buffer import AuditBuffer
from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.store.schema import audit_entry
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

ANNA, BOB = Scope("acme", "anna", "work"), Scope("acme", "bob", "work")
AGENT = Principal(id="key-1", role="agent", tenant="acme", user="anna", space="work")
SUPPORT = Principal(id="sup-1", role="support", tenant="acme", reason="T-1832", expires_at="2100")
AUDITOR = Principal(id="aud-1", role="auditor", tenant="acme")
ADMIN = Principal(id="adm-1", role="admin", tenant="acme")
PERSON = Principal(id="u-1", role="person", tenant="acme", user="anna")
NOBODY = Actor("key-0", "agent")


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as opened:
        yield opened


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    with closing(open_database(store_url)) as opened:
        yield opened


def log(database: Database, count: int, *, by: Actor = NOBODY) -> None:
    for number in range(count):
        with database.write("acme") as transaction:
            access = Access(actor=by, action=Action.READ, scope=number, ids=[bytes(16)], at=transaction.now)
            audit.append(transaction, [access])


@contextmanager
def unprotected(store_url: str, request: pytest.FixtureRequest) -> Iterator[Callable[[str], None]]:
    """Change the tables as one can who owns the file or the server; yields a function that runs a statement."""
    if store_url.startswith("sqlite"):
        with closing(sqlite3.connect(store_url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
            connection.execute("DROP TRIGGER audit_entry_is_not_changed")
            connection.execute("DROP TRIGGER audit_entry_is_not_removed")
            yield lambda sql: connection.execute(sql) and None
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    name = store_url.partition("?")[0].rpartition("/")[2]
    yield lambda sql: server.run(sql, database=name)


def by(memory: Memory, **wanted: Any) -> list[tuple[str, str, bool, int]]:
    """Return (who, what, refused, how many records) of the log in order, of those entries that have these values."""
    entries = reversed(memory.audit_log("acme", limit=1000))
    found = [entry for entry in entries if all(getattr(entry, name) == value for name, value in wanted.items())]
    return [(entry.by, entry.action, entry.refused, entry.count) for entry in found]


def test_every_entry_is_in_the_chain_in_its_order(database: Database) -> None:
    log(database, 5)
    report = audit.verify(database, "acme")
    assert (report.is_sound, report.entries) == (True, 5)
    assert [entry.seq for entry in audit.entries(database, "acme", limit=3)] == [5, 4, 3]
    assert report.hash == audit.latest(database, "acme").hash
    assert audit.verify(database, "other").entries == 0


def test_threads_append_in_one_order(database: Database) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: log(database, 10), range(6)))
    assert audit.verify(database, "acme").entries == 60


def test_processes_that_append_at_once_make_one_chain(store_url: str) -> None:
    def append(_report: object) -> None:
        with closing(open_database(store_url)) as database:
            log(database, 15)

    children = [Child(append) for _ in range(3)]
    assert [child.status() for child in children] == [0] * 3
    with closing(open_database(store_url)) as database:
        report = audit.verify(database, "acme")
    assert (report.is_sound, report.entries) == (True, 45)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ("UPDATE audit_entry SET entry = (SELECT entry FROM audit_entry WHERE seq = 1) WHERE seq = 3", 3),
        ("UPDATE audit_entry SET hash = (SELECT hash FROM audit_entry WHERE seq = 2) WHERE seq = 4", 4),
        ("DELETE FROM audit_entry WHERE seq = 2", 2),
        ("DELETE FROM audit_entry WHERE seq = 1", 1),
        ("DELETE FROM audit_entry WHERE seq = 6", 6),
        ("UPDATE audit_entry SET seq = 9 WHERE seq = 5", 5),
        ("UPDATE audit_entry SET seq = -1 WHERE seq = 1", 1),
        ("DELETE FROM audit_entry", 1),
        ("DELETE FROM audit_head", 7),
        ("UPDATE audit_head SET hash = (SELECT hash FROM audit_entry WHERE seq = 2)", 7),
    ],
)
def test_the_first_wrong_entry_is_named(
    store_url: str, database: Database, request: pytest.FixtureRequest, change: str, wrong: int
) -> None:
    log(database, 6)
    with unprotected(store_url, request) as run:
        run(change)
    report = audit.verify(database, "acme")
    assert (report.is_sound, report.first_wrong, report.entries) == (False, wrong, wrong - 1)
    assert str(wrong) in report.problem or "head" in report.problem


def test_a_flipped_byte_anywhere_in_an_entry_is_found(sqlite_url: str) -> None:
    with (
        closing(open_database(sqlite_url)) as database,
        closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)) as connection,
    ):
        log(database, 3)
        connection.execute("DROP TRIGGER audit_entry_is_not_changed")
        ((entry,),) = connection.execute("SELECT entry FROM audit_entry WHERE seq = 2")
        flipped = [
            entry[:at] + bytes([entry[at] ^ bit]) + entry[at + 1 :] for at in range(len(entry)) for bit in (1, 128)
        ]
        for changed in [*flipped, entry + b" ", b"", "text", 7, 1.5]:
            connection.execute("UPDATE audit_entry SET entry = ? WHERE seq = 2", (changed,))
            assert audit.verify(database, "acme").first_wrong == 2
        connection.execute("UPDATE audit_entry SET entry = ? WHERE seq = 2", (entry,))
        assert audit.verify(database, "acme").is_sound


def test_a_flipped_byte_in_the_file_is_found(sqlite_url: str) -> None:
    with closing(open_database(sqlite_url)) as database:
        log(database, 3)
    file = Path(sqlite_url.removeprefix("sqlite:///"))
    content = file.read_bytes()
    assert content.count(b'"by":"key-0"') == 3
    file.write_bytes(content.replace(b'"by":"key-0"', b'"by":"key-1"', 1))
    with closing(open_database(sqlite_url)) as database:
        assert audit.verify(database, "acme").first_wrong in (1, 2, 3)


def test_an_end_that_was_cut_off_is_found_with_a_kept_head(
    store_url: str, database: Database, request: pytest.FixtureRequest
) -> None:
    log(database, 3)
    middle = audit.latest(database, "acme").hash
    log(database, 2)
    kept = audit.latest(database, "acme").hash
    assert audit.verify(database, "acme", head=middle).is_sound
    assert audit.verify(database, "acme", head=kept).is_sound
    with unprotected(store_url, request) as run:
        run("DELETE FROM audit_entry WHERE seq > 3")
        run("UPDATE audit_head SET seq = 3, hash = (SELECT hash FROM audit_entry WHERE seq = 3)")
    assert audit.verify(database, "acme").is_sound
    assert audit.verify(database, "acme", head=middle).is_sound
    report = audit.verify(database, "acme", head=kept)
    assert (report.is_sound, report.first_wrong) == (False, 4)
    log(database, 2)
    assert not audit.verify(database, "acme", head=kept).is_sound
    for wrong in ("abc", "zz" * 32, kept + "00"):
        with pytest.raises(InvalidInput):
            audit.verify(database, "acme", head=wrong)


@pytest.mark.parametrize("change", [update(audit_entry).values(seq=7), delete(audit_entry)], ids=["change", "remove"])
def test_the_database_refuses_to_change_or_remove_an_entry(database: Database, change: Update | Delete) -> None:
    log(database, 2)
    with pytest.raises((DBAPIError, StoreError)), database.write("acme") as transaction:
        transaction.run(change.where(audit_entry.c.tenant == "acme"))
    assert audit.verify(database, "acme").entries == 2


def test_no_statement_of_the_code_changes_or_removes_an_entry() -> None:
    sources = [path.read_text("utf-8") for path in Path(retentia.__file__).parent.rglob("*.py")]
    told = [found for text in sources for found in re.findall(r"(?:update|delete)\(\s*(?:schema\.)?audit_entry", text)]
    assert told == []
    assert any("insert(audit_entry)" in text for text in sources)


def test_a_write_and_its_entry_are_one(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    acting = memory.acting_as(AGENT)
    written = acting.add(["one", "two"], scope=ANNA)
    entry = memory.audit_log("acme")[0]
    assert (entry.action, entry.records) == ("write", written.ids)

    def full(*_: object, **__: object) -> None:
        raise StoreBusy

    monkeypatch.setattr(audit.rows, "append", full)
    with pytest.raises(StoreBusy):
        acting.add("three", scope=ANNA)
    monkeypatch.undo()
    assert len(memory.records(scope=ANNA).records) == 2
    assert memory.verify_audit("acme").entries == 1


def test_many_records_are_logged_by_their_number_and_digest(memory: Memory) -> None:
    memory.acting_as(AGENT).add([f"message {number}" for number in range(40)], scope=ANNA)
    entry = memory.audit_log("acme")[0]
    assert (entry.count, entry.records, len(entry.digest)) == (40, (), 64)


def test_anothers_access_is_logged_before_the_answer_is_given(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    told = memory.add("Bob likes baseball", scope=BOB).id
    memory.drain()
    memory.grant(scope=BOB, to=SUPPORT.id, expires_at="2100")
    acting = memory.acting_as(SUPPORT)
    assert acting.get(told, scope=BOB).text == "Bob likes baseball"
    entry = memory.audit_log("acme")[0]
    assert (entry.by, entry.role, entry.reason, entry.records) == ("sup-1", "support", "T-1832", (told,))

    def broken(*_: object, **__: object) -> None:
        raise StoreBusy

    monkeypatch.setattr(audit.rows, "append", broken)
    for read in (
        lambda: acting.get(told, scope=BOB),
        lambda: acting.recall("baseball", scope=BOB),
        lambda: acting.messages(scope=BOB),
        lambda: acting.stats(scope=BOB),
    ):
        with pytest.raises(StoreBusy):
            read()


def test_own_access_is_logged_within_a_second_and_at_close(store_url: str) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        acting = memory.acting_as(AGENT)
        told = acting.add("Anna likes tea", scope=ANNA).id
        began = time.monotonic()
        acting.recall("tea", scope=ANNA)
        while not by(memory, action="recall") and time.monotonic() - began < 10:
            time.sleep(0.02)
        assert time.monotonic() - began < 1
        acting.get(told, scope=ANNA)
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        assert by(memory) == [("key-1", "write", False, 1), ("key-1", "recall", False, 1), ("key-1", "read", False, 1)]
        assert memory.verify_audit("acme").is_sound


def test_own_access_is_logged_when_a_process_ends_without_closing(sqlite_url: str) -> None:
    lines = [
        "from retentia import Memory, Principal, Scope",
        f"memory = Memory.open({sqlite_url!r}, embedder=None, worker=False)",
        "who = Principal(id='key-1', role='agent', tenant='acme', user='anna', space='work')",
        "memory.acting_as(who).recall('tea', scope=Scope('acme', 'anna', 'work'))",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        assert by(memory) == [("key-1", "recall", False, 0)]


def test_own_access_that_cannot_be_logged_waits_is_reported_and_then_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = memory.acting_as(AGENT)
    acting.add("Anna likes tea", scope=ANNA)

    def broken(*_: object, **__: object) -> None:
        raise StoreBusy("the disk is gone")

    monkeypatch.setattr(audit_buffer, "append", broken)
    acting.messages(scope=ANNA)
    with pytest.raises(StoreBusy):
        memory._log.flush()
    (finding,) = [one for one in memory.doctor() if one.check == "audit"]
    assert (finding.level, "the disk is gone" in finding.text) == ("fault", True)
    monkeypatch.undo()
    memory._log.flush()
    (finding,) = [one for one in memory.doctor() if one.check == "audit"]
    assert finding.level == "warning"
    assert by(memory, action="read") == [("key-1", "read", False, 1)]


def test_a_buffer_that_cannot_be_written_gives_no_more_access_and_closing_says_what_is_lost(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise StoreBusy("the disk is gone")

    monkeypatch.setattr(audit_buffer, "append", broken)
    buffer = AuditBuffer(database, seconds=30, most=2)
    access = Access(actor=NOBODY, action=Action.READ, scope=ANNA, at=0)
    buffer.add("acme", access)
    buffer.add("acme", access)
    with pytest.raises(AuditUnavailable):
        buffer.add("acme", access)
    with pytest.raises(AuditUnavailable, match="2 accesses could not be logged and are lost"):
        buffer.close()


def test_a_forked_child_does_not_write_what_its_parent_will(store_url: str) -> None:
    with closing(open_database(store_url)) as database:
        buffer = AuditBuffer(database, seconds=30)
        buffer.add("acme", Access(actor=NOBODY, action=Action.READ, scope=None, at=0))

        def in_child(_report: object) -> None:
            buffer.add("acme", Access(actor=Actor("child", "agent"), action=Action.READ, scope=None, at=0))
            buffer.close()

        assert Child(in_child).status() == 0
        buffer.close()
        assert sorted(entry.by for entry in audit.entries(database, "acme", limit=10)) == ["child", "key-0"]


def test_erasing_a_person_leaves_the_log_whole_and_nothing_said_is_in_it(memory: Memory) -> None:
    acting = memory.acting_as(PERSON)
    said = ["Anna Petrenko lives at Hauptstraße 5", "IBAN DE00 1234"]
    ids = acting.add(said, scope=ANNA, session="Dr Petrenko").ids
    memory.drain()
    acting.recall("Where does Anna Petrenko live?", scope=ANNA)
    acting.context("Where does Anna Petrenko live?", scope=ANNA, session="Dr Petrenko")
    acting.erase(ids, scope=ANNA)
    memory._log.flush()
    report = memory.verify_audit("acme")
    assert report.is_sound
    everything = json.dumps([str(entry) for entry in memory.audit_log("acme", limit=1000)])
    assert not any(word in everything for word in ("Petrenko", "Hauptstra", "IBAN", "anna", "work", "live"))
    assert ("u-1", "erase", False, 2) in by(memory)


def test_a_grant_that_expired_gives_nothing_even_when_the_clock_is_put_back(memory: Memory, clock: FixedClock) -> None:
    memory.add("Bob likes baseball", scope=BOB)
    memory.drain()
    acting = memory.acting_as(AGENT)
    memory.grant(scope=BOB, to=ANNA, expires_at=_iso(clock() + 60_000_000))
    assert len(acting.recall("baseball", scope=BOB)) == 1
    clock.advance(seconds=60)
    with pytest.raises(AccessDenied):
        acting.recall("baseball", scope=BOB)
    clock.advance(seconds=-120)
    with pytest.raises(AccessDenied):
        acting.recall("baseball", scope=BOB)
    assert memory.verify_audit("acme").is_sound
    with pytest.raises(InvalidInput):
        memory.grant(scope=BOB, to=ANNA, expires_at=_iso(clock()))


def test_support_ends_with_its_time(memory: Memory, clock: FixedClock) -> None:
    memory.add("Bob likes baseball", scope=BOB)
    memory.grant(scope=BOB, to="sup-2", expires_at="2100", rights=["read", "write"])
    ending = Principal(id="sup-2", role="support", tenant="acme", reason="T-9", expires_at=_iso(clock() + 60_000_000))
    acting = memory.acting_as(ending)
    assert len(acting.messages(scope=BOB)) == 1
    with pytest.raises(AccessDenied):
        acting.add("support never writes", scope=BOB)
    clock.advance(seconds=60)
    with pytest.raises(AccessDenied):
        acting.messages(scope=BOB)


def test_an_agent_with_an_expiry_ends_with_it_in_its_own_scope_too(memory: Memory, clock: FixedClock) -> None:
    ending = Principal(
        id="key-2", role="agent", tenant="acme", user="anna", space="work", expires_at=_iso(clock() + 60_000_000)
    )
    acting = memory.acting_as(ending)
    acting.add("Anna likes tea", scope=ANNA)
    assert len(acting.messages(scope=ANNA)) == 1
    clock.advance(seconds=60)
    for call in (lambda: acting.messages(scope=ANNA), lambda: acting.add("more", scope=ANNA)):
        with pytest.raises(AccessDenied):
            call()


def test_a_grant_revoked_while_an_answer_is_made_keeps_the_answer_back(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.add("Bob likes baseball", scope=BOB)
    memory.drain()
    grant = memory.grant(scope=BOB, to=ANNA, expires_at="2100", rights=["read", "write"])
    acting = memory.acting_as(AGENT)
    recall, add = Memory.recall, Memory.add

    def slow_recall(self: Memory, *args: Any, **kwargs: Any) -> Any:
        found = recall(self, *args, **kwargs)
        assert len(found) == 1
        memory.revoke(grant.id, tenant="acme")
        return found

    monkeypatch.setattr(Memory, "recall", slow_recall)
    with pytest.raises(AccessDenied):
        acting.recall("baseball", scope=BOB)
    assert by(memory)[-2:] == [("owner", "revoke", False, 1), ("key-1", "recall", True, 1)]
    monkeypatch.undo()
    grant = memory.grant(scope=BOB, to=ANNA, expires_at="2100", rights=["write"])

    def slow_add(self: Memory, *args: Any, **kwargs: Any) -> Any:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(memory.revoke, grant.id, tenant="acme").result()
        return add(self, *args, **kwargs)

    monkeypatch.setattr(Memory, "add", slow_add)
    with pytest.raises(AccessDenied):
        acting.add("written too late", scope=BOB)
    assert [record.text for record in memory.records(scope=BOB).records] == ["Bob likes baseball"]


def test_a_grant_of_some_kinds_shows_only_these(memory: Memory) -> None:
    memory.add("Bob is seven feet tall", scope=BOB)
    fact = memory.remember("Bob is a pilot", "fact", scope=BOB).id
    note = memory.remember("Bob is in debt", "note", scope=BOB).id
    memory.add("Bob is my boss", scope=ANNA)
    memory.drain()
    memory.grant(scope=BOB, to=ANNA, expires_at="2100", kinds=["fact"])
    acting = memory.acting_as(AGENT)
    found = acting.recall("Bob is", scope=BOB, min_relevance=0)
    assert ([hit.text for hit in found], found.filtered_count) == (["Bob is a pilot"], 0)
    both = acting.recall("Bob is", scope=ANNA, also=[BOB], min_relevance=0)
    assert {hit.text for hit in both} == {"Bob is a pilot", "Bob is my boss"}
    assert acting.get(fact, scope=BOB).text == "Bob is a pilot"
    assert len(acting.records(scope=BOB, kind="fact").records) == 1
    for call in (
        lambda: acting.get(note, scope=BOB),
        lambda: acting.records(scope=BOB, kind="note"),
        lambda: acting.messages(scope=BOB),
        lambda: acting.sessions(scope=BOB),
        lambda: acting.stats(scope=BOB),
        lambda: acting.recall("Bob", scope=BOB, kinds=["note"]),
        lambda: acting.remember("Bob is rich", "fact", scope=BOB),
    ):
        with pytest.raises(AccessDenied):
            call()


def test_a_grant_to_write_or_erase_is_used_in_exactly_that_scope(memory: Memory) -> None:
    own = Scope("acme", "bob", "work", "planner")
    memory.add("what all of Bob's agents share", scope=BOB)
    acting = memory.acting_as(AGENT)
    memory.grant(scope=own, to=ANNA, expires_at="2100", rights=["read", "write", "erase"])
    written = acting.add("a plan", scope=own).id
    assert [record.text for record in acting.records(scope=own).records] == [
        "what all of Bob's agents share",
        "a plan",
    ]
    with pytest.raises(AccessDenied):
        acting.add("not mine", scope=BOB)
    shared = memory.records(scope=BOB).records[0].id
    with pytest.raises(AccessDenied):
        acting.erase(shared, scope=own)
    assert acting.erase(written, scope=own).removed["message"] == 1


def test_who_may_grant_revoke_and_audit(memory: Memory) -> None:
    memory.add("Anna likes tea", scope=ANNA)
    person, agent, admin, auditor = (memory.acting_as(one) for one in (PERSON, AGENT, ADMIN, AUDITOR))
    given = person.grant(scope=ANNA, to=BOB, expires_at="2100")
    assert admin.grants(tenant="acme") == [given] == person.grants(tenant="acme")
    assert auditor.grants(tenant="acme") == []
    for call in (
        lambda: agent.grant(scope=ANNA, to=BOB, expires_at="2100"),
        lambda: agent.revoke(given.id, tenant="acme"),
        lambda: person.grant(scope=BOB, to=ANNA, expires_at="2100"),
        lambda: auditor.messages(scope=ANNA),
        lambda: admin.messages(scope=ANNA),
        lambda: agent.audit_log("acme"),
        lambda: person.verify_audit("acme"),
        lambda: auditor.verify_audit("other"),
        lambda: agent.jobs(tenant="acme"),
        lambda: auditor.doctor(),
        lambda: admin.scopes("other"),
    ):
        with pytest.raises(AccessDenied):
            call()
    assert auditor.verify_audit("acme").is_sound
    assert auditor.audit_head("acme").seq == len(auditor.audit_log("acme", limit=1000))
    assert {scope.user for scope in admin.scopes("acme")} == {"anna", "bob"}
    assert admin.jobs(tenant="acme")
    admin.revoke(given.id, tenant="acme")
    admin.revoke(given.id, tenant="acme")
    assert memory.grants(tenant="acme")[0].revoked_at is not None
    with pytest.raises(NotFound):
        admin.revoke("00000000-0000-7000-8000-000000000000", tenant="acme")
    memory.grant(scope=ANNA, to="aud-1", expires_at="2100")
    with pytest.raises(AccessDenied):
        auditor.messages(scope=ANNA)


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": Scope("other", "anna")},
        {"to": "anna@example.org"},
        {"rights": ["own"]},
        {"rights": []},
        {"kinds": ["secret"]},
        {"expires_at": "1999"},
        {"expires_at": "soon"},
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        memory.grant(**{"scope": BOB, "to": ANNA, "expires_at": "2100", **wrong})
    assert memory.grants(tenant="acme") == []
    assert memory.scopes("acme") == []


def test_a_memory_of_its_owner_logs_when_it_is_asked_to(store_url: str) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        memory.add("silent", scope=ANNA)
        memory.recall("silent", scope=ANNA)
        assert by(memory) == []
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, audit=True) as memory:
        told = memory.add("logged", scope=ANNA).id
        memory.drain()
        memory.recall("logged", scope=ANNA, limit=1)
        memory.erase(told, scope=ANNA)
        memory.acting_as(AGENT).add("by the agent", scope=ANNA)
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False) as memory:
        assert sorted(by(memory)) == [
            ("key-1", "write", False, 1),
            ("owner", "erase", False, 1),
            ("owner", "recall", False, 1),
            ("owner", "write", False, 1),
        ]


def test_the_doctor_notices_an_end_that_does_not_fit(
    store_url: str, memory: Memory, request: pytest.FixtureRequest
) -> None:
    memory.acting_as(AGENT).add(["one"], scope=ANNA)
    assert [one for one in memory.doctor() if one.check == "audit"] == []
    with unprotected(store_url, request) as run:
        run("DELETE FROM audit_entry")
    (finding,) = [one for one in memory.doctor() if one.check == "audit"]
    assert (finding.level, "audit verify" in finding.remedy) == ("fault", True)


def _iso(micros: int) -> str:
    seconds = time.gmtime(micros // 1_000_000)
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", seconds)
