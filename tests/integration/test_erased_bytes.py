"""No byte of what was erased is in any file of a SQLite store, wherever it was said and however its rows had moved."""

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentia import Document, Memory, Message, Scope, ToolCall
from retentia.store import sqlite_bytes
from retentia.testing import FakeEmbedder

ME = Scope("acme", "anna")
OTHER = Scope("acme", "bert")
FIELDS = (  # noqa: SIM905 - easier to read
    "text, part, other part, speaker, key, metadata, metadata key, session, tool, call id, arguments, result, error, "
    "call key, title, uri, media, document, document key, item, author, item metadata"
).split(", ")


def tell(memory: Memory, scope: Scope, mark: str, number: int) -> None:
    """Say the mark in every field that takes text; different each time, so that no two rows are the same."""

    def say(field: str) -> str:
        return f"{mark}<{field}>{number:05}"

    memory.add(
        [
            Message(
                role="user",
                content=[{"type": "text", "text": say("part")}, {"type": "image", "url": say("other part")}],
                speaker=say("speaker"),
                key=f"{number * 7919 % 10007} {say('key')}",
                metadata={say("metadata key"): [say("metadata")]},
            ),
            Message(role="assistant", content=say("text"), tool_calls=[{"id": say("call id"), "name": say("tool")}]),
            Message(role="tool", content=say("text") * 30, tool_call_id=say("call id")),
        ],
        scope=scope,
        session=f"{number * 7919 % 10007} {say('session')}",
    )
    call = ToolCall(
        name=say("tool"),
        arguments={"q": say("arguments")},
        result=[say("result")],
        status="error",
        error=say("error"),
        key=f"{number * 7919 % 10007} {say('call key')}",
        metadata={"m": say("metadata")},
    )
    memory.log_tool_call(call, scope=scope, session=say("session"))
    document = Document(
        text=say("document") * 40, title=say("title"), uri=say("uri"), media_type=say("media"), key=say("document key")
    )
    memory.add_document(document, scope=scope)
    memory.remember(say("item"), "fact", scope=scope, author=say("author"), metadata={"m": say("item metadata")})


def left_of(mark: str, folder: Path) -> dict[str, int]:
    found = {file.name: file.read_bytes().count(mark.encode()) for file in folder.iterdir()}
    return {name: count for name, count in found.items() if count}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder=FakeEmbedder(), worker=False) as opened:
        yield opened


def test_every_field_of_everything_of_a_scope_is_gone(memory: Memory, tmp_path: Path) -> None:
    for number in range(120):
        for scope, mark in ((ME, "ZWETSCHGE"), (OTHER, "neighbour")):
            tell(memory, scope, mark, number)
    memory.drain()
    assert all(f"ZWETSCHGE<{field}>".encode() in everything(tmp_path) for field in FIELDS)
    before = {scope: memory.stats(scope=scope).records for scope in (ME, OTHER)}
    one = memory.records(scope=ME, limit=1).records[0].id
    assert memory.erase(one, scope=ME).pending == ""
    receipt = memory.forget(memory.plan_forgetting(everything=True, scope=ME))
    assert (
        sum(receipt.removed[kind] for kind in ("message", "tool_call", "document", "fact"))
        == sum(before[ME].values()) - 1
    )
    assert receipt.pending == ""
    assert left_of("ZWETSCHGE", tmp_path) == {}
    assert memory.stats(scope=OTHER).records == before[OTHER]
    with memory._database.read("") as transaction:
        assert memory._database.dialect.integrity_problems(transaction.connection) == []


def everything(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in folder.iterdir())


def test_what_a_connection_still_has_in_its_cache_does_not_come_back(memory: Memory, tmp_path: Path) -> None:
    for number in range(60):
        for scope, mark in ((ME, "ZWETSCHGE"), (OTHER, "neighbour")):
            tell(memory, scope, mark, number)
    with closing(sqlite3.connect(tmp_path / "memory.db", isolation_level=None)) as other:
        for table in ("message", "tool_call", "document", "item", "session"):
            other.execute(f"SELECT * FROM {table}").fetchall()  # every page is in its cache now
        memory.forget(memory.plan_forgetting(everything=True, scope=ME))
        for table, column in (("message", "speaker"), ("tool_call", "error"), ("document", "uri"), ("session", "name")):
            other.execute(f"UPDATE {table} SET {column} = {column} || 'x'")
        other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert left_of("ZWETSCHGE", tmp_path) == {}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), page=st.sampled_from([512, 4096, 8192, 65536]))
def test_blanking_changes_no_row_and_leaves_no_byte(
    tmp_path_factory: pytest.TempPathFactory, seed: int, page: int
) -> None:
    """Whatever was written and deleted in whatever order, on pages of any size."""
    path = tmp_path_factory.mktemp("pages") / "pages.db"
    chance = random.Random(seed)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        run = connection.execute
        run(f"PRAGMA page_size = {page}")
        run("PRAGMA secure_delete = ON")
        run("CREATE TABLE a (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID")
        run("CREATE TABLE b (id INTEGER PRIMARY KEY, k TEXT UNIQUE, v TEXT)")
        run("BEGIN")
        for number in range(600):
            who = "GONE" if chance.random() < 0.5 else "kept"
            row = (f"{chance.random()}{who}{number}", f"{who}{number}" * chance.choice([1, 3, 40, 400]))
            run("INSERT INTO a VALUES (?, ?)", row)
            run("INSERT INTO b (k, v) VALUES (?, ?)", row)
        run("DELETE FROM a WHERE v LIKE 'GONE%'")
        run("DELETE FROM b WHERE v LIKE 'GONE%'")
        run("COMMIT")
        rows = run("SELECT * FROM a").fetchall(), run("SELECT * FROM b").fetchall()
    with sqlite_bytes.descriptor(path, write=True) as opened:
        sqlite_bytes.blank(opened, sqlite_bytes.stale_pages(opened))
        assert sqlite_bytes.stale_pages(opened) == []
    assert b"GONE" not in path.read_bytes()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        again = connection.execute("SELECT * FROM a").fetchall(), connection.execute("SELECT * FROM b").fetchall()
    assert again == rows


def test_neighbours_have_the_terms_and_vectors_they_had_if_the_erased_was_never_said(tmp_path: Path) -> None:
    said = [f"The {word} is near the station, {word}" for word in ("bakery", "ZWETSCHGE", "school", "library")]

    def derived(path: Path, texts: list[str], *, erase: int | None) -> list[list[tuple[object, ...]]]:
        with Memory.open(path, embedder=FakeEmbedder(), worker=False) as memory:
            ids = memory.add([{"role": "user", "content": text, "at": "2026-05-01"} for text in texts], scope=ME).ids
            memory.drain()
            if erase is not None:
                memory.erase(ids[erase], scope=ME)
        terms = 'SELECT part, kind, role, speaker, day, flags, "start", "end", stems, grams FROM passage ORDER BY seq'
        vectors = "SELECT part, vector FROM vector JOIN passage USING (record_id, part) ORDER BY seq"
        with closing(sqlite3.connect(path)) as connection:
            return [connection.execute(statement).fetchall() for statement in (terms, vectors)]

    never = derived(tmp_path / "never.db", [said[0], *said[2:]], erase=None)
    assert derived(tmp_path / "memory.db", said, erase=1) == never
    assert len(never[1]) == 3


def test_erasing_and_verifying_for_long_uses_up_no_descriptors(memory: Memory, tmp_path: Path) -> None:
    ids = memory.add([f"text {number}" for number in range(60)], scope=ME).ids
    counts = set()
    for record_id in ids:
        memory.erase(record_id, scope=ME)
        memory.verify_erasure("acme", [record_id], texts=["x"])
        Memory.open(tmp_path / "memory.db", embedder=None, worker=False).close()
        counts.add(len(list(Path("/proc/self/fd").iterdir())))
    assert max(counts) - min(counts) <= 6


def test_verifying_finds_a_text_wherever_it_lies_and_counts_it_once(memory: Memory, tmp_path: Path) -> None:
    memory.add({"role": "user", "content": "hello", "metadata": {"what": 'say "Käse"\n'}}, scope=ME)
    found = memory.verify_erasure("acme", [], texts=['say "Käse"\n', ""])
    assert sum(found.files.values()) >= 1
    beside = tmp_path / "memory.db.old"
    beside.write_bytes(b"x" * ((1 << 22) - 3) + b"NEEDLE" + b"y" * 100 + b"NEEDLE")
    assert memory.verify_erasure("acme", [], texts=["NEEDLE", "EEDL"]).files == {"memory.db.old": 4}
    long = "Z" * 9000
    beside.write_bytes(b"x" * ((1 << 22) - 4500) + long.encode())
    assert memory.verify_erasure("acme", [], texts=[long]).files == {"memory.db.old": 1}


def test_a_name_with_brackets_is_searched_too(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "my [1] *.db", embedder=None, worker=False) as memory:
        memory.add("a NEEDLE in it", scope=ME)
        assert memory.verify_erasure("acme", [], texts=["NEEDLE"]).files


def test_the_ledger_of_a_store_that_is_opened_by_a_link_lies_beside_the_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    with Memory.open(tmp_path / "real" / "memory.db", embedder=None, worker=False) as memory:
        one, two = memory.add(["one", "two"], scope=ME).ids
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "memory.db")
    with Memory.open(tmp_path / "link.db", embedder=None, worker=False) as memory:
        assert memory.erase(one, scope=ME).ledger_seq == 1
    with Memory.open(tmp_path / "real" / "memory.db", embedder=None, worker=False) as memory:
        assert memory.erase(two, scope=ME).ledger_seq == 2
