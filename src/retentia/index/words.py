"""Words: what one stretch of text without white space contains, as a whole and by its parts.

`auth.py`, `$213.00`, `om_x100b54`, `E-Mail` and `PostgreSQL` are found as written and by what they are made of.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from retentia.index.fold import SEPARATORS, fold, one_script

# Between the components of a path, an address or a time; inside one component; between the digits of a number.
_OUTER = re.compile(r"[/@&:]+")
_INNER = re.compile(r"[._#+\-]+")
_NO_SEPARATOR = re.compile(r"(?<!\d),|,(?!\d)|\.\.+|--+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)+")
_GROUPING = re.compile(r"[.,](?=\d{3}(?!\d))")
_NAMED_BY_SIGN = re.compile(r"[a-z]{1,2}(?:\+\+|#)")
_CODE = re.compile(r"[\d._@&#+]")
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_NUMBER_AND_UNIT = re.compile(r"(\d+)([^\W\d]{2,})|([^\W\d]{2,})(\d+)")

_CAMEL = re.compile(r"[a-z][A-Z]")
_LETTERS = re.compile(r"[A-Za-z]+")
_CAMEL_SEAM = re.compile(r"(?<=[a-z]{2})(?=[A-Z][A-Za-z]{2})|(?<=[A-Z]{2})(?=[A-Z][a-z]{2})")

_APOSTROPHE_IN_CYRILLIC = re.compile("(?<=[\u0400-\u052f])'(?=[\u0400-\u052f])")
_CLITIC = re.compile(r"'(?:s|m|d|re|ve|ll)$")


class Word(NamedTuple):
    """A folded word. A whole is what a compound's own parts, which follow it, add up to."""

    text: str
    is_whole: bool = False


def words_of(chunk: str) -> Iterator[Word]:
    """Yield the words of a chunk in order, each compound before its parts."""
    folded = fold(chunk)
    if folded.isalpha():
        yield from map(Word, one_script(folded))
    else:
        for piece in _NO_SEPARATOR.sub(" ", folded).split():
            yield from _piece(piece.strip("./:,'-&@"))
    if _CAMEL.search(chunk):
        for word in _LETTERS.findall(chunk):
            parts = _CAMEL_SEAM.sub(" ", word).lower().split()
            yield from map(Word, parts if len(parts) > 1 else ())


def _piece(piece: str) -> Iterator[Word]:
    if _NAMED_BY_SIGN.fullmatch(piece):
        yield Word(piece)
        return
    piece = piece.strip(SEPARATORS)
    if _NUMBER.fullmatch(piece):
        yield from _number(piece)
        return
    components = _OUTER.split(piece.replace(",", ""))
    if len(components) > 1 and _CODE.search(piece):
        yield Word(piece, is_whole=True)
    for component in components:
        yield from _component(component.strip(SEPARATORS))


def _number(number: str) -> Iterator[Word]:
    """Yield 1500 for 1,500 and 1.500; 213.00, 213 and 00 for 213.00; a version as itself and by its parts."""
    plain = _GROUPING.sub("", number).replace(",", ".")
    parts = plain.split(".")
    if len(parts) > 1:
        yield Word(plain, is_whole=True)
    yield from map(Word, parts)


def _component(component: str) -> Iterator[Word]:
    if _NUMBER.fullmatch(component):
        yield from _number(component)
        return
    parts = _INNER.split(component)
    if len(parts) > 1:
        yield Word(component.replace("-", ""), is_whole=True)
    for part in parts:
        yield from _part(part)


def _part(part: str) -> Iterator[Word]:
    if "'" in part:
        part = _CLITIC.sub("", _APOSTROPHE_IN_CYRILLIC.sub("", part))
    if ordinal := _ORDINAL.fullmatch(part):
        yield Word(ordinal[1])
    elif measure := _NUMBER_AND_UNIT.fullmatch(part):
        yield Word(part, is_whole=True)
        yield from (Word(group) for group in measure.groups() if group)
    elif "'" in part and not part.endswith("n't"):
        yield from (Word(piece) for piece in part.split("'") if len(piece) > 1)
    elif part:
        yield from map(Word, one_script(part))
