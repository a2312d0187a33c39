"""The protocol of Anthropic's messages, against a scripted server on this machine."""

import json
import traceback
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic.types import Message
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from pydantic import TypeAdapter

from chat_server import ChatServer, body, events, failing, message, scripted
from retentia.errors import InvalidInput, ModelRejected, ModelReplyInvalid, ModelTimedOut, ModelUnavailable
from retentia.providers.chat import ChatMessage, ChatOptions, Usage
from retentia.providers.chat.anthropic import AnthropicChat

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
ASK = [ChatMessage("system", "be brief"), ChatMessage("user", "the secret is kept")]


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def tool(given: object) -> dict[str, Any]:
    return {"type": "tool_use", "id": "t", "name": "answer", "input": given}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with scripted() as started:
        yield started


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def model(server: ChatServer, waits: list[float]) -> AnthropicChat:
    return AnthropicChat("m", server.address, ChatOptions(api_key="sk-secret"), sleep=waits.append)


def test_an_answer_is_text_with_what_it_took(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [message(text("Lis"), text("bon"), usage=(9, 4))]
    answer = model.complete(ASK, max_tokens=12)
    assert (answer.text, answer.usage, answer.finish, answer.value) == ("Lisbon", Usage(9, 4), "stop", None)
    assert server.paths == ["/v1/messages"]
    assert server.requests == [
        {
            "model": "m",
            "messages": [{"role": "user", "content": "the secret is kept"}],
            "system": "be brief",
            "max_tokens": 12,
        }
    ]


def test_json_is_asked_for_as_the_input_of_a_tool(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [message(text("Sure."), tool({"city": "Lisbon"}), stop="tool_use")]
    answer = model.complete(ASK, schema=SCHEMA)
    assert (answer.value, answer.finish) == ({"city": "Lisbon"}, "stop")
    (offered,) = server.requests[0]["tools"]
    assert offered["input_schema"] == SCHEMA
    assert server.requests[0]["tool_choice"] == {"type": "tool", "name": offered["name"]}


def test_requests_and_scripted_answers_are_of_the_types_of_the_vendors_package(
    server: ChatServer, model: AnthropicChat
) -> None:
    line = message(tool({"city": "Lisbon"}), stop="tool_use")
    server.script = [line]
    model.complete(ASK, schema=SCHEMA)
    TypeAdapter(MessageCreateParamsNonStreaming).validate_python(server.requests[0])
    answer = line({})
    assert answer is not None
    Message.model_validate_json(answer[2])


def test_a_list_is_asked_for_within_an_object(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [message(tool({"value": ["a"]}), stop="tool_use")]
    assert model.complete(ASK, schema={"type": "array", "items": {"type": "string"}}).value == ["a"]
    assert server.requests[0]["tools"][0]["input_schema"]["required"] == ["value"]


def test_an_answer_in_words_is_read_where_the_tool_is_not_called(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [message(text('```json\n{"city": "Lisbon"}\n```'))]
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}


def test_an_input_of_the_tool_that_is_wrapped_is_unwrapped(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [message(tool({"answer": {"city": "a\ud83d"}}), stop="tool_use")]
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "a\ufffd"}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (message(text("You like Lisbon.")), "no JSON"),
        (message(tool({"town": "Lisbon"})), "lacks 'city'"),
        (message(tool({"town": "Lisbon"}), stop="max_tokens"), "raise max_tokens"),
        (message(stop="refusal"), "declined"),
        (message(), "empty"),
    ],
)
def test_an_answer_that_is_not_what_was_asked_for_keeps_the_answer_and_counts_its_tokens(
    server: ChatServer, model: AnthropicChat, line: Any, why: str
) -> None:
    server.script = [line]
    with pytest.raises(ModelReplyInvalid, match=why) as raised:
        model.complete(ASK, schema=SCHEMA)
    assert (raised.value.tokens_in, raised.value.tokens_out) == (9, 4)
    assert "Lisbon" not in "".join(traceback.format_exception(raised.value))


def test_tokens_read_from_the_cache_count_and_missing_ones_are_estimated(
    server: ChatServer, model: AnthropicChat
) -> None:
    reply = json.loads(message(text("a"))({})[2])  # type: ignore[index]
    reply["usage"] = {"input_tokens": 1, "cache_read_input_tokens": 30, "output_tokens": 2}
    server.script = [body(json.dumps(reply).encode()), message(text("a"), usage=None)]
    assert model.complete(ASK).usage == Usage(31, 2)
    assert model.complete(ASK).usage.is_estimated


def test_nothing_is_sent_but_what_was_configured(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Leak: yes")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    server.script = [message(text("a")), message(text("a"))]
    AnthropicChat("m", server.address).complete(ASK)
    AnthropicChat("m", server.address, ChatOptions(api_key="sk-mine")).complete(ASK)
    needed = {"host", "connection", "content-type", "content-length", "accept", "accept-encoding", "user-agent"}
    assert server.headers[0].keys() == needed | {"anthropic-version"}
    assert server.headers[1].keys() == needed | {"anthropic-version", "x-api-key"}
    assert server.headers[1]["x-api-key"] == "sk-mine"


@pytest.mark.parametrize("status", [429, 500, 529])
def test_a_fault_that_may_pass_is_tried_again(
    server: ChatServer, model: AnthropicChat, waits: list[float], status: int
) -> None:
    server.script = [failing(status, Retry_After="3"), message(text("a"))]
    assert model.complete(ASK).text == "a"
    assert waits == [3]


def test_a_refusal_is_told_at_once_without_the_key_and_the_text(server: ChatServer, model: AnthropicChat) -> None:
    error = {"type": "invalid_request_error", "message": "the secret is kept, sk-secret"}
    server.script = [failing(400, error), failing(401, error)]
    for remedy in ("length of the text", "check the key"):
        with pytest.raises(ModelRejected, match=f"invalid_request_error.*{remedy}") as raised:
            model.complete(ASK)
        assert "sk-secret" not in "".join(traceback.format_exception(raised.value))
    assert len(server.requests) == 2


def test_a_server_that_says_nothing_or_is_not_there_is_given_up(server: ChatServer) -> None:
    server.script = [server.silent]
    with pytest.raises(ModelTimedOut):
        AnthropicChat("m", server.address, ChatOptions(attempts=1, timeout_seconds=0.1)).complete(ASK)
    server.close()
    with pytest.raises(ModelUnavailable, match="Connection refused"):
        AnthropicChat("m", server.address, ChatOptions(attempts=1)).complete(ASK)


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"content": null}', b'{"content": [{"type": "text"}]}'])
def test_what_is_no_chat_endpoint_is_told_from_a_model(
    server: ChatServer, model: AnthropicChat, content: bytes
) -> None:
    server.script = [body(content)]
    with pytest.raises(ModelReplyInvalid, match="check that the address"):
        model.complete(ASK)


START = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}}
LISBON = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Lisbon"}}
END = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 4}}


def test_an_answer_arrives_piece_by_piece_with_its_usage_at_the_end(server: ChatServer, model: AnthropicChat) -> None:
    server.script = [events(START, LISBON, END, {"type": "message_stop"}, names=True)]
    stream = model.stream(ASK)
    assert list(stream) == ["Lisbon"]
    assert (stream.completion.usage, stream.completion.finish) == (Usage(9, 4), "length")
    assert server.requests[0]["stream"] is True


@pytest.mark.parametrize(
    "line",
    [
        events(START, LISBON, names=True),
        events(
            START, LISBON, {"type": "error", "error": {"type": "overloaded_error", "message": "secret"}}, names=True
        ),
        message(text("Lisbon")),
    ],
)
def test_a_stream_that_breaks_off_is_no_answer(server: ChatServer, model: AnthropicChat, line: Any) -> None:
    server.script = [line]
    with pytest.raises(ModelUnavailable) as raised:
        list(model.stream(ASK))
    assert "secret" not in str(raised.value)


def test_the_identity_names_the_address_only_where_it_is_not_the_vendors(server: ChatServer) -> None:
    assert AnthropicChat("claude-x").identity == "anthropic:claude-x"
    assert AnthropicChat("m", server.address + "/v1/").identity == f"anthropic:m@{server.address}"


def test_a_model_needs_a_question(model: AnthropicChat) -> None:
    with pytest.raises(InvalidInput, match="message of the user"):
        model.complete([ChatMessage("system", "be brief")])
    with pytest.raises(InvalidInput, match="name the model"):
        AnthropicChat("")
