"""Find the chat model that a word means: the one place that knows all of them."""

import re
from dataclasses import replace
from typing import TypeGuard

from retentia.errors import InvalidInput
from retentia.providers.chat.base import ChatModel, ChatModelSpec
from retentia.providers.chat.options import ChatOptions

CHOICES = ("none", "openai:MODEL@URL", "anthropic:MODEL", "anthropic:MODEL@URL")

# The last @ before an address divides: model names may hold one themselves.
_AT_URL = re.compile(r"(?P<model>.+)@(?P<url>https?://.*)", re.DOTALL)


def resolve(spec: ChatModelSpec, *, api_key: str = "", options: ChatOptions | None = None) -> ChatModel | None:
    """Return the chat model a word or an object stands for; None for "none": rules alone.

    Opens no connection. Raises InvalidInput for an unknown word and MissingExtra for a package that is not installed.
    """
    if spec is None:
        return None
    if isinstance(spec, str):
        chosen = options or ChatOptions()
        return _named(spec.strip(), replace(chosen, api_key=api_key) if api_key else chosen)
    if not _is_model(spec):
        raise InvalidInput(f"a {type(spec).__name__} is no chat model; it needs identity, complete and stream")
    return spec


def _named(word: str, options: ChatOptions) -> ChatModel | None:
    kind, colon, rest = word.partition(":")
    found = _AT_URL.fullmatch(rest)
    match kind.lower(), rest if colon else None:
        case "none", None:
            return None
        case "openai", str(target) if target:
            if found is None:
                # No default address: what was meant for a server at home must never be sent to another one.
                raise InvalidInput(
                    f"say where the server is: 'openai:{target}@URL', such as @https://api.openai.com/v1"
                )
            from retentia.providers.chat.openai import OpenAIChat

            return OpenAIChat(found["model"], found["url"], options)
        case "anthropic", str(target) if target:
            from retentia.providers.chat.anthropic import ADDRESS, AnthropicChat

            if found is None:
                return AnthropicChat(target, ADDRESS, options)
            return AnthropicChat(found["model"], found["url"], options)
    raise InvalidInput(f"unknown chat model {kind!r}; choose one of {', '.join(CHOICES)}")


def _is_model(candidate: object) -> TypeGuard[ChatModel]:
    has_verbs = all(callable(getattr(candidate, verb, None)) for verb in ("complete", "stream"))
    return has_verbs and hasattr(candidate, "identity") and not isinstance(candidate, type)
