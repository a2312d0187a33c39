"""ChatGPT's data export: conversations.json, each conversation a tree of edits and regenerations.

The branch that was last in use is the conversation; what it replaced is counted. Hidden messages, custom instructions
and reasoning are left out. A message to a tool is a tool call, what the tool says next its result.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from retentia.ingest.chats import conversation_context, keyed_items, numbered_elements
from retentia.ingest.content import tool_call
from retentia.ingest.items import Item, Skipped
from retentia.ingest.keys import SessionKeys
from retentia.ingest.messages import first_of, text_of
from retentia.ingest.sources import Source

_INSTRUCTIONS = frozenset(("user_editable_context", "model_editable_context"))
_REASONING = frozenset(("thoughts", "reasoning_recap"))

Node = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Branch:
    """The messages in use, oldest first, and how many lie on other branches."""

    messages: tuple[Node, ...]
    replaced: int


def read_chatgpt(source: Source, encoding: str, zone: str) -> Iterator[Item]:
    """Read an export one conversation at a time."""
    for where, value in numbered_elements(source, encoding):
        if isinstance(value, Skipped):
            yield value
        elif isinstance(value, dict) and isinstance(value.get("mapping"), dict):
            yield from _conversation(value, where, zone)
        else:
            yield Skipped(where, "not a ChatGPT conversation", "it has no mapping of messages")


def current_branch(conversation: Mapping[str, object]) -> Branch:
    """Follow the parents from the current node, or from the latest leaf where none is named. Cycles end the walk."""
    nodes = _mapping(conversation.get("mapping"))
    at = conversation.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = _latest_leaf(nodes)
    path: dict[str, Node] = {}
    while isinstance(at, str) and at in nodes and at not in path:
        path[at] = _mapping(nodes[at])
        at = path[at].get("parent")
    messages = [_mapping(node.get("message")) for node in reversed(path.values())]
    others = sum(bool(_mapping(_mapping(node).get("message"))) for name, node in nodes.items() if name not in path)
    return Branch(tuple(message for message in messages if message), others)


def _conversation(conversation: Mapping[str, object], where: str, zone: str) -> Iterator[Item]:
    session = text_of(first_of(conversation, ("conversation_id", "id"))) or where
    branch, keys, open_call = current_branch(conversation), SessionKeys(), ""
    for message in branch.messages:
        if reason := _left_out(message):
            yield Skipped(where, reason)
            continue
        record = _record(message, open_call)
        open_call = text_of(record.get("id")) if record.get("tool_calls") else open_call
        yield from keyed_items(where, session, [record], conversation_context(conversation, zone), keys)
    if branch.replaced:
        yield Skipped(where, "replaced by an edit or a regeneration", f"{branch.replaced} messages")


def _left_out(message: Node) -> str:
    kind = _mapping(message.get("content")).get("content_type")
    if kind in _INSTRUCTIONS:
        return "custom instructions are no conversation"
    if kind in _REASONING:
        return "reasoning is not kept"
    hidden = _mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") is True
    return "hidden message" if hidden or message.get("weight") == 0 else ""


def _record(message: Node, open_call: str) -> dict[str, object]:
    """Write a message as chat APIs do; `open_call` is the id of the call that a tool's message answers."""
    author = _mapping(message.get("author"))
    record: dict[str, object] = {
        "id": message.get("id"),
        "role": author.get("role"),
        "name": author.get("name"),
        "create_time": message.get("create_time"),
        "content": _content(_mapping(message.get("content"))),
    }
    model, recipient = _mapping(message.get("metadata")).get("model_slug"), message.get("recipient")
    if isinstance(model, str):
        record["metadata"] = {"model": model}
    if author.get("role") == "tool":
        record["tool_call_id"] = open_call
    elif author.get("role") == "assistant" and isinstance(recipient, str) and recipient not in ("", "all"):
        arguments = record.pop("content")
        text = arguments if isinstance(arguments, str) else _mapping(message.get("content")).get("parts")
        record["tool_calls"] = [tool_call(text_of(message.get("id")), recipient, text)]
    return record


def _content(content: Mapping[str, object]) -> object:
    match content.get("content_type"):
        case "text" | "multimodal_text" if isinstance(content.get("parts"), list):
            return content["parts"]
        case "tether_quote":
            return "\n".join(text_of(content.get(name)) for name in ("title", "url", "text") if content.get(name))
        case "tether_browsing_display":
            return first_of(content, ("result", "summary"))
        case _:
            return first_of(content, ("text", "result", "parts")) if content else None


def _latest_leaf(nodes: Mapping[str, object]) -> str | None:
    leaves = [name for name, node in nodes.items() if not _mapping(node).get("children")]
    return max(leaves, key=lambda name: _created(_mapping(nodes[name])), default=None)


def _created(node: Node) -> float:
    created = _mapping(node.get("message")).get("create_time")
    return created if isinstance(created, int | float) else 0


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
