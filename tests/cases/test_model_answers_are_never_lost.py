"""What a model answers is used as it was asked for, or asked for again; what it costs is counted and has an end."""

import json
import threading
from typing import Any

import pytest

from chat_server import completion, failing, scripted
from retentia import Memory, Scope
from retentia.errors import CostCeilingReached, ModelReplyInvalid, ModelUnavailable
from retentia.model.spending import Ceiling
from retentia.providers.chat import ChatMessage, ChatOptions
from retentia.providers.chat.openai import OpenAIChat
from retentia.testing import FakeModel, Held

ANNA = Scope("acme", "anna")
ASK = [ChatMessage("user", "What does she like?")]
MEMORY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "memory": {
            "type": "array",
            "items": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        }
    },
    "required": ["memory"],
}
EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {"event": {"enum": ["ADD", "NONE"]}, "text": {"type": "string"}},
    "required": ["event", "text"],
}
TRAVEL = {"memory": [{"text": "likes travel"}]}


# Case 6


@pytest.mark.parametrize(
    "content",
    [
        'Sure {about travel}: {"memory":[{"text":"likes travel"}]}',
        '```json\n{"memory":[{"text":"likes travel"}]}\n```',
        '<think>She said {"memory": []}?</think>{"memory":[{"text":"likes travel"}]}',
    ],
)
def test_facts_in_a_malformed_answer_are_found(content: str) -> None:
    with scripted() as server:
        server.script = [completion(content)]
        assert OpenAIChat("m", server.url).complete(ASK, schema=MEMORY).value == TRAVEL


def test_half_a_surrogate_in_a_fact_can_be_kept(sqlite_url: str) -> None:
    with scripted() as server:
        server.script = [completion('{"memory":[{"text":"likes travel \\ud83d"}]}')]
        value: Any = OpenAIChat("m", server.url).complete(ASK, schema=MEMORY).value
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        made = memory.remember(value["memory"][0]["text"], scope=ANNA)
        assert memory.get(made.ids[0], scope=ANNA).text == "likes travel \ufffd"


@pytest.mark.parametrize(
    "content", ["She likes travel.", "", "{", '{"memory": "likes travel"}', '{"memory":[{"text":"lik']
)
def test_an_answer_that_cannot_be_read_can_be_asked_for_again_and_is_never_no_facts(content: str) -> None:
    with scripted() as server:
        server.script = [completion(content), completion(json.dumps(TRAVEL))]
        model = OpenAIChat("m", server.url)
        with pytest.raises(ModelReplyInvalid) as raised:
            model.complete(ASK, schema=MEMORY)
        assert raised.value.is_retryable
        assert raised.value.reply == content
        assert model.complete(ASK, schema=MEMORY).value == TRAVEL


# Case 80


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(EVENT) + '\n{"event": "ADD", "text": "likes travel"}',
        '{"type": "object", "properties": {"event": "ADD", "text": "likes travel"}}',
        '[{"event": "ADD", "text": "likes travel"}]',
        '<think>\nan addition\n</think>\n\n{"event": "ADD", "text": "likes travel"}',
    ],
)
def test_what_small_models_do_to_json_is_undone(content: str) -> None:
    answer = FakeModel(content).complete(ASK, schema=EVENT)
    assert answer.value == {"event": "ADD", "text": "likes travel"}


@pytest.mark.parametrize("content", ['{"text": "likes travel"}', json.dumps(EVENT)])
def test_a_key_that_is_missing_is_not_invented(content: str) -> None:
    with pytest.raises(ModelReplyInvalid):
        FakeModel(content).complete(ASK, schema=EVENT)


# Case 78


def test_a_budget_of_two_calls_is_two_calls_and_the_third_says_so(sqlite_url: str) -> None:
    pages = [f"page {number}: " + "x" * 1000 for number in range(10)]
    model = FakeModel(then=TRAVEL)
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        receipt = memory.add("\n".join(pages)[:9_000], scope=ANNA)
        meter = memory.spending.meter(model, tenant="acme", purpose="extract", job=Ceiling(calls=2))
        read = []
        with pytest.raises(CostCeilingReached, match="2 calls, of which 2 are made"):
            read += [meter.complete([ChatMessage("user", page)], schema=MEMORY).value for page in pages]
        assert len(model.asked) == 2
        assert memory.get(receipt.ids[0], scope=ANNA).text.startswith("page 0")  # what got in is known: everything
        (row,) = memory.spending.usage("acme")
        assert (row.purpose, row.calls) == ("extract", 2)
        assert row.tokens_in > 600


def test_after_a_rate_limit_it_is_known_when_to_come_back() -> None:
    with scripted() as server:
        server.script = [failing(429, Retry_After="120")]
        with pytest.raises(ModelUnavailable, match="wait 120 seconds") as raised:
            OpenAIChat("m", server.url, ChatOptions(attempts=5)).complete(ASK)
        assert raised.value.retry_after_seconds == 120
        assert len(server.requests) == 1


# Case 46, as far as the model goes


def test_what_is_written_while_a_model_works_is_there_when_it_has_finished(store_url: str) -> None:
    held = Held(TRAVEL)
    with Memory.open(store_url, embedder=None, worker=False) as memory:
        meter = memory.spending.meter(FakeModel(held), tenant="acme", purpose="consolidate")
        working = threading.Thread(target=meter.complete, args=(ASK,), kwargs={"schema": MEMORY})
        working.start()
        assert held.asked.wait(10)
        made = memory.remember("Anna moved to Lisbon", scope=ANNA)
        held.release.set()
        working.join(10)
        assert memory.get(made.ids[0], scope=ANNA).text == "Anna moved to Lisbon"
