"""Reading what other memories wrote: real files, each entry taken or named as skipped."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from retentia.ingest import (
    Format,
    IngestDocument,
    IngestMessage,
    IngestRecord,
    IngestToolCall,
    Item,
    Skipped,
    detect,
    read,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ingest"


def records(items: Iterable[Item]) -> list[Any]:
    return [item.record for item in items if isinstance(item, IngestRecord)]


def reasons(items: Iterable[Item]) -> Counter[str]:
    return Counter(item.reason for item in items if isinstance(item, Skipped))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mem0_get_all.json", Format.MEM0),
        ("mcp_memory.jsonl", Format.MCP_MEMORY),
        ("letta_agent.af", Format.LETTA),
        ("chatgpt_conversations.json", Format.CHATGPT),
        ("claude_conversations.json", Format.CLAUDE),
    ],
)
def test_each_is_recognised_by_its_content_whatever_its_name(name: str, expected: Format, tmp_path: Path) -> None:
    copy = tmp_path / "renamed.txt"
    copy.write_bytes((FIXTURES / name).read_bytes())
    assert detect(FIXTURES / name) is detect(copy) is expected


def test_a_chat_that_mentions_memories_is_still_a_chat(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps([{"role": "user", "content": "x", "id": "1", "memory": {"used": 3}}]))
    assert detect(path) is Format.JSON


def test_memories_of_mem0_become_knowledge_on_the_trust_of_an_agent() -> None:
    items = list(read([FIXTURES / "mem0_get_all.json"]))
    first, second, third, relation = records(items)
    assert (first["kind"], first["text"], first["trust"]) == (
        "knowledge",
        "Prefers window seats on night trains",
        "agent",
    )
    assert first["occurred"]["iso"] == "2026-03-02T08:15:00-07:00"
    assert first["metadata"] == {
        "imported_from": "mem0",
        "topic": "travel",
        "mem0_id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e",
        "hash": "c1b2",
        "updated_at": "2026-03-03T08:15:00-07:00",
        "user_id": "alice",
        "categories": ["travel"],
    }
    assert second["text"] == "Allergic to walnuts"
    assert "occurred" not in second
    assert third["metadata"]["mem0_id"] == "4"
    assert relation["text"] == "alice works_at atlas"
    assert reasons(items) == {
        "the time cannot be read; kept without it": 1,
        "a memory without text": 2,
        "a relation without source, relationship and target": 1,
    }
    assert {item.origin for item in items if isinstance(item, IngestRecord)} == {"alice", ""}


def test_a_bare_list_of_mem0_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps([{"id": "a", "memory": "Likes tea"}, {"id": "b", "memory": "Has a cat"}]))
    assert [record["text"] for record in records(read([path]))] == ["Likes tea", "Has a cat"]


def test_a_graph_of_mcp_becomes_an_item_an_observation_and_one_a_relation() -> None:
    items = list(read([FIXTURES / "mcp_memory.jsonl"]))
    assert [(record["text"], record["trust"]) for record in records(items)] == [
        ("Olena: speaks Ukrainian and German", "agent"),
        ("Atlas: project", "agent"),
        ("Olena leads Atlas", "agent"),
    ]
    assert records(items)[0]["metadata"] == {
        "imported_from": "mcp-memory",
        "entity": "Olena",
        "entity_type": "person",
    }
    assert reasons(items) == {
        "an observation without text": 2,
        "a relation without from, relationType and to": 1,
        "an entity without a name": 1,
        "neither an entity nor a relation": 1,
        "broken JSON": 1,
    }


def test_an_agent_file_gives_messages_calls_blocks_and_files_and_names_the_rest() -> None:
    items = list(read([FIXTURES / "letta_agent.af"]))
    said = [item for item in items if isinstance(item, IngestMessage)]
    assert {item.session for item in said} == {"companion"}
    assert [(item.message.role, item.message.content) for item in said] == [
        ("user", "Which train goes to Lviv?"),
        ("assistant", ""),
        ("tool", '{"train": "IC 705"}'),
        ("assistant", "The IC 705."),
        ("user", "Thanks!"),
    ]
    assert [item.message.key for item in said] == ["message-1", "message-2", "message-3", "message-4", "message-7"]
    (call,) = [item.call for item in items if isinstance(item, IngestToolCall)]
    assert (call.name, call.arguments, call.result) == ("timetable", {"to": "Lviv"}, {"train": "IC 705"})
    assert [(record["text"], record["trust"], record["metadata"]["agents"]) for record in records(items)] == [
        ("Name: Chad. Likes sailing.", "agent", ["companion"]),
        ("I am Sam.", "agent", ["companion"]),
    ]
    (document,) = [item.document for item in items if isinstance(item, IngestDocument)]
    assert (document.text, document.title) == ("Be kind.", "rules")
    assert reasons(items) == {
        "the agent's system prompt is no memory": 2,
        "reasoning is not kept": 2,
        "the confirmation of a reply is no message": 1,
        "an event of the agent's system is no message": 1,
        "unknown role: use user, assistant, system or tool": 1,
        "an agent's secrets are not taken": 1,
        "an empty memory block": 1,
        "a file without its text": 1,
        "tools of an agent file are no memory": 1,
    }


def test_the_first_version_of_an_agent_file_is_one_agent(tmp_path: Path) -> None:
    path = tmp_path / "old.af"
    message = {"role": "user", "content": [{"type": "text", "text": "Hi"}], "created_at": "2025-04-01T00:00:00"}
    block = {"label": "human", "value": "Name: Ada"}
    agent = {"agent_type": "memgpt_agent", "name": "old", "core_memory": [block], "messages": [message], "system": "x"}
    path.write_text(json.dumps(agent))
    items = list(read([path]))
    assert [item.message.content for item in items if isinstance(item, IngestMessage)] == ["Hi"]
    assert [record["text"] for record in records(items)] == ["Name: Ada"]


@pytest.mark.parametrize("text", ["[]", "{}", '{"agents": 7}', '{"agents": [7, {}], "blocks": {}}', '{"agents": ['])
def test_an_agent_file_of_another_shape_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "strange.af"
    path.write_text(text)
    assert all(isinstance(item, Skipped) for item in read([path]))


@pytest.mark.parametrize("text", ["[7, null, {}]", '{"results": [null], "relations": [7]}', '{"results": 7}', "[[]]"])
def test_memories_of_another_shape_are_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "strange.json"
    path.write_text(text)
    found = list(read([path], as_format=Format.MEM0))
    assert found
    assert all(isinstance(item, Skipped) for item in found)
