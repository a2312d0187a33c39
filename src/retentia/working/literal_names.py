"""Literals that name something: web and mail addresses, paths, places in files, identifiers.

Each kind is looked for where its sign stands (://, @, /, an ending, a digit inside a word), and outward from there, so
that a text without signs costs a few searches.
"""

import ipaddress
import re
from collections.abc import Callable, Iterator
from functools import cache

from retentia.working.literal import LiteralKind, Span
from retentia.working.literal_words import LETTER, literal_words

_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_HASH = re.compile(r"0[xX][0-9A-Fa-f]{2,}|(?=\d*[A-Fa-f])(?=[A-Fa-f]*\d)[0-9A-Fa-f]{7,128}")
_TICKET = re.compile(r"[A-Z][A-Z0-9]{1,9}-\d+")
_VERSION = re.compile(
    r"[vV]?\d+(?:\.[\dx]+)*(?:\.[\dx]+|[-+.]?(?:rc|alpha|beta|dev|post|SNAPSHOT|LTS)[-.]?\d*)|[vV]\d+"
)
# 20-year-old, 24-Stunden-Service, 5-köpfig, 2c (in a formula): a number and words, not an identifier.
_COUNTED = re.compile(r"\d[a-z]{1,2}|\d[\d.]*[^\W\d_]{0,2}(?:-[^\W\d_]*[^\W\d_A-ZА-Я][^\W\d_]*)+")

_WITH_DIGIT = re.compile(r"(?<!\S)[^\s\d]*+\d\S*+")
_IDENTIFIER = re.compile(rf"[{LETTER}]+(?:[-.](?=[{LETTER}])[{LETTER}]+)*+")
_SNAKE = re.compile(rf"[A-Za-z](?<![{LETTER}.][A-Za-z])[A-Za-z0-9]*+(?:_[A-Za-z0-9]++)++(?![{LETTER}])")
_OPTION = re.compile(r"--[A-Za-z](?<![\w-]--[A-Za-z])[\w-]*(?:=[^\s,;]+)?")
_COLONS = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")
_LONGEST_NUMBERED = 200

_SCHEME = re.compile(r"[A-Za-z0-9+.-]{1,20}")
_REST_OF_URL = re.compile(r"""[^\s<>"'`«»“”„|\\^]+""")
_TRAILING = ".,;:!?…*_'\""
_MOST_TRAILING = 16
_MAIL_NAME = re.compile(r"[\w%+-][\w.%+-]{0,63}")
_MAIL_HOST = re.compile(r"@(?:\w[\w-]{0,62}\.){1,8}[^\W\d_]{2,24}(?![\w])")

_WITH_SLASH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*+")
_PATHS = re.compile(
    r"(?:(?<![\w/.:<~\\])(?:~|\.{1,2}|\$\w{1,30})?/(?=[\w.@{])[\w.@%+=~{}:/-]+"
    r"|(?<!\w)[A-Za-z]:[\\/](?=\w)[^\s\"<>|*?,;]+"
    r"|(?<![\w\\])\\\\\w[\w.-]*(?:\\[\w.$-]+)+"
    r"|(?<![\w/.:@\\-])[\w@][\w.@-]*(?:[/\\][\w.@-]+)+[/\\]?)"
)
_LOOKS_RELATIVE = re.compile(
    r"\.[A-Za-z]\w{0,9}$|[/\\]$|^[\w.-]*[_.@]|[/\\][\w.-]*_|^(?:src|app|lib|docs?|tests?|bin|etc)[/\\]"
)
_A_LETTER = re.compile(r"[^\W\d_]")
_TO_THE_LEFT = re.compile(r"[\w./\\~@%+:-]{1,200}")
_LINE_BEHIND = re.compile(
    r":\d+(?::\d+)?(?!\w|\.\w)|[,:]?[ ]\(?(?:on |at |in |auf |у |в )?(?:lines?|ln|L|Zeilen?|Z\.|ряд(?:ок|ка|ку|ки|ків))"
    r"[ \u00a0]?\d+(?:[-–]\d+)?(?!\w)",
    re.IGNORECASE,
)


def names(text: str, *, has_digit: bool) -> Iterator[Span]:
    """Yield addresses, paths and identifiers, which may overlap."""
    if "://" in text or "www." in text:
        yield from _urls(text)
    if "@" in text:
        yield from _emails(text)
    if "." in text:
        yield from _with_ending(text)
    if "/" in text or "\\" in text:
        yield from _paths(text)
    if has_digit:
        yield from _numbered(text)
    if "_" in text:
        yield from ((LiteralKind.CODE, *match.span()) for match in _SNAKE.finditer(text))
    if "--" in text:
        yield from ((LiteralKind.CODE, *match.span()) for match in _OPTION.finditer(text))


def _urls(text: str) -> Iterator[Span]:
    place = 0
    for found in _url_signs().finditer(text):
        if found.start() < place:
            continue
        start = found.start()
        if found[0] == "://":
            scheme = _SCHEME.match(text[max(place, start - 20) : start][::-1])
            if scheme is None:
                continue
            start -= scheme.end()
        rest = _REST_OF_URL.match(text, found.end())
        if rest is not None:
            end = _without_trailing(text, start, rest.end())
            if end > found.end():
                yield LiteralKind.URL, start, end
                place = end


@cache
def _url_signs() -> re.Pattern[str]:
    return re.compile(r"://|www\.(?<![\w.]www\.)")


def _emails(text: str) -> Iterator[Span]:
    place = text.find("@")
    while place >= 0:
        host = _MAIL_HOST.match(text, place)
        name = host and _MAIL_NAME.match(text[max(0, place - 64) : place][::-1])
        if host and name:
            yield LiteralKind.EMAIL, place - name.end(), host.end()
        place = text.find("@", place + 1)


def _paths(text: str) -> Iterator[Span]:
    for chunk in _WITH_SLASH.finditer(text):
        if "://" in chunk[0]:
            continue
        for found in _PATHS.finditer(text, *chunk.span()):
            start, end = found.start(), _without_trailing(text, *found.span())
            path = text[start:end]
            if not _A_LETTER.search(path):
                continue
            if path[0] in "/~.$\\" or path[1:2] == ":" or _LOOKS_RELATIVE.search(path):
                yield from _path(text, start, end)


def _path(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a path, with the line that is named behind it."""
    line = _LINE_BEHIND.match(text, end)
    if line is None and ":" in text[start:end]:
        line = re.compile(r":\d+(?::\d+)?$").search(text[start:end])
        yield (LiteralKind.LINE if line else LiteralKind.PATH), start, end
    else:
        yield (LiteralKind.LINE if line else LiteralKind.PATH), start, line.end() if line else end


def _with_ending(text: str) -> Iterator[Span]:
    """Yield what ends like a file or a domain: auth.py, example.com/pricing."""
    for found in _endings().finditer(text):
        left = _TO_THE_LEFT.match(text[max(0, found.start() - 200) : found.start()][::-1])
        if left is None or not text[found.start() - 1].isalnum():
            continue
        start = found.start() - left.end()
        start += len(text[start : found.start()]) - len(text[start : found.start()].lstrip("./\\:+-%"))
        if found.lastgroup == "file":
            yield from _path(text, start, found.end())
        elif "@" not in text[start : found.start()]:
            yield LiteralKind.URL, start, _without_trailing(text, start, found.end())


@cache
def _endings() -> re.Pattern[str]:
    words = literal_words()
    end = rf"(?![{LETTER}-]|\.\w)"
    return re.compile(
        rf"\.(?:(?P<file>(?:{words.endings}){end})|(?P<domain>(?:{words.domains}){end}(?:[/?#][^\s<>\"'»“”]*)?))"
    )


def _numbered(text: str) -> Iterator[Span]:
    """Yield identifiers with digits in them."""
    for chunk in _WITH_DIGIT.finditer(text):
        if chunk[0].isdecimal():
            continue
        if chunk[0].count(":") > 1:
            yield from _with_colons(text, *chunk.span())
        for found in _IDENTIFIER.finditer(text, *chunk.span()):
            kind = _kind_of_identifier(found[0]) if len(found[0]) <= _LONGEST_NUMBERED else None
            if kind is not None:
                start = found.start()
                yield kind, start - (text[max(0, start - 1) : start] == "#"), found.end()


def _with_colons(text: str, start: int, end: int) -> Iterator[Span]:
    for found in _COLONS.finditer(text, start, end):
        parts = found[0].split(":")
        if len(parts) == 6 and all(len(part) == 2 for part in parts):
            yield LiteralKind.CODE, *found.span()
        elif _is_ip(found[0]):
            yield LiteralKind.IP, *found.span()


def _is_ip(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


_Fits = Callable[[str], object]
_BY_SHAPE: tuple[tuple[_Fits, LiteralKind | None], ...] = (
    (_UUID.fullmatch, LiteralKind.UUID),
    (_VERSION.fullmatch, LiteralKind.VERSION),
    (_HASH.fullmatch, LiteralKind.HASH),
    (_TICKET.fullmatch, LiteralKind.TICKET),
    (_COUNTED.fullmatch, None),
)


def _kind_of_identifier(word: str) -> LiteralKind | None:
    if word.isalpha() or not any(map(str.isdigit, word)) or not any(map(str.isalpha, word)):
        return None
    for fits, kind in _BY_SHAPE:
        if fits(word):
            return kind
    return LiteralKind.CODE


def _without_trailing(text: str, start: int, end: int) -> int:
    """Return where an address in a sentence ends: before punctuation and brackets that belong to the sentence."""
    for _ in range(_MOST_TRAILING):
        last = text[end - 1]
        closes = ")]}".find(last)
        unopened = closes >= 0 and text.count(last, start, end) > text.count("([{"[closes], start, end)
        if end - start < 2 or not (last in _TRAILING or unopened):
            break
        end -= 1
    return end
