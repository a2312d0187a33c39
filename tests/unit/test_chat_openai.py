"""The protocol of OpenAI-compatible servers, against a scripted one on this machine."""

import json
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

from chat_server import ChatServer, body, completion, events, failing, hanging_up, scripted
from forks import fork, status_of
from retentia.errors import (
    InvalidInput,
    ModelError,
    ModelRejected,
    ModelReplyInvalid,
    ModelTimedOut,
    ModelUnavailable,
)
from retentia.providers.chat import ChatMessage, ChatOptions, Usage
from retentia.providers.chat.openai import OpenAIChat

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
ASK = [ChatMessage("system", "be brief"), ChatMessage("user", "the secret is kept")]
LISBON = completion('{"city": "Lisbon"}')


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with scripted() as started:
        yield started


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def model(server: ChatServer, waits: list[float]) -> OpenAIChat:
    return OpenAIChat("m", server.url, ChatOptions(api_key="sk-secret\n"), sleep=waits.append)


def chunk(content: str | None = None, *, finish: str | None = None, usage: object = None) -> dict[str, Any]:
    choices = [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**base, "choices": [] if usage else choices, "usage": usage}


COUNTED = chunk(usage={"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9})


def test_an_answer_is_text_with_what_it_took(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [completion("<think>hm</think>Lisbon")]
    answer = model.complete(ASK, max_tokens=12)
    assert (answer.text, answer.raw, answer.value) == ("Lisbon", "<think>hm</think>Lisbon", None)
    assert (answer.usage, answer.finish) == (Usage(9, 4), "stop")
    assert server.paths == ["/v1/chat/completions"]
    assert server.requests == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": "the secret is kept"},
            ],
            "max_tokens": 12,
        }
    ]


def test_requests_and_scripted_answers_are_of_the_types_of_the_vendors_package(
    server: ChatServer, model: OpenAIChat
) -> None:
    server.script = [LISBON]
    model.complete(ASK, schema=SCHEMA)
    TypeAdapter(CompletionCreateParamsNonStreaming).validate_python(server.requests[0])
    answer = LISBON({})
    assert answer is not None
    ChatCompletion.model_validate_json(answer[2])
    ChatCompletionChunk.model_validate(chunk("a"))


def test_tokens_that_the_server_does_not_count_are_estimated_and_said_to_be(
    server: ChatServer, model: OpenAIChat
) -> None:
    server.script = [completion("Lisbon", usage=None)]
    usage = model.complete(ASK).usage
    assert usage.is_estimated
    assert usage.tokens_in > 8
    assert usage.tokens_out == 2


def test_nothing_is_sent_but_what_was_configured(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-from-the-environment")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Leak: yes\nAuthorization: Bearer sk-other")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    server.script = [LISBON, LISBON]
    OpenAIChat("m", server.url).complete(ASK)
    OpenAIChat("m", server.url, ChatOptions(api_key="sk-mine", headers={"X-Team": "a"})).complete(ASK)
    needed = {"host", "connection", "content-type", "content-length", "accept", "accept-encoding", "user-agent"}
    assert server.headers[0].keys() == needed
    assert server.headers[1].keys() == needed | {"authorization", "x-team"}
    assert server.headers[1]["authorization"] == "Bearer sk-mine"
    assert server.headers[1]["user-agent"] == "retentia"


def test_a_redirect_is_not_followed(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [failing(307, Location=f"{server.url}/elsewhere")]
    with pytest.raises(ModelRejected, match="redirects are not followed"):
        model.complete(ASK)
    assert len(server.requests) == 1


# Asking for JSON


def test_a_server_that_takes_schemas_gets_them(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [LISBON]
    assert model.schema_mode(SCHEMA) is None
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
    }
    assert model.schema_mode(SCHEMA) == "json_schema"


def test_a_schema_that_is_not_closed_is_not_called_strict(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [LISBON]
    model.complete(ASK, schema={"type": "object", "properties": {"city": {}, "age": {}}, "required": ["city"]})
    assert server.requests[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize(("refusals", "mode"), [(1, "json_object"), (2, "prompt")])
def test_a_server_that_does_not_take_schemas_is_asked_in_words_and_that_is_remembered(
    server: ChatServer, model: OpenAIChat, refusals: int, mode: str
) -> None:
    server.script = [failing(400, {"message": "response_format"})] * refusals + [LISBON, LISBON]
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}
    assert len(server.requests) == refusals + 2
    assert model.schema_mode(SCHEMA) == mode
    for request in server.requests[-2:]:
        assert json.dumps(SCHEMA) in request["messages"][0]["content"]
        assert request.get("response_format") == ({"type": "json_object"} if mode == "json_object" else None)


def test_a_text_that_is_too_long_is_not_sent_again_in_other_words(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [failing(400, {"type": "exceed_context_size_error", "message": "the secret is kept"})]
    with pytest.raises(ModelRejected, match="exceed_context_size_error"):
        model.complete(ASK, schema=SCHEMA)
    assert len(server.requests) == 1
    assert model.schema_mode(SCHEMA) is None


def test_a_model_named_after_its_context_is_asked_in_words_as_any_other(server: ChatServer) -> None:
    server.script = [failing(400, {"message": "response_format"}), LISBON]
    assert OpenAIChat("long-context", server.url).complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}


def test_a_server_that_takes_a_schema_and_ignores_it_is_asked_in_words_the_next_time(
    server: ChatServer, model: OpenAIChat
) -> None:
    server.script = [completion("You like Lisbon."), LISBON]
    with pytest.raises(ModelReplyInvalid):
        model.complete(ASK, schema=SCHEMA)
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}
    assert server.requests[1]["response_format"] == {"type": "json_object"}


ANSWERS = {
    "prose": "The city is Lisbon.",
    "nothing": "",
    "null": None,
    "another language": "Вибачте, я не розумію.",
    "thinking": "<think>Lisbon",
    "the schema": json.dumps(SCHEMA),
    "a list": '["Lisbon"]',
    "cut off": '{"city": "Lis',
}


@pytest.mark.parametrize("content", ANSWERS.values(), ids=ANSWERS.keys())
def test_an_answer_that_is_not_what_was_asked_for_keeps_the_answer_and_counts_its_tokens(
    server: ChatServer, model: OpenAIChat, content: str | None
) -> None:
    server.script = [completion(content)]
    with pytest.raises(ModelReplyInvalid) as raised:
        model.complete(ASK, schema=SCHEMA)
    assert raised.value.reply == (content or "")
    assert (raised.value.tokens_in, raised.value.tokens_out) == (9, 4)
    assert "Lisbon" not in "".join(traceback.format_exception(raised.value))


DISGUISED = {
    "a fence": '```json\n{"city": "Lisbon"}\n```',
    "thinking": '<think>hm</think>{"city": "Lisbon"}',
    "prose": 'Sure {about travel}: {"city": "Lisbon"}',
    "an echo": json.dumps(SCHEMA) + ' {"city": "Lisbon"}',
    "a list": '[{"city": "Lisbon"}]',
}


@pytest.mark.parametrize("content", DISGUISED.values(), ids=DISGUISED.keys())
def test_an_answer_in_disguise_is_found(server: ChatServer, model: OpenAIChat, content: str) -> None:
    server.script = [completion(content)]
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "Lisbon"}


def test_half_a_surrogate_is_replaced_on_both_ways(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [completion('{"city": "a\\ud83d"}'), completion("a\ud83d")]
    assert model.complete(ASK, schema=SCHEMA).value == {"city": "a\ufffd"}
    assert model.complete([ChatMessage("user", "x\ud83d\0y")]).text == "a\ufffd"
    assert server.requests[1]["messages"][0]["content"] == "x\ufffd y"


def test_a_megabyte_is_read(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [completion(json.dumps({"city": "Lisbon " * 150_000}))]
    answer = model.complete(ASK, schema=SCHEMA)
    assert isinstance(answer.value, dict)
    assert len(str(answer.value["city"])) == 1_050_000


def test_an_answer_cut_off_at_its_longest_says_so_and_keeps_the_way_of_asking(
    server: ChatServer, model: OpenAIChat
) -> None:
    server.script = [completion('{"city": "Lis', finish="length"), LISBON]
    with pytest.raises(ModelReplyInvalid, match="raise max_tokens"):
        model.complete(ASK, schema=SCHEMA)
    model.complete(ASK, schema=SCHEMA)
    assert server.requests[1]["response_format"]["type"] == "json_schema"


def test_a_model_that_declines_is_no_empty_answer(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [completion(None, refusal="I cannot help"), completion("", finish="content_filter")]
    for _ in range(2):
        with pytest.raises(ModelReplyInvalid, match="declined"):
            model.complete(ASK, schema=SCHEMA)


# Faults


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_fault_that_may_pass_is_tried_again(
    server: ChatServer, model: OpenAIChat, waits: list[float], status: int
) -> None:
    server.script = [failing(status), failing(status), LISBON]
    assert model.complete(ASK).text == '{"city": "Lisbon"}'
    assert len(server.requests) == 3
    assert 0.25 <= waits[0] <= 0.5 <= waits[1] <= 1


def test_after_some_attempts_the_fault_is_told_without_the_key_and_the_text(
    server: ChatServer, model: OpenAIChat
) -> None:
    server.script = [failing(500, {"message": "the secret is kept, sk-secret", "code": "sk-secret"})] * 3
    with pytest.raises(ModelUnavailable, match="HTTP 500") as raised:
        model.complete(ASK)
    told = "".join(traceback.format_exception(raised.value))
    assert "secret is kept" not in told
    assert "sk-secret" not in told
    assert raised.value.is_retryable


def test_the_server_says_how_long_to_wait(server: ChatServer, model: OpenAIChat, waits: list[float]) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server.script = [failing(429, Retry_After="7"), failing(429, Retry_After=when), LISBON]
    model.complete(ASK)
    assert waits[0] == 7
    assert 15 < waits[1] <= 20


def test_a_wait_that_is_too_long_is_handed_to_the_caller(
    server: ChatServer, model: OpenAIChat, waits: list[float]
) -> None:
    server.script = [failing(429, Retry_After="3600")]
    with pytest.raises(ModelUnavailable, match="wait 3600 seconds") as raised:
        model.complete(ASK)
    assert raised.value.retry_after_seconds == 3600
    assert (waits, len(server.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("status", "remedy"), [(400, "length of the text"), (401, "check the key"), (403, "check the key"), (404, "name")]
)
def test_a_refusal_is_told_at_once_with_what_to_do(
    server: ChatServer, model: OpenAIChat, status: int, remedy: str
) -> None:
    server.script = [failing(status, {"message": "no: sk-secret", "type": "some_type"})]
    with pytest.raises(ModelRejected, match=remedy) as raised:
        model.complete(ASK)
    assert "sk-secret" not in str(raised.value)
    assert f"openai:m@{server.url}" in str(raised.value)
    assert not raised.value.is_retryable
    assert len(server.requests) == 1


def test_a_server_that_hangs_up_or_is_not_there_is_unavailable(server: ChatServer, waits: list[float]) -> None:
    server.script = [hanging_up] * 3
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        OpenAIChat("m", server.url, sleep=waits.append).complete(ASK)
    assert len(waits) == 2
    server.close()
    with pytest.raises(ModelUnavailable, match="Connection refused; is it running"):
        OpenAIChat("m", server.url, ChatOptions(attempts=1)).complete(ASK)


def test_a_server_that_says_nothing_is_given_up(server: ChatServer) -> None:
    server.script = [server.silent]
    with pytest.raises(ModelTimedOut, match=r"within 0\.1 seconds"):
        OpenAIChat("m", server.url, ChatOptions(attempts=1, timeout_seconds=0.1)).complete(ASK)


def test_an_answer_that_drips_in_is_given_up(server: ChatServer) -> None:
    times = iter([0.0, 0.0, *[9.0] * 1000])
    server.script = [completion("x" * 5_000_000)]
    slow = OpenAIChat("m", server.url, ChatOptions(attempts=1, timeout_seconds=5), clock=lambda: next(times))
    with pytest.raises(ModelTimedOut):
        slow.complete(ASK)


GARBAGE = {
    "a page": b"<html>hello</html>",
    "nothing": b"",
    "a list": b"[]",
    "no choice": b'{"choices": []}',
    "no message": b'{"choices": [{"message": null}]}',
    "parts": b'{"choices": [{"message": {"content": [1]}}]}',
    "deep": b"[" * 100_000,
    "no UTF-8": b'{"choices": "\xff"}',
}


@pytest.mark.parametrize("content", GARBAGE.values(), ids=GARBAGE.keys())
def test_what_is_no_chat_endpoint_is_told_from_a_model(server: ChatServer, model: OpenAIChat, content: bytes) -> None:
    server.script = [body(content)]
    with pytest.raises(ModelReplyInvalid, match="check that the address") as raised:
        model.complete(ASK)
    assert raised.value.reply == content.decode("utf-8", "replace")


@pytest.mark.parametrize(
    "error",
    [
        {
            "message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.",
            "code": "unsupported_parameter",
        },
        {"message": "max_tokens: extra fields not permitted"},
    ],
)
def test_a_field_that_the_server_does_not_know_is_left_out_from_then_on(
    server: ChatServer, model: OpenAIChat, error: object
) -> None:
    server.script = [failing(400, error), LISBON, LISBON]
    model.complete(ASK, max_tokens=5)
    model.complete(ASK, max_tokens=6)
    limits = [(asked.get("max_tokens"), asked.get("max_completion_tokens")) for asked in server.requests]
    assert limits == [(5, None), (None, 5), (None, 6)]


def test_fields_of_the_user_go_into_every_request(server: ChatServer) -> None:
    server.script = [LISBON, events(chunk("a", finish="stop"), "[DONE]")]
    model = OpenAIChat("m", server.url, ChatOptions(fields={"temperature": 0, "seed": 1}))
    model.complete(ASK, schema=SCHEMA)
    list(model.stream(ASK))
    assert [(asked["temperature"], asked["seed"]) for asked in server.requests] == [(0, 1), (0, 1)]


# Streaming


def test_an_answer_arrives_piece_by_piece_with_its_usage_at_the_end(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [events(chunk("Lis"), chunk("bon"), chunk(finish="stop"), COUNTED, "[DONE]")]
    stream = model.stream(ASK, max_tokens=3)
    assert server.requests == []
    assert next(stream) == "Lis"
    with pytest.raises(InvalidInput, match="not ended"):
        _ = stream.completion
    assert list(stream) == ["bon"]
    assert (stream.completion.text, stream.completion.usage, stream.completion.finish) == (
        "Lisbon",
        Usage(7, 2),
        "stop",
    )
    assert list(stream) == []
    assert stream.completion.text == "Lisbon"
    assert server.requests[0]["stream_options"] == {"include_usage": True}


def test_a_stream_without_usage_is_estimated(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [
        failing(400, {"message": "unknown field stream_options"}),
        events(chunk("a"), chunk(finish="length"), "[DONE]"),
    ]
    stream = model.stream(ASK)
    assert list(stream) == ["a"]
    assert stream.completion.usage.is_estimated
    assert stream.completion.finish == "length"
    assert "stream_options" not in server.requests[1]


BROKEN = {
    "no end": events(chunk("Lis")),
    "an error": events(chunk("Lis"), {"error": {"message": "the secret is kept", "code": 500}}),
    "no JSON": events(chunk("Lis"), "{the secret is kept"),
    "no events": completion("Lisbon"),
    "nothing": body(b"", kind="text/event-stream"),
}


@pytest.mark.parametrize("line", BROKEN.values(), ids=BROKEN.keys())
def test_a_stream_that_breaks_off_is_no_answer(server: ChatServer, model: OpenAIChat, line: Any) -> None:
    server.script = [line]
    stream = model.stream(ASK)
    with pytest.raises(ModelUnavailable, match="broke off") as raised:
        list(stream)
    assert "secret" not in "".join(traceback.format_exception(raised.value))
    with pytest.raises(InvalidInput):
        _ = stream.completion


def test_only_the_beginning_of_a_stream_is_tried_again(
    server: ChatServer, model: OpenAIChat, waits: list[float]
) -> None:
    server.script = [failing(503), events(chunk("a", finish="stop"), "[DONE]")]
    assert list(model.stream(ASK)) == ["a"]
    assert len(waits) == 1


def test_a_stream_may_be_left_before_its_end(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [events(chunk("a"), chunk("b"), chunk(finish="stop"), "[DONE]"), LISBON]
    with model.stream(ASK) as stream:
        assert next(stream) == "a"
    assert list(stream) == []
    assert model.complete(ASK).finish == "stop"


# Many callers


def test_threads_share_a_model(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [LISBON] * 16
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: model.complete(ASK, schema=SCHEMA).value, range(16)))
    assert answers == [{"city": "Lisbon"}] * 16


def test_a_forked_child_has_connections_of_its_own(server: ChatServer, model: OpenAIChat) -> None:
    server.script = [LISBON] * 3
    model.complete(ASK)
    here = model._open.get()

    def ask() -> None:
        assert model._open.get() is not here
        model.complete(ASK)

    assert status_of(fork(ask)) == 0
    assert model._open.get() is here
    model.complete(ASK)


@pytest.mark.parametrize("url", ["", "http://", "ftp://host", "http://me:secret@host/v1", "http://host/v1?key=secret"])
def test_an_address_that_is_none_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(InvalidInput, match="address must") as raised:
        OpenAIChat("m", url)
    assert "secret" not in str(raised.value)


def test_options_that_cannot_work_are_refused() -> None:
    for wrong in ({"attempts": 0}, {"timeout_seconds": 0}, {"max_tokens": 0}, {"api_key": "a\nb"}):
        with pytest.raises(InvalidInput):
            ChatOptions(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="role"):
        ChatMessage("boss", "x")  # type: ignore[arg-type]
    assert "sk-1" not in repr(ChatOptions(api_key="sk-1", headers={"a": "sk-1"}))
    assert "text" not in repr(ChatMessage("user", "text"))
    assert issubclass(ModelRejected, ModelError)
