"""Claude's data export: conversations.json with chat_messages; texts of attachments become documents."""

from collections.abc import Iterator, Mapping

from retentia.ingest.chats import conversation_context, keyed_items, numbered_elements
from retentia.ingest.documents import text_document
from retentia.ingest.items import IngestDocument, Item, Skipped
from retentia.ingest.keys import SessionKeys
from retentia.ingest.messages import text_of
from retentia.ingest.sources import Source
from retentia.model.time import Moment


def read_claude(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read an export one conversation at a time."""
    for where, value in numbered_elements(source, encoding):
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("chat_messages"), list):
            yield from _conversation(value, value["chat_messages"], where, zone)
        else:
            yield Skipped(where, "not a Claude conversation", "it has no chat_messages")


def _conversation(conversation: Mapping[str, object], messages: list[object], where: str, zone: str) -> Iterator[Item]:
    session, keys = text_of(conversation.get("uuid")) or where, SessionKeys()
    context = conversation_context(conversation, zone)
    for message in messages:
        if not isinstance(message, dict):
            yield Skipped(where, "a message must be a JSON object", type(message).__name__)
            continue
        attachments, files = _listed(message, "attachments"), _listed(message, "files")
        record = _record(message, [_file_name(file) for file in (*attachments, *files)])
        if record["content"] or not attachments:
            yield from keyed_items(where, session, [record], context, keys)
        for attachment in attachments:
            yield from _attachment(attachment, where, context.at)


def _record(message: Mapping[str, object], file_names: list[str]) -> dict[str, object]:
    """Write a message as chat APIs do; its blocks say more than its text, which flattens them."""
    record: dict[str, object] = {
        "uuid": message.get("uuid"),
        "role": message.get("sender"),
        "created_at": message.get("created_at"),
        "content": _with_call_ids(_listed(message, "content"), text_of(message.get("uuid"))) or message.get("text"),
    }
    if names := [name for name in file_names if name]:
        record["metadata"] = {"files": names}
    return record


def _with_call_ids(blocks: list[Mapping[str, object]], message_id: str) -> list[Mapping[str, object]]:
    """Name calls that the export left unnamed, so that each result points at the call before it."""
    found: list[Mapping[str, object]] = []
    last = ""
    for place, block in enumerate(blocks):
        if block.get("type") == "tool_use":
            last = text_of(block.get("id")) or f"{message_id}/{place}"
            found.append({**block, "id": last})
        elif block.get("type") == "tool_result":
            found.append({**block, "tool_use_id": text_of(block.get("tool_use_id")) or last})
        else:
            found.append(block)
    return found


def _attachment(attachment: Mapping[str, object], where: str, at: Moment | None) -> Iterator[Item]:
    text, name = attachment.get("extracted_content"), _file_name(attachment)
    if isinstance(text, str) and text.strip():
        yield IngestDocument(where=where, document=text_document(text, name=name, uri=name, at=at))
    else:
        yield Skipped(where, "an attachment without text", name)


def _file_name(file: Mapping[str, object]) -> str:
    return text_of(file.get("file_name"))


def _listed(record: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    value = record.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
