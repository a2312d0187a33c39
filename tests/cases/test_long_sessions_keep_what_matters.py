"""Sixty turns, a summariser that drops numbers or fails, and a small budget: what matters is still there.

After letta#3242 and #3279, netclaw#318, hermes PR#7879, claude-code#92347 and OpenDigitalProductFactory PR#2262.
"""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from retentia import Memory, Message, Models, Scope, Session, ToolCall
from retentia.errors import ModelUnavailable
from retentia.evals.replay import given_twice, unnamed
from retentia.model.summary import SEGMENT_LEVEL, Summary
from retentia.providers.chat.base import ChatMessage
from retentia.store import scopes, sessions, summaries
from retentia.testing import FakeModel
from retentia.testing_store import FixedClock
from retentia.tools.freshness import Reuse

ANNA = Scope("acme", "anna")
EXACT = ("$213.00", "om_x100b54", "14:30", "PostgreSQL 14", "auth.py line 42")
TASK = "I want to fix the login, it breaks in auth.py line 42, and we run PostgreSQL 14 on AWS RDS."
CALL = {"id": "c1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": "om_x100b54"}'}}
SAID: dict[int, list[Message]] = {
    3: [Message(role="user", content=TASK)],
    11: [
        Message(role="assistant", content="I look up the order.", tool_calls=[CALL]),
        Message(role="tool", content='{"total": "$213.00", "id": "om_x100b54"}', tool_call_id="c1"),
    ],
    20: [Message(role="user", content="We decided to ship at 14:30 because the office closes then.")],
    31: [Message(role="user", content="Tried the nightly build, but it failed because of a missing index.")],
}
TURNS = 60
BUDGET = 1500


def without_numbers(asked: Sequence[ChatMessage]) -> str:
    """Summarise as a careless model does: vaguely, without a number, and with a name rewritten."""
    return "The user talked about the garden and about a fault in the security module; an order was looked up."


@contextmanager
def talking(url: str, model: FakeModel, clock: FixedClock) -> Iterator[tuple[Memory, Session]]:
    models = Models(main=model, learn="none")  # what it is asked here is a summary
    with Memory.open(url, embedder=None, worker=False, models=models, clock=clock) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append(Message(role="system", content="You are careful.", pinned=True))
        yield memory, chat


def turn(chat: Session, number: int) -> None:
    chat.append(
        SAID.get(number, [Message(role="user", content=f"Let us think about the garden, part {number * 1_000}.")])
    )
    chat.append(Message(role="assistant", content="The garden is a fine thing to think about for a while. " * 2))


def written(memory: Memory) -> list[Summary]:
    with memory._database.read("acme") as transaction:
        scope_id = scopes.find(transaction, ANNA)
        assert scope_id is not None
        session_id = sessions.find(transaction, scope_id, "chat")
        assert session_id is not None
        there = summaries.stretches(transaction, scope_id, session_id)
        return summaries.texts(transaction, scope_id, session_id, there)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def test_every_protected_literal_is_in_a_summary_and_every_step_keeps_its_budget(
    sqlite_url: str, clock: FixedClock
) -> None:
    """Case 96: entities survive repeated summaries, and what is due is counted by messages, not by passes."""
    with talking(sqlite_url, FakeModel(then=without_numbers), clock) as (memory, chat):
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
            context = chat.context("What was the order, and when do we ship?", budget=BUDGET)
            history = memory.history(scope=ANNA, session="chat", whole=True)
            assert context.total_tokens <= BUDGET
            assert unnamed(context, history) == set()
            assert given_twice(context, history) == set()
        segments = [one for one in written(memory) if one.level == SEGMENT_LEVEL]
        said = len(memory.messages(scope=ANNA, session="chat"))
        assert said - 30 < sum(one.messages for one in segments) <= said - 15
        assert all(one.text.count("security module") == 1 for one in segments)  # none retells another
        told = "\n".join(f"{one.text} {json.dumps(one.body)}" for one in segments)
        assert [text for text in EXACT if text not in told] == []
        assert all(text in chat.context("auth.py line 42?", budget=BUDGET).text() for text in ("auth.py line 42",))


def test_pinned_messages_are_as_they_were_said(sqlite_url: str, clock: FixedClock) -> None:
    with talking(sqlite_url, FakeModel(then=without_numbers), clock) as (memory, chat):
        (pinned,) = chat.append(Message(role="user", content="Never deploy on 2026-12-24.", pinned=True)).ids
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
        context = chat.context("What now?", budget=BUDGET)
        assert "Never deploy on 2026-12-24." in context.text()
        assert pinned in {one.id for one in context.manifest if one.part == "pinned"}


def test_a_summariser_is_asked_for_a_bounded_stretch_and_a_bounded_answer(sqlite_url: str, clock: FixedClock) -> None:
    """Case 97: a summariser that gets everything at once, or may answer at any length, ends in the middle."""
    model = FakeModel(then=without_numbers)
    with talking(sqlite_url, model, clock) as (memory, chat):
        for number in range(TURNS):
            chat.append(Message(role="user", content=f"Part {number}. " + "The hedge is 3 m high and green. " * 60))
        chat.end()
        assert sum(one.messages for one in written(memory) if one.level == SEGMENT_LEVEL) == TURNS + 1
        assert all(limit is not None and limit <= 1_000 for limit in model.limits)
        longest = max(memory._counter.count(message.text) for asked in model.asked for message in asked)
        assert longest < 2 * memory.working.summary.segment_tokens


def test_while_the_summariser_fails_the_middle_is_shown_or_named_and_found(sqlite_url: str, clock: FixedClock) -> None:
    """Case 98: a summariser that fails must not drop the middle of a session, nor its task."""
    with talking(sqlite_url, FakeModel(then=ModelUnavailable()), clock) as (memory, chat):
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
            context = chat.context("What was wrong with the login?", budget=BUDGET)
            assert unnamed(context, memory.history(scope=ANNA, session="chat", whole=True)) == set()
        assert written(memory) == []
        assert context.gap is not None
        assert f"({context.gap.count} earlier messages are not shown here" in context.text()
        assert TASK in context.text()  # recalled, as it is asked for
        whole = chat.context("What was wrong with the login?", budget=100_000)
        assert whole.gap is None
        assert all(text in whole.text() for text in EXACT)
        (job,) = memory.jobs(tenant="acme")
        assert (job.kind, job.state) == ("summarise", "queued")
        assert job.attempts >= 1


def test_what_was_summarised_before_a_failure_stays_and_the_rest_follows(sqlite_url: str, clock: FixedClock) -> None:
    """Case 98, the other way round: the model comes back and nothing has been lost meanwhile."""
    answers = [without_numbers([]), *[ModelUnavailable()] * 3]
    with talking(sqlite_url, FakeModel(*answers, then=without_numbers), clock) as (memory, chat):
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
            if number == TURNS // 2:
                assert [one.first_seq for one in written(memory)] == [1]
        for _ in range(3):
            clock.advance(seconds=3_600)
            memory.drain()
        segments = [one for one in written(memory) if one.level == SEGMENT_LEVEL]
        assert [one.first_seq for one in segments[1:]] == [one.last_seq + 1 for one in segments[:-1]]
        assert sum(one.messages for one in segments) > len(chat.messages()) - 30


def test_an_earlier_summary_is_never_removed_silently(sqlite_url: str, clock: FixedClock) -> None:
    """Case 99: later summaries stand beside or above an earlier one, and only an erasure takes it away."""
    with talking(sqlite_url, FakeModel(then=without_numbers), clock) as (memory, chat):
        seen: dict[str, Summary] = {}
        for number in range(2 * TURNS):
            turn(chat, number)
            memory.drain()
            there = {one.id: one for one in written(memory) if one.level == SEGMENT_LEVEL}
            assert {one: there.get(one) for one in seen} == seen
            seen = there
            covered = {one.id for one in memory.history(scope=ANNA, session="chat").summaries}
            context = chat.context("What now?", budget=BUDGET)
            dropped = {one.id for one in context.dropped if one.part == "summary"}
            assert covered == {one.id for one in context.manifest if one.part == "summary"} | dropped
        assert len(seen) >= 10
        first = min(seen.values(), key=lambda one: one.first_seq)
        receipt = memory.erase(memory.messages(scope=ANNA, session="chat")[4].id, scope=ANNA)
        assert receipt.removed["summary"] >= 1
        assert first.id not in {one.id for one in written(memory)}


def test_a_tool_call_that_was_summarised_is_still_told_and_not_made_again(sqlite_url: str, clock: FixedClock) -> None:
    """Case 100: tool activity was dropped with the turns it stood in, and the agent did its work again."""
    with Memory.open(sqlite_url, embedder=None, worker=False, clock=clock) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        chat.log_tool_call(ToolCall(name="read_page", arguments={"page": 7}, result="The pier is 40 m long."))
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
        told = "\n".join(one.text for one in written(memory) if one.level == SEGMENT_LEVEL)
        assert re.search(r"Tool get_order, ok \[\w+\]: .*\$213\.00", told)
        assert [(call.name, call.result) for call in memory.tools.log(scope=ANNA)] == [
            ("get_order", {"total": "$213.00", "id": "om_x100b54"}),
            ("read_page", "The pier is 40 m long."),
        ]
        seen = memory.tools.seen("get_order", {"id": "om_x100b54"}, scope=ANNA)
        assert seen.count == 1
        assert isinstance(memory.tools.seen("read_page", {"page": 7}, scope=ANNA).decision, Reuse)
        assert "$213.00" in chat.context("What was the total of the order om_x100b54?", budget=BUDGET).text()


@pytest.mark.parametrize(
    "echo",
    [
        lambda asked: asked[-1].text,
        lambda asked: asked[0].text,
        lambda asked: json.dumps({"type": "object", "properties": {"summary": {"type": "string"}}}),
        lambda asked: json.dumps([{"summary": "The user talked about the garden."}]),
        lambda asked: f"<think>They want notes.</think>{without_numbers(asked)}",
    ],
    ids=["the conversation", "the instructions", "a schema", "a list", "thinking aloud"],
)
def test_a_model_that_echoes_loses_nothing_and_breaks_no_context(
    sqlite_url: str, clock: FixedClock, echo: object
) -> None:
    """Case 80: small models echo what they were given, or answer in a form that nobody asked for."""
    with talking(sqlite_url, FakeModel(then=echo), clock) as (memory, chat):  # type: ignore[arg-type]
        for number in range(TURNS):
            turn(chat, number)
            memory.drain()
        context = chat.context("What now?", budget=BUDGET)
        history = memory.history(scope=ANNA, session="chat", whole=True)
        assert context.total_tokens <= BUDGET
        assert unnamed(context, history) == set()
        assert "<think>" not in "".join(one.text for one in history.summaries)
        segments = [one for one in written(memory) if one.level == SEGMENT_LEVEL]
        known = "\n".join(f"{one.text} {json.dumps(one.body)}" for one in segments)
        said = "\n".join(message.text for message in history.messages)
        assert [text for text in EXACT if text not in known and segments] == []
        assert all(text in said for text in EXACT)
