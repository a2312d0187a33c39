"""Calls and outcomes in chat messages, in OpenAI's form and in Anthropic's blocks. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from retentia.model.message import JSON
from retentia.tools.causes import looks_failed


@dataclass(frozen=True, slots=True)
class SpokenCall:
    """A call that a message makes; `id` is what its outcome refers to."""

    id: str
    name: str
    arguments: JSON


@dataclass(frozen=True, slots=True)
class SpokenOutcome:
    """What came of the call with an id: a result, or the text of an error."""

    id: str
    result: JSON
    is_error: bool

    @property
    def error(self) -> str:
        """The error as text, "" where there is none."""
        return _as_text(self.result) if self.is_error else ""


def calls_in(parts: Mapping[str, JSON]) -> Iterator[SpokenCall]:
    """Yield the calls that the parts of a message make, in order; what has no name is none."""
    for call in _mappings(parts.get("tool_calls")):
        function = call.get("function")
        told = function if isinstance(function, Mapping) else call
        if name := _text(told.get("name")):
            yield SpokenCall(_text(call.get("id")), name, told.get("arguments"))
    for block in _mappings(parts.get("content")):
        if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use") and (name := _text(block.get("name"))):
            yield SpokenCall(_text(block.get("id")), name, block.get("input"))


def outcomes_in(text: str, parts: Mapping[str, JSON], metadata: Mapping[str, JSON]) -> Iterator[SpokenOutcome]:
    """Yield the outcomes that a message brings: the one that its text is, and those of its blocks."""
    if call_id := _text(parts.get("tool_call_id")):
        yield SpokenOutcome(call_id, text, metadata.get("is_error") is True or looks_failed(text))
    for block in _mappings(parts.get("content")):
        if str(block.get("type", "")).endswith("tool_result") and (call_id := _text(block.get("tool_use_id"))):
            yield SpokenOutcome(call_id, _plain(block.get("content")), block.get("is_error") is True)


def _plain(content: JSON) -> JSON:
    """Return blocks that are all text as that text, anything else as it is."""
    blocks = list(_mappings(content))
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    is_text = bool(blocks) and isinstance(content, Sequence) and len(texts) == len(blocks) == len(content)
    return "\n".join(str(text) for text in texts) if is_text else content


def _as_text(value: JSON) -> str:
    return value if isinstance(value, str) else str(value)


def _mappings(values: JSON) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, Sequence) and not isinstance(values, str):
        yield from (value for value in values if isinstance(value, Mapping))


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else ""
