"""Keys that stay the same when a file is read again, so that nothing is taken over twice."""

import hashlib
import json
from collections import Counter
from dataclasses import replace

from retentia.model.message import Message
from retentia.model.time import Moment

_MAX_GIVEN = 120


class SessionKeys:
    """Give each message of a file its key.

    An id the file gives is kept. Without one the key is a digest of what was said, by whom and when, and of how often
    that occurred before: inserting or removing other messages changes no key. The same given id on different messages
    is no id; those get a digest behind it. Remembers about 100 bytes a message.
    """

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()
        self._given: dict[tuple[str, str], int] = {}

    def keyed(self, session: str, message: Message) -> Message:
        """Return the message with its final key; `message.key` holds the id the file gave, or nothing."""
        key = self._given_key(session, message) if message.key else self._own_key(session, message)
        return message if key == message.key else replace(message, key=key)

    def _given_key(self, session: str, message: Message) -> str:
        said = hash((message.role, message.speaker, str(message.content), len(message.tool_calls)))
        key = message.key if len(message.key) <= _MAX_GIVEN else text_digest(message.key)
        if self._given.setdefault((session, key), said) == said:
            return key
        return f"{key}~{_digest(session, message)[:6].hex()}"

    def _own_key(self, session: str, message: Message) -> str:
        digest = _digest(session, message)
        self._seen[digest] += 1
        occurrence = self._seen[digest]
        return digest[:12].hex() + (f".{occurrence}" if occurrence > 1 else "")


def text_digest(text: str) -> str:
    """Return 24 hexadecimal digits that stand for a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _digest(session: str, message: Message) -> bytes:
    when = [message.at.start, message.at.end] if isinstance(message.at, Moment) else message.at
    said = [session, message.role, message.speaker, when, message.content, message.tool_calls]
    return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).digest()[:16]
