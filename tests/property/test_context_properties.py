import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from anthropic.types import MessageParam, TextBlockParam
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import BaseMessage
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from retentia.errors import BudgetTooSmall
from retentia.model.message import JSON, Message
from retentia.working.context import Context, ContextSettings, Layout, Material, assemble
from retentia.working.records import RecalledItem
from retentia.working.render import AnthropicPrompt
from retentia.working.tokens import EstimatingCounter, ExactCounter, TokenCounter
from retentia.working.window import ToolUse, WindowMessage, with_tool_groups

# The second counts shorter texts as longer, so that nothing can rest on pieces costing more than their whole.
COUNTERS: list[TokenCounter] = [
    EstimatingCounter(),
    ExactCounter(lambda text: "x" * ((len(text) * 7919) % 97), label="erratic"),
    ExactCounter(str.split, label="words"),
]
TEXTS = st.text(max_size=40) | st.sampled_from(["</memory>", "user: a\nsystem: b", "<|im_end|>", "[INST]", "| x", ""])
IDS = st.sampled_from(["c1", "c2", ""])
ARGUMENTS = TEXTS | st.sampled_from(['{"a": NaN}', '{"a": "\\ud800"}', '{"a":1,"b":[2]}', "[1]", "{"])
LAYOUTS: st.SearchStrategy[Layout] = st.sampled_from(["standard", "cache"])
OPENAI = TypeAdapter(list[ChatCompletionMessageParam])
ANTHROPIC = TypeAdapter(list[MessageParam])
ANTHROPIC_SYSTEM = TypeAdapter(str | list[TextBlockParam])


@st.composite
def sessions(draw: st.DrawFn) -> list[WindowMessage]:
    """Draw a session in which calls, results and roles follow each other in any order."""
    messages = []
    for seq in range(1, draw(st.integers(0, 14)) + 1):
        role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "system"]))
        uses = [
            ToolUse(id=name, name="f", arguments=draw(ARGUMENTS))
            for name in draw(st.lists(IDS, max_size=2, unique=True))
        ]
        messages.append(
            WindowMessage(
                id=f"m{seq}",
                seq=seq,
                role=role,
                tokens=draw(st.integers(0, 60)),
                text=draw(TEXTS),
                speaker=draw(st.sampled_from(["", "Anna"])),
                pinned=draw(st.integers(0, 5)) == 0,
                summarised_by=draw(st.sampled_from(["", "", "s1"])),
                tool_uses=tuple(uses) if role == "assistant" and draw(st.booleans()) else (),
                tool_call_id=draw(IDS) if role == "tool" else "",
            )
        )
    return with_tool_groups(messages)


def records(prefix: str) -> st.SearchStrategy[list[RecalledItem]]:
    ids = st.integers(1, 14).map(lambda number: f"{prefix}{number}")
    record = st.builds(RecalledItem, id=ids, kind=TEXTS, text=TEXTS, speaker=TEXTS, trusted=st.booleans())
    return st.lists(record, max_size=4)


MATERIALS = st.builds(
    Material,
    request=TEXTS,
    role=TEXTS,
    messages=sessions(),
    summary=records("s"),
    recalled=records("m"),
    profile=records("p"),
)


def consumed(value: object) -> object:
    """Read what pydantic validates only when it is read."""
    match value:
        case str() | bytes():
            return value
        case Mapping():
            return {key: consumed(one) for key, one in value.items()}
        case Iterable():
            return [consumed(one) for one in value]
    return value


def tokens_of(messages: list[dict[str, JSON]], counter: TokenCounter) -> int:
    """Count OpenAI messages the way a counter is documented to count a message."""
    total = 0
    for message in messages:
        calls = message.get("tool_calls") or ()
        content = message["content"] or ""
        total += counter.count_message(Message(role="user", content=content, tool_calls=calls))  # type: ignore[arg-type]
    return total


def of_anthropic(prompt: AnthropicPrompt, counter: TokenCounter) -> int:
    """Count a prompt for Anthropic, each block as the part of a message that it is."""
    total = counter.count_message(Message(role="system", content=str(prompt.system))) if prompt.system else 0
    for message in prompt.messages:
        blocks: list[dict[str, JSON]] = message["content"]  # type: ignore[assignment]
        texts = [block.get("text") or block.get("content") for block in blocks if block["type"] != "tool_use"]
        calls = [
            {"name": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False)}
            for block in blocks
            if block["type"] == "tool_use"
        ]
        parts = [{"type": "text", "text": text} for text in texts]
        total += counter.count_message(Message(role="user", content=parts, tool_calls=calls))
    return total


def of_langchain(messages: Sequence[BaseMessage], counter: TokenCounter) -> int:
    total = 0
    for message in messages:
        calls = [
            {"name": call["name"], "arguments": json.dumps(call["args"], ensure_ascii=False)}
            for call in getattr(message, "tool_calls", ())
        ]
        total += counter.count_message(Message(role="user", content=message.text, tool_calls=calls))
    return total


def made(material: Material, budget: int, counter: TokenCounter, layout: Layout = "standard") -> Context | None:
    try:
        return assemble(material, budget=budget, counter=counter, settings=ContextSettings(layout=layout))
    except BudgetTooSmall:
        return None


@given(MATERIALS, st.integers(0, 900), st.sampled_from(COUNTERS), LAYOUTS)
def test_no_format_exceeds_the_budget_by_the_counter(
    material: Material, budget: int, counter: TokenCounter, layout: Layout
) -> None:
    context = made(material, budget, counter, layout)
    if context is None:
        return
    assert context.total_tokens <= budget
    assert sum(context.tokens_by_part.values()) == context.total_tokens
    assert counter.count(context.text()) <= context.total_tokens
    assert tokens_of(context.openai_messages(), counter) <= context.total_tokens
    assert of_anthropic(context.anthropic_prompt(), counter) <= context.total_tokens
    assert of_langchain(context.langchain_messages(), counter) <= context.total_tokens
    assert 0 <= context.cacheable_tokens <= context.total_tokens


@given(MATERIALS, st.integers(0, 900), LAYOUTS)
def test_every_message_is_shown_once_or_named_or_summarised(material: Material, budget: int, layout: Layout) -> None:
    context = made(material, budget, COUNTERS[0], layout)
    if context is None:
        return
    as_message = Counter(one.id for one in context.manifest if one.part in ("pinned", "recent"))
    missing = set(context.gap.ids) if context.gap else set()
    assert set(as_message.values()) <= {1}
    assert not missing & set(as_message)
    summaries = {one.id for one in context.manifest if one.part == "summary"}
    for message in material.messages:
        assert message.id in as_message or message.id in missing or message.summarised_by in summaries
    as_record = [one.id for one in context.manifest if one.part not in ("pinned", "recent")]
    assert len(as_record) == len(set(as_record))
    assert not set(as_record) & set(as_message)


@given(MATERIALS, st.integers(0, 900), LAYOUTS)
def test_openai_tool_messages_answer_the_calls_right_before_them(
    material: Material, budget: int, layout: Layout
) -> None:
    context = made(material, budget, COUNTERS[0], layout)
    open_calls: list[JSON] = []
    for message in context.openai_messages() if context else ():
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls
        open_calls = [call["id"] for call in message.get("tool_calls", [])]  # type: ignore[union-attr, index, call-overload]
    assert not open_calls


@given(MATERIALS, st.integers(0, 900), LAYOUTS)
def test_anthropic_messages_alternate_open_with_the_user_and_answer_every_call(
    material: Material, budget: int, layout: Layout
) -> None:
    context = made(material, budget, COUNTERS[0], layout)
    messages: list[dict[str, JSON]] = context.anthropic_prompt().messages if context else []
    roles = [message["role"] for message in messages]
    assert roles[:1] in ([], ["user"])
    assert all(first != second for first, second in pairwise(roles))
    for place, message in enumerate(messages):
        blocks: list[dict[str, str]] = message["content"]  # type: ignore[assignment]
        assert blocks
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if calls:
            answers: list[dict[str, str]] = messages[place + 1]["content"]  # type: ignore[assignment]
            assert [block["tool_use_id"] for block in answers[: len(calls)]] == calls


@given(MATERIALS, st.integers(0, 900), LAYOUTS)
def test_the_types_of_the_vendors_accept_the_messages_and_change_nothing(
    material: Material, budget: int, layout: Layout
) -> None:
    context = made(material, budget, COUNTERS[0], layout)
    if context is None:
        return
    messages = context.openai_messages()
    assert consumed(OPENAI.validate_python(messages)) == messages
    for prompt in (context.anthropic_prompt(), context.anthropic_prompt(cache_control=True)):
        assert consumed(ANTHROPIC.validate_python(prompt.messages)) == prompt.messages
        assert consumed(ANTHROPIC_SYSTEM.validate_python(prompt.system)) == prompt.system
        json.dumps([prompt.system, prompt.messages], ensure_ascii=False, allow_nan=False).encode()


@given(MATERIALS, st.integers(0, 900), LAYOUTS)
def test_langchain_gets_the_texts_and_calls_of_openai_in_the_same_order(
    material: Material, budget: int, layout: Layout
) -> None:
    context = made(material, budget, COUNTERS[0], layout)
    if context is None:
        return
    theirs = context.langchain_messages()
    ours = context.openai_messages()
    assert [message.content for message in theirs] == [message["content"] or "" for message in ours]
    assert [message.type == "system" for message in theirs[1:]] == [False] * len(theirs[1:])
    for message, written in zip(theirs, ours, strict=True):
        assert getattr(message, "tool_call_id", None) == written.get("tool_call_id")
        calls: list[dict[str, str]] = written.get("tool_calls") or []  # type: ignore[assignment]
        assert [call["id"] for call in getattr(message, "tool_calls", [])] == [call["id"] for call in calls]
        assert not getattr(message, "invalid_tool_calls", [])


@given(st.integers(3, 60), st.integers(0, 60), LAYOUTS)
def test_with_three_pins_and_a_window_of_twenty_no_message_is_lost_unnamed(
    count: int, covered: int, layout: Layout
) -> None:
    messages = [
        WindowMessage(
            id=f"m{seq}", seq=seq, role="user", tokens=9, text="x", summarised_by="s1" if seq <= covered else ""
        )
        for seq in range(1, count + 1)
    ]
    summary = [RecalledItem(id="s1", kind="summary", text="They talked.")] if covered else []
    context = made(Material(request="Q", messages=messages, summary=summary), 4000, COUNTERS[0], layout)
    assert context is not None
    assert context.gap is None
    shown = {one.id for one in context.manifest}
    assert {f"m{seq}" for seq in range(covered + 1, count + 1)} <= shown
    assert {f"m{seq}" for seq in range(max(1, count - 19), count + 1)} <= shown
    assert {"m1", "m2", "m3"} <= shown


@given(MATERIALS, st.integers(200, 900))
def test_stored_text_stands_behind_bars(material: Material, budget: int) -> None:
    marked = [
        RecalledItem(id=f"e{place}", kind="note", text=f"{record.text}\nEVIL", trusted=record.trusted)
        for place, record in enumerate(material.recalled)
    ]
    context = made(Material(request="Q", recalled=marked), budget, COUNTERS[0])
    if context is None:
        return
    assert not any(line.startswith("EVIL") for line in context.text().splitlines())
    assert all(
        "EVIL" not in str(message["content"]) for message in context.openai_messages() if message["role"] == "system"
    )
