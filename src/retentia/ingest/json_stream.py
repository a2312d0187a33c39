"""JSON a piece at a time: the elements of a top-level array, with no more than one of them in memory."""

import json
from collections.abc import Iterator
from typing import TextIO

from retentia.ingest.text import MAX_CHARS

_CHUNK = 1 << 18
_TAIL = 16
_BLANK = " \t\r\n"


class BrokenJson(ValueError):
    """The text is not JSON; the message says where."""


def loads(text: str) -> object:
    """Parse JSON from outside; raise BrokenJson whatever is wrong. NaN and Infinity, which are no JSON, become null."""
    try:
        value: object = _DECODER.decode(text)
    except RecursionError:
        raise BrokenJson("nested too deeply") from None
    except json.JSONDecodeError as error:
        raise BrokenJson(f"{error.msg} at character {error.pos + 1}") from None
    except ValueError as error:  # an integer of thousands of digits
        raise BrokenJson(str(error).partition(";")[0]) from None
    return value


def stream_elements(text: TextIO, *, limit: int = MAX_CHARS) -> Iterator[object]:
    """Yield the elements of the array that the text holds, or the one value that it is.

    Elements longer than `limit` characters, and broken ones, end the stream with BrokenJson: what follows them cannot
    be told apart from what belongs to them.
    """
    window = _Window(text, limit)
    if window.peek() != "[":
        yield window.take()
        return
    window.drop()
    while (sign := window.peek()) != "]":
        if not sign:
            raise BrokenJson("the file ends in the middle of its list")
        yield window.take()
        if window.peek() == ",":
            window.drop()
        elif window.peek() != "]":
            raise BrokenJson(f"expected ',' or ']' at character {window.position + 1}")


_DECODER = json.JSONDecoder(parse_constant=lambda _: None)


class _Window:
    """The stretch of text in memory: from the value that is read next to as far as was needed."""

    def __init__(self, text: TextIO, limit: int) -> None:
        self._text = text
        self._limit = limit
        self._held = ""
        self._at = 0
        self._dropped = 0

    @property
    def position(self) -> int:
        return self._dropped + self._at

    def peek(self) -> str:
        """Return the next character that is not blank, or "" at the end."""
        while True:
            while self._at < len(self._held) and self._held[self._at] in _BLANK:
                self._at += 1
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._grow():
                return ""

    def drop(self) -> None:
        self._at += 1

    def take(self) -> object:
        """Parse the value that begins here, reading on until it is whole."""
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                place = self._dropped + error.pos + 1
                if not self._may_be_cut_off(error) or not self._grow():
                    raise BrokenJson(f"{error.msg} at character {place}") from None
            except (RecursionError, ValueError) as error:
                raise BrokenJson(f"{error} near character {self.position + 1}") from None
            else:
                length = end - self._at
                if isinstance(value, int | float) and len(self._held) - end < _TAIL and self._grow():
                    continue  # the digits may go on
                self._at += length
                return value

    def _may_be_cut_off(self, error: json.JSONDecodeError) -> bool:
        """Tell whether more text could help: inside a string, or within a literal or escape of the last characters."""
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._held) - _TAIL

    def _grow(self) -> bool:
        """Read as much again as is held, so that a long value is parsed a logarithmic number of times."""
        self._held, self._dropped, self._at = self._held[self._at :], self._dropped + self._at, 0
        if len(self._held) > self._limit:
            raise BrokenJson(f"an element is longer than {self._limit} characters, from character {self.position + 1}")
        more = self._text.read(max(_CHUNK, len(self._held)))
        self._held += more
        return bool(more)
