# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of records: they come back as they were written, and only to those who may see them."""

import json
from collections.abc import Mapping

from retentia.model.ids import SessionId, id_bytes, id_text, new_id_bytes
from retentia.model.message import JSON
from retentia.model.provenance import Source, Trust
from retentia.model.record import (
    ITEM_KINDS,
    DocumentRecord,
    Importance,
    ItemRecord,
    Kind,
    MessageRecord,
    Status,
    ToolCallRecord,
)
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import records, schema, scopes, sessions
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.testing_store.clock import FixedClock
from retentia.testing_store.rows import (
    SCRIPTS,
    write_document,
    write_item,
    write_message,
    write_messages,
    write_source,
    write_tool_call,
)

MINE = Scope("acme", "ann")
JSON_TREE: Mapping[str, JSON] = {
    "tags": ["größer", "Київ"],
    "deep": {"n": 1.5, "none": None, "yes": True},
    "big": 2**60,
    "quote": "'\"\\",
}
MOMENTS = (
    None,
    Moment.parse("2026"),
    Moment.parse("2026-06-01T19:00:00.123456-05:00"),
    Moment.parse("2026-06", zone="Europe/Kyiv"),
    Moment.parse("0001-01-02"),
    Moment.parse("9999-12-30T23:59:59.999999Z"),
)
RESULTS: tuple[JSON, ...] = (None, JSON_TREE, [], "", 0, False, "Ж" * 100_000)


class RecordsContract:
    """Records of one database."""

    def test_texts_of_every_script_come_back_character_by_character(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            expected: dict[Kind, dict[bytes, str]] = {kind: {} for kind in Kind}
            for seq, text in enumerate(SCRIPTS.values()):
                message = write_message(transaction, scope_id, session_id, seq, text, speaker=text)
                tool_call = write_tool_call(transaction, scope_id, session_id, seq, text, text=text, error=text)
                expected[Kind.MESSAGE][message] = expected[Kind.TOOL_CALL][tool_call] = text
                expected[Kind.DOCUMENT][write_document(transaction, scope_id, text, title=text, uri=text)] = text
                expected[Kind.NOTE][write_item(transaction, scope_id, text, "note", author=text)] = text
        everything = {record_id: text for by_id in expected.values() for record_id, text in by_id.items()}
        with database.read("acme") as transaction:
            assert records.texts(transaction, scope_id, expected) == everything
            found = records.fetch(transaction, View({scope_id: MINE}), expected)
        assert {record_id: record.text for record_id, record in found.items()} == everything
        assert all(found[record_id].kind == kind for kind, by_id in expected.items() for record_id in by_id)

    def test_a_message_comes_back_whole(self, database: Database, clock: FixedClock) -> None:
        fields = {"role": "assistant", "speaker": "Бот", "pinned": 1, "trust": "agent"}
        texts = {"parts": json.dumps(JSON_TREE), "metadata": json.dumps(JSON_TREE)}
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            for seq, moment in enumerate(MOMENTS):
                given = {**fields, **texts, "client_key": f"k-{seq}", **_occurred(moment)}
                written = write_message(transaction, scope_id, session_id, seq, "hi", **given)
                found = records.fetch(transaction, View({scope_id: MINE}), {Kind.MESSAGE: [written]})
                assert found[written] == MessageRecord(
                    id=id_text(written),
                    kind=Kind.MESSAGE,
                    scope=MINE,
                    text="hi",
                    occurred=moment,
                    recorded_at=clock.now,
                    trust=Trust.AGENT,
                    metadata=JSON_TREE,
                    session_id=SessionId(id_text(session_id)),
                    session="chat",
                    seq=seq,
                    role="assistant",
                    speaker="Бот",
                    key=f"k-{seq}",
                    pinned=True,
                    parts=JSON_TREE,
                )

    def test_a_tool_call_comes_back_whole(self, database: Database, clock: FixedClock) -> None:
        texts = {"arguments": json.dumps(JSON_TREE), "error": "Zeit überschritten", "text": "search: Größe"}
        numbers = {"duration_ms": 12.345678901234567, "tokens": 2**40}
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            for seq, result in enumerate(RESULTS):
                given = {**texts, **numbers, "status": "error", "result": json.dumps(result)}
                written = write_tool_call(transaction, scope_id, session_id, seq, "search", **given)
                found = records.fetch(transaction, View({scope_id: MINE}), {Kind.TOOL_CALL: [written]})[written]
                assert isinstance(found, ToolCallRecord)
                assert (found.name, found.arguments, found.result) == ("search", JSON_TREE, result)
                assert (found.status, found.error, found.seq) == ("error", "Zeit überschritten", seq)
                assert (found.duration_ms, found.tokens) == (12.345678901234567, 2**40)
                assert (found.session, found.recorded_at, found.occurred) == ("chat", clock.now, None)

    def test_a_document_comes_back_whole(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, _ = _place(transaction)
            given = {"title": "Bericht", "uri": "file:///a%20b", "media_type": "text/markdown", "client_key": "d"}
            written = write_document(transaction, scope_id, "# Seite\n", **given, **_occurred(MOMENTS[0]))
            found = records.fetch(transaction, View({scope_id: MINE}), {Kind.DOCUMENT: [written]})[written]
        assert isinstance(found, DocumentRecord)
        assert (found.text, found.title, found.uri, found.media_type) == (
            "# Seite\n",
            "Bericht",
            "file:///a%20b",
            "text/markdown",
        )
        assert (found.occurred, found.metadata) == (MOMENTS[0], {})

    def test_an_item_of_each_kind_comes_back_whole_with_its_sources(self, database: Database) -> None:
        given = {"status": "confirmed", "confidence": 0.1, "importance": "high", "author": "ann", "seen_count": 3}
        times = {"valid_from": -5, "valid_to": 2**52}
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            said = sorted(write_message(transaction, scope_id, session_id, seq) for seq in (1, 2))
            for kind in ITEM_KINDS:
                written = write_item(transaction, scope_id, "tea", kind, body=json.dumps(JSON_TREE), **given, **times)
                write_source(transaction, written, said[1], start=2, end=5)
                write_source(transaction, written, said[0])
                found = records.fetch(transaction, View({scope_id: MINE}), {kind: [written]})[written]
                assert isinstance(found, ItemRecord)
                assert (found.kind, found.status, found.importance) == (kind, Status.CONFIRMED, Importance.HIGH)
                assert (found.confidence, found.seen_count, found.version, found.author) == (0.1, 3, 1, "ann")
                assert (found.valid_from, found.valid_to, found.body) == (-5, 2**52, JSON_TREE)
                assert found.sources == (
                    Source(kind="message", id=id_text(said[0])),
                    Source(kind="message", id=id_text(said[1]), start=2, end=5),
                )

    def test_only_what_lies_in_the_view_is_found(self, database: Database) -> None:
        with database.write("acme") as transaction:
            mine, session_id = _place(transaction)
            other = scopes.ensure(transaction, Scope("acme", "bob"))
            seen, hidden = write_item(transaction, mine), write_item(transaction, other)
            view, ids = View({mine: MINE}), [seen, hidden, new_id_bytes()]
            assert set(records.fetch(transaction, view, {Kind.FACT: ids})) == {seen}
            assert records.kinds_of(transaction, view, ids) == {Kind.FACT: [seen]}
            assert set(records.texts(transaction, mine, {Kind.FACT: ids})) == {seen}
            assert records.counts(transaction, view) == {"message": 0, "tool_call": 0, "document": 0, "fact": 1}
            assert records.fetch(transaction, View({}), {Kind.FACT: ids}) == {}
            assert records.session_messages(transaction, View({other: MINE}), session_id) == []

    def test_a_thousand_ids_are_no_trouble(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            ids = write_messages(transaction, scope_id, session_id, 1301)
            assert len(records.fetch(transaction, View({scope_id: MINE}), {Kind.MESSAGE: ids})) == 1301
            assert records.kinds_of(transaction, View({scope_id: MINE}), ids) == {Kind.MESSAGE: sorted(ids)}

    def test_keys_make_writing_idempotent_within_their_place(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            other = sessions.ensure(transaction, scope_id, "other")
            written = write_message(transaction, scope_id, session_id, 1, client_key="ключ")
            write_message(transaction, scope_id, session_id, 2)
            write_message(transaction, scope_id, session_id, 3)
            keys = ["ключ", "ключ2", "%", ""]
            assert records.known_keys(transaction, schema.message, scope_id, session_id, keys) == {"ключ": written}
            assert records.known_keys(transaction, schema.message, scope_id, other, keys) == {}
            write_message(transaction, scope_id, other, 1, client_key="ключ")
            page = write_document(transaction, scope_id, client_key="p")
            assert records.known_keys(transaction, schema.document, scope_id, None, ["p"]) == {"p": page}

    def test_an_item_seen_again_is_counted(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, _ = _place(transaction)
            written = write_item(transaction, scope_id, kind="fact", content_key=b"c" * 16)
            assert records.see_again(transaction, scope_id, "fact", b"c" * 16) == written
            assert records.see_again(transaction, scope_id, "note", b"c" * 16) is None
            assert records.see_again(transaction, scope_id + 1, "fact", b"c" * 16) is None
            found = records.fetch(transaction, View({scope_id: MINE}), {Kind.FACT: [written]})[written]
        assert isinstance(found, ItemRecord)
        assert found.seen_count == 2

    def test_pages_go_through_all_records_once_in_the_order_of_their_ids(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            ids = [write_message(transaction, scope_id, session_id, seq) for seq in range(1, 8)]
            facts = [write_item(transaction, scope_id, kind=kind) for kind in ("fact", "note", "fact")]
            view, after = View({scope_id: MINE}), None
            paged: list[str] = []
            while page := records.page(transaction, view, schema.message, after=after, limit=3):
                paged.extend(record.id for record in page)
                after = id_bytes(page[-1].id)
            some = records.page(transaction, view, schema.item, after=None, limit=9, kinds=["fact"])
        assert paged == [id_text(record_id) for record_id in sorted(ids)]
        assert [record.id for record in some] == sorted(id_text(facts[at]) for at in (0, 2))

    def test_the_messages_of_a_session_come_in_its_order(self, database: Database) -> None:
        with database.write("acme") as transaction:
            scope_id, session_id = _place(transaction)
            for seq in (3, 1, 2, 5, 4):
                write_message(transaction, scope_id, session_id, seq, str(seq))
            write_message(transaction, scope_id, sessions.ensure(transaction, scope_id, "other"), 1)
            view = View({scope_id: MINE})
            said = records.session_messages(transaction, view, session_id, after=1, limit=3)
        assert [message.text for message in said] == ["2", "3", "4"]


def _place(transaction: Transaction) -> tuple[int, bytes]:
    scope_id = scopes.ensure(transaction, MINE)
    return scope_id, sessions.ensure(transaction, scope_id, "chat")


def _occurred(moment: Moment | None) -> dict[str, object]:
    if moment is None:
        return {}
    return {
        "occurred_start": moment.start,
        "occurred_end": moment.end,
        "precision": moment.precision.value,
        "zone": moment.zone,
    }
