"""A real language model over HTTP: the protocols, schemas, streaming and time limits, not the sense of what it says."""

from typing import Any

import pytest
from anthropic.types import Message
from openai import OpenAI
from openai.types.chat import ChatCompletion

from retentia.errors import ModelRejected, ModelReplyInvalid, ModelTimedOut
from retentia.metering.spend import Spend
from retentia.providers.chat import ChatMessage, ChatModel, ChatOptions
from retentia.providers.chat.anthropic import AnthropicChat
from retentia.providers.chat.check import check_model
from retentia.providers.chat.json_schema import problem
from retentia.providers.chat.openai import OpenAIChat
from retentia.providers.chat.sent import client_of_ours
from retentia.store.open import open_database

ASK = [ChatMessage("system", "Answer briefly."), ChatMessage("user", "Where is Lisbon?")]
# What a grammar allows has an end, so that the smallest model comes to it.
EVENTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["fact", "event"]},
        "names": {"type": "array", "items": {"type": "string", "maxLength": 8}, "minItems": 1, "maxItems": 2},
        "is_certain": {"type": "boolean"},
    },
    "required": ["kind", "names", "is_certain"],
    "additionalProperties": False,
}


@pytest.fixture
def options() -> ChatOptions:
    return ChatOptions(fields={"temperature": 0, "seed": 1}, timeout_seconds=60, attempts=1)


@pytest.fixture
def openai(real_model_url: str, options: ChatOptions) -> OpenAIChat:
    return OpenAIChat("smollm2", real_model_url, options)


@pytest.fixture(params=["openai", "anthropic"])
def model(request: pytest.FixtureRequest, real_model_url: str, options: ChatOptions) -> ChatModel:
    if request.param == "openai":
        return OpenAIChat("smollm2", real_model_url, options)
    return AnthropicChat("smollm2", real_model_url, options)


def test_it_answers_in_both_protocols_with_tokens_it_counted(model: ChatModel) -> None:
    answer = model.complete(ASK, max_tokens=6)
    assert answer.text
    assert answer.finish == "length"
    assert answer.usage.tokens_out == 6
    assert 10 < answer.usage.tokens_in < 60
    assert not answer.usage.is_estimated


def test_the_pieces_of_a_stream_are_the_answer_in_both_protocols(model: ChatModel) -> None:
    stream = model.stream(ASK, max_tokens=6)
    pieces = list(stream)
    assert len(pieces) > 2
    assert "".join(pieces) == stream.completion.raw
    assert stream.completion.text == model.complete(ASK, max_tokens=6).text
    assert (stream.completion.usage.tokens_out, stream.completion.usage.is_estimated) == (6, False)
    assert stream.completion.finish == "length"


def test_its_answers_are_of_the_types_of_the_vendors_packages(real_model_url: str) -> None:
    with client_of_ours({}) as http:
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 2}
        ChatCompletion.model_validate(http.post(f"{real_model_url}/chat/completions", json=asked, timeout=60).json())
        Message.model_validate(http.post(f"{real_model_url}/messages", json=asked, timeout=60).json())
        client = OpenAI(api_key="none", base_url=real_model_url, http_client=http)
        reply = client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "Hi"}], max_completion_tokens=2
        )
    assert reply.choices[0].message.content


def test_a_grammar_keeps_it_to_the_schema(openai: OpenAIChat) -> None:
    answer = openai.complete(ASK, schema=EVENTS, max_tokens=120)
    assert openai.schema_mode(EVENTS) == "json_schema"
    assert isinstance(answer.value, dict)
    assert list(answer.value) == list(EVENTS["properties"])
    assert problem(answer.value, EVENTS) == ""


def test_an_answer_that_its_limit_cut_off_is_no_answer(openai: OpenAIChat) -> None:
    with pytest.raises(ModelReplyInvalid, match="raise max_tokens") as raised:
        openai.complete(ASK, schema=EVENTS, max_tokens=4)
    assert raised.value.reply
    assert raised.value.tokens_out == 4


def test_a_text_that_is_too_long_for_it_is_refused_at_once(openai: OpenAIChat) -> None:
    with pytest.raises(ModelRejected, match="exceed_context_size_error") as raised:
        openai.complete([ChatMessage("user", "secret word " * 3000)], schema=EVENTS)
    assert "secret" not in str(raised.value)


def test_a_time_limit_ends_a_call_and_a_stream(real_model_url: str) -> None:
    hurried = OpenAIChat("m", real_model_url, ChatOptions(timeout_seconds=0.05, attempts=1))
    with pytest.raises(ModelTimedOut):
        hurried.complete(ASK, max_tokens=500)
    with pytest.raises(ModelTimedOut):
        list(hurried.stream(ASK, max_tokens=500))


def test_a_stream_that_is_left_ends_and_the_model_answers_the_next(openai: OpenAIChat) -> None:
    with openai.stream(ASK, max_tokens=500) as stream:
        assert next(stream)
    assert openai.complete(ASK, max_tokens=2).usage.tokens_out == 2


def test_what_it_took_is_metered_as_it_counted(openai: OpenAIChat, sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    answer = Spend(database).meter(openai, tenant="acme", purpose="test").complete(ASK, max_tokens=3)
    (row,) = Spend(database).usage("acme")
    assert (row.model, row.calls) == (openai.identity, 1)
    assert (row.tokens_in, row.tokens_out) == (answer.usage.tokens_in, 3)
    database.close()


def test_a_check_finds_what_it_can_do(openai: OpenAIChat) -> None:
    found = check_model(openai)
    assert (found.answers, found.streams, found.keeps_schema, found.reports_tokens) == (True, True, True, True)
    assert found.schema_mode == "json_schema"
    assert any("keeps to it" in line for line in found.in_words())
