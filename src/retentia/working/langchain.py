"""LangChain: write the turns of a context as message objects of langchain-core, for whichever model LangChain calls.

Which API that is, is not known here, so the strictest rule holds: only the first message is a system message.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from retentia.errors import MissingExtra
from retentia.working.render import Turn, as_object

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


def langchain_messages(turns: Iterable[Turn]) -> "list[BaseMessage]":
    """Write turns as LangChain messages; raise MissingExtra without the package."""
    try:
        from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
    except ImportError as error:
        raise MissingExtra("langchain") from error
    messages: list[BaseMessage] = []
    for turn in turns:
        match turn.role:
            case "assistant":
                calls = [
                    {"type": "tool_call", "id": use.id, "name": use.name, "args": as_object(use.arguments)}
                    for use in turn.tool_uses
                ]
                messages.append(AIMessage(content=turn.text, tool_calls=calls))
            case "tool":
                messages.append(ToolMessage(turn.text, tool_call_id=turn.tool_call_id, name=turn.tool_name))
            case _:
                said = SystemMessage if turn.part == "role" else HumanMessage
                messages.append(said(turn.text))
    return messages
