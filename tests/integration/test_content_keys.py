"""Content keys on a real PostgreSQL: nothing readable in its files, and nothing at all once a key is destroyed."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import LargeBinary, Text

from postgres_server import PostgresServer
from retentia import Document, Memory, Scope, Source, ToolCall
from retentia.cli.main import cli
from retentia.errors import ContentKeyLost, InvalidInput, StoreBusy, StoreCorrupt, WrongKey
from retentia.lifecycle.backup import restore
from retentia.lifecycle.encrypt_content import change_master_key, encrypt_content
from retentia.model.ids import RecordId
from retentia.store.database import Transaction
from retentia.store.open import dialect_of
from retentia.store.postgres import PostgresDialect
from retentia.store.schema import TENANT_TABLES, content_key
from retentia.store.sealed import PLAIN, SEALED
from retentia.testing import FakeEmbedder

KEY, OTHER_KEY = "5e" * 32, "a passphrase"
ANNA, BEN = Scope("acme", "anna"), Scope("acme", "ben")
SECRET = "Zwiebelkuchenrezept"
EMBEDDER = FakeEmbedder()


def opened(url: str, key: str | None = KEY, **options: Any) -> Memory:
    return Memory.open(url, embedder=EMBEDDER, worker=False, content_key=key, **options)


def tell(memory: Memory, scope: Scope = ANNA, secret: str = SECRET) -> list[RecordId]:
    """Put the secret wherever content can be."""
    said = memory.add(
        [
            {
                "role": "user",
                "content": f"My {secret} is old",
                "speaker": secret,
                "key": secret,
                "metadata": {"a": secret},
            }
        ],
        scope=scope,
        session=secret,
    )
    call = ToolCall(name="look", arguments={"q": secret}, result=secret, error=secret, key=f"call {secret}")
    ids = [*said.ids, *memory.log_tool_call(call, scope=scope, session=secret).ids]
    paper = Document(text=f"About {secret}. " * 20, title=secret, uri=f"file:{secret}", key=f"doc {secret}")
    ids += memory.add_document(paper, scope=scope).ids
    ids += memory.remember(
        f"Anna bakes {secret}",
        scope=scope,
        author=secret,
        metadata={"b": secret},
        sources=[Source(kind="message", id=ids[0])],
    ).ids
    memory.drain()
    return ids


@pytest.fixture
def server(postgres_server: PostgresServer) -> PostgresServer:
    return postgres_server


@pytest.fixture
def name(postgres_url: str) -> str:
    return postgres_url.partition("@/")[2].partition("?")[0]


@pytest.fixture
def connection(server: PostgresServer, name: str) -> Iterator[psycopg.Connection]:
    with server.connect(name) as connection:
        yield connection


def files_with(server: PostgresServer, text: bytes) -> list[str]:
    """Name the files of the server, its write-ahead log too, that hold a text."""
    server.run("CHECKPOINT")
    data = Path(server.folder, "data")
    found = []
    for folder in ("base", "pg_wal"):
        for file in sorted((data / folder).rglob("*")):
            try:
                if file.is_file() and text in file.read_bytes():
                    found.append(str(file.relative_to(data)))
            except FileNotFoundError:  # another test has dropped its database
                continue
    return found


def test_from_the_first_write_on_the_files_of_the_server_hold_nothing_that_was_said(
    postgres_url: str, server: PostgresServer
) -> None:
    secret = "Quittengeleeglas"  # of this test alone: the server is shared
    with opened(postgres_url) as memory:
        ids = tell(memory, secret=secret)
        planned = memory.plan_forgetting(ids=ids[:1], scope=ANNA)
        memory.forget(planned, undo_for=timedelta(days=1))
        memory.hold(scope=ANNA, reason="case 1")
        memory.erase(ids[1:3], scope=ANNA)
        assert files_with(server, secret.encode()) == []
        assert [one.content["text"] for one in memory.custody(tenant="acme", content=True, reason="1") if one.content]


def test_a_plain_store_does_hold_it_so_that_the_search_for_it_is_not_blind(
    postgres_url: str, server: PostgresServer
) -> None:
    secret = "Stachelbeerschaum"
    with opened(postgres_url, None) as memory:
        tell(memory, secret=secret)
    assert any(file.startswith("base") for file in files_with(server, secret.encode()))


def test_what_was_written_is_found_and_read_as_it_was(postgres_url: str) -> None:
    with opened(postgres_url) as memory:
        tell(memory)
    with opened(postgres_url) as memory:
        (message,) = memory.messages(scope=ANNA, session=SECRET)
        assert (message.text, message.speaker, message.key) == (f"My {SECRET} is old", SECRET, SECRET)
        assert message.metadata == {"a": SECRET}
        assert message.session == SECRET
        assert memory.recall(SECRET, scope=ANNA)[0].signals
        again = memory.add({"role": "user", "content": "x", "key": SECRET}, scope=ANNA, session=SECRET)
        assert again.ids == (message.id,), "the key of a source is known again"
        seen = memory.remember(f"Anna bakes {SECRET}", scope=ANNA)
        assert len(seen.ids) == 1
        assert memory.stats(scope=ANNA).records["note"] == 1, "what is said twice is one item"
        assert [one for one in memory.doctor() if one.level == "fault"] == []


def test_the_size_of_what_a_person_has_is_the_same_with_keys_and_without(
    postgres_url: str, second_postgres_url: str
) -> None:
    with opened(postgres_url) as keyed, opened(second_postgres_url, None) as plain:
        for memory in (keyed, plain):
            tell(memory)
            memory.add(["ä", "two", "three!", "four and more"], scope=ANNA)
        assert keyed.keeping.growth("acme") == plain.keeping.growth("acme")


class TestDestroyingAKey:
    def test_with_the_last_of_a_person_their_key_goes_and_the_receipt_says_so(
        self, postgres_url: str, server: PostgresServer, connection: psycopg.Connection
    ) -> None:
        with opened(postgres_url) as memory:
            ids = tell(memory)
            tell(memory, BEN)
            (wrapped,) = (
                connection.execute(
                    "SELECT wrapped FROM content_key JOIN scope USING (tenant, scope_id) WHERE \"user\" = 'anna'"
                ).fetchone()
                or ()
            )
            single = memory.erase(ids[1:2], scope=ANNA)
            assert single.keys_destroyed == 0
            assert "only copies that still hold it wrapped" in single.pending
            (receipt,) = memory.forget_person([memory.plan_forgetting(everything=True, scope=ANNA)])
            assert receipt.keys_destroyed == 1
            assert connection.execute("SELECT count(*) FROM content_key").fetchone() == (1,)
            tables = [file for file in files_with(server, wrapped) if file.startswith("base")]
            assert tables == [], "the table of keys was written anew"
            assert memory.recall(SECRET, scope=BEN)

    def test_rows_that_were_saved_before_cannot_be_read_afterwards(
        self, postgres_url: str, connection: psycopg.Connection
    ) -> None:
        with opened(postgres_url) as memory:
            tell(memory)
            saved = {
                table: connection.execute(f"SELECT * FROM {table}").fetchall()
                for table in ("scope", "session", "message")
            }
            memory.forget(memory.plan_forgetting(everything=True, scope=ANNA))
            assert connection.execute("SELECT count(*) FROM content_key").fetchone() == (0,)
        for table, rows in saved.items():
            connection.execute(f"DELETE FROM {table}")
            for row in rows:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(row))})", row)
        with opened(postgres_url) as memory:
            with pytest.raises(ContentKeyLost, match="cannot be read"):
                memory.messages(scope=ANNA, session=SECRET)
            assert any(one.check == "content" and one.level == "fault" for one in memory.doctor())
            with pytest.raises(ContentKeyLost):
                memory.add("something new", scope=ANNA, session="new")

    def test_what_is_told_after_everything_was_forgotten_has_a_new_key_in_every_process(
        self, postgres_url: str
    ) -> None:
        with opened(postgres_url) as one, opened(postgres_url) as other:
            tell(one)
            assert other.recall(SECRET, scope=ANNA)
            one.forget(one.plan_forgetting(everything=True, scope=ANNA))
            other.add("The harbour is closed", scope=ANNA)
            assert [record.text for record in one.messages(scope=ANNA)] == ["The harbour is closed"]

    def test_the_bin_and_a_hold_keep_the_key_until_they_let_go(
        self, postgres_url: str, connection: psycopg.Connection
    ) -> None:
        def keys() -> tuple[int]:
            return connection.execute("SELECT count(*) FROM content_key").fetchone() or (-1,)

        with opened(postgres_url) as memory:
            tell(memory)
            hold = memory.hold(scope=ANNA, reason="case 2")
            memory.forget(memory.plan_forgetting(everything=True, scope=ANNA), undo_for=timedelta(days=1))
            assert keys() == (1,)
            memory.forget(memory.plan_forgetting(everything=True, scope=ANNA))
            assert keys() == (1,)
            memory.release(hold.id, tenant="acme")
            assert keys() == (0,)

    def test_another_master_key_makes_every_older_copy_of_a_wrapped_key_unreadable(
        self, postgres_url: str, connection: psycopg.Connection
    ) -> None:
        with opened(postgres_url) as memory:
            tell(memory)
        before = connection.execute("SELECT wrapped FROM content_key").fetchall()
        assert change_master_key(server_of(postgres_url), KEY, OTHER_KEY) == 1
        assert connection.execute("SELECT wrapped FROM content_key").fetchall() != before
        with pytest.raises(WrongKey):
            opened(postgres_url)
        with opened(postgres_url, OTHER_KEY) as memory:
            assert memory.recall(SECRET, scope=ANNA)
        connection.execute("UPDATE content_key SET wrapped = %s", before[0])
        with opened(postgres_url, OTHER_KEY) as memory, pytest.raises(StoreCorrupt, match="content key of a scope"):
            memory.messages(scope=ANNA, session=SECRET)


class TestRefusing:
    def test_no_key_a_wrong_one_and_one_too_many_are_told_with_the_remedy(
        self, postgres_url: str, second_postgres_url: str, tmp_path: Path
    ) -> None:
        with opened(postgres_url) as memory:
            tell(memory)
        with pytest.raises(WrongKey, match="RETENTIA_KEY"):
            opened(postgres_url, None)
        with pytest.raises(WrongKey, match="give the one it was made with"):
            opened(postgres_url, OTHER_KEY)
        with opened(second_postgres_url, None) as memory:
            tell(memory)
        with pytest.raises(InvalidInput, match="retentia encrypt"):
            opened(second_postgres_url)
        with pytest.raises(InvalidInput, match="with key="):
            opened(str(tmp_path / "memory.db"))

    @pytest.mark.parametrize(
        "damage",
        [
            "UPDATE message SET text = (SELECT text FROM tool_call LIMIT 1)",
            "UPDATE message SET text = speaker",
            "UPDATE message SET text = (SELECT m.text FROM message m WHERE m.id <> message.id LIMIT 1)",
            "UPDATE message SET text = overlay(text placing 'AAAA' from 30)",
            "UPDATE message SET text = 'put here in the clear'",
        ],
    )
    def test_what_was_changed_or_swapped_is_never_shown(
        self, postgres_url: str, connection: psycopg.Connection, damage: str
    ) -> None:
        with opened(postgres_url) as memory:
            tell(memory)
            memory.add("A second message", scope=ANNA, session=SECRET)
            connection.execute(damage)  # type: ignore[call-overload]
            with pytest.raises(StoreCorrupt, match="does not open with its key"):
                memory.messages(scope=ANNA, session=SECRET)
            connection.execute("UPDATE session SET name = 'put here in the clear'")
            with pytest.raises(StoreCorrupt, match="'name' of the session"):
                memory.sessions(scope=ANNA)

    def test_the_row_of_one_key_in_the_place_of_another_is_told(
        self, postgres_url: str, connection: psycopg.Connection
    ) -> None:
        with opened(postgres_url) as memory:
            tell(memory)
            tell(memory, BEN)
            rows = connection.execute("SELECT scope_id, key_id, wrapped FROM content_key").fetchall()
            for (scope_id, *_), (_, key_id, wrapped) in zip(rows, rows[::-1], strict=True):
                connection.execute(
                    "UPDATE content_key SET key_id = %s, wrapped = %s WHERE scope_id = %s", (key_id, wrapped, scope_id)
                )
            with pytest.raises(StoreCorrupt, match="content key of a scope"):
                memory.messages(scope=ANNA)


def server_of(url: str) -> PostgresDialect:
    dialect = dialect_of(url)
    assert isinstance(dialect, PostgresDialect)
    return dialect


class TestEncryptingAStore:
    def test_a_plain_store_gets_keys_and_says_the_same(self, postgres_url: str, connection: psycopg.Connection) -> None:
        with opened(postgres_url, None) as memory:
            tell(memory)
            tell(memory, BEN)
            memory.forget(memory.plan_forgetting(about="baking bakes", scope=BEN), undo_for=timedelta(days=1))
            before = memory.messages(scope=ANNA, session=SECRET), memory.recall(SECRET, scope=ANNA)
            with pytest.raises(StoreBusy, match="open elsewhere"):
                encrypt_content(server_of(postgres_url), KEY)
        assert "VACUUM FULL" in encrypt_content(server_of(postgres_url), KEY)
        for table in TENANT_TABLES:
            rows = connection.execute(f"SELECT {table.name}::text FROM {table.name}").fetchall()
            assert not [row for row in rows if SECRET in row[0]], table.name
        with opened(postgres_url) as memory:
            assert (memory.messages(scope=ANNA, session=SECRET), memory.recall(SECRET, scope=ANNA)) == before
        with pytest.raises(InvalidInput, match="encrypted already"):
            encrypt_content(server_of(postgres_url), KEY)

    def test_when_it_was_interrupted_it_goes_on_and_nobody_opens_it_meanwhile(self, postgres_url: str) -> None:
        with opened(postgres_url, None) as memory:
            tell(memory)
            tell(memory, BEN)
        told: list[int] = []

        def stop(rows: int) -> None:
            told.append(rows)
            if len(told) == 12:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            encrypt_content(server_of(postgres_url), KEY, progress=stop)
        for key in (None, KEY):
            with pytest.raises(InvalidInput, match="retentia encrypt"):
                opened(postgres_url, key)
        with pytest.raises(WrongKey):
            encrypt_content(server_of(postgres_url), OTHER_KEY)
        encrypt_content(server_of(postgres_url), KEY)
        with opened(postgres_url) as memory:
            assert all(memory.recall(SECRET, scope=scope) for scope in (ANNA, BEN))


def test_the_commands_encrypt_a_store_and_change_its_master_key(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run(*words: str) -> Result:
        scope = ("--tenant", "acme", "--user", "anna", "--embedder", "none")
        found: Result = CliRunner().invoke(cli, [*words, "--store", postgres_url, *scope])
        return found

    with opened(postgres_url, None) as memory:
        tell(memory)
    assert isinstance(run("encrypt").exception, InvalidInput)
    monkeypatch.setenv("RETENTIA_KEY", KEY)
    assert "retentia encrypt" in str(run("recall", SECRET).exception)
    assert "pending: " in run("encrypt").output
    assert SECRET in run("recall", SECRET).output
    assert "RETENTIA_NEW_KEY" in str(run("rekey").exception)
    (tmp_path / "new").write_text(OTHER_KEY)
    monkeypatch.setenv("RETENTIA_NEW_KEY_FILE", str(tmp_path / "new"))
    assert "1 content keys" in run("rekey").output
    assert isinstance(run("recall", SECRET).exception, WrongKey)
    monkeypatch.setenv("RETENTIA_KEY", OTHER_KEY)
    assert SECRET in run("recall", SECRET).output
    made = str(tmp_path / "one.zip")
    assert run("backup", "create", made).exit_code == 0
    assert run("doctor").exit_code == 0


def test_a_backup_is_encrypted_and_gives_the_copy_keys_of_its_own(
    postgres_url: str, second_postgres_url: str, tmp_path: Path
) -> None:
    with opened(postgres_url) as memory:
        tell(memory)
        with pytest.raises(InvalidInput, match="key="):
            memory.backup(tmp_path / "plain.zip")
        assert memory.backup(tmp_path / "one.zip", key=KEY).is_encrypted
        said = memory.messages(scope=ANNA, session=SECRET)
    restore(tmp_path / "one.zip", second_postgres_url, key=KEY, content_key=OTHER_KEY)
    with opened(second_postgres_url, OTHER_KEY) as memory:
        assert memory.messages(scope=ANNA, session=SECRET) == said
        assert memory.recall(SECRET, scope=ANNA)
    restore(tmp_path / "one.zip", tmp_path / "file.db", key=KEY)
    with Memory.open(tmp_path / "file.db", embedder=EMBEDDER, worker=False, key=KEY) as memory:
        assert memory.messages(scope=ANNA, session=SECRET) == said


def test_every_table_of_scopes_is_sealed_or_named_as_one_without_content() -> None:
    ours = {"scope", "change", "job", "hold", "access_grant", "content_key", "personal_data", "manifest"}
    ours |= {"record_use"}
    by_digest = {"tool_use"}  # named in docs/explain/encryption.md
    of_scopes = {table for table in TENANT_TABLES if "scope_id" in table.c}
    assert {table.name for table in of_scopes - SEALED.keys()} == ours | by_digest


def test_every_column_with_text_or_bytes_is_sealed_or_named_as_plain() -> None:
    for table, sealed in SEALED.items():
        told = {column.name for column in table.c if isinstance(column.type, (Text, LargeBinary))}
        ids = {name for name in told if re.search(r"(^|_)id$|^thread$|^tenant$", name)}
        assert told - ids - sealed.keys() == PLAIN.get(table.name, frozenset()), table.name


def test_a_plain_store_pays_nothing_and_says_what_is_not_proved(postgres_url: str, sqlite_url: str) -> None:
    with opened(postgres_url, None) as memory:
        tell(memory)
        with memory._database.read("acme") as transaction:
            assert type(transaction) is Transaction
            assert transaction.rows(content_key.select().where(content_key.c.tenant == "acme")) == []
        (finding,) = [one for one in memory.doctor() if one.check == "content"]
        assert (finding.level, "retentia encrypt" in finding.remedy) == ("note", True)
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        assert [one for one in memory.doctor() if one.check == "content"] == []
