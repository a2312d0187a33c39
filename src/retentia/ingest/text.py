"""Text out of bytes: byte-order marks, UTF-16, lines of bounded length, and what is not text at all."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import BinaryIO, TextIO

MAX_CHARS = 32 * 1024 * 1024
"""The longest line, conversation or document that is read, in characters; it bounds the memory a file can take."""

_SKIPPED_AT_ONCE = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY_MAGIC = (b"%PDF-", b"\x1f\x8b", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"SQLite format 3\0", b"\x7fELF")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UNDECODED = re.compile("[\udc80-\udcff]")


def encoding_of(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a file show: UTF-8 unless they say otherwise; None is no text."""
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    if head.startswith(_BINARY_MAGIC):
        return None
    encoding = "utf-8"
    if b"\0" in head:
        # UTF-16 without a mark: its blanks and digits put zeros on one side of each pair only
        high_first, low_first = b"\0" in head[0::2], b"\0" in head[1::2]
        if high_first == low_first or head.count(0) * 64 < len(head):
            return None
        encoding = "utf-16-be" if high_first else "utf-16-le"
    text = head.decode(encoding, "replace")
    return encoding if len(_CONTROL.findall(text)) <= 0.01 * len(text) else None


@contextmanager
def open_text(opener: Callable[[], AbstractContextManager[BinaryIO]], encoding: str) -> Iterator[TextIO]:
    """Decode as it is read, with all line ends as newlines; bytes that are no UTF-8 stay visible to `undecoded`."""
    errors = "surrogateescape" if encoding.startswith("utf-8") else "replace"
    with opener() as file, io.TextIOWrapper(file, encoding=encoding, errors=errors, newline=None) as text:
        yield text


def undecoded(text: str) -> str:
    """Name the first byte that could not be decoded; empty when there is none."""
    found = _UNDECODED.search(text)
    return f"byte 0x{ord(found[0]) - 0xDC00:02x} at character {found.start() + 1}" if found else ""


def bounded_lines(text: TextIO, *, limit: int = MAX_CHARS) -> Iterator[tuple[int, str | None]]:
    """Yield (number from 1, line without its end); None stands for a line longer than `limit` characters."""
    number = 0
    while line := text.readline(limit + 1):
        number += 1
        if len(line) > limit and not line.endswith("\n"):
            line = ""
            while (rest := text.readline(_SKIPPED_AT_ONCE)) and not rest.endswith("\n"):
                pass
            yield number, None
        else:
            yield number, line.removesuffix("\n")
