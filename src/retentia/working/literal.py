"""A literal: a stretch of text that has to survive as it was written, and the form in which two writings are equal."""

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum


class LiteralKind(StrEnum):
    """What kind of thing it is. `CODE` is an identifier, `SNIPPET` code in a line, `BLOCK` code on lines of its own."""

    AMOUNT = "amount"
    PERCENT = "percent"
    QUANTITY = "quantity"
    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    VERSION = "version"
    CODE = "code"
    TICKET = "ticket"
    UUID = "uuid"
    HASH = "hash"
    URL = "url"
    EMAIL = "email"
    PATH = "path"
    LINE = "line"
    PHONE = "phone"
    IP = "ip"
    QUOTED = "quoted"
    SNIPPET = "snippet"
    BLOCK = "block"


QUOTING = frozenset((LiteralKind.QUOTED, LiteralKind.SNIPPET, LiteralKind.BLOCK))
"""Kinds whose delimiters are not part of what they say."""

Span = tuple[LiteralKind, int, int]
"""A kind, and the characters [start, end) of a text."""

_WITH_CASE = frozenset(
    {*QUOTING, LiteralKind.CODE, LiteralKind.TICKET, LiteralKind.URL, LiteralKind.PATH, LiteralKind.LINE}
    | {LiteralKind.QUANTITY, LiteralKind.VERSION}
)
_SAME = {
    **dict.fromkeys(map(ord, "„“”«»‟〝〞「」『』＂"), '"'),
    **dict.fromkeys(map(ord, "’‘‚‛‹›ʼ`´"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–−﹣－"), "-"),
    **dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), ""),
    ord("￥"): "¥",
}
_FENCES = "`~ "
_WIDE_DIGIT = re.compile(r"(?![0-9])\d")
_BEFORE_SIGN = re.compile(r" (?:(?<=\d )(?=[%‰€$£¥₴₹₽°])|(?<=[€$£¥₴₹₽] )(?=\d))")
_NUMBER = re.compile(r"\d(?<!\d\d)\d*+(?:[.,']\d++|[ ]\d{3}(?!\d))++")
# How thousands are set apart: 1,299.50 and 1.299,50 and 1 299,50; a lone 1.299 may be either, so it stays.
_GROUPED = re.compile(
    r"(?P<comma>\d{1,3}(?:,\d{3})+(?:\.\d+)?)"
    r"|(?P<point>\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})"
    r"|(?P<blank>\d{1,3}(?:[ ']\d{3})+(?:[.,]\d+)?)"
    r"|(?P<decimal>\d+,\d+)"
)
_SEPARATORS = {"comma": ",", "point": ".", "blank": " '", "decimal": ""}


@dataclass(frozen=True, slots=True)
class Literal:
    """What is said at the characters [start, end) of a text, exactly as written.

    `key` is equal for two writings that differ only in how they set thousands apart, in spaces, in the style of quotes
    or, where case says nothing (hashes, amounts, addresses), in case. Delimiters of quotes and code are not part of it.
    """

    kind: LiteralKind
    text: str
    key: str
    start: int
    end: int

    @property
    def has_case(self) -> bool:
        return self.kind in _WITH_CASE


def key_of(kind: LiteralKind, text: str) -> str:
    """Return the form of a literal that is compared."""
    folded = folded_text(inside(kind, text) if kind in QUOTING else text)
    return folded if kind in _WITH_CASE else folded.lower()


def inside(kind: LiteralKind, text: str) -> str:
    """Return what a quoted string or a piece of code says, without its delimiters."""
    if kind is LiteralKind.BLOCK:
        lines = text.split("\n")[1:]
        closed = bool(lines) and not lines[-1].strip(_FENCES) and lines[-1].strip() != ""
        return "\n".join(lines[:-1] if closed else lines)
    return text.strip("`") if kind is LiteralKind.SNIPPET else text[1:-1]


def folded_text(text: str) -> str:
    """Return a text in which equal literals look equal: one kind of space, quote, hyphen and digit, plain numbers."""
    if not text.isascii():
        text = _WIDE_DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0], 0)), text.translate(_SAME))
    text = " ".join(text.replace("`", "'").split())
    return _BEFORE_SIGN.sub("", _NUMBER.sub(_plain, text))


def _plain(number: re.Match[str]) -> str:
    grouped = _GROUPED.fullmatch(number[0])
    if grouped is None:
        return number[0]
    digits = number[0]
    for separator in _SEPARATORS[grouped.lastgroup or ""]:
        digits = digits.replace(separator, "")
    return digits.replace(",", ".")
