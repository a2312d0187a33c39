"""Whose a session is: as a log tells it."""

import json
from pathlib import Path

from retentia.ingest import IngestMessage, Item, by_person, read
from retentia.model.message import JSON, Message, Role


def said(session: str, *, role: Role = "user", speaker: str = "", **metadata: JSON) -> Item:
    return IngestMessage(
        where="x", session=session, message=Message(role=role, content="Hi", speaker=speaker, metadata=metadata)
    )


def test_a_session_is_of_the_user_whose_id_any_of_its_messages_has() -> None:
    items = [said("a", role="assistant"), said("a", user_id="u1"), said("b", customer_id=7), said("b")]
    assert [(person, len(some)) for person, some in by_person(items)] == [("u1", 2), ("7", 2)]


def test_without_an_id_it_is_of_who_spoke_as_the_user() -> None:
    items = [said("a", role="assistant", speaker="Bot"), said("a", speaker="Anna"), said("b")]
    assert [person for person, _ in by_person(items)] == ["Anna", ""]


def test_what_is_known_of_a_session_holds_for_its_later_stretches() -> None:
    items = [said("a", user_id="u1"), said("b", user_id="u2"), said("a"), said("b")]
    assert [person for person, _ in by_person(items)] == ["u1", "u2", "u1", "u2"]


def test_a_conversation_tells_whose_its_messages_are(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    lines: list[JSON] = [{"user_id": name, "messages": [{"role": "user", "content": "Hi"}]} for name in ("u1", "u2")]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    assert [person for person, _ in by_person(read([path]))] == ["u1", "u2"]
