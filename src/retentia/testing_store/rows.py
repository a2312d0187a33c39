"""Rows to write in tests: as little as a table demands, and whatever the test is about."""

from typing import Any

from retentia.model.ids import new_id_bytes
from retentia.model.passage import Passage
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.store.schema import derived_from, document, item, message, tool_call

SCRIPTS = {
    "German": "Jürgen Groß wohnt in der Hauptstraße 5.",
    "Ukrainian": "Мене звати Олена, живу в Києві; ґанок і п'єса.",
    "Chinese": "张伟喜欢周游世界。",
    "Japanese": "東京で寿司を食べました。ｶﾀｶﾅ",
    "Arabic": "مرحبا بالعالم \u202e",
    "Hindi": "नमस्ते दुनिया",
    "emoji": "👩‍👩‍👧 🇺🇦 👍🏽",
    "piled accents": "e" + "\u0301" * 30,
    "two forms of one letter": "\u00e9 e\u0301",
    "beyond the basic plane": "𝕳𝖊𝖑𝖑𝖔 𐍈 \U0010ffff",
    "quotes": """it's "quoted" `so` $$ \\ \\' %s %(x)s :name ? ; -- /* */""",
    "injection": "'); DROP TABLE message; --",
    "blanks": " \t\r\n  edges \u00a0 \u2028 ",
    "control": "\x01\x1b[31m\x7f",
    "empty": "",
    "long": "0123456789abcdef" * 65_536,
}
"""Texts that must come back as they were, character by character."""


def write_message(
    transaction: Transaction, scope_id: int, session_id: bytes, seq: int, text: str = "hello", **more: object
) -> bytes:
    """Write one message; return its id."""
    record_id = new_id_bytes()
    fields = {"session_id": session_id, "seq": seq, "role": "user", "text": text}
    insert_many(transaction, message, [{**_key(transaction, scope_id, record_id), **fields, **more}])
    return record_id


def write_messages(transaction: Transaction, scope_id: int, session_id: bytes, count: int) -> list[bytes]:
    """Write many messages in one statement; return their ids in order."""
    rows = [
        {**_key(transaction, scope_id, new_id_bytes()), "session_id": session_id, "seq": seq, "text": f"message {seq}"}
        for seq in range(1, count + 1)
    ]
    insert_many(transaction, message, rows)
    return [row["id"] for row in rows]


def write_tool_call(
    transaction: Transaction, scope_id: int, session_id: bytes, seq: int, name: str = "search", **more: object
) -> bytes:
    """Write one tool call; return its id."""
    record_id = new_id_bytes()
    fields = {"session_id": session_id, "seq": seq, "name": name}
    insert_many(transaction, tool_call, [{**_key(transaction, scope_id, record_id), **fields, **more}])
    return record_id


def write_document(transaction: Transaction, scope_id: int, text: str = "a page", **more: object) -> bytes:
    """Write one document; return its id."""
    record_id = new_id_bytes()
    insert_many(transaction, document, [{**_key(transaction, scope_id, record_id), "text": text, **more}])
    return record_id


def write_item(
    transaction: Transaction, scope_id: int, text: str = "likes tea", kind: str = "fact", **more: object
) -> bytes:
    """Write one item; return its id."""
    record_id = new_id_bytes()
    insert_many(transaction, item, [{**_key(transaction, scope_id, record_id), "kind": kind, "text": text, **more}])
    return record_id


def write_source(transaction: Transaction, child: bytes, parent: bytes, *, start: int = 0, end: int = 0) -> None:
    """Say that an item was learned from a message."""
    key = {"tenant": transaction.tenant, "child_kind": "item", "child_id": child}
    transaction.insert_new(
        derived_from, {**key, "parent_kind": "message", "parent_id": parent, "start": start, "end": end}
    )


def passage_of(record_id: bytes, part: int = 0, **more: Any) -> Passage:
    """Make a passage with a value in every column."""
    made = Passage(
        record_id=record_id,
        part=part,
        kind="message",
        thread=b"t" * 16,
        seq=7,
        role="user",
        speaker="Олена",
        day=20260600,
        occurred_start=-62_135_596_800_000_000,
        occurred_end=253_402_300_799_999_999,
        flags=3,
        start=0,
        end=2_000_000_000,
        stems=b"\x00\xff\x27\x5c",
        grams=bytes(range(256)),
    )
    return made._replace(**more)


def _key(transaction: Transaction, scope_id: int, record_id: bytes) -> dict[str, Any]:
    return {
        "tenant": transaction.tenant,
        "scope_id": scope_id,
        "id": record_id,
        "recorded_at": transaction.now,
        "trust": "person",
    }
