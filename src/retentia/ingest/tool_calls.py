"""Tool calls and their results, which chats hold in separate messages, as pairs for the tool-call log."""

from collections.abc import Iterable, Iterator, Mapping

from retentia.ingest.content import plain_text
from retentia.ingest.items import IngestMessage, IngestToolCall, Item
from retentia.ingest.json_stream import BrokenJson, loads
from retentia.model.message import JSON, Message, ToolCall

_Open = dict[tuple[str, str], Mapping[str, JSON]]


def with_tool_calls(items: Iterable[Item]) -> Iterator[Item]:
    """Pass everything on, and after each result the call it answers. A call that was never answered has no entry."""
    waiting: _Open = {}
    for item in items:
        yield item
        if not isinstance(item, IngestMessage):
            continue
        for call in item.message.tool_calls:
            waiting[item.session, str(call.get("id", ""))] = call
        if item.message.role == "tool":
            answered = waiting.pop((item.session, item.message.tool_call_id), None)
            if answered is not None:
                yield IngestToolCall(where=item.where, session=item.session, call=_paired(answered, item.message))


def _paired(call: Mapping[str, JSON], answer: Message) -> ToolCall:
    function = call.get("function")
    named = function if isinstance(function, Mapping) else call
    result = plain_text(answer.content)
    failed = answer.metadata.get("is_error") is True
    return ToolCall(
        name=str(named.get("name") or answer.speaker or "unknown"),
        arguments=_value(named.get("arguments")),
        result=None if failed else _value(result),
        status="error" if failed else "ok",
        error=result if failed else "",
        at=answer.at,
        key=answer.key,
    )


def _value(given: JSON) -> JSON:
    """Return arguments and results as the JSON they are written in, or as text where they are none."""
    if not isinstance(given, str):
        return given
    try:
        parsed = loads(given)
    except BrokenJson:
        return given
    return parsed if isinstance(parsed, dict | list) else given
