"""Manner: whether something was asserted, or only supposed, asked, reported, joked, forced, planned, or is over.

Rules and models are held to the same words, those of the *.facts.toml files.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.languages.facts import FactWords
from retentia.model.candidate import Manner

_BY_CLASS = (
    ("possible", Manner.POSSIBLE),
    ("forced", Manner.FORCED),
    ("former", Manner.FORMER),
    ("intended", Manner.INTENDED),
)
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class Meant:
    """How something was said. `is_over` denies that it is still so, `is_not` that it is so at all."""

    manner: Manner
    is_not: bool = False
    is_over: bool = False


def classes_of(gap: str, words: FactWords, extra: frozenset[str] = frozenset()) -> set[str] | None:
    """Return what the words of a gap do; None where one of them is not known, so that nothing can be said."""
    found: set[str] = set()
    place = 0
    while gap[place:].strip(" ,"):
        place += len(gap[place:]) - len(gap[place:].lstrip(" ,"))
        match = words.gap.match(gap, place)
        where = None if match else words.find("applies", gap, place)
        if where is not None and where.start() == place:
            place = where.end()
            continue
        if match is None:
            word = gap[place:].split()[0]
            if word.casefold() not in extra:
                return None
            place += len(word)
            continue
        found.add(words.class_of(match[1]))
        place = match.end()
    return found


def meant_by(classes: Iterable[str], said: Manner) -> Meant | None:
    """Return how something is meant, by what the words around it do; None where it is not said at all."""
    known = set(classes)
    if "assumed" in known:
        return None
    manner = next((manner for name, manner in _BY_CLASS if name in known), said)
    is_over = "ended" in known
    is_not = "negated" in known and not is_over
    if manner is Manner.FORCED and (is_not or is_over):
        return None
    return Meant(manner, is_not=is_not, is_over=is_over)


def unbelievable(before: str, clause: str, sentence: str, words: FactWords) -> Manner | None:
    """Return why what follows `before` in a sentence is no statement of the speaker's; None where it is one.

    `before` is the sentence up to it and `clause` the last clause of that.
    """
    if words.says("reported", before):
        return Manner.REPORTED
    if words.says("joking", sentence):
        return Manner.JOKING
    if words.says("assumed", clause) or load_cues().said(Cue.HYPOTHETICAL, cue_form(before)):
        return Manner.ASSUMED
    return None


def is_question(sentence: str) -> bool:
    """Tell whether a sentence ends with a question mark."""
    return sentence.rstrip("\"'»”“’) ").endswith(_QUESTION_MARKS)
