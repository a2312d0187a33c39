"""Missing: which literals a summary has lost, and how they come back, word for word, on a line of their own.

The line is written anew each time from what the summary itself says, so appending twice changes nothing, and a summary
that is retold often keeps its literals.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from retentia.errors import InvalidInput
from retentia.working.literal import Literal, folded_text
from retentia.working.literals import find_literals, parts_of
from retentia.working.tokens import TokenCounter

MARK = "Literals, verbatim:"
"""Opens the line of literals, at the start of a line."""

_BETWEEN = "; "
_JOINTS = ".,:/\\-"
_SIGNS = "$€£₴#+-@_"


@dataclass(frozen=True, slots=True)
class Appended:
    """A summary with its literals, and those for which there was no room: a caller keeps them elsewhere."""

    text: str
    left_out: tuple[Literal, ...] = ()


def missing(literals: Iterable[Literal], summary: str) -> list[Literal]:
    """Return the literals that a summary does not have, in their order, each key once.

    Spaces, thousands separators, quotes and the case of what has none make no difference. A part of a longer number,
    word or path is not the literal.
    """
    said = _Said(summary)
    distinct: dict[str, Literal] = {}
    for literal in literals:
        distinct.setdefault(literal.key, literal)
    return [literal for literal in distinct.values() if not said.has(literal)]


def append_missing(summary: str, literals: Sequence[Literal], room_tokens: int, counter: TokenCounter) -> Appended:
    """Append the literals that a summary does not have, as they were written, in at most `room_tokens` more tokens.

    Literals come with the most important first (`by_importance`); where room is short the last ones stay out. Of a
    quotation or code for which there is no room its own literals are appended. The line of an earlier call is replaced
    and what stood in it is kept as far as there is room, after `literals`. Raises InvalidInput for a negative room.
    """
    if room_tokens < 0:
        raise InvalidInput("room_tokens is a number of tokens: it cannot be negative")
    body, earlier = _split(summary)
    lost = missing((*literals, *find_literals(earlier)), body)
    chosen, left_out = _fitting(lost, body, room_tokens, counter)
    while chosen and counter.count(_line(chosen)) > room_tokens:
        left_out.append(chosen.pop())
    if not chosen:
        return Appended(body, tuple(left_out))
    return Appended(f"{body}\n{_line(chosen)}" if body else _line(chosen), tuple(left_out))


def _split(summary: str) -> tuple[str, str]:
    """Part a summary from its line of literals and what follows; "" without one."""
    if summary.startswith(MARK):
        return "", summary[len(MARK) :]
    body, _, earlier = summary.partition(f"\n{MARK}")
    return body.rstrip(), earlier


def _fitting(
    lost: Sequence[Literal], body: str, room: int, counter: TokenCounter
) -> tuple[list[Literal], list[Literal]]:
    chosen: dict[str, Literal] = {}
    left_out: list[Literal] = []
    said = _Said(body)
    room -= counter.count(MARK)
    for literal in lost:
        if literal.key in chosen:
            continue
        fits = _cost(literal, counter) <= room
        if not fits:
            left_out.append(literal)
        for one in (literal,) if fits else parts_of(literal):
            cost = _cost(one, counter)
            if cost <= room and one.key not in chosen and not said.has(one):
                chosen[one.key] = one
                room -= cost
    return list(chosen.values()), left_out


def _cost(literal: Literal, counter: TokenCounter) -> int:
    return counter.count(_BETWEEN + literal.text)


def _line(literals: Sequence[Literal]) -> str:
    """Write literals on one line, and those that have several lines below it."""
    short = [literal.text for literal in literals if "\n" not in literal.text]
    tall = [literal.text for literal in literals if "\n" in literal.text]
    return "\n".join((f"{MARK} {_BETWEEN.join(short)}".rstrip(), *tall))


class _Said:
    """What a text says, in the form in which literals are compared."""

    def __init__(self, text: str) -> None:
        self._keys = {literal.key for literal in find_literals(text)}
        self._text = folded_text(text)
        self._lower = self._text.lower()

    def has(self, literal: Literal) -> bool:
        return literal.key in self._keys or _stands_in(self._text if literal.has_case else self._lower, literal.key)


def _stands_in(text: str, key: str) -> bool:
    place = text.find(key)
    while place >= 0:
        if _opens(text, place, key) and _closes(text, place + len(key), key):
            return True
        place = text.find(key, place + 1)
    return False


def _opens(text: str, place: int, key: str) -> bool:
    """Tell whether nothing in front of a place makes what stands there a part of something longer."""
    if place == 0 or not key[0].isalnum():
        return True
    before, further = text[place - 1], text[place - 2 : place - 1]
    if before.isalnum() or before == "_" or before in "/\\":
        return False
    if before in _JOINTS and further.isalnum():
        return False
    return not (key[0].isdigit() and before in _SIGNS)


def _closes(text: str, place: int, key: str) -> bool:
    if place == len(text) or not key[-1].isalnum():
        return True
    after, further = text[place], text[place + 1 : place + 2]
    if after.isalnum() or after in "_@" or (key[-1].isdigit() and after in "%‰°"):
        return False
    return not (after in _JOINTS and further.isalnum())
