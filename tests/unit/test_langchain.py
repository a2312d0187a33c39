"""A context as messages of the real langchain-core."""

import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from retentia.errors import MissingExtra
from retentia.working.context import Material, assemble
from retentia.working.tokens import EstimatingCounter
from retentia.working.window import ToolUse, WindowMessage, with_tool_groups

SAID = with_tool_groups(
    [
        WindowMessage(id="m1", seq=1, role="user", tokens=9, text="and Tesla?"),
        WindowMessage(
            id="m2", seq=2, role="assistant", tokens=9, tool_uses=(ToolUse(id="c1", name="find", arguments='{"q": 1}'),)
        ),
        WindowMessage(id="m3", seq=3, role="tool", tokens=9, text="$218.40", tool_call_id="c1"),
        WindowMessage(id="m4", seq=4, role="system", tokens=9, text="the user left"),
        WindowMessage(id="m5", seq=5, role="assistant", tokens=9, text="It is at $218.40."),
    ]
)
MATERIAL = Material(role="Be brief.", request="Thanks, and Apple?", messages=SAID)


def test_messages_are_objects_with_calls_and_their_results() -> None:
    messages = assemble(MATERIAL, budget=1000, counter=EstimatingCounter()).langchain_messages()
    assert messages == [
        SystemMessage("Be brief."),
        HumanMessage("and Tesla?"),
        AIMessage(content="", tool_calls=[{"type": "tool_call", "id": "c1", "name": "find", "args": {"q": 1}}]),
        ToolMessage("$218.40", tool_call_id="c1", name="find"),
        HumanMessage("the user left"),
        AIMessage("It is at $218.40."),
        HumanMessage("Thanks, and Apple?"),
    ]


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    context = assemble(MATERIAL, budget=1000, counter=EstimatingCounter())
    monkeypatch.setitem(sys.modules, "langchain_core.messages", None)
    with pytest.raises(MissingExtra, match=r"retentia\[langchain\]"):
        context.langchain_messages()
