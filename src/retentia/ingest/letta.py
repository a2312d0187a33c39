"""Letta's agent file (.af): agents with their messages, memory blocks and files; also the first version, one agent.

Blocks are what the agent noted: knowledge on an agent's trust. In older agents the reply lies in a call of the tool
`send_message`, beside a monologue; the reply is taken, the monologue is reasoning and is not. Prompts, tools, settings
and secrets are no memory and are named as skipped.
"""

from collections.abc import Iterator, Mapping, Sequence

from retentia.ingest.chats import conversation_context, keyed_items, numbered_elements
from retentia.ingest.content import plain_text
from retentia.ingest.documents import text_document
from retentia.ingest.items import IngestDocument, IngestRecord, Item, Skipped
from retentia.ingest.json_stream import BrokenJson, loads
from retentia.ingest.keys import SessionKeys
from retentia.ingest.mem0 import knowledge
from retentia.ingest.messages import text_of
from retentia.ingest.sources import Source
from retentia.model.message import JSON

_AUTHOR = "letta"
_READ = frozenset(("agents", "blocks", "files"))
_SPEAK = "send_message"

_Part = Mapping[str, object]


def read_letta(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read an agent file, which is one JSON object."""
    for where, value in numbered_elements(source, encoding):
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("agents"), list):
            yield from _file(value, source.where, zone)
        elif isinstance(value, dict) and isinstance(value.get("core_memory"), list):
            yield from _agent(value, f"{source.where}#agent", zone)
            yield from _blocks(_listed(value, "core_memory"), f"{source.where}#core_memory", {})
        else:
            yield Skipped(where, "not a Letta agent file", "it has no agents")


def _file(value: _Part, where: str, zone: str) -> Iterator[Item]:
    users: dict[str, list[str]] = {}
    for place, agent in enumerate(_listed(value, "agents"), start=1):
        block_ids = agent.get("block_ids")
        for block_id in block_ids if isinstance(block_ids, list) else ():
            users.setdefault(text_of(block_id), []).append(_name(agent))
        yield from _agent(agent, f"{where}#agents/{place}", zone)
    yield from _blocks(_listed(value, "blocks"), f"{where}#blocks", users)
    for place, file in enumerate(_listed(value, "files"), start=1):
        yield _document(file, f"{where}#files/{place}")
    for part in sorted(value.keys() - _READ):
        given = value[part]
        if isinstance(given, list) and given:
            yield Skipped(where, f"{part.replace('_', ' ')} of an agent file are no memory", f"{len(given)}")


def _agent(agent: _Part, where: str, zone: str) -> Iterator[Item]:
    session, keys, context = _name(agent) or where, SessionKeys(), conversation_context({}, zone)
    spoken: set[str] = set()
    for place, message in enumerate(_listed(agent, "messages"), start=1):
        at = f"{where}/messages/{place}"
        if reason := _left_out(message, spoken):
            yield Skipped(at, reason)
            continue
        record, monologue = _record(message, spoken)
        if monologue:
            yield Skipped(at, "reasoning is not kept")
        yield from keyed_items(at, session, [record], context, keys)
    if agent.get("system"):
        yield Skipped(where, "the agent's system prompt is no memory")
    if agent.get("tool_exec_environment_variables") or agent.get("secrets"):
        yield Skipped(where, "an agent's secrets are not taken")


def _left_out(message: _Part, spoken: set[str]) -> str:
    if message.get("role") == "system":
        return "the agent's system prompt is no memory"
    if message.get("role") == "tool" and text_of(message.get("tool_call_id")) in spoken:
        return "the confirmation of a reply is no message"
    event = _event(message) if message.get("role") == "user" else None
    return "an event of the agent's system is no message" if event and event.get("type") != "user_message" else ""


def _record(message: _Part, spoken: set[str]) -> tuple[dict[str, object], bool]:
    """Write a message as chat APIs do; tell whether it held a monologue besides."""
    record = {name: message.get(name) for name in ("id", "role", "name", "created_at", "content", "tool_call_id")}
    if isinstance(model := message.get("model"), str) and message.get("role") == "assistant":
        record["metadata"] = {"model": model}
    if message.get("role") == "user" and (event := _event(message)):
        record["content"] = event.get("message")
    calls = _listed(message, "tool_calls")
    replies = {text_of(call.get("id")): _reply(call) for call in calls}
    said = [reply for reply in replies.values() if reply]
    record["tool_calls"] = [call for call in calls if not _reply(call)]
    if not said:
        return record, False
    spoken.update(call_id for call_id, reply in replies.items() if reply)
    record["content"] = "\n\n".join(said)
    return record, bool(plain_text(message.get("content")).strip())


def _reply(call: _Part) -> str:
    function = call.get("function")
    if not isinstance(function, Mapping) or function.get("name") != _SPEAK:
        return ""
    arguments = _object(function.get("arguments"))
    return text_of(arguments.get("message"))


def _event(message: _Part) -> _Part | None:
    """Return the envelope that Letta puts around what a user says, and around events; None where there is none."""
    found = _object(plain_text(message.get("content")))
    return found if isinstance(found.get("type"), str) else None


def _blocks(blocks: Sequence[_Part], where: str, users: Mapping[str, list[str]]) -> Iterator[Item]:
    for place, block in enumerate(blocks, start=1):
        at, label, value = f"{where}/{place}", text_of(block.get("label")), block.get("value")
        if not isinstance(value, str) or not value.strip():
            yield Skipped(at, "an empty memory block", label)
            continue
        metadata: dict[str, JSON] = {"block": label}
        if description := text_of(block.get("description")):
            metadata["description"] = description
        if agents := users.get(text_of(block.get("id"))):
            metadata["agents"] = agents
        yield IngestRecord(where=at, record=knowledge(value, author=_AUTHOR, metadata=metadata))


def _document(file: _Part, where: str) -> Item:
    name = text_of(file.get("original_file_name")) or text_of(file.get("file_name"))
    text = file.get("content")
    if not isinstance(text, str) or not text.strip():
        return Skipped(where, "a file without its text", name)
    return IngestDocument(where=where, document=text_document(text, name=name, uri=name))


def _name(agent: _Part) -> str:
    return text_of(agent.get("name")) or text_of(agent.get("id"))


def _object(text: object) -> _Part:
    try:
        value = loads(text) if isinstance(text, str) and text.lstrip().startswith("{") else None
    except BrokenJson:
        return {}
    return value if isinstance(value, dict) else {}


def _listed(value: _Part, name: str) -> list[_Part]:
    given = value.get(name)
    return [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
