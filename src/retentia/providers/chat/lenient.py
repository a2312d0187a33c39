"""Find and read JSON as models write it: between words, and not quite by the rules. In linear time.

Each character is looked at a bounded number of times, and what is not closed is not taken: of a list of facts that was
cut off, the lost ones would never be missed (docs/decisions/0012-reading-what-models-answer.md).
"""

import re
from dataclasses import dataclass
from typing import Any

_DEEPEST = 100
_MARK = re.compile(r'["\\{}\[\]]')
_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_BLANK = re.compile(r"\s*")
_OPENS_JSON = re.compile(r'\{\s*["}]|\[\s*[\[{"\]]')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])")
_WORD = re.compile(r"[^\W\d][\w$-]*")
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}
_CLOSERS = {'"': '"', "'": "'", "“": "”", "„": "“”", "«": "»", "‘": "’"}
_PLAIN = {closer: re.compile(rf"[^{closer}\\]*") for closer in set(_CLOSERS.values())}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_UNICODE = re.compile(r"[0-9a-fA-F]{4}")
_LONGEST_NUMBER = 400
_AFTER_STRING = ",}]:/" + "".join(_CLOSERS)
_PAIR = {"}": "{", "]": "["}


class NotJSON(ValueError):
    """The text cannot be read as JSON; there is one way to read it, or none."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of text from an opening bracket to the one that closes it, its end excluded."""

    start: int
    end: int


def spans(text: str) -> tuple[list[Span], bool]:
    """Return the outermost closed stretches in their order, and whether JSON was opened that never ends.

    What lies within brackets that look like JSON and are not closed is left out: it is a piece of an answer that was
    cut off.
    """
    found: list[Span] = []
    opened: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    in_string, skip = False, -1
    for mark in _MARK.finditer(text):
        at, sign = mark.start(), mark.group()
        if at <= skip:
            continue
        if sign == "\\":
            skip = at + 1 if in_string else skip
        elif in_string:
            in_string = sign != '"' or not _ends_string(text, at + 1)
        elif sign == '"':
            in_string = bool(opened)
        elif sign in waiting:
            opened.append((sign, at))
            waiting[sign] += 1
        elif waiting[_PAIR[sign]]:
            _close(_PAIR[sign], at + 1, opened, waiting, found)
    cut = next((at for _, at in opened if _OPENS_JSON.match(text, at)), None)
    return [span for span in found if cut is None or span.start < cut], cut is not None


def _close(opener: str, end: int, opened: list[tuple[str, int]], waiting: dict[str, int], found: list[Span]) -> None:
    while opened:
        sign, start = opened.pop()
        waiting[sign] -= 1
        if sign == opener:
            break
    while found and found[-1].start > start:
        found.pop()
    found.append(Span(start, end))


def _ends_string(text: str, at: int) -> bool:
    """Tell whether a quotation mark before this place ends a string: in JSON, what follows is known."""
    following = _BLANK.match(text, at)
    after = text[following.end() : following.end() + 1] if following else ""
    return after in _AFTER_STRING


def read(text: str) -> Any:
    """Return the JSON that a text means; raise NotJSON.

    Taken are single and typographic quotation marks, bare keys, missing and trailing commas, comments, line ends in
    strings, quotation marks that should have been escaped, and the words of Python.
    """
    value, at = _value(text, _skip(text, 0), 0)
    if _skip(text, at) != len(text):
        raise NotJSON("something follows")
    return value


def _value(text: str, at: int, depth: int) -> tuple[Any, int]:
    sign = text[at : at + 1]
    if depth > _DEEPEST:
        raise NotJSON("nested too deeply")
    if sign == "{":
        return _object(text, at + 1, depth)
    if sign == "[":
        return _array(text, at + 1, depth)
    if sign in _CLOSERS:
        return _string(text, at)
    if found := _NUMBER.match(text, at):
        return _number(found.group()), found.end()
    if (found := _WORD.match(text, at)) and found.group() in _WORDS:
        return _WORDS[found.group()], found.end()
    raise NotJSON("no value")


def _object(text: str, at: int, depth: int) -> tuple[dict[str, Any], int]:
    entries: dict[str, Any] = {}
    at = _skip(text, at)
    while text[at : at + 1] != "}":
        key, at = _key(text, at)
        at = _skip(text, at)
        if text[at : at + 1] != ":":
            raise NotJSON("a key without a value")
        if key in entries:
            raise NotJSON("a key stands twice")
        entries[key], at = _value(text, _skip(text, at + 1), depth + 1)
        at = _after_comma(text, at)
    return entries, at + 1


def _array(text: str, at: int, depth: int) -> tuple[list[Any], int]:
    items = []
    at = _skip(text, at)
    while text[at : at + 1] != "]":
        item, at = _value(text, at, depth + 1)
        items.append(item)
        at = _after_comma(text, at)
    return items, at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in _CLOSERS:
        return _string(text, at)
    if found := _WORD.match(text, at):
        return found.group(), found.end()
    raise NotJSON("no key")


def _string(text: str, at: int) -> tuple[str, int]:
    closer = _CLOSERS[text[at]]
    plain, pieces = _PLAIN[closer], []
    at += 1
    while at < len(text):
        found = plain.match(text, at)
        if found is None:
            break
        pieces.append(found.group())
        at = found.end()
        sign = text[at : at + 1]
        if sign == "\\":
            piece, at = _escaped(text, at + 1)
            pieces.append(piece)
        elif sign and _ends_string(text, at + 1):
            return "".join(pieces), at + 1
        else:
            pieces.append(sign)
            at += 1
    raise NotJSON("a string without an end")


def _escaped(text: str, at: int) -> tuple[str, int]:
    sign = text[at : at + 1]
    if sign == "u" and (digits := _UNICODE.match(text, at + 1)):
        return chr(int(digits.group(), 16)), at + 5
    return _ESCAPES.get(sign, sign), at + 1


def _number(digits: str) -> int | float:
    if len(digits) > _LONGEST_NUMBER:
        raise NotJSON("a number that is too long")
    return int(digits) if digits.lstrip("-").isdigit() else float(digits)


def _after_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at : at + 1] == "," else at


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
