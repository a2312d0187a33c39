"""Render: write the turns of a context as chat APIs want them.

A `Turn` is neutral: every format has the same texts in the same order. What differs are the rules for valid roles:
OpenAI wants tool messages right behind the calls they answer; Anthropic wants user and assistant in alternation, the
user first, the system prompt apart, and every call answered in the next message.
"""

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from retentia.model.message import JSON, Message
from retentia.working.budget import PartName
from retentia.working.quote import LINE, block, label, nonce_for, quoted, sendable
from retentia.working.window import ToolUse, WindowMessage

TurnRole = Literal["system", "user", "assistant", "tool"]

NO_RESULT = "(no result was recorded)"
CONTINUED = "(the conversation goes on)"
EMPTY = "(empty)"

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_CACHED: Mapping[str, JSON] = {"cache_control": {"type": "ephemeral"}}
_ROLES: Mapping[str, TurnRole] = {"system": "system", "assistant": "assistant"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One role item of a prompt, and the part of the context it belongs to; "gap" is the note about what is missing."""

    role: TurnRole
    part: PartName | Literal["memory", "gap"]
    text: str
    tool_uses: tuple[ToolUse, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""

    def as_message(self) -> Message:
        """Return the turn as a message that a token counter can count."""
        calls = tuple({"id": use.id, "name": use.name, "arguments": use.arguments} for use in self.tool_uses)
        return Message(role=self.role, content=self.text, tool_calls=calls, tool_call_id=self.tool_call_id)


@dataclass(frozen=True, slots=True)
class AnthropicPrompt:
    """What Anthropic's Messages API takes: the system prompt apart, user and assistant in alternation.

    `system` is text, or one block of text where it carries a mark of what may be cached.
    """

    system: str | list[dict[str, JSON]]
    messages: list[dict[str, JSON]]


def turns_of(messages: Iterable[WindowMessage], part: PartName, *, pinned: Collection[str] = ()) -> list[Turn]:
    """Turn messages into turns: answers right behind their calls, every call answered.

    They belong to `part`, or to the pinned ones where their id is among those.
    An answer whose call is not among the messages would be invalid as a tool message: it is quoted as untrusted data.
    """
    turns: list[Turn] = []
    calls: dict[str, int] = {}
    for message in messages:
        own: PartName = "pinned" if message.id in pinned else part
        if message.role != "tool":
            turns.append(_turn(message, own))
            for use in message.tool_uses:
                calls[use.id] = len(turns)
                turns.append(Turn(role="tool", part=own, text="", tool_call_id=use.id, tool_name=_name(use.name)))
        elif (place := calls.get(message.tool_call_id)) is not None:
            answers = filter(None, (turns[place].text, sendable(message.text)))
            turns[place] = replace(turns[place], text="\n".join(answers) or EMPTY)
        else:
            turns.append(_orphan(message, own))
    return [replace(turn, text=NO_RESULT) if turn.role == "tool" and not turn.text else turn for turn in turns]


def with_unique_call_ids(turns: Iterable[Turn]) -> list[Turn]:
    """Give every call, with its answer, an id of its own: some providers count their ids anew in every message."""
    used: set[str] = set()
    renamed: dict[str, str] = {}
    result = []
    for turn in turns:
        if turn.tool_uses:
            renamed = {use.id: _unused(use.id, used) for use in turn.tool_uses}
            turn = replace(turn, tool_uses=tuple(replace(use, id=renamed[use.id]) for use in turn.tool_uses))
        elif turn.role == "tool":
            turn = replace(turn, tool_call_id=renamed[turn.tool_call_id])
        result.append(turn)
    return result


def openai_messages(turns: Iterable[Turn]) -> list[dict[str, JSON]]:
    """Write turns as messages of OpenAI's Chat Completions API and of the many servers that speak it."""
    messages: list[dict[str, JSON]] = []
    for turn in turns:
        message: dict[str, JSON] = {"role": turn.role, "content": turn.text}
        if turn.tool_uses:
            message["content"] = turn.text or None
            message["tool_calls"] = [
                {"id": use.id, "type": "function", "function": {"name": use.name, "arguments": use.arguments}}
                for use in turn.tool_uses
            ]
        if turn.role == "tool":
            message["tool_call_id"] = turn.tool_call_id
        messages.append(message)
    return messages


def anthropic_prompt(turns: Sequence[Turn], *, cache_after: Collection[int] = ()) -> AnthropicPrompt:
    """Write turns for Anthropic's Messages API; `cache_after` are the places of turns behind which to mark a cache."""
    system = "\n\n".join(turn.text for turn in turns if turn.part == "role")
    marked = any(turns[place].part == "role" for place in cache_after)
    messages: list[dict[str, JSON]] = []
    blocks: list[JSON] = []
    speaking = ""
    for place, turn in enumerate(turns):
        if turn.part == "role":
            continue
        role = "assistant" if turn.role == "assistant" else "user"
        if role != speaking:
            if not messages and role == "assistant":
                messages.append({"role": "user", "content": [{"type": "text", "text": CONTINUED}]})
            blocks, speaking = [], role
            messages.append({"role": role, "content": blocks})
        written = _anthropic_blocks(turn)
        if place in cache_after:
            written[-1] |= _CACHED
        blocks += written
    return AnthropicPrompt([{"type": "text", "text": system, **_CACHED}] if marked else system, messages)


def plain_text(turns: Sequence[Turn]) -> str:
    """Write turns as one text for models that take a single prompt; what was said is quoted in blocks."""
    return "\n\n".join(text for is_said, run in groupby(turns, _is_said) for text in _written(is_said, list(run)))


def as_object(arguments: str) -> dict[str, JSON]:
    """Read the arguments of a call as the object that APIs want; what is none, or cannot be sent, is wrapped in one."""
    try:
        value = json.loads(arguments)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()  # Python reads NaN and lone surrogates
    except (ValueError, RecursionError):
        return {"arguments": arguments}
    return value if isinstance(value, dict) else {"arguments": value}


def _is_said(turn: Turn) -> bool:
    return turn.part in ("pinned", "gap", "recent")


def _written(is_said: bool, run: Sequence[Turn]) -> list[str]:
    """Write turns that follow each other and are all said, or all not."""
    if not is_said:
        return [f"Current request:\n{turn.text}" if turn.part == "current" else turn.text for turn in run]
    lines = "\n".join(map(_as_lines, run))
    if any(turn.part != "gap" for turn in run):
        lines = block("conversation", nonce_for([lines]), lines)
    return [lines]


def _turn(message: WindowMessage, part: PartName) -> Turn:
    role = _ROLES.get(message.role, "user")
    text = sendable(message.text).rstrip()
    if role == "user" and message.speaker:
        text = f"{label(message.speaker)}: {text}"
    uses = tuple(replace(use, name=_name(use.name), arguments=sendable(use.arguments)) for use in message.tool_uses)
    if role != "assistant" or not uses:
        return Turn(role=role, part=part, text=text if text.strip() else EMPTY)
    return Turn(role=role, part=part, text=text if text.strip() else "", tool_uses=uses)


def _orphan(message: WindowMessage, part: PartName) -> Turn:
    text = quoted(message.text)
    return Turn(role="user", part=part, text=block("untrusted", nonce_for([text]), f"Result of a tool:\n{text}"))


def _name(name: str) -> str:
    return _NOT_IN_A_NAME.sub("_", name)[:_LONGEST_NAME] or "tool"


def _unused(wanted: str, used: set[str]) -> str:
    name = base = _NOT_IN_A_NAME.sub("_", wanted)[: _LONGEST_NAME - 10] or "call"
    count = 1
    while name in used:
        count += 1
        name = f"{base}_{count}"
    used.add(name)
    return name


def _anthropic_blocks(turn: Turn) -> list[dict[str, JSON]]:
    if turn.role == "tool":
        return [{"type": "tool_result", "tool_use_id": turn.tool_call_id, "content": turn.text}]
    blocks: list[dict[str, JSON]] = [{"type": "text", "text": turn.text}] if turn.text else []
    blocks += (
        {"type": "tool_use", "id": use.id, "name": use.name, "input": as_object(use.arguments)}
        for use in turn.tool_uses
    )
    return blocks


def _as_lines(turn: Turn) -> str:
    """Write a turn of the conversation: only its first line can open without a bar, and it opens with the role."""
    if turn.part == "gap":
        return turn.text
    calls = (f"(calls {use.name} with {use.arguments})" for use in turn.tool_uses)
    said = "\n".join(filter(None, (turn.text, *calls)))
    who = f"tool {turn.tool_name} (untrusted)" if turn.role == "tool" else turn.role
    return f"{who}: {quoted(said).removeprefix(LINE)}"
