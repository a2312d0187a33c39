from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import BudgetTooSmall
from retentia.model.message import JSON, Message
from retentia.working.context import Context, Material, assemble
from retentia.working.records import RecalledItem
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


@st.composite
def sessions(draw: st.DrawFn) -> list[WindowMessage]:
    """Draw a session in which calls, results and roles follow each other in any order."""
    messages = []
    for seq in range(1, draw(st.integers(0, 14)) + 1):
        role = draw(st.sampled_from(["user", "assistant", "assistant", "tool", "system"]))
        uses = [
            ToolUse(id=name, name="f", arguments=draw(TEXTS)) for name in draw(st.lists(IDS, max_size=2, unique=True))
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


def tokens_of(messages: list[dict[str, JSON]], counter: TokenCounter) -> int:
    """Count OpenAI messages the way a counter is documented to count a message."""
    total = 0
    for message in messages:
        calls = message.get("tool_calls") or ()
        content = message["content"] or ""
        total += counter.count_message(Message(role="user", content=content, tool_calls=calls))  # type: ignore[arg-type]
    return total


def made(material: Material, budget: int, counter: TokenCounter) -> Context | None:
    try:
        return assemble(material, budget=budget, counter=counter)
    except BudgetTooSmall:
        return None


@given(MATERIALS, st.integers(0, 900), st.sampled_from(COUNTERS))
def test_no_format_exceeds_the_budget_by_the_counter(material: Material, budget: int, counter: TokenCounter) -> None:
    context = made(material, budget, counter)
    if context is None:
        return
    assert context.total_tokens <= budget
    assert sum(context.tokens_by_part.values()) == context.total_tokens
    assert counter.count(context.text()) <= context.total_tokens
    assert tokens_of(context.openai_messages(), counter) <= context.total_tokens


@given(MATERIALS, st.integers(0, 900))
def test_every_message_is_shown_once_or_named_or_summarised(material: Material, budget: int) -> None:
    context = made(material, budget, COUNTERS[0])
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


@given(MATERIALS, st.integers(0, 900))
def test_openai_tool_messages_answer_the_calls_right_before_them(material: Material, budget: int) -> None:
    context = made(material, budget, COUNTERS[0])
    open_calls: list[JSON] = []
    for message in context.openai_messages() if context else ():
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
            continue
        assert not open_calls
        open_calls = [call["id"] for call in message.get("tool_calls", [])]  # type: ignore[union-attr, index, call-overload]
    assert not open_calls


@given(MATERIALS, st.integers(0, 900))
def test_anthropic_messages_alternate_open_with_the_user_and_answer_every_call(material: Material, budget: int) -> None:
    context = made(material, budget, COUNTERS[0])
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
