from typing import Any

import pytest

from retentia.errors import EmptyContent, InvalidInput, InvalidMoment
from retentia.model.portable import LINE_KINDS, SESSION
from retentia.model.provenance import Trust
from retentia.model.time import Moment
from retentia.store.records import RECORD_TABLES
from retentia.store.schema import session
from retentia.transfer.fields import FIELDS, NOT_EXPORTED, table_of
from retentia.transfer.lines import Parsed, parse_line

NOW = Moment.parse("2026-06-01T12:00:00+02:00")
PLACE = {"tenant", "scope_id", "id", "kind"}
MOMENT = {"occurred_start", "occurred_end", "precision", "zone"}
ID = "01a22cdc-26b5-78fb-b08e-0abe8d4716b8"


def parsed(**line: Any) -> Parsed:
    return parse_line(line, now=NOW)


def test_every_column_of_a_record_is_exported_or_named_as_derived() -> None:
    tables = {table_of(kind): {field.stored_as for field in fields} for kind, fields in FIELDS.items()}
    assert tables.keys() == {session, *RECORD_TABLES}
    for table, columns in tables.items():
        moment = set() if table is session else MOMENT
        every = set(table.c.keys())
        assert columns | NOT_EXPORTED[table.name] | PLACE & every | moment == every, table.name


def test_every_kind_has_its_fields() -> None:
    assert FIELDS.keys() == LINE_KINDS


def test_a_line_needs_little_and_gets_careful_defaults() -> None:
    note = parsed(kind="note", text="Likes tea")
    assert (note.values["trust"], note.values["status"], note.id, note.moment) == ("outside", "stated", None, None)
    assert parsed(kind="message", role="user", text="Hi").values["trust"] == Trust.PERSON
    assert parsed(kind="message", role="tool", text="7").values["trust"] == Trust.OUTSIDE
    assert parsed(kind="message", role="user", text="Hi").moment == NOW
    assert parsed(kind="note", text="x", occurred="2026-05").moment == Moment.parse("2026-05", zone=NOW.zone)


def test_a_line_that_does_not_say_how_long_it_is_kept_leaves_that_to_the_store() -> None:
    assert not {"review_at", "expires_at"} & parsed(kind="note", text="x").values.keys()
    told = parsed(kind="note", text="x", review_at=None, expires_at=7).values
    assert (told["review_at"], told["expires_at"]) == (None, 7)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"kind": "diary", "text": "x"}, "kind 'diary' is not known"),
        ({"text": "x"}, "kind 'None' is not known"),
        ({"kind": ["note"], "text": "x"}, "is not known"),
        ({"kind": "note"}, "a note needs text"),
        ({"kind": "message", "text": "x"}, "a message needs role"),
        ({"kind": "tool_call", "text": "x"}, "a tool_call needs name"),
        ({"kind": SESSION}, "a session needs name"),
        ({"kind": "note", "text": "x", "tenant": "other"}, "a note has no field 'tenant'"),
        ({"kind": "note", "text": "x", "scope": {}}, "a note has no field 'scope'"),
        ({"kind": "note", "text": 7}, "text must be text, not int"),
        ({"kind": "note", "text": "x", "id": "7"}, "id must be 32 hexadecimal digits"),
        ({"kind": "note", "text": "x", "id": 7}, "id must be 32 hexadecimal digits"),
        ({"kind": "note", "text": "x", "trust": "god"}, "trust must be one of agent, outside, person"),
        ({"kind": "note", "text": "x", "status": ["stated"]}, "status must be one of"),
        ({"kind": "note", "text": "x", "seen_count": 0}, "seen_count must be an integer from 1"),
        ({"kind": "note", "text": "x", "seen_count": True}, "seen_count must be an integer"),
        ({"kind": "note", "text": "x", "recorded_at": 1 << 80}, "recorded_at must be an integer"),
        ({"kind": "note", "text": "x", "confidence": "high"}, "confidence must be a number"),
        ({"kind": "note", "text": "x", "metadata": [1]}, "metadata must be a JSON object"),
        ({"kind": "note", "text": "x", "author": "a" * 2000}, "the author may have 1000 characters"),
        ({"kind": "note", "text": "x", "sources": {}}, "sources must be a list"),
        ({"kind": "note", "text": "x", "sources": ["y"]}, "a source has kind and id"),
        ({"kind": "note", "text": "x", "sources": [{"kind": "note", "id": "y"}]}, "the id of a source must be"),
        ({"kind": "note", "text": "x", "sources": [{"kind": "note", "id": ID, "start": -1}]}, "counted from 0"),
        ({"kind": "note", "text": "x", "sources": [{"kind": 7, "id": ID}]}, "must be text"),
        ({"kind": "message", "role": "boss", "text": "x"}, "role must be one of"),
        ({"kind": "message", "role": "user", "text": "x", "pinned": "yes"}, "pinned must be true or false"),
        ({"kind": "message", "role": "user", "text": "x", "seq": 0}, "seq must be an integer from 1"),
        ({"kind": "message", "role": "user", "text": "x", "session": {}}, "the session must be text"),
        ({"kind": SESSION, "name": "x", "occurred": None}, "a session has no field 'occurred'"),
    ],
)
def test_a_line_that_cannot_be_used_names_the_field(line: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidInput, match=says.replace("(", r"\(")):
        parse_line(line, now=NOW)


@pytest.mark.parametrize(
    "occurred",
    [
        "soon",
        7,
        {"start": 0},
        {"start": 5, "end": 1, "precision": "instant", "zone": "UTC"},
        {"start": 0, "end": 1, "precision": "eon", "zone": "UTC"},
        {"start": 0, "end": 1, "precision": "instant", "zone": "Mars"},
        {"start": 1 << 70, "end": (1 << 70) + 1, "precision": "instant", "zone": "UTC"},
    ],
)
def test_a_time_that_is_none_is_refused(occurred: object) -> None:
    with pytest.raises(InvalidMoment):
        parsed(kind="note", text="x", occurred=occurred)


def test_what_has_no_content_is_refused() -> None:
    for line in (
        {"kind": "note", "text": " "},
        {"kind": "document", "text": "\n"},
        {"kind": "message", "role": "user"},
    ):
        with pytest.raises(EmptyContent):
            parse_line(line, now=NOW)
    assert parsed(kind="message", role="user", parts={"content": []}).values["text"] == ""


def test_what_no_database_holds_and_secrets_are_replaced_and_said() -> None:
    found = parsed(kind="note", text="a\x00b\ud800 my key is AKIAIOSFODNN7EXAMPLE", author="\ud800")
    assert found.values["text"].startswith("a�b�")
    assert "AKIA" not in found.values["text"]
    assert found.values["author"] == "�"
    assert len(found.notes) == 2
