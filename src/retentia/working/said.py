"""From a stored message to what a window holds: with the tools it calls or answers, whichever API it came from."""

import json
from collections.abc import Iterator, Mapping, Sequence

from retentia.model.message import JSON, Message
from retentia.model.record import MessageRecord
from retentia.working.original import Original
from retentia.working.tokens import TokenCounter
from retentia.working.window import ToolUse, WindowMessage


def originals_of(messages: Sequence[MessageRecord]) -> list[Original]:
    """Prepare messages for a summary: what each says, and of a tool's answer, which tool it is and how it went."""
    names: dict[str, str] = {}
    found = []
    for message in messages:
        names.update((call.id, call.name) for call in _calls(message.parts))
        is_answer = message.role == "tool" or bool(_answered(message.parts))
        found.append(
            Original(
                id=message.id,
                role=message.role,
                text=message.text or _tool_results(message.parts),
                speaker=message.speaker,
                tool=(names.get(_answered(message.parts)) or message.speaker or "tool") if is_answer else "",
                status=("error" if _has_failed(message.parts) else "ok") if is_answer else "",
                at=message.occurred,
            )
        )
    return found


def window_message(record: MessageRecord, counter: TokenCounter, *, summarised_by: str = "") -> WindowMessage:
    """Prepare a message for the window and count its tokens; `summarised_by` names the summary that covers it."""
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
        summarised_by=summarised_by,
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


def _has_failed(parts: Mapping[str, JSON]) -> bool:
    """Tell whether a tool's answer says itself that it is an error."""
    blocks = [block for block in _mappings(parts.get("content")) if block.get("type") == "tool_result"]
    return any(one.get("is_error") is True or one.get("status") == "error" for one in (parts, *blocks))


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
