"""Closing: does a sentence of the person say that a commitment was kept, or that nobody means to keep it any more?

It must say so outright and name the same thing: what it is about has to be in the words of the commitment. Better an
item that stays open too long than one that vanishes: nothing closes by a word such as "done" alone.
"""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from retentia.index.tokenizer import analyse_query
from retentia.languages.closing import ClosingWords, closing_form, closing_words
from retentia.model.commitment import Commitment, Outcome

_MOST_OF_IT = 2 / 3


@dataclass(frozen=True, slots=True)
class Told:
    """How a sentence says that something ended, and the stems of what it says this of."""

    outcome: Outcome
    about: AbstractSet[int]


def closed_by(sentence: str, commitment: Commitment) -> Outcome | None:
    """Return how the sentence says that the commitment ended; None where it does not say so without doubt."""
    told = told_by(sentence)
    return told.outcome if told is not None and meant_by(told, [content_of(commitment)]) else None


def told_by(sentence: str) -> Told | None:
    """Return what a sentence says about how something ended; None where it does not say that of anything."""
    said = closing_form(sentence).strip()
    if said.endswith("?"):
        return None
    found = next((told for words in closing_words() if (told := _told(said, words)) is not None), None)
    return None if found is None else Told(found[0], _content(found[1]))


def content_of(commitment: Commitment) -> AbstractSet[int]:
    """Return the stems of what a commitment is about."""
    return _content(commitment.what)


def meant_by(told: Told, promised: Sequence[AbstractSet[int]]) -> list[int]:
    """Return the places of those of some contents that are named by what was told, most of them or nothing else."""
    return [place for place, one in enumerate(promised) if _names(told.about, one)]


def _names(about: AbstractSet[int], promised: AbstractSet[int]) -> bool:
    shared = about & promised
    return bool(shared) and (about <= promised or len(shared) >= _MOST_OF_IT * len(promised))


def _told(said: str, words: ClosingWords) -> tuple[Outcome, str] | None:
    """Return the outcome a sentence tells, and the sentence without the words that tell it."""
    if match := words.dropped.search(said):
        return "dropped", _without(match)
    match = words.done.search(said)
    if match is None or words.against.search(said):
        return None
    return "done", _without(match)


def _without(match: re.Match[str]) -> str:
    between = [part for part in match.groups() if part]
    return " ".join([match.string[: match.start()], *between, match.string[match.end() :]])


def _content(text: str) -> AbstractSet[int]:
    """Return the stems of the words that name something."""
    filler = {word for words in closing_words() for word in words.filler}
    named = " ".join(word for word in closing_form(text).split() if word.strip(".,!:;()\"'") not in filler)
    return frozenset(analyse_query(named).stems.tolist())
