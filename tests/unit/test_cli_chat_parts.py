"""The parts of `retentia chat` that need no process: messages to the model, the account, what a screen shows."""

import io
from pathlib import Path

import pytest

from retentia.cli.chat.account import Took, read_price, took_today
from retentia.cli.chat.conversation import chat_messages
from retentia.cli.chat.screen import harmless
from retentia.errors import InvalidInput
from retentia.model.price import Price
from retentia.store.model_usage import DayUsage
from retentia.working.context import Context, Material, assemble
from retentia.working.records import RecalledItem
from retentia.working.strategy import FACTS, Strategy
from retentia.working.tokens import EstimatingCounter
from retentia.working.window import ToolUse, WindowMessage, with_tool_groups

UTF_8 = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
ASCII = io.TextIOWrapper(io.BytesIO(), encoding="ascii")


def made(*messages: WindowMessage) -> Context:
    note = RecalledItem(id="n1", kind="note", text="Anna likes tea.")
    material = Material(request="And now?", role="Be brief.", messages=with_tool_groups(messages), recalled=[note])
    return assemble(material, budget=2000, counter=EstimatingCounter())


def test_a_model_gets_the_system_prompt_and_then_user_and_assistant_in_turn() -> None:
    context = made(
        WindowMessage(id="m1", seq=1, role="assistant", tokens=8, text="Hello."),
        WindowMessage(id="m2", seq=2, role="user", tokens=8, text="I like tea."),
        WindowMessage(id="m3", seq=3, role="user", tokens=8, text="With milk."),
    )
    sent = chat_messages(context)
    assert [one.role for one in sent] == ["system", "user", "assistant", "user"]
    assert "| Anna likes tea." in sent[1].text
    assert sent[3].text == "I like tea.\n\nWith milk.\n\nAnd now?"


def test_a_session_with_tool_calls_is_sent_as_one_text_that_keeps_the_budget() -> None:
    call = ToolUse(id="c1", name="search", arguments='{"q": "tea"}')
    context = made(
        WindowMessage(id="m1", seq=1, role="assistant", tokens=20, tool_uses=(call,)),
        WindowMessage(id="m2", seq=2, role="tool", tokens=8, text="three shops", tool_call_id="c1"),
    )
    (only,) = chat_messages(context)
    assert (only.role, only.text) == ("user", context.text())
    assert EstimatingCounter().count(only.text) <= context.total_tokens


def test_text_neither_steers_a_terminal_nor_breaks_one_that_cannot_write_it() -> None:
    assert harmless("a\x1b[2J\x07b\r\n\tc\u202ed\x9b", UTF_8) == "a[2Jb\n\tcd"
    assert harmless("Львів █", UTF_8) == "Львів █"
    assert harmless("Львів █", ASCII) == "????? ?"


def test_a_price_is_two_numbers_or_a_file(tmp_path: Path) -> None:
    assert read_price("2,8", "fake:m") == {"fake:m": Price(input_per_million=2, output_per_million=8)}
    assert read_price("", "fake:m") == {}
    (tmp_path / "prices.toml").write_text("[m]\ninput_per_million = 1\n")
    assert read_price(str(tmp_path / "prices.toml"), "fake:m") == {"m": Price(input_per_million=1)}
    for wrong in ("cheap", "2", "1,2,3,4", "2,", "nan,1"):
        with pytest.raises(InvalidInput):
            read_price(wrong, "fake:m")


def test_costs_are_told_only_where_every_price_is_known() -> None:
    rows = [DayUsage(1, "fake:m", "chat", 2, 1000, 100, 0), DayUsage(1, "fake:other", "summary", 1, 500, 10, 0)]
    price = Price(input_per_million=2, output_per_million=8)
    assert took_today(rows, {"fake:m": price}).cost is None
    both = took_today(rows, {"fake:m": price, "fake:other": price})
    assert both.cost == pytest.approx((1500 * 2 + 110 * 8) / 1e6)
    assert (both.calls, both.tokens_in, both.tokens_out) == (3, 1500, 110)
    assert took_today([], {}) == Took(what=both.what, calls=0, tokens_in=0, tokens_out=0)


def test_a_strategy_is_named_by_its_layers() -> None:
    assert Strategy.of(["buffer", " Facts "]) == Strategy(summary=False, facts=True, semantic=False, buffer=True)
    assert Strategy().layers == ("summary", "facts", "semantic")
    assert Strategy.of(Strategy().layers) == Strategy()
    assert FACTS.sessions_loaded == 0
    with pytest.raises(InvalidInput, match="unknown layer 'all'; a strategy combines buffer, summary"):
        Strategy.of(["all"])
