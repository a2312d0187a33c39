"""What a chat endpoint may want to be told, and how patient to be with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from retentia.errors import InvalidInput
from retentia.providers.chat.base import ChatMessage, Usage
from retentia.providers.post import checked_address

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends on each message besides its text: role and separators."""

_BYTES_PER_TOKEN = 3


def rough_tokens(text: str) -> int:
    """Estimate tokens from bytes of UTF-8: one for every three; usually too many."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """How to ask one endpoint.

    `fields` go into the request body as they are, such as {"temperature": 0}; `headers` into its head. A call makes up
    to `attempts` requests, and waits between them as long as the server asks for, unless that is more than
    `longest_wait_seconds`: then the error says when to come back. A request may take `timeout_seconds`.
    `max_tokens` limits an answer where the call names no limit. `count_tokens` estimates where the server does not say.
    """

    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    fields: Mapping[str, object] = field(default_factory=dict)
    attempts: int = 3
    timeout_seconds: float = 120.0
    longest_wait_seconds: float = 30.0
    max_tokens: int = 4096
    count_tokens: Callable[[str], int] = field(default=rough_tokens, repr=False)

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.max_tokens < 1 or not self.timeout_seconds > 0:
            raise InvalidInput("a model needs at least one attempt, one token and some time to answer")
        key = self.api_key.strip()  # keys are pasted with line ends around them
        if not (key.isascii() and key.isprintable()):
            raise InvalidInput("the key for the chat model holds characters that no key has")
        object.__setattr__(self, "api_key", key)

    def estimated(self, messages: Sequence[ChatMessage], text: str) -> Usage:
        """Return what a call took, where the server does not say."""
        asked = sum(self.count_tokens(message.text) + MESSAGE_OVERHEAD for message in messages)
        return Usage(asked, self.count_tokens(text), is_estimated=True)


def base_address(url: str, *endings: str) -> str:
    """Return the address before one of the endings; raise InvalidInput for none, or for one that holds a secret."""
    checked_address(url)
    if urlsplit(url).query or urlsplit(url).fragment:
        raise InvalidInput("the chat model's address must end before the question mark; use headers for keys")
    bare = url.rstrip("/")
    for ending in endings:
        bare = bare.removesuffix(ending)
    return bare.rstrip("/")
