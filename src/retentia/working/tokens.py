"""Token counting that works offline: a conservative estimate by script, and a socket for exact counters.

A tokenizer's tables are megabytes that have to be downloaded, and budgets must hold without them. UTF-8 already tells
the script of a character in its first byte, so one pass turns a text into one class letter a character, and the
estimate is a weighted count of those letters and of a few short sequences of them. The weights were fitted so that few
messages are underestimated (quantile regression, Koenker and Bassett 1978); docs/explain/tokens.md has the errors.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sized
from dataclasses import dataclass
from typing import Protocol

from retentia.model.message import JSON, Message

MESSAGE_OVERHEAD = 4
"""Tokens that a chat format spends on each message besides its text: role and separators."""

TOOL_CALL_OVERHEAD = 8
"""Tokens that a chat format spends on each tool call besides its name and arguments: its id and its frame."""

_IMAGE_PARTS = frozenset(("image", "image_url", "input_image"))
_CONTINUATION = bytes(range(0x80, 0xC0))


def _class_table() -> bytes:
    """Map a character's first UTF-8 byte to its class letter; what is not listed is rare and counts as "x"."""
    ranges = (
        (0x00, 0x7F, "p"),
        (ord("a"), ord("z"), "a"),
        (ord("A"), ord("Z"), "A"),
        (ord("0"), ord("9"), "d"),
        (ord(" "), ord(" "), " "),
        (ord("\n"), ord("\n"), "n"),
        (ord("\r"), ord("\r"), "n"),
        (ord("\t"), ord("\t"), "t"),
        (0xC2, 0xC2, "s"),  # signs such as § ° «
        (0xC3, 0xC3, "l"),  # western European letters
        (0xC4, 0xCA, "o"),  # other Latin letters
        (0xCB, 0xCD, "m"),  # combining marks
        (0xCE, 0xCF, "g"),  # Greek
        (0xD0, 0xD4, "c"),  # Cyrillic
        (0xD5, 0xD6, "i"),  # Armenian
        (0xD7, 0xDB, "r"),  # Hebrew, Arabic
        (0xDC, 0xE0, "i"),  # Indic scripts, Thai
        (0xE1, 0xE1, "v"),  # Vietnamese letters, Georgian, Khmer
        (0xE2, 0xE2, "s"),  # dashes, quotes, arrows, mathematics
        (0xE3, 0xE3, "k"),  # kana
        (0xE4, 0xE9, "h"),  # Han
        (0xEA, 0xED, "w"),  # Hangul
        (0xF0, 0xFF, "e"),  # emoji
    )
    table = bytearray(b"x" * 256)
    for first, last, letter in ranges:
        table[first : last + 1] = letter.encode() * (last + 1 - first)
    return bytes(table)


_CLASSES = _class_table()
_ASCII_CLASSES = frozenset(b"aAdp nt")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a class letter, or a sequence of them, costs in hundredths of a token.

    `capitals` is added for each Cyrillic letter of a text that is all in capitals, which vocabularies hardly know.
    """

    hundredths: Mapping[str, int]
    capitals: int


LARGE_VOCABULARY = Vocabulary(
    {"a": 16, "aaaaaaaaa": 44, "A": 42, "aA": 176, "d": 78, "p": 71, " ": 44, "n": 10, "t": 120, "ad": 27, "da": 83}
    | {"l": 165, "o": 290, "m": 100, "g": 45, "c": 28, " c": 11, "ccccc": 54, "r": 40, "i": 57, "v": 70, "s": 93}
    | {"k": 80, "h": 89, "w": 66, "x": 100, "e": 164},
    capitals=40,
)
"""Fitted to a vocabulary of 200,000 tokens (o200k: OpenAI's models since GPT-4o); others of that size are close."""

SMALL_VOCABULARY = Vocabulary(
    {"a": 22, "aaaaaaaaa": 110, "A": 45, "aA": 160, "d": 72, "p": 63, " ": 31, "n": 10, "t": 120, "ad": 29, "da": 114}
    | {"l": 231, "o": 390, "m": 100, "g": 106, "c": 70, " c": 15, "r": 114, "i": 206, "v": 215, "s": 123}
    | {"k": 106, "h": 133, "w": 115, "x": 168, "e": 276},
    capitals=45,
)
"""Fitted to a vocabulary of 100,000 tokens (cl100k: GPT-4, GPT-3.5), where languages other than English cost more."""


class TokenCounter(Protocol):
    """Count what a model will be charged for. `label` tells how the numbers were got, such as "estimated"."""

    @property
    def label(self) -> str: ...

    def count(self, text: str) -> int: ...

    def count_message(self, message: Message) -> int: ...


class EstimatingCounter:
    """Estimate tokens without any table, rather too many than too few; linear in the length of the text."""

    label = "estimated"

    def __init__(self, vocabulary: Vocabulary = LARGE_VOCABULARY, *, image_tokens: int = 1600) -> None:
        self._costs = tuple((letters.encode(), cost) for letters, cost in vocabulary.hundredths.items())
        self._ascii_costs = tuple(pair for pair in self._costs if _ASCII_CLASSES.issuperset(pair[0]))
        self._capitals = vocabulary.capitals
        self._image_tokens = image_tokens

    def count(self, text: str) -> int:
        """Estimate the tokens of a text; 0 for an empty one."""
        raw = text.encode("utf-8", "surrogatepass")
        classes = b" " + raw.translate(_CLASSES, _CONTINUATION)  # the first word opens like every other
        hundredths = 199  # one token more than the sum, which is rounded up
        for letters, cost in self._ascii_costs if text.isascii() else self._costs:
            hundredths += cost * classes.count(letters)
        if text.isupper():
            hundredths += self._capitals * classes.count(b"c")
        # A vocabulary of byte sequences never needs more tokens than there are bytes.
        return min(hundredths // 100, len(raw))

    def count_message(self, message: Message) -> int:
        """Estimate the tokens of a message: its text, speaker, tool calls, images and the format's overhead."""
        return _message_tokens(message, self.count, self._image_tokens)


class ExactCounter:
    """Count with a real tokenizer: `encode` turns a text into its tokens, as tiktoken's `encode_ordinary` does."""

    def __init__(self, encode: Callable[[str], Sized], *, label: str, image_tokens: int = 1600) -> None:
        self._encode = encode
        self._image_tokens = image_tokens
        self.label = label

    def count(self, text: str) -> int:
        """Count the tokens of a text; what UTF-8 cannot carry counts as the replacement character."""
        return len(self._encode(text.encode("utf-8", "replace").decode()))

    def count_message(self, message: Message) -> int:
        """Count the tokens of a message: its text, speaker, tool calls, images and the format's overhead."""
        return _message_tokens(message, self.count, self._image_tokens)


class RememberingCounter:
    """Counts each text and each message once, for as long as one context is made; the texts are dropped with it."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._texts: dict[str, int] = {}
        self._messages: dict[tuple[str, str, str], int] = {}
        self.label = counter.label

    def count(self, text: str) -> int:
        """Count the tokens of a text."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self._counter.count(text)
        return known

    def count_message(self, message: Message) -> int:
        """Count the tokens of a message."""
        if message.tool_calls or not isinstance(message.content, str):
            return self._counter.count_message(message)
        key = (message.role, message.speaker, message.content)
        known = self._messages.get(key)
        if known is None:
            known = self._messages[key] = self._counter.count_message(message)
        return known


def _message_tokens(message: Message, count: Callable[[str], int], image_tokens: int) -> int:
    tokens = MESSAGE_OVERHEAD
    if isinstance(message.content, str):
        tokens += count(message.content)
    else:
        tokens += sum(_part_tokens(part, count, image_tokens) for part in message.content)
    if message.speaker:
        tokens += count(message.speaker) + 1
    for call in message.tool_calls:
        tokens += TOOL_CALL_OVERHEAD + sum(count(text) for text in _texts_of(call))
    return tokens


def _part_tokens(part: Mapping[str, JSON], count: Callable[[str], int], image_tokens: int) -> int:
    if part.get("type") in _IMAGE_PARTS:
        return image_tokens
    text = part.get("text")
    return count(text if isinstance(text, str) else json.dumps(part, ensure_ascii=False, default=str))


def _texts_of(call: Mapping[str, JSON]) -> Iterable[str]:
    """Yield what the model reads of a tool call, whatever vendor's shape it has; ids are part of the overhead."""
    for key, value in call.items():
        if key in ("id", "type", "index"):
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping) and key == "function":
            yield from _texts_of(value)
        else:
            yield json.dumps(value, ensure_ascii=False, default=str)
