"""Reading: what one pattern finds in one sentence, and how it is meant."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from retentia.languages.facts import FactPattern, FactWords, load_facts
from retentia.learn.manner import Meant, classes_of, is_question, meant_by, unbelievable
from retentia.learn.values import Value, exact_value, pieces_of, read_value
from retentia.model.candidate import Manner
from retentia.working.literal_quotes import quotations

_FACTS = ("fact", "preference")
_TITLE_MARKS = ("“", "„", "«", "»", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a pattern found: the values at [start, end) of the sentence, said by or of `who` ("" for the speaker)."""

    pattern: FactPattern
    values: tuple[tuple[int, int], ...]
    meant: Meant
    who: str = ""
    old: str = ""
    is_correction: bool = False
    applies_to: str = ""
    clause: str = ""
    groups: dict[str, str] = field(default_factory=dict)


def readings(pattern: FactPattern, said: str) -> Iterator[Reading]:
    """Yield what a pattern finds in a sentence, in its order."""
    words = load_facts().words[pattern.code]
    for expression, is_loose in zip(pattern.expressions, pattern.loose, strict=True):
        place = 0
        while match := expression.search(said, place):
            value = _value(pattern, match, said, words, is_loose=is_loose)
            reading = _read(pattern, match, value, said, words)
            if reading is not None:
                yield reading
            place = max(match.start() + 1, value.end if reading is not None else 0)


def _value(pattern: FactPattern, match: re.Match[str], said: str, words: FactWords, *, is_loose: bool) -> Value:
    start, end = match.span("value")
    if pattern.kind == "event" and (bound := words.find("bounds", said, start, end)):
        end = bound.start()
    if pattern.is_whole or pattern.kind not in _FACTS:
        return Value(start=start, end=end)
    return read_value(said, start, end, words) if is_loose else exact_value(said, start, end)


def _read(pattern: FactPattern, match: re.Match[str], value: Value, said: str, words: FactWords) -> Reading | None:
    groups = {name: text for name, text in match.groupdict().items() if text is not None}
    before = said[: match.start()]
    clause = _clause(before, words)
    if value.start >= value.end or _is_quoted(said, match.start()):
        return None
    if pattern.kind == "procedure" and words.says("told", said):
        return None
    if not pattern.is_reported and unbelievable(before, clause, said, words) is not None:
        return None
    if is_question(said) and not pattern.is_presupposed and not _is_told(said, match, value, words):
        return None
    meant = _meant(pattern, groups, value, clause, words)
    values = _values(pattern, said, value, words)
    if meant is None or not values:
        return None
    rest = said[match.start() :]
    if bound := words.find("bounds", rest, max(0, value.end - match.start())):
        rest = rest[: bound.start()]
    whole = clause + rest
    if meant.manner is Manner.ASSERTED and pattern.kind in _FACTS and words.says("soon", whole):
        meant = Meant(Manner.INTENDED, is_not=meant.is_not, is_over=meant.is_over)
    where = words.find("applies", whole)
    tail = words.find("instead_of", said, value.end)
    old = groups.get("old", "") or (tail["old"] if tail and tail.start() == value.end else "")
    return Reading(
        pattern=pattern,
        values=values,
        meant=meant,
        who=groups.get("who", ""),
        old=old.strip(),
        is_correction=bool(old) or words.says("corrected", before),
        applies_to=value.applies_to or (where[0] if where else ""),
        clause=whole,
        groups=groups,
    )


def _meant(pattern: FactPattern, groups: dict[str, str], value: Value, clause: str, words: FactWords) -> Meant | None:
    classes = classes_of(groups.get("gap", ""), words, pattern.extra)
    if classes is None or ("elided" in groups and not _carries_on(clause, words)):
        return None
    meant = meant_by(classes | value.classes, Manner(pattern.manner))
    if meant is not None and pattern.is_not:
        return Meant(meant.manner, is_not=not meant.is_not, is_over=meant.is_over)
    return meant


def _carries_on(clause: str, words: FactWords) -> bool:
    """Tell whether a clause without a subject of its own goes on plainly with what the speaker says of himself."""
    return words.says("subject", clause) and not words.says("doubts", clause)


def _values(pattern: FactPattern, said: str, value: Value, words: FactWords) -> tuple[tuple[int, int], ...]:
    pieces = [(value.start, value.end)]
    if pattern.is_list:
        pieces = list(takewhile(lambda piece: not _is_turn(said, piece, words), pieces_of(said, value, words)))
    if said[value.start - 1 : value.start] in _TITLE_MARKS:
        return tuple(pieces)
    telling = [_is_telling(pattern, said[slice(*piece)], words) for piece in pieces]
    if not telling or not telling[0]:
        return ()
    return tuple(piece for piece, is_telling in zip(pieces, telling, strict=True) if is_telling)


def _is_turn(said: str, piece: tuple[int, int], words: FactWords) -> bool:
    """Tell whether another clause begins where an enumeration seemed to go on: "... and no longer work there"."""
    found = words.gap.match(said, *piece)
    return found is not None and words.class_of(found[1]) != "plain"


def _is_telling(pattern: FactPattern, text: str, words: FactWords) -> bool:
    """Tell whether a value says by itself what it is: not "it" or "your idea"."""
    first = text.casefold().split()[:1]
    if not first or first[0].strip(",.'\"") in pattern.not_values:
        return False
    return pattern.kind not in _FACTS or not pattern.not_values or not words.says("anaphoric", text)


def _clause(before: str, words: FactWords) -> str:
    """Return what stands in the same clause before a match."""
    start = 0
    for bound in words.finds("bounds", before):
        start = bound.end()
    return before[start:]


def _is_told(said: str, match: re.Match[str], value: Value, words: FactWords) -> bool:
    """Tell whether a statement stands before the question in its sentence: "I live in Kyiv, what is nearby?"."""
    start = match[0].lstrip(" ,;")
    opens = words.find("asks", start)
    return opens is not None and opens.start() == 0 and any(mark in said[value.end :] for mark in ",;–—")


def _is_quoted(said: str, place: int) -> bool:
    return any(start < place < end for _, start, end in quotations(said))
