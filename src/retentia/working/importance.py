"""Importance: which literals of a range come first when there is room for a few."""

from collections import Counter
from collections.abc import Iterable, Sequence

from retentia.working.kept import Kept, KeptKind, kept_of
from retentia.working.literal import Literal, LiteralKind
from retentia.working.literals import find_literals, parts_of
from retentia.working.original import Original

_FOR_GOOD = frozenset((KeptKind.DECISION, KeptKind.REASON, KeptKind.REJECTED, KeptKind.ENVIRONMENT))
# A small number, a scare quote or a page of code says less by itself than an amount or an id.
_WEAK = frozenset((LiteralKind.NUMBER, LiteralKind.QUOTED, LiteralKind.SNIPPET))


def by_importance(messages: Sequence[Original], kept: Iterable[Kept] | None = None) -> tuple[Literal, ...]:
    """Return the literals of messages, each once, the most important first.

    First what stands in a decision, reason, rejected option or environment, then what a user said, then the rest; among
    those, kinds that mean something by themselves, then what few messages say, then what was said first. Spans count in
    the message where a literal first stands. `kept` saves the search for decisions where it is known.
    """
    weighty = _stretches(kept_of(messages) if kept is None else kept)
    first: dict[str, Literal] = {}
    ranks: dict[str, int] = {}
    said: Counter[str] = Counter()
    for message in messages:
        for literal in find_literals(message.text):
            first.setdefault(literal.key, literal)
            said[literal.key] += 1
            rank = _rank(literal, message, weighty.get(message.id, ()))
            ranks[literal.key] = min(rank, ranks.get(literal.key, rank))
    order = {key: place for place, key in enumerate(first)}
    return tuple(
        sorted(first.values(), key=lambda one: (ranks[one.key], _weakness(one), said[one.key], order[one.key]))
    )


def _stretches(kept: Iterable[Kept]) -> dict[str, list[tuple[int, int]]]:
    stretches: dict[str, list[tuple[int, int]]] = {}
    for one in kept:
        if one.kind in _FOR_GOOD:
            stretches.setdefault(one.message_id, []).append((one.start, one.end))
    return stretches


def _rank(literal: Literal, message: Original, stretches: Iterable[tuple[int, int]]) -> int:
    if any(start < literal.end and literal.start < end for start, end in stretches):
        return 0
    return 1 if message.role == "user" else 2


def _weakness(literal: Literal) -> int:
    if literal.kind is LiteralKind.BLOCK:
        return 2
    quotes_an_id = any(part.key == literal.key and part.kind not in _WEAK for part in parts_of(literal))
    return int(literal.kind in _WEAK and not quotes_an_id)
