"""What a user writes about chat models must type-check as it is meant."""

from typing import assert_type

from retentia import Memory
from retentia.metering.meter import Meter
from retentia.model.spending import Ceiling
from retentia.providers.chat import ChatMessage, ChatModel, Completion, resolve
from retentia.providers.chat.anthropic import AnthropicChat
from retentia.providers.chat.openai import OpenAIChat
from retentia.testing import FakeModel, Held


def use(memory: Memory, real: OpenAIChat, other: AnthropicChat) -> None:
    models: list[ChatModel] = [
        real,
        other,
        FakeModel("a", {"b": 1}, ValueError(), Held("c"), lambda asked: asked[0].text),
    ]
    metered = memory.spending.meter(models[0], tenant="acme", purpose="extract", job=Ceiling(calls=2))
    assert_type(metered, Meter)
    models.append(metered)
    answer = metered.complete([ChatMessage("user", "hello")], schema={"type": "object"})
    assert_type(answer, Completion)
    for piece in metered.stream([ChatMessage("user", "hello")]):
        assert_type(piece, str)
    assert_type(resolve("openai:m@http://h"), ChatModel | None)
    memory.spending.meter(models[0], tenant="acme")  # type: ignore[call-arg]  # a purpose is never optional
    ChatMessage("boss", "hello")  # type: ignore[arg-type]
    Ceiling(calls="many")  # type: ignore[arg-type]
