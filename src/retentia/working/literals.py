"""Literals: what a summary may not lose. Amounts, dates, codes, versions, addresses, paths, quoted strings and code.

Models that summarise drop or round them first, so they are found by rule, in any language, and kept as written. Pure
and linear in the length of the text. What security/secrets.py has masked stays a mask and is never a literal.
"""

import re
from bisect import bisect_left
from heapq import heappop, heappush

from retentia.working.literal import QUOTING, Literal, LiteralKind, Span, inside, key_of
from retentia.working.literal_names import names
from retentia.working.literal_numbers import numbers, phones
from retentia.working.literal_quotes import blocks, quotations, snippets

__all__ = ["Literal", "LiteralKind", "find_literals", "parts_of"]

_MASK_OPENS = "[secret:"
_MASK = re.compile(r"\[secret:[a-z_]+\]")
_A_DIGIT = re.compile(r"\d")
_A_QUOTE = re.compile("[\"'„“”«»‹‚‘「『]")


def find_literals(text: str) -> tuple[Literal, ...]:
    """Return the literals of a text by position, the longest where some overlap, each once where it first stands."""
    spans = _candidates(text)
    if not spans:
        return ()
    if _MASK_OPENS in text:
        spans = _beside_masks(text, spans)
    found: dict[str, Literal] = {}
    for kind, start, end in _longest(spans):
        written = text[start:end]
        key = key_of(kind, written)
        if key and key not in found:
            found[key] = Literal(kind, written, key, start, end)
    return tuple(found.values())


def parts_of(literal: Literal) -> tuple[Literal, ...]:
    """Return the literals inside a quoted string or a piece of code; none for other kinds. Spans count inside it."""
    return find_literals(inside(literal.kind, literal.text)) if literal.kind in QUOTING else ()


def _candidates(text: str) -> list[Span]:
    spans = blocks(text)
    text = _without(text, spans)
    has_digit = _A_DIGIT.search(text) is not None
    if has_digit:
        spans += phones(text)
        spans += numbers(text)
    spans += names(text, has_digit=has_digit)
    if _A_QUOTE.search(text):
        spans += quotations(text)
    if "`" in text:
        spans += snippets(text)
    return spans


def _without(text: str, blocks: list[Span]) -> str:
    """Return a text with blanks for blocks, so that nothing inside one is a literal of its own."""
    kept: list[str] = []
    place = 0
    for _, start, end in blocks:
        kept += text[place:start], " " * (end - start)
        place = end
    return "".join((*kept, text[place:])) if blocks else text


def _longest(spans: list[Span]) -> list[Span]:
    """Return spans without overlap, by position: longer ones first, of equal ones the first found."""
    if len(spans) < 2:
        return spans
    ordered = sorted(range(len(spans)), key=lambda number: (spans[number][1], -spans[number][2], number))
    chosen: list[Span] = []
    cluster: list[int] = []
    reach = -1
    for number in ordered:
        if spans[number][1] >= reach and cluster:
            chosen += _of_cluster(spans, cluster)
            cluster = []
        cluster.append(number)
        reach = max(reach, spans[number][2])
    return chosen + _of_cluster(spans, cluster)


def _of_cluster(spans: list[Span], cluster: list[int]) -> list[Span]:
    """Choose among spans that overlap one another in a chain, given by start."""
    if len(cluster) == 1:
        return [spans[cluster[0]]]
    waiting: list[tuple[int, int]] = []
    for number in cluster:
        heappush(waiting, (spans[number][1] - spans[number][2], number))
    first = min(spans[number][1] for number in cluster)
    taken = bytearray(max(spans[number][2] for number in cluster) - first)
    chosen: list[Span] = []
    while waiting:
        _, number = heappop(waiting)
        start, end = spans[number][1] - first, spans[number][2] - first
        # Shorter spans are never wider than a taken one, so a free start and end mean a free stretch.
        if not taken[start] and not taken[end - 1]:
            taken[start:end] = b"\1" * (end - start)
            chosen.append(spans[number])
    return sorted(chosen, key=lambda span: span[1])


def _beside_masks(text: str, spans: list[Span]) -> list[Span]:
    """Leave out what is a part of a mask or cuts one; what says more around a mask keeps it."""
    masks = [match.span() for match in _MASK.finditer(text)]
    starts = [start for start, _ in masks]
    return [span for span in spans if _respects(text, span, masks, starts)]


def _respects(text: str, span: Span, masks: list[tuple[int, int]], starts: list[int]) -> bool:
    kind, start, end = span
    number = max(0, bisect_left(starts, start) - 1)
    touches = False
    while number < len(masks) and masks[number][0] < end:
        first, last = masks[number]
        if last > start:
            if not (start <= first and last <= end):
                return False
            touches = True
        number += 1
    return not touches or (kind in QUOTING and re.search(r"[^\W_]", _MASK.sub("", text[start:end])) is not None)
