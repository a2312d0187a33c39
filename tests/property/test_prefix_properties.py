"""The layout for caches: what lasts comes first, and the next call begins with it, byte by byte."""

import json

from hypothesis import given
from hypothesis import strategies as st

from retentia.model.message import JSON
from retentia.working.context import Context, ContextSettings, Material, assemble
from retentia.working.prefix import STEP
from retentia.working.records import RecalledItem
from retentia.working.render import anthropic_prompt
from retentia.working.tokens import EstimatingCounter
from retentia.working.window import ToolUse, WindowMessage, WindowSettings, with_tool_groups

COUNTER = EstimatingCounter()
CACHE = ContextSettings(layout="cache")
WORDS = st.text(max_size=12)


@st.composite
def conversations(draw: st.DrawFn) -> list[WindowMessage]:
    """Draw a session as agents hold them: a call's results follow it before the model speaks again."""
    messages: list[WindowMessage] = []

    def say(role: str, uses: tuple[ToolUse, ...] = (), answers: str = "") -> None:
        seq = len(messages) + 1
        pinned = draw(st.integers(0, 9)) == 0
        text = draw(WORDS)
        messages.append(
            WindowMessage(
                id=f"m{seq}",
                seq=seq,
                role=role,
                tokens=20,
                text=text,
                pinned=pinned,
                tool_uses=uses,
                tool_call_id=answers,
            )
        )

    for _ in range(draw(st.integers(1, 20))):
        match draw(st.sampled_from(["user", "assistant", "call", "system"])):
            case "call":
                ids = draw(st.lists(st.sampled_from(["c1", "c2"]), min_size=1, max_size=2, unique=True))
                say("assistant", tuple(ToolUse(id=one, name="f") for one in ids))
                for one in ids:
                    if draw(st.integers(0, 3)) == 0:
                        say("user")
                    say("tool", answers=one)
            case role:
                say(role)
    return messages


def recalled(prefix: str) -> st.SearchStrategy[list[RecalledItem]]:
    ids = st.integers(1, 30).map(lambda number: f"{prefix}{number:012}")
    return st.lists(st.builds(RecalledItem, id=ids, kind=WORDS, text=WORDS, trusted=st.booleans()), max_size=4)


def blocks_of(context: Context, turns: int | None = None) -> list[JSON]:
    """Return the system prompt and the blocks of the first turns, each with its role."""
    prompt = anthropic_prompt(context.turns[:turns])
    blocks = [[message["role"], block] for message in prompt.messages for block in message["content"]]  # type: ignore[union-attr]
    return [prompt.system, *blocks]


@given(conversations(), recalled("p"), recalled("x"), recalled("p"), st.data())
def test_the_next_call_begins_with_the_prefix_of_this_one(
    messages: list[WindowMessage],
    profile: list[RecalledItem],
    found: list[RecalledItem],
    found_next: list[RecalledItem],
    data: st.DataObject,
) -> None:
    now = data.draw(st.integers(0, len(messages)))
    then = data.draw(st.integers(now, len(messages)))
    covered = data.draw(st.integers(0, now))
    window = WindowSettings(history_size=data.draw(st.integers(0, 6)), pinned_count=data.draw(st.integers(0, 3)))
    settings = ContextSettings(layout="cache", window=window)
    summary = [RecalledItem(id="s1", kind="summary", text="They talked.")] if covered else []
    said = [
        WindowMessage(
            id=one.id,
            seq=one.seq,
            role=one.role,
            tokens=one.tokens,
            text=one.text,
            pinned=one.pinned,
            summarised_by="s1" if one.seq <= covered else "",
            tool_uses=one.tool_uses,
            tool_call_id=one.tool_call_id,
        )
        for one in messages
    ]

    def call(end: int, request: str, records: list[RecalledItem]) -> Context:
        known = Material(
            role="R",
            request=request,
            messages=with_tool_groups(said[:end]),
            profile=profile,
            summary=summary,
            recalled=records,
        )
        return assemble(known, budget=20_000, counter=COUNTER, settings=settings)

    first, second = call(now, "one?", found), call(then, "and another question?", found_next)
    same = first.cacheable_turns
    assert json.dumps(second.openai_messages()[:same]) == json.dumps(first.openai_messages()[:same])
    prefix = blocks_of(first, same)
    assert json.dumps(blocks_of(second)[: len(prefix)]) == json.dumps(prefix)
    assert json.dumps(blocks_of(first)[: len(prefix)]) == json.dumps(prefix)
    assert second.langchain_messages()[:same] == first.langchain_messages()[:same]


def test_a_pinned_result_of_a_call_that_was_summarised_follows_the_summary() -> None:
    call = WindowMessage(
        id="m1",
        seq=1,
        role="assistant",
        tokens=20,
        text="",
        summarised_by="s1",
        tool_uses=(ToolUse(id="c1", name="f"),),
    )
    result = WindowMessage(id="m2", seq=2, role="tool", tokens=20, text="", pinned=True, tool_call_id="c1")
    summary = [RecalledItem(id="s1", kind="summary", text="They talked.")]
    settings = ContextSettings(layout="cache", window=WindowSettings(history_size=0, pinned_count=0))

    def context(said: list[WindowMessage]) -> Context:
        known = Material(role="R", request="Q", messages=with_tool_groups(said), summary=summary)
        return assemble(known, budget=20_000, counter=COUNTER, settings=settings)

    before, after = context([call]), context([call, result])
    same = before.cacheable_turns
    assert [turn.part for turn in before.turns[:same]] == ["role", "memory"]
    assert after.openai_messages()[:same] == before.openai_messages()[:same]


@given(conversations(), recalled("p"), recalled("x"))
def test_only_what_is_new_in_each_call_follows_the_prefix_unless_a_result_is_awaited(
    messages: list[WindowMessage], profile: list[RecalledItem], found: list[RecalledItem]
) -> None:
    material = Material(role="R", request="Q", messages=with_tool_groups(messages), profile=profile, recalled=found)
    context = assemble(material, budget=20_000, counter=COUNTER, settings=CACHE)
    assert [turn.part for turn in context.turns[context.cacheable_turns :]][-1] == "current"
    assert "recent" not in [turn.part for turn in context.turns[context.cacheable_turns :]]


@given(st.lists(st.integers(1, 60), min_size=120, max_size=120), st.lists(st.integers(0, 40), min_size=30, max_size=30))
def test_a_window_that_the_budget_cuts_is_cut_in_steps(lengths: list[int], changing: list[int]) -> None:
    said = [
        WindowMessage(
            id=f"m{seq}",
            seq=seq,
            role="user" if seq % 2 else "assistant",
            tokens=COUNTER.count("word " * length) + 4,
            text="word " * length,
        )
        for seq, length in enumerate(lengths, 1)
    ]
    broken = 0
    before: Context | None = None
    for number, end in enumerate(range(2, len(said) + 1, 2)):
        change = changing[number % len(changing)]
        found = [RecalledItem(id=f"r{number}-{one}", kind="note", text="word " * change) for one in range(change % 4)]
        material = Material(role="R", request="word " * change + "?", messages=said[:end], recalled=found)
        made = assemble(material, budget=1500, counter=COUNTER, settings=CACHE)
        if before is not None:
            same = before.cacheable_turns
            broken += made.openai_messages()[:same] != before.openai_messages()[:same]
        before = made
    assert broken <= len(said) // STEP + 2
