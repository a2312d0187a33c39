"""What a message holds: text, parts, tool calls and tool results, sorted apart.

Understands plain text, OpenAI content parts, Anthropic content blocks and ChatGPT's parts. Text parts are given the
type "text"; other parts (images, files, audio) are kept as they came. Reasoning is left out: it led to what was said.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from retentia.model.message import JSON

_TEXT_TYPES = frozenset(("text", "input_text", "output_text", "refusal", "audio_transcription"))
_CALL_TYPES = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_RESULT_TYPES = frozenset(("tool_result", "web_search_tool_result", "mcp_tool_result"))
_REASONING_TYPES = frozenset(("thinking", "redacted_thinking", "reasoning", "thoughts", "reasoning_recap"))
_NO_CONTENT = "content of an unknown shape"

Part: TypeAlias = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered inside a message: it becomes a tool message of its own."""

    call_id: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Content:
    """One stretch of a message: either parts and calls, or a tool's result.

    `problems` are reasons and details of what was left out.
    """

    parts: tuple[Part, ...] = ()
    tool_calls: tuple[Part, ...] = ()
    result: ToolResult | None = None
    problems: tuple[tuple[str, str], ...] = ()

    @property
    def value(self) -> str | tuple[Part, ...]:
        """The text where there is only text, the parts otherwise."""
        if all(part.keys() <= {"type", "text"} and part.get("type") == "text" for part in self.parts):
            return "\n\n".join(str(part["text"]) for part in self.parts)
        return self.parts

    @property
    def is_empty(self) -> bool:
        """Whether there is neither text nor any other part, call or result."""
        said = any(part.get("type") != "text" or str(part.get("text", "")).strip() for part in self.parts)
        return not said and not self.tool_calls and self.result is None


def read_content(value: object) -> list[Content]:
    """Sort the content of a message into stretches, in order, split where a tool's result lies between.

    What has an unknown shape is a problem, never an error.
    """
    match value:
        case None:
            return []
        case list() | tuple():
            return _joined(_read_part(part) for part in value)
        case {"parts": list() as parts}:
            return _joined(_read_part(part) for part in parts)
        case _:
            return [_read_part(value)]


def plain_text(value: object) -> str:
    """Return the text of any content, for what may only be text."""
    parts = (part for content in read_content(value) for part in content.parts)
    return "\n\n".join(str(part["text"]) for part in parts if part.get("type") == "text")


def tool_call(call_id: str, name: str, arguments: object) -> Part:
    """Write a call as OpenAI messages do: the arguments are JSON text."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": written}}


def _read_part(part: object) -> Content:
    if isinstance(part, str):
        return Content(parts=({"type": "text", "text": part},)) if part else Content()
    if not isinstance(part, dict):
        return Content(problems=((_NO_CONTENT, type(part).__name__),))
    kind = part.get("type", part.get("content_type", "text" if "text" in part else ""))
    if kind in _TEXT_TYPES:
        return _text_part(part)
    if kind in _CALL_TYPES:
        name, call_id = str(part.get("name", "")), str(part.get("id", ""))
        return Content(tool_calls=(tool_call(call_id, name, part.get("input", {})),))
    if kind in _RESULT_TYPES:
        answer = part.get("content")
        text = plain_text(answer) or json.dumps(answer, ensure_ascii=False, default=str)
        return Content(result=ToolResult(str(part.get("tool_use_id", "")), text, part.get("is_error") is True))
    if kind in _REASONING_TYPES:
        return Content(problems=(("reasoning is not kept", ""),))
    if not isinstance(kind, str) or not kind:
        return Content(problems=((_NO_CONTENT, f"fields {', '.join(sorted(map(str, part)))[:80]}"),))
    return Content(parts=({"type": kind, **{str(key): item for key, item in part.items() if key != "content_type"}},))


def _text_part(part: Mapping[str, JSON]) -> Content:
    text = part.get("text", part.get("refusal"))
    if isinstance(text, dict):  # OpenAI assistants: {"text": {"value": …, "annotations": […]}}
        text = text.get("value")
    if not isinstance(text, str):
        return Content(problems=((_NO_CONTENT, "a text part without text"),))
    return Content(parts=({"type": "text", "text": text},)) if text else Content()


def _joined(pieces: Iterable[Content]) -> list[Content]:
    found: list[Content] = []
    for piece in pieces:
        last = found[-1] if found else None
        if last is None or last.result is not None or piece.result is not None:
            found.append(piece)
        else:
            found[-1] = Content(
                parts=last.parts + piece.parts,
                tool_calls=last.tool_calls + piece.tool_calls,
                problems=last.problems + piece.problems,
            )
    return found
