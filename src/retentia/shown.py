"""From what is stored to what a prompt shows: records and hits as the values of the context."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from retentia.lifecycle.forget import Forgetting
from retentia.model.message import JSON, Message
from retentia.model.provenance import Trust
from retentia.model.record import MessageRecord, Record, ToolCallRecord
from retentia.read.listing import Page
from retentia.read.query import Hit, Recall
from retentia.working.context import Context, Material, assemble
from retentia.working.records import RecalledItem
from retentia.working.tokens import TokenCounter
from retentia.working.window import ToolUse, WindowMessage, with_tool_groups


def context_of(
    request: str,
    *,
    recalled: Iterable[Hit],
    said: Iterable[MessageRecord],
    role: str,
    budget: int,
    counter: TokenCounter,
) -> Context:
    """Assemble the next prompt from what was recalled and what was said in the session."""
    material = Material(
        request=request,
        role=role,
        messages=with_tool_groups(window_message(message, counter) for message in said),
        recalled=[recalled_item(hit) for hit in recalled],
    )
    return assemble(material, budget=budget, counter=counter)


def shown_ids(answer: object) -> Iterator[str]:
    """Name the records that an answer shows, whichever verb gave it."""
    match answer:
        case Record():
            yield answer.id
        case Forgetting():
            yield from (*answer.ids, *answer.along)
            yield from (sample.id for sample in (*answer.remains, *answer.related))
        case Recall() | Page() | list():
            shown = answer.records if isinstance(answer, Page) else answer
            for one in shown:
                match one:
                    case Hit() | Record():
                        yield one.id
                    case str():
                        yield one


def window_message(record: MessageRecord, counter: TokenCounter) -> WindowMessage:
    """Prepare a message for the window, with the tools it calls or answers, whichever API they came from."""
    calls = tuple(_calls(record.parts))
    return WindowMessage(
        id=record.id,
        seq=record.seq,
        role=record.role,
        tokens=counter.count_message(_as_sent(record, calls)),
        text=record.text or _tool_results(record.parts),
        speaker=record.speaker,
        at=record.occurred,
        pinned=record.pinned,
        tool_uses=calls,
        tool_call_id=_answered(record.parts),
    )


def recalled_item(hit: Hit) -> RecalledItem:
    """Prepare a hit for the prompt: its excerpt, who said it, when, and whether it came from outside."""
    record = hit.record
    role = speaker = ""
    match record:
        case MessageRecord():
            role, speaker = record.role, record.speaker
        case ToolCallRecord():
            role, speaker = "tool", record.name
    return RecalledItem(
        id=record.id,
        kind=record.kind.value,
        text=hit.text,
        role=role,
        speaker=speaker,
        day=record.occurred.local_day() if record.occurred else 0,
        score=hit.score,
        trusted=record.trust is not Trust.OUTSIDE,
    )


def _as_sent(record: MessageRecord, calls: Sequence[ToolUse]) -> Message:
    sent: list[Mapping[str, JSON]] = [
        {"id": call.id, "function": {"name": call.name, "arguments": call.arguments}} for call in calls
    ]
    text = record.text or _tool_results(record.parts)
    said = f"{record.speaker}: {text}" if record.speaker else text
    return Message(role="user", content=said, tool_calls=sent)


def _calls(parts: Mapping[str, JSON]) -> Iterator[ToolUse]:
    """Find calls in OpenAI's form (tool_calls) and in Anthropic's (tool_use blocks)."""
    for call in _mappings(parts.get("tool_calls")):
        for function in _mappings([call.get("function")]):
            yield ToolUse(
                id=_text(call.get("id")), name=_text(function.get("name")), arguments=_json(function.get("arguments"))
            )
    for block in _mappings(parts.get("content")):
        if block.get("type") == "tool_use":
            yield ToolUse(id=_text(block.get("id")), name=_text(block.get("name")), arguments=_json(block.get("input")))


def _answered(parts: Mapping[str, JSON]) -> str:
    """Return the id of the call that a message answers, "" for none."""
    results = [block for block in _mappings(parts.get("content")) if block.get("type") == "tool_result"]
    return _text(parts.get("tool_call_id")) or next((_text(block.get("tool_use_id")) for block in results), "")


def _tool_results(parts: Mapping[str, JSON]) -> str:
    """Return what Anthropic's tool_result blocks say; they have no text of their own for the message."""
    results = [block.get("content") for block in _mappings(parts.get("content")) if block.get("type") == "tool_result"]
    return "\n".join(result if isinstance(result, str) else _json(result) for result in results)


def _mappings(values: JSON) -> Iterator[Mapping[str, JSON]]:
    if isinstance(values, Sequence) and not isinstance(values, str):
        yield from (value for value in values if isinstance(value, Mapping))


def _json(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps({} if value is None else value, ensure_ascii=False)


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
